// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The codec of RESP3 without a server.

#include "redis/support/resp_text.hpp"
#include "support/memory.hpp"
#include "support/test.hpp"

#include <asio_sync/redis/detail/wire/resp.hpp>

#include <filesystem>

namespace resp_test {

using namespace asio_sync::test::codec;
using asio_sync::test::failing_heap;
using resp::fault;
using resp::kind;

// Bytes, and the line that parse() returns for them.
struct example {
  std::string bytes, text;
};

std::vector<example> const good = {
    {"+OK\r\n", "\"OK\""},
    {"+\r\n", "\"\""},
    {"$5\r\nhello\r\n", "\"hello\""},
    {"$0\r\n\r\n", "\"\""},
    {"$4\r\n\r\n\r\n\r\n", "\"\r\n\r\n\""},
    {"$-1\r\n", "_"},
    {"=8\r\ntxt:some\r\n", "\"some\""},
    {"=4\r\nmkd:\r\n", "\"\""},
    {"-ERR no\r\n", "-ERR no"},
    {"!7\r\nERR\r\nno\r\n", "-ERR\r\nno"},
    {":0\r\n", ":0"},
    {":9223372036854775807\r\n", ":9223372036854775807"},
    {":-9223372036854775808\r\n", ":-9223372036854775808"},
    {",10\r\n", ",10"},
    {",-1.5\r\n", ",-1.5"},
    {",1.5e+20\r\n", ",1.5e+20"},
    {",1E-7\r\n", ",1E-7"},
    {",inf\r\n", ",inf"},
    {",-inf\r\n", ",-inf"},
    {",nan\r\n", ",nan"},
    {",-nan\r\n", ",-nan"},
    {"(-3492890328409238509324850943850943825024385\r\n",
     "(-3492890328409238509324850943850943825024385"},
    {"#t\r\n", "#t"},
    {"#f\r\n", "#f"},
    {"_\r\n", "_"},
    {"*0\r\n", "[]"},
    {"*-1\r\n", "_"},
    {"*3\r\n:1\r\n*-1\r\n$1\r\na\r\n", "[:1 _ \"a\"]"},
    {"*2\r\n*2\r\n*0\r\n:1\r\n~1\r\n:2\r\n", "[[[] :1] <:2>]"},
    {"%2\r\n+a\r\n:1\r\n+b\r\n%0\r\n", "{\"a\" :1 \"b\" {}}"},
    {"~2\r\n+a\r\n#t\r\n", "<\"a\" #t>"},
    {">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nx\r\n", ">\"message\" \"c\" \"x\">"},
    {"|1\r\n+ttl\r\n:3\r\n:1\r\n", ":1"},
    {"|0\r\n|1\r\n|1\r\n+x\r\n+y\r\n+a\r\n*1\r\n:1\r\n:2\r\n", ":2"},
    {"*2\r\n|1\r\n+a\r\n:1\r\n:1\r\n|1\r\n+a\r\n:1\r\n:2\r\n", "[:1 :2]"},
    {"|1\r\n+a\r\n:1\r\n>1\r\n+x\r\n", ">\"x\">"},
};

struct wrong {
  std::string bytes;
  fault error;
};

std::vector<wrong> const bad = {
    {"HTTP/1.1 400 Bad Request\r\n", fault::unknown_type},
    {"\r\n", fault::unknown_type},
    {"\n", fault::unknown_type},
    {std::string(1, '\0'), fault::unknown_type},
    {"*1\r\n.\r\n", fault::unknown_type},
    {"+OK\n", fault::bad_line},
    {"+\n", fault::bad_line},
    {"+O\rK\r\n", fault::bad_line},
    {"+OK\r\r\n", fault::bad_line},
    {"$1\n", fault::bad_line},
    {":\r\n", fault::bad_value},
    {":+1\r\n", fault::bad_value},
    {": 1\r\n", fault::bad_value},
    {":1 \r\n", fault::bad_value},
    {":--1\r\n", fault::bad_value},
    {":0x1\r\n", fault::bad_value},
    {":1.0\r\n", fault::bad_value},
    {":9223372036854775808\r\n", fault::bad_value},
    {":-9223372036854775809\r\n", fault::bad_value},
    {",\r\n", fault::bad_value},
    {",-\r\n", fault::bad_value},
    {",.5\r\n", fault::bad_value},
    {",1.\r\n", fault::bad_value},
    {",1e\r\n", fault::bad_value},
    {",1e+\r\n", fault::bad_value},
    {",1.5x\r\n", fault::bad_value},
    {",+inf\r\n", fault::bad_value},
    {",infinity\r\n", fault::bad_value},
    {"(\r\n", fault::bad_value},
    {"(-\r\n", fault::bad_value},
    {"(1.5\r\n", fault::bad_value},
    {"#\r\n", fault::bad_value},
    {"#x\r\n", fault::bad_value},
    {"#tt\r\n", fault::bad_value},
    {"_x\r\n", fault::bad_value},
    {"$\r\n", fault::bad_length},
    {"$-2\r\n", fault::bad_length},
    {"$1x\r\n", fault::bad_length},
    {"$18446744073709551617\r\n", fault::bad_length},
    {"!-1\r\n", fault::bad_length},
    {"=-1\r\n", fault::bad_length},
    {"*\r\n", fault::bad_length},
    {"*-2\r\n", fault::bad_length},
    {"*9223372036854775808\r\n", fault::bad_length},
    {"%-1\r\n", fault::bad_length},
    {"~-1\r\n", fault::bad_length},
    {">-1\r\n", fault::bad_length},
    {"|-1\r\n", fault::bad_length},
    {"$1\r\nab\r\n", fault::bad_blob},
    {"$1\r\na\n\n", fault::bad_blob},
    {"$1\r\na\r\r", fault::bad_blob},
    {"=3\r\ntxt\r\n", fault::bad_verbatim},
    {"=5\r\ntxt;a\r\n", fault::bad_verbatim},
    {"$?\r\n", fault::streamed},
    {"*?\r\n", fault::streamed},
    {"%?\r\n", fault::streamed},
    {"*1\r\n>1\r\n+a\r\n", fault::misplaced_push},
    {"|1\r\n>1\r\n", fault::misplaced_push},
    {">0\r\n", fault::nameless_push},
    {">1\r\n:1\r\n", fault::nameless_push},
    {">1\r\n*1\r\n+a\r\n", fault::nameless_push},
    {"$536870912\r\n", fault::too_large},
    {"$9223372036854775807\r\n", fault::too_large},
    {"=16777216\r\n", fault::too_large},
    {"*2147483647\r\n", fault::too_many},
    {"%9223372036854775807\r\n", fault::too_many},
    {repeat(1'000'000, "*1\r\n"), fault::too_deep},
};

}  // namespace resp_test

