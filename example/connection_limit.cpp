// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Shows how an async_semaphore limits how much runs at once. All downloads start together, and
// each waits for one of a few connections, which it keeps until it has finished: whenever one
// download ends, another begins. A timer stands for the server.

#include "command_line.hpp"

#include <asio_sync/async_semaphore.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <iostream>

namespace asio = boost::asio;
using asio::use_awaitable;
using asio_sync::async_semaphore;

struct tally {
  int running = 0;
  int most = 0;
  int finished = 0;
};

asio::awaitable<void> download(async_semaphore& connections, tally& seen) {
  auto permit = co_await connections.async_acquire();  // waits for a connection
  seen.most = std::max(seen.most, ++seen.running);
  asio::steady_timer server(co_await asio::this_coro::executor, std::chrono::milliseconds(2));
  co_await server.async_wait(use_awaitable);
  --seen.running;
  ++seen.finished;
}  // gives the permit back: the next download begins

bool show(int downloads, int limit) {
  asio::io_context context;
  async_semaphore connections(context, limit, limit);
  tally seen;
  for (int i = 0; i < downloads; ++i)
    asio::co_spawn(context, download(connections, seen), [](std::exception_ptr error) {
      if (error) std::rethrow_exception(error);
    });
  context.run();
  std::cout << "downloads: " << seen.finished << ", most at once: " << seen.most << '\n';
  return seen.finished == downloads && seen.most == std::min(downloads, limit);
}

int main(int argc, char** argv) {
  using namespace command_line;
  int downloads = 20;
  int limit = 3;
  options::options_description description("Options");
  // clang-format off
  description.add_options()
      ("downloads", number_option("downloads", downloads, 1, 1000),
       "number of downloads in all: 1 to 1000")
      ("limit", number_option("limit", limit, 1, 1000), "number of downloads at once: 1 to 1000");
  // clang-format on
  return run(argc, argv, "connection_limit",
             "Runs simulated downloads, a few at a time, under an async_semaphore.", description,
             [&] { return show(downloads, limit); });
}
