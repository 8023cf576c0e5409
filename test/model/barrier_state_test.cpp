// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The phases of a barrier, in every interleaving.

#include "barrier_state_scenarios.hpp"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(barrier_state_barrier)

using namespace barrier_model;

BOOST_AUTO_TEST_CASE(R14_three_meet) { explore(three_meet, 1); }
BOOST_AUTO_TEST_CASE(R1_two_phases_overlap) { explore(two_phases_overlap); }
BOOST_AUTO_TEST_CASE(R1_one_too_many) { explore(one_too_many); }
BOOST_AUTO_TEST_CASE(R1_a_completion_that_fails) { explore(completion_fails); }
BOOST_AUTO_TEST_CASE(R11_no_time_against_an_arrival) { explore(no_time_against_arrival); }

BOOST_AUTO_TEST_CASE(R4_the_last_arrival_against_cancel) {
  explore([] { last_arrival_against_cancel(false); });
}
BOOST_AUTO_TEST_CASE(R11_the_last_arrival_against_a_deadline) {
  explore([] { last_arrival_against_cancel(true); });
}
BOOST_AUTO_TEST_CASE(R4_cancel_against_arrivals) { explore(cancel_against_arrivals); }
BOOST_AUTO_TEST_CASE(R4_two_cancels) { explore(two_cancels); }
BOOST_AUTO_TEST_CASE(R11_the_last_to_enter_against_a_mark) { explore(last_to_enter_against_mark); }
BOOST_AUTO_TEST_CASE(R11_a_mark_against_enter) { explore(mark_against_enter); }
BOOST_AUTO_TEST_CASE(R4_cancel_of_all_against_the_last) { explore(cancel_all_against_last); }

BOOST_AUTO_TEST_CASE(R10_some_refused_against_the_last) { explore(some_refused_against_last); }
BOOST_AUTO_TEST_CASE(R10_one_turned_away_against_an_arrival) {
  explore(turned_away_against_arrival);
}
BOOST_AUTO_TEST_CASE(R3_the_leader_is_dropped) { explore(leader_is_dropped); }
BOOST_AUTO_TEST_CASE(R1_a_drop_against_an_arrival) { explore(drop_against_arrival); }
BOOST_AUTO_TEST_CASE(R15_too_many_drop) { explore(too_many_drop); }

BOOST_AUTO_TEST_CASE(R18_close_against_arrivals) { explore(close_against_arrivals); }

BOOST_AUTO_TEST_CASE(R9_destroyed_by_a_wait_that_the_last_arrival_releases) {
  explore([] { destroyed_by_a_released_wait(false); });
}
BOOST_AUTO_TEST_CASE(R9_destroyed_by_a_wait_that_the_last_releases_as_it_enters) {
  explore([] { destroyed_by_a_released_wait(true); });
}
BOOST_AUTO_TEST_CASE(R9_destroyed_by_a_wait_that_a_drop_releases) {
  explore(destroyed_after_a_drop);
}
BOOST_AUTO_TEST_CASE(R9_destroyed_by_the_completion_of_two) {
  explore([] { destroyed_by_the_completion(2); });
}
BOOST_AUTO_TEST_CASE(R9_destroyed_by_the_completion_of_one) {
  explore([] { destroyed_by_the_completion(1); });
}

BOOST_AUTO_TEST_SUITE_END()
