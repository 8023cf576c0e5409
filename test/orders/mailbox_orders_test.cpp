// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The whole mailbox in every order of handlers; flags are a, b and c.

#include "exploration.hpp"
#include "support/test.hpp"

using namespace asio_sync::test;

namespace mailbox_orders {

constexpr std::uint8_t a = 1, b = 2, c = 4;

operation raise(unsigned set) { return of_flags(set, {verb::give}); }
operation take(unsigned set) { return of_flags(set, {verb::take}); }

// What waits ask for, and where.
template <class Kind>
operation look(unsigned set, unsigned context, patience p = patience::endless) {
  return of_flags(set, wait_in(context, Kind::kind, p));
}
template <class Kind>
operation get(unsigned set, unsigned context, patience p = patience::endless) {
  return of_flags(set | taking, wait_in(context, Kind::kind, p));
}

void explore_mailbox(scenario const& s) { explore("mailbox", s); }

}  // namespace mailbox_orders

BOOST_AUTO_TEST_SUITE(mailbox_orders)

BOOST_AUTO_TEST_CASE_TEMPLATE(R7_looks_and_takes_of_one_flag, Kind, of::kinds) {
  explore_mailbox({.before = {made_at(Kind::home), get<Kind>(a, 0)},
                   .once = {look<Kind>(a, 1), in_coroutine(get<Kind>(a, 1)), raise(a)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R7_who_waits_for_all_reserves_nothing, Kind, of::kinds) {
  explore_mailbox({.before = {made_at(Kind::home), get<Kind>(a | b | all_of, 0)},
                   .once = {get<Kind>(a | c, 1), raise(a), raise(b)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R7_all_against_take, Kind, of::kinds) {
  explore_mailbox({.before = {made_at(Kind::home), look<Kind>(a | b | all_of, 1)},
                   .once = {raise(a), raise(b), take(a)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R7_one_raise_for_many, Kind, of::kinds) {
  explore_mailbox({.before = {made_at(Kind::home), get<Kind>(a | b, 0), get<Kind>(b, 1),
                              in_coroutine(look<Kind>(a | b | all_of, 0))},
                   .once = {raise(a | b), take(b)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R7_handlers_that_raise_and_take, Kind, of::kinds) {
  explore_mailbox({.before = {made_at(Kind::home)},
                   .once = {in_coroutine(and_then(then::take, look<Kind>(b, 0))),
                            and_then(then::give, get<Kind>(b, 1)), raise(b)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R7_the_empty_set_is_satisfied_at_once, Kind, of::kinds) {
  explore_mailbox({.before = {made_at(Kind::home), get<Kind>(a, 0)},
                   .once = {look<Kind>(0, 1), in_coroutine(get<Kind>(all_of, 0)), {verb::close}}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R4_cancel_against_raise_with_a_follower, Kind, of::kinds) {
  explore_mailbox({.before = {made_at(Kind::home), with_slot(get<Kind>(a, 0)),
                              in_coroutine(get<Kind>(a | b, 1))},
                   .once = {emit(0), raise(a), {verb::end_signal, 0}}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R11_timeout_against_cancel_against_raise, Kind, of::kinds) {
  explore_mailbox({.before = {made_at(Kind::home), with_slot(get<Kind>(a, 1, patience::soon)),
                              look<Kind>(a | b | all_of, 0)},
                   .once = {get<Kind>(a, 1, patience::far), emit(0)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R9_what_was_taken_arrives_when_the_mailbox_dies, Kind, of::kinds) {
  explore_mailbox(
      {.before = {made_at(Kind::home), get<Kind>(a | b, 0), look<Kind>(b, 1, patience::soon)},
       .once = {in_coroutine(get<Kind>(c, 1)), raise(b), {verb::end}}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R9_destroyed_by_the_first_that_is_satisfied, Kind, of::kinds) {
  explore_mailbox({.before = {made_at(Kind::home)},
                   .once = {and_then(then::end, look<Kind>(a, 1)), get<Kind>(a, 0),
                            in_coroutine(and_then(then::end, get<Kind>(a, 0)))}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R10_what_was_taken_in_a_context_that_dies_is_raised, Kind,
                              of::kinds) {
  explore_mailbox({.before = {made_at(Kind::home), get<Kind>(a | b | all_of, 1), get<Kind>(a, 0)},
                   .once = {in_coroutine(look<Kind>(b, 1)), raise(a | b), end_of(1)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R10_the_home_dies, Kind, of::kinds) {
  explore_mailbox({.before = {made_at(Kind::home), get<Kind>(a, 0), look<Kind>(a, 1)},
                   .once = {in_coroutine(get<Kind>(a, 1)), end_of(0)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R1_what_is_known_at_once, Kind, of::kinds) {
  explore_mailbox({.before = {made_at(Kind::home), raise(a)},
                   .once = {{verb::close},
                            {verb::spend},
                            in_coroutine(get<Kind>(a | b, 0)),
                            look<Kind>(b, 1, patience::none)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R18_close_against_cancel_against_raise, Kind, of::kinds) {
  explore_mailbox({.before = {made_at(Kind::home), look<Kind>(a, 0)},
                   .once = {get<Kind>(a, 1), {verb::close}, {verb::cancel}, take(a)}});
}

BOOST_AUTO_TEST_CASE(R3_dropped_flags_are_raised_for_whoever_is_next) {
  using of::queues;
  explore_mailbox({.before = {made_at(through::erased_queue), get<queues>(a | b | all_of, 0),
                              in_coroutine(get<queues>(b, 1))},
                   .once = {look<queues>(a, 0), raise(a | b)},
                   .drops = 2});
}

BOOST_AUTO_TEST_CASE(R3_a_dropped_look_raises_nothing) {
  using of::queues;
  explore_mailbox({.before = {made_at(through::erased_queue), look<queues>(a, 0)},
                   .once = {raise(a), take(a), get<queues>(a, 1)},
                   .drops = 2});
}

BOOST_AUTO_TEST_SUITE_END()
