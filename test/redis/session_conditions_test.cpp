// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Waits on conditions and notifications, as the session sends and tells them.

#include "redis/support/session_script.hpp"
#include "support/test.hpp"

namespace redis_session_conditions_test {

using namespace session_script;

// A session with a claim, 1, that holds x with the fence 11, and another, 2, that waits on k.
struct waits_on_k : fixture {
  waits_on_k() {
    open();
    hold("x", 11);
  }

  claim& begin() { return wait_on("x", "k", claim_of(1)); }

  claim& park() {
    claim& c = begin();
    sent();
    answer(parked(20));
    told();
    return c;
  }
};

BOOST_FIXTURE_TEST_SUITE(session_conditions_test, waits_on_k)

BOOST_AUTO_TEST_CASE(a_wait_gives_the_hold_back_and_ends_with_another) {
  begin();
  BOOST_TEST(told() == "finished 1 none");
  BOOST_TEST(sent() == "cond_wait x a.1:2 from 1 fence 11 on k");
  answer(parked(20));
  BOOST_TEST(told() == "");
  after(2000ms);
  BOOST_TEST(sent() == "beat x:2");
  answer_beat({parked(20)});
  push("G a.1:2 30 e");
  BOOST_TEST(told() == "granted 2 fence 30");
  s.release(now, claim_of(2));
  BOOST_TEST(sent() == "release x a.1:2");
}

BOOST_AUTO_TEST_CASE(a_wait_without_a_hold_is_a_lost_lease) {
  claim& held = claim_of(1);
  push("L a.1:1 11 e");
  told();
  wait_on("x", "k", held);
  BOOST_TEST(told() == "finished 2 lease_lost");
}

BOOST_AUTO_TEST_CASE(a_server_that_knows_no_hold_refuses_the_wait) {
  begin();
  sent();
  told();
  refuse("LOST the token does not hold with this fence");
  BOOST_TEST(told() == "record_lost; finished 2 lease_lost");
  BOOST_TEST(sent() == "beat; open resume a.1 gen 2");
}

BOOST_AUTO_TEST_CASE(a_wait_that_fails_gives_the_hold_back_first) {
  begin();
  sent();
  told();
  refuse("WRONGTYPE a key of another type");
  BOOST_TEST(told() == "server_error server_error");
  BOOST_TEST(sent() == "forget x a.1:2,1");
  answer_number(1);
  BOOST_TEST(told() == "finished 2 server_error");
}

BOOST_AUTO_TEST_CASE(a_wait_for_which_there_is_no_memory_begins_later) {
  begin();
  sent();
  told();
  refuse("OOM command not allowed");
  BOOST_TEST(sent() == "");
  after(50ms);
  BOOST_TEST(sent() == "cond_wait x a.1:2 from 1 fence 11 on k");
  answer(parked(20));
}

BOOST_AUTO_TEST_CASE(an_unanswered_wait_is_sent_again_on_the_next_connection) {
  begin();
  sent();
  reconnect();
  BOOST_TEST(sent() == "beat; cond_wait x a.1:2 from 1 fence 11 on k");
}

BOOST_AUTO_TEST_CASE(a_wait_of_a_lost_session_locks_in_the_next_one) {
  for (bool const is_answered : {false, true}) {
    waits_on_k f;
    claim& c = f.begin();
    f.sent();
    if (is_answered) f.answer(parked(20));
    f.lose_session();
    BOOST_TEST(f.sent() == "beat; acquire x a.2:2");
    f.answer_beat({});
    f.answer(holds(40));
    BOOST_TEST(f.told() == "granted 2 fence 40");
    f.s.release(f.now, c);
    BOOST_TEST(f.sent() == "release x a.2:2");
  }
}

BOOST_AUTO_TEST_CASE(a_parked_wait_that_the_server_does_not_know_locks) {
  park();
  after(2000ms);
  BOOST_TEST(sent() == "beat x:2");
  answer_beat({unknown()});
  BOOST_TEST(sent() == "acquire x a.1:2");
}

// --- Recalling ---

BOOST_AUTO_TEST_CASE(a_parked_wait_is_recalled) {
  claim& c = park();
  s.recall(now, c);
  s.recall(now, c);
  BOOST_TEST(sent() == "unwait x a.1:2");
  answer(waits(21));
  BOOST_TEST(sent() == "");
  push("G a.1:2 30 e");
  BOOST_TEST(told() == "granted 2 fence 30");
  s.release(now, c);
  BOOST_TEST(sent() == "release x a.1:2 pass");
}

BOOST_AUTO_TEST_CASE(a_wait_is_recalled_before_it_is_sent) {
  cut();
  claim& c = begin();
  s.recall(now, c);
  connect();
  sent();
  resumes();
  BOOST_TEST(sent() == "beat; cond_wait x a.1:2 from 1 fence 11 on k recalled");
}

BOOST_AUTO_TEST_CASE(a_wait_is_recalled_before_it_is_answered) {
  claim& c = begin();
  sent();
  s.recall(now, c);
  BOOST_TEST(sent() == "");
  answer(parked(20));
  BOOST_TEST(sent() == "unwait x a.1:2");
  reconnect();
  BOOST_TEST(sent() == "beat; unwait x a.1:2");
}

BOOST_AUTO_TEST_CASE(a_recall_that_comes_after_the_grant_passes_the_notification_on) {
  claim& c = park();
  push("G a.1:2 30 e");
  s.recall(now, c);
  BOOST_TEST(sent() == "");
  s.release(now, c);
  BOOST_TEST(sent() == "release x a.1:2 pass");
  reconnect();
  BOOST_TEST(sent() == "beat; release x a.1:2 pass");
}

BOOST_AUTO_TEST_CASE(a_recalled_hold_that_waits_again_passes_the_notification_on) {
  claim& c = park();
  push("G a.1:2 30 e");
  s.recall(now, c);
  wait_on("x", "k", c);
  BOOST_TEST(sent() == "cond_wait x a.1:3 from 2 fence 30 on k pass");
}

BOOST_AUTO_TEST_CASE(a_beat_that_was_sent_before_the_recall_does_not_repeat_it) {
  claim& c = park();
  after(2000ms);
  BOOST_TEST(sent() == "beat x:2");
  s.recall(now, c);
  BOOST_TEST(sent() == "unwait x a.1:2");
  answer_beat({parked(20)});
  BOOST_TEST(sent() == "");
  answer(waits(21));
  BOOST_TEST(sent() == "");
}

BOOST_AUTO_TEST_CASE(a_recall_for_which_there_is_no_memory_is_repeated) {
  s.recall(now, park());
  sent();
  refuse("OOM command not allowed");
  after(50ms);
  BOOST_TEST(sent() == "unwait x a.1:2");
}

BOOST_AUTO_TEST_CASE(a_recalled_wait_is_not_parked_any_more) {
  s.recall(now, park());
  sent();
  answer(parked(20));
  BOOST_TEST(told() == "disconnect; disconnected protocol_error");
}

// --- Giving up ---

BOOST_AUTO_TEST_CASE(a_wait_that_is_given_up_gives_the_hold_back) {
  for (bool const is_sent : {false, true}) {
    waits_on_k f;
    claim& c = f.begin();
    if (is_sent) f.sent();
    f.told();
    f.s.forget(f.now, c);
    BOOST_TEST(f.sent() == "forget x a.1:2,1");
    if (is_sent) f.answer(parked(20));
    f.answer_number(1);
    BOOST_TEST(f.told() == "finished 2 none");
  }
}

BOOST_AUTO_TEST_CASE(a_wait_that_is_given_up_after_a_lost_connection_gives_the_hold_back) {
  claim& c = begin();
  sent();
  cut();
  s.forget(now, c);
  connect();
  sent();
  resumes();
  BOOST_TEST(sent() == "beat; forget x a.1:2,1");
}

BOOST_AUTO_TEST_CASE(a_parked_wait_is_given_up_alone) {
  s.forget(now, park());
  BOOST_TEST(sent() == "forget x a.1:2");
}

// --- Notifying ---

BOOST_AUTO_TEST_CASE(a_notification_is_answered) {
  notify("x", "k", 1);
  notify("x", "k", 0);
  BOOST_TEST(sent() == "signal x 1 on k 1; signal x 2 on k 0");
  answer_number(0);
  answer_number(7);
  BOOST_TEST(told() == "answered 1 none; answered 2 none");
}

BOOST_AUTO_TEST_CASE(a_notification_keeps_its_number_in_its_session) {
  notify("x", "k", 1);
  sent();
  notify("x", "k", 1);
  reconnect();
  BOOST_TEST(sent() == "beat x:1; signal x 1 on k 1; signal x 2 on k 1");
  answer_beat({holds(11)});
  answer_number(1);
  told();
  lose_session();
  BOOST_TEST(sent() == "beat; signal x 3 on k 1");
}

BOOST_AUTO_TEST_CASE(a_notification_waits_for_the_next_run) {
  notify("x", "k", 1);
  inspect("x");
  s.stop();
  BOOST_TEST(told() ==
             "disconnect; lost 1; finished 1 lease_lost; answered 2 aborted; "
             "ended aborted");
  notify("y", "k", 1);
  s.run();
  connect();
  sent();
  opens();
  BOOST_TEST(sent() == "beat; signal x 3 on k 1; signal y 5 on k 1");
}

BOOST_AUTO_TEST_CASE(a_notification_leaves_before_the_session_ends) {
  cut();
  notify("x", "k", 1);
  told();
  s.shutdown(now);
  BOOST_TEST(told() == "lost 1; finished 1 lease_lost");
  connect();
  sent();
  resumes();
  told();
  BOOST_TEST(sent() == "signal x 1 on k 1; shutdown a.1");
  answer_number(1);
  BOOST_TEST(told() == "answered 1 none");
  answer_number(0);
  BOOST_TEST(told() == "disconnect; ended none");
  notify("x", "k", 1);
  BOOST_TEST(told() == "answered 2 aborted");
}

BOOST_AUTO_TEST_CASE(a_final_error_ends_the_notifications) {
  notify("x", "k", 1);
  sent();
  refuse("MAXTTL another time");
  BOOST_TEST(told().find("answered 1 configuration") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_session_conditions_test
