// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_HPP
#define ASIO_SYNC_REDIS_HPP

/// Everything of the Redis module but <asio_sync/redis/src.hpp>, which one unit of the program
/// includes.

#include <asio_sync/redis/async_condition.hpp>
#include <asio_sync/redis/async_monitor.hpp>
#include <asio_sync/redis/async_mutex.hpp>
#include <asio_sync/redis/async_semaphore.hpp>
#include <asio_sync/redis/async_shared_mutex.hpp>
#include <asio_sync/redis/client.hpp>
#include <asio_sync/redis/config.hpp>
#include <asio_sync/redis/error.hpp>
#include <asio_sync/redis/fwd.hpp>
#include <asio_sync/redis/inspection.hpp>

#endif
