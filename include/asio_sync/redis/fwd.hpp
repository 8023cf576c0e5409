// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_FWD_HPP
#define ASIO_SYNC_REDIS_FWD_HPP

#include <asio_sync/detail/core/config.hpp>

namespace asio_sync::redis {

struct config;
struct event;
struct inspection;

class client;

template <class Executor>
class basic_async_mutex;

template <class Executor>
class basic_async_condition;

template <class Executor>
class basic_async_semaphore;

class semaphore_permit;

template <class Executor>
class basic_async_shared_mutex;

template <class Executor>
class basic_async_monitor;

class owned;

}  // namespace asio_sync::redis

#endif
