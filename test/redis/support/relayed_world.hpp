// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_REDIS_SUPPORT_RELAYED_WORLD_HPP
#define ASIO_SYNC_TEST_REDIS_SUPPORT_RELAYED_WORLD_HPP

#include "redis/support/connection.hpp"
#include "redis/support/relay.hpp"
#include "redis/support/world.hpp"
#include "support/test.hpp"

#include <asio_sync/redis.hpp>
#include <asio_sync/redis/detail/scripts/all.hpp>

namespace asio_sync::test::redis {

namespace scripts = asio_sync::redis::detail::scripts;

/// A server, a client that reaches it through a relay, another one that reaches it directly, and
/// the context of their users. Both clients have the mutex "x".
struct relayed_world {
  using flow = relay::flow;
  using milliseconds = std::chrono::milliseconds;

  static constexpr relay::way to_server = relay::to_server, to_client = relay::to_client;

  /// Waits until the client behind the relay is connected. The other one has the same life.
  explicit relayed_world(milliseconds life = short_life, std::optional<milliseconds> timeout = {},
                         std::optional<milliseconds> margin = {})
      : c(pool.get_executor(), settings(r.socket(), life, timeout, margin)),
        direct_c(pool.get_executor(), settings(s.socket(), life, {}, {})),
        events(c) {
    begin();
    direct_c.async_run(direct_run.handler_on(io));
    wait_for(event::kind::connected, 1);
  }
  ~relayed_world() {
    c.stop();
    direct_c.stop();
    soon([this] { return run.calls && direct_run.calls; });
  }

  void begin() {
    run = {};
    c.async_run(run.handler_on(io));
  }

  template <class Condition>
  bool soon(Condition holds) {
    return redis::soon(io, std::move(holds));
  }

  template <class Guard>
  void expect_granted(outcome<Guard> const& o) {
    BOOST_TEST_REQUIRE(soon([&] { return o.calls != 0; }));
    BOOST_TEST(o.granted());
  }
  void expect_success(ending const& e) {
    BOOST_TEST_REQUIRE(soon([&] { return e.calls != 0; }));
    BOOST_TEST(e.is(error_code()));
  }

  lock_type lock(async_mutex& which) {
    outcome<lock_type> o;
    which.async_lock(o.handler());
    expect_granted(o);
    return std::move(o.guard);
  }
  void unlock(lock_type held) {
    ending unlocked;
    held.async_unlock(unlocked.handler_on(io));
    expect_success(unlocked);
  }

  /// Unlocks, and compares with a server that nobody uses.
  void unlock_last(lock_type held) {
    unlock(std::move(held));
    expect_nothing_left();
  }

  // --- The relay ---

  void set(flow f) {
    for (relay::way const w : {to_server, to_client}) r.set(w, f);
  }
  /// Drops the bytes of one direction. What has come before, in either, does not count any more.
  void drop(relay::way w) {
    set(flow::pass);
    r.set(w, flow::drop);
  }

  /// Waits until the client behind the relay has told of this so often.
  void wait_for(event::kind what, int n) {
    BOOST_TEST_REQUIRE(soon([&] { return events.count(what) >= n; }));
  }

  /// Waits until a command has come to the relay since its last order for this direction.
  void wait_for(scripts::script const& command) {
    std::string const digest = admin({"SCRIPT", "LOAD", scripts::text(command)}).text;
    BOOST_TEST_REQUIRE(soon([&] { return r.has_come(to_server, digest); }));
  }

  /// Sends the bytes that are held of an old connection, and expects this answer.
  void deliver(std::string const& answer) {
    r.set(to_client, flow::pass);
    r.deliver();
    BOOST_TEST_REQUIRE(soon([&] { return r.has_come(to_client, "+PONG\r\n"); }));
    BOOST_TEST(r.has_come(to_client, answer + "\r\n+PONG\r\n"));
  }

  // --- The server ---

  std::int64_t holders() { return admin({"HLEN", "as:{x}:h"}).number; }
  std::string used(std::string const& object) {
    return admin({"HGET", "as:{" + object + "}:m", "used"}).text;
  }
  void wait_for_waiters(std::int64_t n) {
    BOOST_TEST_REQUIRE(soon([&] { return admin({"ZCARD", "as:{x}:q"}).number == n; }));
  }

  /// Returns the fence of the mutex's only holder, or 0.
  std::uint64_t fence() {
    auto const holds = admin({"HVALS", "as:{x}:h"}).elements;
    return holds.size() == 1 ? std::stoull(holds[0].text.substr(2)) : 0;
  }

  /// Returns the key of the session that holds the mutex.
  std::string session() {
    std::string const token = admin({"HKEYS", "as:{x}:h"}).elements.at(0).text;
    return "as:s:" + token.substr(0, token.find(':'));
  }
  milliseconds life_left(std::string const& session) {
    return milliseconds(admin({"PTTL", session}).number);
  }

  void expect_nothing_left() {
    BOOST_TEST(soon([&] {
      return admin({"KEYS", "as:{*"}).elements.empty() &&
             admin({"KEYS", "as:o:*"}).elements.empty();
    }));
  }

  server s;
  relay r{s};
  asio::io_context io;
  asio::thread_pool pool{2};  // ends before what its threads post to
  ending run, direct_run;
  client c, direct_c;
  event_log events;
  async_mutex m{io, c, "x"}, direct{io, direct_c, "x"};
  connection admin{s.socket()};

 private:
  static config settings(std::string const& socket, milliseconds life,
                         std::optional<milliseconds> timeout, std::optional<milliseconds> margin) {
    config all;
    all.unix_socket = socket;
    all.session_ttl = all.max_session_ttl = life;
    all.command_timeout = timeout;
    all.margin = margin;
    all.gate = false;
    return all;
  }
};

}  // namespace asio_sync::test::redis

#endif
