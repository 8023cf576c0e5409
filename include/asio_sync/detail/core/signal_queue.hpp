// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CORE_SIGNAL_QUEUE_HPP
#define ASIO_SYNC_DETAIL_CORE_SIGNAL_QUEUE_HPP

#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/core/wait_list.hpp>
#include <asio_sync/detail/core/wait_queue.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace asio_sync::detail {

// What the cores of signals share. A grant carries nothing that has to be given back: it stays a
// grant when the primitive dies.
//
// The core outlives its primitive by the completions on their way. So it counts: the primitive is
// one, and each waiter that was decided is one until it is delivered or dropped. Whoever lets the
// last count go frees the core.
//
// Traits: those of wait_queue; for take_queue(), `all_left(list)`, told under the lock of those in
// the list that are queued.
template <class Traits>
class signal_queue : public wait_queue<Traits> {
  using base = wait_queue<Traits>;

 public:
  using typename base::list;
  using typename base::node;
  static constexpr bool gives_back = false;

  // Decides a waiter that does not queue.
  void conclude(node& waiter, verdict decided) noexcept {
    count_up();
    base::decide(waiter, decided.outcome());
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
    settle(base::take_out_if(base::everybody, wait_outcome::closed, decided));
  }

  // The primitive is being destroyed: refuses those in the queue. The primitive's own count stays:
  // count_down() comes after the completions.
  void abandon(list& decided) noexcept {
    refuse_if(base::everybody, wait_outcome::aborted, decided);
  }

  // A granted waiter will never arrive; there is nothing to pass on. True if that was the last
  // count.
  bool drop(node&, list&) noexcept { return count_down(); }

  // One more of those who keep the core.
  void count_up(std::size_t n = 1) noexcept { counts_.fetch_add(n, std::memory_order_relaxed); }

  // Lets a count go. True if it was the last: the caller frees the core. Acquire and release: what
  // others did to the core comes before its end.
  ASIO_SYNC_INLINE bool count_down() noexcept {
    return counts_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

  bool is_closed() const noexcept { return (word_.load(std::memory_order_relaxed) & closed) != 0; }

 protected:
  // The word:  | the core's own | closed | the core's own | waiting |
  // The printers in share/gdb know it.
  using word = std::uint64_t;
  static constexpr word waiting = 1;  // somebody is queued; changes under the lock only
  static constexpr word closed = 4;   // nobody is let go any more

  explicit signal_queue(word up) noexcept : word_(up) {}
  ~signal_queue() = default;

  // Below: under the lock.

  // Takes a waiter from the queue, or marks it if it has not come to the queue yet. True if it was
  // in the queue.
  bool refuse_one(node& waiter, wait_outcome outcome, list& decided) noexcept {
    if (waiter.state == wait_state::fresh) base::mark(waiter.outcome, outcome);
    if (waiter.state != wait_state::queued) return false;
    base::take_out(waiter, outcome, decided);
    settle(1);
    return true;
  }

  // Takes the whole queue out, which the word does not say yet.
  void take_queue(list& decided) noexcept {
    count_up(base::size_);
    decided.append(base::queue_);
    base::size_ = 0;
    Traits::all_left(decided);
  }

  // So many have left the queue, and the word changes by so much.
  std::size_t settle(std::size_t n, word change = 0) noexcept {
    if (n != 0) count_up(n);
    if (n != 0 && base::queue_.empty()) change -= waiting;
    // Release, also where nothing changes: pairs with the acquire of whoever sees what is up now.
    word_.fetch_add(change, std::memory_order_release);
    return n;
  }

  typename Traits::template atomic<word> word_;

 private:
  typename Traits::template atomic<std::uint64_t> counts_{1};
};

}  // namespace asio_sync::detail

#endif
