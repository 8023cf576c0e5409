// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The phases of a visit to a monitor: each legal transition is taken, and no other.

#include "support/test.hpp"

#include <asio_sync/detail/core/monitor_state.hpp>
#include <asio_sync/detail/core/permit_state.hpp>
#include <asio_sync/detail/core/wait_list.hpp>
#include <asio_sync/detail/platform/threading.hpp>

namespace visit_phase_test {

using asio_sync::detail::visit_phase;
using asio_sync::detail::wait_outcome;
using asio_sync::detail::wait_state;
using enum asio_sync::detail::visit_phase;

class monitor;

struct visitor {
  explicit visitor(monitor& m) : of(m) {}

  monitor& of;
  visitor* next = nullptr;
  visitor* prev = nullptr;
  wait_state state = wait_state::fresh;
  wait_outcome outcome = wait_outcome::undecided;
  wait_outcome mark = wait_outcome::undecided;
  visit_phase phase = coming;
  bool is_cancelled = false;
};

std::set<std::pair<visit_phase, visit_phase>> seen;

struct traits : asio_sync::detail::threading {
  using node = visitor;
  using visit = visitor;
  using list = asio_sync::detail::decided_list<node>;
  static constexpr bool exclusive = true;
  static std::uint32_t weight(node const&) noexcept { return 1; }
  static bool is_visit(node const&) noexcept { return true; }
  static bool looks_once(node const&) noexcept { return false; }
  static void joined(node&) noexcept {}
  static inline void left(node& v, list&) noexcept;
  static void changes(visit_phase from, visit_phase to) noexcept { seen.emplace(from, to); }
};

using core = asio_sync::detail::monitor_state<asio_sync::detail::permit_state<traits>, traits>;

// A monitor whose strand is this thread.
class monitor : public core {
 public:
  monitor() : core(1u, 1u) {}

  // A visit gets the free mutex, and is sent for.
  void is_sent(visitor& v) {
    BOOST_TEST_REQUIRE(!enter(v));
    sends(v);
  }
  void sends(visitor& v) {
    std::lock_guard const guard(lock());
    let_look(v);
  }
  bool looks(visitor& v) {
    std::lock_guard const guard(lock());
    return begin_to_look() == &v;
  }
  void is_looking(visitor& v) {
    is_sent(v);
    BOOST_TEST_REQUIRE(looks(v));
  }
  void gives_up() {
    list decided;
    std::lock_guard const guard(lock());
    give_up_looking(decided);
  }
  bool cancel(visitor& v) {
    list decided;
    bool runs = false;
    return refuse_visit(v, wait_outcome::aborted, decided, runs);
  }
  bool hands_on() {
    list decided;
    return hand_on(decided);
  }
  void leaves() {
    list decided;
    leaving();
    BOOST_TEST(release(true, decided));
  }
};

void traits::left(node& v, list&) noexcept { v.of.left_queue(v); }

void visits_that_enter() {
  monitor m;
  visitor first(m), second(m), third(m);
  m.is_looking(first);
  BOOST_TEST(m.let_in(first, false));
  BOOST_TEST(m.enter(second));
  BOOST_TEST(m.enter(third));
  m.leaves();  // the second is in the list of who has left
  m.sends(second);
  BOOST_TEST(m.looks(second));
  BOOST_TEST(m.park(second));
  BOOST_TEST(m.hands_on());  // to the third, on the strand
  BOOST_TEST(m.looks(third));
  BOOST_TEST(m.let_in(third, true));
  m.leaves();
  m.end_function(third, false);
  m.sends(second);
  BOOST_TEST(m.looks(second));
  BOOST_TEST(m.let_in(second, false));  // its predicate has thrown
  m.leaves();
  m.end_function(second, false);
}

void visits_that_are_refused() {
  monitor m;
  visitor sent_for(m), looks(m), parks(m), waits(m), is_lost(m);
  m.is_sent(sent_for);
  BOOST_TEST(m.enter(waits));
  BOOST_TEST(m.cancel(waits));
  BOOST_TEST(m.cancel(sent_for));
  BOOST_TEST(!m.hands_on());
  m.leaves();
  m.is_looking(looks);
  BOOST_TEST(!m.cancel(looks));
  BOOST_TEST(!m.park(looks));
  m.leaves();
  m.is_looking(parks);
  BOOST_TEST(m.park(parks));
  BOOST_TEST(!m.hands_on());
  BOOST_TEST(m.cancel(parks));
  m.leaves();
  m.is_looking(is_lost);
  BOOST_TEST(m.let_in(is_lost, true));
  m.leaves();
  m.end_function(is_lost, true);
}

void visit_that_the_end_meets_on_its_way() {
  monitor m;
  visitor first(m), second(m);
  m.is_looking(first);
  BOOST_TEST(m.enter(second));
  BOOST_TEST(m.park(first));
  BOOST_TEST(m.hands_on());
  traits::list decided;
  m.abandon(decided);
  BOOST_TEST(!m.looks(second));
  BOOST_TEST(!m.hands_on());
}

}  // namespace visit_phase_test

BOOST_AUTO_TEST_SUITE(visit_phase_test)

BOOST_AUTO_TEST_CASE(M4_each_phase_follows_those_that_it_may_follow_and_no_other) {
  seen.clear();
  visits_that_enter();
  visits_that_are_refused();
  visit_that_the_end_meets_on_its_way();
  for (int from = 0; from <= static_cast<int>(lost); ++from)
    for (int to = 0; to <= static_cast<int>(lost); ++to) {
      auto const before = static_cast<visit_phase>(from), after = static_cast<visit_phase>(to);
      BOOST_TEST_INFO("from phase " << from << " to phase " << to);
      BOOST_TEST(seen.contains({before, after}) == may_follow(before, after));
    }
}

BOOST_AUTO_TEST_SUITE_END()
