// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Visits of monitors, and their ends, as the session sends and tells them. The visits that wait,
// or own something, are in session_owned_test.cpp.

#include "redis/support/session_script.hpp"
#include "support/test.hpp"

namespace redis_session_monitors_test {

using namespace session_script;

// A session with a claim, 1, that is inside x with the fence 11; n is 5 there.
struct inside_x : fixture {
  inside_x() {
    open();
    enter("x", 11, "1:n1:5");
  }

  claim& first() { return claim_of(1); }

  // Leaves after setting n to 6.
  void leave() {
    first().visit()->set("n", "6");
    s.exit(now, first());
  }
};

std::string const leaving = "exit x a.1:1 fence 11, s n 6";

// Returns the value of a variable, as a visit sees it.
std::string value(claim& c, std::string_view variable) {
  std::string const* const found = c.visit()->find(variable);
  return found != nullptr ? *found : "none";
}

BOOST_FIXTURE_TEST_SUITE(session_monitors_test, inside_x)

// --- Variables ---

BOOST_AUTO_TEST_CASE(an_answer_has_the_variables) {
  claim& c = enter("y", 12, "0:3:a:b1:n2:12");
  BOOST_TEST(value(c, "") == "a:b");
  BOOST_TEST(value(c, "n") == "12");
  claim& empty = enter("z", 13);
  BOOST_TEST((empty.state() == claim_state::holding));
  BOOST_TEST(value(empty, "n") == "none");
}

BOOST_AUTO_TEST_CASE(a_push_has_the_variables) {
  claim& c = wait("x", 20);
  push("G a.1:2 30 e 1:n3:6 71:m0:");
  BOOST_TEST(told() == "granted 2 fence 30");
  BOOST_TEST(value(c, "n") == "6 7");
  BOOST_TEST(value(c, "m") == "");
}

BOOST_AUTO_TEST_CASE(a_push_may_have_no_variables) {
  claim& c = wait("x", 20);
  push("G a.1:2 30 e ");
  BOOST_TEST(told() == "granted 2 fence 30");
  BOOST_TEST(value(c, "n") == "none");
}

BOOST_AUTO_TEST_CASE(an_answer_behind_the_push_leaves_the_visit_alone) {
  for (bool const has_left : {false, true}) {
    inside_x f;
    claim& c = f.acquire("x");
    f.sent();
    f.push("G a.1:2 30 e 1:n1:7");
    BOOST_TEST(f.told() == "granted 2 fence 30");
    c.visit()->set("n", "8");
    c.visit()->notify("k", 0);
    if (has_left) f.s.exit(f.now, c);
    f.answer(holds(30, "1:n1:9"));
    BOOST_TEST(f.told() == "");
    BOOST_TEST(value(c, "n") == "8");
    if (!has_left) f.s.exit(f.now, c);
    BOOST_TEST(f.sent() == "exit x a.1:2 fence 30, s n 8, n k 0");
  }
}

BOOST_AUTO_TEST_CASE(a_push_behind_the_answer_leaves_the_visit_alone) {
  first().visit()->set("n", "8");
  push("G a.1:1 11 e 1:n1:9");
  push("G a.1:1 11 e");
  BOOST_TEST(told() == "");
  BOOST_TEST(value(first(), "n") == "8");
}

BOOST_AUTO_TEST_CASE(an_answer_without_sound_variables_breaks_the_protocol) {
  std::vector<std::optional<std::string_view>> const wrong = {
      std::nullopt, "1:n", "1:n2:5", "1:n1:51:m", "n", "1", ":", "1:n1:5 "};
  for (auto const& variables : wrong) {
    inside_x f;
    claim& c = f.acquire("x");
    f.sent();
    f.answer(holds(30, variables));
    BOOST_TEST(f.told() == "disconnect; disconnected protocol_error");
    BOOST_TEST((c.state() == claim_state::asking));
    f.connect();
    f.sent();
    f.resumes();
    BOOST_TEST(f.sent() == "beat x:1; acquire x a.1:2");
  }
}

BOOST_AUTO_TEST_CASE(a_push_without_sound_variables_is_ignored) {
  claim& c = wait("x", 20);
  for (std::string const variables : {"", " 1:n", " 1:n2:5", "  ", " n"}) {
    push("G a.1:2 30 e" + variables);
    BOOST_TEST(told() == "");
    BOOST_TEST((c.state() == claim_state::waiting));
  }
}

BOOST_AUTO_TEST_CASE(a_beat_that_tells_of_a_grant_has_the_variables_asked_for) {
  claim& c = wait("x", 20);
  after(2000ms);
  BOOST_TEST(sent() == "beat x:1,2");
  answer_beat({holds(11), holds(30)});
  BOOST_TEST(told() == "");
  BOOST_TEST(sent() == "acquire x a.1:2 ticket 20");
  answer(holds(30, "1:n1:7"));
  BOOST_TEST(told() == "granted 2 fence 30");
  BOOST_TEST(value(c, "n") == "7");
}

BOOST_AUTO_TEST_CASE(a_push_may_be_faster_than_the_answer_to_the_question) {
  claim& c = wait("x", 20);
  after(2000ms);
  sent();
  answer_beat({holds(11), holds(30)});
  push("G a.1:2 30 e 1:n1:7");
  BOOST_TEST(told() == "granted 2 fence 30");
  BOOST_TEST(sent() == "");
  BOOST_TEST(value(c, "n") == "7");
}

BOOST_AUTO_TEST_CASE(a_beat_asks_for_no_variables_while_an_answer_is_to_come) {
  claim& c = wait_on("x", "k", first());
  sent();
  answer(parked(20));
  after(2000ms);
  BOOST_TEST(sent() == "beat x:2");
  s.recall(now, c);
  BOOST_TEST(sent() == "unwait x a.1:2");
  answer_beat({holds(30)});
  BOOST_TEST(sent() == "");
  told();
  answer(holds(30, "1:n1:7"));
  BOOST_TEST(told() == "granted 2 fence 30");
}

BOOST_AUTO_TEST_CASE(sixteen_answers_with_variables_are_outstanding_at_most) {
  auto const asked = [this] {
    std::string const all = sent();
    std::size_t n = 0;
    for (auto at = all.find("acquire"); at != std::string::npos; at = all.find("acquire", at + 1))
      ++n;
    return n;
  };
  for (int i = 0; i != 20; ++i) acquire("x");
  acquire("m");  // a mutex
  BOOST_TEST(asked() == 16u);
  BOOST_TEST(asked() == 0u);
  answer(waits(20));
  BOOST_TEST(asked() == 1u);
  cut();
  connect();
  sent();
  resumes();
  BOOST_TEST(asked() == 16u);
  answer_beat({holds(11), waits(20)});
  for (auto const ticket : {21u, 22u, 23u}) answer(waits(ticket));
  BOOST_TEST(asked() == 3u);  // the last ones of x
  answer(waits(24));
  BOOST_TEST(asked() == 1u);  // that of m, behind them
}

BOOST_AUTO_TEST_CASE(a_visit_begins_with_nothing_of_the_last_one) {
  first().visit()->set("m", "1");
  first().visit()->notify("k", 1);
  claim& c = wait_on("x", "k", first());
  BOOST_TEST(sent() == "cond_wait x a.1:2 from 1 fence 11 on k, s m 1, n k 1");
  answer(parked(20));
  push("G a.1:2 30 e 1:n1:7");
  BOOST_TEST(value(c, "m") == "none");
  s.exit(now, c);
  BOOST_TEST(sent() == "exit x a.1:2 fence 30");
}

// --- Leaving ---

BOOST_AUTO_TEST_CASE(an_exit_has_the_operations_in_their_order) {
  visit& v = *first().visit();
  v.notify("k", 0);
  own(first(), "x", "m", "-2", "j");
  v.set("n", "6");
  own(first(), "x", "n", "3", "k");
  v.notify("j", 1);
  v.set("a", "");
  s.exit(now, first());
  BOOST_TEST(sent() == "exit x a.1:1 fence 11, s a , s n 6, n k 0, n j 1, o m 2 -2 j, o n 3 3 k");
}

BOOST_AUTO_TEST_CASE(an_exit_needs_no_operations) {
  s.exit(now, first());
  BOOST_TEST(sent() == "exit x a.1:1 fence 11");
  answer_number(1);
  BOOST_TEST(told() == "finished 1 none");
  BOOST_TEST(s.size() == 0u);
}

BOOST_AUTO_TEST_CASE(an_exit_of_a_recalled_wait_passes_the_notification_on) {
  claim& c = wait_on("x", "k", first());
  sent();
  answer(parked(20));
  s.recall(now, c);
  sent();
  answer(holds(30, ""));
  s.exit(now, c);
  BOOST_TEST(sent() == "exit x a.1:2 fence 30 pass");
}

BOOST_AUTO_TEST_CASE(an_exit_is_not_sent_twice_on_a_connection) {
  leave();
  BOOST_TEST(sent() == leaving);
  s.release(now, first());
  s.forget(now, first());
  BOOST_TEST(sent() == "");
  after(2000ms);
  BOOST_TEST(sent() == "beat");
}

BOOST_AUTO_TEST_CASE(an_exit_of_what_is_not_held_does_nothing) {
  push("L a.1:1 11 e");
  BOOST_TEST(told() == "forced; lost 1");
  own(first(), "x", "n", "1", "k");
  s.exit(now, first());
  BOOST_TEST(told() == "finished 2 lease_lost");
  BOOST_TEST(sent() == "forget x a.1:1");
  answer_number(0);
  BOOST_TEST(told() == "finished 1 lease_lost");
}

BOOST_AUTO_TEST_CASE(an_exit_after_the_session_has_lapsed_does_nothing) {
  own(first(), "x", "n", "1", "k");
  after(6000ms);
  leave();
  BOOST_TEST(told() ==
             "session_lost; disconnect; lost 1; finished 1 lease_lost; finished 2 lease_lost");
}

BOOST_AUTO_TEST_CASE(an_unanswered_exit_is_sent_again) {
  leave();
  BOOST_TEST(sent() == leaving);
  reconnect();
  BOOST_TEST(sent() == "beat; " + leaving);
  answer_beat({});
  answer_number(1);
  BOOST_TEST(told() == "finished 1 none");
}

BOOST_AUTO_TEST_CASE(an_answer_of_another_form_is_none_of_an_exit) {
  leave();
  sent();
  answer(holds(11, ""));
  BOOST_TEST(told() == "disconnect; disconnected protocol_error");
}

BOOST_AUTO_TEST_CASE(a_lost_exit_has_not_happened_unless_it_was_sent_before) {
  for (bool const is_again : {false, true}) {
    inside_x f;
    f.leave();
    is_again ? f.send_twice() : void(f.sent());
    f.refuse("LOST the token does not hold with this fence");
    BOOST_TEST(f.told() ==
               (is_again ? "finished 1 outcome_unknown" : "record_lost; finished 1 lease_lost"));
    BOOST_TEST(f.sent() == (is_again ? "" : "beat; open resume a.1 gen 2"));
  }
}

BOOST_AUTO_TEST_CASE(an_exit_without_a_session_has_not_happened_unless_it_was_sent_before) {
  for (std::string const error : {"NOSESSION no such session", "EPOCH the data is lost"})
    for (bool const is_again : {false, true}) {
      inside_x f;
      f.leave();
      is_again ? f.send_twice() : void(f.sent());
      f.refuse(error);
      BOOST_TEST(f.told() == std::string("session_lost; disconnect; finished 1 ") +
                                 (is_again ? "outcome_unknown" : "lease_lost"));
    }
}

BOOST_AUTO_TEST_CASE(an_exit_that_an_emptied_server_refuses_has_not_happened) {
  for (std::string const error : {"NOSESSION no such session", "EPOCH the data is lost", ""}) {
    inside_x f;
    f.empty();
    f.leave();
    f.sent();
    error.empty() ? f.answer_number(1) : f.refuse(error);
    f.refuse("NOSESSION no such session");
    BOOST_TEST(f.told() == std::string("session_lost; finished 1 ") +
                               (error.empty() ? "outcome_unknown" : "lease_lost"));
  }
}

BOOST_AUTO_TEST_CASE(an_exit_without_a_record_has_not_happened_although_the_session_is_lost) {
  inside_x f;
  f.empty();
  f.leave();
  f.sent();
  f.refuse("LOST the token does not hold with this fence");
  f.refuse("NOSESSION no such session");
  BOOST_TEST(f.told() == "session_lost; finished 1 lease_lost");
}

// The refusal is kept when the connection is lost.
BOOST_AUTO_TEST_CASE(an_exit_that_was_refused_has_not_happened_although_the_connection_is_lost) {
  for (std::string const error : {"NOSESSION no such session", "LOST the token does not hold"}) {
    inside_x f;
    f.empty();
    f.leave();
    f.sent();
    f.refuse(error);
    f.cut();
    f.connect();
    f.sent();
    f.resumes();
    f.sent();
    f.told();
    f.answer_beat({});
    f.refuse(error);
    BOOST_TEST(f.told().ends_with("finished 1 lease_lost"));
  }
}

BOOST_AUTO_TEST_CASE(an_exit_is_unknown_if_its_session_is_not_resumed) {
  for (bool const is_sent : {false, true}) {
    inside_x f;
    if (is_sent) f.leave();
    f.sent();
    f.cut();
    if (!is_sent) f.leave();
    f.connect();
    f.sent();
    f.told();
    f.refuse("NOSESSION no such session");
    BOOST_TEST(f.told() == std::string("session_lost; finished 1 ") +
                               (is_sent ? "outcome_unknown" : "lease_lost"));
  }
}

BOOST_AUTO_TEST_CASE(an_exit_is_unknown_if_its_session_lapses) {
  for (bool const is_sent : {false, true}) {
    inside_x f;
    f.leave();
    if (is_sent) f.sent();
    f.lapse();
    BOOST_TEST(f.told() == std::string("session_lost; finished 1 ") +
                               (is_sent ? "outcome_unknown" : "lease_lost"));
  }
}

BOOST_AUTO_TEST_CASE(an_exit_that_fails_gives_the_monitor_back) {
  leave();
  sent();
  refuse("NUMBER the variable is no number to which this can be added");
  BOOST_TEST(told() == "server_error server_error");
  BOOST_TEST(sent() == "forget x a.1:1");
  reconnect();
  BOOST_TEST(sent() == "beat; forget x a.1:1");
  answer_beat({});
  answer_number(1);
  BOOST_TEST(told() == "finished 1 server_error");
}

BOOST_AUTO_TEST_CASE(an_exit_that_fails_when_it_is_sent_again_is_unknown) {
  leave();
  send_twice();
  refuse("WRONGTYPE a key of another type");
  BOOST_TEST(told() == "server_error server_error");
  BOOST_TEST(sent() == "forget x a.1:1");
  answer_number(0);
  BOOST_TEST(told() == "finished 1 outcome_unknown");
}

BOOST_AUTO_TEST_CASE(an_exit_that_was_sent_again_stays_unknown_if_its_token_is_not_forgotten) {
  leave();
  send_twice();
  refuse("WRONGTYPE a key of another type");
  sent();
  told();
  refuse("WRONGTYPE a key of another type");
  BOOST_TEST(told() == "server_error server_error; failed 1 outcome_unknown");
  after(50ms);
  BOOST_TEST(sent() == "forget x a.1:1");
  answer_number(1);
  BOOST_TEST(told() == "finished 1 outcome_unknown");
}

BOOST_AUTO_TEST_CASE(an_exit_that_has_failed_keeps_its_error_if_the_session_is_lost) {
  leave();
  sent();
  refuse("WRONGTYPE a key of another type");
  sent();
  told();
  lapse();
  BOOST_TEST(told() == "session_lost; finished 1 server_error");
}

BOOST_AUTO_TEST_CASE(a_grant_whose_variables_are_refused_is_given_back) {
  wait("x", 20);
  after(2000ms);
  sent();
  answer_beat({holds(11), holds(30)});
  sent();
  refuse("WRONGTYPE a key of another type");
  BOOST_TEST(told() == "server_error server_error");
  BOOST_TEST(sent() == "forget x a.1:2");
  answer_number(1);
  BOOST_TEST(told() == "finished 2 server_error");
}

// --- The end of a run ---

BOOST_AUTO_TEST_CASE(a_shutdown_sends_an_exit_first) {
  leave();
  s.shutdown(now);
  BOOST_TEST(told() == "");
  BOOST_TEST(sent() == leaving + "; shutdown a.1");
  answer_number(1);
  BOOST_TEST(told() == "finished 1 none");
  answer_number(0);
  BOOST_TEST(told() == "disconnect; ended none");
}

BOOST_AUTO_TEST_CASE(a_shutdown_sends_an_exit_on_the_next_connection) {
  for (bool const is_sent : {false, true}) {
    inside_x f;
    f.leave();
    if (is_sent) f.sent();
    f.s.shutdown(f.now);
    f.cut();
    f.connect();
    BOOST_TEST(f.sent() == "open resume a.1 gen 2");
    f.resumes();
    f.told();
    BOOST_TEST(f.sent() == leaving + "; shutdown a.1");
    f.answer_number(1);
    BOOST_TEST(f.told() == "finished 1 none");
  }
}

BOOST_AUTO_TEST_CASE(a_shutdown_ends_an_exit_that_the_server_refuses) {
  for (bool const is_again : {false, true}) {
    inside_x f;
    f.leave();
    f.sent();
    f.s.shutdown(f.now);
    if (is_again) f.reconnect();
    f.sent();
    f.refuse("NOSESSION no such session");
    if (!is_again) f.sent();
    f.answer_number(0);
    BOOST_TEST(f.told() == std::string("disconnect; finished 1 ") +
                               (is_again ? "outcome_unknown" : "lease_lost") + "; ended none");
  }
}

BOOST_AUTO_TEST_CASE(every_end_of_a_run_ends_an_exit_once) {
  for (bool const is_sent : {false, true})
    for (std::string const end : {"stop", "end", "fail", "lapse"}) {
      inside_x f;
      f.own(f.first(), "x", "n", "1", "k");
      f.leave();
      if (is_sent) f.sent();
      if (end == "stop") f.s.stop();
      if (end == "end") f.s.end();
      if (end == "fail") f.s.fail(failure::access_denied, "");
      if (end == "lapse") f.lapse();
      std::string const told = f.told();
      std::string const ends = std::string("finished 1 ") +
                               (is_sent ? "outcome_unknown" : "lease_lost") +
                               "; finished 2 lease_lost";
      BOOST_TEST_CONTEXT(end << ": " << told) {
        BOOST_TEST(told.find(ends) != std::string::npos);
        BOOST_TEST(told.find("finished", told.find(ends) + ends.size()) == std::string::npos);
        BOOST_TEST(f.s.size() == 0u);
      }
      f.s.end();
      BOOST_TEST(f.told().find("finished") == std::string::npos);
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_session_monitors_test
