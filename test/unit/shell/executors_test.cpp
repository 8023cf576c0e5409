// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Completions of a mutex run on the executor of their handler: cases that rules/completions.hpp
// does not have. Executors throw, run a function at once, or call the mutex.

#include "support/executors.hpp"
#include "support/mutex_fixture.hpp"
#include "support/test.hpp"

#include <boost/asio/system_context.hpp>

namespace executors_test {

using namespace asio_sync::test;

using lock_type = async_mutex::lock_type;
using plan = throwing_executor::plan;
constexpr plan places[] = {plan::execute, plan::require, plan::prefer};

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

// Has waits on mutexes of `ex` end: at once, when it is unlocked, when it is cancelled. `bind`
// gives the handler its executor, `run` has it called, and `here` tells, inside it, whether it is
// where it belongs.
template <class Executor, class Bind, class Run, class Here>
void check_where(Executor const& ex, Bind bind, Run run, Here here) {
  for (char const* const how : {"free", "unlocked", "cancelled"}) {
    BOOST_TEST_INFO_SCOPE(how);
    basic_async_mutex<Executor> mutex(ex);
    std::atomic<int> right = 0, calls = 0;
    if (*how != 'f') BOOST_REQUIRE(mutex.try_lock());
    mutex.async_lock(bind([&](error_code, auto) {
      right += here();
      ++calls;
    }));
    if (*how == 'u') mutex.unlock();
    if (*how == 'c') mutex.cancel();
    run(calls);
    BOOST_TEST(calls == 1);
    BOOST_TEST(right == 1);
  }
}

auto const unbound = [](auto handler) { return handler; };

auto bound_to(auto const& ex) {
  return [ex](auto handler) { return asio::bind_executor(ex, std::move(handler)); };
}

struct fixture : mutex_fixture {
  plan fault = plan::nothing;
  throwing_executor throwing{context, fault};
  execution_log log;

  // Runs one context and not another, as far as it goes.
  static auto polled(asio::io_context& c) {
    return [&c](std::atomic<int>& calls) {
      BOOST_TEST(calls == 0);
      test::poll(c);
    };
  }

  static auto in(asio::io_context& c) {
    return [&c] { return c.get_executor().running_in_this_thread(); };
  }

  void wait_on_throwing(async_mutex& m, fate& f) {
    m.async_lock(asio::bind_executor(throwing, observed_handler(f)));
  }
};

}  // namespace executors_test

BOOST_FIXTURE_TEST_SUITE(executors_test, fixture)

BOOST_AUTO_TEST_CASE(R2_any_completion_executor_is_the_known_executor_inside_it) {
  asio::any_io_executor const home = other.get_executor();
  auto const strand = asio::make_strand(context);
  check_where(home, bound_to(asio::any_completion_executor(context.get_executor())),
              polled(context), in(context));
  check_where(home, bound_to(asio::any_completion_executor(asio::any_io_executor(strand))),
              polled(context), [&] { return strand.running_in_this_thread(); });
  BOOST_TEST(other.poll() == 0u);
}

BOOST_AUTO_TEST_CASE(R2_an_executor_of_an_unknown_type) {
  tracking_executor const own(context.get_executor(), log);
  auto const here = [&] { return log.runs_here() && in(context)(); };
  check_where(asio::make_strand(own), unbound, polled(context), here);
  check_where(other.get_executor(), bound_to(asio::make_strand(own)), polled(context), here);
  check_where(own, bound_to(other.get_executor()), polled(other), in(other));
  BOOST_TEST(other.poll() == 0u);
}

