// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Cases that all signals share, and that are no rules: signals are made, come in every way, and
// are closed, and their waits and arrivals take time.

#include "support/blocked_thread.hpp"
#include "support/event_result.hpp"
#include "support/test.hpp"
#include "unit/signals/subjects.hpp"

namespace signals_test {

using namespace asio_sync::test;
using namespace asio_sync::test::signals;

template <template <class> class Basic>
void check_made(asio::io_context& context, auto const&... args) {
  using signal = Basic<asio::any_io_executor>;
  using io_executor = asio::io_context::executor_type;
  signal const of_executor(context.get_executor(), args...);
  Basic<io_executor> plain(context, args...);
  BOOST_TEST((of_executor.get_executor() == context.get_executor()));
  BOOST_TEST((plain.get_executor() == context.get_executor()));
  static_assert(std::is_same_v<typename signal::template rebind_executor<io_executor>::other,
                               Basic<io_executor>>);
  static_assert(noexcept(plain.close()) && !std::is_move_constructible_v<signal> &&
                !std::is_convertible_v<asio::io_context&, signal>);
  if constexpr (requires { plain.set(); })
    static_assert(noexcept(plain.set())&& noexcept(plain.reset()));
  if constexpr (requires { plain.take(1); })
    static_assert(noexcept(plain.raise(1))&& noexcept(plain.take(1)));
}

}  // namespace signals_test

BOOST_FIXTURE_TEST_SUITE(signals_test, fixture)

BOOST_AUTO_TEST_CASE(Signals_are_made_of_an_executor_or_a_context) {
  check_made<basic_async_auto_reset_event>(context);
  check_made<basic_async_manual_reset_event>(context, true);
  check_made<basic_async_latch>(context, 1);
  check_made<basic_async_barrier>(context, 1);
  check_made<basic_async_mailbox>(context);
  over<auto_reset, manual_reset, latch, barrier, mailbox>(
      [&]<class Signal>(of<Signal>) { BOOST_TEST(!Signal(context).opened()); });
}

BOOST_AUTO_TEST_CASE(Signals_release_participants_of_every_kind_however_they_come) {
  over<manual_reset, latch, barrier>([&]<class Signal>(of<Signal>) {
    for (last const how : ways_to_come<Signal>())
      BOOST_TEST_CONTEXT("it comes: " << static_cast<int>(how)) {
        Signal signal(context, 7);
        fate f[4], end;
        bool leads = false, in_time = false;
        signal.begin(observed_handler(f[0]));
        signal.begin_for(1h,
                         asio::bind_executor(asio::make_strand(other), observed_handler(f[1])));
        signal.begin(asio::bind_executor(other, observed_handler(f[2])));
        asio::co_spawn(context, arrive(signal, false, observed_handler(f[3])), asio::detached);
        auto future = signal.begin(asio::use_future);
        poll();
        blocked_thread first(signal, 6, [&] {
          if constexpr (Signal::leads)
            leads = signal.block();
          else
            signal.block();
        });
        blocked_thread second(signal, 7, [&] { in_time = bool(signal.block_for(1h)); });
        for (auto const& each : f) BOOST_TEST(each.waits());
        come(signal, how, other, observed_handler(end));
        poll();
        BOOST_TEST((!first.join() && !second.join()));
        BOOST_TEST((in_time && !leads));
        poll();
        BOOST_TEST((signal.opened() && signal.waiters() == 0u));
        BOOST_TEST(!error_of([&] { static_cast<void>(future.get()); }));
        for (int i : {1, 2, 3}) BOOST_TEST(followed<Signal>(f[i]));
        bool const drops = how == last::release || how == last::inside;
        BOOST_TEST((released(f[0]) && f[0].owned == (!Signal::leads || drops)));  // the oldest
        BOOST_TEST(end.granted());
      }
  });
}

BOOST_AUTO_TEST_CASE(Signals_deferred_arrivals_arrive_when_they_are_launched) {
  over<latch, barrier>([&]<class Signal>(of<Signal>) {
    Signal signal(context, 1);
    [[maybe_unused]] auto const never = signal.begin(asio::deferred);
    auto twice = signal.begin(asio::deferred);
    auto copy = twice;
    fate f[2];
    std::move(twice)(observed_handler(f[0]));
    BOOST_TEST((!signal.opened() && signal.waiters() == 1u));
    std::move(copy)(observed_handler(f[1]));
    BOOST_TEST(signal.opened());
    poll();
    BOOST_TEST((followed<Signal>(f[0]) && f[1].granted()));
  });
}

