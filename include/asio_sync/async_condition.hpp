// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_ASYNC_CONDITION_HPP
#define ASIO_SYNC_ASYNC_CONDITION_HPP

#include <asio_sync/detail/core/config.hpp>  // first

#include <asio_sync/async_mutex.hpp>
#include <asio_sync/detail/condition/condition_core.hpp>
#include <asio_sync/detail/condition/condition_wait.hpp>
#include <asio_sync/detail/operation/beginning.hpp>
#include <asio_sync/detail/operation/errors.hpp>
#include <asio_sync/detail/operation/initiation.hpp>
#include <asio_sync/detail/operation/primitive.hpp>
#include <asio_sync/detail/operation/wait_limit.hpp>
#include <asio_sync/error.hpp>
#include <asio_sync/fwd.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace asio_sync {

/// A condition variable: waits of coroutines, callbacks and threads that let go of a mutex until
/// they are notified, and then have it again.
///
/// Use it where one waits for a state that a mutex protects: a queue that is not empty, a
/// connection that is idle.
///
///     auto lock = co_await mutex.async_lock();
///     co_await ready.async_wait(lock, [&] { return !queue.empty(); });
///     auto job = queue.front();  // the mutex is held
///
/// Letting go of the mutex and joining the queue are one step: who changes the state under the
/// mutex, and notifies then or later, reaches every wait that has seen the state before. A
/// notified wait moves to the queue of the mutex without being woken, and completes when it has
/// the mutex: `notify_all()` on a thousand waits causes one completion for each hand-off, and no
/// herd. No wait completes without a reason; a notification that finds no wait is not remembered.
///
/// Locks: the `lock_type` of any `basic_async_mutex`, or a `std::unique_lock` over one. All waits
/// that are queued at a time are over the same mutex. Its context need not be the condition's.
///
/// Threads: every member but constructors and destructor may be called from any thread at any
/// time; notifying does not need the mutex. Lifetime: the condition may be destroyed with waits
/// outstanding, which then complete with `operation_aborted`, without the mutex; its contexts may
/// be destroyed before it or after it; over a strand, the condition has to go before the strand's
/// context.
template <class Executor = boost::asio::any_io_executor>
class basic_async_condition : detail::primitive<Executor, detail::condition_core> {
  using base = detail::primitive<Executor, detail::condition_core>;

 public:
  /// The type of the executor that completes what has no executor of its own.
  using executor_type = Executor;

  /// The same condition over another executor.
  template <class Executor2>
  struct rebind_executor {
    /// The rebound type.
    using other = basic_async_condition<Executor2>;
  };

  /// `ex` completes the waits whose handlers have no executor of their own.
  ///
  /// Exceptions: what allocating, or adding a service to the executor's context, throws.
  explicit basic_async_condition(executor_type const& ex) : base(this, ex) {}

  /// Over the executor of an execution context.
  template <detail::context_for<Executor> ExecutionContext>
  explicit basic_async_condition(ExecutionContext& context)
      : basic_async_condition(executor_type(context.get_executor())) {}

  /// Executors of the networking TS are refused: they cannot do what this needs.
  template <detail::ts_executor TsExecutor>
  explicit basic_async_condition(TsExecutor const&)
      : basic_async_condition(detail::instead_of<TsExecutor, Executor>()) {}

  basic_async_condition(basic_async_condition const&) = delete;
  basic_async_condition& operator=(basic_async_condition const&) = delete;

  /// Completes outstanding waits with `operation_aborted`, each on its own executor and without
  /// the mutex; blocked threads throw it. Waits that were notified before complete as ever.
  ~basic_async_condition() = default;

  /// The executor of waits whose handlers have none.
  executor_type get_executor() const noexcept { return base::executor(); }

  /// Has the oldest wait, if there is one, go on to its mutex. Runs no code of it, and does not
  /// touch the condition after it can run.
  void notify_one() noexcept { core().notify_one(); }

  /// The same with all waits, in their order.
  void notify_all() noexcept { core().notify_all(); }

  /// Completes every outstanding wait with `operation_aborted`, once it has the mutex again;
  /// threads included. Returns how many. Waits that were notified are the mutex's, and not among
  /// them.
  std::size_t cancel() { return core().refuse_all(detail::wait_outcome::aborted); }

  /// Outstanding and later waits complete with `error::closed`, at once and without the mutex.
  void close() noexcept { core().close(); }

  /// Whether the condition was closed.
  bool is_closed() const noexcept { return core().is_closed(); }

