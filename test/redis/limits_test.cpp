// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Limits: the looks of a script, its time, the server's memory, the rights of an ACL.

#include "redis/support/fixture.hpp"
#include "support/test.hpp"

namespace redis_limits_test {

using namespace asio_sync::test::redis;

acquisition permits(std::int64_t weight, std::int64_t capacity) {
  return {.kind = "semaphore", .capacity = capacity, .weight = weight};
}

/// The callers, and a crowd of sessions of one client that nobody listens for.
struct measured : callers {
  measured() {
    crowd.link.send({"UNSUBSCRIBE", crowd.channel()});
    crowd.epoch = a.epoch;
  }

  /// Lets n sessions acquire the object once each.
  void enter(std::string const& object, int n, acquisition const& how) {
    for (int sent = 0; sent != n;) {
      int const batch = std::min(n - sent, 500);
      for (int i = 0; i != batch; ++i) {
        crowd.incarnation = ++sent;
        crowd.link.send({"SET", crowd.session(), "1|" + a.epoch + "|60000|", "PX", "60000"});
        crowd.link.send({"SADD", "as:all", crowd.sid()});
        crowd.link.send(crowd.acquiring(object, 1, how));
      }
      for (int i = 0; i != 3 * batch; ++i) BOOST_REQUIRE(!crowd.link.receive().is_error());
    }
  }

  void kill(int first, int last) {
    for (crowd.incarnation = first; crowd.incarnation <= last; ++crowd.incarnation) crowd.die();
  }

  std::int64_t size(std::string const& object, std::string const& part) {
    std::string const key = "as:{" + object + "}:" + part;
    return admin({part == "q" ? "ZCARD" : "HLEN", key}).number;
  }

