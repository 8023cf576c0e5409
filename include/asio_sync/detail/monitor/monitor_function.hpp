// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_MONITOR_MONITOR_FUNCTION_HPP
#define ASIO_SYNC_DETAIL_MONITOR_MONITOR_FUNCTION_HPP

// The functions that a monitor invokes: what they return, how they are run, how they are
// cancelled.

#include <asio_sync/detail/condition/condition_wait.hpp>
#include <asio_sync/detail/monitor/monitor_core.hpp>
#include <asio_sync/detail/monitor/strand_core.hpp>
#include <asio_sync/detail/operation/errors.hpp>
#include <asio_sync/detail/operation/initiation.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/system/system_error.hpp>

#include <concepts>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace asio_sync::detail {

// What a monitor may invoke.
template <class Function, class T>
concept function_of = std::invocable<std::add_lvalue_reference_t<std::decay_t<Function>>,
                                     std::add_lvalue_reference_t<T>>;

inline std::exception_ptr exception_of(error_code error) {
  return std::make_exception_ptr(boost::system::system_error(error));
}

// What a function returns; an awaitable: what that returns.
template <class Returned>
struct returned_value {
  using type = std::remove_cvref_t<Returned>;
  static constexpr bool is_awaited = false;
};
template <class Value, class Executor>
struct returned_value<asio::awaitable<Value, Executor>> {
  using type = Value;
  static constexpr bool is_awaited = true;
};

// What the handler of an invocation, or its coroutine, receives.
template <class Value>
struct invocation_result {
  static_assert(std::is_default_constructible_v<Value>,
                "what an invoked function returns has to be made without arguments where the "
                "function was not run");

  using signature = void(std::exception_ptr, Value);
  using tuple = std::tuple<std::exception_ptr, Value>;

  template <class Handler>
  void give_to(Handler&& handler, std::exception_ptr error) {
    std::forward<Handler>(handler)(std::move(error), take());
  }
  tuple to_tuple(std::exception_ptr error) { return {std::move(error), take()}; }
  Value take() { return value ? Value(std::move(*value)) : Value(); }

  template <class Function, class Object>
  void set_to(Function& function, Object& object) {
    value.emplace(std::invoke(function, object));
  }

  std::optional<Value> value;
};

template <>
struct invocation_result<void> {
  using signature = void(std::exception_ptr);
  using tuple = std::tuple<std::exception_ptr>;

  template <class Handler>
  static void give_to(Handler&& handler, std::exception_ptr error) {
    std::forward<Handler>(handler)(std::move(error));
  }
  static tuple to_tuple(std::exception_ptr error) { return {std::move(error)}; }
  static void take() noexcept {}

  template <class Function, class Object>
  static void set_to(Function& function, Object& object) {
    std::invoke(function, object);
  }
};

// What an invocation has spawned. Shared with the cancellation that is on its way to the strand.
template <class Strand>
struct spawned_function final : begun_task {
  enum class phase : unsigned char { begins, runs, lost, over };

  void cancel(std::shared_ptr<begun_task> const& self) noexcept override {
    try {
      asio::post(Strand(*strand),
                 [this, self] { signal.emit(asio::cancellation_type::terminal); });
    } catch (...) {  // then it goes on
    }
  }

  std::optional<Strand> strand;  // the monitor's may go before the function ends
  asio::cancellation_signal signal;
  phase now = phase::begins;  // lost: before it runs
};

// A function with its predicate, if it has one, and what came of it.
template <class T, class Executor, class Predicate, class Function>
class invocation {
  using returned = returned_value<std::invoke_result_t<Function&, T&>>;
  using strand_type = asio::strand<Executor>;
  using spawned_type = spawned_function<strand_type>;
  using phase = typename spawned_type::phase;

 public:
  static constexpr bool is_awaited = returned::is_awaited;
  static constexpr bool throws = false;
  using result_type = invocation_result<typename returned::type>;
  static constexpr bool moves_without_throwing = std::is_nothrow_move_constructible_v<Predicate> &&
                                                 std::is_nothrow_move_constructible_v<Function> &&
                                                 std::is_nothrow_move_constructible_v<result_type>;

  invocation(T& object, Predicate&& predicate, Function&& function)
      : object_(&object),
        predicate_(std::in_place, std::move(predicate)),
        function_(std::in_place, std::move(function)) {}

  // As what it is made of. NOLINTNEXTLINE(performance-noexcept-move-constructor)
  invocation(invocation&&) noexcept(moves_without_throwing) = default;
  // For another launch.
  invocation(invocation const& other)
      : object_(other.object_), predicate_(other.predicate_), function_(other.function_) {}
  invocation& operator=(invocation const&) = delete;
  ~invocation() = default;

