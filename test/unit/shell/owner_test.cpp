// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Handlers that own the mutex for which they wait.

#include "support/test.hpp"

#include <asio_sync/async_mutex.hpp>

using namespace asio_sync::test;
using guard = async_mutex::lock_type;

BOOST_AUTO_TEST_SUITE(owner_test)

// The handler does not take the lock over: that has to be gone before the handler is.
BOOST_AUTO_TEST_CASE(R10_the_lock_is_let_go_before_the_handler_that_owns_the_mutex) {
  asio::io_context context;
  auto mutex = std::make_shared<async_mutex>(context);
  std::weak_ptr<async_mutex> const watched = mutex;
  BOOST_REQUIRE(mutex->try_lock());
  bool unlocked_first = false;
  bool locked = false;
  struct owner {  // looks when the handler is destroyed, before the mutex is
    std::shared_ptr<async_mutex> mutex;
    bool* unlocked;
    owner(std::shared_ptr<async_mutex> m, bool& u) : mutex(std::move(m)), unlocked(&u) {}
    owner(owner&&) = default;
    ~owner() {
      if (mutex) *unlocked = !mutex->is_locked();
    }
  };
  async_mutex& same = *mutex;
  same.async_lock([o = owner(std::move(mutex), unlocked_first), &locked](
                      error_code, guard const& lock) { locked = lock.owns_lock(); });
  same.unlock();
  context.run();
  BOOST_TEST(locked);
  BOOST_TEST(unlocked_first);
  BOOST_TEST(watched.expired());
}

BOOST_AUTO_TEST_SUITE_END()
