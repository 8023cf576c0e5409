// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// What a monitor passes on may run before the function that does so has returned: on another
// thread, or on this one, where an executor runs inline although it promises not to. The next one
// inside then overwrites or destroys the entry, the condition and the monitor.

#include "support/executors.hpp"
#include "support/test.hpp"
#include "unit/monitor/fixture.hpp"

#include <asio_sync/async_monitor.hpp>

namespace monitor_tails_test {

using namespace asio_sync::test;
using entry = bank::entry;

// Has another thread run what it is given, and waits for that: it has come that far before the
// function returns that lets it go.
struct handed_over_executor {
  handed_over_executor require(asio::execution::blocking_t::never_t) const noexcept {
    return *this;
  }
  asio::execution_context& query(asio::execution::context_t) const noexcept { return *context; }
  static constexpr asio::execution::blocking_t query(asio::execution::blocking_t) noexcept {
    return asio::execution::blocking.never;
  }
  template <class Function>
  void execute(Function&& f) const {
    std::thread(std::forward<Function>(f)).join();
  }
  friend bool operator==(handed_over_executor const&,
                         handed_over_executor const&) noexcept = default;

  asio::io_context* context;
};

struct tails_fixture : monitor_fixture {
  // Runs the handler inside the function that completes its wait.
  template <class Handler>
  auto at_once(Handler handler) {
    return asio::bind_executor(inline_executor(*other), std::move(handler));
  }

  // Ends all that the function which completes it may still use.
  auto end_all() {
    return at_once([this](auto const&...) {
      order += 'a';
      current = entry();
      changed.reset();
      monitor.reset();
    });
  }

  entry current;  // the monitor guards it
  std::optional<bank::condition> changed{std::in_place, *monitor};
};

}  // namespace monitor_tails_test

BOOST_FIXTURE_TEST_SUITE(monitor_tails_test, tails_fixture)

BOOST_AUTO_TEST_CASE(R9_destroyed_by_a_wait_that_close_completes) {
  for (bool const a_visit_waits : {false, true}) {
    tails_fixture of;
    of.current = of.monitor->try_enter();
    of.monitor->async_enter(of.end_all());
    if (a_visit_waits) of.monitor->async_enter_when(at_least(1), of.note('b'));
    of.monitor->close();
    BOOST_TEST(!of.monitor);
    of.poll();
    BOOST_TEST(of.order == (a_visit_waits ? "abc" : "a"));
  }
  BOOST_TEST(account::alive == 1);
}

// A plain wait, one for a predicate and one of a condition; each function that ends them.
BOOST_AUTO_TEST_CASE(R9_destroyed_by_whom_each_function_completes) {
  std::function<void(tails_fixture&)> const begins[] = {
      [](tails_fixture& of) { of.monitor->async_enter(of.end_all()); },
      [](tails_fixture& of) { of.monitor->async_enter_when(at_least(1), of.end_all()); },
      [](tails_fixture& of) {
        of.monitor->async_invoke_when(
            at_least(1), [](account&) {}, of.end_all());
      },
      [](tails_fixture& of) { of.changed->async_wait(of.current, of.end_all()); },
      [](tails_fixture& of) { of.changed->async_wait(of.current, at_least(1), of.end_all()); },
      [](tails_fixture& of) { of.changed->async_wait_for(of.current, 1h, of.end_all()); }};
  std::function<void(tails_fixture&)> const ends[] = {
      [](tails_fixture& of) { of.monitor->cancel(); },
      [](tails_fixture& of) { of.monitor->close(); },
      [](tails_fixture& of) { of.monitor.reset(); },
      [](tails_fixture& of) { of.changed->cancel(); },
      [](tails_fixture& of) { of.changed->close(); },
      [](tails_fixture& of) { of.changed.reset(); },
      [](tails_fixture& of) { of.changed->notify_one(); },
      [](tails_fixture& of) { of.changed->notify_all(); },
      [](tails_fixture& of) {
        if (!of.current) of.current = of.monitor->try_enter();
        if (of.current) of.current->balance = 1;
        of.current = entry();
      }};
  for (auto const& begin : begins) {
    for (auto const& end : ends) {
      tails_fixture of;
      of.current = of.monitor->try_enter();
      begin(of);
      of.poll();
      if (of.order.empty()) end(of);
      of.poll();
      of.current = entry();
      of.changed.reset();
      of.monitor.reset();
      of.poll();
      BOOST_TEST(of.order == "a");
    }
  }
  BOOST_TEST(account::alive == 1);
}

BOOST_AUTO_TEST_CASE(R3_who_leaves_is_overwritten_by_the_next_one_inside) {
  std::function<void(tails_fixture&)> const leaves[] = {
      [](tails_fixture& of) { of.current.leave(); },
      [](tails_fixture& of) { of.current = entry(); },
      [](tails_fixture& of) { entry const old(std::move(of.current)); },
      [](tails_fixture& of) {
        of.changed->async_wait(of.current, of.at_once([](error_code) {}));
      }};
  for (auto const& leave : leaves) {
    tails_fixture of;
    of.current = of.monitor->try_enter();
    of.monitor->async_enter(
        of.at_once([&](error_code, entry inside) { of.current = std::move(inside); }));
    leave(of);
    BOOST_TEST(of.current.owns());
    of.current = entry();
    BOOST_TEST(static_cast<bool>(of.monitor->try_enter()));
  }
}

BOOST_AUTO_TEST_CASE(R3_who_leaves_is_overwritten_on_another_thread) {
  current = monitor->try_enter();
  for (int i = 0; i != 3; ++i) {
    monitor->async_enter(
        asio::bind_executor(handed_over_executor{&*other}, [&](error_code, entry inside) {
          inside->balance = i + 1;
          current = std::move(inside);
        }));
    if (i == 1)
      current = entry();
    else
      current.leave();
    BOOST_TEST_REQUIRE(current.owns());
    BOOST_TEST(current->balance == i + 1);
  }
}

BOOST_AUTO_TEST_SUITE_END()
