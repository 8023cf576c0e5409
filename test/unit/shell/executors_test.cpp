// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Where the completions of a mutex run, and what executors may do wrong.

#include "support/executors.hpp"
#include <asio_sync/async_mutex.hpp>
#include "support/test.hpp"

#include <boost/asio/system_context.hpp>

namespace executors_test {

using namespace asio_sync::test;

using lock_type = async_mutex::lock_type;

// Executors over any_io_executor, with an execute() of their own, and with a require() that leads
// to such a one.
struct counting_executor : asio::any_io_executor {
  explicit counting_executor(asio::any_io_executor const& ex) : asio::any_io_executor(ex) {}
  counting_executor require(asio::execution::blocking_t::never_t never) const {
    return counting_executor(asio::any_io_executor::require(never));
  }
  template <class Function>
  void execute(Function&& f) const {
    ++executed;
    asio::any_io_executor::execute(std::forward<Function>(f));
  }
  static inline int executed = 0;
};
struct requiring_executor : asio::any_io_executor {
  explicit requiring_executor(asio::any_io_executor const& ex) : asio::any_io_executor(ex) {}
  counting_executor require(asio::execution::blocking_t::never_t never) const {
    return counting_executor(asio::any_io_executor::require(never));
  }
};

// How a wait ends: R2 holds for each of these.
enum class ending { free, unlocked, cancelled, closed, destroyed };
constexpr ending endings[] = {ending::free, ending::unlocked, ending::cancelled, ending::closed,
                              ending::destroyed};

// Ends waits on mutexes of `ex` from this thread, in every way. `bind` gives the handler its
// executor, `run` has it called, and `here` tells, inside it, whether it is where it belongs.
template <class Executor, class Bind, class Run, class Here>
void check_where(Executor const& ex, Bind bind, Run run, Here here) {
  for (ending how : endings) {
    BOOST_TEST_CONTEXT("ending " << static_cast<int>(how)) {
      using mutex_type = basic_async_mutex<Executor>;
      std::optional<mutex_type> mutex(std::in_place, ex);
      std::atomic<int> right = 0, calls = 0;
      if (how != ending::free) BOOST_REQUIRE(mutex->try_lock());
      mutex->async_lock(bind([&](error_code, typename mutex_type::lock_type lock) {
        if (here()) ++right;
        if (lock) lock.unlock();
        ++calls;
      }));
      if (how == ending::unlocked) mutex->unlock();
      if (how == ending::cancelled) BOOST_TEST(mutex->cancel() == 1u);
      if (how == ending::closed) mutex->close();
      if (how == ending::destroyed) mutex.reset();
      run(calls);
      BOOST_TEST(calls == 1);
      BOOST_TEST(right == 1);
    }
  }
}

auto const unbound = [](auto handler) { return handler; };

auto bound_to(auto const& ex) {
  return [ex](auto handler) { return asio::bind_executor(ex, std::move(handler)); };
}

// For handlers that a pool runs.
auto const await_call = [](std::atomic<int>& calls) {
  while (calls == 0) std::this_thread::yield();
};

struct fixture {
  asio::io_context context, other;
  execution_log log;

  // Runs one context and not another, as far as it goes.
  static auto poll(asio::io_context& c) {
    return [&c](std::atomic<int>& calls) {
      BOOST_TEST(calls == 0);
      c.restart();
      c.poll();
    };
  }

  static auto in(asio::io_context& c) {
    return [&c] { return c.get_executor().running_in_this_thread(); };
  }
};

}  // namespace executors_test

BOOST_FIXTURE_TEST_SUITE(executors_test, fixture)

BOOST_AUTO_TEST_CASE(R2_any_completion_executor_is_the_known_executor_inside_it) {
  asio::any_io_executor const primitive = other.get_executor();
  auto const strand = asio::make_strand(context);
  check_where(primitive, bound_to(asio::any_completion_executor(context.get_executor())),
              poll(context), in(context));
  check_where(primitive, bound_to(asio::any_completion_executor(strand)), poll(context),
              [&] { return strand.running_in_this_thread(); });
  check_where(primitive, bound_to(asio::any_completion_executor(asio::any_io_executor(strand))),
              poll(context), [&] { return strand.running_in_this_thread(); });
  BOOST_TEST(other.poll() == 0u);
}

