// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Conditions over a real server whose waits end while they are notified, and while their mutex,
// its conditions or the server's process go: a notification has exactly one effect.

#include "redis/support/condition_world.hpp"
#include "redis/support/connection.hpp"
#include "redis/support/ending_waits.hpp"
#include "redis/support/world.hpp"
#include "support/test.hpp"

#include <asio_sync/redis.hpp>

#include <csignal>

namespace redis_condition_ends_test {

using namespace asio_sync::test::redis;

struct fixture : condition_world {
  fixture() : condition_world(&unhurried) {}
};

BOOST_FIXTURE_TEST_SUITE(condition_ends_test, fixture)

// --- The mutex and the condition go ---

BOOST_AUTO_TEST_CASE(cancel_and_close_of_the_mutex_leave_its_conditions_alone) {
  waiting parked_one, again;
  park(ready, again);
  park(ready, parked_one);
  lock_type held = lock(m);
  ready.notify_one();
  BOOST_TEST_REQUIRE(soon([&] { return queued() == 1; }));
  BOOST_TEST(m.waiters() == 0u);
  BOOST_TEST(ready.waiters() == 2u);
  BOOST_TEST(m.cancel() == 0u);
  m.close();
  BOOST_TEST(!soon([&] { return again.calls || parked_one.calls; }, 20ms));
  held.unlock();
  wait_for_end(again);
  BOOST_TEST(again.has_lock(error_code()));
  again.lock = {};
  ready.notify_one();
  wait_for_end(parked_one);
  BOOST_TEST(parked_one.has_lock(error_code()));
  waiting later;
  later.lock = std::move(parked_one.lock);
  ready.async_wait(later.lock, later.handler());
  BOOST_TEST_REQUIRE(soon([&] { return parked() == 1; }));
  ready.notify_all();
  wait_for_end(later);
  BOOST_TEST(later.has_lock(error_code()));
}

BOOST_AUTO_TEST_CASE(a_condition_outlives_its_mutex) {
  auto brief = std::make_unique<async_mutex>(io, c, "x");
  async_condition k(*brief, "k");
  waiting w, later;
  w.lock = lock(*brief);
  k.async_wait(w.lock, w.handler());
  BOOST_TEST_REQUIRE(soon([&] { return parked() == 1; }));
  brief.reset();
  k.notify_one();
  wait_for_end(w);
  BOOST_TEST(w.is(error_code()));
  BOOST_TEST(w.lock.owns_lock());
  BOOST_TEST(w.lock.mutex() == nullptr);
  later.lock = std::move(w.lock);
  k.async_wait(later.lock, later.handler());
  BOOST_TEST_REQUIRE(soon([&] { return parked() == 1; }));
  BOOST_TEST(k.cancel() == 1u);
  wait_for_end(later);
  BOOST_TEST(later.is(aborted));
  BOOST_TEST(later.lock.owns_lock());
  later.lock.unlock();
  expect_nothing_left();
}

// The wait has been notified or cancelled, and is in the queue of the mutex.
BOOST_AUTO_TEST_CASE(a_condition_ends_while_its_wait_locks_again) {
  for (bool const is_notified : {true, false}) {
    for (bool const closes : {true, false}) {
      std::optional<async_condition> k(std::in_place, m, "k");
      async_condition same(m, "k");
      waiting w, other;
      park(*k, w);
      park(same, other);
      lock_type held = lock(m);
      is_notified ? k->notify_one() : static_cast<void>(k->cancel());
      BOOST_TEST_REQUIRE(soon([&] { return queued() == 1; }));
      closes ? k->close() : k.reset();
      wait_for_end(w);
      BOOST_TEST(w.is_without_lock(closes ? closed : aborted));
      if (is_notified) {  // which is passed on
        BOOST_TEST_REQUIRE(soon([&] { return queued() == 1 && parked() == 0; }));
      } else {
        BOOST_TEST_REQUIRE(soon([&] { return queued() == 0; }));
        BOOST_TEST(parked() == 1);
        same.notify_one();
      }
      held.unlock();
      wait_for_end(other);
      BOOST_TEST(other.has_lock(error_code()));
      other.lock = {};
      expect_nothing_left();
    }
  }
}

BOOST_AUTO_TEST_CASE(a_wait_until_a_time_point_ends_with_the_mutex) {
  waiting steady, system;
  steady.lock = lock(m);
  steady.fence = steady.lock.fence();
  ready.async_wait_until(steady.lock, std::chrono::steady_clock::now() + 50ms, steady.handler());
  wait_for_end(steady);
  BOOST_TEST(steady.is(timed_out));
  BOOST_TEST(steady.lock.owns_lock());
  system.lock = std::move(steady.lock);
  system.fence = system.lock.fence();
  ready.async_wait_until(system.lock, std::chrono::system_clock::now() + 1h, system.handler());
  BOOST_TEST_REQUIRE(soon([&] { return parked() == 1; }));
  ready.notify_one();
  wait_for_end(system);
  BOOST_TEST(system.has_lock(error_code()));
}

// --- The session goes ---

BOOST_FIXTURE_TEST_CASE(a_server_that_stops_for_a_life_serves_all_that_wait_in_turn,
                        condition_world) {
  waiting parked_ones[3];
  outcome<lock_type> queued_ones[3];
  for (waiting& each : parked_ones) park(ready, each);
  lock_type held = lock(m);
  for (auto& each : queued_ones) m.async_lock(each.handler());
  BOOST_TEST_REQUIRE(soon([&] { return queued() == 3; }));
  ::kill(s.id(), SIGSTOP);
  BOOST_TEST_REQUIRE(soon([&] { return events.has(event::kind::session_lost); }));
  ::kill(s.id(), SIGCONT);
  BOOST_TEST(!held.owns_lock());
  std::uint64_t last = 0;
  for (int turn = 1; turn <= 6; ++turn) {
    auto const owners = [&] {
      std::vector<lock_type*> all;
      for (waiting& each : parked_ones)
        if (each.calls && each.lock.owns_lock()) all.push_back(&each.lock);
      for (auto& each : queued_ones)
        if (each.guard.owns_lock()) all.push_back(&each.guard);
      return all;
    };
    std::vector<lock_type*> now;
    BOOST_TEST_REQUIRE(soon([&] { return !(now = owners()).empty(); }));
    BOOST_TEST(!soon([&] { return owners().size() > 1; }, 5ms));
    BOOST_TEST(now[0]->fence() > last);
    last = now[0]->fence();
    now[0]->unlock();
  }
  for (waiting const& each : parked_ones) BOOST_TEST(each.is(error_code()));
  for (auto const& each : queued_ones) BOOST_TEST((each.calls == 1 && !each.error));
  expect_nothing_left();
}

// --- Each notification wakes one ---

// Two waits of one client that end in some way, one of another client that does not, and a
// notification.
struct round {
  round(fixture& f, async_condition& p, way how)
      : w(f), patient(p), two(how, std::make_unique<async_condition>(f.m, "ready")) {}

