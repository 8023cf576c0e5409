// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The waits that a server grants, in every interleaving.

#include "remote_state_scenarios.hpp"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(remote_state_mutex)

using namespace remote_model;

BOOST_AUTO_TEST_CASE(R7_a_grant_while_the_wait_queues) { explore(grant_against_enter); }
BOOST_AUTO_TEST_CASE(R7_two_waits) { explore(two_waits); }

BOOST_AUTO_TEST_CASE(R4_cancel_against_grant) { explore(cancel_against_grant); }
BOOST_AUTO_TEST_CASE(R4_cancel_against_an_error) { explore(cancel_against_failure); }
BOOST_AUTO_TEST_CASE(R4_a_mark_before_the_wait_has_queued) { explore(mark_before_enter); }
BOOST_AUTO_TEST_CASE(R4_cancel_of_all_against_a_grant) { explore(cancel_of_all_against_grant); }
BOOST_AUTO_TEST_CASE(R11_timeout_against_cancel_against_grant) {
  explore(timeout_against_cancel_against_grant, 1);
}
BOOST_AUTO_TEST_CASE(R18_close_against_a_lock) { explore(close_against_enter, 1); }

BOOST_AUTO_TEST_CASE(R3_a_dropped_completion_against_destruction) {
  explore(drop_against_abandon);
}
BOOST_AUTO_TEST_CASE(R9_a_grant_against_destruction) { explore(grant_against_abandon); }

BOOST_AUTO_TEST_CASE(C2_a_recall_against_a_grant) { explore(recall_against_grant); }
BOOST_AUTO_TEST_CASE(C2_a_recall_against_an_error) { explore(recall_against_failure); }
BOOST_AUTO_TEST_CASE(R11_a_recall_against_a_timeout) { explore(recall_against_timeout); }
BOOST_AUTO_TEST_CASE(R10_a_recall_against_the_end_of_a_context) {
  explore(recall_against_context);
}
BOOST_AUTO_TEST_CASE(R18_a_recall_against_close_against_a_grant) {
  explore(recall_against_close_against_grant, 1);
}
BOOST_AUTO_TEST_CASE(R9_a_recall_against_destruction_against_a_grant) {
  explore(recall_against_abandon_against_grant, 1);
}
BOOST_AUTO_TEST_CASE(C2_a_recall_of_all_while_a_wait_queues) {
  explore(recall_of_all_against_enter, 1);
}
BOOST_AUTO_TEST_CASE(R4_a_recall_before_the_wait_has_queued) { explore(recall_before_enter); }
BOOST_AUTO_TEST_CASE(R3_a_recalled_wait_is_dropped) { explore(drop_of_a_recalled_wait); }

BOOST_AUTO_TEST_SUITE_END()
