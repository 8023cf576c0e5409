// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// A process that a test kills, stops and watches: it has a client, a mutex with the condition
// "ready", and the monitor "page", and does what the lines of its standard input say.
//
//   redis_peer SOCKET TTL NAME
//
//   lock       answers "locked FENCE" when it has the lock
//   owns       answers "owns 0" or "owns 1"
//   unlock     answers "unlocked ERROR" when the server has answered; the error is 0 for none
//   wait       begins to wait on the condition with the lock; answers "waited ERROR"
//   own        adds 1 to "n" of the monitor for as long as the process lives, and answers "owned
//   1";
//              "left" is notified when that is taken back
//   enter      enters the monitor, stays inside and asks for "v" to be set; answers "inside N"
//   with
//              its "n"
//   watch      answers "lost ERROR" when the lock is lost or given back
//   loop N     locks and unlocks N times; answers "turn FENCE BEGIN END" each time, in ns of the
//              steady clock, and "done"
//   shutdown   answers "down ERROR", and ends
//   return     ends without a word to the server

#include <asio_sync/redis.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <cstddef>
#include <exception>
#include <iostream>
#include <sstream>
#include <string>

#include <unistd.h>

namespace {

namespace asio = boost::asio;
namespace redis = asio_sync::redis;
using boost::system::error_code;

template <class... Parts>
void say(Parts const&... parts) {
  (std::cout << ... << parts) << std::endl;
}

std::int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

asio::awaitable<void> loop(redis::async_mutex& mutex, int turns) {
  for (int i = 0; i < turns; ++i) {
    auto lock = co_await mutex.async_lock();
    auto const begin = now();
    auto const fence = lock.fence();
    error_code error;
    auto const end = now();
    bool const owned = lock.owns_lock();
    co_await lock.async_unlock(asio::redirect_error(asio::use_awaitable, error));
    if (owned) say("turn ", fence, ' ', begin, ' ', end);
  }
  say("done");
}

asio::awaitable<void> obey(redis::client& client, redis::async_mutex& mutex) {
  asio::posix::stream_descriptor input(co_await asio::this_coro::executor, ::dup(STDIN_FILENO));
  redis::async_mutex::lock_type lock;
  redis::async_condition ready(mutex, "ready");
  redis::async_monitor page(co_await asio::this_coro::executor, client, "page");
  redis::async_monitor::entry inside;
  redis::owned part;
  std::string text;
  for (error_code error;;) {
    auto const n = co_await asio::async_read_until(
        input, asio::dynamic_buffer(text), '\n', asio::redirect_error(asio::use_awaitable, error));
    if (error) co_return;
    std::istringstream line(text.substr(0, n));
    text.erase(0, n);
    std::string order;
    line >> order;
    if (order == "lock") {
      lock = co_await mutex.async_lock();
      say("locked ", lock.fence());
    } else if (order == "owns") {
      say("owns ", lock.owns_lock());
    } else if (order == "unlock") {
      co_await lock.async_unlock(asio::redirect_error(asio::use_awaitable, error));
      say("unlocked ", error.value());
    } else if (order == "wait") {
      ready.async_wait(lock, [](error_code e) { say("waited ", e.value()); });
    } else if (order == "own") {
      inside = co_await page.async_enter();
      part = inside.add_owned("n", 1, "left");
      co_await inside.async_leave();
      say("owned ", part.owns());
    } else if (order == "enter") {
      inside = co_await page.async_enter();
      inside.set("v", 1);
      say("inside ", inside.number("n"));
    } else if (order == "watch") {
      lock.async_wait_lost([](error_code e) { say("lost ", e.value()); });
    } else if (order == "loop") {
      int turns = 0;
      line >> turns;
      co_await loop(mutex, turns);
    } else if (order == "shutdown") {
      co_await client.async_shutdown(asio::redirect_error(asio::use_awaitable, error));
      say("down ", error.value());
      co_return;
    } else if (order == "return") {
      co_return;
    }
  }
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 4) throw std::runtime_error("usage: redis_peer SOCKET TTL NAME");
  redis::config config;
  config.unix_socket = argv[1];
  config.session_ttl = config.max_session_ttl = std::chrono::milliseconds(std::stoi(argv[2]));
  config.gate = false;
  asio::io_context io;
  asio::thread_pool pool(1);
  redis::client client(pool.get_executor(), config);
  client.async_run(asio::detached);
  redis::async_mutex mutex(io, client, argv[3]);
  asio::co_spawn(io, obey(client, mutex), [&](std::exception_ptr e) {
    io.stop();
    if (e) std::rethrow_exception(e);
  });
  io.run();
} catch (std::exception const& e) {
  std::cerr << "redis_peer: " << e.what() << '\n';
  return 1;
}
