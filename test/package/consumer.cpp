// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include <asio_sync.hpp>

#include <boost/asio/io_context.hpp>

#include <iostream>

// A primitive that is not there yet is left out.
template <template <class> class Mutex>
bool locks() {
  boost::asio::io_context context;
  if constexpr (requires { sizeof(Mutex<boost::asio::io_context::executor_type>); }) {
    Mutex<boost::asio::io_context::executor_type> mutex(context);
    bool locked = false;
    mutex.async_lock([&](auto error, auto lock) { locked = !error && lock.owns_lock(); });
    context.run();
    return locked;
  }
  return true;
}

int main() {
  boost::system::error_code const code = asio_sync::error::closed;
  std::cout << "asio_sync " << asio_sync::version_major << '.' << asio_sync::version_minor << ": "
            << code.message() << '\n';
  return locks<asio_sync::basic_async_mutex>() ? 0 : 1;
}
