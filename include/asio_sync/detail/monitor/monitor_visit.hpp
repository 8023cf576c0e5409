// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_MONITOR_MONITOR_VISIT_HPP
#define ASIO_SYNC_DETAIL_MONITOR_MONITOR_VISIT_HPP

// The waits that a monitor does something for on its strand: look at a predicate, run a function.

#include <asio_sync/detail/condition/condition_wait.hpp>
#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/monitor/monitor_core.hpp>
#include <asio_sync/detail/monitor/monitor_entry.hpp>
#include <asio_sync/detail/monitor/monitor_function.hpp>
#include <asio_sync/detail/monitor/strand_core.hpp>
#include <asio_sync/detail/operation/errors.hpp>
#include <asio_sync/detail/operation/initiation.hpp>
#include <asio_sync/detail/operation/inner_handler.hpp>
#include <asio_sync/detail/operation/operation.hpp>
#include <asio_sync/detail/operation/wait_limit.hpp>
#include <asio_sync/detail/platform/asio_compat.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/system/system_error.hpp>

#include <concepts>
#include <exception>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace asio_sync::detail {

// A plain wait for the monitor, which is a mutex's.
template <class T, class Executor, class Limit>
class enter_operation
    : public operation_base<enter_operation<T, Executor, Limit>, asio::strand<Executor>,
                            entry_delivery<T, mutex_core>, Limit> {
  using monitor = monitor_on_strand<T, Executor>;

 public:
  enter_operation(monitor& core, Limit limit) noexcept
      : enter_operation::operation_base(limit), core_(&core) {}

  asio::strand<Executor> const& executor() const noexcept { return core_->strand(); }
  static constexpr bool executor_may_end = true;
  bool has_executor() const noexcept { return core_->has_strand(); }
  mutex_core& core() const noexcept { return *core_; }
  static waiter::asked_type asked() noexcept { return {}; }

  ASIO_SYNC_FLATTEN ASIO_SYNC_INLINE verdict try_now() const noexcept {
    return core_->try_acquire(1, true) ? wait_outcome::granted : refusal_of(*core_, this->limit_);
  }

  // Names it in the output of Asio's handler tracking.
  void track(waiter& w) const {
    track_creation(executor(), w, "async_monitor", core_->primitive(), "async_enter");
  }

 private:
  monitor* core_;
};

// All that is compiled of a visit once, whatever it does. Grant: an entry, or void.
template <class T, class Executor, class Limit, class Delivery>
class visit_operation : public operation_base<visit_operation<T, Executor, Limit, Delivery>,
                                              asio::strand<Executor>, Delivery, Limit> {
 protected:
  using monitor = monitor_on_strand<T, Executor>;

 public:
  visit_operation(monitor& core, Limit limit, visit_functions const& functions) noexcept
      : visit_operation::operation_base(limit), core_(&core), functions_(&functions) {}

  asio::strand<Executor> const& executor() const noexcept { return core_->strand(); }
  static constexpr bool executor_may_end = true;
  bool has_executor() const noexcept { return core_->has_strand(); }
  monitor_core& core() const noexcept { return *core_; }

  visit_waiter::asked_type asked() const noexcept {
    return {functions_, where_, thrown_, throws_, this->limit_.expired()};
  }

  // What is refused at once; the rest goes to the strand, or is known by its context first.
  verdict try_now() const noexcept {
    return core_->is_closed() ? wait_outcome::closed : wait_outcome::undecided;
  }

  // The same where a coroutine is running, whose context is.
  verdict try_in_coroutine() const noexcept {
    if (!core_->is_closed() && !core_->has_strand()) return wait_outcome::aborted;
    return try_now();
  }

  template <class Handler>
  static void attach(visit_waiter& w, Handler& handler) noexcept {
    handler.attach_to(w);
  }

  // Names it in the output of Asio's handler tracking.
  void track(waiter& w) const {
    constexpr bool enters = !std::is_void_v<typename Delivery::grant>;
    track_creation(executor(), w, "async_monitor", core_->primitive(),
                   enters ? "async_enter_when" : "async_invoke");
  }

 protected:
  // For a coroutine, which keeps what is visited with.
  visit_operation with(void* where, std::exception_ptr& thrown) const noexcept {
    visit_operation result(*this);
    result.where_ = where;
    result.thrown_ = &thrown;
    result.throws_ = false;
    return result;
  }

  T& object() const noexcept { return core_->object; }

  // A coroutine on the strand visits at once, if the monitor is free.
  bool try_here() const noexcept {
    return core_->strand_runs_here() && core_->try_acquire(1, true);
  }
  bool is_dead() const noexcept { return core_->is_dead(); }
  void leave_unchanged() const noexcept { core_->release_counted(); }
  void leave() const noexcept { core_->leave(); }

 private:
  monitor* core_;
  visit_functions const* functions_;
  void* where_ = nullptr;
  std::exception_ptr* thrown_ = nullptr;
  bool throws_ = true;
};