BOOST_AUTO_TEST_SUITE(resp_test)

BOOST_AUTO_TEST_CASE(commands_are_arrays_of_bulk_strings) {
  std::string out;
  resp::append_command(out, {"PING"});
  resp::append_command(out, {"SET", "", std::string_view("a\0\r\n", 4)});
  BOOST_TEST(out == "*1\r\n$4\r\nPING\r\n*3\r\n$3\r\nSET\r\n$0\r\n\r\n$4\r\na" +
                        std::string(1, '\0') + "\r\n\r\n");
}

BOOST_AUTO_TEST_CASE(a_command_without_memory_leaves_no_trace) {
  std::string const value(1000, 'x');
  for (std::size_t successes = 0;; ++successes) {
    std::string out = "+";
    bool thrown = false;
    {
      failing_heap const heap(successes);
      try {
        resp::append_command(out, {"SET", "key", value});
      } catch (std::bad_alloc const&) {
        thrown = true;
      }
    }
    if (!thrown) break;
    BOOST_TEST(out == "+");
  }
}

BOOST_AUTO_TEST_CASE(each_type_is_understood) {
  for (auto const& [bytes, text] : good) BOOST_TEST(parse(bytes) == text + '\n', bytes);
}

BOOST_AUTO_TEST_CASE(each_broken_rule_is_named) {
  for (auto const& [bytes, error] : bad) {
    std::string const begin = bytes.substr(0, 40);
    BOOST_TEST(error_of(bytes) == error, begin);
    if (begin[0] != '>') BOOST_TEST(error_of("+OK\r\n*2\r\n" + bytes) == error, begin);
  }
}

