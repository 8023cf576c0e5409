// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_MONITOR_MONITOR_CORE_HPP
#define ASIO_SYNC_DETAIL_MONITOR_MONITOR_CORE_HPP

// The core of a monitor: a mutex, and visits. A visit is a wait that does something on the
// monitor's strand once it holds the mutex: it calls a predicate, and perhaps runs a function.
//
// The looker is a waiter of the core itself, see monitor_on_strand. When a visit is granted the
// mutex, send_for() posts the looker to the strand; there, look() calls the predicate.
//
// A visit has a context of its own, where its handler runs. A visit whose own context is not the
// strand's is "elsewhere", and keeps the strand's context running, too (needs_strand).
//
// The shell calls the members that homed_core.hpp lists; the other headers of monitor/ the others.

#include <asio_sync/detail/context/completion_queue.hpp>
#include <asio_sync/detail/context/core_base.hpp>
#include <asio_sync/detail/context/destination.hpp>
#include <asio_sync/detail/context/wait_service.hpp>
#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/core/monitor_state.hpp>
#include <asio_sync/detail/locks/permit_cores.hpp>
#include <asio_sync/detail/monitor/visit_route.hpp>
#include <asio_sync/detail/monitor/visit_waiter.hpp>
#include <asio_sync/detail/platform/known_context.hpp>

#include <boost/asio/execution_context.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
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

// Plain waits for the monitor name mutex_core as their core, and never call the members that this
// class hides. Its virtual functions get both kinds of waits.
class monitor_core : public monitor_state<mutex_core, visit_traits> {
  using base = monitor_state<mutex_core, visit_traits>;

 public:
  using node = visit_waiter;

  // Leaves the monitor: visits that were parked look again, because the object may have changed.
  void leave() noexcept {
    leaving();
    release_counted();
  }

  // Queues a fresh visit, or looks for it at once if it gets the mutex and this thread runs on the
  // strand: true. False if the caller has to hand it out: granted, or refused.
  bool enter(node& w) noexcept {
    if (!has_strand())
      mutex_core::conclude(w, wait_outcome::aborted);
    else if (mutex_core::enter(w))
      return true;
    if (!is_to_look(w)) return leave_service(w), false;
    if (!strand_runs_here()) return false;
    with_lock([&] { let_look(w); });
    look();
    return true;
  }

  // Ends a visit that has arrived on its handler's executor: true. Throws the exception of the
  // predicate, unless the handler receives it; the visit is dropped then.
  bool ends(node& w) {
    leave_service(w);
    if (w.request.throws && *w.request.thrown) {
      std::exception_ptr const thrown = std::exchange(*w.request.thrown, nullptr);
      completion_queue::drop(w);
      std::rethrow_exception(thrown);
    }
    return true;
  }

  // Makes the outcome of a visit final. A visit with a value has left the monitor already.
  verdict arrive(verdict decided, bool) noexcept {
    if (decided.value() == 0) return mutex_core::arrive(decided, false);
    unref();
    return decided;
  }

  // Gives the grant of a cancelled visit on, unless the visit has left the monitor already.
  void withdraw(node& w) noexcept {
    if (w.phase != visit_phase::left) mutex_core::withdraw(w);
  }

  // Leaves the monitor for a visit whose function has ended, or never will (`lost`), and delivers
  // the visit. leave() gives the visit's count away with the mutex; so the visit gets another.
  void has_run(node& w, bool lost) noexcept {
    count_up();
    leave();
    end_function(w, lost);
    deliver(w);
  }

  // True if the visit holds the mutex and has not entered: the looker has to go to the strand.
  static bool is_to_look(node const& w) noexcept {
    return w.outcome == wait_outcome::granted && !is_let_in(w.phase);
  }

  // Sends the looker to the strand for a visit that holds the mutex, from visit_route::post().
  void send_for(node& w) noexcept {
    with_lock([&] {
      let_look(w);
      looker_holds_strand_ = hold_strand();
    });
    if (!send_looker()) look_dropped();
  }

  // Refuses a plain wait or a visit.
  bool refuse(waiter& w, wait_outcome outcome, decided_waits& decided) noexcept override {
    if (!visit_traits::is_visit(w)) return mutex_core::refuse(w, outcome, decided);
    bool runs = false;
    return refuse_visit(of(w), outcome, decided, runs);
  }

