// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// A case for each row of the tables of doc/redis-protocol.md that is about what tokens own of the
// variables of a monitor, and for the keys of monitors that are lost or not ours.

#include "redis/support/visitors.hpp"
#include "support/test.hpp"

namespace redis_owned_scripts_test {

using namespace asio_sync::test::redis;

BOOST_FIXTURE_TEST_SUITE(owned_scripts_test, visitors)

BOOST_AUTO_TEST_CASE(what_is_owned_is_taken_back_at_once_if_nobody_is_inside) {
  visit(a, {"s", "v", "10", "o", "v", "1", "3", "k", "o", "v", "2", "-1", "k", "o", "v", "3", "0",
            "none"});
  BOOST_TEST(variable("v") == "12");
  park(b, 1);
  park(b, 2);
  BOOST_TEST(a.release("x", 1).number == 1);
  BOOST_TEST(variable("v") == "9");
  BOOST_TEST(holds(b, 1));
  BOOST_TEST(waits(b, 2));
  leave(b, 1);
  leave(b, 2);
  BOOST_TEST(a.release("x", 2).number == 1);
  BOOST_TEST(variable("v") == "10");
  BOOST_TEST(a.forget("x", 3).number == 1);
  BOOST_TEST(a.release("x", 3).number == -1);
  BOOST_TEST(variable("v") == "10");
  BOOST_TEST(keys("as:{x}:*") == std::vector<std::string>{"as:{x}:v"});
  end_all();
}

BOOST_AUTO_TEST_CASE(what_is_owned_is_taken_back_when_the_last_one_inside_has_left) {
  enum class end { exit, release, cond_wait, forget, die, force };
  for (end const how :
       {end::exit, end::release, end::cond_wait, end::forget, end::die, end::force}) {
    visit(a, {"o", "v", "1", "1", "k"});
    park(c, 1);
    auto const fence = inside(b, 1);
    BOOST_TEST(queued(enter(c, 2)));
    BOOST_TEST(a.release("x", 1).number == 1);
    BOOST_TEST(variable("v") == "1");
    BOOST_TEST(is_parked(c, 1));
    BOOST_TEST(mark(a, "t1") == "");
    BOOST_TEST(keys("as:{x}:u").size() == 1u);
    bool const sets = how == end::exit || how == end::cond_wait;
    switch (how) {
      case end::exit: b.exit("x", 1, fence, {"s", "v", "8"}); break;
      case end::release: b.release("x", 1); break;
      case end::cond_wait:
        b.cond_wait("x", 2, 1, fence, "k", false, false, {"s", "v", "8"});
        BOOST_TEST(waits(b, 2));  // it has been notified
        break;
      case end::forget: b.forget("x", 1); break;
      case end::die:
        b.die();
        BOOST_TEST(holds(c, 2));
        break;
      case end::force: c.force("x", fence); break;
    }
    BOOST_TEST(variables(enter(c, 2)) == (sets ? "1:v1:7" : "1:v1:0"), int(how));
    BOOST_TEST(waits(c, 1), int(how));
    BOOST_TEST(keys("as:{x}:u").empty());
    start_again();
  }
}

BOOST_AUTO_TEST_CASE(what_is_owned_ends_with_its_session_or_by_force) {
  enum class end { sweep, acquire, beat, shutdown, next_session, force };
  for (end const how :
       {end::sweep, end::acquire, end::beat, end::shutdown, end::next_session, end::force}) {
    auto const fence = inside(a, 1);
    a.exit("x", 1, fence, {"o", "v", "2", "1", "k"});
    park(b, 1);
    BOOST_TEST(hint(state(b, 1)) > a.ttl / 2);
    if (how < end::shutdown) a.die();
    std::string const old = a.sid();
    switch (how) {
      case end::sweep: sweep(c); break;
      case end::acquire: BOOST_TEST(variables(enter(c, 1)) == "1:v1:0"); break;
      case end::beat: BOOST_TEST(holds(b, 1)); break;
      case end::shutdown: a.shutdown(); break;
      case end::next_session:
        a.incarnation = 2;
        a.open(old);
        a.incarnation = 1;
        break;
      case end::force:
        BOOST_TEST(c.force("x", fence).number == 1);
        BOOST_TEST(a.link.pushes().at(0) ==
                   "L " + a.token(2) + " " + std::to_string(fence) + " " + a.epoch);
        BOOST_TEST(a.release("x", 2).number == -1);
        break;
    }
    BOOST_TEST(variable("v") == "0", int(how));
    BOOST_TEST((how == end::acquire ? waits(b, 1) : holds(b, 1)), int(how));
    start_again();
  }
}

BOOST_AUTO_TEST_CASE(force_takes_all_that_one_entry_owns) {
  visit(b, {"o", "v", "2", "10", "k"});
  auto const fence = inside(a, 1);
  a.exit("x", 1, fence,
         {"o", "v", "2", "1", "k", "o", "v", "3", "2", "k", "o", "w", "4", "3", "j"});
  park(b, 1);
  BOOST_TEST(c.force("x", fence).number == 1);
  BOOST_TEST(a.link.pushes().size() == 3u);
  BOOST_TEST(c.force("x", fence).number == 0);
  BOOST_TEST(variable("v") == "10");
  BOOST_TEST(variable("w") == "0");
  BOOST_TEST(holds(b, 1));
  leave(b, 1);
  BOOST_TEST(b.release("x", 2).number == 1);
  end_all();
}

BOOST_AUTO_TEST_CASE(a_dead_session_that_owned_much_leaves_nothing) {
  caller::command owned;
  for (int i = 0; i < 500; ++i)
    owned.insert(owned.end(), {"o", "v" + std::to_string(i % 3), std::to_string(i), "1", "k"});
  visit(a, owned);
  park(b, 1);
  a.die();
  for (int i = 0; i < 20 && admin({"HLEN", "as:{x}:h"}).number > 1; ++i) sweep(c);
  leave(b, 1);
  for (std::string const name : {"v0", "v1", "v2"}) BOOST_TEST(variable(name) == "0");
  end_all();
}

BOOST_AUTO_TEST_CASE(names_of_what_is_owned_may_be_any_bytes) {
  std::string all(512, 'x');
  for (int i = 0; i < 256; ++i) all[std::size_t(i)] = static_cast<char>(i);
  for (std::string const& name : {all, std::string("\0", 1), std::string("1:n"),
                                  std::string("-1 k"), std::string(" n1"), std::string("9")}) {
    visit(a, {"o", name, "1", "-1", name});
    park(b, 1, name);
    BOOST_TEST(variable(name) == "-1");
    a.release("x", 1);
    BOOST_TEST(variable(name) == "0");
    BOOST_TEST(holds(b, 1));
    leave(b, 1);
  }
  end_all();
}

BOOST_AUTO_TEST_CASE(what_is_owned_keeps_the_object) {
  visit(a, {"o", "v", "2", "1", "k"});
  BOOST_TEST(b.acquire("x", 1).code() == "KIND");
  BOOST_TEST(admin({"HMGET", "as:{x}:m", "used", "n", "c", "o"}).elements.at(3).text == "1");
  inside(b, 1);
  auto const holders = c.inspect("x").elements.at(7).elements;
  BOOST_TEST_REQUIRE(holders.size() == 10u);
  std::size_t const owned = holders[0].text == a.sid() ? 0 : 5;
  BOOST_TEST(holders[owned].text == a.sid());
  BOOST_TEST(holders[owned + 3].number == 0);
  BOOST_TEST(holders[5 - owned + 3].number == 1);
  BOOST_TEST(c.inspect("x").elements.at(2).number == 1);
  leave(b, 1);
  a.release("x", 2);
  BOOST_TEST(granted(b.acquire("x", 2)));
  end_all();
}

// --- Data that is lost, or not ours ---

BOOST_AUTO_TEST_CASE(a_variable_that_cannot_be_taken_back_is_left_alone) {
  for (caller::command const& change : {caller::command{"HDEL", "as:{x}:v", "v"},
                                        {"HSET", "as:{x}:v", "v", "text"},
                                        {"HSET", "as:{x}:v", "v", "-9223372036854775808"},
                                        {"DEL", "as:{x}:v"}}) {
    visit(a, {"o", "v", "1", "1", "k"});
    park(b, 1);
    admin(change);
    auto const value = variable("v");
    BOOST_TEST(a.release("x", 1).number == 1);
    BOOST_TEST(variable("v") == value);
    BOOST_TEST(holds(b, 1));
    start_again();
  }
}

BOOST_AUTO_TEST_CASE(an_object_with_lost_keys_keeps_its_variables_alone) {
  std::map<std::string, std::string> const left{{"m", "0"}, {"h", "2"}, {"d", "0"},
                                                {"c", "0"}, {"u", "1"}, {"v", ""}};
  for (std::string const lost : {"m", "h", "d", "c", "u", "v"}) {
    visit(a, {"o", "v", "2", "1", "k", "o", "v", "3", "2", "k", "s", "w", "text"});
    park(c, 1);
    inside(b, 1);
    a.release("x", 2);
    admin({"DEL", "as:{x}:" + lost});
    bool const has_waits = lost == "u" || lost == "v", has_holders = lost != "m" && lost != "h";
    BOOST_TEST((has_waits ? is_parked(c, 1) : unknown(state(c, 1))), lost);
    BOOST_TEST(b.release("x", 1).number == (has_holders ? 1 : -1), lost);
    BOOST_TEST(a.release("x", 3).number == (has_holders ? 1 : -1), lost);
    BOOST_TEST(variable("v") == left.at(lost), lost);
    BOOST_TEST(variable("w") == (lost == "v" ? "" : "text"), lost);
    end_all();
    start_again();
  }
}

BOOST_AUTO_TEST_CASE(what_was_owned_in_an_earlier_epoch_is_taken_back) {
  visit(a, {"o", "v", "2", "1", "k", "o", "v", "3", "2", "k", "s", "w", "text"});
  inside(b, 1);
  a.release("x", 2);
  run_anew();
  for (caller* each : {&a, &b, &c}) {
    each->incarnation = 2;
    each->open();
  }
  BOOST_TEST((parsed(variables(enter(c, 1))) == parsed("1:v1:01:w4:text")));
  BOOST_TEST(keys("as:{x}:*").size() == 3u);
  for (int const incarnation : {1, 2}) {
    for (caller* each : {&a, &b, &c}) {
      each->incarnation = incarnation;
      each->shutdown();
    }
  }
  end_all();
}

BOOST_AUTO_TEST_CASE(a_key_of_another_type_is_not_touched) {
  for (std::string const key : {"as:{x}:v", "as:{x}:u"}) {
    admin({"SET", key, "of somebody"});
    BOOST_TEST(enter(a, 1).code() == "WRONGTYPE");
    BOOST_TEST(keys("as:o:*").empty());
    admin({"DEL", key});
    auto const fence = inside(a, 1);
    admin({"SET", key, "of somebody"});
    BOOST_TEST(a.exit("x", 1, fence, {"s", "v", "1"}).code() == "WRONGTYPE");
    BOOST_TEST(a.cond_wait("x", 2, 1, fence, "k").code() == "WRONGTYPE");
    BOOST_TEST(a.release("x", 1).code() == "WRONGTYPE");
    BOOST_TEST(a.forget("x", 1).code() == "WRONGTYPE");
    BOOST_TEST(enter(b, 1).code() == "WRONGTYPE");
    BOOST_TEST(b.unwait("x", 1).code() == "WRONGTYPE");
    BOOST_TEST(b.notify_all("x", "k").code() == "WRONGTYPE");
    BOOST_TEST(b.force("x", fence).code() == "WRONGTYPE");
    BOOST_TEST(b.inspect("x").code() == "WRONGTYPE");
    BOOST_TEST(unknown(state(a, 1)));
    BOOST_TEST(admin({"HLEN", "as:{x}:h"}).number == 1);
    admin({"DEL", "as:{x}:m"});  // as if data was lost
    BOOST_TEST(enter(b, 1).code() == "WRONGTYPE");
    BOOST_TEST(b.acquire("x", 1).code() == "WRONGTYPE");
    BOOST_TEST(admin({"GET", key}).text == "of somebody", key);
    BOOST_TEST(admin({"HLEN", "as:{x}:h"}).number == 1);
    start_again();
  }
}

BOOST_AUTO_TEST_CASE(full_memory_refuses_no_exit_and_takes_back_what_was_owned) {
  visit(a, {"o", "v", "2", "1", "k", "o", "v", "3", "2", "k", "o", "v", "4", "4", "k"});
  park(c, 1);
  auto const fence = inside(b, 1);
  admin({"CONFIG", "SET", "maxmemory", "1"});
  BOOST_TEST(a.release("x", 2).number == 1);
  BOOST_TEST(b.exit("x", 1, fence, {"s", "w", "1", "o", "w", "5", "1", "k"}).number == 1);
  BOOST_TEST(b.exit("x", 1, fence).number == 1);
  BOOST_TEST(variable("v") == "6");
  BOOST_TEST(variable("w") == "2");
  BOOST_TEST(holds(c, 1));
  BOOST_TEST(leave(c, 1).number == 1);
  BOOST_TEST(a.release("x", 3).number == 1);
  BOOST_TEST(variable("v") == "4");
  admin({"DEL", "as:{x}:m"});
  BOOST_TEST(a.release("x", 4).number == -1);
  BOOST_TEST(variable("v") == "0");
  BOOST_TEST(variable("w") == "1");
  admin({"CONFIG", "SET", "maxmemory", "0"});
  end_all();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_owned_scripts_test
