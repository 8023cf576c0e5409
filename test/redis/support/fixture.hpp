// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_REDIS_SUPPORT_FIXTURE_HPP
#define ASIO_SYNC_TEST_REDIS_SUPPORT_FIXTURE_HPP

#include "redis/support/caller.hpp"
#include "redis/support/server.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace asio_sync::test::redis {

/// Returns the server that the cases of a program share; it ends with the program.
inline server& shared_server() {
  static server one;
  return one;
}

/// Three callers with a session each, on a server without data.
struct callers {
  callers() {
    admin({"CONFIG", "SET", "maxmemory", "0"});
    admin({"FLUSHALL"});
    a.open();
    b.open();
    c.open();
  }

  std::vector<std::string> keys(std::string const& pattern) {
    std::vector<std::string> names;
    for (message const& name : admin({"KEYS", pattern}).elements) names.push_back(name.text);
    return names;
  }

  connection admin{shared_server().socket()};
  caller a{shared_server().socket(), 'a'};
  caller b{shared_server().socket(), 'b'};
  caller c{shared_server().socket(), 'c'};
};

inline bool is_state(message const& m, std::int64_t state) {
  return m.elements.size() == 3 && m.elements[0].number == state;
}
inline bool granted(message const& m) {
  return is_state(m, 1) && m.elements[1].number > 1'000'000'000'000'000;
}
inline bool queued(message const& m) {
  return is_state(m, 0) && m.elements[1].number > 1'000'000'000'000'000;
}
inline bool unknown(message const& m) { return is_state(m, -1); }
inline std::int64_t number(message const& m) { return m.elements.at(1).number; }
inline std::int64_t hint(message const& m) { return m.elements.at(2).number; }

}  // namespace asio_sync::test::redis

#endif
