// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Monitors over a real server.

#include "redis/support/connection.hpp"
#include "redis/support/monitor_world.hpp"
#include "redis/support/relay.hpp"
#include "redis/support/relayed_world.hpp"
#include "redis/support/world.hpp"
#include "support/memory.hpp"
#include "support/test.hpp"

#include <asio_sync/redis.hpp>
#include <asio_sync/redis/detail/scripts/all.hpp>

namespace redis_monitor_test {

using namespace asio_sync::test::redis;
using asio_sync::test::failing_heap;

error_code const invalid = make_error_code(errc::invalid_argument);
error_code const server_error = asio_sync::redis::error::server_error;
error_code const unknown_outcome = asio_sync::redis::error::outcome_unknown;

// True if a call throws this error.
template <class Function>
bool throws(error_code e, Function call) {
  try {
    call();
  } catch (boost::system::system_error const& thrown) {
    return thrown.code() == e;
  }
  return false;
}

BOOST_FIXTURE_TEST_SUITE(monitor_test, monitor_world)

// --- Variables ---

BOOST_AUTO_TEST_CASE(what_an_entry_sets_all_later_ones_see) {
  entry e = enter(m);
  BOOST_TEST(!e.get("text").has_value());
  BOOST_TEST(e.number("n") == 0);
  e.set("text", std::string("a\0b", 3));
  e.set("n", 40);
  e.add("n", 2);
  BOOST_TEST(e.number("n") == 42);
  BOOST_TEST(e.get("n").value() == "42");
  BOOST_TEST(variable("n") == "");
  auto const fence = e.fence();
  BOOST_TEST(leave(e) == error_code());
  e = enter(other);
  BOOST_TEST(e.fence() > fence);
  BOOST_TEST(e.get("text").value() == std::string("a\0b", 3));
  BOOST_TEST(e.number("n") == 42);
  e.add("n", -50);
  BOOST_TEST(leave(e) == error_code());
  expect("n", "-8");
  expect_only_variables();
}

BOOST_AUTO_TEST_CASE(whoever_waits_gets_the_variables_with_the_grant) {
  entry first = enter(m);
  outcome<entry> second, third;
  other.async_enter(second.handler());
  BOOST_TEST_REQUIRE(soon([&] { return queued() == 1; }));
  m.async_enter(third.handler());
  BOOST_TEST_REQUIRE(soon([&] { return queued() == 2; }));
  first.set("n", 7);
  BOOST_TEST(leave(first) == error_code());
  wait_for_end(second);
  BOOST_TEST(second.guard.number("n") == 7);
  second.guard.set("n", 8);
  second.guard = {};  // discards
  wait_for_end(third);
  BOOST_TEST(third.guard.number("n") == 7);
}

BOOST_AUTO_TEST_CASE(to_enter_and_to_leave_is_one_command_each) {
  { entry warm = enter(m); }
  expect_only_variables();
  auto const calls = [this] {
    auto const stats = admin({"INFO", "commandstats"}).text;
    auto const at = stats.find("cmdstat_evalsha:calls=");
    return std::stoi(stats.substr(at + 22));
  };
  auto const numbers = [this] { return std::stoi(admin({"GET", "as:f"}).text.substr(10)); };
  int const before = calls(), first = numbers();
  constexpr int rounds = 50;
  for (int i = 0; i != rounds; ++i) {
    entry e = enter(m);
    e.add("n", 1);
    e.notify_all("changed");
    BOOST_TEST(leave(e) == error_code());
  }
  int const spent = calls() - before;
  BOOST_TEST(spent >= 2 * rounds);
  BOOST_TEST(spent <= 2 * rounds + 20);  // beats
  BOOST_TEST(numbers() - first == 2 * rounds);
  expect("n", "50");
}

BOOST_AUTO_TEST_CASE(bad_names_and_values_are_refused_by_the_call) {
  entry e = enter(m);
  for (std::string const& name : {std::string(), std::string(513, 'x')}) {
    BOOST_TEST(throws(invalid, [&] { static_cast<void>(e.get(name)); }));
    BOOST_TEST(throws(invalid, [&] { static_cast<void>(e.number(name)); }));
    BOOST_TEST(throws(invalid, [&] { e.set(name, "v"); }));
    BOOST_TEST(throws(invalid, [&] { e.set(name, 1); }));
    BOOST_TEST(throws(invalid, [&] { e.add(name, 1); }));
    BOOST_TEST(throws(invalid, [&] { e.notify_one(name); }));
    BOOST_TEST(throws(invalid, [&] { e.notify_all(name); }));
    BOOST_TEST(throws(invalid, [&] { e.async_wait(name, asio::detached); }));
    BOOST_TEST(throws(invalid, [&] { static_cast<void>(e.add_owned(name, 1, "k")); }));
    BOOST_TEST(throws(invalid, [&] { static_cast<void>(e.add_owned("n", 1, name)); }));
  }
  for (char const* const value : {"", "x", "1x", " 1", "007", "-0", "9223372036854775808"}) {
    e.set("n", value);
    BOOST_TEST(throws(invalid, [&] { static_cast<void>(e.number("n")); }));
    BOOST_TEST(throws(invalid, [&] { e.add("n", 1); }));
    BOOST_TEST(throws(invalid, [&] { static_cast<void>(e.add_owned("n", 1, "k")); }));
  }
  auto const out_of_range = make_error_code(errc::result_out_of_range);
  e.set("n", std::numeric_limits<std::int64_t>::max());
  BOOST_TEST(throws(out_of_range, [&] { e.add("n", 1); }));
  BOOST_TEST(throws(invalid, [&] { static_cast<void>(e.add_owned("n", 1, "k")); }));
  e.set("n", std::numeric_limits<std::int64_t>::min());
  BOOST_TEST(throws(out_of_range, [&] { e.add("n", -1); }));
  e.set("n", std::int64_t(1) << 53);
  BOOST_TEST(throws(invalid, [&] { static_cast<void>(e.add_owned("n", 1, "k")); }));
  e.set("large", std::string(1024 * 1024 - 100, 'x'));
  BOOST_TEST(throws(invalid, [&] { e.set("m", std::string(100, 'x')); }));
  BOOST_TEST(
      throws(invalid, [&] { static_cast<void>(e.add_owned(std::string(100, 'x'), 1, "k")); }));
  e.set("large", "");
  BOOST_TEST(leave(e) == error_code());
  admin({"HSET", "as:{x}:v", "a", std::string(1024 * 1024, 'x'), "b", std::string(9999, 'x')});
  e = enter(m);
  BOOST_TEST(throws(invalid, [&] { e.set("b", std::string(10000, 'x')); }));
  e.set("b", "");
  e.set("a", "");
  BOOST_TEST(leave(e) == error_code());
}

template <class T>
concept can_be_set = requires(entry& e, T value) {
  e.set("n", value);
};

template <class T>
concept can_be_added = requires(entry& e, T value) {
  e.add("n", value);
  e.add_owned("n", value, "k");
};

static_assert(can_be_set<int> && can_be_set<std::int64_t> && can_be_set<std::size_t>);
static_assert(can_be_set<char const*> && can_be_set<std::string>);
static_assert(!can_be_set<double> && !can_be_set<float>);
static_assert(!can_be_set<bool> && !can_be_set<char> && !can_be_set<wchar_t>);
static_assert(!can_be_set<std::vector<bool>::reference> && !can_be_set<std::true_type>);
static_assert(can_be_added<int> && can_be_added<std::int64_t> && can_be_added<std::size_t>);
static_assert(!can_be_added<double> && !can_be_added<float>);
static_assert(!can_be_added<bool> && !can_be_added<char> && !can_be_added<char8_t>);
static_assert(!can_be_added<std::vector<bool>::reference> && !can_be_added<std::true_type>);

BOOST_AUTO_TEST_CASE(an_empty_entry_does_nothing) {
  entry e;
  BOOST_TEST(!e.owns());
  BOOST_TEST(e.fence() == 0u);
  BOOST_TEST(throws(not_permitted, [&] { static_cast<void>(e.get("n")); }));
  BOOST_TEST(throws(not_permitted, [&] { e.set("n", 1); }));
  BOOST_TEST(throws(not_permitted, [&] { e.notify_one("k"); }));
  BOOST_TEST(throws(not_permitted, [&] { e.async_wait("k", asio::detached); }));
  BOOST_TEST(throws(not_permitted, [&] { static_cast<void>(e.add_owned("n", 1, "k")); }));
  BOOST_TEST(leave(e) == not_permitted);
}

BOOST_AUTO_TEST_CASE(another_kind_of_object_is_refused) {
  async_mutex mutex(io, c, "x");
  lock_type held = lock(mutex);
  outcome<entry> o;
  m.async_enter(o.handler());
  wait_for_end(o);
  BOOST_TEST(o.refused(asio_sync::error::kind_mismatch));
}

// --- Waits ---

BOOST_AUTO_TEST_CASE(two_processes_share_a_buffer) {
  int produced = 0, consumed = 0;
  auto const produces = [&]() -> asio::awaitable<void> {
    for (int i = 0; i != 20; ++i) {
      entry e = co_await m.async_enter(asio::use_awaitable);
      while (e.number("full") == 2) co_await e.async_wait("room", asio::use_awaitable);
      e.add("full", 1);
      e.notify_one("filled");
      co_await e.async_leave(asio::use_awaitable);
      ++produced;
    }
  };
  auto const consumes = [&]() -> asio::awaitable<void> {
    for (int i = 0; i != 20; ++i) {
      entry e = co_await other.async_enter(asio::use_awaitable);
      while (e.number("full") == 0) co_await e.async_wait("filled", asio::use_awaitable);
      e.add("full", -1);
      e.notify_one("room");
      co_await e.async_leave(asio::use_awaitable);
      ++consumed;
    }
  };
  asio::co_spawn(io, produces, asio::detached);
  asio::co_spawn(io, consumes, asio::detached);
  BOOST_TEST(soon([&] { return produced == 20 && consumed == 20; }));
  expect("full", "0");
  expect_only_variables();
}

BOOST_AUTO_TEST_CASE(what_was_set_before_a_wait_is_seen_during_it) {
  entry e = enter(m);
  e.set("n", 1);
  ending waited;
  e.async_wait("k", waited.handler_on(io));
  BOOST_TEST(!e);
  entry inside = enter(other);
  BOOST_TEST(inside.number("n") == 1);
  inside.set("n", 2);
  inside.notify_all("k");
  BOOST_TEST(leave(inside) == error_code());
  wait_for_end(waited);
  BOOST_TEST(waited.is(error_code()));
  BOOST_TEST(e.owns());
  BOOST_TEST(e.number("n") == 2);
  e.notify_one("nobody");
  BOOST_TEST(leave(e) == error_code());
  expect("n", "2");
}

BOOST_AUTO_TEST_CASE(a_wait_whose_time_is_up_is_inside_again) {
  entry e = enter(m);
  auto const fence = e.fence();
  ending at_once, later;
  e.async_wait_for("k", 0s, at_once.handler_on(io));
  wait_for_end(at_once);
  BOOST_TEST(at_once.is(timed_out));
  BOOST_TEST(e.fence() == fence);
  e.set("n", 3);
  e.async_wait_until("k", std::chrono::steady_clock::now() + 50ms, later.handler_on(io));
  wait_for_end(later);
  BOOST_TEST(later.is(timed_out));
  BOOST_TEST(e.fence() > fence);
  BOOST_TEST(e.number("n") == 3);
}

BOOST_AUTO_TEST_CASE(cancel_ends_both_kinds_of_waits) {
  entry e = enter(m);
  ending waited;
  e.async_wait("k", waited.handler_on(io));
  BOOST_TEST_REQUIRE(soon([&] { return parked() == 1; }));
  entry inside = enter(other);
  outcome<entry> entering;
  m.async_enter(entering.handler());
  BOOST_TEST_REQUIRE(soon([&] { return queued() == 1; }));
  BOOST_TEST(m.waiters() == 2u);
  BOOST_TEST(m.cancel() == 2u);
  BOOST_TEST(m.cancel() == 0u);
  wait_for_end(entering);
  BOOST_TEST(entering.refused(aborted));
  BOOST_TEST(waited.calls == 0);
  BOOST_TEST(m.waiters() == 1u);
  BOOST_TEST(leave(inside) == error_code());
  wait_for_end(waited);
  BOOST_TEST(waited.is(aborted));
  BOOST_TEST(e.owns());
}

BOOST_AUTO_TEST_CASE(a_wait_that_is_cancelled_after_its_notification_passes_it_on) {
  entry e = enter(m), second;
  ending waited, other_waited;
  asio::io_context late;
  asio::cancellation_signal signal;
  e.async_wait("k", asio::bind_cancellation_slot(signal.slot(), waited.handler_on(late)));
  BOOST_TEST_REQUIRE(soon([&] { return parked() == 1; }));
  second = enter(other);
  second.async_wait("k", other_waited.handler_on(io));
  BOOST_TEST_REQUIRE(soon([&] { return parked() == 2; }));
  entry notifier = enter(other);
  notifier.notify_one("k");
  BOOST_TEST(leave(notifier) == error_code());
  BOOST_TEST_REQUIRE(soon([&] { return m.waiters() == 0; }));
  signal.emit(asio::cancellation_type::terminal);
  BOOST_TEST_REQUIRE(asio_sync::test::redis::soon(late, [&] { return waited.calls != 0; }));
  BOOST_TEST(waited.is(aborted));
  BOOST_TEST_REQUIRE(e.owns());
  BOOST_TEST(leave(e) == error_code());
  wait_for_end(other_waited);
  BOOST_TEST(other_waited.is(error_code()));
}

BOOST_AUTO_TEST_CASE(a_closed_monitor_can_be_left) {
  entry e = enter(m);
  e.set("n", 1);
  outcome<entry> entering, later;
  m.async_enter(entering.handler());
  m.close();
  m.async_enter(later.handler());
  wait_for_end(entering, later);
  BOOST_TEST(entering.refused(closed));
  BOOST_TEST(later.refused(closed));
  BOOST_TEST(leave(e) == error_code());
  expect("n", "1");
  ending waited;
  async_monitor third(io, c, "x");
  e = enter(third);
  e.async_wait("k", waited.handler_on(io));
  BOOST_TEST_REQUIRE(soon([&] { return parked() == 1; }));
  third.close();
  wait_for_end(waited);
  BOOST_TEST(waited.is(closed));
  BOOST_TEST(!e);
  expect_only_variables();
}

BOOST_AUTO_TEST_CASE(an_entry_outlives_its_monitor) {
  auto short_lived = std::make_unique<async_monitor>(io, c, "x");
  entry e = enter(*short_lived), waits;
  outcome<entry> entering;
  short_lived->async_enter(entering.handler());
  short_lived.reset();
  wait_for_end(entering);
  BOOST_TEST(entering.refused(aborted));
  BOOST_TEST(e.owns());
  e.set("n", 5);
  BOOST_TEST(throws(not_permitted, [&] { e.async_wait("k", asio::detached); }));
  owned part = e.add_owned("m", 1, "k");
  BOOST_TEST(leave(e) == error_code());
  expect("n", "5");
  expect("m", "1");
  part.release();
  expect("m", "0");
  expect_only_variables();
}

BOOST_AUTO_TEST_CASE(a_deferred_leave_that_is_dropped_discards) {
  entry e = enter(m);
  e.set("n", 1);
  { auto const leaving = e.async_leave(asio::deferred); }
  BOOST_TEST(!e);
  expect_only_variables();
  BOOST_TEST(variable("n") == "");
}

// --- What is owned ---

BOOST_AUTO_TEST_CASE(what_is_owned_is_added_when_the_entry_leaves_and_taken_back_at_its_end) {
  entry e = enter(m);
  owned part = e.add_owned("readers", 2, "empty");
  BOOST_TEST(e.number("readers") == 0);
  BOOST_TEST(!part.owns());
  BOOST_TEST(leave(e) == error_code());
  BOOST_TEST(part.owns());
  BOOST_TEST(variable("readers") == "2");
  entry writer = enter(other);
  BOOST_TEST(writer.number("readers") == 2);
  ending waited;
  writer.async_wait("empty", waited.handler_on(io));
  BOOST_TEST_REQUIRE(soon([&] { return parked() == 1; }));
  { owned const moved = std::move(part); }
  wait_for_end(waited);
  BOOST_TEST(waited.is(error_code()));
  BOOST_TEST(writer.number("readers") == 0);
  BOOST_TEST(!part.owns());
  part.release();
  writer = {};
  expect_only_variables();
}

BOOST_AUTO_TEST_CASE(readers_own_places_at_the_same_time_and_a_writer_waits_for_both) {
  owned places[2];
  for (int i : {0, 1}) {
    entry reader = enter(i == 0 ? m : other);
    BOOST_TEST(reader.number("readers") == i);
    places[i] = reader.add_owned("readers", 1, "left");
    BOOST_TEST(leave(reader) == error_code());
  }
  BOOST_TEST((places[0].owns() && places[1].owns()));
  entry writer = enter(m);
  BOOST_TEST(writer.number("readers") == 2);
  for (int left : {1, 0}) {
    ending waited;
    writer.async_wait("left", waited.handler_on(io));
    BOOST_TEST_REQUIRE(soon([&] { return parked() == 1; }));
    places[left].release();
    wait_for_end(waited);
    BOOST_TEST(writer.number("readers") == left);
  }
}

BOOST_AUTO_TEST_CASE(what_ends_while_somebody_is_inside_is_taken_back_when_that_leaves) {
  entry e = enter(m);
  owned part = e.add_owned("n", 1, "k");
  BOOST_TEST(leave(e) == error_code());
  entry inside = enter(other);
  part.release();
  ending waited;
  BOOST_TEST(soon([&] { return admin({"HLEN", "as:{x}:u"}).number == 1; }));
  BOOST_TEST(variable("n") == "1");
  inside.async_wait("k", waited.handler_on(io));
  wait_for_end(waited);
  BOOST_TEST(waited.is(error_code()));
  BOOST_TEST(inside.number("n") == 0);
}

BOOST_AUTO_TEST_CASE(what_was_released_before_it_was_added_never_is) {
  entry e = enter(m);
  { owned const first = e.add_owned("n", 1, "k"); }
  owned second = e.add_owned("n", 10, "k");
  second.release();
  owned third = e.add_owned("n", 100, "k");
  BOOST_TEST(leave(e) == error_code());
  expect("n", "100");
  owned fourth;
  {
    entry discarded = enter(m);
    fourth = discarded.add_owned("n", 1000, "k");
  }
  fourth.release();
  expect("n", "100");
  third = {};
  expect("n", "0");
  expect_only_variables();
}

BOOST_AUTO_TEST_CASE(a_wait_adds_what_is_owned) {
  entry e = enter(m);
  owned part = e.add_owned("n", 1, "k");
  ending waited;
  e.async_wait("go", waited.handler_on(io));
  BOOST_TEST(soon([&] { return part.owns(); }));
  BOOST_TEST(variable("n") == "1");
  entry inside = enter(other);
  inside.notify_all("go");
  BOOST_TEST(leave(inside) == error_code());
  wait_for_end(waited);
  BOOST_TEST(e.number("n") == 1);
  BOOST_TEST(leave(e) == error_code());
  BOOST_TEST(part.owns());
  part = {};
  expect("n", "0");
}

BOOST_AUTO_TEST_CASE(a_client_that_ends_owns_nothing_any_more) {
  entry e = enter(other);
  owned part = e.add_owned("n", 1, "k");
  BOOST_TEST(leave(e) == error_code());
  entry waits = enter(m);
  ending waited;
  waits.async_wait("k", waited.handler_on(io));
  BOOST_TEST_REQUIRE(soon([&] { return parked() == 1; }));
  other_c.stop();
  wait_for_end(waited);
  BOOST_TEST(waited.is(error_code()));
  BOOST_TEST(waits.number("n") == 0);
  BOOST_TEST(!part.owns());
  part.release();
}

BOOST_AUTO_TEST_CASE(a_command_that_the_server_refuses_gives_the_monitor_back) {
  entry e = enter(m);
  owned part = e.add_owned("n", 1, "k");
  e.set("n", "text");
  BOOST_TEST(leave(e) == server_error);
  BOOST_TEST(!part.owns());
  BOOST_TEST(events.has(event::kind::server_error));
  expect_only_variables();
  BOOST_TEST(variable("n") == "");
  e = enter(m);
  BOOST_TEST(e.owns());
}

BOOST_AUTO_TEST_CASE(a_monitor_beside_a_key_of_another_type_is_given_back_when_that_has_gone) {
  for (bool const asks : {false, true}) {
    entry e = enter(m);
    if (asks) e.set("n", 1);
    admin({"SET", "as:{x}:q", "a text"});
    BOOST_TEST(leave(e) == server_error);
    BOOST_TEST(admin({"HLEN", "as:{x}:h"}).number == 1);
    admin({"DEL", "as:{x}:q"});
    BOOST_TEST(enter(other).owns());
  }
  BOOST_TEST(!events.has(event::kind::session_lost));
  BOOST_TEST(variable("n") == "");
  expect_only_variables();
}

// --- Large variables ---

BOOST_AUTO_TEST_CASE(many_large_monitors_are_entered_at_once) {
  world w(&unhurried);
  client second(w.pool.get_executor(), unhurried(w.s));
  ending second_run;
  second.async_run(second_run.handler_on(w.io));
  connection at_server{w.s.socket()};
  std::deque<async_monitor> theirs, ours;
  std::deque<outcome<entry>> held(40), waits(40);
  auto const all = [](auto const& those) {
    return std::all_of(those.begin(), those.end(), [](auto const& each) { return each.calls; });
  };
  for (std::size_t i = 0; i != held.size(); ++i) {
    std::string const name = "x" + std::to_string(i);
    at_server({"HSET", "as:{" + name + "}:v", "large", std::string(1024 * 1024 - 16, 'x')});
    theirs.emplace_back(w.io, second, name);
    ours.emplace_back(w.io, w.c, name);
    theirs[i].async_enter(held[i].handler());
  }
  BOOST_TEST_REQUIRE(w.soon([&] { return all(held); }));
  for (std::size_t i = 0; i != held.size(); ++i) ours[i].async_enter(waits[i].handler());
  BOOST_TEST(w.soon([&] { return at_server({"ZCARD", "as:{x39}:q"}).number == 1; }));
  held.clear();  // the server closes a connection to which it pushes so much
  BOOST_TEST(w.soon([&] { return all(waits); }));
  for (auto const& each : waits) BOOST_TEST(each.guard.get("large")->size() == 1024 * 1024 - 16u);
  BOOST_TEST(!w.events.has(event::kind::session_lost));
  second.stop();
  BOOST_TEST(w.soon([&] { return second_run.calls != 0; }));
}

// --- Failures ---

BOOST_AUTO_TEST_CASE(lack_of_memory_changes_nothing) {
  for (bool has_left = false; !has_left;) {
    entry e = enter(m);
    for (int n = 0; !has_left; ++n) {
      try {
        failing_heap const none(n);
        e.add("a variable with a long name", 1);
        e.notify_one("a condition with a long name");
        e.async_leave(asio::detached);
        has_left = true;
      } catch (std::bad_alloc const&) {
        BOOST_TEST_REQUIRE(e.owns());
        e.set("a variable with a long name", 0);
      }
    }
  }
  expect("a variable with a long name", "1");
  entry e = enter(m);
  owned part;
  for (int n = 0; !part && n < 100; ++n) {
    try {
      failing_heap const none(n);
      part = e.add_owned("n", 1, "a condition with a long name");
      break;
    } catch (std::bad_alloc const&) {
    }
  }
  BOOST_TEST(leave(e) == error_code());
  BOOST_TEST(part.owns());
  expect("n", "1");
}

BOOST_AUTO_TEST_CASE(a_lost_session_loses_the_entry_and_what_is_owned) {
  entry e = enter(m);
  owned part = e.add_owned("n", 1, "k");
  BOOST_TEST(leave(e) == error_code());
  e = enter(m);
  e.set("n", 9);
  c.stop();
  BOOST_TEST(!e.owns());
  BOOST_TEST(!part.owns());
  BOOST_TEST(leave(e) == lease_lost);
  wait_for_end(run);
  run = {};
  c.async_run(run.handler_on(io));
  e = enter(m);  // when the server has ended the session
  BOOST_TEST(e.number("n") == 0);
}

// The client sees a cancellation, the leaving and the end of its session at once.
BOOST_AUTO_TEST_CASE(a_client_that_was_held_up_loses_what_leaves) {
  auto mine = std::make_unique<async_monitor>(io, c, "x");
  entry e = enter(*mine);
  ending waited, left;
  asio::io_context late;
  asio::cancellation_signal signal;
  e.async_wait("k", asio::bind_cancellation_slot(signal.slot(), waited.handler_on(late)));
  BOOST_TEST_REQUIRE(soon([&] { return parked() == 1; }));
  entry notifier = enter(other);
  notifier.notify_one("k");
  BOOST_TEST(leave(notifier) == error_code());
  BOOST_TEST_REQUIRE(soon([&] { return mine->waiters() == 0; }));
  std::promise<void> begun, end;
  asio::post(pool, [&] {
    begun.set_value();
    end.get_future().wait();
  });
  begun.get_future().wait();
  signal.emit(asio::cancellation_type::terminal);
  BOOST_TEST_REQUIRE(asio_sync::test::redis::soon(late, [&] { return waited.calls != 0; }));
  owned const part = e.add_owned("n", 1, "k");
  e.async_leave(left.handler_on(io));
  mine.reset();
  std::this_thread::sleep_for(short_life + 500ms);
  end.set_value();
  wait_for_end(left);
  BOOST_TEST(left.is(lease_lost));
  BOOST_TEST(!part.owns());
}

struct lossy : monitored<relayed_world> {
  lossy() : monitored(6s) {}

