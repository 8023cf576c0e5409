// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// A connection: to a real server, to pretended ones, and to none.

#include "support/test.hpp"

#include <asio_sync/redis/detail/link/link.hpp>

#include "redis/support/resp_text.hpp"
#include "redis/support/server.hpp"
#include "redis/support/silent_port.hpp"

#include <boost/asio/ip/tcp.hpp>

namespace redis_link_test {

using namespace asio_sync::redis::detail;
using namespace std::chrono_literals;
using asio_sync::test::redis::results_of;
using asio_sync::test::redis::server;
using asio_sync::test::redis::silent_port;
using boost::asio::ip::tcp;

// Notes what a link tells, and does what the test wants at once.
struct client final : link_host {
  explicit client(std::chrono::milliseconds patience = 5s)
      : time(patience),
        line(std::make_shared<asio_sync::redis::detail::link>(io.get_executor(), *this,
                                                              patience)) {}

  void ask(std::string_view command, std::size_t answers = 1) {
    line->out() += command;
    owed += answers;
    line->flush();
  }

  std::string run(address const& to) {
    line->connect(to, endpoints);
    io.run();
    return told;
  }

  // Makes another link for the next attempt.
  void begin_again() {
    told.clear();
    line = std::make_shared<asio_sync::redis::detail::link>(io.get_executor(), *this, time);
    io.restart();
  }

  void linked() override {
    told += "linked";
    if (on_linked) on_linked();
  }
  void received(resp::value message) override {
    told += ' ' + asio_sync::test::codec::to_text(message);
    if (message.type() != resp::kind::push) --owed;
    if (on_received) on_received();
  }
  void ready() override { ++ready_calls; }
  bool awaits_answer() const noexcept override { return owed != 0; }
  void broken(std::string_view why, boost::system::error_code error) noexcept override {
    told += (told.empty() ? "broken: " : " broken: ") + std::string(why);
    if (error == asio_sync::redis::error::protocol_error) told += " (protocol_error)";
    broken_by = error;
    io.stop();
  }

  boost::asio::io_context io;
  std::chrono::milliseconds const time;
  std::shared_ptr<asio_sync::redis::detail::link> line;
  std::function<void()> on_linked, on_received;
  std::string told;
  boost::system::error_code broken_by;
  endpoint_list endpoints;
  std::size_t owed = 0, ready_calls = 0;
};

// Accepts one connection on the loopback, and does with it what the test wants.
struct pretended {
  explicit pretended(boost::asio::io_context& io) : acceptor(io, {tcp::v4(), 0}), peer(io) {}

  void serve(std::function<void()> then) {
    acceptor.async_accept(peer, [this, then](auto) {
      acceptor.close();
      then();
    });
  }
  void say(std::string_view text) { boost::asio::write(peer, boost::asio::buffer(text)); }
  address where() const {
    return {"127.0.0.1", std::to_string(acceptor.local_endpoint().port()), {}};
  }

