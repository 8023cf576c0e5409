// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// expected: none of them a temporary or const

#include <asio_sync/async_guarded.hpp>
#include <asio_sync/async_mutex.hpp>

#include <boost/asio/deferred.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

void refused(boost::asio::io_context& context, boost::asio::steady_timer& timer) {
  auto const wait = [&](auto&& guard) {
#ifdef ASIO_SYNC_TEST_REFUSED
    using guard_type = asio_sync::async_mutex;
#else
    using guard_type = asio_sync::async_mutex&;
#endif
    asio_sync::async_guarded(static_cast<guard_type&&>(guard),
                             timer.async_wait(boost::asio::deferred), [](auto) {});
  };
  wait(asio_sync::async_mutex(context));
}
