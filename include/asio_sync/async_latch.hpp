// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_ASYNC_LATCH_HPP
#define ASIO_SYNC_ASYNC_LATCH_HPP

#include <asio_sync/detail/core/config.hpp>  // first

#include <asio_sync/detail/operation/beginning.hpp>
#include <asio_sync/detail/operation/errors.hpp>
#include <asio_sync/detail/operation/initiation.hpp>
#include <asio_sync/detail/operation/operation.hpp>
#include <asio_sync/detail/operation/primitive.hpp>
#include <asio_sync/detail/operation/wait_limit.hpp>
#include <asio_sync/detail/signals/event_base.hpp>
#include <asio_sync/detail/signals/latch_core.hpp>
#include <asio_sync/error.hpp>
#include <asio_sync/fwd.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace asio_sync {

namespace detail {

struct latch {
  using core_type = latch_core;
  static constexpr char const* name = "async_latch";
  static constexpr char const* wait_name = "async_wait";
  ASIO_SYNC_INLINE static bool try_wait(core_type& core) noexcept { return core.admits(); }
};

}  // namespace detail

/// A number that is counted down, and at zero releases everybody who waits: coroutines, callbacks
/// and threads.
///
/// Use it once, to wait until a known number of things has happened: all workers are ready, all
/// parts have been loaded. To start over, make another one; for something that goes up and down
/// there is `async_manual_reset_event`.
///
///     co_await all_ready.async_arrive_and_wait();  // I am; are the others?
///
/// Whatever happens before a `count_down()` or an arrival happens before the completions of the
/// waits.
///
/// Threads: every member but constructors and destructor may be called from any thread at any
/// time. Lifetime: the latch may be destroyed with waits outstanding, which then complete with
/// `operation_aborted`; also by the first wait that is released. Its contexts may be destroyed
/// before it or after it; over a strand, the latch has to go before the strand's context.
template <class Executor = boost::asio::any_io_executor>
class basic_async_latch : detail::event_base<Executor, detail::latch> {
  using base = detail::event_base<Executor, detail::latch>;

 public:
  /// The type of the executor that completes what has no executor of its own.
  using executor_type = Executor;

  /// The same latch over another executor.
  template <class Executor2>
  struct rebind_executor {
    /// The rebound type.
    using other = basic_async_latch<Executor2>;
  };

  /// Makes a latch that is open once it has been counted down n times; with n = 0 it is open. `ex`
  /// completes the waits whose handlers have no executor of their own.
  /// Exceptions: `boost::system::system_error` with `invalid_argument` if n is negative; what
  /// allocating, or adding a service to the executor's context, throws.
  basic_async_latch(executor_type const& ex, std::ptrdiff_t n) : base(this, ex, checked(n)) {}

  /// Makes a latch over the executor of an execution context.
  template <detail::context_for<Executor> ExecutionContext>
  basic_async_latch(ExecutionContext& context, std::ptrdiff_t n)
      : basic_async_latch(executor_type(context.get_executor()), n) {}

  /// Executors of the networking TS are refused: they cannot do what this needs.
  template <detail::ts_executor TsExecutor>
  basic_async_latch(TsExecutor const&, std::ptrdiff_t n)
      : basic_async_latch(detail::instead_of<TsExecutor, Executor>(), n) {}

  basic_async_latch(basic_async_latch const&) = delete;
  basic_async_latch& operator=(basic_async_latch const&) = delete;

  /// Completes outstanding waits with `operation_aborted`, each on its own executor; blocked
  /// threads throw it. Waits that were released already and are on their way succeed.
  ~basic_async_latch() = default;

  /// The executor of waits whose handlers have none.
  using base::get_executor;  // executor_type()

  /// Counts down by n. If that comes to zero, it opens the latch for good and releases all
  /// outstanding waits, the oldest first. Runs no code of theirs, and does not touch the latch
  /// after the first of them can run. Also of a closed latch. With n = 0 it does nothing.
  ///
  /// Errors: throws `boost::system::system_error` with `invalid_argument`, and changes nothing, if
  /// n is negative, or more than is left.
  void count_down(std::ptrdiff_t n = 1) {
    // A negative one is more than any latch begins with.
    switch (core().lower(static_cast<std::uint64_t>(n))) {
      case step::below_zero:
        detail::throw_invalid("asio_sync::async_latch::count_down: n < 0 or more than is left");
      case step::to_zero: return core().signal();
      case step::to_more: return;
    }
  }

