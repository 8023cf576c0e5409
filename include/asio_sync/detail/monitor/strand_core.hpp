// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_MONITOR_STRAND_CORE_HPP
#define ASIO_SYNC_DETAIL_MONITOR_STRAND_CORE_HPP

// The cores of a monitor and of its conditions, each with a copy of the monitor's strand.

#include <asio_sync/detail/condition/condition_core.hpp>
#include <asio_sync/detail/context/completion_queue.hpp>
#include <asio_sync/detail/context/core_base.hpp>
#include <asio_sync/detail/context/destination.hpp>
#include <asio_sync/detail/context/wait_service.hpp>
#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/monitor/monitor_core.hpp>
#include <asio_sync/detail/monitor/visit_route.hpp>
#include <asio_sync/detail/platform/executor.hpp>
#include <asio_sync/detail/platform/known_context.hpp>
#include <asio_sync/detail/platform/threading.hpp>

#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/strand.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

namespace asio_sync::detail {

template <class Own>
bool is_plainly_at_home(monitor_core const&, Own const&) noexcept {
  return false;
}

template <class Own, class Primitive>
visit_destination destination_of(monitor_core const& core, Own const& own,
                                 Primitive const& primitive) {
  core_base const& any = core;
  destination const to = destination_of(any, own, primitive);
  return visit_destination(to.size() ? to : destination::posted_to_served(core.home()));
}

// The core of a monitor, with its object: whoever has a count of the core keeps both.
template <class T>
class object_core : public monitor_core {
 public:
  T object;

 protected:
  template <class... Args>
  object_core(void* primitive, known_context const& home, asio::execution_context& context,
              Args&&... args)
      : monitor_core(primitive, home, context), object(static_cast<Args&&>(args)...) {}
  ~object_core() override = default;
};

// The core of a condition of a monitor, which may be gone.
class condition_on_strand : public condition_core {
 public:
  bool is_of(mutex_core const& monitor) const noexcept {
    return &monitor == monitor_ && static_cast<monitor_core const&>(monitor).number() == number_;
  }

 protected:
  condition_on_strand(void* primitive, known_context const& home, asio::execution_context&,
                      monitor_core const& monitor) noexcept
      : condition_core(primitive, home, false), monitor_(&monitor), number_(monitor.number()) {}
  ~condition_on_strand() override = default;

 private:
  mutex_core const* const monitor_;
  std::uint64_t const number_;
};

// A strand must not outlive its context; what has one may, and lets go of it in time.
template <class Base, class Executor>
class strand_core : public Base {
 public:
  using strand_type = asio::strand<Executor>;

  // Relaxed: threads that use the strand hold the lock, or their user orders them with its end.
  bool strand_is_here() const noexcept { return has_strand_.load(std::memory_order_relaxed); }

  // Also while that goes.
  strand_type copy_of_strand() noexcept {
    use_of_strand const use(*this);
    return strand_;
  }

  // Calls f with the strand, if that is still there: true. Copies of it are a user's code, and
  // made under no lock.
  template <class Function>
  bool with_strand(Function f) {
    use_of_strand const use(*this);
    if (!use.holds() || !strand_is_here()) return false;
    f(std::as_const(strand_));
    return true;
  }

  // True if this thread runs on the strand. Asks under the lock, because the context of the strand
  // may be about to end.
  bool strand_is_run_here() const noexcept {
    std::lock_guard const guard(this->lock());
    return strand_is_here() && strand_.running_in_this_thread();
  }

  // Not to be used once it has gone.
  strand_type const& strand() const noexcept { return strand_; }

  void leave_home(decided_waits& decided) noexcept override {
    strand_ends();
    Base::leave_home(decided);
  }

  bool has_executor() const noexcept override { return true; }

  // Code of a user's, which may destroy the primitive.
  void let_executor_go() noexcept override {
    this->count_up();
    let_go();
    this->unref();
  }

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
  // The strand stays for as long as somebody uses it.
  class use_of_strand {
   public:
    explicit use_of_strand(strand_core& core) noexcept : core_(core), holds_(core.use_strand()) {}
    use_of_strand(use_of_strand const&) = delete;
    use_of_strand& operator=(use_of_strand const&) = delete;
    ~use_of_strand() {
      if (holds_) core_.leave_strand();
    }
    bool holds() const noexcept { return holds_; }

