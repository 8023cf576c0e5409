// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The rules of the session, each against a server that is a script.

#include "support/session_script.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace session_script;

// --- Opening and resuming ---

BOOST_AUTO_TEST_SUITE(session_rules)

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
  BOOST_TEST(f.told() == "");
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

BOOST_AUTO_TEST_CASE(a_new_session_may_find_a_gate) {
  fixture f;
  f.connect();
  f.sent();
  f.opens("e", 4000ms);
  BOOST_TEST(f.told() == "connected; gated 4000 ms");
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

BOOST_AUTO_TEST_CASE(a_grant_counts_while_the_session_is_being_resumed) {
  fixture f;
  f.open();
  f.wait("x", 11);
  f.cut();
  f.connect();
  f.sent();
  f.told();
  f.push("G a.1:1 12 e");
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

// --- Giving back ---

BOOST_AUTO_TEST_CASE(a_claim_that_the_server_has_not_seen_is_forgotten_without_a_command) {
  fixture f;
  f.open();
  claim& c = f.acquire("x");
  f.s.forget(f.now, c);
  BOOST_TEST(f.told() == "finished 1 none");
  BOOST_TEST(f.sent() == "");
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
  BOOST_TEST(f.told() == "finished 1 lease_lost");
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

BOOST_AUTO_TEST_CASE(a_claim_that_is_granted_during_a_resume_does_not_ask_again) {
  fixture f;
  f.open();
  f.acquire("x");
  f.sent();
  f.cut();
  f.connect();
  f.sent();
  f.push("G a.1:1 12 e");
  f.resumes();
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
  for (std::string const code :
       {"NOSCRIPT", "LOADING", "MASTERDOWN", "BUSY", "MISCONF", "NOREPLICAS", "READONLY"}) {
    fixture f;
    f.open();
    f.acquire("x");
    f.sent();
    f.refuse(code + " in trouble");
    BOOST_TEST(f.told() == "disconnect; disconnected");
    f.connect();
    f.sent();
    f.resumes();
    BOOST_TEST(f.sent() == "beat; acquire x a.1:1");
  }
}

BOOST_AUTO_TEST_CASE(an_answer_of_another_form_is_a_lost_connection) {
  using asio_sync::redis::detail::answer;
  answer const answers[] = {malformed{}, std::int64_t(1), opened{true, "e", std::nullopt}};
  for (answer const& a : answers) {
    fixture f;
    f.open();
    f.acquire("x");
    f.sent();
    f.answer(a);
    BOOST_TEST(f.told() == "disconnect; disconnected");
  }
  fixture f;
  f.open();
  f.hold("x", 11);
  f.after(2s);
  f.sent();
  f.answer_beat({});  // without the token that was named
  BOOST_TEST(f.told() == "disconnect; disconnected");
  f.connect();
  f.sent();
  f.opens();  // instead of resumed
  BOOST_TEST(f.told() == "disconnect");
}

// --- Errors ---

BOOST_AUTO_TEST_CASE(an_error_of_an_operation_is_its_own) {
  std::vector<std::pair<std::string, std::string>> const errors = {
      {"KIND", "finished 1 kind_mismatch"},
      {"VERSION", "finished 1 version"},
      {"CAPACITY", "finished 1 configuration"},
      {"WRONGTYPE", "server_error; finished 1 server_error"},
      {"ERR", "server_error; finished 1 server_error"},
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

BOOST_AUTO_TEST_CASE(a_final_error_ends_everything) {
  std::vector<std::pair<std::string, std::string>> const errors = {
      {"MAXTTL", "configuration"}, {"NOPERM", "access_denied"}, {"NOAUTH", "access_denied"}};
  for (auto const& [code, why] : errors) {
    fixture f;
    f.open();
    f.hold("x", 11);
    f.wait("y", 12);
    f.acquire("z");
    f.sent();
    f.refuse(code + " for this reason");
    BOOST_TEST(f.told() == "server_error; disconnect; lost 1; finished 1 lease_lost; finished 2 " +
                               why + "; finished 3 " + why + "; ended " + why);
    f.acquire("y");
    BOOST_TEST(f.told() == "finished 4 " + why);
    f.s.run();
    f.acquire("y");
    BOOST_TEST(f.told() == "");
  }
}

// --- Beats ---

BOOST_AUTO_TEST_CASE(a_beat_is_sent_in_every_third_of_a_life) {
  fixture f;
  f.open();
  for (int i = 0; i != 3; ++i) {
    BOOST_TEST((f.s.next_tick() == f.now + 2s));
    f.after(1999ms);
    BOOST_TEST(f.sent() == "");
    f.after(1ms);
    BOOST_TEST(f.sent() == "beat");
    f.answer_beat({});
  }
}

BOOST_AUTO_TEST_CASE(one_beat_is_outstanding) {
  fixture f;
  f.open();
  f.after(2s);
  BOOST_TEST(f.sent() == "beat");
  f.after(2500ms);
  BOOST_TEST(f.sent() == "");
  f.answer_beat({});
  BOOST_TEST(f.sent() == "beat");
  BOOST_TEST(f.told() == "");  // the client is not to blame
}

BOOST_AUTO_TEST_CASE(a_beat_that_is_late_is_told) {
  fixture f;
  f.open();
  f.after(2300ms);
  f.sent();
  BOOST_TEST(f.told() == "");
  f.answer_beat({});
  f.after(2301ms);
  f.sent();
  BOOST_TEST(f.told() == "late 301 ms");
}

BOOST_AUTO_TEST_CASE(a_waiter_is_named_when_the_server_has_asked_for_it) {
  fixture f;
  f.open();
  f.acquire("x");
  f.sent();
  f.answer(waits(11, 300ms));
  BOOST_TEST((f.s.next_tick() == f.now + 301ms));
  f.after(301ms);
  BOOST_TEST(f.sent() == "beat x:1");
  f.answer_beat({waits(11, 0ms)});
  f.after(1ms);
  BOOST_TEST(f.sent() == "beat x:1");
  f.answer_beat({waits(11)});
  BOOST_TEST((f.s.next_tick() == f.now + 2s));
}

BOOST_AUTO_TEST_CASE(waiters_are_named_at_once_after_a_resume) {
  fixture f;
  f.open();
  f.wait("x", 11);
  f.after(100ms);
  f.cut();
  f.connect();
  f.sent();
  f.resumes();
  BOOST_TEST(f.sent() == "beat x:1");
}

BOOST_AUTO_TEST_CASE(a_hold_that_the_server_does_not_confirm_is_lost) {
  for (token_state const state : {unknown(), waits(12), holds(12)}) {
    fixture f;
    f.open();
    f.hold("x", 11);
    f.after(2s);
    f.sent();
    f.answer_beat({state});
    BOOST_TEST(f.told() == "lost 1");
    BOOST_TEST(f.sent() == "forget x a.1:1");
    f.answer_number(0);
    BOOST_TEST(f.told() == "finished 1 lease_lost");
  }
}

BOOST_AUTO_TEST_CASE(a_beat_says_nothing_of_a_hold_that_was_released_after_it) {
  fixture f;
  f.open();
  claim& c = f.hold("x", 11);
  f.after(2s);
  BOOST_TEST(f.sent() == "beat x:1");
  f.s.release(f.now, c);
  BOOST_TEST(f.sent() == "release x a.1:1");
  f.answer_beat({unknown()});
  BOOST_TEST(f.told() == "");
}

BOOST_AUTO_TEST_CASE(a_wait_that_the_server_does_not_know_asks_again_with_its_ticket) {
  fixture f;
  f.open();
  f.wait("x", 11);
  f.after(2s);
  f.sent();
  f.answer_beat({unknown()});
  BOOST_TEST(f.told() == "");
  BOOST_TEST(f.sent() == "acquire x a.1:1 ticket 11");
}

BOOST_AUTO_TEST_CASE(a_claim_whose_acquire_is_unanswered_is_not_named) {
  fixture f;
  f.open();
  f.after(1999ms);
  f.acquire("x");
  BOOST_TEST(f.sent() == "acquire x a.1:1");
  f.after(1ms);
  BOOST_TEST(f.sent() == "beat");
}

// --- Many tokens ---

std::size_t groups(std::string const& beat) {
  return static_cast<std::size_t>(std::count(beat.begin(), beat.end(), ':'));
}
std::size_t tokens(std::string const& beat) {
  return static_cast<std::size_t>(std::count(beat.begin(), beat.end(), ',')) + groups(beat);
}

BOOST_AUTO_TEST_CASE(beats_that_name_many_objects_are_spread_over_the_interval) {
  fixture f;
  f.open();
  for (int i = 0; i != 1000; ++i) f.wait("x" + std::to_string(i), 11);
  f.after(2s);
  std::vector<std::size_t> beats;
  for (auto const end = f.now + 2s; f.now < end; f.now = f.s.next_tick())
    if (std::string const beat = f.sent(); !beat.empty()) {
      beats.push_back(groups(beat));
      f.answer_beat(std::vector<token_state>(tokens(beat), waits(11)));
    }
  std::vector<std::size_t> expected(15, 64);
  expected.push_back(40);
  BOOST_TEST(beats == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_beat_has_at_most_1024_tokens) {
  fixture f;
  f.open();
  for (int i = 0; i != 1500; ++i) f.wait(i % 2 != 0 ? "x" : "y", 11);
  f.after(2s);
  std::string const first = f.sent();
  BOOST_TEST(tokens(first) == 1024u);
  BOOST_TEST(groups(first) == 2u);
  f.answer_beat(std::vector<token_state>(1024, waits(11)));
  BOOST_TEST((f.s.next_tick() == f.now + 1s));
  f.after(1s);
  BOOST_TEST(tokens(f.sent()) == 476u);
}

BOOST_AUTO_TEST_CASE(a_waiter_does_not_wait_for_others_to_be_named_when_it_is_due) {
  fixture f;
  f.open();
  for (int i = 0; i != 65; ++i) f.wait("x" + std::to_string(i), 11);
  f.after(2s);
  BOOST_TEST(groups(f.sent()) == 64u);
  std::vector<token_state> states(64, waits(11));
  states[5].hint = 10ms;
  f.answer_beat(states);
  BOOST_TEST((f.s.next_tick() == f.now + 11ms));
  f.after(11ms);
  BOOST_TEST(groups(f.sent()) == 1u);
}

BOOST_AUTO_TEST_CASE(holds_are_named_in_rotation) {
  fixture f;
  f.open();
  std::set<std::string> named;
  for (int i = 0; i != 150; ++i) f.hold("x" + std::to_string(i), 11);
  for (int i = 0; i != 3; ++i) {
    f.after(2s);
    std::string const beat = f.sent();
    BOOST_TEST(groups(beat) == 64u);
    std::istringstream words(beat);
    for (std::string word; words >> word;) named.insert(word);
    f.answer_beat(std::vector<token_state>(64, holds(11)));
  }
  BOOST_TEST(named.size() == 151u);  // with the word beat
}

BOOST_AUTO_TEST_CASE(waiters_come_before_holds) {
  fixture f;
  f.open();
  for (int i = 0; i != 64; ++i) f.hold("x" + std::to_string(i), 11);
  f.wait("y", 12);
  f.after(2s);
  BOOST_TEST(f.sent().find("y:65") != std::string::npos);
}

// --- The longest hold ---

BOOST_AUTO_TEST_CASE(a_hold_that_lasts_too_long_is_taken_back) {
  session_config config;
  config.max_hold = 500ms;
  fixture f(config);
  f.open();
  claim& c = f.hold("x", 11);
  BOOST_TEST((f.s.next_tick() == f.now + 500ms));
  f.after(500ms);
  f.s.tick(f.now);
  BOOST_TEST(f.told() == "too_long 500 ms; lost 1");
  BOOST_TEST(f.sent() == "release x a.1:1");
  f.s.release(f.now, c);
  f.answer_number(1);
  BOOST_TEST(f.told() == "finished 1 lease_lost");
}

// --- The end of a run ---

BOOST_AUTO_TEST_CASE(a_shutdown_decides_everything_before_its_first_command) {
  fixture f;
  f.open();
  f.hold("x", 11);
  f.wait("y", 12);
  claim& leaving = f.hold("w", 13);
  f.s.release(f.now, leaving);
  f.acquire("z");
  BOOST_TEST(f.sent() == "release w a.1:3; acquire z a.1:4");
  f.acquire("v");
  f.s.shutdown(f.now);
  BOOST_TEST(f.told() ==
             "lost 1; finished 1 lease_lost; finished 2 aborted; finished 4 aborted; finished 5 "
             "aborted");
  BOOST_TEST(f.sent() == "shutdown a.1");
  f.acquire("u");
  BOOST_TEST(f.told() == "finished 6 aborted");
  f.answer_number(1);  // release
  BOOST_TEST(f.told() == "finished 3 none");
  f.answer(holds(14));  // acquire z
  BOOST_TEST(f.told() == "");
  f.answer_number(1);
  BOOST_TEST(f.sent() == "shutdown a.1");
  f.answer_number(0);
  BOOST_TEST(f.told() == "disconnect; ended none");
  BOOST_TEST((f.s.state() == session_state::stopped));
  BOOST_TEST(f.s.size() == 0u);
}

BOOST_AUTO_TEST_CASE(a_shutdown_goes_on_after_a_lost_connection) {
  fixture f;
  f.open();
  claim& c = f.hold("x", 11);
  f.s.release(f.now, c);
  f.sent();
  f.s.shutdown(f.now);
  BOOST_TEST(f.sent() == "shutdown a.1");
  f.cut();
  f.connect();
  BOOST_TEST(f.sent() == "release x a.1:1; shutdown a.1");
}

BOOST_AUTO_TEST_CASE(a_shutdown_goes_on_when_the_server_has_lost_the_session) {
  fixture f;
  f.open();
  f.acquire("x");
  f.cut();
  f.connect();
  f.sent();
  f.s.shutdown(f.now);
  f.told();
  f.refuse("NOSESSION");
  BOOST_TEST(f.sent() == "shutdown a.1");
  f.answer_number(0);
  BOOST_TEST(f.told() == "disconnect; ended none");
}

BOOST_AUTO_TEST_CASE(a_shutdown_without_a_server_ends_with_the_session) {
  fixture f;
  f.open();
  f.hold("x", 11);
  f.cut();
  f.s.shutdown(f.now);
  f.told();
  BOOST_TEST((f.s.next_tick() == f.s.valid_until()));
  f.now = f.s.valid_until();
  f.s.tick(f.now);
  BOOST_TEST(f.told() == "session_lost; ended timed_out");
}

BOOST_AUTO_TEST_CASE(a_shutdown_without_a_session_is_over_at_once) {
  fixture f;
  f.acquire("x");
  f.connect();
  f.s.shutdown(f.now);
  BOOST_TEST(f.told() == "disconnect; finished 1 aborted; ended none");
}

BOOST_AUTO_TEST_CASE(a_stop_ends_holds_and_keeps_waits) {
  fixture f;
  f.open();
  f.hold("x", 11);
  f.wait("y", 12);
  f.s.stop();
  BOOST_TEST(f.told() == "disconnect; lost 1; finished 1 lease_lost; ended aborted");
  f.acquire("z");
  BOOST_TEST(f.told() == "");
  f.s.run();
  f.connect();
  BOOST_TEST(f.sent() == "open new a.2 gen 2 old a.1");
  f.opens();
  BOOST_TEST(f.sent() == "beat; acquire y a.2:2 ticket 12; acquire z a.2:3");
}

BOOST_AUTO_TEST_CASE(a_stop_during_a_shutdown_ends_it) {
  fixture f;
  f.open();
  f.s.shutdown(f.now);
  f.s.stop();
  BOOST_TEST(f.told() == "disconnect; ended aborted");
  f.acquire("x");
  BOOST_TEST(f.told() == "finished 1 aborted");
}

// --- The protocol ---

std::string words(request const& r) {
  std::string text;
  for (std::size_t i = 0; i != r.size(); ++i) text += '<' + std::string(r[i]) + '>';
  return text;
}

BOOST_AUTO_TEST_CASE(requests_have_the_arguments_of_the_protocol) {
  session_config config;
  config.prefix = "p:";
  config.name = "me";
  config.max_ttl = 9s;
  fixture f(config);
  request r;
  auto const next = [&] { return f.s.next(f.now, r) ? words(r) : ""; };
  f.connect();
  BOOST_TEST(next() == "<p:><a.1><1><run><6000><9000><1><me><new><>");
  f.opens();
  BOOST_TEST(next() == "<p:><a.1><1><e><6000><0>");
  f.answer_beat({});
  object permits{"x", "semaphore", 1, 5};
  claim c(permits, 3);
  f.s.acquire(f.now, c);
  BOOST_TEST(next() == "<p:><a.1><1><e><x><1><semaphore><1><5><3><0><0>");
  f.answer(waits(11, 0ms));
  f.after(1ms);
  BOOST_TEST(next() == "<p:><a.1><1><e><6000><0><x><1><1>");
  f.answer_beat({holds(12)});
  f.s.release(f.now, c);
  BOOST_TEST(next() == "<p:><a.1><x><1>");
  f.answer_number(1);
  f.s.shutdown(f.now);
  BOOST_TEST(next() == "<p:><a.1>");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
