// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_ASYNC_SEMAPHORE_HPP
#define ASIO_SYNC_REDIS_ASYNC_SEMAPHORE_HPP

#include <asio_sync/detail/core/config.hpp>  // first

#include <asio_sync/detail/operation/errors.hpp>
#include <asio_sync/detail/operation/primitive.hpp>
#include <asio_sync/detail/operation/wait_limit.hpp>
#include <asio_sync/detail/platform/asio_compat.hpp>
#include <asio_sync/error.hpp>
#include <asio_sync/redis/client.hpp>
#include <asio_sync/redis/detail/hub/claim_operation.hpp>
#include <asio_sync/redis/detail/hub/guarding.hpp>
#include <asio_sync/redis/detail/hub/hold.hpp>
#include <asio_sync/redis/error.hpp>
#include <asio_sync/redis/fwd.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/system/error_code.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace asio_sync::redis {

/// Holds permits of a semaphore at a server, and gives them back when it is destroyed. The type is
/// the same whatever the semaphore's executor.
///
/// Threads: a permit is used by one thread at a time, which need not be always the same.
class [[nodiscard]] semaphore_permit {
 public:
  /// An empty permit.
  [[nodiscard]] semaphore_permit() noexcept = default;

  /// Moves do not throw, and leave an empty permit.
  semaphore_permit(semaphore_permit&&) noexcept = default;
  semaphore_permit& operator=(semaphore_permit&&) noexcept = default;

  /// Gives the permits back like `release()`.
  ~semaphore_permit() = default;

  /// Returns how many permits this holds; 0 if they were lost, or may be lost and the client does
  /// not know yet.
  std::ptrdiff_t count() const noexcept {
    return hold_.owns() ? static_cast<std::ptrdiff_t>(hold_.weight()) : 0;
  }

  /// True if this holds permits. It is false before anybody else can have been granted them.
  explicit operator bool() const noexcept { return hold_.owns(); }

  /// Gives the permits back: tells the server, and does not wait for its answer. Leaves an empty
  /// permit. Says nothing of a loss; see `async_release`.
  void release() noexcept {
    if (hold_) hold_.give_back();
  }

  /// Gives the permits back, and waits for the server's answer. The permit is empty from now on;
  /// if the operation is destroyed without having begun, the permits are given back.
  ///
  /// Completion signature: `void(error_code)`.
  /// Executor: the handler's, else that of the semaphore; never from inside this function.
  /// Cancellation: terminal, partial and total alike; the permits are given back all the same.
  /// Errors: `error::lease_lost` if the permits were lost before the server has answered, also by
  /// `stop()`; `operation_not_permitted` if the permit is empty; `redis::error::server_error` (a
  /// key of another type under the name keeps the permits until that key has gone, or the session
  /// ends); `redis::error::forked`; `operation_aborted` (cancelled).
  /// Threads: any; not at the same time as another member of the permit.
  /// Exceptions: what allocating, moving the handler, connecting its slot or posting to an
  /// executor of your own throws; nothing has changed then.
  template <asio_sync::detail::token_for<void(boost::system::error_code)> Token =
                asio_sync::detail::default_token<boost::asio::any_io_executor>>
  auto async_release(Token&& token = Token()) {
    return hold_.async_give_back("redis::async_semaphore", "async_release",
                                 static_cast<Token&&>(token));
  }

  /// Returns the fencing number of the grant, which is greater than that of every earlier grant of
  /// this name; 0 if the permit holds nothing.
  std::uint64_t fence() const noexcept { return hold_.fence(); }

  /// Returns the time until which the permits are held at least, if the session is not extended
  /// meanwhile, as it is by every heartbeat; `min()` if the permit holds nothing.
  std::chrono::steady_clock::time_point expires_at() const noexcept { return hold_.expires_at(); }

  /// Waits until the permits are lost: the session is over, or about to be, or they were taken
  /// away.
  ///
  /// Completion signature: `void(error_code)`.
  /// Executor: the handler's, else that of the semaphore; never from inside this function.
  /// Cancellation: terminal, partial and total alike.
  /// Errors: none if the permits were lost; `operation_aborted` if they were given back before, or
  /// the wait cancelled; `operation_not_permitted` if the permit is empty; `redis::error::forked`.
  /// Threads: any; not at the same time as another member of the permit. The permit may be moved,
  /// released and destroyed while the wait is outstanding.
  /// Exceptions: those of `async_release`.
  template <asio_sync::detail::token_for<void(boost::system::error_code)> Token =
                asio_sync::detail::default_token<boost::asio::any_io_executor>>
  auto async_wait_lost(Token&& token = Token()) {
    return hold_.async_wait_lost("redis::async_semaphore", static_cast<Token&&>(token));
  }

