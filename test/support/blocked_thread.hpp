// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_SUPPORT_BLOCKED_THREAD_HPP
#define ASIO_SYNC_TEST_SUPPORT_BLOCKED_THREAD_HPP

#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

#include <cstddef>
#include <thread>
#include <utility>

namespace asio_sync::test {

// A thread that blocks in a primitive, as the only wait or as the last of so many; join() gives
// what that threw.
class blocked_thread {
 public:
  template <class Primitive, class Function>
  blocked_thread(Primitive const& primitive, Function f)
      : blocked_thread(primitive, 1, std::move(f)) {}

  template <class Primitive, class Function>
  blocked_thread(Primitive const& primitive, std::size_t waiters, Function f)
      : thread_([this, f = std::move(f)] {
          try {
            f();
          } catch (boost::system::system_error const& e) {
            error_ = e.code();
          }
        }) {
    while (primitive.waiters() != waiters) std::this_thread::yield();
  }

  boost::system::error_code join() {
    thread_.join();
    return error_;
  }

 private:
  boost::system::error_code error_;
  std::thread thread_;
};

}  // namespace asio_sync::test

#endif
