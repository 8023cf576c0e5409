// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// An HTTP server: accepts connections, so many at a time, and ends in an orderly way.

#ifndef ASIO_SYNC_EXAMPLE_HTTP_SERVER_HPP
#define ASIO_SYNC_EXAMPLE_HTTP_SERVER_HPP

#include "http_server_sessions.hpp"

#include <asio_sync/async_semaphore.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address_v4.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/beast/core/bind_handler.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <cstddef>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

namespace http_server {

/// Listens on the loopback interface. It has to live until the context has no more work.
class server {
  // A member as a handler, on the strand of the acceptor.
  template <class... Args>
  auto handler(void (server::*step)(Args...)) {
    return asio::bind_executor(acceptor_.get_executor(), beast::bind_front_handler(step, this));
  }

 public:
  /// Port 0: a free one.
  server(asio::io_context& context, unsigned short port, int connections,
         std::chrono::milliseconds timeout)
      : context_(context),
        most_(connections),
        acceptor_(asio::make_strand(context), {asio::ip::address_v4::loopback(), port}),
        retry_(acceptor_.get_executor()),
        connections_(context, connections, connections),
        site_(context.get_executor(), timeout) {}

  std::string url() const {
    return "http://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
  }

  void start() { asio::post(handler(&server::make_room)); }

  /// May be called on any thread: accepts nobody any more, and lets what has begun come to its
  /// end.
  void stop() { asio::post(handler(&server::on_stop)); }

  /// Prints what was done, once the context has no more work; and whether all is as it has to be.
  bool report() const {
    std::cout << site_.requests << " requests, " << site_.pages.computed() << " pages computed, "
              << site_.messages << " messages sent back, " << site_.sessions.pending()
              << " sessions left\n";
    return site_.sessions.pending() == 0 && connections_.available() == most_ &&
           !site_.pages.computed_twice();
  }

 private:
  // Who has no permit is not accepted: the system lets some clients wait, and refuses the others.
  void make_room() { connections_.async_acquire(handler(&server::on_room)); }

  void on_room(error_code error, asio_sync::semaphore_permit permit) {
    if (error) return;  // closed
    permit_ = std::move(permit);
    accept({});
  }

  void accept(error_code) {
    asio::any_io_executor const strand = asio::make_strand(context_);
    acceptor_.async_accept(strand, handler(&server::on_accept));
  }

  void on_accept(error_code error, tcp::socket client) {
    if (!acceptor_.is_open()) return permit_.release();
    if (error) return accept_later(error);
    failing_ = false;
    std::make_shared<http_session>(site_, std::move(client), std::move(permit_))->start();
    make_room();
  }

  // The client has gone, or descriptors or memory are used up: then it would fail at once again.
  void accept_later(error_code error) {
    if (!std::exchange(failing_, true))
      std::clog << "http_server: cannot accept: " + error.message() + '\n';
    retry_.expires_after(std::chrono::milliseconds(100));
    retry_.async_wait(handler(&server::accept));
  }

  void on_stop() {
    error_code ignored;
    acceptor_.close(ignored);
    retry_.cancel();
    connections_.close();
    site_.stopping = true;
    join();
  }

  // Sessions end when they have answered, and those that do not, a bit later.
  void join() {
    site_.sessions.cancel_pending();
    site_.sessions.async_join_for(site_.timeout, handler(&server::on_join));
  }

  void on_join(error_code error) {
    if (error == asio::error::timed_out) join();
  }

  asio::io_context& context_;
  int const most_;
  tcp::acceptor acceptor_;
  asio::steady_timer retry_;
  asio_sync::async_semaphore connections_;
  asio_sync::semaphore_permit permit_;  // of the client who is to be accepted next
  site site_;
  bool failing_ = false;
};

}  // namespace http_server

#endif
