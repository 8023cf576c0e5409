// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// A case for each row of the tables of doc/redis-protocol.md that is about monitors.

#include "redis/support/fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace {

using namespace asio_sync::test::redis;

// Callers that enter the monitor x.
struct visitors : callers {
  static acquisition monitor() { return {.kind = "monitor"}; }

  message enter(caller& of, int counter) { return of.acquire("x", counter, monitor()); }

  std::string variable(std::string const& name) { return admin({"HGET", "as:{x}:v", name}).text; }

  message state(caller& of, int counter) { return of.beat({{"x", {counter}}}); }

  // Ends all sessions, after which variables are left alone.
  void end_all() {
    for (caller* each : {&a, &b, &c})
      while (each->shutdown().number == 1) continue;
    BOOST_TEST(keys("as:{*}:[^v]").empty());
    BOOST_TEST(keys("as:o:*").empty());
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(monitor_scripts_test, visitors)

BOOST_AUTO_TEST_CASE(what_one_sets_the_next_one_sees) {
  auto const first = enter(a, 1);
  BOOST_TEST_REQUIRE(granted(first));
  BOOST_TEST(variables(first) == "");
  BOOST_TEST(queued(enter(b, 1)));
  BOOST_TEST(a.exit("x", 1, number(first), {"s", "n", "1", "s", "t", ""}).number == 1);
  auto const pushes = b.link.pushes();
  BOOST_TEST_REQUIRE(pushes.size() == 1u);
  std::string const push = pushes.front();
  BOOST_TEST((push.ends_with(" " + b.epoch + " 1:n1:11:t0:") ||
              push.ends_with(" " + b.epoch + " 1:t0:1:n1:1")),
             push);
  auto const again = enter(b, 1);
  BOOST_TEST(granted(again));
  BOOST_TEST(variables(again).size() == 11u);
  BOOST_TEST(b.exit("x", 1, number(again)).number == 1);
  end_all();
  BOOST_TEST(variable("n") == "1");
}

BOOST_AUTO_TEST_CASE(what_is_owned_is_taken_back_when_its_session_dies) {
  auto const first = enter(a, 1);
  a.exit("x", 1, number(first), {"o", "readers", "2", "1", "empty"});
  BOOST_TEST(variable("readers") == "1");
  auto const second = enter(b, 1);
  BOOST_TEST(variables(second) == "7:readers1:1");
  BOOST_TEST(parked(b.cond_wait("x", 2, 1, number(second), "empty")));
  auto const third = enter(c, 1);
  BOOST_TEST_REQUIRE(granted(third));
  a.die();
  BOOST_TEST(is_state(state(b, 2), 2));
  BOOST_TEST(variable("readers") == "1");  // c is inside
  c.exit("x", 1, number(third));
  BOOST_TEST(variable("readers") == "0");
  BOOST_TEST(granted(state(b, 2)));
  BOOST_TEST(b.exit("x", 2, number(state(b, 2))).number == 1);
  end_all();
}

BOOST_AUTO_TEST_SUITE_END()
