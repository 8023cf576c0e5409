// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_SCRIPTS_COND_WAIT_HPP
#define ASIO_SYNC_REDIS_DETAIL_SCRIPTS_COND_WAIT_HPP

#include <asio_sync/redis/detail/scripts/monitors.hpp>
#include <asio_sync/redis/detail/scripts/script.hpp>

namespace asio_sync::redis::detail::scripts {

/// Gives back what a token holds, and has another token wait on a condition, in one step.
inline constexpr script cond_wait{"cond_wait", "",
                                  R"lua(
local wrong = check(ARGV[3], ARGV[4])
if wrong then return wrong end
local o, token, old = object(ARGV[5]), me .. ':' .. ARGV[6], me .. ':' .. ARGV[7]
if states(o, {token}, {})[1] == -1 then
  local held = call('HGET', o.h, old)
  if not held or held:match('^%d+ (%d+)') ~= ARGV[8] then
    return redis.error_reply('LOST the token does not hold with this fence')
  end
  local asked = operations(o, 12)
  if asked.err then return asked end
  unregister(token)  -- takes no memory: a full server refuses none of the others then
  call('HSET', prefix .. 'o:' .. me, 't' .. ARGV[6], ARGV[5])
  operate(o, ARGV[5], held, asked)
  local ticket = whole(next_number())
  if ARGV[10] == '1' then
    queue(o, token, weight(held), ticket, '-')
  else
    park(o, token, weight(held), ticket, ARGV[9])
  end
  drop(o, {old}, {held}, weight(held), ARGV[11] ~= '1')
end
reap(o)
pump(o, token)
flush()
return state(o, token)
)lua",
                                  visits};

}  // namespace asio_sync::redis::detail::scripts

#endif
