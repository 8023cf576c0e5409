// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// A case for each row of the tables of doc/redis-protocol.md that is about one object.

#include "redis/support/fixture.hpp"
#include "support/test.hpp"

namespace redis_scripts_test {

using namespace asio_sync::test::redis;

acquisition permits(std::int64_t weight, std::int64_t capacity = 3) {
  return {.kind = "semaphore", .capacity = capacity, .weight = weight};
}

BOOST_FIXTURE_TEST_SUITE(scripts_test, callers)

BOOST_AUTO_TEST_CASE(free_object_is_granted_and_leaves_no_key_when_it_is_given_back) {
  auto const before = keys("*").size();
  BOOST_TEST(granted(a.acquire("x", 1)));
  BOOST_TEST(keys("as:{x}:*").size() == 2);
  BOOST_TEST(a.link({"HGET", "as:o:" + a.sid(), "t1"}).text == "x");
  BOOST_TEST(a.release("x", 1).number == 1);
  BOOST_TEST(keys("*").size() == before);
}

BOOST_AUTO_TEST_CASE(later_grant_has_a_greater_fence_on_any_object) {
  auto const first = number(a.acquire("x", 1));
  BOOST_TEST(number(a.acquire("y", 2)) > first);
  a.release("x", 1);
  BOOST_TEST(number(a.acquire("x", 3)) > first + 1);
}

BOOST_AUTO_TEST_CASE(repeated_acquire_of_a_holder_answers_the_same_fence) {
  auto const first = a.acquire("x", 1);
  auto const again = a.acquire("x", 1);
  BOOST_TEST(granted(again));
  BOOST_TEST(number(again) == number(first));
  BOOST_TEST(a.link({"HGET", "as:{x}:m", "used"}).text == "1");
}

BOOST_AUTO_TEST_CASE(repeated_acquire_of_a_waiter_answers_the_same_ticket) {
  a.acquire("x", 1);
  auto const first = b.acquire("x", 1);
  BOOST_TEST(queued(first));
  auto const again = b.acquire("x", 1);
  BOOST_TEST(queued(again));
  BOOST_TEST(number(again) == number(first));
  BOOST_TEST(a.link({"HGET", "as:{x}:m", "n"}).text == "1");
}

BOOST_AUTO_TEST_CASE(waiter_is_granted_by_the_release_and_told_by_a_push) {
  a.acquire("x", 1);
  BOOST_TEST(queued(b.acquire("x", 7)));
  BOOST_TEST(a.release("x", 1).number == 1);
  auto const answer = b.acquire("x", 7);
  BOOST_TEST(granted(answer));
  auto const pushes = b.link.pushes();
  BOOST_REQUIRE(pushes.size() == 1);
  BOOST_TEST(pushes[0] ==
             "G " + b.token(7) + " " + std::to_string(number(answer)) + " " + b.epoch);
  BOOST_TEST(keys("as:{x}:*").size() == 2);
}

BOOST_AUTO_TEST_CASE(mutex_that_is_handed_over_leaves_nothing_of_the_releaser) {
  a.acquire("x", 1);
  b.acquire("x", 7);
  a.release("x", 1);
  BOOST_TEST(keys("as:o:" + a.sid()).empty());
  BOOST_TEST(a.link({"HKEYS", "as:{x}:h"}).elements.at(0).text == b.token(7));
  BOOST_TEST(a.link({"HGET", "as:o:" + b.sid(), "t7"}).text == "x");
  BOOST_TEST(b.release("x", 7).number == 1);
  BOOST_TEST(keys("as:{x}:*").empty());
}

BOOST_AUTO_TEST_CASE(dead_holder_of_a_mutex_is_followed_by_the_next_who_comes) {
  a.acquire("x", 1);
  BOOST_TEST(hint(b.acquire("x", 1)) > 0);
  admin({"DEL", "as:s:" + a.sid()});
  c.open();
  BOOST_TEST(queued(c.acquire("x", 1)));
  BOOST_TEST(granted(b.acquire("x", 1)));
}

BOOST_AUTO_TEST_CASE(beat_answers_what_it_has_granted) {
  a.acquire("x", 1);
  BOOST_TEST(queued(b.acquire("x", 7)));
  a.die();
  auto const answer = b.beat({{"x", {7}}});
  BOOST_TEST(granted(answer));
  BOOST_TEST(number(answer) == number(b.acquire("x", 7)));
}

BOOST_AUTO_TEST_CASE(waiters_are_granted_in_the_order_of_their_tickets) {
  a.acquire("x", 1);
  b.acquire("x", 1);
  c.acquire("x", 1);
  b.acquire("x", 2);
  a.release("x", 1);
  BOOST_TEST(granted(b.acquire("x", 1)));
  BOOST_TEST(queued(c.acquire("x", 1)));
  b.release("x", 1);
  BOOST_TEST(granted(c.acquire("x", 1)));
  c.release("x", 1);
  BOOST_TEST(granted(b.acquire("x", 2)));
}

BOOST_AUTO_TEST_CASE(ticket_that_is_given_takes_its_old_place) {
  a.acquire("x", 1);
  auto const first = number(b.acquire("x", 1));
  c.acquire("x", 1);
  b.die();
  ++b.incarnation;
  b.open();
  auto const again = b.acquire("x", 2, {.ticket = first});
  BOOST_TEST(queued(again));
  BOOST_TEST(number(again) == first);
  a.release("x", 1);
  BOOST_TEST(granted(b.acquire("x", 2)));
  BOOST_TEST(queued(c.acquire("x", 1)));
}

BOOST_AUTO_TEST_CASE(try_takes_a_free_object_and_does_not_wait_for_another) {
  auto const before = keys("*").size();
  BOOST_TEST(granted(a.acquire("x", 1, {.attempt = true})));
  auto const none = b.acquire("x", 1, {.attempt = true});
  BOOST_TEST(none.elements[0].number == -1);
  BOOST_TEST(number(none) == 0);
  BOOST_TEST(hint(none) == -1);
  BOOST_TEST(keys("as:o:" + b.sid()).empty());
  a.release("x", 1);
  BOOST_TEST(keys("*").size() == before);
}

BOOST_AUTO_TEST_CASE(try_does_not_overtake_a_waiter_that_does_not_fit) {
  a.acquire("x", 1, permits(2));
  BOOST_TEST(queued(b.acquire("x", 1, permits(2))));
  auto attempt = permits(1);
  attempt.attempt = true;
  BOOST_TEST(unknown(c.acquire("x", 1, attempt)));
}

BOOST_AUTO_TEST_CASE(try_passes_waiters_that_cannot_be_reached) {
  a.acquire("x", 1, permits(2));
  b.acquire("x", 1, permits(3));
  b.freeze();
  auto attempt = permits(1);
  attempt.attempt = true;
  BOOST_TEST(granted(c.acquire("x", 1, attempt)));
}

BOOST_AUTO_TEST_CASE(weights_add_up_to_the_capacity_and_no_further) {
  BOOST_TEST(granted(a.acquire("x", 1, permits(2))));
  BOOST_TEST(granted(b.acquire("x", 1, permits(1))));
  BOOST_TEST(queued(c.acquire("x", 1, permits(1))));
  BOOST_TEST(a.link({"HGET", "as:{x}:m", "used"}).text == "3");
  a.release("x", 1);
  BOOST_TEST(granted(c.acquire("x", 1, permits(1))));
  BOOST_TEST(a.link({"HGET", "as:{x}:m", "used"}).text == "2");
}

BOOST_AUTO_TEST_CASE(release_grants_to_all_who_fit) {
  a.acquire("x", 1, permits(3));
  b.acquire("x", 1, permits(1));
  c.acquire("x", 1, permits(2));
  b.acquire("x", 2, permits(1));
  a.release("x", 1);
  BOOST_TEST(granted(b.acquire("x", 1, permits(1))));
  BOOST_TEST(granted(c.acquire("x", 1, permits(2))));
  BOOST_TEST(queued(b.acquire("x", 2, permits(1))));
}

BOOST_AUTO_TEST_CASE(light_waiter_does_not_overtake_a_heavy_one) {
  a.acquire("x", 1, permits(2));
  b.acquire("x", 1, permits(3));
  BOOST_TEST(queued(c.acquire("x", 1, permits(1))));
  BOOST_TEST(a.forget("x", 99).number == 0);
  BOOST_TEST(queued(c.acquire("x", 1, permits(1))));
}

BOOST_AUTO_TEST_CASE(weights_up_to_2_to_the_53_are_exact) {
  std::int64_t const most = (std::int64_t{1} << 53) - 1;
  BOOST_TEST(granted(a.acquire("x", 1, permits(most - 1, most))));
  BOOST_TEST(queued(b.acquire("x", 1, permits(2, most))));
  BOOST_TEST(b.forget("x", 1).number == 1);
  BOOST_TEST(granted(b.acquire("x", 2, permits(1, most))));
  BOOST_TEST(a.link({"HGET", "as:{x}:m", "used"}).text == std::to_string(most));
  a.release("x", 1);
  BOOST_TEST(a.link({"HGET", "as:{x}:m", "used"}).text == "1");
}

BOOST_AUTO_TEST_CASE(release_of_no_holder_says_so_and_changes_nothing) {
  BOOST_TEST(a.release("x", 1).number == -1);
  a.acquire("x", 1);
  b.acquire("x", 1);
  BOOST_TEST(b.release("x", 1).number == -1);
  BOOST_TEST(b.release("x", 9).number == -1);
  BOOST_TEST(queued(b.acquire("x", 1)));
  BOOST_TEST(a.release("x", 1).number == 1);
  BOOST_TEST(a.release("x", 1).number == -1);
  BOOST_TEST(granted(b.acquire("x", 1)));
}

BOOST_AUTO_TEST_CASE(release_after_the_session_has_ended_says_if_somebody_has_had_it) {
  a.acquire("x", 1);
  a.acquire("y", 2);
  a.die();
  BOOST_TEST(a.release("x", 1).number == 0);
  BOOST_TEST(granted(b.acquire("y", 1)));
  BOOST_TEST(a.release("y", 2).number == -1);
}

BOOST_AUTO_TEST_CASE(forget_ends_a_waiter) {
  a.acquire("x", 1);
  b.acquire("x", 1);
  c.acquire("x", 1);
  BOOST_TEST(b.forget("x", 1).number == 1);
  BOOST_TEST(b.forget("x", 1).number == 0);
  a.release("x", 1);
  BOOST_TEST(granted(c.acquire("x", 1)));
  BOOST_TEST(keys("as:o:" + b.sid()).empty());
}

BOOST_AUTO_TEST_CASE(forget_of_a_holder_grants_to_the_next) {
  a.acquire("x", 1);
  b.acquire("x", 1);
  BOOST_TEST(a.forget("x", 1).number == 1);
  BOOST_TEST(granted(b.acquire("x", 1)));
  BOOST_TEST(a.release("x", 1).number == -1);
}

BOOST_AUTO_TEST_CASE(forget_of_a_heavy_waiter_lets_the_light_ones_in) {
  a.acquire("x", 1, permits(2));
  b.acquire("x", 1, permits(3));
  c.acquire("x", 1, permits(1));
  BOOST_TEST(b.forget("x", 1).number == 1);
  BOOST_TEST(c.link.pushes().size() == 1);
}

BOOST_AUTO_TEST_CASE(forget_and_release_of_what_does_not_exist_leave_no_key) {
  auto const before = keys("*").size();
  BOOST_TEST(a.forget("x", 1).number == 0);
  BOOST_TEST(a.release("x", 1).number == -1);
  BOOST_TEST(keys("*").size() == before);
}

BOOST_AUTO_TEST_CASE(object_in_use_refuses_another_kind_version_or_capacity) {
  a.acquire("x", 1);
  BOOST_TEST(b.acquire("x", 1, permits(1)).text == "KIND others use a mutex of this name");
  BOOST_TEST(b.acquire("x", 1, {.version = "2"}).text ==
             "VERSION others use version 1, this one 2");
  BOOST_TEST(b.acquire("x", 1, {.capacity = 2}).text ==
             "CAPACITY others use 1 permits, this one 2");
  BOOST_TEST(keys("as:o:" + b.sid()).empty());
  a.release("x", 1);
  BOOST_TEST(granted(b.acquire("x", 1, permits(1))));
}

BOOST_AUTO_TEST_CASE(free_capacity_does_not_let_another_kind_version_or_capacity_in) {
  a.acquire("x", 1, permits(1));
  BOOST_TEST(b.acquire("x", 1, {.capacity = 3}).code() == "KIND");
  BOOST_TEST(b.acquire("x", 1, permits(1, 4)).code() == "CAPACITY");
  auto newer = permits(1);
  newer.version = "2";
  BOOST_TEST(b.acquire("x", 1, newer).code() == "VERSION");
}

BOOST_AUTO_TEST_CASE(key_of_another_type_fails_the_operation_and_is_not_touched) {
  for (std::string const part : {"m", "h", "d", "q"}) {
    std::string const key = std::string("as:{").append(part).append("}:").append(part);
    admin({"SET", key, "of somebody"});
    BOOST_TEST(a.acquire(part, 1).code() == "WRONGTYPE");
    BOOST_TEST(a.release(part, 1).code() == "WRONGTYPE");
    BOOST_TEST(a.forget(part, 1).code() == "WRONGTYPE");
    BOOST_TEST(unknown(a.beat({{part, {1}}})));
    BOOST_TEST(admin({"GET", key}).text == "of somebody");
    BOOST_TEST(keys("as:{" + part + "}:*").size() == 1);
    BOOST_TEST(keys("as:o:" + a.sid()).empty());
  }
}

BOOST_AUTO_TEST_CASE(key_of_another_type_beside_a_holder_is_not_touched) {
  a.acquire("x", 1);
  admin({"SET", "as:{x}:q", "of somebody"});
  BOOST_TEST(b.acquire("x", 1).code() == "WRONGTYPE");
  BOOST_TEST(keys("as:o:" + b.sid()).empty());
  BOOST_TEST(a.release("x", 1).number == 1);
  BOOST_TEST(admin({"GET", "as:{x}:q"}).text == "of somebody");
}

BOOST_AUTO_TEST_CASE(names_and_prefix_may_be_any_bytes) {
  std::string const name("\0\r\n%s \xff", 7);
  a.acquire(name, 1);
  b.acquire(name, 1);
  a.release(name, 1);
  BOOST_TEST(granted(b.acquire(name, 1)));
  a.prefix = std::string("as:\0%1", 6);
  admin({"ACL", "SETUSER", "locks", "allchannels"});
  a.open();
  BOOST_TEST(granted(a.acquire(name, 1)));
  BOOST_TEST(admin({"EXISTS", a.prefix + "{" + name + "}:m"}).number == 1);
}

BOOST_AUTO_TEST_CASE(lost_counter_starts_again_at_the_time) {
  auto const before = number(a.acquire("x", 1));
  for (auto const& lose : {caller::command{"DEL", "as:f"},
                           {"SET", "as:f", "7"},
                           {"SET", "as:f", "no number"},
                           {"DEL", "as:f"}}) {
    a.release("x", 1);
    admin(lose);
    auto const now = a.acquire("x", 1);
    BOOST_TEST(granted(now));
    BOOST_TEST(number(now) > before);
  }
  admin({"DEL", "as:f"});
  admin({"HSET", "as:f", "of", "somebody"});
  a.release("x", 1);
  BOOST_TEST(granted(a.acquire("x", 2)));
}

BOOST_AUTO_TEST_CASE(object_that_has_lost_its_m_begins_anew) {
  a.acquire("x", 1);
  b.acquire("x", 1);
  admin({"DEL", "as:{x}:m"});
  BOOST_TEST(granted(c.acquire("x", 1)));
  BOOST_TEST(a.release("x", 1).number == -1);
  BOOST_TEST(unknown(b.beat({{"x", {1}}})));
  BOOST_TEST(c.release("x", 1).number == 1);
  BOOST_TEST(keys("as:{x}:*").empty());
}

BOOST_AUTO_TEST_CASE(object_that_has_lost_its_holders_begins_anew) {
  a.acquire("x", 1);
  b.acquire("x", 1);
  admin({"DEL", "as:{x}:h"});
  BOOST_TEST(granted(c.acquire("x", 1)));
  BOOST_TEST(a.release("x", 1).number == -1);
  BOOST_TEST(unknown(b.beat({{"x", {1}}})));
  BOOST_TEST(c.release("x", 1).number == 1);
  BOOST_TEST(keys("as:{x}:*").empty());
}

BOOST_AUTO_TEST_CASE(object_that_has_lost_its_waiters_keeps_its_holder) {
  for (std::string const part : {"d", "q"}) {
    a.acquire("x", 1);
    auto const fence = number(a.acquire("x", 1)), ticket = number(b.acquire("x", 1));
    admin({"DEL", "as:{x}:" + part});
    BOOST_TEST(queued(c.acquire("x", 1)));
    BOOST_TEST(number(a.beat({{"x", {1}}})) == fence);
    BOOST_TEST(unknown(b.beat({{"x", {1}}})));
    BOOST_TEST(number(b.acquire("x", 1, {.ticket = ticket})) == ticket);
    BOOST_TEST(a.release("x", 1).number == 1);
    BOOST_TEST(b.link.pushes().size() == 1u);
    BOOST_TEST(b.release("x", 1).number == 1);
    BOOST_TEST(c.release("x", 1).number == 1);
    BOOST_TEST(keys("as:{x}:*").empty());
  }
}

BOOST_AUTO_TEST_CASE(holder_gives_back_an_object_that_has_lost_its_waiters) {
  for (std::string const part : {"d", "q", "c"}) {
    BOOST_TEST(parked(c.cond_wait("x", 2, 1, number(c.acquire("x", 1)), "k")));
    a.acquire("x", 1);
    b.acquire("x", 1);
    admin({"DEL", "as:{x}:" + part});
    BOOST_TEST(a.inspect("x").elements.at(4).number == 1);
    BOOST_TEST(a.inspect("x").elements.at(8).elements.empty());
    BOOST_TEST(a.release("x", 1).number == 1);
    BOOST_TEST(keys("as:{x}:*").empty());
    BOOST_TEST(unknown(b.beat({{"x", {1}}})));
    BOOST_TEST(unknown(c.beat({{"x", {2}}})));
  }
}

BOOST_AUTO_TEST_CASE(object_that_has_lost_a_number_begins_anew) {
  for (std::string const field : {"used", "n"}) {
    a.acquire("x", 1);
    admin({"HDEL", "as:{x}:m", field});
    BOOST_TEST(granted(b.acquire("x", 1)));
    BOOST_TEST(b.release("x", 1).number == 1);
    BOOST_TEST(keys("as:{x}:*").empty());
  }
}

BOOST_AUTO_TEST_CASE(mutex_that_has_lost_its_count_of_waiters_is_not_handed_over) {
  a.acquire("x", 1);
  b.acquire("x", 1);
  c.acquire("x", 1);
  admin({"HDEL", "as:{x}:m", "n"});
  BOOST_TEST(a.release("x", 1).number == -1);
  BOOST_TEST(granted(b.acquire("x", 1)));
  BOOST_TEST(queued(c.acquire("x", 1)));
}

BOOST_AUTO_TEST_CASE(mutex_whose_holder_has_been_replaced_by_remains_begins_anew) {
  a.acquire("x", 1);
  admin({"DEL", "as:{x}:h"});
  admin({"HSET", "as:{x}:d", "of", "somebody"});
  BOOST_TEST(granted(b.acquire("x", 1)));
}

BOOST_AUTO_TEST_CASE(weights_that_a_mutex_does_not_have_take_no_short_way) {
  BOOST_TEST(granted(a.acquire("x", 1)));
  BOOST_TEST(queued(b.acquire("x", 1, {.weight = 2})));
  BOOST_TEST(a.release("x", 1).number == 1);
  BOOST_TEST(queued(b.acquire("x", 1, {.weight = 2})));
}

BOOST_AUTO_TEST_CASE(lock_whose_holder_has_been_deleted_is_free) {
  a.acquire("x", 1);
  admin({"DEL", "as:{x}:h"});
  BOOST_TEST(granted(b.acquire("x", 1)));
  BOOST_TEST(a.release("x", 1).number == -1);
  BOOST_TEST(queued(a.acquire("x", 1)));
}

BOOST_AUTO_TEST_CASE(remains_of_an_object_without_its_m_are_removed) {
  for (caller::command const& remains : {caller::command{"HSET", "as:{x}:h", b.token(9), "1 5"},
                                         {"HSET", "as:{x}:d", b.token(9), "1 5 -"},
                                         {"ZADD", "as:{x}:q", "5", b.token(9)}}) {
    admin(remains);
    BOOST_TEST(granted(a.acquire("x", 1)));
    BOOST_TEST(a.release("x", 1).number == 1);
    BOOST_TEST(keys("as:{x}:*").empty());
    admin(remains);
    BOOST_TEST(b.release("x", 9).number == -1);
    BOOST_TEST(keys("as:{x}:*").empty());
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_scripts_test
