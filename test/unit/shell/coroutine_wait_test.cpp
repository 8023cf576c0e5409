// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Coroutines that do have to wait for the mutex: cancelled, destroyed, on all kinds of executors.

#include "support/coroutine.hpp"
#include "support/executors.hpp"
#include "support/memory.hpp"
#include "support/mutex_fixture.hpp"
#include "support/test.hpp"

#include <boost/asio/detail/reactor.hpp>

using namespace asio_sync::test;
using guard = async_mutex::lock_type;

namespace coroutine_wait_test {

// Awaits a lock in all the ways that a coroutine is spared a trip for, one after the other;
// calls `between` before each.
template <class Lock, class Between>
asio::awaitable<void> in_every_way(Lock lock, Between between) {
  auto const throws = [&](auto token) -> asio::awaitable<error_code> {
    try {
      static_cast<void>(co_await lock(token));
    } catch (system_error const& e) {
      co_return e.code();
    }
    co_return error_code();
  };
  error_code expected = between();
  BOOST_TEST(co_await throws(asio::deferred) == expected);
  expected = between();
  BOOST_TEST(co_await throws(asio::use_awaitable) == expected);
  expected = between();
  BOOST_TEST(std::get<0>(co_await lock(asio::as_tuple(asio::deferred))) == expected);
  expected = between();
  BOOST_TEST(std::get<0>(co_await lock(asio::as_tuple(asio::use_awaitable))) == expected);
  error_code error;
  expected = between();
  static_cast<void>(co_await lock(asio::redirect_error(asio::deferred, error)));
  BOOST_TEST(error == expected);
  expected = between();
  static_cast<void>(co_await lock(asio::redirect_error(asio::use_awaitable, error)));
  BOOST_TEST(error == expected);
}

// Many coroutines on many threads count under the mutex; each of them runs on `ex`.
template <class Executor, class MutexExecutor>
void count_on(asio::thread_pool& pool, Executor const& ex, MutexExecutor const& mutex_ex) {
  basic_async_mutex<MutexExecutor> mutex(mutex_ex);
  int counter = 0;
  auto const count = [&](auto token) -> asio::awaitable<void, Executor> {
    for (int i = 0; i < 300; ++i) {
      auto const lock = co_await mutex.async_lock(token);
      ++counter;
      if (i % 7 == 0) co_await asio::post(co_await asio::this_coro::executor, asio::deferred);
    }
  };
  for (int i = 0; i < 3; ++i) {
    asio::co_spawn(ex, count(asio::deferred), asio::detached);
    asio::co_spawn(ex, count(asio::use_awaitable_t<Executor>()), asio::detached);
  }
  pool.join();
  BOOST_TEST(counter == 1800);
  BOOST_TEST(!mutex.is_locked());
}

template <class MakeExecutor>
void count_on_executor(MakeExecutor make) {
  asio::thread_pool first(2);
  count_on(first, make(first), make(first));
  asio::thread_pool second(2);
  count_on(second, make(second), asio::any_io_executor(second.get_executor()));
}

}  // namespace coroutine_wait_test

BOOST_FIXTURE_TEST_SUITE(coroutine_wait_test, mutex_fixture)

BOOST_AUTO_TEST_CASE(R7_a_lock_that_has_to_wait_is_granted_with_every_token) {
  run(context, [&]() -> asio::awaitable<void> {
    co_await in_every_way([&](auto token) { return mutex.async_lock(token); },
                          [&] {
                            BOOST_TEST(mutex.try_lock());
                            asio::post(context, [&] { mutex.unlock(); });
                            return error_code();
                          });
  });
  BOOST_TEST(!mutex.is_locked());
}

BOOST_AUTO_TEST_CASE(R11_a_lock_that_has_to_wait_expires_with_every_token) {
  BOOST_REQUIRE(mutex.try_lock());
  run(context, [&]() -> asio::awaitable<void> {
    co_await in_every_way([&](auto token) { return mutex.async_lock_for(1ms, token); },
                          [&] { return timed_out; });
  });
  BOOST_TEST(mutex.waiters() == 0u);
}

