// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CONTEXT_VISITS_CORE_HPP
#define ASIO_SYNC_DETAIL_CONTEXT_VISITS_CORE_HPP

// The core of a monitor: a mutex, and waits that do something on a strand once they hold it.

#include <asio_sync/detail/context/completions.hpp>
#include <asio_sync/detail/context/core_base.hpp>
#include <asio_sync/detail/context/destination.hpp>
#include <asio_sync/detail/context/permit_cores.hpp>
#include <asio_sync/detail/context/visit_route.hpp>
#include <asio_sync/detail/context/visit_waiter.hpp>
#include <asio_sync/detail/context/wait_service.hpp>
#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/platform/threading.hpp>

#include <boost/asio/execution_context.hpp>

#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

namespace asio_sync::detail {

// Plain waits are those of the mutex, and do not come here. A visit that may not enter when it has
// looked is parked; those who were parked come next when somebody leaves, so that they are older
// than all others in the queue, and their order is that of their coming.
class visits_core : public mutex_core {
  using queue = wait_queue<mutex_traits>;

 public:
  using node = visit_waiter;

  // Before the monitor is left by somebody who may have changed something.
  ASIO_SYNC_INLINE void leaving() noexcept {
    if (has_parked_.load(std::memory_order_relaxed)) recall();
  }

  // Leaves it.
  void leave() noexcept {
    leaving();
    release_counted();
  }

