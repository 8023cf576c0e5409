// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_SRC_HPP
#define ASIO_SYNC_REDIS_SRC_HPP

/// The part of the Redis module that is compiled once: exactly one unit of a program includes it.

#include <asio_sync/detail/core/config.hpp>  // first

#include <asio_sync/redis/client.hpp>
#include <asio_sync/redis/config.hpp>
#include <asio_sync/redis/detail/client/event.ipp>
#include <asio_sync/redis/detail/client/hub.ipp>
#include <asio_sync/redis/detail/client/remote_claim.ipp>
#include <asio_sync/redis/detail/client/remote_entry.ipp>
#include <asio_sync/redis/detail/hub/hub.hpp>

#include <memory>
#include <utility>

namespace asio_sync::redis {

client::client(executor_type ex, config c) : hub_(std::make_shared<detail::hub>(std::move(ex))) {
  hub_->open(std::move(c));
}

client::~client() { hub_->end(); }

}  // namespace asio_sync::redis

#endif
