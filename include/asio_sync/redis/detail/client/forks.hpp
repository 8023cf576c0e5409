// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_CLIENT_FORKS_HPP
#define ASIO_SYNC_REDIS_DETAIL_CLIENT_FORKS_HPP

#include <asio_sync/detail/context/context_ends.hpp>

#include <atomic>
#include <cstdint>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace asio_sync::redis::detail {

// Counts the forks between the first process and this one, from the first client on.
class forks {
 public:
  static std::uint64_t count() noexcept {
#if defined(__unix__) || defined(__APPLE__)
    static int const registered = ::pthread_atfork(nullptr, nullptr, [] {
      ++count_;
      asio_sync::detail::context_ends::forget_other_threads();
    });
    static_cast<void>(registered);
#endif
    return count_.load(std::memory_order_relaxed);
  }

 private:
  static inline std::atomic<std::uint64_t> count_{0};
};

}  // namespace asio_sync::redis::detail

#endif
