// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_ASYNC_SHARED_MUTEX_HPP
#define ASIO_SYNC_ASYNC_SHARED_MUTEX_HPP

#include <asio_sync/detail/core/config.hpp>  // first

#include <asio_sync/detail/locks/lock_guard.hpp>
#include <asio_sync/detail/locks/shared_mutex_core.hpp>
#include <asio_sync/detail/locks/upgrade.hpp>
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
#include <type_traits>
#include <utility>

namespace asio_sync {

/// A mutex that either one writer holds, or any number of readers, across asynchronous operations.
///
/// Use it for what many read at a time, over several steps each, and what is seldom written. Where
/// a section is short, or mostly writes, `async_mutex` costs less.
///
///     auto lock = co_await mutex.async_lock_shared();  // unlocks at the end of the scope
///
/// Strictly first come, first served, and fair to both: neighbouring readers enter together, no
/// reader passes a writer that waits, no writer a reader. A lock is handed over directly; the
/// guards (`lock_type`, `shared_lock_type`) are the proof of ownership, and no thread owns it. Not
/// recursive: a reader that locks again waits behind the writers in between. Meets the standard
/// *SharedTimedLockable* requirements.
///
/// Threads: every member but constructors and destructor may be called from any thread at any
/// time. Lifetime: the mutex may be destroyed with waits outstanding, which then complete with
/// `operation_aborted`, and before the guards that own it. Its contexts may be destroyed before it
/// or after it; over a strand, the mutex has to go before the strand's context.
template <class Executor = boost::asio::any_io_executor>
class basic_async_shared_mutex : detail::primitive<Executor, detail::shared_mutex_core> {
  using base = detail::primitive<Executor, detail::shared_mutex_core>;
  using mode = detail::lock_mode;

 public:
  /// The type of the executor that completes what has no executor of its own.
  using executor_type = Executor;

  /// The same mutex over another executor.
  template <class Executor2>
  struct rebind_executor {
    /// The rebound type.
    using other = basic_async_shared_mutex<Executor2>;
  };

  class lock_type;
  class shared_lock_type;

  /// Makes a free mutex; `ex` completes the waits whose handlers have no executor of their own.
  ///
  /// Exceptions: what allocating, or adding a service to the executor's context, throws.
  explicit basic_async_shared_mutex(executor_type const& ex) : base(this, ex) {}

  /// Makes a free mutex over the executor of an execution context.
  template <detail::context_for<Executor> ExecutionContext>
  explicit basic_async_shared_mutex(ExecutionContext& context)
      : basic_async_shared_mutex(executor_type(context.get_executor())) {}

  /// Executors of the networking TS are refused: they cannot do what this needs.
  template <detail::ts_executor TsExecutor>
  explicit basic_async_shared_mutex(TsExecutor const&)
      : basic_async_shared_mutex(detail::instead_of<TsExecutor, Executor>()) {}

  basic_async_shared_mutex(basic_async_shared_mutex const&) = delete;
  basic_async_shared_mutex& operator=(basic_async_shared_mutex const&) = delete;

  /// Completes outstanding waits with `operation_aborted`, each on its own executor; a lock that
  /// was granted and has not arrived yet arrives as `operation_aborted`, too. Blocked threads
  /// throw it.
  ~basic_async_shared_mutex() = default;

  /// The executor of waits whose handlers have none.
  executor_type get_executor() const noexcept { return base::executor(); }

  /// Locks the mutex for writing if it is free, open, and nobody waits.
  [[nodiscard]] bool try_lock() noexcept { return core().try_acquire(mode::exclusive, false); }

  /// Locks the mutex for reading if no writer holds it, it is open, and nobody waits.
  [[nodiscard]] bool try_lock_shared() noexcept { return core().try_acquire(mode::shared, false); }

  /// Ends what `lock()`, `try_lock()` or a guard's `release()` began: unlocks the mutex, or passes
  /// it on to the oldest wait, and if that reads, to the readers next to it. Runs no code of these
  /// waits, and does not touch the mutex after they can run. What a guard holds only it unlocks.
  ///
  /// Errors: throws `boost::system::system_error` with `operation_not_permitted` if no member has
  /// locked the mutex for writing; nothing has changed then.
  void unlock() {
    if (!core().release(false, mode::exclusive))
      detail::throw_not_permitted("asio_sync::async_shared_mutex::unlock: not locked by a member");
  }

