// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_SESSION_STATES_HPP
#define ASIO_SYNC_REDIS_DETAIL_SESSION_STATES_HPP

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace asio_sync::redis::detail {

// In `open`, `confirming`, `suspended` and `resuming` there is a session that may hold. In
// `opening`, `open`, `confirming` and `resuming` there is a connection.
enum class session_state : std::uint8_t {
  stopped,     // the client does not run
  offline,     // a connection is wanted, to open a session
  opening,     // open(new) is to be sent, or is unanswered
  open,        // the session lives, and this connection speaks for it
  confirming,  // as `open`, but the data of the server may be another one: open(resume) is to be
               // sent, or is unanswered
  suspended,   // a connection is wanted, to resume the session
  resuming     // open(resume) is to be sent, or is unanswered
};

struct session_step {
  session_state from, to;

  bool operator==(session_step const&) const = default;
};

// The drawing in doc/redis-protocol.md has these steps.
inline constexpr session_step session_steps[] = {
    {session_state::stopped, session_state::offline},       // run
    {session_state::offline, session_state::opening},       // connected
    {session_state::opening, session_state::open},          // opened
    {session_state::opening, session_state::offline},       // connection lost
    {session_state::open, session_state::suspended},        // connection lost
    {session_state::open, session_state::confirming},       // the data may be older
    {session_state::open, session_state::offline},          // session lost
    {session_state::confirming, session_state::open},       // resumed
    {session_state::confirming, session_state::suspended},  // connection lost
    {session_state::confirming, session_state::opening},    // the server has no such session
    {session_state::confirming, session_state::offline},    // session lost
    {session_state::suspended, session_state::resuming},    // connected
    {session_state::suspended, session_state::offline},     // session lost
    {session_state::resuming, session_state::open},         // resumed
    {session_state::resuming, session_state::suspended},    // connection lost
    {session_state::resuming, session_state::opening},      // the server has no such session
    {session_state::resuming, session_state::offline},      // session lost
    {session_state::offline, session_state::stopped},       // stop, shutdown or a final error
    {session_state::opening, session_state::stopped},       // likewise
    {session_state::open, session_state::stopped},          // likewise
    {session_state::confirming, session_state::stopped},    // likewise
    {session_state::suspended, session_state::stopped},     // likewise
    {session_state::resuming, session_state::stopped},      // likewise
};

constexpr bool is_legal(session_step step) noexcept {
  return std::find(std::begin(session_steps), std::end(session_steps), step) !=
         std::end(session_steps);
}

constexpr bool is_connected(session_state s) noexcept {
  return s == session_state::opening || s == session_state::open ||
         s == session_state::confirming || s == session_state::resuming;
}

constexpr bool has_session(session_state s) noexcept {
  return s == session_state::open || s == session_state::confirming ||
         s == session_state::suspended || s == session_state::resuming;
}

}  // namespace asio_sync::redis::detail

#endif
