// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_VERSION_HPP
#define ASIO_SYNC_VERSION_HPP

namespace asio_sync {

// The build reads the version of the project from these lines.
inline constexpr int version_major = 0;
inline constexpr int version_minor = 1;
inline constexpr int version_patch = 0;

/// The same as one number that can be compared: 1.2.3 is 10203.
inline constexpr int version = version_major * 10'000 + version_minor * 100 + version_patch;

}  // namespace asio_sync

#endif
