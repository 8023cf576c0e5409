// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_SIGNALS_AUTO_RESET_EVENT_CORE_HPP
#define ASIO_SYNC_DETAIL_SIGNALS_AUTO_RESET_EVENT_CORE_HPP

// The core of an event that every wait takes: one flag.

#include <asio_sync/detail/context/homed_core.hpp>
#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/core/flags_state.hpp>

namespace asio_sync::detail {

struct auto_reset_event_traits : waiter_traits {
  static constexpr flags_request request() noexcept { return {1, false, true}; }
  static constexpr flags_request request(waiter const&) noexcept { return request(); }
  static void told(waiter&, flags) noexcept {}
};

using auto_reset_event_core = signalling_core<flags_state<auto_reset_event_traits>>;

}  // namespace asio_sync::detail

#endif