  caller crowd{shared_server().socket(), 'd'};
};

double info(connection& link, std::string const& section, std::string const& name) {
  auto const text = link({"INFO", section}).text;
  return std::stod(text.substr(text.find(name + ":") + name.size() + 1));
}

double memory(connection& link) { return info(link, "memory", "used_memory"); }

double processor_seconds(connection& link) {
  return info(link, "cpu", "used_cpu_user") + info(link, "cpu", "used_cpu_sys");
}

/// Returns the microseconds of the processor that the server spends on each of some calls.
template <class Calls>
double cost(connection& link, int count, Calls const& calls) {
  double const before = processor_seconds(link);
  calls();
  return (processor_seconds(link) - before) * 1e6 / count;
}

BOOST_FIXTURE_TEST_SUITE(limits_test, measured)

BOOST_AUTO_TEST_CASE(ten_thousand_dead_at_the_head_are_cleared_away_in_short_scripts) {
  b.acquire("x", 1);
  enter("x", 10'000, {});
  BOOST_TEST(queued(c.acquire("x", 1)));
  kill(1, 10'000);
  b.release("x", 1);
  int const most = 10'000 / 256 + 1;
  int calls = 0;
  auto const each = cost(admin, most, [&] {
    auto answer = c.acquire("x", 1);
    for (auto before = size("x", "q"); queued(answer) && calls != most; ++calls) {
      BOOST_TEST(hint(answer) == 0);
      answer = c.beat({{"x", {1}}});
      auto const now = size("x", "q");
      BOOST_TEST(before - now <= 256);
      before = now;
    }
    BOOST_TEST(granted(answer));
  });
  BOOST_TEST_MESSAGE("clearing 256 dead waiters away: " << each << " us");
}

BOOST_AUTO_TEST_CASE(dead_holders_are_cleared_away_in_short_scripts) {
  enter("x", 2000, permits(1, 2000));
  kill(1, 2000);
  auto answer = b.acquire("x", 1, permits(2000, 2000));
  for (int calls = 0; queued(answer) && calls != 20; ++calls) {
    BOOST_TEST(hint(answer) == 0);
    auto const before = size("x", "h");
    answer = b.beat({{"x", {1}}});
    BOOST_TEST(before - size("x", "h") <= 128 + 64);  // it sweeps a session, too
  }
  BOOST_TEST(granted(answer));
}

BOOST_AUTO_TEST_CASE(all_holders_are_looked_at_in_turn) {
  enter("x", 1500, permits(1, 2000));
  b.acquire("x", 1, permits(500, 2000));
  BOOST_TEST(queued(c.acquire("x", 1, permits(30, 2000))));
  kill(1471, 1500);
  auto answer = c.beat({{"x", {1}}});
  for (int calls = 0; queued(answer) && calls != 6; ++calls) answer = c.beat({{"x", {1}}});
  BOOST_TEST(granted(answer));
}

BOOST_AUTO_TEST_CASE(holders_and_waiters_share_the_looks_of_a_script) {
  enter("x", 600, permits(1, 600));
  for (crowd.incarnation = 1; crowd.incarnation <= 600; ++crowd.incarnation)
    crowd.acquire("x", 2, permits(1, 600));
  BOOST_TEST(queued(b.acquire("x", 1, permits(600, 600))));
  kill(1, 600);
  std::int64_t most = 0;
  for (auto before = size("x", "h") + size("x", "q"); before != 1;) {
    b.beat({{"x", {1}}});
    auto const now = size("x", "h") + size("x", "q");
    BOOST_REQUIRE(now < before);
    most = std::max(most, before - now);
    before = now;
  }
  BOOST_TEST(most > 128);
  BOOST_TEST(most <= 256);
  BOOST_TEST(granted(b.acquire("x", 1, permits(600, 600))));
}

BOOST_AUTO_TEST_CASE(objects_behind_the_last_look_have_their_turn_in_the_next_beat) {
  std::vector<caller::group> groups;
  for (int i = 0; i != 30; ++i) {
    auto const object = "x" + std::to_string(i);
    enter(object, 100, permits(1, 100));  // a small hash is read as a whole
    BOOST_TEST(queued(c.acquire(object, i, permits(1, 100))));
    groups.push_back({object, {i}});
  }
  auto const answer = c.beat(groups);
  BOOST_REQUIRE(answer.elements.size() == 90);
  BOOST_TEST(answer.elements[2].number > 0);
  BOOST_TEST(answer.elements[87].number == 0);
  BOOST_TEST(answer.elements[89].number == 0);
  b.die();
  BOOST_TEST(c.beat({groups.back()}).elements[2].number > 0);
}

BOOST_AUTO_TEST_CASE(up_to_511_are_passed_over) {
  b.acquire("x", 1);
  enter("x", 511, {});
  BOOST_TEST(queued(c.acquire("x", 1)));
  b.release("x", 1);
  BOOST_TEST(c.link.pushes().size() == 1);
}

BOOST_AUTO_TEST_CASE(no_more_than_512_are_passed_over) {
  b.acquire("x", 1);
  enter("x", 513, {});
  BOOST_TEST(queued(c.acquire("x", 1)));
  auto const each = cost(admin, 1, [&] { b.release("x", 1); });
  BOOST_TEST_MESSAGE("passing over 512 waiters: " << each << " us");
  BOOST_TEST(c.link.pushes().empty());
  auto const answer = c.beat({{"x", {1}}});
  BOOST_TEST(queued(answer));
  BOOST_TEST(hint(answer) == -1);
}

BOOST_AUTO_TEST_CASE(objects_with_many_holders_do_not_starve_the_others) {
  for (std::string const name : {"x", "y"}) {
    enter(name, 512, permits(1, 512));  // a small hash is read as a whole
    c.acquire(name, name == "x" ? 1 : 2, permits(1, 512));
  }
  b.acquire("z", 1);
  c.acquire("z", 3);
  b.die();
  auto const answer = c.beat({{"x", {1}}, {"y", {2}}, {"z", {3}}});
  BOOST_REQUIRE(answer.elements.size() == 9);
  BOOST_TEST(answer.elements[2].number > 0);
  BOOST_TEST(answer.elements[5].number > 0);
  BOOST_TEST(answer.elements[8].number == 0);
  BOOST_TEST(granted(c.beat({{"z", {3}}})));
}

BOOST_AUTO_TEST_CASE(waiters_are_served_although_the_holders_take_all_looks) {
  std::vector<caller::group> const groups{{"x", {1}}, {"y", {2}}, {"z", {3}}};
  for (auto const& [name, counters] : groups) {
    enter(name, 400, permits(1, 401));
    b.acquire(name, counters[0], permits(1, 401));
    c.acquire(name, counters[0], permits(1, 401));
  }
  b.die();
  auto answer = c.beat(groups);
  for (int i = 0; i != 3 && answer.elements[6].number == 0; ++i) answer = c.beat(groups);
  for (std::size_t i = 0; i != 3; ++i) BOOST_TEST(answer.elements[3 * i].number == 1);
}

BOOST_AUTO_TEST_CASE(objects_of_a_beat_share_its_looks_evenly) {
  std::vector<caller::group> groups;
  for (int i = 0; i != 8; ++i) {
    auto const object = "x" + std::to_string(i);
    b.acquire(object, i);
    enter(object, 300, {});
    c.acquire(object, i);
    groups.push_back({object, {i}});
  }
  kill(1, 300);
  b.die();
  auto const answer = c.beat(groups);
  for (std::size_t i = 0; i != 8; ++i) {
    BOOST_TEST(answer.elements[3 * i].number == 0);
    BOOST_TEST(answer.elements[3 * i + 2].number == 0);
    BOOST_TEST(size("x" + std::to_string(i), "q") < 301 - 20);
    BOOST_TEST(size("x" + std::to_string(i), "q") > 200);
  }
}

BOOST_AUTO_TEST_CASE(hundred_thousand_waiters_need_less_than_60_megabytes) {
  b.acquire("x", 1);
  auto const before = memory(admin);
  for (int sent = 0; sent != 100'000;) {
    for (int i = 0; i != 1000; ++i) c.link.send(c.acquiring("x", sent++));
    for (int i = 0; i != 1000; ++i) BOOST_REQUIRE(!c.link.receive().is_error());
    c.beat();
  }
  auto const bytes = memory(admin) - before;
  BOOST_TEST_MESSAGE("100 000 waiters: " << bytes / 1'000'000 << " MB");
  BOOST_TEST(bytes < 60'000'000);
  auto const each = cost(admin, 1, [&] { b.release("x", 1); });
  BOOST_TEST_MESSAGE("hand-off with 100 000 waiters: " << each << " us");
  BOOST_TEST(c.link.pushes().size() == 1);
}

// Reports the server's time alone, as its own statistics have it, beside that of the usual lock of
// a single key, which has no queue and no fence.
BOOST_AUTO_TEST_CASE(uncontended_pair_takes_twelve_commands) {
  std::string const plain =
      admin({"SCRIPT", "LOAD",
             "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) "
             "else return 0 end"})
          .text;
  auto const measure = [&](auto const& pair) {
    admin({"CONFIG", "RESETSTAT"});
    for (int i = 0; i != 4000; ++i) {
      for (caller::command const& command : pair(i)) admin.send(command);
      if (i % 50 == 49)
        for (int answers = 0; answers != 100; ++answers) admin.receive();
    }
    auto const stats = admin({"INFO", "commandstats"}).text;
    double sum = 0;
    for (std::string const name : {"cmdstat_set:", "cmdstat_evalsha:"})
      if (auto const at = stats.find(name); at != stats.npos)
        sum += std::stod(stats.substr(stats.find("usec=", at) + 5));
    return sum / 4000;
  };
  std::vector<double> ratios;
  for (int round = 0; round != 7; ++round) {
    double const ours = measure([&](int i) {
      return std::vector{a.acquiring("x", i), a.compose("release", {"x", std::to_string(i)})};
    });
    double const theirs = measure([&](int i) {
      return std::vector<caller::command>{{"SET", "k", std::to_string(i), "NX", "PX", "10000"},
                                          {"EVALSHA", plain, "1", "k", std::to_string(i)}};
    });
    ratios.push_back(ours / theirs);
    BOOST_TEST_MESSAGE("uncontended pair: " << ours << " us, plain lock: " << theirs << " us");
  }
  std::sort(ratios.begin(), ratios.end());
  BOOST_TEST_MESSAGE("uncontended pair / plain lock: " << ratios[3]);

  admin({"CONFIG", "RESETSTAT"});
  a.acquire("x", 1);
  a.release("x", 1);
  auto const stats = admin({"INFO", "commandstats"}).text;
  int commands = -3;  // CONFIG and the two scripts
  for (auto at = stats.find("calls="); at != stats.npos; at = stats.find("calls=", at + 1))
    commands += std::stoi(stats.substr(at + 6));
  BOOST_TEST(commands == 12, stats);
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
  BOOST_TEST(granted(a.acquire("x", 1)));
  BOOST_TEST(queued(b.acquire("x", 1)));
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
  run_anew();
  BOOST_TEST(!b.open(old).is_error());
  admin({"CONFIG", "SET", "maxmemory", "0"});
}

// A session whose notifications were refused could not go on.
BOOST_AUTO_TEST_CASE(full_memory_refuses_no_notification) {
  BOOST_TEST(parked(a.cond_wait("x", 2, 1, number(a.acquire("x", 1)), "k")));
  BOOST_TEST(parked(b.cond_wait("x", 2, 1, number(b.acquire("x", 1)), "k")));
  c.acquire("x", 1);
  admin({"CONFIG", "SET", "maxmemory", "1"});
  BOOST_TEST(c.notify_one("x", "k").number == 1);
  BOOST_TEST(c.call("signal", {"x", "1", "k", "1"}).number == 0);  // sent again
  BOOST_TEST(c.notify_one("y", "k").number == 0);
  BOOST_TEST(queued(b.unwait("x", 2)));
  BOOST_TEST(c.release("x", 1).number == 1);
  BOOST_TEST(a.link.pushes().size() == 1);
  BOOST_TEST(a.release("x", 2, true).number == 1);
  BOOST_TEST(b.link.pushes().size() == 1);
  admin({"CONFIG", "SET", "maxmemory", "0"});
}

// All other cases run with the documented rights, too; see also rights_test.
BOOST_AUTO_TEST_CASE(documented_rights_allow_nothing_else) {
  for (caller::command const& command : {caller::command{"KEYS", "*"},
                                         {"FLUSHALL"},
                                         {"GET", "as:f"},
                                         {"HGETALL", "other"},
                                         {"PING"},
                                         {"PUBLISH", "other", "x"},
                                         {"SUBSCRIBE", "other"},
                                         {"CONFIG", "GET", "*"},
                                         {"SCRIPT", "FLUSH"}})
    BOOST_TEST(a.link(command).code() == "NOPERM", command[0]);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_limits_test
