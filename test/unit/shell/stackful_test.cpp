// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Stackful coroutines themselves, so that a sanitizer that does not follow their switches is seen
// here and not in a test of a primitive; beside sessions of other styles; and in a group.

#include "support/test.hpp"
#include "unit/group/strands.hpp"

#include <asio_sync/async_enumerator.hpp>
#include <asio_sync/async_group.hpp>
#include <asio_sync/async_guarded.hpp>
#include <asio_sync/async_mutex.hpp>

using namespace asio_sync::test;

BOOST_AUTO_TEST_SUITE(stackful_test)

BOOST_AUTO_TEST_CASE(switches_and_throws_on_one_thread) {
  asio::io_context context;
  int steps = 0;
  for (int i = 0; i < 3; ++i) {
    asio::spawn(
        context,
        [&](asio::yield_context yield) {
          for (int j = 0; j < 3; ++j, ++steps) asio::post(yield);
          throw std::runtime_error("last step");
        },
        [&](std::exception_ptr failure) { steps += failure ? 10 : 0; });
  }
  context.run();
  BOOST_TEST(steps == 39);
}

BOOST_AUTO_TEST_CASE(guarded_operation_on_a_strand) {
  asio::thread_pool pool(2);
  async_mutex mutex(pool);
  int begun = 0;  // guarded
  for (int i = 0; i < 3; ++i)
    asio::spawn(
        asio::make_strand(pool),
        [&](asio::yield_context yield) {
          asio::steady_timer timer(pool, std::chrono::milliseconds(1));
          auto const wait = [&](auto&& token) {
            ++begun;
            return timer.async_wait(std::forward<decltype(token)>(token));
          };
          for (int j = 0; j < 10; ++j) asio_sync::async_guarded(mutex, wait, yield);
        },
        asio::detached);
  pool.join();
  BOOST_TEST(begun == 30);
  BOOST_TEST(!mutex.is_locked());
}

// Asio of Boost 1.81 throws the null pointer that a plain `yield` receives.
BOOST_AUTO_TEST_CASE(R1_awaits_with_as_tuple_what_completes_with_an_exception) {
  asio::io_context context;
  asio_sync::async_enumerator enumerator(context);
  bool ended = false;
  auto const steps = [](bool fail) -> asio_sync::async_steps {
    co_yield 0;
    if (fail) throw std::runtime_error("last step");
  };
  asio::spawn(
      context,
      [&](asio::yield_context yield) {
        auto const [none] = enumerator.async_run(steps(false), asio::as_tuple(yield));
        BOOST_TEST(!none);
        auto const [thrown] = enumerator.async_run(steps(true), asio::as_tuple(yield));
        BOOST_TEST(!!thrown);
        ended = true;
      },
      asio::detached);
  context.run();
  BOOST_TEST(ended);
}

BOOST_AUTO_TEST_CASE(moves_between_threads) {
  asio::thread_pool pool(2);
  std::atomic<int> steps = 0;
  for (int i = 0; i < 8; ++i) {
    asio::spawn(
        pool,
        [&](asio::yield_context yield) {
          for (int j = 0; j < 100; ++j, ++steps) asio::post(yield);
        },
        [](std::exception_ptr) {});
  }
  pool.join();
  BOOST_TEST(steps == 800);
}

BOOST_AUTO_TEST_CASE(is_unwound_when_its_context_dies) {
  bool unwound = false;
  struct guard {
    bool& flag;
    ~guard() { flag = true; }
  };
  {
    asio::io_context context;
    asio::spawn(
        context,
        [&](asio::yield_context yield) {
          guard const on_exit{unwound};
          for (;;) asio::post(yield);
        },
        [](std::exception_ptr) {});
    context.run_one();
    context.run_one();
  }
  BOOST_TEST(unwound);
}

// Adds one, in two steps, between which others would do so too if the mutex did not keep them out.
struct sessions {
  void spawn_stackful() {
    asio::spawn(
        context,
        [this](asio::yield_context yield) {
          for (int i = 0; i < 10; ++i) {
            auto const lock = mutex.async_lock(yield);
            int const seen = number;
            asio::post(yield);
            number = seen + 1;
          }
        },
        rethrow);
  }

  void spawn_coroutine() { asio::co_spawn(context, add(), rethrow); }
  asio::awaitable<void> add() {
    for (int i = 0; i < 10; ++i) {
      auto const lock = co_await mutex.async_lock();
      int const seen = number;
      co_await asio::post(asio::deferred);
      number = seen + 1;
    }
  }

  void begin_callbacks(int rounds) {
    if (rounds == 0) return;
    mutex.async_lock([=, this](error_code error, async_mutex::lock_type lock) {
      if (error) return;
      asio::post(context, [this, rounds, seen = number, lock = std::move(lock)]() mutable {
        number = seen + 1;
        lock.unlock();
        begin_callbacks(rounds - 1);
      });
    });
  }

  static void rethrow(std::exception_ptr error) {
    if (error) std::rethrow_exception(error);
  }

  asio::io_context context;
  async_mutex mutex{context};
  int number = 0;
};

BOOST_FIXTURE_TEST_CASE(sessions_of_all_styles_share_a_mutex, sessions) {
  for (int i = 0; i < 3; ++i) {
    spawn_stackful();
    spawn_coroutine();
    begin_callbacks(10);
  }
  context.run();
  BOOST_TEST(number == 90);
  BOOST_TEST(!mutex.is_locked());
}

BOOST_FIXTURE_TEST_CASE(W1_coroutines_of_a_group_are_cancelled_in_their_strands,
                        asio_sync::test::group_of_strands) {
  cancels([&](strand const& own) {
    asio::spawn(
        own,
        [](auto yield) {
          asio::steady_timer timer(yield.get_executor());
          for (;;) {
            timer.expires_after(std::chrono::microseconds(10));
            timer.async_wait(yield);
          }
        },
        group->track(asio::detached));
  });
}

BOOST_FIXTURE_TEST_CASE(W2_operations_of_a_group_are_cancelled_where_their_coroutines_run,
                        asio_sync::test::group_of_strands) {
  cancels([&](strand const& own) {
    asio::spawn(
        own,
        [this](auto yield) {
          asio::steady_timer timer(yield.get_executor(), std::chrono::hours(1));
          timer.async_wait(group->track(yield));
        },
        group->track(asio::detached));
  });
}

BOOST_AUTO_TEST_SUITE_END()
