// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_ASYNC_CONDITION_HPP
#define ASIO_SYNC_REDIS_ASYNC_CONDITION_HPP

#include <asio_sync/detail/core/config.hpp>  // first

#include <asio_sync/detail/operation/primitive.hpp>
#include <asio_sync/detail/operation/wait_limit.hpp>
#include <asio_sync/detail/platform/asio_compat.hpp>
#include <asio_sync/error.hpp>
#include <asio_sync/redis/async_mutex.hpp>
#include <asio_sync/redis/detail/hub/condition_operation.hpp>
#include <asio_sync/redis/error.hpp>
#include <asio_sync/redis/fwd.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>

namespace asio_sync::redis {

/// A condition variable of a mutex at a server, for the coroutines and callbacks of many
/// processes: a wait gives the mutex back until it is notified, and then has it again.
///
///     redis::async_condition filled(mutex, "filled");
///     auto lock = co_await mutex.async_lock();
///     while (co_await is_empty(store)) co_await filled.async_wait(lock);
///
/// Giving the mutex back and joining the queue are one step at the server: a notification of any
/// client, now or later, reaches every wait that began before it. A notified wait moves to the
/// queue of the mutex, and completes when it has the mutex. A notification that finds no wait is
/// not remembered.
///
/// Wait in a loop that asks for the state: a wait completes as if it was notified also if the
/// server has lost its data, or if the client's session has ended, and the client has the mutex
/// again under the next session.
///
/// The condition has a name at the object of the mutex. Two conditions of one name, of mutexes of
/// one name, are one condition. `cancel()`, `close()` and `waiters()` concern the waits of this
/// C++ object alone.
///
/// Threads: every member but constructor and destructor may be called from any thread at any time;
/// notifying does not need the mutex. Lifetime: the condition may outlive the mutex that it was
/// made with, and its client. It may be destroyed with waits outstanding, which then complete with
/// `operation_aborted`, without the mutex. Contexts: as for `async_mutex`.
template <class Executor = boost::asio::any_io_executor>
class basic_async_condition : detail::remote_condition<Executor> {
  using base = detail::remote_condition<Executor>;

 public:
  /// The type of the executor that completes what has no executor of its own.
  using executor_type = Executor;

  /// Rebinds the type to another executor.
  template <class Executor2>
  struct rebind_executor {
    /// The rebound type.
    using other = basic_async_condition<Executor2>;
  };

  /// The type of the mutex.
  using mutex_type = basic_async_mutex<Executor>;
  /// The type of its locks.
  using lock_type = typename mutex_type::lock_type;

  /// Creates a condition of this name, of the object and the client of a mutex, and over the
  /// mutex's executor.
  ///
  /// Errors: throws `boost::system::system_error` with `invalid_argument` unless the name has 1 to
  /// 512 bytes.
  /// Exceptions: also what allocating, or adding a service to the executor's context, throws.
  basic_async_condition(mutex_type& mutex, std::string name)
      : base(this, mutex.get_executor(), mutex.shared_handle(), "redis::async_condition",
             std::move(name)) {}

  basic_async_condition(basic_async_condition const&) = delete;
  basic_async_condition& operator=(basic_async_condition const&) = delete;

  /// Completes outstanding waits with `operation_aborted`, each on its own executor, without the
  /// mutex.
  ~basic_async_condition() = default;

  /// Returns the executor of waits whose handlers have none.
  using base::get_executor;  // executor_type()

  /// Cancels the waits of this object, and returns how many: each completes with
  /// `operation_aborted` when it has the mutex again. A wait that has been cancelled, or that
  /// re-acquires because its time was up, is neither touched nor counted.
  using base::cancel;  // std::size_t()

  /// Has outstanding and later waits of this object complete with `error::closed`, without the
  /// mutex.
  using base::close;  // void()

  /// True if this object was closed.
  using base::is_closed;  // bool()

  /// Returns the number of waits of this object that have not completed, those that re-acquire the
  /// mutex included.
  using base::waiters;  // std::size_t()

  /// Notifies the wait that has waited longest, of the waits of all clients that the server can
  /// reach; else the first of the others. Tells the server, and does not wait for its answer; also
  /// through an outage, and if the client does not run yet.
  ///
  /// Exceptions: what allocating throws; nothing is notified then.
  void notify_one() { base::notify(1); }

  /// Notifies all waits, like `notify_one()`.
  void notify_all() { base::notify(0); }

