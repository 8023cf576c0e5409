// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_REDIS_SUPPORT_CONNECTION_HPP
#define ASIO_SYNC_TEST_REDIS_SUPPORT_CONNECTION_HPP

#include <asio_sync/redis/detail/wire/resp.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/write.hpp>

#include <chrono>
#include <cstdint>
#include <deque>
#include <ostream>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace asio_sync::test::redis {

namespace resp = asio_sync::redis::detail::resp;

/// A message of the server that owns its text.
struct message {
  resp::kind type = resp::kind::null;
  std::string text;  // of an error, its code is the first word
  std::int64_t number = 0;
  std::vector<message> elements;

  message() = default;
  explicit message(resp::value const& from)
      : type(from.type()), text(from.text()), number(from.number()) {
    elements.reserve(from.size());
    for (resp::value const element : from) elements.emplace_back(element);
  }

  bool is_error() const { return type == resp::kind::error; }
  std::string code() const { return is_error() ? text.substr(0, text.find(' ')) : ""; }

  friend std::ostream& operator<<(std::ostream& out, message const& m) {
    if (m.type == resp::kind::null) return out << "null";
    if (m.elements.empty() && m.type != resp::kind::array) return out << m.text;
    out << '[';
    for (char const* separator = ""; message const& element : m.elements) {
      out << separator << element;
      separator = ", ";
    }
    return out << ']';
  }
};

/// A blocking connection to a server that speaks RESP3. Throws if an answer takes 20 seconds.
class connection {
 public:
  explicit connection(std::string const& path) : socket_(io_) {
    socket_.connect(boost::asio::local::stream_protocol::endpoint(path));
    (*this)({"HELLO", "3"});
  }

  /// Sends a command, and returns its answer.
  message operator()(std::vector<std::string> const& command) {
    send(command);
    return receive();
  }

  /// Sends a command whose answer is received later.
  void send(std::vector<std::string> const& command) {
    std::vector<std::string_view> const views(command.begin(), command.end());
    std::string bytes;
    resp::append_command(bytes, std::span(views));
    boost::asio::write(socket_, boost::asio::buffer(bytes));
  }

  /// Returns the next answer. A push that comes before it is kept.
  message receive() {
    while (true) {
      message next = read();
      if (next.type != resp::kind::push) return next;
      pushes_.push_back(std::move(next));
    }
  }

  /// Returns the texts that were published to us since the last call.
  std::vector<std::string> pushes() {
    (*this)({"PING"});  // what was published before this is here before its answer
    std::vector<std::string> texts;
    for (message const& push : std::exchange(pushes_, {}))
      if (push.elements.at(0).text == "message") texts.push_back(push.elements.at(2).text);
    return texts;
  }

  void subscribe(std::string const& channel) {
    send({"SUBSCRIBE", channel});
    if (read().type != resp::kind::push) throw std::runtime_error("cannot subscribe");
  }

 private:
  message read() {
    while (true) {
      if (auto const next = parser_.next()) return message(*next);
      if (parser_.error() != resp::fault::none)
        throw std::runtime_error(std::string(resp::describe(parser_.error())));
      auto error = make_error_code(boost::system::errc::timed_out);
      auto const room = parser_.prepare(65536);
      socket_.async_read_some(boost::asio::buffer(room.data(), room.size()),
                              [&](boost::system::error_code e, std::size_t n) {
                                error = e;
                                parser_.commit(n);
                              });
      io_.restart();
      io_.run_for(std::chrono::seconds(20));
      if (error) throw boost::system::system_error(error);
    }
  }

  boost::asio::io_context io_;
  boost::asio::local::stream_protocol::socket socket_;
  resp::parser parser_;
  std::deque<message> pushes_;
};

}  // namespace asio_sync::test::redis

#endif
