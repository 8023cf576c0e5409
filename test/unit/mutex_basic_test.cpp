// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// What a mutex is without any particular token or executor.

#include "support/mutex_result.hpp"

#include <asio_sync/async_mutex.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

namespace asio = boost::asio;
namespace errc = boost::system::errc;
using asio_sync::async_mutex;
using asio_sync::test::mutex_result;
using boost::system::error_code;
using boost::system::system_error;
using namespace std::chrono_literals;

auto const has_code = [](auto code) {
  return [code](system_error const& e) { return e.code() == code; };
};

// Blocks until so many wait: the order of threads in the queue, without a sleep.
void await_waiters(async_mutex const& mutex, std::size_t n) {
  while (mutex.waiters() != n) std::this_thread::yield();
}

struct fixture {
  asio::io_context context;
  async_mutex mutex{context};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(mutex_basic_test, fixture)

BOOST_AUTO_TEST_CASE(is_made_from_an_executor_or_a_context) {
  asio::thread_pool pool(1);
  asio_sync::basic_async_mutex<asio::io_context::executor_type> const of_context(context);
  asio_sync::basic_async_mutex<asio::io_context::executor_type> const of_executor(
      context.get_executor());
  async_mutex const of_strand(asio::make_strand(pool));
  async_mutex const of_pool(pool);
  asio_sync::basic_async_mutex<asio::system_executor> const of_system{asio::system_executor()};
  BOOST_TEST((of_context.get_executor() == context.get_executor()));
  BOOST_TEST((of_executor.get_executor() == context.get_executor()));
  BOOST_TEST((of_pool.get_executor() == pool.get_executor()));
  BOOST_TEST((mutex.get_executor() == context.get_executor()));
  BOOST_TEST((of_strand.get_executor() != pool.get_executor()));
  BOOST_TEST(!mutex.is_locked());
}

BOOST_AUTO_TEST_CASE(has_the_members_that_asio_expects) {
  using rebound = async_mutex::rebind_executor<asio::io_context::executor_type>::other;
  static_assert(std::is_same_v<async_mutex::executor_type, asio::any_io_executor>);
  static_assert(std::is_same_v<rebound::executor_type, asio::io_context::executor_type>);
  static_assert(std::is_same_v<async_mutex, asio_sync::basic_async_mutex<>>);
  static_assert(!std::is_copy_constructible_v<async_mutex>);
  static_assert(!std::is_move_constructible_v<async_mutex>);
  static_assert(!std::is_move_assignable_v<async_mutex>);
  static_assert(!std::is_convertible_v<asio::io_context&, async_mutex>);
  static_assert(!std::is_constructible_v<rebound, asio::thread_pool&>);
  static_assert(noexcept(mutex.try_lock())&& noexcept(mutex.is_locked()));
  static_assert(noexcept(mutex.close())&& noexcept(mutex.is_closed()));
  static_assert(noexcept(mutex.waiters())&& noexcept(mutex.get_executor()));
}

BOOST_AUTO_TEST_CASE(try_lock_locks_what_is_free) {
  BOOST_TEST(mutex.try_lock());
  BOOST_TEST(mutex.is_locked());
  BOOST_TEST(!mutex.try_lock());
  mutex.unlock();
  BOOST_TEST(!mutex.is_locked());
  BOOST_TEST(mutex.try_lock());
  mutex.unlock();
}

BOOST_AUTO_TEST_CASE(R1_completes_once_and_not_from_inside_the_initiating_function) {
  mutex_result free, queued;
  mutex.async_lock(free.handler());
  BOOST_TEST(free.calls == 0);
  BOOST_TEST(mutex.is_locked());
  mutex.async_lock(queued.handler());
  context.poll();
  BOOST_TEST(free.granted());
  BOOST_TEST(queued.calls == 0);
  free.lock.unlock();
  BOOST_TEST(queued.calls == 0);
  context.poll();
  BOOST_TEST(queued.granted());
  queued.lock.unlock();
  BOOST_TEST(context.poll() == 0u);
  BOOST_TEST(!mutex.is_locked());
}

BOOST_AUTO_TEST_CASE(R1_completes_later_inside_its_own_context_too) {
  mutex_result result;
  asio::post(context, [&] {
    mutex.async_lock(result.handler());
    BOOST_TEST(result.calls == 0);
  });
  context.poll_one();
  BOOST_TEST(result.calls == 0);
  context.poll();
  BOOST_TEST(result.granted());
}

BOOST_AUTO_TEST_CASE(R7_a_release_with_a_wait_queued_lets_nobody_barge_in) {
  mutex_result first, second;
  mutex.async_lock(first.handler());
  mutex.async_lock(second.handler());
  context.poll();
  BOOST_TEST(!mutex.try_lock());
  first.lock.unlock();
  BOOST_TEST(mutex.is_locked());  // already the second's
  BOOST_TEST(!mutex.try_lock());
  BOOST_TEST(!mutex.try_lock_for(0s));
  mutex_result third;
  mutex.async_lock(third.handler());
  context.poll();
  BOOST_TEST(second.granted());
  BOOST_TEST(third.calls == 0);
  second.lock.unlock();
  context.poll();
  BOOST_TEST(third.granted());
}

BOOST_AUTO_TEST_CASE(R7_callbacks_threads_coroutines_and_futures_share_one_queue) {
  std::vector<char> order;  // written by whoever holds the mutex
  BOOST_REQUIRE(mutex.try_lock());
  std::vector<std::thread> threads;
  std::string expected;
  std::size_t queued = 0;
  for (int round = 0; round < 3; ++round) {
    expected += "htcf";
    mutex.async_lock([&](error_code, async_mutex::lock_type) { order.push_back('h'); });
    await_waiters(mutex, ++queued);
    threads.emplace_back([&] {
      std::lock_guard const guard(mutex);
      order.push_back('t');
    });
    await_waiters(mutex, ++queued);
    asio::co_spawn(
        context,
        [&]() -> asio::awaitable<void> {
          auto const lock = co_await mutex.async_lock(asio::use_awaitable);
          order.push_back('c');
        },
        asio::detached);
    context.poll();
    await_waiters(mutex, ++queued);
    threads.emplace_back([&order, future = mutex.async_lock(asio::use_future)]() mutable {
      auto const lock = future.get();
      order.push_back('f');
    });
    await_waiters(mutex, ++queued);
  }
  mutex.unlock();
  context.run();
  for (auto& thread : threads) thread.join();
  BOOST_TEST(std::string(order.begin(), order.end()) == expected);
  BOOST_TEST(!mutex.is_locked());
}

BOOST_AUTO_TEST_CASE(R14_what_precedes_a_release_happens_before_the_completion) {
  asio::thread_pool pool(2);
  async_mutex shared(pool);
  int counter = 0;  // no atomic: the mutex orders it
  constexpr int each = 500;
  for (int i = 0; i < each; ++i)
    shared.async_lock([&](error_code, async_mutex::lock_type) { ++counter; });
  auto const by_thread = [&] {
    for (int i = 0; i < each; ++i) {
      std::lock_guard const guard(shared);
      ++counter;
    }
  };
  std::thread one(by_thread), two(by_thread);
  asio::co_spawn(
      pool,
      [&]() -> asio::awaitable<void> {
        for (int i = 0; i < each; ++i) {
          auto const lock = co_await shared.async_lock();
          ++counter;
        }
      },
      asio::detached);
  one.join();
  two.join();
  pool.join();
  BOOST_TEST(shared.try_lock());
  BOOST_TEST(counter == 4 * each);
  shared.unlock();
}

BOOST_AUTO_TEST_CASE(R15_unlock_of_a_free_mutex_is_an_error_and_changes_nothing) {
  auto const is_not_permitted = has_code(errc::make_error_code(errc::operation_not_permitted));
  BOOST_CHECK_EXCEPTION(mutex.unlock(), system_error, is_not_permitted);
  BOOST_TEST(!mutex.is_locked());
  BOOST_TEST(mutex.try_lock());
  mutex.unlock();
  BOOST_CHECK_EXCEPTION(mutex.unlock(), system_error, is_not_permitted);
  mutex_result result;
  mutex.async_lock(result.handler());
  context.poll();
  result.lock.unlock();
  BOOST_CHECK_EXCEPTION(mutex.unlock(), system_error, is_not_permitted);
  BOOST_TEST(mutex.try_lock());
  BOOST_TEST(!mutex.try_lock());
  mutex.unlock();
  mutex.close();
  BOOST_CHECK_EXCEPTION(mutex.unlock(), system_error, is_not_permitted);
}

BOOST_AUTO_TEST_CASE(R15_the_guard_throws_the_standards_error) {
  mutex_result result;
  mutex.async_lock(result.handler());
  context.poll();
  auto moved = std::move(result.lock);
  auto const is_not_permitted = has_code(errc::make_error_code(errc::operation_not_permitted));
  BOOST_CHECK_EXCEPTION(result.lock.unlock(), system_error, is_not_permitted);
  BOOST_CHECK_EXCEPTION(result.lock.lock(), system_error, is_not_permitted);
  moved.unlock();
  BOOST_CHECK_EXCEPTION(moved.unlock(), system_error, is_not_permitted);
  BOOST_TEST(!mutex.is_locked());
}

BOOST_AUTO_TEST_CASE(R16_locking_a_held_mutex_on_its_own_context_is_an_error) {
  BOOST_TEST(mutex.try_lock());
  bool called = false;
  asio::post(context, [&] {
    BOOST_CHECK_EXCEPTION(mutex.lock(), system_error,
                          has_code(errc::make_error_code(errc::resource_deadlock_would_occur)));
    mutex.unlock();
    mutex.lock();  // needs no wait
    mutex.unlock();
    called = true;
  });
  context.poll();
  BOOST_TEST(called);
}

BOOST_AUTO_TEST_CASE(R18_closing_refuses_those_who_wait_and_those_who_come) {
  mutex_result queued, later, expired;
  BOOST_REQUIRE(mutex.try_lock());
  mutex.async_lock(queued.handler());
  error_code thread_error;
  std::thread thread([&] {
    try {
      mutex.lock();
    } catch (system_error const& e) {
      thread_error = e.code();
    }
  });
  await_waiters(mutex, 2);
  BOOST_TEST(!mutex.is_closed());
  mutex.close();
  mutex.close();
  thread.join();
  BOOST_TEST(mutex.is_closed());
  BOOST_TEST(mutex.waiters() == 0u);
  BOOST_TEST(queued.calls == 0);
  context.poll();
  BOOST_TEST(queued.refused(asio_sync::error::closed));
  BOOST_TEST((thread_error == asio_sync::error::closed));
  BOOST_TEST(mutex.is_locked());
  mutex.unlock();  // the holder still may
  BOOST_TEST(!mutex.is_locked());
  BOOST_TEST(!mutex.try_lock());
  BOOST_CHECK_EXCEPTION(mutex.lock(), system_error, has_code(asio_sync::error::closed));
  BOOST_CHECK_EXCEPTION(static_cast<void>(mutex.try_lock_for(0s)), system_error,
                        has_code(asio_sync::error::closed));
  mutex.async_lock(later.handler());
  mutex.async_lock_for(0s, expired.handler());
  BOOST_TEST(later.calls == 0);
  context.restart();
  context.poll();
  BOOST_TEST(later.refused(asio_sync::error::closed));
  BOOST_TEST(expired.refused(asio_sync::error::closed));
}

BOOST_AUTO_TEST_CASE(R18_a_lock_granted_before_the_close_is_delivered) {
  mutex_result result;
  mutex.async_lock(result.handler());
  mutex.close();
  context.poll();
  BOOST_TEST(result.granted());
  result.lock.unlock();
  BOOST_TEST(!mutex.is_locked());
}

BOOST_AUTO_TEST_CASE(R19_waiters_are_those_queued_and_not_those_decided) {
  mutex_result results[4];
  BOOST_REQUIRE(mutex.try_lock());
  BOOST_TEST(mutex.waiters() == 0u);
  for (auto& result : results) mutex.async_lock(result.handler());
  BOOST_TEST(mutex.waiters() == 4u);
  mutex.unlock();  // the first is decided, and on its way
  BOOST_TEST(mutex.waiters() == 3u);
  context.poll();
  BOOST_TEST(mutex.waiters() == 3u);
  BOOST_TEST(mutex.cancel() == 3u);
  BOOST_TEST(mutex.waiters() == 0u);
  context.poll();
  BOOST_TEST(results[3].refused(asio::error::operation_aborted));
}

BOOST_AUTO_TEST_CASE(works_with_what_the_standard_has_for_mutexes) {
  async_mutex other(context);
  {
    std::scoped_lock const both(mutex, other);
    BOOST_TEST(mutex.is_locked());
    BOOST_TEST(other.is_locked());
    std::unique_lock const attempt(mutex, std::try_to_lock);
    BOOST_TEST(!attempt.owns_lock());
    std::unique_lock const timed(mutex, 1ms);
    BOOST_TEST(!timed.owns_lock());
    std::unique_lock const until(mutex, std::chrono::system_clock::now() - 1s);
    BOOST_TEST(!until.owns_lock());
  }
  std::lock(mutex, other);
  BOOST_TEST(!mutex.try_lock());
  BOOST_TEST(std::try_lock(mutex, other) == 0);
  mutex.unlock();
  BOOST_TEST(std::try_lock(mutex, other) == 1);
  other.unlock();
  BOOST_TEST(!mutex.is_locked());
  BOOST_TEST(!other.is_locked());
}

BOOST_AUTO_TEST_CASE(opposite_orders_of_std_lock_do_not_deadlock) {
  async_mutex other(context);
  int counter = 0;
  auto const use = [&](async_mutex& a, async_mutex& b) {
    for (int i = 0; i < 300; ++i) {
      std::scoped_lock const both(a, b);
      ++counter;
    }
  };
  std::thread one([&] { use(mutex, other); });
  std::thread two([&] { use(other, mutex); });
  one.join();
  two.join();
  BOOST_TEST(counter == 600);
}

BOOST_AUTO_TEST_CASE(works_with_condition_variable_any) {
  std::condition_variable_any changed;
  bool ready = false, seen = false;
  std::thread thread([&] {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return ready; });
    seen = lock.owns_lock();
  });
  {
    std::lock_guard const guard(mutex);
    ready = true;
  }
  changed.notify_all();
  thread.join();
  BOOST_TEST(seen);
  BOOST_TEST(!mutex.is_locked());
}

BOOST_AUTO_TEST_SUITE_END()
