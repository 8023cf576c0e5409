// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The code in doc/async_mutex.md that is in no example, and what that page says beside the rules.

#include "support/test.hpp"

#include <asio_sync/async_mutex.hpp>

BOOST_AUTO_TEST_SUITE(mutex_document_test)

using namespace asio_sync::test;

// What has a mutex as a member, and a coroutine that holds it for as long as the context lives.
struct server {
  explicit server(asio::io_context& context) : mutex(context) {}

  asio::awaitable<void> run() {
    auto lock = co_await mutex.async_lock();
    asio::steady_timer timer(co_await asio::this_coro::executor, std::chrono::hours(1));
    co_await timer.async_wait(asio::use_awaitable);
  }

  async_mutex mutex;
};

BOOST_AUTO_TEST_CASE(cancellation_by_slot) {
  asio::io_context context;
  async_mutex mutex(context);
  std::unique_lock const held(mutex);
  bool refused = false;
  asio::cancellation_signal stop;
  mutex.async_lock(asio::bind_cancellation_slot(stop.slot(), [&](error_code error, auto lock) {
    refused = error == asio::error::operation_aborted && !lock;
  }));
  stop.emit(asio::cancellation_type::total);  // on any thread
  BOOST_TEST(mutex.waiters() == 0u);
  context.run();
  BOOST_TEST(refused);
}

BOOST_AUTO_TEST_CASE(a_guard_takes_over_from_a_member_and_gives_back) {
  asio::io_context context;
  async_mutex mutex(context);
  mutex.lock();
  async_mutex::lock_type lock(mutex, std::adopt_lock);  // now the guard holds it
  lock.release();                                       // now a member does again
  mutex.unlock();
  BOOST_TEST(!mutex.is_locked());
}

BOOST_AUTO_TEST_CASE(a_coroutine_that_holds_the_guard_ends_after_the_mutex) {
  asio::io_context context;
  server echo(context);  // has the mutex as a member, and so ends before the context
  asio::co_spawn(context, echo.run(), asio::detached);
  context.poll();
  BOOST_TEST(echo.mutex.is_locked());
}

BOOST_AUTO_TEST_SUITE_END()
