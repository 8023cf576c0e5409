// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_ASYNC_SHARED_MUTEX_HPP
#define ASIO_SYNC_REDIS_ASYNC_SHARED_MUTEX_HPP

#include <asio_sync/detail/core/config.hpp>  // first

#include <asio_sync/detail/locks/guarding.hpp>
#include <asio_sync/detail/operation/primitive.hpp>
#include <asio_sync/detail/operation/wait_limit.hpp>
#include <asio_sync/detail/platform/asio_compat.hpp>
#include <asio_sync/error.hpp>
#include <asio_sync/redis/client.hpp>
#include <asio_sync/redis/detail/hub/claim_operation.hpp>
#include <asio_sync/redis/detail/hub/guarding.hpp>
#include <asio_sync/redis/detail/hub/hold.hpp>
#include <asio_sync/redis/detail/hub/remote_claim.hpp>
#include <asio_sync/redis/detail/hub/remote_lock.hpp>
#include <asio_sync/redis/error.hpp>
#include <asio_sync/redis/fwd.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

namespace asio_sync::redis {

namespace detail {

struct shared_mutex_names {
  static constexpr char const* type = "redis::async_shared_mutex";
  static constexpr char const* guard = "lock_type";
};

struct shared_mutex_reader_names : shared_mutex_names {
  static constexpr char const* guard = "shared_lock_type";
};

}  // namespace detail

/// A mutex at a server that either one writer holds, or any number of readers, among the
/// coroutines, callbacks and threads of many processes.
///
///     redis::async_shared_mutex mutex(context, client, "catalogue");
///     auto lock = co_await mutex.async_lock_shared();  // unlocks at the end of the scope
///
/// One queue, first come, first served, and fair to both: neighbouring readers enter together, no
/// reader passes a writer that waits, no writer a reader. A reader does not become a writer.
///
/// Its locks are leases with a fencing number, like that of a `redis::async_mutex`; what is said
/// there of leases, names, threads and lifetimes is true here. The fence of a writer is greater
/// than those of all earlier readers and writers.
template <class Executor = boost::asio::any_io_executor>
class basic_async_shared_mutex : detail::remote_primitive<Executor>,
                                 public detail::locked_by_own_guard {
  using base = detail::remote_primitive<Executor>;

  // A reader takes one of so many parts, a writer all.
  static constexpr std::ptrdiff_t reader = 1, writer = 1 << 30;

 public:
  /// The type of the executor that completes what has no executor of its own.
  using executor_type = Executor;

  /// Rebinds the type to another executor.
  template <class Executor2>
  struct rebind_executor {
    /// The rebound type.
    using other = basic_async_shared_mutex<Executor2>;
  };

  class lock_type;
  class shared_lock_type;

  /// Creates a mutex of this name. `ex` completes the waits whose handlers have no executor of
  /// their own; it need not be the client's, and should not run on the same thread.
  ///
  /// Errors: throws `boost::system::system_error` with `invalid_argument` unless the name has 1 to
  /// 512 bytes and no braces.
  /// Exceptions: also what allocating, or adding a service to the executor's context, throws.
  basic_async_shared_mutex(executor_type const& ex, client& c, std::string name)
      : base(this, ex, c, detail::shared_mutex_names::type, "shared_mutex", std::move(name),
             static_cast<std::uint64_t>(writer)) {}

  /// Creates a mutex over the executor of an execution context.
  template <asio_sync::detail::context_for<Executor> ExecutionContext>
  basic_async_shared_mutex(ExecutionContext& context, client& c, std::string name)
      : basic_async_shared_mutex(executor_type(context.get_executor()), c, std::move(name)) {}

  basic_async_shared_mutex(basic_async_shared_mutex const&) = delete;
  basic_async_shared_mutex& operator=(basic_async_shared_mutex const&) = delete;

  /// Completes outstanding waits with `operation_aborted`, each on its own executor. Blocked
  /// threads throw it. A lock that was granted before still arrives.
  ~basic_async_shared_mutex() = default;

  /// Returns the executor of waits whose handlers have none.
  using base::get_executor;  // executor_type()

  /// Completes every outstanding wait of this object with `operation_aborted`, blocked threads
  /// included, and returns how many. Locks that are granted already are not touched.
  using base::cancel;  // std::size_t()

  /// Has outstanding and later waits of this object complete with `error::closed`.
  using base::close;  // void()

  /// True if this object was closed.
  using base::is_closed;  // bool()

  /// Returns the number of outstanding waits of this object, blocked threads included.
  using base::waiters;  // std::size_t()

  /// Blocks the calling thread until it has locked the mutex for writing: for threads that run no
  /// executor.
  ///
  /// Errors: throws `boost::system::system_error` with the errors of `async_lock`, or with
  /// `resource_deadlock_would_occur` on a thread that runs the context of the mutex or of the
  /// client.
  lock_type lock() { return in_thread<lock_type>(asio_sync::detail::no_limit(), "lock"); }

  /// Locks the mutex for writing if it is free and nobody waits. If it is not, the lock is empty.
  /// Takes one trip to the server, and blocks the calling thread meanwhile.
  ///
  /// Errors: throws the errors of `async_try_lock` like `lock()`.
  [[nodiscard]] lock_type try_lock() {
    return base::template try_in_thread<lock_type>(writer, "try_lock");
  }

  /// Locks like `lock()`, but gives up after the time, with an empty lock. Zero or negative time:
  /// one try, which takes no longer than the client's `command_timeout`.
  ///
  /// Errors: throws also `redis::error::unreachable` and `redis::error::gated`, like
  /// `async_lock_for`.
  template <class Rep, class Period>
  [[nodiscard]] lock_type try_lock_for(std::chrono::duration<Rep, Period> const& time) {
    return in_thread<lock_type>(asio_sync::detail::wait_limit::after(time), "try_lock_for");
  }

  /// Locks like `lock()`, but gives up at the point in time, with an empty lock.
  template <class Clock, class Duration>
  [[nodiscard]] lock_type try_lock_until(std::chrono::time_point<Clock, Duration> const& time) {
    return in_thread<lock_type>(asio_sync::detail::wait_limit::at(time), "try_lock_until");
  }

  /// Locks like `lock()`, for reading.
  shared_lock_type lock_shared() {
    return in_thread<shared_lock_type>(asio_sync::detail::no_limit(), "lock_shared");
  }

  /// Locks like `try_lock()`, for reading: if no writer holds the mutex and nobody waits.
  [[nodiscard]] shared_lock_type try_lock_shared() {
    return base::template try_in_thread<shared_lock_type>(reader, "try_lock_shared");
  }

  /// Locks like `try_lock_for()`, for reading.
  template <class Rep, class Period>
  [[nodiscard]] shared_lock_type try_lock_shared_for(
      std::chrono::duration<Rep, Period> const& time) {
    return in_thread<shared_lock_type>(asio_sync::detail::wait_limit::after(time),
                                       "try_lock_shared_for");
  }

  /// Locks like `try_lock_until()`, for reading.
  template <class Clock, class Duration>
  [[nodiscard]] shared_lock_type try_lock_shared_until(
      std::chrono::time_point<Clock, Duration> const& time) {
    return in_thread<shared_lock_type>(asio_sync::detail::wait_limit::at(time),
                                       "try_lock_shared_until");
  }

  /// Locks the mutex for writing without blocking a thread.
  ///
  /// Completes when every earlier wait that the server can reach has been served or has gone, and
  /// all holders have unlocked or have died. Waits through outages of the server.
  ///
  /// Completion signature: `void(error_code, lock_type)`; the lock is empty with an error.
  /// Executor: the handler's, else `get_executor()`; never from inside this function, and never
  /// the client's.
  /// Cancellation: terminal, partial and total alike. The wait is over at once; the server is told
  /// to forget it. After the grant, and until the handler is called, a cancellation by slot
  /// unlocks again; `cancel()` then does nothing.
  /// Errors: `operation_aborted` (cancelled, the mutex or the client destroyed, or the client shut
  /// down), `error::closed`, `error::kind_mismatch`, `error::version_mismatch`,
  /// `redis::error::server_error` (there is a key of another type under the name),
  /// `redis::error::forked`, or the final error that has ended the client's run.
  /// Threads: any, at any time.
  /// Exceptions: what allocating the wait, moving the handler, connecting its slot or posting to
  /// an executor of your own throws; nothing has changed then.
  template <asio_sync::detail::token_for<void(boost::system::error_code, lock_type)> Token =
                asio_sync::detail::default_token<Executor>>
  auto async_lock(Token&& token = Token()) {
    return initiate<lock_type>(asio_sync::detail::no_limit(), detail::attempt::waits, "async_lock",
                               static_cast<Token&&>(token));
  }

  /// Locks like `async_lock`, but gives up after `time`, counted from the initiation (with a
  /// deferred operation, from its launch), by the steady clock.
  ///
  /// Completion signature, executor, cancellation, threads: those of `async_lock`.
  /// Errors: also `errc::timed_out`, as `asio::error::timed_out`, or as
  /// `redis::error::unreachable` if the client has had no session since the initiation. Zero or
  /// negative time tries once, and waits for the answer no longer than the client's
  /// `command_timeout`; it fails with `redis::error::gated` if the server is new or has lost its
  /// data, and grants nothing yet. Exceptions: also what making the context's timer and room for
  /// the deadline throws.
  template <class Rep, class Period,
            asio_sync::detail::token_for<void(boost::system::error_code, lock_type)> Token =
                asio_sync::detail::default_token<Executor>>
  auto async_lock_for(std::chrono::duration<Rep, Period> const& time, Token&& token = Token()) {
    return initiate<lock_type>(asio_sync::detail::wait_limit::after(time), detail::attempt::waits,
                               "async_lock_for", static_cast<Token&&>(token));
  }

  /// Locks like `async_lock_for`, but gives up at a point in time. One of another clock than the
  /// steady one is converted when this function is called.
  template <class Clock, class Duration,
            asio_sync::detail::token_for<void(boost::system::error_code, lock_type)> Token =
                asio_sync::detail::default_token<Executor>>
  auto async_lock_until(std::chrono::time_point<Clock, Duration> const& time,
                        Token&& token = Token()) {
    return initiate<lock_type>(asio_sync::detail::wait_limit::at(time), detail::attempt::waits,
                               "async_lock_until", static_cast<Token&&>(token));
  }

  /// Locks the mutex for writing if it is free and nobody waits. If it is not, the lock is empty,
  /// and there is no error.
  ///
  /// Completion signature, executor, cancellation, threads, exceptions: those of `async_lock_for`.
  /// Errors: those of `async_lock_for` with zero time, but none if the mutex is held.
  template <asio_sync::detail::token_for<void(boost::system::error_code, lock_type)> Token =
                asio_sync::detail::default_token<Executor>>
  auto async_try_lock(Token&& token = Token()) {
    return initiate<lock_type>(asio_sync::detail::no_limit(), detail::attempt::tries,
                               "async_try_lock", static_cast<Token&&>(token));
  }

  /// Locks the mutex for reading without blocking a thread.
  ///
  /// Completes when every earlier wait that the server can reach has been served or has gone, and
  /// the writer has unlocked or has died. Waits through outages of the server.
  ///
  /// Completion signature: `void(error_code, shared_lock_type)`; the lock is empty with an error.
  /// Executor, cancellation, errors, threads, exceptions: those of `async_lock`.
  template <asio_sync::detail::token_for<void(boost::system::error_code, shared_lock_type)> Token =
                asio_sync::detail::default_token<Executor>>
  auto async_lock_shared(Token&& token = Token()) {
    return initiate<shared_lock_type>(asio_sync::detail::no_limit(), detail::attempt::waits,
                                      "async_lock_shared", static_cast<Token&&>(token));
  }

  /// Locks like `async_lock_shared`, but gives up after `time`, like `async_lock_for`.
  template <class Rep, class Period,
            asio_sync::detail::token_for<void(boost::system::error_code, shared_lock_type)> Token =
                asio_sync::detail::default_token<Executor>>
  auto async_lock_shared_for(std::chrono::duration<Rep, Period> const& time,
                             Token&& token = Token()) {
    return initiate<shared_lock_type>(asio_sync::detail::wait_limit::after(time),
                                      detail::attempt::waits, "async_lock_shared_for",
                                      static_cast<Token&&>(token));
  }

  /// Locks like `async_lock_shared`, but gives up at a point in time, like `async_lock_until`.
  template <class Clock, class Duration,
            asio_sync::detail::token_for<void(boost::system::error_code, shared_lock_type)> Token =
                asio_sync::detail::default_token<Executor>>
  auto async_lock_shared_until(std::chrono::time_point<Clock, Duration> const& time,
                               Token&& token = Token()) {
    return initiate<shared_lock_type>(asio_sync::detail::wait_limit::at(time),
                                      detail::attempt::waits, "async_lock_shared_until",
                                      static_cast<Token&&>(token));
  }

  /// Locks the mutex for reading if no writer holds it and nobody waits. If not, the lock is
  /// empty, and there is no error.
  ///
  /// Completion signature: `void(error_code, shared_lock_type)`. Else it is like `async_try_lock`.
  template <asio_sync::detail::token_for<void(boost::system::error_code, shared_lock_type)> Token =
                asio_sync::detail::default_token<Executor>>
  auto async_try_lock_shared(Token&& token = Token()) {
    return initiate<shared_lock_type>(asio_sync::detail::no_limit(), detail::attempt::tries,
                                      "async_try_lock_shared", static_cast<Token&&>(token));
  }

 private:
  template <class Lock>
  static constexpr std::ptrdiff_t weight_of = std::is_same_v<Lock, lock_type> ? writer : reader;

  template <class Lock, class Token>
  auto initiate(asio_sync::detail::wait_limit limit, detail::attempt how, char const* function,
                Token&& token) {
    return base::template initiate<Lock>(weight_of<Lock>, limit, how, function,
                                         static_cast<Token&&>(token));
  }

  template <class Lock>
  Lock in_thread(asio_sync::detail::wait_limit limit, char const* function) {
    return base::template in_thread<Lock>(weight_of<Lock>, limit, function);
  }
};

/// The guard of a writer at a server: unlocks the mutex when it is destroyed.
///
/// It has the members of `redis::async_mutex::lock_type`.
///
/// Threads: a guard is used by one thread at a time, which need not be always the same.
template <class Executor>
class [[nodiscard]] basic_async_shared_mutex<Executor>::lock_type
    : public detail::remote_lock<basic_async_shared_mutex, detail::shared_mutex_names> {
 public:
  /// An empty guard.
  [[nodiscard]] lock_type() noexcept = default;

 private:
  friend detail::remote_primitive<Executor>;

  explicit lock_type(detail::hold&& h) noexcept : lock_type::remote_lock(std::move(h)) {}
};

/// The guard of a reader at a server: unlocks the mutex when it is destroyed.
///
/// It has the members of `redis::async_mutex::lock_type`.
///
/// Threads: a guard is used by one thread at a time, which need not be always the same.
template <class Executor>
class [[nodiscard]] basic_async_shared_mutex<Executor>::shared_lock_type
    : public detail::remote_lock<basic_async_shared_mutex, detail::shared_mutex_reader_names> {
 public:
  /// An empty guard.
  [[nodiscard]] shared_lock_type() noexcept = default;

 private:
  friend detail::remote_primitive<Executor>;

  explicit shared_lock_type(detail::hold&& h) noexcept
      : shared_lock_type::remote_lock(std::move(h)) {}
};

/// A shared mutex over any executor.
using async_shared_mutex = basic_async_shared_mutex<>;

/// The side of a shared mutex that its readers see: what `async_guarded` locks for reading.
template <class Executor>
[[nodiscard]] asio_sync::detail::shared_side<basic_async_shared_mutex<Executor>> shared(
    basic_async_shared_mutex<Executor>& mutex) noexcept {
  return {mutex};
}

}  // namespace asio_sync::redis

#endif
