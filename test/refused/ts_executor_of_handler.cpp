// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// expected: executors of the networking TS, such as io_context::strand, are not supported

#include <asio_sync/async_mutex.hpp>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/io_context_strand.hpp>

void refused(boost::asio::io_context& context) {
#ifdef ASIO_SYNC_TEST_REFUSED
  boost::asio::io_context::strand const strand(context);
#else
  auto const strand = context.get_executor();
#endif
  asio_sync::async_mutex mutex(context);
  mutex.async_lock(boost::asio::bind_executor(strand, [](auto, auto) {}));
}