  void sweep() {
    two.sweep([](lock_type& each) { each = {}; });
  }
  lock_type lock(async_mutex& which) {
    outcome<lock_type> o;
    which.async_lock(o.handler());
    BOOST_TEST_REQUIRE(w.soon([&] {
      sweep();
      return o.calls != 0;
    }));
    BOOST_TEST_REQUIRE(o.granted());
    return std::move(o.guard);
  }

  // A wait with a time may end before the third one begins.
  void wait(async_mutex& theirs, std::chrono::microseconds time) {
    for (int i = 0; i != 2; ++i) {
      two.guards[i] = lock(w.m);
      two.begin(
          i, time, [&](lock_type& l, auto token) { two.on->async_wait(l, std::move(token)); },
          [&](lock_type& l, auto t, auto token) {
            two.on->async_wait_for(l, t, std::move(token));
          });
    }
    third.lock = lock(theirs);
    patient.async_wait(third.lock, third.handler());
    if (two.how != way::time) BOOST_TEST_REQUIRE(w.soon([&] { return w.parked() == 3; }));
  }

  void notify(bool mine) {
    if (mine && two.how != way::time)  // or the third may not be known to wait
      async_condition(w.m, "ready").notify_one();
    else
      patient.notify_one();
  }

  void expect_one_effect() {
    two.expect_one_effect(
        w, third, [&] { sweep(); }, [&] { patient.notify_one(); });
    third.lock = {};
    w.expect_nothing_left();
  }

  fixture& w;
  async_condition& patient;
  ending_waits<async_condition, lock_type> two;
  waiting third;
};

BOOST_AUTO_TEST_CASE(C3_C5_each_notification_wakes_exactly_one_wait) {
  client other_c(pool.get_executor(), unhurried(s));
  ending other_run;
  other_c.async_run(other_run.handler_on(io));
  {
    async_mutex theirs(io, other_c, "x");
    async_condition patient(theirs, "ready");
    int kept = 0;
    for (int i = 0; i != 8 * ways; ++i) {
      way const how = static_cast<way>(i % ways);
      bool const is_late = i / ways % 2, mine = i / ways / 2 % 2;
      BOOST_TEST_INFO_SCOPE("way " << i % ways << ", late " << is_late << ", mine " << mine);
      round r(*this, patient, how);
      r.wait(theirs, std::chrono::microseconds(1 + i * 97 % 3000));
      if (!is_late) r.two.end();
      r.notify(mine);
      if (is_late) {
        std::this_thread::sleep_for(std::chrono::microseconds(i * 41 % 400));
        r.two.end();
      }
      r.expect_one_effect();
      kept += r.two.notified;
    }
    BOOST_TEST_MESSAGE(kept << " of " << 8 * ways << " were kept");
  }
  other_c.stop();
  wait_for_end(other_run);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_condition_ends_test
