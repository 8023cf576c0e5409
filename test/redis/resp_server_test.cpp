// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The codec of RESP3 with a server.

#include "redis/support/resp_text.hpp"
#include "redis/support/server.hpp"
#include "support/test.hpp"

#include <asio_sync/redis/detail/wire/resp.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/write.hpp>

namespace resp_server_test {

using namespace asio_sync::test::codec;
using asio_sync::test::redis::server;

// A push and an answer: Redis 8 sends first what Redis 7 sends last.
using either_order = std::set<std::string>;

struct fixture {
  fixture() { socket.connect(boost::asio::local::stream_protocol::endpoint(redis.socket())); }

  // Sends a command, reads its answer in pieces of at most n bytes, and returns it as text.
  std::string ask(std::vector<std::string_view> const& command, std::size_t n = 4096) {
    std::string bytes;
    resp::append_command(bytes, command);
    boost::asio::write(socket, boost::asio::buffer(bytes));
    return read(n);
  }

  std::string read(std::size_t n = 4096) {
    while (true) {
      if (std::optional<resp::value> const message = parser.next()) return to_text(*message);
      if (parser.error() != resp::fault::none) return std::string(describe(parser.error()));
      auto const room = parser.prepare(n);
      parser.commit(socket.read_some(boost::asio::buffer(room.data(), n)));
    }
  }

  server redis{{"--enable-debug-command", "yes"}};
  boost::asio::io_context io;
  boost::asio::local::stream_protocol::socket socket{io};
  resp::parser parser;
};

constexpr std::string_view tables = R"(
  redis.setresp(3)
  return {1, 'a', {2, {{double = 3.5}, {map = {k = {set = {x = true}}}}}},
          {big_number = '-123'}, {verbatim_string = {format = 'txt', string = 'v'}},
          true, false, redis.status_reply('fine'), {err = 'CODE text'}, {}}
)";

}  // namespace resp_server_test

BOOST_FIXTURE_TEST_SUITE(resp_server_test, resp_server_test::fixture)

BOOST_AUTO_TEST_CASE(an_error_before_HELLO_and_null_of_RESP2_are_understood) {
  BOOST_TEST(ask({"HELLO", "9"}).starts_with("-NOPROTO "));
  BOOST_TEST(ask({"GET", "none"}) == "_");
  BOOST_TEST(ask({"BLPOP", "none", "0.01"}) == "_");
}

BOOST_AUTO_TEST_CASE(each_type_of_a_server_is_understood) {
  BOOST_TEST(ask({"HELLO", "3"}).starts_with("{\"server\" \""));
  for (std::size_t const n : {std::size_t(1), std::size_t(7), std::size_t(100'000)}) {
    auto const protocol = [&](std::string_view type) {
      return ask({"DEBUG", "PROTOCOL", type}, n);
    };
    BOOST_TEST(protocol("string") == "\"Hello World\"");
    BOOST_TEST(protocol("integer") == ":12345");
    BOOST_TEST(protocol("double") == ",3.141");
    BOOST_TEST(protocol("null") == "_");
    BOOST_TEST(protocol("array") == "[:0 :1 :2]");
    BOOST_TEST(protocol("set") == "<:0 :1 :2>");
    BOOST_TEST(protocol("map") == "{:0 #f :1 #t :2 #f}");
    BOOST_TEST(protocol("attrib") == "\"Some real reply following the attribute\"");
    BOOST_TEST(protocol("bignum") == "(1234567999999999999999999999999999999");
    BOOST_TEST(protocol("verbatim") == "\"This is a verbatim\nstring\"");
    BOOST_TEST(protocol("true") == "#t");
    BOOST_TEST(protocol("false") == "#f");
    BOOST_TEST((either_order{protocol("push"), read(n)} ==
                either_order{">\"server-cpu-usage\" :42>",
                             "\"Some real reply following the push reply\""}));
    BOOST_TEST(ask({"EVAL", tables, "0"}, n) ==
               "[:1 \"a\" [:2 [,3.5 {\"k\" <\"x\">}]] (-123 \"v\" #t #f \"fine\" -CODE text []]");
    BOOST_TEST(
        ask({"EVAL", "return redis.error_reply('MINE a b')", "0"}, n).starts_with("-MINE a b"));
    BOOST_TEST(ask({"INFO"}, n).find("redis_version:") != std::string::npos);
    BOOST_TEST(ask({"CLIENT", "LIST"}, n).find("cmd=client|list") != std::string::npos);
    BOOST_TEST(ask({"PUBSUB", "NUMSUB", "a", "b"}, n) == "[\"a\" :0 \"b\" :0]");
    BOOST_TEST(ask({"ZADD", "z", "INCR", "inf", "m"}, n) == ",inf");
    BOOST_TEST(ask({"COMMAND", "INFO", "get"}, n).starts_with("[[\"get\" :2 <"));
    ask({"DEL", "z"});
  }
}

BOOST_AUTO_TEST_CASE(pushes_come_between_answers) {
  ask({"HELLO", "3"});
  BOOST_TEST(ask({"SUBSCRIBE", "c", "d"}) == ">\"subscribe\" \"c\" :1>");
  BOOST_TEST(read() == ">\"subscribe\" \"d\" :2>");
  BOOST_TEST((either_order{ask({"PUBLISH", "c", "x"}), read()} ==
              either_order{">\"message\" \"c\" \"x\">", ":1"}));
  BOOST_TEST(ask({"UNSUBSCRIBE"}).starts_with(">\"unsubscribe\" "));
}

BOOST_AUTO_TEST_CASE(an_answer_above_a_limit_is_an_error) {
  ask({"HELLO", "3"});
  constexpr std::string_view fill = "return string.rep('x', tonumber(ARGV[1]))";
  BOOST_TEST(ask({"EVAL", fill, "0", "16777203"}).size() == 16'777'205u);
  BOOST_TEST(ask({"EVAL", fill, "0", "16777204"}) == describe(resp::fault::too_large));
}

BOOST_AUTO_TEST_SUITE_END()
