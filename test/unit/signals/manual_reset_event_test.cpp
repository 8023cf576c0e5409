// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// What is the event's own: set() and reset(), completions that carry nothing, and one set() for
// all who wait. What it has in common with other primitives is in test/rules.

#include "support/blocked_thread.hpp"
#include "support/test.hpp"

#include <asio_sync/async_manual_reset_event.hpp>

namespace manual_reset_event_test {

using namespace asio_sync::test;

struct fixture {
  asio::io_context context, other;
  async_manual_reset_event event{context};

  void poll() { test::poll(context, other); }

  // The outcome of a wait, which is decided at once.
  error_code outcome_of_a_wait() {
    fate f;
    event.async_wait(observed_handler(f));
    BOOST_TEST(event.waiters() == 0u);
    poll();
    BOOST_TEST(f.called == 1);
    return f.error;
  }
};

}  // namespace manual_reset_event_test

BOOST_FIXTURE_TEST_SUITE(manual_reset_event_test, fixture)

BOOST_AUTO_TEST_CASE(Event_is_made_set_or_not) {
  using io_executor = asio::io_context::executor_type;
  BOOST_TEST(!event.is_set());
  BOOST_TEST(!async_manual_reset_event(context.get_executor()).is_set());
  BOOST_TEST(async_manual_reset_event(context.get_executor(), true).is_set());
  async_manual_reset_event set(context, true);
  BOOST_TEST(set.is_set());
  BOOST_TEST(set.wait_for(0s));
  BOOST_TEST(!event.wait_for(0s));
  basic_async_manual_reset_event<io_executor> plain(context, true);
  BOOST_TEST(plain.is_set());
  static_assert(std::is_same_v<async_manual_reset_event::rebind_executor<io_executor>::other,
                               basic_async_manual_reset_event<io_executor>>);
  BOOST_TEST((plain.get_executor() == context.get_executor()));
  static_assert(noexcept(event.set())&& noexcept(event.reset())&& noexcept(event.close()));
  static_assert(!std::is_move_constructible_v<async_manual_reset_event>);
}

BOOST_AUTO_TEST_CASE(Event_set_releases_all_who_wait_and_all_who_come_until_it_is_reset) {
  fate f[4];
  error_code in_coroutine = aborted;
  event.async_wait(observed_handler(f[0]));
  event.async_wait_for(1h, observed_handler(f[1]));
  event.async_wait(asio::bind_executor(asio::make_strand(context), observed_handler(f[2])));
  event.async_wait_for(1h, asio::bind_executor(other, observed_handler(f[3])));
  asio::co_spawn(context,
                 event.async_wait(asio::redirect_error(asio::use_awaitable, in_coroutine)),
                 asio::detached);
  std::future<void> future = event.async_wait(asio::use_future);
  poll();
  blocked_thread first(event, 7, [&] { event.wait(); });
  bool in_time = false;
  blocked_thread second(event, 8, [&] { in_time = event.wait_for(1h); });
  for (auto const& each : f) BOOST_TEST(each.waits());
  event.set();
  BOOST_TEST(event.is_set());
  BOOST_TEST((!first.join() && !second.join()));
  BOOST_TEST(in_time);
  poll();
  for (auto const& each : f) BOOST_TEST(each.granted());
  BOOST_TEST(!in_coroutine);
  BOOST_TEST(!error_of([&] { future.get(); }));
  BOOST_TEST(!outcome_of_a_wait());
  BOOST_TEST(!outcome_of_a_wait());
  event.wait();
  event.reset();
  BOOST_TEST(!event.is_set());
  BOOST_TEST(!event.wait_for(0s));
}