BOOST_AUTO_TEST_CASE(R1a_a_coroutine_does_not_suspend_as_the_last) {
  over<latch, barrier>([&]<class Signal>(of<Signal>) {
    asio::io_context home;
    Signal one[4] = {Signal(home), Signal(home), Signal(home), Signal(home, 1)};
    bool done = false;
    auto const coroutine = [&]() -> asio::awaitable<void> {
      static_cast<void>(co_await one[0].begin(asio::as_tuple(asio::deferred)));
      static_cast<void>(co_await one[1].begin(asio::as_tuple(asio::use_awaitable)));
      static_cast<void>(co_await one[2].begin_for(0s, asio::as_tuple(asio::deferred)));
      auto const late = co_await one[3].begin_for(0s, asio::as_tuple(asio::use_awaitable));
      done = std::get<0>(late) == timed_out;
    };
    asio::co_spawn(home, coroutine(), asio::detached);
    home.poll_one();
    BOOST_TEST(done);
    for (int i : {0, 1, 2}) BOOST_TEST(one[i].opened());
    BOOST_TEST(one[3].ahead() ==
               (Signal::leads ? 2 : 1));  // without time nobody comes to a barrier
  });
}

// The budget is used up: the coroutine makes some of its arrivals by way of its executor.
BOOST_AUTO_TEST_CASE(R1a_each_of_many_arrivals_in_a_row_counts_once) {
  over<latch, barrier>([&]<class Signal>(of<Signal>) {
    constexpr int n = 1000;
    Signal signal(context, Signal::leads ? 0 : n - 1);
    int granted = 0, late = 0, invalid_ones = 0;
    auto const coroutine = [&]() -> asio::awaitable<void> {
      for (int i = 0; i < 2 * n; ++i) {
        auto const completion = co_await signal.begin_for(0s, asio::as_tuple(asio::deferred));
        granted += !std::get<0>(completion);
        late += std::get<0>(completion) == timed_out;
        invalid_ones += std::get<0>(completion) == invalid;
      }
    };
    asio::co_spawn(context, coroutine(), asio::detached);
    poll();
    if constexpr (Signal::leads)
      BOOST_TEST((granted == 2 * n && signal.phases == 2 * n));
    else
      BOOST_TEST((granted == 1 && late == n - 1 && invalid_ones == n));
  });
}

BOOST_AUTO_TEST_CASE(R4_who_was_released_cannot_be_cancelled) {
  for (last const how : {last::release, last::handler})
    over<manual_reset, latch, barrier>([&]<class Signal>(of<Signal>) {
      Signal signal(context, 2);
      fate f[2], end;
      asio::cancellation_signal cancels[3];
      auto const cancellable = [&](int i, fate& each) {
        return asio::bind_cancellation_slot(cancels[i].slot(), observed_handler(each));
      };
      for (int i : {0, 1}) signal.begin(cancellable(i, f[i]));
      come(signal, Signal::arrives ? how : last::release, other, cancellable(2, end));
      if constexpr (!Signal::arrives) signal.lower();
      for (auto& each : cancels) each.emit(asio::cancellation_type::all);
      BOOST_TEST(signal.cancel() == 0u);
      signal.close();
      poll();
      BOOST_TEST((released(f[0]) && released(f[1]) && end.granted()));
    });
}

BOOST_AUTO_TEST_CASE(R7_all_are_released_in_the_order_of_their_coming) {
  over<manual_reset, latch, barrier>([&]<class Signal>(of<Signal>) {
    std::string order;
    auto const note = [&](char c) { return [&order, c](error_code, auto...) { order += c; }; };
    Signal signal(context, 4);
    signal.begin(note('a'));
    signal.begin_for(2h, note('b'));
    asio::co_spawn(context, arrive(signal, false, note('c')), asio::detached);
    poll();
    signal.begin_for(1h, note('d'));
    if (!Signal::arrives) signal.release();
    signal.begin(note('e'));
    poll();
    BOOST_TEST(order == "abcde");
  });
}

BOOST_AUTO_TEST_CASE(R11_blocking_forms_tell_that_the_time_was_up) {
  over<auto_reset, manual_reset>([&]<class Signal>(of<Signal>) {
    Signal event(context);
    auto const now = std::chrono::steady_clock::now();
    auto const system_now = std::chrono::system_clock::now();
    for (bool const set : {false, true}) {
      if (set) event.release();
      auto const check = [&](bool in_time) {
        BOOST_TEST(in_time == set);
        BOOST_TEST(event.opened() == (set && !Signal::takes));
        if (set) event.release();
      };
      for (auto const time : {0ms, -5ms, 1ms}) check(event.wait_for(time));
      check(event.wait_until(now));
      check(event.wait_until(system_now - 1h));
      check(event.wait_until(now + 2ms));
      BOOST_TEST((set || std::chrono::steady_clock::now() >= now + 2ms));
      BOOST_TEST(event.waiters() == 0u);
    }
    event.lower();
    bool in_time = false;
    blocked_thread thread(event, [&] { in_time = event.wait_until(system_now + 1h); });
    event.release();
    BOOST_TEST((!thread.join() && in_time));
    event.close();
    BOOST_TEST(error_of([&] { event.wait_for(1h); }) == closed);
    BOOST_TEST(error_of([&] { event.wait_until(now); }) == closed);
  });
}

