// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_MONITOR_VISITS_CORE_HPP
#define ASIO_SYNC_DETAIL_MONITOR_VISITS_CORE_HPP

// The core of a monitor: a mutex, and waits that do something on a strand once they hold it.

#include <asio_sync/detail/context/completions.hpp>
#include <asio_sync/detail/context/core_base.hpp>
#include <asio_sync/detail/context/destination.hpp>
#include <asio_sync/detail/context/wait_service.hpp>
#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/core/visit_core.hpp>
#include <asio_sync/detail/locks/permit_cores.hpp>
#include <asio_sync/detail/monitor/visit_route.hpp>
#include <asio_sync/detail/monitor/visit_waiter.hpp>
#include <asio_sync/detail/platform/known_context.hpp>

#include <boost/asio/execution_context.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>

namespace asio_sync::detail {

struct visit_traits : mutex_traits {
  using visit = visit_waiter;
  static bool is_visit(waiter const& w) noexcept { return w.way && w.way->is_of_visit(); }
  static bool looks_once(visit const& v) noexcept { return v.request.expired; }
  static void changes(visit_phase, visit_phase) noexcept {}
};

// Plain waits are those of the mutex, and do not come here.
class visits_core : public visit_core<mutex_core, visit_traits> {
  using base = visit_core<mutex_core, visit_traits>;

 public:
  using node = visit_waiter;

  // Leaves the monitor, in which something may have changed.
  void leave() noexcept {
    leaving();
    release_counted();
  }

  // Queues a fresh wait, or has it visit at once, where that needs no trip: true. False if it was
  // decided on the spot, and is to go to the strand or to its own executor.
  bool enter(node& w) noexcept {
    if (!has_strand())
      mutex_core::conclude(w, wait_outcome::aborted);
    else if (mutex_core::enter(w))
      return true;
    if (!visits(w)) return leave_service(w), false;
    if (!strand_runs_here()) return false;
    with_lock([&] { let_look(w); });
    look();
    return true;
  }

  // Its completion has arrived where the handler belongs. Throws what the predicate has thrown, if
  // the handler is not told; the wait is dropped then.
  bool ends(node& w) {
    leave_service(w);
    if (w.request.throws && *w.request.thrown) {
      std::exception_ptr const thrown = std::exchange(*w.request.thrown, nullptr);
      completions::drop(w);
      std::rethrow_exception(thrown);
    }
    return true;
  }

  verdict arrive(verdict decided, bool) noexcept {
    if (decided.value() == 0) return mutex_core::arrive(decided, false);
    unref();
    return decided;
  }

  // The same as of a mutex; a visit that has left again carries nothing.
  void withdraw(node& w) noexcept {
    if (w.phase != visit_phase::left) mutex_core::withdraw(w);
  }

  // A function that a visit has begun has ended, or never will.
  void has_run(node& w, bool lost) noexcept {
    count_up();
    leave();
    end_function(w, lost);
    deliver(w);
  }

  // Holds the monitor, and has not been looked at.
  static bool visits(node const& w) noexcept {
    return w.outcome == wait_outcome::granted && !is_let_in(w.phase);
  }

  // A visit holds the monitor: somebody goes to the strand for it.
  void send_for(node& w) noexcept {
    with_lock([&] {
      let_look(w);
      looker_holds_strand_ = hold_strand();
    });
    if (!send_looker()) look_dropped();
  }

  using core_base::refuse;
  bool refuse(waiter& w, wait_outcome outcome, decided_waits& decided) noexcept override {
    if (!visit_traits::is_visit(w)) return mutex_core::refuse(w, outcome, decided);
    node& v = of(w);
    bool runs = false;
    if (refuse_visit(v, outcome, decided, runs)) return true;
    if (runs && outcome == wait_outcome::aborted && v.request.functions->cancels)
      v.request.functions->cancels(v.request.where, *this);
    return false;
  }

  // One whose predicate or function runs ends with that: handed out, it loses its context under no
  // lock.
  bool evict(waiter& w, decided_waits& decided) noexcept override {
    if (!visit_traits::is_visit(w)) return refuse(w, wait_outcome::aborted, decided);
    node& v = of(w);
    bool runs = false;
    if (refuse_visit(v, wait_outcome::aborted, decided, runs)) return true;
    if (!is_inside(v)) return false;
    static_cast<visit_route&>(*v.way).evict();
    decided.push_back(v);
    return false;
  }

