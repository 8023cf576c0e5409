// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The keys of a keyed mutex, in every interleaving.

#include "keyed_mutex_state_scenarios.hpp"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(keyed_mutex_state_mutex)

using namespace keyed_model;

BOOST_AUTO_TEST_CASE(R7_the_last_release_against_a_new_lock) {
  explore(last_release_against_a_new_lock);
}
BOOST_AUTO_TEST_CASE(R7_three_waits) { explore(three_waits); }
BOOST_AUTO_TEST_CASE(R7_two_keys) { explore(two_keys); }
BOOST_AUTO_TEST_CASE(R7_a_release_before_the_wait_has_queued) {
  explore(release_between_claim_and_enter);
}
BOOST_AUTO_TEST_CASE(R10_one_given_up_against_a_release) { explore(given_up_against_release, 1); }
BOOST_AUTO_TEST_CASE(R13_one_given_up_that_has_the_key) { explore(given_up_hold); }
BOOST_AUTO_TEST_CASE(R11_no_time_against_a_release) { explore(expired_against_release); }

BOOST_AUTO_TEST_CASE(R4_cancel_against_grant_with_a_follower) { explore(cancel_against_grant); }
BOOST_AUTO_TEST_CASE(R4_cancel_of_the_last_wait_against_a_release) {
  explore(cancel_of_the_last_wait_against_release);
}
BOOST_AUTO_TEST_CASE(R11_timeout_against_cancel_against_grant) {
  explore(timeout_against_cancel_against_grant, 1);
}
BOOST_AUTO_TEST_CASE(R4_a_mark_before_the_wait_has_queued) { explore(mark_before_enter); }
BOOST_AUTO_TEST_CASE(R4_cancel_of_all_against_a_release) {
  explore(cancel_of_all_against_release);
}
BOOST_AUTO_TEST_CASE(R18_close_against_a_lock) { explore(close_against_lock, 1); }

BOOST_AUTO_TEST_CASE(R3_a_dropped_grant_against_cancel) { explore(drop_against_cancel); }
BOOST_AUTO_TEST_CASE(R3_the_last_drop_against_a_new_lock) {
  explore(last_drop_against_a_new_lock);
}

BOOST_AUTO_TEST_CASE(R9_a_guard_against_destruction) {
  explore([] { guard_against_abandon(false); });
}
BOOST_AUTO_TEST_CASE(R9_a_guard_against_destruction_with_a_queued_wait) {
  explore([] { guard_against_abandon(true); });
}
BOOST_AUTO_TEST_CASE(R9_a_grant_on_its_way_against_destruction) {
  explore(granted_against_abandon);
}
BOOST_AUTO_TEST_CASE(R9_a_dropped_grant_against_destruction) { explore(drop_against_abandon); }
BOOST_AUTO_TEST_CASE(R9_destroyed_by_the_new_owner) { explore(destroyed_by_the_new_owner); }

BOOST_AUTO_TEST_SUITE_END()
