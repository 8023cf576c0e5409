// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The code in doc/recipes.md about coroutines that are cancelled, and what that page says about
// it.

#include "documents/support.hpp"

#include <asio_sync/async_auto_reset_event.hpp>
#include <asio_sync/async_mailbox.hpp>
#include <asio_sync/async_manual_reset_event.hpp>
#include <asio_sync/async_mutex.hpp>
#include <asio_sync/async_semaphore.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <exception>
#include <list>
#include <memory>
#include <utility>
#include <version>

#if defined(__cpp_lib_jthread)
#include <stop_token>
#endif

namespace recipes_cancellation_test {

namespace asio = boost::asio;
using asio::use_awaitable;
using asio_sync::async_auto_reset_event;
using asio_sync::async_mailbox;
using asio_sync::async_manual_reset_event;
using asio_sync::async_mutex;
using asio_sync::async_semaphore;
using asio_sync::test::endings;
using asio_sync::test::page_fixture;
using asio_sync::test::record;
using boost::system::error_code;
using boost::system::system_error;
using namespace std::chrono_literals;

// Never suspends while the mutex is free.
asio::awaitable<void> count_one(async_mutex& mutex, int& count) {
  auto lock = co_await mutex.async_lock();
  ++count;
}

// A worker that ends between two updates, never in the middle of one.
asio::awaitable<int> update_until_cancelled(async_mutex& mutex, record& data) {
  co_await asio::this_coro::throw_if_cancelled(false);
  for (int updates = 0;; ++updates) {
    auto const state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() != asio::cancellation_type::none) co_return updates;
    auto [error, lock] = co_await mutex.async_lock(asio::as_tuple(asio::deferred));
    if (error) co_return updates;
    co_await data.update();
  }
}

#if defined(__cpp_lib_jthread)
asio::awaitable<void> update_until_stopped(std::stop_token token, record& data) {
  async_manual_reset_event stop(co_await asio::this_coro::executor);
  std::stop_callback const bridge(std::move(token), [&stop] { stop.set(); });
  while (!stop.is_set()) {
    co_await data.update();
    auto [error] = co_await stop.async_wait_for(10min, asio::as_tuple(asio::deferred));
    if (error && error != asio::error::timed_out) throw system_error(error);
  }
}
#endif

}  // namespace recipes_cancellation_test

BOOST_FIXTURE_TEST_SUITE(recipes_cancellation_test, page_fixture)

// Without the post, the coroutine is cancelled before it begins, run() throws, and its handler is
// never called.
BOOST_AUTO_TEST_CASE(a_coroutine_that_begins_at_once_cannot_be_cancelled_before) {
  int count = 0;
  endings seen;
  asio::cancellation_signal stop;
  auto const emit = [&] { stop.emit(asio::cancellation_type::terminal); };
  auto const on_end = seen.count();
  for (int i = 0; i < 3; ++i) {
    auto const strand = asio::make_strand(context);
    asio::post(strand, emit);
    asio::post(strand, [&, strand] {  // on this executor, co_spawn begins at once
      asio::co_spawn(strand, count_one(mutex, count),
                     asio::bind_cancellation_slot(stop.slot(), on_end));
    });
    asio::post(strand, emit);
    run();
  }
  BOOST_TEST((seen.well == 3 && count == 3));
}

BOOST_AUTO_TEST_CASE(a_coroutine_that_cancels_itself_posts_that) {
  endings seen;
  asio::cancellation_signal stop;
  auto const cancels_itself = [&]() -> asio::awaitable<void> {
    auto const lock = co_await mutex.async_lock();
    asio::post(co_await asio::this_coro::executor,
               [&stop] { stop.emit(asio::cancellation_type::terminal); });
  };
  asio::co_spawn(context, cancels_itself, asio::bind_cancellation_slot(stop.slot(), seen.count()));
  run();
  BOOST_TEST(seen.all() == 1);
}

BOOST_AUTO_TEST_CASE(a_worker_ends_between_two_updates) {
  asio::cancellation_signal stop;
  int updates = -1;
  asio::co_spawn(context, update_until_cancelled(mutex, data),
                 asio::bind_cancellation_slot(stop.slot(), [&](std::exception_ptr error, int n) {
                   BOOST_TEST(!error);
                   updates = n;
                 }));
  for (int i = 0; i < 10; ++i) context.poll_one();
  asio::post(context, [&] { stop.emit(asio::cancellation_type::terminal); });
  run();
  BOOST_TEST((updates > 0 && updates == data.value));
}

