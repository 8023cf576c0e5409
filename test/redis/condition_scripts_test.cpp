// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// A case for each row of the tables of doc/redis-protocol.md that is about conditions.

#include "redis/support/fixture.hpp"
#include "support/test.hpp"

namespace redis_condition_scripts_test {

using namespace asio_sync::test::redis;

// Callers that park tokens on the conditions of the mutex x.
struct parkers : callers {
  // Acquires with a token, and has another one wait. Returns the answer.
  message park(caller& of, int counter, std::string const& condition = "k") {
    int const holder = 1000 + counter;
    auto const held = of.acquire("x", holder);
    BOOST_TEST_REQUIRE(granted(held));
    auto const answer = of.cond_wait("x", counter, holder, number(held), condition);
    BOOST_TEST_REQUIRE(parked(answer));
    return answer;
  }

  // Returns what the server tells of a token.
  message state(caller& of, int counter) {
    auto answer = of.beat({{"x", {counter}}});
    BOOST_TEST_REQUIRE(answer.elements.size() == 3u);
    return answer;
  }
  bool holds(caller& of, int counter) { return is_state(state(of, counter), 1); }
  bool waits(caller& of, int counter) { return is_state(state(of, counter), 0); }
  bool is_parked(caller& of, int counter) { return is_state(state(of, counter), 2); }

  std::string record(caller& of, int counter) {
    return admin({"HGET", "as:{x}:d", of.token(counter)}).text;
  }

