// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Has libFuzzer look for bytes of a server that a parser of RESP does not survive, or takes for
// something else when they come in pieces; and for a command that it does not give back.

#include "redis/support/resp_text.hpp"

#include <asio_sync/redis/detail/wire/resp.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace asio_sync::test::codec;

void expect(std::string_view what, std::string const& found, std::string const& expected) {
  if (found == expected) return;
  std::cerr << "fuzz: " << what << ":\n" << found << "instead of\n" << expected << std::endl;
  std::abort();
}

void parse_in_pieces(std::string_view bytes) {
  std::string const expected = parse(bytes);
  for (std::size_t const size : {1, 5, 64})
    expect("in pieces", parse(bytes, size, size), expected);
  expect("in two", parse(bytes, bytes.size() / 2, bytes.size()), expected);
}

// Takes the lines for the arguments of a command.
void encode_and_parse(std::string_view bytes) {
  std::vector<std::string_view> arguments;
  std::string expected = "[";
  for (std::size_t begin = 0, end = 0; end != bytes.npos; begin = end + 1) {
    end = bytes.find('\n', begin);
    arguments.push_back(bytes.substr(begin, end - begin));
    expected.append(arguments.size() == 1 ? "\"" : " \"").append(arguments.back()) += '"';
  }
  if (arguments.size() > resp::max_elements) return;
  std::string command;
  resp::append_command(command, arguments);
  expect("encoded", parse(command), expected + "]\n");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string_view const bytes(reinterpret_cast<char const*>(data), size);
  parse_in_pieces(bytes);
  encode_and_parse(bytes);
  return 0;
}