  /// Exchanges what the two hold.
  void swap(semaphore_permit& other) noexcept { hold_.swap(other.hold_); }
  friend void swap(semaphore_permit& a, semaphore_permit& b) noexcept { a.swap(b); }

 private:
  template <class Executor>
  friend class detail::remote_primitive;

  explicit semaphore_permit(detail::hold&& h) noexcept : hold_(std::move(h)) {}

  detail::hold hold_;
};

/// A number of permits at a server, for the coroutines, callbacks and threads of many processes,
/// in one queue, first come, first served.
///
///     redis::async_semaphore uploads(context, client, "uploads", 5);
///     auto permit = co_await uploads.async_acquire();  // goes back at the end of the scope
///
/// Whatever the waits ask for: behind a wait for many permits those for few wait. The permits are
/// a lease with a fencing number, like the lock of a `redis::async_mutex`; what is said there of
/// leases, names, threads and lifetimes is true here.
template <class Executor = boost::asio::any_io_executor>
class basic_async_semaphore : detail::remote_primitive<Executor> {
  using base = detail::remote_primitive<Executor>;

 public:
  /// The type of the executor that completes what has no executor of its own.
  using executor_type = Executor;

  /// Rebinds the type to another executor.
  template <class Executor2>
  struct rebind_executor {
    /// The rebound type.
    using other = basic_async_semaphore<Executor2>;
  };

  /// The most permits that a semaphore can have.
  static constexpr std::ptrdiff_t max_permits =
      static_cast<std::ptrdiff_t>(std::min<std::uint64_t>((1ull << 53) - 1, PTRDIFF_MAX));

  /// Creates a semaphore of this name and number of permits, which all users of the name have to
  /// give alike. `ex` completes the waits whose handlers have no executor of their own; it need
  /// not be the client's, and should not run on the same thread.
  ///
  /// Errors: throws `boost::system::system_error` with `invalid_argument` unless the name has 1 to
  /// 512 bytes and no braces, and 1 <= permits <= max_permits.
  /// Exceptions: also what allocating, or adding a service to the executor's context, throws.
  basic_async_semaphore(executor_type const& ex, client& c, std::string name,
                        std::ptrdiff_t permits)
      : base(this, ex, c, "redis::async_semaphore", "semaphore", std::move(name),
             checked(permits)) {}

  /// Creates a semaphore over the executor of an execution context.
  template <asio_sync::detail::context_for<Executor> ExecutionContext>
  basic_async_semaphore(ExecutionContext& context, client& c, std::string name,
                        std::ptrdiff_t permits)
      : basic_async_semaphore(executor_type(context.get_executor()), c, std::move(name), permits) {
  }

  basic_async_semaphore(basic_async_semaphore const&) = delete;
  basic_async_semaphore& operator=(basic_async_semaphore const&) = delete;

  /// Completes outstanding waits with `operation_aborted`, each on its own executor. Blocked
  /// threads throw it. Permits that were granted before still arrive.
  ~basic_async_semaphore() = default;

  /// Returns the executor of waits whose handlers have none.
  using base::get_executor;  // executor_type()

  /// Completes every outstanding wait of this object with `operation_aborted`, blocked threads
  /// included, and returns how many. Permits that are granted already are not touched.
  using base::cancel;  // std::size_t()

  /// Has outstanding and later waits of this object complete with `error::closed`.
  using base::close;  // void()

  /// True if this object was closed.
  using base::is_closed;  // bool()

  /// Returns the number of outstanding waits of this object, blocked threads included.
  using base::waiters;  // std::size_t()

  /// Returns the number of permits, free or not.
  std::ptrdiff_t max() const noexcept { return base::capacity(); }

  /// Blocks the calling thread until it has acquired n permits: for threads that run no executor.
  /// Zero permits it has at once.
  ///
  /// Errors: throws `boost::system::system_error` with the errors of `async_acquire`, or with
  /// `resource_deadlock_would_occur` on a thread that runs the context of the semaphore or of the
  /// client.
  semaphore_permit acquire(std::ptrdiff_t n = 1) {
    return in_thread(n, asio_sync::detail::no_limit(), "acquire");
  }

