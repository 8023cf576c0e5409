// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// What the interleavings have found, in faulty cores: the schedules, replayed on the right one.

#include "shared_mutex_state_scenarios.hpp"

#include <boost/test/unit_test.hpp>

// Each of these faults is put into the core by `./dev mutants`, which has its case fail.
BOOST_AUTO_TEST_SUITE(shared_mutex_state_faults)

using namespace shared_model;

BOOST_AUTO_TEST_CASE(readers_pass_a_writer) {
  kept(readers_behind_a_writer, "0x4.c0.0x3.1x4.c0.1x3");
}
BOOST_AUTO_TEST_CASE(try_passes_those_who_wait) {
  kept(readers_behind_a_writer, "0x2.c0.0x2.1x2.c0.1x2");
}
BOOST_AUTO_TEST_CASE(cancelled_writer_keeps_readers_out) {
  kept([] { cancelled_writer_with_readers_behind(false); }, "0x7.1.2x5");
}
BOOST_AUTO_TEST_CASE(writer_enters_beside_readers) {
  kept(readers_and_a_writer, "0x2.c0.0x7.c0.1x2.c0.1x7.c1.1.2x7");
}
BOOST_AUTO_TEST_CASE(downgrade_lets_nobody_in) {
  kept(downgrade_lets_readers_in, "0x2.c1.1x6.0x5");
}
BOOST_AUTO_TEST_CASE(upgrade_waits_behind_the_queue) {
  kept(upgrade_against_the_last_reader, "0x2.1x8.0x5.2");
}
BOOST_AUTO_TEST_CASE(upgrade_beside_other_readers) {
  kept(upgrade_against_readers, "0x3.c0.1x2.c1.2x8.1x10");
}
BOOST_AUTO_TEST_CASE(second_upgrade_waits) { kept(two_upgrades_enter, "0x3.c0.0x2.1x4"); }
BOOST_AUTO_TEST_CASE(upgraded_reader_still_reads) {
  kept(upgrade_against_readers, "0x3.c0.1x2.c1.2x8.1x9.2x9.1x5");
}
BOOST_AUTO_TEST_CASE(refused_upgrade_dropped_as_a_writer) {
  kept([] { dropped_upgrade(true); }, "0x2.1x12");
}
BOOST_AUTO_TEST_CASE(guards_not_counted_at_the_end) {
  kept([] { guards_outlive(shared); }, "0x2.c0.1x2.c1.1.2x9");
}
BOOST_AUTO_TEST_CASE(guards_that_left_stay_counted) {
  kept([] { guards_outlive(shared); }, "0x2.c0.1x2.c1.1.2x5.1.2x3");
}
BOOST_AUTO_TEST_CASE(hold_that_changes_lets_others_in) {
  kept(hold_changed_between_batches, "0x5.1x6.0x7");
}
BOOST_AUTO_TEST_CASE(member_ends_a_guards_hold) {
  kept([] { members_against_guards(shared); }, "0x3.c1.0.1x2");
}
BOOST_AUTO_TEST_CASE(upgrade_looks_without_the_lock) { kept(two_upgrades, "0x5.c0.0x2.1x2"); }

BOOST_AUTO_TEST_SUITE_END()
