// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Processes that are killed and stopped while they hold or wait. The limits of time are ten times
// those of doc/redis.md, because the machine may be busy.

#include "redis/support/connection.hpp"
#include "redis/support/peer.hpp"
#include "redis/support/world.hpp"
#include "support/test.hpp"

#include <asio_sync/redis.hpp>

#include <csignal>

namespace redis_processes_test {

using namespace asio_sync::test::redis;
using asio_sync::redis::async_condition;
using asio_sync::redis::async_monitor;
using asio_sync::redis::inspection;
using entry = async_monitor::entry;

constexpr auto ttl = short_life;

// A server, a client in this process, and others.
struct fixture : world {
  peer other(std::chrono::milliseconds life = ttl) { return {s, "x", life}; }

  // Waits until so many wait for the mutex, and each has been named in a beat.
  void wait_for_waiters(std::size_t n) { wait_for("as:{x}:q", n); }

  // Waits until so many are parked on the conditions of the mutex.
  void wait_for_parked(std::size_t n) { wait_for("as:{x}:c", n); }

  void wait_for(std::string const& key, std::size_t n) {
    connection admin(s.socket());
    BOOST_TEST_REQUIRE(soon([&] {
      return admin({"ZCARD", key}).number == static_cast<std::int64_t>(n);
    }));
  }

  // Kills a process, and waits until the server has seen that it has gone.
  void kill(peer& p) {
    connection admin(s.socket());
    auto const clients = [&] {
      auto const list = admin({"CLIENT", "LIST"}).text;
      return std::count(list.begin(), list.end(), '\n');
    };
    auto const before = clients();
    p.kill();
    BOOST_TEST_REQUIRE(soon([&] { return clients() < before; }));
  }

  entry enter() {
    outcome<entry> o;
    page.async_enter(o.handler());
    BOOST_TEST_REQUIRE(soon([&] { return o.calls != 0; }));
    BOOST_TEST(o.granted());
    return std::move(o.guard);
  }

