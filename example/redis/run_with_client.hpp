// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Each process of an example runs a coroutine with a client.

#ifndef ASIO_SYNC_EXAMPLE_REDIS_RUN_WITH_CLIENT_HPP
#define ASIO_SYNC_EXAMPLE_REDIS_RUN_WITH_CLIENT_HPP

#include <asio_sync/redis/client.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <exception>
#include <stdexcept>
#include <string>

/// Throws out of `context.run()` when the client has had no connection for five seconds. A service
/// would wait for its server instead.
class impatience {
 public:
  explicit impatience(boost::asio::io_context& context) : limit_(context) { start(); }

  /// Looks at an event of the client. To be called on the context.
  void take(asio_sync::redis::event const& event) {
    using kind = asio_sync::redis::event::kind;
    if (event.what == kind::connected) {
      is_connected_ = true;
      limit_.cancel();
    } else if (event.what == kind::connect_failed) {
      reason_ = event.text;
    } else if (event.what == kind::disconnected) {
      reason_ = event.text;
      start();
    }
  }

 private:
  void start() {
    is_connected_ = false;
    limit_.expires_after(std::chrono::seconds(5));
    limit_.async_wait([this](boost::system::error_code cancelled) {
      if (!cancelled && !is_connected_)
        throw std::runtime_error("no connection to the Redis server: " + reason_);
    });
  }

  boost::asio::steady_timer limit_;
  bool is_connected_ = false;
  std::string reason_ = "it does not answer";
};

/// Runs the coroutine `work(client)`, with a client that connects to the server, until it has
/// ended.
template <class Work>
void run_with_client(asio_sync::redis::config const& config, Work work) {
  namespace asio = boost::asio;
  asio::io_context context;
  impatience limit(context);
  asio::thread_pool io(1);  // the coroutine must not delay the heartbeat
  asio_sync::redis::client client(io.get_executor(), config);
  client.on_event([&](asio_sync::redis::event const& event) {
    asio::post(context, [&limit, event] { limit.take(event); });
  });
  client.async_run(asio::detached);
  asio::co_spawn(context, work(client), [&](std::exception_ptr error) {
    context.stop();
    if (error) std::rethrow_exception(error);
  });
  context.run();
}

#endif
