// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CONTEXT_DEADLINE_HEAP_HPP
#define ASIO_SYNC_DETAIL_CONTEXT_DEADLINE_HEAP_HPP

#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/platform/threading.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace asio_sync::detail {

// The deadlines of the timed waits of a context, the earliest in front: a binary heap in which
// each wait knows its index, so that any of them can leave.
class deadline_heap {
 public:
  static constexpr std::size_t kept = 8192;  // for so many it keeps memory in any case

  bool empty() const noexcept { return entries_.empty(); }
  steady_clock::time_point earliest() const noexcept { return entries_.front().deadline; }
  waiter& front() const noexcept { return *entries_.front().wait; }

  // Strong guarantee: throws what growing throws.
  void push(steady_clock::time_point deadline, waiter& w) {
    entries_.push_back({deadline, &w});
    sift_up(entries_.size() - 1, {deadline, &w});
  }

  // Does nothing for a wait that is not in the heap.
  void erase(waiter& w) noexcept {
    if (w.heap_index == waiter::not_timed) return;
    std::size_t const hole = w.heap_index;
    w.heap_index = waiter::not_timed;
    entry const last = entries_.back();
    entries_.pop_back();
    if (entries_.size() < entries_.capacity() / 8) give_back();
    if (hole == entries_.size()) return;
    if (hole > 0 && last.deadline < entries_[parent(hole)].deadline)
      sift_up(hole, last);
    else
      sift_down(hole, last);
  }

 private:
  struct entry {
    steady_clock::time_point deadline;
    waiter* wait;
  };

  static std::size_t parent(std::size_t i) noexcept { return (i - 1) / 2; }

  void put(std::size_t i, entry const& e) noexcept {
    entries_[i] = e;
    e.wait->heap_index = static_cast<std::uint32_t>(i);
  }

  // After very many deadlines: a copy of the few that are left is not worth mentioning.
  void give_back() noexcept {
    if (entries_.capacity() <= kept) return;
    try {
      entries_.shrink_to_fit();
    } catch (...) {  // the next time, then
    }
  }

  void sift_up(std::size_t hole, entry const& e) noexcept {
    for (; hole > 0 && e.deadline < entries_[parent(hole)].deadline; hole = parent(hole))
      put(hole, entries_[parent(hole)]);
    put(hole, e);
  }

  void sift_down(std::size_t hole, entry const& e) noexcept {
    for (;;) {
      std::size_t child = 2 * hole + 1;
      if (child >= entries_.size()) break;
      if (child + 1 < entries_.size() && entries_[child + 1].deadline < entries_[child].deadline)
        ++child;
      if (!(entries_[child].deadline < e.deadline)) break;
      put(hole, entries_[child]);
      hole = child;
    }
    put(hole, e);
  }

  std::vector<entry> entries_;
};

}  // namespace asio_sync::detail

#endif
