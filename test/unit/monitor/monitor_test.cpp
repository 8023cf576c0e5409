// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// A monitor that is entered: by whom, where, and what its conditions do.

#include "support/test.hpp"
#include "unit/monitor/fixture.hpp"

#include <asio_sync/async_monitor.hpp>

namespace monitor_test {

using namespace asio_sync::test;
using entry = bank::entry;

static_assert(!std::is_copy_constructible_v<entry> && std::is_nothrow_move_assignable_v<entry>);
static_assert(!std::is_move_constructible_v<bank>);

// Counts the kinds of waits with an entry that are refused as invalid.
struct waits_in_all_ways {
  int with(entry& inside) {
    auto const note = [this](error_code e) { note_error(e); };
    std::chrono::steady_clock::time_point const now = std::chrono::steady_clock::now();
    changed.async_wait(inside, note);
    fixture.poll();
    changed.async_wait(inside, at_least(0), note);
    fixture.poll();
    changed.async_wait_for(inside, 0s, note);
    fixture.poll();
    changed.async_wait_for(inside, 1h, at_least(0), note);
    fixture.poll();
    changed.async_wait_until(inside, now + 1h, note);
    fixture.poll();
    changed.async_wait_until(inside, now, at_least(0), note);
    fixture.poll();
    asio::co_spawn(*fixture.other, in_a_coroutine(inside), asio::detached);
    fixture.poll();
    return std::exchange(refused, 0);
  }

  asio::awaitable<void> in_a_coroutine(entry& inside) {
    auto const [plain] = co_await changed.async_wait(inside, asio::as_tuple(asio::deferred));
    note_error(plain);
    error_code redirected;
    co_await changed.async_wait(inside, at_least(0),
                                asio::redirect_error(asio::use_awaitable, redirected));
    note_error(redirected);
  }

  void note_error(error_code e) {
    error = e;
    refused += e == make_error_code(boost::system::errc::invalid_argument);
  }

  monitor_fixture& fixture;
  bank::condition& changed;
  error_code error{};
  int refused = 0;
};

}  // namespace monitor_test

BOOST_FIXTURE_TEST_SUITE(monitor_test, monitor_fixture)

BOOST_AUTO_TEST_CASE(M1_at_most_one_entry_exists) {
  entry first = monitor->try_enter();
  BOOST_TEST(first.owns());
  BOOST_TEST(!monitor->try_enter().owns());
  entry moved(std::move(first));
  BOOST_TEST(moved.owns());
  BOOST_TEST(!first.owns());  // NOLINT(bugprone-use-after-move)
  moved->balance = 3;
  moved.leave();
  BOOST_TEST(!moved.owns());
  first = monitor->try_enter();
  BOOST_TEST((*first).balance == 3);
  first = entry();  // assignment leaves
  BOOST_TEST(monitor->try_enter().owns());
}

BOOST_AUTO_TEST_CASE(M1_the_object_is_made_of_the_arguments) {
  bank rich(*context, 5);
  BOOST_TEST(rich.try_enter()->balance == 5);
  asio::thread_pool pool(1);
  basic_async_monitor<std::unique_ptr<int>, asio::thread_pool::executor_type> owner(
      pool.get_executor(), std::make_unique<int>(1));
  BOOST_TEST(**owner.try_enter() == 1);
}

BOOST_AUTO_TEST_CASE(M2_handlers_without_an_executor_run_on_the_strand) {
  bool on_strand = false, on_own = true;
  monitor->async_enter(
      [&](error_code, entry) { on_strand = monitor->get_executor().running_in_this_thread(); });
  auto const own = asio::make_strand(*other);
  monitor->async_enter(asio::bind_executor(own, [&](error_code, entry) {
    on_own = own.running_in_this_thread() && !monitor->get_executor().running_in_this_thread();
  }));
  poll();
  BOOST_TEST(on_strand);
  BOOST_TEST(on_own);
}

BOOST_AUTO_TEST_CASE(R3_an_entry_that_nobody_receives_leaves) {
  monitor->async_enter(asio::bind_executor(*other, [](error_code, entry) {}));
  BOOST_TEST(!monitor->try_enter().owns());
  other.reset();
  BOOST_TEST(monitor->try_enter().owns());
}

