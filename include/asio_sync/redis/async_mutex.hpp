// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_ASYNC_MUTEX_HPP
#define ASIO_SYNC_REDIS_ASYNC_MUTEX_HPP

#include <asio_sync/detail/core/config.hpp>  // first

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
#include <string>
#include <utility>

namespace asio_sync::redis {

namespace detail {

struct mutex_names {
  static constexpr char const* type = "redis::async_mutex";
  static constexpr char const* guard = "lock_type";
};

}  // namespace detail

/// A mutex at a server, for the coroutines, callbacks and threads of many processes, in one queue,
/// first come, first served.
///
///     redis::async_mutex mutex(context, client, "reports");
///     auto lock = co_await mutex.async_lock();  // unlocks at the end of the scope
///
/// A lock is a lease with a fencing number: it lives as long as the client's session,
/// which ends when the server has not heard from the client for `session_ttl`. `owns_lock()` is
/// false before anybody else can own the lock; between asking and acting time passes, which only
/// the fence covers, see doc/redis.md.
///
/// The object at the server has the name, and no other kind or version of the library may use it.
/// Two mutexes of one name are one mutex, in the same process, too. `cancel()`, `close()` and
/// `waiters()` concern the waits of this C++ object alone.
///
/// Threads: every member but constructors and destructor may be called from any thread at any
/// time. Lifetime: the mutex may be destroyed with waits outstanding, which then complete with
/// `operation_aborted`. A lock belongs to the session: it outlives the mutex and still owns, and
/// is lost with the client. Contexts may be destroyed before the mutex or after it, also while the
/// client is at work; over a strand, the mutex and its locks have to go before the strand's
/// context.
template <class Executor = boost::asio::any_io_executor>
class basic_async_mutex : detail::remote_primitive<Executor>, public detail::locked_by_own_guard {
  using base = detail::remote_primitive<Executor>;

 public:
  /// The type of the executor that completes what has no executor of its own.
  using executor_type = Executor;

  /// Rebinds the type to another executor.
  template <class Executor2>
  struct rebind_executor {
    /// The rebound type.
    using other = basic_async_mutex<Executor2>;
  };

  class lock_type;

  /// Creates a mutex of this name. `ex` completes the waits whose handlers have no executor of
  /// their own; it need not be the client's, and should not run on the same thread.
  ///
  /// Errors: throws `boost::system::system_error` with `invalid_argument` unless the name has 1 to
  /// 512 bytes and no braces.
  /// Exceptions: also what allocating, or adding a service to the executor's context, throws.
  basic_async_mutex(executor_type const& ex, client& c, std::string name)
      : base(this, ex, c, detail::mutex_names::type, "mutex", std::move(name), 1) {}

  /// Creates a mutex over the executor of an execution context.
  template <asio_sync::detail::context_for<Executor> ExecutionContext>
  basic_async_mutex(ExecutionContext& context, client& c, std::string name)
      : basic_async_mutex(executor_type(context.get_executor()), c, std::move(name)) {}

  basic_async_mutex(basic_async_mutex const&) = delete;
  basic_async_mutex& operator=(basic_async_mutex const&) = delete;

  /// Completes outstanding waits with `operation_aborted`, each on its own executor. Blocked
  /// threads throw it. A lock that was granted before still arrives.
  ~basic_async_mutex() = default;

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

  /// Blocks the calling thread until it has locked the mutex: for threads that run no executor.
  ///
  /// Errors: throws `boost::system::system_error` with the errors of `async_lock`, or with
  /// `resource_deadlock_would_occur` on a thread that runs the context of the mutex or of the
  /// client.
  lock_type lock() { return lock_in_thread(asio_sync::detail::no_limit(), "lock"); }

  /// Locks the mutex if it is free and nobody waits. If it is not, the lock is empty. Takes one
  /// trip to the server, and blocks the calling thread meanwhile.
  ///
  /// Errors: throws the errors of `async_try_lock` like `lock()`.
  [[nodiscard]] lock_type try_lock() {
    return base::template try_in_thread<lock_type>(1, "try_lock");
  }

