// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The visits to a monitor, in every interleaving.

#include "monitor_state_scenarios.hpp"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(monitor_state_monitor)

using namespace visit_model;

BOOST_AUTO_TEST_CASE(M4_a_change_against_a_visit) { explore(change_against_visit); }
BOOST_AUTO_TEST_CASE(M4_two_parked_against_changes) { explore(two_parked_against_changes, 1); }
BOOST_AUTO_TEST_CASE(M4_one_parks_against_who_leaves) { explore(parks_against_leave); }
BOOST_AUTO_TEST_CASE(M1_invocations) { explore(invocations, 0); }
BOOST_AUTO_TEST_CASE(M7_a_cancellation_against_the_end_of_a_function) {
  explore([] { cancel_against_the_end_of_a_function(false); });
}
BOOST_AUTO_TEST_CASE(M7_a_cancellation_against_the_loss_of_a_function) {
  explore([] { cancel_against_the_end_of_a_function(true); });
}

BOOST_AUTO_TEST_CASE(R4_one_is_cancelled_against_who_leaves) {
  explore([] { cancel_of_one_against_leave(false); });
}
BOOST_AUTO_TEST_CASE(R11_one_expires_against_who_leaves) {
  explore([] { cancel_of_one_against_leave(true); });
}
BOOST_AUTO_TEST_CASE(R4_all_are_cancelled_against_a_look) {
  explore([] { refusal_against_looking(false); });
}
BOOST_AUTO_TEST_CASE(R11_a_deadline_against_a_look) {
  explore([] { refusal_against_looking(true); });
}
BOOST_AUTO_TEST_CASE(R4_all_are_cancelled_against_a_recall) {
  explore(cancel_of_all_against_recall);
}
BOOST_AUTO_TEST_CASE(R4_who_comes_after_a_cancellation) { explore(visit_after_cancel); }
BOOST_AUTO_TEST_CASE(R19_counted_in_one_place) { explore(counted_once); }
BOOST_AUTO_TEST_CASE(R18_closed_against_who_leaves) { explore(close_against_leave, 1); }
BOOST_AUTO_TEST_CASE(R18_closed_against_its_end) { explore(close_against_its_end, 2); }

BOOST_AUTO_TEST_CASE(R9_destroyed_against_who_leaves) {
  explore([] { destroyed_against_leave(0); });
}
BOOST_AUTO_TEST_CASE(R9_destroyed_against_who_lets_others_in) {
  explore([] { destroyed_against_leave(1); });
}
BOOST_AUTO_TEST_CASE(R9_destroyed_against_the_end_of_a_function) {
  explore(destroyed_against_the_end_of_a_function);
}
BOOST_AUTO_TEST_CASE(R9_destroyed_by_who_enters) { explore(destroyed_by_who_enters); }
BOOST_AUTO_TEST_CASE(M7_the_strand_is_lost) {
  explore([] { strand_is_lost(false); });
}
BOOST_AUTO_TEST_CASE(M7_the_strand_is_lost_against_a_cancellation) {
  explore([] { strand_is_lost(true); });
}
BOOST_AUTO_TEST_CASE(R3_a_drop_against_a_cancellation) { explore(drop_against_cancel, 1); }

BOOST_AUTO_TEST_SUITE_END()
