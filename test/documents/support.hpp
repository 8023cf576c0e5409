// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_DOCUMENTS_SUPPORT_HPP
#define ASIO_SYNC_TEST_DOCUMENTS_SUPPORT_HPP

// What the programs behind the pages share.

#include <asio_sync/async_mutex.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <exception>
#include <thread>

namespace asio_sync::test {

// A coroutine that was spawned has ended without an exception.
inline void ended_well(std::exception_ptr error) { BOOST_TEST(!error); }

// How many coroutines have ended; they may run on several threads.
struct endings {
  auto count() {
    return [this](std::exception_ptr error, auto const&...) { ++(error ? failed : well); };
  }

  int all() const { return well + failed; }

  std::atomic<int> well = 0;
  std::atomic<int> failed = 0;
};

// A record that takes an asynchronous step to update: without a lock, updates get lost.
struct record {
  asio::awaitable<void> update() {
    int const seen = value;
    for (int i = 0; i < steps; ++i) co_await asio::post(asio::use_awaitable);
    value = seen + 1;
  }

  int value = 0;
  int steps = 1;
};

// A free mutex, and its context, which is run for a bounded time.
struct page_fixture {
  asio::io_context context;
  async_mutex mutex{context};
  record data;

  // Does all that there is to do, whoever waits for whatever else.
  void poll() {
    context.restart();
    context.poll();
  }

  // Until there is nothing left to do.
  void run() {
    context.restart();
    context.run_for(std::chrono::seconds(60));
    BOOST_TEST_REQUIRE(context.stopped());
  }

  // The same on two threads, while this one calls f().
  template <class Function>
  void run_on_two_threads(Function&& f) {
    context.restart();
    auto const run_here = [this] { context.run_for(std::chrono::seconds(60)); };
    std::thread first(run_here), second(run_here);
    f();
    first.join();
    second.join();
    BOOST_TEST_REQUIRE(context.stopped());
  }
  void run_on_two_threads() {
    run_on_two_threads([] {});
  }
};

}  // namespace asio_sync::test

#endif
