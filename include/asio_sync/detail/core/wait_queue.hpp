// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CORE_WAIT_QUEUE_HPP
#define ASIO_SYNC_DETAIL_CORE_WAIT_QUEUE_HPP

#include <asio_sync/detail/core/wait_list.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>

namespace asio_sync::detail {

// What every core has: those who wait, oldest first, and the lock under which they join and leave.
//
// Traits: `atomic<T>` and `lock_type`; `guarded<T>`, the type of a member that holds a T and is
// used under the lock alone; `node`, with members `next`, `prev`, `state`, `outcome`; `list`, a
// decided_list of them; `joined(node)` and `left(node, list)`, told under the lock.
template <class Traits>
class wait_queue {
 public:
  using node = typename Traits::node;
  using list = typename Traits::list;

  // The answers to the shell that have a default; a core hides those that it answers otherwise.

  // True if a transition may stop half-way, so that others get the lock: `more` is set in its
  // list, and settle_more(list) goes on.
  static constexpr bool in_batches = false;
  // True if a grant can carry something that goes on when the wait is withdrawn, and if the grant
  // of this waiter does.
  static constexpr bool gives_back = true;
  static constexpr bool gives_back_of(node const&) noexcept { return true; }

  wait_queue(wait_queue const&) = delete;
  wait_queue& operator=(wait_queue const&) = delete;

  std::size_t waiters() const noexcept {
    std::lock_guard const guard(lock_);
    return size_;
  }

 protected:
  static constexpr auto everybody = [](node const&) { return true; };

  wait_queue() = default;
  ~wait_queue() = default;

  typename Traits::lock_type& lock() const noexcept { return lock_; }

  static void decide(node& waiter, wait_outcome outcome) noexcept {
    waiter.state = wait_state::decided;
    waiter.outcome = outcome;
  }

  // Below: under the lock.

  // Marks a wait that is refused while it cannot be taken out. The first mark counts. A fresh
  // waiter has its mark in `outcome`, which tells nothing else yet. The place of a wait in a
  // condition, and a visit, have a member for it, because they are marked after a grant, too.
  template <class Mark>
  static void mark(Mark& m, wait_outcome outcome) noexcept {
    if (m == wait_outcome::undecided) m = outcome;
  }

  void join(node& waiter) noexcept {
    queue_.push_back(waiter);
    joined(waiter);
  }

  // As the next whose turn it is.
  void join_in_front(node& waiter) noexcept {
    queue_.push_front(waiter);
    joined(waiter);
  }

  void take_out(node& waiter, wait_outcome outcome, list& decided) noexcept {
    queue_.erase(waiter);
    --size_;
    decide(waiter, outcome);
    Traits::left(waiter, decided);
    decided.push_back(waiter);
  }

  // Those of whom `which` is true; returns how many.
  template <class Predicate>
  std::size_t take_out_if(Predicate which, wait_outcome outcome, list& decided) noexcept {
    std::size_t taken = 0;
    for (node* next = queue_.empty() ? nullptr : &queue_.front(); next;) {
      node& candidate = *next;
      next = list::following(candidate);
      if (!which(candidate)) continue;
      take_out(candidate, outcome, decided);
      ++taken;
    }
    return taken;
  }

  typename Traits::template guarded<wait_list<node>> queue_;
  typename Traits::template guarded<std::uint32_t> size_{0};

 private:
  void joined(node& waiter) noexcept {
    waiter.state = wait_state::queued;
    ++size_;
    Traits::joined(waiter);
  }

  mutable typename Traits::lock_type lock_;
};

}  // namespace asio_sync::detail

#endif
