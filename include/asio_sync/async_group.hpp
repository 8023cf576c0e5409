// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_ASYNC_GROUP_HPP
#define ASIO_SYNC_ASYNC_GROUP_HPP

#include <asio_sync/detail/core/config.hpp>  // first

#include <asio_sync/detail/group/group_core.hpp>
#include <asio_sync/detail/group/tracked.hpp>
#include <asio_sync/detail/operation/beginning.hpp>
#include <asio_sync/detail/operation/errors.hpp>
#include <asio_sync/detail/operation/primitive.hpp>
#include <asio_sync/detail/signals/event_base.hpp>
#include <asio_sync/error.hpp>
#include <asio_sync/fwd.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace asio_sync {

namespace detail {

struct pending_operations {
  using core_type = group_core;
  static constexpr char const* name = "async_group";
  static constexpr char const* wait_name = "async_join";
  ASIO_SYNC_INLINE static bool try_wait(core_type& core) noexcept { return core.admits(); }
};

}  // namespace detail

/// Counts asynchronous operations from their beginning to their end, and completes a wait when
/// none is left: fork and join, for operations of any kind.
///
/// Use it to wait for operations whose number is not known beforehand, and to cancel them: the
/// sessions of a server that is to end, the requests of a page. Each is begun with a completion
/// token that the group has wrapped:
///
///     for (std::string const& url : urls)
///       asio::co_spawn(asio::make_strand(context), fetch(url), group.track(asio::detached));
///     co_await group.async_join();
///
/// Whatever an operation's handler does happens before the completions of the joins.
///
/// Threads: every member but constructors and destructor may be called from any thread at any
/// time; see `cancel_pending` for what that asks of executors. Lifetime: the group may be
/// destroyed with joins outstanding, which then complete with `operation_aborted`, and with
/// operations pending, which go on. Its contexts may be destroyed before it or after it; over a
/// strand, the group has to go before the strand's context.
template <class Executor = boost::asio::any_io_executor>
class basic_async_group : detail::event_base<Executor, detail::pending_operations> {
  using base = detail::event_base<Executor, detail::pending_operations>;

 public:
  /// The type of the executor that completes what has no executor of its own.
  using executor_type = Executor;

  /// The same group over another executor.
  template <class Executor2>
  struct rebind_executor {
    /// The rebound type.
    using other = basic_async_group<Executor2>;
  };

  /// Makes a group of nothing. `ex` completes the joins whose handlers have no executor of their
  /// own.
  /// Exceptions: what allocating, or adding a service to the executor's context, throws.
  explicit basic_async_group(executor_type const& ex) : base(this, ex), home_(ex) {}

  /// Makes a group over the executor of an execution context.
  template <detail::context_for<Executor> ExecutionContext>
  explicit basic_async_group(ExecutionContext& context)
      : basic_async_group(executor_type(context.get_executor())) {}

  /// Executors of the networking TS are refused: they cannot do what this needs.
  template <detail::ts_executor TsExecutor>
  explicit basic_async_group(TsExecutor const&)
      : basic_async_group(detail::instead_of<TsExecutor, Executor>()) {}

  basic_async_group(basic_async_group const&) = delete;
  basic_async_group& operator=(basic_async_group const&) = delete;

  /// Completes outstanding joins with `operation_aborted`, each on its own executor. Those that
  /// nothing kept any more, and are on their way, succeed. Operations go on.
  ~basic_async_group() = default;

  /// The executor of joins whose handlers have none.
  using base::get_executor;  // executor_type()

  /// A completion token that counts the operation which is begun with it. Whatever `token` makes
  /// of an operation, a call, a future, something to `co_await`, this makes of it, too.
  ///
  /// The operation counts from its initiation, a deferred one from its launch, until its handler
  /// has returned, or was destroyed. The handler keeps its associated executor, allocator,
  /// immediate executor and cancellation slot: a cancellation by the latter reaches the operation
  /// as before, beside those of `cancel_pending()`. What is bound to the token from outside,
  /// `bind_executor(ex, group.track(token))`, the group does not see: bind it inside.
  ///
  /// The group has to live when the operation begins, not when it ends.
  /// Exceptions: those of the operation's initiating function, and what moving the handler,
  /// connecting its slot, allocating or adding a service to an executor's context throws; nothing
  /// is counted then, unless the initiating function keeps the handler although it throws, as
  /// `co_spawn` does without memory. `boost::system::system_error` with `value_too_large` where
  /// too much is counted. In the steady state nothing is allocated from the heap, beside what the
  /// operation puts into its cancellation slot.
  template <class Token>
  [[nodiscard]] auto track(Token&& token) {
    return detail::tracked_token<Executor, std::decay_t<Token>>{access(),
                                                                static_cast<Token&&>(token)};
  }

  /// Counts n more, for what has no completion token: n times `done()` is to follow.
  ///
  /// Errors: throws `boost::system::system_error` with `invalid_argument` if n is negative, and
  /// with `value_too_large` if it is too many. Nothing has changed then.
  void add(std::ptrdiff_t n = 1) {
    if (n < 0) detail::throw_invalid("asio_sync::async_group::add: n < 0");
    if (!core().add(static_cast<std::uint64_t>(n)))
      detail::throw_too_large("asio_sync::async_group::add: too much is counted");
  }