BOOST_AUTO_TEST_CASE(R4_cancel_and_R19_waiters) {
  entry inside = monitor->try_enter();
  monitor->async_enter(note('a'));
  monitor->async_enter_when(at_least(0), note('b'));
  BOOST_TEST(monitor->waiters() == 2u);
  BOOST_TEST(monitor->cancel() == 2u);
  BOOST_TEST(monitor->waiters() == 0u);
  poll();
  BOOST_TEST(order == "aaba");
  BOOST_TEST(inside.owns());
}

BOOST_AUTO_TEST_CASE(R7_entries_are_granted_in_turn) {
  entry inside = monitor->try_enter();
  for (char who : {'a', 'b', 'c'}) monitor->async_enter(note(who));
  inside.leave();
  BOOST_TEST(!monitor->try_enter().owns());
  poll();
  BOOST_TEST(order == "abc");
}

BOOST_AUTO_TEST_CASE(R11_time_to_enter_is_limited) {
  entry inside = monitor->try_enter();
  monitor->async_enter_for(0s, note('a'));
  monitor->async_enter_until(std::chrono::steady_clock::now() - 1s, note('b'));
  monitor->async_enter_for(1h, note('c'));
  poll();
  BOOST_TEST(order == "atbt");
  inside.leave();
  poll();
  BOOST_TEST(order == "atbtc");
}

BOOST_AUTO_TEST_CASE(R15_an_empty_entry_says_so) {
  entry empty;
  BOOST_TEST(error_of([&] { empty.leave(); }) == not_permitted);
  BOOST_TEST(error_of([&] { static_cast<void>(empty->balance); }) == not_permitted);
  BOOST_TEST(error_of([&] { static_cast<void>(*empty); }) == not_permitted);
  bank::condition changed(*monitor);
  std::optional<error_code> error;
  changed.async_wait(empty, [&](error_code e) { error = e; });
  poll();
  BOOST_TEST((error == not_permitted));
}

BOOST_AUTO_TEST_CASE(R18_closed) {
  entry inside = monitor->try_enter();
  monitor->async_enter(note('a'));
  monitor->close();
  BOOST_TEST(monitor->is_closed());
  monitor->async_enter(note('b'));
  inside.leave();
  BOOST_TEST(!monitor->try_enter().owns());
  poll();
  BOOST_TEST(order == "acbc");
}

BOOST_AUTO_TEST_CASE(R1a_a_coroutine_does_not_suspend_for_a_free_monitor) {
  bool posted = false, done = false;
  asio::co_spawn(
      *other,
      [&]() -> asio::awaitable<void> {
        asio::post(*other, [&] { posted = true; });
        { entry const by_default = co_await monitor->async_enter(); }
        { entry const inside = co_await monitor->async_enter(asio::use_awaitable); }
        auto [error, inside] = co_await monitor->async_enter(asio::as_tuple(asio::deferred));
        done = !error && inside.owns() && !posted;
      },
      asio::detached);
  other->poll();
  BOOST_TEST(done);
}

BOOST_AUTO_TEST_CASE(R2_futures_are_served) {
  auto future = monitor->async_enter(asio::use_future);
  poll();
  BOOST_TEST(future.get().owns());
}

BOOST_AUTO_TEST_CASE(M6_waiting_leaves_the_monitor_and_enters_again) {
  bank::condition paid_in(*monitor);
  entry inside = monitor->try_enter();
  bool done = false;
  paid_in.async_wait(inside, [&](error_code e) { done = !e && inside.owns(); });
  BOOST_TEST(paid_in.waiters() == 1u);
  BOOST_TEST(!inside.owns());
  entry second = monitor->try_enter();
  BOOST_TEST(second.owns());
  paid_in.notify_one();
  poll();
  BOOST_TEST(!done);
  second.leave();
  poll();
  BOOST_TEST(done);
}

// Whoever waits, and whether it was closed; also where it lies where its own monitor was.
BOOST_AUTO_TEST_CASE(R15_an_entry_of_another_monitor_is_refused) {
  bank another(*context);
  bank::condition changed(*monitor);
  entry own = monitor->try_enter(), theirs = another.try_enter();
  waits_in_all_ways refused{*this, changed};
  BOOST_TEST(refused.with(theirs) == 8);
  BOOST_TEST(theirs.owns());
  BOOST_TEST(changed.waiters() == 0u);
  changed.async_wait(own, [](error_code) {});
  BOOST_TEST(refused.with(theirs) == 8);
  BOOST_TEST(theirs.owns());
  BOOST_TEST(changed.waiters() == 1u);
  changed.notify_one();
  poll();
  BOOST_TEST(own.owns());

  entry const taken(std::move(own));
  BOOST_TEST(refused.with(own) == 0);  // NOLINT(bugprone-use-after-move)
  BOOST_TEST((refused.error == not_permitted));
  changed.close();
  BOOST_TEST(refused.with(theirs) == 8);
  BOOST_TEST(theirs.owns());
}

