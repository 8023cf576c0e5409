// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_ASYNC_BARRIER_HPP
#define ASIO_SYNC_ASYNC_BARRIER_HPP

#include <asio_sync/detail/core/config.hpp>  // first

#include <asio_sync/detail/operation/beginning.hpp>
#include <asio_sync/detail/operation/errors.hpp>
#include <asio_sync/detail/operation/initiation.hpp>
#include <asio_sync/detail/operation/operation.hpp>
#include <asio_sync/detail/operation/primitive.hpp>
#include <asio_sync/detail/operation/wait_limit.hpp>
#include <asio_sync/detail/signals/barrier_core.hpp>
#include <asio_sync/error.hpp>
#include <asio_sync/fwd.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

namespace asio_sync {

/// A meeting point for a fixed number of participants, coroutines, callbacks and threads, who wait
/// for each other at the end of each phase of their work.
///
/// Use it for work in rounds, where nobody may begin the next round before all have ended this
/// one. For a single round use `async_latch`.
///
///     asio_sync::async_barrier barrier(context, 3, [&] { swap(old_grid, new_grid); });
///
///     bool const leader = co_await barrier.async_arrive_and_wait();  // by each, in each phase
///
/// When all have arrived, the last of them runs the completion function, if there is one; then all
/// are released, and the next phase begins. One of them is told that it is the leader.
///
/// A participant that arrives and then does not wait to the end breaks the phase: it is cancelled,
/// times out, or its handler is destroyed. So does a completion function that throws. The others
/// that have arrived then get `error::broken_barrier`, and the next phase begins with nobody
/// arrived.
///
/// What each participant does before it arrives happens before the completion function, and this
/// before the completions of the waits.
///
/// Threads: every member but constructors and destructor may be called from any thread at any
/// time. Lifetime: the barrier may be destroyed with waits outstanding, which then complete with
/// `operation_aborted`; also by the first wait that is released, and by the completion function.
/// Its contexts may be destroyed before it or after it; over a strand, the barrier has to go
/// before the strand's context.
template <class Executor = boost::asio::any_io_executor>
class basic_async_barrier : detail::primitive<Executor, detail::barrier_core> {
  using base = detail::primitive<Executor, detail::barrier_core>;

 public:
  /// The type of the executor that completes what has no executor of its own.
  using executor_type = Executor;

  /// The same barrier over another executor.
  template <class Executor2>
  struct rebind_executor {
    /// The rebound type.
    using other = basic_async_barrier<Executor2>;
  };

  /// Makes a barrier for n participants. `ex` completes the waits whose handlers have no executor
  /// of their own. `completion` is called once a phase, when all have arrived and before any wait
  /// of the phase completes, on the thread of the last arrival; it may be empty. No lock is held
  /// meanwhile: it may use the barrier, whose next phase has begun, and destroy it. The contexts
  /// of those who wait for the phase must live until it has returned. It is destroyed with the
  /// barrier, or after that with the last completion on its way.
  /// Exceptions: `boost::system::system_error` with `invalid_argument` if n is less than one; what
  /// allocating, or adding a service to the executor's context, throws.
  basic_async_barrier(executor_type const& ex, std::ptrdiff_t n,
                      std::function<void()> completion = {})
      : base(this, ex, checked(n), &completion) {}

  /// Makes a barrier over the executor of an execution context.
  template <detail::context_for<Executor> ExecutionContext>
  basic_async_barrier(ExecutionContext& context, std::ptrdiff_t n,
                      std::function<void()> completion = {})
      : basic_async_barrier(executor_type(context.get_executor()), n, std::move(completion)) {}

  /// Executors of the networking TS are refused: they cannot do what this needs.
  template <detail::ts_executor TsExecutor>
  basic_async_barrier(TsExecutor const&, std::ptrdiff_t n, std::function<void()> completion = {})
      : basic_async_barrier(detail::instead_of<TsExecutor, Executor>(), n, std::move(completion)) {
  }

  basic_async_barrier(basic_async_barrier const&) = delete;
  basic_async_barrier& operator=(basic_async_barrier const&) = delete;

