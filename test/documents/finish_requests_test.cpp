// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The server in doc/shutting-down.md, and what that page says about its end.

#include <asio_sync/async_group.hpp>
#include <asio_sync/async_manual_reset_event.hpp>

#include <boost/asio.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <csignal>
#include <exception>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

// The program on the page, from its first line to its last; what it includes is included above.
namespace finish_requests_program {

// clang-format off
#include <asio_sync/async_group.hpp>
#include <asio_sync/async_manual_reset_event.hpp>

#include <boost/asio.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>

#include <chrono>
#include <iostream>
#include <string>
#include <thread>

namespace asio = boost::asio;
using namespace asio::experimental::awaitable_operators;
using namespace std::chrono_literals;
using asio::ip::tcp;
using asio_sync::async_group;
using asio_sync::async_manual_reset_event;

auto const as_result = asio::as_tuple(asio::use_awaitable);  // an error is a result like any other

// Works for the number of milliseconds that the request, a line, consists of, and answers.
asio::awaitable<void> answer(tcp::socket& client, std::string request) {
  asio::steady_timer work(client.get_executor(), std::chrono::milliseconds(std::stoi(request)));
  co_await asio::async_write(client, asio::buffer("begun\n", 6), asio::use_awaitable);
  co_await work.async_wait(asio::use_awaitable);
  co_await asio::async_write(client, asio::buffer("done\n", 5), asio::use_awaitable);
}

asio::awaitable<void> serve(tcp::socket client, async_manual_reset_event& stop) {
  std::string text;
  while (!stop.is_set()) {
    auto first = co_await (asio::async_read_until(client, asio::dynamic_buffer(text, 1024), '\n',
                                                  as_result) ||
                           stop.async_wait(as_result));
    if (first.index() == 1) co_return;  // has no request: ends at once
    auto [error, size] = std::get<0>(first);
    if (error) co_return;                           // the client has gone
    co_await answer(client, text.substr(0, size));  // has a request: finishes it
    text.erase(0, size);
  }
}

asio::awaitable<void> listen(tcp::acceptor& acceptor, async_group& tasks,
                             async_manual_reset_event& stop) {
  while (!stop.is_set()) {
    asio::any_io_executor const strand = asio::make_strand(acceptor.get_executor());
    auto first = co_await (acceptor.async_accept(strand, as_result) || stop.async_wait(as_result));
    if (first.index() == 1) break;
    auto [error, client] = std::get<0>(std::move(first));
    if (!error)
      asio::co_spawn(strand, serve(std::move(client), stop), tasks.track(asio::detached));
    else
      co_await stop.async_wait_for(100ms, as_result);  // no descriptor is free, say: tries again
  }
  acceptor.close();  // refuses new clients
}

asio::awaitable<void> shut_down(asio::io_context& context, async_group& tasks,
                                async_manual_reset_event& stop, std::chrono::milliseconds limit) {
  stop.set();
  auto [late] = co_await tasks.async_join_for(limit, as_result);
  if (late) tasks.cancel_pending();  // the limit: what still runs is cut off
  auto [stuck] = co_await tasks.async_join_for(1s, as_result);
  if (stuck) context.stop();  // something ignores that it was cancelled
}

int main(int argc, char** argv) {
  asio::io_context context;
  async_manual_reset_event stop(context);
  async_group tasks(context);
  auto const port = static_cast<unsigned short>(argc > 1 ? std::stoi(argv[1]) : 0);
  tcp::acceptor acceptor(asio::make_strand(context), {asio::ip::address_v4::loopback(), port});
  std::cout << "listening on port " << acceptor.local_endpoint().port() << std::endl;
  asio::co_spawn(acceptor.get_executor(), listen(acceptor, tasks, stop),
                 tasks.track(asio::detached));
  asio::signal_set signals(context, SIGINT, SIGTERM);
  signals.async_wait([&](auto, int) {
    signals.clear();  // a second signal ends the program at once
    asio::co_spawn(context, shut_down(context, tasks, stop, 10s), asio::detached);
  });
  std::thread second([&context] { context.run(); });
  context.run();
  second.join();
  std::cout << tasks.pending() << " tasks left\n";
  return 0;
}
// clang-format on

}  // namespace finish_requests_program

namespace finish_requests_test {

namespace asio = boost::asio;
namespace program = finish_requests_program;
using asio::ip::tcp;
using asio_sync::async_group;
using asio_sync::async_manual_reset_event;
using boost::system::error_code;
using namespace std::chrono_literals;

// A client that blocks, in a context of its own.
class client {
 public:
  explicit client(unsigned short port) {
    tcp::endpoint const server(asio::ip::address_v4::loopback(), port);
    auto const give_up = std::chrono::steady_clock::now() + 60s;
    error_code error;
    do {  // The server may be about to listen.
      socket_.close();
      socket_.connect(server, error);
    } while (error && std::chrono::steady_clock::now() < give_up);
  }

  void send(std::string const& text) { asio::write(socket_, asio::buffer(text)); }

  // Returns the next line, or nothing if the server has closed the connection.
  std::string line() {
    error_code error;
    auto const size = asio::read_until(socket_, asio::dynamic_buffer(text_), '\n', error);
    if (error) return "";
    std::string const next = text_.substr(0, size - 1);
    text_.erase(0, size);
    return next;
  }

