// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// expected: what a guarded operation completes with has to begin with an error_code

#include <asio_sync/async_guarded.hpp>
#include <asio_sync/async_mutex.hpp>

#include <boost/asio/deferred.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

void refused(boost::asio::io_context& context, boost::asio::steady_timer& timer) {
  asio_sync::async_mutex mutex(context);
#ifdef ASIO_SYNC_TEST_REFUSED
  asio_sync::async_guarded(mutex, boost::asio::post(context, boost::asio::deferred), [] {});
#else
  asio_sync::async_guarded(mutex, timer.async_wait(boost::asio::deferred), [](auto) {});
#endif
  static_cast<void>(timer);
}
