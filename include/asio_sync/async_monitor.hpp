// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_ASYNC_MONITOR_HPP
#define ASIO_SYNC_ASYNC_MONITOR_HPP

#include <asio_sync/detail/core/config.hpp>  // first

#include <asio_sync/detail/monitor/monitor_condition.hpp>
#include <asio_sync/detail/monitor/monitor_entry.hpp>
#include <asio_sync/detail/monitor/monitor_function.hpp>
#include <asio_sync/detail/monitor/monitor_visit.hpp>
#include <asio_sync/detail/monitor/strand_core.hpp>
#include <asio_sync/detail/operation/beginning.hpp>
#include <asio_sync/detail/operation/initiation.hpp>
#include <asio_sync/detail/operation/primitive.hpp>
#include <asio_sync/detail/operation/wait_limit.hpp>
#include <asio_sync/error.hpp>
#include <asio_sync/fwd.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/strand.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <type_traits>

namespace asio_sync {

/// An object that only one may use at a time, and whatever they wait for: a monitor.
///
/// Use it where a mutex, the data that it protects and the conditions of that data belong
/// together. The object can be reached only from inside:
///
///     auto inside = co_await jobs.async_enter_when([](queue const& q) { return !q.empty(); });
///     auto job = inside->front();  // leaves at the end of the scope
///
/// or by a function that the monitor invokes:
///
///     co_await jobs.async_invoke([](queue& q) { q.clear(); });
///
/// The monitor has a strand. Predicates of `async_enter_when` and `async_invoke_when` and invoked
/// functions run there, as do handlers without an executor of their own; `async_enter` by itself
/// needs no trip to it. Waits enter first come, first served; one whose predicate is false keeps
/// nobody out. Predicates are looked at again each time that the monitor is left, and until then
/// nobody enters.
///
/// Threads: every member but constructors and destructor may be called from any thread at any
/// time. Lifetime: the monitor may be destroyed with waits outstanding, which then complete with
/// `operation_aborted`, and before its entries: the object lives until the last of them, and of
/// the functions that run, has gone. Its contexts may be destroyed before it or after it; the
/// strand's has to outlive what a destroyed monitor has granted to other contexts until that has
/// arrived, and a handler's its predicate or function while that runs.
template <class T, class Executor = boost::asio::any_io_executor>
class basic_async_monitor {
  using core_type = detail::monitor_on_strand<T, Executor>;
  template <class Limit, class Predicate>
  using enter_when = detail::enter_when_operation<T, Executor, Limit, std::decay_t<Predicate>>;
  template <class Limit, class Predicate, class Function>
  using invoke = detail::invoke_operation<T, Executor, Limit, std::decay_t<Predicate>,
                                          std::decay_t<Function>>;

 public:
  /// The type of the executor that the strand is made of.
  using executor_type = Executor;

  /// The executor of the monitor.
  using strand_type = boost::asio::strand<Executor>;

  /// The same monitor over another executor.
  template <class Executor2>
  struct rebind_executor {
    /// The rebound type.
    using other = basic_async_monitor<T, Executor2>;
  };

  /// Is inside the monitor while it lives, and leads to the object; only moved.
  using entry = detail::monitor_entry<T>;

  /// Waits inside the monitor leave it until they are notified.
  using condition = detail::monitor_condition<T, Executor>;

  /// Makes the object of the arguments, and a strand of the executor.
  ///
  /// Exceptions: what making the object, allocating, or adding services to the executor's context
  /// throws.
  template <class... Args>
    requires std::constructible_from<T, Args...>
  explicit basic_async_monitor(executor_type const& ex, Args&&... args)
      : core_(core_type::make(this, strand_type(ex), static_cast<Args&&>(args)...)) {}

  /// The same over the executor of an execution context.
  template <detail::context_for<Executor> ExecutionContext, class... Args>
    requires std::constructible_from<T, Args...>
  explicit basic_async_monitor(ExecutionContext& context, Args&&... args)
      : basic_async_monitor(executor_type(context.get_executor()), static_cast<Args&&>(args)...) {}

  /// Executors of the networking TS are refused: they cannot do what this needs.
  template <detail::ts_executor TsExecutor, class... Args>
  explicit basic_async_monitor(TsExecutor const&, Args&&... args)
      : basic_async_monitor(detail::instead_of<TsExecutor, Executor>(),
                            static_cast<Args&&>(args)...) {}

  basic_async_monitor(basic_async_monitor const&) = delete;
  basic_async_monitor& operator=(basic_async_monitor const&) = delete;

  /// Completes outstanding waits with `operation_aborted`, each on its own executor. Functions
  /// that run go on.
  ~basic_async_monitor() { core_->abandon(); }

  /// The strand. Not to be called after the end of its context.
  strand_type get_executor() const noexcept { return core_->copy_of_strand(); }

  /// Enters the monitor if it is free, open, and nobody waits; otherwise the entry is empty.
  [[nodiscard]] entry try_enter() noexcept {
    return core_->try_acquire(1, true) ? entry(*core_) : entry();
  }

