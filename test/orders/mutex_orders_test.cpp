// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The whole mutex in every order of handlers: what is queued on its contexts, what is done to it
// and what becomes of them are the choices of a depth-first search.

#include "model/scheduler.hpp"
#include "mutex_world.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

namespace asio_sync::test {

void violated(std::string const& text) { model::fail(text); }

}  // namespace asio_sync::test

namespace {

using namespace asio_sync::test;

operation lock_in(unsigned context, through executor, patience patient = patience::endless) {
  return {.what = verb::lock,
          .target = static_cast<std::uint8_t>(context),
          .executor = executor,
          .patient = patient};
}

operation with_slot(operation op) {
  op.slot = true;
  return op;
}

operation in_coroutine(operation op) {
  op.coroutine = true;
  return op;
}

operation and_then(then next, operation op) {
  op.next = next;
  return op;
}

// Those of different waits by different types.
operation emit(unsigned wait) {
  auto const number = static_cast<std::uint8_t>(wait);
  return {verb::emit, number, number};
}

operation end_of(unsigned context) {
  return {verb::end_context, static_cast<std::uint8_t>(context)};
}

operation mutex_at(through executor) { return {.what = verb::make_mutex, .executor = executor}; }

struct scenario {
  std::vector<operation> before;  // done first, in this order
  std::vector<operation> once;    // each done once, at any time when it is possible
  unsigned drops = 0;             // so many functions of the queues are destroyed unrun
};

// One run: whatever can happen is a choice, until nothing can.
class one_run {
 public:
  explicit one_run(scenario const& s) : left_(s.once), drops_(s.drops) {
    for (operation const& op : s.before) world_.perform(op);
  }

  void go_on() {
    for (;;) {
      std::vector<operation> const possible = find();
      if (possible.empty()) break;
      operation const next = possible[model::choose(static_cast<int>(possible.size()))];
      if (next.what == verb::drop) --drops_;
      if (auto const at = std::find(left_.begin(), left_.end(), next); at != left_.end())
        left_.erase(at);
      if (!world_.perform(next)) break;  // What could follow does so without it, too.
    }
    world_.finish(true);
  }

 private:
  std::vector<operation> find() const {
    std::vector<operation> possible;
    for (operation const& op : left_)
      if (world_.allows(op) && std::find(possible.begin(), possible.end(), op) == possible.end())
        possible.push_back(op);
    if (world_.held()) possible.push_back({verb::unlock});
    for (std::uint8_t c = 0; c < mutex_world::contexts; ++c) {
      if (world_.busy(c)) possible.push_back({verb::poll, c});
      for (std::size_t i = 0; i < world_.queued(c); ++i) {
        auto const item = static_cast<std::uint8_t>(i);
        possible.push_back({verb::run, c, item});
        if (drops_ > 0) possible.push_back({verb::drop, c, item});
      }
    }
    return possible;
  }

  mutex_world world_;
  std::vector<operation> left_;
  unsigned drops_;
};

void explore(scenario const& s) {
  auto const found = model::explore([&s] { one_run(s).go_on(); });
  BOOST_TEST(!found.failed, found.message);
  BOOST_TEST_MESSAGE("orders: " << found.runs << " runs in " << found.seconds << " s");
}

}  // namespace

// The executors of a scenario. The mutex has one of the same kind, but is not made with a strand,
// which must not die before it.
namespace of {

struct contexts {
  static constexpr through kind = through::context;
  static constexpr through home = through::erased_context;
};
struct strands {
  static constexpr through kind = through::strand;
  static constexpr through home = through::erased_context;
};
struct queues {
  static constexpr through kind = through::queue;
  static constexpr through home = through::erased_queue;
};

using kinds = std::tuple<contexts, strands, queues>;

}  // namespace of

BOOST_AUTO_TEST_SUITE(mutex_orders)

