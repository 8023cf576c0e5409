// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Waits on a condition with every kind of token, above all in coroutines, and on every kind of
// executor.

#include "support/coroutine.hpp"
#include "support/executors.hpp"
#include "support/test.hpp"

#include <asio_sync/async_condition.hpp>
#include <asio_sync/async_monitor.hpp>
#include <asio_sync/async_mutex.hpp>

namespace condition_tokens_test {

using namespace asio_sync::test;
using lock_type = async_mutex::lock_type;

struct fixture {
  asio::io_context context;
  async_mutex mutex{context};
  async_condition condition{context};
  bool ready = false;

  auto is_ready() {
    return [this] { return ready; };
  }

  // Has somebody notify in vain once a wait is queued, and make it ready once that is queued
  // again.
  void make_ready_later(bool now = false) {
    asio::post(context, [this, now] {
      if (condition.waiters() == 0) return make_ready_later(now);
      ready = now;
      condition.notify_one();
      if (!now) make_ready_later(true);
    });
  }
};

}  // namespace condition_tokens_test

BOOST_FIXTURE_TEST_SUITE(condition_tokens_test, fixture)

BOOST_AUTO_TEST_CASE(R1a_a_coroutine_does_not_suspend_for_what_is_true_or_refused) {
  ready = true;
  run(context, [&]() -> asio::awaitable<void> {
    lock_type lock(mutex);
    trip_probe const probe(context.get_executor());
    co_await condition.async_wait(lock, is_ready());
    co_await condition.async_wait(lock, is_ready(), asio::use_awaitable);
    static_cast<void>(
        co_await condition.async_wait_for(lock, 1h, is_ready(), asio::as_tuple(asio::deferred)));
    error_code error;
    co_await condition.async_wait_for(lock, 0s, asio::redirect_error(asio::deferred, error));
    BOOST_TEST((error == timed_out && lock.owns_lock()));
    co_await condition.async_wait_until(lock, std::chrono::steady_clock::now(),
                                        asio::redirect_error(asio::use_awaitable, error));
    BOOST_TEST((error == timed_out && lock.owns_lock()));
    condition.close();
    co_await condition.async_wait(lock, is_ready(), asio::redirect_error(asio::deferred, error));
    BOOST_TEST((error == closed && !lock.owns_lock() && lock.mutex() == &mutex));
    BOOST_TEST(probe.taken() == !spared);
  });
}

BOOST_AUTO_TEST_CASE(C4_a_coroutine_waits_until_its_predicate_is_true) {
  auto const wait = [&](auto const& token) {
    run(context, [&]() -> asio::awaitable<void> {
      ready = false;
      lock_type lock(mutex);
      make_ready_later();
      co_await condition.async_wait(lock, is_ready(), token);
      BOOST_TEST((ready && lock.owns_lock()));
      ready = false;
      make_ready_later();
      co_await condition.async_wait_for(lock, 1h, is_ready(), token);
      BOOST_TEST((ready && lock.owns_lock()));
    });
  };
  wait(asio::deferred);
  wait(asio::use_awaitable);
  wait(asio::as_tuple(asio::deferred));
  wait(asio::as_tuple(asio::use_awaitable));
}

BOOST_AUTO_TEST_CASE(C4_a_coroutine_looks_once_for_each_time_that_it_has_the_mutex) {
  run(context, [&]() -> asio::awaitable<void> {
    lock_type lock(mutex);
    int looks = 0;
    auto const counted = [&] { return ++looks, ready; };
    make_ready_later();
    co_await condition.async_wait(lock, counted, asio::use_awaitable);
    BOOST_TEST(looks == 3);  // at once, when it is told in vain, and when it is ready
  });
}

BOOST_AUTO_TEST_CASE(R11_zero_time_looks_once_in_a_coroutine) {
  run(context, [&]() -> asio::awaitable<void> {
    lock_type lock(mutex);
    trip_probe const probe(context.get_executor());
    int looks = 0;
    auto const counted = [&] { return ++looks, ready; };
    for (bool const now : {false, true}) {
      ready = now;
      error_code error;
      co_await condition.async_wait_for(lock, 0s, counted,
                                        asio::redirect_error(asio::deferred, error));
      BOOST_TEST((error == (now ? error_code() : timed_out) && lock.owns_lock()));
    }
    if (spared) BOOST_TEST((looks == 2 && !probe.taken()));
  });
}

