// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Executors that throw, that run what they are given at once, and that call the mutex.

#include "support/executors.hpp"
#include "support/mutex_result.hpp"
#include "support/test.hpp"

#include <asio_sync/async_mutex.hpp>

namespace awkward_executors_test {

using namespace asio_sync::test;

using lock_type = async_mutex::lock_type;
using plan = throwing_executor::plan;
constexpr plan places[] = {plan::execute, plan::require, plan::prefer};

struct fixture {
  asio::io_context context;
  async_mutex mutex{context};
  plan fault = plan::nothing;
  throwing_executor throwing{context, fault};

  auto on_throwing(mutex_result& result, std::shared_ptr<void> life = {}) {
    return asio::bind_executor(
        throwing, [handler = result.handler(), life](error_code e, lock_type l) mutable {
          std::move(handler)(e, std::move(l));
        });
  }
};

}  // namespace awkward_executors_test

BOOST_FIXTURE_TEST_SUITE(awkward_executors_test, fixture)

BOOST_AUTO_TEST_CASE(R13_an_executor_that_throws_in_a_hand_off_loses_its_handler_only) {
  for (plan place : places) {
    BOOST_TEST_CONTEXT("place " << static_cast<int>(place)) {
      mutex_result lost, next;
      auto const life = std::make_shared<int>();
      BOOST_REQUIRE(mutex.try_lock());
      mutex.async_lock(on_throwing(lost, life));
      mutex.async_lock(next.handler());
      fault = place;
      BOOST_CHECK_NO_THROW(mutex.unlock());
      fault = plan::nothing;
      BOOST_TEST(life.use_count() == 1);
      context.restart();
      context.poll();
      BOOST_TEST(lost.calls == 0);
      BOOST_TEST(next.granted());
      next.lock = {};
      BOOST_TEST(!mutex.is_locked());
    }
  }
}

BOOST_AUTO_TEST_CASE(R13_an_executor_that_throws_in_a_refusal_loses_its_handler_only) {
  for (plan place : places) {
    mutex_result lost, other;
    auto const life = std::make_shared<int>();
    auto own = std::make_unique<async_mutex>(context);
    BOOST_REQUIRE(own->try_lock());
    fault = plan::nothing;
    own->async_lock(on_throwing(lost, life));
    own->async_lock(other.handler());
    fault = place;
    BOOST_TEST(own->cancel() == 2u);
    BOOST_TEST(life.use_count() == 1);
    fault = plan::nothing;
    own->async_lock(on_throwing(lost, life));
    fault = place;
    BOOST_CHECK_NO_THROW(own->close());
    BOOST_TEST(life.use_count() == 1);
    own.reset();
    context.restart();
    context.poll();
    BOOST_TEST(lost.calls == 0);
    BOOST_TEST(other.refused(asio::error::operation_aborted));
  }
}

