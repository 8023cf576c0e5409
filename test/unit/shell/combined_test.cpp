// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Waits for a mutex as a part of larger operations.

#include "support/mutex_result.hpp"
#include "support/test.hpp"

#include <asio_sync/async_mutex.hpp>

#include <boost/asio/experimental/promise.hpp>
#include <boost/asio/experimental/use_promise.hpp>

namespace combined_test {

using namespace asio_sync::test;
namespace experimental = asio::experimental;
using namespace experimental::awaitable_operators;

using lock_type = async_mutex::lock_type;
auto const aborted = error_code(asio::error::operation_aborted);

// Locks a mutex twice, one time after the other.
struct lock_twice {
  async_mutex* mutex;
  int locked = 0;

  template <class Self>
  void operator()(Self& self) {
    mutex->async_lock(std::move(self));
  }

  template <class Self>
  void operator()(Self& self, error_code error, lock_type lock) {
    if (error || ++locked == 2) return self.complete(error, std::move(lock));
    lock.unlock();
    mutex->async_lock(std::move(self));
  }
};

struct fixture {
  asio::io_context context;
  async_mutex mutex{context}, other{context};
  asio::cancellation_signal signal;

  template <class Coroutine>
  void run(Coroutine coroutine) {
    bool ended = false;
    asio::co_spawn(context, std::move(coroutine), [&](std::exception_ptr failure) {
      ended = true;
      if (failure) std::rethrow_exception(failure);
    });
    context.restart();
    context.run();
    BOOST_TEST(ended);
  }

  void poll() { test::poll(context); }
};

}  // namespace combined_test

BOOST_FIXTURE_TEST_SUITE(combined_test, fixture)

BOOST_AUTO_TEST_CASE(parallel_group_of_all) {
  bool done = false;
  BOOST_REQUIRE(other.try_lock());
  experimental::make_parallel_group(mutex.async_lock(asio::deferred),
                                    other.async_lock(asio::deferred))
      .async_wait(experimental::wait_for_all(),
                  [&](std::array<std::size_t, 2> order, error_code e1, lock_type l1, error_code e2,
                      lock_type l2) {
                    BOOST_TEST((order == std::array<std::size_t, 2>{0, 1}));
                    BOOST_TEST((!e1 && !e2));
                    BOOST_TEST((l1.mutex() == &mutex && l2.mutex() == &other));
                    done = true;
                  });
  poll();
  BOOST_TEST(!done);
  other.unlock();
  poll();
  BOOST_TEST(done);
  BOOST_TEST((!mutex.is_locked() && !other.is_locked()));
}

BOOST_AUTO_TEST_CASE(parallel_group_of_one_cancels_the_others) {
  bool done = false;
  BOOST_REQUIRE(other.try_lock());
  experimental::make_parallel_group(mutex.async_lock(asio::deferred),
                                    other.async_lock(asio::deferred))
      .async_wait(experimental::wait_for_one(),
                  [&](std::array<std::size_t, 2> order, error_code e1, lock_type l1, error_code e2,
                      lock_type l2) {
                    BOOST_TEST(order[0] == 0u);
                    BOOST_TEST((!e1 && e2 == aborted));
                    BOOST_TEST((l1.owns_lock() && !l2.owns_lock()));
                    done = true;
                  });
  poll();
  BOOST_TEST(done);
  BOOST_TEST(other.waiters() == 0u);
  BOOST_TEST(!mutex.is_locked());
}

BOOST_AUTO_TEST_CASE(awaitable_or_with_a_timer) {
  BOOST_REQUIRE(mutex.try_lock());
  run([&]() -> asio::awaitable<void> {
    asio::steady_timer timer(context, 1ms);
    auto const result =
        co_await (mutex.async_lock(asio::use_awaitable) || timer.async_wait(asio::use_awaitable));
    BOOST_TEST(result.index() == 1u);
    BOOST_TEST(mutex.waiters() == 0u);
    mutex.unlock();
    timer.expires_after(1h);
    auto const second =
        co_await (mutex.async_lock(asio::use_awaitable) || timer.async_wait(asio::use_awaitable));
    BOOST_TEST(second.index() == 0u);
    BOOST_TEST(std::get<0>(second).owns_lock());
  });
  BOOST_TEST(!mutex.is_locked());
}