BOOST_AUTO_TEST_CASE(R15_a_count_that_is_too_small_is_refused) {
  auto const check = [&](auto make, std::ptrdiff_t least) {
    for (std::ptrdiff_t const n :
         {std::ptrdiff_t(-1), std::numeric_limits<std::ptrdiff_t>::min(), least - 1})
      BOOST_TEST(error_of([&] { make(n); }) == invalid);
    make(least);
  };
  check([&](auto n) { async_latch(context, n); }, 0);
  check([&](auto n) { async_latch(context.get_executor(), n); }, 0);
  check([&](auto n) { async_barrier(context, n); }, 1);
  check([&](auto n) { async_barrier(context.get_executor(), n); }, 1);
}

BOOST_AUTO_TEST_CASE(R16_an_arrival_that_would_block_its_own_context_does_not_arrive) {
  over<latch, barrier>([&]<class Signal>(of<Signal>) {
    Signal one(context), two(context, 1), three(context, 2);
    asio::post(context, [&] {
      BOOST_TEST(error_of([&] { two.block(); }) == deadlock);
      BOOST_TEST(error_of([&] { static_cast<void>(two.block_for(1h)); }) == deadlock);
      BOOST_TEST(!three.block_for(0s));
      one.block();  // need not wait
    });
    poll();
    BOOST_TEST(one.opened());
    BOOST_TEST((two.ahead() == 2 && three.ahead() == (Signal::leads ? 3 : 2)));
  });
}

BOOST_AUTO_TEST_CASE(R18_a_closed_signal_lets_nobody_through_and_is_given_all_the_same) {
  over<auto_reset, manual_reset, latch, barrier, mailbox>([&]<class Signal>(of<Signal>) {
    constexpr std::size_t waits = 7;
    Signal signal(context, waits);
    fate queued, late[3];
    signal.begin_for(1h, observed_handler(queued));
    std::optional<blocked_thread> thread;
    if constexpr (Signal::blocks) thread.emplace(signal, 2, [&] { signal.block(); });
    BOOST_TEST(!signal.is_closed());
    signal.close();
    signal.close();
    BOOST_TEST(signal.is_closed());
    if (thread) BOOST_TEST(thread->join() == closed);
    if constexpr (!Signal::arrives)
      for (bool const set : {true, true, false, false, true}) {
        set ? signal.release() : signal.lower();
        BOOST_TEST(signal.opened() == set);
      }
    signal.begin(observed_handler(late[0]));
    signal.begin_for(0s, observed_handler(late[1]));
    asio::co_spawn(context, arrive(signal, false, observed_handler(late[2])), asio::detached);
    if constexpr (Signal::blocks) {
      BOOST_TEST(error_of([&] { signal.block(); }) == closed);
      BOOST_TEST(error_of([&] { static_cast<void>(signal.block_for(0s)); }) == closed);
    }
    poll();
    for (auto const* each : {&queued, &late[0], &late[1], &late[2]})
      BOOST_TEST(each->refused(closed));
    BOOST_TEST(signal.waiters() == 0u);
    BOOST_TEST(signal.opened() != Signal::arrives);  // nobody has taken it
    if constexpr (Signal::arrives) {
      for (std::size_t left = Signal::leads ? waits + 1 : 1; left > 0; --left) signal.release();
      BOOST_TEST(error_of([&] { signal.release(); }) == invalid);
      Signal last(context);
      last.close();
      BOOST_TEST(error_of([&] { last.block(); }) == closed);
      BOOST_TEST((!signal.opened() && !last.opened()));
    }
  });
}

BOOST_AUTO_TEST_CASE(R19_nobody_waits_while_those_released_are_on_their_way) {
  over<auto_reset, manual_reset, latch, barrier, mailbox>([&]<class Signal>(of<Signal>) {
    Signal signal(context, 3);
    fate f[3];
    signal.begin(observed_handler(f[0]));
    signal.begin_for(1h, asio::bind_executor(other, observed_handler(f[1])));
    signal.begin(observed_handler(f[2]));
    BOOST_TEST(signal.waiters() == 3u);
    signal.release();
    BOOST_TEST(signal.waiters() == (Signal::takes ? 2u : 0u));
    for (auto const& each : f) BOOST_TEST(each.waits());
    release_all(signal);
    poll();
    for (auto const& each : f) BOOST_TEST(released(each));
  });
}

BOOST_AUTO_TEST_SUITE_END()
