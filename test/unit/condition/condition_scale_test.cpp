// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Very many waits on one condition, on a small stack.

#include "support/coroutine.hpp"
#include "support/event_result.hpp"
#include "support/executors.hpp"
#include "support/memory.hpp"
#include "support/test.hpp"

#include <asio_sync/async_condition.hpp>
#include <asio_sync/async_mutex.hpp>

namespace condition_scale_test {

using namespace asio_sync::test;
using lock_type = async_mutex::lock_type;

constexpr std::size_t many = most_waits / 10;

struct fixture {
  outcomes o, last;
  asio::io_context context, other;
  std::unique_ptr<async_mutex> mutex = std::make_unique<async_mutex>(context);
  std::unique_ptr<async_condition> condition = std::make_unique<async_condition>(context);

  template <class Executor>
  void queue(std::size_t waits, Executor const& ex) {
    for (std::size_t i = 0; i < waits; ++i)
      condition->async_wait(lock_type(*mutex), asio::bind_executor(ex, counted_handler(o)));
  }

  void run() {
    for (auto* const io : {&context, &other}) {
      io->restart();
      io->run();
    }
  }
};

}  // namespace condition_scale_test

BOOST_FIXTURE_TEST_SUITE(condition_scale_test, fixture)

BOOST_AUTO_TEST_CASE(C3_one_notification_for_a_million_waits_runs_none_and_needs_no_memory) {
  auto const check = [&](std::size_t waits, auto const& ex) {
    std::size_t queued = 0, moved = 0, granted = 1, allocations = 1;
    std::size_t const before = o.granted;
    run_on_stack(small_stack, [&] {
      queue(waits, ex);
      queued = condition->waiters();
      {
        heap_counter const heap;
        condition->notify_all();
        allocations = heap.allocations();
      }
      moved = mutex->waiters();
      granted = o.granted - before;
      run();
    });
    BOOST_TEST(queued == waits);
    BOOST_TEST(moved == waits - 1);  // one has the mutex
    BOOST_TEST(granted == 0u);
    BOOST_TEST(allocations == 0u);
    BOOST_TEST(o.granted == before + waits);
    BOOST_TEST(!mutex->is_locked());
  };
  check(most_waits, context.get_executor());
  check(many, asio::make_strand(context));
  check(many, asio::any_io_executor(asio::make_strand(other)));
}

BOOST_AUTO_TEST_CASE(R6_chain_of_hand_offs_that_run_inline) {
  run_on_stack(small_stack, [&] {
    queue(many, inline_executor(context));
    condition->notify_all();
  });
  BOOST_TEST(o.granted == many);
  BOOST_TEST(!mutex->is_locked());
}

// Each is dropped with the notification, which it passes on.
BOOST_AUTO_TEST_CASE(C3_one_notification_goes_through_a_million_waits_that_are_dropped) {
  run_on_stack(small_stack, [&] {
    queue(most_waits, dropping_executor(context));
    condition->async_wait(lock_type(*mutex), counted_handler(last));
    condition->notify_one();
  });
  BOOST_TEST(o.dropped == most_waits);
  BOOST_TEST(condition->waiters() == 0u);
  context.poll();
  BOOST_TEST(last.granted == 1u);
}

BOOST_AUTO_TEST_CASE(R10_a_context_ends_with_a_million_waits_at_the_condition_or_at_the_mutex) {
  for (bool const notified : {false, true})
    run_on_stack(small_stack, [&] {
      asio::io_context dying;
      queue(most_waits / 2, dying.get_executor());
      if (notified) condition->notify_all();
    });
  BOOST_TEST(o.dropped == most_waits);
  BOOST_TEST(condition->waiters() == 0u);
  BOOST_TEST(mutex->waiters() == 0u);
  BOOST_TEST(!mutex->is_locked());
}

BOOST_AUTO_TEST_CASE(C2_a_million_waits_are_cancelled_and_have_the_mutex_again) {
  std::size_t refused = 1, cancelled = 0;
  run_on_stack(small_stack, [&] {
    queue(most_waits, context.get_executor());
    cancelled = condition->cancel();
    refused = o.refused;
    run();
  });
  BOOST_TEST(cancelled == most_waits);
  BOOST_TEST(refused == 0u);
  BOOST_TEST(o.refused == most_waits);
  BOOST_TEST(!mutex->is_locked());
}

BOOST_AUTO_TEST_CASE(R11_very_many_waits_time_out_and_have_the_mutex_again) {
  std::size_t with_mutex = 0;
  run_on_stack(small_stack, [&] {
    auto const deadline = std::chrono::steady_clock::now() + 200ms;
    for (std::size_t i = 0; i < many; ++i) {
      lock_type lock(*mutex, std::try_to_lock);
      for (; !lock; lock = lock_type(*mutex, std::try_to_lock)) {  // one that is late has it
        context.restart();
        context.poll_one();
      }
      condition->async_wait_until(std::move(lock), deadline + std::chrono::nanoseconds(i),
                                  [&](error_code e, lock_type const& held) {
                                    with_mutex += e == asio::error::timed_out && held;
                                  });
    }
    run();
  });
  BOOST_TEST(with_mutex == many);
  BOOST_TEST(condition->waiters() == 0u);
}

BOOST_AUTO_TEST_CASE(R9_condition_and_mutex_are_destroyed_with_very_many_waits) {
  for (bool const condition_dies : {true, false}) {
    std::size_t const before = o.refused;
    run_on_stack(small_stack, [&] {
      queue(many, context.get_executor());
      queue(many, inline_executor(context));
      if (condition_dies) {
        condition.reset();
      } else {
        mutex.reset();
        condition->notify_all();
      }
      run();
    });
    BOOST_TEST(o.refused == before + 2 * many);
    condition = std::make_unique<async_condition>(context);
  }
}

// All of them look, as often as they are notified, and those that look in vain queue again.
BOOST_AUTO_TEST_CASE(C4_very_many_predicates_are_looked_at_again_and_again) {
  std::size_t looks = 0, turn = 0, ended = 0;
  run_on_stack(small_stack, [&] {
    for (std::size_t i = 0; i < many; ++i) {
      condition->async_wait(
          lock_type(*mutex), [&, i] { return ++looks, i % 2 < turn; },
          [&](error_code, lock_type const&) { ++ended; });
      context.restart();
      context.poll();
    }
    for (turn = 0; turn < 3; ++turn) {
      condition->notify_all();
      context.restart();
      context.poll();
    }
  });
  BOOST_TEST(looks == many * 3 + many / 2);
  BOOST_TEST(ended == many);
  BOOST_TEST(!mutex->is_locked());
}

BOOST_AUTO_TEST_SUITE_END()
