// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CORE_EVENT_STATE_HPP
#define ASIO_SYNC_DETAIL_CORE_EVENT_STATE_HPP

#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/core/signal_queue.hpp>
#include <asio_sync/detail/core/wait_list.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace asio_sync::detail {

// A flag that is up or down, under the manual-reset event and the latch: whoever comes while it is
// up need not wait, and raising it lets go everybody who does.
//
// Raising it with a million waits queued holds the lock for a moment: the queue is taken out
// whole, and from then on a waiter is known to be decided by the number of the generation that it
// queued in, which has passed. What a waiter says of itself follows after the lock.
//
// Traits: those of signal_queue; `generation(node)`, a number of the core's, zero at first.
template <class Traits>
class event_state : public signal_queue<Traits> {
  using base = signal_queue<Traits>;
  using base::closed, base::waiting, base::word_;
  using typename base::word;

 public:
  using typename base::list;
  using typename base::node;

  explicit event_state(bool raised) noexcept : base(raised ? up : 0) {}

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
    return base::refuse_one(waiter, outcome, decided);
  }

 protected:
  // Below: under the lock.

  // As enter().
  bool join_unless_decided(node& waiter) noexcept {
    word w = word_.load(std::memory_order_acquire);
    do {
      wait_outcome const outcome = (w & closed) ? wait_outcome::closed
                                   : (w & up)   ? wait_outcome::granted
                                                : waiter.outcome;
      if (outcome != wait_outcome::undecided) return base::conclude(waiter, outcome), false;
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
    base::take_queue(decided);
    ++generation_;
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
  static constexpr word up = 2;

  typename Traits::template guarded<std::uint64_t> generation_{1};
};

}  // namespace asio_sync::detail

#endif