  /// Completes outstanding waits with `operation_aborted`, each on its own executor; blocked
  /// threads throw it. Waits that were released already and are on their way succeed.
  ~basic_async_barrier() = default;

  /// The executor of waits whose handlers have none.
  executor_type get_executor() const noexcept { return base::executor(); }

  /// Arrives, and blocks the calling thread until all have arrived: for threads that run no
  /// executor. Returns whether the calling thread is the leader of the phase.
  ///
  /// Errors: throws `boost::system::system_error` with `error::broken_barrier` (another
  /// participant has gone, or the completion function has thrown), with `error::closed`, with
  /// `operation_aborted` (`cancel()`, or the barrier destroyed), with `invalid_argument` if all
  /// participants have dropped, or with `resource_deadlock_would_occur` where it would have to
  /// wait on a thread that runs the barrier's own context; with the last two it has not arrived.
  /// Allocates nothing.
  bool arrive_and_wait() { return *arrive_in_thread(detail::no_limit(), "arrive_and_wait"); }

  /// As `arrive_and_wait()`, but gives up after the time, which breaks the phase: then the result
  /// is empty; otherwise it tells whether the calling thread is the leader. With zero or negative
  /// time only the last arrives; for all others the result is empty, and nothing has changed.
  template <class Rep, class Period>
  [[nodiscard]] std::optional<bool> arrive_and_wait_for(
      std::chrono::duration<Rep, Period> const& time) {
    return arrive_in_thread(detail::wait_limit::after(time), "arrive_and_wait_for");
  }

  /// As `arrive_and_wait_for()`, but gives up at the point in time.
  template <class Clock, class Duration>
  [[nodiscard]] std::optional<bool> arrive_and_wait_until(
      std::chrono::time_point<Clock, Duration> const& time) {
    return arrive_in_thread(detail::wait_limit::at(time), "arrive_and_wait_until");
  }

  /// Arrives without waiting, and leaves the barrier for good: from now on it has one participant
  /// less. If it is the last to arrive it runs the completion function and releases the others, of
  /// which the oldest leads; what the completion function throws breaks the phase for them and
  /// ends here. Also of a closed barrier, whose completion function is not called any more.
  ///
  /// Errors: throws `boost::system::system_error` with `invalid_argument`, and changes nothing, if
  /// all have dropped already. The barrier is of no more use then: arrivals complete with
  /// `invalid_argument`.
  void arrive_and_drop() {
    if (!detail::arrive_and_drop(core()))
      detail::throw_invalid("asio_sync::async_barrier::arrive_and_drop: all have dropped already");
  }

  /// Completes every outstanding wait with `operation_aborted`, threads included, and returns how
  /// many; the phase starts again, with nobody arrived. Does not touch waits that were released
  /// already.
  std::size_t cancel() { return core().refuse_all(detail::wait_outcome::aborted); }

  /// Outstanding and later waits complete with `error::closed`.
  void close() noexcept { core().close(); }

  /// Whether the barrier was closed.
  bool is_closed() const noexcept { return core().is_closed(); }

  /// The number of outstanding waits, threads included: how many have arrived in this phase and
  /// not dropped. Not those released and on their way.
  std::size_t waiters() const noexcept { return core().waiters(); }

  /// Arrives, and waits without blocking a thread until all have arrived: with a deferred
  /// operation, from when it is launched.
  ///
  /// Completion signature: `void(error_code, bool leader)`; exactly one completion of a phase is
  /// the leader's: that of the last to arrive, or of the oldest wait if that was
  /// `arrive_and_drop()`. Where it is dropped nobody leads.
  /// Executor: the handler's, else `get_executor()`; never from inside this function, unless the
  /// handler has an immediate executor of its own. The completion function runs inside this
  /// function if this is the last arrival. A coroutine that awaits it with `deferred`,
  /// `use_awaitable`, or `as_tuple` or `redirect_error` of these does not suspend as the last to
  /// arrive.
  /// Cancellation: terminal, partial and total alike; breaks the phase for the others; once all
  /// have arrived a cancellation does nothing.
  /// Errors: `error::broken_barrier` (another participant has gone, or the completion function has
  /// thrown), `operation_aborted` (cancelled, or the barrier destroyed), `error::closed`, and
  /// `invalid_argument` if all participants have dropped.
  /// Threads: any, at any time.
  /// Exceptions: what allocating the wait, moving the handler or connecting its slot throws;
  /// nothing has changed then. What posting to an executor of your own throws ends here: the
  /// arrival stands, and the handler is destroyed.
  template <detail::token_for<void(boost::system::error_code, bool)> Token =
                detail::default_token<Executor>>
  auto async_arrive_and_wait(Token&& token = Token()) {
    return initiate(detail::no_limit(), static_cast<Token&&>(token));
  }

