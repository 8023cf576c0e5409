// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CONTEXT_VISITS_CORE_HPP
#define ASIO_SYNC_DETAIL_CONTEXT_VISITS_CORE_HPP

// The core of a monitor: a mutex, and waits that do something on a strand once they hold it.

#include <asio_sync/detail/context/completions.hpp>
#include <asio_sync/detail/context/core_base.hpp>
#include <asio_sync/detail/context/destination.hpp>
#include <asio_sync/detail/context/permit_cores.hpp>
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
    sets_out(w);
    visit(w);
    return true;
  }

  // On the strand it visits; false then: it may be gone. True on its own executor: it is over.
  // Throws what the predicate has thrown, if the handler is not told; the wait is dropped then.
  bool ends(node& w) {
    if (visits(w)) return visit(w), false;
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
      w.has_left = !lost;
      if (lost) w.outcome = wait_outcome::aborted;
    }
    deliver(w);
  }

  // The visit goes to the strand.
  void sets_out(node& w) noexcept {
    std::lock_guard const guard(lock());
    visiting_ = &w;
  }

  static bool visits(node const& w) noexcept {
    return w.outcome == wait_outcome::granted && !w.is_over;
  }

  // Its completion on the strand was destroyed, as the strand's context ends. True if it has gone
  // on its way to its own executor.
  bool is_turned_back(node& w) noexcept {
    if (!w.service) return false;
    count_up();
    looks_no_more(w);
    w.outcome = wait_outcome::aborted;
    release_counted();
    deliver(w);
    return true;
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
      runs = v.is_over && v.outcome == wait_outcome::granted && !v.has_left;
    }
    if (!runs) return mutex_core::refuse(w, outcome, decided);
    if (outcome == wait_outcome::aborted && v.request.functions->cancels)
      v.request.functions->cancels(v.request.where, *this);
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
    std::size_t const queued = mutex_core::waiters();
    std::lock_guard const guard(lock());
    bool const visiting = visiting_ && visiting_->mark == wait_outcome::undecided;
    return queued + parked_size_ + (visiting ? 1 : 0);
  }

  void pass_on(waiter& w) noexcept override {
    if (is_visit(w)) {
      node& v = of(w);
      looks_no_more(v);
      leave_service(v);
      if (v.has_left) return unref();
      if (v.is_over && v.outcome == wait_outcome::granted && !is_dead()) leaving();
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

  // Whether it is still there, where it leads, and whether this thread runs on it.
  virtual bool has_strand() const noexcept = 0;
  virtual destination strand_destination() const = 0;
  virtual bool strand_runs_here() const noexcept = 0;

 protected:
  visits_core(void* primitive, known_context const& home,
              asio::execution_context& context) noexcept
      : mutex_core(primitive, home, false, 1u, 1u), strand_context_(&context) {}
  ~visits_core() override = default;

 private:
  static node& of(waiter& w) noexcept { return static_cast<node&>(w); }
  bool is_visit(waiter const& w) const noexcept {
    return w.core == this && w.way && w.way->leads_through_strand();
  }

  // On the strand, with the monitor held by the visit. Goes on with the next in the queue, if that
  // is a visit, too.
  void visit(node& first) noexcept {
    for (node* visitor = &first; visitor;) {
      node& w = *visitor;
      if (is_dead()) {
        looks_no_more(w);
        w.outcome = wait_outcome::aborted;
        return deliver(w);
      }
      if (looks(w)) return enters(w);
      decided_waits decided;
      visitor = park(w, decided);
      decided.hand_out();
    }
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
    looks_no_more(w);
    {
      std::lock_guard const guard(lock());
      w.is_over = true;
    }
    if (!*w.request.thrown) {
      auto* const function = w.request.functions->enters;
      if (!function) return deliver(w);
      if (!function(w.request.where, *this, w)) return;
    }
    has_run(w, false);
  }

  // One that may not enter gives way to the next, which is returned if it is a visit.
  node* park(node& w, decided_waits& decided) noexcept {
    looks_no_more(w);
    wait_outcome refused = wait_outcome::undecided;
    {
      std::lock_guard const guard(lock());
      if (is_closed())
        refused = wait_outcome::closed;
      else if (is_dead())
        refused = wait_outcome::aborted;
      else
        refused = w.mark;
      if (refused == wait_outcome::undecided) {
        w.state = wait_state::queued;
        w.outcome = wait_outcome::undecided;
        w.is_parked = true;
        parked_.push_back(w);
        ++parked_size_;
        has_parked_.store(true, std::memory_order_relaxed);
      } else {
        count_up();
        w.outcome = refused;
      }
      if (!queue_.empty() && is_visit(queue_.front()) && !is_dead()) {
        decided_waits taken;
        hand_over(true, taken);
        visiting_ = &of(taken.pop_front());
        if (refused != wait_outcome::undecided) decided.push_back(w);
        return visiting_;
      }
    }
    if (refused != wait_outcome::undecided) decided.push_back(w);
    release_counted();
    return nullptr;
  }

  void looks_no_more(node const& w) noexcept {
    std::lock_guard const guard(lock());
    if (visiting_ == &w) visiting_ = nullptr;
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
    if (visiting_ && visiting_->mark == wait_outcome::undecided) {
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
  node* visiting_ = nullptr;  // whose turn on the strand it is
  threading::atomic<bool> has_parked_{false};
};

}  // namespace asio_sync::detail

#endif
