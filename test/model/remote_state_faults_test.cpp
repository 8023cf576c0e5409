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

BOOST_AUTO_TEST_CASE(recalled_claim_is_not_told) { kept(recall_against_timeout, "0x2.1x3.2x4"); }
BOOST_AUTO_TEST_CASE(claim_is_told_of_each_recall) {
  kept(recall_against_timeout, "0x2.1x7.0x2.2x5");
}
BOOST_AUTO_TEST_CASE(last_recall_counts) {
  kept(recall_against_timeout, "0x2.1x7.0x2.2x4.0x8.1x6.0x3");
}
BOOST_AUTO_TEST_CASE(recall_not_remembered) { kept(recall_against_grant, "0.1x7.0x6.1x6"); }
BOOST_AUTO_TEST_CASE(recall_without_the_lock) { kept(recall_against_grant, "0x3"); }
BOOST_AUTO_TEST_CASE(decided_wait_is_recalled) {
  kept(recall_against_close_against_grant, "0.1x8.0x5.2x3");
}
BOOST_AUTO_TEST_CASE(recalled_wait_is_not_refused) { kept(recall_against_context, "0x2.2x7.1x2"); }
BOOST_AUTO_TEST_CASE(fresh_wait_is_not_marked_by_a_recall) { kept(recall_before_enter, ""); }
BOOST_AUTO_TEST_CASE(marked_wait_is_not_recalled) { kept(recall_before_enter, ""); }
BOOST_AUTO_TEST_CASE(recall_of_all_leaves_nobody_out) {
  kept(recall_of_all_against_enter, "0x10.1x6.2x5.0x4.1x6.0x10.1x6.0x10.1x6.0x3");
}
BOOST_AUTO_TEST_CASE(recall_of_all_recalls_the_first) {
  kept(recall_of_all_against_enter, "0x2.1x6.2x5.0x4.1x6.0x10.1x6.0x10.1x6.0x3");
}
BOOST_AUTO_TEST_CASE(refusal_seen_before_the_lock) { kept(close_against_enter, "0"); }

BOOST_AUTO_TEST_SUITE_END()
