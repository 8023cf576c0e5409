// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_SEVERAL_LOCK_ALL_HPP
#define ASIO_SYNC_DETAIL_SEVERAL_LOCK_ALL_HPP

// async_lock_all() uses the public members of the mutexes alone. A coroutine first tries all of
// them. A call that has to wait locks one after the other, in the order of their addresses.

#include <asio_sync/detail/context/completion.hpp>
#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/core/wait_list.hpp>
#include <asio_sync/detail/locks/permit_cores.hpp>
#include <asio_sync/detail/operation/cancellation_relay.hpp>
#include <asio_sync/detail/operation/coroutine_wait.hpp>
#include <asio_sync/detail/operation/errors.hpp>
#include <asio_sync/detail/operation/handler_waiter.hpp>
#include <asio_sync/detail/operation/initiation.hpp>
#include <asio_sync/detail/operation/inner_handler.hpp>
#include <asio_sync/detail/operation/operation.hpp>
#include <asio_sync/detail/operation/result.hpp>
#include <asio_sync/detail/operation/wait_limit.hpp>
#include <asio_sync/detail/platform/asio_compat.hpp>
#include <asio_sync/detail/platform/block_pool.hpp>
#include <asio_sync/detail/platform/executor.hpp>
#include <asio_sync/detail/platform/threading.hpp>
#include <asio_sync/detail/several/several_mutexes.hpp>
#include <asio_sync/error.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>
#include <boost/system/errc.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace asio_sync::detail {

// The grant of all mutexes. The core is that of a refused_wait; the waits are the mutexes' own.
template <class Mutexes>
struct locks_delivery {
  using core_type = mutex_core;
  using grant = typename Mutexes::locks_type;
};

template <class Mutexes, class Limit, class Result, class Handler>
class awaitable_lock_all;

// Is composed of waits for the mutexes, one after the other.
template <class Mutexes, class Limit>
class lock_all_operation
    : public operation_base<lock_all_operation<Mutexes, Limit>, typename Mutexes::executor_type,
                            locks_delivery<Mutexes>, Limit> {
 public:
  lock_all_operation(Mutexes m, Limit limit)
      : lock_all_operation::operation_base(limit), mutexes(std::move(m)) {}

  typename Mutexes::executor_type executor() const { return mutexes.get_executor(); }

  template <class Source>
  static void start(lock_all_operation const& operation, Source&& handler);

  template <class, class Result, class Handler>
  using awaitable_wait = awaitable_lock_all<Mutexes, Limit, Result, Handler>;

  Mutexes mutexes;
};

// A wait that is refused at once. It has a core of its own, which ends with it.
template <class Executor>
class refused_wait
    : public operation_base<refused_wait<Executor>, Executor, no_grant<mutex_core>, no_limit> {
 public:
  // Throws what mutex_core::make() throws.
  explicit refused_wait(Executor const& ex)
      : refused_wait::operation_base(no_limit()),
        executor_(ex),
        core_(*mutex_core::make(this, ex, 1u, 1u)) {}
  refused_wait(refused_wait const&) = delete;
  refused_wait& operator=(refused_wait const&) = delete;
  ~refused_wait() { core_.abandon(); }

  Executor const& executor() const noexcept { return executor_; }
  mutex_core& core() const noexcept { return core_; }
  static waiter::asked_type asked() noexcept { return {}; }
  static verdict try_now() noexcept { return wait_outcome::closed; }
  void track(waiter& w) const {
    track_creation(executor_, w, "async_lock_all", &core_, "async_lock_all");
  }

 private:
  Executor executor_;
  mutex_core& core_;
};

// Sorts the mutexes by address. A call waits for a mutex and holds only mutexes of lower
// addresses: no two calls wait for each other.
template <class Mutexes>
auto in_order(Mutexes const& mutexes) {
  auto places = mutexes.places();
  std::ranges::sort(places, {}, &lock_place::address);
  return places;
}

template <class Places>
bool has_one_twice(Places const& ordered) {
  return std::ranges::adjacent_find(ordered, {}, &lock_place::address) != ordered.end();
}

inline error_code invalid_argument() noexcept {
  return boost::system::errc::make_error_code(boost::system::errc::invalid_argument);
}

// Locks the mutexes one after the other, and is itself the handler of each wait. The locks end
// before the caller's handler, whose destructor may wait for one of the mutexes.
template <class Mutexes, class Limit, class Executor, class Handler>
class lock_in_order {
  using operation_type = lock_all_operation<Mutexes, Limit>;
  using locks_type = typename Mutexes::locks_type;

 public:
  using executor_type = Executor;
  using cancellation_slot_type = asio::cancellation_slot;