BOOST_AUTO_TEST_CASE(R2_an_executor_without_blocking_never_is_reached_through_the_mutexs) {
  bare_executor const bare(log);
  static_assert(!std::is_convertible_v<bare_executor, asio::any_io_executor>);
  foreign_context_executor::context foreign;
  auto const here = [&] { return log.runs_here() && in(context)(); };
  asio::any_io_executor const erased = context.get_executor();
  auto const strand = asio::make_strand(context);
  check_where(erased, bound_to(bare), polled(context), here);
  check_where(strand, bound_to(bare), polled(context),
              [&] { return log.runs_here() && strand.running_in_this_thread(); });
  check_where(tracking_executor(context.get_executor(), log), bound_to(bare), polled(context),
              here);
  check_where(erased, bound_to(foreign_context_executor(foreign, log)), polled(context), here);
}

BOOST_AUTO_TEST_CASE(R2_any_completion_executor_with_an_unknown_executor_inside) {
  tracking_executor const own(other.get_executor(), log);
  bool called = false;
  mutex.async_lock(
      asio::bind_executor(asio::any_completion_executor(own), [&](error_code, lock_type) {
        BOOST_TEST((log.runs_here() && in(other)()));
        called = true;
      }));
  BOOST_TEST(other.poll() == 0u);  // one cannot post to it: through the mutex's
  poll();
  BOOST_TEST(!called);
  test::poll(other);
  BOOST_TEST(called);
}

BOOST_AUTO_TEST_CASE(R2_a_future_is_completed_on_the_executor_of_the_mutex) {
  auto const task = asio::use_future(
      [&](error_code, lock_type lock) { return in(context)() && lock.owns_lock(); });
  auto free = mutex.async_lock(task);
  auto queued = mutex.async_lock(task);
  BOOST_TEST((free.wait_for(0s) == std::future_status::timeout));
  poll();
  for (auto* const each : {&free, &queued}) {
    BOOST_REQUIRE((each->wait_for(0s) == std::future_status::ready));
    BOOST_TEST(each->get());
  }
}

BOOST_AUTO_TEST_CASE(R2_a_bound_system_executor_stays_what_it_is) {
  auto const elsewhere = [main = std::this_thread::get_id()] {
    return std::this_thread::get_id() != main;
  };
  auto const await_call = [](std::atomic<int>& calls) {
    while (calls == 0) std::this_thread::yield();
  };
  asio::system_executor const system;
  check_where(context.get_executor(), bound_to(asio::any_io_executor(system)), await_call,
              elsewhere);
  check_where(system, unbound, await_call, elsewhere);
  BOOST_TEST(context.poll() == 0u);
}

BOOST_AUTO_TEST_CASE(R2_a_coroutine_goes_on_where_it_was) {
  asio::thread_pool pool(2);
  auto const strand = asio::make_strand(pool);
  int done = 0;
  auto const coroutine = [&]() -> asio::awaitable<void> {
    for (int i = 0; i < 2; ++i) {
      auto const lock = co_await mutex.async_lock(asio::use_awaitable);
      done += strand.running_in_this_thread();
      co_await asio::post(asio::deferred);
    }
    auto const lock = co_await mutex.async_lock(asio::deferred);
    done += strand.running_in_this_thread();
  };
  for (int i = 0; i < 3; ++i) asio::co_spawn(strand, coroutine, asio::detached);
  pool.join();
  BOOST_TEST(done == 9);
  BOOST_TEST(context.poll() == 0u);
}

BOOST_AUTO_TEST_CASE(R2_a_strand_keeps_an_inner_executor_with_a_require_of_its_own) {
  BOOST_TEST_REQUIRE(mutex.try_lock());
  asio::strand<requiring_executor> const strand{requiring_executor(context.get_executor())};
  asio::strand<counting_executor> const counting{counting_executor(context.get_executor())};
  int done = 0;
  mutex.async_lock(asio::bind_executor(
      strand, [&](error_code, lock_type) { done += strand.running_in_this_thread(); }));
  counting_executor::executed = 0;
  mutex.unlock();
  poll();
  BOOST_TEST(counting_executor::executed == 1);
  mutex.async_lock(asio::bind_executor(
      counting, [&](error_code, lock_type) { done += counting.running_in_this_thread(); }));
  poll();
  BOOST_TEST(done == 2);
}