  /// The same for what `lock_shared()`, `try_lock_shared()` or the `release()` of a guard that
  /// reads began: one of as many as there are.
  void unlock_shared() {
    if (!core().release(false, mode::shared))
      detail::throw_not_permitted(
          "asio_sync::async_shared_mutex::unlock_shared: not locked by a member");
  }

  /// Whether somebody holds the mutex, a writer or a reader; it may have changed already.
  bool is_locked() const noexcept { return core().is_held(); }

  /// Blocks the calling thread until it has locked the mutex for writing: for threads that run no
  /// executor.
  ///
  /// Errors: throws `boost::system::system_error` with `error::closed`, with `operation_aborted`
  /// (`cancel()`, or the mutex destroyed), or with `resource_deadlock_would_occur` where it would
  /// have to wait on a thread that runs the mutex's own context. Allocates nothing.
  void lock() { static_cast<void>(lock_type::lock_for_member(*this, detail::no_limit(), "lock")); }

  /// As `lock()`, but gives up after the time: false. Zero or negative time: one try.
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(std::chrono::duration<Rep, Period> const& time) {
    return lock_type::lock_for_member(*this, detail::wait_limit::after(time), "try_lock_for");
  }

  /// As `lock()`, but gives up at the point in time: false.
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(std::chrono::time_point<Clock, Duration> const& time) {
    return lock_type::lock_for_member(*this, detail::wait_limit::at(time), "try_lock_until");
  }

  /// As `lock()`, for reading.
  void lock_shared() {
    static_cast<void>(shared_lock_type::lock_for_member(*this, detail::no_limit(), "lock_shared"));
  }

  /// As `try_lock_for()`, for reading.
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_shared_for(std::chrono::duration<Rep, Period> const& time) {
    return shared_lock_type::lock_for_member(*this, detail::wait_limit::after(time),
                                             "try_lock_shared_for");
  }

  /// As `try_lock_until()`, for reading.
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_shared_until(std::chrono::time_point<Clock, Duration> const& time) {
    return shared_lock_type::lock_for_member(*this, detail::wait_limit::at(time),
                                             "try_lock_shared_until");
  }

  /// Completes every outstanding wait with `operation_aborted`, threads included.
  ///
  /// Returns how many. Does not touch holders, nor locks that are granted already.
  std::size_t cancel() { return core().refuse_all(detail::wait_outcome::aborted); }

  /// Outstanding and later waits complete with `error::closed`; holders may still unlock, and a
  /// writer be downgraded, after which nobody can lock any more.
  void close() noexcept { core().close(); }

  /// Whether the mutex was closed.
  bool is_closed() const noexcept { return core().is_closed(); }

  /// The number of outstanding waits, threads included; not those granted and on their way.
  std::size_t waiters() const noexcept { return core().waiters(); }

  /// Locks the mutex for writing without blocking a thread.
  ///
  /// Completes when every earlier wait has been served or has gone, and all holders have unlocked.
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
    return initiate<mode::exclusive>(detail::no_limit(), static_cast<Token&&>(token));
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
    return initiate<mode::exclusive>(detail::wait_limit::after(time), static_cast<Token&&>(token));
  }

  /// As `async_lock_for`, but gives up at a point in time. One of another clock than the steady
  /// one is converted when this function is called.
  template <class Clock, class Duration,
            detail::token_for<void(boost::system::error_code, lock_type)> Token =
                detail::default_token<Executor>>
  auto async_lock_until(std::chrono::time_point<Clock, Duration> const& time,
                        Token&& token = Token()) {
    return initiate<mode::exclusive>(detail::wait_limit::at(time), static_cast<Token&&>(token));
  }

