// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_SESSION_REQUESTS_HPP
#define ASIO_SYNC_REDIS_DETAIL_SESSION_REQUESTS_HPP

#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace asio_sync::redis::detail {

enum class script : std::uint8_t {
  open,
  beat,
  acquire,
  release,
  forget,
  shutdown,
  inspect,
  force,
  cond_wait,
  unwait,
  signal,
  exit
};

// True for the commands by which a claim asks for a hold.
constexpr bool is_ask(script s) noexcept {
  return s == script::acquire || s == script::cond_wait || s == script::unwait;
}

// True for the commands that the server refuses unless the session lives.
constexpr bool needs_session(script s) noexcept { return is_ask(s) || s == script::exit; }

// A call of a script, and its arguments from ARGV[1] on. It keeps its memory for the next call.
class request {
 public:
  script what() const noexcept { return what_; }

  std::size_t size() const noexcept { return ends_.size(); }

  std::string_view operator[](std::size_t i) const noexcept {
    std::size_t const begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(bytes_).substr(begin, ends_[i] - begin);
  }

  // Returns the number of bytes of the call on a connection: those of EVALSHA, the digest and the
  // number of keys, and each argument with its length.
  std::size_t wire_size() const noexcept {
    auto const digits = [](std::size_t n) {
      std::size_t count = 1;
      while (n >= 10) n /= 10, ++count;
      return count;
    };
    std::size_t sum = std::string_view("*\r\n$7\r\nEVALSHA\r\n$40\r\n\r\n$1\r\n0\r\n").size() + 40;
    sum += digits(ends_.size() + 3) + bytes_.size();
    for (std::size_t i = 0; i != ends_.size(); ++i) sum += 5 + digits((*this)[i].size());
    return sum;
  }

  // Begins a call without arguments.
  request& call(script s) noexcept {
    what_ = s;
    bytes_.clear();
    ends_.clear();
    return *this;
  }

  request& add(std::string_view text) {
    bytes_.append(text);
    ends_.push_back(bytes_.size());
    return *this;
  }

  request& add(std::uint64_t number) {
    char digits[20];
    char* const end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    return add(std::string_view(digits, static_cast<std::size_t>(end - digits)));
  }

  request& add(std::chrono::milliseconds time) {
    return add(static_cast<std::uint64_t>(time.count()));
  }

 private:
  script what_ = script::open;
  std::string bytes_;
  std::vector<std::size_t> ends_;
};

}  // namespace asio_sync::redis::detail

#endif
