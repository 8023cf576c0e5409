// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_REDIS_WALK_CLOCK_HPP
#define ASIO_SYNC_TEST_REDIS_WALK_CLOCK_HPP

#include <string_view>

// The Lua of the walk. It takes time and chance away from the server, so that a seed replays.
namespace redis_walk::lua {

// Replaces scripts::life by a clock that the walk sets. The keys that live on it are in walk:life,
// by their deadlines. Also replaces the three commands of a script whose answers nobody could
// repeat.
inline constexpr std::string_view life = R"lua(
local real = call
local now, chance = unpack(real('MGET', 'walk:now', 'walk:chance'))
local function make(key, value, ttl)
  real('SET', key, value)
  real('ZADD', 'walk:life', now + ttl, key)
end
local function extend(key, ttl)
  if real('EXISTS', key) == 1 then real('ZADD', 'walk:life', now + ttl, key) end
end
local function left(key)
  if real('EXISTS', key) == 0 then return -2 end
  local till = real('ZSCORE', 'walk:life', key)
  return till and till - now or -1
end
local function finish(key)
  real('DEL', key)
  real('ZREM', 'walk:life', key)
end
local function pcall_redis(command, ...)
  if command ~= 'HRANDFIELD' then return redis.pcall(command, ...) end
  local all, names, some = real('HGETALL', (...)), {}, {}
  for i = 1, #all, 2 do names[#names + 1], names[all[i]] = all[i], all[i + 1] end
  table.sort(names)
  for i = 1, math.min(64, #names) do
    some[#some + 1], some[#some + 2] = names[i], names[names[i]]
  end
  return some
end
local function call(command, ...)
  if command == 'TIME' then
    return {('%.0f'):format(math.floor(now / 1000)), ('%.0f'):format(now % 1000 * 1000)}
  elseif command == 'INFO' then
    return KEYS[3]
  elseif command ~= 'SRANDMEMBER' then
    return real(command, ...)
  end
  local members, some = real('SMEMBERS', (...)), {}
  table.sort(members)
  for _ = 1, math.min(2, #members) do
    some[#some + 1] = table.remove(members, 1 + chance % #members)
    chance = math.floor(chance / 7)
  end
  return some
end
)lua";

// Begins each call. KEYS are the time, a random number and the names of the objects to look at.
inline constexpr std::string_view before = R"lua(
redis.call('MSET', 'walk:now', KEYS[1], 'walk:chance', KEYS[2])
for _, key in ipairs(redis.call('ZRANGEBYSCORE', 'walk:life', '-inf', KEYS[1])) do
  redis.call('DEL', key)
  redis.call('ZREM', 'walk:life', key)
end
local function script()
)lua";

// Ends each call. Answers the script's answer, the epoch, the number of sessions in as:all, the
// keys that live with their deadlines and values, and of each object its m, h, d, q, c, u and v.
inline constexpr std::string_view after = R"lua(
end
local answer = {script()}
if #KEYS == 3 then return answer end
local lives = redis.call('ZRANGE', 'walk:life', 0, -1, 'WITHSCORES')
local life = {}
for i = 1, #lives, 2 do
  life[#life + 1], life[#life + 2] = lives[i], lives[i + 1]
  life[#life + 1] = redis.call('GET', lives[i]) or ''
end
answer[2], answer[3] = redis.call('GET', 'as:epoch') or '', redis.call('SCARD', 'as:all')
answer[4] = life
for i = 4, #KEYS do
  local base = 'as:{' .. KEYS[i] .. '}:'
  answer[#answer + 1] = {redis.call('HMGET', base .. 'm', 'e', 'cap', 'used', 'n', 'c', 'o'),
                         redis.call('HGETALL', base .. 'h'), redis.call('HGETALL', base .. 'd'),
                         redis.call('ZRANGE', base .. 'q', 0, -1, 'WITHSCORES'),
                         redis.call('ZRANGE', base .. 'c', 0, -1),
                         redis.call('HGETALL', base .. 'u'), redis.call('HGETALL', base .. 'v')}
end
return answer
)lua";

}  // namespace redis_walk::lua

#endif
