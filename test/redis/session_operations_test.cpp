// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Waits of visits that ask for operations, as the session sends and tells them.

#include "redis/support/session_script.hpp"
#include "support/test.hpp"

namespace redis_session_operations_test {

using namespace session_script;

// A session with a claim, 1, that is inside x with the fence 11. It begins a wait, 2, with a
// claim, 3, that is to own a part of n.
struct waiting_visit : fixture {
  waiting_visit() {
    open();
    enter("x", 11, "1:n1:5");
  }

  claim& inside() { return claim_of(1); }

  claim& begin_wait() {
    own(inside(), "x", "n", "1", "j");
    claim& c = wait_on("x", "k", inside());
    told();
    return c;
  }
};

std::string const waiting = "cond_wait x a.1:2 from 1 fence 11 on k, o n 3 1 j";

BOOST_FIXTURE_TEST_SUITE(session_operations_test, waiting_visit)

BOOST_AUTO_TEST_CASE(a_wait_does_what_the_visit_asks_for) {
  inside().visit()->set("n", "6");
  inside().visit()->notify("k", 1);
  own(inside(), "x", "n", "1", "j");
  wait_on("x", "k", inside());
  BOOST_TEST(told() == "finished 1 none");
  BOOST_TEST(sent() == "cond_wait x a.1:2 from 1 fence 11 on k, s n 6, n k 1, o n 3 1 j");
}

BOOST_AUTO_TEST_CASE(the_answer_to_a_wait_grants_what_is_owned) {
  for (token_state const& state : {parked(20), waits(20)}) {
    waiting_visit f;
    f.begin_wait();
    BOOST_TEST(f.sent() == waiting);
    f.answer(state);
    BOOST_TEST(f.told() == "granted 3 fence 11");
    f.after(2000ms);
    BOOST_TEST(f.sent() == "beat x:2,3");
    f.answer_beat({state, holds(11)});
    f.push("G a.1:2 30 e 1:n1:6");
    BOOST_TEST(f.told() == "granted 2 fence 30");
  }
}

BOOST_AUTO_TEST_CASE(the_grant_of_a_recalled_wait_grants_what_is_owned) {
  claim& c = begin_wait();
  s.recall(now, c);
  BOOST_TEST(sent() == "cond_wait x a.1:2 from 1 fence 11 on k recalled, o n 3 1 j");
  answer(holds(30, "1:n1:6"));
  BOOST_TEST(told() == "granted 3 fence 11; granted 2 fence 30");
  s.exit(now, c);
  BOOST_TEST(sent() == "exit x a.1:2 fence 30 pass");
}

BOOST_AUTO_TEST_CASE(a_push_before_the_answer_to_a_wait_grants_what_is_owned) {
  claim& c = begin_wait();
  sent();
  push("G a.1:2 30 e 1:n1:6");
  BOOST_TEST(told() == "granted 3 fence 11; granted 2 fence 30");
  answer(holds(30, "1:n1:6"));
  BOOST_TEST(told() == "");
  s.exit(now, c);
  BOOST_TEST(sent() == "exit x a.1:2 fence 30");
}

BOOST_AUTO_TEST_CASE(a_push_without_sound_variables_grants_nothing) {
  begin_wait();
  sent();
  push("G a.1:2 30 e");
  BOOST_TEST(told() == "");
  answer(parked(20));
  BOOST_TEST(told() == "granted 3 fence 11");
}

BOOST_AUTO_TEST_CASE(an_unanswered_wait_is_in_no_beat_and_sent_again_with_its_operations) {
  begin_wait();
  sent();
  reconnect();
  BOOST_TEST(sent() == "beat; " + waiting);
  answer_beat({});
  answer(parked(20));
  BOOST_TEST(told() == "granted 3 fence 11");
  reconnect();
  BOOST_TEST(sent() == "beat x:2,3");
}

BOOST_AUTO_TEST_CASE(a_wait_for_which_there_is_no_memory_operates_later) {
  begin_wait();
  sent();
  refuse("OOM command not allowed");
  BOOST_TEST(sent() == "");
  after(50ms);
  BOOST_TEST(sent() == waiting);
  answer(parked(20));
  BOOST_TEST(told() == "granted 3 fence 11");
}

BOOST_AUTO_TEST_CASE(a_wait_with_operations_is_unknown_if_its_session_is_lost) {
  for (bool const is_sent : {false, true}) {
    waiting_visit f;
    f.begin_wait();
    if (is_sent) f.sent();
    f.lapse();
    BOOST_TEST(f.told() == std::string("session_lost; finished 2 ") +
                               (is_sent ? "outcome_unknown" : "lease_lost") +
                               "; finished 3 lease_lost");
  }
}

BOOST_AUTO_TEST_CASE(a_wait_with_operations_that_is_refused_without_a_session_has_not_begun) {
  for (bool const is_again : {false, true}) {
    waiting_visit f;
    f.begin_wait();
    is_again ? f.send_twice() : void(f.sent());
    f.refuse("EPOCH the data of the server has been lost");
    BOOST_TEST(f.told() == std::string("session_lost; disconnect; finished 2 ") +
                               (is_again ? "outcome_unknown" : "lease_lost") +
                               "; finished 3 lease_lost");
  }
}

BOOST_AUTO_TEST_CASE(a_wait_without_operations_or_with_done_ones_enters_in_the_next_session) {
  for (bool const is_done : {false, true}) {
    waiting_visit f;
    is_done ? f.begin_wait() : f.wait_on("x", "k", f.inside());
    f.sent();
    if (is_done) f.answer(parked(20));
    f.lose_session();
    BOOST_TEST(f.sent() == "beat; acquire x a.2:2");
    f.answer_beat({});
    f.answer(holds(40, "1:n1:8"));
    BOOST_TEST(f.told() == "granted 2 fence 40");
    BOOST_TEST(*f.claim_of(is_done ? 3 : 2).visit()->find("n") == "8");
  }
}

BOOST_AUTO_TEST_CASE(a_lost_wait_has_not_operated_unless_it_was_sent_before) {
  for (bool const is_again : {false, true}) {
    waiting_visit f;
    f.begin_wait();
    is_again ? f.send_twice() : void(f.sent());
    f.refuse("LOST the token does not hold with this fence");
    BOOST_TEST(f.told() ==
               (is_again ? "finished 2 outcome_unknown" : "record_lost; finished 2 lease_lost"));
    BOOST_TEST(f.sent() ==
               (is_again ? "forget x a.1:3" : "beat; forget x a.1:3; open resume a.1 gen 2"));
    if (!is_again) f.answer_beat({});
    f.answer_number(1);
    if (!is_again) f.resumes();
    BOOST_TEST(f.told() == "finished 3 lease_lost");
  }
}

BOOST_AUTO_TEST_CASE(a_lost_wait_without_operations_is_a_lost_lease) {
  wait_on("x", "k", inside());
  send_twice();
  refuse("LOST the token does not hold with this fence");
  BOOST_TEST(told() == "finished 2 lease_lost");
}

BOOST_AUTO_TEST_CASE(a_wait_that_fails_forgets_all_its_tokens) {
  begin_wait();
  sent();
  refuse("NUMBER the variable is no number to which this can be added");
  told();
  BOOST_TEST(sent() == "forget x a.1:3; forget x a.1:2,1");
  answer_number(0);
  answer_number(1);
  BOOST_TEST(told() == "finished 3 lease_lost; finished 2 server_error");
}

BOOST_AUTO_TEST_CASE(a_wait_that_fails_when_it_is_sent_again_is_unknown_if_it_has_operations) {
  for (bool const operates : {false, true}) {
    waiting_visit f;
    if (operates) f.inside().visit()->set("n", "6");
    f.wait_on("x", "k", f.inside());
    f.send_twice();
    f.refuse("WRONGTYPE a key of another type");
    f.told();
    BOOST_TEST(f.sent() == "forget x a.1:2,1");
    f.answer_number(0);
    BOOST_TEST(f.told() == (operates ? "finished 2 outcome_unknown" : "finished 2 server_error"));
  }
}

BOOST_AUTO_TEST_CASE(a_wait_that_has_failed_keeps_its_error_if_the_session_is_lost) {
  begin_wait();
  sent();
  refuse("WRONGTYPE a key of another type");
  sent();
  told();
  lapse();
  BOOST_TEST(told() == "session_lost; finished 2 server_error; finished 3 lease_lost");
}

BOOST_AUTO_TEST_CASE(a_wait_that_is_given_up_forgets_all_its_tokens) {
  for (bool const is_sent : {false, true}) {
    waiting_visit f;
    claim& c = f.begin_wait();
    if (is_sent) BOOST_TEST(f.sent() == waiting);
    f.s.forget(f.now, c);
    BOOST_TEST(f.sent() == "forget x a.1:3; forget x a.1:2,1");
    if (is_sent) f.answer(parked(20));
    f.answer_number(0);
    f.answer_number(1);
    BOOST_TEST(f.told() == "finished 3 lease_lost; finished 2 none");
  }
}

BOOST_AUTO_TEST_CASE(a_wait_that_is_given_up_later_keeps_what_is_owned) {
  claim& c = begin_wait();
  sent();
  answer(parked(20));
  told();
  s.forget(now, c);
  BOOST_TEST(sent() == "forget x a.1:2");
  answer_number(1);
  BOOST_TEST(told() == "finished 2 none");
  after(2000ms);
  BOOST_TEST(sent() == "beat x:3");
}

BOOST_AUTO_TEST_CASE(a_wait_without_a_hold_owns_nothing) {
  push("L a.1:1 11 e");
  told();
  own(inside(), "x", "n", "1", "j");
  wait_on("x", "k", inside());
  BOOST_TEST(told() == "finished 2 lease_lost; finished 2 lease_lost");
}

BOOST_AUTO_TEST_CASE(a_shutdown_aborts_a_wait_and_what_it_was_to_own) {
  begin_wait();
  s.shutdown(now);
  BOOST_TEST(told() == "finished 2 aborted; finished 3 aborted");
  BOOST_TEST(sent() == "shutdown a.1");
}

BOOST_AUTO_TEST_CASE(a_stop_keeps_a_wait_without_operations_alone) {
  claim& other = enter("y", 12);
  wait_on("x", "k", inside());
  other.visit()->set("n", "1");
  wait_on("y", "k", other);
  told();
  s.stop();
  BOOST_TEST(told() == "disconnect; finished 4 lease_lost; ended aborted");
  s.end();
  BOOST_TEST(told() == "finished 3 aborted");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_session_operations_test
