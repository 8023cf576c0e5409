// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Many mutexes that are locked at once.

#include "support/coroutine.hpp"
#include "support/memory.hpp"
#include "support/test.hpp"

#include <asio_sync/async_lock_all.hpp>
#include <asio_sync/async_mutex.hpp>

namespace lock_all_scale_test {

using namespace asio_sync::test;
using lock_type = async_mutex::lock_type;
using locks_type = std::vector<lock_type>;

constexpr std::size_t many = 64;

#ifdef ASIO_SYNC_TEST_SANITIZED
constexpr std::size_t callers = 500;
#else
constexpr std::size_t callers = 5'000;
#endif

struct fixture {
  fixture() {
    for (std::size_t i = 0; i < many; ++i) mutexes.push_back(&storage.emplace_back(context));
    std::ranges::sort(mutexes);  // the order in which they are locked
    for (async_mutex* each : mutexes) held.emplace_back(lock_type(*each));
  }

  auto handler() {
    return [this](error_code e, locks_type got) {
      ++calls;
      error = e;
      locks = std::move(got);
    };
  }

  void poll() { test::poll(context); }

  std::size_t locked() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(mutexes, [](auto* each) { return each->is_locked(); }));
  }
  std::size_t waiters() const {
    std::size_t sum = 0;
    for (async_mutex* each : mutexes) sum += each->waiters();
    return sum;
  }

  asio::io_context context;
  std::deque<async_mutex> storage;
  std::vector<async_mutex*> mutexes;
  std::vector<std::optional<lock_type>> held;
  int calls = 0;
  error_code error;
  locks_type locks;
};

}  // namespace lock_all_scale_test

BOOST_FIXTURE_TEST_SUITE(lock_all_scale_test, fixture)

// From the first to the last, which is a step for each; and the other way, which is one step.
BOOST_AUTO_TEST_CASE(R7_many_are_locked_in_as_many_steps_as_it_takes) {
  for (bool const forward : {true, false}) {
    async_lock_all(mutexes, handler());
    for (std::size_t i = 0; i < many; ++i) {
      BOOST_TEST(calls == 0);
      BOOST_TEST(waiters() == 1u);
      held[forward ? i : many - 1 - i].reset();
      poll();
      if (forward && i + 1 < many) BOOST_TEST(mutexes[i + 1]->waiters() == 1u);
    }
    BOOST_TEST(std::exchange(calls, 0) == 1);
    BOOST_TEST(!error);
    BOOST_TEST(locks.size() == many);
    BOOST_TEST(std::ranges::all_of(locks, [](auto const& each) { return each.owns_lock(); }));
    for (std::size_t i = 0; i < many; ++i) held[i] = std::move(locks[i]);
    BOOST_TEST(locked() == many);
  }
}

// What the first wait has allocated does for all.
BOOST_AUTO_TEST_CASE(R12_no_step_needs_more_memory) {
  async_lock_all(mutexes, handler());
  {
    empty_pool const pool;
    failing_heap const heap;
    for (auto& each : held) {
      each.reset();
      poll();
    }
  }
  BOOST_TEST(calls == 1);
  BOOST_TEST(!error);
  BOOST_TEST(locks.size() == many);
}

BOOST_AUTO_TEST_CASE(R4_cancelled_at_any_step_nothing_stays_locked) {
  for (std::size_t step = 0; step < many; ++step) {
    asio::cancellation_signal signal;
    async_lock_all(mutexes, asio::bind_cancellation_slot(signal.slot(), handler()));
    for (std::size_t i = 0; i < step; ++i) {
      held[i].reset();
      poll();
    }
    BOOST_TEST(locked() == many);
    signal.emit(asio::cancellation_type::terminal);
    poll();
    BOOST_TEST(std::exchange(calls, 0) == 1);
    BOOST_TEST((error == asio::error::operation_aborted));
    BOOST_TEST(locked() == many - step);
    for (std::size_t i = 0; i < step; ++i) held[i].emplace(*mutexes[i]);
  }
}

// Each caller names them in another order.
BOOST_AUTO_TEST_CASE(R6_chain_of_those_who_lock_many_at_once) {
  std::size_t alone = 0, inside = 0;
  run_on_stack(256 << 10, [&] {
    for (std::size_t i = 0; i < callers; ++i) {
      std::rotate(mutexes.begin(), mutexes.begin() + 1, mutexes.end());
      if (i % 2 == 0)
        async_lock_all(mutexes, [&](error_code e, locks_type const& all) {
          alone += !e && all.size() == many && ++inside == 1;
          --inside;
        });
      else
        asio::co_spawn(
            context,
            [](std::vector<async_mutex*> order, std::size_t& n) -> asio::awaitable<void> {
              auto const [e, all] = co_await async_lock_all(order, asio::as_tuple(asio::deferred));
              n += !e && all.size() == many;
            }(mutexes, alone),
            asio::detached);
    }
    context.poll();
    held.clear();
    context.run();
  });
  BOOST_TEST(alone == callers);
  BOOST_TEST(locked() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
