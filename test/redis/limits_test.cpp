// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Limits: the looks of a script, its time, the server's memory, the rights of an ACL.

#include "redis/support/fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <iostream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace asio_sync::test::redis;

acquisition permits(std::int64_t weight, std::int64_t capacity) {
  return {.kind = "semaphore", .capacity = capacity, .weight = weight};
}

struct measured : callers {
  measured() { admin({"CONFIG", "SET", "slowlog-log-slower-than", "0"}); }
  ~measured() { admin({"CONFIG", "SET", "slowlog-log-slower-than", "-1"}); }

  /// Returns the microseconds that the server spent on the last script.
  std::int64_t microseconds() {
    for (message const& entry : admin({"SLOWLOG", "GET", "16"}).elements)
      if (entry.elements[3].elements[0].text == "EVALSHA") return entry.elements[2].number;
    return 0;
  }

  void quiet() { admin({"CONFIG", "SET", "slowlog-log-slower-than", "-1"}); }
  void listen() { admin({"CONFIG", "SET", "slowlog-log-slower-than", "0"}); }

  /// Lets n sessions acquire the object; they are never heard of again.
  void crowd(std::string const& object, int n, acquisition const& how) {
    quiet();
    for (int sent = 0; sent != n;) {
      int const batch = std::min(n - sent, 500);
      for (int i = 0; i != batch; ++i) {
        a.incarnation = 100 + sent++;
        a.link.send({"SET", a.session(), "1|" + a.epoch + "|60000|"});
        a.link.send({"SADD", "as:all", a.sid()});
        a.link.send(a.acquiring(object, 1, how));
      }
      for (int i = 0; i != 3 * batch; ++i) BOOST_REQUIRE(!a.link.receive().is_error());
    }
  }

  void kill_crowd(int n) {
    for (int i = 0; i != n; ++i) {
      a.incarnation = 100 + i;
      a.die();
    }
    listen();
  }
};

