// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CONDITION_CONDITION_LOCK_HPP
#define ASIO_SYNC_DETAIL_CONDITION_CONDITION_LOCK_HPP

// The locks that wait on a condition, and what is behind them.

#include <asio_sync/detail/condition/condition_core.hpp>
#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/locks/guard_access.hpp>
#include <asio_sync/detail/locks/permit_cores.hpp>
#include <asio_sync/fwd.hpp>

#include <mutex>

namespace asio_sync::detail {

// What a wait does with a lock: with a guard of the library's; and with the standard's, whose hold
// is a member's and not counted.
template <class Lock>
struct lock_access : guard_access {
  // Returns true if the condition belongs to one mutex, which is not that of the lock.
  static bool is_refused_by(condition_core const&, Lock const&) noexcept { return false; }

  // Empties the lock of a dead mutex.
  static void forget_dead(Lock& lock) noexcept { static_cast<void>(take(lock)); }
};

template <class Executor>
struct lock_access<std::unique_lock<basic_async_mutex<Executor>>> {
  using lock_type = std::unique_lock<basic_async_mutex<Executor>>;
  using guard_type = typename basic_async_mutex<Executor>::lock_type;
  static constexpr bool is_standard = true;

  static bool is_refused_by(condition_core const&, lock_type const&) noexcept { return false; }

  static mutex_hold look(lock_type const& lock) noexcept {
    if (!lock.mutex()) return {};
    return {guard_access::look(guard_type(*lock.mutex(), std::defer_lock)).mutex,
            lock.owns_lock()};
  }

  // Not held if a member does not hold it, whatever the lock says.
  static mutex_hold take(lock_type& lock) noexcept {
    bool const owned = lock.owns_lock();
    auto* const mutex = lock.release();
    if (!mutex) return {};
    guard_type guard(*mutex, std::defer_lock);
    mutex_hold taken = guard_access::take(guard);
    taken.holds = owned && taken.mutex->count_holder(true);
    return taken;
  }

  static void put(lock_type& lock, mutex_hold hold) noexcept {
    if (!hold.mutex) return;
    auto& mutex = *static_cast<basic_async_mutex<Executor>*>(hold.mutex->primitive());
    if (!hold.holds)
      lock = lock_type(mutex, std::defer_lock);
    else if (hold.mutex->count_holder(false))
      lock = lock_type(mutex, std::adopt_lock);
    else
      hold.mutex->unref();  // it died meanwhile
  }

  static void forget_dead(lock_type& lock) noexcept { static_cast<void>(lock.release()); }
};

template <class Lock>
concept condition_lock = requires {
  requires lock_access<Lock>::is_standard;
}
|| requires { requires guard_access::fits<Lock>; };

template <class Lock>
inline constexpr lock_functions functions_of_lock{
    [](void* lock) noexcept { return lock_access<Lock>::take(*static_cast<Lock*>(lock)); },
    [](void* lock, mutex_hold hold) noexcept {
      lock_access<Lock>::put(*static_cast<Lock*>(lock), hold);
    }};

// Keeps the cores where a predicate is called outside a wait: it may destroy the condition, the
// mutex, or what owns them. Empties the lock of a mutex that has been destroyed.
template <class Lock>
class kept_cores {
 public:
  ASIO_SYNC_NOINLINE kept_cores(condition_core& core, Lock& lock) noexcept
      : core_(core), mutex_(*lock_access<Lock>::look(lock).mutex), lock_(lock) {
    core_.count_up();
    mutex_.count_up();
  }
  kept_cores(kept_cores const&) = delete;
  kept_cores& operator=(kept_cores const&) = delete;
  ASIO_SYNC_NOINLINE ~kept_cores() {
    if (mutex_is_dead()) lock_access<Lock>::forget_dead(lock_);
    mutex_.unref();
    core_.unref();
  }

  bool mutex_is_dead() const noexcept { return mutex_.is_dead(); }

 private:
  condition_core& core_;
  mutex_core& mutex_;
  Lock& lock_;
};

}  // namespace asio_sync::detail

#endif
