// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Where a guarded operation begins, and the way between the guard and that.

#include "support/executors.hpp"
#include "support/manual_queue.hpp"
#include "support/test.hpp"
#include "unit/locks/guarded_fixture.hpp"

namespace guarded_test {

using namespace asio_sync::test;
using asio::deferred;
using asio::use_awaitable;

BOOST_FIXTURE_TEST_SUITE(guarded_begin_test, fixture)

BOOST_AUTO_TEST_CASE(R2_operation_begins_on_the_handlers_executor) {
  asio::io_context other;
  for_each_way([&](auto& by, auto&, auto const& is_free) {
    inner.begun = called = 0;
    async_guarded(by, operation(), asio::bind_executor(other, handler()));
    BOOST_TEST(!is_free());
    poll();
    BOOST_TEST(inner.begun == 0);
    poll(other);
    BOOST_TEST(inner.begun == 1);
    inner.end();
    poll(other);
    BOOST_CHECK(got == success);
    BOOST_TEST(called == 1);
    BOOST_TEST(is_free());
  });
}

BOOST_AUTO_TEST_CASE(R4_a_cancellation_inside_the_initiation_comes_at_its_end) {
  asio::cancellation_signal signal;
  auto const cancelled_while_it_begins = [&](auto&& token) {
    return asio::async_initiate<decltype(token), stopped::signature>(
        [&](auto handler) {
          signal.emit(asio::cancellation_type::terminal);
          inner(std::move(handler));
          BOOST_TEST(inner.is_pending());
        },
        token);
  };
  async_guarded(mutex, cancelled_while_it_begins,
                asio::bind_cancellation_slot(signal.slot(), handler()));
  poll();
  BOOST_TEST(called == 1);
  BOOST_TEST(std::get<0>(got) == aborted);
  BOOST_TEST(!mutex.is_locked());
}

BOOST_AUTO_TEST_CASE(R2_it_begins_at_once_where_that_is_running) {
  auto const strand = asio::make_strand(context);
  for_each_way([&](auto& by, auto&, auto const&) {
    auto const on = [&](auto const& ex) {
      inner.begun = 0;
      asio::post(ex, [&] {
        async_guarded(by, operation(), asio::bind_executor(ex, handler()));
        BOOST_TEST(inner.begun == 1);
      });
      poll();
      BOOST_REQUIRE(inner.is_pending());
      inner.end();
      poll();
    };
    on(context.get_executor());
    on(strand);
    on(asio::any_io_executor(context.get_executor()));
    on(asio::any_io_executor(strand));
    on(asio::strand<asio::any_io_executor>(context.get_executor()));
  });
}

BOOST_AUTO_TEST_CASE(R2_a_strand_is_not_running_where_its_context_is) {
  auto const strand = asio::make_strand(context);
  asio::post(context, [&] {
    async_guarded(mutex, operation(), asio::bind_executor(strand, handler()));
    BOOST_TEST(inner.begun == 0);
  });
  poll();
  BOOST_TEST(inner.begun == 1);
  inner.end();
  poll();
  BOOST_TEST(called == 1);
}

BOOST_AUTO_TEST_CASE(R2_operations_for_one_strand_begin_one_at_a_time) {
  for (int round = 0; round < 20; ++round) {
    asio::thread_pool pool(3);
    auto const strand = asio::make_strand(pool);
    std::vector<std::unique_ptr<async_mutex>> mutexes;
    for (int i = 0; i < 3; ++i) mutexes.push_back(std::make_unique<async_mutex>(pool));
    int begun = 0;  // the strand's
    auto const step = [&](auto&& token) {
      ++begun;
      return asio::post(strand, asio::deferred([] {
                          return asio::deferred.values(error_code());
                        }))(std::forward<decltype(token)>(token));
    };
    std::vector<std::thread> threads;
    for (auto& each : mutexes)
      threads.emplace_back([&] {
        for (int i = 0; i < 20; ++i)
          async_guarded(*each, step, asio::bind_executor(strand, [](error_code) {}));
      });
    for (auto& each : threads) each.join();
    pool.join();
    BOOST_TEST(begun == 60);
  }
}

// The coroutine's executor is asked: its thread may be another's.
BOOST_AUTO_TEST_CASE(R2_coroutine_that_runs_elsewhere) {
  asio::io_context other;
  bool resumed = false;
  asio::co_spawn(
      context,
      [&]() -> asio::awaitable<void> {
        co_await asio::post(asio::bind_executor(other, use_awaitable));
        resumed = true;
        co_await async_guarded(mutex, operation(), use_awaitable);
      },
      asio::detached);
  poll();
  poll(other);
  BOOST_TEST(resumed);
  BOOST_TEST(mutex.is_locked());
  BOOST_TEST(inner.begun == 0);
  poll();
  BOOST_TEST(inner.begun == 1);
  inner.end();
  poll();
  BOOST_TEST(!mutex.is_locked());
}

BOOST_AUTO_TEST_CASE(R2_coroutine_whose_handler_is_bound_elsewhere) {
  asio::io_context other;
  std::string order;
  asio::co_spawn(
      context,
      [&]() -> asio::awaitable<void> {
        co_await async_guarded(mutex, operation(), asio::bind_executor(other, use_awaitable));
      },
      asio::detached);
  poll();
  BOOST_TEST(inner.begun == 0);
  poll(other);
  BOOST_TEST(inner.begun == 1);
  inner.end();
  poll(other);
  poll();
  BOOST_TEST(!mutex.is_locked());
}

BOOST_AUTO_TEST_CASE(R2_coroutine_on_its_executor_begins_at_once) {
  bool at_once = false;
  asio::co_spawn(
      context,
      [&]() -> asio::awaitable<void> {
        asio::post(context, [&] { at_once = inner.begun == 1; });
        co_await async_guarded(mutex, operation(), use_awaitable);
      },
      asio::detached);
  poll();
  BOOST_TEST(at_once);
  inner.end();
  poll();
  BOOST_TEST(!mutex.is_locked());
}

// A future's executor is no place: the guard's.
BOOST_AUTO_TEST_CASE(R2_operation_for_a_future_begins_on_the_guards_executor) {
  auto result = async_guarded(mutex, operation(), asio::use_future);
  BOOST_TEST(inner.begun == 0);
  poll();
  BOOST_TEST(inner.begun == 1);
  inner.end();
  BOOST_CHECK(result.get() == std::make_tuple(7, std::string("done")));
}

BOOST_AUTO_TEST_CASE(R2_executors_that_cannot_tell) {
  test::manual_queue queue;
  test::manual_queue::executor const queued(queue, context);
  async_guarded(mutex, operation(), asio::bind_executor(queued, handler()));
  poll();
  BOOST_TEST(inner.begun == 0);
  queue.run();
  BOOST_TEST(inner.begun == 1);
  inner.end();
  queue.run();
  BOOST_CHECK(got == success);

  test::execution_log log;
  async_guarded(mutex, operation(), asio::bind_executor(test::bare_executor(log), handler()));
  BOOST_TEST(inner.begun == 1);
  poll();  // from the guard's, as it has no place of its own
  BOOST_TEST(inner.begun == 2);
  inner.end();
  BOOST_TEST(called == 2);

  async_guarded(mutex, operation(),
                asio::bind_executor(test::inline_executor(context), handler()));
  poll();
  BOOST_TEST(inner.begun == 3);
  inner.end();
  BOOST_TEST(called == 3);
  BOOST_TEST(!mutex.is_locked());
}

BOOST_AUTO_TEST_CASE(R4_cancelled_between_the_guard_and_the_beginning) {
  asio::io_context other;
  asio::cancellation_signal signal;
  for_each_way([&](auto& by, auto&, auto const& is_free) {
    for (auto const type : {asio::cancellation_type::terminal, asio::cancellation_type::partial,
                            asio::cancellation_type::total}) {
      called = 0;
      async_guarded(
          by, operation(),
          asio::bind_cancellation_slot(signal.slot(), asio::bind_executor(other, [&](auto... r) {
                                         BOOST_TEST(is_free());
                                         handler()(std::move(r)...);
                                       })));
      BOOST_TEST(!is_free());
      signal.emit(type);
      poll(other);
      BOOST_TEST(called == 1);
      BOOST_CHECK(got == nothing(aborted));
      BOOST_TEST(is_free());
    }
  });
  BOOST_TEST(inner.begun == 0);
}

BOOST_AUTO_TEST_CASE(R4_signal_ends_before_the_operation_begins) {
  for (bool const waits : {false, true}) {
    std::optional<async_mutex::lock_type> held;
    if (waits) held.emplace(mutex);
    std::optional<asio::cancellation_signal> signal(std::in_place);
    async_guarded(mutex, operation(), asio::bind_cancellation_slot(signal->slot(), handler()));
    signal.reset();
    held.reset();
    poll();
    BOOST_REQUIRE(inner.is_pending());
    inner.end();
    poll();
    BOOST_CHECK(got == success);
  }
}

BOOST_AUTO_TEST_CASE(R4_cancelled_after_the_end) {
  asio::cancellation_signal signal;
  {
    asio::steady_timer timer(context, 0s);
    async_guarded(mutex, timer.async_wait(deferred),
                  asio::bind_cancellation_slot(signal.slot(), [&](error_code) { ++called; }));
    context.run();
  }
  signal.emit(asio::cancellation_type::terminal);
  BOOST_TEST(called == 1);
}

BOOST_AUTO_TEST_CASE(R10_context_ends_between_the_guard_and_the_beginning) {
  for_each_way([&](auto& by, auto&, auto const& is_free) {
    auto other = std::make_unique<asio::io_context>();
    bool was_free = false;
    std::shared_ptr<void> at_end(nullptr, [&](void*) { was_free = is_free(); });
    async_guarded(by, operation(),
                  asio::bind_executor(*other, [at_end = std::move(at_end)](auto&&...) {}));
    BOOST_TEST(!is_free());
    other.reset();
    BOOST_TEST(was_free);
    BOOST_TEST(is_free());
  });
  BOOST_TEST(inner.begun == 0);
}

BOOST_AUTO_TEST_CASE(R9_mutex_dies_between_the_guard_and_the_beginning) {
  std::optional<async_mutex> dying(std::in_place, context);
  async_guarded(*dying, operation(), handler());
  dying.reset();
  poll();
  BOOST_CHECK(got == nothing(aborted));
  BOOST_TEST(inner.begun == 0);
}

BOOST_AUTO_TEST_CASE(R11_time_that_is_up_begins_nothing) {
  for_each_way([&](auto& by, auto& other, auto const& is_free) {
    called = 0;
    async_guarded(other, operation(), handler());
    poll();
    BOOST_REQUIRE(inner.is_pending());
    stopped late;
    auto const refused = [&] {
      context.restart();
      int const before = called;
      while (called == before) context.run_one();
      BOOST_CHECK(got == nothing(asio::error::timed_out));
      BOOST_TEST(late.begun == 0);
    };
    async_guarded_for(by, std::ref(late), 0s, handler());
    refused();
    async_guarded_for(by, std::ref(late), 1ms, handler());
    refused();
    async_guarded_until(by, std::ref(late), std::chrono::steady_clock::now() - 1s, handler());
    refused();
    async_guarded_until(by, std::ref(late), std::chrono::system_clock::now() + 1ms, handler());
    refused();
    inner.end();
    poll();
    BOOST_TEST(is_free());
  });
}

BOOST_AUTO_TEST_CASE(R11_zero_time_tries_once) {
  for_each_way([&](auto& by, auto&, auto const& is_free) {
    async_guarded_for(by, operation(), 0s, handler());
    poll();
    BOOST_REQUIRE(inner.is_pending());
    inner.end();
    poll();
    BOOST_CHECK(got == success);
    BOOST_TEST(is_free());
  });
}

// Neither the way to the handler's executor nor the operation counts.
BOOST_AUTO_TEST_CASE(R11_time_limits_the_acquisition_alone) {
  asio::io_context other;
  async_guarded_for(mutex, operation(), 1ms, asio::bind_executor(other, handler()));
  std::this_thread::sleep_for(3ms);
  poll(other);
  BOOST_REQUIRE(inner.is_pending());
  std::this_thread::sleep_for(3ms);
  poll(other);
  inner.end();
  poll(other);
  BOOST_CHECK(got == success);
}

BOOST_AUTO_TEST_CASE(R11_time_of_a_deferred_one_counts_from_its_launch) {
  auto run = async_guarded_for(mutex, operation(), 1h, deferred);
  std::optional<async_mutex::lock_type> held(mutex);
  std::move(run)(handler());
  held.reset();
  poll();
  BOOST_REQUIRE(inner.is_pending());
  inner.end();
  poll();
  BOOST_CHECK(got == success);
}

BOOST_AUTO_TEST_CASE(R11_coroutine_gets_the_error) {
  async_mutex::lock_type const held(mutex);
  error_code error;
  asio::co_spawn(
      context,
      [&]() -> asio::awaitable<void> {
        std::tie(error, std::ignore, std::ignore) =
            co_await async_guarded_for(mutex, operation(), 1ms, asio::as_tuple(deferred));
      },
      asio::detached);
  context.run();
  BOOST_CHECK(error == asio::error::timed_out);
}

// A hand-off to the next, and its beginning, take no more stack than one.
BOOST_AUTO_TEST_CASE(R6_chain_of_guarded_operations) {
  int left = 100'000;
  auto const step = [&](auto&& token) {
    return asio::post(context, asio::deferred([] { return asio::deferred.values(error_code()); }))(
        std::forward<decltype(token)>(token));
  };
  std::function<void()> const next = [&] {
    async_guarded(mutex, step, [&](error_code) {
      if (--left > 0) next();
    });
  };
  for (int i = 0; i < 3; ++i) next();
  context.run();
  BOOST_TEST(left <= 0);
  BOOST_TEST(!mutex.is_locked());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace guarded_test
