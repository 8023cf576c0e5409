// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_ASYNC_MAILBOX_HPP
#define ASIO_SYNC_ASYNC_MAILBOX_HPP

#include <asio_sync/detail/core/config.hpp>  // first

#include <asio_sync/detail/operation/beginning.hpp>
#include <asio_sync/detail/operation/initiation.hpp>
#include <asio_sync/detail/operation/operation.hpp>
#include <asio_sync/detail/operation/primitive.hpp>
#include <asio_sync/detail/operation/wait_limit.hpp>
#include <asio_sync/detail/signals/mailbox_core.hpp>
#include <asio_sync/error.hpp>
#include <asio_sync/fwd.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace asio_sync {

/// A set of flags, one a bit.
using mailbox_flags = std::uint32_t;

/// Thirty-two flags that anybody raises, and that coroutines and callbacks wait for: any of a set,
/// or all of it.
///
/// Use it where one consumer is told of several kinds of things, each of which it handles for all
/// that has come: data has arrived, the settings have changed, stop. A flag stays up until
/// somebody takes it, so nothing is missed while nobody waits; a flag that is up already is not
/// counted.
///
///     mailbox_flags const news = co_await mailbox.async_take_any(data | settings | stop);
///
/// Any number of waits may be outstanding, for any sets. `async_wait_…` only looks at the flags,
/// `async_take_…` takes them down in the same step: no two of these get one flag. A `raise()`
/// serves those who look first, and then the takers, of whom it satisfies the oldest first. Waits
/// whose flags are not up keep nobody out, and reserve nothing: one for all of a set waits until
/// these are up at the same time. If the handler of a wait that has taken flags is destroyed
/// without having run, they are raised again.
///
/// Whatever happens before `raise()` happens before the completions of the waits that it
/// satisfies, and before a `take()` that finds the flags.
///
/// Threads: every member but constructors and destructor may be called from any thread at any
/// time. Lifetime: the mailbox may be destroyed with waits outstanding, which then complete with
/// `operation_aborted`; also by a wait that a `raise()` satisfies. Its contexts may be destroyed
/// before it or after it; over a strand, the mailbox has to go before the strand's context.
template <class Executor = boost::asio::any_io_executor>
class basic_async_mailbox : detail::primitive<Executor, detail::mailbox_core> {
  using base = detail::primitive<Executor, detail::mailbox_core>;

 public:
  /// The type of the executor that completes what has no executor of its own.
  using executor_type = Executor;

  /// The same mailbox over another executor.
  template <class Executor2>
  struct rebind_executor {
    /// The rebound type.
    using other = basic_async_mailbox<Executor2>;
  };

  /// Makes a mailbox with no flag up; `ex` completes the waits whose handlers have no executor of
  /// their own.
  /// Exceptions: what allocating, or adding a service to the executor's context, throws.
  explicit basic_async_mailbox(executor_type const& ex) : base(this, ex, detail::flags()) {}

  /// Makes a mailbox over the executor of an execution context.
  template <detail::context_for<Executor> ExecutionContext>
  explicit basic_async_mailbox(ExecutionContext& context)
      : basic_async_mailbox(executor_type(context.get_executor())) {}

  /// Executors of the networking TS are refused: they cannot do what this needs.
  template <detail::ts_executor TsExecutor>
  explicit basic_async_mailbox(TsExecutor const&)
      : basic_async_mailbox(detail::instead_of<TsExecutor, Executor>()) {}

  basic_async_mailbox(basic_async_mailbox const&) = delete;
  basic_async_mailbox& operator=(basic_async_mailbox const&) = delete;

  /// Completes outstanding waits with `operation_aborted`, each on its own executor. Waits that
  /// were satisfied already and are on their way succeed, with their flags.
  ~basic_async_mailbox() = default;

  /// The executor of waits whose handlers have none.
  executor_type get_executor() const noexcept { return base::executor(); }

  /// Raises the flags of the set, and releases the waits that are satisfied now. Runs no code of
  /// theirs, and does not touch the mailbox after the first of them can run. Looks at the
  /// outstanding waits until no flag is left, and at all of them if any does not take.
  void raise(mailbox_flags set) noexcept { core().signal(set); }

  /// Takes the flags of the set down, and returns all flags as they were before.
  mailbox_flags take(mailbox_flags clear) noexcept { return core().take(clear); }

  /// The flags that are up; they may have changed already.
  mailbox_flags peek() const noexcept { return core().up(); }

  /// Completes every outstanding wait with `operation_aborted`, and returns how many. Does not
  /// touch waits that were satisfied already.
  std::size_t cancel() { return core().refuse_all(detail::wait_outcome::aborted); }

  /// Outstanding and later waits complete with `error::closed`, whatever flags are up. Flags may
  /// still be raised and taken.
  void close() noexcept { core().close(); }

