// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The part of the Redis module that is compiled once for both programs.

#include <asio_sync/redis/src.hpp>