  // Queues a fresh wait, or has it visit at once, where that needs no trip: true. False if it was
  // decided on the spot, and is to go to the strand or to its own executor.
  bool enter(node& w) noexcept {
    if (mutex_core::enter(w)) return true;
    if (!visits(w)) return leave_service(w), false;
    if (!strand_runs_here()) return false;
    with_lock([&] { visiting_ = &w; });
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

  // A function that a visit has begun has ended, or never will.
  void has_run(node& w, bool lost) noexcept {
    count_up();
    leave();
    {
      std::lock_guard const guard(lock());
      w.runs = false;
      w.has_left = !lost;
      if (lost) w.outcome = wait_outcome::aborted;
    }
    deliver(w);
  }

  // Holds the monitor, and has not been looked at.
  static bool visits(node const& w) noexcept {
    return w.outcome == wait_outcome::granted && !w.is_over;
  }

  // A visit holds the monitor: somebody goes to the strand for it.
  void send_for(node& w) noexcept {
    with_lock([&] { visiting_ = &w; });
    if (has_strand())
      send_looker();
    else
      look_dropped();
  }

  using core_base::refuse;
  bool refuse(waiter& w, wait_outcome outcome, decided_waits& decided) noexcept override {
    if (!is_visit(w)) return mutex_core::refuse(w, outcome, decided);
    node& v = of(w);
    bool runs = false;
    {
      std::lock_guard const guard(lock());
      if (v.mark == wait_outcome::undecided) v.mark = outcome;
      if (v.is_parked) return unpark(v, outcome, decided), true;
      if (&v == visiting_ && !looking_) return turn_back(outcome, decided), true;
      runs = v.runs;
    }
    if (!runs) return mutex_core::refuse(w, outcome, decided);
    if (outcome == wait_outcome::aborted && v.request.functions->cancels)
      v.request.functions->cancels(v.request.where, *this);
    return false;
  }

  // One whose predicate or function runs ends with that.
  bool evict(waiter& w, decided_waits& decided) noexcept override {
    if (refuse(w, wait_outcome::aborted, decided)) return true;
    if (!is_visit(w)) return false;
    bool runs = false;
    with_lock([&] { runs = &w == visiting_ || of(w).runs; });
    if (runs) static_cast<visit_route&>(*w.way).let_go(w);
    return false;
  }

  std::size_t refuse_all(wait_outcome outcome) noexcept {
    decided_waits decided;
    std::size_t const refused = refuse_visits(outcome, decided);
    decided.hand_out();
    return refused + mutex_core::refuse_all(outcome);
  }

  void close() noexcept {
    mutex_core::close();
    end_parked(wait_outcome::closed);
  }

  void abandon() noexcept {
    count_up();
    mutex_core::abandon();
    end_parked(wait_outcome::aborted);
    unref();
  }

  std::size_t waiters() const noexcept {
    std::lock_guard const guard(lock());
    bool const visiting = visiting_ && visiting_->mark == wait_outcome::undecided;
    return queue::size_ + parked_size_ + (visiting ? 1 : 0);
  }

  void pass_on(waiter& w) noexcept override {
    if (w.act == &act_of_looker) return;  // once nothing is left of it: look_dropped()
    if (is_visit(w)) {
      leave_service(of(w));
      if (of(w).has_left) return unref();
    }
    mutex_core::pass_on(w);
  }

  // Those of other contexts are told that nobody can look any more.
  void leave_home(decided_waits& decided) noexcept override {
    mutex_core::leave_home(decided);
    auto const is_of_another = [this](waiter const& w) {
      return is_visit(w) && &w.way->context(w) != strand_context_;
    };
    refuse_if(is_of_another, wait_outcome::broken, decided);
    std::lock_guard const guard(lock());
    for (waiter* parked = first_parked(); parked;) {
      node& v = of(*parked);
      parked = wait_list<waiter>::following(v);
      if (is_of_another(v)) unpark(v, wait_outcome::broken, decided);
    }
  }

  // For what cancels a function.
  template <class Function>
  void with_lock(Function f) const noexcept {
    std::lock_guard const guard(lock());
    f();
  }

  // Whether the strand is still there, and whether this thread runs on it.
  virtual bool has_strand() const noexcept = 0;
  virtual bool strand_runs_here() const noexcept = 0;

 protected:
  visits_core(void* primitive, known_context const& home,
              asio::execution_context& context) noexcept
      : mutex_core(primitive, home, false, 1u, 1u), strand_context_(&context) {}
  ~visits_core() override = default;

  // Sends the looker to the strand.
  virtual void send_looker() noexcept = 0;

  // The looker has arrived on the strand, or never will.
  static void act_of_looker(waiter& w, waiter_action action) {
    auto& self = static_cast<visits_core&>(*w.core);
    if (action == waiter_action::complete) self.look();
    if (action == waiter_action::destroy) self.look_dropped();
  }

 private:
  static node& of(waiter& w) noexcept { return static_cast<node&>(w); }
  bool is_visit(waiter const& w) const noexcept {
    return w.core == this && w.way && w.way->is_of_visit();
  }

  // On the strand, with the monitor held by the visit, if that was not refused meanwhile. Goes on
  // with the next in the queue, if that is a visit, too.
  void look() noexcept {
    for (bool more = true; more;) {
      node* const visitor = begins_to_look();
      if (!visitor) {
        more = hands_on();
      } else if (looks(*visitor)) {
        return enters(*visitor);
      } else {
        more = park(*visitor);
      }
    }
  }

  node* begins_to_look() noexcept {
    std::lock_guard const guard(lock());
    looking_ = true;
    return is_dead() ? nullptr : visiting_;
  }

  // The strand's context ends: the visit is told, and others have the monitor.
  void look_dropped() noexcept {
    decided_waits decided;
    with_lock([&] {
      if (visiting_) turn_back(wait_outcome::aborted, decided);
    });
    decided.hand_out();
    release_counted();
  }

  // Under the lock. What the visit held is left to who looks.
  void turn_back(wait_outcome outcome, decided_waits& decided) noexcept {
    node& w = *std::exchange(visiting_, nullptr);
    w.outcome = outcome;
    count_up();
    decided.push_back(w);
  }

  static bool looks(node const& w) noexcept {
    visit_functions const& functions = *w.request.functions;
    if (!functions.looks) return true;
    try {
      return functions.looks(w.request.where);
    } catch (...) {
      *w.request.thrown = std::current_exception();
      return true;
    }
  }

  void enters(node& w) noexcept {
    with_lock([&] {
      visiting_ = nullptr;
      looking_ = false;
      w.is_over = true;
      w.runs = w.request.functions->enters != nullptr;
    });
    if (!*w.request.thrown) {
      auto* const function = w.request.functions->enters;
      if (!function) return deliver(w);
      if (!function(w.request.where, *this, w)) return;
    }
    has_run(w, false);
  }

  // One that may not enter, and perhaps never will, gives way to the next. True if that is a
  // visit.
  bool park(node& w) noexcept {
    bool is_refused = false;
    with_lock([&] {
      visiting_ = nullptr;
      w.outcome = is_dead() ? wait_outcome::aborted : is_closed() ? wait_outcome::closed : w.mark;
      is_refused = w.outcome != wait_outcome::undecided;
      if (is_refused) return count_up();
      w.state = wait_state::queued;
      w.is_parked = true;
      parked_.push_back(w);
      ++parked_size_;
      has_parked_.store(true, std::memory_order_relaxed);
    });
    if (is_refused) deliver(w);
    return hands_on();
  }

  // True if it is a visit who has the monitor next, for which this thread can look.
  bool hands_on() noexcept {
    decided_waits decided;
    bool is_next = false;
    with_lock([&] {
      looking_ = false;
      if (visiting_) turn_back(wait_outcome::aborted, decided);  // the monitor is dead
      if (is_dead() || queue_.empty() || !is_visit(queue_.front())) return;
      decided_waits taken;
      hand_over(true, taken);
      visiting_ = &of(taken.pop_front());
      is_next = true;
    });
    decided.hand_out();
    if (!is_next) release_counted();
    return is_next;
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
  }

  // The parked come next. They are held up by the caller, who is inside.
  ASIO_SYNC_COLD void recall() noexcept {
    std::lock_guard const guard(lock());
    if (parked_size_ == 0) return;
    if (queue_.empty()) word_.fetch_add(waiting, std::memory_order_relaxed);
    while (waiter* const last = last_parked()) {
      node& v = of(*last);
      parked_.erase(v);
      v.is_parked = false;
      join_in_front(v);
    }
    nobody_parked();
  }

  waiter* first_parked() const noexcept { return parked_.empty() ? nullptr : &parked_.front(); }
  waiter* last_parked() const noexcept { return parked_.empty() ? nullptr : &parked_.back(); }

  void nobody_parked() noexcept {
    parked_size_ = 0;
    has_parked_.store(false, std::memory_order_relaxed);
  }

  void unpark(node& w, wait_outcome outcome, decided_waits& decided) noexcept {
    parked_.erase(w);
    w.is_parked = false;
    if (--parked_size_ == 0) nobody_parked();
    queue::decide(w, outcome);
    count_up();
    decided.push_back(w);
  }

  void end_parked(wait_outcome outcome) noexcept {
    decided_waits decided;
    {
      std::lock_guard const guard(lock());
      while (waiter* const first = first_parked()) unpark(of(*first), outcome, decided);
    }
    decided.hand_out();
  }

  std::size_t refuse_visits(wait_outcome outcome, decided_waits& decided) noexcept {
    std::lock_guard const guard(lock());
    std::size_t refused = parked_size_;
    while (waiter* const first = first_parked()) unpark(of(*first), outcome, decided);
    if (visiting_ && !looking_) {
      turn_back(outcome, decided);
      ++refused;
    } else if (visiting_ && visiting_->mark == wait_outcome::undecided) {
      visiting_->mark = outcome;
      ++refused;
    }
    return refused;
  }

  bool make_known(waiter& w, std::optional<steady_clock::time_point> deadline) override {
    if (!is_visit(w)) return mutex_core::make_known(w, deadline);
    auto& known_to = asio::use_service<wait_service>(w.way->context(w));
    w.way->track(w);
    w.work = wait_work::kept;
    return known_to.attach(w, deadline);
  }

  asio::execution_context* const strand_context_;
  wait_list<waiter> parked_;
  std::size_t parked_size_ = 0;
  node* visiting_ = nullptr;  // who holds the monitor, and is to be looked at
  bool looking_ = false;
  threading::atomic<bool> has_parked_{false};
};

inline void visit_route::post(waiter& w) {
  auto& visitor = static_cast<visit_waiter&>(w);
  if (visits_core::visits(visitor))
    static_cast<visits_core&>(*w.core).send_for(visitor);
  else
    own_->post(w);
}

}  // namespace asio_sync::detail

#endif