  // Ends the executor of its handler, and cancels its function, with which it may be gone.
  static void lose_context(node& w) noexcept {
    static_cast<visit_route&>(*w.way).let_go(w);
    if (auto* const cancels = w.request.functions->cancels)
      cancels(w.request.where, static_cast<visits_core&>(*w.core));
  }

  std::size_t refuse_all(wait_outcome outcome) noexcept {
    return decide([&](decided_waits& decided) {
      auto const is_own = [this](waiter const& w) { return w.core == this; };
      std::size_t const refused = base::refuse_all_if(is_own, outcome, decided);
      settle_work();
      return refused;
    });
  }

  // In one step: whoever is told of it may end the core.
  void close() noexcept {
    decide([&](decided_waits& decided) {
      base::close(decided);
      settle_work();
    });
  }

  void abandon() noexcept {
    count_up();
    let_strand_rest();  // before a handler runs, which may end the strand's context
    mutex_core::abandon();
    decide([&](decided_waits& decided) { end_visits(wait_outcome::aborted, decided); });
    unref();
  }

  void pass_on(waiter& w) noexcept override {
    if (w.act == &act_of_looker) return;  // once nothing is left of it: look_dropped()
    if (visit_traits::is_visit(w)) {
      leave_service(of(w));
      if (of(w).phase == visit_phase::left) return unref();
    }
    mutex_core::pass_on(w);
  }

  // Those of other contexts are told that nobody can look any more.
  void leave_home(decided_waits& decided) noexcept override {
    mutex_core::leave_home(decided);
    auto const is_of_another = [](waiter& w) {
      return visit_traits::is_visit(w) && of(w).is_elsewhere;
    };
    refuse_if(is_of_another, wait_outcome::broken, decided);
    end_parked_if(is_of_another, wait_outcome::broken, decided);
    let_strand_rest();
  }

  // For what cancels a function.
  template <class Function>
  void with_lock(Function f) const noexcept {
    std::lock_guard const guard(lock());
    f();
  }

  // Nobody goes to the strand for it any more.
  static void leave_strand(node& w) noexcept {
    if (!w.needs_strand) return;
    w.needs_strand = false;
    static_cast<visits_core&>(*w.core).needs_strand_no_more();
  }

  // With the address it tells the monitor from all others, also from those that have gone.
  std::uint64_t number() const noexcept { return number_; }

  // Whether the strand is still there, and whether this thread runs on it.
  virtual bool has_strand() const noexcept = 0;
  virtual bool strand_runs_here() const noexcept = 0;

 protected:
  visits_core(void* primitive, known_context const& home,
              asio::execution_context& context) noexcept
      : base(primitive, home, false, 1u, 1u), strand_context_(&context) {}
  ~visits_core() override = default;

  // Sends the looker to the strand. False if that has gone.
  virtual bool send_looker() noexcept = 0;

  // The looker has arrived on the strand, or never will: its way may have the strand then.
  static void act_of_looker(waiter& w, waiter_action action) {
    auto& self = static_cast<visits_core&>(*w.core);
    if (action == waiter_action::complete) self.look();
    if (action != waiter_action::destroy) return;
    if (w.way) std::exchange(w.way, nullptr)->end(w);
    self.look_dropped();
  }

 private:
  static node& of(waiter& w) noexcept { return static_cast<node&>(w); }

  // On the strand, with the monitor held by the visit, if that was not refused meanwhile. Goes on
  // with the next in the queue, if that is a visit, too.
  void look() noexcept {
    for (bool more = true; more;) {
      if (node* const visitor = looker_arrives()) {
        if (looks(*visitor) && let_in(*visitor, runs_function(*visitor))) return enters(*visitor);
        if (!park(*visitor)) deliver(*visitor);
      }
      more = decide([&](decided_waits& decided) { return hand_on(decided); });
    }
    release_counted();
  }

  // Somebody has arrived on the strand for the visit, which looks now if it was not refused.
  node* looker_arrives() noexcept {
    std::lock_guard const guard(lock());
    has_arrived();
    return begin_to_look();
  }

