// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// What the interleavings have found, in faulty cores: the schedules, replayed on the right one.

#include "condition_state_end_scenarios.hpp"
#include "condition_state_scenarios.hpp"

#include <boost/test/unit_test.hpp>

// Each of these faults is put into the core by `./dev mutants`, which has its case fail.
BOOST_AUTO_TEST_SUITE(condition_state_faults)

using namespace condition_model;

BOOST_AUTO_TEST_CASE(notified_in_two_steps) { kept(two_notifications, "0x3.1x6.c0.1x4.0x6.2x7"); }
BOOST_AUTO_TEST_CASE(in_neither_queue_meanwhile) { kept(counted_once, "0x3.1x4"); }
BOOST_AUTO_TEST_CASE(others_get_in_between_notifications) {
  kept([] { waits_again_against_notify_all(true); }, "0x5.c0.0x7.1.2x8.1x14.0x4.c0.0x5.2x13");
}
BOOST_AUTO_TEST_CASE(wait_goes_unnoticed) {
  kept(change_against_wait, "0x2.c0.0x11.c0.0.1x2.c0.1x6.c0.1");
}
BOOST_AUTO_TEST_CASE(notified_without_a_second_look) {
  kept(cancel_all_against_notify, "1.0x4.c0.0x4.c0.0x3.1x2");
}
BOOST_AUTO_TEST_CASE(waits_on_the_closed) {
  kept(close_against_wait, "0x7.1x8.c0.1x5.c0.1x11.c0");
}
BOOST_AUTO_TEST_CASE(waits_on_the_dead) {
  kept([] { destroyed_against_waiting_again(false); }, "0x4.1x8.c0.1.2x2.c0.2x7.c0");
}
BOOST_AUTO_TEST_CASE(closed_with_the_mutex) { kept(close_against_wait, "0x5.c0.0x3.1x23.2x4"); }
BOOST_AUTO_TEST_CASE(any_mutex_will_do) { kept(over_another_mutex, "0x8.c0.1x8.c0"); }
BOOST_AUTO_TEST_CASE(deadline_before_it_queues_is_lost) {
  kept(mark_against_enter, "0x2.1x4.0x6.c0.2");
}
BOOST_AUTO_TEST_CASE(deadline_while_it_looks_is_lost) {
  kept(expiry_against_waiting_again, "0x5.c0.0x6.1x4.2x9.c0");
}
BOOST_AUTO_TEST_CASE(marked_wait_queues) { kept(mark_against_enter, "0x2.1x4.0x9.2x7.c0"); }
BOOST_AUTO_TEST_CASE(notified_wait_is_refused) {
  kept([] { notify_against_refusal(false); }, "0x5.c0.0x11.2");
}
BOOST_AUTO_TEST_CASE(refused_without_the_mutex) {
  kept([] { notify_against_refusal(false); }, "0.2x10");
}
BOOST_AUTO_TEST_CASE(dropped_with_its_notification) {
  kept([] { drop_against_notify(false); }, "0x5.c0.0x5.1x8.2");
}
BOOST_AUTO_TEST_CASE(notified_by_all_passes_on) {
  kept([] { drop_after_notify_all(true); }, "0x5.c0.0x9.c0.0x2.1x9.0x10.c0.1x5.c0.1x6");
}
BOOST_AUTO_TEST_CASE(evicted_waits_for_the_mutex) { kept(evict_against_notify, "0x5.c0.0x3.1x3"); }
BOOST_AUTO_TEST_CASE(evicted_although_notified) { kept(evict_against_notify, "0x5.c0.0x3.1"); }
BOOST_AUTO_TEST_CASE(left_and_still_counted) { kept(counted_once, "0x5.c0.0x3.1x4.2x4"); }
BOOST_AUTO_TEST_CASE(core_freed_during_its_use) {
  kept([] { destroyed_against_release(false); }, "0x8.1x12.2x4");
}
BOOST_AUTO_TEST_CASE(notifier_looks_once_more) {
  kept([] { destroyed_by_a_notified_wait(end_of::condition); }, "0x5.c0.0x3.1x8.2x11.c0.0");
}
BOOST_AUTO_TEST_CASE(notifier_looks_before_the_lock) {
  kept(cancel_all_against_notify, "0x4.c0.0x4.c0.0.1");
}
BOOST_AUTO_TEST_CASE(waits_counted_without_the_lock) { kept(counted_once, "0x2"); }

BOOST_AUTO_TEST_SUITE_END()
