// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// What is the latch's own: its count, arrivals and misuse. What its core has in common with the
// event's is in manual_reset_event_*_test.cpp, what all primitives have in test/rules.

#include "support/blocked_thread.hpp"
#include "support/test.hpp"

#include <asio_sync/async_latch.hpp>

namespace latch_test {

using namespace asio_sync::test;

constexpr std::ptrdiff_t most = std::numeric_limits<std::ptrdiff_t>::max();

struct fixture {
  asio::io_context context, other;
  async_latch one{context, 1}, two{context, 2}, three{context, 3};

  void poll() { test::poll(context, other); }

  // The outcome of a wait, which is decided at once.
  error_code outcome_of_a_wait(async_latch& latch) {
    fate f;
    latch.async_wait(observed_handler(f));
    BOOST_TEST(latch.waiters() == 0u);
    poll();
    BOOST_TEST(f.called == 1);
    return f.error;
  }

  // Likewise of an arrival, by a handler or a coroutine.
  error_code outcome_of_an_arrival(async_latch& latch, bool by_coroutine = false) {
    fate f;
    if (by_coroutine)
      asio::co_spawn(context, arrive(latch, f), asio::detached);
    else
      latch.async_arrive_and_wait(observed_handler(f));
    poll();
    BOOST_TEST(latch.waiters() == 0u);
    BOOST_TEST(f.called == 1);
    return f.error;
  }

  static asio::awaitable<void> arrive(async_latch& latch, fate& f) {
    observed_handler handler(f);
    error_code error;
    co_await latch.async_arrive_and_wait(asio::redirect_error(asio::use_awaitable, error));
    handler(error);
  }

  // How often a latch can still be counted down; it is open then.
  static int left(async_latch& latch) {
    int n = 0;
    while (!error_of([&] { latch.count_down(); })) ++n;
    return n;
  }
};

}  // namespace latch_test

BOOST_FIXTURE_TEST_SUITE(latch_test, fixture)

BOOST_AUTO_TEST_CASE(Latch_is_made_with_a_count) {
  using io_executor = asio::io_context::executor_type;
  async_latch open(context.get_executor(), 0);
  BOOST_TEST((open.try_wait() && !one.try_wait() && !three.try_wait()));
  BOOST_TEST(!async_latch(context, most).try_wait());
  basic_async_latch<io_executor> plain(context, 0);
  BOOST_TEST(plain.try_wait());
  static_assert(std::is_same_v<async_latch::rebind_executor<io_executor>::other,
                               basic_async_latch<io_executor>>);
  BOOST_TEST((plain.get_executor() == context.get_executor()));
  static_assert(noexcept(open.try_wait())&& noexcept(open.close()));
  static_assert(!std::is_move_constructible_v<async_latch>);
  static_assert(!std::is_convertible_v<asio::io_context&, async_latch>);
}

