// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_OPERATION_GUARD_ACCESS_HPP
#define ASIO_SYNC_DETAIL_OPERATION_GUARD_ACCESS_HPP

#include <asio_sync/detail/context/permit_cores.hpp>
#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/operation/core_guard.hpp>

#include <type_traits>
#include <utility>

namespace asio_sync::detail {

// What operations that are made of locks do with the guard of a mutex.
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

  // Whether that is what it is.
  template <class Lock>
  static constexpr bool fits = std::is_base_of_v<guard, Lock>;

  template <class Lock>
  static mutex_hold look(Lock const& lock) noexcept {
    guard const& g = lock;
    return {g.core_, g.owns()};
  }

  // Empties it. What it holds of a dead mutex ends here.
  template <class Lock>
  static mutex_hold take(Lock& lock) noexcept {
    if constexpr (requires { lock.leaving(); }) lock.leaving();
    guard taken(std::move(static_cast<guard&>(lock)));
    if (taken.hold_ == hold_state::owned && !taken.owns()) return {};
    mutex_hold const what{taken.core_, taken.owns()};
    taken.yield();
    return what;
  }

  // The core that the guard of any primitive refers to.
  template <class Lock>
  static auto core_of(Lock const& lock) noexcept -> decltype(core_in(lock)) {
    return core_in(lock);
  }

  // Whether it has a hold of that, dead or not.
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
