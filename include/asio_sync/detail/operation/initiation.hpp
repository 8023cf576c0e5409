// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_OPERATION_INITIATION_HPP
#define ASIO_SYNC_DETAIL_OPERATION_INITIATION_HPP

// From a completion token to the beginning of a wait.

#include <asio_sync/detail/context/completion_queue.hpp>
#include <asio_sync/detail/context/destination.hpp>
#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/operation/beginning.hpp>
#include <asio_sync/detail/operation/coroutine_wait.hpp>
#include <asio_sync/detail/operation/handler_waiter.hpp>
#include <asio_sync/detail/operation/operation.hpp>
#include <asio_sync/detail/operation/result.hpp>
#include <asio_sync/detail/platform/asio_compat.hpp>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <type_traits>
#include <utility>

namespace asio_sync::detail {

// What is done with the completion of a handler that has an immediate executor.
struct immediate_step {
  static void run(waiter& w) { w.act(w, waiter_action::complete); }
};

// Begins the wait of a handler with an immediate executor of its own, through which what need not
// wait is completed, unless this thread has done so too often in a row.
template <class Operation, class Waiter>
void begin_immediately(Operation const& operation, Waiter& w) {
  if (!immediate_budget::available()) return begin(operation, w, w.slot());
  using core_type = typename Operation::core_type;
  unready_waiter fresh{&w};
  auto& context = operation.core().context_of(w);
  bool const begun = visit_immediate_executor(w.handler(), context, [&](auto const& own) {
    auto const ex = own;  // the handler takes its own along
    fresh.w = nullptr;
    track(operation, w);
    if (!decide_at_once(operation, w)) {
      queue(operation.core(), w, w.slot(), operation.limit());
      return true;
    }
    [[maybe_unused]] scope_of_initiation<core_type> const scope(w);
    immediate_budget::use();
    ex.execute(completion_of<immediate_step>(w));
    return true;
  });
  if (begun) return;
  fresh.w = nullptr;
  begin(operation, w, w.slot());
}

// The executor of a handler that has one. An erased one is asked without that of the operation,
// which it would copy, once that has gone.
template <class Operation, class Handler>
auto executor_of(Operation const& operation, Handler const& handler) {
  using own = asio::associated_executor_t<Handler, std::decay_t<decltype(operation.executor())>>;
  if constexpr (Operation::executor_may_end && is_any_executor<own>)
    if (!operation.has_executor()) return own(asio::get_associated_executor(handler));
  return own(asio::get_associated_executor(handler, operation.executor()));
}

// A wait whose handler is called: granted or refused at once, or queued. When it throws nothing
// has changed. The handler is moved or copied once, into the block.
template <class Operation, class Source>
void start_wait(Operation const& operation, Source&& handler) {
  using handler_type = std::decay_t<Source>;
  using waiter_type = handler_waiter<typename Operation::delivery, handler_type>;
  auto& core = operation.core();
  auto const start_at = [&](auto const& to) {
    auto& w = waiter_type::make(core, operation.asked(), to, static_cast<Source&&>(handler));
    operation.attach(w, w.handler());
    if constexpr (has_immediate_executor<handler_type>)
      begin_immediately(operation, w);
    else
      begin(operation, w, w.slot());
  };
  if constexpr (has_executor<handler_type>) {
    auto const own = executor_of(operation, handler);
    start_at(destination_of(core, own, operation.executor(), operation.stays_at_home()));
  } else {
    decltype(destination_of(core, operation.executor(), operation.executor())) to;
    bool const stays = operation.stays_at_home();
    if (!stays || !core.is_plainly_at_home())
      to = destination_of(core, operation.executor(), operation.executor(), stays);
    start_at(to);
  }
}

// The initiation of a wait: what async_initiate is given.
template <class Operation, class Result>
class wait_initiation {
  using result_type =
      decltype(std::declval<Operation const&>().with_result(std::declval<Result>()));
  using types = typename Operation::template types<Result>;

 public:
  using tries_before_suspending = void;
  using executor_type = typename Operation::executor_type;
  using signature = typename types::signature;
  using value = typename types::value;
  template <class Handler>
  class awaitable_wait
      : public Operation::template awaitable_wait<Operation, result_type, Handler> {
    using base = typename Operation::template awaitable_wait<Operation, result_type, Handler>;

   public:
    ASIO_SYNC_INLINE explicit awaitable_wait(wait_initiation&& self)
        : base(std::move(self.operation_), self.result_) {}
  };

  wait_initiation(Operation operation, Result r)
      : operation_(std::move(operation)), result_(operation_.with_result(r)) {}

  executor_type get_executor() const noexcept { return operation_.executor(); }

  static constexpr bool executor_may_end = Operation::executor_may_end;
  // Returns false once the executor has ended.
  bool has_executor() const noexcept { return operation_.has_executor(); }

  template <class Handler>
  void operator()(Handler&& handler) const {
    if constexpr (std::is_same_v<result_type, plain_result>)
      start(std::forward<Handler>(handler));
    else
      start(result_handler<result_type, std::decay_t<Handler>>{result_,
                                                               std::forward<Handler>(handler)});
  }

 private:
  template <class Handler>
  void start(Handler&& handler) const {
    if constexpr (Operation::executor_may_end)
      if (!operation_.has_executor() && needs_executor(handler)) return;
    operation_.start(operation_, std::forward<Handler>(handler));
  }

  Operation operation_;
  [[no_unique_address]] result_type result_;
};
// use_awaitable: a coroutine of one recycled frame, which mostly ends without having suspended.
template <class Executor, class Operation, class Result>
auto await_wait(wait_initiation<Operation, Result> initiation)
    -> asio::awaitable<typename wait_initiation<Operation, Result>::value, Executor> {
  using signature = typename wait_initiation<Operation, Result>::signature;
  co_return co_await asio::async_initiate<asio::deferred_t const, signature>(std::move(initiation),
                                                                             asio::deferred);
}

// The initiating functions of all primitives end here. Tokens of coroutines get an initiation that
// is asked first, the result adapted to the token on this side of it; all others are Asio's.
template <class Operation, class Token>
auto initiate_wait(Operation operation, Token&& token) {
  using adapted = adapted_token<std::decay_t<Token>>;
  using base =
      std::conditional_t<std::is_void_v<typename adapted::base>,
                         default_token<typename Operation::executor_type>, typename adapted::base>;
  auto const initiate = [&operation](auto result) {
    using initiation = wait_initiation<Operation, decltype(result)>;
    using signature = typename initiation::signature;
    if constexpr (is_use_awaitable<base>)
      return await_wait<typename use_awaitable_executor<base>::type>(
          initiation(std::move(operation), result));
    else
      return asio::async_initiate<asio::deferred_t const, signature>(
          initiation(std::move(operation), result), asio::deferred);
  };
  constexpr bool is_spared =
      awaits_ready && (is_use_awaitable<base> || std::is_same_v<base, asio::deferred_t>);
  if constexpr (adapted::redirects && (is_spared || redirects_deferred<Token>))
    return initiate(redirected_result{redirection(token)});
  else if constexpr (!is_spared)
    return asio::async_initiate<Token,
                                typename wait_initiation<Operation, plain_result>::signature>(
        wait_initiation<Operation, plain_result>(std::move(operation), {}), token);
  else if constexpr (adapted::as_tuple)
    return initiate(tuple_result());
  else
    return initiate(plain_result());
}

}  // namespace asio_sync::detail

#endif
