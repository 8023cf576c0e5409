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

/// Follows the fast path of every script: what the scripts share.
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

-- Returns an object, without a kind if nobody uses it; then true if there is data of an earlier
-- epoch, or data of which a key has been lost. Raises WRONGTYPE if one of its keys is not ours.
local function look_at(name)
  local base = prefix .. '{' .. name .. '}:'
  local o = {m = base .. 'm', h = base .. 'h', d = base .. 'd', q = base .. 'q', c = base .. 'c',
             used = 0, n = 0, parked = 0, cur = '0', hint = -1}
  local m = call('HMGET', o.m, 'e', 'k', 'v', 'cap', 'used', 'n', 'cur', 'c')
  local held, records, queued = call('HLEN', o.h), call('HLEN', o.d), call('ZCARD', o.q)
  local waits = call('ZCARD', o.c)
  local used, n, parked = tonumber(m[5]), tonumber(m[6]), tonumber(m[8] or 0)
  if m[1] and m[1] == epoch and used and n and parked and (used > 0) == (held > 0)
     and (n + parked > 0) == (records > 0) and (n > 0) == (queued > 0)
     and (parked > 0) == (waits > 0) then
    o.kind, o.version, o.cap, o.used, o.n, o.cur = m[2], m[3], tonumber(m[4]), used, n, m[7] or '0'
    o.parked = parked
    return o, false
  end
  return o, m[1] or held + records + queued + waits > 0
end

-- Returns the object. Deletes what it cannot use.
local function object(name)
  if objects[name] then return objects[name] end
  local o, is_torn = look_at(name)
  if is_torn then call('DEL', o.m, o.h, o.d, o.q, o.c) end
  objects[name] = o
  return o
end

-- Stores what has changed of the objects. An object that nobody uses has no key.
local function flush()
  for _, o in pairs(objects) do
    if o.changed and o.used == 0 and o.n == 0 and o.parked == 0 then
      call('DEL', o.m)
    elseif o.changed then
      call('HSET', o.m, 'e', epoch, 'k', o.kind, 'v', o.version, 'cap', o.cap, 'used', o.used,
           'n', o.n, 'cur', o.cur, 'c', o.parked)
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

local function unregister(token)
  pcall_redis('HDEL', prefix .. 'o:' .. owner(token), 't' .. counter(token))
end

local function queue(o, token, w, ticket, rest)
  call('HSET', o.d, token, whole(w) .. ' ' .. ticket .. ' ' .. rest)
  call('ZADD', o.q, ticket, token)
  o.n, o.changed = o.n + 1, true
end

local function park(o, token, w, ticket, condition)
  call('HSET', o.d, token, whole(w) .. ' ' .. ticket .. ' - c' .. condition)
  call('ZADD', o.c, 0, place(condition) .. ticket .. token)
  o.parked, o.changed = o.parked + 1, true
end

-- Takes a token with this record out of c.
local function unpark(o, token, record)
  call('ZREM', o.c, place(parked_on(record)) .. record:match('^%d+ (%d+)') .. token)
  o.parked, o.changed = o.parked - 1, true
end

-- Remembers in the record of a token that it was passed over (S), or has been heard of since (B).
local function mark(o, token, record, skip)
  call('HSET', o.d, token, (record:gsub('^(%d+ %d+ ).', '%1' .. skip)))
end

-- Moves a parked token to the queue. It carries the notification, unless all waits have it.
local function wake(o, token, record, carries)
  unpark(o, token, record)
  local condition = parked_on(record)
  queue(o, token, weight(record), whole(next_number()),
        record:match('^%d+ %d+ (.)') .. (carries and ' n' .. condition or ''))
end

