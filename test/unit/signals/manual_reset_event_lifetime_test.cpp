// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// What comes of the waits of an event, and of those that one set() has released, when the event or
// a context ends, or when user code comes in between.

#include "support/blocked_thread.hpp"
#include "support/coroutine.hpp"
#include "support/event_result.hpp"
#include "support/executors.hpp"
#include "support/memory.hpp"
#include "support/test.hpp"

#include <asio_sync/async_manual_reset_event.hpp>

namespace manual_reset_event_lifetime_test {

using namespace asio_sync::test;

// Waits of every kind, whose completions are counted.
void wait_in_every_way(async_manual_reset_event& event, asio::io_context& context, outcomes& o) {
  auto const coroutine = [](async_manual_reset_event& e,
                            outcomes& count) -> asio::awaitable<void> {
    counted_handler handler(count);
    error_code error;
    co_await e.async_wait(asio::redirect_error(asio::use_awaitable, error));
    handler(error);
  };
  asio::co_spawn(context, coroutine(event, o), asio::detached);
  auto const strand = asio::make_strand(context);
  event.async_wait(asio::bind_executor(context, counted_handler(o)));
  event.async_wait(asio::bind_executor(strand, counted_handler(o)));
  event.async_wait_for(1h, asio::bind_executor(context, counted_handler(o)));
  event.async_wait_for(1h, asio::bind_executor(asio::any_io_executor(strand), counted_handler(o)));
  event.async_wait(asio::bind_executor(dropping_executor(context), counted_handler(o)));
}
constexpr std::size_t ways = 6, dropped_ways = 1;

struct fixture {
  asio::io_context context, other;

  void poll() {
    for (int i = 0; i < 2; ++i)
      for (auto* const io : {&context, &other}) {
        io->restart();
        io->poll();
      }
  }
};

}  // namespace manual_reset_event_lifetime_test

BOOST_FIXTURE_TEST_SUITE(manual_reset_event_lifetime_test, fixture)

BOOST_AUTO_TEST_CASE(R9_who_was_released_succeeds_although_the_event_dies) {
  for (bool const queued : {false, true}) {
    auto e = std::make_unique<async_manual_reset_event>(context, !queued);
    outcomes o;
    execution_log log;
    for (auto* const io : {&context, &other}) {
      wait_in_every_way(*e, *io, o);
      io->restart();
      io->poll_one();  // the coroutine gets there
    }
    e->async_wait(asio::bind_executor(bare_executor(log), counted_handler(o)));  // in two steps
    std::future<void> future = e->async_wait(asio::use_future);
    if (queued) e->set();
    BOOST_TEST(o.granted == (queued ? 0u : 2u));
    e.reset();
    poll();
    BOOST_TEST(o.granted == 2 * (ways - dropped_ways) + 1);
    BOOST_TEST(o.dropped == 2 * dropped_ways);
    BOOST_TEST(o.refused == 0u);
    BOOST_CHECK_NO_THROW(future.get());
  }
}

BOOST_AUTO_TEST_CASE(R9_destroyed_by_the_first_of_those_whom_set_releases) {
  auto const check = [&](auto const& ex, asio::io_context& home, bool from_inside) {
    auto own = std::make_unique<async_manual_reset_event>(home);
    auto& e = *own;
    outcomes o;
    e.async_wait(asio::bind_executor(ex, [&](error_code error) {
      o.granted += !error;
      own.reset();
    }));
    for (int i = 0; i < 10; ++i) e.async_wait(asio::bind_executor(ex, counted_handler(o)));
    e.async_wait_for(1h, asio::bind_executor(context, counted_handler(o)));
    if (from_inside)
      asio::post(home, [&] { e.set(); });
    else
      e.set();
    poll();
    BOOST_TEST(!own);
    BOOST_TEST(o.granted == 12u);
  };
  for (bool const from_inside : {false, true})
    for (auto* const home : {&context, &other}) {
      check(context.get_executor(), *home, from_inside);
      check(asio::make_strand(context), *home, from_inside);
      check(inline_executor(context), *home, from_inside);
      execution_log log;
      check(tracking_executor(context.get_executor(), log), *home, from_inside);
      check(bare_executor(log), *home, from_inside);
    }
}

BOOST_AUTO_TEST_CASE(R9_destroyed_by_the_first_of_those_whom_set_releases_in_a_pool) {
  asio::thread_pool pool(4);
  for (int round = 0; round < 500; ++round) {
    auto* const e = new async_manual_reset_event(pool);
    outcomes o;
    std::atomic<int> first = 0;
    auto const destroys = [&](error_code error) {
      if (error) ++o.refused;
      if (first++ == 0) delete e;
      ++o.granted;
    };
    auto const strand = asio::make_strand(pool);
    for (int i = 0; i < 4; ++i) {
      e->async_wait(destroys);
      e->async_wait_for(1h, asio::bind_executor(strand, destroys));
    }
    std::thread thread([&] { e->wait(), destroys({}); });
    while (e->waiters() != 9) std::this_thread::yield();
    e->set();
    thread.join();
    while (o.granted != 9) std::this_thread::yield();
    BOOST_TEST(o.refused == 0u);
  }
}

// By a thread that was released, or has found it set.
BOOST_AUTO_TEST_CASE(R9_destroyed_by_a_thread_as_soon_as_it_is_set) {
  for (int round = 0; round < 1000; ++round) {
    auto e = std::make_unique<async_manual_reset_event>(context);
    std::atomic<bool> ready = false;
    std::thread thread([&, &to_set = *e] {
      ready = true;
      if (round % 2) std::this_thread::yield();
      to_set.set();
    });
    while (!ready) std::this_thread::yield();
    if (round % 3 == 0)
      while (!e->is_set()) std::this_thread::yield();
    else if (round % 3 == 1)
      BOOST_CHECK_NO_THROW(e->wait());
    else  // its last wait leaves the queue while it is set
      while (!e->wait_for(1us)) std::this_thread::yield();
    e.reset();
    thread.join();
  }
}

