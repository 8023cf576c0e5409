// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_SUPPORT_MUTEX_RESULT_HPP
#define ASIO_SYNC_TEST_SUPPORT_MUTEX_RESULT_HPP

#include <asio_sync/async_mutex.hpp>

#include <boost/system/error_code.hpp>

#include <utility>

namespace asio_sync::test {

using boost::system::error_code;

// What completions of async_lock() have brought.
template <class Mutex = async_mutex>
struct basic_mutex_result {
  using lock_type = typename Mutex::lock_type;

  int calls = 0;
  error_code error;
  lock_type lock;

  bool granted() const noexcept { return calls == 1 && !error && lock.owns_lock(); }
  bool refused(error_code e) const noexcept {
    return calls == 1 && error == e && !lock.owns_lock() && !lock.mutex();
  }

  // A handler that stores here what it is called with. Move-only, as handlers may be.
  auto handler() {
    struct store {
      explicit store(basic_mutex_result& r) noexcept : result(&r) {}
      store(store&&) noexcept = default;
      store& operator=(store&&) noexcept = default;

      void operator()(error_code e, lock_type l) {
        ++result->calls;
        result->error = e;
        result->lock = std::move(l);
      }

      basic_mutex_result* result;
    };
    return store(*this);
  }
};

using mutex_result = basic_mutex_result<>;

}  // namespace asio_sync::test

#endif