BOOST_AUTO_TEST_CASE(R11_a_free_lock_makes_no_timer_even_where_the_budget_is_used_up) {
  run(context, [&]() -> asio::awaitable<void> {
    for (int i = 0; i < 300; ++i) static_cast<void>(co_await mutex.async_lock_for(1h));
  });
  BOOST_TEST(!asio::has_service<asio::detail::reactor>(context));
}

BOOST_FIXTURE_TEST_CASE(R4_every_type_of_cancellation_ends_a_wait_with_every_token, held_mutex) {
  using asio::cancellation_type;
  for (auto const type :
       {cancellation_type::terminal, cancellation_type::partial, cancellation_type::total}) {
    bool ended = false;
    auto const wait = [&]() -> asio::awaitable<void> {
      co_await in_every_way([&](auto token) { return mutex.async_lock(token); },
                            [&] {
                              asio::post(context, [&] {
                                BOOST_TEST(mutex.waiters() == 1u);
                                signal.emit(type);
                                BOOST_TEST(mutex.waiters() == 0u);
                              });
                              return aborted;
                            });
      ended = true;
    };
    auto const wait_again_and_again = [&]() -> asio::awaitable<void> {
      co_await asio::this_coro::throw_if_cancelled(false);
      co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
      co_await wait();
    };
    asio::co_spawn(context, wait_again_and_again,
                   asio::bind_cancellation_slot(signal.slot(), asio::detached));
    context.restart();
    context.run();
    BOOST_TEST(ended);
  }
}

BOOST_AUTO_TEST_CASE(R4_a_coroutine_that_is_cancelled_after_the_grant_has_no_lock) {
  BOOST_REQUIRE(mutex.try_lock());
  error_code error;
  asio::co_spawn(
      context,
      [&]() -> asio::awaitable<void> {
        auto const [e, lock] = co_await mutex.async_lock(asio::as_tuple(asio::deferred));
        BOOST_TEST(!lock.owns_lock());
        error = e;
      },
      asio::bind_cancellation_slot(signal.slot(), asio::detached));
  context.poll();
  BOOST_TEST(mutex.waiters() == 1u);
  asio::post(context, [&] {  // where the coroutine runs: otherwise Asio posts the cancellation
    mutex.unlock();
    signal.emit(asio::cancellation_type::terminal);
  });
  context.restart();
  context.run();
  BOOST_TEST((error == asio::error::operation_aborted));
  BOOST_TEST(!mutex.is_locked());
}

BOOST_AUTO_TEST_CASE(R4_a_coroutine_that_was_cancelled_before_takes_no_lock) {
  error_code error;
  bool locked_all_the_same = false;
  auto const wait = [&]() -> asio::awaitable<void> {
    signal.emit(asio::cancellation_type::terminal);
    try {
      static_cast<void>(co_await mutex.async_lock());
      BOOST_ERROR("went on");
    } catch (system_error const& e) {
      error = e.code();
    }
    BOOST_TEST(!mutex.is_locked());
    co_await asio::this_coro::throw_if_cancelled(false);
    guard const lock = co_await mutex.async_lock();
    locked_all_the_same = lock.owns_lock();
  };
  asio::co_spawn(context, wait, asio::bind_cancellation_slot(signal.slot(), asio::detached));
  context.run();
  BOOST_TEST(error == aborted);
  BOOST_TEST(locked_all_the_same);
  BOOST_TEST(!mutex.is_locked());
}

