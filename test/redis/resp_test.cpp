// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The codec of RESP3 without a server.

#include "redis/support/resp_text.hpp"
#include "support/memory.hpp"

#include <asio_sync/redis/detail/wire/resp.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace resp_test {

using namespace asio_sync::test::codec;
using asio_sync::test::failing_heap;
using asio_sync::test::heap_counter;
using resp::fault;
using resp::kind;

std::string repeat(std::size_t n, std::string_view text) {
  std::string result;
  result.reserve(n * text.size());
  for (std::size_t i = 0; i < n; ++i) result += text;
  return result;
}

// Bytes, and what parse() makes of them but for the end of the line.
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

// Bytes that a message takes which begins with `begin`, and is padded to `size`.
std::string line_of(std::string_view begin, std::size_t size) {
  return std::string(begin) + std::string(size - begin.size() - 2, 'x') + "\r\n";
}

std::string blob_of(std::string_view header, std::size_t size) {
  return std::string(header) + std::string(size - header.size() - 2, 'x') + "\r\n";
}

// Parses bytes that come in pieces, and returns the error.
fault error_of(std::string_view bytes, std::size_t piece = std::string_view::npos) {
  resp::parser parser;
  while (!bytes.empty()) {
    feed(parser, bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
    while (parser.next()) continue;
  }
  return parser.error();
}

double seconds_of(auto const& function) {
  std::clock_t const begin = std::clock();
  function();
  return double(std::clock() - begin) / CLOCKS_PER_SEC;
}

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
  resp::parser parser;
  feed(parser, "+a\r\n?\r\n+b\r\n");
  BOOST_TEST(take_all(parser) == "\"a\"\n" + std::string(describe(fault::unknown_type)) + '\n');
  feed(parser, "+c\r\n");
  BOOST_TEST(!parser.next());
  BOOST_TEST(parser.error() == fault::unknown_type);
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

BOOST_AUTO_TEST_CASE(a_message_has_at_most_16_MB) {
  constexpr std::size_t most = resp::max_bytes;
  struct {
    std::string bytes;
    bool allowed;
  } const cases[] = {
      {line_of("+", most), true},
      {line_of("+", most + 1), false},
      {blob_of("$16777203\r\n", most), true},
      {blob_of("$16777204\r\n", most + 1), false},
      {"*2\r\n" + line_of("+", most - 8) + ":1\r\n", true},
      {"*2\r\n" + line_of("+", most - 8) + ":12\r\n", false},
      {"*2\r\n" + line_of("+", most - 4) + ":1\r\n", false},
  };
  for (auto const& [bytes, allowed] : cases) {
    fault const expected = allowed ? fault::none : fault::too_large;
    BOOST_TEST(error_of(bytes) == expected, bytes.substr(0, 12));
    BOOST_TEST(error_of(bytes, 70'000) == expected, bytes.substr(0, 12));
    BOOST_TEST(error_of(bytes + bytes) == expected, bytes.substr(0, 12));
  }
}

BOOST_AUTO_TEST_CASE(an_endless_message_is_an_error) {
  std::string const zeros(5000, '0');
  std::pair<std::string, std::string> const inputs[] = {
      {"+", zeros}, {"$", zeros}, {"", '|' + zeros + "\r\n"}};
  for (auto const& [begin, piece] : inputs) {
    resp::parser parser;
    feed(parser, begin);
    std::size_t fed = 0;
    for (; parser.error() == fault::none; fed += piece.size()) {
      feed(parser, piece);
      BOOST_REQUIRE(!parser.next());
    }
    BOOST_TEST(fed <= resp::max_bytes + piece.size());
    BOOST_TEST(parser.error() == fault::too_large);
  }
}

BOOST_AUTO_TEST_CASE(a_message_has_at_most_4096_elements) {
  auto const array = [](std::size_t n) {
    return '*' + std::to_string(n) + "\r\n" + repeat(n, "_\r\n");
  };
  auto const pairs = [](char type, std::size_t n) {
    return type + std::to_string(n) + "\r\n" + repeat(2 * n, "_\r\n");
  };
  std::string const allowed[] = {array(4096), pairs('%', 2048), "*2\r\n" + array(4000) + array(94),
                                 "*4095\r\n*1\r\n_\r\n" + repeat(4094, "*0\r\n"),
                                 pairs('|', 2047) + array(2)};
  for (std::string const& bytes : allowed) BOOST_TEST(error_of(bytes + bytes) == fault::none);
  std::string const refused[] = {array(4097), pairs('%', 2049), "*2\r\n" + array(4000) + array(95),
                                 "*4095\r\n*1\r\n_\r\n*1\r\n_\r\n", pairs('|', 2048) + array(1)};
  for (std::string const& bytes : refused) BOOST_TEST(error_of(bytes) == fault::too_many);
}

BOOST_AUTO_TEST_CASE(aggregates_are_nested_at_most_8_deep) {
  for (std::string_view const header : {"*1\r\n", "~1\r\n", "%1\r\n_\r\n", "|1\r\n_\r\n"}) {
    BOOST_TEST(error_of(repeat(8, header) + ":1\r\n") == fault::none);
    BOOST_TEST(error_of(repeat(8, header) + "*0\r\n") == fault::too_deep);
    BOOST_TEST(error_of(repeat(9, header)) == fault::too_deep);
  }
}

BOOST_AUTO_TEST_CASE(a_length_takes_no_memory_before_its_bytes_come) {
  for (std::string_view const header : {"$16777000\r\n", "*4096\r\n", "|2048\r\n"}) {
    heap_counter const heap;
    BOOST_TEST(parse(header) == "");
    BOOST_TEST(heap.bytes() < 1000u);
  }
}

BOOST_AUTO_TEST_CASE(a_warm_parser_allocates_nothing) {
  std::string bytes;
  for (auto const& example : good) bytes += example.bytes;
  resp::parser parser;
  auto const round = [&] {
    std::string_view rest = bytes;
    for (std::size_t n = 1; !rest.empty(); n = n % 61 + 7) {
      std::string_view const piece = rest.substr(0, n);
      feed(parser, piece);
      rest.remove_prefix(piece.size());
      while (parser.next()) continue;
    }
  };
  round();
  heap_counter const heap;
  for (int i = 0; i < 1000; ++i) round();
  BOOST_TEST(heap.allocations() == 0u);
}

BOOST_AUTO_TEST_CASE(memory_is_bounded_by_the_largest_message) {
  resp::parser parser;
  heap_counter const heap;
  std::string const message = blob_of("$99990\r\n", 100'000);
  for (int i = 0; i < 200; ++i) {
    feed(parser, message);
    BOOST_REQUIRE(parser.next());
    BOOST_REQUIRE(!parser.next());
  }
  BOOST_TEST(heap.kept() < 500'000);
}

BOOST_AUTO_TEST_CASE(without_memory_nothing_is_lost) {
  std::string bytes;
  for (auto const& example : good) bytes += example.bytes;
  int failures = 0;
  auto const fail_first = [&](auto const& function) {
    try {
      failing_heap const heap;
      function();
    } catch (std::bad_alloc const&) {
      ++failures;
      function();
    }
  };
  resp::parser parser;
  std::string found;
  for (char const byte : bytes) {
    fail_first([&] { feed(parser, {&byte, 1}); });
    for (std::optional<resp::value> message;; found += to_text(*message) + '\n') {
      fail_first([&] { message = parser.next(); });
      if (!message) break;
    }
  }
  BOOST_TEST(found == parse(bytes));
  BOOST_TEST(failures > 10);
}

BOOST_AUTO_TEST_CASE(single_bytes_cost_no_square) {
  std::string const inputs[] = {line_of("+", 1'000'000), blob_of("$999988\r\n", 999'999),
                                repeat(100'000, "|0\r\n"), repeat(100'000, ":1\r\n")};
  for (std::string const& bytes : inputs) BOOST_TEST(seconds_of([&] { error_of(bytes, 1); }) < 10);
}

BOOST_AUTO_TEST_CASE(many_messages_in_one_piece_cost_no_square) {
  std::string const bytes = repeat(500'000, ":1\r\n");
  BOOST_TEST(seconds_of([&] { error_of(bytes); }) < 10);
}

BOOST_AUTO_TEST_CASE(the_kept_corpus_parses_alike_in_pieces) {
  int files = 0;
  auto const folder = std::filesystem::path(__FILE__).parent_path() / "../fuzz/corpus/resp";
  for (auto const& file : std::filesystem::directory_iterator(folder)) {
    BOOST_TEST_INFO_SCOPE(file.path());
    std::ifstream in(file.path(), std::ios::binary);
    std::string const bytes(std::istreambuf_iterator<char>(in), {});
    BOOST_TEST(parse(bytes, 1, 1) == parse(bytes));
    ++files;
  }
  BOOST_TEST(files > 0);
}

BOOST_AUTO_TEST_SUITE_END()
