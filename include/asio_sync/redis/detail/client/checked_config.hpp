// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_CLIENT_CHECKED_CONFIG_HPP
#define ASIO_SYNC_REDIS_DETAIL_CLIENT_CHECKED_CONFIG_HPP

#include <asio_sync/detail/operation/errors.hpp>
#include <asio_sync/redis/config.hpp>
#include <asio_sync/redis/detail/hub/hub.hpp>
#include <asio_sync/redis/detail/session/session_host.hpp>

#include <boost/system/errc.hpp>

#include <algorithm>
#include <chrono>
#include <string>

namespace asio_sync::redis::detail {

// Checks the settings of a client, and completes those that have a default. Throws
// invalid_argument.
class config_check {
 public:
  explicit config_check(config& c) : config_(c) {
    check_times();
    check_address();
    demand(is_word(c.name), "name: at most 256 bytes, printable ASCII without spaces");
    demand(c.prefix.size() <= 512 && c.prefix.find_first_of("{}") == std::string::npos,
           "prefix: at most 512 bytes, without braces");
  }

  session_config session() const {
    config const& c = config_;
    return {c.prefix, c.name, c.session_ttl, c.max_session_ttl, *c.margin, c.max_hold, c.gate};
  }

 private:
  using milliseconds = std::chrono::milliseconds;

  static constexpr milliseconds shortest_ttl{500}, longest_ttl = std::chrono::hours(24);
  static constexpr milliseconds longest_hold = std::chrono::hours(24 * 365);

  static void demand(bool holds, char const* rule) {
    if (holds) return;
    using namespace boost::system::errc;
    shell::throw_error(make_error_code(invalid_argument), {"redis::client::client"}, rule);
  }

  static bool is_word(std::string const& text) {
    return text.size() <= 256 &&
           std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
  }

  void check_times() {
    config& c = config_;
    demand(c.session_ttl >= shortest_ttl, "session_ttl: at least 500 ms");
    demand(c.session_ttl <= c.max_session_ttl && c.max_session_ttl <= longest_ttl,
           "max_session_ttl: at least session_ttl, at most a day");
    demand(c.max_hold.count() >= 0 && c.max_hold <= longest_hold,
           "max_hold: not negative, at most a year");
    if (!c.command_timeout) c.command_timeout = c.session_ttl / 4;
    demand(c.command_timeout->count() > 0 && *c.command_timeout <= c.session_ttl / 4,
           "command_timeout: more than 0, at most a quarter of session_ttl");
    if (!c.margin) c.margin = std::max<milliseconds>(c.session_ttl / 20, milliseconds(200));
    demand(c.margin->count() > 0 && *c.margin <= c.session_ttl / 2,
           "margin: more than 0, at most half of session_ttl");
  }

  void check_address() {
    config const& c = config_;
    demand(c.unix_socket.size() < 108, "unix_socket: at most 107 bytes");
    demand(!c.unix_socket.empty() || (!c.host.empty() && !c.port.empty()),
           "host, port, unix_socket: no address");
    demand(c.host.size() <= 255, "host: at most 255 bytes");
    demand(c.unix_socket.empty() || !c.security, "security: not for a unix_socket");
    demand(c.database >= 0, "database: not negative");
  }

  config& config_;
};

}  // namespace asio_sync::redis::detail

#endif