BOOST_AUTO_TEST_CASE(R2_on_thread_pools_and_their_strands) {
  asio::thread_pool pool(2);
  auto const strand = asio::make_strand(pool);
  asio::any_io_executor const primitive = other.get_executor();
  auto const in_pool = [&] { return pool.get_executor().running_in_this_thread(); };
  auto const in_strand = [&] { return strand.running_in_this_thread(); };
  check_where(pool.get_executor(), unbound, await_call, in_pool);
  check_where(asio::any_io_executor(pool.get_executor()), unbound, await_call, in_pool);
  check_where(strand, unbound, await_call, in_strand);
  check_where(asio::any_io_executor(strand), unbound, await_call, in_strand);
  check_where(primitive, bound_to(pool.get_executor()), await_call, in_pool);
  check_where(primitive, bound_to(strand), await_call, in_strand);
  check_where(primitive, bound_to(asio::any_completion_executor(strand)), await_call, in_strand);
  BOOST_TEST(other.poll() == 0u);
}

BOOST_AUTO_TEST_CASE(R2_an_executor_of_an_unknown_type) {
  tracking_executor const own(context.get_executor(), log);
  auto const here = [&] { return log.runs_here() && in(context)(); };
  asio::any_io_executor const primitive = other.get_executor();
  check_where(own, unbound, poll(context), here);
  check_where(asio::any_io_executor(own), unbound, poll(context), here);
  check_where(asio::make_strand(own), unbound, poll(context), here);
  check_where(primitive, bound_to(own), poll(context), here);
  check_where(primitive, bound_to(asio::any_io_executor(own)), poll(context), here);
  check_where(primitive, bound_to(asio::make_strand(own)), poll(context), here);
  check_where(own, bound_to(other.get_executor()), poll(other), in(other));
  BOOST_TEST(other.poll() == 0u);
}

BOOST_AUTO_TEST_CASE(R2_an_executor_without_blocking_never_is_reached_through_the_mutexs) {
  bare_executor const bare(log);
  static_assert(!std::is_convertible_v<bare_executor, asio::any_io_executor>);
  auto const here = [&] { return log.runs_here() && in(context)(); };
  asio::any_io_executor const erased = context.get_executor();
  auto const strand = asio::make_strand(context);
  check_where(context.get_executor(), bound_to(bare), poll(context), here);
  check_where(erased, bound_to(bare), poll(context), here);
  check_where(strand, bound_to(bare), poll(context),
              [&] { return log.runs_here() && strand.running_in_this_thread(); });
  check_where(erased, bound_to(asio::any_completion_executor(bare)), poll(context), here);
  check_where(tracking_executor(context.get_executor(), log), bound_to(bare), poll(context), here);
}

BOOST_AUTO_TEST_CASE(R2_any_completion_executor_with_an_unknown_executor_inside) {
  execution_log inner;
  tracking_executor const own(other.get_executor(), inner);
  std::atomic<int> calls = 0;
  async_mutex mutex(context);
  mutex.async_lock(
      asio::bind_executor(asio::any_completion_executor(own), [&](error_code, lock_type) {
        BOOST_TEST(inner.runs_here());
        BOOST_TEST(in(other)());
        ++calls;
      }));
  BOOST_TEST(other.poll() == 0u);  // one cannot post to it: through the mutex's
  context.poll();
  BOOST_TEST(calls == 0);
  other.restart();
  other.poll();
  BOOST_TEST(calls == 1);
  BOOST_TEST(!mutex.is_locked());
}

BOOST_AUTO_TEST_CASE(R2_an_executor_without_a_context_of_asios_is_reached_through_the_mutexs) {
  foreign_context_executor::context foreign;
  foreign_context_executor const own(foreign, log);
  check_where(asio::any_io_executor(context.get_executor()), bound_to(own), poll(context),
              [&] { return log.runs_here() && in(context)(); });
}

