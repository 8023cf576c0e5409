// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_THREADING_HPP
#define ASIO_SYNC_DETAIL_THREADING_HPP

#include <atomic>
#include <thread>

namespace asio_sync::detail {

// A lock for sections of a few list operations: it spins, and yields once that has taken long (the
// holder has lost its processor). Never held while user code runs.
class spin_lock {
 public:
  void lock() noexcept {
    // Pairs with the release in unlock().
    while (locked_.exchange(true, std::memory_order_acquire)) wait();
  }

  void unlock() noexcept { locked_.store(false, std::memory_order_release); }

 private:
  void wait() const noexcept {
    constexpr int turns = 100;
    for (int turn = 0; locked_.load(std::memory_order_relaxed); ++turn)
      if (turn >= turns) std::this_thread::yield();
  }

  std::atomic<bool> locked_{false};
};

// What the cores take from the platform. The interleaving tests put their own in its place.
struct threading {
  template <class T>
  using atomic = std::atomic<T>;
  using lock_type = spin_lock;
};

}  // namespace asio_sync::detail

#endif
