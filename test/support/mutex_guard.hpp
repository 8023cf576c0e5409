// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_SUPPORT_MUTEX_GUARD_HPP
#define ASIO_SYNC_TEST_SUPPORT_MUTEX_GUARD_HPP

// What the suites of the mutex's guard share.

#include "support/mutex_result.hpp"
#include "support/test.hpp"

#include <asio_sync/async_mutex.hpp>

namespace asio_sync::test::guards {

using mutex_type = async_mutex;  // the subject
using guard = mutex_type::lock_type;
using result = basic_mutex_result<mutex_type>;

inline auto carries(error_code expected) {
  return [expected](system_error const& e) { return e.code() == expected; };
}

inline bool is_not_permitted(system_error const& e) { return e.code() == not_permitted; }

// The mutex of the guard, which owned it, is dead.
inline void owns_nothing(guard const& g) {
  BOOST_TEST(!g.owns_lock());
  BOOST_TEST(!g);
  BOOST_TEST(!g.mutex());
}

// Both free, and their context.
struct two_mutexes {
  void poll() { test::poll(context); }

  boost::asio::io_context context;
  mutex_type mutex{context};
  mutex_type other{context};
};

}  // namespace asio_sync::test::guards

#endif
