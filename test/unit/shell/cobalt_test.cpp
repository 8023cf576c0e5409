// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Together with Boost.Cobalt, whose token use_op brings an immediate executor, memory and a slot.

#include "support/test.hpp"

#include <boost/version.hpp>

#if BOOST_VERSION >= 108400

#include <asio_sync/async_group.hpp>
#include <asio_sync/async_monitor.hpp>
#include <asio_sync/async_mutex.hpp>
#include <asio_sync/async_semaphore.hpp>

#include <boost/cobalt/op.hpp>
#include <boost/cobalt/spawn.hpp>
#include <boost/cobalt/task.hpp>

// Of Cobalt's own: memory is kept for its coroutines by one class, and let go by another.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

namespace cobalt_test {

using namespace asio_sync::test;
namespace cobalt = boost::cobalt;
using cobalt::use_op;

struct fixture {
  asio::io_context context;
  int number = 0;
  int ended = 0;

  // Runs tasks until there is nothing more to do.
  template <class... Tasks>
  void run(Tasks... tasks) {
    auto const end = [this](std::exception_ptr error) {
      BOOST_TEST(!error);
      ++ended;
    };
    (cobalt::spawn(context, std::move(tasks), end), ...);
    context.run();
    BOOST_TEST(ended == int(sizeof...(tasks)));
  }

  // What others spoil, unless they are kept out.
  cobalt::task<void> add_one() {
    int const seen = number;
    co_await asio::post(context, use_op);
    number = seen + 1;
  }
};

cobalt::task<void> with_mutex(fixture& f, asio_sync::async_mutex& mutex) {
  for (int i = 0; i != 10; ++i) {
    auto const lock = co_await mutex.async_lock(use_op);
    co_await f.add_one();
  }
}

cobalt::task<void> with_semaphore(fixture& f, asio_sync::async_semaphore& semaphore) {
  for (int i = 0; i != 10; ++i) {
    auto const permit = co_await semaphore.async_acquire(use_op);
    co_await f.add_one();
  }
}

cobalt::task<void> produce(asio_sync::async_monitor<int>& monitor) {
  for (int i = 0; i != 10; ++i) {
    auto const inside = co_await monitor.async_enter(use_op);
    ++*inside;
  }
}

cobalt::task<void> consume(asio_sync::async_monitor<int>& monitor, int& consumed) {
  auto const some = [](int const& stock) { return stock != 0; };
  while (consumed != 10) {
    auto const inside = co_await monitor.async_enter_when(some, use_op);
    consumed += std::exchange(*inside, 0);
  }
}

cobalt::task<void> fork(asio_sync::async_group& group, int& waited) {
  asio::steady_timer timer(group.get_executor(), std::chrono::seconds(0));
  co_await timer.async_wait(group.track(use_op));
  ++waited;
}

cobalt::task<void> join(asio_sync::async_group& group, int const& waited, int& seen) {
  co_await group.async_join(use_op);
  seen = waited;
}

}  // namespace cobalt_test

BOOST_FIXTURE_TEST_SUITE(cobalt_test, fixture)

BOOST_AUTO_TEST_CASE(tasks_lock_a_mutex) {
  asio_sync::async_mutex mutex(context);
  run(with_mutex(*this, mutex), with_mutex(*this, mutex), with_mutex(*this, mutex));
  BOOST_TEST(number == 30);
}

BOOST_AUTO_TEST_CASE(tasks_acquire_of_a_semaphore) {
  asio_sync::async_semaphore semaphore(context, 1);
  run(with_semaphore(*this, semaphore), with_semaphore(*this, semaphore));
  BOOST_TEST(number == 20);
}

BOOST_AUTO_TEST_CASE(tasks_enter_a_monitor) {
  asio_sync::async_monitor<int> stock(context, 0);
  run(consume(stock, number), produce(stock));
  BOOST_TEST(number == 10);
}

BOOST_AUTO_TEST_CASE(tasks_track_and_join) {
  asio_sync::async_group pending(context);
  int waited = 0, seen_by_join = 0;
  run(fork(pending, waited), fork(pending, waited), join(pending, waited, seen_by_join));
  BOOST_TEST((waited == 2 && seen_by_join == 2));
}

BOOST_AUTO_TEST_SUITE_END()

#endif
