// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Waits that give up after a time, on several contexts and executors.

#include "support/manual_queue.hpp"
#include "support/mutex_result.hpp"
#include "support/test.hpp"

#include <asio_sync/async_mutex.hpp>

#include <boost/asio/detail/reactor.hpp>

using namespace asio_sync::test;
using guard = async_mutex::lock_type;

namespace time_context_test {

// Making a timer puts the reactor into a context, for good.
bool has_timer(asio::execution_context& context) {
  return asio::has_service<asio::detail::reactor>(context);
}

}  // namespace time_context_test

BOOST_AUTO_TEST_SUITE(time_context_test)

BOOST_AUTO_TEST_CASE(R11_a_wait_expires_on_the_context_of_its_handler) {
  asio::io_context home;
  asio::io_context other;
  async_mutex mutex(home);
  BOOST_REQUIRE(mutex.try_lock());
  mutex_result bound;
  mutex_result on_strand;
  mutex.async_lock_for(1ms, asio::bind_executor(other.get_executor(), bound.handler()));
  mutex.async_lock_for(2ms, asio::bind_executor(asio::make_strand(other), on_strand.handler()));
  other.run();
  BOOST_TEST(bound.refused(timed_out));
  BOOST_TEST(on_strand.refused(timed_out));
  BOOST_TEST(!has_timer(home));
}

BOOST_AUTO_TEST_CASE(R11_waits_on_a_thread_pool_expire) {
  asio::thread_pool pool(2);
  async_mutex mutex(asio::make_strand(pool.get_executor()));
  BOOST_REQUIRE(mutex.try_lock());
  std::array<mutex_result, 20> results;
  for (int i = 0; i < 20; ++i) mutex.async_lock_for(i % 5 * 1ms, results[i].handler());
  pool.join();
  for (auto const& result : results) BOOST_TEST(result.refused(timed_out));
}

BOOST_AUTO_TEST_CASE(R11_first_timed_waits_of_two_threads_make_one_timer) {
  for (int round = 0; round < 200; ++round) {
    asio::io_context context;
    async_mutex mutex(context);
    BOOST_REQUIRE(mutex.try_lock());
    std::array<mutex_result, 2> results;
    std::atomic<int> arrived{0};  // a barrier loses wake-ups in libstdc++ 12 without a futex
    auto const wait = [&](mutex_result& result) {
      for (++arrived; arrived != 2;) std::this_thread::yield();
      mutex.async_lock_for(1us, result.handler());
    };
    std::thread other([&] { wait(results[0]); });
    wait(results[1]);
    other.join();
    context.run();
    for (auto const& result : results) BOOST_REQUIRE(result.refused(timed_out));
  }
}

BOOST_AUTO_TEST_CASE(R11_an_executor_that_does_not_run_holds_up_nobody_elses_deadline) {
  asio::io_context context;
  manual_queue queue;
  async_mutex mutex(context);
  BOOST_REQUIRE(mutex.try_lock());
  mutex_result slow;
  mutex_result prompt;
  manual_queue::executor const ex(queue, context);
  mutex.async_lock_for(1ms, asio::bind_executor(ex, slow.handler()));
  mutex.async_lock_for(2ms, prompt.handler());
  while (mutex.waiters() != 0) context.run_one();
  context.run();
  BOOST_TEST(prompt.refused(timed_out));
  BOOST_TEST(slow.calls == 0);
  BOOST_TEST(queue.size() == 1u);
  queue.run();
  BOOST_TEST(slow.refused(timed_out));
}

BOOST_AUTO_TEST_CASE(R11_a_context_of_the_users_own_has_a_timer_too) {
  struct plain_context : asio::execution_context {
    ~plain_context() { shutdown(); }
  };
  using mutex_type = asio_sync::basic_async_mutex<manual_queue::executor>;
  manual_queue queue;
  asio_sync::test::basic_mutex_result<mutex_type> result;
  {
    plain_context context;
    mutex_type mutex(manual_queue::executor(queue, context));
    BOOST_REQUIRE(mutex.try_lock());
    mutex.async_lock_for(1ms, result.handler());
    while (mutex.waiters() != 0) std::this_thread::yield();
  }
  queue.run();
  BOOST_TEST(result.refused(timed_out));
}

BOOST_AUTO_TEST_CASE(R10_a_context_that_dies_destroys_timed_waits) {
  asio::io_context home;
  auto const token = std::make_shared<int>();
  async_mutex mutex(home);
  BOOST_REQUIRE(mutex.try_lock());
  mutex_result survivor;
  {
    asio::io_context other;
    async_mutex local(other);
    BOOST_REQUIRE(local.try_lock());
    auto const never = [token](error_code, guard) { BOOST_ERROR("called"); };
    mutex.async_lock_for(1ms, asio::bind_executor(other.get_executor(), never));
    mutex.async_lock_for(1ms, survivor.handler());
    mutex.async_lock_for(1h, asio::bind_executor(asio::make_strand(other), never));
    local.async_lock_for(1ms, never);
    local.async_lock_for(1h, never);
    BOOST_TEST(token.use_count() == 6);
    BOOST_TEST(mutex.waiters() == 3u);
  }
  BOOST_TEST(token.use_count() == 1);
  BOOST_TEST(mutex.waiters() == 1u);
  home.run();
  BOOST_TEST(survivor.refused(timed_out));
}

BOOST_AUTO_TEST_SUITE_END()
