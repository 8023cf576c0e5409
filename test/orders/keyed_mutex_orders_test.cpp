// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The whole keyed mutex in every order of handlers.

#include "exploration.hpp"
#include "support/test.hpp"

using namespace asio_sync::test;

BOOST_AUTO_TEST_SUITE(keyed_mutex_orders)

BOOST_AUTO_TEST_CASE_TEMPLATE(R7_three_waits, Kind, of::kinds) {
  explore("keyed_mutex",
          {.before = {made_at(Kind::home)},
           .once = {wait_in(0, Kind::kind), wait_in(1, Kind::kind), wait_in(0, Kind::kind)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R7_a_coroutine_a_callback_and_tries, Kind, of::kinds) {
  explore("keyed_mutex", {.before = {made_at(Kind::home)},
                          .once = {in_coroutine(and_then(then::work_give, wait_in(0, Kind::kind))),
                                   and_then(then::wait, wait_in(1, Kind::kind)),
                                   {verb::take},
                                   {verb::take_at_once}}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R4_cancel_against_grant_with_a_follower, Kind, of::kinds) {
  explore("keyed_mutex",
          {.before = {made_at(Kind::home),
                      {verb::take},
                      with_slot(wait_in(0, Kind::kind)),
                      with_slot(wait_in(1, Kind::kind))},
           .once = {wait_in(0, Kind::kind), emit(0), emit(1), {verb::end_signal, 1}}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R11_timeout_against_cancel_against_grant, Kind, of::kinds) {
  explore("keyed_mutex", {.before = {made_at(Kind::home),
                                     {verb::take},
                                     with_slot(wait_in(1, Kind::kind, patience::soon)),
                                     wait_in(0, Kind::kind)},
                          .once = {wait_in(1, Kind::kind, patience::far), emit(0)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R9_the_mutex_dies, Kind, of::kinds) {
  explore("keyed_mutex", {.before = {made_at(Kind::home),
                                     {verb::take},
                                     with_slot(wait_in(0, Kind::kind)),
                                     in_coroutine(wait_in(1, Kind::kind, patience::soon))},
                          .once = {{verb::end}, emit(0)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R10_the_home_dies, Kind, of::kinds) {
  explore("keyed_mutex", {.before = {made_at(Kind::home),
                                     {verb::take},
                                     wait_in(0, Kind::kind),
                                     wait_in(1, Kind::kind, patience::soon)},
                          .once = {in_coroutine(wait_in(0, Kind::kind)), end_of(0)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R10_a_foreign_context_dies, Kind, of::kinds) {
  explore("keyed_mutex", {.before = {made_at(Kind::home),
                                     {verb::take},
                                     wait_in(1, Kind::kind),
                                     wait_in(0, Kind::kind),
                                     wait_in(1, Kind::kind, patience::far)},
                          .once = {in_coroutine(wait_in(1, Kind::kind)), end_of(1)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R18_close_against_cancel_against_grant, Kind, of::kinds) {
  explore("keyed_mutex", {.before = {made_at(Kind::home), {verb::take}, wait_in(0, Kind::kind)},
                          .once = {in_coroutine(wait_in(1, Kind::kind)),
                                   {verb::close},
                                   {verb::cancel},
                                   {verb::take_at_once}}});
}

BOOST_AUTO_TEST_CASE(R3_dropped_grants) {
  explore("keyed_mutex",
          {.before = {made_at(through::erased_queue),
                      {verb::take},
                      with_slot(wait_in(0, through::erased_queue))},
           .once = {wait_in(0, through::queue), in_coroutine(wait_in(1, through::queue)), emit(0)},
           .drops = 1});
}

BOOST_AUTO_TEST_CASE(R3_a_dropped_coroutine) {
  explore("keyed_mutex", {.before = {made_at(through::erased_queue),
                                     {verb::take},
                                     in_coroutine(wait_in(0, through::queue))},
                          .once = {wait_in(1, through::queue), {verb::end}},
                          .drops = 3});
}

BOOST_AUTO_TEST_SUITE_END()
