// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_SUPPORT_ERROR_OF_HPP
#define ASIO_SYNC_TEST_SUPPORT_ERROR_OF_HPP

#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

namespace asio_sync::test {

// The error with which f() throws; none if it does not.
template <class Function>
boost::system::error_code error_of(Function&& f) {
  try {
    f();
  } catch (boost::system::system_error const& e) {
    return e.code();
  }
  return {};
}

}  // namespace asio_sync::test

#endif
