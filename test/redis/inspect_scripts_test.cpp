// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The scripts that operators call: inspect and force.

#include "redis/support/fixture.hpp"
#include "support/test.hpp"

namespace redis_inspect_scripts_test {

using namespace asio_sync::test::redis;

acquisition permits(std::int64_t weight, std::int64_t capacity = 3) {
  return {.kind = "semaphore", .capacity = capacity, .weight = weight};
}

// The answer of `inspect`, by its places.
struct picture {
  explicit picture(message const& m) : parts(m.elements) { BOOST_TEST_REQUIRE(parts.size() == 9); }

  std::string kind() const { return parts[0].text; }
  std::int64_t capacity() const { return parts[1].number; }
  std::int64_t used() const { return parts[2].number; }
  std::int64_t gate() const { return parts[3].number; }
  std::int64_t holders() const { return parts[4].number; }
  std::int64_t waiters() const { return parts[5].number; }
  std::int64_t parked() const { return parts[6].number; }

  // Element `part` of holder or waiter i: session, name, fence or ticket, weight, age or 1.
  message const& holder(std::size_t i, std::size_t part) const {
    return parts[7].elements.at(5 * i + part);
  }
  message const& waiter(std::size_t i, std::size_t part) const {
    return parts[8].elements.at(5 * i + part);
  }
  std::size_t shown_holders() const { return parts[7].elements.size() / 5; }
  std::size_t shown_waiters() const { return parts[8].elements.size() / 5; }
  bool is_empty() const {
    return kind().empty() && capacity() == 0 && used() == 0 && holders() == 0 && waiters() == 0 &&
           parked() == 0 && shown_holders() == 0 && shown_waiters() == 0;
  }

  std::vector<message> parts;
};

struct fixture : callers {
  picture look(std::string const& object) { return picture(c.inspect(object)); }

