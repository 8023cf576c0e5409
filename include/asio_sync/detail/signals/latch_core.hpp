// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_SIGNALS_LATCH_CORE_HPP
#define ASIO_SYNC_DETAIL_SIGNALS_LATCH_CORE_HPP

// The core of a signal that comes when all participants have.

#include <asio_sync/detail/context/core_base.hpp>
#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/core/latch_state.hpp>
#include <asio_sync/detail/signals/event_core.hpp>
#include <asio_sync/detail/signals/participant_core.hpp>

namespace asio_sync::detail {

// Asks whether it is to be a participant.
struct latch_waiter : event_waiter {
  using asked_type = bool;

  latch_waiter(function* f, core_base* c, asked_type asked) noexcept
      : event_waiter(f, c, {}), participant(asked) {}

  bool const participant;
};

struct latch_traits : event_traits {
  static bool is_participant(waiter const& w) noexcept {
    return static_cast<latch_waiter const&>(w).participant;
  }
};

using latch_core = participant_core<latch_state<latch_traits>, latch_waiter>;

}  // namespace asio_sync::detail

#endif
