// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// expected: a primitive needs a standard executor with blocking.never and a context
// lines: 22

#include <asio_sync/async_shared_mutex.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/io_context_strand.hpp>

void refused(boost::asio::io_context& context) {
#ifdef ASIO_SYNC_TEST_REFUSED
  boost::asio::io_context::strand const executor(context);
#else
  auto const executor = context.get_executor();
#endif
  asio_sync::async_shared_mutex primitive(executor);
  primitive.async_lock_shared([](auto, auto) {});
}
