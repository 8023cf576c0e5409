// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Shows the primitives inside of a server that is made with Boost.Beast. An async_semaphore limits
// the connections; an async_mutex puts the writes of a WebSocket one after the other; the pages
// are in a cache under an async_shared_mutex, and an async_keyed_mutex has each of them computed
// once; an async_group tells the sessions to end, at SIGINT and SIGTERM, and waits for the last
// one.
//
//     http_server --port 8080 &
//     curl http://127.0.0.1:8080/primes/1000

#include "http_server.hpp"
#include "command_line.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include <chrono>
#include <csignal>
#include <future>
#include <iostream>
#include <vector>

namespace asio = boost::asio;

struct settings {
  int port = 0;
  int threads = 2;
  int connections = 1000;
  std::chrono::milliseconds timeout{30'000};
};

// Runs the event loop on this number of threads until it is out of work.
void run_loop(asio::io_context& context, int threads) {
  std::vector<std::future<void>> others;
  for (int i = 1; i < threads; ++i)
    others.push_back(std::async(std::launch::async, [&context] { context.run(); }));
  context.run();
  for (auto& other : others) other.get();
}

bool serve(settings const& set) {
  asio::io_context context;
  http_server::server server(context, static_cast<unsigned short>(set.port), set.connections,
                             set.timeout);
  asio::signal_set signals(context, SIGINT, SIGTERM);
  signals.async_wait([&](boost::system::error_code, int) {
    signals.clear();  // a second one ends the program as if nobody waited for it
    server.stop();
  });
  server.start();
  std::cout << "listening on " << server.url() << std::endl;
  run_loop(context, set.threads);
  return server.report();
}

int main(int argc, char** argv) {
  using namespace command_line;
  settings set;
  options::options_description description("Options");
  // clang-format off
  description.add_options()
      ("port", number_option("port", set.port, 0, 65'535), "0 for a free one")
      ("threads", number_option("threads", set.threads, 1, 64),
       "number of threads that run the event loop: 1 to 64")
      ("connections", number_option("connections", set.connections, 1, 100'000),
       "the most connections at a time: 1 to 100000")
      ("timeout", time_option("timeout", set.timeout),
       "for a request, for a response, for the next message or pong: 1ms to 3600s");
  // clang-format on
  return run(argc, argv, "http_server",
             "Serves HTTP and WebSockets on the loopback interface until SIGINT or SIGTERM.",
             description, [&set] { return serve(set); });
}