  lock_in_order(operation_type const& operation, Executor const& executor, Handler&& handler)
      : handler_(std::move(handler)),
        executor_(executor),
        mutexes_(operation.mutexes),
        ordered_(in_order(mutexes_)),
        relay_(cancellation_relay::make(slot_of(handler_))),
        locks_(mutexes_.no_locks()) {
    if constexpr (is_timed) deadline_ = wait_limit(operation.limit()).deadline();
  }

  // Returns the caller's executor: each wait keeps its context running, whatever mutex it is for.
  executor_type get_executor() const noexcept { return executor_; }
  cancellation_slot_type get_cancellation_slot() const noexcept {
    return relay_ ? relay_->slot() : cancellation_slot_type();
  }
  Handler const& inner() const noexcept { return handler_; }

  // Begins the call, and moves this object into its first wait.
  void start() {
    if (ordered_.empty() || has_one_twice(ordered_)) {
      if constexpr (is_postable<Executor>)
        return wait_for_nothing(executor_);
      else
        return wait_for_nothing(mutexes_.get_executor());
    }
    next_ = find_closed(0);  // a wait for a closed mutex is over at once
    if (next_ == ordered_.size()) {
      // Waits for the last mutex even if it is free: the wait completes on the right executor.
      next_ = 0;
      lock_what_is_free(ordered_.size() - 1);
    }
    wait();
  }

  // Continues after a wait.
  template <class Lock>
  void operator()(error_code error, Lock now) {
    if (error) return finish(error);
    mutexes_.visit(ordered_[next_].index, locks_, [&](auto&, auto& lock) {
      if constexpr (std::is_same_v<decltype(lock), Lock&>) lock = std::move(now);
    });
    ++next_;
    lock_what_is_free(ordered_.size());
    error = refusal();
    if (error || next_ == ordered_.size()) return finish(error);
    wait();
  }

  // Completes a call that had nothing to wait for.
  void operator()(error_code) { finish(ordered_.empty() ? error_code() : invalid_argument()); }

 private:
  static constexpr bool is_timed = !std::is_same_v<Limit, no_limit>;

  std::size_t find_closed(std::size_t from) const {
    while (from != ordered_.size() && !ordered_[from].core.is_closed()) ++from;
    return from;
  }

  void lock_what_is_free(std::size_t end) {
    while (next_ != end && try_next()) ++next_;
  }

  // Returns why the call fails, if it does. A destroyed mutex makes the call fail even if the call
  // held the mutex; a closed mutex does so unless the call holds the mutex.
  error_code refusal() const {
    auto const dead = [](lock_place const& place) { return place.core.is_dead(); };
    if (std::ranges::any_of(ordered_, dead)) return asio::error::operation_aborted;
    if (next_ == ordered_.size()) return {};
    if (relay_ && !relay_->begin_stage()) return asio::error::operation_aborted;
    return find_closed(next_) != ordered_.size() ? error::closed : error_code();
  }

  // Completes the call as a wait that is refused at once. `home`: the caller's executor, because
  // the contexts of the mutexes may have ended; the first mutex's, if nothing can be posted to the
  // caller's.
  template <class Home>
  void wait_for_nothing(Home const& home) {
    start_wait(refused_wait<Home>(home), std::move(*this));
  }

  void wait() {
    cancellation_relay::initiation const begins(relay_);
    mutexes_.visit(ordered_[next_].index, locks_, [this](auto& mutex, auto&) {
      if constexpr (is_timed)
        mutex.async_lock_until(deadline_, std::move(*this));
      else
        mutex.async_lock(std::move(*this));
    });
  }

  bool try_next() {
    if (ordered_[next_].core.is_dead()) return false;
    bool locked = true;
    mutexes_.visit(ordered_[next_].index, locks_, [&](auto& mutex, auto& lock) {
      lock = tried_lock<std::remove_reference_t<decltype(mutex)>>{mutex, locked};
    });
    return locked;
  }

  void finish(error_code error) {
    if (relay_) relay_->end();
    if (error) locks_ = locks_type();  // nothing is held when the handler is called
    std::move(handler_)(error, std::move(locks_));
  }

  Handler handler_;
  [[no_unique_address]] Executor executor_;
  Mutexes mutexes_;
  typename Mutexes::places_type ordered_;
  std::size_t next_ = 0;
  [[no_unique_address]] std::conditional_t<is_timed, steady_clock::time_point, Limit> deadline_{};
  std::shared_ptr<cancellation_relay> relay_;  // to the waits; null without a slot
  locks_type locks_;
};

template <class Mutexes, class Limit, class Executor, class Handler>
inline constexpr bool is_associated_as_inner<lock_in_order<Mutexes, Limit, Executor, Handler>> =
    true;

template <class Mutexes, class Limit, class Executor, class Handler>
void lock_one_by_one(lock_all_operation<Mutexes, Limit> const& operation, Executor const& executor,
                     Handler handler) {
  lock_in_order<Mutexes, Limit, Executor, Handler>(operation, executor, std::move(handler))
      .start();
}

