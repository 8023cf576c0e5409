// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_BENCH_HTTP_WORKLOAD_HPP
#define ASIO_SYNC_BENCH_HTTP_WORKLOAD_HPP

#include <bench/workload.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address_v4.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace asio_sync::bench {

// A server like that of the example, and clients that keep their connections. All are run by one
// thread, so that nothing but the requests takes time: the clients send one each, the server
// answers them all, and the clients read.
template <class Server>
class http_scene {
 public:
  static constexpr std::size_t clients = 16;

  http_scene() : server_(io_, 0, clients, std::chrono::hours(1)) {
    server_.start();
    std::string const url = server_.url();
    auto const port = static_cast<unsigned short>(std::stoi(url.substr(url.rfind(':') + 1)));
    for (std::size_t i = 0; i != clients; ++i) {
      sockets_.emplace_back(others_).connect({boost::asio::ip::address_v4::loopback(), port});
      sockets_.back().non_blocking(true);
    }
    learn_answer();
  }

  ~http_scene() {
    sockets_.clear();
    server_.stop();
    io_.run();
  }

  http_scene(http_scene const&) = delete;
  http_scene& operator=(http_scene const&) = delete;

  void run(std::size_t n) {
    for (; n != 0; n -= clients) {
      for (auto& socket : sockets_) send(socket);
      for (auto& socket : sockets_) receive(socket);
    }
  }

 private:
  using client = boost::asio::ip::tcp::socket;

  static constexpr std::string_view request =
      "GET /primes/1000 HTTP/1.1\r\nHost: localhost\r\n\r\n";
  static constexpr std::string_view end = "\r\n0\r\n\r\n";  // of a chunked body

  static void send(client& to) { boost::asio::write(to, boost::asio::buffer(request)); }

  std::size_t receive_some(client& from, std::size_t size) {
    for (boost::system::error_code error;;) {
      std::size_t const read =
          from.read_some(boost::asio::buffer(&answer_[size], room - size), error);
      if (!error) return read;
      if (error != boost::asio::error::would_block) throw boost::system::system_error(error);
      io_.poll();
    }
  }

  void receive(client& from) {
    std::size_t size = 0;
    while (size < answer_size_) size += receive_some(from, size);
    if (size != answer_size_ || !std::string_view(answer_).substr(0, size).ends_with(end))
      throw std::runtime_error("the answer to a request is not that to the first one");
  }

  void learn_answer() {
    send(sockets_.front());
    do answer_size_ += receive_some(sockets_.front(), answer_size_);
    while (!std::string_view(answer_).substr(0, answer_size_).ends_with(end));
  }

  static constexpr std::size_t room = 8192;

  boost::asio::io_context io_;
  boost::asio::io_context others_;  // which nobody runs
  Server server_;
  std::vector<client> sockets_;
  std::string answer_ = std::string(room, '\0');
  std::size_t answer_size_ = 0;
};

template <class Server>
description http_requests() {
  return {http_scene<Server>::clients * 8, []() -> workload {
            auto const s = std::make_shared<http_scene<Server>>();
            return {[s](std::size_t n) { s->run(n); }};
          }};
}

}  // namespace asio_sync::bench

#endif