  /// Whether a wait would be over at once: the latch is open, and not closed.
  [[nodiscard]] bool try_wait() const noexcept { return core().admits(); }

  /// Blocks the calling thread until the latch is open: for threads that run no executor.
  ///
  /// Errors: throws `boost::system::system_error` with `error::closed`, with `operation_aborted`
  /// (`cancel()`, or the latch destroyed), or with `resource_deadlock_would_occur` where it would
  /// have to wait on a thread that runs the latch's own context. Allocates nothing.
  using base::wait;  // void()

  /// As `wait()`, but gives up after the time: false. Zero or negative time: one look.
  using base::wait_for;  // bool(duration)

  /// As `wait()`, but gives up at the point in time: false.
  using base::wait_until;  // bool(time_point)

  /// Counts down by one, and blocks the calling thread until the latch is open, in one step.
  ///
  /// Errors: those of `wait()`, and `invalid_argument` if nothing is left to count down. With
  /// that, and with `resource_deadlock_would_occur`, nothing has changed; with all others the
  /// arrival stands.
  void arrive_and_wait() {
    static_cast<void>(arrive_in_thread(detail::no_limit(), "arrive_and_wait"));
  }

  /// As `arrive_and_wait()`, but gives up the wait after the time: false. The arrival stands, also
  /// with zero or negative time.
  template <class Rep, class Period>
  bool arrive_and_wait_for(std::chrono::duration<Rep, Period> const& time) {
    return arrive_in_thread(detail::wait_limit::after(time), "arrive_and_wait_for");
  }

  /// As `arrive_and_wait_for()`, but gives up at the point in time.
  template <class Clock, class Duration>
  bool arrive_and_wait_until(std::chrono::time_point<Clock, Duration> const& time) {
    return arrive_in_thread(detail::wait_limit::at(time), "arrive_and_wait_until");
  }

  /// Completes every outstanding wait with `operation_aborted`, threads included, and returns how
  /// many. Their arrivals stand. Does not touch waits that were released already.
  using base::cancel;  // std::size_t()

  /// Outstanding and later waits complete with `error::closed`, whatever is left to count down,
  /// which can still be done.
  using base::close;  // void()

  /// Whether the latch was closed.
  using base::is_closed;  // bool()

  /// The number of outstanding waits, threads included; not those released and on their way.
  using base::waiters;  // std::size_t()

  /// Waits for the latch without blocking a thread.
  ///
  /// Completion signature: `void(error_code)`.
  /// Executor: the handler's, else `get_executor()`; never from inside this function, unless the
  /// handler has an immediate executor of its own. A coroutine that awaits it with `deferred`,
  /// `use_awaitable`, or `as_tuple` or `redirect_error` of these does not suspend for a latch that
  /// is open.
  /// Cancellation: terminal, partial and total alike; once the latch is open a cancellation does
  /// nothing.
  /// Errors: `operation_aborted` (cancelled, or the latch destroyed), `error::closed`.
  /// Threads: any, at any time.
  /// Exceptions: what allocating the wait, moving the handler, connecting its slot or posting to
  /// an executor of your own throws; nothing has changed then.
  using base::async_wait;  // (token)

  /// As `async_wait`, but gives up after `time`, counted from the initiation (with a deferred
  /// operation, from its launch), by the steady clock.
  ///
  /// Completion signature, executor, cancellation, threads: those of `async_wait`.
  /// Errors: also `asio::error::timed_out`; zero or negative time looks once.
  /// Exceptions: also what making the context's timer and room for the deadline throws.
  using base::async_wait_for;  // (duration, token)

  /// As `async_wait_for`, but gives up at a point in time. One of another clock than the steady
  /// one is converted when this function is called.
  using base::async_wait_until;  // (time_point, token)

