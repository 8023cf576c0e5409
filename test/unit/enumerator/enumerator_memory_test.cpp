// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The stack, the heap and the threads of steps.

#include "support/coroutine.hpp"
#include "support/memory.hpp"
#include "support/test.hpp"
#include "unit/enumerator/fixture.hpp"

#include <asio_sync/async_enumerator.hpp>
#include <asio_sync/async_mutex.hpp>

namespace enumerator_memory_test {

using namespace asio_sync::test;

// Completes inside the initiating function.
template <class Token>
auto complete_inside(Token&& token) {
  return asio::async_initiate<Token, void(error_code, int)>(
      [](auto handler) { std::move(handler)(error_code(), 1); }, token);
}

// Completes on the handler's executor, with a one.
template <class Token>
auto post_one(Token&& token) {
  return asio::async_initiate<Token, void(int)>(
      [](auto handler) {
        auto const ex = handler.get_executor();
        asio::post(ex, [handler = std::move(handler)]() mutable { handler(1); });
      },
      token);
}

struct alignas(64) wide {
  wide() noexcept { BOOST_TEST(reinterpret_cast<std::uintptr_t>(this) % 64 == 0u); }
  wide(wide const& other) noexcept : wide() { value = other.value; }
  wide& operator=(wide const&) = default;
  ~wide() = default;

  int value = 0;
};

template <class Token>
auto complete_with_wide(Token&& token) {
  return asio::async_initiate<Token, void(wide)>(
      [](auto handler) {
        wide w;
        w.value = 1;
        std::move(handler)(w);
      },
      token);
}

constexpr std::size_t small_stack = 128 * 1024;

}  // namespace enumerator_memory_test

BOOST_FIXTURE_TEST_SUITE(enumerator_memory_test, enumerator_fixture)

BOOST_AUTO_TEST_CASE(R12_result_that_is_aligned_more_than_others) {
  wide w;
  auto const all = [&]() -> async_steps {
    complete_with_wide(e.callback(w));
    co_yield 1;
  };
  e.async_run(all(), note());
  context.run();
  BOOST_TEST(result.ended());
  BOOST_TEST(w.value == 1);
}

BOOST_AUTO_TEST_CASE(R6_a_million_steps_that_complete_inside_the_initiation) {
  constexpr int many = 1'000'000;
  auto const all = [&]() -> async_steps {
    error_code error;
    int n = 0;
    for (int i = 0; i < many; ++i) {
      complete_inside(e.callback(error, n));
      co_yield 1;
      steps += n;
    }
  };
  e.async_run(all(), note());
  asio_sync::test::run_on_stack(small_stack, [&] { context.run(); });
  BOOST_TEST(steps == many);
  BOOST_TEST(result.ended());
}

BOOST_AUTO_TEST_CASE(R6_a_surplus_of_completions_costs_no_stack) {
  constexpr int many = 100'000;
  auto const all = [&]() -> async_steps {
    for (int i = 0; i < many; ++i) complete_inside(e.callback());
    for (int i = 0; i < many; ++i) {
      co_yield 1;
      ++steps;
    }
  };
  e.async_run(all(), note());
  asio_sync::test::run_on_stack(small_stack, [&] { context.run(); });
  BOOST_TEST((steps == many && result.ended()));
}

BOOST_AUTO_TEST_CASE(R12_steps_take_nothing_from_the_heap) {
  std::optional<heap_counter> heap;
  std::size_t allocations = 1;
  async_mutex mutex(context);
  auto const all = [&]() -> async_steps {
    asio::steady_timer timer(context);
    error_code error;
    async_mutex::lock_type lock;
    for (int i = 0; i < 300; ++i) {
      if (i == 200) heap.emplace();
      timer.expires_after(0s);
      timer.async_wait(e.callback(error));
      asio::post(context, e.callback());
      mutex.async_lock(e.callback(error, lock));
      co_yield 3;
      lock.unlock();
    }
    allocations = heap->allocations();
    heap.reset();
  };
  e.async_run(all(), note());
  context.run();
  BOOST_TEST(result.ended());
  BOOST_TEST(allocations == 0U);
}

