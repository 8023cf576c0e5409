// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_LINK_TRANSPORT_HPP
#define ASIO_SYNC_REDIS_DETAIL_LINK_TRANSPORT_HPP

#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/error_code.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

namespace asio_sync::redis::detail {

namespace asio = boost::asio;

class link;

// Keeps a link while an operation is under way, and then tells it the result.
struct link_handler {
  void operator()(boost::system::error_code error, std::size_t n = 0) const {
    tell(*of, error, n);
  }

  std::shared_ptr<link> of;
  void (*tell)(link&, boost::system::error_code, std::size_t);
};

// Carries the bytes of a link over its connected socket. A link begins with a handshake, and then
// has one read and one write under way. The handlers keep the link, and so the transport, until
// the operations have ended.
class transport {
 public:
  using socket = asio::generic::stream_protocol::socket;

  virtual ~transport() = default;

  virtual void shake_hands(link_handler then) = 0;
  virtual void read(asio::mutable_buffer to, link_handler then) = 0;
  virtual void write(asio::const_buffer from, link_handler then) = 0;

  // Returns the reason of a failure with all that is known of it.
  virtual std::string explain(std::string why) = 0;
};

// Sends the bytes as they are.
class plain_transport final : public transport {
 public:
  explicit plain_transport(socket& s) : socket_(s) {}

  void shake_hands(link_handler then) override { then({}); }
  void read(asio::mutable_buffer to, link_handler then) override {
    socket_.async_read_some(to, std::move(then));
  }
  void write(asio::const_buffer from, link_handler then) override {
    asio::async_write(socket_, from, std::move(then));
  }
  std::string explain(std::string why) override { return why; }

 private:
  socket& socket_;
};

// Makes the transports of all links of a client (config::security).
class security {
 public:
  virtual ~security() = default;

  // Returns a transport to the server of this host.
  virtual std::unique_ptr<transport> secure(transport::socket& s, std::string const& host) = 0;
};

}  // namespace asio_sync::redis::detail

#endif
