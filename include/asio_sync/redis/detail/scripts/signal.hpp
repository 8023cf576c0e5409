// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_SCRIPTS_SIGNAL_HPP
#define ASIO_SYNC_REDIS_DETAIL_SCRIPTS_SIGNAL_HPP

#include <asio_sync/redis/detail/scripts/script.hpp>

namespace asio_sync::redis::detail::scripts {

/// Notifies one wait on a condition, or all.
inline constexpr script signal{"signal", "",
                               R"lua(
local o, mine = object(ARGV[3]), prefix .. 'o:' .. me
local last = session and call('HGET', mine, 's')
if last and tonumber(last) >= tonumber(ARGV[4]) then return 0 end
pcall_redis('HDEL', mine, 's')  -- takes no memory: a full server refuses none of the others then
if session then call('HSET', mine, 's', ARGV[4]) end
local notified = ARGV[6] == '1' and notify_one(o, ARGV[5]) or notify_all(o, ARGV[5])
pump(o)
flush()
return notified
)lua"};

}  // namespace asio_sync::redis::detail::scripts

#endif
