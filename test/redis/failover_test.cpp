// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Masters that become replicas, and replicas that become the master: the client goes on, and all
// who wait are served. A relay stands for the name of the master.

#include "redis/support/connection.hpp"
#include "redis/support/relay.hpp"
#include "redis/support/silent_port.hpp"
#include "redis/support/world.hpp"
#include "support/test.hpp"

#include <asio_sync/redis.hpp>

namespace redis_failover_test {

using namespace asio_sync::test::redis;
using redis_error = asio_sync::redis::error;

// A server that can have replicas, and be one.
struct node {
  explicit node(std::vector<std::string> options = {}) : s(with_port(std::move(options), port)) {}

  static std::vector<std::string> with_port(std::vector<std::string> options,
                                            std::string const& at) {
    options.insert(options.end(),
                   {"--bind", "127.0.0.1", "--port", at, "--repl-diskless-sync-delay", "0"});
    return options;
  }

  std::string replication() { return connection(s.socket())({"INFO", "replication"}).text; }
  bool is_master() { return replication().find("role:master") != std::string::npos; }
  bool has_replica_in_sync() { return replication().find("state=online") != std::string::npos; }

  void follow(std::string const& host, std::string const& at) {
    BOOST_TEST(connection(s.socket())({"REPLICAOF", host, at}).text == "OK");
  }
  void become_master() { follow("NO", "ONE"); }
  void become_replica_of_nobody() { follow("127.0.0.1", "1"); }

  std::string const port = free_port();
  server s;
};

// A client that knows its server by a name.
struct named {
  explicit named(node& first) : r(first.s), c(pool.get_executor(), settings()), events(c) {
    c.async_run(run.handler_on(io));
  }
  ~named() {
    c.stop();
    soon([this] { return run.calls != 0; });
  }

  config settings() const {
    config all;
    all.unix_socket = r.socket();
    all.session_ttl = all.max_session_ttl = short_life;
    return all;
  }

  template <class Condition>
  bool soon(Condition holds, std::chrono::milliseconds limit = 20s) {
    return asio_sync::test::redis::soon(io, std::move(holds), limit);
  }

  // Begins so many waits for the mutex, each of which gives it back at once.
  void wait_for_lock(std::size_t n) {
    for (; n != 0; --n)
      m.async_lock([this](error_code e, lock_type l) {
        BOOST_TEST(e == error_code());
        BOOST_TEST((l.fence() > last_fence || !l.owns_lock()));  // lost by the end of the client
        last_fence = std::max(last_fence, l.fence());
        ++served;
      });
  }

  lock_type lock() {
    outcome<lock_type> o;
    m.async_lock(o.handler());
    BOOST_TEST_REQUIRE(soon([&] { return o.granted(); }));
    BOOST_TEST(o.guard.fence() > last_fence);
    last_fence = o.guard.fence();
    return std::move(o.guard);
  }

  std::ptrdiff_t refusals() const {
    return events.count_if([](event const& e) { return e.error == redis_error::not_a_master; });
  }

  // Has the master hand over to its replica, and waits until the client has heard of it.
  void fail_over(node& master, node& replica) {
    BOOST_TEST_REQUIRE(soon([&] { return master.has_replica_in_sync(); }));
    auto const before = refusals();
    connection admin(master.s.socket());
    BOOST_TEST(admin({"FAILOVER", "TO", "127.0.0.1", replica.port}).text == "OK");
    BOOST_TEST_REQUIRE(soon([&] { return refusals() > before && replica.is_master(); }));
  }

  relay r;
  asio::io_context io;
  asio::thread_pool pool{1};  // ends before what its thread posts to
  ending run;
  client c;
  event_log events;
  async_mutex m{io, c, "x"};
  std::uint64_t last_fence = 0;
  std::size_t served = 0;
};

BOOST_AUTO_TEST_SUITE(failover_test)

BOOST_AUTO_TEST_CASE(a_name_that_moves_two_seconds_after_a_fail_over_is_followed) {
  node a, b({"--replicaof", "127.0.0.1", a.port});
  named w(a);
  lock_type held = w.lock();
  w.wait_for_lock(3);
  w.fail_over(a, b);
  BOOST_TEST(!w.soon([&] { return w.run.calls != 0; }, 2s));
  w.wait_for_lock(2);
  w.r.lead_to(b.s);
  BOOST_TEST(w.soon([&] { return w.served == 5; }));
  BOOST_TEST(!held.owns_lock());
  BOOST_TEST(w.run.calls == 0);
  BOOST_TEST(w.refusals() <= 2);  // the master's last answer, and the replica's first
}

BOOST_AUTO_TEST_CASE(two_servers_that_fail_over_again_and_again_lose_no_wait) {
  node a, b({"--replicaof", "127.0.0.1", a.port});
  named w(a);
  node *master = &a, *replica = &b;
  for (std::size_t round = 1; round <= 4; ++round) {
    lock_type const held = w.lock();
    w.wait_for_lock(1);
    w.fail_over(*master, *replica);
    std::swap(master, replica);
    w.r.lead_to(master->s);
    BOOST_TEST(w.soon([&] { return w.served == round; }));
  }
  BOOST_TEST(w.run.calls == 0);
}

BOOST_AUTO_TEST_CASE(a_master_that_is_demoted_and_promoted_again_is_an_outage) {
  node a;
  named w(a);
  for (std::size_t round = 1; round <= 3; ++round) {
    lock_type const held = w.lock();
    w.wait_for_lock(1);
    auto const before = w.refusals();
    a.become_replica_of_nobody();
    BOOST_TEST_REQUIRE(w.soon([&] { return w.refusals() > before; }));
    a.become_master();
    BOOST_TEST(w.soon([&] { return w.served == round; }));
  }
  BOOST_TEST(w.run.calls == 0);
}

BOOST_AUTO_TEST_CASE(a_replica_that_is_there_first_is_waited_for) {
  for (std::string const serves : {"yes", "no"}) {
    node a({"--replicaof", "127.0.0.1", "1", "--replica-serve-stale-data", serves});
    named w(a);
    w.wait_for_lock(1);
    BOOST_TEST(w.soon([&] { return w.refusals() != 0; }));
    BOOST_TEST(!w.soon([&] { return w.run.calls != 0; }, 300ms));
    BOOST_TEST(w.events.find(event::kind::connect_failed)->text.starts_with("attempt 1: "));
    a.become_master();
    BOOST_TEST(w.soon([&] { return w.served == 1; }));
    BOOST_TEST(w.events.count(event::kind::server_error) == 0);
  }
}

// The administrator has changed the password, and forgets the client for a while.
BOOST_AUTO_TEST_CASE(a_password_that_is_changed_behind_the_first_session_is_an_outage) {
  node a;
  named w(a);
  lock_type const held = w.lock();
  connection admin(a.s.socket());
  admin({"CONFIG", "SET", "requirepass", "another"});
  w.r.cut();
  error_code const denied = redis_error::access_denied;
  auto const denials = [&] {
    return w.events.count_if([&](event const& e) { return e.error == denied; });
  };
  BOOST_TEST(w.soon([&] { return denials() != 0; }));
  BOOST_TEST(!w.soon([&] { return w.run.calls != 0; }, 500ms));
  BOOST_TEST(denials() == 1);
  BOOST_TEST(w.events.find(event::kind::disconnected)->error == asio::error::eof);
  admin({"CONFIG", "SET", "requirepass", ""});
  w.wait_for_lock(1);
  BOOST_TEST(w.soon([&] { return w.events.count(event::kind::connected) == 2; }));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_failover_test
