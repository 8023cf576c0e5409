// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_SIGNALS_EVENT_CORE_HPP
#define ASIO_SYNC_DETAIL_SIGNALS_EVENT_CORE_HPP

// The core of a signal that lets go everybody who waits.

#include <asio_sync/detail/context/core_base.hpp>
#include <asio_sync/detail/context/homed_core.hpp>
#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/core/event_state.hpp>

#include <cstdint>

namespace asio_sync::detail {

struct event_waiter : waiter {
  using waiter::waiter;
  std::uint64_t generation = 0;  // the core's, under its lock
};

struct event_traits : waiter_traits {
  static std::uint64_t& generation(waiter& w) noexcept {
    return static_cast<event_waiter&>(w).generation;
  }
  static void all_left(decided_waits& decided) noexcept {
    decided.front().core->all_left(decided);
  }
};

using event_core = signalling_core<event_state<event_traits>, event_waiter>;

}  // namespace asio_sync::detail

#endif
