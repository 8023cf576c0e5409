// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CORE_CONDITION_STATE_HPP
#define ASIO_SYNC_DETAIL_CORE_CONDITION_STATE_HPP

#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/core/wait_list.hpp>
#include <asio_sync/detail/core/wait_queue.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace asio_sync::detail {

// The place of a wait in the queue of a condition; it has another one in the queue of a mutex. All
// changes under the condition's lock.
template <class Wait>
struct condition_place {
  explicit condition_place(Wait& w) noexcept : wait(w) {}

  Wait& wait;
  condition_place* next = nullptr;
  condition_place* prev = nullptr;
  wait_state state = wait_state::fresh;            // queued, or not
  wait_outcome outcome = wait_outcome::undecided;  // why it has left the queue
  wait_outcome mark = wait_outcome::undecided;     // why it may not come, or come back, to it
  bool notified_alone = false;                     // by notify_one()
};

// Who waits to be notified, under the condition.
//
// Whoever leaves the queue waits for a mutex next. Both are one step under the lock of this core,
// within which that of the mutex is taken: so two notifications cannot overtake one another, and
// at any time a wait is in one of the queues.
//
// The core outlives its primitive by the waits, each of which counts from its initiation until it
// is delivered or dropped.
//
// Traits: those of wait_queue, with places for nodes; `ended`, a list of waits; `mutex(wait)`,
// whose lock the wait holds, or waits for; `lock_again(wait, ended)`, which has it wait for that:
// true if it need not; `leave_mutex(wait, ended)`, which takes it out of that queue: true if it
// was there; `end(wait, outcome, ended)`. These are called under the lock.
template <class Traits>
class condition_state : public wait_queue<Traits> {
  using base = wait_queue<Traits>;
  using base::queue_;

 public:
  using typename base::node;
  using ended = typename Traits::ended;

  // A wait that holds its mutex queues, and may let go of it: undecided. Otherwise why not.
  wait_outcome enter(node& place) noexcept {
    std::lock_guard const guard(base::lock());
    if (has_ended()) return ended_as();
    if (is_over_another(Traits::mutex(place.wait))) return wait_outcome::invalid;
    if (place.mark == wait_outcome::undecided) {
      place.notified_alone = false;
      base::join(place);
      tell_waiting();
    }
    return place.mark;
  }

  // Whether those who wait do so over another mutex. It may have changed already.
  bool waits_over_another(void const* mutex) const noexcept {
    if (!waiting_.load(std::memory_order_relaxed)) return false;
    std::lock_guard const guard(base::lock());
    return is_over_another(mutex);
  }

  // Has the oldest wait, if there is one, go on to its mutex. Whoever queued before the caller got
  // the mutex is seen here without the lock; of others nobody can tell which came first.
  void notify_one(ended& decided) noexcept {
    if (!waiting_.load(std::memory_order_relaxed)) return;
    std::lock_guard const guard(base::lock());
    if (queue_.empty()) return;
    queue_.front().notified_alone = true;
    go_on(queue_.front(), wait_outcome::granted, decided);
    tell_waiting();
  }

  void notify_all(ended& decided) noexcept {
    if (!waiting_.load(std::memory_order_relaxed)) return;
    all_go_on(wait_outcome::granted, decided);
  }

  // Gives up a wait that is queued; marks one that is not, which counts once it comes back. True
  // if the wait is over: its mutex was free.
  bool refuse(node& place, wait_outcome outcome, ended& decided) noexcept {
    std::lock_guard const guard(base::lock());
    if (place.state != wait_state::queued) {
      base::mark(place.mark, outcome);
      return false;
    }
    bool const over = go_on(place, outcome, decided);
    tell_waiting();
    return over;
  }

  // The handler of the wait will never run. False if it is in no queue: it is on its way.
  bool evict(node& place, ended& decided) noexcept {
    std::lock_guard const guard(base::lock());
    if (place.state != wait_state::queued) return Traits::leave_mutex(place.wait, decided);
    end(place, wait_outcome::aborted, decided);
    tell_waiting();
    return true;
  }

  // The same for those in the queue of whom `which` is true.
  template <class Predicate>
  void evict_if(Predicate which, ended& decided) noexcept {
    std::lock_guard const guard(base::lock());
    for (node* next = queue_.empty() ? nullptr : &queue_.front(); next;) {
      node& place = *next;
      next = wait_list<node>::following(place);
      if (which(place.wait)) end(place, wait_outcome::aborted, decided);
    }
    tell_waiting();
  }

  // Gives up all that are queued; returns how many.
  std::size_t refuse_all(wait_outcome outcome, ended& decided) noexcept {
    return all_go_on(outcome, decided);
  }

  // Ends all that are queued, and from now on everybody who comes.
  void close(ended& decided) noexcept { end_all(wait_outcome::closed, decided); }

  // The primitive is being destroyed: likewise, as waits with a predicate may come back. Its own
  // count stays.
  void abandon(ended& decided) noexcept { end_all(wait_outcome::aborted, decided); }

  bool is_closed() const noexcept { return ended_as() == wait_outcome::closed; }

  // Whether nobody is let in any more, and why.
  bool has_ended() const noexcept { return ended_as() != wait_outcome::undecided; }
  wait_outcome ended_as() const noexcept { return end_.load(std::memory_order_relaxed); }

  // One more of those who keep the core.
  void count_up() noexcept { counts_.fetch_add(1, std::memory_order_relaxed); }

  // Lets a count go. True if it was the last: the caller frees the core. Acquire and release: what
  // others did to the core comes before its end.
  bool count_down() noexcept { return counts_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

 private:
  void end_all(wait_outcome outcome, ended& decided) noexcept {
    std::lock_guard const guard(base::lock());
    end_.store(outcome, std::memory_order_relaxed);
    while (!queue_.empty()) end(queue_.front(), outcome, decided);
    tell_waiting();
  }

  std::size_t all_go_on(wait_outcome outcome, ended& decided) noexcept {
    std::lock_guard const guard(base::lock());
    std::size_t n = 0;
    for (; !queue_.empty(); ++n) go_on(queue_.front(), outcome, decided);
    tell_waiting();
    return n;
  }

  // Below: under the lock.

  bool is_over_another(void const* mutex) const noexcept {
    return !queue_.empty() && Traits::mutex(queue_.front().wait) != mutex;
  }

  void leave(node& place, wait_outcome outcome) noexcept {
    queue_.erase(place);
    --base::size_;
    base::decide(place, outcome);
  }

  // True if that was all: the mutex was free, or is closed or dead.
  bool go_on(node& place, wait_outcome outcome, ended& decided) noexcept {
    leave(place, outcome);
    return Traits::lock_again(place.wait, decided);
  }

  void end(node& place, wait_outcome outcome, ended& decided) noexcept {
    leave(place, outcome);
    Traits::end(place.wait, outcome, decided);
  }

  void tell_waiting() noexcept { waiting_.store(!queue_.empty(), std::memory_order_relaxed); }

  typename Traits::template atomic<bool> waiting_{false};  // somebody is queued
  typename Traits::template atomic<wait_outcome> end_{wait_outcome::undecided};
  typename Traits::template atomic<std::uint64_t> counts_{1};
};

}  // namespace asio_sync::detail

#endif
