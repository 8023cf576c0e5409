// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_REDIS_SUPPORT_RESP_TEXT_HPP
#define ASIO_SYNC_TEST_REDIS_SUPPORT_RESP_TEXT_HPP

#include <asio_sync/redis/detail/wire/resp.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

namespace asio_sync::redis::detail::resp {

inline std::ostream& boost_test_print_type(std::ostream& out, fault f) {
  return out << describe(f);
}

}  // namespace asio_sync::redis::detail::resp

// Messages as text, so that tests can compare them.
namespace asio_sync::test::codec {

namespace resp = asio_sync::redis::detail::resp;

// Returns a message in one line: "text" -error 12 ,1.5 (123 #t _ and [array] {map} <set> >push>.
inline std::string to_text(resp::value v) {
  constexpr std::string_view marks = "\"-:,(#_[{<>", ends = "\"      ]}>>";
  auto const mark = static_cast<std::size_t>(v.type());
  std::string text(1, marks[mark]);
  text += v.text();
  if (v.type() == resp::kind::number && std::to_string(v.number()) != v.text())
    text += " = " + std::to_string(v.number());
  std::size_t i = 0;
  for (resp::value const element : v) {
    if (i != 0) text += ' ';
    text += to_text(element);
    if (i < 3 && v[i].text().data() != element.text().data()) text += " differs by index";
    ++i;
  }
  if (i != v.size()) text += " and not " + std::to_string(v.size());
  if (ends[mark] != ' ') text += ends[mark];
  return text;
}

// Appends bytes to what the parser has got.
inline void feed(resp::parser& parser, std::string_view bytes) {
  std::copy(bytes.begin(), bytes.end(), parser.prepare(bytes.size()).begin());
  parser.commit(bytes.size());
}

// Returns all messages that the parser has, a line each, and its error.
inline std::string take_all(resp::parser& parser) {
  std::string text;
  while (std::optional<resp::value> const message = parser.next())
    text += to_text(*message) + '\n';
  if (parser.error() != resp::fault::none) text.append(describe(parser.error())) += '\n';
  return text;
}

// Returns take_all() of bytes that come in pieces: first `first` bytes, then `size` at a time.
inline std::string parse(std::string_view bytes, std::size_t first, std::size_t size) {
  resp::parser parser;
  std::string text;
  while (parser.error() == resp::fault::none && !bytes.empty()) {
    std::size_t const n = std::min(std::max<std::size_t>(first, 1), bytes.size());
    feed(parser, bytes.substr(0, n));
    bytes.remove_prefix(n);
    text += take_all(parser);
    first = size;
  }
  return text;
}

inline std::string parse(std::string_view bytes) { return parse(bytes, bytes.size(), 0); }

// Parses bytes that come in pieces, and returns the error.
inline resp::fault error_of(std::string_view bytes, std::size_t piece = std::string_view::npos) {
  resp::parser parser;
  while (!bytes.empty()) {
    feed(parser, bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
    while (parser.next()) continue;
  }
  return parser.error();
}

// Returns n times the text.
inline std::string repeat(std::size_t n, std::string_view text) {
  std::string result;
  result.reserve(n * text.size());
  for (std::size_t i = 0; i < n; ++i) result += text;
  return result;
}

}  // namespace asio_sync::test::codec

#endif
