// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_SCRIPTS_COMMON_HPP
#define ASIO_SYNC_REDIS_DETAIL_SCRIPTS_COMMON_HPP

#include <string_view>

namespace asio_sync::redis::detail::scripts {

/// Begins every script: its caller's session, the epoch and the gate, each false if it is missing.
inline constexpr std::string_view head = R"lua(
local call, pcall_redis = redis.call, redis.pcall
local prefix, me = ARGV[1], ARGV[2]
local found = call('MGET', prefix .. 's:' .. me, prefix .. 'epoch', prefix .. 'gate')
local session, epoch, gate = found[1], found[2], found[3]
)lua";

/// Follows `life` in every script: true if a session that has `life` left has not missed a beat,
/// and its client hears the push.
inline constexpr std::string_view hears = R"lua(
local function hears(sid, life)
  if sid == me then return true end
  local value = call('MGET', prefix .. 's:' .. sid)[1]
  local ttl = value and value:match('^%d+|[^|]*|(%d+)|')
  return ttl and life >= ttl / 2
    and call('PUBSUB', 'NUMSUB', prefix .. 'ch:' .. sid:match('^[^.]*'))[2] > 0 or false
end
)lua";

/// Follows `hears` in every script: the record of a holder that is granted a weight now. It has
/// the server's time in milliseconds, for people.
inline constexpr std::string_view granted = R"lua(
local function granted(w, fence)
  local time = call('TIME')
  return w .. ' ' .. fence .. ' ' .. time[1] .. ('%03d'):format(time[2] / 1000)
end
)lua";

/// Follows the fast path of every script: sessions, objects, and their records.
inline constexpr std::string_view common = R"lua(
local looks = 1024   -- left: one for a token, one for a client to reach, three to end a token
local sessions = {}  -- sid -> what this script knows of the session
local objects = {}   -- name -> the object that this script works on

local function whole(number) return ('%.0f'):format(number) end
local function owner(token) return token:match('^[^:]*') end
local function counter(token) return token:match('[^:]*$') end
local function weight(record) return tonumber(record:match('^%d+')) end

-- Return the condition that a token waits on, and the one whose notification it carries.
local function parked_on(record) return record and record:match('^%d+ %d+ . c(.*)$') end
local function carried_by(record) return record and record:match('^%d+ %d+ [^ ]+ n(.*)$') end

-- Returns what is to be undone when a token that owns a part of a variable ends.
local function owned_by(record) return record and record:match('^0 %d+ %d+ o(.*)$') end

