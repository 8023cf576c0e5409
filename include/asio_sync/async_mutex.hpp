// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_ASYNC_MUTEX_HPP
#define ASIO_SYNC_ASYNC_MUTEX_HPP

#include <asio_sync/detail/context/homed_core.hpp>
#include <asio_sync/detail/context/wait_service.hpp>
#include <asio_sync/detail/operation/initiation.hpp>
#include <asio_sync/detail/operation/thread_waiter.hpp>
#include <asio_sync/detail/operation/wait_limit.hpp>
#include <asio_sync/error.hpp>
#include <asio_sync/fwd.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/system/errc.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <mutex>
#include <type_traits>

namespace asio_sync {

/// A mutex that coroutines, callbacks and threads lock in one queue, first come, first served.
///
/// For what must not be interleaved although it has completions in between: "read the record,
/// compute, write it back". Where nothing is awaited while it is held a strand does as well, and
/// `std::mutex` if only threads lock it.
///
///     std::unique_lock lock = co_await mutex.async_lock();  // unlocks at the end of the scope
///
/// Ownership is passed on directly: `unlock()` with waits queued makes the oldest the owner, and
/// nobody barges in. The guard is a `std::unique_lock`, and the proof of ownership: the mutex
/// belongs to no thread, is not recursive, and may be unlocked on any thread. The mutex meets the
/// standard *TimedLockable* requirements.
///
/// Threads: every member but constructors and destructor may be called from any thread at any
/// time. Lifetime: the mutex may be destroyed with waits outstanding, which then complete with
/// `operation_aborted`; it must not be destroyed while a guard owns it. Its contexts may be
/// destroyed before it or after it.
template <class Executor = boost::asio::any_io_executor>
class basic_async_mutex {
 public:
  /// The type of the executor that completes what has no executor of its own.
  using executor_type = Executor;

  /// The same mutex over another executor.
  template <class Executor2>
  struct rebind_executor {
    /// The rebound type.
    using other = basic_async_mutex<Executor2>;
  };

  /// What a completion carries: owns the mutex, unless there is an error.
  using lock_type = std::unique_lock<basic_async_mutex>;

  /// Makes a free mutex; `ex` completes the waits whose handlers have no executor of their own.
  ///
  /// Exceptions: what allocating, or adding a service to the executor's context, throws.
  explicit basic_async_mutex(executor_type const& ex);

  /// Makes a free mutex over the executor of an execution context.
  template <class ExecutionContext>
    requires std::convertible_to<ExecutionContext&, boost::asio::execution_context&> &&
        std::constructible_from<Executor, typename ExecutionContext::executor_type>
  explicit basic_async_mutex(ExecutionContext& context)
      : basic_async_mutex(executor_type(context.get_executor())) {}

  basic_async_mutex(basic_async_mutex const&) = delete;
  basic_async_mutex& operator=(basic_async_mutex const&) = delete;

  /// Completes outstanding waits with `operation_aborted`, each on its own executor; a lock that
  /// was granted and has not arrived yet arrives as `operation_aborted`, too. Blocked threads
  /// throw it.
  ~basic_async_mutex() { core_->abandon(); }

  /// The executor of waits whose handlers have none.
  executor_type get_executor() const noexcept { return executor_; }

  /// Locks the mutex if it is free, open, and nobody waits.
  [[nodiscard]] bool try_lock() noexcept { return core_->try_acquire(); }

  /// Unlocks the mutex, or passes it on to the oldest wait. Runs no code of the waiter; does not
  /// touch the mutex after the waiter can run.
  ///
  /// Errors: throws `boost::system::system_error` with `operation_not_permitted` if the mutex is
  /// not locked; nothing has changed then. Nothing else is thrown.
  void unlock() {
    if (!core_->try_release_uncontended() && !core_->release())
      throw_error(
          boost::system::errc::make_error_code(boost::system::errc::operation_not_permitted));
  }

  /// Whether somebody holds the mutex; it may have changed already.
  bool is_locked() const noexcept { return core_->available() == 0; }

  /// Blocks the calling thread until it has locked the mutex: for threads that run no executor.
  ///
  /// Errors: throws `boost::system::system_error` with `error::closed`, with `operation_aborted`
  /// (`cancel()`, or the mutex destroyed), or with `resource_deadlock_would_occur` where it would
  /// have to wait on a thread that runs the mutex's own context. Allocates nothing.
  void lock() { static_cast<void>(lock_in_thread(detail::no_limit())); }

  /// As `lock()`, but gives up after the time: false. Zero or negative time: one try.
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(std::chrono::duration<Rep, Period> const& time) {
    return lock_in_thread(detail::wait_limit::after(time));
  }

  /// As `lock()`, but gives up at the point in time: false.
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(std::chrono::time_point<Clock, Duration> const& time) {
    return lock_in_thread(detail::wait_limit::at(time));
  }

  /// Completes every outstanding wait with `operation_aborted`, threads included.
  ///
  /// Returns how many. Does not touch the holder, nor locks that are granted already.
  std::size_t cancel() { return core_->refuse_all(detail::wait_outcome::aborted); }

  /// Outstanding and later waits complete with `error::closed`; the holder may still unlock, after
  /// which nobody can lock any more.
  void close() noexcept { core_->close(); }

