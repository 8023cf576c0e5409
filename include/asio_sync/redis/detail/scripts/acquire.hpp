// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_SCRIPTS_ACQUIRE_HPP
#define ASIO_SYNC_REDIS_DETAIL_SCRIPTS_ACQUIRE_HPP

#include <asio_sync/redis/detail/scripts/script.hpp>

namespace asio_sync::redis::detail::scripts {

/// Grants the object to a token, or queues the token.
inline constexpr script acquire{"acquire",
                                R"lua(
local name, token = ARGV[5], me .. ':' .. ARGV[6]
local kind, version, cap, w = ARGV[7], ARGV[8], tonumber(ARGV[9]), tonumber(ARGV[10])
if not gate and session and epoch == ARGV[4] and kind ~= 'monitor'
   and session:find(ARGV[3] .. '|' .. epoch .. '|', 1, true) == 1 then
  local base = prefix .. '{' .. name .. '}:'
  local keys = call('EXISTS', base .. 'm', base .. 'h', base .. 'd', base .. 'q', base .. 'c')
  local m = keys >= 2 and call('HMGET', base .. 'm', 'e', 'k', 'v', 'cap', 'used', 'n', 'c') or {}
  local ours = m[1] == epoch and m[2] == kind and m[3] == version and m[4] == ARGV[9]
    and (m[7] or '0') == '0'
  local used = keys == 0 and 0
    or keys == 2 and ours and m[6] == '0' and not call('HGET', base .. 'h', token) and m[5]
  if used and w <= cap - used then
    call('HSET', prefix .. 'o:' .. me, 't' .. ARGV[6], name)
    local fence = pcall_redis('INCR', prefix .. 'f')
    if type(fence) == 'number' and fence >= 1e15 then
      call('HSET', base .. 'h', token, granted(ARGV[10], ('%.0f'):format(fence)))
      if keys == 2 then
        call('HSET', base .. 'm', 'used', used + w)
      else
        call('HSET', base .. 'm', 'e', epoch, 'k', kind, 'v', version, 'cap', ARGV[9], 'used',
             ARGV[10], 'n', '0')
      end
      return {1, fence, -1}
    end
  -- A mutex that somebody alive holds: nobody is served now.
  elseif ours and cap == 1 and w == 1 and m[5] == '1' and tonumber(m[6])
     and keys == (m[6] == '0' and 2 or 4) then
    local holders = call('HGETALL', base .. 'h')
    local holder = holders[1] ~= token and holders[1]
    local life = holder and left(prefix .. 's:' .. holder:match('^[^:]*')) or -2
    local queued = keys == 4
      and (call('HGET', base .. 'd', token) or call('ZSCORE', base .. 'q', token))
    if life ~= -2 and not queued and not holders[3] then
      if ARGV[11] == '1' then return {-1, 0, -1} end
      call('HSET', prefix .. 'o:' .. me, 't' .. ARGV[6], name)
      local ticket = ARGV[12] == '0' and pcall_redis('INCR', prefix .. 'f') or tonumber(ARGV[12])
      if type(ticket) == 'number' and ticket >= 1e15 then
        local text = ('%.0f'):format(ticket)
        call('ZADD', base .. 'q', text, token)
        call('HSET', base .. 'd', token, '1 ' .. text .. ' -')
        call('HINCRBY', base .. 'm', 'n', 1)
        return {0, ticket, life}
      end
    end
  end
end
)lua",
                                R"lua(
local wrong = check(ARGV[3], ARGV[4])
if wrong then return wrong end
local o = object(name)
if o.version and o.version ~= version then
  return redis.error_reply('VERSION others use version ' .. o.version .. ', this one ' .. version)
elseif o.kind and o.kind ~= kind then
  return redis.error_reply('KIND others use a ' .. o.kind .. ' of this name')
elseif o.cap and o.cap ~= cap then
  return redis.error_reply('CAPACITY others use ' .. whole(o.cap) .. ' permits, this one '
                           .. whole(cap))
end
if kind == 'monitor' then typed(o) end
o.kind, o.version, o.cap = kind, version, cap
if states(o, {token}, {})[1] == -1 then
  call('HSET', prefix .. 'o:' .. me, 't' .. ARGV[6], name)
  queue(o, token, w, ARGV[12] == '0' and whole(next_number()) or ARGV[12], '-')
end
reap(o)
pump(o, token)
local answer = state(o, token)
if ARGV[11] == '1' and answer[1] == 0 then
  drop(o, {token}, {})
  answer = {-1, 0, gate and answer[3] or -1}
end
flush()
return answer
)lua"};

}  // namespace asio_sync::redis::detail::scripts

#endif