-- Returns the beginning of all members of c that wait on a condition: a ticket and a token follow.
local function place(condition) return ('%03d'):format(#condition) .. condition end

-- Returns an error unless the session exists, this connection speaks for it, and no data is lost.
local function check(gen, known_epoch)
  if not session then return redis.error_reply('NOSESSION no such session') end
  local stored_gen, stored_epoch = session:match('^(%d+)|([^|]*)|')
  if stored_gen ~= gen then
    return redis.error_reply('STALE a newer connection speaks for this session')
  elseif known_epoch ~= epoch or stored_epoch ~= epoch then
    return redis.error_reply('EPOCH the data of the server has been lost')
  end
end

local function look_up(sid)
  local known = sessions[sid]
  if not known then
    known = {left = left(prefix .. 's:' .. sid)}
    sessions[sid] = known
  end
  return known
end

local function alive(sid) return look_up(sid).left ~= -2 end

local function reachable(sid)
  local known = look_up(sid)
  if known.reachable == nil then
    looks = looks - 1
    known.reachable = hears(sid, known.left)
  end
  return known.reachable
end

-- Raises WRONGTYPE if a key that monitors alone have is not ours.
local function typed(o) return call('HLEN', o.v), call('HLEN', o.u) end

-- Returns an object, without a kind if nobody uses it; then the part that cannot be used: false,
-- or 'waits' if only keys of waiters have been lost, or 'all' if another key has been lost, or the
-- data is of an earlier epoch. Raises WRONGTYPE if one of its keys is not ours.
local function look_at(name)
  local base = prefix .. '{' .. name .. '}:'
  local o = {m = base .. 'm', h = base .. 'h', d = base .. 'd', q = base .. 'q', c = base .. 'c',
             v = base .. 'v', u = base .. 'u',
             used = 0, owned = 0, n = 0, parked = 0, cur = '0', hint = -1}
  local m = call('HMGET', o.m, 'e', 'k', 'v', 'cap', 'used', 'n', 'cur', 'c', 'o')
  local held, records, queued = call('HLEN', o.h), call('HLEN', o.d), call('ZCARD', o.q)
  local waits = call('ZCARD', o.c)
  if m[2] == 'monitor' then typed(o) end
  local used, n, parked = tonumber(m[5]), tonumber(m[6]), tonumber(m[8] or 0)
  local owned = tonumber(m[9] or 0)
  if m[1] and m[1] == epoch and used and n and parked and owned
     and (used + owned > 0) == (held > 0) then
    o.kind, o.version, o.cap, o.used, o.owned = m[2], m[3], tonumber(m[4]), used, owned
    o.cur = m[7] or '0'
    if (n + parked > 0) ~= (records > 0) or (n > 0) ~= (queued > 0)
       or (parked > 0) ~= (waits > 0) then
      return o, 'waits'
    end
    o.n, o.parked = n, parked
    return o, false
  end
  return o, (m[1] or held + records + queued + waits > 0) and 'all'
end

-- Takes back from a variable what a token has owned of it. Returns the condition to notify.
local function take_back(o, owned)
  local size, rest = owned:match('^(%d+):(.*)$')
  local variable = rest:sub(1, size)
  local sign, digits, condition = rest:sub(size + 1):match('^(%-?)(%d+) (.*)$')
  if call('HEXISTS', o.v, variable) == 1 then
    pcall_redis('HINCRBY', o.v, variable, (sign == '' and digits ~= '0' and '-' or '') .. digits)
  end
  return condition
end

-- Returns the object. Deletes what it cannot use: waiters ask again with their next beat, and what
-- was owned of variables is taken back if the holders have gone.
local function object(name)
  if objects[name] then return objects[name] end
  local o, torn = look_at(name)
  if torn == 'waits' then
    call('DEL', o.d, o.q, o.c)
    o.changed = true
  elseif torn then
    local marked, held = {}, {}
    if typed(o) > 0 then marked, held = call('HVALS', o.u), call('HVALS', o.h) end
    call('DEL', o.m, o.h, o.d, o.q, o.c, o.u)  -- first, because it takes no memory: see exit
    for _, owned in ipairs(marked) do take_back(o, owned) end
    for _, record in ipairs(held) do
      if owned_by(record) then take_back(o, owned_by(record)) end
    end
  end
  objects[name] = o
  return o
end

-- Stores what has changed of the objects. An object that nobody uses has no key.
local function flush()
  for _, o in pairs(objects) do
    if o.changed and o.used == 0 and o.owned == 0 and o.n == 0 and o.parked == 0 then
      call('DEL', o.m)
    elseif o.changed then
      call('HSET', o.m, 'e', epoch, 'k', o.kind, 'v', o.version, 'cap', o.cap, 'used', o.used,
           'n', o.n, 'cur', o.cur, 'c', o.parked, 'o', o.owned)
    end
  end
end

-- Returns the next ticket or fence. Starts at the server's time if the counter has been lost.
local function next_number()
  local number = pcall_redis('INCR', prefix .. 'f')
  if type(number) ~= 'number' or number < 1e15 then
    local time = call('TIME')
    call('SET', prefix .. 'f', time[1] .. ('%06d'):format(time[2]))
    number = call('INCR', prefix .. 'f')
  end
  return number
end

-- Takes waiters out of the queue, or holders with `held` weight together out of h.
local function leave(o, tokens, held)
  o.changed = true
  if held then
    call('HDEL', o.h, unpack(tokens))
    o.used = o.used - held
  else
    o.n = o.n - call('HDEL', o.d, unpack(tokens))
    call('ZREM', o.q, unpack(tokens))
  end
end
)lua";

}  // namespace asio_sync::redis::detail::scripts

#endif
