// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_ASYNC_AUTO_RESET_EVENT_HPP
#define ASIO_SYNC_ASYNC_AUTO_RESET_EVENT_HPP

#include <asio_sync/detail/core/config.hpp>  // first

#include <asio_sync/detail/signals/auto_reset_event_core.hpp>
#include <asio_sync/detail/signals/event_base.hpp>
#include <asio_sync/error.hpp>
#include <asio_sync/fwd.hpp>

#include <boost/asio/any_io_executor.hpp>

namespace asio_sync {

namespace detail {

struct auto_reset {
  using core_type = auto_reset_event_core;
  static constexpr char const* name = "async_auto_reset_event";
  static constexpr char const* wait_name = "async_wait";
  ASIO_SYNC_INLINE static bool try_wait(core_type& core) noexcept {
    return core.try_wait(auto_reset_event_traits::request()).granted();
  }
};

}  // namespace detail

/// An event whose `set()` releases one wait, and is remembered once while nobody waits.
///
/// Use it to tell one consumer that there is something to do, where it is enough to be told once
/// of several things: work was queued, the buffer has been filled. To release everybody, use
/// `async_manual_reset_event`; to count, `async_semaphore`.
///
///     co_await work.async_wait();  // at once, if it is set; and resets it
///
/// First come, first served: while k waits are outstanding, k calls of `set()` release exactly
/// these. Whatever happens before `set()` happens before the completion of the wait that it
/// releases. If that wait's handler is destroyed without having run, the next wait is released
/// instead, or the event is set again.
///
/// Threads: every member but constructors and destructor may be called from any thread at any
/// time. Lifetime: the event may be destroyed with waits outstanding, which then complete with
/// `operation_aborted`; also by the wait that a `set()` releases. Its contexts may be destroyed
/// before it or after it; over a strand, the event has to go before the strand's context.
template <class Executor = boost::asio::any_io_executor>
class basic_async_auto_reset_event : detail::event_base<Executor, detail::auto_reset> {
  using base = detail::event_base<Executor, detail::auto_reset>;

 public:
  /// The type of the executor that completes what has no executor of its own.
  using executor_type = Executor;

  /// The same event over another executor.
  template <class Executor2>
  struct rebind_executor {
    /// The rebound type.
    using other = basic_async_auto_reset_event<Executor2>;
  };

  /// Makes an event that is set or not; `ex` completes the waits whose handlers have no executor
  /// of their own.
  /// Exceptions: what allocating, or adding a service to the executor's context, throws.
  explicit basic_async_auto_reset_event(executor_type const& ex, bool set = false)
      : base(this, ex, set ? flag : 0) {}

  /// Makes an event over the executor of an execution context.
  template <detail::context_for<Executor> ExecutionContext>
  explicit basic_async_auto_reset_event(ExecutionContext& context, bool set = false)
      : basic_async_auto_reset_event(executor_type(context.get_executor()), set) {}

  /// Executors of the networking TS are refused: they cannot do what this needs.
  template <detail::ts_executor TsExecutor>
  explicit basic_async_auto_reset_event(TsExecutor const&, bool = false)
      : basic_async_auto_reset_event(detail::instead_of<TsExecutor, Executor>()) {}

  basic_async_auto_reset_event(basic_async_auto_reset_event const&) = delete;
  basic_async_auto_reset_event& operator=(basic_async_auto_reset_event const&) = delete;

  /// Completes outstanding waits with `operation_aborted`, each on its own executor; blocked
  /// threads throw it. Waits that were released already and are on their way succeed.
  ~basic_async_auto_reset_event() = default;

  /// The executor of waits whose handlers have none.
  using base::get_executor;  // executor_type()

  /// Releases the oldest wait, or sets the event if nobody waits; does nothing if it is set
  /// already. Runs no code of that wait, and does not touch the event after it can run.
  void set() noexcept { core().signal(flag); }

  /// Resets the event, if it is set.
  void reset() noexcept { core().take(flag); }

  /// Whether the event is set; it may have changed already.
  bool is_set() const noexcept { return core().up() != 0; }

  /// Blocks the calling thread until the event is set and it is this thread's turn, and resets it:
  /// for threads that run no executor.
  ///
  /// Errors: throws `boost::system::system_error` with `error::closed`, with `operation_aborted`
  /// (`cancel()`, or the event destroyed), or with `resource_deadlock_would_occur` where it would
  /// have to wait on a thread that runs the event's own context. Allocates nothing.
  using base::wait;  // void()

  /// As `wait()`, but gives up after the time: false. Zero or negative time: one try.
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

  /// Waits for the event without blocking a thread, and resets it.
  ///
  /// Completion signature: `void(error_code)`.
  /// Executor: the handler's, else `get_executor()`; never from inside this function, unless the
  /// handler has an immediate executor of its own. A coroutine that awaits it with `deferred`,
  /// `use_awaitable`, or `as_tuple` or `redirect_error` of these does not suspend for an event
  /// that is set.
  /// Cancellation: terminal, partial and total alike. After the release, and until the handler is
  /// called, a cancellation by slot gives the signal back, as `set()` would; `cancel()` then does
  /// nothing.
  /// Errors: `operation_aborted` (cancelled, or the event destroyed), `error::closed`.
  /// Threads: any, at any time.
  /// Exceptions: what allocating the wait, moving the handler, connecting its slot or posting to
  /// an executor of your own throws; nothing has changed then.
  using base::async_wait;  // (token)

  /// As `async_wait`, but gives up after `time`, counted from the initiation (with a deferred
  /// operation, from its launch), by the steady clock.
  ///
  /// Completion signature, executor, cancellation, threads: those of `async_wait`.
  /// Errors: also `asio::error::timed_out`; zero or negative time tries once.
  /// Exceptions: also what making the context's timer and room for the deadline throws.
  using base::async_wait_for;  // (duration, token)

  /// As `async_wait_for`, but gives up at a point in time. One of another clock than the steady
  /// one is converted when this function is called.
  using base::async_wait_until;  // (time_point, token)

 private:
  using base::core;

  static constexpr detail::flags flag = detail::auto_reset_event_traits::request().set;
};

/// An event over any executor.
using async_auto_reset_event = basic_async_auto_reset_event<>;

}  // namespace asio_sync

#endif
