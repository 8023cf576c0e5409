// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Sessions, scripts and a server together, in a random order of events, and in crowds.

#include "redis/walk/walk.hpp"
#include "redis/walk/crowd.hpp"
#include "support/test.hpp"

namespace redis_walk_test {

using namespace redis_walk;

BOOST_AUTO_TEST_SUITE(walk_test)

BOOST_AUTO_TEST_CASE(nobody_believes_in_a_hold_of_somebody_else_and_everybody_is_served) {
  unsigned const calls = asio_sync::test::number_from("ASIO_SYNC_TEST_CALLS", 15000);
  world w(names_of(subjects));
  tally total;
  for (unsigned seed = asio_sync::test::random_seed(); total.calls < calls; ++seed) {
    BOOST_TEST_INFO_SCOPE("./dev walk --seed " << seed << " --calls 1");
    BOOST_TEST_REQUIRE(walk(w, seed, total).run(round_calls) == "");
  }
  BOOST_TEST_MESSAGE(total);
  BOOST_TEST(total.grants > total.calls / 20);
  BOOST_TEST(total.losses > 0);
  BOOST_TEST(total.notified > 0);
  BOOST_TEST(total.monitors.exits > 0);
}

BOOST_AUTO_TEST_CASE(a_seed_replays) {
  unsigned const seed = asio_sync::test::random_seed();
  world w(names_of(subjects));
  tally total;
  std::string end[2];
  for (std::string& text : end) {
    walk one(w, seed, total);
    BOOST_TEST_REQUIRE(one.run(300) == "");
    text = one.last_calls();
  }
  BOOST_TEST(end[0] == end[1]);
}

// --- Crowds ---

BOOST_AUTO_TEST_CASE(holder_of_3_of_5_permits_is_killed) {
  crowd c(5);
  user &dead = c.add(), &other = c.add(), &waits = c.add();
  dead.acquire(0, 3);
  other.acquire(0, 2);
  c.settle();
  waits.acquire(0, 3);
  c.settle();
  BOOST_TEST(waits.holds() == 0u);
  c.kill(dead);
  c.run(c.ttl() + 10ms);
  BOOST_TEST(waits.holds() == 1u);
  BOOST_TEST(other.holds() == 1u);
  BOOST_TEST(c.problem() == "");
}

BOOST_AUTO_TEST_CASE(resume_extends_nothing) {
  crowd c(1);
  user &holds = c.add(), &waits = c.add();
  holds.acquire(0, 1);
  c.settle();
  waits.acquire(0, 1);
  c.run(c.ttl() / 2);  // the last beat was acknowledged at a third
  c.cut(holds, 1);
  BOOST_TEST((holds.s().state() == session_state::open));
  BOOST_TEST(holds.believes(0) == 1u);
  for (milliseconds time = 0ms; time < c.ttl(); time += 5ms) {
    c.run(5ms);
    BOOST_TEST(holds.believes(0) + waits.believes(0) <= 1u);
  }
  BOOST_TEST(waits.believes(0) == 1u);
  BOOST_TEST(c.problem() == "");
}

BOOST_AUTO_TEST_CASE(all_but_the_last_of_200_waiters_are_killed) {
  crowd c(1, false);
  user& holds = c.add();
  holds.acquire(0, 1);
  c.settle();
  for (int i = 0; i != 200; ++i) c.add().acquire(0, 1);
  c.settle();
  while (c.users().size() != 2) c.kill(*std::next(c.users().begin()));
  holds.give_up(false);
  c.settle();
  BOOST_TEST(c.users().back().holds() == 1u);
  BOOST_TEST(c.problem() == "");
}

BOOST_AUTO_TEST_CASE(head_of_the_queue_is_10000_dead_waiters) {
  crowd c(1, false);
  user& holds = c.add();
  holds.acquire(0, 1);
  c.settle();
  for (int i = 0; i != 10; ++i) {
    user& dead = c.add();
    for (int n = 0; n != 1000; ++n) dead.acquire(0, 1);
    c.settle();
  }
  user& waits = c.add();
  waits.acquire(0, 1);
  c.settle();
  while (c.users().size() != 2) c.kill(*std::next(c.users().begin()));
  holds.give_up(false);
  c.run(2 * c.ttl());
  BOOST_TEST(waits.holds() == 1u);
  BOOST_TEST(c.waiters() == 0);
}

BOOST_AUTO_TEST_CASE(one_client_waits_5000_times) {
  crowd c(5000, false);
  user &dead = c.add(), &waits = c.add();
  dead.acquire(0, 5000);
  c.settle();
  for (int i = 0; i != 5000; ++i) waits.acquire(0, 1);
  std::size_t const before = c.calls();
  c.run(3 * c.ttl());
  BOOST_TEST(c.calls() - before < 5000u + 100u);  // 5 beats in an interval
  BOOST_TEST(waits.losses == 0u);
  BOOST_TEST(waits.uses() == 5000u);
  c.kill(dead);
  c.run(2 * c.ttl());
  BOOST_TEST(waits.holds() == 5000u);
  BOOST_TEST(c.holders() == 5000);
  waits.s().shutdown(waits.now());
  c.settle();
  BOOST_TEST(c.holders() == 0);
}

BOOST_AUTO_TEST_CASE(holders_in_1000_sessions_are_killed) {
  crowd c(1000, false);
  for (int i = 0; i != 1000; ++i) c.add().acquire(0, 1);
  c.settle();
  user& waits = c.add();
  waits.acquire(0, 1000);
  c.settle();
  BOOST_TEST(c.holders() == 1000);
  while (c.users().size() != 1) c.kill(c.users().front());
  c.run(c.ttl() + 200ms);
  BOOST_TEST(waits.holds() == 1u);
}

BOOST_AUTO_TEST_CASE(sessions_of_1000_short_programs_are_swept) {
  crowd c(1);
  std::int64_t most = 0;
  for (int i = 0; i != 1000; ++i) {
    user& u = c.add();
    u.acquire(0, 1);
    c.settle();
    most = std::max(most, c.sessions());
    c.kill(u);
    c.run(50ms);
  }
  BOOST_TEST(most < 200);  // 40 are alive
  BOOST_TEST(c.problem() == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_walk_test
