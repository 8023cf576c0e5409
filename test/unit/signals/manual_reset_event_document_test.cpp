// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The code in doc/async_manual_reset_event.md that is in no example, and what that page says
// beside the rules.

#include "support/test.hpp"

#include <asio_sync/async_manual_reset_event.hpp>

// The program on the page, from its first line to its last; what it includes is included above.
namespace event_program {

// clang-format off
#include <asio_sync/async_manual_reset_event.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <iostream>

namespace asio = boost::asio;

asio::awaitable<void> serve(asio_sync::async_manual_reset_event& ready, int service) {
  co_await ready.async_wait();  // until the configuration has been read
  std::cout << "service " << service << " starts\n";
}

int main() {
  asio::io_context context;
  asio_sync::async_manual_reset_event ready(context);
  for (int service = 1; service <= 3; ++service)
    asio::co_spawn(context, serve(ready, service), asio::detached);
  asio::post(context, [&] {  // instead of reading a file
    std::cout << ready.waiters() << " wait\n";
    ready.set();  // releases all three, and later waits, too
  });
  context.run();
  return 0;
}
// clang-format on

}  // namespace event_program

BOOST_AUTO_TEST_SUITE(manual_reset_event_document_test)

using namespace asio_sync::test;
using asio::bind_cancellation_slot;

// Puts the outcome of a wait where a test finds it.
auto into(error_code& target) {
  target = asio::error::would_block;
  return [&target](error_code error) { target = error; };
}

BOOST_AUTO_TEST_CASE(the_program_on_the_page_prints_what_the_page_says) {
  std::ostringstream printed;
  auto* const usual = std::cout.rdbuf(printed.rdbuf());
  int const status = event_program::main();
  std::cout.rdbuf(usual);
  BOOST_TEST(status == 0);
  BOOST_TEST(printed.str() == "3 wait\nservice 1 starts\nservice 2 starts\nservice 3 starts\n");
}

BOOST_AUTO_TEST_CASE(a_coroutine_does_not_suspend_for_an_event_that_is_set) {
  asio::io_context context;
  async_manual_reset_event ready(context, true);
  std::string trace;
  auto const start = [&]() -> asio::awaitable<void> {
    co_await ready.async_wait();  // goes on at once if the event is set
    trace += "child ";
  };
  asio::post(context, [&] {
    asio::co_spawn(context, start(), asio::detached);
    trace += "parent";
  });
  context.run();
  BOOST_TEST(trace == "child parent");
}

BOOST_AUTO_TEST_CASE(a_callback_gets_the_error_alone) {
  asio::io_context context;
  async_manual_reset_event ready(context);
  int accepting = 0;
  auto const start_accepting = [&] { ++accepting; };
  ready.async_wait([&](error_code error) {
    if (!error) start_accepting();
  });
  context.poll();
  BOOST_TEST(accepting == 0);
  ready.set();
  BOOST_TEST(accepting == 0);  // set() runs no handler
  context.run();
  BOOST_TEST(accepting == 1);
}

BOOST_AUTO_TEST_CASE(a_set_releases_those_who_wait_even_if_a_reset_follows) {
  asio::io_context context;
  async_manual_reset_event gate(context);
  error_code first, second, third;
  gate.async_wait(into(first));
  gate.async_wait(into(second));
  gate.set();                    // releases both
  gate.reset();                  // they complete all the same
  gate.async_wait(into(third));  // waits for the next set()
  context.poll();
  BOOST_TEST((!first && !second && !gate.is_set()));
  BOOST_TEST(third == asio::error::would_block);
  BOOST_TEST(gate.waiters() == 1u);
  gate.reset();
  BOOST_TEST(gate.waiters() == 1u);
  gate.set();
  gate.set();
  BOOST_TEST((gate.is_set() && gate.waiters() == 0u));
  context.restart();
  context.run();
  BOOST_TEST(!third);
}

BOOST_AUTO_TEST_CASE(a_cancellation_ends_one_wait_and_cancel_all_of_them) {
  asio::io_context context;
  async_manual_reset_event event(context);
  error_code refused, other, another;
  auto const handler = into(refused);
  event.async_wait(into(other));
  asio::cancellation_signal stop;
  event.async_wait(bind_cancellation_slot(stop.slot(), handler));
  stop.emit(asio::cancellation_type::total);  // on any thread
  BOOST_TEST(event.waiters() == 1u);
  BOOST_TEST(event.cancel() == 1u);
  event.async_wait(bind_cancellation_slot(stop.slot(), into(another)));
  event.set();
  stop.emit(asio::cancellation_type::total);  // too late
  BOOST_TEST(event.cancel() == 0u);
  context.run();
  BOOST_TEST(refused == asio::error::operation_aborted);
  BOOST_TEST(other == asio::error::operation_aborted);
  BOOST_TEST(!another);
}

BOOST_AUTO_TEST_CASE(a_thread_blocks_until_the_event_is_set) {
  asio::io_context context;
  async_manual_reset_event ready(context);
  int configuration = 0;
  BOOST_TEST(!ready.wait_for(1ms));
  std::thread thread([&] {
    configuration = 42;
    ready.set();
  });
  ready.wait();  // blocks this thread
  BOOST_TEST(configuration == 42);
  thread.join();
  BOOST_TEST(ready.wait_for(0s));
  BOOST_TEST(ready.wait_until(std::chrono::steady_clock::time_point()));
}

BOOST_AUTO_TEST_SUITE_END()
