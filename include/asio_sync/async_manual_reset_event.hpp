// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_ASYNC_MANUAL_RESET_EVENT_HPP
#define ASIO_SYNC_ASYNC_MANUAL_RESET_EVENT_HPP

#include <asio_sync/detail/core/config.hpp>  // first

#include <asio_sync/detail/signals/event_base.hpp>
#include <asio_sync/detail/signals/event_core.hpp>
#include <asio_sync/error.hpp>
#include <asio_sync/fwd.hpp>

#include <boost/asio/any_io_executor.hpp>

namespace asio_sync {

namespace detail {

// The kind of event_base that this event is.
struct manual_reset {
  using core_type = event_core;
  static constexpr char const* name = "async_manual_reset_event";
  static constexpr char const* wait_name = "async_wait";
  ASIO_SYNC_INLINE static bool try_wait(core_type& core) noexcept { return core.admits(); }
};

}  // namespace detail

/// An event that stays set until it is reset: coroutines, callbacks and threads wait for it, and
/// one `set()` releases all of them.
///
/// Use it when something happens that concerns everybody: the configuration has been read, the
/// server is to stop. To pass on one item or one permit at a time, use `async_semaphore`.
///
///     co_await ready.async_wait();  // at once, if the event is set
///
/// A `set()` that is followed at once by `reset()` still releases every wait that was outstanding.
/// Everything that happens before `set()` happens before the completions of the waits that it
/// releases.
///
/// Threads: every member but constructors and destructor may be called from any thread at any
/// time.
/// Lifetime: the event may be destroyed with waits outstanding, which then complete with
/// `operation_aborted`. The first wait that a `set()` releases may already destroy the event. The
/// contexts may be destroyed before or after the event; if its executor is a strand, the event has
/// to be destroyed before the strand's context.
template <class Executor = boost::asio::any_io_executor>
class basic_async_manual_reset_event : detail::event_base<Executor, detail::manual_reset> {
  using base = detail::event_base<Executor, detail::manual_reset>;

 public:
  /// The type of the executor that completes waits whose handlers have no executor of their own.
  using executor_type = Executor;

  /// Names the event over another executor.
  template <class Executor2>
  struct rebind_executor {
    using other = basic_async_manual_reset_event<Executor2>;
  };

  /// Creates an event that is set or not. The executor `ex` completes the waits whose handlers
  /// have no executor of their own.
  ///
  /// Exceptions: what allocating, or adding a service to the executor's context, throws.
  explicit basic_async_manual_reset_event(executor_type const& ex, bool set = false)
      : base(this, ex, set) {}

  /// Creates an event over the executor of an execution context.
  template <detail::context_for<Executor> ExecutionContext>
  explicit basic_async_manual_reset_event(ExecutionContext& context, bool set = false)
      : basic_async_manual_reset_event(executor_type(context.get_executor()), set) {}

  /// Rejects executors of the networking TS at compile time: they lack properties that the event
  /// needs.
  template <detail::ts_executor TsExecutor>
  explicit basic_async_manual_reset_event(TsExecutor const&, bool = false)
      : basic_async_manual_reset_event(detail::instead_of<TsExecutor, Executor>()) {}

  basic_async_manual_reset_event(basic_async_manual_reset_event const&) = delete;
  basic_async_manual_reset_event& operator=(basic_async_manual_reset_event const&) = delete;

  /// Completes outstanding waits with `operation_aborted`, each on its own executor; blocked
  /// threads throw it. Waits that were released before, and have not completed yet, succeed.
  ~basic_async_manual_reset_event() = default;

  /// Returns the executor that completes waits whose handlers have no executor of their own.
  using base::get_executor;  // executor_type()

  /// Sets the event and releases all outstanding waits, the oldest first. Runs no handler, and
  /// does not touch the event after the first handler can run. Holds the event's lock only for a
  /// moment, however many waits there are.
  void set() noexcept { core().signal(); }

  /// Resets the event: later waits wait for the next `set()`. Does nothing if it is not set.
  void reset() noexcept { core().lower(); }

  /// True if the event is set; another thread may have changed it already.
  bool is_set() const noexcept { return core().is_up(); }

  /// Blocks the calling thread until the event is set: for threads that run no executor. Allocates
  /// nothing.
  ///
  /// Errors: throws `boost::system::system_error` with `error::closed`, with `operation_aborted`
  /// (`cancel()`, or the event destroyed), or with `resource_deadlock_would_occur` if the event is
  /// not set and the calling thread runs the event's own context.
  using base::wait;  // void()

  /// Blocks like `wait()`, but returns false if the time is up first. With zero or negative time
  /// it checks once whether the event is set.
  using base::wait_for;  // bool(duration)

  /// Blocks like `wait()`, but returns false if the point in time comes first.
  using base::wait_until;  // bool(time_point)

  /// Completes every outstanding wait, blocked threads included, with `operation_aborted`, and
  /// returns the number of these waits. Waits that were released before succeed.
  using base::cancel;  // std::size_t()

  /// Closes the event: outstanding and later waits complete with `error::closed`, even if the
  /// event is set. `set()` and `reset()` still work.
  using base::close;  // void()

  /// True if the event was closed.
  using base::is_closed;  // bool()

  /// Returns the number of outstanding waits, blocked threads included. Waits that were released
  /// and have not completed yet do not count.
  using base::waiters;  // std::size_t()

  /// Waits for the event without blocking a thread.
  ///
  /// Completion signature: `void(error_code)`.
  /// Executor: the handler's, else `get_executor()`; the handler is never called inside this
  /// function, unless it has an immediate executor of its own. A coroutine that awaits the wait
  /// with `deferred` or `use_awaitable`, or with `as_tuple` or `redirect_error` of these, does not
  /// suspend if the event is set.
  /// Cancellation: terminal, partial and total alike. Once the event has been set, a cancellation
  /// does nothing.
  /// Errors: `operation_aborted` (cancelled, or the event destroyed), `error::closed`.
  /// Threads: any, at any time.
  /// Exceptions: what allocating the wait, moving the handler, connecting its slot or posting to
  /// an executor of your own throws; nothing has changed then.
  using base::async_wait;  // (token)

  /// Waits like `async_wait`, but gives up after `time`. The steady clock counts the time from the
  /// initiation; for a deferred operation, from its launch.
  ///
  /// Completion signature: that of `async_wait`.
  /// Executor: that of `async_wait`.
  /// Cancellation: that of `async_wait`.
  /// Errors: also `asio::error::timed_out`. With zero or negative time it checks once whether the
  /// event is set.
  /// Threads: any, at any time.
  /// Exceptions: also what making the context's timer and room for the deadline throws.
  using base::async_wait_for;  // (duration, token)

  /// Waits like `async_wait_for`, but gives up at a point in time. A point in time of another
  /// clock than the steady clock is converted when this function is called.
  using base::async_wait_until;  // (time_point, token)

 private:
  using base::core;
};

/// An event over any executor.
using async_manual_reset_event = basic_async_manual_reset_event<>;

}  // namespace asio_sync

#endif
