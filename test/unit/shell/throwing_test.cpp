// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include "support/test.hpp"

#include <asio_sync/async_mutex.hpp>

#include "support/memory.hpp"

namespace throwing_test {

using namespace asio_sync::test;

// A handler that may be moved so many times, and then throws.
class moving_handler {
 public:
  struct failure {};

  moving_handler(int& called, int moves) noexcept : called_(&called), moves_(moves) {}
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): it throws
  moving_handler(moving_handler&& other) : called_(other.called_), moves_(other.moves_ - 1) {
    if (moves_ < 0) throw failure();
  }
  moving_handler& operator=(moving_handler&&) = delete;

  void operator()(error_code, async_mutex::lock_type) { ++*called_; }

 private:
  int* called_;
  int moves_;
};

// A token that throws when it is asked to start an operation.
struct throwing_token {};

}  // namespace throwing_test

template <class Signature>
class boost::asio::async_result<throwing_test::throwing_token, Signature> {
 public:
  template <class Initiation, class Token>
  static void initiate(Initiation&&, Token&&) {
    throw std::runtime_error("the token throws");
  }
};

BOOST_AUTO_TEST_SUITE(throwing_test)

BOOST_AUTO_TEST_CASE(R13_handler_whose_move_throws_in_the_initiation_changes_nothing) {
  asio::io_context io;
  async_mutex mutex(io);
  auto const strand = asio::make_strand(io);
  for (bool const held : {false, true}) {
    if (held) BOOST_TEST_REQUIRE(mutex.try_lock());
    int thrown = 0;
    int called = 0;
    for (int moves = 0; called == 0; ++moves) {
      try {
        mutex.async_lock(asio::bind_executor(strand, moving_handler(called, moves)));
        if (held) mutex.unlock();
      } catch (moving_handler::failure const&) {
        ++thrown;
        BOOST_TEST(mutex.is_locked() == held);
        BOOST_TEST(mutex.waiters() == 0u);
        continue;
      }
      // Enough of them to be initiated: it may yet fail on delivery, and passes the lock on.
      fate next;
      mutex.async_lock(observed_handler(next));
      for (int left = 2; left != 0;) try {
          io.restart();
          io.run();
          --left;
        } catch (moving_handler::failure const&) {
          ++thrown;
        }
      BOOST_TEST(next.granted());
      if (held) BOOST_TEST_REQUIRE(mutex.try_lock());
    }
    BOOST_TEST(thrown >= 2);
    if (held) mutex.unlock();
    BOOST_TEST(mutex.try_lock());
    mutex.unlock();
  }
}

BOOST_AUTO_TEST_CASE(handler_is_moved_into_its_wait_and_out_of_it_and_no_more) {
  asio::io_context io;
  async_mutex mutex(io);
  for (bool const held : {false, true}) {
    if (held) BOOST_TEST_REQUIRE(mutex.try_lock());
    int called = 0;
    mutex.async_lock(moving_handler(called, 2));
    if (held) mutex.unlock();
    io.restart();
    io.run();
    BOOST_TEST(called == 1);
  }
}

BOOST_AUTO_TEST_CASE(R13_handler_whose_move_throws_leaves_no_memory_behind) {
  asio::io_context io;
  async_mutex mutex(io);
  allocator_log log;
  int called = 0;
  for (int moves = 0; called == 0; ++moves) {
    try {
      mutex.async_lock(
          asio::bind_allocator(logging_allocator<>(log), moving_handler(called, moves)));
      io.restart();
      io.run();
    } catch (moving_handler::failure const&) {
    }
    BOOST_TEST(log.live_bytes == 0u);
  }
  BOOST_TEST(log.allocations >= 3u);  // moved too often into it, out of it, and not too often
}

BOOST_AUTO_TEST_CASE(R13_allocator_that_throws_changes_nothing) {
  asio::io_context io;
  async_mutex mutex(io);
  allocator_log log;
  log.successes = 0;
  for (bool const held : {false, true}) {
    if (held) BOOST_TEST_REQUIRE(mutex.try_lock());
    fate f;
    BOOST_CHECK_THROW(
        mutex.async_lock(asio::bind_allocator(logging_allocator<>(log), observed_handler(f))),
        std::bad_alloc);
    BOOST_TEST(f.dropped());
    BOOST_TEST(mutex.is_locked() == held);
    BOOST_TEST(mutex.waiters() == 0u);
    if (held) mutex.unlock();
  }
  io.run();
  BOOST_TEST(mutex.try_lock());
}

BOOST_AUTO_TEST_CASE(R13_token_that_throws_changes_nothing) {
  asio::io_context io;
  async_mutex mutex(io);
  BOOST_CHECK_THROW(mutex.async_lock(throwing_token()), std::runtime_error);
  BOOST_CHECK_THROW(mutex.async_lock_for(1h, throwing_token()), std::runtime_error);
  BOOST_TEST(mutex.try_lock());
  BOOST_CHECK_THROW(mutex.async_lock(throwing_token()), std::runtime_error);
  BOOST_TEST(mutex.waiters() == 0u);
  mutex.unlock();
  io.run();
  BOOST_TEST(mutex.try_lock());
}

BOOST_AUTO_TEST_SUITE_END()