BOOST_AUTO_TEST_CASE(C4_an_exception_of_the_predicate_comes_out_of_co_await_with_the_mutex_held) {
  struct failure {};
  run(context, [&]() -> asio::awaitable<void> {
    lock_type lock(mutex);
    for (bool const at_once : {true, false}) {
      bool thrown = false;
      ready = at_once;
      if (!at_once) make_ready_later();
      try {
        co_await condition.async_wait(
            lock, [&]() -> bool { return ready ? throw failure() : false; }, asio::use_awaitable);
      } catch (failure const&) {
        thrown = true;
      }
      BOOST_TEST((thrown && lock.owns_lock()));
      BOOST_TEST(condition.waiters() == 0u);
    }
  });
}

BOOST_AUTO_TEST_CASE(R1a_of_many_in_a_row_one_goes_through_the_executor) {
  ready = true;
  run(context, [&]() -> asio::awaitable<void> {
    lock_type lock(mutex);
    trip_probe const probe(context.get_executor());
    for (int i = 0; i < 129; ++i) co_await condition.async_wait(lock, is_ready());
    BOOST_TEST(probe.taken());
    BOOST_TEST(lock.owns_lock());
  });
}

BOOST_AUTO_TEST_CASE(C2_an_rvalue_lock_comes_back_with_the_completion) {
  std::future<lock_type> future = condition.async_wait(lock_type(mutex), asio::use_future);
  condition.notify_one();
  context.run();
  BOOST_TEST(future.get().owns_lock());

  run(context, [&]() -> asio::awaitable<void> {
    make_ready_later();
    auto [error, lock] = co_await condition.async_wait(lock_type(mutex), is_ready(),
                                                       asio::as_tuple(asio::deferred));
    BOOST_TEST((!error && lock.owns_lock()));
    lock_type same =
        co_await condition.async_wait(std::move(lock), is_ready(), asio::use_awaitable);
    BOOST_TEST(same.owns_lock());
    std::unique_lock standard(mutex, std::defer_lock);
    same.unlock();
    standard.lock();
    ready = false;
    make_ready_later();
    standard = co_await condition.async_wait(std::move(standard), is_ready(), asio::deferred);
    BOOST_TEST(standard.owns_lock());
    standard.unlock();
    BOOST_TEST(!mutex.is_locked());
  });
}

BOOST_AUTO_TEST_CASE(C2_a_deferred_operation_takes_the_lock_when_it_is_launched) {
  lock_type lock(mutex);
  auto operation = condition.async_wait(lock, is_ready(), asio::deferred);
  auto carrying = condition.async_wait(lock_type(), asio::deferred);
  BOOST_TEST(lock.owns_lock());
  int calls = 0;
  std::move(operation)([&](error_code e) { calls += !e; });
  BOOST_TEST(!lock.owns_lock());
  context.poll();
  ready = true;
  condition.notify_one();
  context.restart();
  context.poll();
  BOOST_TEST((calls == 1 && lock.owns_lock()));
  std::move(carrying)([&](error_code e, lock_type const&) { calls += e ? 1 : 0; });
  context.restart();
  context.poll();
  BOOST_TEST(calls == 2);
}

BOOST_AUTO_TEST_CASE(C5_a_handler_that_takes_anything_is_not_a_predicate) {
  int calls = 0;
  condition.async_wait(lock_type(mutex), [&](auto const&... what) {
    calls += sizeof...(what) == 2;
    return true;
  });
  BOOST_TEST(condition.waiters() == 1u);
  condition.notify_one();
  context.run();
  BOOST_TEST(calls == 1);
}