  void end_all() {
    for (caller* each : {&a, &b, &c})
      while (each->shutdown().number == 1) continue;
    BOOST_TEST(keys("as:{*").empty());
    BOOST_TEST(keys("as:o:*").empty());
  }
};

BOOST_FIXTURE_TEST_SUITE(condition_scripts_test, parkers)

BOOST_AUTO_TEST_CASE(a_wait_gives_back_and_parks_in_one_step) {
  auto const held = a.acquire("x", 1);
  BOOST_TEST(queued(b.acquire("x", 1)));
  auto const answer = a.cond_wait("x", 2, 1, number(held), "k");
  BOOST_TEST(parked(answer));
  BOOST_TEST(hint(answer) == -1);
  BOOST_TEST(b.link.pushes().size() == 1u);
  BOOST_TEST(holds(b, 1));
  BOOST_TEST(admin({"HGET", "as:o:" + a.sid(), "t2"}).text == "x");
  BOOST_TEST(admin({"HEXISTS", "as:o:" + a.sid(), "t1"}).number == 0);
  BOOST_TEST(b.notify_one("x", "k").number == 1);
  BOOST_TEST(waits(a, 2));
  b.release("x", 1);
  BOOST_TEST(holds(a, 2));
  a.release("x", 2);
  end_all();
}

BOOST_AUTO_TEST_CASE(one_notification_wakes_the_oldest_and_all_wake_all_in_order) {
  park(b, 1);
  park(a, 1);
  park(c, 1);
  park(a, 2, "other");
  park(a, 3, "k other");  // k begins it
  BOOST_TEST(a.notify_one("x", "k").number == 1);
  BOOST_TEST(holds(b, 1));
  BOOST_TEST(is_parked(a, 1));
  BOOST_TEST(b.notify_all("x", "k").number == 2);
  BOOST_TEST(a.notify_all("x", "k").number == 0);
  BOOST_TEST(waits(a, 1));
  BOOST_TEST(number(state(a, 1)) < number(state(c, 1)));
  BOOST_TEST(is_parked(a, 2));
  BOOST_TEST(is_parked(a, 3));
  end_all();
}

BOOST_AUTO_TEST_CASE(a_notification_without_a_wait_is_not_remembered) {
  BOOST_TEST(a.notify_one("x", "k").number == 0);
  BOOST_TEST(a.notify_all("x", "k").number == 0);
  park(b, 1);
  BOOST_TEST(is_parked(b, 1));
  BOOST_TEST(keys("as:{x}:*").size() == 3u);
  end_all();
}

BOOST_AUTO_TEST_CASE(repeated_commands_change_nothing) {
  auto const held = a.acquire("x", 1);
  auto const first = a.cond_wait("x", 2, 1, number(held), "k");
  auto const again = a.cond_wait("x", 2, 1, number(held), "k");
  BOOST_TEST(parked(again));
  BOOST_TEST(number(again) == number(first));
  park(b, 1);
  BOOST_TEST(c.notify_one("x", "k").number == 1);
  --c.signals;
  BOOST_TEST(c.notify_one("x", "k").number == 0);
  BOOST_TEST(is_parked(b, 1));
  auto const granted_once = a.cond_wait("x", 2, 1, number(held), "k");
  BOOST_TEST(granted(granted_once));
  auto const unwaited = b.unwait("x", 1);
  BOOST_TEST(queued(unwaited));
  BOOST_TEST(number(b.unwait("x", 1)) == number(unwaited));
  BOOST_TEST(queued(b.acquire("x", 1)));
  a.release("x", 2);
  BOOST_TEST(granted(b.unwait("x", 1)));
  BOOST_TEST(unknown(a.unwait("x", 77)));
  end_all();
}

BOOST_AUTO_TEST_CASE(a_recalled_wait_is_queued_at_once) {
  auto const held = a.acquire("x", 1);
  BOOST_TEST(queued(b.acquire("x", 1)));
  BOOST_TEST(queued(a.cond_wait("x", 2, 1, number(held), "k", true)));
  BOOST_TEST(holds(b, 1));
  BOOST_TEST(b.notify_one("x", "k").number == 0);
  b.release("x", 1);
  BOOST_TEST(holds(a, 2));
  auto const alone = a.cond_wait("x", 3, 2, number(state(a, 2)), "k", true);
  BOOST_TEST(granted(alone));  // nobody else wants it
  end_all();
}

BOOST_AUTO_TEST_CASE(only_the_holder_with_this_fence_may_wait) {
  auto const held = a.acquire("x", 1);
  BOOST_TEST(a.cond_wait("x", 2, 1, number(held) + 1, "k").code() == "LOST");
  BOOST_TEST(b.cond_wait("x", 2, 1, number(held), "k").code() == "LOST");
  BOOST_TEST(a.cond_wait("y", 2, 1, number(held), "k").code() == "LOST");
  BOOST_TEST(holds(a, 1));
  BOOST_TEST(keys("as:o:" + b.sid()).empty());
  ++a.gen;
  BOOST_TEST(a.cond_wait("x", 2, 1, number(held), "k").code() == "STALE");
  BOOST_TEST(a.unwait("x", 2).code() == "STALE");
  --a.gen;
  std::string const epoch = a.epoch;
  a.epoch = "another";
  BOOST_TEST(a.cond_wait("x", 2, 1, number(held), "k").code() == "EPOCH");
  BOOST_TEST(a.unwait("x", 2).code() == "EPOCH");
  a.epoch = epoch;
  a.die();
  BOOST_TEST(a.cond_wait("x", 2, 1, number(held), "k").code() == "NOSESSION");
  BOOST_TEST(a.unwait("x", 2).code() == "NOSESSION");
  end_all();
}

// --- Which wait is notified ---

BOOST_AUTO_TEST_CASE(dead_waits_are_removed) {
  park(a, 1);
  park(b, 1);
  a.die();
  BOOST_TEST(c.notify_one("x", "k").number == 1);
  BOOST_TEST(holds(b, 1));
  BOOST_TEST(keys("as:o:" + a.sid()).empty());
  end_all();
}

BOOST_AUTO_TEST_CASE(waits_that_cannot_be_reached_are_passed_over_until_their_next_beat) {
  park(a, 1);
  park(b, 1);
  park(c, 1);
  a.freeze();
  b.freeze();
  BOOST_TEST(c.notify_one("x", "k").number == 1);
  BOOST_TEST(holds(c, 1));
  BOOST_TEST(record(a, 1).find(" S ck") != std::string::npos);
  BOOST_TEST(record(b, 1).find(" S ck") != std::string::npos);
  BOOST_TEST(is_parked(b, 1));
  BOOST_TEST(record(b, 1).find(" B ck") != std::string::npos);
  BOOST_TEST(c.notify_one("x", "k").number == 1);
  BOOST_TEST(waits(b, 1));  // it counts as reachable
  BOOST_TEST(c.notify_one("x", "k").number == 1);
  BOOST_TEST(waits(a, 1));  // the only one that is left
  end_all();
}

BOOST_AUTO_TEST_CASE(the_end_of_a_token_passes_its_notification_on) {
  enum class end { forget, die, force, pass, release, next_wait };
  for (end const how :
       {end::forget, end::die, end::force, end::pass, end::release, end::next_wait}) {
    callers::admin({"FLUSHALL"});
    a.open();
    b.open();
    c.open();
    park(a, 1);
    park(b, 1);
    c.notify_one("x", "k");
    auto const held = state(a, 1);
    BOOST_TEST_REQUIRE(granted(held));
    switch (how) {
      case end::forget: a.forget("x", 1); break;
      case end::die:
        a.die();
        for (int i = 0; i < 20; ++i) c.beat();  // sweeps
        break;
      case end::force: c.force("x", number(held)); break;
      case end::pass: a.release("x", 1, true); break;
      case end::release: a.release("x", 1); break;
      case end::next_wait: a.cond_wait("x", 2, 1, number(held), "k"); break;
    }
    bool const is_used_up = how == end::release || how == end::next_wait;
    BOOST_TEST(holds(b, 1) != is_used_up, static_cast<int>(how));
    BOOST_TEST(is_parked(b, 1) == is_used_up, static_cast<int>(how));
    end_all();
  }
}

BOOST_AUTO_TEST_CASE(a_queued_token_passes_its_notification_on) {
  for (bool const dies : {false, true}) {
    callers::admin({"FLUSHALL"});
    a.open();
    b.open();
    c.open();
    park(a, 1);
    park(b, 1);
    c.acquire("x", 1);
    c.notify_one("x", "k");
    BOOST_TEST(waits(a, 1));
    dies ? a.die() : static_cast<void>(a.forget("x", 1));
    if (dies) c.release("x", 1);
    BOOST_TEST((dies ? holds(b, 1) : waits(b, 1)));
    end_all();
  }
}

BOOST_AUTO_TEST_CASE(a_notification_of_all_is_not_passed_on) {
  park(a, 1);
  park(b, 1);
  auto const held = c.acquire("x", 1);
  c.notify_all("x", "k");
  c.cond_wait("x", 2, 1, number(held), "k");
  BOOST_TEST(holds(a, 1));
  a.forget("x", 1);
  BOOST_TEST(holds(b, 1));
  BOOST_TEST(is_parked(c, 2));
  end_all();
}

BOOST_AUTO_TEST_CASE(an_unwaited_token_carries_no_notification) {
  park(a, 1);
  park(b, 1);
  BOOST_TEST(granted(a.unwait("x", 1)));
  a.forget("x", 1);
  BOOST_TEST(is_parked(b, 1));
  end_all();
}

// --- Giving up ---

BOOST_AUTO_TEST_CASE(two_tokens_are_forgotten_at_once) {
  auto const held = a.acquire("x", 1);
  BOOST_TEST(a.forget("x", 2, 1).number == 1);
  BOOST_TEST(keys("as:{x}:*").empty());
  auto const again = a.acquire("x", 3);
  BOOST_TEST(number(again) > number(held));
  BOOST_TEST(parked(a.cond_wait("x", 4, 3, number(again), "k")));
  BOOST_TEST(a.forget("x", 4, 3).number == 1);
  BOOST_TEST(a.forget("x", 4, 3).number == 0);
  end_all();
}

BOOST_AUTO_TEST_CASE(a_hold_that_a_forgotten_wait_was_to_give_back_passes_on_if_it_had_to) {
  for (bool const passes_on : {false, true}) {
    park(a, 1);
    park(b, 1);
    c.notify_one("x", "k");
    BOOST_TEST(holds(a, 1));
    BOOST_TEST(a.forget("x", 2, 1, passes_on).number == 1);
    BOOST_TEST(holds(b, 1) == passes_on);
    BOOST_TEST(is_parked(b, 1) != passes_on);
    b.forget("x", 1);
  }
  end_all();
}

BOOST_AUTO_TEST_CASE(a_dead_session_leaves_no_parked_token) {
  for (int i = 0; i < 100; ++i) park(a, i);
  std::string const old = a.sid();
  a.incarnation = 2;
  a.open(old);
  for (int i = 0; i < 20; ++i) b.beat();
  BOOST_TEST(keys("as:{x}:*").empty());
  end_all();
}

BOOST_AUTO_TEST_CASE(a_lost_key_costs_the_waits_but_nothing_else) {
  for (std::string const key : {"m", "q", "c", "d"}) {
    park(a, 1);
    b.acquire("x", 1);
    c.acquire("x", 1);
    admin({"DEL", "as:{x}:" + key});
    BOOST_TEST(unknown(a.unwait("x", 1)), key);
    if (key != "m") {  // the holder keeps what it has
      BOOST_TEST(queued(a.acquire("x", 1)), key);
      b.release("x", 1);
    }
    BOOST_TEST(granted(a.acquire("x", 1)), key);
    a.release("x", 1);
    BOOST_TEST(keys("as:{x}:*").empty(), key);
  }
  end_all();
}

BOOST_AUTO_TEST_CASE(a_lock_that_is_granted_beside_lost_keys_is_kept) {
  park(a, 1);
  admin({"DEL", "as:{x}:m", "as:{x}:d"});
  BOOST_TEST(granted(b.acquire("x", 1)));
  BOOST_TEST(queued(c.acquire("x", 1)));
  BOOST_TEST(holds(b, 1));
  end_all();
}

BOOST_AUTO_TEST_CASE(a_wait_keeps_the_object_and_its_kind) {
  park(a, 1);
  BOOST_TEST(b.acquire("x", 1, {.kind = "semaphore"}).code() == "KIND");
  BOOST_TEST(granted(b.acquire("x", 1)));
  b.release("x", 1);
  BOOST_TEST(is_parked(a, 1));
  BOOST_TEST(b.inspect("x").elements.at(0).text == "mutex");
  end_all();
}

// --- Limits ---

BOOST_AUTO_TEST_CASE(a_condition_may_be_any_bytes) {
  std::string all(512, 'x');
  for (int i = 0; i < 256; ++i) all[std::size_t(i)] = static_cast<char>(i);
  int counter = 0;
  for (std::string const& name :
       {all, std::string("\0", 1), std::string(" c n|:"), std::string("S c"), std::string("%1\n"),
        std::string("9999999999999999")}) {
    park(a, ++counter, name);
    BOOST_TEST(b.notify_one("x", name).number == 1);
    BOOST_TEST(holds(a, counter));
    a.release("x", counter);
  }
  end_all();
}

BOOST_AUTO_TEST_CASE(full_memory_refuses_no_wait) {
  auto const held = a.acquire("x", 1);
  admin({"CONFIG", "SET", "maxmemory", "1"});
  BOOST_TEST(parked(a.cond_wait("x", 2, 1, number(held), "k")));
  BOOST_TEST(b.notify_one("x", "k").number == 1);
  BOOST_TEST(holds(a, 2));
  admin({"CONFIG", "SET", "maxmemory", "0"});
  end_all();
}

BOOST_AUTO_TEST_CASE(thousands_of_waits_are_notified_by_one_script) {
  for (int i = 0; i < 5000; ++i) park(a, i);
  BOOST_TEST(b.notify_all("x", "k").number == 5000);
  BOOST_TEST(admin({"ZCARD", "as:{x}:q"}).number == 4999);
  BOOST_TEST(keys("as:{x}:c").empty());
  BOOST_TEST(holds(a, 0));
  end_all();
}

BOOST_AUTO_TEST_CASE(dead_waits_in_front_do_not_hold_a_notification_up) {
  for (int i = 0; i < 3000; ++i) park(a, i);
  park(b, 1);
  a.die();
  BOOST_TEST(c.notify_one("x", "k").number == 1);
  for (int i = 0; i < 30 && !holds(b, 1); ++i) {
    b.beat({{"x", {1}}});
    c.beat();
  }
  BOOST_TEST(holds(b, 1));
  end_all();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_condition_scripts_test
