// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Monitors over a real server whose objects, contexts, sessions, entries and data go while
// somebody is inside or waits.

#include "redis/support/connection.hpp"
#include "redis/support/ending_waits.hpp"
#include "redis/support/monitor_world.hpp"
#include "redis/support/world.hpp"
#include "support/test.hpp"

#include <asio_sync/redis.hpp>

#include <csignal>

namespace redis_monitor_ends_test {

using namespace asio_sync::test::redis;

error_code const unknown_outcome = asio_sync::redis::error::outcome_unknown;

struct fixture : monitor_world {
  fixture() : monitor_world(&unhurried) {}
};

BOOST_FIXTURE_TEST_SUITE(monitor_ends_test, fixture)

// --- Objects and contexts go ---

BOOST_AUTO_TEST_CASE(a_wait_ends_with_its_monitor_and_what_is_owned_stays) {
  auto brief = std::make_unique<async_monitor>(io, c, "x");
  entry e = enter(*brief);
  e.set("n", 1);
  owned part = e.add_owned("m", 1, "k");
  ending waited;
  e.async_wait("go", waited.handler_on(io));
  BOOST_TEST_REQUIRE(soon([&] { return part.owns(); }));
  brief.reset();
  wait_for_end(waited);
  BOOST_TEST(waited.is(aborted));
  BOOST_TEST(!e);
  BOOST_TEST(part.owns());
  expect("m", "1");
  entry next = enter(other);
  BOOST_TEST(next.number("n") == 1);
  next = {};
  part = {};
  expect("m", "0");
  expect_only_variables();
}

// With it go a wait, an entry that is on its way, and one that waits behind that.
BOOST_AUTO_TEST_CASE(a_monitor_survives_the_end_of_a_context) {
  owned part;
  {
    asio::io_context brief;
    outcome<entry> first, second, third;
    ending waited;
    async_monitor in_brief(brief, c, "x");
    in_brief.async_enter(first.handler());
    BOOST_TEST_REQUIRE(asio_sync::test::redis::soon(brief, [&] { return first.calls != 0; }));
    part = first.guard.add_owned("n", 1, "k");
    first.guard.set("v", 3);
    first.guard.async_wait("k", waited.handler());
    BOOST_TEST_REQUIRE(soon([&] { return part.owns(); }));
    in_brief.async_enter(second.handler());
    in_brief.async_enter(third.handler());
    BOOST_TEST_REQUIRE(soon([&] { return queued() == 1 && in_brief.waiters() == 2; }));
  }
  entry e = enter(other);
  BOOST_TEST(e.number("v") == 3);
  BOOST_TEST(e.number("n") == 1);
  e.notify_all("k");
  BOOST_TEST(leave(e) == error_code());
  part = {};
  expect("n", "0");
  expect_only_variables();
}

BOOST_AUTO_TEST_CASE(a_leave_that_is_cancelled_or_dropped_happens_all_the_same) {
  for (bool const drops : {false, true}) {
    asio::cancellation_signal signal;
    ending left;
    entry e = enter(m);
    e.add("n", 1);
    if (drops) {
      asio::io_context brief;
      e.async_leave(left.handler_on(brief));
    } else {
      e.async_leave(asio::bind_cancellation_slot(signal.slot(), left.handler_on(io)));
      signal.emit(asio::cancellation_type::terminal);
      wait_for_end(left);
      BOOST_TEST((left.is(aborted) || left.is(error_code())));  // as quick as the server
    }
    BOOST_TEST(!e);
    expect("n", drops ? "2" : "1");
  }
  expect_only_variables();
}

BOOST_AUTO_TEST_CASE(close_and_waiters_concern_one_object_of_a_name) {
  async_monitor same(io, c, "x");
  entry held = enter(m);
  outcome<entry> mine, theirs, zero, timed;
  m.async_enter(mine.handler());
  same.async_enter(theirs.handler());
  m.async_enter_for(0s, zero.handler());
  m.async_enter_until(std::chrono::steady_clock::now() + 30ms, timed.handler());
  wait_for_end(zero, timed);
  BOOST_TEST((zero.refused(timed_out) && timed.refused(timed_out)));
  BOOST_TEST((m.waiters() == 1u && same.waiters() == 1u));
  m.close();
  BOOST_TEST((m.is_closed() && !same.is_closed()));
  wait_for_end(mine);
  BOOST_TEST(mine.refused(closed));
  BOOST_TEST(theirs.calls == 0);
  held = {};
  wait_for_end(theirs);
  BOOST_TEST(theirs.granted());
}

// --- Entries, sessions and data go ---

BOOST_AUTO_TEST_CASE(what_is_forced_changes_nothing_or_is_taken_back) {
  entry e = enter(m);
  e.set("n", 1);
  ending forced;
  c.async_force_release("x", e.fence(), forced.handler_on(io));
  wait_for_end(forced);
  BOOST_TEST(soon([&] { return !e.owns(); }));
  BOOST_TEST(leave(e) == lease_lost);
  BOOST_TEST(variable("n") == "");
  e = enter(m);
  auto const fence = e.fence();
  owned part = e.add_owned("n", 1, "k");
  BOOST_TEST(leave(e) == error_code());
  BOOST_TEST(part.owns());
  entry waits = enter(other);
  ending waited, gone;
  waits.async_wait("k", waited.handler_on(io));
  BOOST_TEST_REQUIRE(soon([&] { return parked() == 1; }));
  other_c.async_force_release("x", fence, gone.handler_on(io));
  wait_for_end(gone, waited);
  BOOST_TEST(gone.is(error_code()));
  BOOST_TEST(waited.is(error_code()));
  BOOST_TEST(waits.number("n") == 0);
  BOOST_TEST(soon([&] { return !part.owns(); }));
  BOOST_TEST(soon([&] { return events.has(event::kind::forced_release); }));
}

// Its operations, if there were any, have been answered.
BOOST_FIXTURE_TEST_CASE(a_wait_survives_its_session_and_what_is_owned_does_not, monitor_world) {
  for (bool const changes : {false, true}) {
    auto const losses = events.count(event::kind::session_lost);
    entry e = enter(m);
    owned part;
    if (changes) {
      e.set("v", 1);
      part = e.add_owned("n", 1, "never");
    }
    ending waited;
    e.async_wait("k", waited.handler_on(io));
    BOOST_TEST_REQUIRE(soon([&] { return changes ? part.owns() : parked() == 1; }));
    ::kill(s.id(), SIGSTOP);
    BOOST_TEST_REQUIRE(soon([&] { return events.count(event::kind::session_lost) > losses; }));
    ::kill(s.id(), SIGCONT);
    BOOST_TEST(!part.owns());
    wait_for_end(waited);
    BOOST_TEST(waited.is(error_code()));
    BOOST_TEST(e.owns());
    BOOST_TEST(e.number("v") == changes);
    BOOST_TEST(e.number("n") == 0);
    e.set("w", 1);
    BOOST_TEST(leave(e) == error_code());
    expect("w", "1");
  }
}

BOOST_FIXTURE_TEST_CASE(lost_data_ends_entries_waits_and_what_is_owned, monitor_world) {
  entry waits = enter(m);
  ending waited;
  waits.async_wait("k", waited.handler_on(io));
  BOOST_TEST_REQUIRE(soon([&] { return parked() == 1; }));
  entry e = enter(m);
  owned part = e.add_owned("n", 1, "k");
  BOOST_TEST(leave(e) == error_code());
  BOOST_TEST(part.owns());
  entry inside = enter(other);
  inside.set("w", 1);
  BOOST_TEST(admin({"FLUSHALL"}).text == "OK");
  error_code const error = leave(inside);
  BOOST_TEST((error == lease_lost || error == unknown_outcome), error);
  wait_for_end(waited);
  BOOST_TEST(waited.is(error_code()));
  BOOST_TEST(waits.owns());
  BOOST_TEST(!part.owns());
  BOOST_TEST(waits.number("n") == 0);
  BOOST_TEST(!waits.get("w"));
  BOOST_TEST(leave(waits) == error_code());
}

// --- Each notification wakes one ---

// Two waits of one client that end in some way, one of another client that does not, and a
// notification.
struct round {
  round(fixture& f, way how) : w(f), two(how, std::make_unique<async_monitor>(f.io, f.c, "x")) {}

