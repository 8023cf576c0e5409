// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// What the interleavings have found, in faulty cores: the schedules, replayed on the right one.

#include "enumerator_state_scenarios.hpp"

#include <boost/test/unit_test.hpp>

// Each of these faults is put into the core by `./dev mutants`, which has its case fail.
BOOST_AUTO_TEST_SUITE(enumerator_state_faults)

using namespace steps_model;

BOOST_AUTO_TEST_CASE(surplus_is_kept) { kept(completions_at_once, "0x8"); }
BOOST_AUTO_TEST_CASE(halted_steps_go_on) { kept(halted_inside_a_step, "0x6.1x6.2x10"); }
BOOST_AUTO_TEST_CASE(halted_run_is_resumed) { kept(halted_inside_a_step, "0x6.1x6.2x12"); }
BOOST_AUTO_TEST_CASE(begun_by_who_is_cancelled_is_forgotten) {
  kept(begun_against_cancel, "0x4.1x4.0x2");
}
BOOST_AUTO_TEST_CASE(cancelled_with_operations_left) { kept(two_cancel, "0x12.1x4"); }
BOOST_AUTO_TEST_CASE(drop_halts_nothing) { kept(drop_against_completion, "0x2.1x6.2"); }
BOOST_AUTO_TEST_CASE(throw_halts) { kept(thrown_against_completion, "0x14.1x11"); }
BOOST_AUTO_TEST_CASE(drop_while_beginning_counts_twice) {
  kept(thrown_against_completion, "0x14.1x11");
}
BOOST_AUTO_TEST_CASE(the_dead_are_asked) { kept(dead_against_drops, "0x8.1x2.2x10"); }
BOOST_AUTO_TEST_CASE(delivered_after_the_end) { kept(surplus_against_the_end, "0x12.1x4"); }
BOOST_AUTO_TEST_CASE(phase_seen_before_the_lock) { kept(begun_against_cancel, "0x4.1"); }

BOOST_AUTO_TEST_SUITE_END()
