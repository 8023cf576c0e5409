// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The completion tokens of waits for an event.

#include "support/coroutine.hpp"
#include "support/test.hpp"

#include <asio_sync/async_manual_reset_event.hpp>

namespace manual_reset_event_tokens_test {

using namespace asio_sync::test;

struct fixture {
  asio::io_context context;
  async_manual_reset_event event{context};
  int times_set = 0;

  // Resets the event; it is set once the caller has suspended.
  void set_later() {
    event.reset();
    asio::post(context, [&] { ++times_set, event.set(); });
  }
};

}  // namespace manual_reset_event_tokens_test

BOOST_FIXTURE_TEST_SUITE(manual_reset_event_tokens_test, fixture)

BOOST_AUTO_TEST_CASE(R1_the_completion_carries_an_error_and_nothing_else) {
  int calls = 0;
  error_code error;
  std::future<void> future = event.async_wait(asio::use_future);
  event.async_wait([&](error_code e) { calls += !e; });
  event.async_wait([&, own = std::make_unique<int>(1)](error_code e) { calls += e ? 0 : *own; });
  event.async_wait(asio::append([&](error_code e, int x) { calls += !e && x == 7; }, 7));
  event.async_wait(asio::as_tuple([&](std::tuple<error_code> t) { calls += !std::get<0>(t); }));
  event.async_wait(asio::redirect_error([&] { calls += !error; }, error));
  event.async_wait(
      asio::any_completion_handler<void(error_code)>([&](error_code e) { calls += !e; }));
  event.async_wait(asio::detached);
  event.async_wait_until(std::chrono::system_clock::now() + 1h,
                         asio::deferred)([&](error_code e) { calls += !e; });
  static_assert(
      std::is_same_v<decltype(event.async_wait(asio::use_awaitable)), asio::awaitable<void>>);
  static_assert(std::is_same_v<decltype(event.async_wait(asio::as_tuple(asio::use_awaitable))),
                               asio::awaitable<std::tuple<error_code>>>);
  BOOST_TEST(event.waiters() == 9u);
  event.set();
  context.poll();
  BOOST_TEST(calls == 7);
  BOOST_CHECK_NO_THROW(future.get());
}

BOOST_AUTO_TEST_CASE(R1_coroutines_that_had_to_wait_go_on_with_every_token) {
  run(context, [&]() -> asio::awaitable<void> {
    error_code error = aborted;
    set_later();
    co_await event.async_wait();
    set_later();
    co_await event.async_wait(asio::use_awaitable);
    set_later();
    BOOST_TEST(!std::get<0>(co_await event.async_wait(asio::as_tuple(asio::deferred))));
    set_later();
    BOOST_TEST(!std::get<0>(co_await event.async_wait(asio::as_tuple(asio::use_awaitable))));
    set_later();
    co_await event.async_wait_for(1h, asio::redirect_error(asio::deferred, error));
    BOOST_TEST(!error);
    error = aborted;
    set_later();
    co_await event.async_wait_for(1h, asio::redirect_error(asio::use_awaitable, error));
    BOOST_TEST(!error);
  });
  BOOST_TEST(times_set == 6);
}

#if !defined(ASIO_SYNC_TEST_HEADERS_ONLY)  // Boost.Context has to be linked
BOOST_AUTO_TEST_CASE(R1_a_stackful_coroutine_waits) {
  error_code refused;
  int released = 0;
  auto const coroutine = [&](asio::yield_context yield) {
    set_later();
    event.async_wait(yield);
    released += times_set;
    event.async_wait_for(0s, yield);
    ++released;
    event.reset();
    event.async_wait_for(1ms, yield[refused]);
  };
  asio::spawn(context, coroutine, [](std::exception_ptr e) { BOOST_TEST(!e); });
  context.run();
  BOOST_TEST(released == 2);
  BOOST_TEST(refused == timed_out);
}
#endif

BOOST_AUTO_TEST_SUITE_END()
