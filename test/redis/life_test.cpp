// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Replicas, backups and promotions: which of them are a loss of data, for the script that opens
// sessions, and for clients.

#include "redis/support/caller.hpp"
#include "redis/support/connection.hpp"
#include "redis/support/silent_port.hpp"
#include "redis/support/two_clients.hpp"
#include "support/test.hpp"

#include <csignal>
#include <filesystem>

namespace redis_life_test {

using namespace asio_sync::test::redis;

// A server that can be a master, a replica or both.
struct node {
  explicit node(std::vector<std::string> const& more = {}) : s(options(more)) {}

  static std::vector<std::string> options(std::vector<std::string> const& more) {
    std::vector<std::string> all{"--bind",
                                 "127.0.0.1",
                                 "--repl-diskless-sync-delay",
                                 "0",
                                 "--repl-backlog-ttl",
                                 "0",
                                 "--enable-debug-command",
                                 "yes"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  message operator()(std::vector<std::string> const& command) {
    return connection(s.socket())(command);
  }

  // Listens, so that it can be followed.
  void listen() {
    if (port.empty()) port = free_port();
    (*this)({"CONFIG", "SET", "port", port});
  }

  void follow(node& master) {
    listen();
    master.listen();
    (*this)({"REPLICAOF", "127.0.0.1", master.port});
    await("master_link_status:up");
  }
  void promote() { (*this)({"REPLICAOF", "NO", "ONE"}); }

  void await(std::string const& line) {
    boost::asio::io_context io;
    BOOST_TEST_REQUIRE(soon(io,
                            [&] {
                              return (*this)({"INFO", "replication"}).text.find(line) != line.npos;
                            }),
                       line);
  }

  // Has the server free its backlog, which it does a second after the last replica has gone. It
  // forgets the last promotion then.
  void free_backlog() {
    (*this)({"CONFIG", "SET", "repl-backlog-ttl", "1"});
    await("repl_backlog_active:0");
    await("second_repl_offset:-1");
  }

  // Returns the epoch that a new session is told.
  std::string epoch() {
    caller c(s.socket(), 'a');
    static int sessions = 0;
    c.incarnation = ++sessions;
    message const answer = c.open();
    BOOST_TEST_REQUIRE(!answer.is_error(), answer.text);
    return c.epoch;
  }

  server s;
  std::string port;
};

// A master and its replica, which has its data.
struct two_nodes {
  two_nodes() { t.follow(s); }

  node s, t;
  std::string const first = s.epoch();
};

BOOST_AUTO_TEST_SUITE(life_test)

// --- The script ---

// The first replica changes the replication id of its master.
BOOST_AUTO_TEST_CASE(a_first_replica_is_no_loss_of_data) {
  node s, t;
  auto const first = s.epoch();
  t.follow(s);
  BOOST_TEST(s.epoch() == first);
}

BOOST_AUTO_TEST_CASE(a_backlog_that_is_freed_is_no_loss_of_data) {
  two_nodes n;
  n.t.promote();
  n.s.free_backlog();
  BOOST_TEST(n.s.epoch() == n.first);
}

BOOST_FIXTURE_TEST_CASE(a_replica_that_resumes_is_no_loss_of_data, two_nodes) {
  s({"CLIENT", "KILL", "TYPE", "replica"});
  t.await("master_link_status:up");
  BOOST_TEST(s.epoch() == first);
}

BOOST_FIXTURE_TEST_CASE(data_that_is_written_and_read_again_is_no_loss, two_nodes) {
  BOOST_TEST(s({"DEBUG", "RELOAD"}).text == "OK");
  BOOST_TEST(s.epoch() == first);
}

BOOST_FIXTURE_TEST_CASE(a_replica_that_is_promoted_has_another_epoch, two_nodes) {
  node u;
  u.follow(t);  // a replica of a replica
  t.promote();
  auto const second = t.epoch();
  BOOST_TEST(second != first);
  BOOST_TEST(t.epoch() == second);
  u.promote();
  BOOST_TEST(u.epoch() != second);
}

// It has all that its replica had, which was the master in between.
BOOST_FIXTURE_TEST_CASE(a_master_that_returns_with_newer_data_has_another_epoch, two_nodes) {
  t.promote();
  auto const second = t.epoch();
  s.follow(t);
  s.promote();
  auto const third = s.epoch();
  BOOST_TEST((third != first && third != second));
  s.free_backlog();
  BOOST_TEST(s.epoch() == third);
}

BOOST_FIXTURE_TEST_CASE(a_master_that_returns_with_older_data_has_another_epoch, two_nodes) {
  t.promote();
  s({"SET", "newer", "1"});
  s.follow(t);
  BOOST_TEST(s({"EXISTS", "newer"}).number == 0);
  s.promote();
  BOOST_TEST(s.epoch() != first);
}

// The file knows the replication id. Redis 7 remembers it until it frees its backlog, as if it had
// been promoted; Redis 8 does not.
BOOST_FIXTURE_TEST_CASE(a_backlog_from_a_file_that_is_freed_is_no_further_loss, two_nodes) {
  s({"SAVE"});
  s.s.kill();
  s.s.start();
  auto const second = s.epoch();
  BOOST_TEST(second != first);
  s.free_backlog();
  BOOST_TEST(s.epoch() == second);
}

BOOST_FIXTURE_TEST_CASE(a_failover_is_a_loss_of_data, two_nodes) {
  s.await("state=online");
  BOOST_TEST(s({"FAILOVER"}).text == "OK");
  t.await("role:master");
  auto const second = t.epoch();
  BOOST_TEST(second != first);
  s.await("role:slave");
  BOOST_TEST(s({"GET", "as:epoch"}).text != "");
}

// Nothing was lost, but that cannot be seen.
BOOST_FIXTURE_TEST_CASE(a_failover_that_is_aborted_is_a_loss_when_it_has_begun, two_nodes) {
  s.await("state=online");
  ::kill(t.s.id(), SIGSTOP);
  auto const wait = [this](std::string const& state) {
    s.await("master_failover_state:" + state);
  };
  s({"SET", "newer", "1"});  // the replica does not have it
  BOOST_TEST(s({"FAILOVER", "TO", "127.0.0.1", t.port, "TIMEOUT", "600000", "FORCE"}).text ==
             "OK");
  wait("waiting-for-sync");
  s({"FAILOVER", "ABORT"});
  BOOST_TEST(s.epoch() == first);
  BOOST_TEST(s({"FAILOVER", "TO", "127.0.0.1", t.port, "TIMEOUT", "1", "FORCE"}).text == "OK");
  wait("failover-in-progress");
  s({"FAILOVER", "ABORT"});
  s.await("role:master");
  BOOST_TEST(s.epoch() != first);
  ::kill(t.s.id(), SIGCONT);
}

BOOST_AUTO_TEST_CASE(a_flushed_server_has_another_epoch) {
  node s;
  auto const first = s.epoch();
  s({"FLUSHALL"});
  BOOST_TEST(s.epoch() != first);
}

// --- Clients ---

// A backup asks for what a replica asks for.
BOOST_AUTO_TEST_CASE(a_backup_takes_no_lock) {
  node s;
  two_clients w(s.s.socket());
  lock_type const held = w.lock(w.x_of_a);
  connection backup(s.s.socket());
  backup.send({"SYNC"});
  s.await("connected_slaves:1");
  s({"CLIENT", "KILL", "TYPE", "pubsub"});
  BOOST_TEST_REQUIRE(soon(w.io, [&] {
    return w.of_a.count(event::kind::connected) + w.of_b.count(event::kind::connected) == 4;
  }));
  BOOST_TEST(held.owns_lock());
  BOOST_TEST((!w.of_a.has(event::kind::data_lost) && !w.of_b.has(event::kind::data_lost)));
}

// The replica has not heard that A gave back, and B locked. The connections of the clients stay.
BOOST_AUTO_TEST_CASE(a_master_that_returns_with_older_data_gives_nothing_to_two) {
  node s, t;
  two_clients w(s.s.socket());
  lock_type first = w.lock(w.x_of_a);
  t.follow(s);
  BOOST_TEST(t({"HLEN", "as:{x}:h"}).number == 1);
  t.promote();
  w.unlock(std::move(first));
  lock_type held = w.lock(w.x_of_b);
  s.follow(t);
  s.promote();
  w.expect_that_nobody_shares(held);
}

// The next beat is due in ten minutes.
BOOST_AUTO_TEST_CASE(a_client_is_told_at_once_that_the_server_is_flushed) {
  node s;
  boost::asio::io_context io;
  config settings = quick(s.s);
  settings.session_ttl = settings.max_session_ttl = std::chrono::minutes(30);
  boost::asio::thread_pool pool{1};
  client c(pool.get_executor(), settings);
  event_log const events(c);
  ending ran;
  c.async_run(ran.handler_on(io));
  BOOST_TEST_REQUIRE(soon(io, [&] { return events.has(event::kind::connected); }));
  s({"FLUSHALL"});
  BOOST_TEST(soon(io, [&] { return events.has(event::kind::data_lost); }));
  BOOST_TEST(!events.has(event::kind::disconnected));
  c.stop();
  BOOST_TEST(soon(io, [&] { return ran.calls != 0; }));
}

BOOST_AUTO_TEST_CASE(a_database_of_others_that_is_flushed_changes_nothing) {
  node s;
  two_clients w(s.s.socket());
  lock_type held = w.lock(w.x_of_a);
  connection other(s.s.socket());
  other({"SELECT", "1"});
  for (int i = 0; i != 100; ++i) other({"FLUSHDB"});
  w.unlock(std::move(held));
  w.unlock(w.lock(w.x_of_b));
  for (event::kind const what :
       {event::kind::disconnected, event::kind::session_lost, event::kind::record_lost})
    BOOST_TEST((!w.of_a.has(what) && !w.of_b.has(what)));
  BOOST_TEST(w.of_a.count(event::kind::connected) == 1);
}

BOOST_AUTO_TEST_CASE(a_hold_without_a_record_is_told) {
  node s;
  two_clients w(s.s.socket());
  lock_type const held = w.lock(w.x_of_a);
  s({"DEL", "as:{x}:m", "as:{x}:h"});
  BOOST_TEST_REQUIRE(soon(w.io, [&] { return !held.owns_lock(); }));
  BOOST_TEST_REQUIRE(soon(w.io, [&] { return w.of_a.has(event::kind::record_lost); }));
  BOOST_TEST(w.of_a.find(event::kind::record_lost)->text == "x");
  BOOST_TEST((!w.of_a.has(event::kind::session_lost) && !w.of_a.has(event::kind::disconnected)));
  w.unlock(w.lock(w.x_of_b));
}

BOOST_AUTO_TEST_CASE(a_holder_keeps_what_has_lost_its_waiters) {
  for (std::string const part : {"q", "d"}) {
    node s;
    two_clients w(s.s.socket());
    lock_type held = w.lock(w.x_of_a);
    outcome<lock_type> waits;
    w.x_of_b.async_lock(waits.handler());
    BOOST_TEST_REQUIRE(soon(w.io, [&] { return s({"ZCARD", "as:{x}:q"}).number == 1; }));
    s({"DEL", "as:{x}:" + part});
    BOOST_TEST_REQUIRE(soon(w.io, [&] {
      return s({"HLEN", "as:{x}:d"}).number == 1 && s({"ZCARD", "as:{x}:q"}).number == 1;
    }));
    BOOST_TEST(held.owns_lock());
    w.unlock(std::move(held));
    BOOST_TEST_REQUIRE(soon(w.io, [&] { return waits.granted(); }));
    BOOST_TEST(!w.of_a.has(event::kind::record_lost));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_life_test