  // Returns all that the server has, apart from what expires.
  std::map<std::string, std::string> contents() {
    std::map<std::string, std::string> all;
    for (std::string const& key : keys("*")) all[key] = admin({"DUMP", key}).text;
    return all;
  }
};

BOOST_FIXTURE_TEST_SUITE(inspect_scripts_test, fixture)

// --- inspect ---

BOOST_AUTO_TEST_CASE(object_that_nobody_uses_is_empty_and_leaves_no_key) {
  auto const before = keys("*").size();
  BOOST_TEST(look("x").is_empty());
  BOOST_TEST(keys("*").size() == before);
}

BOOST_AUTO_TEST_CASE(mutex_shows_its_holder_and_its_queue) {
  a.name = "first|of,all";
  ++a.incarnation;
  a.open();
  auto const fence = number(a.acquire("x", 1));
  auto const ticket = number(b.acquire("x", 7));
  auto const later = number(a.acquire("x", 2));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  auto const p = look("x");
  BOOST_TEST(p.kind() == "mutex");
  BOOST_TEST(p.capacity() == 1);
  BOOST_TEST(p.used() == 1);
  BOOST_TEST(p.gate() == 0);
  BOOST_TEST(p.holders() == 1);
  BOOST_TEST(p.waiters() == 2);
  BOOST_TEST_REQUIRE(p.shown_holders() == 1);
  BOOST_TEST(p.holder(0, 0).text == a.sid());
  BOOST_TEST(p.holder(0, 1).text == "first|of,all");
  BOOST_TEST(p.holder(0, 2).number == fence);
  BOOST_TEST(p.holder(0, 3).number == 1);
  BOOST_TEST(p.holder(0, 4).number >= 20);
  BOOST_TEST(p.holder(0, 4).number < 10000);
  BOOST_TEST_REQUIRE(p.shown_waiters() == 2);
  BOOST_TEST(p.waiter(0, 0).text == b.sid());
  BOOST_TEST(p.waiter(0, 1).text == "test");
  BOOST_TEST(p.waiter(0, 2).number == ticket);
  BOOST_TEST(p.waiter(0, 3).number == 1);
  BOOST_TEST(p.waiter(0, 4).number == 1);
  BOOST_TEST(p.waiter(1, 0).text == a.sid());
  BOOST_TEST(p.waiter(1, 2).number == later);
}

BOOST_AUTO_TEST_CASE(monitor_shows_who_waits_on_its_conditions_and_who_owns) {
  auto const kind = acquisition{.kind = "monitor"};
  auto const fence = number(a.acquire("x", 1, kind));
  a.exit("x", 1, fence, {"o", "free", "2", "-1", "freed"});
  for (int i = 1; i <= 2; ++i)
    b.cond_wait("x", 2 * i, 2 * i - 1, number(b.acquire("x", 2 * i - 1, kind)), "freed");
  auto const p = look("x");
  BOOST_TEST(p.kind() == "monitor");
  BOOST_TEST(p.used() == 0);
  BOOST_TEST(p.waiters() == 0);
  BOOST_TEST(p.parked() == 2);
  BOOST_TEST_REQUIRE(p.shown_holders() == 1);
  BOOST_TEST(p.holder(0, 0).text == a.sid());
  BOOST_TEST(p.holder(0, 2).number == fence);
  BOOST_TEST(p.holder(0, 3).number == 0);
}

BOOST_AUTO_TEST_CASE(grant_keeps_its_time_however_it_was_made) {
  auto const age = [this](std::string const& object) { return look(object).holder(0, 4).number; };
  auto const is_now = [&](std::string const& object) {
    return age(object) >= 0 && age(object) < 5000;
  };
  auto const milliseconds = [this](caller const& who, int counter) {
    std::string const record = admin({"HGET", "as:{x}:h", who.token(counter)}).text;
    return record.substr(record.rfind(' ') + 1);
  };
  a.acquire("x", 1);  // free
  BOOST_TEST(is_now("x"));
  BOOST_TEST(milliseconds(a, 1).size() == 13);
  b.acquire("x", 2);
  a.release("x", 1);  // handed over
  BOOST_TEST(is_now("x"));
  BOOST_TEST(milliseconds(b, 2).size() == 13);
  a.acquire("s", 3, permits(3));
  b.acquire("s", 3, permits(2));
  a.release("s", 3);  // granted out of a queue
  BOOST_TEST(is_now("s"));
  auto const first = milliseconds(b, 2);
  b.acquire("x", 2);  // a repeated acquire is no other grant
  BOOST_TEST(milliseconds(b, 2) == first);
}

BOOST_AUTO_TEST_CASE(semaphore_and_shared_mutex_show_weights) {
  a.acquire("s", 1, permits(2));
  b.acquire("s", 1, permits(1));
  a.acquire("s", 2, permits(3));
  auto const s = look("s");
  BOOST_TEST(s.kind() == "semaphore");
  BOOST_TEST(s.capacity() == 3);
  BOOST_TEST(s.used() == 3);
  BOOST_TEST(s.holders() == 2);
  BOOST_TEST(s.holder(0, 3).number + s.holder(1, 3).number == 3);
  BOOST_TEST(s.waiter(0, 3).number == 3);

  std::int64_t const all = std::int64_t{1} << 30;
  acquisition const reads{.kind = "shared_mutex", .capacity = all};
  acquisition writes = reads;
  writes.weight = all;
  a.acquire("m", 3, reads);
  b.acquire("m", 3, reads);
  b.acquire("m", 4, writes);
  auto const m = look("m");
  BOOST_TEST(m.kind() == "shared_mutex");
  BOOST_TEST(m.used() == 2);
  BOOST_TEST(m.holders() == 2);
  BOOST_TEST(m.waiter(0, 3).number == all);
}

BOOST_AUTO_TEST_CASE(dead_and_unreachable_members_are_told_apart) {
  a.acquire("x", 1);
  b.acquire("x", 1);
  b.freeze();
  auto const frozen = look("x");
  BOOST_TEST(frozen.waiter(0, 1).text == "test");
  BOOST_TEST(frozen.waiter(0, 4).number == 0);
  a.release("x", 1);
  c.acquire("x", 1);  // passes b over
  b.beat({{"x", {1}}});
  b.freeze();
  BOOST_TEST(look("x").waiter(0, 4).number == 1);  // it has been passed over before
  b.die();
  c.die();
  auto const dead = look("x");
  BOOST_TEST(dead.kind() == "mutex");
  BOOST_TEST(dead.holder(0, 0).text == c.sid());
  BOOST_TEST((dead.holder(0, 1).type == resp::kind::null));
  BOOST_TEST((dead.waiter(0, 1).type == resp::kind::null));
  BOOST_TEST(dead.waiter(0, 4).number == 0);
  BOOST_TEST(dead.waiters() == 1);
}

BOOST_AUTO_TEST_CASE(gate_is_shown_with_the_time_that_is_left) {
  a.acquire("x", 1);
  admin({"SET", "as:gate", "1", "PX", "30000"});
  BOOST_TEST(look("x").gate() > 20000);
  BOOST_TEST(look("y").gate() > 20000);
}

BOOST_AUTO_TEST_CASE(inspection_changes_nothing) {
  a.acquire("x", 1);
  b.acquire("x", 1);
  a.acquire("s", 2, permits(3));
  b.acquire("stale", 3);
  admin({"HSET", "as:{stale}:m", "e", "another"});
  b.acquire("torn", 4);
  admin({"DEL", "as:{torn}:h"});
  b.freeze();
  a.die();
  auto const before = contents();
  for (std::string const object : {"x", "s", "stale", "torn", "none"}) look(object);
  BOOST_TEST((contents() == before));
  for (std::string const object : {"stale", "torn"}) {
    BOOST_TEST(look(object).is_empty());
    admin({"DEL", "as:{" + object + "}:m", "as:{" + object + "}:h"});
  }
}

BOOST_AUTO_TEST_CASE(key_of_another_type_is_an_error) {
  for (std::string const part : {"m", "h", "d", "q"}) {
    std::string const key = std::string("as:{").append(part).append("}:").append(part);
    admin({"SET", key, "of somebody"});
    BOOST_TEST(c.inspect(part).code() == "WRONGTYPE");
    BOOST_TEST(c.force(part, 1).code() == "WRONGTYPE");
    BOOST_TEST(admin({"GET", key}).text == "of somebody");
  }
}

// Whatever somebody has written there: an answer, and one that the client can read.
BOOST_AUTO_TEST_CASE(records_made_by_hand_break_nothing) {
  auto const is_readable = [this](std::string const& object) {
    auto const p = look(object);
    bool all = p.kind() == "mutex";
    for (std::size_t i = 1; i != 6; ++i) all = all && p.parts[i].type == resp::kind::number;
    for (std::size_t list : {6, 7})
      for (std::size_t i = 0; i != p.parts[list].elements.size(); ++i)
        all = all && (i % 5 < 2 || p.parts[list].elements[i].type == resp::kind::number);
    return all && p.shown_holders() != 0 && p.shown_waiters() != 0;
  };
  a.acquire("x", 1);
  b.acquire("x", 1);
  for (std::string const record :
       {"", "nonsense", "1", "1 ", "-1 -5 -7", "1 99999999999999999999999 5", "9e99 9e99 9e99",
        "1 5 99999999999999999999"}) {
    for (std::string const key : {"as:{x}:h", "as:{x}:d"})
      for (message const& token : admin({"HKEYS", key}).elements)
        admin({"HSET", key, token.text, record});
    BOOST_TEST(is_readable("x"), record);
    BOOST_TEST(c.force("x", 5).number == (record.starts_with("1 5 ") ? 1 : 0), record);
  }
  admin({"DEL", "as:{x}:m", "as:{x}:h", "as:{x}:d", "as:{x}:q"});
  a.acquire("x", 1);
  b.acquire("x", 2);
  admin({"SET", a.session(), "no session"});
  admin({"HSET", "as:{x}:h", "no token", "1 5"});
  admin({"ZADD", "as:{x}:q", "1", "no record"});
  for (std::string const field : {"cap", "k", "v", "cur"}) {
    BOOST_TEST(is_readable("x"), field);
    admin({"HSET", "as:{x}:m", "cap", "-1e400"});
    BOOST_TEST(is_readable("x"), field);
  }
  admin({"HDEL", "as:{x}:m", "k"});
  BOOST_TEST(look("x").kind().empty());
  admin({"DEL", "as:{x}:m", "as:{x}:h", "as:{x}:d", "as:{x}:q"});
}

BOOST_AUTO_TEST_CASE(long_names_and_many_members_fit_into_one_answer) {
  a.name.assign(256, '~');
  ++a.incarnation;
  a.open();
  for (int i = 1; i <= 300; ++i) a.acquire("x", i, permits(1, 300));
  for (int i = 301; i <= 600; ++i) a.acquire("x", i, permits(1, 300));
  auto const p = look("x");
  BOOST_TEST(p.holders() == 300);
  BOOST_TEST(p.waiters() == 300);
  BOOST_TEST(p.shown_holders() == 256);
  BOOST_TEST_REQUIRE(p.shown_waiters() == 256);
  BOOST_TEST(p.holder(0, 1).text == a.name);
  for (std::size_t i = 1; i != 256; ++i)
    BOOST_TEST(p.waiter(i, 2).number > p.waiter(i - 1, 2).number);
}

// --- force ---

BOOST_AUTO_TEST_CASE(forced_holder_is_told_and_leaves_nothing) {
  auto const before = keys("*").size();
  auto const fence = number(a.acquire("x", 1));
  BOOST_TEST(c.force("x", fence).number == 1);
  auto const pushes = a.link.pushes();
  BOOST_TEST_REQUIRE(pushes.size() == 1);
  BOOST_TEST(pushes[0] == "L " + a.token(1) + " " + std::to_string(fence) + " " + a.epoch);
  BOOST_TEST(keys("*").size() == before);
  BOOST_TEST(a.release("x", 1).number == -1);
}

BOOST_AUTO_TEST_CASE(forced_release_happens_once_and_only_to_its_fence) {
  BOOST_TEST(c.force("x", 1).number == 0);
  auto const fence = number(a.acquire("x", 1));
  BOOST_TEST(c.force("x", fence + 1).number == 0);
  BOOST_TEST(c.force("x", 0).number == 0);
  BOOST_TEST(c.force("y", fence).number == 0);
  BOOST_TEST(granted(a.acquire("x", 1)));
  BOOST_TEST(c.force("x", fence).number == 1);
  BOOST_TEST(c.force("x", fence).number == 0);
  BOOST_TEST(granted(b.acquire("x", 1)));
  BOOST_TEST(c.force("x", fence).number == 0);
  BOOST_TEST(queued(a.acquire("x", 2)));
  BOOST_TEST(a.link.pushes().size() == 1);
}

BOOST_AUTO_TEST_CASE(forced_release_grants_to_the_next) {
  auto const fence = number(a.acquire("x", 1));
  b.acquire("x", 7);
  a.acquire("x", 2);
  BOOST_TEST(c.force("x", fence).number == 1);
  BOOST_TEST(b.link.pushes().size() == 1);
  BOOST_TEST(granted(b.acquire("x", 7)));
  BOOST_TEST(queued(a.acquire("x", 2)));
}

BOOST_AUTO_TEST_CASE(forced_release_of_one_permit_leaves_the_others) {
  a.acquire("x", 1, permits(1));
  auto const fence = number(a.acquire("x", 2, permits(1)));
  b.acquire("x", 1, permits(1));
  b.acquire("x", 2, permits(2));
  BOOST_TEST(c.force("x", fence).number == 1);
  BOOST_TEST(look("x").used() == 2);
  BOOST_TEST(queued(b.acquire("x", 2, permits(2))));
  BOOST_TEST(granted(a.acquire("x", 1, permits(1))));
}

BOOST_AUTO_TEST_CASE(holder_among_many_is_found) {
  for (int i = 1; i <= 1500; ++i) a.acquire("x", i, permits(1, 2000));
  auto const fence = number(b.acquire("x", 1, permits(1, 2000)));
  for (int i = 1501; i <= 1600; ++i) a.acquire("x", i, permits(1, 2000));
  BOOST_TEST(c.force("x", fence).number == 1);
  BOOST_TEST(look("x").used() == 1600);
  BOOST_TEST(b.link.pushes().size() == 1);
}

BOOST_AUTO_TEST_CASE(dead_holder_can_be_forced_and_the_gate_stays_closed) {
  auto const fence = number(a.acquire("x", 1));
  b.acquire("x", 1);
  a.die();
  admin({"SET", "as:gate", "1", "PX", "30000"});
  BOOST_TEST(c.force("x", fence).number == 1);
  BOOST_TEST(look("x").holders() == 0);
  BOOST_TEST(queued(b.acquire("x", 1)));
  admin({"DEL", "as:gate"});
  BOOST_TEST(granted(b.acquire("x", 1)));
}

BOOST_AUTO_TEST_CASE(force_and_inspect_work_while_the_memory_is_full) {
  auto const fence = number(a.acquire("x", 1));
  b.acquire("x", 1);
  admin({"CONFIG", "SET", "maxmemory", "1"});
  BOOST_TEST(look("x").holders() == 1);
  BOOST_TEST(c.force("x", fence).number == 1);
  admin({"CONFIG", "SET", "maxmemory", "0"});
  BOOST_TEST(granted(b.acquire("x", 1)));
}

BOOST_AUTO_TEST_CASE(object_of_an_earlier_epoch_has_no_holder) {
  auto const fence = number(a.acquire("x", 1));
  admin({"HSET", "as:{x}:m", "e", "another"});
  BOOST_TEST(c.force("x", fence).number == 0);
  BOOST_TEST(a.link.pushes().empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_inspect_scripts_test
