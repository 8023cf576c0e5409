// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// What a mutex is without any particular token or executor.

#include "support/mutex_result.hpp"
#include "support/test.hpp"

#include <asio_sync/async_mutex.hpp>

namespace mutex_test {

using namespace asio_sync::test;

struct fixture {
  asio::io_context context;
  async_mutex mutex{context};
};

}  // namespace mutex_test

BOOST_FIXTURE_TEST_SUITE(mutex_test, fixture)

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
  BOOST_TEST((!mutex.try_lock() && !mutex.try_lock_for(1ms)));
  BOOST_TEST(!mutex.try_lock_until(std::chrono::system_clock::now() - 1s));
  mutex.unlock();
  BOOST_TEST(!mutex.is_locked());
  BOOST_TEST(mutex.try_lock());
  mutex.unlock();
}

BOOST_AUTO_TEST_CASE(R15_unlock_of_a_free_mutex_is_an_error_and_changes_nothing) {
  auto const is_refused = [&] {
    BOOST_TEST(error_of([&] { mutex.unlock(); }) == not_permitted);
    BOOST_TEST(!mutex.is_locked());
  };
  is_refused();
  BOOST_TEST(mutex.try_lock());
  mutex.unlock();
  is_refused();
  mutex_result result;
  mutex.async_lock(result.handler());
  context.poll();
  result.lock.unlock();
  is_refused();
  mutex.close();
  is_refused();
}

BOOST_AUTO_TEST_SUITE_END()
