// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Runs of an enumerator, and the operations of their steps, in every order of handlers.

#include "exploration.hpp"
#include "support/test.hpp"

using namespace asio_sync::test;

namespace enumerator_orders {

// The scripts of enumerator_world.cpp.
enum steps : unsigned {
  one_by_one = 1,
  throwing,
  leaving_surplus,
  beginning_at_once,
  losing_a_handler,
  cancelling,
  ending,
  surplus_first,
  none
};

operation run_in(unsigned context, through executor, steps s = one_by_one) {
  return of_permits(s, wait_in(context, executor));
}

operation const last_completes{.what = verb::give, .item = 1};
operation const one_is_dropped{.what = verb::give, .item = 2};

void explore_enumerator(scenario const& s) { explore("enumerator", s); }

}  // namespace enumerator_orders

BOOST_AUTO_TEST_SUITE(enumerator_orders)

BOOST_AUTO_TEST_CASE_TEMPLATE(Steps_wait_for_completions_in_any_order, Kind, of::kinds) {
  explore_enumerator(
      {.before = {made_at(Kind::home), run_in(1, Kind::kind)}, .once = {last_completes}});
  for (steps const s : {leaving_surplus, beginning_at_once, surplus_first})
    explore_enumerator({.before = {made_at(Kind::home), run_in(1, Kind::kind, s)}, .once = {}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R15_one_run_at_a_time, Kind, of::kinds) {
  for (steps const s : {one_by_one, none})
    explore_enumerator({.before = {made_at(Kind::home), run_in(0, Kind::kind, losing_a_handler)},
                        .once = {run_in(1, Kind::kind, s)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R4_a_run_is_cancelled, Kind, of::kinds) {
  explore_enumerator(
      {.before = {made_at(Kind::home), with_slot(run_in(1, Kind::kind))}, .once = {emit(0)}});
  explore_enumerator(
      {.before = {made_at(Kind::home), run_in(1, Kind::kind, cancelling)}, .once = {}});
  explore_enumerator({.before = {made_at(Kind::home), run_in(1, Kind::kind, losing_a_handler)},
                      .once = {{verb::cancel}}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R4_a_run_is_cancelled_from_a_coroutine, Kind, of::kinds) {
  explore_enumerator(
      {.before = {made_at(Kind::home), with_slot(in_coroutine(run_in(1, Kind::kind)))},
       .once = {emit(0), last_completes}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(Steps_throw_and_are_judged, Kind, of::kinds) {
  for (std::uint8_t judge = 0; judge != 4; ++judge)
    explore_enumerator({.before = {made_at(Kind::home), run_in(1, Kind::kind, throwing)},
                        .once = {{verb::take, 0, judge}}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R10_an_operation_loses_its_handler, Kind, of::kinds) {
  for (steps const s : {one_by_one, losing_a_handler})
    explore_enumerator(
        {.before = {made_at(Kind::home), run_in(1, Kind::kind, s)}, .once = {one_is_dropped}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R9_the_enumerator_dies, Kind, of::kinds) {
  explore_enumerator(
      {.before = {made_at(Kind::home), run_in(1, Kind::kind)}, .once = {{verb::end}}});
  explore_enumerator({.before = {made_at(Kind::home), run_in(1, Kind::kind, ending)},
                      .once = {made_at(Kind::home)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R10_contexts_die, Kind, of::kinds) {
  explore_enumerator(
      {.before = {made_at(Kind::home), run_in(1, Kind::kind)}, .once = {end_of(0), end_of(1)}});
  explore_enumerator(
      {.before = {made_at(Kind::home), in_coroutine(run_in(0, Kind::kind, throwing))},
       .once = {end_of(1), {verb::cancel}}});
}

BOOST_AUTO_TEST_CASE(R3_what_is_on_its_way_is_dropped) {
  for (steps const s : {one_by_one, losing_a_handler})
    explore_enumerator({.before = {made_at(through::erased_queue), run_in(1, through::queue, s)},
                        .once = {},
                        .drops = 1});
}

BOOST_AUTO_TEST_SUITE_END()
