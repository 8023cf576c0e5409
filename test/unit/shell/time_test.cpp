// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Waits that give up after a time.

#include "support/mutex_result.hpp"
#include "support/test.hpp"

#include <asio_sync/async_mutex.hpp>

#include <boost/asio/detail/reactor.hpp>

using namespace asio_sync::test;
using guard = async_mutex::lock_type;
using clock_type = std::chrono::steady_clock;

namespace time_test {

// Making a timer puts the reactor into a context, for good.
bool has_timer(asio::execution_context& context) {
  return asio::has_service<asio::detail::reactor>(context);
}

void wait_until(clock_type::time_point point) {
  while (clock_type::now() <= point) std::this_thread::yield();
}

}  // namespace time_test

BOOST_AUTO_TEST_SUITE(time_test)

BOOST_AUTO_TEST_CASE(R11_zero_and_negative_time_try_once) {
  asio::io_context context;
  async_mutex mutex(context);
  for (auto const time : {0ns, -1ns, std::chrono::nanoseconds::min()}) {
    mutex_result first;
    mutex_result second;
    mutex.async_lock_for(time, first.handler());
    mutex.async_lock_for(time, second.handler());
    BOOST_TEST(mutex.waiters() == 0u);
    BOOST_TEST(first.calls + second.calls == 0);
    context.restart();
    context.run();
    BOOST_TEST(first.granted());
    BOOST_TEST(second.refused(timed_out));
  }
  mutex_result past;
  mutex.async_lock_until(clock_type::now() - 1h, past.handler());
  BOOST_TEST(mutex.is_locked());
  context.restart();
  context.run();
  BOOST_TEST(past.granted());
  BOOST_TEST(!has_timer(context));
}

BOOST_AUTO_TEST_CASE(R11_an_expired_wait_leaves_at_once_and_those_behind_move_up) {
  asio::io_context context;
  async_mutex mutex(context);
  BOOST_REQUIRE(mutex.try_lock());
  mutex_result timed;
  mutex_result plain;
  mutex.async_lock_for(1ms, timed.handler());
  mutex.async_lock(plain.handler());
  BOOST_TEST(mutex.waiters() == 2u);
  while (mutex.waiters() == 2) context.run_one();
  BOOST_TEST(mutex.waiters() == 1u);
  mutex.unlock();
  context.run();
  BOOST_TEST(timed.refused(timed_out));
  BOOST_TEST(plain.granted());
}

BOOST_AUTO_TEST_CASE(R11_nothing_keeps_run_when_the_last_timed_wait_is_gone) {
  asio::io_context context;
  async_mutex mutex(context);
  mutex_result result;
  auto const expect = [&](error_code error) {
    context.restart();
    context.run();  // the watchdog would end a run that waits for the hour
    BOOST_TEST((error ? result.refused(error) : result.granted()));
    result = mutex_result();
  };
  asio::cancellation_signal signal;
  BOOST_REQUIRE(mutex.try_lock());
  mutex.async_lock_for(1h, result.handler());
  BOOST_TEST(mutex.cancel() == 1u);
  expect(aborted);
  mutex.async_lock_for(1h, asio::bind_cancellation_slot(signal.slot(), result.handler()));
  context.restart();
  context.poll();
  signal.emit(asio::cancellation_type::total);
  expect(aborted);
  mutex.async_lock_for(1h, result.handler());
  mutex.unlock();
  expect({});
  std::optional<async_mutex> dying(context);
  BOOST_REQUIRE(dying->try_lock());
  dying->async_lock_for(1h, result.handler());
  dying.reset();
  expect(aborted);
  BOOST_REQUIRE(mutex.try_lock());
  mutex.async_lock_for(1h, result.handler());
  mutex.close();
  expect(closed);
}

