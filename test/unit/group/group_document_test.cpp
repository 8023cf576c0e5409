// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The code in doc/async_group.md.

#include "support/test.hpp"

#include <asio_sync/async_group.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>

// The program on the page, from its first line to its last; what it includes is included above.
namespace group_program {

// clang-format off
#include <asio_sync/async_group.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
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
    asio::co_spawn(asio::make_strand(context), work(worker), workers.track(asio::detached));
  std::cout << workers.pending() << " are at work\n";
  workers.async_join([](boost::system::error_code) { std::cout << "all are done\n"; });
  context.run();
  return 0;
}
// clang-format on

}  // namespace group_program

namespace group_document_test {

using namespace asio_sync::test;
using asio::as_tuple;
using asio::use_awaitable;
using asio::ip::tcp;

// clang-format off
asio::awaitable<void> session(tcp::socket socket, std::atomic<bool> const& stopping) {
  if (stopping) co_return;  // it has begun too late to be cancelled
  char byte;
  co_await socket.async_receive(asio::buffer(&byte, 1), use_awaitable);
}

asio::awaitable<void> stop(tcp::acceptor& acceptor, async_group& sessions,
                           std::atomic<bool>& stopping) {
  stopping = true;  // first: a session that misses the cancellation sees this
  acceptor.close();
  sessions.cancel_pending();
  co_await sessions.async_join();  // the last of them has ended
}

asio::awaitable<void> parent(async_group& children) {
  auto [error] = co_await children.async_join(as_tuple(use_awaitable));
  if (!error) co_return;
  co_await asio::this_coro::reset_cancellation_state();  // it was cancelled, and goes on
  children.cancel_pending();
  co_await children.async_join(use_awaitable);
}
// clang-format on

}  // namespace group_document_test

BOOST_AUTO_TEST_SUITE(group_document_test)

using asio::as_tuple;
using asio::bind_cancellation_slot;
using asio::use_awaitable;
using asio::use_future;

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

// Two threads; one of the clients is accepted, but not served yet, when the server stops.
BOOST_AUTO_TEST_CASE(a_server_stops) {
  asio::io_context context;
  tcp::acceptor acceptor(context, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
  async_group sessions(context);
  std::atomic<bool> stopping = false;
  bool stopped = false;
  std::vector<tcp::socket> clients;
  auto const connects = [&] {
    tcp::socket accepted(context);
    clients.emplace_back(context).connect(acceptor.local_endpoint());
    acceptor.accept(accepted);
    return accepted;
  };
  auto const begins = [&](tcp::socket accepted) {
    asio::co_spawn(asio::make_strand(context), session(std::move(accepted), stopping),
                   sessions.track(asio::detached));
  };
  for (int i = 0; i != 10; ++i) begins(connects());
  auto late = connects();
  asio::co_spawn(context, stop(acceptor, sessions, stopping),
                 [&](std::exception_ptr const& thrown) { stopped = !thrown; });
  asio::post(context, [&] { begins(std::move(late)); });
  std::thread other([&] { context.run(); });
  context.run();
  other.join();
  BOOST_TEST(stopped);
  BOOST_TEST(sessions.pending() == 0);
}

BOOST_AUTO_TEST_CASE(a_cancelled_coroutine_joins_its_group) {
  asio::io_context context;
  async_group parents(context), children(context);
  asio::steady_timer timer(context, 1h);
  bool ended_well = false, cancelled = false;
  timer.async_wait(children.track([&](error_code e) { cancelled = !!e; }));
  asio::co_spawn(asio::make_strand(context), parent(children),
                 parents.track([&](std::exception_ptr const& thrown) { ended_well = !thrown; }));
  parents.cancel_pending();
  context.run();
  BOOST_TEST(cancelled);
  BOOST_TEST(ended_well);
}

BOOST_AUTO_TEST_CASE(sessions_on_strands_are_cancelled) {
  asio::io_context context;
  async_group sessions(context);
  int ended = 0;
  auto const wait = [&]() -> asio::awaitable<void> {
    asio::steady_timer timer(co_await asio::this_coro::executor, 1h);
    auto [error] = co_await timer.async_wait(as_tuple(use_awaitable));
    ended += error == asio::error::operation_aborted;
  };
  // clang-format off
asio::co_spawn(asio::make_strand(context), wait(), sessions.track(asio::detached));
  // clang-format on
  std::thread cancels([&] { sessions.cancel_pending(); });
  context.run();
  cancels.join();
  BOOST_TEST(ended == 1);
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
