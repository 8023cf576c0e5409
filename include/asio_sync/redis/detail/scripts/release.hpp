// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_SCRIPTS_RELEASE_HPP
#define ASIO_SYNC_REDIS_DETAIL_SCRIPTS_RELEASE_HPP

#include <asio_sync/redis/detail/scripts/script.hpp>

namespace asio_sync::redis::detail::scripts {

/// Gives back what a token holds.
inline constexpr script release{"release",
                                R"lua(
local name, token, passes_on = ARGV[3], me .. ':' .. ARGV[4], ARGV[5] == '1'
local base = prefix .. '{' .. name .. '}:'
local m = call('HMGET', base .. 'm', 'e', 'used', 'n', 'cap', 'c', 'k')
local held = call('HGET', base .. 'h', token)
local is_plain = epoch and m[1] == epoch and held and (m[5] or '0') == '0' and not passes_on
  and m[6] ~= 'monitor'
if is_plain and m[3] == '0' then
  local used = m[2] - held:match('^%d+')
  if used == 0 then
    call('DEL', base .. 'm', base .. 'h')
  else
    call('HDEL', base .. 'h', token)
    call('HSET', base .. 'm', 'used', used)
  end
  pcall_redis('HDEL', prefix .. 'o:' .. me, 't' .. ARGV[4])
  return session and 1 or 0
-- A mutex for which somebody waits goes to the first, if that can be reached.
elseif is_plain and m[4] == '1' and held:find('^1 ') and (tonumber(m[3]) or 0) > 0
   and not gate then
  local following = call('ZRANGE', base .. 'q', 0, 0)[1]
  local record = following and call('HGET', base .. 'd', following)
  local skip = record and record:match('^1 %d+ (.)$')
  local sid = skip and following:match('^[^:]*')
  local life = sid and left(prefix .. 's:' .. sid)
  if sid and life ~= -2 and (skip == 'B' or hears(sid, life)) then
    local fence = pcall_redis('INCR', prefix .. 'f')
    if type(fence) == 'number' and fence >= 1e15 then
      fence = ('%.0f'):format(fence)
      call('HDEL', base .. 'h', token)
      pcall_redis('HDEL', prefix .. 'o:' .. me, 't' .. ARGV[4])
      call('HDEL', base .. 'd', following)
      call('ZREM', base .. 'q', following)
      call('HSET', base .. 'h', following, granted('1', fence))
      call('HINCRBY', base .. 'm', 'n', -1)
      call('PUBLISH', prefix .. 'ch:' .. following:match('^[^.]*'),
           'G ' .. following .. ' ' .. fence .. ' ' .. epoch)
      return session and 1 or 0
    end
  end
end
)lua",
                                R"lua(
local o = object(name)
if not held or not o.kind then return -1 end
drop(o, {token}, {held}, weight(held), not passes_on)
pump(o)
flush()
return session and 1 or 0
)lua"};

}  // namespace asio_sync::redis::detail::scripts

#endif
