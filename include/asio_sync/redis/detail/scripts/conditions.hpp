// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_SCRIPTS_CONDITIONS_HPP
#define ASIO_SYNC_REDIS_DETAIL_SCRIPTS_CONDITIONS_HPP

#include <string_view>

namespace asio_sync::redis::detail::scripts {

/// Follows `common` in every script: tokens that are parked, and notifications.
inline constexpr std::string_view conditions = R"lua(
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
      if parked_on(record) == condition then
        wake(o, token, record)
      else
        call('ZREM', o.c, member)
      end
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
)lua";

}  // namespace asio_sync::redis::detail::scripts

#endif
