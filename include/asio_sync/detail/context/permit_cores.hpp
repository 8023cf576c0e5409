// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CONTEXT_PERMIT_CORES_HPP
#define ASIO_SYNC_DETAIL_CONTEXT_PERMIT_CORES_HPP

// The cores that hand out permits: one of them, or many.

#include <asio_sync/detail/context/homed_core.hpp>
#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/core/fifo_core.hpp>

#include <cstddef>
#include <cstdint>

namespace asio_sync::detail {

struct mutex_traits : waiter_traits {
  static constexpr bool exclusive = true;
  static constexpr std::uint32_t weight(waiter const&) noexcept { return 1; }
};

using mutex_core = homed_core<fifo_core<mutex_traits>>;

// What is behind a lock of a caller's: perhaps a mutex, and whether it holds that. A hold is
// counted by the core.
struct mutex_hold {
  mutex_core* mutex = nullptr;
  bool holds = false;
};

struct permit_traits : waiter_traits {
  static constexpr bool exclusive = false;
  static constexpr std::size_t batch = 64;
  static std::uint64_t weight(waiter const& w) noexcept {
    return static_cast<valued_waiter const&>(w).value;
  }
};

using permit_core = homed_core<fifo_core<permit_traits>, valued_waiter>;

}  // namespace asio_sync::detail

#endif
