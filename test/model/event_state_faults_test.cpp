// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// What the interleavings have found, in faulty cores: the schedules, replayed on the right one.

#include "event_state_scenarios.hpp"

#include <boost/test/unit_test.hpp>

// Each of these faults is put into the core by `./dev mutants`, which has its case fail.
BOOST_AUTO_TEST_SUITE(event_state_faults)

using namespace signal_model;

BOOST_AUTO_TEST_CASE(generation_stands_still) { kept(set_against_cancel, "0x10.1x2"); }
BOOST_AUTO_TEST_CASE(generation_not_asked) { kept(set_against_cancel, "0x10.1x2"); }
BOOST_AUTO_TEST_CASE(set_only_looks_at_what_is_set) {
  kept([] { published(false); }, "0.1");
}
BOOST_AUTO_TEST_CASE(set_publishes_nothing) {
  kept([] { published(true); }, "0x8.1");
}
BOOST_AUTO_TEST_CASE(set_alone_publishes_nothing) {
  kept([] { published(false); }, "0x2.c0.1");
}
BOOST_AUTO_TEST_CASE(try_sees_nothing) { kept(set_against_wait, "0x8.1x6"); }
BOOST_AUTO_TEST_CASE(reset_sees_nothing) {
  kept([] { published(false); }, "0x2.c1.1x2.0.1");
}
BOOST_AUTO_TEST_CASE(enter_sees_nothing) { kept(published_to_the_queue, "0x2.c0.1x9"); }
BOOST_AUTO_TEST_CASE(waiting_stays_with_the_set) { kept(set_then_reset, "0x12.c1.1x4.2x5.0"); }
BOOST_AUTO_TEST_CASE(waiting_stays_with_the_last_refusal) {
  kept(set_against_cancel, "0.1x8.2x8.0x3");
}
BOOST_AUTO_TEST_CASE(set_relies_on_a_queue) { kept(two_sets_with_queued, "0x3.1.0x6.1x2"); }
BOOST_AUTO_TEST_CASE(enter_ignores_what_is_set) {
  kept(set_against_wait, "0x4.1x2.0x4.1x3.c0.1x2.2x2");
}
BOOST_AUTO_TEST_CASE(enter_queues_where_it_is_closed) {
  kept(close_against_enter, "0x4.1x3.c0.1x2.2x4");
}
BOOST_AUTO_TEST_CASE(close_lets_those_in_who_come) {
  kept(close_against_set_and_wait, "0x6.1x2.c0.2x7");
}
BOOST_AUTO_TEST_CASE(released_not_counted) {
  kept([] { destroyed_by_a_released_wait(false); }, "0x9.1x2");
}
BOOST_AUTO_TEST_CASE(refused_not_counted) { kept(destroyed_with_queued, "0x8.1"); }
BOOST_AUTO_TEST_CASE(released_still_waiting) { kept(set_against_cancel_all, "0x10.1x4"); }
BOOST_AUTO_TEST_CASE(end_not_ordered) {
  kept(destroyed_with_released_on_their_way, "0x2.1x3.2x2");
}
BOOST_AUTO_TEST_CASE(generation_seen_before_the_lock) { kept(set_against_cancel, "0x4.1"); }

BOOST_AUTO_TEST_SUITE_END()