  async_monitor m{io, c, "x"}, direct{io, direct_c, "x"};
};

BOOST_FIXTURE_TEST_CASE(an_exit_whose_command_or_answer_is_lost_happens_once, lossy) {
  for (relay::way const way : {to_server, to_client}) {
    entry e = enter(m);
    e.add("n", 1);
    owned part = e.add_owned("m", 1, "k");
    drop(way);
    ending left;
    e.async_leave(left.handler_on(io));
    wait_for(scripts::exit);
    if (way == to_client) expect("m", "1");
    int const connections = static_cast<int>(events.count(event::kind::connected));
    r.cut();
    wait_for(event::kind::connected, connections + 1);
    wait_for_end(left);
    BOOST_TEST(left.is(error_code()));
    BOOST_TEST(part.owns());
    expect("n", way == to_server ? "1" : "2");
    expect("m", "1");
    part.release();
    expect("m", "0");
    part = {};
  }
  expect_only_variables();
}

BOOST_FIXTURE_TEST_CASE(a_wait_whose_answer_is_lost_changes_variables_once, lossy) {
  entry e = enter(m);
  e.add("n", 1);
  owned part = e.add_owned("m", 1, "k");
  r.set(to_client, flow::drop);
  ending waited;
  e.async_wait("go", waited.handler_on(io));
  BOOST_TEST_REQUIRE(soon([&] { return parked() == 1; }));
  r.cut();
  wait_for(event::kind::connected, 2);
  entry inside = enter(direct);
  BOOST_TEST(inside.number("m") == 1);
  inside.notify_one("go");
  BOOST_TEST(leave(inside) == error_code());
  wait_for_end(waited);
  BOOST_TEST(waited.is(error_code()));
  BOOST_TEST(e.number("n") == 1);
  BOOST_TEST(e.number("m") == 1);
  BOOST_TEST(part.owns());
}

BOOST_FIXTURE_TEST_CASE(an_exit_whose_session_is_lost_may_have_happened, lossy) {
  for (bool const waits : {false, true}) {
    entry e = enter(m);
    e.set("n", waits ? 2 : 1);
    r.set(to_client, flow::drop);
    ending ended;
    waits ? e.async_wait("k", ended.handler_on(io)) : e.async_leave(ended.handler_on(io));
    expect("n", waits ? "2" : "1");
    c.stop();
    wait_for_end(ended, run);
    BOOST_TEST(ended.is(unknown_outcome));
    BOOST_TEST(!e);
    r.set(to_client, flow::pass);
    int const connections = static_cast<int>(events.count(event::kind::connected));
    begin();
    wait_for(event::kind::connected, connections + 1);
  }
}

BOOST_FIXTURE_TEST_CASE(an_exit_that_was_never_sent_has_not_happened, lossy) {
  entry e = enter(m);
  e.set("n", 1);
  r.refuses = true;
  r.cut();
  wait_for(event::kind::disconnected, 1);
  ending left;
  e.async_leave(left.handler_on(io));
  c.stop();
  wait_for_end(left);
  BOOST_TEST(left.is(lease_lost));
  BOOST_TEST(variable("n") == "");
}

BOOST_FIXTURE_TEST_CASE(a_shutdown_waits_for_an_exit_across_connections, lossy) {
  entry e = enter(m);
  e.add("n", 1);
  r.set(to_server, flow::drop);
  ending left, down;
  e.async_leave(left.handler_on(io));
  wait_for(scripts::exit);
  r.cut();
  c.async_shutdown(down.handler_on(io));
  wait_for_end(left, down);
  BOOST_TEST(left.is(error_code()));
  BOOST_TEST(down.is(error_code()));
  expect("n", "1");
  expect_only_variables();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_monitor_test
