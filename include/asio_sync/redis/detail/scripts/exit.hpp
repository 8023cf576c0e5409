// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_SCRIPTS_EXIT_HPP
#define ASIO_SYNC_REDIS_DETAIL_SCRIPTS_EXIT_HPP

#include <asio_sync/redis/detail/scripts/monitors.hpp>
#include <asio_sync/redis/detail/scripts/script.hpp>

namespace asio_sync::redis::detail::scripts {

/// Does what the holder of a monitor asks for, and gives the monitor back. The last ones of a
/// session are remembered, so that a repeated one changes nothing.
inline constexpr script exit{"exit", "",
                             R"lua(
local wrong = check(ARGV[3], ARGV[4])
if wrong then return wrong end
local o, token = object(ARGV[5]), me .. ':' .. ARGV[6]
local mine = prefix .. 'o:' .. me
local held = call('HGET', o.h, token)
local exits = call('HGET', mine, 'e') or ''  -- the counters of the last ones, a space before each
if not held or held:match('^%d+ (%d+)') ~= ARGV[7] then
  if (exits .. ' '):find(' ' .. ARGV[6] .. ' ', 1, true) then return 1 end
  return redis.error_reply('LOST the token does not hold with this fence')
end
local asked = operations(o, 9)
if asked.err then return asked end
exits = ' ' .. ARGV[6] .. exits
if #exits > 1024 then exits = exits:sub(1, 1024):match('^(.*) ') end
pcall_redis('HDEL', mine, 'e')  -- takes no memory: a full server refuses none of the others then
call('HSET', mine, 'e', exits)
operate(o, ARGV[5], held, asked)
drop(o, {token}, {held}, weight(held), ARGV[8] ~= '1')
pump(o)
flush()
return 1
)lua",
                             visits};

}  // namespace asio_sync::redis::detail::scripts

#endif
