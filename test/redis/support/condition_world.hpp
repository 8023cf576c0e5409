// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_REDIS_SUPPORT_CONDITION_WORLD_HPP
#define ASIO_SYNC_TEST_REDIS_SUPPORT_CONDITION_WORLD_HPP

#include "support/test.hpp"

#include <asio_sync/redis.hpp>

#include "redis/support/connection.hpp"
#include "redis/support/world.hpp"

namespace asio_sync::test::redis {

using asio_sync::redis::async_condition;

/// A lock that a wait has, or has had, and how the wait has ended.
struct waiting : ending {
  lock_type lock;
  std::uint64_t fence = 0;  // of the lock that was given back

  bool has_lock(auto const& e) const { return is(e) && lock.owns_lock() && lock.fence() > fence; }
  bool is_without_lock(error_code e) const { return is(e) && !lock && !lock.mutex(); }
};

/// A world with the mutex "x" and its condition "ready".
struct condition_world : world {
  explicit condition_world(config (*settings)(server const&) = &quick)
      : world(settings), admin(s.socket()) {}

  std::int64_t parked() { return admin({"ZCARD", "as:{x}:c"}).number; }
  std::int64_t queued() { return admin({"ZCARD", "as:{x}:q"}).number; }

  /// Locks, begins a wait, and waits until the server knows that it is parked.
  void park(async_condition& on, waiting& w) {
    w.lock = lock(m);
    auto const before = parked();  // those that have had the mutex before
    w.fence = w.lock.fence();
    on.async_wait(w.lock, w.handler());
    BOOST_TEST(!w.lock);
    BOOST_TEST_REQUIRE(soon([&] { return parked() == before + 1; }));
  }

  template <class... Waits>
  void wait_for_end(Waits&... all) {
    BOOST_TEST_REQUIRE(soon([&] { return (all.calls && ...); }));
  }

  void expect_nothing_left() {
    BOOST_TEST(soon([&] { return admin({"KEYS", "as:{*"}).elements.empty(); }));
  }

  connection admin;
  async_mutex m{io, c, "x"};
  async_condition ready{m, "ready"};
};

}  // namespace asio_sync::test::redis

#endif