// A predicate to look at before an entry is granted.
template <class T, class Predicate>
class looking {
 public:
  static constexpr bool throws = true;

  looking(T& object, Predicate&& predicate)
      : object_(&object), predicate_(std::in_place, std::move(predicate)) {}

  static constexpr visit_functions functions() noexcept {
    return {[](void* where) { return static_cast<looking*>(where)->admits(); }, nullptr, nullptr};
  }

  bool admits() const { return std::invoke(*predicate_, std::as_const(*object_)); }

  template <class Handler, class Entry>
  static void complete(Handler&& handler, error_code error, Entry&& entry) {
    std::forward<Handler>(handler)(error, std::forward<Entry>(entry));
  }

  std::exception_ptr thrown;

 private:
  T* object_;
  launched_predicate<Predicate> predicate_;
};

template <class Visit>
inline constexpr visit_functions functions_of_visit = Visit::functions();

// A handler in its block, with what it visits with.
template <class Handler, class Visit>
struct visit_handler {
  void attach_to(visit_waiter& w) noexcept {
    w.request.where = std::addressof(visit);
    w.request.thrown = &visit.thrown;
    w.request.throws = Visit::throws;
  }

  template <class... Entry>
  void operator()(error_code error, Entry&&... entry) {
    visit.complete(std::move(handler), error, std::forward<Entry>(entry)...);
  }

  Handler const& inner() const noexcept { return handler; }

  Handler handler;
  Visit visit;
};

template <class Handler, class Visit>
inline constexpr bool is_associated_as_inner<visit_handler<Handler, Visit>> = true;

// A visit with what it needs; for a coroutine it stays here.
template <class T, class Executor, class Limit, class Visit, class Delivery>
class operation_with : public visit_operation<T, Executor, Limit, Delivery> {
  using base = visit_operation<T, Executor, Limit, Delivery>;

 public:
  operation_with(monitor_on_strand<T, Executor>& core, Limit limit, Visit&& visit)
      : base(core, limit, functions_of_visit<Visit>), visit_(std::move(visit)) {}

  static constexpr bool has_common_part = true;
  base common() const noexcept { return base::with(std::addressof(visit_), visit_.thrown); }

  template <class Handler>
  auto in_block(Handler&& handler) const {
    return visit_handler<std::decay_t<Handler>, Visit>{static_cast<Handler&&>(handler), visit_};
  }

 protected:
  // Where the thread runs on the strand, and the monitor is free, a coroutine visits at once: what
  // f says of that, or what is known without a visit. Throws what f and the predicate throw.
  template <class Function>
  verdict try_with(Function f) const {
    verdict const refused = base::try_in_coroutine();
    if (refused.decided() || !base::try_here()) return refused;
    struct inside {
      operation_with const& operation;
      bool leaves = true;
      ~inside() {
        if (leaves) operation.leave_unchanged();
      }
    } here{*this};
    bool const admits = visit_.admits();
    if (base::is_dead()) return wait_outcome::aborted;  // by the predicate
    if (admits) {
      here.leaves = false;
      return f();
    }
    return this->limit().expired() ? wait_outcome::timed_out : wait_outcome::undecided;
  }