BOOST_AUTO_TEST_CASE(C4_a_predicate_need_not_be_copied) {
  auto const only_moved = [this] {
    return [this, owner = std::make_unique<int>()] { return owner && ready; };
  };
  lock_type lock(mutex);
  int calls = 0;
  condition.async_wait(lock, only_moved(), [&](error_code e) { calls += !e; });
  context.poll();
  std::future<lock_type> carried =
      condition.async_wait(lock_type(mutex), only_moved(), asio::use_future);
  context.restart();
  context.poll();
  ready = true;
  condition.notify_all();
  context.restart();
  context.poll();
  BOOST_TEST((calls == 1 && lock.owns_lock()));
  lock.unlock();
  context.restart();
  context.run();
  lock = carried.get();
  run(context, [&]() -> asio::awaitable<void> {
    auto predicate = only_moved();
    co_await condition.async_wait(lock, std::move(predicate), asio::use_awaitable);
  });
}

BOOST_AUTO_TEST_CASE(C2_std_unique_lock_is_a_members_hold_before_and_after) {
  std::unique_lock lock(mutex);
  int calls = 0;
  condition.async_wait(lock, is_ready(), [&](error_code) { ++calls; });
  BOOST_TEST(!lock.mutex());
  context.poll();
  BOOST_TEST(!mutex.is_locked());
  ready = true;
  condition.notify_one();
  context.restart();
  context.poll();
  BOOST_TEST((calls == 1 && lock.owns_lock()));
  mutex.unlock();  // a member may: no guard holds it
  static_cast<void>(lock.release());
}

BOOST_AUTO_TEST_CASE(C4_one_of_two_waits_loses_and_its_lock_is_let_go) {
  using namespace asio::experimental::awaitable_operators;
  run(context, [&]() -> asio::awaitable<void> {
    lock_type lock(mutex);
    make_ready_later();
    async_condition never(context);
    async_mutex another(context);
    lock_type other_lock(another);
    auto const won = co_await (condition.async_wait(lock, is_ready(), asio::use_awaitable) ||
                               never.async_wait(other_lock, asio::use_awaitable));
    BOOST_TEST(won.index() == 0u);
    BOOST_TEST((lock.owns_lock() && other_lock.owns_lock()));
  });
}

// A wait that is told twice in vain, and then that it is ready, on executors of every kind.
template <class Executor>
void wait_on(fixture& f, Executor const& ex, asio::io_context* with = nullptr) {
  f.ready = false;
  int calls = 0;
  bool right = false;
  f.condition.async_wait(lock_type(f.mutex), f.is_ready(),
                         asio::bind_executor(ex, [&](error_code e, lock_type lock) {
                           ++calls;
                           right = !e && lock.owns_lock();
                         }));
  auto const poll = [&] {
    for (int i = 0; i < 3; ++i)
      for (auto* const io : {&f.context, with}) {
        if (!io) continue;
        io->restart();
        io->poll();
      }
  };
  for (int i = 0; i < 3; ++i) {
    poll();
    BOOST_TEST(f.condition.waiters() == 1u);
    f.ready = i == 2;
    f.condition.notify_one();
  }
  poll();
  BOOST_TEST((calls == 1 && right));
  BOOST_TEST(!f.mutex.is_locked());
}

BOOST_AUTO_TEST_CASE(R2_a_wait_goes_to_its_executor_as_often_as_it_looks) {
  asio::io_context other;
  execution_log log;
  wait_on(*this, context.get_executor());
  wait_on(*this, other.get_executor(), &other);
  wait_on(*this, asio::any_io_executor(other.get_executor()), &other);
  wait_on(*this, asio::make_strand(context));
  wait_on(*this, asio::any_io_executor(asio::make_strand(other)), &other);
  wait_on(*this, asio::make_strand(asio::any_io_executor(other.get_executor())), &other);
  wait_on(*this, asio::prefer(other.get_executor(), asio::execution::outstanding_work.tracked),
          &other);
  wait_on(*this, bare_executor(log));
  BOOST_TEST(log.executed() == 4);
}

