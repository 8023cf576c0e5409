// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_ASYNC_MUTEX_HPP
#define ASIO_SYNC_ASYNC_MUTEX_HPP

#include <asio_sync/detail/core/config.hpp>  // first

#include <asio_sync/detail/locks/lock_guard.hpp>
#include <asio_sync/detail/locks/permit_cores.hpp>
#include <asio_sync/detail/operation/beginning.hpp>
#include <asio_sync/detail/operation/errors.hpp>
#include <asio_sync/detail/operation/initiation.hpp>
#include <asio_sync/detail/operation/operation.hpp>
#include <asio_sync/detail/operation/primitive.hpp>
#include <asio_sync/detail/operation/wait_limit.hpp>
#include <asio_sync/error.hpp>
#include <asio_sync/fwd.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <cstddef>

namespace asio_sync {

/// A mutex that coroutines, callbacks and threads lock in one queue, first come, first served.
///
/// Use it for a sequence of asynchronous steps that must not be interleaved: read the record,
/// compute, write it back. If you never await while holding it, a strand is enough; if only
/// threads lock it, so is `std::mutex`.
///
///     auto lock = co_await mutex.async_lock();  // unlocks at the end of the scope
///
/// Ownership is handed over directly: `unlock()` with waits queued makes the oldest the owner, and
/// nobody barges in. The guard, `lock_type`, is the proof of ownership: the mutex belongs to no
/// thread, is not recursive, and may be unlocked on any thread. The mutex meets the standard
/// *TimedLockable* requirements.
///
/// Threads: every member but constructors and destructor may be called from any thread at any
/// time. Lifetime: the mutex may be destroyed with waits outstanding, which then complete with
/// `operation_aborted`, and before the guards that own it. Its contexts may be destroyed before it
/// or after it; over a strand, the mutex has to go before the strand's context.
template <class Executor = boost::asio::any_io_executor>
class basic_async_mutex : detail::primitive<Executor, detail::mutex_core> {
  using base = detail::primitive<Executor, detail::mutex_core>;

 public:
  /// The type of the executor that completes what has no executor of its own.
  using executor_type = Executor;

  /// The same mutex over another executor.
  template <class Executor2>
  struct rebind_executor {
    /// The rebound type.
    using other = basic_async_mutex<Executor2>;
  };

  class lock_type;

  /// Makes a free mutex; `ex` completes the waits whose handlers have no executor of their own.
  ///
  /// Exceptions: what allocating, or adding a service to the executor's context, throws.
  explicit basic_async_mutex(executor_type const& ex) : base(this, ex, 1u, 1u) {}

  /// Makes a free mutex over the executor of an execution context.
  template <detail::context_for<Executor> ExecutionContext>
  explicit basic_async_mutex(ExecutionContext& context)
      : basic_async_mutex(executor_type(context.get_executor())) {}

  /// Executors of the networking TS are refused: they cannot do what this needs.
  template <detail::ts_executor TsExecutor>
  explicit basic_async_mutex(TsExecutor const&)
      : basic_async_mutex(detail::instead_of<TsExecutor, Executor>()) {}

  basic_async_mutex(basic_async_mutex const&) = delete;
  basic_async_mutex& operator=(basic_async_mutex const&) = delete;

  /// Completes outstanding waits with `operation_aborted`, each on its own executor; a lock that
  /// was granted and has not arrived yet arrives as `operation_aborted`, too. Blocked threads
  /// throw it.
  ~basic_async_mutex() = default;

  /// The executor of waits whose handlers have none.
  executor_type get_executor() const noexcept { return base::executor(); }

  /// Locks the mutex if it is free, open, and nobody waits.
  [[nodiscard]] bool try_lock() noexcept { return core().try_acquire(1, false); }

  /// Ends what `lock()`, `try_lock()` or a guard's `release()` began: unlocks the mutex, or passes
  /// it on to the oldest wait. Runs no code of that wait, and does not touch the mutex after it
  /// can run. What a guard holds only that guard unlocks.
  ///
  /// Errors: throws `boost::system::system_error` with `operation_not_permitted` if the mutex is
  /// not locked, or a guard holds it or is about to; nothing has changed then.
  void unlock() {
    if (!core().release(false))
      detail::throw_not_permitted("asio_sync::async_mutex::unlock: not locked by a member");
  }

  /// Whether somebody holds the mutex; it may have changed already.
  bool is_locked() const noexcept { return core().available() == 0; }

  /// Blocks the calling thread until it has locked the mutex: for threads that run no executor.
  ///
  /// Errors: throws `boost::system::system_error` with `error::closed`, with `operation_aborted`
  /// (`cancel()`, or the mutex destroyed), or with `resource_deadlock_would_occur` where it would
  /// have to wait on a thread that runs the mutex's own context. Allocates nothing.
  void lock() { static_cast<void>(lock_in_thread(detail::no_limit(), "lock")); }

  /// As `lock()`, but gives up after the time: false. Zero or negative time: one try.
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(std::chrono::duration<Rep, Period> const& time) {
    return lock_in_thread(detail::wait_limit::after(time), "try_lock_for");
  }

  /// As `lock()`, but gives up at the point in time: false.
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(std::chrono::time_point<Clock, Duration> const& time) {
    return lock_in_thread(detail::wait_limit::at(time), "try_lock_until");
  }

  /// Completes every outstanding wait with `operation_aborted`, threads included.
  ///
  /// Returns how many. Does not touch the holder, nor locks that are granted already.
  std::size_t cancel() { return core().refuse_all(detail::wait_outcome::aborted); }

