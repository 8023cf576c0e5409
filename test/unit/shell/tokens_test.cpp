// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Every completion token, with a mutex that is free and with one that is held.

#include "support/mutex_result.hpp"
#include "support/test.hpp"

#include <asio_sync/async_mutex.hpp>

namespace tokens_test {

using namespace asio_sync::test;

using lock_type = async_mutex::lock_type;
auto const aborted = error_code(asio::error::operation_aborted);

struct fixture {
  asio::io_context context;
  async_mutex mutex{context};

  // Calls `initiate` for a mutex that is free, that will be unlocked, and whose wait will be
  // cancelled; `check`, given what that returned and the error to expect, sees the completion.
  template <class Initiate, class Check>
  void each_way(Initiate initiate, Check check) {
    for (int way = 0; way < 3; ++way) {
      BOOST_TEST_CONTEXT("way " << way) {
        if (way > 0) BOOST_REQUIRE(mutex.try_lock());
        auto result = initiate();
        poll();
        if (way > 0) BOOST_TEST(mutex.waiters() == 1u);
        if (way == 2) BOOST_TEST(mutex.cancel() == 1u);
        if (way > 0) mutex.unlock();
        poll();
        check(result, way == 2 ? aborted : error_code());
        poll();
        BOOST_TEST(!mutex.is_locked());
      }
    }
  }

  // The same for tokens that have the handler called: `start` is given the result to fill.
  template <class Start>
  void each_way_into_result(Start start) {
    each_way(
        [&] {
          auto result = std::make_unique<mutex_result>();
          start(*result);
          return result;
        },
        [](auto& result, error_code expected) {
          BOOST_TEST((expected ? result->refused(expected) : result->granted()));
          result.reset();
        });
  }

  // For coroutines: `body` has the lock, or throws.
  template <class Body>
  void each_way_in_coroutine(Body body) {
    each_way(
        [&] {
          auto result = std::make_unique<mutex_result>();
          asio::co_spawn(
              context,
              [&into = *result, body]() -> asio::awaitable<void> {
                try {
                  into.lock = co_await body(into.error);
                } catch (system_error const& e) {
                  into.error = e.code();
                }
                ++into.calls;
              },
              asio::detached);
          return result;
        },
        [](auto& result, error_code expected) {
          BOOST_TEST((expected ? result->refused(expected) : result->granted()));
          result.reset();
        });
  }

  void poll() { test::poll(context); }
};

// Counts what is allocated.
template <class T>
struct counting_allocator {
  using value_type = T;

  explicit counting_allocator(int& l, int& c) noexcept : live(&l), count(&c) {}
  template <class U>
  counting_allocator(counting_allocator<U> const& other) noexcept
      : live(other.live), count(other.count) {}

  T* allocate(std::size_t n) {
    ++*live;
    ++*count;
    return std::allocator<T>().allocate(n);
  }
  void deallocate(T* memory, std::size_t n) noexcept {
    --*live;
    std::allocator<T>().deallocate(memory, n);
  }

  friend bool operator==(counting_allocator const&, counting_allocator const&) noexcept = default;

  int* live;
  int* count;
};

}  // namespace tokens_test

BOOST_FIXTURE_TEST_SUITE(tokens_test, fixture)

BOOST_AUTO_TEST_CASE(lambda) {
  each_way_into_result([&](mutex_result& result) {
    mutex.async_lock([&](error_code e, lock_type lock) {
      ++result.calls;
      result.error = e;
      result.lock = std::move(lock);
    });
  });
}

BOOST_AUTO_TEST_CASE(move_only_handler_that_is_called_as_an_rvalue) {
  struct handler {
    void operator()(error_code e, lock_type lock) && {
      result->handler()(e, std::move(lock));
      static_cast<void>(result.release());
    }
    std::unique_ptr<mutex_result, void (*)(mutex_result*)> result;
  };
  each_way_into_result([&](mutex_result& result) {
    mutex.async_lock(handler{{&result, [](mutex_result*) {}}});
  });
}

