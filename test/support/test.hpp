// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_SUPPORT_TEST_HPP
#define ASIO_SYNC_TEST_SUPPORT_TEST_HPP

// The prelude of a test: the standard library, Asio and Boost.Test, which are precompiled, and the
// names that most tests need. A test says `using namespace asio_sync::test` in its own namespace,
// and includes the headers that it tests.

#include "support/error_of.hpp"
#include "support/observed_handler.hpp"
#include "support/pch.hpp"

#include <asio_sync/error.hpp>

namespace asio_sync::test {

namespace asio = boost::asio;
namespace errc = boost::system::errc;
using namespace asio_sync;
using namespace std::chrono_literals;
using boost::system::error_code;
using boost::system::system_error;

inline error_code const aborted = asio::error::operation_aborted;
inline error_code const timed_out = asio::error::timed_out;
inline error_code const closed = error::closed;
inline error_code const deadlock = make_error_code(errc::resource_deadlock_would_occur);
inline error_code const invalid = make_error_code(errc::invalid_argument);
inline error_code const not_permitted = make_error_code(errc::operation_not_permitted);
inline error_code const too_large = make_error_code(errc::value_too_large);

// Runs the handlers that are ready in each context, and those that they make ready there.
template <class... Contexts>
void poll(Contexts&... contexts) {
  (..., (contexts.restart(), contexts.poll()));
}

}  // namespace asio_sync::test

#endif
