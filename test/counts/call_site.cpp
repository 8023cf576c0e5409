// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// CALLS calls of OPERATION_…, each in a function of its own, with TOKEN_…: call_sites.bash
// compiles this twice, and takes the difference for what the calls that it has more of cost.
// Asio's operations are here to compare with.

#include "call_site.hpp"

namespace asio = boost::asio;
using boost::system::error_code;

#if defined(OPERATION_async_lock)
using subject = asio_sync::async_mutex;
#define OPERATION(...) async_lock(__VA_ARGS__)
#define PARAMETERS error_code error, subject::lock_type lock
#define RESULT auto lock =
#elif defined(OPERATION_async_lock_for)
using subject = asio_sync::async_mutex;
#define OPERATION(...) async_lock_for(std::chrono::seconds(1), __VA_ARGS__)
#define PARAMETERS error_code error, subject::lock_type lock
#define RESULT auto lock =
#elif defined(OPERATION_async_acquire)
using subject = asio_sync::async_semaphore;
#define OPERATION(...) async_acquire(__VA_ARGS__)
#define PARAMETERS error_code error, asio_sync::semaphore_permit permit
#define RESULT auto permit =
#elif defined(OPERATION_async_lock_shared)
using subject = asio_sync::async_shared_mutex;
#define OPERATION(...) async_lock_shared(__VA_ARGS__)
#define PARAMETERS error_code error, subject::shared_lock_type lock
#define RESULT auto lock =
#elif defined(OPERATION_async_upgrade)
using subject = asio_sync::async_shared_mutex;
inline subject::shared_lock_type reading;
#define OPERATION(...) async_upgrade(std::move(reading), __VA_ARGS__)
#define PARAMETERS error_code error, subject::lock_type lock
#define RESULT auto lock =
#elif defined(OPERATION_event_wait)
using subject = asio_sync::async_manual_reset_event;
#define OPERATION(...) async_wait(__VA_ARGS__)
#define PARAMETERS error_code error
#define RESULT
#elif defined(OPERATION_auto_event_wait)
using subject = asio_sync::async_auto_reset_event;
#define OPERATION(...) async_wait(__VA_ARGS__)
#define PARAMETERS error_code error
#define RESULT
#elif defined(OPERATION_take_any)
using subject = asio_sync::async_mailbox;
#define OPERATION(...) async_take_any(1, __VA_ARGS__)
#define PARAMETERS error_code error, asio_sync::mailbox_flags flags
#define RESULT [[maybe_unused]] auto flags =
#elif defined(OPERATION_latch_arrive)
using subject = asio_sync::async_latch;
#define OPERATION(...) async_arrive_and_wait(__VA_ARGS__)
#define PARAMETERS error_code error
#define RESULT
#elif defined(OPERATION_barrier_arrive)
using subject = asio_sync::async_barrier;
#define OPERATION(...) async_arrive_and_wait(__VA_ARGS__)
#define PARAMETERS error_code error, bool
#define RESULT
#elif defined(OPERATION_steps_wait)
struct subject {
  asio::steady_timer timer;
  asio_sync::async_enumerator steps;
  error_code error;
};
#define OPERATION(...) timer.async_wait(__VA_ARGS__)
#elif defined(OPERATION_track)  // of an async_wait
struct subject {
  auto wait(auto&& token) {
    return timer.async_wait(group.track(static_cast<decltype(token)>(token)));
  }
  asio::steady_timer timer;
  asio_sync::async_group group;
};
#define OPERATION(...) wait(__VA_ARGS__)
#define PARAMETERS error_code error
#define RESULT
#elif defined(OPERATION_guarded)  // an async_wait
struct subject {
  auto wait(auto&& token) {
    return asio_sync::async_guarded(mutex, timer.async_wait(asio::deferred),
                                    static_cast<decltype(token)>(token));
  }
  asio::steady_timer timer;
  asio_sync::async_mutex mutex;
};
#define OPERATION(...) wait(__VA_ARGS__)
#define PARAMETERS error_code error
#define RESULT
#elif defined(OPERATION_enter) || defined(OPERATION_enter_when)
using subject = asio_sync::async_monitor<int>;
#if defined(OPERATION_enter)
#define OPERATION(...) async_enter(__VA_ARGS__)
#else
#define OPERATION(...) async_enter_when([&last](int n) { return n > last; }, __VA_ARGS__)
#endif
#define PARAMETERS error_code error, subject::entry inside
#define RESULT auto inside =
#elif defined(OPERATION_invoke)
using subject = asio_sync::async_monitor<int>;
#define OPERATION(...) async_invoke([&last](int n) { last = n; }, __VA_ARGS__)
#define PARAMETERS std::exception_ptr error
#define RESULT
#elif defined(OPERATION_lock_all)
struct subject {
  auto lock_all(auto&& token) {
    return asio_sync::async_lock_all(std::tie(first, second), static_cast<decltype(token)>(token));
  }
  asio_sync::async_mutex first, second;
};
#define OPERATION(...) lock_all(__VA_ARGS__)
#define PARAMETERS error_code error, auto locks
#define RESULT auto locks =
#elif defined(OPERATION_lock_key)
using subject = asio_sync::async_keyed_mutex<int>;
#define OPERATION(...) async_lock(1, __VA_ARGS__)
#define PARAMETERS error_code error, subject::keyed_lock lock
#define RESULT auto lock =
#elif defined(OPERATION_condition_wait) || defined(OPERATION_condition_look)
struct subject : asio_sync::async_condition {
  asio_sync::async_mutex::lock_type lock;
};
#if defined(OPERATION_condition_wait)
#define OPERATION(...) async_wait(s.lock, __VA_ARGS__)
#else
#define OPERATION(...) \
  async_wait(          \
      s.lock, [&last] { return last != 0; }, __VA_ARGS__)
#endif
#define PARAMETERS error_code error
#define RESULT
#elif defined(OPERATION_async_receive)
using subject = asio::experimental::concurrent_channel<void(error_code, int)>;
#define OPERATION(...) async_receive(__VA_ARGS__)
#define PARAMETERS error_code error, int value
#define RESULT auto value =
#elif defined(OPERATION_async_wait)
using subject = asio::steady_timer;
#define OPERATION(...) async_wait(__VA_ARGS__)
#define PARAMETERS error_code error
#define RESULT
#endif

// The number of the call is in each: compilers keep one of functions that do the same.
#if defined(TOKEN_callback)
#define CALL(z, number, _)                    \
  void call_##number(subject& s, int& last) { \
    s.OPERATION([&last](PARAMETERS) {         \
      if (!error) last = number;              \
    });                                       \
  }
#elif defined(TOKEN_results)  // of an enumerator's steps
#define CALL(z, number, _)                    \
  void call_##number(subject& s, int& last) { \
    last = number;                            \
    s.OPERATION(s.steps.callback(s.error));   \
  }
#elif defined(TOKEN_use_future)
#define CALL(z, number, _)                    \
  auto call_##number(subject& s, int& last) { \
    last = number;                            \
    return s.OPERATION(asio::use_future);     \
  }
#elif defined(TOKEN_deferred) || defined(TOKEN_use_awaitable)
#if defined(TOKEN_deferred)
#define TOKEN asio::deferred
#else
#define TOKEN asio::use_awaitable
#endif
#define CALL(z, number, _)                                     \
  asio::awaitable<void> call_##number(subject& s, int& last) { \
    RESULT co_await s.OPERATION(TOKEN);                        \
    last = number;                                             \
  }
#endif

BOOST_PP_REPEAT(CALLS, CALL, _)
