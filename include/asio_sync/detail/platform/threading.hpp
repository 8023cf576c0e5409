// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_PLATFORM_THREADING_HPP
#define ASIO_SYNC_DETAIL_PLATFORM_THREADING_HPP

#include <atomic>
#include <thread>

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define ASIO_SYNC_KNOWS_ONLY_THREAD 1
#endif

namespace asio_sync::detail {

// Whether the calling thread is the only one of the process; glibc tells. False where nobody does.
inline bool is_only_thread() noexcept {
#ifdef ASIO_SYNC_KNOWS_ONLY_THREAD
  return __libc_single_threaded != 0;
#else
  return false;
#endif
}

// An atomic whose changes are plain loads and stores while there is one thread only, as are those
// of glibc's mutexes and libstdc++'s shared pointers: half the cost of a free mutex in the many
// servers that run on one thread.
template <class T>
class process_atomic {
 public:
  constexpr explicit process_atomic(T value) noexcept : value_(value) {}

  T load(std::memory_order order) const noexcept { return value_.load(order); }
  void store(T desired, std::memory_order order) noexcept { value_.store(desired, order); }

  T exchange(T desired, std::memory_order order) noexcept {
    return is_only_thread() ? replace(desired) : value_.exchange(desired, order);
  }

  T fetch_add(T n, std::memory_order order) noexcept {
    return is_only_thread() ? replace(value() + n) : value_.fetch_add(n, order);
  }

  T fetch_sub(T n, std::memory_order order) noexcept {
    return is_only_thread() ? replace(value() - n) : value_.fetch_sub(n, order);
  }

  // `expected` has just been loaded: while there is one thread nobody can have changed it since.
  bool compare_exchange_weak(T& expected, T desired, std::memory_order success,
                             std::memory_order failure) noexcept {
    if (!is_only_thread())
      return value_.compare_exchange_weak(expected, desired, success, failure);
    value_.store(desired, std::memory_order_relaxed);
    return true;
  }

 private:
  T value() const noexcept { return value_.load(std::memory_order_relaxed); }

  T replace(T desired) noexcept {
    T const old = value();
    value_.store(desired, std::memory_order_relaxed);
    return old;
  }

  std::atomic<T> value_;
};

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

  process_atomic<bool> locked_{false};
};

// What the cores take from the platform. The interleaving tests put their own in its place.
struct threading {
  template <class T>
  using atomic = process_atomic<T>;
  using lock_type = spin_lock;
};

}  // namespace asio_sync::detail

#endif
