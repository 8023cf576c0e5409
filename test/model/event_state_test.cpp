// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The flag as an event uses it, in every interleaving.

#include "event_state_scenarios.hpp"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(event_state_event)

using namespace signal_model;

BOOST_AUTO_TEST_CASE(R1_set_against_a_wait_that_begins) { explore(set_against_wait); }
BOOST_AUTO_TEST_CASE(R1_two_sets_against_waits) { explore(two_sets_against_waits); }
BOOST_AUTO_TEST_CASE(R1_two_sets_with_queued_waits) { explore(two_sets_with_queued); }
BOOST_AUTO_TEST_CASE(R7_set_then_reset_releases_all_who_waited) { explore(set_then_reset); }
BOOST_AUTO_TEST_CASE(R7_set_against_reset_against_a_wait) {
  explore(set_against_reset_against_wait);
}
BOOST_AUTO_TEST_CASE(R1_a_released_wait_waits_again) { explore(waits_again); }

BOOST_AUTO_TEST_CASE(R14_set_of_what_is_set) {
  explore([] { published(false); });
}
BOOST_AUTO_TEST_CASE(R14_set_that_releases) {
  explore([] { published(true); });
}
BOOST_AUTO_TEST_CASE(R14_set_seen_from_the_queue) { explore(published_to_the_queue); }
BOOST_AUTO_TEST_CASE(R14_work_against_a_reset) { explore(work_against_reset); }

BOOST_AUTO_TEST_CASE(R4_set_against_cancel) { explore(set_against_cancel); }
BOOST_AUTO_TEST_CASE(R11_set_against_cancel_against_timeout) { explore(cancel_against_cancel); }
BOOST_AUTO_TEST_CASE(R4_set_against_cancel_of_all) { explore(set_against_cancel_all); }
BOOST_AUTO_TEST_CASE(R4_cancel_of_all_against_a_wait) { explore(cancel_all_against_wait); }
BOOST_AUTO_TEST_CASE(R11_a_mark_against_enter) { explore(mark_against_enter); }

BOOST_AUTO_TEST_CASE(R18_close_against_set_and_a_wait) { explore(close_against_set_and_wait); }
BOOST_AUTO_TEST_CASE(R18_close_against_enter) { explore(close_against_enter); }

BOOST_AUTO_TEST_CASE(R9_destroyed_by_a_released_wait) {
  explore([] { destroyed_by_a_released_wait(false); });
}
BOOST_AUTO_TEST_CASE(R9_destroyed_by_a_released_wait_with_another_dropped) {
  explore([] { destroyed_by_a_released_wait(true); });
}
BOOST_AUTO_TEST_CASE(R9_destroyed_by_who_sees_it_set) {
  explore([] { destroyed_by_who_sees_it_set(false); });
}
BOOST_AUTO_TEST_CASE(R9_destroyed_by_who_sees_it_set_with_a_released_wait) {
  explore([] { destroyed_by_who_sees_it_set(true); });
}
BOOST_AUTO_TEST_CASE(R9_destroyed_with_released_waits_on_their_way) {
  explore(destroyed_with_released_on_their_way);
}
BOOST_AUTO_TEST_CASE(R9_destroyed_with_queued_waits) { explore(destroyed_with_queued); }

BOOST_AUTO_TEST_SUITE_END()