  // The strand's context ends: the visit is told, and others have the monitor.
  void look_dropped() noexcept {
    decide([&](decided_waits& decided) {
      std::lock_guard const guard(lock());
      has_arrived();
      give_up_looking(decided);
    });
    release_counted();
  }

  // False also if the predicate has destroyed the monitor.
  bool looks(node const& w) const noexcept {
    visit_functions const& functions = *w.request.functions;
    if (!functions.looks) return true;
    try {
      return functions.looks(w.request.where) && !is_dead();
    } catch (...) {
      *w.request.thrown = std::current_exception();
      return true;
    }
  }

  // Not if its predicate has thrown.
  static bool runs_function(node const& w) noexcept {
    return w.request.functions->enters && !*w.request.thrown;
  }

  void enters(node& w) noexcept {
    auto* const function = w.request.functions->enters;
    if (!*w.request.thrown) {
      if (!function) return deliver(w);
      if (!function(w.request.where, *this, w)) return;
    }
    has_run(w, false);
  }

  // To its own executor, unless that has ended.
  static void deliver(node& w) noexcept {
    if (!w.service) return completions::drop(w);
    leave_service(w);
    decided_waits decided;
    decided.push_back(w);
    decided.hand_out();
  }

  static void leave_service(node& w) noexcept {
    if (w.work != wait_work::kept) return;
    w.work = wait_work::own;
    if (w.service) w.service->detach(w);
    leave_strand(w);
  }

  // The context of the strand has to run, too, as somebody goes there for the visit. It has ended,
  // or the monitor has, where nothing is held any more.
  void need_strand(node& w) noexcept {
    std::lock_guard const guard(lock());
    w.needs_strand = hold_strand();
  }
  ASIO_SYNC_NOINLINE void needs_strand_no_more() noexcept {
    std::lock_guard const guard(lock());
    let_strand_go();
  }

  // Under the lock. False if it has ended, or its context is none that is known.
  bool hold_strand() noexcept {
    if (!has_strand() || !home_.get()) return false;
    if (need_strand_++ == 0) strand_work_ = home_.track();
    return true;
  }
  void let_strand_go() noexcept {
    if (--need_strand_ == 0) strand_work_.reset();
  }
  void has_arrived() noexcept {
    if (std::exchange(looker_holds_strand_, false)) let_strand_go();
  }

  void let_strand_rest() noexcept {
    std::lock_guard const guard(lock());
    strand_work_.reset();
  }

  bool make_known(waiter& w, std::optional<steady_clock::time_point> deadline) override {
    if (!visit_traits::is_visit(w)) return mutex_core::make_known(w, deadline);
    auto& known_to = asio::use_service<wait_service>(w.way->context(w));
    w.way->track(w);
    w.work = wait_work::kept;
    // One whose time is up looks once all the same: nothing is to come before that.
    if (of(w).request.expired) deadline.reset();
    of(w).is_elsewhere = &known_to.context() != strand_context_;
    if (!known_to.attach(w, deadline)) return false;
    if (of(w).is_elsewhere) need_strand(of(w));
    return true;
  }

  void taken_out(waiter& w, decided_waits&) noexcept override { left_queue(of(w)); }

  static inline constinit std::atomic<std::uint64_t> numbers{0};

  std::uint64_t const number_ = numbers.fetch_add(1, std::memory_order_relaxed);
  asio::execution_context* const strand_context_;
  // Work of it, for visits of other contexts, and for the looker: the visit that it is sent for
  // may be refused, and its context have run to its end, before it is posted. Under the lock.
  context_work strand_work_;
  std::uint32_t need_strand_ = 0;
  bool looker_holds_strand_ = false;
};

inline bool visit_route::goes_to_strand(waiter const& w) const noexcept {
  return is_evicted_ || visits_core::visits(static_cast<visit_waiter const&>(w));
}

inline void visit_route::post(waiter& w) {
  auto& visit = static_cast<visit_waiter&>(w);
  if (is_evicted_) return visits_core::lose_context(visit);
  if (goes_to_strand(w)) return static_cast<visits_core&>(*w.core).send_for(visit);
  visits_core::leave_strand(visit);
  own_->post(w);
}

}  // namespace asio_sync::detail

#endif