  /// Locks like `lock()`, but gives up after the time, with an empty lock. Zero or negative time:
  /// one try, which takes no longer than the client's `command_timeout`.
  ///
  /// Errors: throws also `redis::error::unreachable` and `redis::error::gated`, like
  /// `async_lock_for`.
  template <class Rep, class Period>
  [[nodiscard]] lock_type try_lock_for(std::chrono::duration<Rep, Period> const& time) {
    return lock_in_thread(asio_sync::detail::wait_limit::after(time), "try_lock_for");
  }

  /// Locks like `lock()`, but gives up at the point in time, with an empty lock.
  template <class Clock, class Duration>
  [[nodiscard]] lock_type try_lock_until(std::chrono::time_point<Clock, Duration> const& time) {
    return lock_in_thread(asio_sync::detail::wait_limit::at(time), "try_lock_until");
  }

  /// Locks the mutex without blocking a thread.
  ///
  /// Completes when every earlier wait that the server can reach has been served or has gone, and
  /// the holder has unlocked or has died. Waits through outages of the server.
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
    return initiate(asio_sync::detail::no_limit(), "async_lock", static_cast<Token&&>(token));
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
    return initiate(asio_sync::detail::wait_limit::after(time), "async_lock_for",
                    static_cast<Token&&>(token));
  }

  /// Locks like `async_lock_for`, but gives up at a point in time. One of another clock than the
  /// steady one is converted when this function is called.
  template <class Clock, class Duration,
            asio_sync::detail::token_for<void(boost::system::error_code, lock_type)> Token =
                asio_sync::detail::default_token<Executor>>
  auto async_lock_until(std::chrono::time_point<Clock, Duration> const& time,
                        Token&& token = Token()) {
    return initiate(asio_sync::detail::wait_limit::at(time), "async_lock_until",
                    static_cast<Token&&>(token));
  }

  /// Locks the mutex if it is free and nobody waits. If it is not, the lock is empty, and there is
  /// no error.
  ///
  /// Completion signature, executor, cancellation, threads, exceptions: those of `async_lock_for`.
  /// Errors: those of `async_lock_for` with zero time, but none if the mutex is held.
  template <asio_sync::detail::token_for<void(boost::system::error_code, lock_type)> Token =
                asio_sync::detail::default_token<Executor>>
  auto async_try_lock(Token&& token = Token()) {
    return base::template initiate<lock_type>(1, asio_sync::detail::no_limit(),
                                              detail::attempt::tries, "async_try_lock",
                                              static_cast<Token&&>(token));
  }

 private:
  friend basic_async_condition<Executor>;

  template <class Token>
  auto initiate(asio_sync::detail::wait_limit limit, char const* function, Token&& token) {
    return base::template initiate<lock_type>(1, limit, detail::attempt::waits, function,
                                              static_cast<Token&&>(token));
  }

  lock_type lock_in_thread(asio_sync::detail::wait_limit limit, char const* function) {
    return base::template in_thread<lock_type>(1, limit, function);
  }
};

/// The guard of a mutex at a server: unlocks it when it is destroyed.
///
///     bool owns_lock() const noexcept;        // false before anybody else can own the mutex
///     void unlock();                          // tells the server, and does not wait
///     auto async_unlock(token);               // void(error_code): lease_lost if it was lost
///     std::uint64_t fence() const noexcept;   // greater than that of every earlier lock
///     auto expires_at() const noexcept;       // owned until then, if no heartbeat follows
///     auto async_wait_lost(token);            // void(error_code): none when the lock is lost
///     mutex_type* mutex() const noexcept;     // null if the guard is empty, or the mutex gone
///     void swap(lock_type&) noexcept;
///
/// `detail::remote_lock` has these members, and says more of them.
///
/// Threads: a guard is used by one thread at a time, which need not be always the same.
template <class Executor>
class [[nodiscard]] basic_async_mutex<Executor>::lock_type
    : public detail::remote_lock<basic_async_mutex, detail::mutex_names> {
 public:
  /// An empty guard.
  [[nodiscard]] lock_type() noexcept = default;

 private:
  friend detail::remote_primitive<Executor>;

  explicit lock_type(detail::hold&& h) noexcept : lock_type::remote_lock(std::move(h)) {}
};

/// A mutex over any executor.
using async_mutex = basic_async_mutex<>;

}  // namespace asio_sync::redis

#endif
