// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The limits of the codec of RESP3: of a message, of memory and of time.

#include "redis/support/resp_text.hpp"
#include "support/memory.hpp"
#include "support/test.hpp"

#include <asio_sync/redis/detail/wire/resp.hpp>

#include <ctime>

namespace resp_limits_test {

using namespace asio_sync::test::codec;
using asio_sync::test::failing_heap;
using asio_sync::test::heap_counter;
using resp::fault;

// Some messages with values of all shapes.
constexpr std::string_view mixture =
    "*1\r\n+OK\r\n$5\r\nhello\r\n*3\r\n:1\r\n*-1\r\n$1\r\na\r\n>2\r\n+message\r\n+c\r\n-ERR no\r\n"
    "|1\r\n+a\r\n*1\r\n:1\r\n%2\r\n+a\r\n~2\r\n_\r\n#t\r\n+b\r\n%0\r\n=8\r\ntxt:some\r\n";

// Returns a line or a blob of `size` bytes that begins with `begin`.
std::string padded(std::string_view begin, std::size_t size) {
  return std::string(begin) + std::string(size - begin.size() - 2, 'x') + "\r\n";
}

double seconds_of(auto const& function) {
  std::clock_t const begin = std::clock();
  function();
  return double(std::clock() - begin) / CLOCKS_PER_SEC;
}

}  // namespace resp_limits_test

BOOST_AUTO_TEST_SUITE(resp_limits_test)

BOOST_AUTO_TEST_CASE(a_message_has_at_most_16_MB) {
  constexpr std::size_t most = resp::max_bytes;
  struct {
    std::string bytes;
    bool allowed;
  } const cases[] = {
      {padded("+", most), true},
      {padded("+", most + 1), false},
      {padded("$16777203\r\n", most), true},
      {padded("$16777204\r\n", most + 1), false},
      {"*2\r\n" + padded("+", most - 8) + ":1\r\n", true},
      {"*2\r\n" + padded("+", most - 8) + ":12\r\n", false},
      {"*2\r\n" + padded("+", most - 4) + ":1\r\n", false},
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
    for (; parser.error() == fault::none && fed <= resp::max_bytes; fed += piece.size()) {
      feed(parser, piece);
      BOOST_REQUIRE(!parser.next());
    }
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
  resp::parser parser;
  auto const round = [&] {
    std::string_view rest = mixture;
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
  std::string const message = padded("$99990\r\n", 100'000);
  for (int i = 0; i < 200; ++i) {
    feed(parser, message);
    BOOST_REQUIRE(parser.next());
    BOOST_REQUIRE(!parser.next());
  }
  BOOST_TEST(heap.kept() < 500'000);
}

BOOST_AUTO_TEST_CASE(without_memory_nothing_is_lost) {
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
  for (char const byte : mixture) {
    fail_first([&] { feed(parser, {&byte, 1}); });
    for (std::optional<resp::value> message;; found += to_text(*message) + '\n') {
      fail_first([&] { message = parser.next(); });
      if (!message) break;
    }
  }
  BOOST_TEST(found == parse(mixture));
  BOOST_TEST(failures > 5);
}

BOOST_AUTO_TEST_CASE(single_bytes_cost_no_square) {
  std::string const inputs[] = {padded("+", 3'000'000), padded("$999988\r\n", 999'999),
                                repeat(100'000, "|0\r\n"), repeat(100'000, ":1\r\n"),
                                padded('$' + std::string(300'000, '0') + "300000\r\n", 600'011)};
  for (std::string const& bytes : inputs) BOOST_TEST(seconds_of([&] { error_of(bytes, 1); }) < 10);
}

BOOST_AUTO_TEST_CASE(many_messages_in_one_piece_cost_no_square) {
  std::string const bytes = repeat(500'000, ":1\r\n");
  BOOST_TEST(seconds_of([&] { error_of(bytes); }) < 10);
}

BOOST_AUTO_TEST_SUITE_END()
