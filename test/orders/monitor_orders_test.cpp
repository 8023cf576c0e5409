// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Entering and leaving a monitor in every order of handlers.

#include "exploration.hpp"
#include "support/test.hpp"

using namespace asio_sync::test;

BOOST_AUTO_TEST_SUITE(monitor_orders)

BOOST_AUTO_TEST_CASE_TEMPLATE(M1_one_is_inside, Kind, of::kinds) {
  explore("monitor", {.before = {made_at(Kind::home)},
                      .once = {in_coroutine(and_then(then::work_give, wait_in(0, Kind::kind))),
                               and_then(then::wait, wait_in(1, Kind::kind)),
                               {verb::take}}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(M7_entries_outlive_the_monitor, Kind, of::kinds) {
  explore("monitor",
          {.before = {made_at(Kind::home), {verb::take}, with_slot(wait_in(0, Kind::kind))},
           .once = {in_coroutine(wait_in(1, Kind::kind)), {verb::end}, emit(0), end_of(0)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R11_timeout_against_cancel_against_grant, Kind, of::kinds) {
  explore("monitor", {.before = {made_at(Kind::home),
                                 {verb::take},
                                 with_slot(wait_in(1, Kind::kind, patience::soon)),
                                 wait_in(0, Kind::kind)},
                      .once = {wait_in(1, Kind::kind, patience::far), emit(0)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R18_close_against_cancel_against_grant, Kind, of::kinds) {
  explore(
      "monitor",
      {.before = {made_at(Kind::home), {verb::take}, wait_in(0, Kind::kind)},
       .once = {
           in_coroutine(wait_in(1, Kind::kind)), {verb::close}, {verb::cancel}, {verb::take}}});
}

BOOST_AUTO_TEST_CASE(R3_dropped_entries) {
  explore("monitor",
          {.before = {made_at(through::erased_queue),
                      {verb::take},
                      with_slot(wait_in(0, through::erased_queue))},
           .once = {wait_in(0, through::queue), in_coroutine(wait_in(1, through::queue)), emit(0)},
           .drops = 1});
}

BOOST_AUTO_TEST_SUITE_END()