  /// Notifies like `notify_one()`, and waits for the server's answer.
  ///
  /// Completion signature: `void(error_code)`.
  /// Executor: the handler's, else `get_executor()`; never from inside this function.
  /// Cancellation: terminal, partial and total alike; the wait is notified all the same.
  /// Errors: `operation_aborted` (cancelled, or the client destroyed or shut down);
  /// `redis::error::server_error`, `redis::error::forked`, or the final error that has ended the
  /// client's run; `operation_not_permitted` if a deferred operation is launched twice.
  /// Threads: any, at any time.
  /// Exceptions: what allocating, moving the handler, connecting its slot or posting to an
  /// executor of your own throws; nothing is notified then.
  template <asio_sync::detail::token_for<void(boost::system::error_code)> Token =
                asio_sync::detail::default_token<Executor>>
  auto async_notify_one(Token&& token = Token()) {
    return base::initiate_notify(1, "async_notify_one", static_cast<Token&&>(token));
  }

  /// Notifies all waits, like `async_notify_one`.
  template <asio_sync::detail::token_for<void(boost::system::error_code)> Token =
                asio_sync::detail::default_token<Executor>>
  auto async_notify_all(Token&& token = Token()) {
    return base::initiate_notify(0, "async_notify_all", static_cast<Token&&>(token));
  }

  /// Gives the mutex back, waits until it is notified, and has the mutex again.
  ///
  /// `lock`: owns the mutex, of the client with which the condition was made. It is empty while
  /// the wait is outstanding, and must neither be touched nor destroyed.
  ///
  /// Completion signature: `void(error_code)`. The lock owns the mutex again, with another fence,
  /// if there is no error, or with `operation_aborted` of a cancellation. It is empty with the
  /// other errors.
  /// Executor: the handler's, else `get_executor()`; never from inside this function, and never
  /// the client's.
  /// Cancellation: terminal, partial and total alike: the wait then waits for the mutex, also
  /// through an outage, and completes with `operation_aborted`. By slot also after the
  /// notification, until the handler is called: what `notify_one()` had for the wait goes to
  /// another one when the mutex is unlocked.
  /// Errors: `operation_aborted` (cancelled; without the mutex if the condition or the client was
  /// destroyed, or the client shut down), `error::closed`, `error::lease_lost` (the lock was lost
  /// before the server could take it back), `redis::error::server_error`, `redis::error::forked`,
  /// or the final error that has ended the client's run. At once, with the lock as it was:
  /// `operation_not_permitted` if the lock is empty, `error::lease_lost` if it does not own any
  /// more, `invalid_argument` if it is of another mutex or client.
  /// Threads: any; not at the same time as another member of the lock. If the handler is destroyed
  /// without having been called, the mutex, and what `notify_one()` had for the wait, go on to
  /// others.
  /// Exceptions: what allocating the wait, moving the handler, connecting its slot or posting to
  /// an executor of your own throws; the lock is then as it was.
  template <asio_sync::detail::token_for<void(boost::system::error_code)> Token =
                asio_sync::detail::default_token<Executor>>
  auto async_wait(lock_type& lock, Token&& token = Token()) {
    return base::initiate_wait(hold_of(lock), asio_sync::detail::no_limit(), "async_wait",
                               static_cast<Token&&>(token));
  }

  /// Waits like `async_wait`, but no longer than `time`, counted from the initiation (with a
  /// deferred operation, from its launch), by the steady clock.
  ///
  /// Completion signature, executor, cancellation, threads: those of `async_wait`.
  /// Errors: also `asio::error::timed_out`, and the lock owns the mutex, for which the wait waits
  /// without a limit. Zero or negative time: `timed_out` at once, and the mutex is not given back.
  /// Exceptions: also what making the context's timer and room for the deadline throws.
  template <class Rep, class Period,
            asio_sync::detail::token_for<void(boost::system::error_code)> Token =
                asio_sync::detail::default_token<Executor>>
  auto async_wait_for(lock_type& lock, std::chrono::duration<Rep, Period> const& time,
                      Token&& token = Token()) {
    return base::initiate_wait(hold_of(lock), asio_sync::detail::wait_limit::after(time),
                               "async_wait_for", static_cast<Token&&>(token));
  }

  /// Waits like `async_wait_for`, but until a point in time.
  template <class Clock, class Duration,
            asio_sync::detail::token_for<void(boost::system::error_code)> Token =
                asio_sync::detail::default_token<Executor>>
  auto async_wait_until(lock_type& lock, std::chrono::time_point<Clock, Duration> const& time,
                        Token&& token = Token()) {
    return base::initiate_wait(hold_of(lock), asio_sync::detail::wait_limit::at(time),
                               "async_wait_until", static_cast<Token&&>(token));
  }
};

/// A condition over any executor.
using async_condition = basic_async_condition<>;

}  // namespace asio_sync::redis

#endif
