// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// New connections to real servers, and to pretended ones.

#include "support/test.hpp"

#include <asio_sync/redis/detail/link/answer_reader.hpp>
#include <asio_sync/redis/detail/link/handshake.hpp>

#include "redis/support/resp_text.hpp"
#include "redis/support/server.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/write.hpp>

namespace redis_handshake_test {

using namespace asio_sync::redis::detail;
using asio_sync::test::codec::feed;
using asio_sync::test::codec::to_text;
using asio_sync::test::redis::server;
using progress = handshake::progress;

// A connection to a server that speaks the handshake, and then calls scripts.
struct caller {
  explicit caller(server const& s) {
    socket.connect(boost::asio::local::stream_protocol::endpoint(s.socket()));
  }

  progress connect(login const& as = {}) {
    std::string bytes;
    hands.begin(bytes, as, "as:ch:a");
    boost::asio::write(socket, boost::asio::buffer(bytes));
    while (true)
      if (progress const p = hands.take(read()); p != progress::goes_on) return p;
  }

  std::string call(request const& r) {
    std::string bytes;
    hands.append_call(bytes, r);
    boost::asio::write(socket, boost::asio::buffer(bytes));
    return to_text(read());
  }

  std::string ask(std::initializer_list<std::string_view> command) {
    std::string bytes;
    resp::append_command(bytes, command);
    boost::asio::write(socket, boost::asio::buffer(bytes));
    return to_text(read());
  }

  resp::value read() {
    while (true) {
      if (std::optional<resp::value> const message = parser.next()) return *message;
      BOOST_REQUIRE((parser.error() == resp::fault::none));
      parser.commit(socket.read_some(boost::asio::buffer(parser.prepare(4096).data(), 4096)));
    }
  }