  // One of the two changes nothing, and leaves by its destructor or by its end.
  void sweep() {
    two.sweep([&](entry& each) {
      if (&each == &two.guards[0])
        each = {};
      else
        each.async_leave(asio::detached);
    });
  }
  entry enter(async_monitor& of) {
    outcome<entry> o;
    of.async_enter(o.handler());
    BOOST_TEST_REQUIRE(w.soon([&] {
      sweep();
      return o.calls != 0;
    }));
    BOOST_TEST_REQUIRE(o.granted());
    return std::move(o.guard);
  }

  // A wait with a time may end before the third one begins.
  void wait(std::chrono::microseconds time) {
    for (int i = 0; i != 2; ++i) {
      two.guards[i] = enter(*two.on);
      if (i == 1) two.guards[i].set("v", i);
      two.begin(
          i, time, [](entry& e, auto token) { e.async_wait("k", std::move(token)); },
          [](entry& e, auto t, auto token) { e.async_wait_for("k", t, std::move(token)); });
    }
    third = enter(w.other);
    third.async_wait("k", third_ended.handler());
    if (two.how != way::time) BOOST_TEST_REQUIRE(w.soon([&] { return w.parked() == 3; }));
  }

  void notify() {
    entry e = enter(w.other);
    e.notify_one("k");
    e.async_leave(asio::detached);
  }

  void expect_one_effect() {
    two.expect_one_effect(
        w, third_ended, [&] { sweep(); }, [&] { notify(); });
    third = {};
    w.expect_only_variables();
  }

  fixture& w;
  ending_waits<async_monitor, entry> two;
  entry third;
  ending third_ended;
};

BOOST_AUTO_TEST_CASE(C3_C5_each_notification_of_a_monitor_wakes_exactly_one_wait) {
  int kept = 0;
  for (int i = 0; i != 6 * ways; ++i) {
    bool const is_late = i / ways % 2;
    BOOST_TEST_INFO_SCOPE("way " << i % ways << ", late " << is_late);
    round r(*this, static_cast<way>(i % ways));
    r.wait(std::chrono::microseconds(1 + i * 97 % 3000));
    if (!is_late) r.two.end();
    r.notify();
    if (is_late) {
      std::this_thread::sleep_for(std::chrono::microseconds(i * 41 % 400));
      r.two.end();
    }
    r.expect_one_effect();
    kept += r.two.notified;
  }
  BOOST_TEST_MESSAGE(kept << " of " << 6 * ways << " were kept");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_monitor_ends_test
