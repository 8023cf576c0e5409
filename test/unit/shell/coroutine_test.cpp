// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// What a coroutine pays for a mutex that is free: nothing. This program is also built with
// ASIO_SYNC_PLAIN_AWAITABLES, where it pays a trip through its executor.

#include "support/coroutine.hpp"
#include "support/mutex_fixture.hpp"
#include "support/test.hpp"

#include <boost/asio/version.hpp>

#if BOOST_ASIO_VERSION >= 103400
#include <boost/asio/cancel_after.hpp>
#endif

using namespace asio_sync::test;
using guard = async_mutex::lock_type;

namespace coroutine_test {

// Whether the specialisation of Asio's awaiter is chosen: await_ready() of Asio's own is const.
template <class Executor, class Operation>
constexpr bool is_asked_first(Operation const&) {
  using awaiter =
      asio::detail::awaitable_async_op<typename asio::completion_signature_of<Operation>::type,
                                       Operation, Executor>;
  return !requires(awaiter const& a) { a.await_ready(); };
}

// The lock that a completion brings.
template <class Lock>
Lock lock_of(Lock lock) {
  return lock;
}
template <class Lock>
Lock lock_of(std::tuple<error_code, Lock> completion) {
  BOOST_TEST(!std::get<0>(completion));
  return std::get<1>(std::move(completion));
}

// Has a coroutine lock a free mutex: it gets it, and goes through the executor only if it may.
template <class Mutex = async_mutex, class Lock>
void expect_no_trip(char const* what, Lock lock) {
  BOOST_TEST_INFO_SCOPE(what);
  asio::io_context context;
  Mutex mutex(context);
  run(context, [&]() -> asio::awaitable<void> {
    for (int i = 0; i < 3; ++i) {
      trip_probe const probe(context.get_executor());
      auto const held = lock_of(co_await lock(mutex));
      BOOST_TEST(probe.taken() == !spared);
      BOOST_TEST(held.owns_lock());
      BOOST_TEST(held.mutex() == &mutex);
      BOOST_TEST(mutex.is_locked());
    }
  });
  BOOST_TEST(!mutex.is_locked());
}

// The same for one that completes at once with an error.
template <class Lock>
void expect_error(async_mutex& mutex, error_code expected, asio::io_context& context, Lock lock) {
  run(context, [&]() -> asio::awaitable<void> {
    trip_probe const probe(context.get_executor());
    auto [error, held] = co_await lock(mutex);
    BOOST_TEST(error == expected);
    BOOST_TEST(!held.owns_lock());
    BOOST_TEST(probe.taken() == !spared);
  });
}

}  // namespace coroutine_test

BOOST_FIXTURE_TEST_SUITE(coroutine_test, mutex_fixture)

BOOST_AUTO_TEST_CASE(R1a_the_awaiter_of_this_library_is_chosen) {
  error_code error;
  using any = asio::any_io_executor;
  BOOST_TEST(is_asked_first<any>(mutex.async_lock()) == spared);
  BOOST_TEST(is_asked_first<any>(mutex.async_lock(asio::deferred)) == spared);
  BOOST_TEST(is_asked_first<any>(mutex.async_lock(asio::as_tuple(asio::deferred))) == spared);
  BOOST_TEST(is_asked_first<any>(mutex.async_lock(asio::redirect_error(asio::deferred, error))) ==
             spared);
  BOOST_TEST(is_asked_first<any>(mutex.async_lock_for(1s, asio::as_tuple(asio::deferred))) ==
             spared);
  BOOST_TEST(is_asked_first<any>(mutex.async_lock_until(std::chrono::steady_clock::now())) ==
             spared);
  basic_async_mutex<asio::io_context::executor_type> typed(context);
  BOOST_TEST(is_asked_first<asio::io_context::executor_type>(typed.async_lock()) == spared);
  BOOST_TEST(!is_asked_first<any>(
      mutex.async_lock(asio::bind_executor(context.get_executor(), asio::deferred))));
}

BOOST_AUTO_TEST_CASE(R1a_no_trip_with_any_token_of_a_coroutine) {
  error_code e = asio::error::eof;
  using asio::deferred, asio::use_awaitable, asio::as_tuple, asio::redirect_error;
  expect_no_trip("default", [](auto& m) { return m.async_lock(); });
  expect_no_trip("deferred", [](auto& m) { return m.async_lock(deferred); });
  expect_no_trip("use_awaitable", [](auto& m) { return m.async_lock(use_awaitable); });
  expect_no_trip("as_tuple 1", [](auto& m) { return m.async_lock(as_tuple(deferred)); });
  expect_no_trip("as_tuple 2", [](auto& m) { return m.async_lock(as_tuple(use_awaitable)); });
  expect_no_trip("redirected 1",
                 [&](auto& m) { return m.async_lock(redirect_error(deferred, e)); });
  BOOST_TEST(!e);
  expect_no_trip("redirected 2",
                 [&](auto& m) { return m.async_lock(redirect_error(use_awaitable, e)); });
  expect_no_trip("kept", [](auto& m) -> asio::awaitable<guard> {
    auto operation = m.async_lock(asio::deferred);
    co_return co_await std::move(operation);
  });
  expect_no_trip<asio::use_awaitable_t<>::as_default_on_t<async_mutex>>(
      "default of the executor", [](auto& m) { return m.async_lock(); });
#if BOOST_ASIO_VERSION >= 103400
  expect_no_trip("as_tuple 3", [](auto& m) { return m.async_lock(as_tuple); });
  expect_no_trip("redirected 3", [&](auto& m) { return m.async_lock(redirect_error(e)); });
#endif
}