  // Cancels the function of a visit, too, if it runs.
  void cancel(waiter& w, decided_under_lock& decided) noexcept override {
    if (!visit_traits::is_visit(w)) return mutex_core::cancel(w, decided);
    bool runs = false;
    refuse_visit(of(w), wait_outcome::aborted, decided, runs);
    if (runs) decided.begun = of(w).begun(*this);
  }

  // Refuses a wait whose context shuts down. A visit whose predicate or function runs ends with
  // that predicate or function; it is in the list for visit_route::post() to call lose_context().
  void evict(waiter& w, decided_waits& decided) noexcept override {
    bool const is_refused = refuse(w, wait_outcome::aborted, decided);
    if (is_refused || !visit_traits::is_visit(w) || !is_inside(of(w))) return;
    static_cast<visit_route&>(*w.way).evict();
    decided.push_back(w);
  }

  // Destroys the executor of an evicted visit, and cancels its function; the visit may be gone
  // then.
  static void lose_context(node& w) noexcept {
    static_cast<visit_route&>(*w.way).let_go(w);
    if (auto const begun = w.begun(static_cast<monitor_core&>(*w.core))) begun->cancel(begun);
  }

  // Refuses all waits, apart from those of a condition that only come back through this queue.
  std::size_t refuse_all(wait_outcome outcome) noexcept {
    return decide([&](decided_waits& decided) {
      auto const is_own = [this](waiter const& w) { return w.core == this; };
      std::size_t const refused = base::refuse_all_if(is_own, outcome, decided);
      settle_work();
      return refused;
    });
  }

  // Refuses all waits, also later ones. One transition, because a handler may end the core.
  void close() noexcept {
    decide([&](decided_waits& decided) {
      base::close(decided);
      settle_work();
    });
  }

  // Ends the monitor, like home_binding::abandon(). Counts the core meanwhile.
  void abandon() noexcept {
    count_up();
    let_strand_rest();  // before a handler runs, which may end the strand's context
    mutex_core::abandon();
    decide([&](decided_waits& decided) { end_visits(wait_outcome::aborted, decided); });
    unref();
  }

  // Passes on the mutex of a wait that will never arrive, or releases the count of a refused wait.
  void pass_on(waiter& w) noexcept override {
    if (w.act == &act_of_looker) return;  // act_of_looker() does it, at the looker's end
    if (visit_traits::is_visit(w)) {
      leave_service(of(w));
      if (of(w).phase == visit_phase::left) return unref();
    }
    mutex_core::pass_on(w);
  }

  // Refuses waits because the strand's context shuts down, and nobody can look any more. Visits
  // from elsewhere are refused as `failed`, so that wait_service does not drop them; their
  // handlers get `aborted`. wait_service evicts the other visits itself.
  void leave_home(decided_waits& decided) noexcept override {
    mutex_core::leave_home(decided);
    auto const is_of_another = [](waiter& w) {
      return visit_traits::is_visit(w) && of(w).is_elsewhere;
    };
    refuse_if(is_of_another, wait_outcome::failed, decided);
    end_parked_if(is_of_another, wait_outcome::failed, decided);
    let_strand_rest();
  }

  // Calls f under the lock, for monitor_function.hpp.
  template <class Function>
  void with_lock(Function f) const noexcept {
    std::lock_guard const guard(lock());
    f();
  }

  // Ends the hold of a visit on the strand's context: the looker has no reason to go there.
  static void leave_strand(node& w) noexcept {
    if (!w.needs_strand) return;
    w.needs_strand = false;
    static_cast<monitor_core&>(*w.core).needs_strand_no_more();
  }

  // Returns a unique number: a new monitor may have the address of a monitor that has gone.
  std::uint64_t number() const noexcept { return number_; }

  // True if the strand is still there.
  virtual bool has_strand() const noexcept = 0;
  // True if this thread runs on the strand.
  virtual bool strand_runs_here() const noexcept = 0;

 protected:
  monitor_core(void* primitive, known_context const& home,
               asio::execution_context& context) noexcept
      : base(primitive, home, false, 1u, 1u), strand_context_(&context) {}
  ~monitor_core() override = default;

  // Posts the looker to the strand. Returns false if the strand has gone.
  virtual bool send_looker() noexcept = 0;

  // Looks when the looker has arrived, and gives up if it was dropped. The route of a dropped
  // looker may have a copy of the strand, which ends here.
  static void act_of_looker(waiter& w, waiter_action action) {
    auto& self = static_cast<monitor_core&>(*w.core);
    if (action == waiter_action::complete) self.look();
    if (action != waiter_action::destroy) return;
    if (w.way) std::exchange(w.way, nullptr)->destroy(w);
    self.look_dropped();
  }

