// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_LINK_READ_CLOCK_HPP
#define ASIO_SYNC_REDIS_DETAIL_LINK_READ_CLOCK_HPP

#include <asio_sync/redis/detail/session/claim.hpp>

#include <chrono>
#include <ctime>

namespace asio_sync::redis::detail {

// Returns the time by a clock that also runs while the machine sleeps, where there is one.
inline session_clock::time_point read_clock() noexcept {
#if defined(__linux__)
  std::timespec now{};
  if (::clock_gettime(CLOCK_BOOTTIME, &now) == 0)
    return session_clock::time_point(std::chrono::seconds(now.tv_sec) +
                                     std::chrono::nanoseconds(now.tv_nsec));
#endif
  return session_clock::time_point(std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace asio_sync::redis::detail

#endif