BOOST_AUTO_TEST_CASE(a_first_byte_that_begins_no_type_is_told_at_once) {
  BOOST_TEST(error_of("H") == fault::unknown_type);
}

BOOST_AUTO_TEST_CASE(nothing_is_parsed_after_an_error) {
  for (std::string const wrong : {"?\r\n", ":x\r\n", ">0\r\n"}) {
    resp::parser parser;
    feed(parser, "+a\r\n" + wrong + "+b\r\n");
    BOOST_TEST(take_all(parser) == "\"a\"\n" + std::string(describe(error_of(wrong))) + '\n');
    feed(parser, "+c\r\n");
    BOOST_TEST(!parser.next());
    BOOST_TEST(parser.error() == error_of(wrong));
  }
}

BOOST_AUTO_TEST_CASE(what_is_incomplete_is_no_error) {
  for (auto const& [bytes, text] : good)
    for (std::size_t n = 0; n != bytes.size(); ++n)
      BOOST_TEST(parse(std::string_view(bytes).substr(0, n)) == "", bytes);
}

BOOST_AUTO_TEST_CASE(pieces_make_no_difference) {
  std::string all;
  for (auto const& example : good) all += example.bytes;
  std::vector<std::string> inputs{all};
  for (auto const& wrong : bad) inputs.push_back("+OK\r\n" + wrong.bytes.substr(0, 100));
  for (std::string const& bytes : inputs) {
    std::string const expected = parse(bytes);
    for (std::size_t first = 0; first <= bytes.size(); ++first)
      BOOST_TEST(parse(bytes, first, bytes.size()) == expected);
    for (std::size_t const size : {1, 2, 3, 7}) BOOST_TEST(parse(bytes, size, size) == expected);
  }
}

BOOST_AUTO_TEST_CASE(answers_and_pushes_are_told_apart) {
  resp::parser parser;
  feed(parser, ">3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n*1\r\n$7\r\nmessage\r\n");
  auto message = parser.next();
  BOOST_REQUIRE(message);
  BOOST_TEST((message->type() == kind::push));
  BOOST_TEST((*message)[0].text() == "subscribe");
  BOOST_TEST((*message)[2].number() == 1);
  message = parser.next();
  BOOST_REQUIRE(message);
  BOOST_TEST((message->type() == kind::array));
}

BOOST_AUTO_TEST_CASE(an_error_says_its_code) {
  resp::parser parser;
  feed(parser, "-NOSESSION it has ended\r\n!3\r\nOOM\r\n");
  auto message = parser.next();
  BOOST_REQUIRE(message);
  BOOST_TEST(message->code() == "NOSESSION");
  BOOST_TEST(message->text() == "NOSESSION it has ended");
  message = parser.next();
  BOOST_REQUIRE(message);
  BOOST_TEST(message->code() == "OOM");
}

BOOST_AUTO_TEST_CASE(a_value_of_another_type_has_no_number_and_no_elements) {
  resp::parser parser;
  feed(parser, "$2\r\n12\r\n#t\r\n");
  auto message = parser.next();
  BOOST_REQUIRE(message);
  BOOST_TEST(message->number() == 0);
  BOOST_TEST(message->size() == 0u);
  BOOST_TEST((message->begin() == message->end()));
  message = parser.next();
  BOOST_REQUIRE(message);
  BOOST_TEST(message->number() == 1);
}

BOOST_AUTO_TEST_CASE(the_kept_corpus_parses_alike_in_pieces) {
  int files = 0;
  for (auto const& file : std::filesystem::directory_iterator("test/fuzz/corpus/resp")) {
    BOOST_TEST_INFO_SCOPE(file.path());
    std::ifstream in(file.path(), std::ios::binary);
    std::string const bytes(std::istreambuf_iterator<char>(in), {});
    BOOST_TEST(parse(bytes, 1, 1) == parse(bytes));
    ++files;
  }
  BOOST_TEST(files > 0);
}

BOOST_AUTO_TEST_SUITE_END()
