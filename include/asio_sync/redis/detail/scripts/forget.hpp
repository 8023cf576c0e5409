// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_SCRIPTS_FORGET_HPP
#define ASIO_SYNC_REDIS_DETAIL_SCRIPTS_FORGET_HPP

#include <asio_sync/redis/detail/scripts/script.hpp>

namespace asio_sync::redis::detail::scripts {

/// Ends tokens that wait or hold.
inline constexpr script forget{"forget", "",
                               R"lua(
local o, found = object(ARGV[3]), false
for i = 4, ARGV[5] and 5 or 4 do
  local token = me .. ':' .. ARGV[i]
  if forget(o, token, i == 5 and ARGV[6] ~= '1') then found = true else unregister(token) end
end
if not found then return 0 end
pump(o)
flush()
return 1
)lua"};

}  // namespace asio_sync::redis::detail::scripts

#endif