BOOST_AUTO_TEST_CASE(Event_set_followed_at_once_by_reset_releases_all_who_waited_and_no_others) {
  for (int round = 0; round < 3; ++round) {
    fate before[3], after[2];
    event.async_wait(observed_handler(before[0]));
    event.async_wait_for(1h, asio::bind_executor(other, observed_handler(before[1])));
    event.async_wait(asio::bind_executor(asio::make_strand(other), observed_handler(before[2])));
    blocked_thread thread(event, 4, [&] { event.wait(); });
    event.set();
    event.reset();
    event.async_wait(observed_handler(after[0]));
    event.async_wait_for(1h, observed_handler(after[1]));
    BOOST_TEST(!thread.join());
    poll();
    for (auto const& each : before) BOOST_TEST(each.granted());
    for (auto const& each : after) BOOST_TEST(each.waits());
    BOOST_TEST(event.waiters() == 2u);
    BOOST_TEST(event.cancel() == 2u);
    poll();
    for (auto const& each : after) BOOST_TEST(each.refused(aborted));
  }
}

BOOST_AUTO_TEST_CASE(Event_to_set_what_is_set_and_to_reset_what_is_not_changes_nothing) {
  event.reset();
  event.reset();
  fate f;
  event.async_wait(observed_handler(f));
  event.reset();
  BOOST_TEST(event.waiters() == 1u);
  event.set();
  event.set();
  poll();
  BOOST_TEST(f.granted());
  BOOST_TEST(event.is_set());
  event.reset();  // one is enough
  BOOST_TEST(!event.is_set());
  event.set();
  BOOST_TEST(!outcome_of_a_wait());
}

BOOST_AUTO_TEST_CASE(Event_who_waits_again_in_his_completion_is_not_released_twice) {
  struct again {
    async_manual_reset_event& event;
    int& calls;
    void operator()(error_code e) {
      if (e) return;
      ++calls;
      event.async_wait(again(*this));
    }
  };
  int calls[3] = {};
  for (int& each : calls) event.async_wait(again{event, each});
  for (int round = 1; round <= 4; ++round) {
    event.set();
    event.reset();
    poll();
    for (int const each : calls) BOOST_TEST(each == round);
    BOOST_TEST(event.waiters() == 3u);
  }
  event.cancel();
  poll();
  BOOST_TEST(event.waiters() == 0u);
}

BOOST_AUTO_TEST_CASE(R3_a_completion_that_is_dropped_takes_nothing_along) {
  fate dropped[2], granted;
  {
    asio::io_context dying;
    event.async_wait(asio::bind_executor(dying, observed_handler(dropped[0])));
    event.async_wait_for(1h, asio::bind_executor(dying, observed_handler(dropped[1])));
    event.async_wait(observed_handler(granted));
    event.set();
    event.reset();
  }
  BOOST_TEST((dropped[0].dropped() && dropped[1].dropped()));
  BOOST_TEST(!event.is_set());
  poll();
  BOOST_TEST(granted.granted());
}

BOOST_AUTO_TEST_CASE(R4_who_was_cancelled_in_the_middle_is_not_released) {
  fate f[5];
  asio::cancellation_signal signals[5];
  for (int i = 0; i < 5; ++i)
    event.async_wait(asio::bind_cancellation_slot(signals[i].slot(), observed_handler(f[i])));
  for (int i : {0, 2, 4}) signals[i].emit(asio::cancellation_type::terminal);
  BOOST_TEST(event.waiters() == 2u);
  event.set();
  for (auto& each : signals) each.emit(asio::cancellation_type::all);
  BOOST_TEST(event.cancel() == 0u);
  poll();
  for (int i : {0, 2, 4}) BOOST_TEST(f[i].refused(aborted));
  for (int i : {1, 3}) BOOST_TEST(f[i].granted());
}

BOOST_AUTO_TEST_CASE(R4_a_reset_does_not_make_those_released_ones_to_cancel) {
  fate f[2];
  asio::cancellation_signal signals[2];
  for (int i : {0, 1})
    event.async_wait(asio::bind_cancellation_slot(signals[i].slot(), observed_handler(f[i])));
  event.set();
  event.reset();
  for (auto& each : signals) each.emit(asio::cancellation_type::terminal);
  BOOST_TEST(event.cancel() == 0u);
  event.close();
  poll();
  for (auto const& each : f) BOOST_TEST(each.granted());
}

