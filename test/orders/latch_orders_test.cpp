// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The whole latch, of three, in every order of handlers.

#include "exploration.hpp"
#include "support/test.hpp"

using namespace asio_sync::test;

namespace latch_orders {

operation const count{verb::give};

operation arrival_in(unsigned context, through executor, patience patient = patience::endless) {
  return of_permits(2, wait_in(context, executor, patient));
}

void explore_latch(scenario const& s) { explore("latch", s); }

}  // namespace latch_orders

BOOST_AUTO_TEST_SUITE(latch_orders)

BOOST_AUTO_TEST_CASE_TEMPLATE(R7_the_last_arrival_releases_all_in_order, Kind, of::kinds) {
  explore_latch({.before = {made_at(Kind::home), count, wait_in(0, Kind::kind)},
                 .once = {arrival_in(1, Kind::kind), in_coroutine(arrival_in(0, Kind::kind)),
                          in_coroutine(wait_in(1, Kind::kind))}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R15_arrivals_too_many, Kind, of::kinds) {
  explore_latch({.before = {made_at(Kind::home), count, wait_in(1, Kind::kind)},
                 .once = {arrival_in(0, Kind::kind),
                          in_coroutine(arrival_in(1, Kind::kind)),
                          {.what = verb::give, .amount = 2}}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R4_a_cancelled_arrival_stands, Kind, of::kinds) {
  explore_latch({.before = {made_at(Kind::home), with_slot(arrival_in(0, Kind::kind)),
                            with_slot(in_coroutine(arrival_in(1, Kind::kind)))},
                 .once = {emit(0), emit(1), arrival_in(0, Kind::kind), {verb::end_signal, 0}}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R11_an_expired_arrival_stands, Kind, of::kinds) {
  explore_latch({.before = {made_at(Kind::home), arrival_in(1, Kind::kind, patience::soon)},
                 .once = {arrival_in(0, Kind::kind, patience::none),
                          in_coroutine(arrival_in(1, Kind::kind, patience::far)),
                          {verb::spend}}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R9_destroyed_by_the_first_that_is_released, Kind, of::kinds) {
  explore_latch({.before = {made_at(Kind::home), count},
                 .once = {and_then(then::end, arrival_in(1, Kind::kind)), wait_in(0, Kind::kind),
                          in_coroutine(and_then(then::end, arrival_in(0, Kind::kind)))}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R10_arrivals_stand_when_a_context_dies, Kind, of::kinds) {
  explore_latch({.before = {made_at(Kind::home), arrival_in(0, Kind::kind)},
                 .once = {in_coroutine(arrival_in(0, Kind::kind)),
                          arrival_in(1, Kind::kind, patience::far), end_of(0)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R18_arrivals_at_a_closed_latch, Kind, of::kinds) {
  explore_latch({.before = {made_at(Kind::home), arrival_in(0, Kind::kind)},
                 .once = {in_coroutine(arrival_in(1, Kind::kind)),
                          {verb::close},
                          {verb::cancel},
                          arrival_in(0, Kind::kind),
                          count}});
}

BOOST_AUTO_TEST_CASE(R3_a_dropped_arrival_stands) {
  explore_latch({.before = {made_at(through::erased_queue), arrival_in(0, through::queue),
                            in_coroutine(arrival_in(1, through::queue))},
                 .once = {wait_in(1, through::queue), count},
                 .drops = 2});
}

BOOST_AUTO_TEST_SUITE_END()
