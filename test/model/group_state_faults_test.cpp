// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// What the interleavings have found, in faulty cores: the schedules, replayed on the right one.

#include "group_state_scenarios.hpp"

#include <boost/test/unit_test.hpp>

// Each of these faults is put into the core by `./dev mutants`, which has its case fail.
BOOST_AUTO_TEST_SUITE(group_state_faults)

using namespace group_model;

// Only a stale read finds these.
BOOST_AUTO_TEST_CASE(ends_publish_nothing) {
  kept(counter_of_what_has_ended, "0x6.1x6.c0.1x2.2x2.s1");
}
BOOST_AUTO_TEST_CASE(nothing_pending_sees_nothing) {
  kept(counter_of_what_has_ended, "0x6.1x6.c0.1x2.2x2.s1");
}

BOOST_AUTO_TEST_CASE(added_seen_before_the_lock) { kept(done_too_often, "0"); }
BOOST_AUTO_TEST_CASE(operation_erased_before_the_lock) { kept(end_against_begin, "1x3"); }

BOOST_AUTO_TEST_SUITE_END()
