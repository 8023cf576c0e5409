// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_SIGNALS_EVENT_BASE_HPP
#define ASIO_SYNC_DETAIL_SIGNALS_EVENT_BASE_HPP

// What is under the primitives that are waited for and give nothing: their waits.

#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/core/wait_list.hpp>
#include <asio_sync/detail/operation/errors.hpp>
#include <asio_sync/detail/operation/initiation.hpp>
#include <asio_sync/detail/operation/operation.hpp>
#include <asio_sync/detail/operation/primitive.hpp>
#include <asio_sync/detail/operation/wait_limit.hpp>
#include <asio_sync/detail/platform/asio_compat.hpp>

#include <boost/system/error_code.hpp>

#include <chrono>
#include <cstddef>

namespace asio_sync::detail {

// Kind: `core_type`; `try_wait(core)`, whether there is nothing to wait for, with its side effect;
// and `name` and `wait_name`, those of the primitive and its wait. Its waits ask for what their
// node's asked_type is by default.
// The contract of each member stands where a primitive makes it public.
template <class Executor, class Kind>
class event_base : primitive<Executor, typename Kind::core_type> {
  using base = primitive<Executor, typename Kind::core_type>;

 public:
  using executor_type = Executor;

  executor_type get_executor() const noexcept { return base::executor(); }

  void wait() { static_cast<void>(in_thread(no_limit(), "wait")); }

  template <class Rep, class Period>
  bool wait_for(std::chrono::duration<Rep, Period> const& time) {
    return in_thread(wait_limit::after(time), "wait_for");
  }

  template <class Clock, class Duration>
  bool wait_until(std::chrono::time_point<Clock, Duration> const& time) {
    return in_thread(wait_limit::at(time), "wait_until");
  }

  std::size_t cancel() { return core().refuse_all(wait_outcome::aborted); }
  void close() noexcept { core().close(); }
  bool is_closed() const noexcept { return core().is_closed(); }
  std::size_t waiters() const noexcept { return core().waiters(); }

  template <token_for<void(boost::system::error_code)> Token = default_token<Executor>>
  auto async_wait(Token&& token = Token()) {
    return initiate(no_limit(), static_cast<Token&&>(token));
  }

  template <class Rep, class Period,
            token_for<void(boost::system::error_code)> Token = default_token<Executor>>
  auto async_wait_for(std::chrono::duration<Rep, Period> const& time, Token&& token = Token()) {
    return initiate(wait_limit::after(time), static_cast<Token&&>(token));
  }

  template <class Clock, class Duration,
            token_for<void(boost::system::error_code)> Token = default_token<Executor>>
  auto async_wait_until(std::chrono::time_point<Clock, Duration> const& time,
                        Token&& token = Token()) {
    return initiate(wait_limit::at(time), static_cast<Token&&>(token));
  }

 protected:
  using base::base;
  using base::core;
  using base::executor;

 private:
  // A wait, and how long it may take.
  template <class Limit>
  class wait_operation : public operation_base<wait_operation<Limit>, Executor,
                                               no_grant<typename Kind::core_type>, Limit> {
   public:
    wait_operation(event_base& event, Limit limit) noexcept
        : wait_operation::operation_base(limit), event_(&event) {}

    Executor const& executor() const noexcept { return event_->base::executor(); }
    typename Kind::core_type& core() const noexcept { return event_->core(); }
    static auto asked() noexcept { return typename Kind::core_type::node::asked_type(); }

    ASIO_SYNC_FLATTEN ASIO_SYNC_INLINE verdict try_now() const noexcept {
      return Kind::try_wait(core()) ? wait_outcome::granted : refusal_of(core(), this->limit_);
    }

    // Names it in the output of Asio's handler tracking.
    void track(waiter& w) const {
      track_creation(executor(), w, Kind::name, core().primitive(), Kind::wait_name);
    }

   private:
    event_base* event_;
  };

  template <class Limit, class Token>
  auto initiate(Limit limit, Token&& token) {
    return initiate_wait(wait_operation<Limit>(*this, limit), static_cast<Token&&>(token));
  }

  // False if the time was up first.
  bool in_thread(wait_limit limit, char const* function) {
    return granted_in_thread(wait_operation<wait_limit>(*this, limit), Kind::name, function)
        .granted();
  }
};

}  // namespace asio_sync::detail

#endif
