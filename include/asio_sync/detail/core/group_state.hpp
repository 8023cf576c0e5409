// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CORE_GROUP_STATE_HPP
#define ASIO_SYNC_DETAIL_CORE_GROUP_STATE_HPP

#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/core/event_state.hpp>
#include <asio_sync/detail/core/wait_list.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>

namespace asio_sync::detail {

// A number that rises and falls, under the group, and the flag that is up while it is zero. Both
// change under the lock, so that the one cannot overtake the other. What is counted is either in a
// list or was added.
//
// Traits: those of event_state; `operation`, what is in the list, with `next` and `prev`.
template <class Traits>
class group_state : public event_state<Traits> {
  using base = event_state<Traits>;

 public:
  using typename base::list;
  using operation = typename Traits::operation;
  using number = std::uint64_t;

  // So much is counted at most.
  static constexpr number maximum = INT64_MAX;

  group_state() noexcept : base(true) {}

  // How much is counted. Acquire: who finds nothing sees what was done before.
  number pending() const noexcept { return pending_.load(std::memory_order_acquire); }

  // Counts n more; false, changing nothing, if that is too many.
  bool add(number n) noexcept {
    std::lock_guard const guard(base::lock());
    if (!count(n)) return false;
    added_ += n;
    return true;
  }

  // Counts an operation, and keeps it in the list; false, changing nothing, if that is too many.
  bool track(operation& o) noexcept {
    std::lock_guard const guard(base::lock());
    if (!count(1)) return false;
    operations_.push_back(o);
    return true;
  }

  // Counts n of those added no more, and lets go those who wait if nothing is left; false,
  // changing nothing, if there are not so many.
  bool done(number n, list& decided) noexcept {
    {
      std::lock_guard const guard(base::lock());
      if (n > added_) return false;
      added_ -= n;
      discount(n, decided);
    }
    base::tell_granted(decided);
    return true;
  }

  // The same of an operation in the list.
  void let_go(operation& o, list& decided) noexcept {
    {
      std::lock_guard const guard(base::lock());
      operations_.erase(o);
      discount(1, decided);
    }
    base::tell_granted(decided);
  }

  // Calls f with each operation in the list, under the lock.
  template <class Function>
  void visit(Function f) noexcept {
    std::lock_guard const guard(base::lock());
    for (operation* next = operations_.empty() ? nullptr : &operations_.front(); next;
         next = wait_list<operation>::following(*next))
      f(*next);
  }

 private:
  // Below: under the lock.

  bool count(number n) noexcept {
    number const before = pending_.load(std::memory_order_relaxed);
    if (n > maximum - before) return false;
    if (before == 0 && n != 0) base::lower();
    pending_.store(before + n, std::memory_order_relaxed);
    return true;
  }

  void discount(number n, list& decided) noexcept {
    number const left = pending_.load(std::memory_order_relaxed) - n;
    // Release: pairs with pending(). What others did before they were done is seen by the lock.
    pending_.store(left, std::memory_order_release);
    if (left == 0) base::take_all(decided);
  }

  // The printers in share/gdb know it.
  typename Traits::template atomic<number> pending_{0};
  typename Traits::template guarded<number> added_{0};
  typename Traits::template guarded<wait_list<operation>> operations_;
};

}  // namespace asio_sync::detail

#endif
