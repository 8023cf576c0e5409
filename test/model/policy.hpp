// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_MODEL_POLICY_HPP
#define ASIO_SYNC_TEST_MODEL_POLICY_HPP

#include "scheduler.hpp"

#include <atomic>
#include <cstring>
#include <type_traits>

namespace model {

/// `std::atomic` under the scheduler: each operation is one step, all are sequentially consistent.
///
/// The memory orders are taken and ignored: what a weaker order would allow is not explored.
/// Outside the threads of an exploration (set-up, checks) operations take place at once.
template <class T>
class atomic {
  static_assert(std::is_trivially_copyable_v<T>);
  using order = std::memory_order;
  static constexpr order any = std::memory_order_seq_cst;

 public:
  using value_type = T;

  constexpr atomic() noexcept : value_{} {}
  constexpr atomic(T value) noexcept : value_{value} {}
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;

  T load(order = any) const noexcept {
    detail::step("load", this);
    return value_;
  }
  operator T() const noexcept { return load(); }

  void store(T value, order = any) noexcept {
    detail::step("store", this);
    value_ = value;
  }
  T operator=(T value) noexcept {
    store(value);
    return value;
  }

  T exchange(T value, order = any) noexcept {
    return update("exchange", [&](T) { return value; });
  }

  bool compare_exchange_strong(T& expected, T desired, order = any) noexcept {
    detail::step("compare_exchange", this);
    return replace(expected, desired);
  }
  bool compare_exchange_strong(T& expected, T desired, order, order) noexcept {
    return compare_exchange_strong(expected, desired);
  }

  /// Fails without reason only where `options::spurious_failures` asks for it.
  bool compare_exchange_weak(T& expected, T desired, order = any) noexcept {
    detail::step("compare_exchange", this);
    return !(same(value_, expected) && detail::fail_spuriously()) && replace(expected, desired);
  }
  bool compare_exchange_weak(T& expected, T desired, order, order) noexcept {
    return compare_exchange_weak(expected, desired);
  }

  template <class U>
  T fetch_add(U delta, order = any) noexcept {
    return update("fetch_add", [&](T old) { return static_cast<T>(old + delta); });
  }
  template <class U>
  T fetch_sub(U delta, order = any) noexcept {
    return update("fetch_sub", [&](T old) { return static_cast<T>(old - delta); });
  }
  T fetch_or(T bits, order = any) noexcept {
    return update("fetch_or", [&](T old) { return static_cast<T>(old | bits); });
  }
  T fetch_and(T bits, order = any) noexcept {
    return update("fetch_and", [&](T old) { return static_cast<T>(old & bits); });
  }

  /// Blocks while the value is `old`. Never wakes spuriously, and looks at the value again only
  /// after a notification: a change without one leaves the thread asleep, to be found as deadlock.
  void wait(T old, order = any) const noexcept {
    detail::step("wait", this);
    while (same(value_, old)) {
      detail::sleep("wake from wait", this);
    }
  }
  void notify_one() noexcept { detail::wake_one(this); }
  void notify_all() noexcept { detail::wake_all(this); }

 private:
  // `std::atomic` compares representations as well.
  static bool same(const T& left, const T& right) noexcept {
    return std::memcmp(&left, &right, sizeof(T)) == 0;
  }

  bool replace(T& expected, T desired) noexcept {
    if (same(value_, expected)) {
      value_ = desired;
      return true;
    }
    expected = value_;
    return false;
  }

  template <class Change>
  T update(const char* operation, Change change) noexcept {
    detail::step(operation, this);
    const T old = value_;
    value_ = change(old);
    return old;
  }

  T value_;
};

/// A lock whose waiting threads are blocked and do not spin, so that a deadlock shows as one.
class spin_lock {
 public:
  spin_lock() = default;
  spin_lock(const spin_lock&) = delete;
  spin_lock& operator=(const spin_lock&) = delete;

  void lock() noexcept {
    detail::step_to_lock(this, &held_);
    take();
  }

  bool try_lock() noexcept {
    detail::step("try_lock", this);
    if (held_) {
      return false;
    }
    take();
    return true;
  }

  void unlock() noexcept {
    detail::step("unlock", this);
    check(held_ && holder_ == this_thread(), "unlock by a thread that does not hold the lock");
    held_ = false;
    detail::lock_released(this);
  }

 private:
  void take() noexcept {
    held_ = true;
    holder_ = this_thread();
    detail::lock_taken(this);
  }

  bool held_ = false;
  int holder_ = 0;
};

/// What the cores take from the platform (`asio_sync::detail::threading`), under the scheduler.
struct policy {
  template <class T>
  using atomic = model::atomic<T>;
  using lock_type = model::spin_lock;
};

}  // namespace model

#endif
