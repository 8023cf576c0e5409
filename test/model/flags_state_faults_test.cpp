// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// What the interleavings have found, in faulty cores: the schedules, replayed on the right one.

#include "flags_state_end_scenarios.hpp"
#include "flags_state_scenarios.hpp"

#include <boost/test/unit_test.hpp>

// Each of these faults is put into the core by `./dev mutants`, which has its case fail.
BOOST_AUTO_TEST_SUITE(flags_state_faults)

using namespace flags_model;

BOOST_AUTO_TEST_CASE(raise_relies_on_a_queue) {
  kept(others_go_away_as_two_raise, "0.2x8.0x2.1x2.c0.0x2");
}
BOOST_AUTO_TEST_CASE(raise_only_looks_at_what_is_up) {
  kept([] { published(false); }, "0.1");
}
BOOST_AUTO_TEST_CASE(raise_alone_publishes_nothing) {
  kept([] { published(false); }, "0x2.c0.1");
}
BOOST_AUTO_TEST_CASE(raise_publishes_nothing_beside_others) {
  kept(raise_against_looks, "0x9.1x6");
}
BOOST_AUTO_TEST_CASE(raise_publishes_changes_alone) {
  kept([] { published(true); }, "0x5.1");
}
BOOST_AUTO_TEST_CASE(those_who_look_not_counted) { kept(look_behind_the_last_take, "0x9.1"); }
BOOST_AUTO_TEST_CASE(look_sees_nothing) { kept(raise_against_looks, "0x9.1x6"); }
BOOST_AUTO_TEST_CASE(take_sees_nothing) {
  kept([] { published(false); }, "0x2.c1.1x2.0.1");
}
BOOST_AUTO_TEST_CASE(look_in_the_queue_sees_nothing) {
  kept([] { published_to_the_queue(all(a)); }, "0x2.c0.1x9");
}
BOOST_AUTO_TEST_CASE(try_takes_without_the_lock) {
  kept(raise_against_takes_of_a_part, "0x5.1x2.c0.0x4.2x2.c0");
}
BOOST_AUTO_TEST_CASE(take_without_the_lock) {
  kept(raise_against_takes_of_a_part, "0x5.1.2x2.c0.0x4.1x3.c0.1");
}
BOOST_AUTO_TEST_CASE(try_ignores_that_it_is_closed) {
  kept(close_against_raise_and_wait, "0x8.1x2.c0.2x3.c0.2x5");
}
BOOST_AUTO_TEST_CASE(unsatisfied_waits_keep_others_out) {
  kept(raise_beside_others, "0.1.2x6.0x5");
}
BOOST_AUTO_TEST_CASE(raise_serves_one_alone) { kept(looks_before_takes, "0x9.1x2.2"); }
BOOST_AUTO_TEST_CASE(takes_come_before_looks) { kept(looks_before_takes, "0x9.1x2.2"); }
BOOST_AUTO_TEST_CASE(takes_leave_the_flags_up) {
  kept(two_sets_with_three_queued, "0x13.1x2.c0.1x2.2x2");
}
BOOST_AUTO_TEST_CASE(told_what_it_asked_for) { kept(looks_before_takes, "0x13.1x2"); }
BOOST_AUTO_TEST_CASE(enter_does_not_look_at_the_flags) {
  kept(set_against_two_waits, "0x2.c1.1x4.2x2.0.1x4.2x4");
}
BOOST_AUTO_TEST_CASE(enter_misses_what_is_raised) {
  kept(set_against_reset_against_wait, "0x2.c1.1.2x4.0.2x3");
}
BOOST_AUTO_TEST_CASE(enter_waits_for_what_is_closed) {
  kept(close_against_enter, "0x5.1x3.c0.1x2.2x4");
}
BOOST_AUTO_TEST_CASE(mark_is_ignored) {
  kept([] { mark_against_enter(b); }, "1x4.0x3.c0.0x2.2x6");
}
BOOST_AUTO_TEST_CASE(flags_of_a_drop_are_lost) {
  kept([] { drop_against_take(false); }, "0x2.1.2x5.c0.2");
}
BOOST_AUTO_TEST_CASE(drop_serves_nobody) { kept(chain_of_drops, "0x12.1.2"); }
BOOST_AUTO_TEST_CASE(dropped_look_raises_flags) { kept(drop_of_a_look, "0x3.c1.1x2.0x3.2x2"); }
BOOST_AUTO_TEST_CASE(dropped_wait_keeps_its_count) {
  kept(drop_against_destruction, "0x10.1x4.2x2");
}
BOOST_AUTO_TEST_CASE(looking_counted_after_the_lock) { kept(raise_against_looks, "0.1x5.0x3"); }

BOOST_AUTO_TEST_SUITE_END()
