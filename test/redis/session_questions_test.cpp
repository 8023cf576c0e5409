// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Questions to the server, and holds that it takes away.

#include "support/test.hpp"

#include <asio_sync/redis/inspection.hpp>

#include "support/memory.hpp"
#include "support/session_script.hpp"

namespace redis_session_questions_test {

using namespace session_script;

BOOST_AUTO_TEST_SUITE(session_questions_test)

// --- Answers ---

BOOST_AUTO_TEST_CASE(questions_are_sent_in_order_with_other_commands_and_answered) {
  fixture f;
  f.open();
  claim& c = f.hold("y", 11);
  f.s.release(f.now, c);
  f.force("z", 12);
  f.inspect("x");
  BOOST_TEST(f.sent() == "release y a.1:1; force z 12; inspect x");
  asio_sync::redis::inspection found;
  f.answer_number(1);
  BOOST_TEST(f.told() == "finished 1 none");
  f.answer_number(1);
  BOOST_TEST(f.told() == "answered 1 none");
  f.answer(&found);
  BOOST_TEST(f.told() == "answered 2 none found");
  BOOST_TEST(!f.s.expects());
}

BOOST_AUTO_TEST_CASE(a_fence_that_nobody_has_is_told) {
  fixture f;
  f.open();
  f.force("x", 12);
  f.sent();
  f.answer_number(0);
  BOOST_TEST(f.told() == "answered 1 not_held");
}

BOOST_AUTO_TEST_CASE(an_answer_of_another_script_closes_the_connection) {
  asio_sync::redis::inspection found;
  for (bool const forces : {true, false}) {
    fixture f;
    f.open();
    forces ? f.force("x", 12) : f.inspect("x");
    f.sent();
    forces ? f.answer(&found) : f.answer_number(1);
    BOOST_TEST(f.told() == "disconnect; disconnected protocol_error");
  }
}

BOOST_AUTO_TEST_CASE(an_error_fails_the_question_alone) {
  fixture f;
  f.open();
  f.inspect("x");
  f.force("x", 12);
  f.sent();
  f.refuse("WRONGTYPE another type");
  f.refuse("ERR something");
  BOOST_TEST(f.told() ==
             "server_error server_error; answered 1 server_error; "
             "server_error server_error; answered 2 server_error");
  BOOST_TEST((f.s.state() == session_state::open));
}

// --- Time ---

BOOST_AUTO_TEST_CASE(a_question_ends_when_its_time_is_up) {
  fixture f;
  f.open();
  f.inspect("x");
  f.after(500ms);
  f.force("y", 12);
  f.sent();
  BOOST_TEST((f.s.next_tick() == f.now + 500ms));
  f.after(500ms);
  f.s.tick(f.now);
  BOOST_TEST(f.told() == "answered 1 timed_out");
  BOOST_TEST((f.s.next_tick() == f.now + 500ms));
  f.after(500ms);
  f.s.tick(f.now);
  BOOST_TEST(f.told() == "answered 2 timed_out");
}

BOOST_AUTO_TEST_CASE(a_late_answer_is_nobodys) {
  asio_sync::redis::inspection found;
  for (bool const is_error : {true, false}) {
    fixture f;
    f.open();
    f.inspect("x");
    f.force("y", 12);
    f.sent();
    f.after(1000ms);
    f.s.tick(f.now);
    f.told();
    is_error ? f.refuse("WRONGTYPE another type") : f.answer(&found);
    is_error ? f.refuse("WRONGTYPE another type") : f.answer_number(0);
    BOOST_TEST(f.told() ==
               (is_error ? "server_error server_error; server_error server_error" : ""));
    BOOST_TEST((f.s.state() == session_state::open));
    f.inspect("z");
    BOOST_TEST(f.sent() == "inspect z");
  }
}

BOOST_AUTO_TEST_CASE(a_question_without_a_connection_waits_for_one_until_its_time_is_up) {
  fixture f;
  f.inspect("x");
  f.open();
  BOOST_TEST(f.s.expects().has_value());
  fixture g;
  g.inspect("x");
  g.after(1000ms);
  g.s.tick(g.now);
  BOOST_TEST(g.told() == "answered 1 timed_out");
  g.connect();
  g.sent();
  g.opens();
  BOOST_TEST(g.sent() == "beat");
}

// Tells nobody anything.
struct silence : session_host {
  void granted(claim&) noexcept override {}
  void lost(claim&) noexcept override {}
  void failed(claim&, failure) noexcept override {}
  void finished(claim&, failure) noexcept override {}
  void report(session_event const&) noexcept override {}
  void disconnect(failure) noexcept override {}
  void ended(failure) noexcept override {}
  std::string new_client_id() override { return "a"; }
};

BOOST_AUTO_TEST_CASE(a_question_whose_time_is_up_keeps_no_memory) {
  silence host;
  session s({}, host);
  session_clock::time_point now{std::chrono::hours(1)};
  request r;
  auto const send = [&] {
    while (s.next(now, r)) continue;
  };
  s.run();
  s.connected(now);
  send();
  s.answered(now, opened{false, "e", std::nullopt});
  send();
  asio_sync::test::heap_counter const heap;
  for (int i = 0; i != 9; ++i) {
    question q(script::inspect, "x");
    s.ask(now, q, now + 1ms);
    send();
    s.tick(now + 1ms);
  }
  s.answered(now, std::span<token_state const>());
  for (asio_sync::redis::inspection found; s.expects();) s.answered(now, &found);
  BOOST_TEST(heap.kept() <= 0);
}

// --- Lost connections and sessions ---

BOOST_AUTO_TEST_CASE(a_question_is_asked_again_on_the_next_connection) {
  fixture f;
  f.open();
  f.inspect("x");
  f.sent();
  f.force("y", 12);
  f.cut();
  f.connect();
  f.sent();
  f.resumes();
  BOOST_TEST(f.sent() == "beat; inspect x; force y 12");
}

BOOST_AUTO_TEST_CASE(a_question_is_asked_again_in_the_next_session) {
  fixture f;
  f.open();
  f.inspect("x");
  f.sent();
  f.force("y", 12);
  f.refuse("NOSESSION no such session");
  f.told();
  f.connect();
  f.sent();
  f.opens();
  BOOST_TEST(f.sent() == "beat; inspect x; force y 12");
}

BOOST_AUTO_TEST_CASE(a_force_that_was_sent_twice_has_succeeded_if_nobody_holds) {
  for (bool const loses_session : {true, false}) {
    fixture f;
    f.open();
    f.after(2s);
    f.force("x", 12);
    BOOST_TEST(f.sent() == "beat; force x 12");
    if (loses_session)
      f.refuse("NOSESSION no such session");
    else
      f.cut();
    f.connect();
    f.sent();
    loses_session ? f.opens() : f.resumes();
    BOOST_TEST(f.sent() == "beat; force x 12");
    f.answer_beat({});
    f.told();
    f.answer_number(0);
    BOOST_TEST(f.told() == "answered 1 none");
  }
}

BOOST_AUTO_TEST_CASE(a_question_whose_time_is_up_is_not_asked_again) {
  fixture f;
  f.open();
  f.inspect("x");
  f.sent();
  f.after(1000ms);
  f.s.tick(f.now);
  f.cut();
  f.connect();
  f.sent();
  f.resumes();
  BOOST_TEST(f.sent() == "beat");
}

// --- The end ---

BOOST_AUTO_TEST_CASE(the_end_of_a_run_ends_all_questions) {
  struct row {
    std::function<void(fixture&)> end;
    std::string told, later;
  };
  row const rows[] = {
      {[](fixture& f) { f.s.stop(); }, "aborted", "aborted"},
      {[](fixture& f) { f.s.shutdown(f.now); }, "aborted", "aborted"},
      {[](fixture& f) { f.s.end(); }, "aborted", "aborted"},
      {[](fixture& f) { f.s.fail(failure::access_denied, "no"); }, "access_denied",
       "access_denied"},
      {[](fixture& f) { f.refuse("MAXTTL no"); }, "configuration", "configuration"},
  };
  for (row const& r : rows) {
    fixture f;
    f.open();
    f.inspect("x");
    f.sent();
    f.force("y", 12);
    r.end(f);
    std::string const told = f.told();
    BOOST_TEST(told.find("answered 1 " + r.told + "; answered 2 " + r.told) != told.npos, told);
    f.inspect("z");
    BOOST_TEST(f.told() == "answered 3 " + r.later);
  }
}

BOOST_AUTO_TEST_CASE(a_shutdown_goes_on_behind_an_unanswered_question) {
  fixture f;
  f.open();
  f.inspect("x");
  f.sent();
  f.s.shutdown(f.now);
  BOOST_TEST(f.told() == "answered 1 aborted");
  BOOST_TEST(f.sent() == "shutdown a.1");
  asio_sync::redis::inspection found;
  f.answer(&found);
  f.answer_number(0);
  BOOST_TEST(f.told() == "disconnect; ended none");
}

// --- Holds that are taken away ---

BOOST_AUTO_TEST_CASE(a_hold_that_is_taken_away_is_lost_at_once) {
  fixture f;
  f.open();
  claim& c = f.hold("x", 11);
  f.push("L a.1:1 11 e");
  BOOST_TEST(f.told() == "forced; lost 1");
  BOOST_TEST(f.sent() == "forget x a.1:1");
  f.s.release(f.now, c);
  BOOST_TEST(f.sent() == "");
  f.push("L a.1:1 11 e");
  f.answer_number(0);
  BOOST_TEST(f.told() == "finished 1 lease_lost");
}

BOOST_AUTO_TEST_CASE(a_hold_whose_loss_nobody_has_heard_of_is_lost_by_its_beat_or_release) {
  fixture f;
  f.open();
  f.hold("x", 11);
  claim& second = f.hold("y", 12);
  f.s.release(f.now, second);
  f.sent();
  f.answer_number(-1);
  BOOST_TEST(f.told() == "record_lost; finished 2 lease_lost");
  BOOST_TEST(f.sent() == "beat x:1; open resume a.1 gen 2");
  f.answer_beat({unknown()});
  f.resumes();
  BOOST_TEST(f.told() == "record_lost; lost 1");
}

BOOST_AUTO_TEST_CASE(a_hold_that_is_taken_away_before_its_release_is_no_lost_record) {
  fixture f;
  f.open();
  f.s.release(f.now, f.hold("x", 11));
  f.sent();
  f.push("L a.1:1 11 e");
  BOOST_TEST(f.told() == "forced");
  f.answer_number(-1);
  BOOST_TEST(f.told() == "finished 1 lease_lost");
  BOOST_TEST(f.sent() == "");
}

BOOST_AUTO_TEST_CASE(the_loss_of_another_hold_is_ignored) {
  fixture f;
  f.open();
  f.hold("x", 11);
  f.wait("y", 12);
  for (auto const* const push :
       {"L a.1:1 12 e", "L a.1:1 11 f", "L a.2:1 11 e", "L b.1:1 11 e", "L a.1:9 11 e",
        "L a.1:2 12 e", "L a.1:1 11", "L a.1:1 11 ", "L", "L ", "M a.1:1 11 e", "l a.1:1 11 e",
        "LG a.1:1 11 e", "L a.1: 11 e", "L a.1:1 x e"})
    f.push(push);
  BOOST_TEST(f.told() == "");
  BOOST_TEST(f.sent() == "");
}

BOOST_AUTO_TEST_CASE(a_loss_before_the_session_is_confirmed_is_ignored) {
  fixture f;
  f.open();
  f.hold("x", 11);
  f.cut();
  f.told();
  f.push("L a.1:1 11 e");
  f.connect();
  f.sent();
  f.push("L a.1:1 11 e");
  BOOST_TEST(f.told() == "");
  f.resumes();
  f.told();
  f.push("L a.1:1 11 e");
  BOOST_TEST(f.told() == "forced; lost 1");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_session_questions_test