BOOST_AUTO_TEST_CASE(R15_an_entry_of_a_monitor_at_the_place_of_a_dead_one_is_refused) {
  std::optional<bank> another(std::in_place, *context);
  bank::condition changed(*another);
  waits_in_all_ways refused{*this, changed};
  for (int i = 0; i != 10; ++i) {
    another.reset();
    another.emplace(*context);
    entry theirs = another->try_enter();
    BOOST_TEST(refused.with(theirs) == 8);
    BOOST_TEST(theirs.owns());
  }
}

BOOST_AUTO_TEST_CASE(M6_predicates_see_the_object) {
  bank::condition paid_in(*monitor);
  entry inside = monitor->try_enter();
  int done = 0;
  paid_in.async_wait(inside, at_least(2), [&](error_code e) { done += !e && inside.owns(); });
  for (int i = 0; i != 2; ++i) {
    poll();
    BOOST_TEST(done == 0);
    pay_in(1);
    paid_in.notify_all();
  }
  poll();
  BOOST_TEST(done == 1);
  paid_in.async_wait_for(inside, 0s, at_least(3), [&](error_code e) { done += e == timed_out; });
  poll();
  BOOST_TEST(done == 2);
  paid_in.async_wait_for(inside, 0s, [&](error_code e) { done += e == timed_out; });
  poll();
  BOOST_TEST(done == 3);
  BOOST_TEST(inside.owns());
}

BOOST_AUTO_TEST_CASE(M6_cancelled_and_closed_waits) {
  bank::condition paid_in(*monitor);
  entry inside = monitor->try_enter();
  std::optional<error_code> error;
  auto const handler = [&](error_code e) { error = e; };
  paid_in.async_wait_until(inside, std::chrono::steady_clock::time_point::max(), handler);
  BOOST_TEST(paid_in.cancel() == 1u);
  poll();
  BOOST_TEST((error == aborted));
  BOOST_TEST(inside.owns());
  paid_in.async_wait_until(inside, std::chrono::steady_clock::time_point::max(), at_least(1),
                           handler);
  poll();
  paid_in.close();
  poll();
  BOOST_TEST(paid_in.is_closed());
  BOOST_TEST((error == closed));
  BOOST_TEST(!inside.owns());
  BOOST_TEST(monitor->try_enter().owns());
}

BOOST_AUTO_TEST_CASE(M6_conditions_die_before_and_after_the_monitor) {
  std::optional<bank::condition> before(std::in_place, *monitor), after(std::in_place, *monitor);
  entry first = monitor->try_enter(), second;
  std::string errors;
  before->async_wait(first, [&](error_code e) { errors += e == aborted ? 'a' : '?'; });
  before.reset();
  poll();
  BOOST_TEST(errors == "a");
  BOOST_TEST(!first.owns());
  second = monitor->try_enter();
  after->async_wait(second, [&](error_code e) { errors += e == aborted ? 'b' : '?'; });
  monitor.reset();
  after.reset();
  poll();
  BOOST_TEST(errors == "ab");
  BOOST_TEST(!second.owns());
  BOOST_TEST(account::alive == 0);
}

BOOST_AUTO_TEST_CASE(M6_a_coroutine_waits_by_name) {
  bank::condition paid_in(*monitor);
  std::string seen;
  asio::co_spawn(
      *other,
      [&]() -> asio::awaitable<void> {
        entry inside = co_await monitor->async_enter();
        co_await paid_in.async_wait(inside, at_least(1), asio::use_awaitable);
        seen += std::to_string(inside->balance);
        co_await paid_in.async_wait(inside);
        seen += std::to_string(inside->balance);
      },
      asio::detached);
  poll();
  for (int i = 0; i != 2; ++i) {
    pay_in(1);
    paid_in.notify_one();
    poll();
  }
  BOOST_TEST(seen == "12");
}

BOOST_AUTO_TEST_SUITE_END()