  /// Completes every outstanding wait with `operation_aborted`, and returns how many. Touches
  /// neither who is inside nor functions that run.
  std::size_t cancel() { return core_->refuse_all(detail::wait_outcome::aborted); }

  /// Outstanding and later waits complete with `error::closed`; who is inside may still leave.
  void close() noexcept { core_->close(); }

  /// Whether the monitor was closed.
  bool is_closed() const noexcept { return core_->is_closed(); }

  /// The number of outstanding waits to enter; not those granted and on their way.
  std::size_t waiters() const noexcept { return core_->waiters(); }

  /// Enters the monitor.
  ///
  /// Completion signature: `void(error_code, entry)`; the entry is empty with an error.
  /// Executor: the handler's, else the strand; never from inside this function, unless the handler
  /// has an immediate executor of its own. A coroutine that awaits it with `deferred`,
  /// `use_awaitable`, or `as_tuple` or `redirect_error` of these does not suspend for a free
  /// monitor.
  /// Cancellation: terminal, partial and total alike. After the grant, and until the handler is
  /// called, a cancellation by slot leaves the monitor again; `cancel()` then does nothing.
  /// Errors: `operation_aborted` (cancelled, or the monitor destroyed), `error::closed`.
  /// Threads: any, at any time.
  /// Exceptions: what allocating the wait, moving the handler, connecting its slot or posting to
  /// an executor of your own throws; nothing has changed then.
  template <detail::token_for<void(boost::system::error_code, entry)> Token =
                detail::default_token<Executor>>
  auto async_enter(Token&& token = Token()) {
    return initiate_enter(detail::no_limit(), static_cast<Token&&>(token));
  }

  /// As `async_enter`, but gives up after `time`, counted from the initiation (with a deferred
  /// operation, from its launch), with `asio::error::timed_out`. Zero or negative time: one try.
  template <class Rep, class Period,
            detail::token_for<void(boost::system::error_code, entry)> Token =
                detail::default_token<Executor>>
  auto async_enter_for(std::chrono::duration<Rep, Period> const& time, Token&& token = Token()) {
    return initiate_enter(detail::wait_limit::after(time), static_cast<Token&&>(token));
  }

  /// As `async_enter_for`, but gives up at a point in time. One of another clock than the steady
  /// one is converted when this function is called.
  template <class Clock, class Duration,
            detail::token_for<void(boost::system::error_code, entry)> Token =
                detail::default_token<Executor>>
  auto async_enter_until(std::chrono::time_point<Clock, Duration> const& time,
                         Token&& token = Token()) {
    return initiate_enter(detail::wait_limit::at(time), static_cast<Token&&>(token));
  }

  /// Enters the monitor once `predicate(object)` is true. It is looked at on the strand, when it
  /// is the wait's turn, and again each time that the monitor was left. A coroutine that runs
  /// there looks at once, and does not suspend if the monitor is free and the predicate true.
  ///
  /// As `async_enter`, and: a `cancel()`, or the end of the time, that comes while the predicate
  /// is looked at does nothing if that is true then.
  /// Errors: `operation_aborted` also at the end of the strand's context. Exceptions of the
  /// predicate: come out of `co_await`; otherwise out of the handler's executor, as a handler's
  /// own would, which is then not called. The monitor has been left.
  template <detail::predicate_of<T> Predicate, class Token = detail::default_token<Executor>>
  auto async_enter_when(Predicate&& predicate, Token&& token = Token()) {
    return initiate_when(static_cast<Predicate&&>(predicate), detail::no_limit(),
                         static_cast<Token&&>(token));
  }

  /// As `async_enter_when`, but gives up after `time`, as `async_enter_for`.
  template <detail::predicate_of<T> Predicate, class Rep, class Period,
            class Token = detail::default_token<Executor>>
  auto async_enter_when_for(Predicate&& predicate, std::chrono::duration<Rep, Period> const& time,
                            Token&& token = Token()) {
    return initiate_when(static_cast<Predicate&&>(predicate), detail::wait_limit::after(time),
                         static_cast<Token&&>(token));
  }

  /// As `async_enter_when_for`, but gives up at a point in time.
  template <detail::predicate_of<T> Predicate, class Clock, class Duration,
            class Token = detail::default_token<Executor>>
  auto async_enter_when_until(Predicate&& predicate,
                              std::chrono::time_point<Clock, Duration> const& time,
                              Token&& token = Token()) {
    return initiate_when(static_cast<Predicate&&>(predicate), detail::wait_limit::at(time),
                         static_cast<Token&&>(token));
  }

