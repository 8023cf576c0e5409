// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CORE_LATCH_STATE_HPP
#define ASIO_SYNC_DETAIL_CORE_LATCH_STATE_HPP

#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/core/event_state.hpp>
#include <asio_sync/detail/core/wait_list.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>

namespace asio_sync::detail {

// A number that only falls, under the latch, and the flag that whoever brings it to zero raises.
// Waits look at the flag alone. A wait may be a participant: it lowers the number by one as it
// comes to the queue, under the lock, so that nothing that can fail comes after.
//
// Traits: those of event_state; `is_participant(node)`.
template <class Traits>
class latch_state : public event_state<Traits> {
  using base = event_state<Traits>;

 public:
  using typename base::list;
  using typename base::node;
  using number = std::uint64_t;

  explicit latch_state(number n) noexcept : base(n == 0), ahead_(n) {}

  // Whether lowering the number came to zero: then the flag is to be raised.
  enum class step { below_zero, to_more, to_zero };

  // Lowers the number by n, which must not be more; `only_to_zero`: not if something is left.
  ASIO_SYNC_INLINE step lower(number n, bool only_to_zero = false) noexcept {
    number ahead = ahead_.load(std::memory_order_relaxed);
    do {
      if (n > ahead) return step::below_zero;
      if (n == 0 || (only_to_zero && n != ahead)) return step::to_more;
      // Release and acquire: whoever comes to zero has seen what was done before each step down,
      // and publishes it with the flag.
    } while (!ahead_.compare_exchange_weak(ahead, ahead - n, std::memory_order_acq_rel,
                                           std::memory_order_relaxed));
    return n == ahead ? step::to_zero : step::to_more;
  }

  // The wait of a participant was turned away: the participant has come, if there is one ahead.
  void turned_away(list& decided) noexcept {
    if (lower(1) == step::to_zero) base::raise(decided);
  }

  // Queues a fresh waiter: true. False if it was decided on the spot: granted, refused by close(),
  // refused because it was marked by refuse(), or a participant too many. The last participant
  // lets go those in the queue, and is granted itself, or refused by close().
  bool enter(node& waiter, list& decided) noexcept {
    bool queued = false;
    {
      std::lock_guard const guard(base::lock());
      step const taken = Traits::is_participant(waiter) ? lower(1) : step::to_more;
      if (taken == step::below_zero) return base::conclude(waiter, wait_outcome::invalid), false;
      if (taken == step::to_zero) base::take_all(decided);
      queued = base::join_unless_decided(waiter);
    }
    base::tell_granted(decided);
    return queued;
  }

  static bool is_participant(node const& waiter) noexcept {
    return Traits::is_participant(waiter);
  }

 private:
  // Zero before the flag is up: whoever has found it zero may still be about to raise that.
  // The printers in share/gdb know it.
  typename Traits::template atomic<number> ahead_;
};

}  // namespace asio_sync::detail

#endif
