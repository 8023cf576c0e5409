// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Where the operations of a monitor meet what their predicates, functions and entries do.

#include "unit/monitor_fixture.hpp"

#include <asio_sync/async_monitor.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <vector>

namespace monitor_operations_test {

namespace asio = boost::asio;
using namespace asio_sync::test;
using boost::system::error_code;

// One of whose moves throws.
struct awkward {
  awkward() = default;
  awkward(awkward&&) {  // NOLINT(performance-noexcept-move-constructor,bugprone-exception-escape)
    if (--moves_left == 0) throw std::runtime_error("moved");
  }
  awkward& operator=(awkward&&) = delete;
  ~awkward() = default;

  static inline int moves_left = 0;
};

// The predicate destroys the monitor that it is looked at for, on the strand, and says that.
asio::awaitable<void> look_and_destroy(std::optional<bank>& monitor, bool says,
                                       error_code& result) {
  auto predicate = [&](account const&) {
    monitor.reset();
    return says;
  };
  auto [error, inside] =
      co_await monitor->async_enter_when(predicate, asio::as_tuple(asio::use_awaitable));
  BOOST_TEST(!inside.owns());
  result = error;
}

asio::awaitable<void> fail_to_look(bank& monitor, bool& told) {
  auto const fails = [](account const&) -> bool { throw std::runtime_error("looked"); };
  auto [thrown] = co_await monitor.async_invoke_when(
      fails, [](account&) {}, asio::as_tuple(asio::use_awaitable));
  told = thrown != nullptr;
}

}  // namespace monitor_operations_test

BOOST_AUTO_TEST_SUITE(monitor_operations_test)

BOOST_AUTO_TEST_CASE(R9_a_predicate_destroys_the_monitor_of_a_coroutine) {
  for (bool const says : {false, true}) {
    asio::io_context context;
    std::optional<bank> monitor(std::in_place, context);
    error_code result;
    co_spawn(monitor->get_executor(), look_and_destroy(monitor, says, result), asio::detached);
    context.run();
    BOOST_TEST(result == aborted);
  }
}

BOOST_AUTO_TEST_CASE(M4_what_a_predicate_throws_is_in_the_tuple_of_a_coroutine) {
  asio::io_context context;
  bank monitor(context);
  bool told = false;
  co_spawn(monitor.get_executor(), fail_to_look(monitor, told), asio::detached);
  context.run();
  BOOST_TEST(told);
  BOOST_TEST(monitor.try_enter().owns());
}

BOOST_AUTO_TEST_CASE(M6_the_entry_may_be_filled_before_the_wait_is_launched) {
  asio::io_context context;
  bank monitor(context, 7);
  bank::condition changed(monitor);
  bank::entry inside;
  auto wait = changed.async_wait(inside, at_least(7), asio::deferred);
  inside = monitor.try_enter();
  std::optional<error_code> result;
  std::move(wait)([&](error_code error) { result = error; });
  context.run();
  BOOST_TEST((result == error_code()));
  BOOST_TEST(inside.owns());
}

BOOST_AUTO_TEST_CASE(M6_a_condition_waits_after_the_end_of_the_strands_context) {
  auto home = std::make_unique<asio::io_context>();
  asio::io_context other;
  std::optional<bank> monitor(std::in_place, *home);
  std::optional<bank::condition> changed(std::in_place, *monitor);
  bank::entry inside = monitor->try_enter();
  home.reset();
  auto const alive = std::make_shared<int>();
  changed->async_wait(inside, [alive](error_code) { BOOST_ERROR("has nowhere to run"); });
  BOOST_TEST(alive.use_count() == 1);
  std::optional<error_code> result;
  changed->async_wait(inside, asio::bind_executor(other, [&](error_code e) { result = e; }));
  changed->notify_one();
  other.run();
  BOOST_TEST(result.has_value());
}

// What Asio's own frames move and lose comes out of run().
BOOST_AUTO_TEST_CASE(M5_a_result_whose_move_throws_is_an_exception_of_the_function) {
  int told = 0;
  for (int moves = 1; moves != 12; ++moves) {
    asio::io_context context;
    bank monitor(context);
    awkward::moves_left = moves;
    monitor.async_invoke([](account&) -> asio::awaitable<awkward> { co_return awkward(); },
                         [&](std::exception_ptr thrown, awkward const&) {
                           told += thrown && error_in(thrown) != aborted;
                         });
    try {
      context.run();
    } catch (std::runtime_error const&) {
      context.run();
    }
    BOOST_TEST(monitor.try_enter().owns());
  }
  BOOST_TEST(told > 0);
}

BOOST_AUTO_TEST_CASE(M4_predicates_may_be_generic) {
  asio::io_context context;
  asio_sync::async_monitor<std::vector<int>> monitor(context, std::vector<int>{1});
  asio_sync::async_monitor<std::vector<int>>::condition changed(monitor);
  auto const filled = [](auto const& items) { return !items.empty(); };
  int met = 0;
  monitor.async_enter_when(filled, [&](error_code, auto inside) { met += inside.owns(); });
  context.run();
  auto inside = monitor.try_enter();
  changed.async_wait(inside, filled, [&](error_code error) { met += !error; });
  context.restart();
  context.run();
  changed.async_wait_for(inside, std::chrono::hours(1), filled,
                         [&](error_code error) { met += !error; });
  context.restart();
  context.run();
  BOOST_TEST(met == 3);
}

BOOST_AUTO_TEST_SUITE_END()
