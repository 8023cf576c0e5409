// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Opening, resuming and losing a session, and grants.

#include "support/session_script.hpp"
#include "support/test.hpp"

namespace redis_session_rules_test {

using namespace session_script;

BOOST_AUTO_TEST_SUITE(session_rules_test)

// --- Opening and resuming ---

BOOST_AUTO_TEST_CASE(nothing_is_sent_before_open_is_answered) {
  fixture f;
  f.acquire("x");
  BOOST_TEST(f.sent() == "");
  f.connect();
  BOOST_TEST(f.sent() == "open new a.1 gen 1");
  f.acquire("y");
  BOOST_TEST(f.sent() == "");
  f.opens();
  BOOST_TEST(f.told() == "connected");
  BOOST_TEST(f.sent() == "beat; acquire x a.1:1; acquire y a.1:2");
}

BOOST_AUTO_TEST_CASE(every_attempt_to_open_has_an_incarnation_of_its_own) {
  fixture f;
  f.connect();
  BOOST_TEST(f.sent() == "open new a.1 gen 1");
  f.cut();
  BOOST_TEST(f.told() == "connect_failed 1");
  f.connect();
  BOOST_TEST(f.sent() == "open new a.2 gen 2");
}

BOOST_AUTO_TEST_CASE(a_lost_connection_is_resumed_with_the_next_generation) {
  fixture f;
  f.open();
  f.cut();
  BOOST_TEST(f.told() == "disconnected");
  f.connect();
  BOOST_TEST(f.sent() == "open resume a.1 gen 2");
  f.resumes();
  BOOST_TEST(f.told() == "connected");
}

BOOST_AUTO_TEST_CASE(a_session_begins_when_open_was_sent) {
  fixture f;
  f.connect();
  auto const sent = f.now;
  f.sent();
  f.after(100ms);
  f.opens();
  BOOST_TEST((f.s.valid_until() == sent + 5700ms));
}

BOOST_AUTO_TEST_CASE(a_resume_extends_nothing) {
  fixture f;
  f.open();
  auto const until = f.s.valid_until();
  f.after(1s);
  f.cut();
  f.connect();
  f.sent();
  f.resumes();
  BOOST_TEST((f.s.valid_until() == until));
}

BOOST_AUTO_TEST_CASE(a_beat_extends_the_session_from_the_time_it_was_sent) {
  fixture f;
  f.open();
  f.after(2s);
  auto const sent = f.now;
  BOOST_TEST(f.sent() == "beat");
  f.after(700ms);
  f.answer_beat({});
  BOOST_TEST((f.s.valid_until() == sent + 5700ms));
}

// --- Validity ---

BOOST_AUTO_TEST_CASE(a_late_answer_does_not_revive_a_session) {
  fixture f;
  f.open();
  f.hold("x", 11);
  f.after(5699ms);
  BOOST_TEST(f.sent() == "beat x:1");
  BOOST_TEST(f.told() == "late 3699 ms");
  f.after(1ms);
  f.answer_beat({holds(11)});
  BOOST_TEST(f.told() == "session_lost; disconnect; lost 1; finished 1 lease_lost");
  BOOST_TEST((f.s.state() == session_state::offline));
}

BOOST_AUTO_TEST_CASE(every_call_ends_a_session_that_has_lapsed) {
  using call = void (*)(fixture&, claim&);
  call const calls[] = {
      [](fixture& f, claim&) { f.s.tick(f.now); },
      [](fixture& f, claim&) { f.sent(); },
      [](fixture& f, claim&) { f.answer_beat({}); },
      [](fixture& f, claim&) { f.push("G a.1:1 12 e"); },
      [](fixture& f, claim&) { f.connect(); },
      [](fixture& f, claim&) { f.cut(); },
      [](fixture& f, claim&) { f.acquire("y"); },
      [](fixture& f, claim& c) { f.s.release(f.now, c); },
      [](fixture& f, claim& c) { f.s.forget(f.now, c); },
      [](fixture& f, claim&) { f.s.shutdown(f.now); },
  };
  for (call const made : calls) {
    fixture f;
    f.open();
    claim& c = f.hold("x", 11);
    f.after(5700ms);
    made(f, c);
    BOOST_TEST(f.told().starts_with("session_lost; disconnect; lost 1; finished 1 lease_lost"));
  }
}

BOOST_AUTO_TEST_CASE(the_next_tick_is_not_after_the_end_of_the_session) {
  fixture f;
  f.open();
  f.cut();
  BOOST_TEST((f.s.next_tick() == f.s.valid_until()));
}

// --- A lost session ---

BOOST_AUTO_TEST_CASE(waiters_keep_their_tickets_in_the_next_session) {
  fixture f;
  f.open();
  f.hold("x", 11);
  f.wait("y", 12);
  f.after(6s);
  f.s.tick(f.now);
  BOOST_TEST(f.told() == "session_lost; disconnect; lost 1; finished 1 lease_lost");
  f.connect();
  BOOST_TEST(f.sent() == "open new a.2 gen 2 old a.1");
  f.opens();
  BOOST_TEST(f.sent() == "beat; acquire y a.2:2 ticket 12");
}

BOOST_AUTO_TEST_CASE(the_old_session_is_named_until_a_new_one_is_open) {
  fixture f;
  f.open();
  f.after(6s);
  f.s.tick(f.now);
  f.connect();
  BOOST_TEST(f.sent() == "open new a.2 gen 2 old a.1");
  f.cut();
  f.connect();
  BOOST_TEST(f.sent() == "open new a.3 gen 3 old a.1");
  f.opens();
  f.sent();
  f.after(6s);
  f.s.tick(f.now);
  f.connect();
  BOOST_TEST(f.sent() == "open new a.4 gen 4 old a.3");
}

BOOST_AUTO_TEST_CASE(a_session_that_the_server_does_not_know_is_lost) {
  for (std::string const error : {"NOSESSION no such session", "EPOCH lost"}) {
    fixture f;
    f.open();
    f.hold("x", 11);
    f.acquire("y");
    f.sent();
    f.refuse(error);
    BOOST_TEST(f.told() == "session_lost; disconnect; lost 1; finished 1 lease_lost");
    f.connect();
    BOOST_TEST(f.sent() == "open new a.2 gen 2 old a.1");
    f.opens("e2");
    BOOST_TEST(f.told() == "connected; data_lost");
    BOOST_TEST(f.sent() == "beat; acquire y a.2:2");
  }
}

BOOST_AUTO_TEST_CASE(a_resume_that_is_refused_opens_a_session_on_the_same_connection) {
  for (std::string const error : {"NOSESSION no such session", "EPOCH lost"}) {
    fixture f;
    f.open();
    f.hold("x", 11);
    f.cut();
    f.connect();
    f.sent();
    f.told();
    f.refuse(error);
    BOOST_TEST(f.told() == "session_lost; lost 1; finished 1 lease_lost");
    BOOST_TEST(f.sent() == "open new a.2 gen 2 old a.1");
  }
}

BOOST_AUTO_TEST_CASE(a_resume_under_another_epoch_is_a_lost_session) {
  fixture f;
  f.open();
  f.hold("x", 11);
  f.cut();
  f.connect();
  f.sent();
  f.told();
  f.resumes("e2");
  BOOST_TEST(f.told() == "session_lost; lost 1; finished 1 lease_lost");
  BOOST_TEST(f.sent() == "open new a.2 gen 2 old a.1");
}

BOOST_AUTO_TEST_CASE(a_stranger_who_speaks_for_the_session_keeps_it) {
  fixture f;
  f.open();
  f.hold("x", 11);
  f.after(2s);
  f.sent();
  f.refuse("STALE a newer connection speaks for this session");
  BOOST_TEST(f.told() == "session_lost; disconnect; lost 1; finished 1 lease_lost");
  BOOST_TEST(f.s.client_id() == "b");
  f.connect();
  BOOST_TEST(f.sent() == "open new b.2 gen 2");  // without the old one
}

BOOST_AUTO_TEST_CASE(a_stranger_who_has_opened_the_session_keeps_it) {
  fixture f;
  f.connect();
  BOOST_TEST(f.sent() == "open new a.1 gen 1");
  f.refuse("STALE somebody");
  BOOST_TEST(f.told() == "disconnect; connect_failed 1 server_error");
  f.connect();
  BOOST_TEST(f.sent() == "open new b.2 gen 2");
}

BOOST_AUTO_TEST_CASE(a_new_session_may_find_a_gate) {
  fixture f;
  f.connect();
  f.sent();
  f.opens("e", 4000ms);
  BOOST_TEST(f.told() == "connected; gated 4000 ms");
}

BOOST_AUTO_TEST_CASE(a_try_meets_the_gate_or_a_holder) {
  fixture f;
  f.open();
  f.acquire("x", true);
  f.acquire("y", true);
  BOOST_TEST(f.sent() == "acquire x a.1:1 try; acquire y a.1:2 try");
  f.answer(token_state{standing::unknown, 0, 4000ms, std::nullopt});
  f.answer(unknown());
  BOOST_TEST(f.told() == "finished 1 gated; finished 2 not_free");
}

// --- Grants ---

BOOST_AUTO_TEST_CASE(a_grant_comes_by_answer_push_or_beat) {
  fixture f;
  f.open();
  f.acquire("x");
  BOOST_TEST(f.sent() == "acquire x a.1:1");
  f.answer(holds(11));
  BOOST_TEST(f.told() == "granted 1 fence 11");
  f.wait("y", 12);
  f.push("G a.1:2 13 e");
  BOOST_TEST(f.told() == "granted 2 fence 13");
  f.wait("z", 14);
  f.after(2s);
  BOOST_TEST(f.sent() == "beat x:1 y:2 z:3");
  f.answer_beat({holds(11), holds(13), holds(15)});
  BOOST_TEST(f.told() == "granted 3 fence 15");
}

BOOST_AUTO_TEST_CASE(a_grant_counts_once) {
  fixture f;
  f.open();
  f.wait("x", 11);
  f.after(2s);
  f.sent();
  f.push("G a.1:1 12 e");
  f.push("G a.1:1 12 e");
  f.answer_beat({holds(12)});
  BOOST_TEST(f.told() == "granted 1 fence 12");
}

BOOST_AUTO_TEST_CASE(a_grant_may_overtake_the_answer_of_acquire) {
  fixture f;
  f.open();
  f.acquire("x");
  f.sent();
  f.push("G a.1:1 12 e");
  BOOST_TEST(f.told() == "granted 1 fence 12");
  f.answer(holds(12));
  BOOST_TEST(f.told() == "");
}

BOOST_AUTO_TEST_CASE(a_grant_of_another_epoch_or_session_is_ignored) {
  fixture f;
  f.open();
  f.wait("x", 11);
  for (auto const* const push : {"G a.1:1 12 f", "G a.2:1 12 e", "G b.1:1 12 e", "G a.1:9 12 e",
                                 "G a.1:1 12", "G a.1:1 x e", "G a.1 12 e", "H a.1:1 12 e", ""})
    f.push(push);
  BOOST_TEST(f.told() == "");
}

// It may be of data that the server has had before it was started again.
BOOST_AUTO_TEST_CASE(a_grant_before_the_session_is_resumed_does_not_count) {
  fixture f;
  f.open();
  f.wait("x", 11);
  f.cut();
  f.connect();
  f.sent();
  f.told();
  f.push("G a.1:1 12 e");
  f.resumes();
  BOOST_TEST(f.told() == "connected");
  BOOST_TEST(f.sent() == "beat x:1");
  f.answer_beat({holds(12)});
  BOOST_TEST(f.told() == "granted 1 fence 12");
}

BOOST_AUTO_TEST_CASE(a_grant_after_the_wait_was_given_up_is_given_back) {
  fixture f;
  f.open();
  claim& c = f.wait("x", 11);
  f.s.forget(f.now, c);
  BOOST_TEST(f.sent() == "forget x a.1:1");
  f.push("G a.1:1 12 e");
  BOOST_TEST(f.told() == "");
  f.answer_number(1);
  BOOST_TEST(f.told() == "finished 1 none");
}

BOOST_AUTO_TEST_CASE(a_try_that_gets_nothing_is_over) {
  fixture f;
  f.open();
  f.acquire("x", true);
  BOOST_TEST(f.sent() == "acquire x a.1:1 try");
  f.answer(unknown());
  BOOST_TEST(f.told() == "finished 1 not_free");
  BOOST_TEST(f.s.size() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_session_rules_test
