// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CORE_MONITOR_STATE_HPP
#define ASIO_SYNC_DETAIL_CORE_MONITOR_STATE_HPP

#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/core/wait_list.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

// The queue of a monitor: visits wait for the monitor's mutex, look whether they may enter, and
// are parked until they may. monitor_core binds this core to contexts and to the strand of the
// monitor, and test/model runs it alone.

namespace asio_sync::detail {

// The phase of a visit. Changes under the lock of its core.
enum class visit_phase : std::uint8_t {
  coming,   // it waits for the mutex, or is about to
  granted,  // it has the mutex, and is in the list of decided waits of the thread that granted it
  sent,     // it has the mutex, and the looker is on its way to the strand: it can be refused
  looking,  // it has the mutex, and its predicate is being called on the strand
  parked,   // its predicate was false: it waits, without the mutex, until somebody leaves
  refused,  // it is decided, and its handler is told so
  entered,  // it has the mutex, and its handler is told so; if its predicate has thrown, it leaves
  running,  // it has the mutex, and its function runs
  left,     // its function has ended, or its predicate has thrown
  lost      // its function has begun, and will never end
};

// Returns true if a visit in the phase `from` may change to `to`.
constexpr bool may_follow(visit_phase from, visit_phase to) noexcept {
  using enum visit_phase;
  switch (from) {
    case coming: return to == granted || to == sent || to == refused;
    case granted: return to == sent || to == looking || to == refused;
    case sent: return to == looking || to == refused;
    case looking: return to == parked || to == refused || to == entered || to == running;
    case parked: return to == coming || to == refused;
    case entered: return to == left;
    case running: return to == left || to == lost;
    case refused:
    case left:
    case lost: break;
  }
  return false;
}

// Returns true once a visit has been let in.
constexpr bool is_let_in(visit_phase phase) noexcept { return phase >= visit_phase::entered; }

// The visits to a monitor, and the monitor's mutex.
//
// A visit queues for the mutex like any other wait. A visit that has got the mutex is the
// `visiting_` one until it has looked: at most one visit looks at a time, because it holds the
// mutex. Looking means that the caller, on the strand, finds out whether the visit may enter. A
// visit that may not enter is parked, and the mutex goes to the next in the queue. A thread that
// leaves the monitor queues all parked visits again, in front of the queue and in the order in
// which they came first.
//
// The thread that looks for visits is the looker. It calls, in this order:
//
//   let_look(v)          v has got the mutex: the looker goes to the strand
//   begin_to_look()      the looker has arrived; null if the visit was refused meanwhile
//   let_in(v, runs)      v may enter, and keeps the mutex; or
//   park(v)              v may not enter, and is parked, unless it was refused meanwhile
//   hand_on()            the mutex goes to the next visit, which looks, or to the looker
//   give_up_looking()    instead of all that follows let_look(): the looker will never arrive
//
// If a visit is refused while the looker is on its way, the looker has the mutex from then on.
//
// Mutex: a core of one permit, some of whose nodes are visits.
// Traits: `atomic<T>` and `guarded<T>`; `visit`, a node with members `phase`, `mark` (the outcome
// of a refusal that came while the visit could not be refused) and `is_cancelled`;
// `is_visit(node)`; `looks_once(v)`, true if the visit has no time to wait; `changes(from, to)`,
// called for each change of a phase. `left(node, list)`, a trait of wait_queue, calls left_queue()
// for a visit.
template <class Mutex, class Traits>
class monitor_state : public Mutex {
 public:
  using visit = typename Traits::visit;
  using node = typename Mutex::node;
  using list = typename Mutex::list;

  // Sends the looker to the strand, for a visit that has got the mutex. Under the lock.
  void let_look(visit& v) noexcept {
    visiting_ = &v;
    change(v, visit_phase::sent);
  }

  // Returns the visit that looks now; null if it was refused meanwhile, or the monitor is dead.
  // The looker has arrived on the strand; hand_on() follows unless the visit enters. Under the
  // lock.
  visit* begin_to_look() noexcept {
    if (this->is_dead() || !visiting_) return nullptr;
    change(*visiting_, visit_phase::looking);
    return visiting_;
  }

  // Lets a visit enter that has looked. `runs`: its function is to run inside. Returns false if
  // the function is to run and the visit was cancelled meanwhile; park() and hand_on() follow
  // then.
  bool let_in(visit& v, bool runs) noexcept {
    std::lock_guard const guard(this->lock());
    if (runs && v.is_cancelled) return false;
    visiting_ = nullptr;
    change(v, runs ? visit_phase::running : visit_phase::entered);
    return true;
  }

