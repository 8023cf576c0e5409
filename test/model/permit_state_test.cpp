// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The FIFO core as a mutex uses it, in every interleaving.

#include "permit_state_guard_scenarios.hpp"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(permit_state_exclusive)

using namespace permit_model;

BOOST_AUTO_TEST_CASE(R7_a_holder_and_a_wait) { explore(holder_against_wait<>); }
BOOST_AUTO_TEST_CASE(R7_three_waits) { explore(three_waits<>); }
BOOST_AUTO_TEST_CASE(R7_a_try_does_not_barge_in) { explore(try_against_queue<>); }
BOOST_AUTO_TEST_CASE(R1_a_try_becomes_a_grant) { explore(try_then_grant<>); }

BOOST_AUTO_TEST_CASE(R4_cancel_against_grant_with_a_follower) { explore(cancel_against_grant<>); }
BOOST_AUTO_TEST_CASE(R4_two_neighbours_cancelled) { explore(neighbours_cancelled<>); }
BOOST_AUTO_TEST_CASE(R11_timeout_against_cancel_against_grant) {
  explore(timeout_against_cancel_against_grant<>);
}
BOOST_AUTO_TEST_CASE(R11_a_mark_against_enter) { explore(mark_against_enter<>); }
BOOST_AUTO_TEST_CASE(R4_cancel_of_all_against_release) { explore(cancel_all_against_release<>); }
BOOST_AUTO_TEST_CASE(R15_one_release_too_many) { explore(one_release_too_many<>); }

BOOST_AUTO_TEST_CASE(R18_close_against_acquire) { explore(close_against_acquire<>); }
BOOST_AUTO_TEST_CASE(R18_close_against_release) { explore(close_against_release<>); }

BOOST_AUTO_TEST_CASE(R3_a_dropped_grant_against_cancel) { explore(drop_against_cancel<>); }
BOOST_AUTO_TEST_CASE(R3_a_chain_of_dropped_grants) { explore(chain_of_drops<>); }
BOOST_AUTO_TEST_CASE(R9_a_dropped_grant_against_destruction) { explore(drop_against_abandon<>); }

BOOST_AUTO_TEST_CASE(R9_destroyed_with_queued_waits) { explore(abandon_with_queued<>); }
BOOST_AUTO_TEST_CASE(R9_destroyed_by_a_holder_that_queued) {
  explore(abandon_by_holder_from_queue<>);
}
BOOST_AUTO_TEST_CASE(R9_destroyed_with_a_grant_on_its_way) { explore(abandon_with_granted<>); }
BOOST_AUTO_TEST_CASE(R9_destroyed_after_the_hand_off) {
  explore([] { destroyed_by_the_new_owner<>(true); });
}
BOOST_AUTO_TEST_CASE(R9_destroyed_after_a_try) {
  explore([] { destroyed_by_the_new_owner<>(false); });
}

BOOST_AUTO_TEST_CASE(R9_guard_against_destruction) {
  explore([] { guard_against_abandon<>(false); });
}
BOOST_AUTO_TEST_CASE(R9_guard_against_destruction_with_a_queued_wait) {
  explore([] { guard_against_abandon<>(true); });
}
BOOST_AUTO_TEST_CASE(R9_guard_ends_after_the_mutex) { explore(guard_ends_last<>); }
BOOST_AUTO_TEST_CASE(R9_guard_released_against_destruction) {
  explore([] { guard_released_against_abandon<>(false); });
}
BOOST_AUTO_TEST_CASE(R9_guard_released_against_destruction_with_a_queued_wait) {
  explore([] { guard_released_against_abandon<>(true); });
}
BOOST_AUTO_TEST_CASE(R9_thread_is_granted_against_destruction) {
  explore(thread_against_abandon<>);
}

BOOST_AUTO_TEST_CASE(R9_guard_released_against_cancel_and_enter) {
  explore([] { hold_changed_against_queue<>(false); });
}
BOOST_AUTO_TEST_CASE(R9_guard_adopts_against_cancel_and_enter) {
  explore([] { hold_changed_against_queue<>(true); });
}
BOOST_AUTO_TEST_CASE(R7_threads_and_handlers) { explore(threads_and_handlers<>, 1); }
BOOST_AUTO_TEST_CASE(R15_unlock_against_adopt) {
  explore([] { unlock_against_adopt<>(false); });
}
BOOST_AUTO_TEST_CASE(R15_unlock_against_adopt_with_a_queued_wait) {
  explore([] { unlock_against_adopt<>(true); });
}
BOOST_AUTO_TEST_CASE(R15_member_does_not_end_a_guards_hold) { explore(member_against_guards<>); }
BOOST_AUTO_TEST_CASE(R15_member_does_not_end_the_last_guards_hold) {
  explore(member_against_the_last_guard<>);
}

BOOST_AUTO_TEST_SUITE_END()