  /// Acquires n permits if so many are free and nobody waits. If not, the permit is empty. Takes
  /// one trip to the server, and blocks the calling thread meanwhile.
  ///
  /// Errors: throws the errors of `async_try_acquire` like `acquire()`.
  [[nodiscard]] semaphore_permit try_acquire(std::ptrdiff_t n = 1) {
    return base::template try_in_thread<semaphore_permit>(n, "try_acquire");
  }

  /// Acquires like `acquire()`, but gives up after the time, with an empty permit. Zero or
  /// negative time: one try, which takes no longer than the client's `command_timeout`.
  ///
  /// Errors: throws also `redis::error::unreachable` and `redis::error::gated`, like
  /// `async_acquire_for`.
  template <class Rep, class Period>
  [[nodiscard]] semaphore_permit try_acquire_for(std::chrono::duration<Rep, Period> const& time) {
    return try_acquire_for(1, time);
  }
  template <class Rep, class Period>
  [[nodiscard]] semaphore_permit try_acquire_for(std::ptrdiff_t n,
                                                 std::chrono::duration<Rep, Period> const& time) {
    return in_thread(n, asio_sync::detail::wait_limit::after(time), "try_acquire_for");
  }

  /// Acquires like `acquire()`, but gives up at the point in time, with an empty permit.
  template <class Clock, class Duration>
  [[nodiscard]] semaphore_permit try_acquire_until(
      std::chrono::time_point<Clock, Duration> const& time) {
    return try_acquire_until(1, time);
  }
  template <class Clock, class Duration>
  [[nodiscard]] semaphore_permit try_acquire_until(
      std::ptrdiff_t n, std::chrono::time_point<Clock, Duration> const& time) {
    return in_thread(n, asio_sync::detail::wait_limit::at(time), "try_acquire_until");
  }

  /// Acquires one permit without blocking a thread, like `async_acquire(1, token)`.
  template <asio_sync::detail::token_for<void(boost::system::error_code, semaphore_permit)> Token =
                asio_sync::detail::default_token<Executor>>
  auto async_acquire(Token&& token = Token()) {
    return async_acquire(1, static_cast<Token&&>(token));
  }

  /// Acquires n permits without blocking a thread.
  ///
  /// Completes when every earlier wait that the server can reach has been served or has gone, and
  /// n permits are free: it takes all of them at once. For zero permits it need not wait. Waits
  /// through outages of the server.
  ///
  /// Completion signature: `void(error_code, semaphore_permit)`; the permit is empty with an
  /// error.
  /// Executor: the handler's, else `get_executor()`; never from inside this function, and never
  /// the client's.
  /// Cancellation: terminal, partial and total alike. The wait is over at once; the server is told
  /// to forget it. After the grant, and until the handler is called, a cancellation by slot gives
  /// the permits back; `cancel()` then does nothing.
  /// Errors: `invalid_argument` (n is negative, or more than `max()`), `operation_aborted`
  /// (cancelled, the semaphore or the client destroyed, or the client shut down), `error::closed`,
  /// `error::kind_mismatch`, `error::version_mismatch`, `error::configuration_mismatch` (others
  /// use the name with another number of permits), `redis::error::server_error` (there is a key of
  /// another type under the name), `redis::error::forked`, or the final error that has ended the
  /// client's run.
  /// Threads: any, at any time.
  /// Exceptions: what allocating the wait, moving the handler, connecting its slot or posting to
  /// an executor of your own throws; nothing has changed then.
  template <asio_sync::detail::token_for<void(boost::system::error_code, semaphore_permit)> Token =
                asio_sync::detail::default_token<Executor>>
  auto async_acquire(std::ptrdiff_t n, Token&& token = Token()) {
    return initiate(n, asio_sync::detail::no_limit(), "async_acquire",
                    static_cast<Token&&>(token));
  }

  /// Acquires one permit, but gives up after `time`, like `async_acquire_for(1, time, token)`.
  template <class Rep, class Period,
            asio_sync::detail::token_for<void(boost::system::error_code, semaphore_permit)> Token =
                asio_sync::detail::default_token<Executor>>
  auto async_acquire_for(std::chrono::duration<Rep, Period> const& time, Token&& token = Token()) {
    return async_acquire_for(1, time, static_cast<Token&&>(token));
  }