  // Parks a visit that has looked and may not enter. Returns false if it was refused meanwhile:
  // the caller completes it then. hand_on() follows in both cases.
  bool park(visit& v) noexcept {
    std::lock_guard const guard(this->lock());
    visiting_ = nullptr;
    v.outcome = refusal_of(v);
    if (v.outcome != wait_outcome::undecided) {
      change(v, visit_phase::refused);
      this->count_up();
      return false;
    }
    v.state = wait_state::queued;
    change(v, visit_phase::parked);
    parked_.push_back(v);
    count_parked(1);
    return true;
  }

  // Hands the mutex on after a look. Returns true if the head of the queue is a visit: it has the
  // mutex now, and the caller looks for it. Otherwise the caller has the mutex, and releases it.
  bool hand_on(list& decided) noexcept {
    std::lock_guard const guard(this->lock());
    if (visiting_) turn_back(wait_outcome::aborted, decided);  // the monitor is dead
    if (this->is_dead() || this->queue_.empty() || !Traits::is_visit(this->queue_.front()))
      return false;
    list granted;
    this->hand_over(true, granted);
    granted.pop_front();
    return true;
  }

  // Refuses the visit that is to look, because the looker will never arrive. The caller has the
  // mutex, and releases it. Under the lock.
  void give_up_looking(list& decided) noexcept {
    if (visiting_) turn_back(wait_outcome::aborted, decided);
  }

  // Ends the function of a visit, after the visit has left the monitor. `lost`: the function will
  // never end.
  void end_function(visit& v, bool lost) noexcept {
    std::lock_guard const guard(this->lock());
    change(v, lost ? visit_phase::lost : visit_phase::left);
    if (lost) v.outcome = wait_outcome::aborted;
  }

  // Queues the parked visits again. A caller that is inside, and may have changed the object,
  // calls this before it releases the mutex.
  ASIO_SYNC_INLINE void leaving() noexcept {
    if (parked_size_.load(std::memory_order_relaxed) != 0) recall();
  }

  // Refuses a visit. Returns true if the visit is refused now, and in the list. Otherwise it is
  // fresh, granted or looking, and is marked: it is refused later, unless it may enter. Or it has
  // entered, and stays inside; `runs` is true then if its function runs.
  bool refuse_visit(visit& v, wait_outcome outcome, list& decided, bool& runs) noexcept {
    {
      std::lock_guard const guard(this->lock());
      Mutex::mark(v.mark, outcome);
      if (outcome == wait_outcome::aborted) v.is_cancelled = true;
      if (v.phase == visit_phase::parked) return unpark(v, outcome, decided), true;
      if (v.phase == visit_phase::sent) return turn_back(outcome, decided), true;
      runs = v.phase == visit_phase::running;
    }
    return !runs && Mutex::refuse(v, outcome, decided);
  }

  // Refuses the parked visits, the waits in the queue for which `which` is true, and the visit
  // that has the mutex and has not looked. Returns their number. A visit that looks, or was
  // granted, is marked: it is refused after the look, unless it may enter.
  template <class Predicate>
  std::size_t refuse_all_if(Predicate which, wait_outcome outcome, list& decided) noexcept {
    std::lock_guard const guard(this->lock());
    std::size_t const refused =
        unpark_if(everybody, outcome, decided) + this->refuse_queued(which, outcome, 0, decided);
    if (!is_somebody_visiting()) return refused;
    visiting_->mark = outcome;
    if (visiting_->phase == visit_phase::sent) turn_back(outcome, decided);
    return refused + 1;
  }

  // Refuses the waits in the queue, the parked visits, and the visit for which the looker is on
  // its way; and from now on every wait. Under one lock, because a handler that is told of it may
  // destroy the primitive.
  void close(list& decided) noexcept {
    std::lock_guard const guard(this->lock());
    auto const flag = this->is_closed() ? 0 : Mutex::closed;
    this->refuse_queued(everybody, wait_outcome::closed, flag, decided);
    end_visits_here(wait_outcome::closed, decided);
  }

  // Refuses the parked visits, and the visit for which the looker is on its way. The core is dead
  // already, so that no visit is parked after this or queues again.
  void end_visits(wait_outcome outcome, list& decided) noexcept {
    std::lock_guard const guard(this->lock());
    end_visits_here(outcome, decided);
  }

  // Refuses the parked visits for which `which` is true.
  template <class Predicate>
  void end_parked_if(Predicate which, wait_outcome outcome, list& decided) noexcept {
    std::lock_guard const guard(this->lock());
    unpark_if(which, outcome, decided);
  }

  // True if the visit has the mutex and has not entered, or if its function runs.
  bool is_inside(visit const& v) const noexcept {
    std::lock_guard const guard(this->lock());
    return &v == visiting_ || v.phase == visit_phase::running;
  }