  boost::asio::io_context io;
  boost::asio::local::stream_protocol::socket socket{io};
  resp::parser parser;
  handshake hands;
};

// Returns the outcome of a handshake whose first answers are these, as text.
std::string outcome_of(std::string_view answers, login const& as = {}) {
  resp::parser parser;
  handshake hands;
  std::string sent;
  hands.begin(sent, as, "as:ch:a");
  feed(parser, answers);
  progress p = progress::goes_on;
  while (std::optional<resp::value> const message = parser.next()) {
    BOOST_TEST((p == progress::goes_on));
    p = hands.take(*message);
  }
  if (p == progress::failed)
    return (hands.why() == failure::protocol_error ? "protocol_error: " : "failed: ") +
           hands.text();
  if (p == progress::goes_on || p == progress::complete) return "";
  std::string_view const why = hands.why() == failure::access_denied        ? "access_denied"
                               : hands.why() == failure::unsupported_server ? "unsupported_server"
                               : hands.why() == failure::not_a_master       ? "not_a_master"
                               : hands.why() == failure::evicting_policy    ? "evicting_policy"
                               : hands.why() == failure::server_error       ? "server_error"
                                                                            : "?";
  return std::string(why) + ": " + hands.text();
}

std::string const hello = "%1\r\n$6\r\nserver\r\n$5\r\nredis\r\n";

std::string blob(std::string const& text) {
  return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}

// Returns what is answered to INFO, with the value or the name of one line replaced.
std::string info(std::string const& name = {}, std::string const& value = {},
                 std::string const& other_name = {}) {
  std::string text = "# Server\r\n";
  for (auto [known, usual] : {std::pair<std::string, std::string>{"redis_version", "7.0.15"},
                              {"redis_mode", "standalone"},
                              {"maxmemory_policy", "noeviction"},
                              {"role", "master"}}) {
    bool const is_it = known == name, renames = !other_name.empty();
    text.append(is_it && renames ? other_name : known).append(":");
    text.append(is_it && !renames ? value : usual).append("\r\n");
  }
  return blob(text);
}

BOOST_AUTO_TEST_SUITE(handshake_test)

BOOST_AUTO_TEST_CASE(a_connection_is_subscribed_and_knows_the_scripts) {
  server s;
  caller c(s), other(s);
  BOOST_TEST((c.connect({{}, {}, "worker-7", 3}) == progress::complete));
  request open;
  open.call(script::open).add("as:").add("a.1").add("1").add("").add("0");
  open.add("6000").add("6000").add("0").add("").add("new").add("");
  BOOST_TEST(c.call(open).starts_with("[:1 \"2."));
  BOOST_TEST(c.ask({"CLIENT", "GETNAME"}) == "\"worker-7\"");
  BOOST_TEST(c.ask({"CLIENT", "INFO"}).find(" db=3 ") != std::string::npos);
  BOOST_TEST(other.ask({"PUBLISH", "as:ch:a", "x"}) == ":1");
}

BOOST_AUTO_TEST_CASE(a_connection_is_told_when_the_server_has_emptied_its_data) {
  server s;
  caller c(s), other(s);
  BOOST_TEST((c.connect() == progress::complete));
  other.ask({"SET", "x", "1"});
  other.ask({"FLUSHALL"});
  BOOST_TEST(is_emptying(c.read()));
}

BOOST_AUTO_TEST_CASE(a_server_that_refuses_to_tell_is_used_without) {
  for (auto const* const missing : {"-client", "-client|tracking"}) {
    server s({"--user", "default", "on", "nopass", "~*", "&*", "+@all", missing});
    BOOST_TEST((caller(s).connect() == progress::complete));
  }
}

BOOST_AUTO_TEST_CASE(a_password_is_of_the_default_user_or_of_another_one) {
  server s({"--requirepass", "secret", "--user", "worker", "on", ">word", "+@all", "~*", "&*"});
  BOOST_TEST((caller(s).connect({{}, "secret", {}, 0}) == progress::complete));
  BOOST_TEST((caller(s).connect({"worker", "word", {}, 0}) == progress::complete));
  for (login const& wrong : {login{}, login{{}, "word", {}, 0}, login{"worker", "secret", {}, 0},
                             login{"nobody", "word", {}, 0}}) {
    caller c(s);
    BOOST_TEST((c.connect(wrong) == progress::refused));
    BOOST_TEST((c.hands.why() == failure::access_denied));
    BOOST_TEST(!c.hands.text().empty());
  }
}

BOOST_AUTO_TEST_CASE(a_right_that_is_missing_is_told) {
  for (auto const* const missing : {"-info", "-subscribe", "-script|load", "-select", "-@all"}) {
    server s({"--user", "default", "on", "nopass", "~*", "&*", "+@all", missing});
    caller c(s);
    BOOST_TEST((c.connect({{}, {}, {}, 1}) == progress::refused));
    BOOST_TEST((c.hands.why() == failure::access_denied));
  }
}

BOOST_AUTO_TEST_CASE(a_server_that_may_lose_a_session_is_refused) {
  BOOST_TEST(outcome_of(hello + info()) == "");
  BOOST_TEST(outcome_of(hello + info("redis_version", "10.2.1")) == "");
  BOOST_TEST(outcome_of(hello + info("redis_mode", {}, "server_mode")) == "");
  BOOST_TEST(outcome_of(hello + info("redis_version", "6.2.7")) ==
             "unsupported_server: the server is older than Redis 7.0");
  BOOST_TEST(outcome_of(hello + info("redis_mode", "cluster")) ==
             "unsupported_server: the server is not a standalone one");
  BOOST_TEST(outcome_of(hello + info("role", "slave")) == "not_a_master: the server is a replica");
  BOOST_TEST(outcome_of(hello + info("maxmemory_policy", "allkeys-lru")) ==
             "evicting_policy: the server's maxmemory-policy is not noeviction");
  BOOST_TEST(outcome_of(hello + blob("")) ==
             "unsupported_server: the server is older than Redis 7.0");
}

BOOST_AUTO_TEST_CASE(a_real_server_with_such_a_policy_is_refused) {
  server s({"--maxmemory-policy", "volatile-lru"});
  caller c(s);
  BOOST_TEST((c.connect() == progress::refused));
  BOOST_TEST((c.hands.why() == failure::evicting_policy));
}

BOOST_AUTO_TEST_CASE(an_error_says_if_another_connection_would_be_better) {
  for (std::string const text :
       {"LOADING Redis is loading the dataset in memory", "MASTERDOWN no link with the master",
        "ERR max number of clients reached", "BUSY a script is running"})
    BOOST_TEST(outcome_of('-' + text + "\r\n") == "failed: " + text);
  BOOST_TEST(outcome_of("-NOPROTO unsupported protocol version\r\n") ==
             "unsupported_server: NOPROTO unsupported protocol version");
  BOOST_TEST(outcome_of("-DENIED protected mode\r\n") == "access_denied: DENIED protected mode");
  BOOST_TEST(outcome_of(hello + "-ERR DB index is out of range\r\n", {{}, {}, {}, 99}) ==
             "server_error: ERR DB index is out of range");
  BOOST_TEST(outcome_of(hello + "-ERR syntax error\r\n") ==
             "unsupported_server: ERR syntax error");
}

BOOST_AUTO_TEST_CASE(a_grant_that_is_published_before_the_end_is_passed_over) {
  std::string const digest = blob(std::string(40, 'a'));
  std::string const subscribed = ">3\r\n+subscribe\r\n+as:ch:a\r\n:1\r\n";
  std::string const grant = ">3\r\n+message\r\n+as:ch:a\r\n+G\r\n";
  BOOST_TEST(outcome_of(hello + info() + subscribed + grant + "+OK\r\n" + digest + grant +
                        ">2\r\n+invalidate\r\n_\r\n" + digest) == "");
}

BOOST_AUTO_TEST_CASE(an_answer_of_another_form_is_a_failure) {
  for (std::string const& answers :
       {std::string("+OK\r\n"), hello + ":7\r\n", hello + info() + "+OK\r\n",
        hello + info() + ">3\r\n+subscribe\r\n+as:ch:a\r\n:1\r\n+OK\r\n+OK\r\n"})
    BOOST_TEST(
        outcome_of(answers) ==
        "protocol_error: the server answers in a way that does not belong to the handshake");
  BOOST_TEST(outcome_of(hello + ":7\r\n", {{}, {}, {}, 1}).starts_with("protocol_error: "));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_handshake_test