BOOST_AUTO_TEST_CASE(R3_awaitable_or_lets_go_of_the_lock_of_the_loser) {
  run([&]() -> asio::awaitable<void> {
    auto const result =
        co_await (mutex.async_lock(asio::use_awaitable) || other.async_lock(asio::use_awaitable));
    BOOST_TEST(mutex.is_locked() == (result.index() == 0));
    BOOST_TEST(other.is_locked() == (result.index() == 1));
  });
  BOOST_TEST((!mutex.is_locked() && !other.is_locked()));
}

BOOST_AUTO_TEST_CASE(awaitable_and) {
  BOOST_REQUIRE(mutex.try_lock());
  asio::post(context, [&] { mutex.unlock(); });
  run([&]() -> asio::awaitable<void> {
    auto const [first, second] =
        co_await (mutex.async_lock(asio::use_awaitable) && other.async_lock(asio::use_awaitable));
    BOOST_TEST((first.mutex() == &mutex && first.owns_lock()));
    BOOST_TEST((second.mutex() == &other && second.owns_lock()));
  });
}

BOOST_AUTO_TEST_CASE(composed_operation) {
  mutex_result result, cancelled;
  BOOST_REQUIRE(mutex.try_lock());
  auto const start = [&](auto token) {
    asio::async_compose<decltype(token), void(error_code, lock_type)>(lock_twice{&mutex}, token,
                                                                      context);
  };
  auto const copyable = [](mutex_result& into) {
    return [&into](error_code e, lock_type l) { into.handler()(e, std::move(l)); };
  };
  start(copyable(result));
  mutex.unlock();
  poll();
  BOOST_TEST(result.granted());
  start(asio::bind_cancellation_slot(signal.slot(), copyable(cancelled)));
  BOOST_TEST(mutex.waiters() == 1u);
  signal.emit(asio::cancellation_type::terminal);
  poll();
  BOOST_TEST(cancelled.refused(aborted));
}

BOOST_AUTO_TEST_CASE(use_promise) {
  for (bool held : {false, true}) {
    if (held) BOOST_REQUIRE(mutex.try_lock());
    auto promise = mutex.async_lock(experimental::use_promise);
    poll();
    BOOST_TEST(promise.completed() == !held);
    if (held) mutex.unlock();
    poll();
    BOOST_TEST(promise.completed());
    mutex_result result;
    std::move(promise)(result.handler());
    poll();
    BOOST_TEST(result.granted());
  }
}

BOOST_AUTO_TEST_CASE(use_promise_that_is_given_up_cancels_the_wait) {
  BOOST_REQUIRE(mutex.try_lock());
  {
    auto const promise = mutex.async_lock(experimental::use_promise);
    BOOST_TEST(mutex.waiters() == 1u);
  }
  poll();
  BOOST_TEST(mutex.waiters() == 0u);
  mutex.unlock();
}

BOOST_AUTO_TEST_CASE(executors_with_a_default_token) {
  using awaiting = asio::use_awaitable_t<>::as_default_on_t<async_mutex>;
  using with_tuple = asio::as_tuple_t<asio::use_awaitable_t<>>::as_default_on_t<async_mutex>;
  static_assert(!std::is_same_v<awaiting, async_mutex>);
  awaiting first(context);
  with_tuple second(context.get_executor());
  asio::use_awaitable_t<>::as_default_on_t<
      asio_sync::basic_async_mutex<asio::io_context::executor_type>>
      third(context);
  for (bool held : {false, true}) {
    if (held) BOOST_REQUIRE((first.try_lock() && second.try_lock() && third.try_lock()));
    if (held) asio::post(context, [&] { first.unlock(), second.unlock(), third.unlock(); });
    run([&]() -> asio::awaitable<void> {
      static_assert(std::is_same_v<decltype(first.async_lock()),
                                   asio::awaitable<awaiting::lock_type, asio::any_io_executor>>);
      auto const lock = co_await first.async_lock();
      BOOST_TEST(lock.owns_lock());
      auto const [error, guard] = co_await second.async_lock();
      BOOST_TEST((!error && guard.owns_lock()));
      auto const timed = co_await third.async_lock_for(1h);
      BOOST_TEST(timed.owns_lock());
    });
    BOOST_TEST((!first.is_locked() && !second.is_locked() && !third.is_locked()));
  }
}

BOOST_AUTO_TEST_SUITE_END()
