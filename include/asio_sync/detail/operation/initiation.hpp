// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_OPERATION_INITIATION_HPP
#define ASIO_SYNC_DETAIL_OPERATION_INITIATION_HPP

#include <asio_sync/detail/operation/handler_waiter.hpp>
#include <asio_sync/detail/platform/asio_compat.hpp>
#include <asio_sync/detail/platform/config.hpp>

#include <boost/asio/associator.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/system/system_error.hpp>

#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

namespace asio_sync::detail {

// How an outcome reaches a handler, or the coroutine that did not need one: as it is, or as the
// token adapters as_tuple and redirect_error have it.
struct plain_result {
  template <class Grant>
  using signature = void(error_code, Grant);
  template <class Grant>
  using value_type = Grant;

  template <class Handler, class Grant>
  void complete(Handler&& handler, error_code error, Grant&& grant) const {
    std::forward<Handler>(handler)(error, std::forward<Grant>(grant));
  }

  template <class Grant>
  Grant value(error_code error, Grant&& grant) const {
    if (error) throw boost::system::system_error(error);
    return std::forward<Grant>(grant);
  }
};

struct tuple_result {
  template <class Grant>
  using signature = void(std::tuple<error_code, Grant>);
  template <class Grant>
  using value_type = std::tuple<error_code, Grant>;

  template <class Handler, class Grant>
  void complete(Handler&& handler, error_code error, Grant&& grant) const {
    std::forward<Handler>(handler)(value(error, std::forward<Grant>(grant)));
  }

  template <class Grant>
  std::tuple<error_code, Grant> value(error_code error, Grant&& grant) const {
    return {error, std::forward<Grant>(grant)};
  }
};

struct redirected_result {
  template <class Grant>
  using signature = void(Grant);
  template <class Grant>
  using value_type = Grant;

  template <class Handler, class Grant>
  void complete(Handler&& handler, error_code error, Grant&& grant) const {
    std::forward<Handler>(handler)(value(error, std::forward<Grant>(grant)));
  }

  template <class Grant>
  Grant value(error_code error, Grant&& grant) const {
    target = error;
    return std::forward<Grant>(grant);
  }

  error_code& target;
};

template <class Result, class Handler>
struct result_handler {
  [[no_unique_address]] Result result;
  Handler handler;

  template <class Grant>
  void operator()(error_code error, Grant&& grant) {
    result.complete(std::move(handler), error, std::forward<Grant>(grant));
  }
};

// The wait of a coroutine: asked whether it is needed at all, prepared while the coroutine can
// still catch what that throws, launched once it is suspended. Handler resumes it.
template <class Operation, class Result, class Handler>
class awaitable_wait_of {
  using claims = typename Operation::claims;
  using wait_type = handler_holder<claims, Handler>;

 public:
  awaitable_wait_of(Operation const& operation, Result result)
      : operation_(operation), result_(result) {}
  awaitable_wait_of(awaitable_wait_of const&) = delete;
  awaitable_wait_of& operator=(awaitable_wait_of const&) = delete;

  ~awaitable_wait_of() {
    if (wait_) discard();
  }

  bool ready() noexcept {
    if (!immediate_budget::available()) return false;
    outcome_ = operation_.try_now();
    if (!was_ready()) return false;
    immediate_budget::use();
    return true;
  }

  bool was_ready() const noexcept { return outcome_ != wait_outcome::undecided; }

  wait_outcome outcome() const noexcept { return outcome_; }

  auto result(wait_outcome outcome) const {
    if (outcome == wait_outcome::granted)
      return result_.value(error_code(), claims::claim(operation_.core()));
    return refusal(outcome);
  }

  template <class Executor>
  void prepare(Executor const& own, asio::cancellation_slot slot) {
    visit_completion_executor(own, operation_.executor(), [&](auto const& ex, auto relayed) {
      constexpr auto path = relayed ? completion_path::relayed : completion_path::posted;
      using executor = std::decay_t<decltype(ex)>;
      auto* const wait =
          handler_waiter<claims, Handler, executor, path>::make(operation_.core(), ex);
      wait_ = wait;
      slot_ = slot;
      // Not free a moment ago, unless only the budget is used up.
      if (!immediate_budget::available() && operation_.core().try_grant(*wait)) return;
      if (!wait->arm(slot, operation_.limit())) discard();
    });
  }

  // Without a wait the context is shutting down: the handler, and the coroutine, end here.
  void launch(Handler&& handler) noexcept {
    if (!wait_) return static_cast<void>(Handler(std::move(handler)));
    wait_type& wait = *std::exchange(wait_, nullptr);
    ::new (static_cast<void*>(std::addressof(wait.handler))) Handler(std::move(handler));
    if (wait.state == wait_state::decided || !wait.core->enter(wait)) wait.complete();
  }

