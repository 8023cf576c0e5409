// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The whole semaphore in every order of handlers; it has three permits.

#include "exploration.hpp"
#include "support/test.hpp"

using namespace asio_sync::test;

namespace semaphore_orders {

operation take(unsigned n) { return of_permits(n, {verb::take}); }

operation const give_one{.what = verb::give, .item = 1};
operation const forget{.what = verb::give, .item = 2};

operation release(unsigned n) { return of_permits(n, {.what = verb::give, .item = 3}); }

}  // namespace semaphore_orders

BOOST_AUTO_TEST_SUITE(semaphore_orders)

BOOST_AUTO_TEST_CASE_TEMPLATE(R7_waits_of_different_weights, Kind, of::kinds) {
  explore("semaphore", {.before = {made_at(Kind::home), take(3)},
                        .once = {wait_in(0, Kind::kind), of_permits(2, wait_in(1, Kind::kind)),
                                 of_permits(3, wait_in(0, Kind::kind)), give_one}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R7_a_heavy_head_keeps_light_ones_out, Kind, of::kinds) {
  explore("semaphore",
          {.before = {made_at(Kind::home), take(1), of_permits(3, wait_in(0, Kind::kind))},
           .once = {wait_in(1, Kind::kind), take(1), {verb::take_at_once}, take(2)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R7_who_asks_for_nothing_need_not_wait, Kind, of::kinds) {
  explore("semaphore",
          {.before = {made_at(Kind::home), take(2), of_permits(2, wait_in(0, Kind::kind))},
           .once = {of_permits(0, wait_in(1, Kind::kind)), {verb::end}, {verb::close}}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R4_cancel_of_a_heavy_head, Kind, of::kinds) {
  explore("semaphore", {.before = {made_at(Kind::home), take(1),
                                   with_slot(of_permits(3, wait_in(0, Kind::kind)))},
                        .once = {in_coroutine(and_then(then::work_give, wait_in(1, Kind::kind))),
                                 of_permits(2, wait_in(0, Kind::kind)), emit(0)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R11_a_heavy_head_expires, Kind, of::kinds) {
  explore("semaphore", {.before = {made_at(Kind::home), take(1),
                                   of_permits(3, wait_in(0, Kind::kind, patience::soon))},
                        .once = {wait_in(1, Kind::kind, patience::soon), wait_in(0, Kind::kind)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R9_the_semaphore_dies, Kind, of::kinds) {
  explore("semaphore", {.before = {made_at(Kind::home), take(2), wait_in(1, Kind::kind),
                                   of_permits(2, wait_in(0, Kind::kind))},
                        .once = {in_coroutine(wait_in(1, Kind::kind)), {verb::end}}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R10_the_context_of_a_heavy_head_dies, Kind, of::kinds) {
  explore("semaphore", {.before = {made_at(Kind::home), take(1),
                                   of_permits(3, wait_in(1, Kind::kind)), wait_in(0, Kind::kind)},
                        .once = {in_coroutine(wait_in(1, Kind::kind)), end_of(1)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R10_the_home_dies, Kind, of::kinds) {
  explore("semaphore", {.before = {made_at(Kind::home), take(3), wait_in(0, Kind::kind),
                                   of_permits(2, wait_in(1, Kind::kind))},
                        .once = {wait_in(1, Kind::kind), end_of(0)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R15_permits_that_are_forgotten, Kind, of::kinds) {
  explore("semaphore", {.before = {made_at(Kind::home), take(2)},
                        .once = {forget, release(2), take(3),
                                 of_permits(2, wait_in(0, Kind::kind)), wait_in(1, Kind::kind)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R18_close_against_cancel_against_grants, Kind, of::kinds) {
  explore("semaphore", {.before = {made_at(Kind::home), take(3), wait_in(0, Kind::kind),
                                   of_permits(2, wait_in(1, Kind::kind))},
                        .once = {give_one, {verb::close}, {verb::cancel}}});
}

BOOST_AUTO_TEST_CASE(R3_dropped_permits_go_to_whoever_is_next) {
  explore("semaphore",
          {.before = {made_at(through::erased_queue), take(3),
                      of_permits(2, wait_in(0, through::queue)), wait_in(1, through::queue)},
           .once = {of_permits(3, wait_in(0, through::queue)), give_one},
           .drops = 2});
}

BOOST_AUTO_TEST_CASE(R3_a_dropped_coroutine) {
  explore("semaphore", {.before = {made_at(through::erased_queue), take(1),
                                   of_permits(2, in_coroutine(wait_in(0, through::queue))),
                                   in_coroutine(wait_in(1, through::queue))},
                        .once = {give_one},
                        .drops = 2});
}

BOOST_AUTO_TEST_SUITE_END()
