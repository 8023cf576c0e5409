// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The blocking forms, for threads that run no executor.

#include "support/blocked_thread.hpp"
#include "support/test.hpp"

#include <asio_sync/async_mutex.hpp>

using namespace asio_sync::test;

namespace thread_test {

auto carries(error_code expected) {
  return [expected](system_error const& e) { return e.code() == expected; };
}

// On a thread of the mutex's own context: refuses to wait, and does all that need not wait.
template <class Executor>
void check_on_own_context(Executor const& ex) {
  basic_async_mutex<Executor> mutex(ex);
  std::promise<void> checked;
  asio::post(ex, [&] {
    mutex.lock();
    BOOST_CHECK_EXCEPTION(mutex.lock(), system_error, carries(deadlock));
    BOOST_CHECK_EXCEPTION(static_cast<void>(mutex.try_lock_for(1h)), system_error,
                          carries(deadlock));
    BOOST_CHECK_EXCEPTION(
        static_cast<void>(mutex.try_lock_until(std::chrono::steady_clock::now() + 1h)),
        system_error, carries(deadlock));
    BOOST_TEST(!mutex.try_lock_for(0s));
    BOOST_TEST(!mutex.try_lock_until(std::chrono::steady_clock::now() - 1h));
    BOOST_TEST(mutex.waiters() == 0u);
    mutex.unlock();
    BOOST_TEST(mutex.try_lock_for(1h));
    mutex.close();
    BOOST_CHECK_EXCEPTION(mutex.lock(), system_error, carries(closed));
    mutex.unlock();
    BOOST_CHECK_EXCEPTION(static_cast<void>(mutex.try_lock_for(1h)), system_error,
                          carries(closed));
    checked.set_value();
  });
  checked.get_future().wait();
}

// Every executor over the context that is looked through.
template <class Context>
void check_executors_of(Context& context) {
  asio::any_io_executor const any = context.get_executor();
  check_on_own_context(context.get_executor());
  check_on_own_context(any);
  check_on_own_context(asio::make_strand(context.get_executor()));
  check_on_own_context(asio::make_strand(any));
  check_on_own_context(asio::any_io_executor(asio::make_strand(context.get_executor())));
  check_on_own_context(asio::any_io_executor(asio::make_strand(any)));
}

}  // namespace thread_test

BOOST_AUTO_TEST_SUITE(thread_test)

BOOST_AUTO_TEST_CASE(R16_threads_exclude_each_other) {
  asio::io_context context;
  async_mutex mutex(context);
  int counter = 0;
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        std::scoped_lock const lock(mutex);
        ++counter;
      }
    });
  for (auto& thread : threads) thread.join();
  BOOST_TEST(counter == 2000);
  BOOST_TEST(!mutex.is_locked());
}

BOOST_AUTO_TEST_CASE(R16_a_thread_that_runs_the_io_context_must_not_block) {
  asio::io_context context;
  auto const work = asio::make_work_guard(context);
  std::thread thread([&] { context.run(); });
  check_executors_of(context);
  context.stop();
  thread.join();
}

BOOST_AUTO_TEST_CASE(R16_a_thread_of_the_thread_pool_must_not_block) {
  asio::thread_pool pool(1);
  check_executors_of(pool);
  pool.join();
}

BOOST_AUTO_TEST_CASE(R9_the_thread_that_gets_it_may_destroy_it) {
  asio::io_context context;
  for (int i = 0; i < 300; ++i) {
    auto mutex = std::make_unique<async_mutex>(context);
    async_mutex& same = *mutex;
    BOOST_REQUIRE(same.try_lock());
    blocked_thread thread(same, [&] {
      mutex->lock();
      mutex->unlock();
      mutex.reset();
    });
    same.unlock();
    BOOST_REQUIRE(!thread.join());
    BOOST_REQUIRE(!mutex);
  }
}

BOOST_AUTO_TEST_CASE(R11_a_thread_gives_up_after_the_time) {
  asio::io_context context;
  async_mutex mutex(context);
  BOOST_REQUIRE(mutex.try_lock());
  BOOST_TEST(!mutex.try_lock_for(0s));
  BOOST_TEST(!mutex.try_lock_for(-1s));
  BOOST_TEST(!mutex.try_lock_for(1ms));
  BOOST_TEST(!mutex.try_lock_until(std::chrono::steady_clock::now() + 1ms));
  BOOST_TEST(!mutex.try_lock_until(std::chrono::system_clock::now() + 1ms));
  BOOST_TEST(mutex.waiters() == 0u);
  mutex.unlock();
  BOOST_TEST(mutex.try_lock_for(0s));
  mutex.unlock();
  BOOST_TEST(mutex.try_lock_until(std::chrono::steady_clock::now() - 1h));
}

BOOST_AUTO_TEST_CASE(R11_a_thread_may_wait_for_the_longest_time) {
  asio::io_context context;
  async_mutex mutex(context);
  BOOST_REQUIRE(mutex.try_lock());
  bool locked = false;
  blocked_thread thread(mutex, [&] { locked = mutex.try_lock_for(std::chrono::hours::max()); });
  mutex.unlock();
  BOOST_TEST(!thread.join());
  BOOST_TEST(locked);
}

BOOST_AUTO_TEST_CASE(R11_expiry_against_grant_loses_no_lock) {
  asio::io_context context;
  async_mutex mutex(context);
  int counter = 0;
  std::atomic<int> granted = 0;
  std::vector<std::thread> threads;
  threads.reserve(3);
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        if (!mutex.try_lock_for(std::chrono::microseconds(i % 20))) continue;
        ++counter;
        ++granted;
        std::this_thread::yield();
        mutex.unlock();
      }
    });
  for (auto& thread : threads) thread.join();
  BOOST_TEST(counter == granted);
  BOOST_TEST(mutex.waiters() == 0u);
  BOOST_TEST(mutex.try_lock());
}

BOOST_AUTO_TEST_SUITE_END()
