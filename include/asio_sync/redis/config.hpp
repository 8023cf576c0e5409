// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_CONFIG_HPP
#define ASIO_SYNC_REDIS_CONFIG_HPP

#include <asio_sync/detail/core/config.hpp>  // first

#include <boost/system/error_code.hpp>

#include <chrono>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace asio_sync::redis {

namespace detail {

class security;

}  // namespace detail

/// The settings of a client: where the server is, who we are, and how long a session lives.
struct config {
  /// The address of the server. `unix_socket`, if it is not empty, is the path of a socket that is
  /// used instead.
  std::string host = "127.0.0.1", port = "6379", unix_socket{};

  /// The user of the server's ACL. Without a user name the password is that of the user `default`.
  std::string username{}, password{};

  /// The number of the database at the server.
  int database = 0;

  /// The beginning of all keys and channels. Clients that use the same objects have the same one.
  std::string prefix = "as:";

  /// Says who holds an object, for people. Printable ASCII without spaces, at most 256 bytes;
  /// may be empty.
  std::string name{};

  /// For how long the server keeps what this client holds after it has heard from it for the last
  /// time. The client sends a heartbeat three times in it. At least 500 ms.
  std::chrono::milliseconds session_ttl{6000};

  /// The longest `session_ttl` of all clients, which have to agree on it. For so long nothing is
  /// granted after a server has lost its data.
  std::chrono::milliseconds max_session_ttl{6000};

  /// For how long a lock, a permit or an entry may be held; then it is taken away, and the holder
  /// is told. Zero: for as long as the session lives. At most a year. What is `owned` of a monitor
  /// has no such limit.
  std::chrono::milliseconds max_hold{0};

  /// For how long the server may be silent while it owes an answer; then the connection is given
  /// up, and another one made. Also the longest time that a try takes. By default, and at most, a
  /// quarter of `session_ttl`.
  std::optional<std::chrono::milliseconds> command_timeout{};

  /// How much earlier than the server a client takes its session to be over, because clocks do not
  /// run alike. By default 5 % of `session_ttl`, but at least 200 ms; at most half of it.
  std::optional<std::chrono::milliseconds> margin{};

  /// False: a server that has lost its data may at once grant what somebody believes to hold, for
  /// one `max_session_ttl`. For tests, and for programs that rely on the fences.
  bool gate = true;

  /// Null, or the value of `make_tls` in <asio_sync/redis/tls.hpp>: connections are encrypted, and
  /// the server has to prove its name. Not for a `unix_socket`.
  std::shared_ptr<detail::security> security{};
};

/// Something that the operators of a program may want to know of a client.
struct event {
  /// The kinds of events.
  enum class kind {
    /// A session has begun, or a new connection has resumed it.
    connected,
    /// An attempt to connect has failed, or the server has refused to serve this client; another
    /// attempt follows. `text` has its number, counted from the last connection that stood. If
    /// servers go on to refuse for the same reason, there is one event.
    connect_failed,
    /// The connection is lost; another one follows.
    disconnected,
    /// The session is over, and with it all that was held.
    session_lost,
    /// A heartbeat was sent late, by `time`, because the client's executor was busy.
    late_heartbeat,
    /// The server grants nothing for `time`, because it is new or has lost its data.
    gated,
    /// The server has lost its data.
    data_lost,
    /// An object, whose name is in `text`, was held for longer than `max_hold`.
    held_too_long,
    /// A lock or permit, of the object whose name is in `text`, was taken away by
    /// `async_force_release`.
    forced_release,
    /// The server has no record of a lock or permit, of the object whose name is in `text`:
    /// somebody has deleted keys, or it was taken away while the client had no connection.
    record_lost,
    /// The server has refused a command. `text` has its words, behind the object that the command
    /// was about: `semaphore "uploads": others use 3 permits, this one 4`.
    server_error
  };

  kind what;
  /// The error that goes with `connect_failed`, `disconnected`, `session_lost` and `server_error`:
  /// Asio's, such as `eof` or `connection_refused`, or one of the library.
  boost::system::error_code error;
  std::string text;
  std::chrono::milliseconds time{0};
};

/// Returns the name of the kind, such as "connect_failed".
[[nodiscard]] constexpr std::string_view to_string(event::kind what) noexcept {
  switch (what) {
    case event::kind::connected: return "connected";
    case event::kind::connect_failed: return "connect_failed";
    case event::kind::disconnected: return "disconnected";
    case event::kind::session_lost: return "session_lost";
    case event::kind::late_heartbeat: return "late_heartbeat";
    case event::kind::gated: return "gated";
    case event::kind::data_lost: return "data_lost";
    case event::kind::held_too_long: return "held_too_long";
    case event::kind::forced_release: return "forced_release";
    case event::kind::record_lost: return "record_lost";
    case event::kind::server_error: return "server_error";
  }
  return "unknown event";
}

/// Writes the event as one line for a log, without its end: the kind, the text, the time and the
/// error, as far as there are any, such as
/// "connect_failed: attempt 3: Connection refused [system:111]".
/// Control characters in the text are written as question marks.
std::ostream& operator<<(std::ostream& out, event const& e);

}  // namespace asio_sync::redis

#endif
