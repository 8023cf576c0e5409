// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_BENCH_SEMAPHORE_LOCK_HPP
#define ASIO_SYNC_BENCH_SEMAPHORE_LOCK_HPP

#include <bench/lock_workloads.hpp>

#include <asio_sync/async_semaphore.hpp>

#include <boost/asio/io_context.hpp>

#include <cstddef>
#include <utility>

namespace asio_sync::bench {

// async_semaphore as the workloads lock it: with so many permits, one for each holder.
template <std::ptrdiff_t Permits>
struct semaphore_lock {
  using held = semaphore_permit;

  explicit semaphore_lock(boost::asio::io_context& context) : semaphore(context, Permits) {}

  bool try_lock() { return semaphore.try_acquire().forget() != 0; }
  void unlock() { semaphore.release(); }
  ASIO_SYNC_INLINE void release(held& permit) { permit.release(); }

  template <class Token>
  auto async_lock(Token&& token) {
    return semaphore.async_acquire(std::forward<Token>(token));
  }

  async_semaphore semaphore;
};

}  // namespace asio_sync::bench

#endif
