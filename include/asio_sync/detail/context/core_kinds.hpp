// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CONTEXT_CORE_KINDS_HPP
#define ASIO_SYNC_DETAIL_CONTEXT_CORE_KINDS_HPP

// What the cores take from the shell, and by what the shell tells them apart.

#include <asio_sync/detail/context/core_base.hpp>
#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/platform/threading.hpp>

namespace asio_sync::detail {

// What the cores take from the shell.
struct waiter_traits : threading {
  using node = waiter;
  using list = decided_waits;
  static void joined(waiter& w) noexcept { w.core->joined(w); }
  static void left(waiter& w, decided_waits& decided) noexcept { w.core->left(w, decided); }
};

// Cores that hand out permits by their number, and those that are locked: in a mode, where there
// are several.
template <class Core>
concept hands_out_many = requires {
  requires !Core::exclusive;
};
template <class Core>
concept is_locked = Core::carries && !hands_out_many<Core>;

// Waits that may bring a guard's hold along, which is the guard's again unless they are granted:
// they borrow it once they queue, or are decided.
template <class Waiter>
concept borrows = requires(Waiter& w) {
  w.borrow();
};

// Cores that hand out keys, each to one holder.
template <class Core>
concept hands_out_keys = requires {
  requires Core::has_keys;
};

// Cores where a wait may be a participant: its coming is what others wait for, and may let them
// go.
template <class Core>
concept has_participants = requires(typename Core::node const& w) {
  Core::is_participant(w);
};

}  // namespace asio_sync::detail

#endif
