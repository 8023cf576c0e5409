// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Readers and writers, in every interleaving.

#include "shared_mutex_state_scenarios.hpp"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(shared_mutex_state_shared)

using namespace shared_model;

BOOST_AUTO_TEST_CASE(R14_readers_and_a_writer) { explore(readers_and_a_writer, 1); }
BOOST_AUTO_TEST_CASE(R7_a_writer_lets_readers_in) { explore(a_writer_lets_readers_in); }
BOOST_AUTO_TEST_CASE(R7_the_last_reader_against_a_writer) {
  explore(last_reader_against_a_writer, 1);
}
BOOST_AUTO_TEST_CASE(R7_readers_behind_a_writer) { explore(readers_behind_a_writer); }
BOOST_AUTO_TEST_CASE(R4_a_cancelled_writer_with_readers_behind) {
  explore([] { cancelled_writer_with_readers_behind(false); }, 1);
}
BOOST_AUTO_TEST_CASE(R11_an_expired_writer_with_readers_behind) {
  explore([] { cancelled_writer_with_readers_behind(true); }, 1);
}
BOOST_AUTO_TEST_CASE(R4_cancel_against_the_last_reader) {
  explore(cancel_against_the_last_reader);
}
BOOST_AUTO_TEST_CASE(R11_a_mark_against_enter) { explore(mark_against_enter); }
BOOST_AUTO_TEST_CASE(R18_close_against_enter) { explore(close_against_enter, 1); }

BOOST_AUTO_TEST_CASE(R15_members_against_guards_that_read) {
  explore([] { members_against_guards(shared); }, 1);
}
BOOST_AUTO_TEST_CASE(R15_members_against_a_guard_that_writes) {
  explore([] { members_against_guards(exclusive); }, 1);
}
BOOST_AUTO_TEST_CASE(R9_a_reader_becomes_a_guard) {
  explore([] { hold_changed_against_queue(shared, true); }, 1);
}
BOOST_AUTO_TEST_CASE(R9_a_reader_becomes_a_member) {
  explore([] { hold_changed_against_queue(shared, false); }, 1);
}
BOOST_AUTO_TEST_CASE(R9_a_writer_becomes_a_guard) {
  explore([] { hold_changed_against_queue(exclusive, true); }, 1);
}
BOOST_AUTO_TEST_CASE(R9_a_writer_becomes_a_member) {
  explore([] { hold_changed_against_queue(exclusive, false); }, 1);
}
BOOST_AUTO_TEST_CASE(R7_a_hold_changes_between_batches) { explore(hold_changed_between_batches); }

BOOST_AUTO_TEST_CASE(R7_downgrade_against_a_writer) { explore(downgrade_against_a_writer, 1); }
BOOST_AUTO_TEST_CASE(R7_downgrade_lets_readers_in) { explore(downgrade_lets_readers_in); }
BOOST_AUTO_TEST_CASE(R9_downgrade_against_destruction) { explore(downgrade_against_destruction); }

BOOST_AUTO_TEST_CASE(R7_upgrade_against_the_last_reader) {
  explore(upgrade_against_the_last_reader, 1);
}
BOOST_AUTO_TEST_CASE(R14_upgrade_against_readers) { explore(upgrade_against_readers, 1); }
BOOST_AUTO_TEST_CASE(R4_upgrade_against_cancel) {
  explore([] { upgrade_against_cancel(false); }, 1);
}
BOOST_AUTO_TEST_CASE(R11_upgrade_against_a_deadline) {
  explore([] { upgrade_against_cancel(true); }, 1);
}
BOOST_AUTO_TEST_CASE(R15_two_upgrades) { explore(two_upgrades); }
BOOST_AUTO_TEST_CASE(R15_two_upgrades_enter) { explore(two_upgrades_enter); }
BOOST_AUTO_TEST_CASE(R9_upgrade_against_destruction) {
  explore([] { upgrade_against_destruction(false); });
}
BOOST_AUTO_TEST_CASE(R9_dropped_upgrade_against_destruction) {
  explore([] { upgrade_against_destruction(true); });
}
BOOST_AUTO_TEST_CASE(R3_a_dropped_upgrade) {
  explore([] { dropped_upgrade(false); });
}
BOOST_AUTO_TEST_CASE(R3_a_dropped_upgrade_that_was_cancelled) {
  explore([] { dropped_upgrade(true); });
}
BOOST_AUTO_TEST_CASE(R18_close_against_upgrade) { explore(close_against_upgrade); }

BOOST_AUTO_TEST_CASE(R9_readers_outlive_it) {
  explore([] { guards_outlive(shared); });
}
BOOST_AUTO_TEST_CASE(R9_a_writer_and_a_grant_outlive_it) {
  explore([] { guards_outlive(exclusive); });
}
BOOST_AUTO_TEST_CASE(R9_a_member_leaves_nothing) {
  explore([] { member_leaves_nothing(shared); });
  explore([] { member_leaves_nothing(exclusive); });
}
BOOST_AUTO_TEST_CASE(R9_a_forgotten_hold_against_destruction) {
  explore([] { forgotten_against_destruction(shared); });
  explore([] { forgotten_against_destruction(exclusive); });
}
BOOST_AUTO_TEST_CASE(R3_drop_against_destruction) { explore(drop_against_destruction); }
BOOST_AUTO_TEST_CASE(R9_destroyed_by_the_next) { explore(destroyed_by_the_next); }

BOOST_AUTO_TEST_SUITE_END()
