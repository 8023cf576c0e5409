// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Conditions, monitors and owned parts of variables when a program forks, when the client ends
// with a final error, and when the parts of a program end in some order.

#include "redis/support/condition_world.hpp"
#include "redis/support/connection.hpp"
#include "redis/support/monitor_world.hpp"
#include "redis/support/world.hpp"
#include "support/random.hpp"
#include "support/test.hpp"

#include <asio_sync/redis.hpp>

#include <sys/wait.h>
#include <unistd.h>

namespace redis_ends_test {

using namespace asio_sync::test::redis;
using asio_sync::test::random_choice;
using redis_error = asio_sync::redis::error;

// A wait on a condition, two locks, and a monitor with somebody inside and something owned.
struct fixture : condition_world {
  fixture() : condition_world(&unhurried) {
    park(ready, parked_one);
    held = lock(m);
    inside = enter();
    part = inside.add_owned("n", 1, "k");
    ending left;
    inside.async_leave(left.handler_on(io));
    wait_for_end(left);
    BOOST_TEST(part.owns());
    inside = enter();
  }

  entry enter() {
    outcome<entry> o;
    room.async_enter(o.handler());
    wait_for_end(o);
    BOOST_TEST_REQUIRE(o.granted());
    return std::move(o.guard);
  }
  std::string variable(std::string const& name) { return admin({"HGET", "as:{y}:v", name}).text; }

