// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// One set() of an auto-reset event is for one wait, which takes it.
// signals_*_test.cpp has the cases that all signals share, test/rules those of all primitives.

#include "support/blocked_thread.hpp"
#include "support/coroutine.hpp"
#include "support/event_result.hpp"
#include "support/executors.hpp"
#include "support/test.hpp"

#include <asio_sync/async_auto_reset_event.hpp>

namespace auto_reset_event_test {

using namespace asio_sync::test;

struct fixture {
  asio::io_context context, other;
  async_auto_reset_event event{context};

  void poll() { test::poll(context, other); }
};

}  // namespace auto_reset_event_test

BOOST_FIXTURE_TEST_SUITE(auto_reset_event_test, fixture)

BOOST_AUTO_TEST_CASE(Event_is_made_set_or_not) {
  async_auto_reset_event set(context, true);
  BOOST_TEST((set.is_set() && !event.is_set()));
  BOOST_TEST((set.wait_for(0s) && !set.is_set()));
}

BOOST_AUTO_TEST_CASE(Event_k_sets_release_exactly_k) {
  for (std::size_t sets : {1u, 3u, 6u}) {
    outcomes o;
    for (int i = 0; i < 3; ++i) {
      event.async_wait(counted_handler(o));
      event.async_wait_for(1h, asio::bind_executor(other, counted_handler(o)));
    }
    for (std::size_t i = 0; i < sets; ++i) event.set();
    BOOST_TEST(!event.is_set());
    BOOST_TEST(event.waiters() == 6 - sets);
    poll();
    BOOST_TEST(o.granted == sets);
    BOOST_TEST(event.cancel() == 6 - sets);
    poll();
    BOOST_TEST(o.refused == 6 - sets);
  }
}

BOOST_AUTO_TEST_CASE(Event_a_set_is_remembered_once_and_taken_by_one) {
  for (int i = 0; i < 3; ++i) event.set();
  BOOST_TEST(event.is_set());
  fate f[2];
  event.async_wait(observed_handler(f[0]));
  BOOST_TEST(!event.is_set());
  event.async_wait(observed_handler(f[1]));
  poll();
  BOOST_TEST((f[0].granted() && f[1].waits()));
  event.set();
  event.set();  // remembered
  BOOST_TEST(event.is_set());
  poll();
  BOOST_TEST(f[1].granted());
  event.wait();
  BOOST_TEST(!event.is_set());
}

BOOST_AUTO_TEST_CASE(Event_reset_takes_what_is_remembered_and_not_what_was_granted) {
  event.reset();
  event.set();
  event.reset();
  BOOST_TEST((!event.is_set() && !event.wait_for(0s)));
  fate f;
  event.async_wait(observed_handler(f));
  event.reset();
  BOOST_TEST(event.waiters() == 1u);
  event.set();
  event.reset();
  poll();
  BOOST_TEST(f.granted());
  BOOST_TEST(!event.is_set());
}

BOOST_AUTO_TEST_CASE(R3_a_completion_that_is_dropped_passes_the_signal_on_or_sets_again) {
  for (bool const somebody_waits : {true, false}) {
    fate dropped, next;
    {
      asio::io_context dying;
      event.async_wait(asio::bind_executor(dying, observed_handler(dropped)));
      if (somebody_waits) event.async_wait_for(1h, observed_handler(next));
      event.set();
      BOOST_TEST(!event.is_set());
    }
    BOOST_TEST(dropped.dropped());
    BOOST_TEST(event.is_set() != somebody_waits);
    poll();
    BOOST_TEST(next.granted() == somebody_waits);
  }
  BOOST_TEST(event.wait_for(0s));
  fate at_once;
  event.async_wait(asio::bind_executor(dropping_executor(context), observed_handler(at_once)));
  event.set();
  BOOST_TEST(at_once.dropped());
  BOOST_TEST(event.is_set());
}

BOOST_AUTO_TEST_CASE(R3_the_loser_of_two_waits_takes_nothing_along) {
  using namespace asio::experimental::awaitable_operators;
  async_auto_reset_event second(context);
  run(context, [&]() -> asio::awaitable<void> {
    asio::post(context, [&] { second.set(); });
    auto const won =
        co_await (event.async_wait(asio::use_awaitable) || second.async_wait(asio::use_awaitable));
    BOOST_TEST(won.index() == 1u);
  });
  event.set();
  BOOST_TEST(event.is_set());
  BOOST_TEST(!second.is_set());
}

BOOST_AUTO_TEST_CASE(R4_a_cancellation_leaves_the_signal_to_others_also_after_set) {
  fate f[3];
  asio::cancellation_signal signals[3];
  for (int i = 0; i < 3; ++i)
    event.async_wait(asio::bind_cancellation_slot(signals[i].slot(), observed_handler(f[i])));
  signals[0].emit(asio::cancellation_type::terminal);
  event.set();
  signals[1].emit(asio::cancellation_type::all);
  BOOST_TEST(event.waiters() == 1u);
  BOOST_TEST(event.cancel() == 1u);
  poll();
  BOOST_TEST((f[0].refused(aborted) && f[1].refused(aborted) && f[2].refused(aborted)));
  BOOST_TEST(event.is_set());
}

BOOST_AUTO_TEST_CASE(R4_a_signal_that_comes_back_is_like_a_set_at_that_moment) {
  fate f;
  asio::cancellation_signal signal;
  auto const release_and_cancel = [&] {
    f = fate();
    event.async_wait(asio::bind_cancellation_slot(signal.slot(), observed_handler(f)));
    event.set();
    signal.emit(asio::cancellation_type::total);
  };
  release_and_cancel();
  event.reset();  // before it comes back
  poll();
  BOOST_TEST(f.refused(aborted));
  BOOST_TEST(event.is_set());
  event.reset();
  release_and_cancel();
  event.set();  // with which it merges
  poll();
  BOOST_TEST(event.is_set());
  event.reset();
  BOOST_TEST(!event.is_set());
}

BOOST_AUTO_TEST_CASE(R7_waits_of_every_kind_are_released_in_the_order_of_their_coming) {
  std::string order;
  auto const note = [&](char c) { return [&, c](error_code e) { order += e ? '-' : c; }; };
  event.async_wait(note('a'));
  asio::co_spawn(
      context,
      [&]() -> asio::awaitable<void> {
        co_await event.async_wait();
        order += 'b';
      },
      asio::detached);
  poll();
  blocked_thread thread(event, 3, [&] { event.wait(); });
  event.async_wait_for(1h, asio::bind_executor(asio::make_strand(context), note('d')));
  std::future<void> future = event.async_wait(asio::use_future);
  event.set();
  event.set();
  poll();
  BOOST_TEST(order == "ab");
  BOOST_TEST(event.waiters() == 3u);
  event.set();
  BOOST_TEST(!thread.join());
  event.set();
  poll();
  BOOST_TEST(order == "abd");
  BOOST_TEST((future.wait_for(0s) == std::future_status::timeout));
  event.set();
  poll();
  BOOST_CHECK_NO_THROW(future.get());
}

BOOST_AUTO_TEST_CASE(R7_nobody_gets_the_signal_that_is_on_its_way_to_a_wait) {
  fate queued, late;
  event.async_wait(observed_handler(queued));
  event.set();
  BOOST_TEST(!event.wait_for(0s));
  event.async_wait_for(0s, observed_handler(late));
  poll();
  BOOST_TEST((queued.granted() && late.refused(timed_out)));
}

BOOST_AUTO_TEST_SUITE_END()