BOOST_AUTO_TEST_CASE(R13_what_throws_comes_out_of_co_await_with_use_awaitable) {
  if (!spared) return;  // Asio's own awaiter initiates when the coroutine is suspended already.
  using executor = throwing_executor;
  auto fails = executor::plan::nothing;
  BOOST_REQUIRE(mutex.try_lock());
  int caught = 0;
  bool granted = false;
  auto const wait = [&]() -> asio::awaitable<void, executor> {
    fails = executor::plan::prefer;
    try {
      static_cast<void>(co_await mutex.async_lock(asio::use_awaitable_t<executor>()));
    } catch (std::runtime_error const&) {
      ++caught;
    }
    try {
      static_cast<void>(
          co_await mutex.async_lock_for(1h, asio::as_tuple(asio::use_awaitable_t<executor>())));
    } catch (std::runtime_error const&) {
      ++caught;
    }
    fails = executor::plan::nothing;
    BOOST_TEST(mutex.waiters() == 0u);
    asio::post(context, [&] { mutex.unlock(); });
    auto const lock = co_await mutex.async_lock(asio::use_awaitable_t<executor>());
    granted = lock.owns_lock();
  };
  asio::co_spawn(executor(context, fails), wait, asio::detached);
  context.run();
  BOOST_TEST(caught == 2);
  BOOST_TEST(granted);
}

BOOST_AUTO_TEST_CASE(R13_a_wait_that_cannot_be_prepared_leaves_nothing_behind) {
  if (!spared) return;
  using executor = throwing_executor;
  auto fails = executor::plan::nothing;
  BOOST_REQUIRE(mutex.try_lock());
  std::ptrdiff_t kept = 1;
  auto const wait_in_the_same_memory = [&]() -> asio::awaitable<void, executor> {
    static_cast<void>(co_await mutex.async_lock(asio::use_awaitable_t<executor>()));
  };
  auto const wait = [&]() -> asio::awaitable<void, executor> {
    empty_pool const pool;
    std::optional<heap_counter> heap;
    fails = executor::plan::prefer;
    for (int i = 0; i < 10; ++i) {
      try {
        static_cast<void>(co_await mutex.async_lock(asio::use_awaitable_t<executor>()));
      } catch (std::runtime_error const&) {
      }
      if (i == 0) heap.emplace();
    }
    fails = executor::plan::nothing;
    kept = heap->kept();
    asio::co_spawn(executor(context, fails), wait_in_the_same_memory, asio::detached);
    co_await asio::post(asio::use_awaitable_t<executor>());
    signal.emit(asio::cancellation_type::terminal);
    BOOST_TEST(mutex.waiters() == 1u);
    mutex.unlock();
  };
  asio::co_spawn(executor(context, fails), wait,
                 asio::bind_cancellation_slot(signal.slot(), asio::detached));
  context.run();
  BOOST_TEST(kept == 0);
  BOOST_TEST(mutex.waiters() == 0u);
}

// Memory of the frame, the wait, the service, the timer, the slot.
// Not with completion ports, see R13_timed_initiation_without_memory_changes_nothing.
#if !defined(BOOST_ASIO_HAS_IOCP)
BOOST_AUTO_TEST_CASE(R13_every_failure_to_allocate_comes_out_of_co_await_with_use_awaitable) {
  if (!spared) return;
  empty_pool const pool;
  std::size_t failures = 0;
  for (bool failed = true; failed; failures += failed) {
    held_mutex s;
    std::optional<failing_heap> heap;
    failed = false;
    bool granted = false;
    auto const wait = [&]() -> asio::awaitable<void> {
      try {
        heap.emplace(failures, failing_heap::failures::one);
        static_cast<void>(co_await s.mutex.async_lock_for(1h, asio::use_awaitable));
        granted = true;
      } catch (std::bad_alloc const&) {
        failed = true;
      }
      heap.reset();
    };
    asio::co_spawn(s.context, wait, asio::bind_cancellation_slot(s.signal.slot(), asio::detached));
    s.context.poll();
    heap.reset();
    BOOST_TEST(s.mutex.waiters() == (failed ? 0u : 1u));
    s.mutex.unlock();
    s.context.restart();
    s.context.run();
    BOOST_TEST(granted == !failed);
  }
  BOOST_TEST(failures >= 6u);
}
#endif

