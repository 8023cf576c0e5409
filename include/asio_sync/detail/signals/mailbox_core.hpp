// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_SIGNALS_MAILBOX_CORE_HPP
#define ASIO_SYNC_DETAIL_SIGNALS_MAILBOX_CORE_HPP

// The core of a mailbox: 32 flags, which a wait takes or looks at.

#include <asio_sync/detail/context/homed_core.hpp>
#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/core/flags_state.hpp>

namespace asio_sync::detail {

struct mailbox_traits : waiter_traits {
  static flags_request request(waiter const& w) noexcept {
    return flags_request::unpacked(static_cast<valued_waiter const&>(w).value);
  }
  static void told(waiter& w, flags got) noexcept {
    auto& value = static_cast<valued_waiter&>(w).value;
    value = flags_request{got, false, flags_request::unpacked(value).takes}.packed();
  }
};

using mailbox_core = signalling_core<flags_state<mailbox_traits>, valued_waiter>;

}  // namespace asio_sync::detail

#endif