  static constexpr visit_functions functions() noexcept {
    visit_functions all{nullptr, &enters, nullptr};
    if constexpr (!std::is_same_v<Predicate, no_predicate>)
      all.looks = [](void* where) { return static_cast<invocation*>(where)->admits(); };
    if constexpr (is_awaited)
      all.begun = [](void* where, monitor_core& core) noexcept {
        return static_cast<invocation*>(where)->begun(core);
      };
    return all;
  }

  bool admits() const {
    if constexpr (std::is_same_v<Predicate, no_predicate>)
      return true;
    else
      return std::invoke(*predicate_, std::as_const(*object_));
  }

  void run() noexcept {
    try {
      result.set_to(*function_, *object_);
    } catch (...) {
      thrown = std::current_exception();
    }
  }

  template <class Handler>
  void complete(Handler&& handler, error_code error) {
    if (error) thrown = exception_of(error);
    result.give_to(std::forward<Handler>(handler), std::move(thrown));
  }

  std::exception_ptr thrown;
  [[no_unique_address]] result_type result;

 private:
  // The completion of an awaitable. If its context ends, it is destroyed with it.
  class ending {
   public:
    ending(invocation& self, monitor_core& core, visit_waiter& w) noexcept
        : self_(&self), core_(&core), waiter_(&w) {}
    ending(ending&& other) noexcept
        : self_(std::exchange(other.self_, nullptr)), core_(other.core_), waiter_(other.waiter_) {}
    ending& operator=(ending&&) = delete;
    ~ending() {
      if (!self_) return;
      if (self_->spawned_->now == phase::begins)
        self_->spawned_->now = phase::lost;
      else
        end(!self_->thrown);
    }

    template <class... Value>
    void operator()(std::exception_ptr exception, Value&&... value) {
      self_->thrown = std::move(exception);
      if constexpr (sizeof...(Value) != 0) {
        try {
          if (!self_->thrown) self_->result.value.emplace(std::forward<Value>(value)...);
        } catch (...) {
          self_->thrown = std::current_exception();
        }
      }
      end(false);
    }

    // What is in the slot has the strand.
    void end(bool lost) noexcept {
      std::shared_ptr<spawned_type> ends;
      core_->with_lock([&] { ends = std::move(self_->spawned_); });
      ends->now = phase::over;
      ends.reset();
      self_ = nullptr;
      core_->has_run(*waiter_, lost);
    }

   private:
    invocation* self_;
    monitor_core* core_;
    visit_waiter* waiter_;
  };

  static bool enters(void* where, monitor_core& core, visit_waiter& w) {
    auto& self = *static_cast<invocation*>(where);
    if constexpr (is_awaited)
      return self.spawn(core, w);
    else
      return self.run(), true;
  }

  // True if nothing has begun to run. Otherwise this may be gone.
  bool spawn(monitor_core& core, visit_waiter& w) noexcept {
    std::shared_ptr<spawned_type> spawned;
    try {
      spawned = std::make_shared<spawned_type>();
      static_cast<monitor_on_strand<T, Executor>&>(core).with_strand(
          [&](strand_type const& strand) { spawned->strand.emplace(strand); });
      if (!spawned->strand) return core.has_run(w, true), false;  // the monitor has just ended
      auto awaited = std::invoke(*function_, *object_);
      bool cancelled = false;
      core.with_lock([&] {
        spawned_ = spawned;
        cancelled = w.is_cancelled;
      });
      auto token = asio::bind_cancellation_slot(spawned->signal.slot(), ending(*this, core, w));
      asio::co_spawn(*spawned->strand, std::move(awaited), std::move(token));
      if (spawned->now == phase::lost) return ending(*this, core, w).end(true), false;
      if (spawned->now == phase::begins) spawned->now = phase::runs;
      if (cancelled) spawned->signal.emit(asio::cancellation_type::terminal);
      return false;
    } catch (...) {
      return has_not_begun(core, spawned.get());
    }
  }

  // With the exception that is being handled. What Asio has made of it by then it may destroy
  // later.
  bool has_not_begun(monitor_core& core, spawned_type* spawned) noexcept {
    if (spawned && spawned->now == phase::over) return false;
    thrown = std::current_exception();
    if (spawned && spawned_ && spawned->now == phase::begins)
      return spawned->now = phase::runs, false;
    core.with_lock([&] { spawned_.reset(); });
    return true;
  }

  std::shared_ptr<begun_task> begun(monitor_core& core) noexcept {
    std::shared_ptr<begun_task> spawned;
    core.with_lock([&] { spawned = spawned_; });
    return spawned;
  }

  T* object_;
  mutable launched_predicate<Predicate> predicate_;
  launched_predicate<Function> function_;
  std::shared_ptr<spawned_type> spawned_;
};

}  // namespace asio_sync::detail

#endif
