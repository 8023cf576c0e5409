// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The code in doc/async_barrier.md that is in no example, and what that page says beside the
// rules.

#include "support/test.hpp"

#include <asio_sync/async_barrier.hpp>

// The program on the page, from its first line to its last; what it includes is included above.
namespace barrier_program {

// clang-format off
#include <asio_sync/async_barrier.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <iostream>

namespace asio = boost::asio;

asio::awaitable<void> work(asio_sync::async_barrier& barrier, int worker) {
  for (int phase = 1; phase <= 2; ++phase) {
    for (int i = 0; i < worker; ++i) co_await asio::post(asio::use_awaitable);  // works
    std::cout << "worker " << worker << " has ended phase " << phase << "\n";
    bool const leader = co_await barrier.async_arrive_and_wait();  // for the others
    if (leader) std::cout << "worker " << worker << " was the last\n";
  }
}

int main() {
  asio::io_context context;
  asio_sync::async_barrier barrier(context, 3, [] { std::cout << "all have\n"; });
  for (int worker = 1; worker <= 3; ++worker)
    asio::co_spawn(context, work(barrier, worker), asio::detached);
  context.run();
  return 0;
}
// clang-format on

}  // namespace barrier_program

BOOST_AUTO_TEST_SUITE(barrier_document_test)

using namespace asio_sync::test;
using asio::as_tuple;
using asio::bind_cancellation_slot;
using asio::use_awaitable;

BOOST_AUTO_TEST_CASE(the_program_on_the_page_prints_what_the_page_says) {
  std::ostringstream printed;
  auto* const usual = std::cout.rdbuf(printed.rdbuf());
  int const status = barrier_program::main();
  std::cout.rdbuf(usual);
  BOOST_TEST(status == 0);
  BOOST_TEST(printed.str() ==
             "worker 1 has ended phase 1\nworker 2 has ended phase 1\nworker 3 has ended phase 1\n"
             "all have\nworker 3 was the last\n"
             "worker 1 has ended phase 2\nworker 2 has ended phase 2\nworker 3 has ended phase 2\n"
             "all have\nworker 3 was the last\n");
}

asio::awaitable<void> smooth(async_barrier& barrier, std::vector<int>& now,
                             std::vector<int> const& next, std::size_t i) {
  now[i] += next[i];                         // its part of this phase
  co_await barrier.async_arrive_and_wait();  // then `now` and `next` have been swapped
}

BOOST_AUTO_TEST_CASE(the_completion_function_works_for_all) {
  asio::io_context context;
  std::vector<int> old_grid(2, 1), new_grid(2, 2);
  async_barrier barrier(context, 2, [&] { std::swap(old_grid, new_grid); });
  for (std::size_t i : {0u, 1u})
    asio::co_spawn(context, smooth(barrier, new_grid, old_grid, i), asio::detached);
  context.run();
  BOOST_TEST((old_grid[0] == 3 && new_grid[0] == 1));
}

asio::awaitable<bool> take_part(async_barrier& barrier) {
  auto [error, leader] = co_await barrier.async_arrive_and_wait_for(1ms, as_tuple(use_awaitable));
  if (error == asio::error::timed_out) co_return false;            // and has broken the phase
  if (error == asio_sync::error::broken_barrier) co_return false;  // another one has
  co_return true;
}

BOOST_AUTO_TEST_CASE(who_gives_up_breaks_the_phase) {
  asio::io_context context;
  async_barrier barrier(context, 3);
  int gave_up = 0;
  for (int i = 0; i < 2; ++i)
    asio::co_spawn(context, take_part(barrier),
                   [&](std::exception_ptr, bool met) { gave_up += !met; });
  context.run();
  BOOST_TEST(gave_up == 2);
}

BOOST_AUTO_TEST_CASE(who_leaves_is_not_waited_for) {
  asio::io_context context;
  async_barrier barrier(context, 2);
  bool leads = false;
  barrier.async_arrive_and_wait([&](error_code, bool leader) { leads = leader; });
  barrier.arrive_and_drop();  // one less, now and from now on
  context.run();
  BOOST_TEST(leads);
}

BOOST_AUTO_TEST_CASE(a_slot_cancels) {
  asio::io_context context;
  async_barrier barrier(context, 2);
  error_code refused;
  auto const handler = [&](error_code error, bool) { refused = error; };
  asio::cancellation_signal stop;
  barrier.async_arrive_and_wait(bind_cancellation_slot(stop.slot(), handler));
  stop.emit(asio::cancellation_type::total);  // on any thread
  context.run();
  BOOST_TEST((refused == asio::error::operation_aborted));
}

BOOST_AUTO_TEST_CASE(threads_take_part) {
  asio::io_context context;
  async_barrier barrier(context, 2);
  bool first = false, second = false;
  std::thread other([&] { first = barrier.arrive_and_wait(); });
  second = barrier.arrive_and_wait();  // blocks this thread
  other.join();
  BOOST_TEST(first != second);
}

BOOST_AUTO_TEST_CASE(a_timed_thread_hears_of_three_things) {
  asio::io_context context;
  async_barrier barrier(context, 1);
  auto const leader = barrier.arrive_and_wait_for(1s);
  std::string const outcome = !leader ? "too late" : *leader ? "the leader" : "one of them";
  BOOST_TEST(outcome == "the leader");
}

BOOST_AUTO_TEST_SUITE_END()
