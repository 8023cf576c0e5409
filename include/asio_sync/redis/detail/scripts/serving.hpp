// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_SCRIPTS_SERVING_HPP
#define ASIO_SYNC_REDIS_DETAIL_SCRIPTS_SERVING_HPP

#include <string_view>

namespace asio_sync::redis::detail::scripts {

/// Follows `monitors` in every script: the end of tokens, and grants.
inline constexpr std::string_view serving = R"lua(
-- Ends tokens with these records: waiters in the queue, or holders with `held` weight together.
-- The notifications that they carry go to others, unless they are used up.
local function drop(o, tokens, records, held, used_up)
  if #tokens == 0 then return end
  leave(o, tokens, held)
  for i, token in ipairs(tokens) do
    unregister(token)
    local condition = not used_up and carried_by(records[i])
    if condition then notify_one(o, condition) end
    if owned_by(records[i]) then disown(o, token, owned_by(records[i])) end
  end
  if o.kind == 'monitor' and held and o.used == 0 then take_all_back(o) end
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
  if o.used + o.owned == 0 then return end
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
         'G ' .. token .. ' ' .. fence .. ' ' .. epoch
         .. (o.kind == 'monitor' and ' ' .. variables(o) or ''))
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

-- Appends the state of each token to `answer`. `records`: of the waiters, if they are known.
local function states(o, tokens, answer, records)
  records = records or call('HMGET', o.d, unpack(tokens))
  local hint, at = o.cut and o.dropped and 0 or o.hint, #answer
  for i, token in ipairs(tokens) do
    local number, parked = (records[i] or ''):match('^%d+ (%d+) . ?(c?)')
    local state = parked == 'c' and 2 or 0
    if not number then
      local held = call('HGET', o.h, token)
      state, number = held and 1 or -1, held and held:match(' (%d+)') or '0'
    end
    answer[at + 1], answer[at + 2] = state, tonumber(number)
    answer[at + 3] = (state == 0 or state == 2 and o.owned > 0) and hint or -1
    at = at + 3
  end
  return answer
end

-- Returns the state of one token; of one that holds a monitor, the variables too.
local function state(o, token)
  local answer = states(o, {token}, {})
  if answer[1] == 1 and o.kind == 'monitor' then answer[4] = variables(o) end
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

-- Ends a token in whatever state it is: true if it was there. `used_up`: see drop.
local function forget(o, token, used_up)
  local held, waiting = call('HGET', o.h, token), call('HGET', o.d, token)
  if parked_on(waiting) then
    unpark(o, token, waiting)
    call('HDEL', o.d, token)
    unregister(token)
  elseif held or waiting then
    drop(o, {token}, {held or waiting}, held and weight(held), used_up)
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
    local ours, o = false, nil
    if field:sub(1, 1) == 't' then ours, o = pcall(object, name) end
    if ours and forget(o, sid .. ':' .. field:sub(2)) and not listed[o] then
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