 private:
  asio::io_context context_;
  tcp::socket socket_{context_};
  std::string text_;
};

// The program without its main function, on this number of threads.
class server {
 public:
  explicit server(int threads) {
    asio::co_spawn(acceptor_.get_executor(), program::listen(acceptor_, tasks, stop),
                   tasks.track(asio::detached));
    while (threads-- > 0) threads_.emplace_back([this] { context.run_for(60s); });
  }

  void shut_down(std::chrono::milliseconds limit) {
    asio::co_spawn(context, program::shut_down(context, tasks, stop, limit),
                   [this](std::exception_ptr error) { failed_ = error != nullptr; });
  }

  // Returns true if everything has ended in order.
  bool ends() {
    for (auto& thread : threads_) thread.join();
    return context.stopped() && !failed_;
  }

  unsigned short port() const { return port_; }

  asio::io_context context;
  async_manual_reset_event stop{context};
  async_group tasks{context};

 private:
  tcp::acceptor acceptor_{asio::make_strand(context), {asio::ip::address_v4::loopback(), 0}};
  unsigned short port_ = acceptor_.local_endpoint().port();
  std::vector<std::thread> threads_;
  bool failed_ = true;
};

BOOST_AUTO_TEST_SUITE(finish_requests_test)

void ends_in_the_middle(int threads) {
  server s(threads);
  client idle(s.port()), busy(s.port()), early(s.port());
  for (client* each : {&idle, &early}) {  // They are served before the signal comes.
    each->send("0\n");
    BOOST_TEST((each->line() == "begun" && each->line() == "done"));
  }
  early.send("1");  // A line that has no end yet is no request.
  busy.send("300\n300\n");
  BOOST_TEST(busy.line() == "begun");
  s.shut_down(60s);
  BOOST_TEST(idle.line() == "");
  BOOST_TEST(early.line() == "");
  BOOST_TEST(busy.line() == "done");
  BOOST_TEST(busy.line() == "");  // The second request is refused.
  BOOST_TEST(s.ends());
  BOOST_TEST(s.tasks.pending() == 0);
}

BOOST_AUTO_TEST_CASE(a_request_that_runs_is_finished) { ends_in_the_middle(1); }

BOOST_AUTO_TEST_CASE(a_request_that_runs_is_finished_with_three_threads) { ends_in_the_middle(3); }

BOOST_AUTO_TEST_CASE(nobody_is_accepted_any_more) {
  server s(2);
  client busy(s.port());
  busy.send("300\n");
  BOOST_TEST(busy.line() == "begun");
  s.shut_down(60s);
  BOOST_TEST(busy.line() == "done");
  BOOST_TEST(s.ends());
  asio::io_context context;
  tcp::socket late(context);
  error_code error;
  late.connect({asio::ip::address_v4::loopback(), s.port()}, error);
  BOOST_TEST((error == asio::error::connection_refused));
}

BOOST_AUTO_TEST_CASE(a_request_that_fails_ends_its_session_alone) {
  server s(2);
  client wrong(s.port()), right(s.port());
  wrong.send("soon\n");
  BOOST_TEST(wrong.line() == "");
  right.send("0\n");
  BOOST_TEST((right.line() == "begun" && right.line() == "done"));
  {  // The work of a client that has gone is finished, too.
    client gone(s.port());
    gone.send("100\n");
  }
  s.shut_down(60s);
  BOOST_TEST(s.ends());
}

BOOST_AUTO_TEST_CASE(a_request_that_takes_too_long_is_cut_off) {
  server s(2);
  client busy(s.port());
  busy.send("60000\n");
  BOOST_TEST(busy.line() == "begun");
  s.shut_down(50ms);
  BOOST_TEST(busy.line() == "");
  BOOST_TEST(s.ends());
  BOOST_TEST(s.tasks.pending() == 0);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_cancelled_does_not_hold_up_the_end) {
  server s(1);
  asio::steady_timer never(s.context, 1h);
  asio::co_spawn(
      s.context,
      [&]() -> asio::awaitable<void> {
        co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
        co_await never.async_wait(asio::use_awaitable);
      },
      s.tasks.track(asio::detached));
  s.shut_down(0ms);
  BOOST_TEST(s.ends());
  BOOST_TEST(s.tasks.pending() == 1);
}

BOOST_AUTO_TEST_CASE(the_program_ends_at_a_signal) {
  asio::io_context context;
  auto const port = tcp::acceptor(context, {asio::ip::address_v4::loopback(), 0})
                        .local_endpoint()
                        .port();  // free
  std::string argument = std::to_string(port);
  char* arguments[] = {nullptr, argument.data()};
  std::ostringstream printed;
  auto* const usual = std::cout.rdbuf(printed.rdbuf());
  int status = 1;
  std::thread runner([&] { status = program::main(2, arguments); });
  client one(port);
  one.send("100\n");
  std::string const begun = one.line();
  std::raise(SIGINT);
  std::string const done = one.line();
  runner.join();
  std::cout.rdbuf(usual);
  BOOST_TEST(status == 0);
  BOOST_TEST((begun == "begun" && done == "done"));
  BOOST_TEST(printed.str() == "listening on port " + argument + "\n0 tasks left\n");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace finish_requests_test
