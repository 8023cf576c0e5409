// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The program that doc/recipes.md gives to copy; a test wants to see what it prints.

#include <asio_sync.hpp>

#include <boost/asio.hpp>

#include <iostream>

namespace asio = boost::asio;

asio::awaitable<void> add_one(asio_sync::async_mutex& mutex, int& sum) {
  auto lock = co_await mutex.async_lock();   // waits for its turn, and blocks no thread
  int const seen = sum;                      // read the record ...
  co_await asio::post(asio::use_awaitable);  // ... ask somebody else, and wait for the answer ...
  sum = seen + 1;                            // ... and write it back
}  // unlocks: the next one goes on

int main() {
  asio::io_context context;
  asio_sync::async_mutex mutex(context);
  int sum = 0;
  for (int i = 0; i < 5; ++i) asio::co_spawn(context, add_one(mutex, sum), asio::detached);
  context.run();
  std::cout << sum << " of 5\n";  // without the lock: 1 of 5
}