  /// Runs `function(object)` inside the monitor, on the strand, and completes with what it
  /// returns.
  ///
  /// Called on the strand while the monitor is free it runs the function at once, inside this
  /// function, and posts the completion. A coroutine that awaits it there with `deferred`,
  /// `use_awaitable`, or `as_tuple` of these does not suspend. If the function returns an
  /// `asio::awaitable`, that is spawned on the strand, and the monitor is occupied until it ends.
  ///
  /// Completion signature: `void(std::exception_ptr)`, or `void(std::exception_ptr, R)` where the
  /// function returns, or its awaitable, an R, which can be made without arguments.
  /// Executor: the handler's, else the strand. The monitor has been left when the handler is
  /// called.
  /// Cancellation: terminal, partial and total alike, until the function runs; one that has run
  /// keeps its result. It is passed on to an awaitable that runs, as a terminal one. Lifetime: the
  /// context of the handler has to outlive a function that runs for it, as with `co_spawn`.
  /// Errors: what the function throws; otherwise a `boost::system::system_error` with those of
  /// `async_enter_when`.
  /// Threads: any, at any time.
  /// Exceptions: those of `async_enter`.
  template <detail::function_of<T> Function, class Token = detail::default_token<Executor>>
  auto async_invoke(Function&& function, Token&& token = Token()) {
    return initiate_invoke(detail::no_predicate(), static_cast<Function&&>(function),
                           detail::no_limit(), static_cast<Token&&>(token));
  }

  /// As `async_invoke`, but gives up after `time` if the function does not run by then.
  template <detail::function_of<T> Function, class Rep, class Period,
            class Token = detail::default_token<Executor>>
  auto async_invoke_for(Function&& function, std::chrono::duration<Rep, Period> const& time,
                        Token&& token = Token()) {
    return initiate_invoke(detail::no_predicate(), static_cast<Function&&>(function),
                           detail::wait_limit::after(time), static_cast<Token&&>(token));
  }

  /// As `async_invoke_for`, but gives up at a point in time.
  template <detail::function_of<T> Function, class Clock, class Duration,
            class Token = detail::default_token<Executor>>
  auto async_invoke_until(Function&& function,
                          std::chrono::time_point<Clock, Duration> const& time,
                          Token&& token = Token()) {
    return initiate_invoke(detail::no_predicate(), static_cast<Function&&>(function),
                           detail::wait_limit::at(time), static_cast<Token&&>(token));
  }

  /// Runs `function(object)` as `async_invoke`, once `predicate(object)` is true, as
  /// `async_enter_when`. What the predicate throws the operation completes with.
  template <detail::predicate_of<T> Predicate, detail::function_of<T> Function,
            class Token = detail::default_token<Executor>>
  auto async_invoke_when(Predicate&& predicate, Function&& function, Token&& token = Token()) {
    return initiate_invoke(static_cast<Predicate&&>(predicate), static_cast<Function&&>(function),
                           detail::no_limit(), static_cast<Token&&>(token));
  }

  /// As `async_invoke_when`, but gives up after `time` if the function does not run by then.
  template <detail::predicate_of<T> Predicate, detail::function_of<T> Function, class Rep,
            class Period, class Token = detail::default_token<Executor>>
  auto async_invoke_when_for(Predicate&& predicate, Function&& function,
                             std::chrono::duration<Rep, Period> const& time,
                             Token&& token = Token()) {
    return initiate_invoke(static_cast<Predicate&&>(predicate), static_cast<Function&&>(function),
                           detail::wait_limit::after(time), static_cast<Token&&>(token));
  }

  /// As `async_invoke_when_for`, but gives up at a point in time.
  template <detail::predicate_of<T> Predicate, detail::function_of<T> Function, class Clock,
            class Duration, class Token = detail::default_token<Executor>>
  auto async_invoke_when_until(Predicate&& predicate, Function&& function,
                               std::chrono::time_point<Clock, Duration> const& time,
                               Token&& token = Token()) {
    return initiate_invoke(static_cast<Predicate&&>(predicate), static_cast<Function&&>(function),
                           detail::wait_limit::at(time), static_cast<Token&&>(token));
  }

 private:
  friend condition;

  template <class Limit, class Token>
  auto initiate_enter(Limit limit, Token&& token) {
    return detail::initiate_wait(detail::enter_operation<T, Executor, Limit>(*core_, limit),
                                 static_cast<Token&&>(token));
  }

  template <class Predicate, class Limit, class Token>
  auto initiate_when(Predicate&& predicate, Limit limit, Token&& token) {
    using predicate_type = std::decay_t<Predicate>;
    return detail::initiate_wait(
        enter_when<Limit, Predicate>(
            *core_, limit, {core_->object, predicate_type(static_cast<Predicate&&>(predicate))}),
        static_cast<Token&&>(token));
  }

  template <class Predicate, class Function, class Limit, class Token>
  auto initiate_invoke(Predicate&& predicate, Function&& function, Limit limit, Token&& token) {
    using predicate_type = std::decay_t<Predicate>;
    using function_type = std::decay_t<Function>;
    return detail::initiate_invocation(
        invoke<Limit, Predicate, Function>(
            *core_, limit,
            {core_->object, predicate_type(static_cast<Predicate&&>(predicate)),
             function_type(static_cast<Function&&>(function))}),
        static_cast<Token&&>(token));
  }

  core_type* const core_;
};

/// A monitor over any executor.
template <class T>
using async_monitor = basic_async_monitor<T>;

}  // namespace asio_sync

#endif
