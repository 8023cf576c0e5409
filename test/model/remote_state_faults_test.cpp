// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The schedules in which the interleavings have found faulty cores are replayed on the right one.

#include "remote_state_scenarios.hpp"

#include <boost/test/unit_test.hpp>

// Each of these faults is put into the core by `./dev mutants`, which has its case fail.
BOOST_AUTO_TEST_SUITE(remote_state_faults)

using namespace remote_model;

BOOST_AUTO_TEST_CASE(claim_of_the_client_not_counted) {
  kept(cancel_against_grant, "0x7.1x8.0x3");
}
BOOST_AUTO_TEST_CASE(decided_remote_wait_not_counted) {
  kept(cancel_against_grant, "0x6.1x8.0x3");
}
BOOST_AUTO_TEST_CASE(refused_remote_wait_not_counted) { kept(cancel_against_grant, "0.1x10.0x5"); }
BOOST_AUTO_TEST_CASE(refused_claim_not_given_up) { kept(cancel_against_grant, "0.1x8.0x3"); }
BOOST_AUTO_TEST_CASE(dropped_claim_not_given_up) { kept(drop_against_abandon, "0x7.1x3.2x3"); }
BOOST_AUTO_TEST_CASE(refusal_not_looked_at) { kept(close_against_enter, "0x8.1x5.2x7"); }
BOOST_AUTO_TEST_CASE(claim_of_a_marked_wait_is_asked) {
  kept(mark_before_enter, "0x7.1x6.0x3.2x9");
}

BOOST_AUTO_TEST_SUITE_END()