  /// Whether the mailbox was closed.
  bool is_closed() const noexcept { return core().is_closed(); }

  /// The number of outstanding waits; not those satisfied and on their way.
  std::size_t waiters() const noexcept { return core().waiters(); }

  /// Waits until any flag of the set is up, without taking it down.
  ///
  /// Completion signature: `void(error_code, mailbox_flags)`, the flags of the set that were up;
  /// none with an error. An empty set is satisfied at once.
  /// Executor: the handler's, else `get_executor()`; never from inside this function, unless the
  /// handler has an immediate executor of its own. A coroutine that awaits it with `deferred`,
  /// `use_awaitable`, or `as_tuple` or `redirect_error` of these does not suspend for a flag that
  /// is up.
  /// Cancellation: terminal, partial and total alike; once the wait has been satisfied a
  /// cancellation does nothing.
  /// Errors: `operation_aborted` (cancelled, or the mailbox destroyed), `error::closed`.
  /// Threads: any, at any time.
  /// Exceptions: what allocating the wait, moving the handler, connecting its slot or posting to
  /// an executor of your own throws; nothing has changed then.
  template <detail::token_for<void(boost::system::error_code, mailbox_flags)> Token =
                detail::default_token<Executor>>
  auto async_wait_any(mailbox_flags set, Token&& token = Token()) {
    return initiate(any(set), detail::no_limit(), static_cast<Token&&>(token));
  }

  /// As `async_wait_any`, but gives up after `time`, counted from the initiation (with a deferred
  /// operation, from its launch), by the steady clock.
  ///
  /// Completion signature, executor, cancellation, threads: those of `async_wait_any`.
  /// Errors: also `asio::error::timed_out`; zero or negative time tries once.
  /// Exceptions: also what making the context's timer and room for the deadline throws.
  template <class Rep, class Period,
            detail::token_for<void(boost::system::error_code, mailbox_flags)> Token =
                detail::default_token<Executor>>
  auto async_wait_any_for(mailbox_flags set, std::chrono::duration<Rep, Period> const& time,
                          Token&& token = Token()) {
    return initiate(any(set), detail::wait_limit::after(time), static_cast<Token&&>(token));
  }

  /// As `async_wait_any_for`, but gives up at a point in time. One of another clock than the
  /// steady one is converted when this function is called.
  template <class Clock, class Duration,
            detail::token_for<void(boost::system::error_code, mailbox_flags)> Token =
                detail::default_token<Executor>>
  auto async_wait_any_until(mailbox_flags set,
                            std::chrono::time_point<Clock, Duration> const& time,
                            Token&& token = Token()) {
    return initiate(any(set), detail::wait_limit::at(time), static_cast<Token&&>(token));
  }

  /// Waits until all flags of the set are up at the same time, without taking them down; otherwise
  /// as `async_wait_any`. Completes with the set.
  template <detail::token_for<void(boost::system::error_code, mailbox_flags)> Token =
                detail::default_token<Executor>>
  auto async_wait_all(mailbox_flags set, Token&& token = Token()) {
    return initiate(all(set), detail::no_limit(), static_cast<Token&&>(token));
  }

  /// As `async_wait_all`, but gives up after `time`, as `async_wait_any_for`.
  template <class Rep, class Period,
            detail::token_for<void(boost::system::error_code, mailbox_flags)> Token =
                detail::default_token<Executor>>
  auto async_wait_all_for(mailbox_flags set, std::chrono::duration<Rep, Period> const& time,
                          Token&& token = Token()) {
    return initiate(all(set), detail::wait_limit::after(time), static_cast<Token&&>(token));
  }

  /// As `async_wait_all`, but gives up at a point in time, as `async_wait_any_until`.
  template <class Clock, class Duration,
            detail::token_for<void(boost::system::error_code, mailbox_flags)> Token =
                detail::default_token<Executor>>
  auto async_wait_all_until(mailbox_flags set,
                            std::chrono::time_point<Clock, Duration> const& time,
                            Token&& token = Token()) {
    return initiate(all(set), detail::wait_limit::at(time), static_cast<Token&&>(token));
  }

  /// Waits until any flag of the set is up, and takes down all of the set that are up, in one
  /// step; otherwise as `async_wait_any`. Completes with the flags that it has taken.
  ///
  /// Cancellation: by slot also after the flags were taken, until the handler is called: it raises
  /// them again, whatever was taken or reset meanwhile.
  template <detail::token_for<void(boost::system::error_code, mailbox_flags)> Token =
                detail::default_token<Executor>>
  auto async_take_any(mailbox_flags set, Token&& token = Token()) {
    return initiate(taking(any(set)), detail::no_limit(), static_cast<Token&&>(token));
  }

