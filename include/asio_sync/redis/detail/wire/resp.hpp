// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_WIRE_RESP_HPP
#define ASIO_SYNC_REDIS_DETAIL_WIRE_RESP_HPP

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

// RESP, the protocol between Redis and its clients: the client writes commands, and the server
// answers each of them with a message of RESP3, and sends pushes between the answers.
namespace asio_sync::redis::detail::resp {

// Appends a command and its arguments. If it throws, `out` has not changed.
inline void append_command(std::string& out, std::span<std::string_view const> arguments) {
  std::size_t const before = out.size();
  try {
    out.append("*").append(std::to_string(arguments.size())).append("\r\n");
    for (std::string_view const argument : arguments) {
      out.append("$").append(std::to_string(argument.size())).append("\r\n");
      out.append(argument).append("\r\n");
    }
  } catch (...) {
    out.resize(before);
    throw;
  }
}

inline void append_command(std::string& out, std::initializer_list<std::string_view> arguments) {
  append_command(out, std::span(arguments.begin(), arguments.size()));
}

// A message keeps these limits, its attributes included.
inline constexpr std::size_t max_bytes = 16 * 1024 * 1024;
inline constexpr std::size_t max_elements = 4096;  // in all of its aggregates together
inline constexpr std::size_t max_depth = 8;        // of aggregates

// The limit or the rule that a server has broken.
enum class fault : std::uint8_t {
  none,
  too_large,
  too_many,
  too_deep,
  unknown_type,
  bad_line,
  bad_length,
  bad_value,
  bad_blob,
  bad_verbatim,
  streamed,
  misplaced_push,
  nameless_push,
};

// Returns a sentence for people.
inline std::string_view describe(fault f) noexcept {
  switch (f) {
    case fault::none: return "no error";
    case fault::too_large: return "a message has more than 16 MB";
    case fault::too_many: return "a message has more than 4096 elements";
    case fault::too_deep: return "aggregates are nested more than 8 deep";
    case fault::unknown_type: return "a byte does not begin any type";
    case fault::bad_line: return "a line does not end with CR LF, or has a CR or LF in it";
    case fault::bad_length: return "a length is not a number, or negative";
    case fault::bad_value: return "a number, boolean or null is not one, or out of range";
    case fault::bad_blob: return "no CR LF follows a blob";
    case fault::bad_verbatim: return "a verbatim string does not begin with its format";
    case fault::streamed: return "streamed strings and aggregates are not supported";
    case fault::misplaced_push: return "a push is inside another message";
    case fault::nameless_push: return "a push does not begin with a string";
  }
  return {};
}

// Simple, blob and verbatim strings are `string`, both kinds of errors `error`.
enum class kind : std::uint8_t {
  string,
  error,
  number,
  real,
  big_number,
  boolean,
  null,
  array,
  map,
  set,
  push,
};

// A value as the parser stores it. The nodes of its elements follow it.
struct node {
  kind type;
  std::uint32_t size;            // the number of elements
  std::uint32_t extent;          // the number of nodes, with this one
  std::uint32_t offset, length;  // the place of the text in the message
  std::int64_t number;
};

// A message, or an element of a message. It refers to memory of the parser.
class value {
 public:
  class iterator;

  value(node const* at, char const* bytes) noexcept : node_(at), bytes_(bytes) {}

  kind type() const noexcept { return node_->type; }

  // Returns a string without the format of a verbatim one, an error with its code, or what was
  // sent for a number, real or boolean; empty for null and aggregates.
  std::string_view text() const noexcept { return {bytes_ + node_->offset, node_->length}; }

  // Returns the first word of an error.
  std::string_view code() const noexcept { return text().substr(0, text().find(' ')); }

  // Returns a number, 1 for true; else 0.
  std::int64_t number() const noexcept { return node_->number; }

  // Returns the number of elements; a map has two for each pair.
  std::size_t size() const noexcept { return node_->size; }

  // Returns element i < size(), in i steps.
  value operator[](std::size_t i) const noexcept;

  iterator begin() const noexcept;
  iterator end() const noexcept;

 private:
  node const* node_;
  char const* bytes_;
};

class value::iterator {
 public:
  explicit iterator(value at) noexcept : at_(at) {}

  value operator*() const noexcept { return at_; }
  iterator& operator++() noexcept {
    at_.node_ += at_.node_->extent;
    return *this;
  }
  bool operator==(iterator const& other) const noexcept { return at_.node_ == other.at_.node_; }

