// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_REDIS_WALK_ROUND_HPP
#define ASIO_SYNC_TEST_REDIS_WALK_ROUND_HPP

#include "redis/walk/judge.hpp"
#include "redis/walk/user.hpp"

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

namespace redis_walk {

inline std::vector<subject> const subjects{
    {"x", "mutex", 1}, {"y", "semaphore", 3}, {"z", "semaphore", 5}, {"w", "monitor", 1}};
constexpr std::size_t monitor_subject = 3;

constexpr milliseconds max_ttl{2000};

inline session_config configuration(milliseconds ttl, milliseconds max_hold = 0ms) {
  session_config config;
  config.ttl = ttl;
  config.max_ttl = max_ttl;
  config.margin = ttl / 20;
  config.max_hold = max_hold;
  return config;
}

constexpr std::size_t round_calls = 1500;  // in which everything may fail

struct tally {
  std::size_t rounds = 0, calls = 0, grants = 0, losses = 0, data_losses = 0, deletions = 0,
              waits = 0, notified = 0;
  monitor_tally monitors;

  friend std::ostream& operator<<(std::ostream& out, tally const& t) {
    return out << t.calls << " calls in " << t.rounds << " rounds, " << t.grants << " grants, "
               << t.losses << " losses of holds, " << t.data_losses << " losses of data, "
               << t.deletions << " deletions, " << t.waits << " waits, " << t.notified
               << " notified one by one, " << t.monitors;
  }
};

inline std::vector<std::string> names_of(std::vector<subject> const& some) {
  std::vector<std::string> names;
  names.reserve(some.size());
  for (subject const& each : some) names.push_back(each.name);
  return names;
}

}  // namespace redis_walk

#endif
