// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Joins of a group, and the operations that it tracks, in every order of handlers.

#include "exploration.hpp"
#include "support/test.hpp"

using namespace asio_sync::test;

namespace group_orders {

// One that does as it is told, one that knows nothing of cancellation, and one that cancels all
// while it is being initiated.
operation tracked_in(unsigned context, through executor) {
  return of_permits(2, wait_in(context, executor));
}
operation deaf_in(unsigned context, through executor) {
  return of_permits(3, wait_in(context, executor));
}
operation cancelling_in(unsigned context, through executor) {
  return of_permits(4, wait_in(context, executor));
}

operation const cancel_pending{verb::take};
operation const added{.what = verb::give, .item = 1};
operation const completed_last{.what = verb::give, .item = 3};

void explore_group(scenario const& s) { explore("group", s); }

}  // namespace group_orders

BOOST_AUTO_TEST_SUITE(group_orders)

BOOST_AUTO_TEST_CASE_TEMPLATE(Group_is_joined_when_the_last_operation_has_ended, Kind, of::kinds) {
  explore_group({.before = {made_at(Kind::home), tracked_in(0, Kind::kind)},
                 .once = {wait_in(1, Kind::kind), in_coroutine(tracked_in(1, Kind::kind))}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(Group_counts_what_ends_while_it_begins, Kind, of::kinds) {
  explore_group({.before = {made_at(Kind::home), wait_in(0, Kind::kind)},
                 .once = {{.what = verb::take_at_once, .next = then::end},
                          {verb::take_at_once, 0, 1},
                          {verb::take_at_once, 0, 2},
                          {.what = verb::take_at_once, .item = 3, .next = then::take}}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(Group_cancels_operations_on_their_executors, Kind, of::kinds) {
  explore_group({.before = {made_at(Kind::home), tracked_in(1, Kind::kind),
                            in_coroutine(tracked_in(0, Kind::kind))},
                 .once = {cancel_pending}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(Group_cancels_from_inside_a_handler, Kind, of::kinds) {
  explore_group({.before = {made_at(Kind::home), and_then(then::take, tracked_in(0, Kind::kind))},
                 .once = {tracked_in(0, through::nothing), wait_in(1, Kind::kind)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(Group_cancels_what_is_being_initiated, Kind, of::kinds) {
  explore_group({.before = {made_at(Kind::home), deaf_in(0, Kind::kind)},
                 .once = {cancelling_in(1, Kind::kind)}});
  explore_group({.before = {made_at(Kind::home), wait_in(1, Kind::kind)},
                 .once = {cancelling_in(0, through::relay)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(Group_is_cancelled_beside_the_slots_of_operations, Kind, of::kinds) {
  explore_group({.before = {made_at(Kind::home), with_slot(tracked_in(1, Kind::kind))},
                 .once = {emit(0), cancel_pending, {verb::end_signal, 0}}});
  explore_group(
      {.before = {made_at(Kind::home), with_slot(in_coroutine(tracked_in(1, Kind::kind)))},
       .once = {emit(0), cancel_pending}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R4_cancel_against_the_last_operation, Kind, of::kinds) {
  explore_group({.before = {made_at(Kind::home), tracked_in(0, Kind::kind),
                            with_slot(wait_in(1, Kind::kind))},
                 .once = {emit(1), {verb::cancel}, completed_last}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R9_operations_outlive_the_group, Kind, of::kinds) {
  explore_group(
      {.before = {made_at(Kind::home), tracked_in(1, Kind::kind), wait_in(0, Kind::kind)},
       .once = {{verb::end}, cancel_pending}});
  explore_group({.before = {made_at(Kind::home), tracked_in(1, Kind::kind),
                            and_then(then::end, tracked_in(0, Kind::kind))},
                 .once = {wait_in(0, Kind::kind)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R10_operations_end_with_their_context, Kind, of::kinds) {
  explore_group({.before = {made_at(Kind::home), tracked_in(1, Kind::kind),
                            in_coroutine(tracked_in(1, Kind::kind)), wait_in(0, Kind::kind)},
                 .once = {end_of(1)}});
  explore_group(
      {.before = {made_at(Kind::home), tracked_in(1, Kind::kind), wait_in(0, Kind::kind)},
       .once = {cancel_pending, end_of(1)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R10_the_home_dies, Kind, of::kinds) {
  explore_group(
      {.before = {made_at(Kind::home), tracked_in(0, through::nothing), tracked_in(1, Kind::kind)},
       .once = {cancel_pending, end_of(0)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R11_an_expired_join_leaves_operations_alone, Kind, of::kinds) {
  explore_group({.before = {made_at(Kind::home), tracked_in(1, Kind::kind),
                            wait_in(1, Kind::kind, patience::soon)},
                 .once = {wait_in(0, Kind::kind, patience::none)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R15_done_takes_back_what_was_added, Kind, of::kinds) {
  explore_group(
      {.before = {made_at(Kind::home), added, tracked_in(0, Kind::kind)},
       .once = {wait_in(1, Kind::kind), {.what = verb::give, .amount = 2}, {verb::give}}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R18_close_leaves_operations_alone, Kind, of::kinds) {
  explore_group(
      {.before = {made_at(Kind::home), tracked_in(0, Kind::kind), wait_in(1, Kind::kind)},
       .once = {{verb::close}, wait_in(0, Kind::kind)}});
}

BOOST_AUTO_TEST_CASE(R3_dropped_operations_and_joins) {
  explore_group({.before = {made_at(through::erased_queue), tracked_in(0, through::queue),
                            wait_in(1, through::queue)},
                 .once = {cancel_pending},
                 .drops = 2});
  explore_group(
      {.before = {made_at(through::erased_queue), in_coroutine(tracked_in(1, through::queue))},
       .once = {wait_in(0, through::queue)},
       .drops = 1});
}

BOOST_AUTO_TEST_SUITE_END()