  tcp::acceptor acceptor;
  tcp::socket peer;
};

constexpr std::string_view ping = "*1\r\n$4\r\nPING\r\n";

BOOST_AUTO_TEST_SUITE(link_test)

BOOST_AUTO_TEST_CASE(a_server_is_asked_over_its_socket) {
  server s;
  client c;
  c.on_linked = [&] { c.ask(ping); };
  c.on_received = [&] { c.line->close(); };
  BOOST_TEST(c.run({{}, {}, s.socket()}) == "linked \"PONG\"");
}

BOOST_AUTO_TEST_CASE(what_comes_during_a_write_is_written_at_once_after_it) {
  server s;
  client c;
  c.on_linked = [&] {
    c.ask(ping);
    BOOST_TEST(c.line->out().empty());
    c.ask(ping);
    c.ask(ping);
    BOOST_TEST(c.line->out().size() == 2 * ping.size());
  };
  c.on_received = [&] {
    if (c.owed == 0) c.line->close();
  };
  BOOST_TEST(c.run({{}, {}, s.socket()}) == "linked \"PONG\" \"PONG\" \"PONG\"");
}

BOOST_AUTO_TEST_CASE(a_name_is_resolved) {
  client c;
  pretended p(c.io);
  p.serve([&] { p.say("+hello\r\n"); });
  c.owed = 1;
  c.on_received = [&] { c.line->close(); };
  address to = p.where();
  to.host = "localhost";
  std::string told = c.run(to);
  while (told.starts_with("broken")) {  // it has an address of IPv6, too, where nobody listens
    BOOST_TEST(told == "broken: Connection refused");
    c.begin_again();
    told = c.run(to);
  }
  BOOST_TEST(told == "linked \"hello\"");
}

BOOST_AUTO_TEST_CASE(each_attempt_takes_one_address_of_a_name_and_has_all_of_the_time) {
  client c(100ms);
  silent_port const silent;
  pretended p(c.io);
  address const name = {"name.invalid", "6379", {}};
  c.endpoints.assign(results_of({silent.endpoint(), p.acceptor.local_endpoint()}));
  BOOST_TEST(c.run(name) == "broken: the server does not answer in time");
  BOOST_TEST((c.broken_by == boost::system::errc::timed_out));
  c.begin_again();
  p.serve([] {});
  c.on_linked = [&] { c.line->close(); };
  BOOST_TEST(c.run(name) == "linked");
  BOOST_TEST(c.endpoints.is_empty());
}

BOOST_AUTO_TEST_CASE(a_server_that_is_not_there_is_told) {
  BOOST_TEST(client().run({{}, {}, "/nowhere/socket"}) == "broken: No such file or directory");
  client refused;
  address const nobody = pretended(refused.io).where();
  BOOST_TEST(refused.run(nobody) == "broken: Connection refused");
  BOOST_TEST(refused.broken_by == boost::asio::error::connection_refused);
  BOOST_TEST(client().run({"no-such-name.invalid", "6379", {}}).starts_with("broken: "));
  BOOST_CHECK_THROW(client().run({{}, {}, std::string(200, 'x')}), boost::system::system_error);
}

BOOST_AUTO_TEST_CASE(a_server_that_closes_is_told) {
  client c;
  pretended p(c.io);
  p.serve([&] {
    p.say("+one\r\n+tw");
    p.peer.close();
  });
  c.owed = 2;
  BOOST_TEST(c.run(p.where()) == "linked \"one\" broken: End of file");
  BOOST_TEST(c.broken_by == boost::asio::error::eof);
}

BOOST_AUTO_TEST_CASE(a_server_that_breaks_the_protocol_is_told) {
  client c;
  pretended p(c.io);
  p.serve([&] { p.say("+one\r\n$536870912\r\n"); });
  c.owed = 2;
  BOOST_TEST(c.run(p.where()) ==
             "linked \"one\" broken: a message has more than 16 MB (protocol_error)");
}

BOOST_AUTO_TEST_CASE(a_server_that_owes_an_answer_is_not_silent_for_long) {
  client c(50ms);
  pretended p(c.io);
  p.serve([] {});
  c.on_linked = [&] { c.ask(ping); };
  auto const start = std::chrono::steady_clock::now();
  BOOST_TEST(c.run(p.where()) == "linked broken: the server does not answer in time");
  BOOST_TEST((std::chrono::steady_clock::now() - start >= 50ms));
}

BOOST_AUTO_TEST_CASE(a_server_that_owes_nothing_may_be_silent) {
  client c(20ms);
  pretended p(c.io);
  p.serve([] {});
  boost::asio::steady_timer later(c.io, 100ms);
  later.async_wait([&](auto) {
    BOOST_TEST(c.told == "linked");
    c.ask(ping);
  });
  BOOST_TEST(c.run(p.where()) == "linked broken: the server does not answer in time");
}

BOOST_AUTO_TEST_CASE(an_answer_has_the_whole_time_although_an_earlier_one_came_at_once) {
  client c(1s);
  pretended p(c.io);
  boost::asio::steady_timer later(c.io);
  p.serve([&] {
    p.say("+one\r\n");
    later.expires_after(800ms);
    later.async_wait([&](auto) {
      c.ask(ping);
      later.expires_after(500ms);  // after the alarm of the first one
      later.async_wait([&](auto) { p.say("+two\r\n"); });
    });
  });
  c.on_linked = [&] { c.ask(ping); };
  c.on_received = [&] {
    if (c.told.ends_with("\"two\"")) c.line->close();
  };
  BOOST_TEST(c.run(p.where()) == "linked \"one\" \"two\"");
}

BOOST_AUTO_TEST_CASE(bytes_without_an_end_are_a_sign_of_life) {
  client c(1s);
  pretended p(c.io);
  boost::asio::steady_timer later(c.io);
  int left = 6;
  std::function<void()> const drip = [&] {
    p.say(left == 0 ? "x\r\n" : "x");
    if (left-- == 0) return;
    later.expires_after(200ms);
    later.async_wait([&](auto) { drip(); });
  };
  p.serve([&] {
    p.say("+");
    drip();
  });
  c.on_linked = [&] { c.ask(ping); };
  c.on_received = [&] { c.line->close(); };
  BOOST_TEST(c.run(p.where()) == "linked \"xxxxxxx\"");
}

BOOST_AUTO_TEST_CASE(a_link_can_be_closed_at_any_time_and_tells_nothing_then) {
  server s;
  for (int const when : {0, 1, 2, 3}) {
    client c;
    if (when == 1) boost::asio::post(c.io, [&] { c.line->close(); });
    c.on_linked = [&] {
      if (when == 2) return c.line->close();
      c.ask(std::string(ping) + std::string(ping), 2);
      if (when == 3) c.line->close();
    };
    c.on_received = [&] { c.line->close(); };
    BOOST_TEST_CONTEXT(when)
    BOOST_TEST(c.run({{}, {}, s.socket()}) == std::string_view(when == 0   ? "linked \"PONG\""
                                                               : when == 1 ? ""
                                                                           : "linked"));
  }
}

BOOST_AUTO_TEST_CASE(a_link_outlives_its_last_owner_until_its_operations_have_ended) {
  server s;
  client c;
  c.on_linked = [&] { c.ask(ping); };
  c.on_received = [&] {
    c.line->close();
    c.line.reset();
  };
  BOOST_TEST(c.run({{}, {}, s.socket()}) == "linked \"PONG\"");
}

BOOST_AUTO_TEST_CASE(an_exception_of_the_host_after_its_close_is_of_no_account) {
  server s;
  client c;
  c.on_linked = [&] { c.ask(ping); };
  c.on_received = [&] {
    c.line->close();
    throw std::runtime_error("no memory");
  };
  BOOST_TEST(c.run({{}, {}, s.socket()}) == "linked \"PONG\"");
}

BOOST_AUTO_TEST_CASE(an_exception_of_the_host_breaks_the_link) {
  server s;
  client c;
  c.on_linked = [&] { c.ask(ping); };
  c.on_received = [] { throw std::runtime_error("no memory"); };
  BOOST_TEST(c.run({{}, {}, s.socket()}) == "linked \"PONG\" broken: no memory");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_link_test
