// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_SCRIPTS_UNWAIT_HPP
#define ASIO_SYNC_REDIS_DETAIL_SCRIPTS_UNWAIT_HPP

#include <asio_sync/redis/detail/scripts/script.hpp>

namespace asio_sync::redis::detail::scripts {

/// Moves a token that waits on a condition to the queue, without a notification.
inline constexpr script unwait{"unwait", "",
                               R"lua(
local wrong = check(ARGV[3], ARGV[4])
if wrong then return wrong end
local o, token = object(ARGV[5]), me .. ':' .. ARGV[6]
local record = call('HGET', o.d, token)
if parked_on(record) then
  unpark(o, token, record)
  queue(o, token, weight(record), whole(next_number()), record:match('^%d+ %d+ (.)'))
end
reap(o)
pump(o, token)
flush()
return state(o, token)
)lua"};

}  // namespace asio_sync::redis::detail::scripts

#endif
