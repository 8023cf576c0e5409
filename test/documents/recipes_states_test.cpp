// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The code in doc/recipes.md about a gate, a watched value and permits that are to come back, and
// what that page says about it.

#include "documents/support.hpp"

#include <asio_sync/async_monitor.hpp>
#include <asio_sync/async_mutex.hpp>
#include <asio_sync/async_semaphore.hpp>
#include <asio_sync/async_shared_mutex.hpp>
#include <asio_sync/error.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <cstddef>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace recipes_states_test {

namespace asio = boost::asio;
using asio::use_awaitable;
using asio_sync::async_monitor;
using asio_sync::async_mutex;
using asio_sync::async_semaphore;
using asio_sync::async_shared_mutex;
using asio_sync::test::endings;
using asio_sync::test::page_fixture;
using boost::system::system_error;

// A gate.

std::atomic<int> inside = 0;

asio::awaitable<void> work_inside(bool fails) {
  ++inside;
  co_await asio::post(use_awaitable);
  co_await asio::post(use_awaitable);
  --inside;
  if (fails) throw std::runtime_error("work");
}

asio::awaitable<void> pass(async_shared_mutex& gate, bool fails) {
  auto passing = co_await gate.async_lock_shared();  // with all others, while the gate is open
  co_await work_inside(fails);
}

asio::awaitable<void> shut(async_shared_mutex& gate) {
  auto alone = co_await gate.async_lock();  // nobody enters any more, and all have left
  gate.close();                             // whoever waits, or comes later, gets error::closed
}

// A value that others watch.

template <class T>
struct watched {
  T value = {};
  std::size_t version = 0;
};

asio::awaitable<void> publish(async_monitor<watched<std::string>>& monitor, std::string value) {
  auto entry = co_await monitor.async_enter();
  entry->value = std::move(value);
  ++entry->version;
}  // leaving lets the predicates be looked at

asio::awaitable<std::string> changed(async_monitor<watched<std::string>>& monitor,
                                     std::size_t& seen) {
  auto const is_new = [&seen](watched<std::string> const& w) { return w.version != seen; };
  auto entry = co_await monitor.async_enter_when(is_new);
  seen = entry->version;
  co_return entry->value;
}

// Permits.

asio::awaitable<void> use_one(async_semaphore& connections, bool fails) {
  auto permit = co_await connections.async_acquire();
  co_await work_inside(fails);
}

asio::awaitable<void> drain(async_semaphore& connections) {
  auto all = co_await connections.async_acquire(connections.max());  // when all are back
  connections.close();  // whoever waits, or comes later, gets error::closed
}

}  // namespace recipes_states_test

BOOST_FIXTURE_TEST_SUITE(recipes_states_test, page_fixture)

BOOST_AUTO_TEST_CASE(a_gate_shuts_when_all_have_left) {
  async_shared_mutex gate(context);
  endings first, late, shutter;
  for (int i = 0; i < 3; ++i) asio::co_spawn(context, pass(gate, i == 1), first.count());
  for (int i = 0; i < 3; ++i) context.poll_one();
  BOOST_TEST(inside == 3);  // at a time
  asio::co_spawn(context, shut(gate), shutter.count());
  for (int i = 0; i < 2; ++i) asio::co_spawn(context, pass(gate, false), late.count());
  context.poll_one();
  BOOST_TEST(shutter.all() == 0);
  run();
  BOOST_TEST((first.well == 2 && first.failed == 1 && shutter.well == 1 && late.failed == 2));
  BOOST_TEST(inside == 0);
}

BOOST_AUTO_TEST_CASE(a_gate_on_two_threads) {
  for (int round = 0; round < 60; ++round) {
    async_shared_mutex gate(context);
    endings seen;
    bool empty = false;
    for (int i = 0; i < 8; ++i) {
      asio::co_spawn(context, pass(gate, i == 3), seen.count());
      asio::co_spawn(asio::make_strand(context), pass(gate, false), seen.count());
      if (i == 5)
        asio::co_spawn(context, shut(gate), [&](std::exception_ptr) { empty = inside == 0; });
    }
    run_on_two_threads();
    BOOST_TEST((seen.all() == 16 && empty));
  }
}