BOOST_FIXTURE_TEST_CASE(R10_frames_that_wait_are_destroyed_with_their_context, held_mutex) {
  std::optional<asio::io_context> dying(std::in_place);
  async_mutex local(*dying);
  BOOST_REQUIRE(local.try_lock());
  auto const alive = std::make_shared<int>();
  auto const wait = [](auto& m, auto token, std::shared_ptr<int>) -> asio::awaitable<void> {
    static_cast<void>(co_await m.async_lock(token));
    BOOST_ERROR("went on");
  };
  auto const spawn = [&](auto const& ex, async_mutex& m, auto token) {
    asio::co_spawn(ex, wait(m, token, alive), asio::detached);
  };
  auto const ex = dying->get_executor();
  spawn(ex, mutex, asio::deferred);
  spawn(ex, mutex, asio::use_awaitable);
  spawn(ex, local, asio::deferred);
  spawn(ex, local, asio::use_awaitable);
  spawn(asio::make_strand(ex), local, asio::use_awaitable);
  dying->poll();
  BOOST_TEST((mutex.waiters() == 2u && local.waiters() == 3u));
  dying.reset();
  BOOST_TEST(alive.use_count() == 1);
  BOOST_TEST((mutex.waiters() == 0u && local.waiters() == 0u));
  local.unlock();
  mutex.unlock();
  BOOST_TEST(mutex.try_lock());
}

BOOST_FIXTURE_TEST_CASE(R3_a_lock_on_its_way_to_a_frame_that_is_destroyed_goes_on, held_mutex) {
  fate next;
  auto dying = std::make_unique<asio::io_context>();
  asio::co_spawn(
      *dying, [&]() -> asio::awaitable<void> { static_cast<void>(co_await mutex.async_lock()); },
      asio::detached);
  dying->poll();
  mutex.async_lock(observed_handler(next));
  BOOST_TEST(mutex.waiters() == 2u);
  mutex.unlock();
  dying.reset();
  poll();
  BOOST_TEST(next.granted());
  BOOST_TEST(!mutex.is_locked());
}

BOOST_AUTO_TEST_CASE(R3_the_loser_of_an_or_loses_no_lock) {
  using namespace asio::experimental::awaitable_operators;
  async_mutex second(context);
  run(context, [&]() -> asio::awaitable<void> {
    auto const both_free =
        co_await (mutex.async_lock(asio::use_awaitable) || second.async_lock(asio::use_awaitable));
    BOOST_TEST(both_free.index() == 0u);
    BOOST_TEST(mutex.is_locked());
    BOOST_TEST(!second.is_locked());

    asio::steady_timer timer(context, 0s);
    auto const late =
        co_await (timer.async_wait(asio::use_awaitable) || mutex.async_lock(asio::use_awaitable));
    BOOST_TEST(late.index() == 0u);
    BOOST_TEST(mutex.waiters() == 0u);
  });
  BOOST_TEST(!mutex.is_locked());
  run(context, [&]() -> asio::awaitable<void> {
    auto const [one, two] =
        co_await (mutex.async_lock(asio::use_awaitable) && second.async_lock(asio::use_awaitable));
    BOOST_TEST((one.owns_lock() && two.owns_lock()));
  });
  BOOST_TEST(!mutex.is_locked());
  BOOST_TEST(!second.is_locked());
}

BOOST_AUTO_TEST_CASE(R14_coroutines_count_on_every_executor_of_a_thread_pool) {
  using asio::any_io_executor;
  count_on_executor([](auto& pool) { return pool.get_executor(); });
  count_on_executor([](auto& pool) { return any_io_executor(pool.get_executor()); });
  count_on_executor([](auto& pool) { return asio::make_strand(pool.get_executor()); });
  count_on_executor(
      [](auto& pool) { return any_io_executor(asio::make_strand(pool.get_executor())); });
  count_on_executor(
      [](auto& pool) { return asio::make_strand(any_io_executor(pool.get_executor())); });
}

BOOST_AUTO_TEST_SUITE_END()