  async_monitor room{io, c, "y"};
  waiting parked_one;
  lock_type held;
  owned part;
  entry inside;
};

BOOST_AUTO_TEST_SUITE(ends_test)

BOOST_FIXTURE_TEST_CASE(a_child_of_a_fork_uses_no_condition_and_no_monitor, fixture) {
  inside.set("v", 1);
  ::pid_t const child = ::fork();
  if (child == 0) {
    asio::io_context own;
    int calls = 0;
    bool right = !held.owns_lock() && !inside.owns() && !part.owns();
    auto const is_forked = [&](error_code e) {
      ++calls;
      right = right && e == redis_error::forked;
    };
    part.release();
    ready.notify_all();
    ready.async_notify_one(asio::bind_executor(own, is_forked));
    ready.async_wait(held, asio::bind_executor(own, is_forked));
    room.async_enter(asio::bind_executor(own, [&](error_code e, entry none) {
      is_forked(e);
      right = right && !none;
    }));
    inside.async_leave(asio::bind_executor(own, is_forked));
    c.async_inspect("x", asio::bind_executor(own, [&](error_code e, auto) { is_forked(e); }));
    own.run();
    ::_exit(right && calls == 5 ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  BOOST_TEST((WIFEXITED(status) && WEXITSTATUS(status) == 0));
  BOOST_TEST((held.owns_lock() && inside.owns() && part.owns()));
  BOOST_TEST(!soon([&] { return parked_one.calls != 0; }, 50ms));
  BOOST_TEST(variable("n") == "1");
  ending left;
  inside.async_leave(left.handler_on(io));
  wait_for_end(left);
  BOOST_TEST(left.is(error_code()));
  BOOST_TEST(variable("v") == "1");
  ready.notify_one();
  held.unlock();
  wait_for_end(parked_one);
  BOOST_TEST(parked_one.has_lock(error_code()));
}

BOOST_FIXTURE_TEST_CASE(a_final_error_ends_what_is_held_inside_owned_and_parked, fixture) {
  ending lost, told, late_wait, late_leave;
  held.async_wait_lost(lost.handler());
  admin({"SET", "as:epoch", "2.1.1"});          // of another max_session_ttl
  admin({"CLIENT", "KILL", "TYPE", "pubsub"});  // the client looks when it connects
  wait_for_end(run, parked_one, lost);
  error_code const final = asio_sync::error::configuration_mismatch;
  BOOST_TEST(run.is(final));
  BOOST_TEST(parked_one.is_without_lock(final));
  BOOST_TEST(lost.is(error_code()));
  BOOST_TEST((!held.owns_lock() && !part.owns() && !inside.owns()));
  ready.async_notify_one(told.handler());
  ready.async_wait(held, late_wait.handler());
  inside.async_leave(late_leave.handler());
  outcome<entry> late;
  room.async_enter(late.handler());
  wait_for_end(told, late_wait, late_leave, late);
  BOOST_TEST(told.is(final));
  BOOST_TEST(late_wait.is(lease_lost));
  BOOST_TEST(late_leave.is(lease_lost));
  BOOST_TEST(late.refused(final));
}

// --- Orders ---

// The parts of a program that have something outstanding with each other.
struct program {
  explicit program(server const& s) : admin(s.socket()) {
    c = std::make_unique<client>(own->get_executor(), unhurried(s));
    c->async_run([](error_code) {});
    m = std::make_unique<async_mutex>(*io, *c, "x");
    k = std::make_unique<async_condition>(*m, "k");
    y = std::make_unique<async_monitor>(*io, *c, "y");
    z = std::make_unique<async_monitor>(*io, *c, "z");
    m->async_lock([this](error_code, lock_type l) { lock = std::move(l); });
    y->async_enter([this](error_code, entry e) { *inside = std::move(e); });
    z->async_enter([this](error_code, entry e) { waits = std::move(e); });
    until([this] { return lock && *inside && waits; });
    *part = waits.add_owned("n", 1, "k");
    k->async_wait(lock, lock_waited.handler());
    waits.async_wait("q", entry_waited.handler());
    y->async_enter(entering.handler());
  }
  ~program() {
    for (int part_of = 0; part_of != parts; ++part_of) end(part_of);
    admin({"FLUSHALL"});
  }

  void poll() {
    for (asio::io_context* each : {own.get(), io.get()}) {
      if (!each) continue;
      each->restart();
      each->poll();
    }
  }
  template <class Condition>
  void until(Condition holds) {
    BOOST_TEST_REQUIRE(soon(*own, [&] {
      io->restart();
      io->poll();
      return holds();
    }));
  }
  bool are_parked() {
    return admin({"ZCARD", "as:{x}:c"}).number == 1 && admin({"ZCARD", "as:{z}:c"}).number == 1;
  }

  // Some of what may be under way when the parts end.
  void begin(random_choice& random) {
    if (random.one_in(2)) until([this] { return are_parked(); });
    if (random.one_in(2)) inside->set("v", 1);
    if (random.one_in(2)) *part = inside->add_owned("u", 1, "k");
    if (random.one_in(2)) inside->async_leave(left.handler());
    if (random.one_in(2)) k->notify_one();
    if (random.one_in(2)) k->async_notify_all(told.handler());
    if (random.one_in(2)) k->cancel();
    if (random.one_in(2)) poll();
  }

  static constexpr int parts = 9;
  void end(int which) {
    if (which == 0) own.reset();
    if (which == 1) io.reset();
    if (which == 2) c.reset();
    if (which == 3) m.reset();
    if (which == 4) k.reset();
    if (which == 5) y.reset();
    if (which == 6) z.reset();
    if (which == 7) part.reset();
    if (which == 8) inside.reset();
  }

  // The handlers write to these members, which are destroyed last.
  connection admin;
  lock_type lock;
  entry waits;
  ending lock_waited, entry_waited, left, told;
  outcome<entry> entering;
  std::unique_ptr<entry> inside = std::make_unique<entry>();
  std::unique_ptr<owned> part = std::make_unique<owned>();
  std::unique_ptr<asio::io_context> own = std::make_unique<asio::io_context>();
  std::unique_ptr<asio::io_context> io = std::make_unique<asio::io_context>();
  std::unique_ptr<client> c;
  std::unique_ptr<async_mutex> m;
  std::unique_ptr<async_condition> k;
  std::unique_ptr<async_monitor> y, z;
};

// The orders are the same in every run; client_test has all orders of fewer parts.
BOOST_AUTO_TEST_CASE(conditions_and_monitors_end_in_any_order) {
  server const s;
  for (unsigned round = 0; round != 80; ++round) {
    BOOST_TEST_INFO_SCOPE("round " << round);
    random_choice random(round);
    program p(s);
    p.begin(random);
    std::array<int, program::parts> order = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    for (std::size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[random.below(static_cast<unsigned>(i))]);
    bool const polls = random.one_in(2);
    for (int const part : order) {
      p.end(part);
      if (polls) p.poll();
    }
    for (ending const* each : {&p.lock_waited, &p.entry_waited, &p.left, &p.told})
      BOOST_TEST(each->calls <= 1);
    BOOST_TEST(p.entering.calls <= 1);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_ends_test
