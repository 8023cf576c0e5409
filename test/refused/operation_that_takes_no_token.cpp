// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// expected: a guarded operation is a deferred one, or a function object that takes a completion
// token

#include <asio_sync/async_guarded.hpp>
#include <asio_sync/async_mutex.hpp>

#include <boost/asio/deferred.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

void refused(asio_sync::async_mutex& mutex, boost::asio::steady_timer& timer) {
#ifdef ASIO_SYNC_TEST_REFUSED
  auto const token = boost::asio::use_awaitable;
#else
  auto const token = boost::asio::deferred;
#endif
  asio_sync::async_guarded(mutex, timer.async_wait(token), [](auto) {});
}