  /// Counts down by one, and waits for the latch without blocking a thread, in one step: with a
  /// deferred operation, when it is launched.
  ///
  /// Completion signature, executor: those of `async_wait`; a coroutine that is the last to arrive
  /// does not suspend.
  /// Cancellation: terminal, partial and total alike; ends the wait, while the arrival stands;
  /// once the latch is open a cancellation does nothing.
  /// Errors: those of `async_wait`, and `invalid_argument` if nothing is left to count down, which
  /// changes nothing. With all others the arrival stands.
  /// Threads: any, at any time.
  /// Exceptions: what allocating the wait, moving the handler or connecting its slot throws;
  /// nothing has changed then. What posting to an executor of your own throws ends here: the
  /// arrival stands, and the handler is destroyed.
  template <
      detail::token_for<void(boost::system::error_code)> Token = detail::default_token<Executor>>
  auto async_arrive_and_wait(Token&& token = Token()) {
    return initiate(detail::no_limit(), static_cast<Token&&>(token));
  }

  /// As `async_arrive_and_wait`, but gives up the wait after `time`, counted as for
  /// `async_wait_for`.
  ///
  /// Completion signature, executor, cancellation, threads: those of `async_arrive_and_wait`.
  /// Errors: also `asio::error::timed_out`; zero or negative time arrives, and looks once.
  /// Exceptions: also what making the context's timer and room for the deadline throws; nothing
  /// has changed then.
  template <
      class Rep, class Period,
      detail::token_for<void(boost::system::error_code)> Token = detail::default_token<Executor>>
  auto async_arrive_and_wait_for(std::chrono::duration<Rep, Period> const& time,
                                 Token&& token = Token()) {
    return initiate(detail::wait_limit::after(time), static_cast<Token&&>(token));
  }

  /// As `async_arrive_and_wait_for`, but gives up at a point in time, as `async_wait_until`.
  template <
      class Clock, class Duration,
      detail::token_for<void(boost::system::error_code)> Token = detail::default_token<Executor>>
  auto async_arrive_and_wait_until(std::chrono::time_point<Clock, Duration> const& time,
                                   Token&& token = Token()) {
    return initiate(detail::wait_limit::at(time), static_cast<Token&&>(token));
  }

 private:
  using base::core;
  using step = detail::latch_core::step;

  static std::uint64_t checked(std::ptrdiff_t n) {
    if (n < 0) detail::throw_invalid("asio_sync::async_latch::async_latch: n < 0");
    return static_cast<std::uint64_t>(n);
  }

  // An arrival, and how long its wait may take.
  template <class Limit>
  class arrival : public detail::operation_base<arrival<Limit>, Executor,
                                                detail::no_grant<detail::latch_core>, Limit> {
   public:
    arrival(basic_async_latch& latch, Limit limit) noexcept
        : arrival::operation_base(limit), latch_(&latch) {}

    Executor const& executor() const noexcept { return latch_->base::executor(); }
    detail::latch_core& core() const noexcept { return latch_->core(); }
    static bool asked() noexcept { return true; }

    // Arrives where that decides the wait: as the last, or where the wait is refused at once.
    // Otherwise it arrives when it enters the queue.
    detail::verdict try_now() const noexcept {
      detail::wait_outcome const refused = detail::refusal_of(core(), this->limit_);
      switch (core().lower(1, refused == detail::wait_outcome::undecided)) {
        case step::below_zero: return detail::wait_outcome::invalid;
        case step::to_more: return refused;
        case step::to_zero: break;
      }
      core().signal();  // the latch may be gone from here on
      return refused == detail::wait_outcome::closed ? refused : detail::wait_outcome::granted;
    }

    // Names it in the output of Asio's handler tracking.
    void track(detail::waiter& w) const {
      detail::track_creation(executor(), w, "async_latch", latch_, "async_arrive_and_wait");
    }

   private:
    basic_async_latch* latch_;
  };

  template <class Limit, class Token>
  auto initiate(Limit limit, Token&& token) {
    return detail::initiate_wait(arrival<Limit>(*this, limit), static_cast<Token&&>(token));
  }

  // False if the time was up first.
  bool arrive_in_thread(detail::wait_limit limit, char const* function) {
    return detail::granted_in_thread(arrival<detail::wait_limit>(*this, limit), "async_latch",
                                     function, "nothing is left to count down")
        .granted();
  }
};

/// A latch over any executor.
using async_latch = basic_async_latch<>;

}  // namespace asio_sync

#endif
