// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_SCRIPTS_ALL_HPP
#define ASIO_SYNC_REDIS_DETAIL_SCRIPTS_ALL_HPP

#include <asio_sync/redis/detail/scripts/acquire.hpp>
#include <asio_sync/redis/detail/scripts/beat.hpp>
#include <asio_sync/redis/detail/scripts/cond_wait.hpp>
#include <asio_sync/redis/detail/scripts/exit.hpp>
#include <asio_sync/redis/detail/scripts/force.hpp>
#include <asio_sync/redis/detail/scripts/forget.hpp>
#include <asio_sync/redis/detail/scripts/inspect.hpp>
#include <asio_sync/redis/detail/scripts/open.hpp>
#include <asio_sync/redis/detail/scripts/release.hpp>
#include <asio_sync/redis/detail/scripts/shutdown.hpp>
#include <asio_sync/redis/detail/scripts/signal.hpp>
#include <asio_sync/redis/detail/scripts/unwait.hpp>

#include <array>

namespace asio_sync::redis::detail::scripts {

/// The scripts, in the order in which a connection loads them.
inline constexpr std::array all{open,    beat,  acquire,   release, forget, shutdown,
                                inspect, force, cond_wait, unwait,  signal, exit};

}  // namespace asio_sync::redis::detail::scripts

#endif