 private:
  ASIO_SYNC_COLD auto refusal(wait_outcome outcome) const {
    return result_.value(error_of(outcome), typename claims::grant());
  }

  void discard() noexcept {
    if (wait_->slot_connected) slot_.clear();
    wait_->act(*std::exchange(wait_, nullptr), wait_action::discard_empty);
  }

  Operation operation_;
  [[no_unique_address]] Result result_;
  wait_outcome outcome_ = wait_outcome::undecided;
  wait_type* wait_ = nullptr;
  asio::cancellation_slot slot_;
};

// The initiation of a wait: what async_initiate is given.
template <class Operation, class Result>
class wait_initiation {
 public:
  using result = Result;
  using executor_type = typename Operation::executor_type;
  template <class Handler>
  struct awaitable_wait : awaitable_wait_of<Operation, Result, Handler> {
    explicit awaitable_wait(wait_initiation const& self)
        : awaitable_wait_of<Operation, Result, Handler>(self.operation_, self.result_) {}
  };

  wait_initiation(Operation const& operation, Result r) : operation_(operation), result_(r) {}

  executor_type get_executor() const noexcept { return operation_.executor(); }

  template <class Handler>
  void operator()(Handler&& handler) const {
    if constexpr (std::is_same_v<Result, plain_result>)
      start_wait(operation_, std::forward<Handler>(handler));
    else
      start_wait(operation_, result_handler<Result, std::decay_t<Handler>>{
                                 result_, std::forward<Handler>(handler)});
  }

 private:
  Operation operation_;
  [[no_unique_address]] Result result_;
};

// use_awaitable: a coroutine of one recycled frame, which mostly ends without having suspended.
template <class Executor, class Operation, class Result>
auto await_wait(wait_initiation<Operation, Result> initiation)
    -> asio::awaitable<typename Result::template value_type<typename Operation::claims::grant>,
                       Executor> {
  using signature = typename Result::template signature<typename Operation::claims::grant>;
  co_return co_await asio::async_initiate<asio::deferred_t const, signature>(std::move(initiation),
                                                                             asio::deferred);
}

// The initiating functions of all primitives end here. Tokens of coroutines get an initiation that
// is asked first, the result adapted to the token on this side of it; all others are Asio's.
template <class Operation, class Token>
auto initiate_wait(Operation const& operation, Token&& token) {
  using grant = typename Operation::claims::grant;
  using adapted = adapted_token<std::decay_t<Token>>;
  using base =
      std::conditional_t<std::is_void_v<typename adapted::base>,
                         default_token<typename Operation::executor_type>, typename adapted::base>;
  auto const initiate = [&](auto result) {
    using initiation = wait_initiation<Operation, decltype(result)>;
    using signature = typename decltype(result)::template signature<grant>;
    if constexpr (is_use_awaitable<base>)
      return await_wait<typename use_awaitable_executor<base>::type>(
          initiation(operation, result));
    else
      return asio::async_initiate<asio::deferred_t const, signature>(initiation(operation, result),
                                                                     asio::deferred);
  };
  constexpr bool is_spared =
      awaits_ready && (is_use_awaitable<base> || std::is_same_v<base, asio::deferred_t>);
  if constexpr (adapted::redirects && (is_spared || redirects_deferred<Token>))
    return initiate(redirected_result{redirection(token)});
  else if constexpr (!is_spared)
    return asio::async_initiate<Token, plain_result::signature<grant>>(
        wait_initiation<Operation, plain_result>(operation, {}), token);
  else if constexpr (adapted::as_tuple)
    return initiate(tuple_result());
  else
    return initiate(plain_result());
}

}  // namespace asio_sync::detail

namespace boost::asio {
ASIO_SYNC_ASIO_NAMESPACE_BEGIN

template <template <typename, typename> class Associator, typename Result, typename Handler,
          typename DefaultCandidate>
struct associator<Associator, asio_sync::detail::result_handler<Result, Handler>, DefaultCandidate>
    : Associator<Handler, DefaultCandidate> {
  static auto get(asio_sync::detail::result_handler<Result, Handler> const& h) noexcept {
    return Associator<Handler, DefaultCandidate>::get(h.handler);
  }
  static auto get(asio_sync::detail::result_handler<Result, Handler> const& h,
                  DefaultCandidate const& c) noexcept {
    return Associator<Handler, DefaultCandidate>::get(h.handler, c);
  }
};

ASIO_SYNC_ASIO_NAMESPACE_END
}  // namespace boost::asio

#endif
