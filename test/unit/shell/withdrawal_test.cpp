// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// R4: cancellations that come after the grant, where the rules that all primitives share do not
// look.

#include "support/coroutine.hpp"
#include "support/executors.hpp"
#include "support/mutex_fixture.hpp"
#include "support/test.hpp"

#include <asio_sync/async_semaphore.hpp>
#include <asio_sync/detail/context/completion.hpp>

namespace withdrawal_test {

using namespace asio_sync::test;
using asio_sync::detail::immediate_budget;
using lock_type = async_mutex::lock_type;

constexpr auto total = asio::cancellation_type::total;

struct fixture : mutex_fixture {
  // Returns the error of a coroutine that is cancelled after it has tried to lock the free mutex:
  // on its executor, and before the function that it has posted there.
  template <class Token>
  error_code cancel_a_coroutine(Token const& token) {
    error_code got;
    bool locked = false, tries = false;
    asio::co_spawn(
        context,
        [&]() -> asio::awaitable<void> {
          co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
          tries = true;
          auto const [error, lock] = co_await mutex.async_lock(token);
          got = error;
          locked = lock.owns_lock();
        },
        asio::bind_cancellation_slot(signal.slot(), asio::detached));
    std::function<void()> const cancel = [&] {
      if (!tries) return asio::post(context, cancel);
      signal.emit(total);
    };
    asio::post(context, cancel);
    poll();
    BOOST_TEST(locked == !got);
    BOOST_TEST(!mutex.is_locked());
    return got;
  }
};

}  // namespace withdrawal_test

BOOST_FIXTURE_TEST_SUITE(withdrawal_test, fixture)

BOOST_AUTO_TEST_CASE(R4_a_coroutine_keeps_what_it_got_without_suspending) {
  immediate_budget::renew();
  BOOST_TEST(!cancel_a_coroutine(asio::as_tuple(asio::deferred)));
  BOOST_TEST(!cancel_a_coroutine(asio::as_tuple(asio::use_awaitable)));
}

BOOST_AUTO_TEST_CASE(R4_a_coroutine_whose_budget_is_used_up_is_withdrawn) {
  auto const use_up = [] {
    while (immediate_budget::available()) immediate_budget::use();
  };
  for (int i = 0; i < 2; ++i) {
    asio::post(context, use_up);
    context.poll_one();
    BOOST_TEST((cancel_a_coroutine(asio::as_tuple(asio::deferred)) == aborted));
    asio::post(context, use_up);
    context.poll_one();
    BOOST_TEST((cancel_a_coroutine(asio::as_tuple(asio::use_awaitable)) == aborted));
  }
}

// The handler runs inside the emission, after its block is freed, and begins a wait in that block:
// both handlers are of one type.
BOOST_AUTO_TEST_CASE(R4_a_wait_that_begins_while_another_is_cancelled_is_not) {
  struct handler {
    fixture& f;
    asio::cancellation_signal& of_second;
    int& refused;
    int& granted;

    void wait(asio::cancellation_slot slot) const {
      f.mutex.async_lock(asio::bind_executor(inline_executor(f.context),
                                             asio::bind_cancellation_slot(slot, *this)));
    }
    void operator()(error_code error, lock_type) const {
      ++(error ? refused : granted);
      if (error == aborted && refused == 1) wait(of_second.slot());
    }
  };
  asio::cancellation_signal of_second;
  int refused = 0, granted = 0;
  BOOST_TEST_REQUIRE(mutex.try_lock());
  handler{*this, of_second, refused, granted}.wait(signal.slot());
  signal.emit(total);
  BOOST_TEST(refused == 1);
  mutex.unlock();
  BOOST_TEST(granted == 1);
  BOOST_TEST(refused == 1);
}

// If the refusal took the count of the mutex, another mutex would get the memory of its core.
BOOST_AUTO_TEST_CASE(R4_R9_a_withdrawn_wait_takes_no_count_of_the_mutex) {
  mutex_result first;
  BOOST_TEST_REQUIRE(mutex.try_lock());
  mutex.async_lock(asio::bind_cancellation_slot(signal.slot(), first.handler()));
  mutex.unlock();
  signal.emit(total);
  poll();
  BOOST_TEST(first.refused(aborted));
  async_mutex second(context);
  BOOST_TEST_REQUIRE(mutex.try_lock());
  BOOST_TEST(second.try_lock());
}

// The next one runs inside the completion of the one that is withdrawn, before its handler.
BOOST_AUTO_TEST_CASE(R4_R6_a_withdrawn_grant_goes_on_to_an_inline_executor) {
  mutex_result first, next;
  BOOST_TEST_REQUIRE(mutex.try_lock());
  mutex.async_lock(asio::bind_cancellation_slot(signal.slot(), first.handler()));
  mutex.async_lock(asio::bind_executor(inline_executor(context), next.handler()));
  mutex.unlock();
  signal.emit(total);
  BOOST_TEST(next.calls == 0);
  poll();
  BOOST_TEST((first.refused(aborted) && next.granted()));
}

BOOST_AUTO_TEST_CASE(R4_a_chain_of_grants_that_are_withdrawn_ends_with_the_last_wait) {
  constexpr int n = 1000;
  asio::cancellation_signal signals[n];
  int refused = 0;
  mutex_result last;
  BOOST_TEST_REQUIRE(mutex.try_lock());
  for (auto& each : signals)
    mutex.async_lock(asio::bind_cancellation_slot(
        each.slot(), [&, next = &each + 1](error_code error, lock_type lock) {
          refused += error == aborted && !lock;
          // Granted, and on its way.
          if (next != signals + n) next->emit(total);
        }));
  mutex.async_lock(last.handler());
  mutex.unlock();
  signals[0].emit(total);
  poll();
  BOOST_TEST(refused == n);
  BOOST_TEST(last.granted());
}

BOOST_AUTO_TEST_CASE(R4_no_permits_are_not_withdrawn) {
  async_semaphore semaphore(context, 1, 1);
  error_code got = aborted;
  semaphore.async_acquire(0, asio::bind_cancellation_slot(
                                 signal.slot(), [&](error_code error, auto) { got = error; }));
  signal.emit(total);
  poll();
  BOOST_TEST(!got);
}

BOOST_AUTO_TEST_CASE(R4_what_either_of_two_does_not_get_goes_on) {
  using namespace asio::experimental::awaitable_operators;
  async_semaphore semaphore(context, 0, 1);
  asio::co_spawn(
      context,
      [&]() -> asio::awaitable<void> {
        lock_type held = co_await mutex.async_lock(asio::use_awaitable);
        asio::post(context, [&] {
          held.unlock();
          semaphore.release();
        });
        auto const got = co_await (mutex.async_lock(asio::use_awaitable) ||
                                   semaphore.async_acquire(asio::use_awaitable));
        BOOST_TEST(got.index() == 0u);
        BOOST_TEST(semaphore.available() == 1);
      },
      asio::detached);
  context.run();
  BOOST_TEST(!mutex.is_locked());
}

BOOST_AUTO_TEST_SUITE_END()
