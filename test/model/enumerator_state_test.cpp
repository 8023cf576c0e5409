// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The turns in which an enumerator takes its steps, in every interleaving.

#include "enumerator_state_scenarios.hpp"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(enumerator_state_enumerator)

using namespace steps_model;

BOOST_AUTO_TEST_CASE(Steps_are_taken_once_each) { explore(completions_at_once); }
BOOST_AUTO_TEST_CASE(Steps_have_all_that_they_want) { explore(both_at_once); }
BOOST_AUTO_TEST_CASE(Steps_start_against_a_completion) { explore(start_against_completion); }
BOOST_AUTO_TEST_CASE(Steps_do_not_nest) { explore(begun_inside_a_step); }
BOOST_AUTO_TEST_CASE(Steps_end_against_a_surplus) { explore(surplus_against_the_end); }

BOOST_AUTO_TEST_CASE(R4_cancel_against_completions) { explore(cancel_against_completions); }
BOOST_AUTO_TEST_CASE(R4_completions_of_a_halted_run) { explore(completion_of_a_halted_run); }
BOOST_AUTO_TEST_CASE(R4_halted_inside_a_step) { explore(halted_inside_a_step); }
BOOST_AUTO_TEST_CASE(R4_begun_against_cancel) { explore(begun_against_cancel); }
BOOST_AUTO_TEST_CASE(R4_two_cancel) { explore(two_cancel); }
BOOST_AUTO_TEST_CASE(R10_cancel_against_drops) { explore(cancel_against_drops); }
BOOST_AUTO_TEST_CASE(R10_a_drop_against_a_completion) { explore(drop_against_completion); }
BOOST_AUTO_TEST_CASE(R10_the_executor_dies_against_drops) { explore(dead_against_drops); }
BOOST_AUTO_TEST_CASE(R13_a_throw_against_a_completion) { explore(thrown_against_completion); }
BOOST_AUTO_TEST_CASE(R13_a_throw_against_cancel) { explore(thrown_against_cancel); }

BOOST_AUTO_TEST_SUITE_END()
