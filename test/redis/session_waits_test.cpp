// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Waits on conditions and notifications beside beats, other connections, sessions and runs. The
// simple cases are in session_conditions_test.cpp.

#include "support/session_script.hpp"
#include "support/test.hpp"

namespace redis_session_waits_test {

using namespace session_script;

std::string const first_wait = "cond_wait x a.1:2 from 1 fence 11 on c";

BOOST_AUTO_TEST_SUITE(session_waits_test)

// --- Waiting ---

BOOST_AUTO_TEST_CASE(a_wait_that_was_notified_waits_in_the_queue) {
  fixture f;
  f.open();
  f.park("x", 11);
  f.after(2s);
  BOOST_TEST(f.sent() == "beat x:2");
  f.answer_beat({waits(14)});
  f.after(2s);
  BOOST_TEST(f.sent() == "beat x:2");
  f.answer_beat({holds(15)});
  BOOST_TEST(f.told() == "granted 2 fence 15");
}

BOOST_AUTO_TEST_CASE(a_wait_may_be_granted_before_its_answer) {
  fixture f;
  f.open();
  claim& c = f.wait_on("x", "c", f.hold("x", 11));
  f.sent();
  f.told();
  f.push("G a.1:2 13 e");
  BOOST_TEST(f.told() == "granted 2 fence 13");
  f.answer(holds(13));
  BOOST_TEST(f.told() == "");
  f.s.release(f.now, c);
  BOOST_TEST(f.sent() == "release x a.1:2");
}

BOOST_AUTO_TEST_CASE(waits_follow_each_other_without_a_release) {
  fixture f;
  f.open();
  claim& first = f.park("x", 11);
  f.push("G a.1:2 13 e");
  f.told();
  f.wait_on("x", "c", first);
  BOOST_TEST(f.told() == "finished 2 none");
  BOOST_TEST(f.sent() == "cond_wait x a.1:3 from 2 fence 13 on c");
}

BOOST_AUTO_TEST_CASE(a_wait_without_a_connection_is_sent_on_the_next_one) {
  fixture f;
  f.open();
  claim& held = f.hold("x", 11);
  f.cut();
  f.told();
  f.wait_on("x", "c", held);
  BOOST_TEST(f.told() == "finished 1 none");
  BOOST_TEST(f.sent() == "");
  f.connect();
  f.sent();
  f.resumes();
  BOOST_TEST(f.sent() == "beat; " + first_wait);
}

BOOST_AUTO_TEST_CASE(a_wait_that_is_unanswered_is_sent_again_once) {
  fixture f;
  f.open();
  f.wait_on("x", "c", f.hold("x", 11));
  BOOST_TEST(f.sent() == first_wait);
  f.cut();
  f.connect();
  f.sent();
  f.resumes();
  BOOST_TEST(f.sent() == "beat; " + first_wait);
  f.answer_beat({});
  f.answer(parked(12));
  f.cut();
  f.connect();
  f.sent();
  f.resumes();
  BOOST_TEST(f.sent() == "beat x:2");
}

BOOST_AUTO_TEST_CASE(a_wait_with_what_is_not_held_has_lost_the_lease) {
  fixture f;
  f.open();
  claim& queued = f.wait("x", 11);
  f.wait_on("x", "c", queued);
  BOOST_TEST(f.told() == "finished 2 lease_lost");
  BOOST_TEST((queued.state() == claim_state::waiting));
  claim& held = f.hold("y", 12);
  f.s.release(f.now, held);
  f.wait_on("y", "c", held);
  BOOST_TEST(f.told() == "finished 4 lease_lost");
  BOOST_TEST(f.sent() == "release y a.1:3");
}

BOOST_AUTO_TEST_CASE(a_wait_that_begins_when_the_session_has_lapsed_has_lost_the_lease) {
  fixture f;
  f.open();
  claim& held = f.hold("x", 11);
  f.after(6s);
  f.wait_on("x", "c", held);
  BOOST_TEST(f.told() ==
             "session_lost; disconnect; lost 1; finished 1 lease_lost; finished 2 lease_lost");
}

BOOST_AUTO_TEST_CASE(a_wait_during_a_shutdown_is_aborted) {
  fixture f;
  f.open();
  claim& held = f.hold("x", 11);
  f.s.shutdown(f.now);
  f.told();
  f.wait_on("x", "c", held);
  BOOST_TEST(f.told() == "finished 2 aborted");
}

BOOST_AUTO_TEST_CASE(a_wait_that_was_notified_and_lost_keeps_its_ticket) {
  fixture f;
  f.open();
  f.park("x", 11);
  f.after(2s);
  f.sent();
  f.answer_beat({waits(14)});
  f.after(2s);
  f.sent();
  f.answer_beat({unknown()});
  BOOST_TEST(f.sent() == "acquire x a.1:2 ticket 14");
}

// --- A lost session ---

BOOST_AUTO_TEST_CASE(waits_of_a_lost_session_ask_the_next_one_for_the_object) {
  enum { unsent, unanswered, is_parked, queued };
  for (auto const state : {unsent, unanswered, is_parked, queued}) {
    BOOST_TEST_INFO_SCOPE("state " << state);
    fixture f;
    f.open();
    f.wait_on("x", "c", f.hold("x", 11));
    if (state >= unanswered) f.sent();
    if (state >= is_parked) f.answer(parked(12));
    if (state == queued) {
      f.after(2s);
      f.sent();
      f.answer_beat({waits(14)});
    }
    f.told();
    f.after(6s);
    f.s.tick(f.now);
    BOOST_TEST(f.told() == "session_lost; disconnect");
    f.connect();
    f.sent();
    f.opens();
    BOOST_TEST(f.sent() ==
               (state == queued ? "beat; acquire x a.2:2 ticket 14" : "beat; acquire x a.2:2"));
    f.answer_beat({});
    f.told();
    f.answer(holds(15));
    BOOST_TEST(f.told() == "granted 2 fence 15");
  }
}

BOOST_AUTO_TEST_CASE(a_wait_outlives_a_run) {
  fixture f;
  f.open();
  f.park("x", 11);
  f.s.stop();
  BOOST_TEST(f.told() == "disconnect; ended aborted");
  f.s.run();
  f.connect();
  f.sent();
  f.opens();
  BOOST_TEST(f.sent() == "beat; acquire x a.2:2");
}

// --- Recalling ---

BOOST_AUTO_TEST_CASE(a_wait_that_is_recalled_leaves_the_condition) {
  for (bool const is_free : {true, false}) {
    fixture f;
    f.open();
    claim& c = f.park("x", 11);
    f.s.recall(f.now, c);
    f.s.recall(f.now, c);
    BOOST_TEST(f.sent() == "unwait x a.1:2");
    f.answer(is_free ? holds(13) : waits(13));
    BOOST_TEST(f.told() == (is_free ? "granted 2 fence 13" : ""));
    BOOST_TEST(f.sent() == "");
    f.s.forget(f.now, c);
    BOOST_TEST(f.sent() == "forget x a.1:2");
  }
}

BOOST_AUTO_TEST_CASE(a_wait_that_is_recalled_in_the_queue_stays_there) {
  fixture f;
  f.open();
  claim& c = f.park("x", 11);
  f.after(2s);
  f.sent();
  f.answer_beat({waits(13)});
  f.s.recall(f.now, c);
  BOOST_TEST(f.sent() == "");
  f.push("G a.1:2 14 e");
  f.s.release(f.now, c);
  BOOST_TEST(f.sent() == "release x a.1:2 pass");
}

// The server may have notified a wait that looks parked here.
BOOST_AUTO_TEST_CASE(a_notification_that_a_recall_has_missed_is_passed_on) {
  fixture f;
  f.open();
  claim& c = f.park("x", 11);
  f.s.recall(f.now, c);
  f.sent();
  f.push("G a.1:2 14 e");
  BOOST_TEST(f.told() == "granted 2 fence 14");
  f.answer(holds(14));
  BOOST_TEST(f.told() == "");
  f.s.release(f.now, c);
  BOOST_TEST(f.sent() == "release x a.1:2 pass");
}

BOOST_AUTO_TEST_CASE(a_recall_that_a_grant_overtakes_is_not_sent) {
  fixture f;
  f.open();
  claim& c = f.park("x", 11);
  f.s.recall(f.now, c);
  f.push("G a.1:2 14 e");
  BOOST_TEST(f.sent() == "");
}

BOOST_AUTO_TEST_CASE(a_recall_is_sent_again_on_the_next_connection) {
  for (bool const is_sent : {true, false}) {
    fixture f;
    f.open();
    claim& c = f.park("x", 11);
    if (is_sent) {
      f.s.recall(f.now, c);
      f.sent();
      f.cut();
    } else {
      f.cut();
      f.s.recall(f.now, c);
    }
    f.connect();
    f.sent();
    f.resumes();
    BOOST_TEST(f.sent() == "beat; unwait x a.1:2");
    f.answer_beat({});
    f.answer(waits(13));
    BOOST_TEST((c.state() == claim_state::waiting));
  }
}

BOOST_AUTO_TEST_CASE(a_wait_that_is_recalled_before_it_is_sent_again_says_so) {
  fixture f;
  f.open();
  claim& c = f.wait_on("x", "c", f.hold("x", 11));
  f.sent();
  f.cut();
  f.s.recall(f.now, c);
  f.connect();
  f.sent();
  f.resumes();
  BOOST_TEST(f.sent() == "beat; " + first_wait + " recalled");
  f.answer_beat({});
  f.answer(parked(12));  // it has been executed before
  BOOST_TEST(f.sent() == "unwait x a.1:2");
}

BOOST_AUTO_TEST_CASE(a_wait_that_was_recalled_in_a_lost_session_asks_for_the_object) {
  fixture f;
  f.open();
  claim& c = f.park("x", 11);
  f.s.recall(f.now, c);
  f.sent();
  f.after(6s);
  f.s.tick(f.now);
  f.connect();
  f.sent();
  f.opens();
  BOOST_TEST(f.sent() == "beat; acquire x a.2:2");
}

BOOST_AUTO_TEST_CASE(a_recall_of_what_the_server_has_lost_asks_for_the_object) {
  fixture f;
  f.open();
  claim& c = f.park("x", 11);
  f.s.recall(f.now, c);
  f.sent();
  f.answer(unknown());
  BOOST_TEST(f.sent() == "acquire x a.1:2");
}

BOOST_AUTO_TEST_CASE(a_recall_of_what_has_finished_does_nothing) {
  fixture f;
  f.open();
  claim& c = f.park("x", 11);
  f.s.forget(f.now, c);
  f.s.recall(f.now, c);
  BOOST_TEST(f.sent() == "forget x a.1:2");
  f.answer_number(1);
  f.s.recall(f.now, c);
  BOOST_TEST(f.sent() == "");
}

// A beat that was sent before `unwait` knows less than the answer of that.
BOOST_AUTO_TEST_CASE(a_beat_says_nothing_new_of_a_wait_that_is_being_recalled) {
  for (token_state const& late : {parked(12), waits(13), unknown()}) {
    fixture f;
    f.open();
    claim& c = f.park("x", 11);
    f.after(2s);
    BOOST_TEST(f.sent() == "beat x:2");
    f.s.recall(f.now, c);
    BOOST_TEST(f.sent() == "unwait x a.1:2");
    f.answer_beat({late});
    BOOST_TEST(f.sent() == "");
    BOOST_TEST((c.state() == claim_state::asking));
    f.answer(waits(14));
    BOOST_TEST((c.state() == claim_state::waiting));
  }
}

BOOST_AUTO_TEST_CASE(a_beat_may_tell_the_grant_of_a_wait_that_is_being_recalled) {
  fixture f;
  f.open();
  claim& c = f.park("x", 11);
  f.after(2s);
  f.sent();
  f.s.recall(f.now, c);
  f.sent();
  f.answer_beat({holds(13)});
  BOOST_TEST(f.told() == "granted 2 fence 13");
  f.answer(holds(13));
  BOOST_TEST(f.told() == "");
}

// --- Giving up ---

BOOST_AUTO_TEST_CASE(a_wait_that_is_unanswered_is_given_up_with_the_hold_before_it) {
  fixture f;
  f.open();
  claim& c = f.wait_on("x", "c", f.hold("x", 11));
  f.sent();
  f.told();
  f.s.forget(f.now, c);
  BOOST_TEST(f.sent() == "forget x a.1:2,1");
  f.answer(parked(12));
  BOOST_TEST(f.sent() == "");
  f.answer_number(1);
  BOOST_TEST(f.told() == "finished 2 none");
}

BOOST_AUTO_TEST_CASE(a_wait_of_a_lost_session_is_given_up_without_a_command) {
  fixture f;
  f.open();
  claim& c = f.wait_on("x", "c", f.hold("x", 11));
  f.sent();
  f.after(6s);
  f.s.tick(f.now);
  f.told();
  f.s.forget(f.now, c);
  BOOST_TEST(f.told() == "finished 2 none");
}

BOOST_AUTO_TEST_CASE(waits_end_with_a_shutdown) {
  fixture f;
  f.open();
  f.park("x", 11);
  f.wait_on("y", "c", f.hold("y", 21));
  f.sent();
  f.told();
  f.s.shutdown(f.now);
  BOOST_TEST(f.told() == "finished 2 aborted; finished 4 aborted");
  BOOST_TEST(f.sent() == "shutdown a.1");
}

// --- Errors ---

BOOST_AUTO_TEST_CASE(a_wait_that_is_refused_gives_the_hold_back_before_it_fails) {
  std::vector<std::pair<std::string, std::string>> const errors = {
      {"KIND", "kind_mismatch"}, {"WRONGTYPE", "server_error"}, {"ERR", "server_error"}};
  for (auto const& [code, why] : errors) {
    fixture f;
    f.open();
    f.wait_on("x", "c", f.hold("x", 11));
    f.sent();
    f.told();
    f.refuse(code + " for this reason");
    BOOST_TEST(f.told() == "server_error " + why);
    BOOST_TEST(f.sent() == "forget x a.1:2,1");
    f.answer_number(1);
    BOOST_TEST(f.told() == "finished 2 " + why);
    BOOST_TEST((f.s.state() == session_state::open));
  }
}

BOOST_AUTO_TEST_CASE(a_recall_that_is_refused_fails_the_wait) {
  fixture f;
  f.open();
  claim& c = f.park("x", 11);
  f.s.recall(f.now, c);
  f.sent();
  f.refuse("WRONGTYPE of a key");
  BOOST_TEST(f.told() == "server_error server_error");
  BOOST_TEST(f.sent() == "forget x a.1:2");
  f.answer_number(1);
  BOOST_TEST(f.told() == "finished 2 server_error");
}

BOOST_AUTO_TEST_CASE(an_error_of_a_wait_that_is_given_up_is_ignored) {
  fixture f;
  f.open();
  claim& c = f.wait_on("x", "c", f.hold("x", 11));
  f.sent();
  f.told();
  f.s.forget(f.now, c);
  BOOST_TEST(f.sent() == "forget x a.1:2,1");
  f.refuse("LOST the token does not hold with this fence");
  BOOST_TEST(f.told() == "");
  f.answer_number(0);
  BOOST_TEST(f.told() == "finished 2 none");
}

BOOST_AUTO_TEST_CASE(a_wait_without_memory_at_the_server_asks_again_later) {
  for (bool const is_recalled : {true, false}) {
    fixture f;
    f.open();
    claim& c = f.wait_on("x", "c", f.hold("x", 11));
    f.sent();
    f.refuse("OOM");
    if (is_recalled) f.s.recall(f.now, c);
    BOOST_TEST(f.sent() == "");
    f.after(50ms);
    BOOST_TEST(f.sent() == first_wait + (is_recalled ? " recalled" : ""));
  }
}

BOOST_AUTO_TEST_CASE(a_wait_that_is_to_ask_again_is_given_up_with_the_hold_before_it) {
  fixture f;
  f.open();
  claim& c = f.wait_on("x", "c", f.hold("x", 11));
  f.sent();
  f.refuse("OOM");
  f.s.forget(f.now, c);
  BOOST_TEST(f.sent() == "forget x a.1:2,1");
  f.after(50ms);
  BOOST_TEST(f.sent() == "");
}

BOOST_AUTO_TEST_CASE(an_answer_of_another_form_closes_the_connection) {
  using asio_sync::redis::detail::answer;
  answer const answers[] = {malformed{}, std::int64_t(1), unknown()};
  for (answer const& a : answers) {
    fixture f;
    f.open();
    f.wait_on("x", "c", f.hold("x", 11));
    f.sent();
    f.told();
    f.answer(a);
    BOOST_TEST(f.told() == "disconnect; disconnected protocol_error");
  }
}

BOOST_AUTO_TEST_CASE(a_final_error_ends_waits) {
  fixture f;
  f.open();
  f.park("x", 11);
  claim& held = f.hold("y", 21);
  f.wait_on("y", "c", held);
  f.sent();
  f.told();
  f.refuse("MAXTTL for this reason");
  BOOST_TEST(f.told() ==
             "server_error configuration; disconnect; finished 2 configuration; "
             "finished 4 configuration; ended configuration");
}

BOOST_AUTO_TEST_CASE(a_wait_can_be_held_too_long) {
  session_config config;
  config.max_hold = 1000ms;
  fixture f(config);
  f.open();
  f.park("x", 11);
  f.after(1000ms);
  f.s.tick(f.now);
  BOOST_TEST(f.told() == "");
  f.push("G a.1:2 14 e");
  f.told();
  f.after(1000ms);
  f.s.tick(f.now);
  BOOST_TEST(f.told() == "too_long 1000 ms; lost 2");
}

// --- Signals ---

BOOST_AUTO_TEST_CASE(a_signal_follows_the_release_before_it) {
  fixture f;
  f.open();
  claim& c = f.hold("x", 11);
  f.notify("x", "c", 1);
  f.s.release(f.now, c);
  f.notify("x", "c", 1);
  BOOST_TEST(f.sent() == "signal x 1 on c 1; release x a.1:1; signal x 2 on c 1");
}

BOOST_AUTO_TEST_CASE(a_signal_is_sent_again_with_a_new_number_in_the_next_session) {
  fixture f;
  f.open();
  f.notify("x", "c", 1);
  f.notify("y", "c", 1);
  f.sent();
  f.answer_number(1);
  f.after(6s);
  f.s.tick(f.now);
  f.told();
  f.connect();
  f.sent();
  f.opens();
  BOOST_TEST(f.sent() == "beat; signal y 3 on c 1");
}

BOOST_AUTO_TEST_CASE(a_signal_may_come_before_the_first_run) {
  fixture f;
  f.s.stop();
  f.told();
  f.notify("x", "c", 1);
  BOOST_TEST(f.told() == "");
  f.s.run();
  f.connect();
  f.sent();
  f.opens();
  BOOST_TEST(f.sent() == "beat; signal x 1 on c 1");
}

BOOST_AUTO_TEST_CASE(signals_are_sent_before_the_shutdown_of_a_session_that_is_suspended) {
  fixture f;
  f.open();
  f.notify("x", "c", 1);
  f.sent();
  f.cut();
  f.notify("y", "c", 1);
  f.s.shutdown(f.now);
  f.told();
  f.connect();
  f.sent();
  f.resumes();
  f.told();
  BOOST_TEST(f.sent() == "signal x 1 on c 1; signal y 2 on c 1; shutdown a.1");
  f.answer_number(0);
  f.answer_number(1);
  BOOST_TEST(f.told() == "answered 1 none; answered 2 none");
  f.answer_number(0);
  BOOST_TEST(f.told() == "disconnect; ended none");
}

BOOST_AUTO_TEST_CASE(signals_that_no_shutdown_has_sent_end_with_it) {
  fixture f;
  f.open();
  f.notify("x", "c", 1);
  f.cut();
  f.s.shutdown(f.now);
  f.told();
  f.after(6s);
  f.s.tick(f.now);
  BOOST_TEST(f.told() == "session_lost; answered 1 aborted; ended timed_out");
  f.notify("x", "c", 1);
  BOOST_TEST(f.told() == "answered 2 aborted");
}

BOOST_AUTO_TEST_CASE(a_signal_during_a_shutdown_is_aborted) {
  fixture f;
  f.open();
  f.s.shutdown(f.now);
  f.told();
  f.notify("x", "c", 1);
  BOOST_TEST(f.told() == "answered 1 aborted");
  BOOST_TEST(f.sent() == "shutdown a.1");
}

BOOST_AUTO_TEST_CASE(an_error_fails_a_signal_alone) {
  fixture f;
  f.open();
  f.notify("x", "c", 1);
  f.notify("y", "c", 1);
  f.sent();
  f.refuse("WRONGTYPE of a key");
  BOOST_TEST(f.told() == "server_error server_error; answered 1 server_error");
  f.answer_number(1);
  BOOST_TEST(f.told() == "answered 2 none");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_session_waits_test