  async_mutex m{io, c, "x"};
  async_condition ready{m, "ready"};
  async_monitor page{io, c, "page"};
};

BOOST_FIXTURE_TEST_SUITE(processes_test, fixture)

BOOST_AUTO_TEST_CASE(a_killed_holder_is_followed_within_its_life) {
  peer holder = other();
  holder.lock();
  outcome<lock_type> next;
  m.async_lock(next.handler());
  wait_for_waiters(1);
  auto const begin = std::chrono::steady_clock::now();
  holder.kill();
  BOOST_TEST(soon([&] { return next.calls != 0; }));
  BOOST_TEST(next.granted());
  BOOST_TEST((std::chrono::steady_clock::now() - begin < ttl + 500ms));
}

BOOST_AUTO_TEST_CASE(a_killed_waiter_holds_nobody_up) {
  peer first = other();
  lock_type held = lock(m);
  first.say("lock");
  wait_for_waiters(1);
  outcome<lock_type> second;
  m.async_lock(second.handler());
  wait_for_waiters(2);
  kill(first);
  auto const begin = std::chrono::steady_clock::now();
  held.unlock();
  BOOST_TEST(soon([&] { return second.calls != 0; }));
  BOOST_TEST(second.granted());
  BOOST_TEST((std::chrono::steady_clock::now() - begin < ttl / 2));
}

BOOST_AUTO_TEST_CASE(a_waiter_that_is_frozen_for_half_its_life_is_passed_over_and_comes_back) {
  peer first = other();
  lock_type held = lock(m);
  first.say("lock");
  wait_for_waiters(1);
  outcome<lock_type> second;
  m.async_lock(second.handler());
  wait_for_waiters(2);
  first.send(SIGSTOP);
  std::this_thread::sleep_for(ttl * 3 / 4);
  auto const begin = std::chrono::steady_clock::now();
  held.unlock();
  BOOST_TEST(soon([&] { return second.calls != 0; }));
  BOOST_TEST((std::chrono::steady_clock::now() - begin < ttl / 2));
  first.send(SIGCONT);
  second.guard.unlock();
  first.expect("locked ");  // whether or not its session has survived
}

BOOST_AUTO_TEST_CASE(a_waiter_that_is_stopped_just_before_its_grant_is_granted_or_followed) {
  peer first = other();
  lock_type held = lock(m);
  first.say("lock");
  wait_for_waiters(1);
  outcome<lock_type> second;
  m.async_lock(second.handler());
  wait_for_waiters(2);
  first.send(SIGSTOP);
  auto const begin = std::chrono::steady_clock::now();
  held.unlock();
  BOOST_TEST(soon([&] { return second.calls != 0; }));  // the first has died with its session
  BOOST_TEST((std::chrono::steady_clock::now() - begin < ttl + 500ms));
  first.send(SIGCONT);
  BOOST_TEST(!first.answers(100ms));
  second.guard.unlock();
  first.expect("locked ");
  first.say("owns");
  BOOST_TEST(first.expect("owns ") == "1");
}

// It blocks the queue, because it has a place of its own again, until its session has ended.
BOOST_AUTO_TEST_CASE(a_killed_waiter_that_was_passed_over_before_is_followed_within_its_life) {
  peer first = other();
  lock_type held = lock(m);
  first.say("lock");
  wait_for_waiters(1);
  outcome<lock_type> second, third;
  m.async_lock(second.handler());
  wait_for_waiters(2);
  first.send(SIGSTOP);
  std::this_thread::sleep_for(ttl * 3 / 4);
  held.unlock();
  BOOST_TEST_REQUIRE(soon([&] { return second.calls != 0; }));
  m.async_lock(third.handler());
  first.send(SIGCONT);
  BOOST_TEST(!soon([&] { return third.calls != 0; }, ttl / 2));  // it has beaten meanwhile
  first.kill();
  auto const begin = std::chrono::steady_clock::now();
  second.guard.unlock();
  BOOST_TEST(soon([&] { return third.calls != 0; }));
  BOOST_TEST(third.granted());
  BOOST_TEST((std::chrono::steady_clock::now() - begin < ttl + 500ms));
}

BOOST_AUTO_TEST_CASE(a_server_that_is_stopped_for_a_life_serves_all_who_queue_one_at_a_time) {
  lock_type held = lock(m);
  std::list<peer> queued;
  for (std::size_t n = 1; n <= 3; ++n) {
    queued.push_back(other());
    queued.back().say("lock");
    wait_for_waiters(n);
  }
  ::kill(s.id(), SIGSTOP);
  BOOST_TEST(soon([&] { return !held.owns_lock(); }));
  std::this_thread::sleep_for(ttl / 2);
  ::kill(s.id(), SIGCONT);
  for (std::size_t turn = 1; turn <= 3; ++turn) {
    auto next = queued.end();
    BOOST_TEST_REQUIRE(soon([&] {
      next = std::find_if(queued.begin(), queued.end(), [](peer& p) { return p.answers(10ms); });
      return next != queued.end();
    }));
    next->expect("locked ");
    for (peer& each : queued) BOOST_TEST(!each.answers(20ms));
    next->say("unlock");
    next->expect("unlocked 0");
    queued.erase(next);
  }
}

BOOST_AUTO_TEST_CASE(a_holder_that_is_stopped_past_its_life_knows_when_it_wakes) {
  peer holder = other();
  holder.lock();
  holder.say("watch");
  outcome<lock_type> next;
  m.async_lock(next.handler());
  holder.send(SIGSTOP);
  BOOST_TEST(soon([&] { return next.calls != 0; }));
  BOOST_TEST(next.granted());
  holder.say("owns");
  holder.say("unlock");
  holder.send(SIGCONT);
  std::string const first = holder.expect(""), second = holder.expect("");
  std::vector<std::string> lines = {first, second, holder.expect("")};
  std::sort(lines.begin(), lines.end());
  BOOST_TEST(lines[0] == "lost 0");
  BOOST_TEST(lines[1] == "owns 0");
  BOOST_TEST(lines[2] == "unlocked " + std::to_string(lease_lost.value()));
  BOOST_TEST(next.guard.owns_lock());
}

BOOST_AUTO_TEST_CASE(
    a_program_that_shuts_down_is_followed_at_once_and_one_that_does_not_in_its_life) {
  for (bool const clean : {true, false}) {
    peer holder = other();
    holder.lock();
    outcome<lock_type> next;
    m.async_lock(next.handler());
    wait_for_waiters(1);
    auto const begin = std::chrono::steady_clock::now();
    holder.say(clean ? "shutdown" : "return");
    if (clean) BOOST_TEST(holder.expect("down ") == "0");
    BOOST_TEST(holder.join() == 0);
    BOOST_TEST(soon([&] { return next.calls != 0; }));
    auto const time = std::chrono::steady_clock::now() - begin;
    BOOST_TEST((time < (clean ? 300ms : ttl + 500ms)));
  }
}

// The turns of several processes, by their fences, do not overlap, whatever happens to the
// server's scripts and connections meanwhile.
BOOST_AUTO_TEST_CASE(the_turns_of_many_processes_do_not_overlap) {
  struct turn {
    std::uint64_t fence = 0;
    std::int64_t begin = 0, end = 0;
  };
  std::vector<peer> peers;
  for (int i = 0; i < 4; ++i) peers.push_back(other());
  for (peer& each : peers) each.say("loop 100");
  connection admin(s.socket());
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(20ms);
    admin({"SCRIPT", "FLUSH"});
    admin({"CLIENT", "KILL", "TYPE", "pubsub"});
  }
  std::vector<turn> turns;
  for (peer& each : peers) {
    for (std::string line; (line = each.expect("")) != "done";) {
      std::istringstream words(line);
      std::string word;
      turn t;
      words >> word >> t.fence >> t.begin >> t.end;
      BOOST_TEST(word == "turn");
      turns.push_back(t);
    }
  }
  BOOST_TEST(turns.size() == 400u);
  std::sort(turns.begin(), turns.end(),
            [](turn const& a, turn const& b) { return a.fence < b.fence; });
  for (std::size_t i = 1; i < turns.size(); ++i) {
    BOOST_TEST(turns[i].fence > turns[i - 1].fence);
    BOOST_TEST(turns[i].begin >= turns[i - 1].end);
  }
}

