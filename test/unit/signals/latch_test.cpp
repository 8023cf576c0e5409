// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The count of a latch, arrivals that stand, and misuse.
// signals_*_test.cpp has the cases that all signals share, test/rules those of all primitives.

#include "support/test.hpp"
#include "unit/signals/subjects.hpp"

namespace latch_test {

using namespace asio_sync::test;

constexpr std::ptrdiff_t most = std::numeric_limits<std::ptrdiff_t>::max();

struct fixture {
  asio::io_context context, other;
  async_latch one{context, 1}, two{context, 2}, three{context, 3};

  void poll() { test::poll(context, other); }

  // How often a latch can still be counted down; it is open then.
  static int left(async_latch& latch) {
    int n = 0;
    while (!error_of([&] { latch.count_down(); })) ++n;
    return n;
  }
};

}  // namespace latch_test

BOOST_FIXTURE_TEST_SUITE(latch_test, fixture)

BOOST_AUTO_TEST_CASE(Latch_is_open_once_the_count_is_zero_and_stays_open) {
  for (auto const n : {1, 2}) {
    BOOST_TEST(!three.try_wait());
    BOOST_TEST(!three.wait_for(0s));
    three.count_down(n);
  }
  BOOST_TEST(three.try_wait());
  fate f[2];
  for (auto& each : f) three.wait(), three.async_wait(observed_handler(each));
  poll();
  BOOST_TEST((f[0].granted() && f[1].granted()));
  async_latch huge(context, most);
  huge.count_down(most - 1);
  BOOST_TEST(!huge.try_wait());
  huge.count_down();
  BOOST_TEST(huge.try_wait());
}

BOOST_AUTO_TEST_CASE(Latch_to_count_down_by_nothing_changes_nothing) {
  async_latch open(context, 0);
  open.count_down(0);
  one.count_down(0);
  BOOST_TEST((open.try_wait() && !one.try_wait()));
  BOOST_TEST(left(one) == 1);
  one.count_down(0);
  BOOST_TEST(one.try_wait());
}

BOOST_AUTO_TEST_CASE(R4_a_cancelled_arrival_stands) {
  fate f[3];
  asio::cancellation_signal signal;
  three.async_arrive_and_wait(asio::bind_cancellation_slot(signal.slot(), observed_handler(f[0])));
  three.async_arrive_and_wait(observed_handler(f[1]));
  signal.emit(asio::cancellation_type::total);
  BOOST_TEST(three.cancel() == 1u);
  poll();
  for (int const i : {0, 1}) BOOST_TEST(f[i].refused(aborted));
  three.async_arrive_and_wait(observed_handler(f[2]));
  BOOST_TEST(three.try_wait());
  BOOST_TEST(three.cancel() == 0u);
  poll();
  BOOST_TEST(f[2].granted());
}

BOOST_AUTO_TEST_CASE(R11_arrivals_stand_when_the_time_is_up) {
  auto const now = std::chrono::steady_clock::now();
  async_latch latch(context, 7);
  for (auto const time : {0ms, -5ms, 1ms}) BOOST_TEST(!latch.arrive_and_wait_for(time));
  BOOST_TEST(!latch.arrive_and_wait_until(std::chrono::system_clock::now() - 1h));
  BOOST_TEST(!latch.arrive_and_wait_until(now));
  fate f[2];
  latch.async_arrive_and_wait_for(0s, observed_handler(f[0]));
  poll();
  BOOST_TEST(f[0].refused(timed_out));
  BOOST_TEST(!latch.try_wait());
  BOOST_TEST(latch.arrive_and_wait_for(0s));
  BOOST_TEST(latch.try_wait());
  two.async_arrive_and_wait_for(1ms, observed_handler(f[1]));
  context.restart();
  context.run();
  BOOST_TEST(f[1].refused(timed_out));
  BOOST_TEST(left(two) == 1);
}

BOOST_AUTO_TEST_CASE(R15_to_count_down_by_a_negative_number_is_refused) {
  for (auto const n : {std::ptrdiff_t(-1), std::numeric_limits<std::ptrdiff_t>::min()})
    for (auto* const latch : {&one, &two}) {
      BOOST_TEST(error_of([&] { latch->count_down(n); }) == invalid);
      BOOST_TEST(!latch->try_wait());
    }
  BOOST_TEST((left(one) == 1 && left(two) == 2));
}

BOOST_AUTO_TEST_CASE(R15_counting_below_zero_changes_nothing) {
  fate waits;
  two.async_wait(observed_handler(waits));
  for (std::ptrdiff_t const n : {std::ptrdiff_t(3), most}) {
    BOOST_TEST(error_of([&] { two.count_down(n); }) == invalid);
    BOOST_TEST(!two.try_wait());
  }
  poll();
  BOOST_TEST(waits.waits());
  BOOST_TEST(left(two) == 2);
  BOOST_TEST(error_of([&] { two.count_down(); }) == invalid);
  poll();
  BOOST_TEST(waits.granted());
}

BOOST_AUTO_TEST_CASE(R15_an_arrival_too_many_is_refused_and_changes_nothing) {
  signals::latch open(context);
  open.count_down();
  for (bool const is_closed : {false, true}) {
    if (is_closed) open.close();
    fate f[3];
    open.async_arrive_and_wait(observed_handler(f[0]));
    open.async_arrive_and_wait_for(-1s, observed_handler(f[1]));
    asio::co_spawn(context, signals::arrive(open, false, observed_handler(f[2])), asio::detached);
    BOOST_TEST(error_of([&] { open.arrive_and_wait(); }) == invalid);
    BOOST_TEST(error_of([&] { open.arrive_and_wait_for(0s); }) == invalid);
    poll();
    for (auto const& each : f) BOOST_TEST(each.refused(invalid));
    BOOST_TEST(open.waiters() == 0u);
    BOOST_TEST(open.try_wait() == !is_closed);
  }
}

BOOST_AUTO_TEST_SUITE_END()
