// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CONTEXT_SHARED_MUTEX_CORE_HPP
#define ASIO_SYNC_DETAIL_CONTEXT_SHARED_MUTEX_CORE_HPP

// The core of a shared mutex, and its waits.

#include <asio_sync/detail/context/homed_core.hpp>
#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/core/shared_core.hpp>
#include <asio_sync/detail/core/wait_list.hpp>

#include <cstddef>

namespace asio_sync::detail {

// One that asks for a lock in some mode. Who upgrades says of which guard the hold is that it
// brings along.
struct lock_waiter : waiter {
  struct asked_type {
    lock_mode mode;
    hold_state* lender = nullptr;
  };

  lock_waiter(function* f, core_base* c, asked_type a) noexcept : waiter(f, c, {}), request(a) {}

  verdict decided() const noexcept { return {outcome, borrowed}; }

  void borrow() noexcept {
    if (!request.lender) return;
    *request.lender = hold_state::lent;
    borrowed = true;
  }
  // False if it has borrowed nothing.
  bool give_back() noexcept {
    if (borrowed) *request.lender = hold_state::owned;
    return borrowed;
  }
  static bool has_borrowed(verdict decided) noexcept { return decided.value() != 0; }

  asked_type const request;
  bool borrowed = false;
  initiation_scope const* initiation = nullptr;  // in which it has been handed to its executor
};

struct shared_mutex_traits : waiter_traits {
  static constexpr std::size_t batch = 64;
  static lock_mode mode(waiter const& w) noexcept {
    return static_cast<lock_waiter const&>(w).request.mode;
  }
};

using shared_mutex_core = homed_core<shared_core<shared_mutex_traits>, lock_waiter>;

}  // namespace asio_sync::detail

#endif