BOOST_AUTO_TEST_CASE(R13_an_executor_that_throws_in_the_initiation_leaves_everything_as_it_was) {
  for (plan place : places) {
    BOOST_TEST_CONTEXT("place " << static_cast<int>(place)) {
      mutex_result result;
      auto const life = std::make_shared<int>();
      fault = place;
      if (place != plan::prefer) {  // a free mutex needs no work to be tracked
        BOOST_CHECK_THROW(mutex.async_lock(on_throwing(result, life)), std::runtime_error);
        BOOST_TEST(!mutex.is_locked());
      }
      BOOST_REQUIRE(mutex.try_lock());
      if (place == plan::prefer)  // a wait that queues tracks it
        BOOST_CHECK_THROW(mutex.async_lock(on_throwing(result, life)), std::runtime_error);
      BOOST_TEST(mutex.waiters() == 0u);
      BOOST_TEST(life.use_count() == 1);
      mutex.unlock();
      BOOST_TEST(context.poll() == 0u);
      BOOST_TEST(result.calls == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(R6_an_inline_executor_runs_the_handler_when_unlock_is_through) {
  inline_executor const ex(context);
  mutex_result first, second;
  BOOST_REQUIRE(mutex.try_lock());
  mutex.async_lock(asio::bind_executor(ex, [&](error_code e, lock_type l) {
    first.handler()(e, std::move(l));
    BOOST_TEST(!mutex.try_lock());
    BOOST_TEST(mutex.waiters() == 1u);
    first.lock.unlock();  // on the same stack: the second runs after this handler
    BOOST_TEST(second.calls == 0);
  }));
  mutex.async_lock(asio::bind_executor(ex, second.handler()));
  BOOST_TEST(first.calls + second.calls == 0);
  mutex.unlock();
  BOOST_TEST(first.calls == 1);
  BOOST_TEST(second.granted());
}

BOOST_AUTO_TEST_CASE(R6_a_chain_of_hand_offs_on_an_inline_executor_does_not_nest) {
  basic_async_mutex<inline_executor> shared{inline_executor(context)};
  int depth = 0, deepest = 0, done = 0;
  constexpr int count = 10'000;
  BOOST_REQUIRE(shared.try_lock());
  for (int i = 0; i < count; ++i)
    shared.async_lock([&](error_code e, auto lock) {
      deepest = std::max(deepest, ++depth);
      BOOST_TEST_REQUIRE(!e);
      lock.unlock();
      ++done;
      --depth;
    });
  shared.unlock();
  BOOST_TEST(done == count);
  BOOST_TEST(deepest == 1);
}

BOOST_AUTO_TEST_CASE(R6_a_chain_of_drops_by_a_throwing_executor_does_not_nest) {
  struct life {
    explicit life(int& c) noexcept : count(&c) {}
    life(life&& other) noexcept : count(std::exchange(other.count, nullptr)) {}
    ~life() {
      if (count) ++*count;
    }
    void operator()(error_code, lock_type) {}
    int* count;
  };
  int destroyed = 0;
  constexpr int count = 10'000;
  BOOST_REQUIRE(mutex.try_lock());
  for (int i = 0; i < count; ++i) mutex.async_lock(asio::bind_executor(throwing, life(destroyed)));
  BOOST_TEST(destroyed == 0);
  fault = plan::execute;
  mutex.unlock();
  BOOST_TEST(destroyed == count);
  BOOST_TEST(!mutex.is_locked());
}

BOOST_AUTO_TEST_CASE(R6_a_dropped_handler_has_gone_before_the_next_runs) {
  auto dying = std::make_unique<asio::io_context>();
  fate dropped;
  int called = 0;
  mutex.async_lock(asio::bind_executor(*dying, observed_handler(dropped)));  // on its way
  mutex.async_lock(asio::bind_executor(inline_executor(context), [&](error_code, lock_type) {
    ++called;
    BOOST_TEST(dropped.dropped());
  }));
  dying.reset();
  BOOST_TEST(called == 1);
}

BOOST_AUTO_TEST_CASE(R5_an_executor_may_call_the_mutex_from_all_of_its_functions) {
  execution_log log;
  using executor = tracking_executor<asio::any_io_executor>;  // its type does not tell its context
  executor const ex(context.get_executor(), log);
  basic_async_mutex<executor> shared(ex);
  basic_mutex_result<basic_async_mutex<executor>> first, second, timed, expired;
  int entered = 0;
  bool inside = false;
  auto const use = [&] {
    if (std::exchange(inside, true)) return;
    ++entered;
    static_cast<void>(shared.waiters());
    if (shared.try_lock()) shared.unlock();
    shared.async_lock_for(1h, [](error_code, auto) {});
    inside = false;
  };
  log.on_execute = log.on_property = use;
  BOOST_REQUIRE(shared.try_lock());
  shared.async_lock(first.handler());
  shared.async_lock_for(1h, timed.handler());
  shared.async_lock_for(1ns, expired.handler());
  shared.async_lock(second.handler());
  log.on_execute = nullptr;
  while (expired.calls == 0) context.run_one();
  BOOST_TEST((expired.error == asio::error::timed_out));
  log.on_execute = use;
  shared.unlock();
  context.poll();
  BOOST_TEST(first.granted());
  BOOST_TEST(entered > 4);
  log.on_execute = log.on_property = nullptr;
  shared.cancel();
  first.lock = {};
  context.poll();
}

BOOST_AUTO_TEST_SUITE_END()