BOOST_AUTO_TEST_CASE(R11_waits_expire_in_the_order_of_their_deadlines) {
  asio::io_context context;
  async_mutex first(context);
  async_mutex second(context);
  BOOST_REQUIRE(first.try_lock());
  BOOST_REQUIRE(second.try_lock());
  std::vector<int> order;
  bool queued = false;  // all of them, before the first deadline
  for (auto ahead = 20ms; !queued && ahead < 1min; ahead *= 2) {
    order.clear();
    auto const start = clock_type::now() + ahead;
    // The earliest comes while the timer runs for a later one.
    for (int const i : {9, 3, 7, 1, 8, 2, 6, 4, 5}) {
      (i % 2 ? first : second)
          .async_lock_until(start + i * 1ms, [&order, i](error_code error, guard) {
            BOOST_TEST(error == timed_out);
            order.push_back(i);
          });
      context.restart();
      context.poll();
    }
    queued = first.waiters() + second.waiters() == 9;
    context.restart();
    context.run();
  }
  BOOST_TEST(queued);
  BOOST_TEST(order == (std::vector{1, 2, 3, 4, 5, 6, 7, 8, 9}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(R11_an_earlier_deadline_is_heard_of_by_a_timer_that_runs) {
  asio::io_context context;
  async_mutex mutex(context);
  BOOST_REQUIRE(mutex.try_lock());
  mutex_result late;
  mutex_result early;
  mutex.async_lock_for(1h, late.handler());
  context.poll();
  mutex.async_lock_for(1ms, early.handler());
  while (early.calls == 0) context.run_one();
  BOOST_TEST(early.refused(timed_out));
  BOOST_TEST(late.calls == 0);
  mutex.unlock();
  context.run();
  BOOST_TEST(late.granted());
}

BOOST_AUTO_TEST_CASE(R11_the_longest_times_do_not_overflow) {
  asio::io_context context;
  async_mutex mutex(context);
  BOOST_REQUIRE(mutex.try_lock());
  std::array<mutex_result, 3> results;
  mutex.async_lock_for(std::chrono::hours::max(), results[0].handler());
  mutex.async_lock_until(clock_type::time_point::max(), results[1].handler());
  mutex.async_lock_until(std::chrono::system_clock::time_point::max(), results[2].handler());
  context.poll();
  BOOST_TEST(mutex.waiters() == 3u);
  mutex.unlock();
  for (auto& result : results) {
    context.run_one();
    while (result.calls == 0) context.run_one();
    BOOST_TEST(result.granted());
    result.lock.unlock();
  }
}

BOOST_AUTO_TEST_CASE(R11_a_wait_that_does_not_queue_makes_no_timer) {
  asio::io_context context;
  async_mutex mutex(context);
  for (int i = 0; i < 300; ++i) {
    mutex_result free;
    mutex.async_lock_for(1h, free.handler());
    context.restart();
    context.run();
    BOOST_TEST(free.granted());
  }
  mutex_result held;
  BOOST_REQUIRE(mutex.try_lock());
  mutex.close();
  mutex.async_lock_for(1h, held.handler());
  context.restart();
  context.run();
  BOOST_TEST(held.refused(closed));
  BOOST_TEST(!has_timer(context));
}

BOOST_AUTO_TEST_CASE(R11_a_deferred_operation_counts_from_its_launch) {
  asio::io_context context;
  async_mutex mutex(context);
  BOOST_REQUIRE(mutex.try_lock());
  auto operation = mutex.async_lock_for(5ms, asio::deferred);
  auto fixed = mutex.async_lock_until(clock_type::now() + 5ms, asio::deferred);
  wait_until(clock_type::now() + 5ms);
  mutex_result relative;
  mutex_result absolute;
  std::move(operation)(relative.handler());
  BOOST_TEST(mutex.waiters() == 1u);
  std::move(fixed)(absolute.handler());
  BOOST_TEST(mutex.waiters() == 1u);
  mutex.unlock();
  context.run();
  BOOST_TEST(relative.granted());
  BOOST_TEST(absolute.refused(timed_out));
}

BOOST_AUTO_TEST_SUITE_END()
