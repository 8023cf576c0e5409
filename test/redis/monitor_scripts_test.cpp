// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// A case for each row of the tables of doc/redis-protocol.md that is about monitors.

#include "redis/support/visitors.hpp"
#include "support/test.hpp"

namespace redis_monitor_scripts_test {

using namespace asio_sync::test::redis;

BOOST_FIXTURE_TEST_SUITE(monitor_scripts_test, visitors)

// --- Variables ---

BOOST_AUTO_TEST_CASE(an_answer_has_the_variables_if_the_token_holds) {
  auto const first = enter(a, 1);
  BOOST_TEST(variables(first) == "");
  BOOST_TEST(enter(b, 1).elements.size() == 3u);
  BOOST_TEST(a.exit("x", 1, number(first), {"s", "n", "12"}).number == 1);
  std::string const push = "G " + b.token(1) + " " + std::to_string(number(enter(b, 1)));
  BOOST_TEST(b.link.pushes() == std::vector<std::string>{push + " " + b.epoch + " 1:n2:12"});
  BOOST_TEST(variables(enter(b, 1)) == "1:n2:12");
  BOOST_TEST(state(b, 1).elements.size() == 3u);
  auto const fence = number(state(b, 1));
  BOOST_TEST(b.cond_wait("x", 2, 1, fence, "k").elements.size() == 3u);
  auto const own_again = b.unwait("x", 2);
  BOOST_TEST_REQUIRE(granted(own_again));
  BOOST_TEST(variables(own_again) == "1:n2:12");
  auto const recalled = b.cond_wait("x", 3, 2, number(own_again), "k", true);
  BOOST_TEST_REQUIRE(granted(recalled));
  BOOST_TEST(variables(recalled) == "1:n2:12");
  BOOST_TEST(unknown(c.acquire("x", 1, {.kind = "monitor", .attempt = true})));
  leave(b, 3);
  end_all();
  BOOST_TEST(keys("as:{x}:*") == std::vector<std::string>{"as:{x}:v"});
}

BOOST_AUTO_TEST_CASE(a_mutex_has_no_variables) {
  visit(a, {"s", "n", "1"});
  BOOST_TEST(a.acquire("x", 1).elements.size() == 3u);
  BOOST_TEST(b.acquire("x", 1).elements.size() == 3u);
  a.cond_wait("x", 2, 1, number(state(a, 1)), "k");
  BOOST_TEST(b.link.pushes().at(0).ends_with(b.epoch));
  b.release("x", 1);
  BOOST_TEST(a.unwait("x", 2).elements.size() == 3u);
  end_all();
}

BOOST_AUTO_TEST_CASE(variables_may_be_any_bytes_and_many) {
  std::string all(512, 'x');
  for (int i = 0; i < 256; ++i) all[std::size_t(i)] = static_cast<char>(i);
  std::map<std::string, std::string> expected{
      {all, ""}, {std::string("\0", 1), all}, {"1:n", "2:"}, {" o", "\r\n"}, {"%1", "%"}};
  for (int i = 0; i < 2000; ++i) expected[std::to_string(i)] = std::to_string(i * i);
  caller::command set;
  for (auto const& [name, value] : expected) set.insert(set.end(), {"s", name, value});
  BOOST_TEST(visit(a, set).number == 1);
  BOOST_TEST((parsed(variables(enter(b, 1))) == expected));
  end_all();
}

// --- Exit ---

BOOST_AUTO_TEST_CASE(an_exit_does_all_in_one_step) {
  park(b, 1);
  park(b, 2);
  park(c, 1, "all");
  park(c, 2, "all");
  inside(a, 1);
  BOOST_TEST(queued(enter(c, 3)));
  BOOST_TEST(leave(a, 1, {"n", "k", "1", "s", "v", "5", "o", "v", "2", "-7", "k", "n", "all", "0"})
                 .number == 1);
  BOOST_TEST(c.link.pushes().size() == 1u);
  BOOST_TEST(variable("v") == "-2");
  BOOST_TEST(mark(a, "t2") == "x");
  BOOST_TEST(mark(a, "t1") == "");
  BOOST_TEST(holds(a, 2));
  BOOST_TEST(variables(enter(c, 3)) == "1:v2:-2");
  BOOST_TEST(waits(b, 1));
  BOOST_TEST(is_parked(b, 2));
  BOOST_TEST(waits(c, 1));
  BOOST_TEST(waits(c, 2));
  end_all();
}

BOOST_AUTO_TEST_CASE(an_exit_uses_a_notification_up_or_passes_it_on) {
  for (bool const passes_on : {false, true}) {
    park(a, 1);
    park(b, 1);
    c.notify_one("x", "k");
    BOOST_TEST(a.exit("x", 1, number(state(a, 1)), {}, passes_on).number == 1);
    BOOST_TEST(holds(b, 1) == passes_on);
    BOOST_TEST(is_parked(b, 1) == !passes_on);
    start_again();
  }
}

BOOST_AUTO_TEST_CASE(a_repeated_exit_changes_nothing) {
  for (int i = 1; i < 4; ++i) park(b, i);
  caller::command const asked{"o", "v", "2", "1", "k", "n", "k", "1"};
  auto const fence = inside(a, 1);
  BOOST_TEST(a.exit("x", 1, fence, asked).number == 1);
  BOOST_TEST(mark(a, "e") == " 1");
  for (int i = 3; i < 400; ++i) {  // 64 at least are remembered
    if (i < 66) BOOST_TEST(a.exit("x", 1, fence, asked).number == 1);
    if (i == 3) leave(b, 1);
    a.exit("y", i, number(a.acquire("y", i, {.kind = "monitor"})));
  }
  BOOST_TEST(a.exit("x", 1, fence, asked).code() == "LOST");
  BOOST_TEST(variable("v") == "1");
  BOOST_TEST(is_parked(b, 2));
  BOOST_TEST(a.release("x", 2).number == 1);
  BOOST_TEST(a.exit("y", 336, 1, asked).number == 1);
  BOOST_TEST(a.exit("y", 33, 1, asked).code() == "LOST");
  BOOST_TEST(admin({"HLEN", "as:o:" + a.sid()}).number == 1);
  BOOST_TEST(variable("v") == "0");
  end_all();
}

BOOST_AUTO_TEST_CASE(only_the_holder_with_this_fence_may_exit) {
  auto const fence = inside(a, 1);
  BOOST_TEST(a.exit("x", 1, fence + 1, {"s", "v", "1"}).code() == "LOST");
  BOOST_TEST(a.exit("x", 2, fence, {"s", "v", "1"}).code() == "LOST");
  BOOST_TEST(b.exit("x", 1, fence, {"s", "v", "1"}).code() == "LOST");
  BOOST_TEST(a.exit("y", 1, fence, {"s", "v", "1"}).code() == "LOST");
  ++a.gen;
  BOOST_TEST(a.exit("x", 1, fence, {"s", "v", "1"}).code() == "STALE");
  --a.gen;
  std::string const epoch = a.epoch;
  a.epoch = "another";
  BOOST_TEST(a.exit("x", 1, fence, {"s", "v", "1"}).code() == "EPOCH");
  a.epoch = epoch;
  BOOST_TEST(holds(a, 1));
  BOOST_TEST(keys("as:o:" + b.sid()).empty());
  c.force("x", fence);
  BOOST_TEST(a.exit("x", 1, fence, {"s", "v", "1"}).code() == "LOST");
  auto const later = inside(a, 3);
  a.die();
  BOOST_TEST(a.exit("x", 3, later, {"s", "v", "1"}).code() == "NOSESSION");
  BOOST_TEST(keys("as:{*}:v").empty());
  end_all();
}

BOOST_AUTO_TEST_CASE(operations_that_are_wrong_change_nothing) {
  std::string const most = "9007199254740991", beyond = "9007199254740992";
  visit(a, {"s",      "text", "1a",    "s", "most", most,      "s",
            "beyond", beyond, "s",     "-", "-",    "s",       "e",
            "1e3",    "s",    "empty", "",  "s",    "rounded", "9007199254740993"});
  park(b, 1);
  auto const fence = inside(a, 1);
  for (caller::command const& wrong : {caller::command{"o", "text", "2", "1", "k"},
                                       {"o", "most", "2", "1", "k"},
                                       {"o", "beyond", "2", "0", "k"},
                                       {"o", "beyond", "2", "-1", "k"},
                                       {"o", "-", "2", "1", "k"},
                                       {"o", "e", "2", "1", "k"},
                                       {"o", "empty", "2", "1", "k"},
                                       {"o", "new", "2", beyond, "k"},
                                       {"o", "rounded", "2", "-2", "k"},
                                       {"o", "new", "2", "one", "k"},
                                       {"x", "k", "1"}}) {
    caller::command all{"s", "w", "1", "n", "k", "0", "o", "v", "3", "1", "k"};
    all.insert(all.end(), wrong.begin(), wrong.end());
    std::string const code = wrong[0] == "o" ? "NUMBER" : "OPERATION";
    BOOST_TEST(a.exit("x", 1, fence, all).code() == code, wrong[1]);
    BOOST_TEST(a.cond_wait("x", 4, 1, fence, "k", false, false, all).code() == code, wrong[1]);
  }
  BOOST_TEST(admin({"HLEN", "as:{x}:v"}).number == 7);
  BOOST_TEST(admin({"HKEYS", "as:o:" + a.sid()}).elements.size() == 2u);  // t1 and a mark
  BOOST_TEST(holds(a, 1));
  BOOST_TEST(is_parked(b, 1));
  BOOST_TEST(
      leave(a, 1, {"o", "most", "2", "-1", "k", "o", "-most", "3", "-" + most, "k"}).number);
  a.release("x", 2);
  BOOST_TEST(variable("most") == most);
  leave(b, 1);
  a.release("x", 3);
  BOOST_TEST(variable("-most") == "0");
  end_all();
}

// --- Waits with operations ---

BOOST_AUTO_TEST_CASE(a_wait_does_its_operations_before_it_parks) {
  park(b, 1);
  auto const fence = inside(a, 1);
  caller::command const asked{"s", "v", "5", "o", "v", "3", "1", "k", "n", "k", "0"};
  BOOST_TEST(granted(b.acquire("y", 9)));
  auto const first = a.cond_wait("x", 2, 1, fence, "k", false, false, asked);
  BOOST_TEST(parked(first));  // its own notification came before
  BOOST_TEST(variable("v") == "6");
  BOOST_TEST(holds(b, 1));
  BOOST_TEST(hint(state(a, 2)) >= 0);
  auto const again = a.cond_wait("x", 2, 1, fence, "k", false, false, asked);
  BOOST_TEST(parked(again));
  BOOST_TEST(number(again) == number(first));
  BOOST_TEST(variable("v") == "6");
  leave(b, 1, {"n", "k", "1"});
  BOOST_TEST(variables(a.cond_wait("x", 2, 1, fence, "k", false, false, asked)) == "1:v1:6");
  leave(a, 2);
  BOOST_TEST(a.cond_wait("x", 2, 1, fence, "k", false, false, asked).code() == "LOST");
  end_all();
}

BOOST_AUTO_TEST_CASE(a_recalled_wait_does_its_operations) {
  auto const fence = inside(a, 1);
  auto const answer = a.cond_wait("x", 2, 1, fence, "k", true, false, {"s", "v", "5"});
  BOOST_TEST_REQUIRE(granted(answer));
  BOOST_TEST(variables(answer) == "1:v1:5");
  BOOST_TEST(a.exit("x", 1, fence).code() == "LOST");
  end_all();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_monitor_scripts_test
