// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_ORDERS_BYTES_HPP
#define ASIO_SYNC_TEST_ORDERS_BYTES_HPP

#include <cstdint>
#include <span>
#include <string_view>

namespace asio_sync::test {

/// A walk through the world of a subject, with whatever bytes there are: each two are an
/// operation, which is left out where it has no meaning. Ends in `violated()` if something is
/// found.
void walk_by_bytes(std::string_view subject, std::span<std::uint8_t const> bytes);

}  // namespace asio_sync::test

#endif
