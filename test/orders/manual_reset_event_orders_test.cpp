// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The whole event in every order of handlers.

#include "exploration.hpp"
#include "support/test.hpp"

using namespace asio_sync::test;

namespace manual_reset_event_orders {

operation const set{verb::give};
operation const reset{verb::take};

void explore_event(scenario const& s) { explore("manual_reset_event", s); }

}  // namespace manual_reset_event_orders

BOOST_AUTO_TEST_SUITE(manual_reset_event_orders)

BOOST_AUTO_TEST_CASE_TEMPLATE(R7_set_releases_all_in_the_order_of_their_coming, Kind, of::kinds) {
  explore_event({.before = {made_at(Kind::home), wait_in(0, Kind::kind)},
                 .once = {wait_in(0, Kind::kind), in_coroutine(wait_in(1, Kind::kind)), set}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R7_set_and_reset, Kind, of::kinds) {
  explore_event(
      {.before = {made_at(Kind::home), wait_in(0, Kind::kind)},
       .once = {set, reset, and_then(then::wait, wait_in(1, Kind::kind)), {verb::take_at_once}}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R7_handlers_that_set_and_reset, Kind, of::kinds) {
  explore_event({.before = {made_at(Kind::home)},
                 .once = {in_coroutine(and_then(then::take, wait_in(0, Kind::kind))),
                          and_then(then::give, wait_in(1, Kind::kind)), set}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R4_cancel_against_set_with_a_follower, Kind, of::kinds) {
  explore_event({.before = {made_at(Kind::home), with_slot(wait_in(0, Kind::kind)),
                            with_slot(in_coroutine(wait_in(1, Kind::kind)))},
                 .once = {emit(0), emit(1), reset, {verb::end_signal, 0}}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R11_timeout_against_cancel_against_set, Kind, of::kinds) {
  explore_event({.before = {made_at(Kind::home), with_slot(wait_in(1, Kind::kind, patience::soon)),
                            wait_in(0, Kind::kind)},
                 .once = {wait_in(1, Kind::kind, patience::far), emit(0)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R9_what_was_released_succeeds_when_the_event_dies, Kind, of::kinds) {
  explore_event({.before = {made_at(Kind::home), wait_in(0, Kind::kind),
                            wait_in(1, Kind::kind, patience::soon)},
                 .once = {in_coroutine(wait_in(1, Kind::kind)), {verb::end}}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R9_destroyed_by_the_first_that_is_released, Kind, of::kinds) {
  explore_event({.before = {made_at(Kind::home)},
                 .once = {and_then(then::end, wait_in(1, Kind::kind)), wait_in(0, Kind::kind),
                          in_coroutine(and_then(then::end, wait_in(0, Kind::kind)))}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R10_a_context_dies, Kind, of::kinds) {
  explore_event({.before = {made_at(Kind::home), wait_in(0, Kind::kind), wait_in(1, Kind::kind)},
                 .once = {in_coroutine(wait_in(1, Kind::kind)), end_of(0), end_of(1)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R1_what_is_known_at_once, Kind, of::kinds) {
  explore_event({.before = {made_at(Kind::home), set},
                 .once = {{verb::close},
                          {verb::spend},
                          in_coroutine(wait_in(0, Kind::kind)),
                          wait_in(1, Kind::kind, patience::none)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R18_close_against_cancel_against_set, Kind, of::kinds) {
  explore_event({.before = {made_at(Kind::home), wait_in(0, Kind::kind)},
                 .once = {wait_in(1, Kind::kind), {verb::close}, {verb::cancel}, reset}});
}

BOOST_AUTO_TEST_CASE(R3_a_dropped_wait_passes_on_nothing) {
  explore_event({.before = {made_at(through::erased_queue), wait_in(0, through::queue),
                            in_coroutine(wait_in(1, through::queue))},
                 .once = {wait_in(1, through::queue), reset},
                 .drops = 2});
}

BOOST_AUTO_TEST_SUITE_END()
