// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_SCRIPTS_FORGET_HPP
#define ASIO_SYNC_REDIS_DETAIL_SCRIPTS_FORGET_HPP

#include <asio_sync/redis/detail/scripts/script.hpp>

namespace asio_sync::redis::detail::scripts {

/// Ends a token that waits or holds.
inline constexpr script forget{"forget", "",
                               R"lua(
local o = object(ARGV[3])
if not forget(o, me .. ':' .. ARGV[4]) then
  pcall_redis('HDEL', prefix .. 'o:' .. me, 't' .. ARGV[4])
  return 0
end
pump(o)
flush()
return 1
)lua"};

}  // namespace asio_sync::redis::detail::scripts

#endif
