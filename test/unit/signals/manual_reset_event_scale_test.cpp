// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// One set() for very many waits, and set() against everything that other threads do.

#include "support/coroutine.hpp"
#include "support/event_result.hpp"
#include "support/executors.hpp"
#include "support/memory.hpp"
#include "support/random.hpp"
#include "support/test.hpp"

#include <asio_sync/async_manual_reset_event.hpp>

namespace manual_reset_event_scale_test {

using namespace asio_sync::test;

#ifdef ASIO_SYNC_TEST_SANITIZED
constexpr std::size_t most = 50'000;
#else
constexpr std::size_t most = 1'000'000;
#endif
constexpr std::size_t many = most / 10;

// What one set() for so many waits on that executor has done when it returns.
struct after_set {
  std::size_t granted;
  std::size_t allocations;
};

// On a small stack; `o` is what has become of all of them in the end.
template <class Executor>
after_set set_for(std::size_t waits, asio::io_context& context, Executor const& ex, outcomes& o) {
  after_set result{};
  run_on_stack(256 << 10, [&] {
    async_manual_reset_event event(context);
    for (std::size_t i = 0; i < waits; ++i)
      event.async_wait(asio::bind_executor(ex, counted_handler(o)));
    if (event.waiters() != waits) return;
    {
      heap_counter const heap;
      event.set();
      result = {o.granted, heap.allocations()};
    }
    if (event.waiters() != 0) return;
    context.restart();
    context.run();
  });
  return result;
}

// A number that is written before set() and read by everybody that it lets go.
struct published {
  int number = 0;  // not atomic
  std::atomic<int> right = 0;

  void read(error_code error) {
    if (!error) right += number == 7;
  }
};

}  // namespace manual_reset_event_scale_test

BOOST_AUTO_TEST_SUITE(manual_reset_event_scale_test)

BOOST_AUTO_TEST_CASE(R6_one_set_for_a_million_waits_runs_none_of_them_and_needs_no_memory) {
  asio::io_context context, other;
  auto const check = [&](std::size_t waits, auto const& ex) {
    outcomes o;
    after_set const done = set_for(waits, context, ex, o);
    other.restart();
    other.run();
    BOOST_TEST(o.granted == waits);
    BOOST_TEST(done.granted == 0u);
    BOOST_TEST(done.allocations == 0u);
  };
  check(most, context.get_executor());
  check(many, asio::make_strand(context));
  check(many, asio::any_io_executor(asio::make_strand(context)));
  check(many, other.get_executor());
}

BOOST_AUTO_TEST_CASE(R6_one_set_for_many_waits_that_run_inline) {
  asio::io_context context;
  outcomes o;
  BOOST_TEST(set_for(many, context, inline_executor(context), o).granted == many);
  BOOST_TEST(o.granted == many);
}

BOOST_AUTO_TEST_CASE(R6_one_set_for_many_waits_that_are_dropped) {
  asio::io_context context;
  outcomes o;
  set_for(many, context, dropping_executor(context), o);
  BOOST_TEST(o.dropped == many);
}

// Without work of the home's in between its run() would return with some of them uncalled.
BOOST_AUTO_TEST_CASE(R8_the_home_runs_until_all_whom_another_thread_releases_have_completed) {
  for (int round = 0; round < 300; ++round) {
    asio::io_context context, other;
    async_manual_reset_event event(context);
    outcomes o;
    for (int i = 0; i < 20; ++i) {
      event.async_wait(counted_handler(o));
      event.async_wait_for(1h, asio::bind_executor(other, counted_handler(o)));
    }
    std::array threads = {std::thread([&] { context.run(); }), std::thread([&] { other.run(); })};
    event.set();
    for (auto& thread : threads) thread.join();
    BOOST_TEST(o.granted == 40u);
  }
}

BOOST_AUTO_TEST_CASE(R8_set_inside_the_home_keeps_and_lets_go_its_work) {
  asio::io_context context, other;
  async_manual_reset_event event(context);
  outcomes o;
  for (int round = 1; round <= 3; ++round) {
    for (int i = 0; i < 3; ++i) event.async_wait(counted_handler(o));
    event.async_wait(asio::bind_executor(other, counted_handler(o)));
    asio::post(context, [&] { event.set(), event.reset(); });
    context.restart();
    context.run();  // and it returns
    other.restart();
    other.run();
    BOOST_TEST(o.granted == 4u * static_cast<unsigned>(round));
  }
  event.async_wait(counted_handler(o));
  asio::post(context, [&] { event.set(), event.reset(), event.async_wait(counted_handler(o)); });
  context.restart();
  context.poll();
  BOOST_TEST(!context.stopped());  // for the last one
  event.cancel();
  context.run();
  BOOST_TEST(o.refused == 1u);
}

