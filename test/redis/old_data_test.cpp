// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Servers that come back with data: all of it, that of an earlier hour, and that of a replica that
// is behind. No two own the same, and all who wait are served.

#include "redis/support/connection.hpp"
#include "redis/support/silent_port.hpp"
#include "redis/support/two_clients.hpp"
#include "support/test.hpp"

#include <csignal>
#include <filesystem>

namespace redis_old_data_test {

using namespace asio_sync::test::redis;
using asio_sync::redis::owned;

// A key beside ours shows that the data is back, which the clients begin to use at once.
void mark(server const& s) { connection(s.socket())({"SET", "mark", "1"}); }
bool has_kept_the_mark(server const& s) {
  connection to(s.socket());
  auto kept = to({"GET", "mark"});
  while (kept.code() == "LOADING") kept = to({"GET", "mark"});
  return kept.text == "1";
}

BOOST_AUTO_TEST_SUITE(old_data_test)

BOOST_AUTO_TEST_CASE(a_server_that_has_kept_everything_has_lost_all_holds) {
  server s({"--appendonly", "yes", "--appendfsync", "always"});
  two_clients w(s.socket());
  lock_type held = w.lock(w.x_of_a);
  mark(s);
  s.kill();
  s.start();
  BOOST_TEST(has_kept_the_mark(s));
  w.expect_that_nobody_shares(held);
}

// The old data says that A holds, which has given back; B holds.
BOOST_AUTO_TEST_CASE(a_server_with_data_of_an_earlier_hour_gives_nothing_to_two) {
  server s;
  two_clients w(s.socket());
  lock_type first = w.lock(w.x_of_a);
  mark(s);
  connection(s.socket())({"SAVE"});
  w.unlock(std::move(first));
  lock_type held = w.lock(w.x_of_b);
  s.kill();
  s.start();
  BOOST_TEST(has_kept_the_mark(s));
  w.expect_that_nobody_shares(held);
}

// The replica has not heard that A gave back, and B locked.
BOOST_AUTO_TEST_CASE(a_replica_that_is_behind_and_becomes_the_master_gives_nothing_to_two) {
  std::string const port = free_port();
  server master({"--bind", "127.0.0.1", "--port", port, "--repl-diskless-sync-delay", "0"});
  server replica({"--replicaof", "127.0.0.1", port});
  auto const link = replica.socket() + ".link";
  std::filesystem::create_symlink(master.socket(), link);
  two_clients w(link);
  lock_type first = w.lock(w.x_of_a);
  BOOST_TEST_REQUIRE(soon(w.io, [&] {
    return connection(replica.socket())({"HLEN", "as:{x}:h"}).number == 1;
  }));
  ::kill(replica.id(), SIGSTOP);
  w.unlock(std::move(first));
  lock_type held = w.lock(w.x_of_b);
  master.kill();
  ::kill(replica.id(), SIGCONT);
  connection(replica.socket())({"REPLICAOF", "NO", "ONE"});
  std::filesystem::remove(link);
  std::filesystem::create_symlink(replica.socket(), link);
  w.expect_that_nobody_shares(held);
}

// The server keeps the variables, and takes back the owned parts. Waits end as if they were
// notified. The changes of the entry inside are lost with it.
BOOST_AUTO_TEST_CASE(a_server_that_has_kept_everything_keeps_variables_and_takes_back_the_owned) {
  server s({"--appendonly", "yes", "--appendfsync", "always"});
  two_clients w(s.socket());
  async_monitor of_a(w.io, w.a, "y"), of_b(w.io, w.b, "y");
  entry inside = w.enter(of_a);
  inside.set("v", 7);
  owned const part = inside.add_owned("n", 1, "left");
  BOOST_TEST(w.leave(inside) == error_code());
  entry waits = w.enter(of_b);
  BOOST_TEST(waits.number("n") == 1);
  ending waited;
  waits.async_wait("left", waited.handler_on(w.io));
  BOOST_TEST_REQUIRE(soon(w.io, [&] {
    return connection(s.socket())({"ZCARD", "as:{y}:c"}).number == 1;
  }));
  inside = w.enter(of_a);
  inside.set("v", 8);
  s.kill();
  s.start();
  BOOST_TEST_REQUIRE(soon(w.io, [&] { return waited.calls != 0; }));
  BOOST_TEST(waited.is(error_code()));
  BOOST_TEST(waits.owns());
  BOOST_TEST(waits.number("v") == 7);
  BOOST_TEST(waits.number("n") == 0);
  BOOST_TEST((!inside.owns() && !part.owns()));
  BOOST_TEST(w.leave(inside) == lease_lost);
  waits.add("v", 1);
  BOOST_TEST(w.leave(waits) == error_code());
  BOOST_TEST(connection(s.socket())({"HGET", "as:{y}:v", "v"}).text == "8");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_old_data_test
