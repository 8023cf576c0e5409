// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// A session of Beast over TLS whose writes take turns under a mutex. It is compiled, and not run.

#include <asio_sync/async_mutex.hpp>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/bind_handler.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/ssl.hpp>
#include <boost/system/error_code.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio_sync::async_mutex;
using boost::system::error_code;

class ssl_session : public std::enable_shared_from_this<ssl_session> {
 public:
  ssl_session(asio::ip::tcp::socket socket, asio::ssl::context& tls)
      : stream_(std::move(socket), tls), writes_(stream_.get_executor()) {}

  void start() {
    stream_.async_handshake(
        asio::ssl::stream_base::server,
        beast::bind_front_handler(&ssl_session::on_handshake, shared_from_this()));
  }

 private:
  void on_handshake(error_code error) {
    if (error) return;
    writes_.async_lock(
        asio::bind_executor(stream_.get_executor(),
                            beast::bind_front_handler(&ssl_session::on_lock, shared_from_this())));
  }

  void on_lock(error_code error, async_mutex::lock_type lock) {
    if (error) return;
    asio::async_write(
        stream_, asio::buffer(text_),
        beast::bind_front_handler(&ssl_session::on_write, shared_from_this(), std::move(lock)));
  }

  void on_write(async_mutex::lock_type, error_code, std::size_t) {}

  beast::ssl_stream<beast::tcp_stream> stream_;
  async_mutex writes_;
  std::string text_ = "hello";
};

void start_session(asio::ip::tcp::socket socket, asio::ssl::context& tls) {
  std::make_shared<ssl_session>(std::move(socket), tls)->start();
}
