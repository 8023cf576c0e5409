// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Completion tokens, with a mutex that is free and with one that is held; and waits for a mutex as
// a part of larger operations.

#include "support/coroutine.hpp"
#include "support/memory.hpp"
#include "support/mutex_fixture.hpp"
#include "support/test.hpp"

#include <boost/asio/experimental/promise.hpp>
#include <boost/asio/experimental/use_promise.hpp>

namespace tokens_test {

using namespace asio_sync::test;
namespace experimental = asio::experimental;
using namespace experimental::awaitable_operators;

using lock_type = async_mutex::lock_type;

struct fixture : mutex_fixture {
  async_mutex second{context};

  // Calls start(result to fill) for a mutex that is free, that will be unlocked, and whose wait
  // will be cancelled.
  template <class Start>
  void each_way(Start start) {
    for (int way = 0; way < 3; ++way) {
      BOOST_TEST_INFO_SCOPE("way " << way);
      mutex_result result;
      if (way > 0) BOOST_REQUIRE(mutex.try_lock());
      start(result);
      BOOST_TEST(result.calls == 0);
      poll();
      if (way > 0) BOOST_TEST(mutex.waiters() == 1u);
      if (way == 2) BOOST_TEST(mutex.cancel() == 1u);
      if (way > 0) mutex.unlock();
      poll();
      BOOST_TEST((way == 2 ? result.refused(aborted) : result.granted()));
      result.lock = {};
      BOOST_TEST(!mutex.is_locked());
    }
  }

  // For coroutines: `body` has the lock, or throws.
  template <class Body>
  void each_way_in_coroutine(Body body) {
    each_way([&](mutex_result& result) {
      asio::co_spawn(
          context,
          [&result, body]() -> asio::awaitable<void> {
            try {
              result.lock = co_await body(result.error);
            } catch (system_error const& e) {
              result.error = e.code();
            }
            ++result.calls;
          },
          asio::detached);
    });
  }

  template <class Wait, class Handler>
  void wait_for_both(Wait wait, Handler handler) {
    experimental::make_parallel_group(mutex.async_lock(asio::deferred),
                                      second.async_lock(asio::deferred))
        .async_wait(wait, handler);
    poll();
  }
};

// Stores in the result; copyable, as some tokens want it.
auto copyable(mutex_result& into) {
  return [&into](error_code e, lock_type lock) { into.handler()(e, std::move(lock)); };
}

// Locks a mutex twice, one time after the other.
struct lock_twice {
  async_mutex* mutex;
  int locked = 0;

  template <class Self>
  void operator()(Self& self) {
    mutex->async_lock(std::move(self));
  }

  template <class Self>
  void operator()(Self& self, error_code error, lock_type lock) {
    if (error || ++locked == 2) return self.complete(error, std::move(lock));
    lock.unlock();
    mutex->async_lock(std::move(self));
  }
};

}  // namespace tokens_test

BOOST_FIXTURE_TEST_SUITE(tokens_test, fixture)

BOOST_AUTO_TEST_CASE(move_only_handler_that_is_called_as_an_rvalue) {
  struct handler {
    void operator()(error_code e, lock_type lock) && {
      result->handler()(e, std::move(lock));
      static_cast<void>(result.release());
    }
    std::unique_ptr<mutex_result, void (*)(mutex_result*)> result;
  };
  each_way([&](mutex_result& result) {
    mutex.async_lock(handler{{&result, [](mutex_result*) {}}});
  });
}

BOOST_AUTO_TEST_CASE(lvalue_handler_is_left_as_it_is_and_may_be_used_again) {
  int called = 0;
  std::function<void(error_code, lock_type)> handler = [&](error_code, lock_type) { ++called; };
  mutex.async_lock(handler);
  mutex.async_lock(handler);
  mutex.async_lock_for(1h, handler);
  mutex.async_lock_until(std::chrono::steady_clock::now() + 1h, handler);
  BOOST_TEST_REQUIRE(static_cast<bool>(handler));
  poll();
  BOOST_TEST(called == 4);
}

BOOST_AUTO_TEST_CASE(tokens_of_coroutines) {
  allocator_log log;
  auto const check = [&](auto token) {
    each_way_in_coroutine([&, token](error_code&) {
      return mutex.async_lock(std::decay_t<decltype(token)>(token));
    });
  };
  check(asio::use_awaitable);
  check(asio::deferred);
  check(asio::bind_allocator(logging_allocator<>(log), asio::use_awaitable));
  check(asio::bind_executor(asio::make_strand(context), asio::use_awaitable));
  BOOST_TEST((log.allocations > 0 && log.live_bytes == 0));
  auto const check_adapted = [&](auto token) {
    each_way_in_coroutine([&, token](error_code& error) -> asio::awaitable<lock_type> {
      auto [e, lock] = co_await mutex.async_lock(asio::as_tuple(token));
      error = e;
      co_return std::move(lock);
    });
    each_way_in_coroutine([&, token](error_code& error) {
      return mutex.async_lock(asio::redirect_error(token, error));
    });
  };
  check_adapted(asio::use_awaitable);
  check_adapted(asio::deferred);
}

