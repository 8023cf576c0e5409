// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Commands that give back, that are sent again, and that are refused.

#include "support/session_script.hpp"
#include "support/test.hpp"

namespace redis_session_commands_test {

using namespace session_script;

BOOST_AUTO_TEST_SUITE(session_commands_test)

// --- Giving back ---

BOOST_AUTO_TEST_CASE(a_claim_that_the_server_has_not_seen_is_forgotten_without_a_command) {
  fixture f;
  f.open();
  claim& c = f.acquire("x");
  f.s.forget(f.now, c);
  BOOST_TEST(f.told() == "finished 1 none");
  BOOST_TEST(f.sent() == "");
}

// The host may end a claim in finished().
BOOST_AUTO_TEST_CASE(a_claim_can_be_given_back_when_its_session_has_lapsed) {
  for (bool const releases : {true, false}) {
    fixture f;
    f.open();
    claim& c = f.hold("x", 11);
    f.after(6000ms);
    f.ends_claims = true;
    if (releases)
      f.s.release(f.now, c);
    else
      f.s.forget(f.now, c);
    BOOST_TEST(f.told() == "session_lost; disconnect; lost 1; finished 1 lease_lost");
    BOOST_TEST(f.sent() == "");
  }
}

BOOST_AUTO_TEST_CASE(a_claim_of_a_lost_session_is_forgotten_without_a_command) {
  fixture f;
  f.open();
  claim& c = f.wait("x", 11);
  f.after(6000ms);
  f.s.tick(f.now);
  f.told();
  f.s.forget(f.now, c);
  BOOST_TEST(f.told() == "finished 1 none");
}

BOOST_AUTO_TEST_CASE(a_claim_that_the_server_may_have_seen_is_forgotten_by_a_command) {
  fixture f;
  f.open();
  claim& c = f.acquire("x");
  f.sent();
  f.s.forget(f.now, c);
  BOOST_TEST(f.sent() == "forget x a.1:1");
  f.answer(holds(11));
  BOOST_TEST(f.told() == "");
  f.answer_number(1);
  BOOST_TEST(f.told() == "finished 1 none");
}

BOOST_AUTO_TEST_CASE(a_hold_is_given_back) {
  for (int const result : {1, 0}) {
    fixture f;
    f.open();
    claim& c = f.hold("x", 11);
    f.s.release(f.now, c);
    BOOST_TEST(f.sent() == "release x a.1:1");
    BOOST_TEST(f.told() == "");
    f.answer_number(result);
    BOOST_TEST(f.told() == "finished 1 none");
  }
}

BOOST_AUTO_TEST_CASE(a_release_of_somebody_elses_hold_is_a_lost_lease) {
  fixture f;
  f.open();
  claim& c = f.hold("x", 11);
  f.s.release(f.now, c);
  f.sent();
  f.answer_number(-1);
  BOOST_TEST(f.told() == "record_lost; finished 1 lease_lost");
  BOOST_TEST(f.sent() == "beat; open resume a.1 gen 2");
}

BOOST_AUTO_TEST_CASE(a_release_that_was_sent_again_may_have_happened) {
  fixture f;
  f.open();
  claim& c = f.hold("x", 11);
  f.s.release(f.now, c);
  BOOST_TEST(f.sent() == "release x a.1:1");
  f.cut();
  f.connect();
  f.sent();
  f.resumes();
  BOOST_TEST(f.sent() == "beat; release x a.1:1");
  f.answer_beat({});
  f.told();
  f.answer_number(-1);
  BOOST_TEST(f.told() == "finished 1 none");
}

BOOST_AUTO_TEST_CASE(a_release_whose_answer_is_lost_with_the_session_is_a_lost_lease) {
  fixture f;
  f.open();
  claim& c = f.hold("x", 11);
  f.s.release(f.now, c);
  f.sent();
  f.after(6s);
  f.s.tick(f.now);
  BOOST_TEST(f.told() == "session_lost; disconnect; finished 1 lease_lost");
}

BOOST_AUTO_TEST_CASE(a_second_release_does_nothing) {
  fixture f;
  f.open();
  claim& c = f.hold("x", 11);
  f.s.release(f.now, c);
  f.s.release(f.now, c);
  f.s.forget(f.now, c);
  BOOST_TEST(f.sent() == "release x a.1:1");
  f.answer_number(1);
  f.told();
  f.s.release(f.now, c);
  BOOST_TEST(f.sent() == "");
  BOOST_TEST(f.told() == "");
}

// --- A lost connection ---

BOOST_AUTO_TEST_CASE(unanswered_commands_are_sent_again_in_order) {
  fixture f;
  f.open();
  claim& held = f.hold("w", 10);
  f.acquire("x");
  f.s.release(f.now, held);
  f.acquire("y");
  BOOST_TEST(f.sent() == "acquire x a.1:2; release w a.1:1; acquire y a.1:3");
  f.acquire("z");
  f.cut();
  f.connect();
  BOOST_TEST(f.sent() == "open resume a.1 gen 2");
  f.resumes();
  BOOST_TEST(f.sent() ==
             "beat; acquire x a.1:2; release w a.1:1; acquire y a.1:3; acquire z a.1:4");
}

BOOST_AUTO_TEST_CASE(of_each_token_only_the_newest_command_is_sent_again) {
  fixture f;
  f.open();
  claim& x = f.acquire("x");
  claim& y = f.acquire("y");
  claim& z = f.acquire("z");
  f.sent();
  f.s.forget(f.now, x);
  f.sent();
  f.s.forget(f.now, y);
  f.cut();
  f.s.forget(f.now, z);
  f.told();
  f.connect();
  f.sent();
  f.resumes();
  BOOST_TEST(f.sent() == "beat; forget x a.1:1; forget y a.1:2; forget z a.1:3");
}

BOOST_AUTO_TEST_CASE(a_claim_that_was_granted_meanwhile_does_not_ask_again) {
  fixture f;
  f.open();
  f.acquire("x");
  f.sent();
  f.push("G a.1:1 12 e");
  f.cut();
  f.connect();
  f.sent();
  f.resumes();
  BOOST_TEST(f.sent() == "beat x:1");
}

BOOST_AUTO_TEST_CASE(a_claim_that_is_granted_before_it_asks_again_does_not_ask) {
  fixture f;
  f.open();
  f.acquire("x");
  f.sent();
  f.cut();
  f.connect();
  f.sent();
  f.resumes();
  f.push("G a.1:1 12 e");
  BOOST_TEST(f.sent() == "beat x:1");
}

BOOST_AUTO_TEST_CASE(a_claim_that_was_granted_before_its_answer_can_be_shut_down) {
  fixture f;
  f.open();
  f.acquire("x");
  f.sent();
  f.push("G a.1:1 12 e");
  f.told();
  f.s.shutdown(f.now);
  BOOST_TEST(f.told() == "lost 1; finished 1 lease_lost");
  BOOST_TEST(f.sent() == "shutdown a.1");
  f.answer(holds(12));
  f.answer_number(0);
  BOOST_TEST(f.told() == "disconnect; ended none");
}

BOOST_AUTO_TEST_CASE(a_command_that_is_sent_again_has_the_time_of_its_last_sending) {
  fixture f;
  f.open();
  f.after(2s);
  BOOST_TEST(f.sent() == "beat");
  f.cut();
  f.after(1s);
  f.connect();
  f.sent();
  f.resumes();
  auto const sent = f.now;
  BOOST_TEST(f.sent() == "beat");
  f.answer_beat({});
  BOOST_TEST((f.s.valid_until() == sent + 5700ms));
}

BOOST_AUTO_TEST_CASE(errors_of_a_server_in_trouble_are_a_lost_connection) {
  std::pair<std::string, std::string> const errors[] = {
      {"NOSCRIPT", "server_error"},  {"LOADING", "server_error"},  {"BUSY", "server_error"},
      {"MISCONF", "server_error"},   {"READONLY", "not_a_master"}, {"MASTERDOWN", "not_a_master"},
      {"NOREPLICAS", "server_error"}};
  for (auto const& [code, why] : errors) {
    fixture f;
    f.open();
    f.acquire("x");
    f.sent();
    f.refuse(code + " in trouble");
    BOOST_TEST(f.told() == "disconnect; disconnected " + why);
    f.connect();
    f.sent();
    f.resumes();
    BOOST_TEST(f.sent() == "beat; acquire x a.1:1");
  }
}

BOOST_AUTO_TEST_CASE(an_answer_of_another_form_is_a_lost_connection) {
  using asio_sync::redis::detail::answer;
  answer const answers[] = {malformed{}, std::int64_t(1), opened{true, "e", std::nullopt},
                            unknown()};
  for (answer const& a : answers) {
    fixture f;
    f.open();
    f.acquire("x");
    f.sent();
    f.answer(a);
    BOOST_TEST(f.told() == "disconnect; disconnected protocol_error");
  }
  fixture f;
  f.open();
  f.hold("x", 11);
  f.after(2s);
  f.sent();
  f.answer_beat({});  // without the token that was named
  BOOST_TEST(f.told() == "disconnect; disconnected protocol_error");
  f.connect();
  f.sent();
  f.opens();  // instead of resumed
  BOOST_TEST(f.told() == "disconnect; connect_failed 1 protocol_error");
}

// --- Errors ---

BOOST_AUTO_TEST_CASE(an_error_of_an_operation_is_its_own) {
  std::vector<std::pair<std::string, std::string>> const errors = {
      {"KIND", "server_error kind_mismatch; finished 1 kind_mismatch"},
      {"VERSION", "server_error version; finished 1 version"},
      {"CAPACITY", "server_error configuration; finished 1 configuration"},
      {"WRONGTYPE", "server_error server_error; finished 1 server_error"},
      {"ERR", "server_error server_error; finished 1 server_error"},
  };
  for (auto const& [code, told] : errors) {
    fixture f;
    f.open();
    f.acquire("x");
    f.sent();
    f.refuse(code + " for this reason");
    BOOST_TEST(f.told() == told);
    BOOST_TEST((f.s.state() == session_state::open));
  }
}

BOOST_AUTO_TEST_CASE(an_operation_that_fails_is_forgotten_if_the_server_may_know_it) {
  for (bool const is_answered : {false, true}) {
    fixture f;
    f.open();
    f.acquire("x");
    if (is_answered) {
      f.sent();
      f.answer(waits(11));
      f.after(2s);
      f.sent();
      f.answer_beat({unknown()});
      f.sent();
    } else {
      f.send_twice();
    }
    f.refuse("KIND the object is a semaphore");
    BOOST_TEST(f.told() == "server_error kind_mismatch");
    BOOST_TEST(f.sent() == "forget x a.1:1");
    f.answer_number(0);
    BOOST_TEST(f.told() == "finished 1 kind_mismatch");
  }
}

BOOST_AUTO_TEST_CASE(an_operation_of_the_next_session_fails_at_once) {
  fixture f;
  f.open();
  f.wait("x", 11);
  f.lose_session();
  BOOST_TEST(f.sent() == "beat; acquire x a.2:1 ticket 11");
  f.answer_beat({});
  f.refuse("KIND the object is a semaphore");
  BOOST_TEST(f.told() == "server_error kind_mismatch; finished 1 kind_mismatch");
}

BOOST_AUTO_TEST_CASE(a_session_that_cannot_be_opened_ends_the_run) {
  std::pair<std::string, std::string> const errors[] = {
      {"ERR unknown command 'EVALSHA'", "unsupported_server"},
      {"WRONGTYPE of a key", "server_error"},
  };
  for (auto const& [text, why] : errors) {
    fixture f;
    f.acquire("x");
    f.connect();
    f.sent();
    f.refuse(text);
    BOOST_TEST(f.told() ==
               "server_error " + why + "; disconnect; finished 1 " + why + "; ended " + why);
  }
}

BOOST_AUTO_TEST_CASE(an_error_of_a_command_that_a_grant_has_overtaken_is_ignored) {
  for (auto const* const text : {"KIND the object is a semaphore", "OOM no memory"}) {
    fixture f;
    f.open();
    claim const& c = f.acquire("x");
    f.sent();
    f.push("G a.1:1 11 e");
    BOOST_TEST(f.told() == "granted 1 fence 11");
    f.refuse(text);
    f.after(50ms);
    BOOST_TEST(f.sent() == "");
    BOOST_TEST(f.told() == "");
    BOOST_TEST((c.state() == claim_state::holding));
  }
}

BOOST_AUTO_TEST_CASE(a_claim_without_memory_at_the_server_asks_again_later) {
  fixture f;
  f.open();
  f.acquire("x");
  f.sent();
  for (auto const delay : {50ms, 100ms, 200ms, 400ms, 800ms, 1600ms}) {
    f.refuse("OOM");
    f.after(delay - 1ms);
    BOOST_TEST(f.sent().find("acquire") == std::string::npos);
    f.after(1ms);
    BOOST_TEST(f.sent() == "acquire x a.1:1");
    if (delay == 1600ms) break;
  }
}

BOOST_AUTO_TEST_CASE(a_claim_that_is_to_ask_again_can_be_given_up) {
  fixture f;
  f.open();
  claim& c = f.acquire("x");
  f.sent();
  f.refuse("OOM");
  f.s.forget(f.now, c);
  BOOST_TEST(f.sent() == "forget x a.1:1");
  f.after(50ms);
  BOOST_TEST(f.sent() == "");
}

BOOST_AUTO_TEST_CASE(a_release_that_fails_is_told_at_once_and_repeated_until_it_does_not) {
  fixture f;
  f.open();
  f.s.release(f.now, f.hold("x", 11));
  BOOST_TEST(f.sent() == "release x a.1:1");
  std::string told = "server_error server_error; failed 1 server_error";
  for (auto const delay : {50ms, 100ms, 200ms, 400ms, 800ms}) {
    f.refuse("WRONGTYPE of a key");
    BOOST_TEST(f.told() == told);
    f.after(delay - 1ms);
    BOOST_TEST(f.sent().find("forget") == std::string::npos);
    f.after(1ms);
    BOOST_TEST(f.sent() == "forget x a.1:1");
  }
  f.answer_number(1);
  BOOST_TEST(f.told() == "finished 1 server_error");
}

BOOST_AUTO_TEST_CASE(a_release_that_is_to_be_repeated_ends_with_the_session) {
  for (std::string const how : {"lapse", "stop", "cut", "shutdown"}) {
    fixture f;
    f.open();
    f.s.release(f.now, f.hold("x", 11));
    f.sent();
    f.refuse("WRONGTYPE of a key");
    f.told();
    if (how == "lapse") {
      f.lapse();
      BOOST_TEST(f.told() == "session_lost; finished 1 server_error");
    } else if (how == "stop") {
      f.s.stop();
      BOOST_TEST(f.told() == "disconnect; finished 1 server_error; ended aborted");
    } else if (how == "cut") {
      f.cut();
      f.after(50ms);
      f.s.tick(f.now);
      f.connect();
      f.sent();
      f.resumes();
      BOOST_TEST(f.sent() == "beat; forget x a.1:1");
    } else {
      f.s.shutdown(f.now);
      BOOST_TEST(f.told() == "");
      BOOST_TEST(f.sent() == "shutdown a.1");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_final_error_ends_everything) {
  std::vector<std::pair<std::string, std::string>> const errors = {{"MAXTTL", "configuration"}};
  for (auto const& [code, why] : errors) {
    fixture f;
    f.open();
    f.hold("x", 11);
    f.wait("y", 12);
    f.acquire("z");
    f.sent();
    f.refuse(code + " for this reason");
    std::string all = "server_error " + why;
    all.append("; disconnect; lost 1; finished 1 lease_lost; finished 2 ")
        .append(why)
        .append("; finished 3 ")
        .append(why)
        .append("; ended ")
        .append(why);
    BOOST_TEST(f.told() == all);
    f.acquire("y");
    BOOST_TEST(f.told() == "finished 4 " + why);
    f.s.run();
    f.acquire("y");
    BOOST_TEST(f.told() == "");
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_session_commands_test