-- Notifies all waits on a condition. Returns how many.
local function notify_all(o, condition)
  local from, upto, woken = '[' .. place(condition), '(' .. place(condition) .. ':', 0
  while o.parked > 0 do
    local members = call('ZRANGEBYLEX', o.c, from, upto, 'LIMIT', 0, 64)
    if #members == 0 then break end
    for _, member in ipairs(members) do
      local token = member:sub(#from + 16)
      local record = call('HGET', o.d, token)
      if parked_on(record) == condition then wake(o, token, record) else call('ZREM', o.c, member) end
    end
    woken = woken + #members
  end
  return woken
end

-- Notifies the wait on a condition that began first, of those whose clients can be reached; else
-- the first of the others. Ends the dead. If the looks are used up, it takes the next one: if that
-- is dead, the notification goes on when it is ended. Returns how many it has notified.
local function notify_one(o, condition)
  local from, upto = '[' .. place(condition), '(' .. place(condition) .. ':'
  local passed, size, other, its_record = 0, 1, nil, nil
  while o.parked > 0 do
    local members = call('ZRANGEBYLEX', o.c, from, upto, 'LIMIT', passed, size)
    for _, member in ipairs(members) do
      local token = member:sub(#from + 16)
      local record = call('HGET', o.d, token)
      if parked_on(record) ~= condition then
        call('ZREM', o.c, member)
      elseif looks <= 0 then
        wake(o, other or token, its_record or record, true)
        return 1
      elseif not alive(owner(token)) then
        unpark(o, token, record)
        call('HDEL', o.d, token)
        unregister(token)
        looks = looks - 4
      elseif record:find('^%d+ %d+ B') or reachable(owner(token)) then
        wake(o, token, record, true)
        return 1
      else
        mark(o, token, record, 'S')
        if not other then other, its_record = token, record end
        passed, looks = passed + 1, looks - 1
      end
    end
    if #members == 0 then break end
    size = math.min(2 * size, 64)
  end
  if not other then return 0 end
  wake(o, other, its_record, true)
  return 1
end

-- Ends tokens with these records: waiters in the queue, or holders with `held` weight together.
-- The notifications that they carry go to others, unless they are used up.
local function drop(o, tokens, records, held, used_up)
  if #tokens == 0 then return end
  leave(o, tokens, held)
  for i, token in ipairs(tokens) do
    unregister(token)
    local condition = not used_up and carried_by(records[i])
    if condition then notify_one(o, condition) end
  end
  o.dropped = true
end

local function lower_hint(o, life)
  if o.hint == -1 or life < o.hint then o.hint = life end
end

-- Ends holders whose session is dead. Looks at as many as half of the looks allow, and goes on
-- from there the next time; a small hash is read as a whole. The hint is the time until another of
-- them can be dead, or 0 if other objects have used up the looks.
local function reap(o)
  if gate then
    o.hint = left(prefix .. 'gate')
    return
  end
  if o.used == 0 then return end
  if looks <= 0 then
    o.hint = 0
    return
  end
  local limit, begin = math.ceil(looks / 2), o.cur
  local cursor, holders = unpack(call('HSCAN', o.h, begin, 'COUNT', limit))
  local dead, records, held = {}, {}, 0
  for i = 1, #holders, 2 do
    local life = look_up(owner(holders[i])).left
    if life ~= -2 then
      lower_hint(o, life)
    elseif 4 * #dead < limit then
      dead[#dead + 1], records[#dead + 1] = holders[i], holders[i + 1]
      held = held + weight(holders[i + 1])
    else
      cursor, o.cut = begin, true
      break
    end
  end
  looks = looks - #holders / 2 - 3 * #dead
  drop(o, dead, records, held)
  o.changed = o.changed or cursor ~= begin
  o.cur, o.cut = cursor, o.cut or begin ~= '0' or cursor ~= '0'
end

local function grant(o, token, w, record, answered)
  leave(o, {token})
  local fence, condition = whole(next_number()), carried_by(record)
  call('HSET', o.h, token, granted(whole(w), fence) .. (condition and ' n' .. condition or ''))
  o.used = o.used + w
  if token ~= answered then
    call('PUBLISH', prefix .. 'ch:' .. token:match('^[^.]*'),
         'G ' .. token .. ' ' .. fence .. ' ' .. epoch)
  end
end

-- Serves the first waiters of the queue behind those who are passed over. Returns how many more
-- are passed over, then true if the next ones may have their turn.
local function serve(o, tokens, answered)
  local records = call('HMGET', o.d, unpack(tokens))
  local dead, lost, skipped, on = {}, {}, 0, true
  for i, token in ipairs(tokens) do
    o.cut = o.cut or looks <= 0
    on = on and looks > 0 and o.used < o.cap
    if not on then break end
    local w, skip = (records[i] or ''):match('^(%d+) %d+ (.)')
    w = tonumber(w)
    looks = looks - 1
    if not w or not alive(owner(token)) then
      dead[#dead + 1], lost[#dead + 1] = token, records[i] or ''
      looks = looks - 3
    elseif skip ~= 'B' and not reachable(owner(token)) then
      if skip == '-' then mark(o, token, records[i], 'S') end
      skipped = skipped + 1
    elseif w <= o.cap - o.used then
      grant(o, token, w, records[i], answered)
    else
      on = false
      if owner(token) ~= me then lower_hint(o, look_up(owner(token)).left) end
    end
  end
  drop(o, dead, lost)
  return skipped, on
end

-- Grants to the waiters in the order of their tickets, until one does not fit. Ends the dead, and
-- passes over those who cannot be reached. Looks at a few in any case, whatever the looks at other
-- tokens have left. `answered` needs no push.
local function pump(o, answered)
  local passed, size, on = 0, 1, not gate
  local lent = math.max(8 - looks, 0)
  looks = looks + lent
  while on and o.n > 0 and o.used < o.cap do
    local tokens = call('ZRANGE', o.q, passed, passed + size - 1)
    if #tokens == 0 then break end
    local skipped
    skipped, on = serve(o, tokens, answered)
    passed, size = passed + skipped, math.min(2 * size, 64)
  end
  looks = looks - lent
end

-- Appends the state of each token to `answer`.
local function states(o, tokens, answer)
  local waiting = call('HMGET', o.d, unpack(tokens))
  local hint = o.cut and o.dropped and 0 or o.hint
  for i, token in ipairs(tokens) do
    local state, number = 0, waiting[i] and waiting[i]:match(' (%d+) ')
    if parked_on(waiting[i]) then
      state = 2
    elseif not number then
      local held = call('HGET', o.h, token)
      state, number = held and 1 or -1, held and held:match(' (%d+)') or '0'
    end
    answer[#answer + 1] = state
    answer[#answer + 1] = tonumber(number)
    answer[#answer + 1] = state == 0 and hint or -1
  end
  return answer
end

-- Runs `act` on each object of a list, with an even share of the looks.
local function spread(list, act)
  for i, o in ipairs(list) do
    local share = math.ceil(looks / (#list - i + 1))
    local rest = looks - share
    looks = share
    act(o)
    looks = looks + rest
  end
end

-- Ends a token in whatever state it is: true if it was there.
local function forget(o, token)
  local held, waiting = call('HGET', o.h, token), call('HGET', o.d, token)
  if parked_on(waiting) then
    unpark(o, token, waiting)
    call('HDEL', o.d, token)
    unregister(token)
  elseif held or waiting then
    drop(o, {token}, {held or waiting}, held and weight(held))
  end
  return held or waiting
end

-- Clears away up to 64 tokens of a dead session: true if there are more.
local function clear(sid)
  local key = prefix .. 'o:' .. sid
  local found = pcall_redis('HRANDFIELD', key, 64, 'WITHVALUES')
  local list, listed = {}, {}
  for i = 1, #found, 2 do
    local field, name = found[i], found[i + 1]
    local ours, o = pcall(object, name)
    if ours and field:sub(1, 1) == 't' and forget(o, sid .. ':' .. field:sub(2))
       and not listed[o] then
      list[#list + 1], listed[o] = o, true
    end
    pcall_redis('HDEL', key, field)
    looks = looks - 4
  end
  spread(list, pump)
  if #found > 0 and call('EXISTS', key) == 1 then return true end
  call('SREM', prefix .. 'all', sid)
  return false
end

-- Clears away those of some sessions that are dead.
local function sweep(sids)
  for _, sid in ipairs(gate and {} or sids) do
    if looks > 0 and not alive(sid) then clear(sid) end
  end
end
)lua";

}  // namespace asio_sync::redis::detail::scripts

#endif