BOOST_AUTO_TEST_CASE(R13_an_executor_that_throws_in_a_hand_off_loses_its_handler_only) {
  for (plan const place : places) {
    BOOST_TEST_INFO_SCOPE("place " << static_cast<int>(place));
    fate lost, next;
    BOOST_REQUIRE(mutex.try_lock());
    wait_on_throwing(mutex, lost);
    mutex.async_lock(observed_handler(next));
    fault = place;
    BOOST_CHECK_NO_THROW(mutex.unlock());
    fault = plan::nothing;
    BOOST_TEST(lost.dropped());
    poll();
    BOOST_TEST(next.granted());
    BOOST_TEST(!mutex.is_locked());
  }
}

BOOST_AUTO_TEST_CASE(R13_an_executor_that_throws_in_a_refusal_loses_its_handler_only) {
  for (plan const place : places) {
    fate lost[2], next;
    async_mutex own(context);
    BOOST_REQUIRE(own.try_lock());
    wait_on_throwing(own, lost[0]);
    own.async_lock(observed_handler(next));
    fault = place;
    BOOST_TEST(own.cancel() == 2u);
    BOOST_TEST(lost[0].dropped());
    fault = plan::nothing;
    wait_on_throwing(own, lost[1]);
    fault = place;
    BOOST_CHECK_NO_THROW(own.close());
    fault = plan::nothing;
    BOOST_TEST(lost[1].dropped());
    poll();
    BOOST_TEST(next.refused(aborted));
  }
}

BOOST_AUTO_TEST_CASE(R13_an_executor_that_throws_in_the_initiation_leaves_everything_as_it_was) {
  for (plan const place : places) {
    BOOST_TEST_INFO_SCOPE("place " << static_cast<int>(place));
    bool const queues = place == plan::prefer;  // a free mutex needs no work to be tracked
    fate f;
    if (queues) BOOST_REQUIRE(mutex.try_lock());
    fault = place;
    BOOST_CHECK_THROW(wait_on_throwing(mutex, f), std::runtime_error);
    BOOST_TEST(f.dropped());
    BOOST_TEST(mutex.is_locked() == queues);
    BOOST_TEST(mutex.waiters() == 0u);
    if (queues) mutex.unlock();
    BOOST_TEST(context.poll() == 0u);
  }
}

BOOST_AUTO_TEST_CASE(R6_an_inline_executor_runs_the_handler_when_unlock_is_through) {
  inline_executor const ex(context);
  mutex_result first, second;
  BOOST_REQUIRE(mutex.try_lock());
  mutex.async_lock(asio::bind_executor(ex, [&](error_code e, lock_type lock) {
    first.handler()(e, std::move(lock));
    BOOST_TEST(mutex.is_locked());  // the mutex may be used
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

BOOST_AUTO_TEST_CASE(R6_a_chain_of_drops_by_a_throwing_executor_does_not_nest) {
  constexpr int count = 10'000;
  auto const life = std::make_shared<int>();
  BOOST_REQUIRE(mutex.try_lock());
  for (int i = 0; i < count; ++i)
    mutex.async_lock(asio::bind_executor(throwing, [life](error_code, lock_type) {}));
  BOOST_TEST(life.use_count() == count + 1);
  fault = plan::execute;
  mutex.unlock();
  BOOST_TEST(life.use_count() == 1);
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
  using executor = tracking_executor<asio::any_io_executor>;  // its type does not tell its context
  executor const ex(context.get_executor(), log);
  basic_async_mutex<executor> shared(ex);
  basic_mutex_result<basic_async_mutex<executor>> first, timed, expired, second;
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
  BOOST_TEST(expired.error == timed_out);
  log.on_execute = use;
  shared.unlock();
  poll();
  BOOST_TEST(first.granted());
  BOOST_TEST(entered > 4);
  log.on_execute = log.on_property = nullptr;
  shared.cancel();
  first.lock = {};
  poll();
}

BOOST_AUTO_TEST_SUITE_END()
