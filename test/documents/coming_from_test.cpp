// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The code in doc/coming-from.md, and what that page says about it.

#include "documents/support.hpp"

#include <asio_sync/async_condition.hpp>
#include <asio_sync/async_mutex.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/experimental/concurrent_channel.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/errc.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <exception>
#include <mutex>
#include <queue>

namespace coming_from_test {

namespace asio = boost::asio;
namespace errc = boost::system::errc;
using asio::use_awaitable;
using asio_sync::async_condition;
using asio_sync::async_mutex;
using asio_sync::test::ended_well;
using asio_sync::test::page_fixture;
using asio_sync::test::record;
using boost::system::error_code;
using boost::system::system_error;
using namespace std::chrono_literals;

// As most other asynchronous mutexes are used.

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunused-result"  // clang sees the mistake
#endif
asio::awaitable<void> as_elsewhere(async_mutex& mutex, record& data) {
  co_await mutex.async_lock();  // locks, and unlocks at once: nobody keeps the guard
  co_await data.update();       // holds nothing
  mutex.unlock();               // throws operation_not_permitted
}
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

asio::awaitable<void> with_the_guard(async_mutex& mutex, record& data) {
  auto lock = co_await mutex.async_lock();
  co_await data.update();
}  // unlocks, however the scope is left

asio::awaitable<void> word_for_word(async_mutex& mutex, record& data) {
  (co_await mutex.async_lock()).release();  // now a member holds it, and no guard
  co_await data.update();
  mutex.unlock();
}

// A channel.

using token_channel = asio::experimental::concurrent_channel<void(error_code)>;

asio::awaitable<void> with_a_channel(token_channel& channel, record& data) {
  co_await channel.async_send(error_code(), use_awaitable);  // waits while it is full
  co_await data.update();                                    // must not throw
  channel.try_receive([](error_code) {});                    // makes room for the next
}

// A strand.

asio::awaitable<void> on_a_strand(asio::strand<asio::any_io_executor> strand, record& data) {
  co_await asio::post(asio::bind_executor(strand, use_awaitable));
  co_await data.update();  // others run here while it waits
}

// A timer that is used as a condition.

struct timer_lock {
  explicit timer_lock(asio::any_io_executor const& executor)
      : changed(executor, asio::steady_timer::time_point::max()) {}

  asio::steady_timer changed;
  bool busy = false;
};

asio::awaitable<void> with_a_timer(timer_lock& lock, record& data) {
  error_code ignored;
  while (lock.busy) co_await lock.changed.async_wait(asio::redirect_error(use_awaitable, ignored));
  lock.busy = true;
  co_await data.update();  // must not throw
  lock.busy = false;
  lock.changed.cancel_one();
}

asio::awaitable<void> take_with_a_timer(asio::steady_timer& changed, std::queue<int>& jobs) {
  error_code ignored;
  while (jobs.empty()) co_await changed.async_wait(asio::redirect_error(use_awaitable, ignored));
  jobs.pop();
}

asio::awaitable<void> take(async_mutex& mutex, async_condition& changed, std::queue<int>& jobs) {
  auto lock = co_await mutex.async_lock();
  auto const has_jobs = [&] { return !jobs.empty(); };
  co_await changed.async_wait(lock, has_jobs);  // lets go of the mutex, and blocks no thread
  jobs.pop();
}

// Threads.

void in_a_thread(async_mutex& mutex, record& data) {
  std::scoped_lock const lock(mutex);  // as with a std::mutex: blocks this thread
  ++data.value;
}

// Tokio's timeout(patience, mutex.lock()).

asio::awaitable<bool> with_a_limit(async_mutex& mutex, record& data) {
  auto [error, lock] = co_await mutex.async_lock_for(5s, asio::as_tuple(asio::deferred));
  if (error) co_return false;
  co_await data.update();
  co_return true;
}

}  // namespace coming_from_test

BOOST_FIXTURE_TEST_SUITE(coming_from_test, page_fixture)

BOOST_AUTO_TEST_CASE(what_locks_elsewhere_holds_nothing_here) {
  auto const refused = [](std::exception_ptr error) {
    BOOST_CHECK_EXCEPTION(std::rethrow_exception(error), system_error, [](system_error const& e) {
      return e.code() == errc::operation_not_permitted;
    });
  };
  asio::co_spawn(context, as_elsewhere(mutex, data), refused);
  asio::co_spawn(context, as_elsewhere(mutex, data), refused);
  run();
  BOOST_TEST(data.value == 1);  // an update was lost
}

BOOST_AUTO_TEST_CASE(the_guard_holds) {
  for (int i = 0; i < 3; ++i) {
    asio::co_spawn(context, with_the_guard(mutex, data), ended_well);
    asio::co_spawn(context, word_for_word(mutex, data), ended_well);
    asio::co_spawn(context, with_a_limit(mutex, data),
                   [](std::exception_ptr error, bool locked) { BOOST_TEST((!error && locked)); });
  }
  run();
  in_a_thread(mutex, data);
  BOOST_TEST(data.value == 10);
  BOOST_TEST(!mutex.is_locked());
}

BOOST_AUTO_TEST_CASE(a_channel_of_one) {
  token_channel channel(context, 1);
  for (int i = 0; i < 5; ++i) asio::co_spawn(context, with_a_channel(channel, data), ended_well);
  run();
  BOOST_TEST(data.value == 5);
}

BOOST_AUTO_TEST_CASE(a_strand_does_not_hold_across_a_suspension) {
  auto const strand = asio::make_strand(asio::any_io_executor(context.get_executor()));
  for (int i = 0; i < 5; ++i) asio::co_spawn(strand, on_a_strand(strand, data), ended_well);
  run();
  BOOST_TEST(data.value < 5);
}

BOOST_AUTO_TEST_CASE(a_timer_as_a_condition) {
  timer_lock lock(context.get_executor());
  for (int i = 0; i < 5; ++i) asio::co_spawn(context, with_a_timer(lock, data), ended_well);
  run();
  BOOST_TEST(data.value == 5);
}

BOOST_AUTO_TEST_CASE(a_condition_where_there_was_a_timer) {
  asio::steady_timer timer(context, asio::steady_timer::time_point::max());
  async_condition condition(context);
  std::queue<int> jobs;
  asio::co_spawn(context, take_with_a_timer(timer, jobs), ended_well);
  poll();
  jobs.push(1);
  timer.cancel();
  run();
  asio::co_spawn(context, take(mutex, condition, jobs), ended_well);
  poll();
  jobs.push(2);
  condition.notify_one();
  run();
  BOOST_TEST(jobs.empty());
}

BOOST_AUTO_TEST_SUITE_END()
