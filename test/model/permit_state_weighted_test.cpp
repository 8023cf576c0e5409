// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The FIFO core as semaphores and shared mutexes use it, in every interleaving.

#include "permit_state_weighted_scenarios.hpp"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(permit_state_weighted)

using namespace permit_model;

BOOST_AUTO_TEST_CASE(R7_one_release_grants_several) { explore(one_release_grants_several<>); }
BOOST_AUTO_TEST_CASE(R7_a_heavy_head_blocks) { explore(heavy_head_blocks<>); }
BOOST_AUTO_TEST_CASE(R7_tries_behind_a_heavy_head) { explore(tries_behind_a_heavy_head<>, 1); }
BOOST_AUTO_TEST_CASE(R7_release_against_enter) { explore(release_against_enter<>); }
BOOST_AUTO_TEST_CASE(R4_cancel_of_a_heavy_head) { explore(cancel_of_a_heavy_head<>); }
BOOST_AUTO_TEST_CASE(R4_some_refused_against_release) { explore(some_refused_against_release<>); }
BOOST_AUTO_TEST_CASE(R11_timeout_of_a_heavy_head) { explore(timeout_of_a_heavy_head<>, 1); }
BOOST_AUTO_TEST_CASE(R7_downgrade_against_a_writer) { explore(downgrade_against_a_writer<>); }
BOOST_AUTO_TEST_CASE(R3_drop_of_one_of_several) { explore(drop_of_one_of_several<>); }
BOOST_AUTO_TEST_CASE(R9_permits_that_outlive) { explore(permits_that_outlive<>); }
BOOST_AUTO_TEST_CASE(R3_a_drop_against_releases) { explore(drop_against_releases<>); }
BOOST_AUTO_TEST_CASE(R9_batches_against_destruction) { explore(batches_against_abandon<>); }
BOOST_AUTO_TEST_CASE(R4_batches_against_cancel) { explore(batches_against_cancel<>); }
BOOST_AUTO_TEST_CASE(R9_drops_against_destruction) { explore(drops_against_abandon<>); }
BOOST_AUTO_TEST_CASE(R15_one_release_too_many) { explore(one_release_too_many<weighted>); }

BOOST_AUTO_TEST_SUITE_END()