BOOST_AUTO_TEST_CASE(R9_nothing_is_left_of_events_whose_waits_outlived_them) {
  auto const round = [&] {
    for (bool const set : {false, true}) {
      fixture own;  // strands leave something in their context
      auto e = std::make_unique<async_manual_reset_event>(own.context);
      outcomes o;
      for (auto* const io : {&own.context, &own.other}) wait_in_every_way(*e, *io, o);
      own.poll();
      if (set) e->set();
      e.reset();
      own.poll();
      BOOST_TEST(o.all() == 2 * ways);
    }
  };
  empty_pool const pool;
  for (int i = 0; i < 3; ++i) round();
  heap_counter const heap(heap_counter::scope::all_threads);
  for (int i = 0; i < 3; ++i) round();
  BOOST_TEST(heap.kept() <= 0);
}

BOOST_AUTO_TEST_CASE(R10_contexts_and_event_end_in_every_order) {
  for (bool const set : {false, true}) {
    std::array<int, 3> order = {0, 1, 2};
    do {
      std::array<std::unique_ptr<asio::io_context>, 2> contexts = {
          std::make_unique<asio::io_context>(), std::make_unique<asio::io_context>()};
      auto e = std::make_unique<async_manual_reset_event>(*contexts[0]);
      outcomes o;
      for (auto const& each : contexts) wait_in_every_way(*e, *each, o);
      for (auto const& each : contexts) each->poll();  // the coroutines get there
      if (set) e->set();
      for (int const step : order)
        step == 2 ? e.reset() : contexts[static_cast<std::size_t>(step)].reset();
      BOOST_TEST(o.dropped == 2 * ways);
    } while (std::ranges::next_permutation(order).found);
  }
}

BOOST_AUTO_TEST_CASE(R10_waits_of_others_go_on_when_a_context_dies_the_home_too) {
  for (bool const home_dies : {false, true}) {
    auto dying = std::make_unique<asio::io_context>();
    async_manual_reset_event e(home_dies ? *dying : context);
    outcomes dead, living;
    wait_in_every_way(e, *dying, dead);
    wait_in_every_way(e, other, living);
    dying->poll();
    poll();
    blocked_thread thread(e, 2 * ways + 1, [&] { e.wait(); });
    dying.reset();
    BOOST_TEST(dead.dropped == ways);
    BOOST_TEST(e.waiters() == ways + 1);
    e.set();
    BOOST_TEST(!thread.join());
    poll();
    BOOST_TEST(living.granted == ways - dropped_ways);
    e.reset();
    fate late;
    e.async_wait_for(1h, asio::bind_executor(other, observed_handler(late)));
    e.set();
    poll();
    BOOST_TEST(late.granted());
  }
}

BOOST_AUTO_TEST_CASE(R10_a_destructor_waits_for_what_is_set_while_its_context_shuts_down) {
  for (bool const at_home : {false, true}) {
    fate first, late[3];
    auto dying = std::make_unique<asio::io_context>();
    asio::io_context& io = *dying;
    async_manual_reset_event e(at_home ? io : context);
    e.async_wait(asio::bind_executor(
        io, observed_handler(first, [&, strand = asio::make_strand(io)] {
          e.set();
          e.async_wait(asio::bind_executor(io, observed_handler(late[0])));
          e.async_wait_for(1h, asio::bind_executor(strand, observed_handler(late[1])));
          e.async_wait(asio::bind_executor(other, observed_handler(late[2])));
        })));
    dying.reset();
    BOOST_TEST(first.dropped());
    BOOST_TEST((late[0].dropped() && late[1].dropped()));
    poll();
    BOOST_TEST(late[2].granted());
  }
}

BOOST_AUTO_TEST_CASE(R5_set_from_within_whatever_user_code_there_is) {
  enum class from { handler, slot, destructor, executor, dying_context };
  for (from const where :
       {from::handler, from::slot, from::destructor, from::executor, from::dying_context})
    BOOST_TEST_CONTEXT("from " << static_cast<int>(where)) {
      async_manual_reset_event trigger(context), e(context);
      outcomes o;
      for (auto* const io : {&context, &other})
        for (int i = 0; i < 3; ++i) {
          e.async_wait(asio::bind_executor(*io, counted_handler(o)));
          e.async_wait_for(1h, asio::bind_executor(inline_executor(*io), counted_handler(o)));
        }
      auto const set = [&] {
        e.set();
        e.reset();
      };
      fate f;
      execution_log log;
      log.on_execute = set;
      asio::cancellation_signal signal;
      if (where == from::handler) trigger.async_wait([&](error_code) { set(); });
      if (where == from::slot) signal.slot().assign([&](asio::cancellation_type) { set(); });
      if (where == from::destructor) trigger.async_wait(observed_handler(f, set));
      if (where == from::executor)
        trigger.async_wait(asio::bind_executor(tracking_executor(context.get_executor(), log),
                                               [](error_code) {}));
      if (where == from::dying_context) {
        asio::io_context dying;
        e.async_wait(asio::bind_executor(dying, observed_handler(f, set)));
      }
      signal.emit(asio::cancellation_type::terminal);
      trigger.set();
      poll();
      BOOST_TEST(o.granted == 12u);
      BOOST_TEST(e.waiters() == 0u);
    }
}

BOOST_AUTO_TEST_SUITE_END()