  /// As `async_take_any`, but gives up after `time`, as `async_wait_any_for`.
  template <class Rep, class Period,
            detail::token_for<void(boost::system::error_code, mailbox_flags)> Token =
                detail::default_token<Executor>>
  auto async_take_any_for(mailbox_flags set, std::chrono::duration<Rep, Period> const& time,
                          Token&& token = Token()) {
    return initiate(taking(any(set)), detail::wait_limit::after(time),
                    static_cast<Token&&>(token));
  }

  /// As `async_take_any`, but gives up at a point in time, as `async_wait_any_until`.
  template <class Clock, class Duration,
            detail::token_for<void(boost::system::error_code, mailbox_flags)> Token =
                detail::default_token<Executor>>
  auto async_take_any_until(mailbox_flags set,
                            std::chrono::time_point<Clock, Duration> const& time,
                            Token&& token = Token()) {
    return initiate(taking(any(set)), detail::wait_limit::at(time), static_cast<Token&&>(token));
  }

  /// Waits until all flags of the set are up at the same time, and takes them down, in one step;
  /// otherwise as `async_take_any`. Completes with the set.
  template <detail::token_for<void(boost::system::error_code, mailbox_flags)> Token =
                detail::default_token<Executor>>
  auto async_take_all(mailbox_flags set, Token&& token = Token()) {
    return initiate(taking(all(set)), detail::no_limit(), static_cast<Token&&>(token));
  }

  /// As `async_take_all`, but gives up after `time`, as `async_wait_any_for`.
  template <class Rep, class Period,
            detail::token_for<void(boost::system::error_code, mailbox_flags)> Token =
                detail::default_token<Executor>>
  auto async_take_all_for(mailbox_flags set, std::chrono::duration<Rep, Period> const& time,
                          Token&& token = Token()) {
    return initiate(taking(all(set)), detail::wait_limit::after(time),
                    static_cast<Token&&>(token));
  }

  /// As `async_take_all`, but gives up at a point in time, as `async_wait_any_until`.
  template <class Clock, class Duration,
            detail::token_for<void(boost::system::error_code, mailbox_flags)> Token =
                detail::default_token<Executor>>
  auto async_take_all_until(mailbox_flags set,
                            std::chrono::time_point<Clock, Duration> const& time,
                            Token&& token = Token()) {
    return initiate(taking(all(set)), detail::wait_limit::at(time), static_cast<Token&&>(token));
  }

 private:
  using base::core;

  // A completion brings the flags.
  struct delivery_type {
    using core_type = detail::mailbox_core;
    using grant = mailbox_flags;
    static grant make(core_type&, detail::verdict granted) noexcept {
      return static_cast<mailbox_flags>(granted.value());
    }
  };

  // A wait: for what, and how long it may take.
  template <class Limit>
  class wait_operation
      : public detail::operation_base<wait_operation<Limit>, Executor, delivery_type, Limit> {
   public:
    wait_operation(basic_async_mailbox& mailbox, detail::flags_request request,
                   Limit limit) noexcept
        : wait_operation::operation_base(limit), mailbox_(&mailbox), asked_(request.packed()) {}

    Executor const& executor() const noexcept { return mailbox_->base::executor(); }
    detail::mailbox_core& core() const noexcept { return mailbox_->core(); }
    std::uint64_t asked() const noexcept { return asked_; }

    ASIO_SYNC_FLATTEN ASIO_SYNC_INLINE detail::verdict try_now() const noexcept {
      detail::verdict const got = core().try_wait(request());
      return got.decided() ? got : detail::verdict(detail::refusal_of(core(), this->limit_));
    }

    // Names it in the output of Asio's handler tracking.
    void track(detail::waiter& w) const {
      detail::track_creation(executor(), w, "async_mailbox", mailbox_,
                             request().takes ? "async_take" : "async_wait");
    }

   private:
    detail::flags_request request() const noexcept {
      return detail::flags_request::unpacked(asked_);
    }

    basic_async_mailbox* mailbox_;
    std::uint64_t asked_;  // in one number: it is copied as one, as soon as it is made
  };

  static constexpr detail::flags_request any(mailbox_flags set) noexcept {
    return {set, false, false};
  }
  static constexpr detail::flags_request all(mailbox_flags set) noexcept {
    return {set, true, false};
  }
  static constexpr detail::flags_request taking(detail::flags_request request) noexcept {
    return {request.set, request.all, true};
  }

  template <class Limit, class Token>
  auto initiate(detail::flags_request request, Limit limit, Token&& token) {
    return detail::initiate_wait(wait_operation<Limit>(*this, request, limit),
                                 static_cast<Token&&>(token));
  }
};

/// A mailbox over any executor.
using async_mailbox = basic_async_mailbox<>;

}  // namespace asio_sync

#endif
