// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CORE_BARRIER_STATE_HPP
#define ASIO_SYNC_DETAIL_CORE_BARRIER_STATE_HPP

#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/core/signal_queue.hpp>
#include <asio_sync/detail/core/wait_list.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace asio_sync::detail {

// Participants who wait for each other, phase by phase. Those in the queue are those who have
// arrived in this phase; the last to come does not queue, but ends the phase. If one of them
// leaves the queue without the others, the phase is broken: the others go, too.
//
// Whatever ends a phase takes the whole queue out, with the lock held for a moment however many
// wait: from then on a waiter is known to be decided by the number of the generation in which it
// came, which has passed. What it says of itself follows after the lock; where all have arrived,
// after the phase's completion, which is user code.
//
// Traits: those of signal_queue; `generation(node)`, a number of the core's, zero at first;
// `lead(node)`, told of the one that leads; `completion`, which ends a phase, and returns false if
// that has failed.
template <class Traits>
class barrier_state : public signal_queue<Traits> {
  using base = signal_queue<Traits>;
  using base::size_, base::waiting, base::word_;

 public:
  using typename base::list;
  using typename base::node;
  using number = std::uint64_t;

  // Args: of the completion.
  template <class... Args>
  explicit barrier_state(number n, Args... args) noexcept
      : base(0), completion_(args...), participants_(n) {}

  // Arrives where that decides the wait: as the last, which leads the others; or where it is
  // refused at once. `expired`: whoever would have to wait does not arrive. The caller counts for
  // the core, which the completion may otherwise end.
  verdict try_arrive(bool expired, list& decided) noexcept {
    {
      std::lock_guard const guard(base::lock());
      wait_outcome const refused = refusal();
      if (refused != wait_outcome::undecided) return refused;
      if (!is_last()) return expired ? wait_outcome::timed_out : wait_outcome::undecided;
      take_all(decided);
    }
    return led(end_phase(decided));
  }

  // Queues a fresh waiter, which has arrived: true. False if it was decided on the spot: it is the
  // last, and has let go the others; or it was refused, by close(), because it was marked by
  // refuse(), or as nobody can arrive any more.
  bool enter(node& waiter, list& decided) noexcept {
    {
      std::lock_guard const guard(base::lock());
      wait_outcome const refused = refusal(waiter.outcome);
      if (refused != wait_outcome::undecided) return base::conclude(waiter, refused), false;
      Traits::generation(waiter) = generation_;
      if (!is_last()) return wait(waiter), true;
      base::count_up();
      take_all(decided);
    }
    tell(waiter, led(end_phase(decided)));
    return false;
  }

  // A participant fewer, for good, who arrives without waiting; as the last it lets the others go,
  // led by the oldest. False, and nothing has changed, if there is none. The caller counts for the
  // core, as for try_arrive().
  bool arrive_and_drop(list& decided) noexcept {
    {
      std::lock_guard const guard(base::lock());
      if (participants_ == 0) return false;
      if (size_ != --participants_ || base::is_closed()) return true;
      take_all(decided);
    }
    if (!decided.empty()) Traits::lead(decided.front());
    end_phase(decided);
    return true;
  }

  // The wait of a participant was turned away: the participant never arrives, which breaks the
  // phase.
  void turned_away(list& decided) noexcept {
    {
      std::lock_guard const guard(base::lock());
      take_all(decided);
    }
    tell_all(decided, wait_outcome::failed);
  }

  // Every wait has a participant.
  static bool is_participant(node const&) noexcept { return true; }

  // Decides a waiter that does not queue.
  void conclude(node& waiter, verdict decided) noexcept {
    base::count_up();
    tell(waiter, decided);
  }

  // Refuses a waiter: takes it from the queue, which breaks the phase; marks it if it has not come
  // to the queue yet, where it then does not arrive; does nothing once it is decided. True if it
  // was in the queue.
  bool refuse(node& waiter, wait_outcome outcome, list& decided) noexcept {
    {
      std::lock_guard const guard(base::lock());
      if (Traits::generation(waiter) != 0 && Traits::generation(waiter) != generation_)
        return false;  // its phase has ended, which it may not have been told yet
      if (!base::refuse_one(waiter, outcome, decided)) return false;
      take_all(decided);
    }
    tell_all(decided, wait_outcome::failed);
    return true;
  }

  // Refuses those in the queue of whom `which` is true, which breaks the phase for the others;
  // returns how many are refused.
  template <class Predicate>
  std::size_t refuse_if(Predicate which, wait_outcome outcome, list& decided) noexcept {
    std::size_t refused = 0;
    {
      std::lock_guard const guard(base::lock());
      refused = base::settle(base::take_out_if(which, outcome, decided));
      if (refused != 0) take_all(decided);
    }
    tell_all(decided, wait_outcome::failed);
    return refused;
  }

 private:
  // Below: under the lock.

  // Whether nobody may arrive, and why.
  wait_outcome refusal(wait_outcome mark = wait_outcome::undecided) const noexcept {
    if (base::is_closed()) return wait_outcome::closed;
    return participants_ == 0 ? wait_outcome::invalid : mark;
  }

  // Whether all others have arrived.
  bool is_last() const noexcept { return size_ + 1 == participants_; }

  void wait(node& waiter) noexcept {
    if (size_ == 0) word_.fetch_add(waiting, std::memory_order_relaxed);
    base::join(waiter);
  }

  // The phase ends, and the next begins: those who have arrived are told after the lock.
  void take_all(list& decided) noexcept {
    ++generation_;
    if (size_ == 0) return;
    base::take_queue(decided);
    word_.fetch_sub(waiting, std::memory_order_relaxed);
  }

  // Below: without it.

  // All have arrived. The core is counted, whatever the completion does. Those in the list are on
  // their way meanwhile, and nobody takes them out any more.
  wait_outcome end_phase(list& decided) noexcept {
    wait_outcome const outcome = completion_() ? wait_outcome::granted : wait_outcome::failed;
    tell_all(decided, outcome);
    return outcome;
  }

  // Returns the verdict of the participant that leads its phase.
  static verdict led(wait_outcome outcome) noexcept {
    return {outcome, outcome == wait_outcome::granted};
  }

  // Of those in the list that nobody has told yet.
  static void tell_all(list& decided, wait_outcome outcome) noexcept {
    for (node* next = decided.empty() ? nullptr : &decided.front(); next;
         next = list::following(*next))
      if (next->state == wait_state::queued) base::decide(*next, outcome);
  }

  static void tell(node& waiter, verdict decided) noexcept {
    if (decided.granted() && decided.value() != 0) Traits::lead(waiter);
    base::decide(waiter, decided.outcome());
  }

  typename Traits::completion completion_;
  // Those who are still to arrive are the participants less those in the queue.
  // The printers in share/gdb know it.
  typename Traits::template guarded<number> participants_;
  typename Traits::template guarded<std::uint64_t> generation_{1};
};

}  // namespace asio_sync::detail

#endif
