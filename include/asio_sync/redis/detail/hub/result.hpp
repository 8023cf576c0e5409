// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_HUB_RESULT_HPP
#define ASIO_SYNC_REDIS_DETAIL_HUB_RESULT_HPP

#include <asio_sync/detail/context/homed_core.hpp>
#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/core/event_state.hpp>
#include <asio_sync/detail/core/wait_list.hpp>
#include <asio_sync/detail/operation/beginning.hpp>
#include <asio_sync/detail/operation/initiation.hpp>
#include <asio_sync/detail/operation/operation.hpp>
#include <asio_sync/detail/operation/primitive.hpp>
#include <asio_sync/detail/operation/wait_limit.hpp>
#include <asio_sync/detail/platform/known_context.hpp>
#include <asio_sync/detail/signals/event_core.hpp>
#include <asio_sync/redis/detail/hub/hub.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/system_executor.hpp>

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

namespace asio_sync::redis::detail {

// Begins what an operation waits for the end of. It lives until the wait has queued.
class beginning {
 public:
  // Returns a refusal, or undecided.
  virtual verdict begin() const noexcept = 0;

 protected:
  ~beginning() = default;
};

struct result_waiter : shell::event_waiter {
  using asked_type = beginning const*;

  result_waiter(function* f, shell::core_base* c, asked_type b) noexcept
      : event_waiter(f, c, {}), begins(b) {}

  inline verdict decided() const noexcept;

  beginning const* const begins;  // used before it queues

  verdict at_once;  // if it did not queue

  // The core's, under its lock.
  enum class progress : std::uint8_t { fresh, cancelled, begun };
  progress reached = progress::fresh;
};

// The core of a result: an event, and the verdict that its waits get when it is set.
class result_core final
    : public shell::homed_core<result_core, shell::event_state<shell::event_traits>,
                               result_waiter> {
 public:
  // `stops`: the client that is stopped instead of a wait that is cancelled by its slot.
  result_core(void* primitive, shell::known_context const& home, bool plain,
              std::weak_ptr<hub> stops) noexcept
      : homed_core(primitive, home, plain, false),
        stops_(std::move(stops)),
        had_home_(home.get() != nullptr) {}

  void settle(verdict v) noexcept {
    verdict_ = v;
    signal();
  }

  void conclude(result_waiter& w, verdict decided) noexcept {
    w.at_once = decided;
    homed_core::conclude(w, decided);
  }

  // Begins when nothing can fail any more.
  bool enter(result_waiter& w) noexcept {
    verdict const refused = begin(w);
    if (!refused.decided()) return homed_core::enter(w);
    std::lock_guard const guard(lock());  // a service may know the wait already
    conclude(w, refused);
    return false;
  }

  // The findings of an inspection, written before the event is set. Null for other operations.
  std::shared_ptr<inspection> found;

  // Keeps the core for inspection_delivery::make().
  verdict hold(verdict granted) noexcept { return found ? granted : homed_core::hold(granted); }

  // True if the context has ended, as far as the library knows contexts of this kind.
  bool has_lost_home() const noexcept { return had_home_ && !home().get(); }

  // Has the client stop, if the wait is for the end of its run.
  void cancel(shell::waiter& w, shell::decided_under_lock& decided) noexcept override {
    auto stopped = stops_.lock();
    if (!stopped) return homed_core::cancel(w, decided);
    if (!mark_fresh(static_cast<result_waiter&>(w))) stopped->ask_to_stop(this);
    decided.begun = std::move(stopped);
  }

 private:
  friend result_waiter;
  using progress = result_waiter::progress;

  ~result_core() override = default;

  // Begins a fresh wait. Returns a refusal, or undecided. Has the client stop if the slot cancels
  // the wait while it begins.
  verdict begin(result_waiter& w) noexcept {
    if (std::lock_guard const guard(lock()); w.reached == progress::cancelled)
      return wait_outcome::aborted;
    if (verdict const refused = w.begins->begin(); refused.decided()) return refused;
    std::unique_lock guard(lock());
    bool const stops = std::exchange(w.reached, progress::begun) == progress::cancelled;
    guard.unlock();
    if (auto const stopped = stops ? stops_.lock() : nullptr) {
      stopped->ask_to_stop(this);
      stopped->wake();
    }
    return {};
  }

  // Marks a wait that has not begun as cancelled. Returns false if it has begun.
  bool mark_fresh(result_waiter& w) noexcept {
    std::lock_guard const guard(lock());
    if (w.reached == progress::fresh) w.reached = progress::cancelled;
    return w.reached == progress::cancelled;
  }

  std::weak_ptr<hub> const stops_;
  bool const had_home_;
  verdict verdict_;  // written before the event is set
};

verdict result_waiter::decided() const noexcept {
  if (at_once.decided()) return at_once;
  return outcome == wait_outcome::granted ? static_cast<result_core*>(core)->verdict_
                                          : verdict(outcome);
}

// The end of something, which happens once, and for which any number of operations wait. When it
// is destroyed before it is settled, they are aborted.
class result : shell::primitive<asio::any_io_executor, result_core> {
 public:
  explicit result(asio::any_io_executor const& ex, std::weak_ptr<hub> stops = {})
      : primitive(this, ex, std::move(stops)) {}
  result(result const&) = delete;
  result& operator=(result const&) = delete;

  using primitive::core;
  using primitive::executor;

  void settle(verdict v) noexcept { core().settle(v); }

  // Settles a list of results.
  static void settle(std::shared_ptr<result> first, verdict v) noexcept {
    for (; first; first = std::shared_ptr<result>(std::move(first->next))) first->settle(v);
  }

  // The hub's, under its lock.
  std::shared_ptr<result> next;  // in a list
  bool is_begun = false;
};

// Begins something, and waits for its end. Begin: see `beginning`; called with the result.
// Delivery: see operation_base.
template <class Begin, class Delivery>
class result_operation final
    : public shell::operation_base<result_operation<Begin, Delivery>, asio::any_io_executor,
                                   Delivery, shell::no_limit>,
      public beginning {
 public:
  result_operation(std::shared_ptr<result> r, Begin begin, char const* type, char const* function)
      : result_operation::operation_base(shell::no_limit()),
        result_(std::move(r)),
        begin_(std::move(begin)),
        type_(type),
        function_(function) {}

  // Returns that of the system if the context has ended since the operation was made.
  asio::any_io_executor const& executor() const noexcept {
    static asio::any_io_executor const system = asio::system_executor();
    return core().has_lost_home() ? system : result_->executor();
  }
  result_core& core() const noexcept { return result_->core(); }
  beginning const* asked() const noexcept { return this; }
  static verdict try_now() noexcept { return {}; }
  verdict begin() const noexcept override { return begin_(result_); }

  // Names it in the output of Asio's handler tracking.
  void track(shell::waiter& w) const {
    shell::track_creation(executor(), w, type_, core().primitive(), function_);
  }

 private:
  std::shared_ptr<result> result_;
  Begin begin_;
  char const* type_;
  char const* function_;
};

template <class Delivery = shell::no_grant<result_core>, class Begin, class Token>
auto initiate_result(std::shared_ptr<result> r, Begin begin, char const* type,
                     char const* function, Token&& token) {
  return shell::initiate_wait(
      result_operation<Begin, Delivery>(std::move(r), std::move(begin), type, function),
      static_cast<Token&&>(token));
}

}  // namespace asio_sync::redis::detail

#endif
