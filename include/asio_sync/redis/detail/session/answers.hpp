// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_SESSION_ANSWERS_HPP
#define ASIO_SYNC_REDIS_DETAIL_SESSION_ANSWERS_HPP

#include <charconv>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <variant>

// The answers of the scripts and the pushes, as the session takes them. doc/redis-protocol.md has
// their tables. All texts are the caller's, and have to live during the call alone.

namespace asio_sync::redis {

struct inspection;

namespace detail {

// Says why an operation, or the run of a client, has ended.
enum class failure : std::uint8_t {
  none,
  not_free,  // a try has found the object held
  gated,     // a try has met the gate
  not_held,  // nobody has held with the fence
  aborted,   // the client has been stopped or shut down
  timed_out,
  lease_lost,
  outcome_unknown,  // the session was lost before the answer
  kind_mismatch,
  version_mismatch,
  configuration_mismatch,  // the capacity, or the longest time to live
  access_denied,
  unsupported_server,
  not_a_master,
  evicting_policy,
  no_memory,
  server_error,
  protocol_error  // the server does not keep to the protocol
};

// The place of a token at the server.
enum class standing : std::uint8_t {
  unknown,
  waits,
  holds,
  parked  // it waits on a condition
};

// The answer of `acquire`, `cond_wait` and `unwait`, and a part of the answer of `beat`.
struct token_state {
  standing where = standing::unknown;
  std::uint64_t number = 0;                       // the fence of a holder, the ticket of a waiter
  std::optional<std::chrono::milliseconds> hint;  // when a further beat or try is worth while
  std::optional<std::string_view> variables;      // of a monitor that is granted; not in beats
};

// The answer of `open`.
struct opened {
  bool resumed = false;
  std::string_view epoch;
  std::optional<std::chrono::milliseconds> gate;  // the time until it opens
};

// An error. Its first word is its code, but servers have none for a right that a script lacks.
struct refusal {
  std::string_view text;

  std::string_view code() const noexcept {
    if (text.starts_with("ERR The user executing the script") ||
        text.starts_with("ERR ACL failure in script"))
      return "NOPERM";
    return text.substr(0, text.find(' '));
  }

  // Returns the reason of an error that has no code of its own.
  failure reason() const noexcept {
    return text.starts_with("ERR unknown command") ? failure::unsupported_server
                                                   : failure::server_error;
  }
};

// An answer that has not the form of any other.
struct malformed {};

// The number is the answer of `release`, `exit`, `forget`, `shutdown`, `force` and `signal`, and
// an inspection that of `inspect`; it may be moved from.
using answer = std::variant<malformed, refusal, opened, token_state, std::span<token_state const>,
                            std::int64_t, inspection*>;

// The consequence of an error.
enum class reaction : std::uint8_t {
  fail_operation,   // its operation fails
  ask_later,        // the command is sent again after a while
  reconnect,        // the connection is closed
  lose_session,     // the session has ended at the server
  change_identity,  // somebody else speaks for the session
  refuse_client,  // the connection is closed; before the first session the run of the client ends
  fail_client     // the run of the client ends
};

struct consequence {
  reaction what;
  failure why = failure::none;
};

inline consequence consequence_of(std::string_view code) noexcept {
  struct row {
    std::string_view code;
    consequence follows;
  };
  static constexpr row table[] = {
      {"NOSESSION", {reaction::lose_session}},
      {"EPOCH", {reaction::lose_session}},
      {"STALE", {reaction::change_identity}},
      {"KIND", {reaction::fail_operation, failure::kind_mismatch}},
      {"VERSION", {reaction::fail_operation, failure::version_mismatch}},
      {"LOST", {reaction::fail_operation, failure::lease_lost}},
      {"CAPACITY", {reaction::fail_operation, failure::configuration_mismatch}},
      {"OOM", {reaction::ask_later}},
      {"NOSCRIPT", {reaction::reconnect, failure::server_error}},
      {"LOADING", {reaction::reconnect, failure::server_error}},
      {"MASTERDOWN", {reaction::reconnect, failure::not_a_master}},
      {"BUSY", {reaction::reconnect, failure::server_error}},
      {"MISCONF", {reaction::reconnect, failure::server_error}},
      {"NOREPLICAS", {reaction::reconnect, failure::server_error}},
      {"READONLY", {reaction::reconnect, failure::not_a_master}},
      {"NOPERM", {reaction::fail_operation, failure::access_denied}},
      {"NOAUTH", {reaction::refuse_client, failure::access_denied}},
      {"WRONGPASS", {reaction::refuse_client, failure::access_denied}},
      {"DENIED", {reaction::refuse_client, failure::access_denied}},
      {"MAXTTL", {reaction::fail_client, failure::configuration_mismatch}},
  };
  for (row const& r : table)
    if (r.code == code) return r.follows;
  return {reaction::fail_operation, failure::server_error};
}

// A push: the server has granted what a token waited for, or has taken away what it held.
struct push {
  bool is_grant = false;
  std::string_view sid;
  std::uint64_t counter = 0;
  std::uint64_t fence = 0;
  std::string_view epoch;
  std::optional<std::string_view> variables;  // of a monitor that is granted
};

// Returns the grant that "G <sid>:<counter> <fence> <epoch>" tells, or the loss if L begins it.
// The variables of a monitor follow behind a space.
inline std::optional<push> parse_push(std::string_view text) noexcept {
  auto const cut = [&text](char at) {
    std::string_view const word = text.substr(0, text.find(at));
    text.remove_prefix(word.size() == text.size() ? word.size() : word.size() + 1);
    return word;
  };
  auto const read = [](std::string_view digits, std::uint64_t& number) {
    auto const [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return error == std::errc() && end == digits.data() + digits.size();
  };
  std::string_view const what = cut(' ');
  push p;
  p.is_grant = what == "G";
  p.sid = cut(':');
  bool const valid = read(cut(' '), p.counter) && read(cut(' '), p.fence);
  bool const has_variables = text.find(' ') != std::string_view::npos;
  p.epoch = cut(' ');
  if (has_variables) p.variables = text;
  if ((!p.is_grant && what != "L") || !valid || p.epoch.empty()) return std::nullopt;
  return p;
}

}  // namespace detail
}  // namespace asio_sync::redis

#endif
