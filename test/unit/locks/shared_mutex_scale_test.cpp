// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Very many readers of one shared mutex, on a small stack.

#include "support/coroutine.hpp"
#include "support/event_result.hpp"
#include "support/executors.hpp"
#include "support/memory.hpp"
#include "support/test.hpp"

#include <asio_sync/async_shared_mutex.hpp>

namespace shared_mutex_scale_test {

using namespace asio_sync::test;
using writer = async_shared_mutex::lock_type;
using reader = async_shared_mutex::shared_lock_type;

constexpr std::size_t many = most_waits / 10;

struct fixture {
  outcomes read, written;
  asio::io_context context, other;
  async_shared_mutex mutex{context};

  template <class Executor>
  void queue(std::size_t readers, Executor const& ex) {
    for (std::size_t i = 0; i < readers; ++i)
      mutex.async_lock_shared(asio::bind_executor(ex, counted_handler(read)));
  }

  void poll() {
    for (auto* const io : {&context, &other, &context}) {
      io->restart();
      io->poll();
    }
  }

  bool idle() const { return !mutex.is_locked() && mutex.waiters() == 0; }
};

}  // namespace shared_mutex_scale_test

BOOST_FIXTURE_TEST_SUITE(shared_mutex_scale_test, fixture)

BOOST_AUTO_TEST_CASE(R6_a_million_readers_behind_a_writer_enter_at_once_and_without_memory) {
  auto const check = [&](std::size_t readers, auto const& ex, bool downgraded) {
    std::size_t const before = read.granted;
    std::size_t waiting = 0, granted = 1, allocations = 1;
    run_on_stack(small_stack, [&] {
      writer first(mutex);
      reader stays;
      queue(readers, ex);
      mutex.async_lock(counted_handler(written));
      {
        heap_counter const heap;
        if (downgraded)
          stays = async_shared_mutex::downgrade(std::move(first));
        else
          first.unlock();
        allocations = heap.allocations();
      }
      waiting = mutex.waiters();
      granted = read.granted - before;
      stays = reader();
      poll();
    });
    BOOST_TEST(waiting == 1u);  // who writes next
    BOOST_TEST(granted == 0u);
    BOOST_TEST(allocations == 0u);
    BOOST_TEST(read.granted == before + readers);
    BOOST_TEST(idle());
  };
  check(most_waits, context.get_executor(), false);
  check(many, context.get_executor(), true);
  check(many, asio::make_strand(context), false);
  check(many, asio::any_io_executor(asio::make_strand(other)), false);
  BOOST_TEST(written.granted == 4u);
}

BOOST_AUTO_TEST_CASE(R6_chain_of_readers_and_writers_in_turn) {
  auto const check = [&](auto const& ex) {
    outcomes both;
    run_on_stack(small_stack, [&] {
      writer first(mutex);
      for (std::size_t i = 0; i < many; ++i) {
        mutex.async_lock_shared(asio::bind_executor(ex, counted_handler(both)));
        mutex.async_lock(asio::bind_executor(ex, counted_handler(both)));
      }
      first.unlock();
      poll();
    });
    BOOST_TEST(both.all() == 2 * many);
    BOOST_TEST(idle());
  };
  check(context.get_executor());
  check(inline_executor(context));
  check(dropping_executor(context));
}

BOOST_AUTO_TEST_CASE(R4_a_million_readers_enter_when_the_writer_before_them_is_cancelled) {
  asio::cancellation_signal signal;
  reader const first(mutex);
  mutex.async_lock(asio::bind_cancellation_slot(signal.slot(), counted_handler(written)));
  run_on_stack(small_stack, [&] {
    queue(most_waits, context.get_executor());
    signal.emit(asio::cancellation_type::terminal);
  });
  BOOST_TEST(mutex.waiters() == 0u);
  BOOST_TEST(read.granted == 0u);
  poll();
  BOOST_TEST(written.refused == 1u);
  BOOST_TEST(read.granted == most_waits);
}

BOOST_AUTO_TEST_SUITE_END()
