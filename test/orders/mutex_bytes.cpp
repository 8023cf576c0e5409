// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include "mutex_bytes.hpp"

#include "mutex_world.hpp"

#include <algorithm>
#include <cstddef>

namespace asio_sync::test {

namespace {

// The first byte is the verb and what comes after it, the second says the rest.
operation operation_of(std::uint8_t first, std::uint8_t second, mutex_world const& world) {
  operation op{static_cast<verb>(first % verbs)};
  op.next = static_cast<then>(first / verbs % 8);
  op.target = second % mutex_world::contexts;
  switch (op.what) {
    case verb::lock:
      op.executor = static_cast<through>(second >> 1 & 7);
      op.patient = static_cast<patience>(second >> 4 & 3);
      op.slot = (second >> 6 & 1) != 0;
      op.coroutine = second >> 7 != 0;
      break;
    case verb::emit:
    case verb::end_signal:
      op.item = static_cast<std::uint8_t>(second >> 6);
      op.target = static_cast<std::uint8_t>(second % std::max<std::size_t>(world.waits(), 1));
      break;
    case verb::make_mutex:
      op.executor = second & 1 ? through::erased_queue : through::erased_context;
      break;
    case verb::run:
    case verb::drop:
      op.item = static_cast<std::uint8_t>((second >> 1) %
                                          std::max<std::size_t>(world.queued(op.target), 1));
      break;
    default: break;
  }
  return op;
}

}  // namespace

void walk_by_bytes(std::span<std::uint8_t const> bytes) {
  mutex_world world;
  std::uint8_t const start = bytes.empty() ? 0 : bytes.front();
  world.perform({.what = verb::make_mutex,
                 .executor = start & 1 ? through::erased_queue : through::erased_context});
  for (std::size_t i = 1; i + 1 < bytes.size(); i += 2) {
    operation const op = operation_of(bytes[i], bytes[i + 1], world);
    if (world.allows(op)) world.perform(op);
  }
  world.finish((start & 2) != 0);
}

}  // namespace asio_sync::test
