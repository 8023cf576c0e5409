// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Parts of variables that visits own, as the session sends and tells them.

#include "redis/support/session_script.hpp"
#include "support/test.hpp"

namespace redis_session_owned_test {

using namespace session_script;

// A session with a claim, 1, that is inside x with the fence 11. It leaves with two claims, 2 and
// 3, that own parts of n.
struct owners : fixture {
  explicit owners(session_config config = {}) : fixture(config) {
    open();
    enter("x", 11, "1:n1:5");
  }

  claim& inside() { return claim_of(1); }

  void leave() {
    own(inside(), "x", "n", "1", "k");
    own(inside(), "x", "n", "2", "j");
    s.exit(now, inside());
  }

  // Leaves with one claim, 2, that owns a part of n from now on.
  claim& own_one() {
    claim& c = own(inside(), "x", "n", "1", "k");
    s.exit(now, inside());
    sent();
    answer_number(1);
    told();
    return c;
  }
};

std::string const leaving = "exit x a.1:1 fence 11, o n 2 1 k, o n 3 2 j";

BOOST_FIXTURE_TEST_SUITE(session_owned_test, owners)

// --- Leaving ---

BOOST_AUTO_TEST_CASE(what_is_owned_is_granted_before_the_exit_ends) {
  leave();
  BOOST_TEST(sent() == leaving);
  BOOST_TEST(told() == "");
  answer_number(1);
  BOOST_TEST(told() == "granted 2 fence 11; granted 3 fence 11; finished 1 none");
}

BOOST_AUTO_TEST_CASE(an_exit_that_is_sent_again_grants_what_is_owned) {
  leave();
  BOOST_TEST(sent() == leaving);
  reconnect();
  BOOST_TEST(sent() == "beat; " + leaving);
  answer_beat({});
  answer_number(1);
  BOOST_TEST(told() == "granted 2 fence 11; granted 3 fence 11; finished 1 none");
  after(2000ms);
  BOOST_TEST(sent() == "beat x:2,3");
}

BOOST_AUTO_TEST_CASE(what_a_lost_exit_was_to_own_is_forgotten) {
  for (bool const is_again : {false, true}) {
    owners f;
    f.leave();
    is_again ? f.send_twice() : void(f.sent());
    f.refuse("LOST the token does not hold with this fence");
    BOOST_TEST(f.told() ==
               (is_again ? "finished 1 outcome_unknown" : "record_lost; finished 1 lease_lost"));
    std::string const forgets = "forget x a.1:2; forget x a.1:3";
    BOOST_TEST(f.sent() == (is_again ? forgets : "beat; " + forgets + "; open resume a.1 gen 2"));
    if (!is_again) f.answer_beat({});
    f.answer_number(0);
    f.answer_number(1);
    if (!is_again) f.resumes();
    BOOST_TEST(f.told() == "finished 2 lease_lost; finished 3 lease_lost");
  }
}

BOOST_AUTO_TEST_CASE(what_a_failed_exit_was_to_own_is_forgotten) {
  leave();
  sent();
  refuse("WRONGTYPE a key of another type");
  BOOST_TEST(told() == "server_error server_error");
  BOOST_TEST(sent() == "forget x a.1:2; forget x a.1:3; forget x a.1:1");
  answer_number(0);
  answer_number(0);
  answer_number(1);
  BOOST_TEST(told() == "finished 2 lease_lost; finished 3 lease_lost; finished 1 server_error");
}

BOOST_AUTO_TEST_CASE(what_is_released_before_the_exit_is_answered_is_forgotten_behind_it) {
  for (bool const is_sent : {false, true}) {
    owners f;
    f.leave();
    if (is_sent) BOOST_TEST(f.sent() == leaving);
    f.s.release(f.now, f.claim_of(2));
    f.s.release(f.now, f.claim_of(2));
    BOOST_TEST(f.sent() == (is_sent ? "" : leaving + "; ") + "forget x a.1:2");
    f.reconnect();
    BOOST_TEST(f.sent() == "beat; " + leaving + "; forget x a.1:2");
    f.answer_beat({});
    f.answer_number(1);
    BOOST_TEST(f.told() == "granted 3 fence 11; finished 1 none");
    f.answer_number(1);
    BOOST_TEST(f.told() == "finished 2 none");
  }
}

BOOST_AUTO_TEST_CASE(what_is_released_while_the_exit_is_refused_is_forgotten_once) {
  leave();
  s.release(now, claim_of(2));
  sent();
  refuse("LOST the token does not hold with this fence");
  BOOST_TEST(told() == "record_lost; finished 1 lease_lost");
  BOOST_TEST(sent() == "beat; forget x a.1:3; open resume a.1 gen 2");
  answer_number(0);  // the release was sent before
  answer_beat({});
  answer_number(0);
  resumes();
  BOOST_TEST(told() == "finished 2 none; finished 3 lease_lost");
}

BOOST_AUTO_TEST_CASE(what_is_to_be_owned_is_lost_with_the_session) {
  for (bool const is_sent : {false, true}) {
    owners f;
    f.leave();
    if (is_sent) f.sent();
    f.lapse();
    BOOST_TEST(f.told() == std::string("session_lost; finished 1 ") +
                               (is_sent ? "outcome_unknown" : "lease_lost") +
                               "; finished 2 lease_lost; finished 3 lease_lost");
    f.connect();
    f.sent();
    f.opens();
    BOOST_TEST(f.sent() == "beat");
  }
}

BOOST_AUTO_TEST_CASE(a_shutdown_aborts_what_is_to_be_owned) {
  leave();
  sent();
  s.shutdown(now);
  BOOST_TEST(told() == "finished 2 aborted; finished 3 aborted");
  BOOST_TEST(sent() == "shutdown a.1");
  answer_number(1);
  BOOST_TEST(told() == "finished 1 none");
}

BOOST_AUTO_TEST_CASE(a_shutdown_forgets_what_a_failed_exit_leaves) {
  leave();
  s.shutdown(now);
  BOOST_TEST(sent() == leaving + "; shutdown a.1");
  told();
  refuse("NUMBER the variable is no number to which this can be added");
  told();
  BOOST_TEST(sent() == "forget x a.1:1");
  answer_number(1);
  answer_number(1);
  BOOST_TEST(told() == "finished 1 server_error");
}

// --- Owning ---

BOOST_AUTO_TEST_CASE(what_is_owned_is_released) {
  s.release(now, own_one());
  BOOST_TEST(sent() == "release x a.1:2");
  answer_number(1);
  BOOST_TEST(told() == "finished 2 none");
}

BOOST_AUTO_TEST_CASE(a_beat_learns_that_what_is_owned_is_lost) {
  for (token_state const& state : {unknown(), holds(12), waits(11)}) {
    owners f;
    f.own_one();
    f.after(2000ms);
    BOOST_TEST(f.sent() == "beat x:2");
    f.answer_beat({holds(11)});
    BOOST_TEST(f.told() == "");
    f.after(2000ms);
    f.sent();
    f.answer_beat({state});
    BOOST_TEST(f.told() == "record_lost; lost 2");
    BOOST_TEST(f.sent() == "beat; forget x a.1:2; open resume a.1 gen 2");
    f.answer_beat({});
    f.answer_number(0);
    f.resumes();
    BOOST_TEST(f.told() == "finished 2 lease_lost");
  }
}

BOOST_AUTO_TEST_CASE(what_is_owned_can_be_forced) {
  own_one();
  push("L a.1:2 12 e");
  BOOST_TEST(told() == "");
  push("L a.1:2 11 e");
  BOOST_TEST(told() == "forced; lost 2");
  BOOST_TEST(sent() == "forget x a.1:2");
}

BOOST_AUTO_TEST_CASE(what_is_forced_before_the_exit_is_answered_is_lost_with_the_next_beat) {
  leave();
  sent();
  push("L a.1:2 11 e");
  answer_number(1);
  BOOST_TEST(told() == "granted 2 fence 11; granted 3 fence 11; finished 1 none");
  after(2000ms);
  sent();
  answer_beat({unknown(), holds(11)});
  BOOST_TEST(told() == "record_lost; lost 2");
}

BOOST_AUTO_TEST_CASE(what_is_owned_is_lost_with_the_session) {
  own_one();
  lapse();
  BOOST_TEST(told() == "session_lost; lost 2; finished 2 lease_lost");
}

BOOST_AUTO_TEST_CASE(the_longest_hold_is_no_limit_of_what_is_owned) {
  session_config config;
  config.max_hold = 500ms;
  owners f(config);
  f.own_one();
  f.after(1000ms);
  f.s.tick(f.now);
  BOOST_TEST(f.told() == "");
  claim& again = f.enter("x", 12);
  f.own(again, "x", "n", "1", "k");
  f.wait_on("x", "k", again);
  f.sent();
  f.answer(parked(20));
  f.told();
  f.after(500ms);
  f.s.tick(f.now);
  BOOST_TEST(f.told() == "");
}

BOOST_AUTO_TEST_CASE(a_hold_that_lasts_too_long_owns_nothing) {
  session_config config;
  config.max_hold = 500ms;
  owners f(config);
  f.after(500ms);
  f.s.tick(f.now);
  BOOST_TEST(f.told() == "too_long 500 ms; lost 1");
  f.own(f.inside(), "x", "n", "1", "k");
  f.s.exit(f.now, f.inside());
  BOOST_TEST(f.told() == "finished 2 lease_lost");
  BOOST_TEST(f.sent() == "release x a.1:1");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_session_owned_test
