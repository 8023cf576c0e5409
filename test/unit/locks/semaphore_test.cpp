// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// What is the semaphore's own: weights, their order, and counts out of range. What it has in
// common with other primitives is in test/rules.

#include "support/blocked_thread.hpp"
#include "support/coroutine.hpp"
#include "support/executors.hpp"
#include "support/test.hpp"

#include <asio_sync/async_semaphore.hpp>

namespace semaphore_test {

using namespace asio_sync::test;

constexpr std::ptrdiff_t most = async_semaphore::max_permits;

// What has come of a wait; it keeps the permits.
struct result {
  int calls = 0;
  error_code error;
  semaphore_permit permit;

  auto handler() {
    return [this](error_code e, semaphore_permit p) {
      ++calls;
      error = e;
      permit = std::move(p);
    };
  }
  bool granted(std::ptrdiff_t n) const { return calls == 1 && !error && permit.count() == n; }
  bool refused(error_code e) const { return calls == 1 && error == e && permit.count() == 0; }
  bool waits() const { return calls == 0; }
};

struct fixture {
  asio::io_context context;

  void poll() { test::poll(context); }

  // What all forms but try_acquire() do with n.
  void expect_of_all_forms(async_semaphore& s, std::ptrdiff_t n, error_code expected) {
    auto const later = std::chrono::steady_clock::now() + 1h;
    result r[3];
    s.async_acquire(n, r[0].handler());
    s.async_acquire_for(n, 1h, r[1].handler());
    s.async_acquire_until(n, later, r[2].handler());
    auto future = s.async_acquire(n, asio::use_future);
    BOOST_TEST(s.waiters() == 0u);
    poll();
    for (auto const& each : r) {
      BOOST_TEST(each.error == expected);
      BOOST_TEST(each.permit.count() == (expected ? 0 : n));
    }
    BOOST_TEST(error_of([&] { static_cast<void>(future.get()); }) == expected);
    for (error_code const e : {
             error_of([&] { static_cast<void>(s.acquire(n)); }),
             error_of([&] { static_cast<void>(s.try_acquire_for(n, 0s)); }),
             error_of([&] { static_cast<void>(s.try_acquire_for(n, 1h)); }),
             error_of([&] { static_cast<void>(s.try_acquire_until(n, later)); }),
         })
      BOOST_TEST(e == expected);
    run(context, [&]() -> asio::awaitable<void> {
      auto [e, p] = co_await s.async_acquire(n, asio::as_tuple(asio::deferred));
      BOOST_TEST(e == expected);
      auto [f, q] = co_await s.async_acquire_for(n, 1h, asio::as_tuple(asio::use_awaitable));
      BOOST_TEST(f == expected);
    });
  }
};

// How the head of a queue leaves it.
enum class leaves { by_grant, by_slot, by_time, by_context };

}  // namespace semaphore_test

BOOST_FIXTURE_TEST_SUITE(semaphore_test, fixture)

BOOST_AUTO_TEST_CASE(R15_constructor_wants_permits_between_0_and_max) {
  auto const made = [&](std::ptrdiff_t permits, std::ptrdiff_t max) {
    return error_of([&] {
      async_semaphore const s(context, permits, max);
      BOOST_TEST(s.available() == permits);
      BOOST_TEST(s.max() == max);
    });
  };
  BOOST_TEST(!made(0, 0));
  BOOST_TEST(!made(3, 3));
  BOOST_TEST(!made(most, most));
  BOOST_TEST(made(-1, 3) == invalid);
  BOOST_TEST(made(4, 3) == invalid);
  BOOST_TEST(made(0, -1) == invalid);
  BOOST_TEST(made(PTRDIFF_MIN, PTRDIFF_MIN) == invalid);
  if (most < PTRDIFF_MAX) {
    BOOST_TEST(made(0, most + 1) == invalid);
    BOOST_TEST(made(PTRDIFF_MAX, PTRDIFF_MAX) == invalid);
  }
  BOOST_TEST(async_semaphore(context, 2).max() == most);
  BOOST_TEST(async_semaphore(context.get_executor(), 2).available() == 2);
}

BOOST_AUTO_TEST_CASE(R15_counts_out_of_range_are_refused_in_every_form) {
  async_semaphore s(context, 2, 3);
  // Some of them are 0, 1 or 2 once they are multiplied.
  for (std::ptrdiff_t const n :
       {std::ptrdiff_t(-1), std::ptrdiff_t(4), most, PTRDIFF_MAX, PTRDIFF_MAX - 15, PTRDIFF_MIN,
        PTRDIFF_MAX / 8 + 1, PTRDIFF_MAX / 8 + 2, PTRDIFF_MAX / 2 + 3}) {
    expect_of_all_forms(s, n, invalid);
    BOOST_TEST(error_of([&] { static_cast<void>(s.try_acquire(n)); }) == invalid);
  }
  BOOST_TEST(error_of([&] { static_cast<void>(s.try_acquire(0)); }) == invalid);
  BOOST_TEST(s.available() == 2);
}

