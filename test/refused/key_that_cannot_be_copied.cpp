// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// expected: the keys of a keyed mutex have to be copied
// lines: 10

#include <asio_sync/async_keyed_mutex.hpp>

#include <boost/asio/io_context.hpp>

#include <memory>

void refused(boost::asio::io_context& context) {
#ifdef ASIO_SYNC_TEST_REFUSED
  asio_sync::async_keyed_mutex<std::unique_ptr<int>> keys(context);
#else
  asio_sync::async_keyed_mutex<std::shared_ptr<int>> keys(context);
#endif
  static_cast<void>(keys.size());
}
