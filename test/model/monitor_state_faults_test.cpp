// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// What the interleavings have found, in faulty cores: the schedules, replayed on the right one.

#include "monitor_state_scenarios.hpp"

#include <boost/test/unit_test.hpp>

// Each of these faults is put into the core by `./dev mutants`, which has its case fail.
BOOST_AUTO_TEST_SUITE(monitor_state_faults)

using namespace visit_model;

BOOST_AUTO_TEST_CASE(recalled_although_dead) {
  kept([] { destroyed_against_leave(0); }, "0x7.1x12.0x4");
}
BOOST_AUTO_TEST_CASE(mark_of_a_visit_is_lost) {
  kept([] { refusal_against_looking(true); }, "0x3.1x25.c0.0");
}
BOOST_AUTO_TEST_CASE(parks_in_the_dead) {
  kept([] { destroyed_against_leave(0); }, "0.1x31.0x13.1x11");
}
BOOST_AUTO_TEST_CASE(parks_in_the_closed) { kept(close_against_leave, "1x46.2x36.0x12.2x10.c0"); }
BOOST_AUTO_TEST_CASE(unparked_and_still_counted) { kept(counted_once, "0x3.1x30.c0"); }
BOOST_AUTO_TEST_CASE(lost_function_has_left) {
  kept([] { cancel_against_the_end_of_a_function(true); }, "0x2.1x14.2x7.c0");
}
BOOST_AUTO_TEST_CASE(function_runs_unnoticed) {
  kept([] { cancel_against_the_end_of_a_function(false); }, "");
}
BOOST_AUTO_TEST_CASE(recalled_behind_the_flag) {
  kept(change_against_visit, "1x4.c0.1x19.c0.1.0x3.c0.0x16.c0");
}
BOOST_AUTO_TEST_CASE(refused_visit_not_counted) {
  kept([] { strand_is_lost(false); }, "0x20.2x7.c0");
}
BOOST_AUTO_TEST_CASE(granted_visit_in_no_list) {
  kept([] { refusal_against_looking(false); }, "1x7.0x3");
}
BOOST_AUTO_TEST_CASE(cancel_of_all_leaves_the_queue) { kept(cancel_of_all_against_recall, "0x7"); }
BOOST_AUTO_TEST_CASE(parked_seen_before_the_lock) { kept(close_against_leave, "0x5.1"); }
BOOST_AUTO_TEST_CASE(visiting_seen_without_the_lock) { kept(counted_once, "0.1x7"); }

BOOST_AUTO_TEST_SUITE_END()
