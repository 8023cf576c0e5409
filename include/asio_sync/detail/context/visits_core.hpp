// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CONTEXT_VISITS_CORE_HPP
#define ASIO_SYNC_DETAIL_CONTEXT_VISITS_CORE_HPP

// The core of a monitor: a mutex, and waits that do something on a strand once they hold it.

#include <asio_sync/detail/context/completions.hpp>
#include <asio_sync/detail/context/core_base.hpp>
#include <asio_sync/detail/context/destination.hpp>
#include <asio_sync/detail/context/permit_cores.hpp>
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

class visits_core;
struct visit_waiter;

// What a visit does on the strand while it holds the monitor. `looks`: whether it may enter;
// without it, it may. `enters`: runs a function, after which it has left; false if the function
// has not ended yet. Without it, the visit stays inside. `cancels`: what such a function has
// begun.
struct visit_functions {
  bool (*looks)(void*) = nullptr;
  bool (*enters)(void*, visits_core&, visit_waiter&) = nullptr;
  void (*cancels)(void*, visits_core&) noexcept = nullptr;
};

// A wait that goes through the strand: it queues for the monitor as any other, looks at its
// predicate there, and queues again while that is false.
struct visit_waiter : lasting_waiter {
  struct asked_type {
    visit_functions const* functions;
    void* where;
    std::exception_ptr* thrown;  // for what the predicate throws
    bool throws;                 // at the end, unless the handler is told
    bool expired;                // there is no time to wait
  };

  visit_waiter(function* f, core_base* c, asked_type const& what) noexcept
      : lasting_waiter(f, c, {}), request(what) {
    if (request.expired) outcome = mark = wait_outcome::timed_out;
  }

  // One that has left again carries nothing.
  verdict decided() const noexcept {
    if (outcome == wait_outcome::broken) return wait_outcome::aborted;
    return {outcome, has_left ? 1u : 0u};
  }

  // Under the core's lock, while it queues and visits.
  asked_type request;
  wait_outcome mark = wait_outcome::undecided;  // how it ends unless it may enter
  bool is_parked = false;                       // it has looked, and waits until somebody leaves
  bool is_over = false;                         // it may enter
  bool has_left = false;
};

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

// To the executor of the handler, by way of the strand. Without a strand there is nothing to see
// to, and the wait is aborted.
class visit_destination {
 public:
  visit_destination() noexcept = default;
  visit_destination(destination const& strand, destination const& own) noexcept
      : strand_(strand), own_(own) {}

  inline std::size_t size() const noexcept;
  inline void build(visit_waiter& w, std::byte* memory) const noexcept;

 private:
  destination strand_;
  destination own_;
};

// By way of the strand to the executor of the handler. All three stand in one block.
class visit_route final : public route {
 public:
  visit_route(visit_waiter& w, route& strand, route& own) noexcept
      : route(strand.at_once && own.at_once), waiter_(w), strand_(strand), own_(own) {}

  void post(waiter& w) override {
    goes_to_strand_ = visits_core::visits(waiter_);
    if (goes_to_strand_) core().sets_out(waiter_);
    now().post(w);
  }

  void relay(waiter& w) override { now().relay(w); }

  void track(waiter& w) override {
    strand_.track(w);
    w.work = wait_work::none;
    own_.track(w);
  }

  asio::execution_context& context(waiter const& w) const override { return own_.context(w); }

  bool leads_through_strand() const noexcept override { return true; }

  std::size_t end(waiter const& w) noexcept override {
    std::size_t const rest = strand_.end(w) + own_.end(w);
    this->visit_route::~visit_route();
    return sizeof(*this) + rest;
  }

  // What is dropped on the strand need not be dropped where it belongs.
  bool keeps_block() noexcept override {
    if (now().keeps_block()) return true;
    return visits_core::visits(waiter_) && core().is_turned_back(waiter_);
  }

 private:
  ~visit_route() = default;
  visits_core& core() const noexcept { return static_cast<visits_core&>(*waiter_.core); }
  route& now() const noexcept { return goes_to_strand_ ? strand_ : own_; }

  visit_waiter& waiter_;
  route& strand_;
  route& own_;
  bool goes_to_strand_ = false;
};

std::size_t visit_destination::size() const noexcept {
  return own_.size() + (strand_.size() ? sizeof(visit_route) + strand_.size() : 0);
}

void visit_destination::build(visit_waiter& w, std::byte* memory) const noexcept {
  own_.build(w, memory);
  if (strand_.size() == 0) return;
  route& own = *w.way;
  memory += own_.size();
  strand_.build(w, memory);
  w.way = ::new (static_cast<void*>(memory + strand_.size())) visit_route(w, *w.way, own);
}

template <class Own>
bool is_plainly_at_home(visits_core const&, Own const&) noexcept {
  return false;
}

template <class Own, class Primitive>
visit_destination destination_of(visits_core const& core, Own const& own,
                                 Primitive const& primitive) {
  core_base const& any = core;
  destination to = destination_of(any, own, primitive);
  if (to.size() == 0 && core.home().get()) to = destination::posted_to_served(core.home());
  return {core.strand_destination(), to};
}

}  // namespace asio_sync::detail

#endif
