// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The semaphore over a real server: weights, their limits, and the permit.

#include "redis/support/connection.hpp"
#include "redis/support/world.hpp"
#include "support/test.hpp"

#include <asio_sync/redis/async_semaphore.hpp>

#include <csignal>

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

  std::int64_t queued() { return admin({"ZCARD", "as:{five}:q"}).number; }

  connection admin{s.socket()};
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

BOOST_AUTO_TEST_CASE(cancel_and_close_concern_the_waits_of_this_object_alone) {
  async_semaphore same(io, c, "five", 5);
  auto four = take(4);
  outcome<semaphore_permit> heavy, light, theirs, waits, none, later;
  five.async_acquire(3, heavy.handler());
  five.async_acquire(2, light.handler());
  same.async_acquire(1, theirs.handler());
  BOOST_TEST(five.waiters() == 2u);
  BOOST_TEST(same.waiters() == 1u);
  BOOST_TEST_REQUIRE(soon([&] { return queued() == 3; }));
  BOOST_TEST(five.cancel() == 2u);
  BOOST_TEST(five.cancel() == 0u);
  BOOST_TEST(soon([&] { return heavy.calls && light.calls && theirs.calls; }));
  BOOST_TEST((heavy.refused(aborted) && light.refused(aborted)));
  BOOST_TEST(theirs.granted());  // the one behind them fits
  BOOST_TEST(five.waiters() == 0u);
  BOOST_TEST(!five.is_closed());
  five.async_acquire(5, waits.handler());
  five.close();
  BOOST_TEST((five.is_closed() && !same.is_closed()));
  five.async_acquire(0, none.handler());
  five.async_try_acquire(1, later.handler());
  BOOST_TEST(soon([&] { return waits.calls && none.calls && later.calls; }));
  for (auto const* each : {&waits, &none, &later}) BOOST_TEST(each->refused(closed));
  BOOST_TEST(four.guard.count() == 4);
}

BOOST_AUTO_TEST_CASE(no_permits_need_no_client_that_runs) {
  client idle(pool.get_executor(), quick(s));
  async_semaphore any(io, idle, "any", 5);
  outcome<semaphore_permit> none, timed, attempt;
  any.async_acquire(0, none.handler());
  any.async_acquire_for(0, 0s, timed.handler());
  any.async_try_acquire(0, attempt.handler());
  BOOST_TEST(soon([&] { return none.calls && timed.calls && attempt.calls; }));
  for (auto const* each : {&none, &timed, &attempt}) {
    BOOST_TEST((each->calls == 1 && !each->error && each->guard.count() == 0));
  }
  BOOST_TEST(any.waiters() == 0u);
}

BOOST_AUTO_TEST_CASE(a_wait_for_many_that_ends_lets_those_for_few_in) {
  enum class how { slot, time, end };
  for (how const h : {how::slot, how::time, how::end}) {
    std::optional<async_semaphore> brief(std::in_place, io, c, "five", 5);
    outcome<semaphore_permit> heavy, light;
    asio::cancellation_signal signal;
    auto const four = take(4);
    if (h == how::time)
      brief->async_acquire_for(3, 200ms, heavy.handler());
    else
      brief->async_acquire(3, asio::bind_cancellation_slot(signal.slot(), heavy.handler()));
    five.async_acquire(1, light.handler());
    if (h != how::time) BOOST_TEST_REQUIRE(soon([&] { return queued() == 2; }));
    if (h == how::slot) signal.emit(asio::cancellation_type::total);
    if (h == how::end) brief.reset();
    BOOST_TEST(soon([&] { return heavy.calls && light.calls; }));
    BOOST_TEST((h == how::time ? heavy.refused(timed_out) : heavy.refused(aborted)));
    BOOST_TEST(light.granted());
  }
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
