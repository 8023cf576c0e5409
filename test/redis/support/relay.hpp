// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_REDIS_SUPPORT_RELAY_HPP
#define ASIO_SYNC_TEST_REDIS_SUPPORT_RELAY_HPP

#include "redis/support/server.hpp"
#include "support/test.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/write.hpp>

namespace asio_sync::test::redis {

/// A bad network between clients and a server, on a thread and a socket of its own. Each function
/// has taken effect when it returns. The server has to outlive the relay.
class relay {
 public:
  enum way : std::size_t { to_server, to_client };
  enum class flow { pass, hold, drop };

  explicit relay(server const& s) : server_(s.socket()), acceptor_(io_, s.socket() + ".relay") {
    accept();
  }
  ~relay() {
    io_.stop();
    io_.join();
  }

  std::string socket() const { return acceptor_.local_endpoint().path(); }
  std::atomic<bool> refuses = false;  // it closes each new connection at once

  /// Decides about the bytes of one direction, on all connections. The end of a connection passes
  /// if its bytes do. Passing begins with the bytes that are held.
  void set(way w, flow f) {
    run([&] {
      flow_[w] = f;
      came_[w].clear();
      for (auto const& l : lines_)
        if (f == flow::pass && l->end[0].is_open()) write(*l, w, std::exchange(l->held[w], {}));
    });
  }

  /// Delays the bytes of both directions that come from now on.
  void delay(std::chrono::milliseconds by) {
    run([&] { delay_ = by; });
  }

  /// Passes the bytes to the server until this text has come, and drops the bytes behind it.
  void drop_after(std::string_view text) {
    run([&] { last_ = text; });
  }

  /// Closes all connections. Bytes of later connections pass. If only the client's side is closed,
  /// the server does not notice it, and the bytes that are held are kept for deliver().
  void cut(bool on_both_sides = true) {
    run([&] {
      flow_ = {};
      boost::system::error_code ignored;
      for (auto const& l : lines_) {
        l->end[0].close(ignored);
        if (on_both_sides) l->end[1].close(ignored);
      }
    });
  }

  /// Leads later connections to another server, which has to outlive the relay, too.
  void lead_to(server const& s) {
    run([&] { server_ = s.socket(); });
  }

  /// Sends to the server what is held of the oldest connection whose client has gone, then PING.
  void deliver() {
    run([&] {
      for (auto const& l : lines_)
        if (!l->end[0].is_open() && !l->held[to_server].empty())
          return write(*l, to_server, std::exchange(l->held[to_server], {}) + "PING\r\n");
    });
  }

  /// Returns true if this text has come in one direction since the last set() of it.
  bool has_come(way w, std::string_view text) {
    return run([&] { return came_[w].find(text) != std::string::npos; });
  }

 private:
  using stream = boost::asio::local::stream_protocol;

  struct line {
    explicit line(boost::asio::thread_pool& io) : end{stream::socket(io), stream::socket(io)} {}
    std::array<stream::socket, 2> end;  // the client's, and the server's
    std::array<std::string, 2> held;    // by direction
    std::array<std::array<char, 4096>, 2> room{};
  };

  template <class Function>
  std::invoke_result_t<Function> run(Function f) {
    return boost::asio::post(io_, boost::asio::use_future(f)).get();
  }

  void accept() {
    auto const l = std::make_shared<line>(io_);
    acceptor_.async_accept(l->end[0], [this, l](boost::system::error_code error) {
      if (!error && !refuses && !l->end[1].connect(server_, error)) {
        lines_.push_back(l);
        for (way const w : {to_server, to_client}) pump(l, w);
      }
      accept();  // it is stopped with the thread
    });
  }

  void pump(std::shared_ptr<line> const& l, way w) {
    auto const take = [this, l, w](boost::system::error_code error, std::size_t n) {
      if (!l->end[w].is_open()) return;
      if (!error) return take_bytes(*l, w, {l->room[w].data(), n}), pump(l, w);
      l->end[w].close(error);
      if (flow_[w] == flow::pass) l->end[1 - w].close(error);
    };
    l->end[w].async_read_some(boost::asio::buffer(l->room[w]), take);
  }

  void take_bytes(line& l, way w, std::string const& bytes) {
    came_[w] += bytes;
    if (flow_[w] == flow::hold) l.held[w] += bytes;
    if (flow_[w] == flow::pass) pass(l, w, bytes);
    if (w == to_server && !last_.empty() && bytes.find(last_) != bytes.npos)
      last_.clear(), flow_[w] = flow::drop;
  }

  void pass(line& l, way w, std::string const& bytes) {
    if (delay_ == std::chrono::milliseconds::zero()) return write(l, w, bytes);
    auto const timer = std::make_shared<boost::asio::steady_timer>(io_, delay_);
    timer->async_wait([&l, w, bytes, timer](boost::system::error_code) { write(l, w, bytes); });
  }

  static void write(line& l, way w, std::string const& bytes) {
    boost::system::error_code ignored;
    boost::asio::write(l.end[1 - w], boost::asio::buffer(bytes), ignored);
  }

  boost::asio::thread_pool io_{1};
  stream::endpoint server_;
  stream::acceptor acceptor_;
  std::vector<std::shared_ptr<line>> lines_;  // the oldest first, with those that are closed
  std::array<flow, 2> flow_{};                // by direction
  std::array<std::string, 2> came_;           // likewise
  std::string last_;
  std::chrono::milliseconds delay_{0};
};

}  // namespace asio_sync::test::redis

#endif