  /// Whether the mutex was closed.
  bool is_closed() const noexcept { return core_->is_closed(); }

  /// The number of outstanding waits, threads included; not those granted and on their way.
  std::size_t waiters() const noexcept { return core_->waiters(); }

  /// Locks the mutex without blocking a thread.
  ///
  /// Completes when every earlier wait has been served or has gone, and the holder has unlocked.
  ///
  /// Completion signature: `void(error_code, lock_type)`; the lock is empty with an error.
  /// Executor: the handler's, else `get_executor()`; never from inside this function, unless the
  /// handler has an immediate executor of its own. A coroutine that awaits it with `deferred`,
  /// `use_awaitable`, or `as_tuple` or `redirect_error` of these does not suspend for a free
  /// mutex. Cancellation: terminal, partial and total alike. The wait leaves the queue at once and
  /// those behind it move up; after the grant a cancellation does nothing. Errors:
  /// `operation_aborted` (cancelled, or the mutex destroyed), `error::closed`. Threads: any, at
  /// any time. Exceptions: what allocating the wait, moving the handler, connecting its slot or
  /// posting to an executor of your own throws; nothing has changed then.
  template <detail::token_for<void(boost::system::error_code, lock_type)> Token =
                detail::default_token<Executor>>
  auto async_lock(Token&& token = Token()) {
    return initiate(detail::no_limit(), static_cast<Token&&>(token));
  }

  /// As `async_lock`, but gives up after `time`, counted from the initiation (with a deferred
  /// operation, from its launch), by the steady clock.
  ///
  /// Completion signature, executor, cancellation, threads: those of `async_lock`. Errors: also
  /// `asio::error::timed_out`, when the wait leaves the queue at once; zero or negative time tries
  /// once. Exceptions: also what making the context's timer and room for the deadline throws.
  template <class Rep, class Period,
            detail::token_for<void(boost::system::error_code, lock_type)> Token =
                detail::default_token<Executor>>
  auto async_lock_for(std::chrono::duration<Rep, Period> const& time, Token&& token = Token()) {
    return initiate(detail::wait_limit::after(time), static_cast<Token&&>(token));
  }

  /// As `async_lock_for`, but gives up at a point in time. One of another clock than the steady
  /// one is converted when this function is called.
  template <class Clock, class Duration,
            detail::token_for<void(boost::system::error_code, lock_type)> Token =
                detail::default_token<Executor>>
  auto async_lock_until(std::chrono::time_point<Clock, Duration> const& time,
                        Token&& token = Token()) {
    return initiate(detail::wait_limit::at(time), static_cast<Token&&>(token));
  }

 private:
  // What a completion receives, and how it is made of a mutex that was granted.
  struct ownership {
    using grant = lock_type;

    static grant claim(detail::homed_core& core) noexcept {
      return grant(*static_cast<basic_async_mutex*>(core.primitive()), std::adopt_lock);
    }

    static void disown(grant& owner) noexcept { owner.release(); }
  };

  // An asynchronous lock: what is tried, and for how long it may wait.
  template <class Limit>
  class lock_operation {
   public:
    using claims = ownership;
    using executor_type = Executor;

    lock_operation(basic_async_mutex& mutex, Limit limit) noexcept
        : mutex_(&mutex), limit_(limit) {}

    executor_type const& executor() const noexcept { return mutex_->executor_; }
    detail::homed_core& core() const noexcept { return *mutex_->core_; }
    Limit limit() const noexcept { return limit_; }

    detail::wait_outcome try_now() const noexcept {
      if (core().try_acquire()) return detail::wait_outcome::granted;
      if (core().is_closed()) return detail::wait_outcome::closed;
      if (limit_.expired()) return detail::wait_outcome::timed_out;
      return detail::wait_outcome::undecided;
    }

   private:
    basic_async_mutex* mutex_;
    [[no_unique_address]] Limit limit_;
  };

  template <class Limit, class Token>
  auto initiate(Limit limit, Token&& token) {
    return detail::initiate_wait(lock_operation<Limit>(*this, limit), static_cast<Token&&>(token));
  }

  bool lock_in_thread(detail::wait_limit limit);

  [[noreturn]] static void throw_error(boost::system::error_code error) {
    throw boost::system::system_error(error);
  }

  executor_type executor_;
  detail::homed_core* core_;
};

/// A mutex over any executor.
using async_mutex = basic_async_mutex<>;

template <class Executor>
basic_async_mutex<Executor>::basic_async_mutex(executor_type const& ex)
    : executor_(ex), core_(detail::homed_core::make(this, executor_)) {}

template <class Executor>
bool basic_async_mutex<Executor>::lock_in_thread(detail::wait_limit limit) {
  if (try_lock()) return true;
  if (!is_closed() && !limit.expired() && detail::runs_in_this_thread(executor_))
    throw_error(
        boost::system::errc::make_error_code(boost::system::errc::resource_deadlock_would_occur));
  detail::wait_outcome const outcome = detail::thread_waiter::wait(*core_, limit);
  if (outcome == detail::wait_outcome::timed_out) return false;
  if (outcome != detail::wait_outcome::granted) throw_error(detail::error_of(outcome));
  return true;
}

}  // namespace asio_sync

#endif