// Holds a handler whose type is erased: lock_in_order is compiled once for all these handlers.
template <class Locks>
struct erased_handler {
  using allocator_type = pool_allocator<std::byte>;
  using cancellation_slot_type = asio::cancellation_slot;

  static allocator_type get_allocator() noexcept { return {}; }
  cancellation_slot_type get_cancellation_slot() const noexcept {
    return asio::get_associated_cancellation_slot(handler);
  }

  void operator()(error_code error, Locks locks) { std::move(handler)(error, std::move(locks)); }

  asio::any_completion_handler<void(error_code, Locks)> handler;
};

// Calls the handler. Locks that the handler does not take end before the handler is destroyed.
struct locks_end_first {
  template <class Handler, class Locks>
  static void complete(Handler&& handler, error_code error, Locks&& locks) {
    std::decay_t<Locks> own(static_cast<Locks&&>(locks));
    static_cast<Handler&&>(handler)(error, std::move(own));
  }
};

// True if the type of a handler can be erased. Asio's any_completion_handler destroys a handler
// before it frees the handler's memory, which the handler may keep alive. If moving the handler
// throws, the handler ends before the locks. Without memory no immediate executor is found.
template <class Handler>
inline constexpr bool is_erasable =
    !has_immediate_executor<Handler> && std::is_nothrow_move_constructible_v<Handler> &&
    std::is_same_v<asio::associated_allocator_t<Handler, pool_allocator<std::byte>>,
                   pool_allocator<std::byte>>;

template <class Mutexes, class Limit>
template <class Source>
void lock_all_operation<Mutexes, Limit>::start(lock_all_operation const& operation,
                                               Source&& handler) {
  using handler_type = std::decay_t<Source>;
  using locks_type = typename Mutexes::locks_type;
  auto const executor = asio::get_associated_executor(handler, operation.executor());
  result_handler<locks_end_first, handler_type> called{{}, static_cast<Source&&>(handler)};
  if constexpr (is_erasable<handler_type>) {
    auto pooled = asio::bind_allocator(pool_allocator<std::byte>(), std::move(called));
    lock_one_by_one(operation, executor, erased_handler<locks_type>{std::move(pooled)});
  } else {
    lock_one_by_one(operation, executor, std::move(called));
  }
}

// A coroutine does not suspend if all mutexes are free, or if the call is sure to fail.
template <class Mutexes, class Limit, class Result, class Handler>
class awaitable_lock_all {
  using operation_type = lock_all_operation<Mutexes, Limit>;
  using locks_type = typename Mutexes::locks_type;

  // Leaves the result in the awaiter, and resumes the coroutine.
  struct left_behind {
    void complete(Handler&& handler, error_code error, locks_type&& locks) const {
      if (error)
        wait->error_ = error;
      else
        wait->locks_ = std::move(locks);
      std::move(handler)(verdict(wait_outcome::granted));
    }

    awaitable_lock_all* wait;
  };

 public:
  ASIO_SYNC_INLINE awaitable_lock_all(operation_type const& operation, Result result) noexcept
      : operation_(operation), result_(result) {}

  ASIO_SYNC_INLINE bool ready() {
    if (!immediate_budget::available()) return false;
    if (!operation_.mutexes.try_all(locks_) && !refused()) return false;
    immediate_budget::use();
    return true;
  }

  // True because the awaiter always has the result when the coroutine goes on.
  static bool was_ready() noexcept { return true; }
  static verdict outcome() noexcept { return wait_outcome::granted; }

  template <class Executor>
  static void prepare(Executor const&, asio::cancellation_slot) noexcept {}

  void launch(Handler&& handler) {
    result_handler<left_behind, Handler> resuming{{this}, std::move(handler)};
    auto const executor = asio::get_associated_executor(resuming, operation_.executor());
    lock_one_by_one(operation_, executor, std::move(resuming));
  }

  ASIO_SYNC_INLINE auto result(verdict) {
    return locks_ ? result_.value(error_code(), std::move(*locks_)) : refusal();
  }

 private:
  ASIO_SYNC_COLD bool refused() {
    locks_.reset();
    if (has_one_twice(in_order(operation_.mutexes)))
      error_ = invalid_argument();
    else if (operation_.mutexes.any_closed())
      error_ = error::closed;
    else if (operation_.limit().expired())
      error_ = asio::error::timed_out;
    return error_.has_value();
  }

  ASIO_SYNC_COLD auto refusal() const { return result_.value(*error_, locks_type()); }

  operation_type operation_;
  [[no_unique_address]] Result result_;
  std::optional<locks_type> locks_;
  std::optional<error_code> error_;  // set instead of the locks
};

}  // namespace asio_sync::detail

#endif
