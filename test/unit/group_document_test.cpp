// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The code in doc/async_group.md.

#include <asio_sync/async_group.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <future>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>

// The program on the page, from its first line to its last; what it includes is included above.
namespace group_program {

// clang-format off
#include <asio_sync/async_group.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <iostream>

namespace asio = boost::asio;

asio::awaitable<void> work(int worker) {
  for (int i = 0; i < worker; ++i) co_await asio::post(asio::use_awaitable);
  std::cout << "worker " << worker << " is done\n";
}

int main() {
  asio::io_context context;
  asio_sync::async_group workers(context);
  for (int worker = 1; worker <= 3; ++worker)
    asio::co_spawn(context, work(worker), workers.track(asio::detached));
  std::cout << workers.pending() << " are at work\n";
  workers.async_join([](boost::system::error_code) { std::cout << "all are done\n"; });
  context.run();
  return 0;
}
// clang-format on

}  // namespace group_program

BOOST_AUTO_TEST_SUITE(group_document_test)

namespace asio = boost::asio;
using asio::as_tuple;
using asio::bind_cancellation_slot;
using asio::use_awaitable;
using asio::use_future;
using asio_sync::async_group;
using boost::system::error_code;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_CASE(the_program_on_the_page_prints_what_the_page_says) {
  std::ostringstream printed;
  auto* const usual = std::cout.rdbuf(printed.rdbuf());
  int const status = group_program::main();
  std::cout.rdbuf(usual);
  BOOST_TEST(status == 0);
  BOOST_TEST(
      printed.str() ==
      "3 are at work\nworker 1 is done\nworker 2 is done\nworker 3 is done\nall are done\n");
}

BOOST_AUTO_TEST_CASE(operations_are_tracked) {
  asio::io_context context;
  async_group group(context);
  asio::steady_timer timer(context, 0s);
  std::string trace;
  auto const coroutine = [&]() -> asio::awaitable<void> {
    // clang-format off
    timer.async_wait(group.track([&](error_code e) { trace += e ? "stopped " : "waited "; }));
    std::future<void> future = timer.async_wait(group.track(use_future));
    auto deferred = timer.async_wait(group.track(asio::deferred));  // counts when it is launched
    co_await timer.async_wait(group.track(use_awaitable));
    // clang-format on
    co_await group.async_join();
    future.get();
    BOOST_TEST(group.pending() == 0);
    std::move(deferred)([&](error_code) { trace += "launched"; });
    BOOST_TEST(group.pending() == 1);
  };
  asio::co_spawn(context, coroutine, asio::detached);
  context.run();
  BOOST_TEST(trace == "waited launched");
}

BOOST_AUTO_TEST_CASE(a_thread_is_added) {
  asio::io_context context;
  async_group group(context);
  int result = 0;
  // clang-format off
group.add();
std::thread worker([&] {
  result = 42;
  group.done();
});
  // clang-format on
  bool joined = false;
  group.async_join([&](error_code) { joined = result == 42; });
  context.run();
  worker.join();
  BOOST_TEST(joined);
}

BOOST_AUTO_TEST_CASE(a_server_stops) {
  asio::io_context context;
  asio::ip::tcp::acceptor acceptor(context);
  async_group sessions(context);
  bool stopped = false;
  auto const session = [&]() -> asio::awaitable<void> {
    asio::steady_timer timer(context, 1h);
    co_await timer.async_wait(use_awaitable);
  };
  auto const stop = [&]() -> asio::awaitable<void> {
    // clang-format off
    acceptor.close();
    sessions.cancel_pending();
    co_await sessions.async_join();  // the last of them has ended
    // clang-format on
    stopped = true;
  };
  for (int i = 0; i != 3; ++i) asio::co_spawn(context, session, sessions.track(asio::detached));
  asio::co_spawn(context, stop, asio::detached);
  context.run();
  BOOST_TEST(stopped);
}

BOOST_AUTO_TEST_CASE(an_operation_is_cancelled_by_its_own_slot) {
  asio::io_context context;
  async_group group(context);
  asio::steady_timer timer(context, 1h);
  asio::cancellation_signal stop;
  error_code got;
  auto const handler = [&](error_code error) { got = error; };
  // clang-format off
timer.async_wait(group.track(bind_cancellation_slot(stop.slot(), handler)));
stop.emit(asio::cancellation_type::terminal);  // this one alone
  // clang-format on
  context.run();
  BOOST_TEST(got == asio::error::operation_aborted);
}

BOOST_AUTO_TEST_CASE(a_join_gives_up) {
  asio::io_context context;
  async_group group(context);
  asio::steady_timer timer(context, 1h);
  timer.async_wait(group.track([](error_code) {}));
  bool joined = false;
  auto const coroutine = [&]() -> asio::awaitable<void> {
    // clang-format off
    auto [error] = co_await group.async_join_for(1ms, as_tuple(use_awaitable));
    if (error == asio::error::timed_out) group.cancel_pending();
    co_await group.async_join();
    // clang-format on
    joined = true;
  };
  asio::co_spawn(context, coroutine, asio::detached);
  context.run();
  BOOST_TEST(joined);
}

BOOST_AUTO_TEST_SUITE_END()