BOOST_AUTO_TEST_CASE(R14_what_comes_before_set_comes_before_what_it_lets_go) {
  asio::thread_pool pool(2);
  for (int round = 0; round < 200; ++round) {
    async_manual_reset_event event(pool);
    published p;
    std::atomic<int> called = 0;
    auto const reads = [&](error_code error) {
      p.read(error);
      ++called;
    };
    for (int i = 0; i < 3; ++i) event.async_wait(reads);
    std::thread blocks([&] { event.wait(), reads({}); });
    std::thread polls([&] {
      while (!event.is_set()) std::this_thread::yield();
      reads({});
      event.async_wait(reads);
      event.reset();
    });
    p.number = 7;
    event.set();
    polls.join();
    event.set();  // again, for who came after the reset
    blocks.join();
    while (called != 6) std::this_thread::yield();
    BOOST_TEST(p.right == 6);
  }
}

// Which of them wins is left to the machine, but each wait has one end.
BOOST_AUTO_TEST_CASE(R4_set_meets_cancellations_and_deadlines) {
  constexpr std::size_t waits = 12;
  asio::thread_pool pool(1), others(1);
  async_manual_reset_event event(pool);
  std::size_t released = 0;
  for (int round = 0; round < 600; ++round) {
    outcomes o;
    std::array<asio::cancellation_signal, waits> signals;
    for (auto& each : signals) {
      auto token = asio::bind_cancellation_slot(each.slot(), counted_handler(o));
      if (round % 3 == 0)
        event.async_wait_for(std::chrono::microseconds(round % 60), std::move(token));
      else if (round % 3 == 1)
        event.async_wait(std::move(token));
      else
        event.async_wait_for(1h, asio::bind_executor(others, std::move(token)));
    }
    std::atomic<bool> emitted = false;
    asio::post(round % 3 == 2 ? others : pool, [&] {
      if (round % 3 != 0)
        for (auto& each : signals) each.emit(asio::cancellation_type::terminal);
      emitted = true;
    });
    if (round % 2) std::this_thread::yield();
    event.set();
    event.reset();
    while (!emitted || o.all() != waits) std::this_thread::yield();
    BOOST_TEST(o.dropped == 0u);
    BOOST_TEST(event.waiters() == 0u);
    released += o.granted;
  }
  BOOST_TEST(released > 0u);
}

// The last of many is told last, but is released with the first.
BOOST_AUTO_TEST_CASE(R4_a_cancellation_comes_too_late_for_whom_set_has_yet_to_tell) {
  asio::io_context context;
  asio::thread_pool pool(1);
  for (int round = 0; round < 5; ++round) {
    async_manual_reset_event event(context);
    outcomes before, last;
    asio::cancellation_signal signal;
    for (std::size_t i = 0; i < many; ++i) event.async_wait(counted_handler(before));
    event.async_wait(asio::bind_executor(
        pool, asio::bind_cancellation_slot(signal.slot(), counted_handler(last))));
    std::atomic<bool> ready = false, emitted = false;
    asio::post(pool, [&] {
      ready = true;
      while (event.waiters() != 0) {
      }
      signal.emit(asio::cancellation_type::terminal);
      emitted = true;
    });
    while (!ready) std::this_thread::yield();
    event.set();
    while (!emitted || last.all() == 0) std::this_thread::yield();
    BOOST_TEST(last.granted == 1u);
    context.restart();
    context.run();
    BOOST_TEST(before.granted == many);
  }
}

BOOST_AUTO_TEST_CASE(R17_set_and_reset_by_many_threads_release_each_wait_once) {
  unsigned const seed = random_seed();
  BOOST_TEST_INFO_SCOPE("ASIO_SYNC_TEST_SEED=" << seed);
  asio::thread_pool pool(2);
  async_manual_reset_event event(pool);
  outcomes o;
  std::atomic<std::size_t> begun = 0, blocked = 0, late = 0;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 3; ++i)
    threads.emplace_back([&, i] {
      random_choice choice(seed + i);
      for (int n = 0; n < 3000; ++n) {
        auto const time = std::chrono::microseconds(choice.below(40));
        switch (choice.below(6)) {
          case 0: event.set(); break;
          case 1: event.reset(); break;
          case 2: ++begun, event.async_wait(counted_handler(o)); break;
          case 3: ++begun, event.async_wait_for(time, counted_handler(o)); break;
          case 4: ++(event.wait_for(time) ? blocked : late); break;
          default: static_cast<void>(event.waiters());
        }
      }
    });
  for (auto& thread : threads) thread.join();
  event.set();
  pool.join();
  BOOST_TEST(o.all() == begun);
  BOOST_TEST(o.dropped == 0u);
  BOOST_TEST(o.granted > 0u);
  BOOST_TEST(blocked > 0u);
}

BOOST_AUTO_TEST_SUITE_END()
