// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_BENCH_MUTEX_LOCK_HPP
#define ASIO_SYNC_BENCH_MUTEX_LOCK_HPP

#include <asio_sync/async_mutex.hpp>

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstddef>
#include <utility>

namespace asio_sync::bench {

// async_mutex as the workloads lock it.
struct mutex_lock {
  using held = async_mutex::lock_type;

  explicit mutex_lock(boost::asio::io_context& context) : mutex(context) {}

  bool try_lock() { return mutex.try_lock(); }
  void unlock() { mutex.unlock(); }
  ASIO_SYNC_INLINE void release(held& lock) { lock.unlock(); }
  std::size_t waiters() const { return mutex.waiters(); }

  template <class Token>
  auto async_lock(Token&& token) {
    return mutex.async_lock(std::forward<Token>(token));
  }

  template <class Token>
  auto async_lock_until(std::chrono::steady_clock::time_point deadline, Token&& token) {
    return mutex.async_lock_until(deadline, std::forward<Token>(token));
  }

  async_mutex mutex;
};

// The same, with a time that is not reached.
struct timed_mutex_lock : mutex_lock {
  using mutex_lock::mutex_lock;

  template <class Token>
  auto async_lock(Token&& token) {
    return mutex.async_lock_for(std::chrono::hours(1), std::forward<Token>(token));
  }
};

}  // namespace asio_sync::bench

#endif
