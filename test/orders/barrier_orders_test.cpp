// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The whole barrier, of three, in every order of handlers.

#include "exploration.hpp"
#include "support/test.hpp"

using namespace asio_sync::test;

namespace barrier_orders {

operation const dropping{verb::give};

void explore_barrier(scenario const& s) { explore("barrier", s); }

}  // namespace barrier_orders

BOOST_AUTO_TEST_SUITE(barrier_orders)

BOOST_AUTO_TEST_CASE_TEMPLATE(R7_the_last_arrival_releases_all_in_order, Kind, of::kinds) {
  explore_barrier({.before = {made_at(Kind::home), wait_in(0, Kind::kind)},
                   .once = {wait_in(1, Kind::kind), in_coroutine(wait_in(0, Kind::kind)),
                            in_coroutine(wait_in(1, Kind::kind))}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R15_those_who_drop, Kind, of::kinds) {
  explore_barrier(
      {.before = {made_at(Kind::home), wait_in(1, Kind::kind)},
       .once = {wait_in(0, Kind::kind), in_coroutine(wait_in(1, Kind::kind)), dropping}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R4_a_cancelled_participant_breaks_the_phase, Kind, of::kinds) {
  explore_barrier({.before = {made_at(Kind::home), with_slot(wait_in(0, Kind::kind)),
                              with_slot(in_coroutine(wait_in(1, Kind::kind)))},
                   .once = {emit(0), emit(1), wait_in(0, Kind::kind), {verb::end_signal, 0}}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R11_an_expired_participant_breaks_the_phase, Kind, of::kinds) {
  explore_barrier({.before = {made_at(Kind::home), wait_in(1, Kind::kind, patience::soon)},
                   .once = {wait_in(0, Kind::kind, patience::none),
                            in_coroutine(wait_in(1, Kind::kind, patience::far)),
                            {verb::spend}}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R9_destroyed_by_the_first_that_is_released, Kind, of::kinds) {
  explore_barrier({.before = {made_at(Kind::home), dropping},
                   .once = {and_then(then::end, wait_in(1, Kind::kind)),
                            in_coroutine(and_then(then::end, wait_in(0, Kind::kind)))}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R10_a_context_that_dies_breaks_the_phase, Kind, of::kinds) {
  explore_barrier({.before = {made_at(Kind::home), wait_in(0, Kind::kind)},
                   .once = {in_coroutine(wait_in(0, Kind::kind)),
                            wait_in(1, Kind::kind, patience::far), end_of(0)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R18_arrivals_at_a_closed_barrier, Kind, of::kinds) {
  explore_barrier({.before = {made_at(Kind::home), wait_in(0, Kind::kind)},
                   .once = {in_coroutine(wait_in(1, Kind::kind)),
                            {verb::close},
                            {verb::cancel},
                            wait_in(0, Kind::kind),
                            dropping}});
}

BOOST_AUTO_TEST_SUITE_END()
