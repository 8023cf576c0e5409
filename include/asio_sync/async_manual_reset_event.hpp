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
///     co_await ready.async_wait();  // at once, if it is set
///
/// A `set()` that is followed at once by `reset()` still releases every wait that was outstanding.
/// Whatever happens before `set()` happens before the completions of the waits that it releases.
///
/// Threads: every member but constructors and destructor may be called from any thread at any
/// time. Lifetime: the event may be destroyed with waits outstanding, which then complete with
/// `operation_aborted`; also by the first wait that a `set()` releases. Its contexts may be
/// destroyed before it or after it; over a strand, the event has to go before the strand's
/// context.
template <class Executor = boost::asio::any_io_executor>
class basic_async_manual_reset_event : detail::event_base<Executor, detail::manual_reset> {
  using base = detail::event_base<Executor, detail::manual_reset>;

 public:
  /// The type of the executor that completes what has no executor of its own.
  using executor_type = Executor;

  /// The same event over another executor.
  template <class Executor2>
  struct rebind_executor {
    /// The rebound type.
    using other = basic_async_manual_reset_event<Executor2>;
  };

  /// Makes an event that is set or not; `ex` completes the waits whose handlers have no executor
  /// of their own. Exceptions: what allocating, or adding a service to the executor's context,
  /// throws.
  explicit basic_async_manual_reset_event(executor_type const& ex, bool set = false)
      : base(this, ex, set) {}

  /// Makes an event over the executor of an execution context.
  template <detail::context_for<Executor> ExecutionContext>
  explicit basic_async_manual_reset_event(ExecutionContext& context, bool set = false)
      : basic_async_manual_reset_event(executor_type(context.get_executor()), set) {}

  /// Executors of the networking TS are refused: they cannot do what this needs.
  template <detail::ts_executor TsExecutor>
  explicit basic_async_manual_reset_event(TsExecutor const&, bool = false)
      : basic_async_manual_reset_event(detail::instead_of<TsExecutor, Executor>()) {}

  basic_async_manual_reset_event(basic_async_manual_reset_event const&) = delete;
  basic_async_manual_reset_event& operator=(basic_async_manual_reset_event const&) = delete;

  /// Completes outstanding waits with `operation_aborted`, each on its own executor; blocked
  /// threads throw it. Waits that were released already and are on their way succeed.
  ~basic_async_manual_reset_event() = default;

  /// The executor of waits whose handlers have none.
  using base::get_executor;  // executor_type()

  /// Sets the event and releases all outstanding waits, the oldest first. Runs no code of theirs,
  /// and does not touch the event after the first of them can run. Holds the event's lock only for
  /// a moment, however many waits there are.
  void set() noexcept { core().signal(); }

  /// Resets the event: later waits wait for the next `set()`. Does nothing if it is not set.
  void reset() noexcept { core().lower(); }

  /// Whether the event is set; it may have changed already.
  bool is_set() const noexcept { return core().is_up(); }

  /// Blocks the calling thread until the event is set: for threads that run no executor.
  ///
  /// Errors: throws `boost::system::system_error` with `error::closed`, with `operation_aborted`
  /// (`cancel()`, or the event destroyed), or with `resource_deadlock_would_occur` where it would
  /// have to wait on a thread that runs the event's own context. Allocates nothing.
  using base::wait;  // void()

  /// As `wait()`, but gives up after the time: false. Zero or negative time: one look.
  using base::wait_for;  // bool(duration)

  /// As `wait()`, but gives up at the point in time: false.
  using base::wait_until;  // bool(time_point)

  /// Completes every outstanding wait with `operation_aborted`, threads included, and returns how
  /// many. Does not touch waits that were released already.
  using base::cancel;  // std::size_t()

  /// Outstanding and later waits complete with `error::closed`, set or not. The event may still be
  /// set and reset.
  using base::close;  // void()

  /// Whether the event was closed.
  using base::is_closed;  // bool()

  /// The number of outstanding waits, threads included; not those released and on their way.
  using base::waiters;  // std::size_t()

  /// Waits for the event without blocking a thread.
  ///
  /// Completion signature: `void(error_code)`. Executor: the handler's, else `get_executor()`;
  /// never from inside this function, unless the handler has an immediate executor of its own. A
  /// coroutine that awaits it with `deferred`, `use_awaitable`, or `as_tuple` or `redirect_error`
  /// of these does not suspend for an event that is set. Cancellation: terminal, partial and total
  /// alike; once the event has been set a cancellation does nothing. Errors: `operation_aborted`
  /// (cancelled, or the event destroyed), `error::closed`. Threads: any, at any time. Exceptions:
  /// what allocating the wait, moving the handler, connecting its slot or posting to an executor
  /// of your own throws; nothing has changed then.
  using base::async_wait;  // (token)

  /// As `async_wait`, but gives up after `time`, counted from the initiation (with a deferred
  /// operation, from its launch), by the steady clock.
  ///
  /// Completion signature, executor, cancellation, threads: those of `async_wait`. Errors: also
  /// `asio::error::timed_out`; zero or negative time looks once. Exceptions: also what making the
  /// context's timer and room for the deadline throws.
  using base::async_wait_for;  // (duration, token)

  /// As `async_wait_for`, but gives up at a point in time. One of another clock than the steady
  /// one is converted when this function is called.
  using base::async_wait_until;  // (time_point, token)

 private:
  using base::core;
};

/// An event over any executor.
using async_manual_reset_event = basic_async_manual_reset_event<>;

}  // namespace asio_sync

#endif
