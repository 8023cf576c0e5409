// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_REDIS_SUPPORT_MONITOR_WORLD_HPP
#define ASIO_SYNC_TEST_REDIS_SUPPORT_MONITOR_WORLD_HPP

#include "support/test.hpp"

#include <asio_sync/redis.hpp>

#include "redis/support/connection.hpp"
#include "redis/support/world.hpp"

namespace asio_sync::test::redis {

using asio_sync::redis::async_monitor;
using asio_sync::redis::owned;
using entry = async_monitor::entry;

/// Adds members for monitors to a fixture.
template <class World>
struct monitored : World {
  using World::World;

  entry enter(async_monitor& of) {
    outcome<entry> o;
    of.async_enter(o.handler());
    BOOST_TEST_REQUIRE(this->soon([&] { return o.calls != 0; }));
    BOOST_TEST(o.granted());
    return std::move(o.guard);
  }
  error_code leave(entry& e) {
    ending left;
    e.async_leave(left.handler_on(this->io));
    BOOST_TEST(!e);
    wait_for_end(left);
    return left.error;
  }
  template <class... Waits>
  void wait_for_end(Waits&... all) {
    BOOST_TEST_REQUIRE(this->soon([&] { return (all.calls && ...); }));
  }

  std::int64_t parked() { return admin({"ZCARD", "as:{x}:c"}).number; }
  std::int64_t queued() { return admin({"ZCARD", "as:{x}:q"}).number; }
  std::string variable(std::string const& name) { return admin({"HGET", "as:{x}:v", name}).text; }
  void expect(std::string const& name, std::string const& value) {
    BOOST_TEST(this->soon([&] { return variable(name) == value; }), name << variable(name));
  }
  void expect_only_variables() {
    BOOST_TEST(this->soon([&] { return admin({"KEYS", "as:{*}:[^v]"}).elements.empty(); }));
  }

  connection admin{this->s.socket()};
};

/// Two clients, each with the monitor "x".
struct monitor_world : monitored<world> {
  explicit monitor_world(config (*settings)(server const&) = &quick)
      : monitored(settings), other_c(pool.get_executor(), settings(s)) {
    other_c.async_run(other_run.handler_on(io));
  }
  ~monitor_world() {
    other_c.stop();
    soon([this] { return other_run.calls != 0; });
  }

  client other_c;
  ending other_run;
  async_monitor m{io, c, "x"}, other{io, other_c, "x"};
};

}  // namespace asio_sync::test::redis

#endif