  /// Locks the mutex for reading without blocking a thread.
  ///
  /// Completes when every earlier wait has been served or has gone, and no writer holds it.
  ///
  /// Completion signature: `void(error_code, shared_lock_type)`. All else as for `async_lock`.
  template <detail::token_for<void(boost::system::error_code, shared_lock_type)> Token =
                detail::default_token<Executor>>
  auto async_lock_shared(Token&& token = Token()) {
    return initiate<mode::shared>(detail::no_limit(), static_cast<Token&&>(token));
  }

  /// As `async_lock_shared`, but gives up after `time`, as `async_lock_for`.
  template <class Rep, class Period,
            detail::token_for<void(boost::system::error_code, shared_lock_type)> Token =
                detail::default_token<Executor>>
  auto async_lock_shared_for(std::chrono::duration<Rep, Period> const& time,
                             Token&& token = Token()) {
    return initiate<mode::shared>(detail::wait_limit::after(time), static_cast<Token&&>(token));
  }

  /// As `async_lock_shared`, but gives up at a point in time, as `async_lock_until`.
  template <class Clock, class Duration,
            detail::token_for<void(boost::system::error_code, shared_lock_type)> Token =
                detail::default_token<Executor>>
  auto async_lock_shared_until(std::chrono::time_point<Clock, Duration> const& time,
                               Token&& token = Token()) {
    return initiate<mode::shared>(detail::wait_limit::at(time), static_cast<Token&&>(token));
  }

  /// Makes a writer a reader, and lets in the readers who are next in the queue: never a writer in
  /// between. Empty if `lock` does not own, or its mutex is dead; `lock` is empty afterwards.
  [[nodiscard]] static shared_lock_type downgrade(lock_type&& lock) noexcept {
    lock_type from(std::move(lock));
    detail::shared_mutex_core* const held = from.held();
    if (!held || !held->decide([&](auto& next) { return held->downgrade(next); })) return {};
    from.yield();
    return shared_lock_type(held, true);
  }

  /// Makes a reader the writer without letting anybody in between.
  ///
  /// Completes when all other readers have unlocked: ahead of the queue, and nobody else enters
  /// meanwhile. One at a time: two would wait for each other.
  ///
  /// `lock` has to live until completion, as a coroutine's own variable does, and is not to be
  /// touched until then. It does not own while it is waited. With an error it owns again before
  /// the handler runs, also if a cancellation by slot takes the grant back; otherwise, or if the
  /// mutex has been destroyed, it is empty. If the handler is destroyed without having been
  /// called, what was held is let go.
  ///
  /// Completion signature: `void(error_code, lock_type)`. Executor, cancellation, threads,
  /// exceptions: those of `async_lock`.
  /// Errors: `operation_not_permitted` (`lock` does not own this mutex),
  /// `resource_deadlock_would_occur` (another upgrade waits: unlock, and lock for writing),
  /// `operation_aborted` (cancelled, or the mutex destroyed), `error::closed`.
  template <detail::token_for<void(boost::system::error_code, lock_type)> Token =
                detail::default_token<Executor>>
  auto async_upgrade(shared_lock_type&& lock, Token&& token = Token()) {
    return upgrade(lock, detail::no_limit(), static_cast<Token&&>(token));
  }

  /// As `async_upgrade`, but gives up after `time`, as `async_lock_for`.
  template <class Rep, class Period,
            detail::token_for<void(boost::system::error_code, lock_type)> Token =
                detail::default_token<Executor>>
  auto async_upgrade_for(shared_lock_type&& lock, std::chrono::duration<Rep, Period> const& time,
                         Token&& token = Token()) {
    return upgrade(lock, detail::wait_limit::after(time), static_cast<Token&&>(token));
  }

  /// As `async_upgrade`, but gives up at a point in time, as `async_lock_until`.
  template <class Clock, class Duration,
            detail::token_for<void(boost::system::error_code, lock_type)> Token =
                detail::default_token<Executor>>
  auto async_upgrade_until(shared_lock_type&& lock,
                           std::chrono::time_point<Clock, Duration> const& time,
                           Token&& token = Token()) {
    return upgrade(lock, detail::wait_limit::at(time), static_cast<Token&&>(token));
  }

