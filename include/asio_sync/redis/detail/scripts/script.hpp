// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_SCRIPTS_SCRIPT_HPP
#define ASIO_SYNC_REDIS_DETAIL_SCRIPTS_SCRIPT_HPP

#include <asio_sync/redis/detail/scripts/common.hpp>
#include <asio_sync/redis/detail/scripts/conditions.hpp>
#include <asio_sync/redis/detail/scripts/life.hpp>
#include <asio_sync/redis/detail/scripts/monitors.hpp>
#include <asio_sync/redis/detail/scripts/serving.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace asio_sync::redis::detail::scripts {

/// A script of the protocol (doc/redis-protocol.md lists its arguments and answers).
struct script {
  std::string_view name;
  std::string_view fast;              // answers the common cases, before most closures are made
  std::string_view slow;              // answers every case
  std::string_view before_slow = {};  // functions that few scripts have
};

/// Appends the lines of a text without their margins and comments, and without the spaces around
/// the sign of an assignment.
inline void append_lines(std::string& to, std::string_view lines) {
  while (!lines.empty()) {
    auto line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    line = line.substr(0, line.find("--"));
    if (line.empty()) continue;
    for (std::size_t at; (at = line.find(" = ")) != line.npos; line.remove_prefix(at + 3))
      to.append(line.substr(0, at)) += '=';
    to.append(line) += '\n';
  }
}

/// Returns the text to load into the server. It has less than 16 KB, because that is what the
/// server takes before the client has logged in. A test can replace the functions of `life`.
inline std::string text(script const& of, std::string_view clock = life) {
  std::string whole;
  for (auto part : {head, clock, hears, granted, of.fast, common, conditions, monitors, serving,
                    of.before_slow, of.slow})
    append_lines(whole, part);
  return whole;
}

}  // namespace asio_sync::redis::detail::scripts

#endif
