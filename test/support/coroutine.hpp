// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_SUPPORT_COROUTINE_HPP
#define ASIO_SYNC_TEST_SUPPORT_COROUTINE_HPP

#include <asio_sync/async_mutex.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include <pthread.h>

#include <cstddef>
#include <exception>
#include <memory>
#include <utility>

namespace asio_sync::test {

// Whether a coroutine is spared the trip through its executor for what is free: not in the program
// that tests the plain fall-back.
inline constexpr bool spared = detail::awaits_ready;

// Brings the thread to where 128 operations in a row may complete without their executor.
inline void renew_budget() {
  boost::asio::io_context context;
  async_mutex mutex(context);
  mutex.async_lock([](auto, auto) {});
  context.run();
}

// Runs the context until it has nothing more to do, a coroutine among it, which has to end. Throws
// what the coroutine throws.
template <class Coroutine>
void run(boost::asio::io_context& context, Coroutine coroutine) {
  renew_budget();
  bool ended = false;
  std::exception_ptr failure;
  boost::asio::co_spawn(context, std::move(coroutine), [&](std::exception_ptr e) {
    ended = true;
    failure = e;
  });
  context.restart();
  context.run();
  BOOST_TEST(ended);
  if (failure) std::rethrow_exception(failure);
}

// Tells whether its maker has gone through the executor since: what was posted before came first.
class trip_probe {
 public:
  template <class Executor>
  explicit trip_probe(Executor const& ex) {
    boost::asio::post(ex, [taken = taken_] { *taken = true; });
  }

  bool taken() const { return *taken_; }

 private:
  std::shared_ptr<bool> taken_ = std::make_shared<bool>(false);
};

// Sanitizers need some of a stack themselves.
#if defined(BOOST_USE_ASAN) || defined(BOOST_USE_TSAN)
inline constexpr std::size_t own_need = 4;
#else
inline constexpr std::size_t own_need = 1;
#endif

// A stack that overflows if the completions of so many waits nest.
inline constexpr std::size_t small_stack = 256 << 10;
#ifdef ASIO_SYNC_TEST_SANITIZED
inline constexpr std::size_t many_waits = 10'000, most_waits = 50'000;
#else
inline constexpr std::size_t many_waits = 100'000, most_waits = 1'000'000;
#endif

// Runs a function on a thread with so small a stack, and waits for its end.
template <class Function>
void run_on_stack(std::size_t size, Function function) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  BOOST_REQUIRE(pthread_attr_setstacksize(&attributes, size * own_need) == 0);
  auto const start = [](void* f) -> void* {
    (*static_cast<Function*>(f))();
    return nullptr;
  };
  pthread_t thread;
  int const error = pthread_create(&thread, &attributes, start, &function);
  if (error == 0) pthread_join(thread, nullptr);
  BOOST_REQUIRE(error == 0);  // not before: checks are for one thread at a time
  pthread_attr_destroy(&attributes);
}

}  // namespace asio_sync::test

#endif
