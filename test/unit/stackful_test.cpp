// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Stackful coroutines themselves, so that a sanitizer that does not follow their switches is seen
// here and not in a test of a primitive.

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/spawn.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <exception>
#include <stdexcept>

namespace asio = boost::asio;

BOOST_AUTO_TEST_SUITE(stackful_test)

BOOST_AUTO_TEST_CASE(switches_and_throws_on_one_thread) {
  asio::io_context context;
  int steps = 0;
  for (int i = 0; i < 3; ++i) {
    asio::spawn(
        context,
        [&](asio::yield_context yield) {
          for (int j = 0; j < 3; ++j, ++steps) asio::post(yield);
          throw std::runtime_error("last step");
        },
        [&](std::exception_ptr failure) { steps += failure ? 10 : 0; });
  }
  context.run();
  BOOST_TEST(steps == 39);
}

BOOST_AUTO_TEST_CASE(moves_between_threads) {
  asio::thread_pool pool(2);
  std::atomic<int> steps = 0;
  for (int i = 0; i < 8; ++i) {
    asio::spawn(
        pool,
        [&](asio::yield_context yield) {
          for (int j = 0; j < 100; ++j, ++steps) asio::post(yield);
        },
        [](std::exception_ptr) {});
  }
  pool.join();
  BOOST_TEST(steps == 800);
}

BOOST_AUTO_TEST_CASE(is_unwound_when_its_context_dies) {
  bool unwound = false;
  struct guard {
    bool& flag;
    ~guard() { flag = true; }
  };
  {
    asio::io_context context;
    asio::spawn(
        context,
        [&](asio::yield_context yield) {
          guard const on_exit{unwound};
          for (;;) asio::post(yield);
        },
        [](std::exception_ptr) {});
    context.run_one();
    context.run_one();
  }
  BOOST_TEST(unwound);
}

BOOST_AUTO_TEST_SUITE_END()