  mutable Visit visit_;
};

// Waits until the predicate is true.
template <class T, class Executor, class Limit, class Predicate>
class enter_when_operation : public operation_with<T, Executor, Limit, looking<T, Predicate>,
                                                   entry_delivery<T, monitor_core>> {
  using base =
      operation_with<T, Executor, Limit, looking<T, Predicate>, entry_delivery<T, monitor_core>>;

 public:
  using base::base;

  verdict try_in_coroutine() const {
    return base::try_with([] { return verdict(wait_outcome::granted); });
  }

  // Throws what the predicate has thrown while the coroutine was suspended.
  template <class Result>
  ASIO_SYNC_INLINE auto result(monitor_core* core, verdict decided, Result const& form) const {
    if (auto& thrown = this->visit_.thrown) std::rethrow_exception(std::exchange(thrown, nullptr));
    return base::result(core, decided, form);
  }
};

// Runs a function inside, once its predicate, if it has one, is true.
template <class T, class Executor, class Limit, class Predicate, class Function>
class invoke_operation
    : public operation_with<T, Executor, Limit, invocation<T, Executor, Predicate, Function>,
                            no_grant<monitor_core>> {
  using visit = invocation<T, Executor, Predicate, Function>;
  using base = operation_with<T, Executor, Limit, visit, no_grant<monitor_core>>;
  using result_type = typename visit::result_type;

 public:
  using base::base;

  template <class Result>
  struct types {
    static constexpr bool is_tuple = std::is_same_v<Result, tuple_result>;
    using tuple = typename result_type::tuple;
    using signature = std::conditional_t<is_tuple, void(tuple), typename result_type::signature>;
    using value =
        std::conditional_t<is_tuple, tuple, decltype(std::declval<result_type&>().take())>;
  };

  verdict try_in_coroutine() const {
    if constexpr (visit::is_awaited) {
      return base::try_in_coroutine();
    } else {
      verdict const has_left(wait_outcome::granted, 1);
      try {
        return base::try_with([&] {
          this->visit_.run();
          base::leave();
          return has_left;
        });
      } catch (...) {  // by the predicate
        this->visit_.thrown = std::current_exception();
        return has_left;
      }
    }
  }

  template <class Result>
  auto result(monitor_core*, verdict decided, Result const&) const {
    visit& from = this->visit_;
    std::exception_ptr thrown = std::move(from.thrown);
    if (!decided.granted()) thrown = exception_of(error_of(decided));
    if constexpr (std::is_same_v<Result, tuple_result>) {
      return from.result.to_tuple(std::move(thrown));
    } else {
      if (thrown) std::rethrow_exception(thrown);
      return from.result.take();
    }
  }
};

// As initiate_wait(), for what completes with an exception_ptr, which redirect_error leaves alone.
template <class Operation, class Token>
auto initiate_invocation(Operation operation, Token&& token) {
  using adapted = adapted_token<std::decay_t<Token>>;
  using base = typename adapted::base;
  using result = std::conditional_t<adapted::as_tuple, tuple_result, plain_result>;
  using initiation = wait_initiation<Operation, result>;
  if constexpr (!awaits_ready || adapted::redirects)
    return asio::async_initiate<Token,
                                typename wait_initiation<Operation, plain_result>::signature>(
        wait_initiation<Operation, plain_result>(std::move(operation), {}), token);
  else if constexpr (is_use_awaitable<base>)
    return await_wait<typename use_awaitable_executor<base>::type>(
        initiation(std::move(operation), {}));
  else if constexpr (std::is_same_v<base, asio::deferred_t>)
    return asio::async_initiate<asio::deferred_t const, typename initiation::signature>(
        initiation(std::move(operation), {}), asio::deferred);
  else
    return asio::async_initiate<Token,
                                typename wait_initiation<Operation, plain_result>::signature>(
        wait_initiation<Operation, plain_result>(std::move(operation), {}), token);
}

}  // namespace asio_sync::detail

#endif
