// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_LOCKS_GUARD_ACCESS_HPP
#define ASIO_SYNC_DETAIL_LOCKS_GUARD_ACCESS_HPP

#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/locks/core_guard.hpp>
#include <asio_sync/detail/locks/permit_cores.hpp>

#include <type_traits>
#include <utility>

namespace asio_sync::detail {

// Gives operations that are composed of locks access to the guards.
struct guard_access {
 private:
  template <class Core, auto... Mode>
  static Core* core_in(core_guard<Core, Mode...> const& g) noexcept {
    return g.core_;
  }

  template <class Core, auto... Mode>
  static bool holds_core(core_guard<Core, Mode...> const& g) noexcept {
    return g.hold_ == hold_state::owned;
  }

 public:
  using guard = core_guard<mutex_core>;

  // True if the lock is the guard of a mutex.
  template <class Lock>
  static constexpr bool fits = std::is_base_of_v<guard, Lock>;

  template <class Lock>
  static mutex_hold look(Lock const& lock) noexcept {
    guard const& g = lock;
    return {g.core_, g.owns()};
  }

  // Empties the guard, and returns its hold. The hold of a destroyed mutex ends here.
  template <class Lock>
  static mutex_hold take(Lock& lock) noexcept {
    if constexpr (requires { lock.leaving(); }) lock.leaving();
    guard taken(std::move(static_cast<guard&>(lock)));
    if (taken.hold_ == hold_state::owned && !taken.owns()) return {};
    mutex_hold const what{taken.core_, taken.owns()};
    taken.yield();
    return what;
  }

  // Returns the core that the guard of any primitive refers to.
  template <class Lock>
  static auto core_of(Lock const& lock) noexcept -> decltype(core_in(lock)) {
    return core_in(lock);
  }

  // True if the guard holds its primitive, even if the primitive has been destroyed.
  template <class Lock>
  static auto holds(Lock const& lock) noexcept -> decltype(holds_core(lock)) {
    return holds_core(lock);
  }

  template <class Lock>
  static void put(Lock& lock, mutex_hold hold) noexcept {
    static_cast<guard&>(lock) = guard(hold.mutex, hold.holds);
  }
};

}  // namespace asio_sync::detail

#endif