BOOST_AUTO_TEST_CASE(R12_runs_take_little_from_the_heap) {
  auto const nothing = []() -> async_steps { co_return; };
  e.async_run(nothing(), note());
  poll();
  heap_counter const heap;
  e.async_run(nothing(), note());
  context.restart();
  context.poll();
  BOOST_TEST(heap.allocations() <= 2U);  // the run, and the core of its mailbox
}

BOOST_AUTO_TEST_CASE(R13_each_allocation_of_a_run_fails) {
  struct scenario : enumerator_fixture {
    async_steps all() {
      asio_sync::test::local const noted(destroyed);
      ++steps;
      co_return;
    }
    void act() {
      async_steps whole = all();
      e.async_run(std::move(whole), note());
    }
    void check(bool thrown) {
      poll();
      BOOST_TEST((thrown ? steps == 0 && result.is_outstanding() : steps == 1 && result.ended()));
      result = {};
      steps = 0;
      e.async_run(all(), note());  // nothing is left of it
      poll();
      BOOST_TEST((steps == 1 && result.ended()));
    }
  };
  BOOST_TEST(asio_sync::test::fail_each_allocation<scenario>() > 3U);
}

BOOST_AUTO_TEST_CASE(R13_each_allocation_of_an_operation_fails) {
  using namespace asio_sync::test;
  std::size_t failures = 0;
  auto const inside = [&]() -> async_steps {
    for (bool thrown = true; thrown;) {
      thrown = false;
      {
        empty_pool const pool;
        failing_heap const heap(failures, failing_heap::failures::one);
        try {
          asio::post(context, e.callback());
        } catch (std::bad_alloc const&) {
          thrown = true;
        }
      }
      if (thrown) ++failures;
    }
    co_yield 1;  // the one that has begun
    ++steps;
  };
  e.async_run(inside(), note());
  poll();
  BOOST_TEST((failures >= 2U && steps == 1 && result.ended()));
}

BOOST_AUTO_TEST_CASE(R17_completions_of_many_threads_take_each_step_once) {
  constexpr int many = 2000;
  asio::thread_pool pool(4);
  {
    async_enumerator enumerator(pool);
    std::atomic<int> inside = 0;
    int nested = 0;
    int sum = 0;
    auto const all = [&]() -> async_steps {
      int results[3] = {};
      for (int i = 0; i < many; ++i) {
        if (++inside != 1) ++nested;
        for (int& r : results) post_one(enumerator.callback(r));
        --inside;
        co_yield 3;
        for (int& r : results) sum += std::exchange(r, 0);
      }
    };
    std::future<void> done = enumerator.async_run(all(), asio::use_future);
    done.get();
    BOOST_TEST((nested == 0 && sum == 3 * many));
  }
  pool.join();
}

BOOST_AUTO_TEST_CASE(R17_runs_are_cancelled_while_their_operations_complete) {
  constexpr int many = 300;
  asio::thread_pool pool(3);
  int ended = 0;
  int cancelled = 0;
  for (int i = 0; i < many; ++i) {
    std::optional<async_enumerator> enumerator(
        std::in_place, async_enumerator::executor_type(asio::make_strand(pool)));
    int locals = 0;
    auto const all = [&](async_enumerator& own) -> async_steps {
      asio_sync::test::local const noted(locals);
      asio::steady_timer timer(pool, 1h);
      for (int step = 0; step < 4; ++step) {
        asio::post(pool, own.callback());
        co_yield 1;
      }
      if (i % 3 == 0) co_return;
      timer.async_wait(own.callback());
      co_yield 1;
    };
    std::future<void> done = enumerator->async_run(all(*enumerator), asio::use_future);
    if (i % 3 == 1) enumerator->cancel();
    if (i % 3 == 2) asio::post(enumerator->get_executor(), [&] { enumerator.reset(); });
    try {
      done.get();
      ++ended;
    } catch (boost::system::system_error const&) {
      ++cancelled;
    }
    BOOST_TEST(locals <= 1);
  }
  BOOST_TEST((ended == many / 3 && cancelled == many - many / 3));
  pool.join();
}

BOOST_AUTO_TEST_SUITE_END()
