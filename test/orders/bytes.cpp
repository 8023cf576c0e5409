// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include "bytes.hpp"

#include "world.hpp"

#include <algorithm>
#include <cstddef>

namespace asio_sync::test {

namespace {

// The first byte is the verb and what comes after it, the second says the rest.
operation operation_of(std::uint8_t first, std::uint8_t second, world const& walked) {
  operation op{static_cast<verb>(first % verbs)};
  op.next = static_cast<then>(first / verbs % 8);
  op.target = second % world::contexts;
  switch (op.what) {
    case verb::wait:
      op.amount = static_cast<std::uint8_t>(walked.asked_for(walked.waits(), first >= 128));
      op.executor = static_cast<through>(second >> 1 & 7);
      op.patient = static_cast<patience>(second >> 4 & 3);
      op.slot = (second >> 6 & 1) != 0;
      op.coroutine = second >> 7 != 0;
      break;
    case verb::take:
    case verb::take_at_once:
    case verb::give:
      op.item = second >> 1 & 3;
      if (walked.most() > 1) op.amount = second >> 3 & (walked.most() > 3 ? 7 : 3);
      break;
    case verb::emit:
    case verb::end_signal:
      op.item = static_cast<std::uint8_t>(second >> 6);
      op.target = static_cast<std::uint8_t>(second % std::max<std::size_t>(walked.waits(), 1));
      break;
    case verb::make:
      op.executor = second & 1 ? through::erased_queue : through::erased_context;
      break;
    case verb::run:
    case verb::drop:
      op.item = static_cast<std::uint8_t>((second >> 1) %
                                          std::max<std::size_t>(walked.queued(op.target), 1));
      break;
    default: break;
  }
  return op;
}

}  // namespace

void walk_by_bytes(std::string_view subject, std::span<std::uint8_t const> bytes) {
  auto const walked = world_of(subject);
  std::uint8_t const start = bytes.empty() ? 0 : bytes.front();
  walked->perform({.what = verb::make,
                   .executor = start & 1 ? through::erased_queue : through::erased_context});
  for (std::size_t i = 1; i + 1 < bytes.size(); i += 2) {
    operation const op = operation_of(bytes[i], bytes[i + 1], *walked);
    if (walked->allows(op)) walked->perform(op);
  }
  walked->finish((start & 2) != 0);
}

}  // namespace asio_sync::test