BOOST_AUTO_TEST_CASE(a_thousand_waits_on_one_object_are_served) {
  lock_type held = lock(m);
  std::vector<outcome<lock_type>> waits(1000);
  int granted = 0;
  for (auto& each : waits)
    m.async_lock([&granted, &each](error_code e, lock_type l) {
      ++each.calls;
      granted += !e && l;
    });
  BOOST_TEST(m.waiters() == 1000u);
  wait_for_waiters(1000);
  BOOST_TEST(!soon([&] { return granted != 0; }, ttl * 2));
  held.unlock();
  BOOST_TEST(soon([&] { return granted == 1000; }));
}

BOOST_AUTO_TEST_CASE(a_full_server_frees_what_is_given_back_and_opens_sessions) {
  connection admin(s.socket());
  lock_type held = lock(m);
  BOOST_TEST(admin({"CONFIG", "SET", "maxmemory", "1mb"}).text == "OK");
  outcome<lock_type> next;
  m.async_lock(next.handler());
  ending unlocked;
  held.async_unlock(unlocked.handler());
  BOOST_TEST(soon([&] { return unlocked.calls != 0; }));
  BOOST_TEST(unlocked.is(error_code()));
  peer later = other();
  later.say("lock");
  BOOST_TEST(!later.answers(100ms));
  admin({"CONFIG", "SET", "maxmemory", "0"});
  // Each asks again when its pause is over.
  BOOST_TEST(soon([&] { return next.calls != 0 || later.answers(0ms); }));
  if (next.calls == 0) {
    later.say("unlock");
    later.expect("unlocked ");
    BOOST_TEST(soon([&] { return next.calls != 0; }));
  } else {
    next.guard.unlock();
    later.expect("locked ");
  }
}

