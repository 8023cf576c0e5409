// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// What the interleavings have found, in faulty cores: the schedules, replayed on the right one.

#include "barrier_state_scenarios.hpp"

#include <boost/test/unit_test.hpp>

// Each of these faults is put into the core by `./dev mutants`, which has its case fail.
BOOST_AUTO_TEST_SUITE(barrier_state_faults)

using namespace barrier_model;

BOOST_AUTO_TEST_CASE(phase_over_is_refused) {
  kept([] { last_arrival_against_cancel(false); }, "0x12.2");
}
BOOST_AUTO_TEST_CASE(last_to_enter_is_marked) { kept(last_to_enter_against_mark, "0x6.1x2"); }
BOOST_AUTO_TEST_CASE(generation_stays) {
  kept([] { last_arrival_against_cancel(true); }, "0x6.1x2");
}
BOOST_AUTO_TEST_CASE(cancelled_one_breaks_nothing) { kept(two_cancels, "0x7.1x7.2"); }
BOOST_AUTO_TEST_CASE(some_refused_break_nothing) { kept(some_refused_against_last, "0x5.1x8"); }
BOOST_AUTO_TEST_CASE(turned_away_breaks_nothing) {
  kept(turned_away_against_arrival, "0x2.1x8.2");
}
BOOST_AUTO_TEST_CASE(marked_one_arrives) { kept(mark_against_enter, "1x4.0x4.2"); }
BOOST_AUTO_TEST_CASE(no_time_arrives) { kept(no_time_against_arrival, "0x5.1x10.0x10.1x2"); }
BOOST_AUTO_TEST_CASE(failing_completion_releases) { kept(completion_fails, "0x10.1x14"); }
BOOST_AUTO_TEST_CASE(nobody_leads_where_the_last_drops) {
  kept(drop_against_arrival, "0.1x9.0x10.1x2.2x2");
}
BOOST_AUTO_TEST_CASE(last_drop_ends_no_phase) { kept(drop_against_arrival, "0.1x9.0x3.2"); }
BOOST_AUTO_TEST_CASE(more_drop_than_there_are) { kept(too_many_drop, "0x5.1x4"); }
BOOST_AUTO_TEST_CASE(nobody_left_waits) { kept(too_many_drop, "0x5.1x4"); }
BOOST_AUTO_TEST_CASE(last_to_enter_not_counted) {
  kept([] { destroyed_by_a_released_wait(true); }, "0x9.1x5.2");
}
BOOST_AUTO_TEST_CASE(taken_out_not_counted) { kept(destroyed_after_a_drop, "0x8.1x2"); }
BOOST_AUTO_TEST_CASE(participants_seen_before_the_lock) { kept(too_many_drop, "0x5.1"); }

BOOST_AUTO_TEST_SUITE_END()