  /// The number of outstanding waits, threads included; not those that were notified.
  std::size_t waiters() const noexcept { return core().waiters(); }

  /// Lets go of the mutex, waits until it is notified, and has the mutex again.
  ///
  /// `lock`: owns its mutex. An lvalue is referred to until completion: it is empty while the wait
  /// is outstanding, and not to be touched. An rvalue is carried through to the handler: for
  /// callbacks and futures. (With a token that throws the error, as `use_awaitable` does, nobody
  /// would receive it: coroutines pass an lvalue, or use `as_tuple`.)
  ///
  /// Completion signature: `void(error_code)` for an lvalue, `void(error_code, Lock)` for an
  /// rvalue. When it completes the lock owns its mutex, whatever the error; but not with
  /// `error::closed` (the mutex or the condition was closed), nor with `operation_aborted` of a
  /// destroyed condition; and it is empty if the mutex was destroyed, which is
  /// `operation_aborted`, too.
  /// Executor: the handler's, else `get_executor()`; never from inside this function, unless the
  /// handler has an immediate executor of its own.
  /// Cancellation: terminal, partial and total alike: the wait then waits for its mutex, and
  /// completes with `operation_aborted`. By slot also after the notification, until the handler is
  /// called: what `notify_one()` had for the wait goes to the oldest that is queued then.
  /// `cancel()` of the condition, or of the mutex, does nothing to a notified wait.
  /// Errors: `operation_aborted`, `error::closed`; `operation_not_permitted` if the lock does not
  /// own, `invalid_argument` if other waits are over another mutex: the lock is then as it was.
  /// Threads: any, at any time. If the handler is destroyed without having been called, the mutex,
  /// and what `notify_one()` had for the wait, go on to others.
  /// Exceptions: what allocating the wait, moving the handler, connecting its slot, making the
  /// service of its context or posting to an executor of your own throws; nothing has changed
  /// then.
  template <class Lock, class Token = detail::default_token<Executor>>
    requires(detail::condition_lock<std::remove_reference_t<Lock>> &&
             !detail::predicate_and_no_token<Token, Lock>)
  auto async_wait(Lock&& lock, Token&& token = Token()) {
    return initiate(static_cast<Lock&&>(lock), detail::no_limit(), detail::no_predicate(),
                    static_cast<Token&&>(token));
  }

  /// Waits, as often as it takes, until `predicate()` is true.
  ///
  /// The predicate runs on the wait's executor with the mutex held, and first of all, so that a
  /// wait for what is true already does not let go of the mutex. A coroutine that awaits this with
  /// `deferred`, `use_awaitable`, or `as_tuple` or `redirect_error` of these, and an lvalue, looks
  /// at it at once and does not suspend if it is true. As `async_wait` otherwise, and:
  ///
  /// Cancellation by slot: the predicate is not looked at any more, and the wait completes with
  /// `operation_aborted`; with `timed_out`, if its time was up before. After `close()` a false
  /// predicate completes with `error::closed`. The predicate may destroy the condition, and what
  /// owns it: if it is false then, that is `operation_aborted`. Exceptions of the predicate: come
  /// out of `co_await`, with the mutex held; otherwise out of the handler's executor, as a
  /// handler's own would, which is then not called, and the mutex is unlocked.
  template <class Lock, detail::wait_predicate Predicate, class Token>
    requires detail::condition_lock<std::remove_reference_t<Lock>>
  auto async_wait(Lock&& lock, Predicate&& predicate, Token&& token) {
    return initiate(static_cast<Lock&&>(lock), detail::no_limit(),
                    static_cast<Predicate&&>(predicate), static_cast<Token&&>(token));
  }
  template <class Lock, class Predicate>
    requires(detail::condition_lock<std::remove_reference_t<Lock>>&&
                 detail::predicate_and_no_token<Predicate, Lock>)
  auto async_wait(Lock&& lock, Predicate&& predicate) {
    return async_wait(static_cast<Lock&&>(lock), static_cast<Predicate&&>(predicate),
                      detail::default_token<Executor>());
  }

  /// As `async_wait`, but gives up after `time`, counted from the initiation (with a deferred
  /// operation, from its launch), by the steady clock: with `asio::error::timed_out`, once it has
  /// the mutex again. Zero or negative time does not let go of the mutex.
  template <class Lock, class Rep, class Period, class Token = detail::default_token<Executor>>
    requires(detail::condition_lock<std::remove_reference_t<Lock>> &&
             !detail::predicate_and_no_token<Token, Lock>)
  auto async_wait_for(Lock&& lock, std::chrono::duration<Rep, Period> const& time,
                      Token&& token = Token()) {
    return initiate(static_cast<Lock&&>(lock), detail::wait_limit::after(time),
                    detail::no_predicate(), static_cast<Token&&>(token));
  }