  /// Counts n of those added no more. If nothing is left, it releases all outstanding joins, the
  /// oldest first; runs no code of theirs, and does not touch the group after the first of them
  /// can run.
  ///
  /// Errors: throws `boost::system::system_error` with `invalid_argument`, and changes nothing, if
  /// n is negative, or more than was added.
  void done(std::ptrdiff_t n = 1) {
    // A negative one is more than any number that was added.
    auto const fewer = static_cast<std::uint64_t>(n);
    detail::group_core& group = core();
    if (!group.decide([&](detail::decided_waits& decided) { return group.done(fewer, decided); }))
      detail::throw_invalid("asio_sync::async_group::done: n < 0 or more than was added");
  }

  /// How much is counted. It may have changed already.
  [[nodiscard]] std::ptrdiff_t pending() const noexcept {
    return static_cast<std::ptrdiff_t>(core().pending());
  }

  /// Asks every tracked operation to cancel itself. Operations that begin later are not asked, and
  /// those that know nothing of cancellation go on. Joins are not touched. Does not touch the
  /// group after the first operation can have been cancelled.
  ///
  /// Executor: a coroutine is asked on the executor that it was spawned on, behind its first step.
  /// Any other operation is asked on the executor of its handler (that of a future does not
  /// count), else on the executor of its initiation, else on the first executor that it offers to
  /// its handler, else on `get_executor()`; the system's executor does not count. That executor
  /// has to be a strand, or belong to a context which one thread runs. The operation is asked
  /// inside this function where that is allowed, otherwise soon; while it is being initiated, at
  /// the end of that. It is not asked after the end of the executor's context, if that is an
  /// `io_context` or a `thread_pool`; a context of another kind has to outlive the handler.
  ///
  /// Exceptions: what allocating throws, before anybody was asked; what posting to an executor
  /// throws, after all others have been asked. An operation that is asked at the end of its
  /// initiation goes on if that post fails.
  void cancel_pending(
      boost::asio::cancellation_type type = boost::asio::cancellation_type::terminal) {
    detail::cancel_operations(access(), type);
  }

  /// Completes every outstanding join with `operation_aborted`, and returns how many. Operations
  /// go on.
  using base::cancel;  // std::size_t()

  /// Outstanding and later joins complete with `error::closed`. Operations go on, and can still be
  /// begun.
  using base::close;  // void()

  /// Whether the group was closed.
  using base::is_closed;  // bool()

  /// The number of outstanding joins; not those released and on their way.
  using base::waiters;  // std::size_t()

  /// Waits until nothing is counted: all operations begun so far have ended. Afterwards the group
  /// can be used again.
  ///
  /// Completion signature: `void(error_code)`.
  /// Executor: the handler's, else `get_executor()`; never from inside this function, unless the
  /// handler has an immediate executor of its own. A coroutine that awaits it with `deferred`,
  /// `use_awaitable`, or `as_tuple` or `redirect_error` of these does not suspend where nothing is
  /// pending.
  /// Cancellation: terminal, partial and total alike; once nothing is pending a cancellation does
  /// nothing.
  /// Errors: `operation_aborted` (cancelled, or the group destroyed), `error::closed`.
  /// Threads: any, at any time.
  /// Exceptions: what allocating the wait, moving the handler, connecting its slot or posting to
  /// an executor of your own throws; nothing has changed then.
  template <
      detail::token_for<void(boost::system::error_code)> Token = detail::default_token<Executor>>
  auto async_join(Token&& token = Token()) {
    return base::async_wait(static_cast<Token&&>(token));
  }

  /// As `async_join`, but gives up after `time`, counted from the initiation (with a deferred
  /// operation, from its launch), by the steady clock.
  ///
  /// Completion signature, executor, cancellation, threads: those of `async_join`.
  /// Errors: also `asio::error::timed_out`; zero or negative time looks once.
  /// Exceptions: also what making the context's timer and room for the deadline throws.
  template <
      class Rep, class Period,
      detail::token_for<void(boost::system::error_code)> Token = detail::default_token<Executor>>
  auto async_join_for(std::chrono::duration<Rep, Period> const& time, Token&& token = Token()) {
    return base::async_wait_for(time, static_cast<Token&&>(token));
  }

  /// As `async_join_for`, but gives up at a point in time. One of another clock than the steady
  /// one is converted when this function is called.
  template <
      class Clock, class Duration,
      detail::token_for<void(boost::system::error_code)> Token = detail::default_token<Executor>>
  auto async_join_until(std::chrono::time_point<Clock, Duration> const& time,
                        Token&& token = Token()) {
    return base::async_wait_until(time, static_cast<Token&&>(token));
  }

 private:
  using base::core;

  detail::group_access<Executor> access() const noexcept {
    return {&core(), &base::executor(), &home_};
  }

  detail::context_watch const home_;
};

/// A group over any executor.
using async_group = basic_async_group<>;

}  // namespace asio_sync

#endif
