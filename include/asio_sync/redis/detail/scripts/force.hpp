// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_SCRIPTS_FORCE_HPP
#define ASIO_SYNC_REDIS_DETAIL_SCRIPTS_FORCE_HPP

#include <asio_sync/redis/detail/scripts/script.hpp>

namespace asio_sync::redis::detail::scripts {

/// Takes an object from the holder that has this fence, and tells the holder. All that an entry of
/// a monitor has added to be owned has one fence.
inline constexpr script force{"force", "",
                              R"lua(
local o, fence = object(ARGV[3]), ARGV[4]
local cursor, found, any = '0', {}, false
repeat
  local holders
  cursor, holders = unpack(call('HSCAN', o.h, cursor, 'COUNT', 512))
  for i = 1, #holders, 2 do
    if holders[i + 1]:match('^%d+ (%d+)') == fence then
      found[holders[i]], any = holders[i + 1], true
    end
  end
until cursor == '0'
if not any then return 0 end
for token, held in pairs(found) do
  call('PUBLISH', prefix .. 'ch:' .. token:match('^[^.]*'),
       'L ' .. token .. ' ' .. fence .. ' ' .. epoch)
  drop(o, {token}, {held}, weight(held))
end
pump(o)
flush()
return 1
)lua"};

}  // namespace asio_sync::redis::detail::scripts

#endif