BOOST_AUTO_TEST_CASE(a_watched_value_is_seen_when_it_is_new) {
  async_monitor<watched<std::string>> monitor(context);
  std::size_t seen = 0;
  std::string value;
  auto const on_value = [&](std::exception_ptr error, std::string text) {
    BOOST_TEST(!error);
    value = text;
  };
  asio::co_spawn(context, changed(monitor, seen), on_value);
  poll();
  BOOST_TEST(value.empty());
  asio::co_spawn(context, publish(monitor, "one"), asio_sync::test::ended_well);
  run();
  BOOST_TEST((value == "one" && seen == 1u));
  for (char const* each : {"two", "three"})
    asio::co_spawn(context, publish(monitor, each), asio_sync::test::ended_well);
  run();
  asio::co_spawn(context, changed(monitor, seen), on_value);  // misses two, and gets the newest
  run();
  BOOST_TEST((value == "three" && seen == 3u));
}

BOOST_AUTO_TEST_CASE(a_watched_value_on_two_threads) {
  for (int round = 0; round < 60; ++round) {
    async_monitor<watched<std::string>> monitor(context);
    endings watchers, publishers, stopped;
    auto const watch = [&]() -> asio::awaitable<void> {
      std::size_t seen = 0;
      while (seen < 20) co_await changed(monitor, seen);
    };
    auto const watch_for_ever = [&]() -> asio::awaitable<void> {
      for (std::size_t seen = 0;;) co_await changed(monitor, seen);
    };
    auto const strand = asio::make_strand(context);
    asio::cancellation_signal stop;
    asio::co_spawn(strand, watch_for_ever,
                   asio::bind_cancellation_slot(stop.slot(), stopped.count()));
    asio::co_spawn(asio::make_strand(context), watch, watchers.count());
    asio::co_spawn(context, watch, watchers.count());
    asio::post(strand, [&] { stop.emit(asio::cancellation_type::terminal); });
    for (int i = 0; i < 20; ++i)
      asio::co_spawn(context, publish(monitor, "some text"), publishers.count());
    run_on_two_threads();
    BOOST_TEST((watchers.well == 2 && publishers.well == 20 && stopped.failed == 1));
  }
}

BOOST_AUTO_TEST_CASE(all_permits_back) {
  async_semaphore connections(context, 2, 2);
  endings users, drainer, late;
  for (int i = 0; i < 3; ++i) asio::co_spawn(context, use_one(connections, i == 1), users.count());
  for (int i = 0; i < 3; ++i) context.poll_one();
  asio::co_spawn(context, drain(connections), drainer.count());
  asio::co_spawn(context, use_one(connections, false), late.count());
  context.poll_one();
  BOOST_TEST(drainer.all() == 0);
  run();
  BOOST_TEST((users.well == 2 && users.failed == 1 && drainer.well == 1 && late.failed == 1));
}

BOOST_AUTO_TEST_CASE(all_permits_back_on_two_threads) {
  for (int round = 0; round < 60; ++round) {
    async_semaphore connections(context, 3, 3);
    endings seen;
    bool empty = false;
    for (int i = 0; i < 8; ++i) {
      asio::co_spawn(context, use_one(connections, i == 3), seen.count());
      asio::co_spawn(asio::make_strand(context), use_one(connections, false), seen.count());
      if (i == 5)
        asio::co_spawn(context, drain(connections),
                       [&](std::exception_ptr) { empty = inside == 0; });
    }
    run_on_two_threads();
    BOOST_TEST((seen.all() == 16 && empty));
  }
}

BOOST_AUTO_TEST_CASE(without_a_maximum_too_many_permits_are_waited_for) {
  async_semaphore limited(context, 2, 2), unlimited(context, 2);
  endings seen;
  asio::co_spawn(
      context, [&]() -> asio::awaitable<void> { (co_await limited.async_acquire(3)).release(); },
      seen.count());
  poll();
  BOOST_TEST(seen.failed == 1);  // invalid_argument
  asio::co_spawn(
      context, [&]() -> asio::awaitable<void> { (co_await unlimited.async_acquire(3)).release(); },
      seen.count());
  poll();
  BOOST_TEST((seen.all() == 1 && unlimited.waiters() == 1u));
  unlimited.release();
  run();
  BOOST_TEST(seen.well == 1);
}

BOOST_AUTO_TEST_SUITE_END()
