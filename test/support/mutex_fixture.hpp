// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_SUPPORT_MUTEX_FIXTURE_HPP
#define ASIO_SYNC_TEST_SUPPORT_MUTEX_FIXTURE_HPP

#include "support/mutex_result.hpp"
#include "support/test.hpp"

#include <asio_sync/async_mutex.hpp>

namespace asio_sync::test {

// A mutex, its context, and another one.
struct mutex_fixture {
  void poll() { test::poll(context); }

  asio::io_context context, other;
  asio::cancellation_signal signal;
  async_mutex mutex{context};
};

// The mutex is locked.
struct held_mutex : mutex_fixture {
  held_mutex() { BOOST_TEST_REQUIRE(mutex.try_lock()); }
};

}  // namespace asio_sync::test

#endif
