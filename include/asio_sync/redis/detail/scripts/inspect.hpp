// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_SCRIPTS_INSPECT_HPP
#define ASIO_SYNC_REDIS_DETAIL_SCRIPTS_INSPECT_HPP

#include <asio_sync/redis/detail/scripts/script.hpp>

namespace asio_sync::redis::detail::scripts {

/// Answers who holds an object and who waits for it, as far as one message has room. It changes
/// nothing.
inline constexpr script inspect{"inspect", "",
                                R"lua(
local o = look_at(ARGV[3])
local most, holders, waiters = 256, {}, {}
local time = call('TIME')
local now = tonumber(time[1] .. ('%03d'):format(time[2] / 1000))

-- Appends a token's session, the name of its client, or nil if it is dead, and three numbers.
local function append(list, token, ...)
  local sid = owner(token)
  local session = call('MGET', prefix .. 's:' .. sid)[1]
  list[#list + 1] = sid
  list[#list + 1] = session and session:match('^%d+|[^|]*|%d+|(.*)$') or false
  for _, number in ipairs({...}) do list[#list + 1] = number end
end

local held = o.kind and call('HRANDFIELD', o.h, most, 'WITHVALUES') or {}
for i = 1, #held, 2 do
  local w, fence, since = held[i + 1]:match('^(%d+) (%d+) ?(%d*)')
  append(holders, held[i], tonumber(fence) or 0, tonumber(w) or 0,
         now - (tonumber(since) or now))
end
local queued = o.n > 0 and call('ZRANGE', o.q, 0, most - 1) or {}
local records = #queued > 0 and call('HMGET', o.d, unpack(queued)) or {}
for i, token in ipairs(queued) do
  local w, ticket, skip = (records[i] or ''):match('^(%d+) (%d+) (.)')
  local heard = alive(owner(token)) and (skip == 'B' or reachable(owner(token)))
  append(waiters, token, tonumber(ticket) or 0, tonumber(w) or 0, heard and 1 or 0)
end
return {o.kind or '', o.cap or 0, o.used, gate and left(prefix .. 'gate') or 0,
        o.kind and call('HLEN', o.h) or 0, o.n, o.parked, holders, waiters}
)lua"};

}  // namespace asio_sync::redis::detail::scripts

#endif
