// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_SCRIPTS_LIFE_HPP
#define ASIO_SYNC_REDIS_DETAIL_SCRIPTS_LIFE_HPP

#include <string_view>

namespace asio_sync::redis::detail::scripts {

/// Makes, extends, asks and ends the life of a key. No other part of a script names a time to
/// live, so a test can replace these four functions by a clock of its own, which deletes the keys
/// that have expired before it calls a script.
inline constexpr std::string_view life = R"lua(
local function make(key, value, ttl) call('SET', key, value, 'PX', ttl) end
local function extend(key, ttl) call('PEXPIRE', key, ttl) end
local function left(key) return call('PTTL', key) end  -- -2: there is no such key
local function finish(key) call('DEL', key) end
)lua";

}  // namespace asio_sync::redis::detail::scripts

#endif