BOOST_AUTO_TEST_CASE(Latch_is_open_once_the_count_is_zero_and_stays_open) {
  for (auto const n : {1, 2}) {
    BOOST_TEST(!three.try_wait());
    BOOST_TEST(!three.wait_for(0s));
    three.count_down(n);
  }
  BOOST_TEST(three.try_wait());
  for (int i = 0; i < 2; ++i) {
    three.wait();
    BOOST_TEST(!outcome_of_a_wait(three));
  }
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

BOOST_AUTO_TEST_CASE(Latch_the_last_count_releases_all_who_wait) {
  fate f[4];
  error_code in_coroutine = aborted;
  two.async_wait(observed_handler(f[0]));
  two.async_wait_for(1h, observed_handler(f[1]));
  two.async_wait(asio::bind_executor(asio::make_strand(context), observed_handler(f[2])));
  two.async_wait_until(std::chrono::system_clock::now() + 1h,
                       asio::bind_executor(other, observed_handler(f[3])));
  asio::co_spawn(context, two.async_wait(asio::redirect_error(asio::use_awaitable, in_coroutine)),
                 asio::detached);
  std::future<void> future = two.async_wait(asio::use_future);
  poll();
  blocked_thread first(two, 7, [&] { two.wait(); });
  bool in_time = false;
  blocked_thread second(two, 8, [&] { in_time = two.wait_for(1h); });
  two.count_down();
  poll();
  BOOST_TEST(two.waiters() == 8u);
  for (auto const& each : f) BOOST_TEST(each.waits());
  two.count_down();
  BOOST_TEST((!first.join() && !second.join()));
  BOOST_TEST(in_time);
  poll();
  for (auto const& each : f) BOOST_TEST(each.granted());
  BOOST_TEST(!in_coroutine);
  BOOST_TEST(!error_of([&] { future.get(); }));
}

BOOST_AUTO_TEST_CASE(Latch_the_last_arrival_releases_all_who_wait) {
  enum class last {
    handler,
    future,
    coroutine,
    thread,
    timed,
    in_no_time,
    in_a_strand,
    elsewhere
  };
  for (last const how : {last::handler, last::future, last::coroutine, last::thread, last::timed,
                         last::in_no_time, last::in_a_strand, last::elsewhere})
    BOOST_TEST_CONTEXT("the last: " << static_cast<int>(how)) {
      async_latch latch(context, 4);
      fate waits, arrived[2], f;
      latch.async_wait(observed_handler(waits));
      latch.async_arrive_and_wait(observed_handler(arrived[0]));
      latch.async_arrive_and_wait_for(
          1h, asio::bind_executor(asio::make_strand(other), observed_handler(arrived[1])));
      bool in_time = false;
      blocked_thread thread(latch, 4, [&] { in_time = latch.arrive_and_wait_for(1h); });
      std::future<void> future;
      switch (how) {
        case last::handler: latch.async_arrive_and_wait(observed_handler(f)); break;
        case last::future: future = latch.async_arrive_and_wait(asio::use_future); break;
        case last::coroutine: asio::co_spawn(context, arrive(latch, f), asio::detached); break;
        case last::thread: latch.arrive_and_wait(); break;
        case last::timed: latch.async_arrive_and_wait_for(1h, observed_handler(f)); break;
        case last::in_no_time:
          latch.async_arrive_and_wait_until(std::chrono::steady_clock::now(), observed_handler(f));
          break;
        case last::in_a_strand:
          latch.async_arrive_and_wait(
              asio::bind_executor(asio::make_strand(context), observed_handler(f)));
          break;
        case last::elsewhere:
          latch.async_arrive_and_wait(asio::bind_executor(other, observed_handler(f)));
          break;
      }
      if (how != last::coroutine) BOOST_TEST(f.waits());
      poll();
      BOOST_TEST(!thread.join());
      BOOST_TEST(in_time);
      poll();
      BOOST_TEST(waits.granted());
      for (auto const& each : arrived) BOOST_TEST(each.granted());
      if (how == last::future)
        BOOST_TEST(!error_of([&] { future.get(); }));
      else if (how != last::thread)
        BOOST_TEST(f.granted());
      BOOST_TEST(latch.try_wait());
      BOOST_TEST(latch.waiters() == 0u);
    }
}

BOOST_AUTO_TEST_CASE(Latch_deferred_arrivals_arrive_when_they_are_launched) {
  auto never = two.async_arrive_and_wait(asio::deferred);
  auto twice = two.async_arrive_and_wait(asio::deferred);
  fate f[2];
  auto copy = twice;
  std::move(twice)(observed_handler(f[0]));
  BOOST_TEST(!two.try_wait());
  std::move(copy)(observed_handler(f[1]));
  BOOST_TEST(two.try_wait());
  poll();
  BOOST_TEST((f[0].granted() && f[1].granted()));
  static_cast<void>(never);
}

BOOST_AUTO_TEST_CASE(R1a_a_coroutine_does_not_suspend_for_what_is_open_or_as_the_last) {
  bool done = false;
  asio::co_spawn(
      context,
      [&]() -> asio::awaitable<void> {
        co_await one.async_arrive_and_wait();
        co_await one.async_wait();
        co_await one.async_wait(asio::use_awaitable);
        co_await one.async_wait_for(1h);
        co_await two.async_wait_for(0s, asio::as_tuple(asio::deferred));
        co_await three.async_arrive_and_wait_for(0s, asio::as_tuple(asio::use_awaitable));
        done = true;
      },
      asio::detached);
  context.poll_one();
  BOOST_TEST(done);
  BOOST_TEST(left(three) == 2);
}

// The budget is used up: the coroutine makes its last arrivals by way of its executor.
BOOST_AUTO_TEST_CASE(R1a_each_of_many_arrivals_in_a_row_counts_once) {
  constexpr int n = 1000;
  async_latch many(context, n);
  int refused = 0;
  asio::co_spawn(
      context,
      [&]() -> asio::awaitable<void> {
        for (int i = 0; i < n; ++i) {
          auto const [error] =
              co_await many.async_arrive_and_wait_for(0s, asio::as_tuple(asio::deferred));
          refused += error == timed_out;
        }
        BOOST_TEST(many.try_wait());
        for (int i = 0; i < n; ++i) {
          auto const [error] = co_await many.async_arrive_and_wait(asio::as_tuple(asio::deferred));
          refused += error == invalid;
        }
      },
      asio::detached);
  poll();
  BOOST_TEST(refused == 2 * n - 1);
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

BOOST_AUTO_TEST_CASE(R4_who_was_released_cannot_be_cancelled) {
  for (bool const by_arrival : {false, true}) {
    async_latch latch(context, 3);
    fate f[2], last;
    asio::cancellation_signal signals[3];
    for (int i : {0, 1})
      latch.async_arrive_and_wait(
          asio::bind_cancellation_slot(signals[i].slot(), observed_handler(f[i])));
    if (by_arrival)
      latch.async_arrive_and_wait(
          asio::bind_cancellation_slot(signals[2].slot(), observed_handler(last)));
    else
      latch.count_down();
    for (auto& each : signals) each.emit(asio::cancellation_type::all);
    BOOST_TEST(latch.cancel() == 0u);
    latch.close();
    poll();
    for (auto const& each : f) BOOST_TEST(each.granted());
    BOOST_TEST(last.granted() == by_arrival);
  }
}

BOOST_AUTO_TEST_CASE(R7_all_are_released_in_the_order_of_their_coming_the_last_arrival_too) {
  std::string order;
  auto const note = [&](char c) { return [&order, c](error_code) { order += c; }; };
  three.async_wait(note('a'));
  three.async_arrive_and_wait_for(1h, note('b'));
  asio::co_spawn(
      context,
      [&]() -> asio::awaitable<void> {
        co_await three.async_arrive_and_wait();
        order += 'c';
      },
      asio::detached);
  poll();
  three.async_wait_for(1h, note('d'));
  three.async_arrive_and_wait(note('e'));
  three.async_wait(note('f'));
  poll();
  BOOST_TEST(order == "abcdef");
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

BOOST_AUTO_TEST_CASE(R11_waits_tell_that_the_time_was_up) {
  auto const now = std::chrono::steady_clock::now();
  for (auto const time : {0ms, -5ms, 1ms}) BOOST_TEST(!one.wait_for(time));
  BOOST_TEST(!one.wait_until(now));
  BOOST_TEST(!one.wait_until(now + 2ms));
  BOOST_TEST(left(one) == 1);
  for (auto const time : {0ms, -5ms, 1ms}) BOOST_TEST(one.wait_for(time));
  BOOST_TEST(one.wait_until(now));
}

BOOST_AUTO_TEST_CASE(R15_a_negative_count_is_refused) {
  for (std::ptrdiff_t const n : {std::ptrdiff_t(-1), std::numeric_limits<std::ptrdiff_t>::min()}) {
    BOOST_TEST(error_of([&] { async_latch latch(context, n); }) == invalid);
    BOOST_TEST(error_of([&] { async_latch latch(context.get_executor(), n); }) == invalid);
    for (auto* const latch : {&one, &two}) {
      BOOST_TEST(error_of([&] { latch->count_down(n); }) == invalid);
      BOOST_TEST(!latch->try_wait());
    }
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
  async_latch open(context, 0);
  for (bool const is_closed : {false, true}) {
    if (is_closed) open.close();
    for (bool const by_coroutine : {false, true})
      BOOST_TEST(outcome_of_an_arrival(open, by_coroutine) == invalid);
    BOOST_TEST(error_of([&] { open.arrive_and_wait(); }) == invalid);
    BOOST_TEST(error_of([&] { open.arrive_and_wait_for(0s); }) == invalid);
    fate f;
    open.async_arrive_and_wait_for(-1s, observed_handler(f));
    poll();
    BOOST_TEST(f.refused(invalid));
    BOOST_TEST(open.try_wait() == !is_closed);
  }
}

BOOST_AUTO_TEST_CASE(R16_an_arrival_that_would_block_its_own_context_does_not_arrive) {
  asio::post(context, [&] {
    BOOST_TEST(error_of([&] { two.arrive_and_wait(); }) == deadlock);
    BOOST_TEST(error_of([&] { two.arrive_and_wait_for(1h); }) == deadlock);
    BOOST_TEST(error_of([&] { two.wait(); }) == deadlock);
    one.arrive_and_wait();  // need not wait
    one.wait();
    BOOST_TEST(!three.arrive_and_wait_for(0s));
  });
  poll();
  BOOST_TEST(one.try_wait());
  BOOST_TEST((left(two) == 2 && left(three) == 2));
}

BOOST_AUTO_TEST_CASE(R18_a_closed_latch_is_counted_down_and_lets_nobody_through) {
  fate waits, arrived, late[2];
  async_latch latch(context, 6);
  latch.async_wait(observed_handler(waits));
  latch.async_arrive_and_wait_for(1h, observed_handler(arrived));
  blocked_thread thread(latch, 3, [&] { latch.arrive_and_wait(); });
  latch.close();
  BOOST_TEST(thread.join() == closed);
  BOOST_TEST(latch.is_closed());
  latch.async_arrive_and_wait(observed_handler(late[0]));
  BOOST_TEST(error_of([&] { latch.arrive_and_wait(); }) == closed);
  BOOST_TEST(outcome_of_an_arrival(latch, true) == closed);
  BOOST_TEST(outcome_of_a_wait(latch) == closed);
  BOOST_TEST(error_of([&] { latch.wait(); }) == closed);
  BOOST_TEST(outcome_of_an_arrival(latch) == closed);  // the last
  BOOST_TEST(error_of([&] { latch.count_down(); }) == invalid);
  BOOST_TEST(!latch.try_wait());
  BOOST_TEST(outcome_of_a_wait(latch) == closed);
  poll();
  for (auto const* each : {&waits, &arrived, &late[0]}) BOOST_TEST(each->refused(closed));
  one.close();
  one.count_down();
  BOOST_TEST(!one.try_wait());
  BOOST_TEST(error_of([&] { one.wait_for(0s); }) == closed);
}

BOOST_AUTO_TEST_CASE(R19_arrivals_wait_like_others) {
  fate f[2];
  BOOST_TEST(three.waiters() == 0u);
  three.async_wait(observed_handler(f[0]));
  three.async_arrive_and_wait(asio::bind_executor(other, observed_handler(f[1])));
  BOOST_TEST(three.waiters() == 2u);
  three.count_down(2);
  BOOST_TEST(three.waiters() == 0u);
  poll();
  BOOST_TEST((f[0].granted() && f[1].granted()));
}

BOOST_AUTO_TEST_SUITE_END()