  /// Acquires like `async_acquire`, but gives up after `time`, counted from the initiation (with a
  /// deferred operation, from its launch), by the steady clock.
  ///
  /// Completion signature, executor, cancellation, threads: those of `async_acquire`.
  /// Errors: also `errc::timed_out`, as `asio::error::timed_out`, or as
  /// `redis::error::unreachable` if the client has had no session since the initiation. Zero or
  /// negative time tries once, and waits for the answer no longer than the client's
  /// `command_timeout`; it fails with `redis::error::gated` if the server is new or has lost its
  /// data, and grants nothing yet. Exceptions: also what making the context's timer and room for
  /// the deadline throws.
  template <class Rep, class Period,
            asio_sync::detail::token_for<void(boost::system::error_code, semaphore_permit)> Token =
                asio_sync::detail::default_token<Executor>>
  auto async_acquire_for(std::ptrdiff_t n, std::chrono::duration<Rep, Period> const& time,
                         Token&& token = Token()) {
    return initiate(n, asio_sync::detail::wait_limit::after(time), "async_acquire_for",
                    static_cast<Token&&>(token));
  }

  /// Acquires one permit, but gives up at a point in time.
  template <class Clock, class Duration,
            asio_sync::detail::token_for<void(boost::system::error_code, semaphore_permit)> Token =
                asio_sync::detail::default_token<Executor>>
  auto async_acquire_until(std::chrono::time_point<Clock, Duration> const& time,
                           Token&& token = Token()) {
    return async_acquire_until(1, time, static_cast<Token&&>(token));
  }

  /// Acquires like `async_acquire_for`, but gives up at a point in time. One of another clock than
  /// the steady one is converted when this function is called.
  template <class Clock, class Duration,
            asio_sync::detail::token_for<void(boost::system::error_code, semaphore_permit)> Token =
                asio_sync::detail::default_token<Executor>>
  auto async_acquire_until(std::ptrdiff_t n, std::chrono::time_point<Clock, Duration> const& time,
                           Token&& token = Token()) {
    return initiate(n, asio_sync::detail::wait_limit::at(time), "async_acquire_until",
                    static_cast<Token&&>(token));
  }

  /// Acquires one permit if it is free and nobody waits, like `async_try_acquire(1, token)`.
  template <asio_sync::detail::token_for<void(boost::system::error_code, semaphore_permit)> Token =
                asio_sync::detail::default_token<Executor>>
  auto async_try_acquire(Token&& token = Token()) {
    return async_try_acquire(1, static_cast<Token&&>(token));
  }

  /// Acquires n permits if so many are free and nobody waits. If not, the permit is empty, and
  /// there is no error.
  ///
  /// Completion signature, executor, cancellation, threads, exceptions: those of
  /// `async_acquire_for`.
  /// Errors: those of `async_acquire_for` with zero time, but none if too few permits are free.
  template <asio_sync::detail::token_for<void(boost::system::error_code, semaphore_permit)> Token =
                asio_sync::detail::default_token<Executor>>
  auto async_try_acquire(std::ptrdiff_t n, Token&& token = Token()) {
    return base::template initiate<semaphore_permit>(n, asio_sync::detail::no_limit(),
                                                     detail::attempt::tries, "async_try_acquire",
                                                     static_cast<Token&&>(token));
  }

 private:
  template <class Token>
  auto initiate(std::ptrdiff_t n, asio_sync::detail::wait_limit limit, char const* function,
                Token&& token) {
    return base::template initiate<semaphore_permit>(n, limit, detail::attempt::waits, function,
                                                     static_cast<Token&&>(token));
  }

  semaphore_permit in_thread(std::ptrdiff_t n, asio_sync::detail::wait_limit limit,
                             char const* function) {
    return base::template in_thread<semaphore_permit>(n, limit, function);
  }

  static std::uint64_t checked(std::ptrdiff_t permits) {
    if (permits < 1 || permits > max_permits)
      asio_sync::detail::throw_invalid(
          "asio_sync::redis::async_semaphore::async_semaphore: permits out of range");
    return static_cast<std::uint64_t>(permits);
  }
};

/// A semaphore over any executor.
using async_semaphore = basic_async_semaphore<>;

}  // namespace asio_sync::redis

#endif
