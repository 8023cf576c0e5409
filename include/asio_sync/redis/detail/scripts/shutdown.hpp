// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_SCRIPTS_SHUTDOWN_HPP
#define ASIO_SYNC_REDIS_DETAIL_SCRIPTS_SHUTDOWN_HPP

#include <asio_sync/redis/detail/scripts/script.hpp>

namespace asio_sync::redis::detail::scripts {

/// Ends the session, and clears up to 64 of its tokens away.
inline constexpr script shutdown{"shutdown", "",
                                 R"lua(
finish(prefix .. 's:' .. me)
local more = clear(me)
flush()
return more and 1 or 0
)lua"};

}  // namespace asio_sync::redis::detail::scripts

#endif