  /// The same with a predicate: if it is true when the time is up, that is a success.
  template <class Lock, class Rep, class Period, detail::wait_predicate Predicate, class Token>
    requires detail::condition_lock<std::remove_reference_t<Lock>>
  auto async_wait_for(Lock&& lock, std::chrono::duration<Rep, Period> const& time,
                      Predicate&& predicate, Token&& token) {
    return initiate(static_cast<Lock&&>(lock), detail::wait_limit::after(time),
                    static_cast<Predicate&&>(predicate), static_cast<Token&&>(token));
  }
  template <class Lock, class Rep, class Period, class Predicate>
    requires(detail::condition_lock<std::remove_reference_t<Lock>>&&
                 detail::predicate_and_no_token<Predicate, Lock>)
  auto async_wait_for(Lock&& lock, std::chrono::duration<Rep, Period> const& time,
                      Predicate&& predicate) {
    return async_wait_for(static_cast<Lock&&>(lock), time, static_cast<Predicate&&>(predicate),
                          detail::default_token<Executor>());
  }

  /// As `async_wait_for`, but gives up at a point in time. One of another clock than the steady
  /// one is converted when this function is called.
  template <class Lock, class Clock, class Duration, class Token = detail::default_token<Executor>>
    requires(detail::condition_lock<std::remove_reference_t<Lock>> &&
             !detail::predicate_and_no_token<Token, Lock>)
  auto async_wait_until(Lock&& lock, std::chrono::time_point<Clock, Duration> const& time,
                        Token&& token = Token()) {
    return initiate(static_cast<Lock&&>(lock), detail::wait_limit::at(time),
                    detail::no_predicate(), static_cast<Token&&>(token));
  }

  /// The same with a predicate.
  template <class Lock, class Clock, class Duration, detail::wait_predicate Predicate, class Token>
    requires detail::condition_lock<std::remove_reference_t<Lock>>
  auto async_wait_until(Lock&& lock, std::chrono::time_point<Clock, Duration> const& time,
                        Predicate&& predicate, Token&& token) {
    return initiate(static_cast<Lock&&>(lock), detail::wait_limit::at(time),
                    static_cast<Predicate&&>(predicate), static_cast<Token&&>(token));
  }
  template <class Lock, class Clock, class Duration, class Predicate>
    requires(detail::condition_lock<std::remove_reference_t<Lock>>&&
                 detail::predicate_and_no_token<Predicate, Lock>)
  auto async_wait_until(Lock&& lock, std::chrono::time_point<Clock, Duration> const& time,
                        Predicate&& predicate) {
    return async_wait_until(static_cast<Lock&&>(lock), time, static_cast<Predicate&&>(predicate),
                            detail::default_token<Executor>());
  }

  /// Blocks the calling thread until it is notified and has the mutex again: for threads that run
  /// no executor.
  ///
  /// Errors: throws `boost::system::system_error` with what `async_wait` completes with, the lock
  /// as there; or with `resource_deadlock_would_occur` on a thread that runs the context of the
  /// condition or of the mutex. Allocates nothing.
  template <detail::condition_lock Lock>
  void wait(Lock& lock) {
    static_cast<void>(in_thread(lock, detail::no_limit(), "wait"));
  }

  /// Waits until `predicate()` is true.
  template <detail::condition_lock Lock, detail::wait_predicate Predicate>
  void wait(Lock& lock, Predicate predicate) {
    looks_in_thread(
        lock, predicate, [] { return detail::wait_limit(detail::no_limit()); }, "wait");
  }

  /// As `wait`, but gives up after the time, with the mutex held.
  template <detail::condition_lock Lock, class Rep, class Period>
  std::cv_status wait_for(Lock& lock, std::chrono::duration<Rep, Period> const& time) {
    return in_thread(lock, detail::wait_limit::after(time), "wait_for");
  }

  /// The same with a predicate. Returns what that says in the end.
  template <detail::condition_lock Lock, class Rep, class Period, detail::wait_predicate Predicate>
  bool wait_for(Lock& lock, std::chrono::duration<Rep, Period> const& time, Predicate predicate) {
    detail::wait_limit const limit = detail::wait_limit::after(time);
    return looks_in_thread(
        lock, predicate, [&] { return limit; }, "wait_for");
  }

