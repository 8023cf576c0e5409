// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// What the interleavings have found, in faulty cores: the schedules, replayed on the right one.

#include "latch_state_scenarios.hpp"

#include <boost/test/unit_test.hpp>

// Each of these faults is put into the core by `./dev mutants`, which has its case fail.
BOOST_AUTO_TEST_SUITE(latch_state_faults)

using namespace latch_model;

BOOST_AUTO_TEST_CASE(steps_publish_nothing) {
  kept(two_counts_against_waits, "0x2.c0.1x2.c0.1x10");
}
BOOST_AUTO_TEST_CASE(last_step_sees_no_other) {
  kept(two_counts_against_waits, "0x2.c0.1x2.c0.1x10");
}
BOOST_AUTO_TEST_CASE(tries_arrive_too_early) { kept(count_against_arrival, "0x2.c1.1x17.0"); }
BOOST_AUTO_TEST_CASE(step_of_nothing_opens) {
  kept(count_of_nothing_against_the_last, "0x2.c0.0.1x2.c0.1x13");
}
BOOST_AUTO_TEST_CASE(turned_away_as_the_last_opens_nothing) {
  kept(turned_away_against_arrival, "0x2.c1.1x10.0x2.2");
}
BOOST_AUTO_TEST_CASE(waits_count_down) {
  kept(count_against_arrival, "0x2.c0.1x4.c0.1x2.c1.2x10");
}
BOOST_AUTO_TEST_CASE(one_too_many_is_let_in) { kept(count_against_enter, "0x2.c0.0x8.1x9.2x2"); }
BOOST_AUTO_TEST_CASE(last_to_enter_opens_nothing) {
  kept(cancel_all_against_arrivals, "0x3.1x7.c1.2x4.1x5.2x6");
}
BOOST_AUTO_TEST_CASE(released_by_an_arrival_not_told) {
  kept([] { destroyed_by_a_released_wait(true); }, "0x3.c0.0x10.1x2");
}
BOOST_AUTO_TEST_CASE(made_at_zero_is_not_open) { kept(made_open, "0x5.c0.0x2.1x6"); }
BOOST_AUTO_TEST_CASE(opened_without_the_lock) {
  kept(turned_away_against_arrival, "0x2.c1.1x10.0x3");
}

BOOST_AUTO_TEST_SUITE_END()
