// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The number under a group, in every interleaving.

#include "group_state_scenarios.hpp"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(group_state_group)

using namespace group_model;

BOOST_AUTO_TEST_CASE(R14_two_ends_against_joins) { explore(two_ends_against_joins); }
BOOST_AUTO_TEST_CASE(R14_a_counter_of_what_has_ended) { explore(counter_of_what_has_ended); }
BOOST_AUTO_TEST_CASE(R1_an_end_against_a_beginning) { explore(end_against_begin); }
BOOST_AUTO_TEST_CASE(R15_done_too_often) { explore(done_too_often); }
BOOST_AUTO_TEST_CASE(R4_cancel_against_the_last_end) { explore(cancel_against_the_last_end); }
BOOST_AUTO_TEST_CASE(R9_destroyed_while_an_operation_ends) {
  explore(destroyed_while_an_operation_ends);
}
BOOST_AUTO_TEST_CASE(R9_destroyed_by_who_joins) { explore(destroyed_by_who_joins); }
BOOST_AUTO_TEST_CASE(R9_destroyed_by_who_need_not_wait) {
  explore(destroyed_by_who_need_not_wait);
}

BOOST_AUTO_TEST_SUITE_END()
