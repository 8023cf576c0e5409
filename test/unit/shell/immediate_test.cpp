// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Associated immediate executors, which Asio has from Boost 1.82 on.

#include "support/test.hpp"

#include <boost/version.hpp>

#if BOOST_VERSION >= 108200

#include "support/executors.hpp"
#include "support/mutex_fixture.hpp"

#include <boost/asio/bind_immediate_executor.hpp>

namespace immediate_test {

using namespace asio_sync::test;

using lock_type = async_mutex::lock_type;

struct fixture : mutex_fixture {
  execution_log log;
  tracking_executor<inline_executor> immediate{inline_executor(context), log};

  // So that 128 operations in a row may complete at once.
  fixture() {
    mutex.async_lock([](error_code, lock_type) {});
    poll();
  }
};

}  // namespace immediate_test

BOOST_FIXTURE_TEST_SUITE(immediate_test, fixture)

BOOST_AUTO_TEST_CASE(R1_a_free_mutex_completes_through_the_immediate_executor) {
  mutex_result result;
  mutex.async_lock(asio::bind_immediate_executor(immediate, [&](error_code e, lock_type l) {
    BOOST_TEST(log.runs_here());
    BOOST_TEST(mutex.is_locked());
    BOOST_TEST(!mutex.try_lock());
    result.handler()(e, std::move(l));
  }));
  BOOST_TEST(result.granted());
  BOOST_TEST(context.poll() == 0u);
}

BOOST_AUTO_TEST_CASE(R1_an_erased_immediate_executor_is_the_handlers_own_too) {
  mutex_result result;
  mutex.async_lock(
      asio::bind_immediate_executor(asio::any_io_executor(immediate), result.handler()));
  BOOST_TEST(result.granted());
  result.lock.unlock();
  basic_async_mutex<asio::system_executor> of_system{asio::system_executor()};
  int calls = 0;
  of_system.async_lock(
      asio::bind_immediate_executor(asio::system_executor(), [&](error_code, auto) { ++calls; }));
  BOOST_TEST(calls == 1);
}

BOOST_AUTO_TEST_CASE(R1_what_is_refused_at_once_completes_through_it_too) {
  mutex_result expired, refused;
  BOOST_REQUIRE(mutex.try_lock());
  mutex.async_lock_for(0s, asio::bind_immediate_executor(immediate, expired.handler()));
  BOOST_TEST(expired.refused(timed_out));
  mutex.close();
  mutex.async_lock(asio::bind_immediate_executor(immediate, refused.handler()));
  BOOST_TEST(refused.refused(closed));
  mutex.unlock();
}

BOOST_AUTO_TEST_CASE(R1_a_wait_that_queues_completes_through_the_handlers_executor) {
  mutex_result result;
  BOOST_REQUIRE(mutex.try_lock());
  mutex.async_lock(asio::bind_immediate_executor(
      immediate, asio::bind_executor(other.get_executor(), result.handler())));
  mutex.unlock();
  poll();
  BOOST_TEST(result.calls == 0);
  other.poll();
  BOOST_TEST(result.granted());
  BOOST_TEST(log.executed() == 0);
}

BOOST_AUTO_TEST_CASE(R2_any_completion_handler_without_one_runs_on_its_executor) {
  using any_handler = asio::any_completion_handler<void(error_code, lock_type)>;
  auto const strand = asio::make_strand(context);
  mutex_result bound, plain;
  mutex.async_lock(any_handler(asio::bind_executor(strand, [&](error_code e, lock_type l) {
    BOOST_TEST(strand.running_in_this_thread());
    bound.handler()(e, std::move(l));
  })));
  BOOST_TEST(bound.calls == 0);
  poll();
  BOOST_TEST(bound.granted());
  bound.lock.unlock();
  mutex.async_lock(any_handler(plain.handler()));
  BOOST_TEST(plain.calls == 0);
  poll();
  BOOST_TEST(plain.granted());
}

BOOST_AUTO_TEST_CASE(R1_any_completion_handler_with_one_completes_through_it) {
  using any_handler = asio::any_completion_handler<void(error_code, lock_type)>;
  mutex_result result;
  mutex.async_lock(any_handler(asio::bind_immediate_executor(immediate, result.handler())));
  BOOST_TEST(result.granted());
  BOOST_TEST(log.executed() == 1);
}

BOOST_AUTO_TEST_CASE(R1a_after_128_in_a_row_the_next_goes_through_the_executor) {
  int at_once = 0;
  bool inside = true;
  for (int i = 0; i < 200 && inside; ++i) {
    inside = false;
    mutex.async_lock(asio::bind_immediate_executor(immediate, [&](error_code, lock_type) {
      inside = true;
      ++at_once;
    }));
  }
  BOOST_TEST(at_once == 128);
  poll();
  BOOST_TEST(at_once == 129);
}

BOOST_AUTO_TEST_CASE(R13_an_immediate_executor_that_throws_leaves_the_mutex_free) {
  auto fault = throwing_executor::plan::execute;
  mutex_result result;
  BOOST_CHECK_THROW(mutex.async_lock(asio::bind_immediate_executor(
                        throwing_executor(context, fault), result.handler())),
                    std::runtime_error);
  BOOST_TEST(!mutex.is_locked());
  BOOST_TEST(result.calls == 0);
}

BOOST_AUTO_TEST_SUITE_END()

#endif