   private:
    strand_core& core_;
    bool const holds_;
  };

  void strand_ends() noexcept {
    std::lock_guard const guard(this->lock());
    has_strand_.store(false, std::memory_order_relaxed);
  }

  void let_go() noexcept {
    strand_ends();
    if (keeps_strand_.exchange(false, std::memory_order_relaxed)) leave_strand();
  }

  // False if nobody does any more.
  bool use_strand() noexcept {
    std::uint32_t uses = uses_of_strand_.load(std::memory_order_relaxed);
    while (uses != 0)
      if (uses_of_strand_.compare_exchange_weak(uses, uses + 1, std::memory_order_relaxed,
                                                std::memory_order_relaxed))
        return true;
    return false;
  }

  // Acquire and release: what others did with the strand comes before its end.
  void leave_strand() noexcept {
    if (uses_of_strand_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    strand_type const ends(std::move(strand_));
  }

  strand_type strand_;
  threading::atomic<std::uint32_t> uses_of_strand_{1};  // one by the core, for as long as
  threading::atomic<bool> keeps_strand_{true};          // this is so
  threading::atomic<bool> has_strand_{true};            // changes under the lock
};

// The core of a monitor, with the way to its strand.
template <class T, class Executor>
class monitor_on_strand final : public strand_core<object_core<T>, Executor> {
  using base = strand_core<object_core<T>, Executor>;
  friend base;

 public:
  template <class... Args>
  static monitor_on_strand* make(void* primitive, typename base::strand_type const& strand,
                                 Args&&... args) {
    return base::template make_core<monitor_on_strand>(primitive, strand,
                                                       static_cast<Args&&>(args)...);
  }

  bool has_strand() const noexcept override { return base::strand_is_here(); }
  bool strand_runs_here() const noexcept override { return this->strand_is_run_here(); }

 private:
  template <class... Args>
  monitor_on_strand(void* primitive, typename base::strand_type const& strand,
                    asio::execution_context& context, Args&&... args)
      : base(primitive, strand, context, static_cast<Args&&>(args)...),
        to_strand_(destination_finder(this->strand(), this->strand(), this->home()).result()),
        room_(std::make_unique<std::byte[]>(to_strand_.size())) {}
  ~monitor_on_strand() override {
    if (looker_.way) looker_.way->destroy(looker_);
  }

  // Only once it has arrived there since.
  bool send_looker() noexcept override {
    if (looker_.way) std::exchange(looker_.way, nullptr)->destroy(looker_);
    looker_.state = wait_state::decided;
    bool const goes =
        this->with_strand([this](auto const&) { to_strand_.build(looker_, room_.get()); });
    if (goes) completion_queue::hand_out(looker_);
    return goes;
  }

  // A looker that was dropped before it was posted has a copy of the strand in its way there.
  void let_executor_go() noexcept override {
    this->count_up();
    if (looker_.way && looker_.state == wait_state::dropped)
      std::exchange(looker_.way, nullptr)->destroy(looker_);
    base::let_executor_go();
    this->unref();
  }

  void destroy() noexcept override { delete this; }

  waiter looker_{&monitor_core::act_of_looker, this, {}};
  destination to_strand_;
  std::unique_ptr<std::byte[]> room_;
};

// The core of a condition of a monitor.
template <class Executor>
class entry_condition_core final : public strand_core<condition_on_strand, Executor> {
  using base = strand_core<condition_on_strand, Executor>;
  friend base;

 public:
  static entry_condition_core* make(void* primitive, typename base::strand_type const& strand,
                                    monitor_core const& monitor) {
    return base::template make_core<entry_condition_core>(primitive, strand, monitor);
  }

 private:
  using base::base;
  ~entry_condition_core() override = default;
  void destroy() noexcept override { delete this; }
};

}  // namespace asio_sync::detail

#endif