BOOST_AUTO_TEST_CASE(zero_permits_are_acquired_at_once_whoever_waits) {
  for (std::ptrdiff_t const max : {0, 2}) {
    async_semaphore s(context, 0, max);
    result head;
    if (max > 0) s.async_acquire(2, head.handler());
    {
      result r;
      s.async_acquire(0, r.handler());
      s.cancel();  // the head, not that
      poll();
      BOOST_TEST(r.granted(0));
      BOOST_TEST(!r.permit);
    }
    BOOST_TEST(!s.acquire(0));
    BOOST_TEST(!s.try_acquire_for(0, 0s));
    run(context, [&]() -> asio::awaitable<void> {
      for (int i = 0; i < 300; ++i) BOOST_TEST(!co_await s.async_acquire(0));
    });
    BOOST_TEST(s.available() == 0);
    s.close();
    expect_of_all_forms(s, 0, closed);
  }
}

BOOST_AUTO_TEST_CASE(R18_a_closed_semaphore_takes_permits_back_and_hands_none_out) {
  async_semaphore s(context, 3, 5);
  semaphore_permit held = s.try_acquire(2);
  s.close();
  held.release();
  s.release(2);
  BOOST_TEST(s.available() == 5);
  BOOST_TEST(!s.try_acquire());
  expect_of_all_forms(s, 1, closed);
  BOOST_TEST(s.available() == 5);
}

BOOST_AUTO_TEST_CASE(R15_release_above_the_maximum_changes_nothing) {
  async_semaphore s(context, 2, 5);
  result head;
  for (bool const queued : {false, true}) {
    if (queued) s.async_acquire(3, head.handler());
    for (std::ptrdiff_t const n : {std::ptrdiff_t(4), std::ptrdiff_t(6), most, PTRDIFF_MAX,
                                   PTRDIFF_MAX - 1, PTRDIFF_MAX - 15, PTRDIFF_MAX / 16 + 2})
      BOOST_TEST(error_of([&] { s.release(n); }) == too_large);
    BOOST_TEST(error_of([&] { s.release(-1); }) == invalid);
    BOOST_TEST(error_of([&] { s.release(PTRDIFF_MIN); }) == invalid);
    BOOST_TEST(s.available() == 2);
  }
  BOOST_TEST(s.waiters() == 1u);
  s.release(0);
  BOOST_TEST(s.waiters() == 1u);
  s.release(3);
  BOOST_TEST(s.available() == 2);
  poll();
  BOOST_TEST(head.granted(3));
}

BOOST_AUTO_TEST_CASE(permits_that_come_back_above_the_maximum_are_dropped) {
  async_semaphore s(context, 5, 5);
  semaphore_permit first = s.try_acquire(3), second = s.try_acquire(2);
  s.release(4);
  first.release();
  BOOST_TEST(s.available() == 5);
  second.release();
  BOOST_TEST(s.available() == 5);
  BOOST_TEST(error_of([&] { s.release(); }) == too_large);
  // So are those that come back to a queue, or in a grant that is dropped.
  semaphore_permit all = s.try_acquire(5), more;
  s.release(4);
  result head;
  s.async_acquire(5, head.handler());
  all.release();
  poll();
  BOOST_TEST(head.granted(5));
  BOOST_TEST(s.available() == 0);
  head.permit.release();
  {
    asio::io_context dying;
    s.async_acquire(3, asio::bind_executor(dying, [](error_code, semaphore_permit) {}));
    s.release(3);
  }
  BOOST_TEST(s.available() == 5);
}

BOOST_AUTO_TEST_CASE(forget_leaves_the_permits_to_a_later_release) {
  async_semaphore s(context, 10, 10);
  semaphore_permit p = s.try_acquire(3);
  BOOST_TEST(p.forget() == 3);
  BOOST_TEST(p.forget() == 0);
  BOOST_TEST(!p);
  BOOST_TEST(s.available() == 7);
  s.release(3);
  BOOST_TEST(s.available() == 10);
}

BOOST_AUTO_TEST_CASE(max_permits_count_bytes) {
  static_assert(most >= (std::ptrdiff_t(1) << 36) - 1 || most == PTRDIFF_MAX);
  async_semaphore s(context, most);
  semaphore_permit all = s.try_acquire(most);
  BOOST_TEST(all.count() == most);
  BOOST_TEST(s.available() == 0);
  result r;
  s.async_acquire(most, r.handler());
  semaphore_permit half = all.split(most / 2);
  all.release();
  BOOST_TEST(s.available() == most - most / 2);
  half.release();
  poll();
  BOOST_TEST(r.granted(most));
  r.permit.release();
  BOOST_TEST(s.available() == most);
  run(context, [&]() -> asio::awaitable<void> {
    BOOST_TEST((co_await s.async_acquire(most)).count() == most);
  });
  BOOST_TEST(error_of([&] { s.release(); }) == too_large);
}

