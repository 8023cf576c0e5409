// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_VERSION_HPP
#define ASIO_SYNC_VERSION_HPP

#include <asio_sync/detail/core/config.hpp>

/// The version, for the preprocessor: 1.2.3 is 10203. The build reads it from this line.
#define ASIO_SYNC_VERSION 100

namespace asio_sync {

/// The same for the compiler, as a whole and in its parts.
inline constexpr int version = ASIO_SYNC_VERSION;
inline constexpr int version_major = version / 10'000;
inline constexpr int version_minor = version / 100 % 100;
inline constexpr int version_patch = version % 100;

}  // namespace asio_sync

#endif
