// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_SCRIPTS_RELEASE_HPP
#define ASIO_SYNC_REDIS_DETAIL_SCRIPTS_RELEASE_HPP

#include <asio_sync/redis/detail/scripts/script.hpp>

namespace asio_sync::redis::detail::scripts {

/// Gives back what a token holds.
inline constexpr script release{"release",
                                R"lua(
local name, token = ARGV[3], me .. ':' .. ARGV[4]
local base = prefix .. '{' .. name .. '}:'
local m, held = call('HMGET', base .. 'm', 'e', 'used', 'n'), call('HGET', base .. 'h', token)
if epoch and m[1] == epoch and held and m[3] == '0' then
  local used = m[2] - held:match('^%d+')
  if used == 0 then
    call('DEL', base .. 'm', base .. 'h')
  else
    call('HDEL', base .. 'h', token)
    call('HSET', base .. 'm', 'used', used)
  end
  pcall_redis('HDEL', prefix .. 'o:' .. me, 't' .. ARGV[4])
  return session and 1 or 0
end
)lua",
                                R"lua(
local o = object(name)
if not held or not o.kind then return -1 end
drop(o, {token}, weight(held))
pump(o)
flush()
return session and 1 or 0
)lua"};

}  // namespace asio_sync::redis::detail::scripts

#endif
