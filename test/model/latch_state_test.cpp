// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The number that a latch counts down, in every interleaving.

#include "latch_state_scenarios.hpp"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(latch_state_latch)

using namespace latch_model;

BOOST_AUTO_TEST_CASE(R14_two_counts_against_waits) { explore(two_counts_against_waits); }
BOOST_AUTO_TEST_CASE(R14_two_arrivals) { explore(two_arrivals); }
BOOST_AUTO_TEST_CASE(R15_two_last_arrivals) { explore(two_last_arrivals); }
BOOST_AUTO_TEST_CASE(R15_a_count_against_enter) { explore(count_against_enter); }
BOOST_AUTO_TEST_CASE(R1_a_count_against_an_arrival) { explore(count_against_arrival); }
BOOST_AUTO_TEST_CASE(R10_one_turned_away_against_an_arrival) {
  explore(turned_away_against_arrival);
}
BOOST_AUTO_TEST_CASE(R9_a_count_of_nothing_against_the_last) {
  explore(count_of_nothing_against_the_last);
}
BOOST_AUTO_TEST_CASE(R1_made_open) { explore(made_open); }

BOOST_AUTO_TEST_CASE(R4_the_last_arrival_against_cancel) { explore(last_arrival_against_cancel); }
BOOST_AUTO_TEST_CASE(R11_a_mark_against_an_arrival) { explore(mark_against_arrival); }
BOOST_AUTO_TEST_CASE(R4_cancel_of_all_against_arrivals) { explore(cancel_all_against_arrivals); }
BOOST_AUTO_TEST_CASE(R18_close_against_arrivals) { explore(close_against_arrivals); }

BOOST_AUTO_TEST_CASE(R9_destroyed_by_a_wait_that_the_last_arrival_releases) {
  explore([] { destroyed_by_a_released_wait(false); });
}
BOOST_AUTO_TEST_CASE(R9_destroyed_by_a_wait_that_the_last_releases_as_it_enters) {
  explore([] { destroyed_by_a_released_wait(true); });
}
BOOST_AUTO_TEST_CASE(R9_destroyed_by_who_sees_it_open_after_a_count) {
  explore([] { destroyed_by_who_sees_it_open(false); });
}
BOOST_AUTO_TEST_CASE(R9_destroyed_by_who_sees_it_open_after_an_arrival) {
  explore([] { destroyed_by_who_sees_it_open(true); });
}
BOOST_AUTO_TEST_CASE(R9_destroyed_while_an_arrival_is_refused) {
  explore(destroyed_while_an_arrival_is_refused);
}

BOOST_AUTO_TEST_SUITE_END()
