// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_OPERATION_LOCK_ALL_HPP
#define ASIO_SYNC_DETAIL_OPERATION_LOCK_ALL_HPP

// The lock of several mutexes at once, made of their public members: a coroutine first tries all
// of them; whoever has to wait locks one after the other, in the order of their addresses.

#include <asio_sync/async_mutex.hpp>
#include <asio_sync/detail/context/completions.hpp>
#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/operation/carrying_handler.hpp>
#include <asio_sync/detail/operation/coroutine_wait.hpp>
#include <asio_sync/detail/operation/errors.hpp>
#include <asio_sync/detail/operation/initiation.hpp>
#include <asio_sync/detail/operation/operation.hpp>
#include <asio_sync/detail/operation/result.hpp>
#include <asio_sync/detail/operation/several_mutexes.hpp>
#include <asio_sync/detail/operation/wait_limit.hpp>
#include <asio_sync/detail/platform/asio_compat.hpp>
#include <asio_sync/detail/platform/block_pool.hpp>
#include <asio_sync/detail/platform/executor.hpp>
#include <asio_sync/detail/platform/threading.hpp>
#include <asio_sync/error.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/compose.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/prepend.hpp>
#include <boost/system/errc.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

namespace asio_sync::detail {

// The grant of all mutexes, whose cores have one type.
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

// By address: who waits holds only what comes before, so that no two wait for each other.
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

// The composed operation of those who wait.
template <class Mutexes, class Limit>
class lock_in_order {
  using locks_type = typename Mutexes::locks_type;
  struct at_once {};

 public:
  lock_in_order(Mutexes const& mutexes, typename Mutexes::places_type ordered, Limit limit)
      : mutexes_(mutexes), ordered_(std::move(ordered)) {
    if constexpr (is_timed) deadline_ = wait_limit(limit).deadline();
  }

  template <class Self>
  void operator()(Self& self) {
    self.reset_cancellation_state(asio::enable_total_cancellation());
    if (ordered_.empty() || has_one_twice(ordered_)) return wait_for_nothing(self);
    next_ = find_closed(0);  // the wait for that one is over at once
    if (next_ == ordered_.size()) {
      // The last is waited for even if it is free: its completion goes where that of all has to.
      next_ = 0;
      lock_what_is_free(self, ordered_.size() - 1);
    }
    wait(self);
  }

  template <class Self, class Lock>
  void operator()(Self& self, error_code error, Lock now) {
    if (error) return finish(self, error);
    mutexes_.visit(ordered_[next_].index, carried_by(self), [&](auto&, auto& lock) {
      if constexpr (std::is_same_v<decltype(lock), Lock&>) lock = std::move(now);
    });
    ++next_;
    lock_what_is_free(self, ordered_.size());
    error = refusal(self);
    if (error || next_ == ordered_.size()) return finish(self, error);
    wait(self);
  }

  template <class Self, class Lock>
  void operator()(Self& self, at_once, error_code, Lock const&) {
    finish(self, ordered_.empty() ? error_code() : invalid_argument());
  }

 private:
  static constexpr bool is_timed = !std::is_same_v<Limit, no_limit>;

  std::size_t find_closed(std::size_t from) const {
    while (from != ordered_.size() && !ordered_[from].core.is_closed()) ++from;
    return from;
  }

  template <class Self>
  void lock_what_is_free(Self& self, std::size_t end) {
    while (next_ != end && try_next(carried_by(self))) ++next_;
  }

  // Why there is nothing to wait for any more. What has died, held or not, will not be locked;
  // what was closed will not be, unless it is held.
  template <class Self>
  error_code refusal(Self const& self) const {
    auto const dead = [](lock_place const& place) { return place.core.is_dead(); };
    if (std::ranges::any_of(ordered_, dead)) return asio::error::operation_aborted;
    if (next_ == ordered_.size()) return {};
    if (self.cancelled() != asio::cancellation_type::none) return asio::error::operation_aborted;
    return find_closed(next_) != ordered_.size() ? error::closed : error_code();
  }

  // Completes where a wait would. If the handler's executor can do without the mutexes', whose
  // context may have gone, it does.
  template <class Self>
  void wait_for_nothing(Self& self) {
    auto const own = asio::get_associated_executor(self);
    if constexpr (is_postable<std::remove_const_t<decltype(own)>>)
      wait_for_nothing(self, own);
    else
      wait_for_nothing(self, mutexes_.get_executor());
  }
  template <class Self, class Executor>
  void wait_for_nothing(Self& self, Executor const& home) {
    basic_async_mutex<Executor> closed(home);
    closed.close();
    closed.async_lock(asio::prepend(std::move(self), at_once()));
  }

  template <class Self>
  void wait(Self& self) {
    mutexes_.visit(ordered_[next_].index, carried_by(self), [&](auto& mutex, auto&) {
      if constexpr (is_timed)
        mutex.async_lock_until(deadline_, std::move(self));  // and this moves along
      else
        mutex.async_lock(std::move(self));
    });
  }

  bool try_next(locks_type& locks) {
    if (ordered_[next_].core.is_dead()) return false;
    bool locked = true;
    mutexes_.visit(ordered_[next_].index, locks, [&](auto& mutex, auto& lock) {
      lock = tried_lock<std::remove_reference_t<decltype(mutex)>>{mutex, locked};
    });
    return locked;
  }

  template <class Self>
  void finish(Self& self, error_code error) {
    locks_type locks(std::move(carried_by(self)));
    if (error) locks = locks_type();  // nothing is held when the handler is called
    self.complete(error, std::move(locks));
  }

  Mutexes mutexes_;
  typename Mutexes::places_type ordered_;
  std::size_t next_ = 0;
  [[no_unique_address]] std::conditional_t<is_timed, steady_clock::time_point, Limit> deadline_{};
};

// Binds the handler to its executor, of which the waits keep the context running: that of the
// first mutex is no concern of those for others.
template <class Mutexes, class Limit, class Executor, class Handler>
void lock_one_by_one(lock_all_operation<Mutexes, Limit> const& operation, Executor const& executor,
                     Handler handler) {
  auto bound =
      carrying(asio::bind_executor(executor, std::move(handler)), operation.mutexes.no_locks());
  asio::async_compose<decltype(bound), void(error_code, typename Mutexes::locks_type)>(
      lock_in_order<Mutexes, Limit>(operation.mutexes, in_order(operation.mutexes),
                                    operation.limit()),
      bound);
}

// What handlers become, so that not each has code of its own for so long a way.
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

// What of the locks the handler has not taken ends before it does, as with one mutex.
struct locks_end_first {
  template <class Handler, class Locks>
  static void complete(Handler&& handler, error_code error, Locks&& locks) {
    std::decay_t<Locks> own(static_cast<Locks&&>(locks));
    static_cast<Handler&&>(handler)(error, std::move(own));
  }
};

// Asio's erased handler destroys the handler before it gives back its memory, which the handler
// may have kept alive, and before the locks end, if moving the handler throws; and without memory
// it does not find an immediate executor.
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

// In a coroutine: nothing is waited for if all are free, or if it is clear that they will not be
// locked.
template <class Mutexes, class Limit, class Result, class Handler>
class awaitable_lock_all {
  using operation_type = lock_all_operation<Mutexes, Limit>;
  using locks_type = typename Mutexes::locks_type;

  // What resumes the coroutine leaves the result with it.
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

  // The result is always here, once there is one.
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
  std::optional<error_code> error_;  // instead of the locks
};

}  // namespace asio_sync::detail

#endif
