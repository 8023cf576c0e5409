// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The semaphore over a real server: weights, their limits, and the permit.

#include "redis/support/connection.hpp"
#include "redis/support/world.hpp"

#include <asio_sync/redis/async_semaphore.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/system/errc.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <string>
#include <utility>

namespace redis_semaphore_test {

using namespace asio_sync::test::redis;

error_code const invalid = make_error_code(errc::invalid_argument);

// A semaphore of five in a world.
struct fixture : world {
  outcome<semaphore_permit> take(std::ptrdiff_t n) {
    outcome<semaphore_permit> o;
    five.async_acquire(n, o.handler());
    BOOST_TEST_REQUIRE(soon([&] { return o.calls != 0; }));
    return o;
  }

  async_semaphore five{io, c, "five", 5};
};

BOOST_FIXTURE_TEST_SUITE(semaphore_test, fixture)

BOOST_AUTO_TEST_CASE(permits_go_and_come_back) {
  BOOST_TEST(five.max() == 5);
  auto two = take(2), three = take(3);
  BOOST_TEST(two.granted());
  BOOST_TEST(two.guard.count() == 2);
  BOOST_TEST(three.guard.fence() > two.guard.fence());
  outcome<semaphore_permit> waits, attempt, zero;
  five.async_acquire(waits.handler());
  five.async_try_acquire(attempt.handler());
  five.async_acquire_for(1, 0s, zero.handler());
  BOOST_TEST(soon([&] { return attempt.calls && zero.calls; }));
  BOOST_TEST((!attempt.error && !attempt.guard));
  BOOST_TEST(zero.refused(timed_out));
  BOOST_TEST(waits.calls == 0);
  two.guard.release();
  BOOST_TEST(two.guard.count() == 0);
  BOOST_TEST(!two.guard);
  BOOST_TEST(soon([&] { return waits.calls != 0; }));
  BOOST_TEST(waits.granted());
  two.guard.release();  // nothing is left
  ending released, again;
  waits.guard.async_release(released.handler());
  waits.guard.async_release(asio::bind_executor(io, again.handler()));
  BOOST_TEST(soon([&] { return released.calls && again.calls; }));
  BOOST_TEST(released.is(error_code()));
  BOOST_TEST(again.is(not_permitted));
}

BOOST_AUTO_TEST_CASE(a_wait_for_many_is_not_overtaken_by_one_for_few) {
  auto four = take(4);
  outcome<semaphore_permit> five_of_them, one;
  five.async_acquire(5, five_of_them.handler());
  five.async_acquire(1, one.handler());
  BOOST_TEST(!soon([&] { return one.calls != 0; }, 50ms));
  four.guard = {};
  BOOST_TEST(soon([&] { return five_of_them.calls != 0; }));
  BOOST_TEST(one.calls == 0);
  five_of_them.guard.release();
  BOOST_TEST(soon([&] { return one.calls != 0; }));
}

BOOST_AUTO_TEST_CASE(weights_that_nobody_can_have_are_refused) {
  for (std::ptrdiff_t const n : {-1, 6}) BOOST_TEST(take(n).refused(invalid));
  auto none = take(0);
  BOOST_TEST((none.calls == 1 && !none.error && none.guard.count() == 0));
  five.close();
  BOOST_TEST(take(1).refused(closed));
  BOOST_TEST(take(6).refused(invalid));
}

BOOST_AUTO_TEST_CASE(threads_and_coroutines_acquire) {
  async_semaphore two(pool, c, "two", 2);
  semaphore_permit one = two.async_acquire(asio::use_future).get();
  BOOST_TEST(one.count() == 1);
  BOOST_TEST(!two.try_acquire_for(2, 10ms));
  BOOST_TEST(two.try_acquire_for(1h).count() == 1);
  BOOST_TEST(two.acquire().count() == 1);
  bool done = false;
  auto const coroutine = [&]() -> asio::awaitable<void> {
    auto permit = co_await five.async_acquire(3);
    BOOST_TEST(permit.count() == 3);
    auto attempt = co_await five.async_try_acquire(3);
    BOOST_TEST(attempt.count() == 0);
    co_await permit.async_release();
    BOOST_TEST((co_await five.async_acquire_for(5, 1h)).count() == 5);
    BOOST_TEST(
        (co_await five.async_acquire_until(std::chrono::system_clock::now() + 1h)).count() == 1);
    done = true;
  };
  asio::co_spawn(io, coroutine, asio::detached);
  BOOST_TEST(soon([&] { return done; }));
}

BOOST_AUTO_TEST_CASE(permits_are_lost_with_the_session) {
  auto two = take(2);
  ending lost, released;
  two.guard.async_wait_lost(lost.handler());
  ::kill(s.id(), SIGSTOP);
  BOOST_TEST(soon([&] { return lost.calls != 0; }, 3s));
  ::kill(s.id(), SIGCONT);
  BOOST_TEST(lost.is(error_code()));
  BOOST_TEST(two.guard.count() == 0);
  BOOST_TEST(two.guard.fence() == 0u);
  two.guard.async_release(released.handler());
  BOOST_TEST(soon([&] { return released.calls != 0; }));
  BOOST_TEST(released.is(lease_lost));
  BOOST_TEST(take(5).granted());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_semaphore_test
