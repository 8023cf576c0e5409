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
local commands = {{'PUBLISH', channel, ''}, {'PUBSUB', 'NUMSUB', channel}, {'INFO'}, {'TIME'}}
for count, names in ipairs({
  'DEL EXISTS HGETALL HLEN HRANDFIELD HVALS INCR MGET PTTL SRANDMEMBER ZCARD',
  'HDEL HEXISTS HGET HMGET HSCAN PEXPIRE SADD SET SREM ZREM ZSCORE',
  'HINCRBY HSET ZADD ZRANGE ZRANGEBYLEX'}) do
  for name in names:gmatch('%u+') do  -- with as many arguments as the command wants
    commands[#commands + 1] = {name, prefix .. 'all', unpack({'0', '0'}, 1, count - 1)}
  end
end
for _, command in ipairs(commands) do
  local known, allowed = pcall(redis.acl_check_cmd, unpack(command))
  if not known then
    return redis.error_reply('ERR unknown command: scripts call ' .. command[1])
  elseif not allowed then
    return redis.error_reply('NOPERM scripts call ' .. command[1] .. ', which the user may not')
  end
end
)lua",
                             R"lua(
local gen, known, number, ttl, max_ttl = ARGV[3], ARGV[4], tonumber(ARGV[5]), ARGV[6], ARGV[7]
local key, name, fresh, old = prefix .. 's:' .. me, ARGV[9], ARGV[10] == 'new', ARGV[11]
if epoch and not epoch:find('^2%.') then
  return redis.error_reply('VERSION the data is of another version of the protocol')
end
local its_max_ttl = epoch and epoch:match('^2%.%d+%.(%d+)$')
if its_max_ttl and its_max_ttl ~= max_ttl then
  return redis.error_reply('MAXTTL the server has max_session_ttl ' .. its_max_ttl)
end
if fresh and session then
  return redis.error_reply('STALE another client has opened this session')
end
local members = call('SRANDMEMBER', prefix .. 'all', 2)
finish(prefix .. 's:' .. old)
local run, promotion = history()
local stored = call('MGET', prefix .. 'run', prefix .. 'f')
local its_run, its_promotion = (stored[1] or ''):match('^(%S+) (%S+)$')
local counter = tonumber(stored[2])
local is_promoted = promotion ~= '-' and its_promotion ~= promotion
local is_older = known == epoch and counter and counter < number
if not its_max_ttl or its_run ~= run or is_promoted or is_older then
  local time = call('TIME')
  time = tonumber(time[1] .. ('%06d'):format(time[2]))
  local first = whole(math.max((counter or 0) + 1, number + 1, time))
  call('SET', prefix .. 'f', first)
  call('SET', prefix .. 'run', run .. ' ' .. promotion)
  epoch = '2.' .. first .. '.' .. max_ttl
  call('SET', prefix .. 'epoch', epoch)
  if ARGV[8] == '1' then
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
)lua",
                             R"lua(
-- Returns the name of this run of the server; then the last promotion from replica to master that
-- it knows of, or a hyphen. The server forgets a promotion when it frees its backlog.
local function history()
  local info = call('INFO', 'replication')
  local id, offset = info:match('master_replid2:(%w+)'), info:match('second_repl_offset:(%S+)')
  local run = call('INFO', 'server'):match('run_id:(%w+)')
  return run, offset == '-1' and '-' or id .. ':' .. offset
end
)lua"};

}  // namespace asio_sync::redis::detail::scripts

#endif