BOOST_AUTO_TEST_CASE(lvalue_handler_is_copied) {
  each_way_into_result([&](mutex_result& result) {
    auto const handler = [&result, life = std::make_shared<int>()](error_code e, lock_type l) {
      result.handler()(e, std::move(l));
    };
    mutex.async_lock(handler);
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
  context.poll();
  BOOST_TEST(called == 4);
}

BOOST_AUTO_TEST_CASE(use_future) {
  each_way([&] { return mutex.async_lock(asio::use_future); },
           [](auto& future, error_code expected) {
             BOOST_REQUIRE((future.wait_for(0s) == std::future_status::ready));
             mutex_result result;
             try {
               result.handler()({}, future.get());
             } catch (system_error const& e) {
               result.error = e.code();
             }
             BOOST_TEST(result.error == expected);
             BOOST_TEST(result.lock.owns_lock() == !expected);
           });
}

BOOST_AUTO_TEST_CASE(use_awaitable) {
  each_way_in_coroutine([&](error_code&) { return mutex.async_lock(asio::use_awaitable); });
}

BOOST_AUTO_TEST_CASE(deferred) {
  each_way_in_coroutine([&](error_code&) { return mutex.async_lock(asio::deferred); });
  each_way_in_coroutine([&](error_code&) { return mutex.async_lock(); });
}

BOOST_AUTO_TEST_CASE(as_tuple_in_coroutines) {
  auto const check = [this](auto token) {
    each_way_in_coroutine([this, token](error_code& error) -> asio::awaitable<lock_type> {
      auto [e, lock] = co_await mutex.async_lock(asio::as_tuple(token));
      error = e;
      co_return std::move(lock);
    });
  };
  check(asio::use_awaitable);
  check(asio::deferred);
}

BOOST_AUTO_TEST_CASE(redirect_error_in_coroutines) {
  each_way_in_coroutine([&](error_code& error) {
    return mutex.async_lock(asio::redirect_error(asio::use_awaitable, error));
  });
  each_way_in_coroutine([&](error_code& error) {
    return mutex.async_lock(asio::redirect_error(asio::deferred, error));
  });
}

BOOST_AUTO_TEST_CASE(redirect_error_of_a_lambda) {
  each_way_into_result([&](mutex_result& result) {
    mutex.async_lock(asio::redirect_error(
        [&result](lock_type lock) {
          ++result.calls;
          result.lock = std::move(lock);
        },
        result.error));
  });
}

BOOST_AUTO_TEST_CASE(deferred_launched_with_a_handler) {
  each_way_into_result([&](mutex_result& result) {
    auto operation = mutex.async_lock(asio::deferred);
    BOOST_TEST(result.calls == 0);
    std::move(operation)(result.handler());
  });
  each_way_into_result([&](mutex_result& result) {
    mutex.async_lock(asio::as_tuple(asio::deferred))(
        [&result](std::tuple<error_code, lock_type> all) {
          result.handler()(std::get<0>(all), std::get<1>(std::move(all)));
        });
  });
}

BOOST_AUTO_TEST_CASE(deferred_continued) {
  each_way_into_result([&](mutex_result& result) {
    mutex.async_lock(asio::deferred([&result](error_code e, lock_type lock) {
      result.handler()(e, std::move(lock));
      return asio::deferred.values();
    }))(asio::detached);
  });
}

BOOST_AUTO_TEST_CASE(detached) {
  each_way(
      [&] {
        mutex.async_lock(asio::detached);
        return 0;
      },
      [](int, error_code) {});
}

#if !defined(ASIO_SYNC_TEST_HEADERS_ONLY)
BOOST_AUTO_TEST_CASE(yield_context) {
  for (bool redirected : {false, true})
    each_way_into_result([&](mutex_result& result) {
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
  int live = 0, count = 0;
  asio::cancellation_signal signal;
  each_way_into_result([&](mutex_result& result) {
    auto handler = [&](error_code e, lock_type lock, int appended) {
      BOOST_TEST(strand.running_in_this_thread());
      BOOST_TEST(live == 0);  // freed before the handler is called
      BOOST_TEST(appended == 7);
      result.handler()(e, std::move(lock));
    };
    mutex.async_lock(asio::bind_cancellation_slot(
        signal.slot(),
        asio::bind_allocator(
            counting_allocator<int>(live, count),
            asio::bind_executor(
                strand, asio::append(asio::consign(handler, std::make_unique<int>()), 7)))));
    BOOST_TEST(live == 1);
    BOOST_TEST(std::exchange(count, 0) == 1);
  });
}

BOOST_AUTO_TEST_CASE(reference_to_a_handler_with_a_slot) {
  mutex_result result;
  asio::cancellation_signal signal;
  auto handler = asio::bind_cancellation_slot(signal.slot(), result.handler());
  BOOST_REQUIRE(mutex.try_lock());
  mutex.async_lock(std::ref(handler));
  signal.emit(asio::cancellation_type::terminal);
  context.poll();
  BOOST_TEST(result.refused(asio::error::operation_aborted));
  mutex.unlock();
}

BOOST_AUTO_TEST_CASE(adapters_that_bind_a_coroutines_token) {
  int live = 0, count = 0;
  each_way_in_coroutine([&](error_code&) {
    return mutex.async_lock(
        asio::bind_allocator(counting_allocator<int>(live, count), asio::use_awaitable));
  });
  BOOST_TEST(live == 0);
  each_way_in_coroutine([&](error_code&) {
    return mutex.async_lock(asio::bind_executor(asio::make_strand(context), asio::use_awaitable));
  });
}

BOOST_AUTO_TEST_CASE(any_completion_handler) {
  using any_handler = asio::any_completion_handler<void(error_code, lock_type)>;
  auto const strand = asio::make_strand(context);
  each_way_into_result([&](mutex_result& result) {
    auto handler = [&result, strand, own = std::make_unique<int>()](error_code e, lock_type l) {
      BOOST_TEST(strand.running_in_this_thread());
      result.handler()(e, std::move(l));
    };
    mutex.async_lock(any_handler(asio::bind_executor(strand, std::move(handler))));
    BOOST_TEST(result.calls == 0);
  });
}

BOOST_AUTO_TEST_SUITE_END()
