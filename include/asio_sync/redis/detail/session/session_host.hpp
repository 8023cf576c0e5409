// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_SESSION_SESSION_HOST_HPP
#define ASIO_SYNC_REDIS_DETAIL_SESSION_SESSION_HOST_HPP

#include <asio_sync/redis/detail/session/answers.hpp>
#include <asio_sync/redis/detail/session/claim.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace asio_sync::redis::detail {

struct session_config {
  std::string prefix = "as:", name;
  std::chrono::milliseconds ttl{6000}, max_ttl{6000}, margin{300};
  std::chrono::milliseconds max_hold{0};  // 0: none
  bool gate = true;
};

struct session_event {
  enum class kind : std::uint8_t {
    connected,
    connect_failed,  // `attempt`: which one since the last connection that stood
    disconnected,
    session_lost,
    late_heartbeat,  // `time`: by how much
    gated,           // `time`: for how long
    data_lost,
    held_too_long,
    forced_release,  // `text`: the object
    record_lost,     // `text`: the object
    server_error
  };
  kind what;
  std::string_view text;
  std::chrono::milliseconds time{0};
  failure error = failure::none;  // `none`: the host knows why a connection has ended
  object const* about = nullptr;  // whose command the server has refused
  unsigned attempt = 0;
};

// The session tells its host what follows from a call, before that call returns. The host must not
// call the session from these functions.
class session_host {
 public:
  // The wait of the claim is granted. If nobody waits any more, forget() the claim.
  virtual void granted(claim& c) noexcept = 0;

  // The claim holds no longer, although nobody has released it, or the call that is to release it
  // has found the session lost. finished() follows, now or later.
  virtual void lost(claim& c) noexcept = 0;

  // The operation of the claim has ended, but the server may still know the token, and has refused
  // to forget it. Called again after each attempt; finished() follows, with the same reason.
  virtual void failed(claim& c, failure why) noexcept = 0;

  // The session does not refer to the claim any more. `none`: it has been released or forgotten.
  virtual void finished(claim& c, failure why) noexcept = 0;

  // The session does not refer to the question any more. `none`: the server has answered, with
  // what it has found if that was asked. `not_held`: nobody has held with the fence.
  virtual void answered(question&, failure, inspection*) noexcept {}

  // The session lives until this time unless it is extended again. A time in the past: it is over,
  // and lost() follows for each hold.
  virtual void extended(session_clock::time_point) noexcept {}

  virtual void report(session_event const& e) noexcept = 0;

  // Closes the connection, if there is one. Nothing that arrives on it may reach the session from
  // now on. `not_a_master`: the next connection is to another server, if the name has moved.
  virtual void disconnect(failure why) noexcept = 0;

  // The session does not run any more. If a connection is left, the host closes it.
  virtual void ended(failure why) noexcept = 0;

  // Returns 32 random hexadecimal digits.
  virtual std::string new_client_id() = 0;

 protected:
  ~session_host() = default;
};

}  // namespace asio_sync::redis::detail

#endif