// --- Conditions ---

BOOST_AUTO_TEST_CASE(a_notification_does_not_go_to_a_process_that_is_killed_or_frozen) {
  for (bool const is_killed : {true, false}) {
    peer first = other();
    first.lock();
    first.say("wait");
    wait_for_parked(1);
    lock_type second = lock(m);
    ending waited, notified;
    ready.async_wait(second, waited.handler());
    wait_for_parked(2);
    lock_type held = lock(m);
    if (is_killed) {
      kill(first);
    } else {
      first.send(SIGSTOP);
      std::this_thread::sleep_for(ttl * 3 / 4);
    }
    ready.async_notify_one(notified.handler());
    BOOST_TEST_REQUIRE(soon([&] { return notified.calls != 0; }));
    inspection const seen = c.async_inspect("x", asio::use_future).get();
    BOOST_TEST_REQUIRE((seen.holders.size() == 1 && seen.waiters.size() == 1));
    BOOST_TEST(seen.waiters[0].session == seen.holders[0].session);
    held.unlock();
    BOOST_TEST_REQUIRE(soon([&] { return waited.calls != 0; }));
    BOOST_TEST(waited.is(error_code()));
    second.unlock();
    if (!is_killed) {
      first.send(SIGCONT);
      ready.notify_one();
      BOOST_TEST(first.expect("waited ") == "0");  // whether or not its session has survived
      first.say("unlock");
      BOOST_TEST(first.expect("unlocked ") == "0");
    }
    wait_for_parked(0);
  }
}

BOOST_AUTO_TEST_CASE(a_process_that_is_killed_when_it_was_notified_passes_it_on) {
  peer first = other();
  first.lock();
  first.say("wait");
  wait_for_parked(1);
  lock_type second = lock(m);
  ending waited;
  ready.async_wait(second, waited.handler());
  wait_for_parked(2);
  ready.notify_one();
  BOOST_TEST(first.expect("waited ") == "0");
  BOOST_TEST(waited.calls == 0);
  first.kill();
  BOOST_TEST_REQUIRE(soon([&] { return waited.calls != 0; }));
  BOOST_TEST(waited.is(error_code()));
}

// --- Monitors ---

BOOST_AUTO_TEST_CASE(what_a_killed_process_has_owned_is_taken_back) {
  connection admin(s.socket());
  for (bool const is_inside : {false, true}) {
    peer holder = other();
    holder.say("own");
    BOOST_TEST(holder.expect("owned ") == "1");
    entry e = enter();
    BOOST_TEST(e.number("n") == 1);
    ending waited;
    if (is_inside) {  // Its session ends, and is swept away.
      holder.kill();
      BOOST_TEST_REQUIRE(soon([&] { return admin({"SCARD", "as:all"}).number == 1; }));
      BOOST_TEST(admin({"HGET", "as:{page}:v", "n"}).text == "1");
      e.async_wait("left", waited.handler());
    } else {
      e.async_wait("left", waited.handler());
      wait_for("as:{page}:c", 1);
      holder.kill();
    }
    BOOST_TEST_REQUIRE(soon([&] { return waited.calls != 0; }));
    BOOST_TEST(waited.is(error_code()));
    BOOST_TEST(e.number("n") == 0);
  }
}

BOOST_AUTO_TEST_CASE(a_process_that_is_killed_inside_changes_nothing) {
  peer holder = other();
  holder.say("enter");
  BOOST_TEST(holder.expect("inside ") == "0");
  outcome<entry> next;
  page.async_enter(next.handler());
  wait_for("as:{page}:q", 1);
  holder.kill();
  BOOST_TEST_REQUIRE(soon([&] { return next.calls != 0; }));
  BOOST_TEST_REQUIRE(next.granted());
  BOOST_TEST(!next.guard.get("v").has_value());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_processes_test