BOOST_AUTO_TEST_CASE(deferred_launched_with_a_handler) {
  each_way([&](mutex_result& result) {
    auto operation = mutex.async_lock(asio::deferred);
    std::move(operation)(result.handler());
  });
  each_way([&](mutex_result& result) {
    mutex.async_lock(asio::as_tuple(asio::deferred))(
        [&result](std::tuple<error_code, lock_type> all) {
          result.handler()(std::get<0>(all), std::get<1>(std::move(all)));
        });
  });
  each_way([&](mutex_result& result) {
    mutex.async_lock(asio::deferred([&result](error_code e, lock_type lock) {
      result.handler()(e, std::move(lock));
      return asio::deferred.values();
    }))(asio::detached);
  });
}

#if !defined(ASIO_SYNC_TEST_HEADERS_ONLY)
BOOST_AUTO_TEST_CASE(yield_context) {
  for (bool redirected : {false, true})
    each_way([&](mutex_result& result) {
      asio::spawn(
          context,
          [&, redirected](asio::yield_context yield) {
            try {
              result.lock =
                  redirected ? mutex.async_lock(yield[result.error]) : mutex.async_lock(yield);
            } catch (system_error const& e) {
              result.error = e.code();
            }
            ++result.calls;
          },
          asio::detached);
    });
}
#endif

BOOST_AUTO_TEST_CASE(adapters_that_bind) {
  auto const strand = asio::make_strand(context);
  allocator_log log;
  each_way([&](mutex_result& result) {
    auto handler = [&](error_code e, lock_type lock, int appended) {
      BOOST_TEST(strand.running_in_this_thread());
      BOOST_TEST(log.live_bytes == 0u);  // freed before the handler is called
      BOOST_TEST(appended == 7);
      result.handler()(e, std::move(lock));
    };
    mutex.async_lock(asio::bind_cancellation_slot(
        signal.slot(),
        asio::bind_allocator(
            logging_allocator<>(log),
            asio::bind_executor(
                strand, asio::append(asio::consign(handler, std::make_unique<int>()), 7)))));
    BOOST_TEST(log.live_bytes > 0u);
    BOOST_TEST(std::exchange(log.allocations, 0) == 1u);
  });
}

BOOST_AUTO_TEST_CASE(reference_to_a_handler_with_a_slot) {
  mutex_result result;
  auto handler = asio::bind_cancellation_slot(signal.slot(), result.handler());
  BOOST_REQUIRE(mutex.try_lock());
  mutex.async_lock(std::ref(handler));
  signal.emit(asio::cancellation_type::terminal);
  poll();
  BOOST_TEST(result.refused(aborted));
}

BOOST_AUTO_TEST_CASE(any_completion_handler) {
  using any_handler = asio::any_completion_handler<void(error_code, lock_type)>;
  auto const strand = asio::make_strand(context);
  each_way([&](mutex_result& result) {
    auto handler = [&result, strand, own = std::make_unique<int>()](error_code e, lock_type l) {
      BOOST_TEST(strand.running_in_this_thread());
      result.handler()(e, std::move(l));
    };
    mutex.async_lock(any_handler(asio::bind_executor(strand, std::move(handler))));
  });
}

// --- Parts of larger operations ---

BOOST_AUTO_TEST_CASE(parallel_group_of_all) {
  bool done = false;
  BOOST_REQUIRE(second.try_lock());
  wait_for_both(experimental::wait_for_all(), [&](std::array<std::size_t, 2> order, error_code e1,
                                                  lock_type l1, error_code e2, lock_type l2) {
    BOOST_TEST((order == std::array<std::size_t, 2>{0, 1}));
    BOOST_TEST((!e1 && !e2));
    BOOST_TEST((l1.mutex() == &mutex && l2.mutex() == &second));
    done = true;
  });
  BOOST_TEST(!done);
  second.unlock();
  poll();
  BOOST_TEST(done);
  BOOST_TEST((!mutex.is_locked() && !second.is_locked()));
}

