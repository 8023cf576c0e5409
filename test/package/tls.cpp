// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include <asio_sync/redis/tls.hpp>

#include <boost/system/system_error.hpp>

#include <iostream>

int main() {
  try {
    asio_sync::redis::make_tls({.ca_file = "no such file"});
  } catch (boost::system::system_error const& error) {
    std::cout << error.what() << '\n';
    return 0;
  }
  return 1;
}
