// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The longest hold, the end of a run, and the arguments of the protocol.

#include "support/session_script.hpp"
#include "support/test.hpp"

namespace redis_session_end_test {

using namespace session_script;

BOOST_AUTO_TEST_SUITE(session_end_test)

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

BOOST_AUTO_TEST_CASE(a_shutdown_sends_no_beat) {
  fixture f;
  f.open();
  f.hold("x", 11);
  f.s.shutdown(f.now);
  BOOST_TEST(f.sent() == "shutdown a.1");
  f.after(3000ms);
  BOOST_TEST(f.sent() == "");
  f.answer_number(1);
  BOOST_TEST(f.sent() == "shutdown a.1");
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
  BOOST_TEST(f.sent() == "open resume a.1 gen 2");
  f.resumes();
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

BOOST_AUTO_TEST_CASE(a_shutdown_without_a_run_ends_waits) {
  fixture f;
  f.s.stop();
  f.told();
  f.acquire("x");
  f.s.shutdown(f.now);
  BOOST_TEST(f.told() == "finished 1 aborted");
  f.acquire("y");
  BOOST_TEST(f.told() == "finished 2 aborted");
  f.s.run();
  f.acquire("z");
  BOOST_TEST(f.told() == "");
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
  BOOST_TEST(next() == "<p:><a.1><1><><0><6000><9000><1><me><new><>");
  f.opens();
  BOOST_TEST(next() == "<p:><a.1><1><e><0><6000><0>");
  f.answer_beat({});
  object permits{"x", "semaphore", 1, 5};
  claim c(permits, 3);
  f.s.acquire(f.now, c);
  BOOST_TEST(next() == "<p:><a.1><1><e><x><1><semaphore><1><5><3><0><0>");
  f.answer(waits(11, 0ms));
  f.after(1ms);
  BOOST_TEST(next() == "<p:><a.1><1><e><11><6000><0><x><1><1>");
  f.answer_beat({holds(12)});
  f.s.release(f.now, c);
  BOOST_TEST(next() == "<p:><a.1><x><1><0>");
  f.answer_number(1);
  f.s.shutdown(f.now);
  BOOST_TEST(next() == "<p:><a.1>");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_session_end_test