  /// Outstanding and later waits complete with `error::closed`; the holder may still unlock, after
  /// which nobody can lock any more.
  void close() noexcept { core().close(); }

  /// Whether the mutex was closed.
  bool is_closed() const noexcept { return core().is_closed(); }

  /// The number of outstanding waits, threads included; not those granted and on their way.
  std::size_t waiters() const noexcept { return core().waiters(); }

  /// Locks the mutex without blocking a thread.
  ///
  /// Completes when every earlier wait has been served or has gone, and the holder has unlocked.
  ///
  /// Completion signature: `void(error_code, lock_type)`; the lock is empty with an error.
  /// Executor: the handler's, else `get_executor()`; never from inside this function, unless the
  /// handler has an immediate executor of its own. A coroutine that awaits it with `deferred`,
  /// `use_awaitable`, or `as_tuple` or `redirect_error` of these does not suspend for a free
  /// mutex.
  /// Cancellation: terminal, partial and total alike. The wait leaves the queue at once and those
  /// behind it move up. After the grant, and until the handler is called, a cancellation by slot
  /// unlocks again; `cancel()` then does nothing.
  /// Errors: `operation_aborted` (cancelled, or the mutex destroyed), `error::closed`.
  /// Threads: any, at any time.
  /// Exceptions: what allocating the wait, moving the handler, connecting its slot or posting to
  /// an executor of your own throws; nothing has changed then.
  template <detail::token_for<void(boost::system::error_code, lock_type)> Token =
                detail::default_token<Executor>>
  auto async_lock(Token&& token = Token()) {
    return initiate(detail::no_limit(), static_cast<Token&&>(token));
  }

  /// As `async_lock`, but gives up after `time`, counted from the initiation (with a deferred
  /// operation, from its launch), by the steady clock.
  ///
  /// Completion signature, executor, cancellation, threads: those of `async_lock`.
  /// Errors: also `asio::error::timed_out`, when the wait leaves the queue at once; zero or
  /// negative time tries once.
  /// Exceptions: also what making the context's timer and room for the deadline throws.
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
  template <class Mutex, class Core, auto... Mode>
  friend class detail::lock_guard;
  using base::core;

  // How a completion's guard is made of a core that was granted.
  struct delivery_type {
    using core_type = detail::mutex_core;
    using grant = lock_type;
    static grant make(core_type& core, detail::verdict) noexcept { return grant(&core, true); }
  };

  // A lock: what is tried, and for how long it may wait.
  template <class Limit>
  class lock_operation
      : public detail::operation_base<lock_operation<Limit>, Executor, delivery_type, Limit> {
   public:
    lock_operation(basic_async_mutex& mutex, Limit limit) noexcept
        : lock_operation::operation_base(limit), mutex_(&mutex) {}

    Executor const& executor() const noexcept { return mutex_->base::executor(); }
    detail::mutex_core& core() const noexcept { return mutex_->core(); }
    static detail::waiter::asked_type asked() noexcept { return {}; }

    // Takes the mutex if it is free, to be held by a guard.
    ASIO_SYNC_FLATTEN ASIO_SYNC_INLINE detail::verdict try_now() const noexcept {
      return core().try_acquire(1, true) ? detail::wait_outcome::granted
                                         : detail::refusal_of(core(), this->limit_);
    }

    // Names it in the output of Asio's handler tracking.
    void track(detail::waiter& w) const {
      detail::track_creation(executor(), w, "async_mutex", mutex_, "async_lock");
    }

   private:
    basic_async_mutex* mutex_;
  };

  template <class Limit, class Token>
  auto initiate(Limit limit, Token&& token) {
    return detail::initiate_wait(lock_operation<Limit>(*this, limit), static_cast<Token&&>(token));
  }

  // A grant is a guard's hold.
  detail::verdict hold_in_thread(detail::wait_limit limit) {
    return detail::wait_in_thread(lock_operation<detail::wait_limit>(*this, limit));
  }
  bool lock_in_thread(detail::wait_limit limit, char const* function) {
    return lock_type::lock_for_member(*this, limit, function);
  }
};

/// The guard of the mutex: unlocks it when it is destroyed. The interface of `std::unique_lock`;
/// but the guard may outlive its mutex, as it does where a coroutine or a handler that holds it is
/// destroyed by a context that ends after the mutex.
///
/// After the mutex has gone, a guard that owned it does not own it any more, and its `mutex()` is
/// null; `unlock()` then does nothing, once, and leaves an empty guard. A guard that does not own
/// may only be destroyed, assigned or swapped after its mutex.
///
/// Errors: `boost::system::system_error` with the codes of `std::unique_lock`:
/// `operation_not_permitted` where there is no mutex, or `unlock()` has nothing to unlock;
/// `resource_deadlock_would_occur` where it is held already; and those of the mutex.
/// Threads: a guard is used by one thread at a time, which need not be always the same.
template <class Executor>
class [[nodiscard]] basic_async_mutex<Executor>::lock_type
    : public detail::lock_guard<basic_async_mutex, detail::mutex_core> {
 public:
  /// The type of the mutex.
  using mutex_type = basic_async_mutex;

  /// Those of `std::unique_lock`; see `detail::lock_guard`, which has the members, too.
  using lock_type::lock_guard::lock_guard;
};

/// A mutex over any executor.
using async_mutex = basic_async_mutex<>;

}  // namespace asio_sync

#endif
