// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_SESSION_SESSION_CLOCK_HPP
#define ASIO_SYNC_REDIS_DETAIL_SESSION_SESSION_CLOCK_HPP

#include <chrono>

namespace asio_sync::redis::detail {

// Names the time points of a session. The caller reads the clock, which never goes back.
struct session_clock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<session_clock>;
  static constexpr bool is_steady = true;
};

}  // namespace asio_sync::redis::detail

#endif