BOOST_AUTO_TEST_CASE(R2_a_future_is_completed_on_the_executor_of_the_mutex) {
  async_mutex mutex(context);
  auto const task = asio::use_future(
      [&](error_code, lock_type lock) { return in(context)() && lock.owns_lock(); });
  auto free = mutex.async_lock(task);
  auto queued = mutex.async_lock(task);
  auto plain = mutex.async_lock(asio::use_future);
  BOOST_TEST((free.wait_for(0s) == std::future_status::timeout));
  context.poll();
  BOOST_REQUIRE((free.wait_for(0s) == std::future_status::ready));
  BOOST_REQUIRE((queued.wait_for(0s) == std::future_status::ready));
  BOOST_REQUIRE((plain.wait_for(0s) == std::future_status::ready));
  BOOST_TEST(free.get());
  BOOST_TEST(queued.get());
  BOOST_TEST(plain.get().owns_lock());
}

BOOST_AUTO_TEST_CASE(R2_a_bound_system_executor_stays_what_it_is) {
  auto const elsewhere = [main = std::this_thread::get_id()] {
    return std::this_thread::get_id() != main;
  };
  asio::any_io_executor const primitive = context.get_executor();
  check_where(primitive, bound_to(asio::system_executor()), await_call, elsewhere);
  check_where(primitive, bound_to(asio::any_io_executor(asio::system_executor())), await_call,
              elsewhere);
  check_where(asio::system_executor(), unbound, await_call, elsewhere);
  BOOST_TEST(context.poll() == 0u);
}

BOOST_AUTO_TEST_CASE(R2_a_coroutine_goes_on_where_it_was) {
  auto const strand = asio::make_strand(context);
  async_mutex mutex(other);
  int done = 0;
  for (int i = 0; i < 3; ++i)
    asio::co_spawn(
        strand,
        [&]() -> asio::awaitable<void> {
          auto lock = co_await mutex.async_lock(asio::use_awaitable);
          BOOST_TEST(strand.running_in_this_thread());
          co_await asio::post(asio::deferred);
          lock.unlock();
          lock = co_await mutex.async_lock(asio::deferred);
          BOOST_TEST(strand.running_in_this_thread());
          ++done;
        },
        asio::detached);
  context.run();
  BOOST_TEST(done == 3);
  BOOST_TEST(other.poll() == 0u);
}

BOOST_AUTO_TEST_CASE(R2_a_strand_keeps_an_inner_executor_with_a_require_of_its_own) {
  async_mutex mutex(context);
  BOOST_TEST_REQUIRE(mutex.try_lock());
  asio::strand<requiring_executor> const strand{requiring_executor(context.get_executor())};
  asio::strand<counting_executor> const counting{counting_executor(context.get_executor())};
  int done = 0;
  mutex.async_lock(asio::bind_executor(
      strand, [&](error_code, lock_type) { done += strand.running_in_this_thread(); }));
  counting_executor::executed = 0;
  mutex.unlock();
  context.run();
  BOOST_TEST(counting_executor::executed == 1);
  mutex.async_lock(asio::bind_executor(
      counting, [&](error_code, lock_type) { done += counting.running_in_this_thread(); }));
  context.restart();
  context.run();
  BOOST_TEST(done == 2);
}

BOOST_AUTO_TEST_CASE(R2_several_threads_may_run_the_context) {
  async_mutex mutex(context);
  constexpr int tasks = 50, rounds = 40;
  int counter = 0;
  for (int i = 0; i < tasks; ++i)
    asio::co_spawn(
        context,
        [&]() -> asio::awaitable<void> {
          for (int round = 0; round < rounds; ++round) {
            auto const lock = co_await mutex.async_lock();
            BOOST_TEST_REQUIRE(in(context)());
            ++counter;
          }
        },
        asio::detached);
  std::thread one([&] { context.run(); });
  std::thread two([&] { context.run(); });
  one.join();
  two.join();
  BOOST_TEST(counter == tasks * rounds);
  BOOST_TEST(!mutex.is_locked());
}

BOOST_AUTO_TEST_SUITE_END()