BOOST_AUTO_TEST_CASE(R2_waits_look_in_a_pool_whoever_notifies) {
  constexpr int rounds = 500;
  asio::thread_pool pool(2);
  async_mutex shared(pool);
  async_condition changed(pool);
  int turn = 0;
  auto const player = [&](int me) -> asio::awaitable<void> {
    for (int i = 0; i < rounds; ++i) {
      lock_type lock = co_await shared.async_lock(asio::use_awaitable);
      co_await changed.async_wait(
          lock, [&] { return turn % 3 == me; }, asio::use_awaitable);
      ++turn;
      changed.notify_all();
    }
  };
  asio::co_spawn(pool, player(0), asio::detached);
  asio::co_spawn(asio::make_strand(pool), player(1), asio::detached);
  asio::co_spawn(context, player(2), asio::detached);
  context.run();
  pool.join();
  BOOST_TEST(turn == 3 * rounds);
}

// Handlers and predicates that are compiled for whatever they are asked about.
BOOST_AUTO_TEST_CASE(
    handlers_and_predicates_with_a_deduced_type_are_not_tried_with_what_they_do_not_get) {
  int ended = 0;
  auto const takes_both = [&](error_code e, lock_type const& l) { ended += !e && l.owns_lock(); };
  auto const takes_one = [&](error_code e) { ended += !e; };
  auto const carried = [&](auto&&... x) { takes_both(std::forward<decltype(x)>(x)...); };
  auto const error_only = [&](auto&&... x) { takes_one(std::forward<decltype(x)>(x)...); };
  auto const true_of_nothing = [](auto&&... x) {
    static_assert(sizeof...(x) == 0);
    return true;
  };
  auto const until = std::chrono::steady_clock::now() + 1h;
  auto const complete = [&] {
    context.restart();
    context.poll();
    condition.notify_one();
    context.poll();
  };
  condition.async_wait(lock_type(mutex), carried), complete();
  condition.async_wait_for(lock_type(mutex), 1h, carried), complete();
  condition.async_wait_until(lock_type(mutex), until, carried), complete();
  condition.async_wait(lock_type(mutex), true_of_nothing, carried), complete();
  condition.async_wait_for(lock_type(mutex), 1h, true_of_nothing, carried), complete();
  condition.async_wait_until(lock_type(mutex), until, true_of_nothing, carried), complete();
  BOOST_TEST(ended == 6);
  lock_type lock(mutex);
  condition.async_wait(lock, error_only), complete();
  condition.async_wait_for(lock, 1h, error_only), complete();
  condition.async_wait(lock, true_of_nothing, error_only), complete();
  condition.async_wait_until(lock, until, true_of_nothing, error_only), complete();
  BOOST_TEST(ended == 10);
  condition.wait(lock, true_of_nothing);
  BOOST_TEST(condition.wait_for(lock, 1h, true_of_nothing));
  BOOST_TEST(condition.wait_until(lock, until, true_of_nothing));
}

BOOST_AUTO_TEST_CASE(such_handlers_and_predicates_inside_a_monitor) {
  asio_sync::async_monitor<int> monitor(context, 7);
  asio_sync::async_monitor<int>::condition inside(monitor);
  int ended = 0;
  auto const takes_one = [&](error_code e) { ended += !e; };
  auto const error_only = [&](auto&&... x) { takes_one(std::forward<decltype(x)>(x)...); };
  auto const is_seven = [](auto const& object) { return object + 0 == 7; };
  auto entry = monitor.try_enter();
  auto const complete = [&] {
    context.restart();
    context.poll();
    inside.notify_one();
    context.poll();
  };
  inside.async_wait(entry, error_only), complete();
  inside.async_wait_for(entry, 1h, error_only), complete();
  inside.async_wait(entry, is_seven, error_only), complete();
  inside.async_wait_for(entry, 1h, is_seven, error_only), complete();
  entry.leave();
  BOOST_TEST(ended == 4);
  monitor.async_enter_when(is_seven, [&](auto const& e, auto const& i) { ended += !e && i; });
  monitor.async_invoke_when(
      is_seven, [](auto& object) { ++object; }, [&](auto const& e) { ended += !e; });
  complete();
  BOOST_TEST(ended == 6);
}

BOOST_AUTO_TEST_SUITE_END()
