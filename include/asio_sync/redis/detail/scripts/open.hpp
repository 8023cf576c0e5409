// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_SCRIPTS_OPEN_HPP
#define ASIO_SYNC_REDIS_DETAIL_SCRIPTS_OPEN_HPP

#include <asio_sync/redis/detail/scripts/script.hpp>

namespace asio_sync::redis::detail::scripts {

/// Opens a session, or makes this connection the one that speaks for it. First asks for each
/// command that a script calls, because nothing is undone if one is missing in the middle.
inline constexpr script open{"open",
                             R"lua(
local channel = prefix .. 'ch:' .. me:match('^[^.]*')
local commands = {{'PUBLISH', channel, ''}, {'PUBSUB', 'NUMSUB', channel}, {'TIME'}}
for name in ([[DEL EXISTS HDEL HEXISTS HGET HGETALL HINCRBY HLEN HMGET HRANDFIELD HSCAN HSET HVALS
  INCR MGET PEXPIRE PTTL SADD SET SRANDMEMBER SREM ZADD ZCARD ZRANGE ZRANGEBYLEX ZREM ZSCORE]])
  :gmatch('%u+') do
  commands[#commands + 1] = {name, prefix .. 'all'}
end
for _, command in ipairs(commands) do
  local known, allowed = pcall(redis.acl_check_cmd, unpack(command))
  local text = table.concat(command, ' ')
  if not known then
    return redis.error_reply('ERR unknown command: scripts call ' .. text)
  elseif not allowed then
    return redis.error_reply('NOPERM scripts call ' .. text .. ', which the user may not')
  end
end
)lua",
                             R"lua(
local gen, run_id, ttl, max_ttl = ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local key, name, fresh, old = prefix .. 's:' .. me, ARGV[8], ARGV[9] == 'new', ARGV[10]
local its_run_id, its_max_ttl = (epoch or ''):match('^(.*)%.%d+%.(%d+)$')
if its_max_ttl and its_max_ttl ~= max_ttl then
  return redis.error_reply('MAXTTL the server has max_session_ttl ' .. its_max_ttl)
end
if fresh and session then
  return redis.error_reply('STALE another client has opened this session')
end
local members = call('SRANDMEMBER', prefix .. 'all', 2)
finish(prefix .. 's:' .. old)
if its_run_id ~= run_id then
  local time = call('TIME')
  time = time[1] .. ('%06d'):format(time[2])
  local number = tonumber(call('MGET', prefix .. 'f')[1] or 0) or 0
  call('SET', prefix .. 'f', whole(math.max(number + 1, time)))
  epoch = run_id .. '.' .. time .. '.' .. max_ttl
  call('SET', prefix .. 'epoch', epoch)
  if ARGV[7] == '1' then
    make(prefix .. 'gate', 1, max_ttl)
    gate = '1'
  end
end
if not fresh then
  if not session then return redis.error_reply('NOSESSION no such session') end
  local stored_gen, stored_epoch = session:match('^(%d+)|([^|]*)|')
  if stored_epoch ~= epoch then
    finish(key)
    return redis.error_reply('EPOCH the data of the server has been lost')
  elseif tonumber(stored_gen) >= tonumber(gen) then
    return redis.error_reply('STALE a newer connection speaks for this session')
  end
end
local value = gen .. '|' .. epoch .. '|' .. ttl .. '|' .. name
if fresh then
  make(key, value, ttl)
  call('SADD', prefix .. 'all', me)
  if old ~= '' then clear(old) end
  sweep(members)
  flush()
else
  call('SET', key, value, 'KEEPTTL')
end
return {fresh and 1 or 0, epoch, gate and left(prefix .. 'gate') or -1}
)lua"};

}  // namespace asio_sync::redis::detail::scripts

#endif
