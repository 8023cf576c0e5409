// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The code in doc/async_monitor.md.

#include "support/test.hpp"

#include <asio_sync/async_monitor.hpp>

// The program on the page, from its first line to its last; what it includes is included above.
namespace monitor_program {

// clang-format off
#include <asio_sync/async_monitor.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <iostream>

namespace asio = boost::asio;

struct account {
  int balance = 0;
};

using bank = asio_sync::async_monitor<account>;

asio::awaitable<void> withdraw(bank& from, int amount) {
  auto const enough = [amount](account const& a) { return a.balance >= amount; };
  auto inside = co_await from.async_enter_when(enough);
  inside->balance -= amount;
  std::cout << "out " << amount << ", left " << inside->balance << "\n";
}

asio::awaitable<void> pay_in(bank& to, int amount) {
  int const sum = co_await to.async_invoke([amount](account& a) { return a.balance += amount; });
  std::cout << "in " << amount << ", now " << sum << "\n";
}

int main() {
  asio::io_context context;
  bank shared(context);
  for (int amount : {30, 10}) asio::co_spawn(context, withdraw(shared, amount), asio::detached);
  for (int amount : {20, 30}) asio::co_spawn(context, pay_in(shared, amount), asio::detached);
  context.run();
  return 0;
}
// clang-format on

}  // namespace monitor_program

BOOST_AUTO_TEST_SUITE(monitor_document_test)

using namespace asio_sync::test;
using asio::as_tuple;
using asio::use_awaitable;
using queue = std::queue<int>;

BOOST_AUTO_TEST_CASE(the_program_on_the_page_prints_what_the_page_says) {
  std::ostringstream printed;
  auto* const usual = std::cout.rdbuf(printed.rdbuf());
  int const status = monitor_program::main();
  std::cout.rdbuf(usual);
  BOOST_TEST(status == 0);
  BOOST_TEST(printed.str() == "in 20, now 20\nout 10, left 10\nin 30, now 40\nout 30, left 10\n");
}

BOOST_AUTO_TEST_CASE(entered_and_invoked) {
  asio::io_context context;
  async_monitor<queue> jobs(context);
  std::string trace;
  auto const producer = [&]() -> asio::awaitable<void> {
    // clang-format off
    auto inside = co_await jobs.async_enter();
    inside->push(1);  // leaves at the end of the scope
    // clang-format on
  };
  auto const consumer = [&]() -> asio::awaitable<void> {
    {
      // clang-format off
      auto const has_jobs = [](queue const& q) { return !q.empty(); };
      auto inside = co_await jobs.async_enter_when(has_jobs);
      int const job = inside->front();
      // clang-format on
      trace += std::to_string(job);
    }
    // clang-format off
    auto const add = [](queue& q) {
      q.push(2);
      return q.size();
    };
    std::size_t const size = co_await jobs.async_invoke(add);
    // clang-format on
    trace += std::to_string(size);
    // clang-format off
    jobs.async_invoke(add, [&](std::exception_ptr thrown, std::size_t n) {
      if (!thrown) trace += std::to_string(n);
    });
    auto const slowly = [](queue& q) -> asio::awaitable<void> {
      co_await asio::post(asio::use_awaitable);
      q.pop();
    };
    co_await jobs.async_invoke(slowly);
    // clang-format on
    trace += std::to_string((co_await jobs.async_enter())->size());
  };
  asio::co_spawn(context, consumer, asio::detached);
  asio::co_spawn(context, producer, asio::detached);
  context.run();
  BOOST_TEST(trace == "1232");
}

BOOST_AUTO_TEST_CASE(a_condition_is_waited_for) {
  asio::io_context context;
  async_monitor<queue> jobs(context, queue({1, 2}));
  bool pushed = false;
  // clang-format off
  async_monitor<queue>::condition not_full(jobs);
  // clang-format on
  auto const producer = [&]() -> asio::awaitable<void> {
    // clang-format off
    auto const has_room = [](queue const& q) { return q.size() < 2; };
    auto inside = co_await jobs.async_enter();
    co_await not_full.async_wait(inside, has_room);
    inside->push(3);
    // clang-format on
    pushed = inside->size() == 2;
  };
  asio::co_spawn(context, producer, asio::detached);
  context.poll();
  BOOST_TEST(!pushed);
  jobs.try_enter()->pop();
  not_full.notify_one();
  context.run();
  BOOST_TEST(pushed);
}

BOOST_AUTO_TEST_CASE(an_entry_gives_up) {
  asio::io_context context;
  async_monitor<queue> jobs(context);
  auto const full = [](queue const& q) { return q.size() == 2; };
  auto const enters = [&]() -> asio::awaitable<std::string> {
    // clang-format off
    auto [error, inside] = co_await jobs.async_enter_when_for(full, 1ms, as_tuple(use_awaitable));
    if (error == asio::error::timed_out) co_return "not full";
    // clang-format on
    co_return "full";
  };
  auto result = asio::co_spawn(context, enters, asio::use_future);
  context.run();
  BOOST_TEST(result.get() == "not full");
}

BOOST_AUTO_TEST_SUITE_END()