BOOST_AUTO_TEST_CASE_TEMPLATE(R7_three_waits, Kind, of::kinds) {
  explore({.before = {mutex_at(Kind::home)},
           .once = {lock_in(0, Kind::kind), lock_in(1, Kind::kind), lock_in(0, Kind::kind)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R7_a_coroutine_a_callback_and_tries, Kind, of::kinds) {
  explore({.before = {mutex_at(Kind::home)},
           .once = {in_coroutine(and_then(then::work_unlock, lock_in(0, Kind::kind))),
                    and_then(then::lock, lock_in(1, Kind::kind)),
                    {verb::try_lock},
                    {verb::try_for_zero}}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R7_handlers_that_lock_again, Kind, of::kinds) {
  explore({.before = {mutex_at(Kind::home)},
           .once = {in_coroutine(and_then(then::lock, lock_in(0, Kind::kind))),
                    and_then(then::lock, lock_in(1, Kind::kind))}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R8_hand_overs_inside_the_home, Kind, of::kinds) {
  explore({.before = {mutex_at(Kind::home),
                      {verb::try_lock},
                      and_then(then::unlock, lock_in(0, Kind::kind)),
                      lock_in(0, Kind::kind)},
           .once = {in_coroutine(and_then(then::work_unlock, lock_in(0, Kind::kind))),
                    lock_in(0, Kind::kind),
                    {verb::cancel}}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R4_cancel_against_grant_with_a_follower, Kind, of::kinds) {
  explore({.before = {mutex_at(Kind::home),
                      {verb::try_lock},
                      with_slot(lock_in(0, Kind::kind)),
                      with_slot(lock_in(1, Kind::kind))},
           .once = {lock_in(0, Kind::kind), emit(0), emit(1), {verb::end_signal, 1}}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R4_cancel_of_a_coroutine, Kind, of::kinds) {
  explore({.before = {mutex_at(Kind::home),
                      {verb::try_lock},
                      with_slot(in_coroutine(lock_in(0, Kind::kind)))},
           .once = {with_slot(lock_in(1, Kind::kind)), emit(0), emit(1)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R11_timeout_against_cancel_against_grant, Kind, of::kinds) {
  explore({.before = {mutex_at(Kind::home),
                      {verb::try_lock},
                      with_slot(lock_in(1, Kind::kind, patience::soon)),
                      lock_in(0, Kind::kind)},
           .once = {lock_in(1, Kind::kind, patience::far), emit(0)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R11_an_earlier_deadline, Kind, of::kinds) {
  explore({.before = {mutex_at(Kind::home),
                      {verb::try_lock},
                      with_slot(lock_in(0, Kind::kind, patience::far))},
           .once = {in_coroutine(lock_in(0, Kind::kind, patience::soon)), emit(0)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R9_the_mutex_dies, Kind, of::kinds) {
  explore({.before = {mutex_at(Kind::home),
                      {verb::try_lock},
                      with_slot(lock_in(0, Kind::kind)),
                      in_coroutine(lock_in(1, Kind::kind, patience::soon))},
           .once = {{verb::end_mutex}, emit(0)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R9_destroyed_by_the_new_owner, Kind, of::kinds) {
  explore({.before = {mutex_at(Kind::home), {verb::try_lock}},
           .once = {and_then(then::end_mutex, lock_in(1, Kind::kind)), lock_in(0, Kind::kind),
                    in_coroutine(and_then(then::end_mutex, lock_in(0, Kind::kind)))}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R10_the_home_dies, Kind, of::kinds) {
  explore({.before = {mutex_at(Kind::home),
                      {verb::try_lock},
                      lock_in(0, Kind::kind),
                      lock_in(1, Kind::kind, patience::soon)},
           .once = {in_coroutine(lock_in(0, Kind::kind)), end_of(0)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R10_a_foreign_context_dies, Kind, of::kinds) {
  explore({.before = {mutex_at(Kind::home),
                      {verb::try_lock},
                      lock_in(1, Kind::kind),
                      lock_in(0, Kind::kind),
                      lock_in(1, Kind::kind, patience::far)},
           .once = {in_coroutine(lock_in(1, Kind::kind)), end_of(1)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R10_everything_dies, Kind, of::kinds) {
  explore({.before = {mutex_at(Kind::home), {verb::try_lock}, lock_in(0, Kind::kind)},
           .once = {in_coroutine(and_then(then::work_unlock, lock_in(1, Kind::kind))),
                    end_of(0),
                    end_of(1),
                    {verb::end_mutex}}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R10_another_context_at_the_same_address, Kind, of::kinds) {
  explore({.before = {mutex_at(Kind::home), {verb::try_lock}, lock_in(0, Kind::kind)},
           .once = {end_of(0), {verb::make_context}, lock_in(0, Kind::kind), end_of(0)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R1_what_is_known_at_once, Kind, of::kinds) {
  explore({.before = {mutex_at(Kind::home)},
           .once = {{verb::close},
                    {verb::spend},
                    in_coroutine(lock_in(0, Kind::kind)),
                    lock_in(1, Kind::kind, patience::none)}});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(R18_close_against_cancel_against_grant, Kind, of::kinds) {
  explore({.before = {mutex_at(Kind::home), {verb::try_lock}, lock_in(0, Kind::kind)},
           .once = {in_coroutine(lock_in(1, Kind::kind)),
                    {verb::close},
                    {verb::cancel},
                    {verb::try_for_zero}}});
}

BOOST_AUTO_TEST_CASE(R3_dropped_grants) {
  explore({.before = {mutex_at(through::erased_queue),
                      {verb::try_lock},
                      with_slot(lock_in(0, through::erased_queue))},
           .once = {lock_in(0, through::queue), in_coroutine(lock_in(1, through::queue)), emit(0)},
           .drops = 1});
}

BOOST_AUTO_TEST_CASE(R3_a_dropped_coroutine) {
  explore({.before = {mutex_at(through::erased_queue),
                      {verb::try_lock},
                      in_coroutine(lock_in(0, through::queue))},
           .once = {lock_in(1, through::queue), {verb::end_mutex}},
           .drops = 3});
}

BOOST_AUTO_TEST_CASE(R2_relayed_completions) {
  explore({.before = {mutex_at(through::erased_context),
                      {verb::try_lock},
                      with_slot(lock_in(1, through::relay))},
           .once = {lock_in(0, through::relay), emit(0), lock_in(1, through::strand), end_of(0)}});
}

BOOST_AUTO_TEST_CASE(R2_executors_of_all_kinds) {
  explore({.before = {mutex_at(through::erased_context),
                      {verb::try_lock},
                      lock_in(0, through::queue),
                      lock_in(0, through::strand)},
           .once = {lock_in(0, through::context), lock_in(1, through::erased_strand), end_of(0)}});
}

BOOST_AUTO_TEST_SUITE_END()