BOOST_AUTO_TEST_CASE(R7_all_are_released_in_the_order_of_their_coming) {
  std::string order;
  auto const note = [&](char c) { return [&order, c](error_code) { order += c; }; };
  event.async_wait(note('a'));
  event.async_wait_for(1h, note('b'));
  asio::co_spawn(
      context,
      [&]() -> asio::awaitable<void> {
        co_await event.async_wait();
        order += 'c';
      },
      asio::detached);
  poll();
  event.async_wait(asio::any_completion_handler<void(error_code)>(note('d')));
  event.async_wait_for(2h, note('e'));
  event.set();
  event.async_wait(note('f'));
  poll();
  BOOST_TEST(order == "abcdef");
}

BOOST_AUTO_TEST_CASE(R11_blocking_forms_tell_that_the_time_was_up) {
  auto const now = std::chrono::steady_clock::now();
  auto const system_now = std::chrono::system_clock::now();
  for (auto const time : {0ms, -5ms, 1ms}) BOOST_TEST(!event.wait_for(time));
  BOOST_TEST(!event.wait_until(now));
  BOOST_TEST(!event.wait_until(system_now - 1h));
  BOOST_TEST(!event.wait_until(now + 2ms));
  BOOST_TEST((std::chrono::steady_clock::now() >= now + 2ms));
  BOOST_TEST(event.waiters() == 0u);
  event.set();
  for (auto const time : {0ms, -5ms, 1ms}) BOOST_TEST(event.wait_for(time));
  BOOST_TEST(event.wait_until(now));
  BOOST_TEST(event.wait_until(system_now - 1h));
  event.reset();
  bool in_time = false;
  blocked_thread thread(event, [&] { in_time = event.wait_until(system_now + 1h); });
  event.set();
  BOOST_TEST(!thread.join());
  BOOST_TEST(in_time);
  event.close();
  for (bool const set : {true, false}) {
    if (!set) event.reset();
    BOOST_TEST(error_of([&] { event.wait_for(1h); }) == closed);
    BOOST_TEST(error_of([&] { event.wait_for(0s); }) == closed);
    BOOST_TEST(error_of([&] { event.wait_until(now); }) == closed);
  }
}

BOOST_AUTO_TEST_CASE(R18_a_closed_event_may_be_set_and_reset_and_lets_nobody_through) {
  fate queued;
  event.async_wait_for(1h, observed_handler(queued));
  blocked_thread thread(event, 2, [&] { event.wait_for(1h); });
  event.close();
  BOOST_TEST(thread.join() == closed);
  BOOST_TEST(!event.is_set());
  for (bool const set : {true, true, false, false, true}) {
    set ? event.set() : event.reset();
    BOOST_TEST(event.is_set() == set);
    BOOST_TEST(event.is_closed());
    BOOST_TEST(outcome_of_a_wait() == closed);
    BOOST_TEST(error_of([&] { event.wait(); }) == closed);
  }
  BOOST_TEST(queued.refused(closed));
  async_manual_reset_event was_set(context, true);
  was_set.close();
  BOOST_TEST(was_set.is_set());
  BOOST_TEST(error_of([&] { was_set.wait(); }) == closed);
}

BOOST_AUTO_TEST_CASE(R19_nobody_waits_while_those_released_are_on_their_way) {
  fate f[2];
  BOOST_TEST(event.waiters() == 0u);
  event.async_wait(observed_handler(f[0]));
  event.async_wait_for(1h, asio::bind_executor(other, observed_handler(f[1])));
  blocked_thread thread(event, 3, [&] { event.wait(); });
  event.set();
  BOOST_TEST(event.waiters() == 0u);
  BOOST_TEST(!thread.join());
  event.reset();
  fate later;
  event.async_wait(observed_handler(later));
  BOOST_TEST(event.waiters() == 1u);
  poll();
  BOOST_TEST((f[0].granted() && f[1].granted() && later.waits()));
  BOOST_TEST(event.cancel() == 1u);
  BOOST_TEST(event.waiters() == 0u);
  poll();
}

BOOST_AUTO_TEST_SUITE_END()
