// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Tests who is passed over, who is removed, and when to look again.

#include "redis/support/fixture.hpp"
#include "support/test.hpp"

namespace redis_queue_test {

using namespace asio_sync::test::redis;

acquisition permits(std::int64_t weight) {
  return {.kind = "semaphore", .capacity = 3, .weight = weight};
}

BOOST_FIXTURE_TEST_SUITE(queue_test, callers)

BOOST_AUTO_TEST_CASE(dead_holder_is_removed_by_the_next_acquire) {
  a.acquire("x", 1);
  a.die();
  BOOST_TEST(granted(b.acquire("x", 1)));
  BOOST_TEST(b.link.pushes().empty());
  BOOST_TEST(keys("as:o:" + a.sid()).empty());
}

BOOST_AUTO_TEST_CASE(dead_holder_is_removed_by_the_beat_that_its_hint_asked_for) {
  a.acquire("x", 1);
  admin({"PEXPIRE", a.session(), "100"});
  auto const waits = b.acquire("x", 1);
  BOOST_TEST(hint(waits) <= 100);
  BOOST_TEST(hint(waits) >= 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(hint(waits) + 1));
  BOOST_TEST(granted(b.beat({{"x", {1}}})));
}

BOOST_AUTO_TEST_CASE(hint_is_the_smallest_life_of_the_holders) {
  a.acquire("x", 1, permits(1));
  b.acquire("x", 1, permits(2));
  admin({"PEXPIRE", a.session(), "20000"});
  admin({"PEXPIRE", b.session(), "10000"});
  auto const waits = c.acquire("x", 1, permits(1));
  BOOST_TEST(hint(waits) <= 10000);
  BOOST_TEST(hint(waits) > 5000);
}

BOOST_AUTO_TEST_CASE(hint_says_when_the_waiter_that_blocks_can_be_dead) {
  a.acquire("x", 1, permits(1));
  b.acquire("x", 1, permits(3));
  admin({"PEXPIRE", b.session(), "40000"});
  auto const waits = c.acquire("x", 1, permits(1));
  BOOST_TEST(hint(waits) <= 40000);
  BOOST_TEST(hint(waits) > 35000);
  b.die();
  BOOST_TEST(granted(c.beat({{"x", {1}}})));
}

BOOST_AUTO_TEST_CASE(dead_waiter_is_removed) {
  a.acquire("x", 1);
  b.acquire("x", 1);
  c.acquire("x", 1);
  b.die();
  a.release("x", 1);
  BOOST_TEST(c.link.pushes().size() == 1);
  BOOST_TEST(admin({"HGET", "as:{x}:m", "n"}).text == "0");
  BOOST_TEST(keys("as:o:" + b.sid()).empty());
}

BOOST_AUTO_TEST_CASE(member_without_a_record_is_removed) {
  a.acquire("x", 1);
  c.acquire("x", 1);
  admin({"ZADD", "as:{x}:q", "1", b.token(5)});
  a.release("x", 1);
  BOOST_TEST(c.link.pushes().size() == 1);
  BOOST_TEST(admin({"EXISTS", "as:{x}:q"}).number == 0);
}

BOOST_AUTO_TEST_CASE(frozen_waiter_is_passed_over_until_its_next_beat_and_then_blocks) {
  a.acquire("x", 1);
  auto const ticket = number(b.acquire("x", 1));
  c.acquire("x", 1);
  b.freeze();
  a.release("x", 1);
  BOOST_TEST(granted(c.acquire("x", 1)));
  BOOST_TEST(admin({"HGET", "as:{x}:d", b.token(1)}).text == "1 " + std::to_string(ticket) + " S");
  BOOST_TEST(queued(b.beat({{"x", {1}}})));
  BOOST_TEST(admin({"HGET", "as:{x}:d", b.token(1)}).text == "1 " + std::to_string(ticket) + " B");
  a.acquire("x", 2);
  b.freeze();
  c.release("x", 1);
  BOOST_TEST(queued(a.acquire("x", 2)));
  BOOST_TEST(granted(b.acquire("x", 1)));
}

BOOST_AUTO_TEST_CASE(waiter_that_was_passed_over_and_dies_is_removed) {
  a.acquire("x", 1);
  b.acquire("x", 1);
  c.acquire("x", 1);
  b.freeze();
  a.release("x", 1);
  b.beat({{"x", {1}}});
  b.die();
  a.acquire("x", 2);
  c.release("x", 1);
  BOOST_TEST(granted(a.acquire("x", 2)));
}

BOOST_AUTO_TEST_CASE(waiter_whose_connection_is_closed_is_passed_over) {
  a.acquire("x", 1);
  b.acquire("x", 1);
  c.acquire("x", 1);
  b.link({"HELLO", "2"});  // RESP2 answers UNSUBSCRIBE, where RESP3 only pushes
  b.link({"RESET"});
  a.release("x", 1);
  BOOST_TEST(granted(c.acquire("x", 1)));
}

BOOST_AUTO_TEST_CASE(caller_itself_is_reached_although_it_missed_a_beat) {
  a.acquire("x", 1);
  b.acquire("x", 1);
  a.release("x", 1);
  c.acquire("x", 1);
  c.freeze();
  b.release("x", 1);
  BOOST_TEST(granted(c.acquire("x", 1)));
}

BOOST_AUTO_TEST_CASE(beat_that_does_not_name_the_waiter_keeps_it_passed_over) {
  a.acquire("x", 1, permits(3));
  b.acquire("x", 1, permits(3));
  c.acquire("x", 1, permits(1));
  b.freeze();
  a.release("x", 1);
  BOOST_TEST(c.link.pushes().size() == 1);
  b.beat();
  BOOST_TEST(admin({"HGET", "as:{x}:d", b.token(1)}).text.ends_with(" S"));
  b.beat({{"x", {1}}});
  BOOST_TEST(admin({"HGET", "as:{x}:d", b.token(1)}).text.ends_with(" B"));
}

BOOST_AUTO_TEST_CASE(nobody_is_marked_behind_the_last_grant) {
  a.acquire("x", 1);
  a.acquire("x", 2);
  c.acquire("x", 1);
  b.acquire("x", 1);
  c.release("x", 1);
  a.release("x", 1);
  b.freeze();
  a.release("x", 2);
  BOOST_TEST(granted(c.acquire("x", 1)));
  BOOST_TEST(admin({"HGET", "as:{x}:d", b.token(1)}).text.ends_with(" -"));
}

BOOST_AUTO_TEST_CASE(nobody_is_marked_behind_the_last_of_several_grants) {
  a.acquire("x", 1, permits(3));
  c.acquire("x", 1, permits(1));
  c.acquire("x", 2, permits(2));
  b.acquire("x", 1, permits(1));
  b.freeze();
  a.release("x", 1);
  BOOST_TEST(c.link.pushes().size() == 2);
  BOOST_TEST(admin({"HGET", "as:{x}:d", b.token(1)}).text.ends_with(" -"));
}

BOOST_AUTO_TEST_CASE(list_of_tokens_of_another_type_does_not_stop_the_others) {
  a.acquire("x", 1);
  a.acquire("y", 2);
  admin({"SET", "as:o:" + a.sid(), "of somebody"});
  BOOST_TEST(a.acquire("z", 3).code() == "WRONGTYPE");
  BOOST_TEST(a.release("y", 2).number == 1);
  a.die();
  BOOST_TEST(granted(b.acquire("x", 1)));
  BOOST_TEST(a.forget("x", 5).number == 0);
}

BOOST_AUTO_TEST_CASE(nobody_is_marked_while_nothing_is_free) {
  a.acquire("x", 1);
  b.acquire("x", 1);
  b.freeze();
  c.acquire("x", 1);
  BOOST_TEST(admin({"HGET", "as:{x}:d", b.token(1)}).text.ends_with(" -"));
}

BOOST_AUTO_TEST_CASE(monitor_that_hears_all_channels_makes_nobody_reachable) {
  connection monitor(shared_server().socket());
  monitor.send({"PSUBSCRIBE", "*"});
  a.acquire("x", 1);
  b.acquire("x", 1);
  c.acquire("x", 1);
  b.link({"RESET"});
  a.release("x", 1);
  BOOST_TEST(granted(c.acquire("x", 1)));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_queue_test