  // Notes that a visit was taken out of the queue, granted or refused. A granted visit is in the
  // list of the thread that granted it, so it cannot be refused before it has looked. Under the
  // lock.
  void left_queue(visit& v) noexcept {
    bool const granted = v.outcome == wait_outcome::granted;
    if (granted) visiting_ = &v;
    change(v, granted ? visit_phase::granted : visit_phase::refused);
  }

  // Returns the number of queued waits and of visits that are parked or have not looked.
  std::size_t waiters() const noexcept {
    std::lock_guard const guard(this->lock());
    return this->size_ + parked_size_.load(std::memory_order_relaxed) +
           (is_somebody_visiting() ? 1 : 0);
  }

 protected:
  using Mutex::Mutex;

 private:
  static constexpr auto everybody = [](node const&) { return true; };

  static visit& of(node& w) noexcept { return static_cast<visit&>(w); }

  // Queues the parked visits again, in front. No visit is granted before the caller releases the
  // mutex. Does nothing if the core is dead or closed: end_visits() and close() refuse the parked
  // visits.
  ASIO_SYNC_COLD void recall() noexcept {
    std::lock_guard const guard(this->lock());
    if (parked_.empty() || this->is_dead() || this->is_closed()) return;
    if (this->queue_.empty()) this->word_.fetch_add(Mutex::waiting, std::memory_order_relaxed);
    while (!parked_.empty()) {
      visit& v = of(parked_.back());
      take_from_parked(v);
      change(v, visit_phase::coming);
      this->join_in_front(v);
    }
  }

  // Below: under the lock.

  // Changes the phase of a visit; no other function does.
  static void change(visit& v, visit_phase to) noexcept {
    Traits::changes(v.phase, to);
    v.phase = to;
  }

  // Returns the outcome of a visit that has looked and may not enter; undecided if it is parked.
  wait_outcome refusal_of(visit const& v) const noexcept {
    if (this->is_dead()) return wait_outcome::aborted;
    if (this->is_closed()) return wait_outcome::closed;
    if (v.mark == wait_outcome::undecided && Traits::looks_once(v)) return wait_outcome::timed_out;
    return v.mark;
  }

  // True if there is a visit that has the mutex and has not looked, and no refusal has marked it.
  bool is_somebody_visiting() const noexcept {
    return visiting_ && visiting_->mark == wait_outcome::undecided;
  }

  // Refuses visits like end_visits().
  void end_visits_here(wait_outcome outcome, list& decided) noexcept {
    unpark_if(everybody, outcome, decided);
    if (is_somebody_visiting() && visiting_->phase == visit_phase::sent)
      turn_back(outcome, decided);
  }

  // Refuses the visit that is to look. The mutex stays with the looker, which releases it when it
  // has arrived, or never can.
  void turn_back(wait_outcome outcome, list& decided) noexcept {
    refuse_now(*visiting_, outcome, decided);
    visiting_ = nullptr;
  }

  // Refuses a visit that is in no queue, and counts it until it is delivered or dropped.
  void refuse_now(visit& v, wait_outcome outcome, list& decided) noexcept {
    v.state = wait_state::decided;
    v.outcome = outcome;
    change(v, visit_phase::refused);
    this->count_up();
    decided.push_back(v);
  }

  // Refuses a parked visit.
  void unpark(visit& v, wait_outcome outcome, list& decided) noexcept {
    take_from_parked(v);
    refuse_now(v, outcome, decided);
  }

  // Refuses the parked visits for which `which` is true, and returns their number.
  template <class Predicate>
  std::size_t unpark_if(Predicate which, wait_outcome outcome, list& decided) noexcept {
    std::size_t ended = 0;
    for (node* parked = parked_.empty() ? nullptr : &parked_.front(); parked;) {
      visit& v = of(*parked);
      parked = list::following(v);
      if (!which(v)) continue;
      unpark(v, outcome, decided);
      ++ended;
    }
    return ended;
  }

  void take_from_parked(visit& v) noexcept {
    parked_.erase(v);
    count_parked(-1);
  }

  void count_parked(std::ptrdiff_t change) noexcept {
    parked_size_.store(
        parked_size_.load(std::memory_order_relaxed) + static_cast<std::size_t>(change),
        std::memory_order_relaxed);
  }

  typename Traits::template guarded<wait_list<node>> parked_;
  // Holds the mutex, and is to look: granted, sent or looking.
  typename Traits::template guarded<visit*> visiting_{nullptr};
  typename Traits::template atomic<std::size_t> parked_size_{0};  // changes under the lock
};

}  // namespace asio_sync::detail

#endif
