// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The code in doc/async_latch.md that is in no example, and what that page says beside the rules.

#include "support/test.hpp"

#include <asio_sync/async_latch.hpp>

// The program on the page, from its first line to its last; what it includes is included above.
namespace latch_program {

// clang-format off
#include <asio_sync/async_latch.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <iostream>

namespace asio = boost::asio;

asio::awaitable<void> work(asio_sync::async_latch& all_ready, int worker) {
  for (int i = 0; i < worker; ++i) co_await asio::post(asio::use_awaitable);  // gets ready
  std::cout << "worker " << worker << " is ready\n";
  co_await all_ready.async_arrive_and_wait();  // counts down, and waits for the others
  std::cout << "worker " << worker << " starts\n";
}

int main() {
  asio::io_context context;
  asio_sync::async_latch all_ready(context, 3);
  for (int worker = 1; worker <= 3; ++worker)
    asio::co_spawn(context, work(all_ready, worker), asio::detached);
  context.run();
  return 0;
}
// clang-format on

}  // namespace latch_program

BOOST_AUTO_TEST_SUITE(latch_document_test)

using namespace asio_sync::test;
using asio::as_tuple;
using asio::bind_cancellation_slot;
using asio::use_awaitable;

// Puts the outcome of a wait where a test finds it.
auto into(error_code& target) {
  target = asio::error::would_block;
  return [&target](error_code error) { target = error; };
}

asio::awaitable<void> play(std::deque<async_latch>& rounds, std::string& trace, char player) {
  for (async_latch& round : rounds) {
    trace += player;                         // its turn in this round
    co_await round.async_arrive_and_wait();  // the next one begins when all have had theirs
  }
}

BOOST_AUTO_TEST_CASE(the_program_on_the_page_prints_what_the_page_says) {
  std::ostringstream printed;
  auto* const usual = std::cout.rdbuf(printed.rdbuf());
  int const status = latch_program::main();
  std::cout.rdbuf(usual);
  BOOST_TEST(status == 0);
  BOOST_TEST(printed.str() ==
             "worker 1 is ready\nworker 2 is ready\nworker 3 is ready\n"
             "worker 3 starts\nworker 1 starts\nworker 2 starts\n");
}

BOOST_AUTO_TEST_CASE(a_latch_is_counted_down_to_zero) {
  asio::io_context context;
  error_code all;
  async_latch loaded(context, 4);
  loaded.async_wait(into(all));
  for (int part = 0; part < 2; ++part) asio::post(context, [&] { loaded.count_down(); });
  asio::post(context, [&] { loaded.count_down(2); });
  context.run_one();
  context.run_one();
  BOOST_TEST(!loaded.try_wait());
  context.run();
  BOOST_TEST(loaded.try_wait());
  BOOST_TEST(!all);
}

BOOST_AUTO_TEST_CASE(a_coroutine_does_not_suspend_for_a_latch_that_is_open_or_as_the_last) {
  asio::io_context context;
  async_latch loaded(context, 0), all_ready(context, 1);
  std::string trace;
  auto const start = [&]() -> asio::awaitable<void> {
    co_await loaded.async_wait();  // goes on at once if the latch is open
    trace += "open ";
    co_await all_ready.async_arrive_and_wait();  // counts down, and waits for the others
    trace += "child ";
  };
  asio::post(context, [&] {
    asio::co_spawn(context, start(), asio::detached);
    trace += "parent";
  });
  context.run();
  BOOST_TEST(trace == "open child parent");
}

BOOST_AUTO_TEST_CASE(players_take_their_turns_in_rounds) {
  asio::io_context context;
  std::deque<async_latch> rounds;
  for (int i = 0; i < 3; ++i) rounds.emplace_back(context, 2);
  std::string trace;
  for (char const player : {'a', 'b'})
    asio::co_spawn(context, play(rounds, trace, player), asio::detached);
  context.run();
  BOOST_TEST(trace.size() == 6u);
  for (std::size_t i = 0; i < 6; i += 2) BOOST_TEST(trace[i] != trace[i + 1]);
}

BOOST_AUTO_TEST_CASE(an_arrival_that_times_out_stands) {
  asio::io_context context;
  async_latch all_ready(context, 2);
  bool in_time = true;
  auto const start = [&]() -> asio::awaitable<bool> {
    auto [error] = co_await all_ready.async_arrive_and_wait_for(1ms, as_tuple(use_awaitable));
    if (error == asio::error::timed_out) co_return false;  // and the others need not wait for it
    co_return true;
  };
  asio::co_spawn(context, start(), [&](std::exception_ptr, bool result) { in_time = result; });
  context.run();
  BOOST_TEST(!in_time);
  BOOST_TEST(all_ready.arrive_and_wait_for(0s));
}

BOOST_AUTO_TEST_CASE(a_cancellation_ends_the_wait_and_not_the_arrival) {
  asio::io_context context;
  async_latch latch(context, 2);
  error_code refused, other;
  auto const handler = into(refused);
  latch.async_wait(into(other));
  asio::cancellation_signal stop;
  latch.async_arrive_and_wait(bind_cancellation_slot(stop.slot(), handler));
  stop.emit(asio::cancellation_type::total);  // on any thread
  BOOST_TEST(latch.waiters() == 1u);
  BOOST_TEST(!latch.try_wait());
  latch.count_down();
  BOOST_TEST(latch.cancel() == 0u);
  context.run();
  BOOST_TEST(refused == asio::error::operation_aborted);
  BOOST_TEST(!other);
}

BOOST_AUTO_TEST_CASE(a_thread_blocks_until_all_have_arrived) {
  asio::io_context context;
  async_latch all_ready(context, 2);
  int data = 0;
  BOOST_TEST(!all_ready.wait_for(1ms));
  std::thread thread([&] {
    data = 42;
    all_ready.count_down();
  });
  all_ready.arrive_and_wait();  // blocks this thread
  BOOST_TEST(data == 42);
  thread.join();
}

BOOST_AUTO_TEST_SUITE_END()
