// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The whole condition, with its mutex, in every order of handlers.

#include "exploration.hpp"
#include "support/test.hpp"

using namespace asio_sync::test;

namespace condition_orders {

// A wait for the condition, for whoever has locked the mutex just before.
operation waits(operation op) { return of_permits(for_condition, op); }
operation carries(operation op) { return of_permits(for_condition | carrying, op); }
operation looks(operation op) { return of_permits(for_condition | looking, op); }
operation carries_and_looks(operation op) {
  return of_permits(for_condition | carrying | looking, op);
}

// In the world's own ways.
constexpr operation lock{verb::take};
constexpr operation notify_one{.what = verb::give, .item = 1};
constexpr operation notify_all{.what = verb::give, .item = 2};
constexpr operation cancel_mutex{.what = verb::give, .item = 3, .amount = 0};
constexpr operation close_mutex{.what = verb::give, .item = 3, .amount = 1};
constexpr operation end_mutex{.what = verb::give, .item = 3, .amount = 2};
constexpr operation flip{.what = verb::give, .item = 3, .amount = 3};

}  // namespace condition_orders

BOOST_AUTO_TEST_SUITE(condition_orders)

BOOST_AUTO_TEST_CASE_TEMPLATE(C3_notifications_one_by_one, Kind, of::kinds) {
  explore("condition", {.before = {made_at(Kind::home), lock, waits(wait_in(0, Kind::kind)), lock,
                                   carries(wait_in(1, Kind::kind))},
                        .once = {notify_one, wait_in(0, Kind::kind), lock}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(C3_all_are_notified_in_their_order, Kind, of::kinds) {
  explore("condition", {.before = {made_at(Kind::home), lock, waits(wait_in(0, Kind::kind)), lock,
                                   in_coroutine(carries(wait_in(1, Kind::kind))), lock,
                                   waits(wait_in(0, Kind::kind)), lock},
                        .once = {notify_all, notify_one}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(C4_predicates, Kind, of::kinds) {
  explore("condition",
          {.before = {made_at(Kind::home), lock, looks(with_slot(wait_in(0, Kind::kind)))},
           .once = {lock, carries_and_looks(wait_in(1, Kind::kind)), notify_one, flip, emit(0)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(C4_a_coroutine_looks_at_once, Kind, of::kinds) {
  explore("condition", {.before = {made_at(Kind::home), lock},
                        .once = {in_coroutine(and_then(then::give, looks(wait_in(0, Kind::kind)))),
                                 in_coroutine(looks(with_slot(wait_in(1, Kind::kind)))),
                                 notify_all,
                                 flip,
                                 {verb::spend}}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(C3_cancel_against_notification, Kind, of::kinds) {
  explore("condition",
          {.before = {made_at(Kind::home), lock, waits(with_slot(wait_in(0, Kind::kind))), lock,
                      in_coroutine(waits(with_slot(wait_in(1, Kind::kind)))), lock},
           .once = {notify_one, emit(0), emit(1), {verb::cancel}}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(C4_timeout_against_a_look, Kind, of::kinds) {
  explore("condition",
          {.before = {made_at(Kind::home), lock, looks(wait_in(1, Kind::kind, patience::soon))},
           .once = {lock, notify_one, flip,
                    carries_and_looks(wait_in(0, Kind::kind, patience::none))}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R11_timeout_against_cancel_against_notification, Kind, of::kinds) {
  explore("condition", {.before = {made_at(Kind::home), lock,
                                   waits(with_slot(wait_in(1, Kind::kind, patience::soon))), lock,
                                   carries(wait_in(0, Kind::kind, patience::far))},
                        .once = {notify_one, emit(0)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(C2_cancel_of_the_mutex_leaves_the_notified_alone, Kind, of::kinds) {
  explore("condition", {.before = {made_at(Kind::home), lock, waits(wait_in(0, Kind::kind)), lock,
                                   wait_in(1, Kind::kind)},
                        .once = {notify_one, cancel_mutex, close_mutex}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R18_close_against_notification, Kind, of::kinds) {
  explore(
      "condition",
      {.before = {made_at(Kind::home), lock, looks(wait_in(0, Kind::kind))},
       .once = {lock, in_coroutine(carries(wait_in(1, Kind::kind))), notify_all, {verb::close}}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R9_the_condition_dies, Kind, of::kinds) {
  explore("condition", {.before = {made_at(Kind::home), lock, looks(wait_in(0, Kind::kind)), lock,
                                   in_coroutine(waits(wait_in(1, Kind::kind)))},
                        .once = {notify_one, {verb::end}, made_at(Kind::home)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R9_the_mutex_dies, Kind, of::kinds) {
  explore("condition",
          {.before = {made_at(Kind::home), lock, waits(wait_in(0, Kind::kind)), lock,
                      carries_and_looks(wait_in(1, Kind::kind))},
           .once = {notify_one, end_mutex, lock, in_coroutine(waits(wait_in(1, Kind::kind)))}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R10_the_home_dies, Kind, of::kinds) {
  explore("condition", {.before = {made_at(Kind::home), lock, waits(wait_in(0, Kind::kind)), lock,
                                   looks(wait_in(1, Kind::kind))},
                        .once = {lock, notify_one, end_of(0)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R10_a_foreign_context_dies, Kind, of::kinds) {
  explore("condition", {.before = {made_at(Kind::home), lock, waits(wait_in(1, Kind::kind)), lock,
                                   waits(wait_in(0, Kind::kind)), lock,
                                   in_coroutine(looks(wait_in(1, Kind::kind, patience::far)))},
                        .once = {notify_one, end_of(1)}});
}

BOOST_AUTO_TEST_CASE(C3_a_dropped_wait_notifies_the_next) {
  explore("condition", {.before = {made_at(through::erased_queue), lock,
                                   waits(with_slot(wait_in(0, through::queue))), lock,
                                   in_coroutine(carries(wait_in(1, through::queue))), lock,
                                   looks(wait_in(0, through::queue))},
                        .once = {notify_one, emit(0)},
                        .drops = 1});
}

BOOST_AUTO_TEST_SUITE_END()
