// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_SCRIPTS_MONITORS_HPP
#define ASIO_SYNC_REDIS_DETAIL_SCRIPTS_MONITORS_HPP

#include <string_view>

namespace asio_sync::redis::detail::scripts {

/// Follows `conditions` in every script: the variables of monitors.
inline constexpr std::string_view monitors = R"lua(
-- Returns the names and values of the variables, each as its size, a colon and its bytes.
local function variables(o)
  local parts = call('HGETALL', o.v)
  for i, part in ipairs(parts) do parts[i] = #part .. ':' .. part end
  return table.concat(parts)
end

-- Takes back what tokens owned that have ended while somebody was inside. It is called when the
-- last one has left.
local function take_all_back(o)
  local marked = call('HVALS', o.u)
  if #marked == 0 then return end
  call('DEL', o.u)
  for _, owned in ipairs(marked) do notify_all(o, take_back(o, owned)) end
end

-- Ends what a token has owned: at once if nobody is inside.
local function disown(o, token, owned)
  o.owned = o.owned - 1
  if o.used > 0 then
    call('HSET', o.u, token, owned)
  else
    notify_all(o, take_back(o, owned))
  end
end
)lua";

/// Begins the slow way of the scripts that do what the one inside a monitor asks for.
inline constexpr std::string_view visits = R"lua(
-- Returns the whole number that a text is, if it is below 2^53, so that it is exact, and if it is
-- written like the server's.
local function exact(text)
  local number = text:find('^%-?%d+$') and tonumber(text)
  return number and math.abs(number) < 2 ^ 53 and whole(number) == text and number or nil
end

-- Reads the operations from an argument on: "s name value", "n condition most" (0: all), and
-- "o name counter delta condition". Returns what is to be set, notified and owned, or an error.
local function operations(o, at)
  local set, notified, owned = {}, {}, {}
  while ARGV[at] do
    local what, name = ARGV[at], ARGV[at + 1]
    if what == 's' then
      set[name] = ARGV[at + 2]
      at = at + 3
    elseif what == 'n' then
      notified[#notified + 1] = {condition = name, most = ARGV[at + 2]}
      at = at + 3
    elseif what == 'o' then
      local counter, delta, condition = ARGV[at + 2], exact(ARGV[at + 3]), ARGV[at + 4]
      local value = exact(set[name] or call('HGET', o.v, name) or '0')
      local sum = value and delta and whole(value + delta)
      if not sum or not exact(sum) then
        return redis.error_reply('NUMBER the variable is no number to which this can be added')
      end
      set[name] = sum
      owned[#owned + 1] = {counter = counter,
                           text = #name .. ':' .. name .. whole(delta) .. ' ' .. condition}
      at = at + 5
    else
      return redis.error_reply('OPERATION there is no such operation')
    end
  end
  return {set = set, notified = notified, owned = owned}
end

-- Does what the holder with this record asks for. It holds until that is done.
local function operate(o, name, record, asked)
  for variable, value in pairs(asked.set) do call('HSET', o.v, variable, value) end
  for _, each in ipairs(asked.owned) do
    call('HSET', prefix .. 'o:' .. me, 't' .. each.counter, name)
    call('HSET', o.h, me .. ':' .. each.counter,
         granted('0', record:match('^%d+ (%d+)')) .. ' o' .. each.text)
    o.owned, o.changed = o.owned + 1, true
  end
  for _, each in ipairs(asked.notified) do
    if each.most == '0' then
      notify_all(o, each.condition)
    else
      notify_one(o, each.condition)
    end
  end
end
)lua";

}  // namespace asio_sync::redis::detail::scripts

#endif
