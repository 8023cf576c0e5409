// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_PLATFORM_THREADING_HPP
#define ASIO_SYNC_DETAIL_PLATFORM_THREADING_HPP

#include <asio_sync/detail/core/config.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define ASIO_SYNC_KNOWS_ONLY_THREAD 1
#endif

#if defined(__unix__) && __has_include(<pthread.h>)
#include <pthread.h>
#ifdef PTHREAD_CANCEL_DISABLE  // not everywhere
#define ASIO_SYNC_HAS_THREAD_CANCELLATION 1
#endif
#endif

namespace asio_sync::detail {

// The clock of deadlines.
using steady_clock = std::chrono::steady_clock;

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
// servers that run on one thread. Relaxed is enough for these: glibc clears its flag before it
// starts another thread, and starting a thread synchronizes with it.
template <class T>
class process_atomic {
 public:
  constexpr explicit process_atomic(T value) noexcept : value_(value) {}

  T load(std::memory_order order) const noexcept { return value_.load(order); }
  void store(T desired, std::memory_order order) noexcept { value_.store(desired, order); }

  ASIO_SYNC_INLINE T exchange(T desired, std::memory_order order) noexcept {
    return is_only_thread() ? replace(desired) : value_.exchange(desired, order);
  }

  ASIO_SYNC_INLINE T fetch_add(T n, std::memory_order order) noexcept {
    return is_only_thread() ? replace(value() + n) : value_.fetch_add(n, order);
  }

  ASIO_SYNC_INLINE T fetch_sub(T n, std::memory_order order) noexcept {
    return is_only_thread() ? replace(value() - n) : value_.fetch_sub(n, order);
  }

  // `expected` has just been loaded: while there is one thread nobody can have changed it since.
  ASIO_SYNC_INLINE bool compare_exchange_weak(T& expected, T desired, std::memory_order success,
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

// Passes the time until another thread has done something short: spins, and yields or sleeps once
// that has taken long (the other thread has lost its processor). A yield does not let a thread of
// lower priority run; sleep does.
class back_off {
 public:
  void operator()() noexcept {
    constexpr int spins = 100;
    constexpr int yields = 400;
    if (turn_ >= spins + yields)
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    else if (++turn_ > spins)
      std::this_thread::yield();
  }

 private:
  int turn_ = 0;
};

// A lock for sections of a few list operations. Never held while user code runs, the equality of
// keys excepted.
class spin_lock {
 public:
  void lock() noexcept {
    // Acquire: pairs with the release in unlock().
    while (locked_.exchange(true, std::memory_order_acquire)) wait();
  }

  // Release: pairs with the acquire in lock().
  void unlock() noexcept { locked_.store(false, std::memory_order_release); }

 private:
  // Relaxed: the exchange in lock() decides.
  ASIO_SYNC_COLD void wait() const noexcept {
    for (back_off pass_time; locked_.load(std::memory_order_relaxed);) pass_time();
  }

  process_atomic<bool> locked_{false};
};

// A pointer and its lock in one word, held for as short a time as a spin_lock.
template <class T>
class locked_pointer {
 public:
  // Locks, and returns the pointer.
  T* lock() noexcept {
    for (back_off pass_time;; pass_time())
      if (std::uintptr_t const value = exchange(); value != locked)
        return reinterpret_cast<T*>(value);  // NOLINT(performance-no-int-to-ptr)
  }

  // Locks, and returns true, unless another thread has locked it.
  bool try_lock() noexcept { return exchange() != locked; }

  // Sets the pointer, and unlocks. Release: pairs with the acquire in exchange().
  void unlock(T* pointer) noexcept {
    value_.store(reinterpret_cast<std::uintptr_t>(pointer), std::memory_order_release);
  }

 private:
  static constexpr std::uintptr_t locked = 1;  // no address of a T

  // Acquire: pairs with the release in unlock().
  std::uintptr_t exchange() noexcept { return value_.exchange(locked, std::memory_order_acquire); }

  process_atomic<std::uintptr_t> value_{0};
};

// As std::mutex::lock() is none, so are our blocking forms no points at which a thread that is to
// be cancelled, as POSIX has it, ends.
class cancellation_disabled {
 public:
  cancellation_disabled(cancellation_disabled const&) = delete;
  cancellation_disabled& operator=(cancellation_disabled const&) = delete;
#ifdef ASIO_SYNC_HAS_THREAD_CANCELLATION
  cancellation_disabled() noexcept { ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~cancellation_disabled() { ::pthread_setcancelstate(before_, nullptr); }

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
#else
  cancellation_disabled() noexcept {}
  ~cancellation_disabled() {}
#endif
};

// What the cores take from the platform. The interleaving tests put their own in its place.
struct threading {
  template <class T>
  using atomic = process_atomic<T>;
  template <class T>
  using guarded = T;  // of a member that is used under the lock alone
  using lock_type = spin_lock;
};

}  // namespace asio_sync::detail

#endif