 private:
  value at_;
};

inline value::iterator value::begin() const noexcept { return iterator(value(node_ + 1, bytes_)); }

inline value::iterator value::end() const noexcept {
  return iterator(value(node_ + node_->extent, bytes_));
}

inline value value::operator[](std::size_t i) const noexcept {
  iterator element = begin();
  for (; i != 0; --i) ++element;
  return *element;
}

inline std::optional<std::int64_t> to_number(std::string_view text) noexcept {
  std::int64_t number;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

inline bool is_big_number(std::string_view text) noexcept {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

inline bool is_real(std::string_view text) noexcept {
  auto const skip = [&text](std::string_view any) {
    bool const found = !text.empty() && any.find(text.front()) != any.npos;
    text.remove_prefix(found);
    return found;
  };
  auto const skip_digits = [&text] {
    std::size_t const n = std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(n);
    return n != 0;
  };
  skip("-");  // servers before 7.2 send "-nan", too
  if (text == "inf" || text == "nan") return true;
  if (!skip_digits() || (skip(".") && !skip_digits())) return false;
  if (skip("eE")) {
    skip("+-");
    if (!skip_digits()) return false;
  }
  return text.empty();
}

// Makes messages of the bytes that a server sends, in pieces of any size:
//
//   parser.commit(read(parser.prepare(4096)));
//   while (std::optional<resp::value> const message = parser.next()) use(*message);
//   if (parser.error() != resp::fault::none) close();
//
// Parsing takes time that is linear in the bytes, however small the pieces. Memory grows with the
// bytes that have come, never with a length that was announced, and is used again.
class parser {
 public:
  // Returns room for at least n bytes. To be called when next() has returned nothing. Throws only
  // bad_alloc, and nothing has changed then.
  std::span<char> prepare(std::size_t n) {
    drop_message();
    if (buffer_.size() - end_ < n && begin_ != 0) {
      std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
    }
    if (buffer_.size() - end_ < n) buffer_.resize(end_ + n);
    return std::span(buffer_).subspan(end_);
  }

  // Takes the first n bytes of the room that prepare() has returned.
  void commit(std::size_t n) noexcept { end_ += n; }

  // Returns the next message, a push or an answer, which is valid until next() or prepare() is
  // called. Returns nothing if the message is incomplete, or after an error. Throws only
  // bad_alloc, and may be called again then.
  std::optional<value> next() {
    drop_message();
    while (error_ == fault::none && take()) {
      if (depth_ != 0 || nodes_.empty()) continue;
      if (nodes_[0].type == kind::push && (nodes_.size() == 1 || nodes_[1].type != kind::string))
        fail(fault::nameless_push);
      else
        return value(nodes_.data(), message());
    }
    return std::nullopt;
  }

  // Returns the rule that the bytes have broken; nothing is parsed after that.
  fault error() const noexcept { return error_; }

 private:
  // An aggregate whose elements are being parsed.
  struct frame {
    std::uint32_t left;  // the number of elements to come, and 1 for a header that has not ended
    std::uint32_t node;
    bool attribute;
  };

  char const* message() const noexcept { return buffer_.data() + begin_; }

  bool fail(fault f) noexcept {
    error_ = f;
    return false;
  }

  void drop_message() noexcept {
    if (depth_ != 0 || nodes_.empty() || error_ != fault::none) return;
    nodes_.clear();
    begin_ += at_;
    at_ = scanned_ = wanted_ = elements_ = 0;
  }

  // Takes a value that has no elements, or the header of an aggregate. Returns false if its bytes
  // have not all come, or after an error.
  bool take() {
    std::string_view const bytes(message(), std::min(end_ - begin_, max_bytes));
    if (bytes.size() < wanted_) return false;
    if (at_ != bytes.size()) {
      if (std::string_view("+-:,(#_$=!*%~>|").find(bytes[at_]) == bytes.npos)
        return fail(fault::unknown_type);
      scanned_ = std::min(bytes.find('\n', scanned_), bytes.size());
      if (scanned_ != bytes.size()) return take_line(bytes.substr(at_, scanned_ - at_), bytes);
    }
    return bytes.size() == max_bytes && fail(fault::too_large);
  }

  bool take_line(std::string_view line, std::string_view bytes) {
    if (line.find('\r') + 1 != line.size()) return fail(fault::bad_line);
    char const type = line.front();
    line = line.substr(1, line.size() - 2);
    wanted_ = scanned_ + 1;
    std::optional<std::int64_t> const number = to_number(line);
    switch (type) {
      case '+': return add(kind::string, line);
      case '-': return add(kind::error, line);
      case ':': return add_if(number.has_value(), kind::number, line, number.value_or(0));
      case ',': return add_if(is_real(line), kind::real, line);
      case '(': return add_if(is_big_number(line), kind::big_number, line);
      case '#': return add_if(line == "t" || line == "f", kind::boolean, line, line == "t");
      case '_': return add_if(line.empty(), kind::null, line);
      default: break;
    }
    if (line == "-1" && (type == '$' || type == '*'))  // null in RESP2
      return add(kind::null, line.substr(0, 0));
    if (line == "?") return fail(fault::streamed);
    if (!number || *number < 0) return fail(fault::bad_length);
    auto const length = static_cast<std::uint64_t>(*number);
    bool const blob = type == '$' || type == '=' || type == '!';
    return blob ? take_blob(type, length, bytes) : begin_aggregate(type, length);
  }

  bool take_blob(char type, std::uint64_t length, std::string_view bytes) {
    if (length + 2 > max_bytes - wanted_) return fail(fault::too_large);
    auto const size = static_cast<std::size_t>(length);
    std::size_t const begin = std::exchange(wanted_, wanted_ + size + 2);
    if (bytes.size() < wanted_) return false;
    if (bytes.substr(begin + size, 2) != "\r\n") return fail(fault::bad_blob);
    std::string_view text = bytes.substr(begin, size);
    if (type == '=') {
      if (size < 4 || text[3] != ':') return fail(fault::bad_verbatim);
      text.remove_prefix(4);
    }
    return add(type == '!' ? kind::error : kind::string, text);
  }

  // Begins an aggregate. An attribute is a map until it ends.
  bool begin_aggregate(char type, std::uint64_t length) {
    bool const pairs = type == '%' || type == '|';
    if (type == '>' && depth_ != 0) return fail(fault::misplaced_push);
    if (depth_ == max_depth) return fail(fault::too_deep);
    if (length > (max_elements - elements_) / (pairs ? 2 : 1)) return fail(fault::too_many);
    auto const size = static_cast<std::uint32_t>(pairs ? 2 * length : length);
    auto const index = static_cast<std::uint32_t>(nodes_.size());
    add_node(type == '*'   ? kind::array
             : type == '~' ? kind::set
             : type == '>' ? kind::push
                           : kind::map,
             {}, 0, size);
    elements_ += size;
    frames_[depth_++] = {size + 1, index, type == '|'};
    return end_value();
  }

  bool add_if(bool valid, kind type, std::string_view text, std::int64_t number = 0) {
    return valid ? add(type, text, number) : fail(fault::bad_value);
  }

  bool add(kind type, std::string_view text, std::int64_t number = 0) {
    add_node(type, text, number, 0);
    return end_value();
  }

  void add_node(kind type, std::string_view text, std::int64_t number, std::uint32_t size) {
    auto const offset = text.empty() ? 0 : static_cast<std::uint32_t>(text.data() - message());
    nodes_.push_back({type, size, 1, offset, static_cast<std::uint32_t>(text.size()), number});
  }

  // Ends a value or a header, and each aggregate that has all of its elements now.
  bool end_value() noexcept {
    at_ = scanned_ = wanted_;
    while (depth_ != 0 && --frames_[depth_ - 1].left == 0) {
      frame const& ended = frames_[--depth_];
      if (ended.attribute) {  // belongs to the next value, and is no element
        nodes_.resize(ended.node);
        break;
      }
      nodes_[ended.node].extent = static_cast<std::uint32_t>(nodes_.size() - ended.node);
    }
    return true;
  }

  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // of the message that is being parsed
  std::size_t end_ = 0;    // of the bytes that have come

  // Counted from begin_, because the buffer moves.
  std::size_t at_ = 0;       // the first byte that has not become a node
  std::size_t scanned_ = 0;  // the byte up to which there is no LF; the LF of an incomplete blob
  std::size_t wanted_ = 0;   // the number of bytes without which there is nothing to do

  std::vector<node> nodes_;
  std::size_t elements_ = 0;  // announced in this message
  std::array<frame, max_depth> frames_;
  std::size_t depth_ = 0;
  fault error_ = fault::none;
};

}  // namespace asio_sync::redis::detail::resp

#endif