 private:
  template <class Mutex, class Core, auto... Mode>
  friend class detail::lock_guard;
  using base::core;

  template <mode Mode>
  struct delivery_type {
    using core_type = detail::shared_mutex_core;
    using grant = std::conditional_t<Mode == mode::shared, shared_lock_type, lock_type>;
    static grant make(core_type& core, detail::verdict) noexcept { return grant(&core, true); }
  };

  // A lock in some mode, and for how long it may wait. Upgrades borrow the hold of a guard.
  template <mode Mode, class Limit>
  class lock_operation : public detail::operation_base<lock_operation<Mode, Limit>, Executor,
                                                       delivery_type<Mode>, Limit> {
    static constexpr bool upgrades = Mode == mode::upgrade;
    using lender = std::conditional_t<upgrades, detail::reader_guard*, detail::no_guard>;

   public:
    lock_operation(basic_async_shared_mutex& mutex, Limit limit, lender from = {}) noexcept
        : lock_operation::operation_base(limit), mutex_(&mutex), from_(from) {}

    Executor const& executor() const noexcept { return mutex_->base::executor(); }
    detail::shared_mutex_core& core() const noexcept { return mutex_->core(); }
    detail::lock_waiter::asked_type asked() const noexcept {
      if constexpr (upgrades) return {Mode, from_->lender()};
      return {Mode};
    }

    // Takes the mutex if that can be had, to be held by a guard.
    ASIO_SYNC_FLATTEN ASIO_SYNC_INLINE detail::verdict try_now() const noexcept {
      detail::verdict const tried = detail::try_lock<Mode>(core(), from_);
      return tried.decided() ? tried : detail::verdict(detail::refusal_of(core(), this->limit_));
    }

    template <class Result>
    auto with_result(Result form) const noexcept {
      if constexpr (upgrades)
        return detail::upgrade_result<Result>{{form}, &core(), from_};
      else
        return form;
    }

    void track(detail::waiter& w) const {
      detail::track_creation(executor(), w, "async_shared_mutex", mutex_, detail::name_of(Mode));
    }

   private:
    basic_async_shared_mutex* mutex_;
    [[no_unique_address]] lender from_;
  };

  template <mode Mode, class Limit, class Token>
  auto initiate(Limit limit, Token&& token) {
    return detail::initiate_wait(lock_operation<Mode, Limit>(*this, limit),
                                 static_cast<Token&&>(token));
  }

  template <class Limit, class Token>
  auto upgrade(shared_lock_type& from, Limit limit, Token&& token) {
    return detail::initiate_wait(lock_operation<mode::upgrade, Limit>(*this, limit, &from),
                                 static_cast<Token&&>(token));
  }

  // A grant is a guard's hold.
  template <mode Mode>
  detail::verdict hold_in_thread(detail::wait_limit limit) {
    return detail::wait_in_thread(lock_operation<Mode, detail::wait_limit>(*this, limit));
  }
};

/// The guard of a writer: unlocks the mutex when it is destroyed. The interface of
/// `std::unique_lock`; it may outlive its mutex. For the rest as `async_mutex::lock_type`.
template <class Executor>
class [[nodiscard]] basic_async_shared_mutex<Executor>::lock_type
    : public detail::lock_guard<basic_async_shared_mutex, detail::shared_mutex_core,
                                detail::lock_mode::exclusive> {
 public:
  /// Those of `std::unique_lock`; see `detail::lock_guard`, which has the members, too.
  using lock_type::lock_guard::lock_guard;
};

/// The guard of a reader: the interface of `std::shared_lock`; for the rest as `lock_type`.
template <class Executor>
class [[nodiscard]] basic_async_shared_mutex<Executor>::shared_lock_type
    : public detail::lock_guard<basic_async_shared_mutex, detail::shared_mutex_core,
                                detail::lock_mode::shared> {
 public:
  /// Those of `std::shared_lock`; see `detail::lock_guard`, which has the members, too.
  using shared_lock_type::lock_guard::lock_guard;
};

/// A shared mutex over any executor.
using async_shared_mutex = basic_async_shared_mutex<>;

}  // namespace asio_sync

#endif
