// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The whole shared mutex in every order of handlers.

#include "exploration.hpp"
#include "support/test.hpp"

using namespace asio_sync::test;

namespace shared_mutex_orders {

operation reads(operation op) { return of_permits(reading, op); }
operation upgrades(operation op) { return of_permits(upgrading, op); }

// In the world's own ways: try_lock_shared(), downgrade().
constexpr operation reader{.what = verb::take, .item = 1};
constexpr operation downgrade{.what = verb::give, .item = 1};

}  // namespace shared_mutex_orders

BOOST_AUTO_TEST_SUITE(shared_mutex_orders)

BOOST_AUTO_TEST_CASE_TEMPLATE(R7_readers_and_a_writer, Kind, of::kinds) {
  explore("shared_mutex", {.before = {made_at(Kind::home)},
                           .once = {reads(wait_in(0, Kind::kind)), wait_in(1, Kind::kind),
                                    reads(wait_in(1, Kind::kind))}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R7_coroutines_and_tries, Kind, of::kinds) {
  explore("shared_mutex",
          {.before = {made_at(Kind::home)},
           .once = {in_coroutine(and_then(then::work_give, reads(wait_in(0, Kind::kind)))),
                    in_coroutine(and_then(then::give, wait_in(1, Kind::kind))),
                    reader,
                    {verb::take}}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R4_cancel_of_the_writer_before_readers, Kind, of::kinds) {
  explore("shared_mutex",
          {.before = {made_at(Kind::home), reader, with_slot(wait_in(0, Kind::kind)),
                      reads(with_slot(wait_in(1, Kind::kind))), reads(wait_in(0, Kind::kind))},
           .once = {emit(0), emit(1), {verb::end_signal, 1}}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R7_a_downgrade_lets_in_the_readers_who_are_next, Kind, of::kinds) {
  explore("shared_mutex", {.before = {made_at(Kind::home),
                                      {verb::take},
                                      reads(wait_in(0, Kind::kind)),
                                      wait_in(1, Kind::kind)},
                           .once = {downgrade, reads(wait_in(1, Kind::kind))}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R7_an_upgrade_goes_ahead_of_the_queue, Kind, of::kinds) {
  explore("shared_mutex", {.before = {made_at(Kind::home), reader, reader, wait_in(1, Kind::kind)},
                           .once = {upgrades(with_slot(wait_in(0, Kind::kind))), emit(1)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R15_one_upgrade_at_a_time, Kind, of::kinds) {
  explore("shared_mutex", {.before = {made_at(Kind::home), reader, reader},
                           .once = {upgrades(wait_in(0, Kind::kind)),
                                    in_coroutine(upgrades(wait_in(1, Kind::kind))),
                                    upgrades(wait_in(1, Kind::kind))}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R11_an_upgrade_in_time, Kind, of::kinds) {
  explore("shared_mutex",
          {.before = {made_at(Kind::home), reader, reader,
                      upgrades(with_slot(wait_in(1, Kind::kind, patience::soon)))},
           .once = {emit(0), in_coroutine(upgrades(wait_in(0, Kind::kind, patience::none)))}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R11_timeout_against_cancel_against_grant, Kind, of::kinds) {
  explore("shared_mutex", {.before = {made_at(Kind::home),
                                      {verb::take},
                                      with_slot(wait_in(1, Kind::kind, patience::soon)),
                                      reads(wait_in(0, Kind::kind))},
                           .once = {reads(wait_in(1, Kind::kind, patience::far)), emit(0)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R9_the_mutex_dies, Kind, of::kinds) {
  explore("shared_mutex", {.before = {made_at(Kind::home), reader, reader,
                                      upgrades(with_slot(wait_in(0, Kind::kind))),
                                      in_coroutine(wait_in(1, Kind::kind, patience::soon))},
                           .once = {{verb::end}, emit(0), made_at(Kind::home)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R9_destroyed_by_one_of_its_readers, Kind, of::kinds) {
  explore("shared_mutex",
          {.before = {made_at(Kind::home), {verb::take}, reads(wait_in(0, Kind::kind))},
           .once = {and_then(then::end, reads(wait_in(1, Kind::kind))),
                    in_coroutine(and_then(then::end, reads(wait_in(0, Kind::kind))))}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R10_the_home_dies, Kind, of::kinds) {
  explore("shared_mutex", {.before = {made_at(Kind::home), reader, reader, wait_in(0, Kind::kind),
                                      reads(wait_in(1, Kind::kind))},
                           .once = {in_coroutine(upgrades(wait_in(0, Kind::kind))), end_of(0)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R10_a_foreign_context_dies, Kind, of::kinds) {
  explore("shared_mutex", {.before = {made_at(Kind::home), reader, reader, wait_in(1, Kind::kind),
                                      reads(wait_in(0, Kind::kind)),
                                      upgrades(wait_in(1, Kind::kind, patience::far))},
                           .once = {in_coroutine(reads(wait_in(1, Kind::kind))), end_of(1)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R18_close_against_cancel_against_grant, Kind, of::kinds) {
  explore(
      "shared_mutex",
      {.before = {made_at(Kind::home), reader, reader, wait_in(0, Kind::kind)},
       .once = {in_coroutine(upgrades(wait_in(1, Kind::kind))), {verb::close}, {verb::cancel}}});
}

BOOST_AUTO_TEST_CASE(R3_dropped_grants) {
  explore("shared_mutex", {.before = {made_at(through::erased_queue),
                                      {verb::take},
                                      reads(with_slot(wait_in(0, through::erased_queue)))},
                           .once = {wait_in(0, through::queue),
                                    in_coroutine(reads(wait_in(1, through::queue))), emit(0)},
                           .drops = 1});
}

BOOST_AUTO_TEST_CASE(R3_a_dropped_upgrade_ends_its_hold) {
  explore("shared_mutex", {.before = {made_at(through::erased_queue), reader, reader,
                                      upgrades(with_slot(wait_in(0, through::queue)))},
                           .once = {wait_in(1, through::queue), emit(0), {verb::end}},
                           .drops = 2});
}

BOOST_AUTO_TEST_SUITE_END()
