// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_REDIS_SUPPORT_FALSE_SERVER_HPP
#define ASIO_SYNC_TEST_REDIS_SUPPORT_FALSE_SERVER_HPP

#include "support/test.hpp"

#include <asio_sync/redis/detail/wire/resp.hpp>

#include "redis/support/false_answers.hpp"
#include "redis/support/server.hpp"

#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/write.hpp>

#include <filesystem>

namespace asio_sync::test::redis {

/// A server on a thread of its own, which grants every lock unless it lies. When it has turned
/// honest, its clients find a real server in its place.
class false_server {
 public:
  false_server(server const& real, liar l) : real_(real.socket()), lie_about_(std::move(l)) {
    accept();
    thread_ = std::thread([this] { io_->run(); });
  }
  ~false_server() { end(); }

  std::string const& socket() const noexcept { return place_; }
  int connections() const noexcept { return connections_; }
  int commands() const noexcept { return commands_; }
  /// Returns the number of bytes of the longest lie.
  std::size_t longest() const noexcept { return longest_; }

  /// Ends, and has the real server in its place.
  void turn_honest() {
    end();
    std::filesystem::remove(place_);
    std::filesystem::create_symlink(real_, place_);
  }

 private:
  using protocol = boost::asio::local::stream_protocol;
  using error_code = boost::system::error_code;

  struct peer : std::enable_shared_from_this<peer> {
    explicit peer(false_server& s) : of(s) {}

    void read() {
      auto const self = shared_from_this();
      auto const to = in.prepare(65536);
      client.async_read_some(boost::asio::buffer(to.data(), to.size()), [self](auto e, auto n) {
        if (e) return;
        self->in.commit(n);
        while (auto const message = self->in.next()) {
          ++self->of.commands_;
          words const command = words_of(*message);
          lie told = self->of.lie_about_(self->answers.name(command)).value_or(lie());
          std::string truth = self->answers.answer(command);
          if (!told.bytes) told.bytes = std::move(truth);
          self->say(std::move(told));
        }
        self->read();
      });
    }

    void say(lie l) {
      if (l.bytes->empty()) return l.closes ? client.close() : void();
      lies.push_back(std::move(l));
      if (lies.size() == 1) write();
    }

    void write() {
      lie const& l = lies.front();
      auto const size = l.how == lie::manner::byte_by_byte ? 1 : l.bytes->size();
      boost::asio::async_write(
          client, boost::asio::buffer(l.bytes->data() + at, size),
          [self = shared_from_this()](auto e, auto n) { self->written(e, n); });
    }

    void written(error_code e, std::size_t n) {
      of.longest_ = std::max(of.longest_.load(), sent += n);
      if (e) return;
      lie const& l = lies.front();
      at = (at + n) % l.bytes->size();
      if (at == 0 && l.closes) return client.close();
      if (at == 0 && l.how != lie::manner::for_ever) {
        lies.pop_front();
        sent = 0;
      }
      if (!lies.empty()) write();
    }

    false_server& of;
    protocol::socket client{*of.io_};
    asio_sync::redis::detail::resp::parser in;
    false_answers answers;
    std::deque<lie> lies;
    std::size_t at = 0, sent = 0;  // of the first lie
  };

  static std::string free_number() {
    static std::atomic<int> last = 0;
    return std::to_string(++last);
  }

  void accept() {
    auto const p = std::make_shared<peer>(*this);
    acceptor_->async_accept(p->client, [this, p](error_code e) {
      if (e) return;
      ++connections_;
      if (auto told = lie_about_("connect")) p->say(std::move(*told));
      p->read();
      accept();
    });
  }

  void end() {
    if (!thread_.joinable()) return;
    io_->stop();
    thread_.join();
    acceptor_.reset();
    io_.reset();  // and with it all connections
  }

  std::string const real_, place_ = real_ + free_number();
  liar const lie_about_;
  std::atomic<int> connections_ = 0, commands_ = 0;
  std::atomic<std::size_t> longest_ = 0;
  std::optional<boost::asio::io_context> io_{std::in_place};
  std::optional<protocol::acceptor> acceptor_{std::in_place, *io_, place_};
  std::thread thread_;
};

}  // namespace asio_sync::test::redis

#endif
