// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_REDIS_SUPPORT_TWO_CLIENTS_HPP
#define ASIO_SYNC_TEST_REDIS_SUPPORT_TWO_CLIENTS_HPP

#include "redis/support/world.hpp"
#include "support/test.hpp"

#include <asio_sync/redis/async_monitor.hpp>
#include <asio_sync/redis/async_mutex.hpp>

namespace asio_sync::test::redis {

using asio_sync::redis::async_monitor;
using entry = async_monitor::entry;

/// Two clients of the server that listens at a path, with a gate, and a mutex of each.
struct two_clients {
  explicit two_clients(std::string const& path)
      : a(pool.get_executor(), at(path)), b(pool.get_executor(), at(path)), of_a(a), of_b(b) {
    a.async_run(a_ran.handler_on(io));
    b.async_run(b_ran.handler_on(io));
  }
  ~two_clients() {
    a.stop();
    b.stop();
    soon(io, [this] { return a_ran.calls && b_ran.calls; });
  }

  static config at(std::string const& path) {
    config c;
    c.unix_socket = path;
    c.session_ttl = c.max_session_ttl = short_life;
    return c;
  }

  lock_type lock(async_mutex& which) {
    outcome<lock_type> o;
    which.async_lock(o.handler());
    BOOST_TEST_REQUIRE(soon(io, [&] { return o.calls != 0; }));
    BOOST_TEST_REQUIRE(o.granted());
    return std::move(o.guard);
  }

  void unlock(lock_type held) {
    ending done;
    held.async_unlock(done.handler_on(io));
    BOOST_TEST_REQUIRE(soon(io, [&] { return done.calls != 0; }));
    BOOST_TEST(done.is(error_code()));
  }

  entry enter(async_monitor& which) {
    outcome<entry> o;
    which.async_enter(o.handler());
    BOOST_TEST_REQUIRE(soon(io, [&] { return o.calls != 0; }));
    BOOST_TEST_REQUIRE(o.granted());
    return std::move(o.guard);
  }

  error_code leave(entry& e) {
    ending left;
    e.async_leave(left.handler_on(io));
    BOOST_TEST_REQUIRE(soon(io, [&] { return left.calls != 0; }));
    return left.error;
  }

  /// After the loss of data, of which `held` may not have heard: both lock in turn, and whoever
  /// owns is the only one, with a greater fence.
  void expect_that_nobody_shares(lock_type& held) {
    std::uint64_t const before = held.fence();
    outcome<lock_type> next[2];
    x_of_a.async_lock(next[0].handler());
    x_of_b.async_lock(next[1].handler());
    std::uint64_t last = before;
    for (int turn = 1; turn <= 2; ++turn) {
      BOOST_TEST_REQUIRE(soon(io, [&] { return next[0].calls + next[1].calls == turn; }));
      BOOST_TEST(!held.owns_lock());
      auto& owner = next[0].guard.owns_lock() ? next[0].guard : next[1].guard;
      BOOST_TEST_REQUIRE(owner.owns_lock());
      BOOST_TEST(owner.fence() > last);
      last = owner.fence();
      unlock(std::move(owner));
    }
    BOOST_TEST((of_a.has(event::kind::data_lost) || of_b.has(event::kind::data_lost)));
  }

  asio::io_context io;
  asio::thread_pool pool{1};  // ends before what its thread posts to
  ending a_ran, b_ran;
  client a, b;
  event_log of_a, of_b;
  async_mutex x_of_a{io, a, "x"}, x_of_b{io, b, "x"};
};

}  // namespace asio_sync::test::redis

#endif