BOOST_AUTO_TEST_CASE(R1a_no_trip_for_timed_forms) {
  expect_no_trip("1h", [](auto& m) { return m.async_lock_for(1h, asio::use_awaitable); });
  expect_no_trip("0s", [](auto& m) { return m.async_lock_for(0s, asio::use_awaitable); });
  expect_no_trip(
      "past", [](auto& m) { return m.async_lock_until(std::chrono::steady_clock::now() - 1h); });
  expect_no_trip(
      "system", [](auto& m) { return m.async_lock_until(std::chrono::system_clock::now() + 1h); });
}

#if BOOST_ASIO_VERSION >= 103400
BOOST_AUTO_TEST_CASE(R1a_cancel_after_works) {
  run(context, [&]() -> asio::awaitable<void> {
    guard held = co_await mutex.async_lock(asio::cancel_after(1h, asio::deferred));
    BOOST_TEST(held.owns_lock());
    error_code error;
    static_cast<void>(
        co_await mutex.async_lock(asio::redirect_error(asio::cancel_after(1ms), error)));
    BOOST_TEST(error == aborted);
  });
}
#endif

BOOST_AUTO_TEST_CASE(R1a_errors_that_are_known_at_once_cost_no_trip) {
  BOOST_REQUIRE(mutex.try_lock());
  expect_error(mutex, timed_out, context,
               [](auto& m) { return m.async_lock_for(0s, asio::as_tuple(asio::deferred)); });
  expect_error(mutex, timed_out, context,
               [](auto& m) { return m.async_lock_for(-1s, asio::as_tuple(asio::use_awaitable)); });
  mutex.close();
  expect_error(mutex, closed, context,
               [](auto& m) { return m.async_lock(asio::as_tuple(asio::deferred)); });
  mutex.unlock();
  expect_error(mutex, closed, context,
               [](auto& m) { return m.async_lock_for(0s, asio::as_tuple(asio::use_awaitable)); });
}

BOOST_AUTO_TEST_CASE(R1a_an_error_that_is_known_at_once_is_thrown) {
  mutex.close();
  auto const with = [&](auto token) {
    run(context,
        [&]() -> asio::awaitable<void> { static_cast<void>(co_await mutex.async_lock(token)); });
  };
  BOOST_TEST(error_of([&] { with(asio::deferred); }) == closed);
  BOOST_TEST(error_of([&] { with(asio::use_awaitable); }) == closed);
  error_code error;
  with(asio::redirect_error(asio::deferred, error));
  BOOST_TEST(error == closed);
}

BOOST_AUTO_TEST_CASE(R1a_after_128_in_a_row_the_next_goes_through_the_executor) {
  if (!spared) return;
  run(context, [&]() -> asio::awaitable<void> {
    for (int i = 1; i <= 400; ++i) {
      trip_probe const probe(context.get_executor());
      if (i % 2)
        static_cast<void>(co_await mutex.async_lock());
      else
        static_cast<void>(co_await mutex.async_lock(asio::as_tuple(asio::use_awaitable)));
      BOOST_TEST_INFO("lock " << i);
      BOOST_TEST(probe.taken() == (i % 129 == 0));
    }
  });
}

BOOST_AUTO_TEST_CASE(R1a_refusals_count_and_every_primitive_of_the_thread_shares_the_budget) {
  if (!spared) return;
  async_mutex second(context);
  run(context, [&]() -> asio::awaitable<void> {
    guard const held = co_await mutex.async_lock();
    for (int i = 2; i <= 129; ++i) {
      trip_probe const probe(context.get_executor());
      if (i % 2)
        co_await mutex.async_lock_for(0s, asio::as_tuple(asio::deferred));
      else
        static_cast<void>(co_await second.async_lock());
      BOOST_TEST_INFO("operation " << i);
      BOOST_TEST(probe.taken() == (i == 129));
    }
  });
}

BOOST_AUTO_TEST_CASE(R1a_a_completion_that_comes_through_the_executor_renews_the_budget) {
  if (!spared) return;
  run(context, [&]() -> asio::awaitable<void> {
    for (int i = 0; i < 100; ++i) static_cast<void>(co_await mutex.async_lock());
    static_cast<void>(
        co_await mutex.async_lock(asio::bind_executor(context.get_executor(), asio::deferred)));
    trip_probe const probe(context.get_executor());
    for (int i = 0; i < 128; ++i) static_cast<void>(co_await mutex.async_lock());
    BOOST_TEST(!probe.taken());
    static_cast<void>(co_await mutex.async_lock());
    BOOST_TEST(probe.taken());
  });
}

BOOST_AUTO_TEST_CASE(R1a_a_million_free_locks_need_no_stack) {
  constexpr int many = 1'000'000;
  int locked = 0;
  run_on_stack(64 * 1024, [&] {
    auto const lock_all = [&](auto token) -> asio::awaitable<void> {
      for (int i = 0; i < many; ++i) {
        guard const held = co_await mutex.async_lock(token);
        locked += held.owns_lock();
      }
    };
    asio::co_spawn(context, lock_all(asio::deferred), asio::detached);
    context.run();
    asio::co_spawn(context, lock_all(asio::use_awaitable), asio::detached);
    context.restart();
    context.run();
  });
  BOOST_TEST(locked == 2 * many);
}

BOOST_AUTO_TEST_CASE(R1a_adapters_that_are_not_on_the_list_work) {
  auto const strand = asio::make_strand(context);
  run(context, [&]() -> asio::awaitable<void> {
    guard const held = co_await mutex.async_lock(asio::bind_executor(strand, asio::deferred));
    BOOST_TEST(held.owns_lock());
    auto [error, none] = co_await mutex.async_lock_for(
        0s, asio::as_tuple(asio::bind_executor(strand, asio::use_awaitable)));
    BOOST_TEST(error == timed_out);
  });
}

BOOST_AUTO_TEST_SUITE_END()
