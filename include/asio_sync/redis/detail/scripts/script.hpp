// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_SCRIPTS_SCRIPT_HPP
#define ASIO_SYNC_REDIS_DETAIL_SCRIPTS_SCRIPT_HPP

#include <asio_sync/redis/detail/scripts/common.hpp>
#include <asio_sync/redis/detail/scripts/conditions.hpp>
#include <asio_sync/redis/detail/scripts/life.hpp>
#include <asio_sync/redis/detail/scripts/monitors.hpp>
#include <asio_sync/redis/detail/scripts/serving.hpp>

#include <string>
#include <string_view>

namespace asio_sync::redis::detail::scripts {

/// A script of the protocol (doc/redis-protocol.md lists its arguments and answers).
struct script {
  std::string_view name;
  std::string_view fast;  // answers the common cases, before most closures are made
  std::string_view slow;  // answers every case
};

/// Returns the text to load into the server. A test can replace the functions of `life`.
inline std::string text(script const& of, std::string_view clock = life) {
  std::string whole;
  for (auto part :
       {head, clock, hears, granted, of.fast, common, conditions, monitors, serving, of.slow})
    whole += part;
  return whole;
}

}  // namespace asio_sync::redis::detail::scripts

#endif
