// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_MODEL_POLICY_HPP
#define ASIO_SYNC_TEST_MODEL_POLICY_HPP

#include "history.hpp"
#include "order.hpp"
#include "scheduler.hpp"

#include <atomic>
#include <type_traits>

namespace model {

/// `std::atomic` under the scheduler: each operation is one step.
///
/// All are sequentially consistent unless `options::stale_reads` lets loads return older values:
/// see history.hpp. In both cases a weaker memory order does not order what `model::plain` looks
/// after: see order.hpp. Outside the threads of an exploration (set-up, checks) operations take
/// place at once.
template <class T>
class atomic {
  static_assert(std::is_trivially_copyable_v<T>);
  using order = std::memory_order;
  static constexpr order any = std::memory_order_seq_cst;

 public:
  using value_type = T;

  atomic() noexcept : atomic(T{}) {}
  atomic(T value) noexcept : stores_{value} {}
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;

  T load(order how = any) const noexcept {
    detail::step("load", this);
    return stores_.read(stores_.choose(how), how);
  }
  operator T() const noexcept { return load(); }

  void store(T value, order how = any) noexcept {
    detail::step("store", this);
    stores_.write(value, how);
  }
  T operator=(T value) noexcept {
    store(value);
    return value;
  }

  T exchange(T value, order how = any) noexcept {
    return update("exchange", how, [&](T) { return value; });
  }

  bool compare_exchange_strong(T& expected, T desired, order how = any) noexcept {
    return compare_exchange_strong(expected, desired, how, how);
  }
  bool compare_exchange_strong(T& expected, T desired, order success, order failure) noexcept {
    detail::step("compare_exchange", this);
    return replace(expected, desired, success, failure);
  }

  /// Fails without reason only where `options::spurious_failures` asks for it.
  bool compare_exchange_weak(T& expected, T desired, order how = any) noexcept {
    return compare_exchange_weak(expected, desired, how, how);
  }
  bool compare_exchange_weak(T& expected, T desired, order success, order failure) noexcept {
    detail::step("compare_exchange", this);
    if (!same(stores_.newest(), expected) || !detail::fail_spuriously()) {
      return replace(expected, desired, success, failure);
    }
    stores_.read(0, failure);
    return false;
  }

  T fetch_add(T delta, order how = any) noexcept {
    return update("fetch_add", how, [&](T old) { return static_cast<T>(old + delta); });
  }
  T fetch_sub(T delta, order how = any) noexcept {
    return update("fetch_sub", how, [&](T old) { return static_cast<T>(old - delta); });
  }
  T fetch_or(T bits, order how = any) noexcept {
    return update("fetch_or", how, [&](T old) { return static_cast<T>(old | bits); });
  }
  T fetch_and(T bits, order how = any) noexcept {
    return update("fetch_and", how, [&](T old) { return static_cast<T>(old & bits); });
  }

  /// Blocks while the newest value is `old`. Never wakes spuriously, and looks at the value again
  /// only after a notification: a change without one leaves the thread asleep, to be found as
  /// deadlock.
  void wait(T old, order how = any) const noexcept {
    detail::step("wait", this);
    while (same(stores_.newest(), old)) {
      detail::sleep("wake from wait", this);
    }
    stores_.read(0, how);
  }
  void notify_one() noexcept { detail::wake_one(this); }
  void notify_all() noexcept { detail::wake_all(this); }

 private:
  static bool same(const T& left, const T& right) noexcept {
    return detail::history<T>::same(left, right);
  }

  // One that fails is a load.
  bool replace(T& expected, T desired, order success, order failure) noexcept {
    const int back = stores_.choose(failure, &expected);
    if (back == 0 && same(stores_.newest(), expected)) {
      stores_.update(desired, success);
      return true;
    }
    expected = stores_.read(back, failure);
    return false;
  }

  template <class Change>
  T update(const char* operation, order how, Change change) noexcept {
    detail::step(operation, this);
    return stores_.update(change(stores_.newest()), how);
  }

  detail::history<T> stores_;
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
    handed_on_.replace(std::memory_order_release);
    detail::lock_released(this);
  }

 private:
  void take() noexcept {
    held_ = true;
    holder_ = this_thread();
    handed_on_.acquire(std::memory_order_acquire);
    detail::lock_taken(this);
  }

  bool held_ = false;
  int holder_ = 0;
  detail::handed_on handed_on_;
};

/// What the cores take from the platform (`asio_sync::detail::threading`), under the scheduler.
struct policy {
  template <class T>
  using atomic = model::atomic<T>;
  template <class T>
  using guarded = std::conditional_t<std::is_class_v<T>, plain_container<T>, plain<T>>;
  using lock_type = model::spin_lock;
};

}  // namespace model

#endif
