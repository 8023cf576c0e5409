// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_SCRIPTS_BEAT_HPP
#define ASIO_SYNC_REDIS_DETAIL_SCRIPTS_BEAT_HPP

#include <asio_sync/redis/detail/scripts/script.hpp>

namespace asio_sync::redis::detail::scripts {

/// Extends the session, and answers the state of the tokens that are named.
inline constexpr script beat{"beat", "",
                             R"lua(
local wrong = check(ARGV[3], ARGV[4])
if wrong then return wrong end
local number = tonumber(call('MGET', prefix .. 'f')[1])
if number and number < tonumber(ARGV[5]) then
  return redis.error_reply('EPOCH the data of the server is an older copy')
end
local members = call('SRANDMEMBER', prefix .. 'all', 2)
local at = 8 + ARGV[7]
local groups, list = {}, {}
while ARGV[at] do
  local group = {}
  for i = at + 2, at + 1 + ARGV[at + 1] do group[#group + 1] = me .. ':' .. ARGV[i] end
  local ours, o = pcall(object, ARGV[at])
  group.o = ours and o
  groups[#groups + 1] = group
  if ours then list[#list + 1] = o end
  at = at + 2 + ARGV[at + 1]
end
extend(prefix .. 's:' .. me, ARGV[6])
call('SADD', prefix .. 'all', me)
for i = 8, 7 + ARGV[7] do pcall_redis('HDEL', prefix .. 'o:' .. me, 's' .. ARGV[i]) end
for _, group in ipairs(groups) do
  local waits = group.o and group.o.n + group.o.parked > 0
  group.records = waits and call('HMGET', group.o.d, unpack(group)) or {}
  for i, record in ipairs(group.records) do
    if record and record:find('^%d+ %d+ S') then mark(group.o, group[i], record, 'B') end
  end
end
spread(list, function(o)
  if o.n + o.parked > 0 then
    reap(o)
    pump(o)
  end
end)
local answer = {}
for _, group in ipairs(groups) do
  if group.o then states(group.o, group, answer, not group.o.changed and group.records)
  else
    for _ = 1, 3 * #group, 3 do
      answer[#answer + 1], answer[#answer + 2], answer[#answer + 3] = -1, 0, -1
    end
  end
end
sweep(members)
flush()
return answer
)lua"};

}  // namespace asio_sync::redis::detail::scripts

#endif