 private:
  static node& of(waiter& w) noexcept { return static_cast<node&>(w); }

  // Looks, on the strand, for the visit that holds the mutex, and for each visit to which
  // hand_on() grants the mutex then. When no visit is next, releases the mutex.
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

  // Returns the visit that looks now; null if it was refused meanwhile.
  node* looker_arrives() noexcept {
    std::lock_guard const guard(lock());
    has_arrived();
    return begin_to_look();
  }

  // Refuses the visit that is to look, and releases the mutex: the strand's context has ended.
  void look_dropped() noexcept {
    decide([&](decided_waits& decided) {
      std::lock_guard const guard(lock());
      has_arrived();
      give_up_looking(decided);
    });
    release_counted();
  }

  // Calls the predicate of a visit. Returns true if the visit may enter, or the predicate throws:
  // the visit enters to leave again. False also if the predicate has destroyed the monitor.
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

  // True if the visit has a function to run inside, and its predicate has not thrown.
  static bool runs_function(node const& w) noexcept {
    return w.request.functions->enters && !*w.request.thrown;
  }

  // Runs the function of a visit that has entered, or else delivers the visit, with the mutex. A
  // visit whose predicate has thrown leaves at once.
  void enters(node& w) noexcept {
    auto* const function = w.request.functions->enters;
    if (!*w.request.thrown) {
      if (!function) return deliver(w);
      if (!function(w.request.where, *this, w)) return;
    }
    has_run(w, false);
  }

  // Posts a visit to its own executor, or drops it if its own context has ended.
  static void deliver(node& w) noexcept {
    if (!w.service) return completion_queue::drop(w);
    leave_service(w);
    decided_waits decided;
    decided.push_back(w);
    decided.hand_out();
  }

  // Unlinks a visit from its service, and from the strand's context: it will not queue again.
  static void leave_service(node& w) noexcept {
    if (w.work != wait_work::kept) return;
    w.work = wait_work::own;
    if (w.service) w.service->detach(w);
    leave_strand(w);
  }

  // Keeps the strand's context running for a visit from elsewhere, unless the strand has ended.
  void need_strand(node& w) noexcept {
    std::lock_guard const guard(lock());
    w.needs_strand = hold_strand();
  }
  ASIO_SYNC_NOINLINE void needs_strand_no_more() noexcept {
    std::lock_guard const guard(lock());
    let_strand_go();
  }

  // Holds work of the strand's context. Returns false if the strand has ended, or the library does
  // not know its context. Under the lock, like let_strand_go() and has_arrived().
  bool hold_strand() noexcept {
    if (!has_strand() || !home_.get()) return false;
    if (need_strand_++ == 0) strand_work_ = home_.track();
    return true;
  }
  void let_strand_go() noexcept {
    if (--need_strand_ == 0) strand_work_.reset();
  }
  // Ends the hold of the looker.
  void has_arrived() noexcept {
    if (std::exchange(looker_holds_strand_, false)) let_strand_go();
  }

  // Releases all work of the strand's context: the monitor or the context ends.
  void let_strand_rest() noexcept {
    std::lock_guard const guard(lock());
    strand_work_.reset();
  }

  bool make_known(waiter& w, std::optional<steady_clock::time_point> deadline) override {
    if (!visit_traits::is_visit(w)) return mutex_core::make_known(w, deadline);
    auto& known_to = asio::use_service<wait_service>(w.way->context(w));
    w.way->track(w);
    w.work = wait_work::kept;
    // A visit whose time is up looks once, so its deadline must not refuse it before that.
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
  // Work of the strand's context. need_strand_ counts its users: visits from elsewhere, and the
  // looker on its way, whose visit may be refused before the looker is posted. Under the lock.
  context_work strand_work_;
  std::uint32_t need_strand_ = 0;
  bool looker_holds_strand_ = false;
};

inline bool visit_route::goes_to_strand(waiter const& w) const noexcept {
  return is_evicted_ || monitor_core::is_to_look(static_cast<visit_waiter const&>(w));
}

// Evicts a decided visit, or sends the looker for it, or posts it to its own executor.
inline void visit_route::post(waiter& w) {
  auto& visit = static_cast<visit_waiter&>(w);
  if (is_evicted_) return monitor_core::lose_context(visit);
  if (goes_to_strand(w)) return static_cast<monitor_core&>(*w.core).send_for(visit);
  monitor_core::leave_strand(visit);
  own_->post(w);
}

}  // namespace asio_sync::detail

#endif
