// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CONTEXT_MONITOR_CORE_HPP
#define ASIO_SYNC_DETAIL_CONTEXT_MONITOR_CORE_HPP

// What a monitor and its conditions consist of: a core, and the strand that belongs to it.

#include <asio_sync/detail/context/completions.hpp>
#include <asio_sync/detail/context/condition_core.hpp>
#include <asio_sync/detail/context/core_base.hpp>
#include <asio_sync/detail/context/destination.hpp>
#include <asio_sync/detail/context/visit_route.hpp>
#include <asio_sync/detail/context/visits_core.hpp>
#include <asio_sync/detail/context/wait_service.hpp>
#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/platform/executor.hpp>
#include <asio_sync/detail/platform/known_context.hpp>
#include <asio_sync/detail/platform/threading.hpp>

#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/strand.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

namespace asio_sync::detail {

template <class Own>
bool is_plainly_at_home(visits_core const&, Own const&) noexcept {
  return false;
}

template <class Own, class Primitive>
visit_destination destination_of(visits_core const& core, Own const& own,
                                 Primitive const& primitive) {
  core_base const& any = core;
  destination const to = destination_of(any, own, primitive);
  return visit_destination(to.size() ? to : destination::posted_to_served(core.home()));
}

// The core of a monitor, with its object: whoever has a count of the core keeps both.
template <class T>
class object_core : public visits_core {
 public:
  T object;

 protected:
  template <class... Args>
  object_core(void* primitive, known_context const& home, asio::execution_context& context,
              Args&&... args)
      : visits_core(primitive, home, context), object(static_cast<Args&&>(args)...) {}
  ~object_core() override = default;
};

struct condition_on_strand : condition_core {
  condition_on_strand(void* primitive, known_context const& home,
                      asio::execution_context&) noexcept
      : condition_core(primitive, home, false) {}
};

// A strand must not outlive its context; what has one may, and lets go of it in time.
template <class Base, class Executor>
class strand_core : public Base {
 public:
  using strand_type = asio::strand<Executor>;

  bool strand_is_here() const noexcept { return has_strand_.load(std::memory_order_relaxed); }

  // Also while that goes.
  strand_type copy_of_strand() const noexcept {
    std::lock_guard const guard(this->lock());
    return strand_;
  }

  // What f says of the strand, if that is still there, and false otherwise. Under the lock, as its
  // context may be about to end.
  template <class Function>
  bool with_strand(Function f) const {
    std::lock_guard const guard(this->lock());
    return strand_is_here() && f(strand_);
  }

  // Not to be used once it has gone.
  strand_type const& strand() const noexcept { return strand_; }

  void leave_home(decided_waits& decided) noexcept override {
    strand_ends();
    Base::leave_home(decided);
  }

  void let_executor_go() noexcept override { let_go(); }

  // The primitive ends, after which nothing tells the core of its context's end any more: that may
  // come with a handler which this runs.
  void abandon() noexcept {
    let_go();
    Base::abandon();
  }

 protected:
  template <class... Args>
  strand_core(void* primitive, strand_type const& strand, asio::execution_context& context,
              Args&&... args)
      : Base(primitive, known_context::of(strand), context, static_cast<Args&&>(args)...),
        strand_(strand) {}
  ~strand_core() override = default;

  // Throws what making its parts, or adding the services to the executor's context, throws.
  template <class Core, class... Args>
  static Core* make_core(void* primitive, strand_type const& strand, Args&&... args) {
    refuse_ts_executor<Executor>();
    auto& context = asio::query(strand, asio::execution::context);
    auto& service = asio::use_service<wait_service>(context);
    auto* const core = new Core(primitive, strand, context, static_cast<Args&&>(args)...);
    service.adopt(*core);
    if (!core->service()) core->let_go();
    return core;
  }

 private:
  void strand_ends() noexcept {
    std::lock_guard const guard(this->lock());
    has_strand_.store(false, std::memory_order_relaxed);
  }

  void let_go() noexcept {
    std::unique_lock guard(this->lock());
    has_strand_.store(false, std::memory_order_relaxed);
    strand_type const ends(std::move(strand_));
    guard.unlock();
  }

  strand_type strand_;
  threading::atomic<bool> has_strand_{true};  // changes with the strand, under the lock
};

// The core of a monitor, with the way to its strand.
template <class T, class Executor>
class monitor_core final : public strand_core<object_core<T>, Executor> {
  using base = strand_core<object_core<T>, Executor>;
  friend base;

 public:
  template <class... Args>
  static monitor_core* make(void* primitive, typename base::strand_type const& strand,
                            Args&&... args) {
    return base::template make_core<monitor_core>(primitive, strand, static_cast<Args&&>(args)...);
  }

  bool has_strand() const noexcept override { return base::strand_is_here(); }
  bool strand_runs_here() const noexcept override {
    return this->with_strand([](auto const& strand) { return strand.running_in_this_thread(); });
  }

 private:
  template <class... Args>
  monitor_core(void* primitive, typename base::strand_type const& strand,
               asio::execution_context& context, Args&&... args)
      : base(primitive, strand, context, static_cast<Args&&>(args)...),
        to_strand_(destination_finder(this->strand(), this->strand(), this->home()).result()),
        room_(std::make_unique<std::byte[]>(to_strand_.size())) {}
  ~monitor_core() override {
    if (looker_.way) looker_.way->end(looker_);
  }

  // Only once it has arrived there since.
  bool send_looker() noexcept override {
    if (looker_.way) std::exchange(looker_.way, nullptr)->end(looker_);
    looker_.state = wait_state::decided;
    bool const goes = this->with_strand([this](auto const&) {
      to_strand_.build(looker_, room_.get());
      return true;
    });
    if (goes) completions::hand_out(looker_);
    return goes;
  }

  // A looker that was dropped before it was posted has a copy of the strand in its way there.
  void let_executor_go() noexcept override {
    if (looker_.way && looker_.state == wait_state::dropped)
      std::exchange(looker_.way, nullptr)->end(looker_);
    base::let_executor_go();
  }

  void destroy() noexcept override { delete this; }

  waiter looker_{&visits_core::act_of_looker, this, {}};
  destination to_strand_;
  std::unique_ptr<std::byte[]> room_;
};

// The core of a condition of a monitor.
template <class Executor>
class entry_condition_core final : public strand_core<condition_on_strand, Executor> {
  using base = strand_core<condition_on_strand, Executor>;
  friend base;

 public:
  static entry_condition_core* make(void* primitive, typename base::strand_type const& strand) {
    return base::template make_core<entry_condition_core>(primitive, strand);
  }

 private:
  using base::base;
  ~entry_condition_core() override = default;
  void destroy() noexcept override { delete this; }
};

}  // namespace asio_sync::detail

#endif