BOOST_AUTO_TEST_CASE(parallel_group_of_one_cancels_the_others) {
  bool done = false;
  BOOST_REQUIRE(second.try_lock());
  wait_for_both(experimental::wait_for_one(), [&](std::array<std::size_t, 2> order, error_code e1,
                                                  lock_type l1, error_code e2, lock_type l2) {
    BOOST_TEST(order[0] == 0u);
    BOOST_TEST((!e1 && e2 == aborted));
    BOOST_TEST((l1.owns_lock() && !l2.owns_lock()));
    done = true;
  });
  BOOST_TEST(done);
  BOOST_TEST(second.waiters() == 0u);
  BOOST_TEST(!mutex.is_locked());
}

BOOST_AUTO_TEST_CASE(awaitable_or_with_a_timer) {
  BOOST_REQUIRE(mutex.try_lock());
  run(context, [&]() -> asio::awaitable<void> {
    asio::steady_timer timer(context, 1ms);
    auto const late =
        co_await (mutex.async_lock(asio::use_awaitable) || timer.async_wait(asio::use_awaitable));
    BOOST_TEST(late.index() == 1u);
    BOOST_TEST(mutex.waiters() == 0u);
    mutex.unlock();
    timer.expires_after(1h);
    auto const in_time =
        co_await (mutex.async_lock(asio::use_awaitable) || timer.async_wait(asio::use_awaitable));
    BOOST_TEST(in_time.index() == 0u);
    BOOST_TEST(std::get<0>(in_time).owns_lock());
  });
  BOOST_TEST(!mutex.is_locked());
}

BOOST_AUTO_TEST_CASE(composed_operation) {
  mutex_result result, cancelled;
  BOOST_REQUIRE(mutex.try_lock());
  auto const start = [&](auto token) {
    asio::async_compose<decltype(token), void(error_code, lock_type)>(lock_twice{&mutex}, token,
                                                                      context);
  };
  start(copyable(result));
  mutex.unlock();
  poll();
  BOOST_TEST(result.granted());
  start(asio::bind_cancellation_slot(signal.slot(), copyable(cancelled)));
  BOOST_TEST(mutex.waiters() == 1u);
  signal.emit(asio::cancellation_type::terminal);
  poll();
  BOOST_TEST(cancelled.refused(aborted));
}

BOOST_AUTO_TEST_CASE(use_promise) {
  for (bool held : {false, true}) {
    if (held) BOOST_REQUIRE(mutex.try_lock());
    auto promise = mutex.async_lock(experimental::use_promise);
    poll();
    BOOST_TEST(promise.completed() == !held);
    if (held) mutex.unlock();
    poll();
    BOOST_TEST(promise.completed());
    mutex_result result;
    std::move(promise)(result.handler());
    poll();
    BOOST_TEST(result.granted());
  }
}

BOOST_AUTO_TEST_CASE(use_promise_that_is_given_up_cancels_the_wait) {
  BOOST_REQUIRE(mutex.try_lock());
  {
    auto const promise = mutex.async_lock(experimental::use_promise);
    BOOST_TEST(mutex.waiters() == 1u);
  }
  poll();
  BOOST_TEST(mutex.waiters() == 0u);
}

BOOST_AUTO_TEST_CASE(executors_with_a_default_token) {
  using awaiting = asio::use_awaitable_t<>::as_default_on_t<async_mutex>;
  using with_tuple = asio::as_tuple_t<asio::use_awaitable_t<>>::as_default_on_t<async_mutex>;
  using of_io_context =
      asio::use_awaitable_t<>::as_default_on_t<basic_async_mutex<asio::io_context::executor_type>>;
  static_assert(!std::is_same_v<awaiting, async_mutex>);
  awaiting a(context);
  with_tuple b(context.get_executor());
  of_io_context c(context);
  for (bool held : {false, true}) {
    if (held) BOOST_REQUIRE((a.try_lock() && b.try_lock() && c.try_lock()));
    if (held) asio::post(context, [&] { a.unlock(), b.unlock(), c.unlock(); });
    run(context, [&]() -> asio::awaitable<void> {
      static_assert(std::is_same_v<decltype(a.async_lock()),
                                   asio::awaitable<awaiting::lock_type, asio::any_io_executor>>);
      auto const lock = co_await a.async_lock();
      auto const [error, guard] = co_await b.async_lock();
      auto const timed = co_await c.async_lock_for(1h);
      BOOST_TEST((lock.owns_lock() && !error && guard.owns_lock() && timed.owns_lock()));
    });
    BOOST_TEST((!a.is_locked() && !b.is_locked() && !c.is_locked()));
  }
}

BOOST_AUTO_TEST_SUITE_END()
