// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// What the interleavings have found, in faulty cores: the schedules, replayed on the right one.

#include "keyed_mutex_state_scenarios.hpp"

#include <boost/test/unit_test.hpp>

// Each of these faults is put into the core by `./dev mutants`, which has its case fail.
BOOST_AUTO_TEST_SUITE(keyed_mutex_state_faults)

using namespace keyed_model;

BOOST_AUTO_TEST_CASE(key_stays_held) { kept(release_between_claim_and_enter, "0x3.1x4.2x3"); }
BOOST_AUTO_TEST_CASE(entry_leaves_with_its_holder) {
  kept(release_between_claim_and_enter, "0x3.1x2");
}
BOOST_AUTO_TEST_CASE(enter_does_not_look_at_the_key) {
  kept(release_between_claim_and_enter, "0x3.2x8.1x4");
}
BOOST_AUTO_TEST_CASE(refused_wait_not_counted) {
  kept(cancel_of_the_last_wait_against_release, "1x6.0x3");
}
BOOST_AUTO_TEST_CASE(mark_of_a_fresh_wait_not_found) { kept(mark_before_enter, "0x3.1x9"); }
BOOST_AUTO_TEST_CASE(key_freed_without_the_lock) {
  kept(last_release_against_a_new_lock, "0x2.1x2");
}

BOOST_AUTO_TEST_SUITE_END()
