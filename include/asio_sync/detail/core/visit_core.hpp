// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CORE_VISIT_CORE_HPP
#define ASIO_SYNC_DETAIL_CORE_VISIT_CORE_HPP

#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/core/wait_list.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace asio_sync::detail {

// Where a visit is. Changes under the lock of its core.
enum class visit_phase : std::uint8_t {
  coming,   // it waits for the mutex, or is about to
  granted,  // it was granted the mutex in its turn, and is in the list of whoever did that
  sent,     // somebody goes to the strand for it: it can be turned back
  looking,  // somebody looks whether it may enter
  parked,   // it may not, and waits until somebody leaves
  refused,  // it goes out without the mutex
  entered,  // it is inside, with its handler
  running,  // its function is inside
  left,     // its function has ended
  lost      // its function never will
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
    case running: return to == left || to == lost;
    case refused:
    case entered:
    case left:
    case lost: break;
  }
  return false;
}

// Returns true once a visit has been let in.
constexpr bool is_let_in(visit_phase phase) noexcept { return phase >= visit_phase::entered; }

// The visits to a monitor, over the mutex of that monitor.
//
// A visit queues for the mutex as any other wait. One that has got it looks whether it may enter;
// if not it is parked, and hands the mutex on. Who leaves the monitor has the parked queue again,
// in front: so they are older than all others in the queue, and their order is that of their
// coming. At most one visit looks at a time, as it holds the mutex.
//
// Mutex: a core of one permit, some of whose nodes are visits. Traits: `atomic<T>`; `visit`, a
// node with members `phase`, `mark` and `is_cancelled`; `is_visit(node)`, `looks_once(visit)`;
// `changes(from, to)`, told of each change of a phase; `left(node, list)` calls
// left_queue(visit).
template <class Mutex, class Traits>
class visit_core : public Mutex {
 public:
  using visit = typename Traits::visit;
  using node = typename Mutex::node;
  using list = typename Mutex::list;

  // Under the lock: somebody goes to the strand for a visit that has got the mutex.
  void let_look(visit& v) noexcept {
    visiting_ = &v;
    change(v, visit_phase::sent);
  }

  // Under the lock: somebody has arrived on the strand, where hand_on() follows. Returns the visit
  // that looks now; null if it was refused.
  visit* begin_to_look() noexcept {
    if (this->is_dead() || !visiting_) return nullptr;
    change(*visiting_, visit_phase::looking);
    return visiting_;
  }

  // It has looked, and enters. `runs`: a function of its runs then; if it was cancelled meanwhile,
  // that does not run, and the visit does not enter: false.
  bool let_in(visit& v, bool runs) noexcept {
    std::lock_guard const guard(this->lock());
    if (runs && v.is_cancelled) return false;
    visiting_ = nullptr;
    change(v, runs ? visit_phase::running : visit_phase::entered);
    return true;
  }

  // It has looked, and may not enter; hand_on() follows. False if it was refused meanwhile: it
  // goes out.
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

  // Nobody looks any more. True if the mutex goes to a visit, which looks next. Otherwise the
  // caller has it, and releases it.
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

  // Under the lock: nobody can look any more. The caller has the mutex, and releases it.
  void give_up_looking(list& decided) noexcept {
    if (visiting_) turn_back(wait_outcome::aborted, decided);
  }

  // The function of a visit has ended, and the monitor was left. `lost`: it never will.
  void end_function(visit& v, bool lost) noexcept {
    std::lock_guard const guard(this->lock());
    change(v, lost ? visit_phase::lost : visit_phase::left);
    if (lost) v.outcome = wait_outcome::aborted;
  }

  // Before the monitor is left by somebody who may have changed something.
  ASIO_SYNC_INLINE void leaving() noexcept {
    if (parked_size_.load(std::memory_order_relaxed) != 0) recall();
  }

