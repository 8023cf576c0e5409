// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CORE_SIGNAL_CORE_HPP
#define ASIO_SYNC_DETAIL_CORE_SIGNAL_CORE_HPP

#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/core/wait_list.hpp>
#include <asio_sync/detail/core/wait_queue.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace asio_sync::detail {

// A flag that is up or down, under the manual-reset event and the latch: whoever comes while it is
// up need not wait, and raising it lets go everybody who does. A grant carries nothing: it stays a
// grant when the primitive dies, and there is nothing to pass on when it is dropped.
//
// Raising it with a million waits queued holds the lock for a moment: the queue is taken out
// whole, and from then on a waiter is known to be decided by the number of the generation that it
// queued in, which has passed. What a waiter says of itself follows after the lock.
//
// Traits: those of wait_queue; `generation(node)`, a number of the core's, zero at first;
// `all_left(list)`, told under the lock.
//
// The core outlives its primitive by the completions on their way. So it counts: the primitive is
// one, and each waiter that was decided is one until it is delivered or dropped. Whoever lets the
// last count go frees the core.
template <class Traits>
class signal_core : public wait_queue<Traits> {
  using base = wait_queue<Traits>;
  using base::everybody, base::queue_, base::size_;

 public:
  using typename base::list;
  using typename base::node;
  static constexpr bool carries = false;
  static constexpr bool in_batches = false;

  explicit signal_core(bool raised) noexcept : word_(raised ? up : 0) {}

  // Whether a wait has nothing to wait for. Acquire: pairs with raise().
  ASIO_SYNC_INLINE bool admits() const noexcept {
    return (word_.load(std::memory_order_acquire) & (up | closed)) == up;
  }

  bool is_up() const noexcept { return (word_.load(std::memory_order_acquire) & up) != 0; }

  // Raises the flag if nobody waits: one compare-exchange, the last access to the core. Otherwise
  // false; then use raise().
  ASIO_SYNC_INLINE bool try_raise() noexcept {
    word w = word_.load(std::memory_order_relaxed);
    do {
      if (w & waiting) return false;
      // Release, also where it is up already: pairs with the acquire of whoever sees it, or lowers
      // it.
    } while (!word_.compare_exchange_weak(w, w | up, std::memory_order_release,
                                          std::memory_order_relaxed));
    return true;
  }

  // Raises the flag, and lets go those who wait.
  void raise(list& decided) noexcept {
    {
      std::lock_guard const guard(base::lock());
      take_all(decided);
    }
    tell_granted(decided);
  }

  // Lowers the flag. Acquire: who has lowered it sees what was done before it was raised.
  void lower() noexcept {
    word w = word_.load(std::memory_order_acquire);
    while ((w & up) && !word_.compare_exchange_weak(w, w & ~up, std::memory_order_acquire,
                                                    std::memory_order_acquire)) {
    }
  }

  // Decides a waiter that does not queue.
  void conclude(node& waiter, verdict decided) noexcept {
    count_up();
    base::decide(waiter, decided.outcome());
  }

  // Queues a fresh waiter: true. False if it was decided on the spot: granted, refused by close(),
  // or refused because it was marked by refuse().
  bool enter(node& waiter) noexcept {
    std::lock_guard const guard(base::lock());
    return join_unless_decided(waiter);
  }

  // Refuses a waiter: takes it from the queue; marks it if it has not come to the queue yet; does
  // nothing once it is decided. True if it was in the queue.
  bool refuse(node& waiter, wait_outcome outcome, list& decided) noexcept {
    std::lock_guard const guard(base::lock());
    if (Traits::generation(waiter) != 0 && Traits::generation(waiter) != generation_)
      return false;  // let go by raise(), which may not have told it yet
    if (waiter.state == wait_state::fresh) waiter.outcome = outcome;
    if (waiter.state != wait_state::queued) return false;
    base::take_out(waiter, outcome, decided);
    settle(1);
    return true;
  }

  // Refuses those in the queue of whom `which` is true; returns how many.
  template <class Predicate>
  std::size_t refuse_if(Predicate which, wait_outcome outcome, list& decided) noexcept {
    std::lock_guard const guard(base::lock());
    return settle(base::take_out_if(which, outcome, decided));
  }

  // Refuses those in the queue, and from now on everybody.
  void close(list& decided) noexcept {
    std::lock_guard const guard(base::lock());
    if (!is_closed()) word_.fetch_add(closed, std::memory_order_relaxed);
    settle(base::take_out_if(everybody, wait_outcome::closed, decided));
  }

  // The primitive is being destroyed: refuses those in the queue. The primitive's own count stays:
  // forget() comes after the completions.
  void abandon(list& decided) noexcept { refuse_if(everybody, wait_outcome::aborted, decided); }

  // A granted waiter will never arrive. True if that was the last count.
  bool drop(node&, list&) noexcept { return forget(); }

  // One more of those who keep the core.
  void count_up(std::size_t n = 1) noexcept { counts_.fetch_add(n, std::memory_order_relaxed); }

  // Lets a count go. True if it was the last: the caller frees the core. Acquire and release: what
  // others did to the core comes before its end.
  ASIO_SYNC_INLINE bool forget() noexcept {
    return counts_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

  bool is_closed() const noexcept { return (word_.load(std::memory_order_relaxed) & closed) != 0; }

 protected:
  // Below: under the lock.

  // As enter().
  bool join_unless_decided(node& waiter) noexcept {
    word w = word_.load(std::memory_order_acquire);
    do {
      wait_outcome const outcome = (w & closed) ? wait_outcome::closed
                                   : (w & up)   ? wait_outcome::granted
                                                : waiter.outcome;
      if (outcome != wait_outcome::undecided) return conclude(waiter, outcome), false;
    } while (!(w & waiting) &&
             !word_.compare_exchange_weak(w, w | waiting, std::memory_order_acquire,
                                          std::memory_order_acquire));
    Traits::generation(waiter) = generation_;
    base::join(waiter);
    return true;
  }

  // Raises the flag, and takes out those who wait: tell_granted() follows after the lock.
  void take_all(list& decided) noexcept {
    if (try_raise()) return;  // whoever waited has gone meanwhile
    count_up(size_);
    decided.take(queue_);
    size_ = 0;
    ++generation_;
    Traits::all_left(decided);
    // Release: pairs with the acquire of whoever sees it.
    word_.fetch_add(up - waiting, std::memory_order_release);
  }

  // After it: what each of those taken out says of itself.
  static void tell_granted(list& decided) noexcept {
    for (node* next = decided.empty() ? nullptr : &decided.front(); next;
         next = list::following(*next))
      base::decide(*next, wait_outcome::granted);
  }

 private:
  // The word: | closed | up | waiting |. Never both of the last two.
  // The printers in share/gdb know it.
  using word = std::uint32_t;
  static constexpr word waiting = 1;  // somebody is queued; changes under the lock only
  static constexpr word up = 2;
  static constexpr word closed = 4;  // nobody is let go any more

  // Under the lock: so many have left the queue.
  std::size_t settle(std::size_t n) noexcept {
    if (n == 0) return 0;
    count_up(n);
    if (queue_.empty()) word_.fetch_sub(waiting, std::memory_order_relaxed);
    return n;
  }

  typename Traits::template atomic<word> word_;
  typename Traits::template atomic<std::uint64_t> counts_{1};
  std::uint64_t generation_ = 1;  // lock()
};

}  // namespace asio_sync::detail

#endif
