// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_REDIS_WALK_LEAVING_HPP
#define ASIO_SYNC_TEST_REDIS_WALK_LEAVING_HPP

#include <asio_sync/redis/detail/session/requests.hpp>

#include "redis/walk/snapshot.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redis_walk {

using namespace asio_sync::redis::detail;

// The arguments of a call of `exit` or `cond_wait`.
struct leaving {
  struct notification {
    std::string condition;
    bool is_for_all;
  };

  std::string object, token;
  std::uint64_t fence = 0;
  bool passes = false;
  std::map<std::string, std::string> set;
  part_map owned;
  std::vector<notification> notified;

  // Returns how many notifications of one wait are for a condition.
  std::size_t of_one(std::string_view condition) const {
    std::size_t count = 0;
    for (notification const& n : notified)
      if (!n.is_for_all && n.condition == condition) ++count;
    return count;
  }
};

// Reads a call. Returns nothing if it is one of another script.
inline std::optional<leaving> read_leaving(request const& r) {
  bool const exits = r.what() == script::exit;
  if (!exits && r.what() != script::cond_wait) return std::nullopt;
  auto const text = [&r](std::size_t i) { return std::string(r[i]); };
  std::string const me = text(1) + ':';
  std::size_t at = exits ? 5 : 6;
  leaving l;
  l.object = text(4);
  l.token = me + text(at);
  l.fence = std::stoull(text(at + 1));
  l.passes = r[exits ? 7 : 10] == "1";
  for (at = exits ? 8 : 11; at < r.size();) {
    std::string_view const what = r[at];
    if (what == "s") l.set[text(at + 1)] = text(at + 2);
    if (what == "n") l.notified.push_back({text(at + 1), r[at + 2] == "0"});
    if (what == "o")
      l.owned[me + text(at + 2)] = {text(at + 1), std::stoll(text(at + 3)), text(at + 4)};
    at += what == "o" ? 5 : 3;
  }
  return l;
}

}  // namespace redis_walk

#endif
