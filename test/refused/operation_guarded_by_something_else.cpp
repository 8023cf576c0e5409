// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// expected: an operation is guarded by a mutex, shared(mutex), keyed(mutex, key) or a semaphore

#include <asio_sync/async_guarded.hpp>
#include <asio_sync/async_latch.hpp>
#include <asio_sync/async_mutex.hpp>

#include <boost/asio/deferred.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>

void refused(boost::asio::io_context& context, boost::asio::steady_timer& timer) {
#ifdef ASIO_SYNC_TEST_REFUSED
  asio_sync::async_latch guard(context, 1);
#else
  asio_sync::async_mutex guard(context);
#endif
  asio_sync::async_guarded_for(guard, timer.async_wait(boost::asio::deferred),
                               std::chrono::seconds(1), [](auto) {});
}