  // True if the visit goes out, refused. Otherwise it is marked, or has entered; `runs`: and its
  // function runs.
  bool refuse_visit(visit& v, wait_outcome outcome, list& decided, bool& runs) noexcept {
    {
      std::lock_guard const guard(this->lock());
      if (v.mark == wait_outcome::undecided) v.mark = outcome;
      if (outcome == wait_outcome::aborted) v.is_cancelled = true;
      if (v.phase == visit_phase::parked) return unpark(v, outcome, decided), true;
      if (v.phase == visit_phase::sent) return turn_back(outcome, decided), true;
      runs = v.phase == visit_phase::running;
    }
    return !runs && Mutex::refuse(v, outcome, decided);
  }

  // All visits, and those in the queue of whom `which` is true; returns how many. One that is
  // about to look is refused after that, if it may not enter.
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

  // Refuses those in the queue, those who are parked, and who is about to look; and from now on
  // everybody. In one step: whoever is told of it may end the primitive.
  void close(list& decided) noexcept {
    std::lock_guard const guard(this->lock());
    auto const flag = this->is_closed() ? 0 : Mutex::closed;
    this->refuse_queued(everybody, wait_outcome::closed, flag, decided);
    end_visits_here(wait_outcome::closed, decided);
  }

  // Those who are parked, once they are not to be recalled any more, and who is about to look.
  void end_visits(wait_outcome outcome, list& decided) noexcept {
    std::lock_guard const guard(this->lock());
    end_visits_here(outcome, decided);
  }

  template <class Predicate>
  void end_parked_if(Predicate which, wait_outcome outcome, list& decided) noexcept {
    std::lock_guard const guard(this->lock());
    unpark_if(which, outcome, decided);
  }

  // Whether it looks, or its function runs.
  bool is_inside(visit const& v) const noexcept {
    std::lock_guard const guard(this->lock());
    return &v == visiting_ || v.phase == visit_phase::running;
  }

  // Under the lock: it was taken out of the queue. If it was granted the mutex it is in the list
  // of whoever did that, and can be refused once it has looked.
  void left_queue(visit& v) noexcept {
    bool const granted = v.outcome == wait_outcome::granted;
    if (granted) visiting_ = &v;
    change(v, granted ? visit_phase::granted : visit_phase::refused);
  }

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

  // The parked queue again. They are held up by the caller, who is inside. Whoever ends the
  // monitor, or closes it, ends them.
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

  // The one place where a phase changes.
  static void change(visit& v, visit_phase to) noexcept {
    Traits::changes(v.phase, to);
    v.phase = to;
  }

  // How a visit ends that has looked and may not enter; undecided: it does not end.
  wait_outcome refusal_of(visit const& v) const noexcept {
    if (this->is_dead()) return wait_outcome::aborted;
    if (this->is_closed()) return wait_outcome::closed;
    if (v.mark == wait_outcome::undecided && Traits::looks_once(v)) return wait_outcome::timed_out;
    return v.mark;
  }

  bool is_somebody_visiting() const noexcept {
    return visiting_ && visiting_->mark == wait_outcome::undecided;
  }

  void end_visits_here(wait_outcome outcome, list& decided) noexcept {
    unpark_if(everybody, outcome, decided);
    if (is_somebody_visiting() && visiting_->phase == visit_phase::sent)
      turn_back(outcome, decided);
  }

  // What the visit holds is left to who looks.
  void turn_back(wait_outcome outcome, list& decided) noexcept {
    refuse_now(*visiting_, outcome, decided);
    visiting_ = nullptr;
  }

  void refuse_now(visit& v, wait_outcome outcome, list& decided) noexcept {
    v.state = wait_state::decided;
    v.outcome = outcome;
    change(v, visit_phase::refused);
    this->count_up();
    decided.push_back(v);
  }

  void unpark(visit& v, wait_outcome outcome, list& decided) noexcept {
    take_from_parked(v);
    refuse_now(v, outcome, decided);
  }

  // Those of whom `which` is true; returns how many.
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

  wait_list<node> parked_;
  visit* visiting_ = nullptr;  // holds the mutex, and is to look: granted, sent or looking
  typename Traits::template atomic<std::size_t> parked_size_{0};  // changes under the lock
};

}  // namespace asio_sync::detail

#endif