  /// As `async_arrive_and_wait`, but gives up after `time`, counted from the initiation (with a
  /// deferred operation, from its launch), by the steady clock; that breaks the phase for the
  /// others.
  ///
  /// Completion signature, executor, cancellation, threads: those of `async_arrive_and_wait`.
  /// Errors: also `asio::error::timed_out`; with zero or negative time only the last arrives, and
  /// for all others nothing has changed.
  /// Exceptions: also what making the context's timer and room for the deadline throws; nothing
  /// has changed then.
  template <class Rep, class Period,
            detail::token_for<void(boost::system::error_code, bool)> Token =
                detail::default_token<Executor>>
  auto async_arrive_and_wait_for(std::chrono::duration<Rep, Period> const& time,
                                 Token&& token = Token()) {
    return initiate(detail::wait_limit::after(time), static_cast<Token&&>(token));
  }

  /// As `async_arrive_and_wait_for`, but gives up at a point in time. One of another clock than
  /// the steady one is converted when this function is called.
  template <class Clock, class Duration,
            detail::token_for<void(boost::system::error_code, bool)> Token =
                detail::default_token<Executor>>
  auto async_arrive_and_wait_until(std::chrono::time_point<Clock, Duration> const& time,
                                   Token&& token = Token()) {
    return initiate(detail::wait_limit::at(time), static_cast<Token&&>(token));
  }

 private:
  using base::core;

  static std::uint64_t checked(std::ptrdiff_t n) {
    if (n < 1) detail::throw_invalid("asio_sync::async_barrier::async_barrier: n < 1");
    return static_cast<std::uint64_t>(n);
  }

  // A completion tells whether it is the leader's.
  struct delivery_type {
    using core_type = detail::barrier_core;
    using grant = bool;
    static grant make(core_type&, detail::verdict granted) noexcept {
      return granted.value() != 0;
    }
  };

  // An arrival, and how long its wait may take.
  template <class Limit>
  class arrival : public detail::operation_base<arrival<Limit>, Executor, delivery_type, Limit> {
   public:
    arrival(basic_async_barrier& barrier, Limit limit) noexcept
        : arrival::operation_base(limit), barrier_(&barrier) {}

    Executor const& executor() const noexcept { return barrier_->base::executor(); }
    detail::barrier_core& core() const noexcept { return barrier_->core(); }
    static auto asked() noexcept { return detail::barrier_waiter::asked_type(); }

    // Arrives where that decides the wait: as the last. Otherwise it arrives when it enters the
    // queue. The barrier may be gone when it returns.
    detail::verdict try_now() const noexcept {
      return detail::try_arrive(core(), this->limit_.expired());
    }

    // Names it in the output of Asio's handler tracking.
    void track(detail::waiter& w) const {
      detail::track_creation(executor(), w, "async_barrier", barrier_, "async_arrive_and_wait");
    }

   private:
    basic_async_barrier* barrier_;
  };

  template <class Limit, class Token>
  auto initiate(Limit limit, Token&& token) {
    return detail::initiate_wait(arrival<Limit>(*this, limit), static_cast<Token&&>(token));
  }

  // Empty if the time was up first.
  std::optional<bool> arrive_in_thread(detail::wait_limit limit, char const* function) {
    detail::verdict const decided =
        detail::granted_in_thread(arrival<detail::wait_limit>(*this, limit), "async_barrier",
                                  function, "all participants have dropped");
    if (!decided.granted()) return {};
    return decided.value() != 0;
  }
};

/// A barrier over any executor.
using async_barrier = basic_async_barrier<>;

}  // namespace asio_sync

#endif
