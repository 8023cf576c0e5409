// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The waits on a condition, over a mutex, in every interleaving.

#include "condition_state_end_scenarios.hpp"
#include "condition_state_scenarios.hpp"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(condition_state_condition)

using namespace condition_model;

BOOST_AUTO_TEST_CASE(C1_a_change_under_the_mutex_against_a_wait) { explore(change_against_wait); }
BOOST_AUTO_TEST_CASE(R7_two_notifications_do_not_overtake) { explore(two_notifications); }
BOOST_AUTO_TEST_CASE(C3_a_wait_against_notify_all) { explore(wait_against_notify_all, 1); }
BOOST_AUTO_TEST_CASE(C5_another_wait_of_one_that_is_notified_against_notify_all) {
  explore([] { waits_again_against_notify_all(false); });
}
BOOST_AUTO_TEST_CASE(C4_one_that_waits_again_against_notify_all) {
  explore([] { waits_again_against_notify_all(true); });
}
BOOST_AUTO_TEST_CASE(R19_counted_in_one_queue) { explore(counted_once); }
BOOST_AUTO_TEST_CASE(R15_waits_over_two_mutexes) { explore(over_another_mutex); }

BOOST_AUTO_TEST_CASE(R4_notify_one_against_cancel_with_a_follower) {
  explore([] { notify_against_refusal(false); });
}
BOOST_AUTO_TEST_CASE(R11_notify_one_against_a_deadline_with_a_follower) {
  explore([] { notify_against_refusal(true); });
}
BOOST_AUTO_TEST_CASE(R4_cancel_of_all_against_notify_one) { explore(cancel_all_against_notify); }
BOOST_AUTO_TEST_CASE(R11_a_mark_against_enter) { explore(mark_against_enter); }
BOOST_AUTO_TEST_CASE(C4_a_deadline_against_one_that_waits_again) {
  explore(expiry_against_waiting_again);
}
BOOST_AUTO_TEST_CASE(C2_cancel_of_the_mutex_against_notify_one) { explore(cancel_of_the_mutex); }

BOOST_AUTO_TEST_CASE(C3_one_that_notify_one_woke_is_dropped) {
  explore([] { drop_against_notify(false); });
}
BOOST_AUTO_TEST_CASE(C3_one_that_was_cancelled_or_woken_is_dropped) {
  explore([] { drop_against_notify(true); });
}
BOOST_AUTO_TEST_CASE(C3_one_that_notify_all_woke_is_dropped) {
  explore([] { drop_after_notify_all(false); });
}
BOOST_AUTO_TEST_CASE(C3_one_that_notify_one_and_then_notify_all_woke_is_dropped) {
  explore([] { drop_after_notify_all(true); });
}
BOOST_AUTO_TEST_CASE(R10_a_context_ends_against_notify_one) { explore(evict_against_notify); }
BOOST_AUTO_TEST_CASE(R10_a_context_ends_against_the_release_of_the_mutex) {
  explore(evict_against_release);
}

BOOST_AUTO_TEST_CASE(R18_close_against_a_wait) { explore(close_against_wait); }
BOOST_AUTO_TEST_CASE(R18_close_of_the_mutex_against_notify_one) { explore(close_of_the_mutex); }

BOOST_AUTO_TEST_CASE(R9_a_notified_wait_destroys_the_condition) {
  explore([] { destroyed_by_a_notified_wait(end_of::condition); });
}
BOOST_AUTO_TEST_CASE(R9_a_notified_wait_destroys_the_mutex) {
  explore([] { destroyed_by_a_notified_wait(end_of::mutex); });
}
BOOST_AUTO_TEST_CASE(R9_a_notified_wait_destroys_both) {
  explore([] { destroyed_by_a_notified_wait(end_of::condition_and_mutex); });
}
BOOST_AUTO_TEST_CASE(R9_the_mutex_is_destroyed_against_notify_all) {
  explore(mutex_destroyed_against_notify);
}
BOOST_AUTO_TEST_CASE(R9_the_condition_is_destroyed_against_the_release_of_the_mutex) {
  explore([] { destroyed_against_release(false); });
}
BOOST_AUTO_TEST_CASE(R9_the_condition_is_destroyed_against_a_drop) {
  explore([] { destroyed_against_release(true); });
}
BOOST_AUTO_TEST_CASE(R9_the_condition_is_destroyed_against_one_that_waits_again) {
  explore([] { destroyed_against_waiting_again(false); });
}
BOOST_AUTO_TEST_CASE(R9_a_closed_condition_is_destroyed_against_one_that_waits_again) {
  explore([] { destroyed_against_waiting_again(true); });
}

BOOST_AUTO_TEST_SUITE_END()
