// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_ORDERS_EXPLORATION_HPP
#define ASIO_SYNC_TEST_ORDERS_EXPLORATION_HPP

// Every order of handlers: what is queued on the contexts of a world, what is done to its
// primitive and what becomes of them are the choices of a depth-first search.

#include "operation.hpp"

#include <cstdint>
#include <string_view>
#include <tuple>
#include <vector>

namespace asio_sync::test {

struct scenario {
  std::vector<operation> before;  // done first, in this order
  std::vector<operation> once;    // each done once, at any time when it is possible
  unsigned drops = 0;             // so many functions of the queues are destroyed unrun
};

/// Runs a scenario in all orders; the case fails with the first that goes wrong.
void explore(std::string_view subject, scenario const& s);

// --- What scenarios are made of -----------------------------------------------------------------

inline operation made_at(through executor) { return {.what = verb::make, .executor = executor}; }

inline operation wait_in(unsigned context, through executor,
                         patience patient = patience::endless) {
  return {.what = verb::wait,
          .target = static_cast<std::uint8_t>(context),
          .executor = executor,
          .patient = patient};
}

inline operation with_slot(operation op) {
  op.slot = true;
  return op;
}

inline operation in_coroutine(operation op) {
  op.coroutine = true;
  return op;
}

inline operation and_then(then next, operation op) {
  op.next = next;
  return op;
}

inline operation of_permits(unsigned n, operation op) {
  op.amount = static_cast<std::uint8_t>(n);
  return op;
}

// For a mailbox.
inline operation of_flags(unsigned set, operation op) { return of_permits(set, op); }

// Those of different waits by different types.
inline operation emit(unsigned wait) {
  auto const number = static_cast<std::uint8_t>(wait);
  return {verb::emit, number, number};
}

inline operation end_of(unsigned context) {
  return {verb::end_context, static_cast<std::uint8_t>(context)};
}

// The executors of a scenario. The primitive has one of the same kind, but is not made with a
// strand, which must not die before it.
namespace of {

struct contexts {
  static constexpr through kind = through::context;
  static constexpr through home = through::erased_context;
};
struct strands {
  static constexpr through kind = through::strand;
  static constexpr through home = through::erased_context;
};
struct queues {
  static constexpr through kind = through::queue;
  static constexpr through home = through::erased_queue;
};

using kinds = std::tuple<contexts, strands, queues>;

}  // namespace of

}  // namespace asio_sync::test

#endif