BOOST_AUTO_TEST_CASE(a_wait_that_begins_after_a_cancellation_waits) {
  async_mutex::lock_type held(mutex);
  asio::cancellation_signal stop;
  bool locked = false, slept = false;
  auto const goes_on = [&]() -> asio::awaitable<void> {
    co_await asio::this_coro::throw_if_cancelled(false);
    asio::steady_timer long_timer(context, 1h), short_timer(context, 1ms);
    auto [cancelled] = co_await long_timer.async_wait(asio::as_tuple(use_awaitable));
    BOOST_TEST(cancelled == error_code(asio::error::operation_aborted));
    auto [error] = co_await short_timer.async_wait(asio::as_tuple(use_awaitable));
    slept = !error;
    auto [refused, lock] = co_await mutex.async_lock(asio::as_tuple(use_awaitable));
    locked = !refused;
  };
  endings seen;
  asio::co_spawn(context, goes_on, asio::bind_cancellation_slot(stop.slot(), seen.count()));
  poll();
  stop.emit(asio::cancellation_type::terminal);
  context.restart();
  while (!slept) context.run_one_for(1s);
  poll();
  BOOST_TEST((mutex.waiters() == 1u && !locked));
  held.unlock();
  run();
  BOOST_TEST((seen.well == 1 && locked));
}

// As it is with Asio's channels: || calls no handler twice, and drops what the loser has got.
BOOST_AUTO_TEST_CASE(of_two_that_are_ready_before_one_loses_its_signal_but_no_permit) {
  async_auto_reset_event signal(context);
  async_manual_reset_event first(context);
  async_mailbox mailbox(context);
  async_semaphore permits(context, 0, 1);
  endings seen;
  auto const beats = [&](auto loser) -> asio::awaitable<void> {
    using namespace asio::experimental::awaitable_operators;
    auto const both = co_await (first.async_wait(asio::as_tuple(use_awaitable)) || loser());
    BOOST_TEST(both.index() == 0u);
  };
  auto const token = asio::as_tuple(use_awaitable);
  first.set();
  signal.set();
  mailbox.raise(3);
  permits.release();
  asio::co_spawn(context, beats([&] { return signal.async_wait(token); }), seen.count());
  asio::co_spawn(context, beats([&] { return mailbox.async_take_any(1, token); }), seen.count());
  asio::co_spawn(context, beats([&] { return mailbox.async_wait_any(2, token); }), seen.count());
  asio::co_spawn(context, beats([&] { return permits.async_acquire(token); }), seen.count());
  run();
  BOOST_TEST(seen.well == 4);
  BOOST_TEST(!signal.is_set());
  BOOST_TEST(mailbox.peek() == 2u);  // who only looks, takes nothing away
  BOOST_TEST(permits.available() == 1);
}

BOOST_AUTO_TEST_CASE(workers_on_strands_and_two_threads) {
  for (int round = 0; round < 60; ++round) {
    async_mutex shared(context);
    std::list<asio::cancellation_signal> stops;
    endings seen;
    for (int i = 0; i < 4; ++i) {
      auto const strand = asio::make_strand(context);
      auto& stop = stops.emplace_back();
      asio::co_spawn(strand, update_until_cancelled(shared, data),
                     asio::bind_cancellation_slot(stop.slot(), seen.count()));
      if (i % 2) asio::post(strand, [&stop] { stop.emit(asio::cancellation_type::terminal); });
    }
    run_on_two_threads([&] { shared.close(); });
    BOOST_TEST(seen.well == 4);
  }
}

#if defined(__cpp_lib_jthread)
BOOST_AUTO_TEST_CASE(a_stop_token_stops_it) {
  std::stop_source source;
  endings seen;
  asio::co_spawn(context, update_until_stopped(source.get_token(), data), seen.count());
  poll();
  BOOST_TEST((data.value == 1 && seen.all() == 0));
  source.request_stop();
  asio::co_spawn(context, update_until_stopped(source.get_token(), data), seen.count());
  run();
  BOOST_TEST((seen.well == 2 && data.value == 1));
}

BOOST_AUTO_TEST_CASE(a_stop_token_stops_strands_on_two_threads) {
  for (int round = 0; round < 60; ++round) {
    std::stop_source source;
    std::list<record> records;
    endings seen;
    for (int i = 0; i < 4; ++i) {
      asio::co_spawn(asio::make_strand(context),
                     update_until_stopped(source.get_token(), records.emplace_back()),
                     seen.count());
    }
    run_on_two_threads([&] { source.request_stop(); });
    BOOST_TEST(seen.well == 4);
  }
  std::stop_source source;
  {
    asio::io_context ends_first;
    asio::co_spawn(ends_first, update_until_stopped(source.get_token(), data),
                   asio_sync::test::ended_well);
    ends_first.poll();
  }
  source.request_stop();
}
#endif

BOOST_AUTO_TEST_SUITE_END()