std::int64_t memory(connection& link) {
  auto const text = link({"INFO", "memory"}).text;
  auto const at = text.find("used_memory:");
  return std::stoll(text.substr(at + 12));
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(redis_limits, measured)

BOOST_AUTO_TEST_CASE(ten_thousand_dead_at_the_head_are_cleared_away_in_short_scripts) {
  b.acquire("x", 1);
  crowd("x", 10'000, {});
  BOOST_TEST(queued(c.acquire("x", 1)));
  kill_crowd(10'000);
  std::vector<std::int64_t> times;
  b.release("x", 1);
  times.push_back(microseconds());
  auto const left = [&] { return admin({"ZCARD", "as:{x}:q"}).number; };
  auto answer = c.acquire("x", 1);
  for (auto before = left(); queued(answer); before = left()) {
    BOOST_TEST(hint(answer) == 0);
    answer = c.beat({{"x", {1}}});
    times.push_back(microseconds());
    BOOST_TEST(before - left() <= 256);
  }
  BOOST_TEST(granted(answer));
  BOOST_TEST(times.size() <= 50);
  std::sort(times.begin(), times.end());
  BOOST_TEST_MESSAGE("clearing dead waiters away: median "
                     << times[times.size() / 2] << " us, most " << times.back() << " us");
  BOOST_TEST(times[times.size() / 2] < 50'000);  // ten times the bound
}

BOOST_AUTO_TEST_CASE(dead_holders_are_cleared_away_in_batches) {
  crowd("x", 2000, permits(1, 2000));
  kill_crowd(2000);
  auto answer = b.acquire("x", 1, permits(2000, 2000));
  for (int calls = 0; queued(answer) && calls != 40; ++calls) {
    BOOST_TEST(hint(answer) == 0);
    auto const before = admin({"HLEN", "as:{x}:h"}).number;
    answer = b.beat({{"x", {1}}});
    BOOST_TEST(before - admin({"HLEN", "as:{x}:h"}).number <= 256);
  }
  BOOST_TEST(granted(answer));
}

BOOST_AUTO_TEST_CASE(holders_that_live_are_looked_at_in_turn) {
  crowd("x", 1500, permits(1, 2000));
  b.acquire("x", 1, permits(500, 2000));
  BOOST_TEST(queued(c.acquire("x", 1, permits(1, 2000))));
  a.incarnation = 100 + 700;
  a.die();
  auto answer = c.beat({{"x", {1}}});
  for (int calls = 0; queued(answer) && calls != 8; ++calls) {
    BOOST_TEST(hint(answer) != 0);
    answer = c.beat({{"x", {1}}});
  }
  BOOST_TEST(granted(answer));
}

BOOST_AUTO_TEST_CASE(no_more_than_512_are_passed_over) {
  b.acquire("x", 1);
  crowd("x", 600, {});  // their value names a ttl, but the key has none: they count as frozen
  BOOST_TEST(queued(c.acquire("x", 1)));
  b.release("x", 1);
  BOOST_TEST(c.link.pushes().empty());
  auto const answer = c.beat({{"x", {1}}});
  BOOST_TEST(queued(answer));
  BOOST_TEST(hint(answer) == -1);
}

BOOST_AUTO_TEST_CASE(objects_of_a_beat_share_its_looks_evenly) {
  std::vector<caller::group> groups;
  for (int i = 0; i != 8; ++i) {
    auto const object = "x" + std::to_string(i);
    b.acquire(object, i);
    crowd(object, 300, {});
    c.acquire(object, i);
    groups.push_back({object, {i}});
  }
  kill_crowd(300);
  b.die();
  auto const answer = c.beat(groups);
  for (int i = 0; i != 8; ++i) {
    BOOST_TEST(answer.elements[std::size_t(3 * i)].number == 0);
    BOOST_TEST(answer.elements[std::size_t(3 * i + 2)].number == 0);
    auto const left = admin({"ZCARD", "as:{x" + std::to_string(i) + "}:q"}).number;
    BOOST_TEST(left < 301 - 20);
    BOOST_TEST(left > 1);
  }
}

BOOST_AUTO_TEST_CASE(hundred_thousand_waiters_need_less_than_60_megabytes) {
  b.acquire("x", 1);
  quiet();
  auto const before = memory(admin);
  for (int sent = 0; sent != 100'000;) {
    for (int i = 0; i != 1000; ++i) c.link.send(c.acquiring("x", sent++));
    for (int i = 0; i != 1000; ++i) BOOST_REQUIRE(!c.link.receive().is_error());
    c.beat();
  }
  auto const bytes = memory(admin) - before;
  BOOST_TEST_MESSAGE("100 000 waiters: " << bytes / 1'000'000 << " MB");
  BOOST_TEST(bytes < 60'000'000);
  listen();
  b.release("x", 1);
  BOOST_TEST_MESSAGE("hand-off with 100 000 waiters: " << microseconds() << " us");
  BOOST_TEST(c.link.pushes().size() == 1);
}

BOOST_AUTO_TEST_CASE(full_memory_refuses_acquire_alone) {
  a.acquire("x", 1);
  b.acquire("x", 1);
  b.acquire("y", 2);
  a.acquire("z", 3);
  c.acquire("x", 1);
  c.acquire("w", 2);
  admin({"CONFIG", "SET", "maxmemory", "1"});
  BOOST_TEST(a.acquire("u", 9).code() == "OOM");
  BOOST_TEST(a.acquire("y", 9).code() == "OOM");
  BOOST_TEST(keys("as:{u}:*").empty());
  BOOST_TEST(!a.beat({{"x", {1}}}).is_error());
  ++a.gen;
  BOOST_TEST(!a.resume().is_error());
  BOOST_TEST(a.release("x", 1).number == 1);
  BOOST_TEST(b.link.pushes().size() == 1);
  BOOST_TEST(b.forget("x", 1).number == 1);
  BOOST_TEST(c.link.pushes().size() == 1);
  BOOST_TEST(a.release("z", 3).number == 1);
  BOOST_TEST(c.shutdown().number == 0);
  c.incarnation = 2;
  BOOST_TEST(!c.open().is_error());
  auto const old = b.sid();
  b.incarnation = 2;
  b.run_id = "another";
  BOOST_TEST(!b.open(old).is_error());
  admin({"CONFIG", "SET", "maxmemory", "0"});
}

BOOST_AUTO_TEST_SUITE_END()