  /// As `wait`, but gives up at the point in time.
  template <detail::condition_lock Lock, class Clock, class Duration>
  std::cv_status wait_until(Lock& lock, std::chrono::time_point<Clock, Duration> const& time) {
    return in_thread(lock, detail::wait_limit::at(time), "wait_until");
  }

  /// The same with a predicate. Returns what that says in the end.
  template <detail::condition_lock Lock, class Clock, class Duration,
            detail::wait_predicate Predicate>
  bool wait_until(Lock& lock, std::chrono::time_point<Clock, Duration> const& time,
                  Predicate predicate) {
    return looks_in_thread(
        lock, predicate, [&] { return detail::wait_limit::at(time); }, "wait_until");
  }

 private:
  using base::core;

  // The caller's own lock, or one that comes back with the completion.
  template <class Lock, class Limit, class Predicate, class Token>
  auto initiate(Lock&& lock, Limit limit, Predicate&& predicate, Token&& token) {
    using lock_type = std::remove_reference_t<Lock>;
    constexpr bool looks = !std::is_same_v<std::decay_t<Predicate>, detail::no_predicate>;
    using predicate_type =
        std::conditional_t<looks, detail::plain_predicate<std::decay_t<Predicate>>,
                           detail::no_predicate>;
    if constexpr (!std::is_lvalue_reference_v<Lock>)
      return boost::asio::async_initiate<Token, void(boost::system::error_code, lock_type)>(
          detail::carrying_initiation<Executor, lock_type, Limit, predicate_type>(
              base::executor(), core(), limit,
              predicate_type{static_cast<Predicate&&>(predicate)}),
          token, static_cast<Lock&&>(lock));
    else if constexpr (looks)
      return detail::initiate_wait(
          detail::looking_operation<Executor, lock_type, Limit, predicate_type>(
              base::executor(), core(), lock, limit,
              predicate_type{static_cast<Predicate&&>(predicate)}),
          static_cast<Token&&>(token));
    else
      return detail::initiate_wait(detail::condition_operation<Executor, lock_type, Limit>(
                                       base::executor(), core(), lock, limit, false),
                                   static_cast<Token&&>(token));
  }

  [[noreturn]] ASIO_SYNC_COLD static void fail(detail::wait_outcome outcome,
                                               char const* function) {
    detail::throw_refusal(outcome, "async_condition", function,
                          "other waits are over another mutex");
  }

  template <class Lock>
  using thread_operation = detail::condition_operation<Executor, Lock, detail::wait_limit>;

  template <class Lock>
  std::cv_status in_thread(Lock& lock, detail::wait_limit limit, char const* function) {
    return in_thread(thread_operation<Lock>(base::executor(), core(), lock, limit, false),
                     function);
  }

  template <class Lock>
  static std::cv_status in_thread(thread_operation<Lock> const& operation, char const* function) {
    using enum std::cv_status;
    detail::wait_outcome outcome = operation.try_in_coroutine().outcome();
    if (outcome == detail::wait_outcome::undecided)
      outcome = detail::wait_in_thread_with(
          operation, *detail::lock_access<Lock>::look(operation.lock()).mutex);
    if (outcome == detail::wait_outcome::granted) return no_timeout;
    if (outcome == detail::wait_outcome::timed_out) return timeout;
    fail(outcome, function);
  }

  // Waits until the predicate is true or the time is up; returns what the predicate says then. The
  // predicate, or another thread between two waits, may destroy the condition.
  template <class Lock, class Predicate, class Limit>
  bool looks_in_thread(Lock& lock, Predicate& predicate, Limit limit, char const* function) {
    if (!lock.owns_lock()) fail(detail::wait_outcome::not_permitted, function);
    thread_operation<Lock> const operation(base::executor(), core(), lock, detail::no_limit(),
                                           false);
    detail::kept_cores<Lock> const kept(core(), lock);
    do {
      detail::verdict const seen = operation.seen(kept, predicate());
      if (seen.granted()) return true;
      if (seen.decided()) fail(seen.outcome(), function);
    } while (in_thread(operation.within(limit()), function) == std::cv_status::no_timeout);
    bool const is_true = predicate();
    if (kept.mutex_is_dead()) fail(detail::wait_outcome::aborted, function);
    return is_true;
  }
};

/// A condition over any executor.
using async_condition = basic_async_condition<>;

}  // namespace asio_sync

#endif