BOOST_AUTO_TEST_CASE(weights_are_acquired_as_one_and_given_back_as_one) {
  async_semaphore s(context, 5, 5);
  result r;
  s.async_acquire(3, r.handler());
  poll();
  BOOST_TEST(r.granted(3));
  BOOST_TEST(s.available() == 2);
  BOOST_TEST(!s.try_acquire(3));
  BOOST_TEST(s.try_acquire(2).count() == 2);
  result next;
  s.async_acquire(4, next.handler());
  s.release(0);
  BOOST_TEST(next.waits());
  BOOST_TEST(s.available() == 2);
  r.permit.release();
  BOOST_TEST(s.available() == 1);
  poll();
  BOOST_TEST(next.granted(4));
}

BOOST_AUTO_TEST_CASE(R7_small_waits_behind_a_large_one) {
  async_semaphore s(context, 4, 10);
  result large, small[3];
  s.async_acquire(6, large.handler());
  for (auto& each : small) s.async_acquire(each.handler());
  BOOST_TEST(!s.try_acquire());
  BOOST_TEST(!s.try_acquire_for(0s));
  blocked_thread thread(s, 5, [&] { static_cast<void>(s.acquire(2)); });
  s.release(1);
  poll();
  BOOST_TEST(s.waiters() == 5u);
  s.release(3);  // the large one, and two of the small
  BOOST_TEST(s.waiters() == 2u);
  BOOST_TEST(s.available() == 0);
  poll();
  BOOST_TEST((large.granted(6) && small[0].granted(1) && small[1].granted(1)));
  BOOST_TEST(small[2].waits());
  s.release(2);  // the last, and one is left for the thread
  BOOST_TEST((s.waiters() == 1u && s.available() == 1));
  s.release(1);
  BOOST_TEST(!thread.join());
}

BOOST_AUTO_TEST_CASE(R7_followers_of_a_head_that_leaves_enter_at_once) {
  for (leaves how : {leaves::by_grant, leaves::by_slot, leaves::by_time, leaves::by_context})
    BOOST_TEST_CONTEXT("head leaves " << static_cast<int>(how)) {
      async_semaphore s(context, 2, 5);
      asio::cancellation_signal signal;
      std::optional<asio::io_context> dying(std::in_place);
      result head, followers[2], last;
      if (how == leaves::by_time)
        s.async_acquire_for(5, 1ms, asio::bind_executor(*dying, head.handler()));
      else
        s.async_acquire(5, asio::bind_cancellation_slot(
                               signal.slot(), asio::bind_executor(*dying, head.handler())));
      for (auto& each : followers) s.async_acquire(each.handler());
      s.async_acquire(3, last.handler());
      BOOST_TEST(s.waiters() == 4u);
      if (how == leaves::by_grant) s.release(3);
      if (how == leaves::by_slot) signal.emit(asio::cancellation_type::partial);
      if (how == leaves::by_time) dying->run();
      if (how == leaves::by_grant) dying->run();
      if (how == leaves::by_context) dying.reset();
      BOOST_TEST(s.waiters() == (how == leaves::by_grant ? 3u : 1u));
      if (how == leaves::by_grant) head.permit.split(3).release();
      poll();
      for (auto const& each : followers) BOOST_TEST(each.granted(1));
      BOOST_TEST(last.waits());
      if (how == leaves::by_time) BOOST_TEST(head.refused(timed_out));
      BOOST_TEST(s.cancel() == 1u);
      poll();
    }
}

BOOST_AUTO_TEST_CASE(R7_followers_of_a_wait_in_the_middle_that_leaves_stay) {
  async_semaphore s(context, 1, 5);
  asio::cancellation_signal signal;
  result head, middle, last;
  s.async_acquire(2, head.handler());
  s.async_acquire(5, asio::bind_cancellation_slot(signal.slot(), middle.handler()));
  s.async_acquire(1, last.handler());
  signal.emit(asio::cancellation_type::total);
  BOOST_TEST(s.waiters() == 2u);
  s.release(2);
  poll();
  BOOST_TEST((head.granted(2) && middle.refused(aborted) && last.granted(1)));
}

BOOST_AUTO_TEST_CASE(R3_a_dropped_grant_of_many_permits_lets_many_in) {
  async_semaphore s(context, 0, 200);
  std::vector<result> r(200);
  {
    asio::io_context dying;
    s.async_acquire(200, asio::bind_executor(dying, [](error_code, semaphore_permit) {}));
    for (auto& each : r) s.async_acquire(each.handler());
    s.release(200);
    BOOST_TEST(s.waiters() == 200u);
  }
  BOOST_TEST(s.waiters() == 0u);
  poll();
  for (auto const& each : r) BOOST_TEST(each.granted(1));
}

BOOST_AUTO_TEST_SUITE_END()
