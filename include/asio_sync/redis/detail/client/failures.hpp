// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_CLIENT_FAILURES_HPP
#define ASIO_SYNC_REDIS_DETAIL_CLIENT_FAILURES_HPP

#include <asio_sync/detail/operation/errors.hpp>
#include <asio_sync/error.hpp>
#include <asio_sync/redis/detail/hub/hub.hpp>
#include <asio_sync/redis/detail/session/answers.hpp>
#include <asio_sync/redis/detail/session/session_host.hpp>
#include <asio_sync/redis/error.hpp>

#include <boost/asio/error.hpp>
#include <boost/system/errc.hpp>
#include <boost/system/error_category.hpp>

#include <algorithm>
#include <string>

namespace asio_sync::redis::detail {

// The reasons of failed operations.
namespace reasons {

using shell::failure_reason;

// The messages of these errors say it all.
constexpr failure_reason make(asio_sync::error e) noexcept {
  return {static_cast<int>(e), shell::error_category_instance, ""};
}
constexpr failure_reason make(error e) noexcept {
  return {static_cast<int>(e), error_category_instance, ""};
}

inline constexpr auto lease_lost = make(asio_sync::error::lease_lost);
inline constexpr auto outcome_unknown = make(error::outcome_unknown);
inline constexpr auto kind_mismatch = make(asio_sync::error::kind_mismatch);
inline constexpr auto version_mismatch = make(asio_sync::error::version_mismatch);
inline constexpr auto configuration_mismatch = make(asio_sync::error::configuration_mismatch);
inline constexpr auto access_denied = make(error::access_denied);
inline constexpr auto unsupported_server = make(error::unsupported_server);
inline constexpr auto not_a_master = make(error::not_a_master);
inline constexpr auto evicting_policy = make(error::evicting_policy);
inline constexpr auto server_error = make(error::server_error);
inline constexpr auto protocol_error = make(error::protocol_error);
inline constexpr auto forked = make(error::forked);
inline constexpr auto unreachable = make(error::unreachable);
inline constexpr auto gated = make(error::gated);
inline failure_reason const client_ended{boost::asio::error::operation_aborted,
                                         boost::asio::error::get_system_category(),
                                         "the client was shut down or destroyed"};
inline failure_reason const no_memory{boost::system::errc::not_enough_memory,
                                      boost::system::generic_category(), ""};

}  // namespace reasons

// Returns the verdict of what has ended for this reason; `none` is a success.
inline verdict verdict_of(failure why) noexcept {
  using shell::failed_because;
  switch (why) {
    case failure::none: return wait_outcome::granted;
    case failure::aborted: return failed_because(reasons::client_ended);
    case failure::not_free:
    case failure::timed_out: return wait_outcome::timed_out;
    case failure::gated: return failed_because(reasons::gated);
    case failure::not_held: return wait_outcome::not_permitted;
    case failure::lease_lost: return failed_because(reasons::lease_lost);
    case failure::outcome_unknown: return failed_because(reasons::outcome_unknown);
    case failure::kind_mismatch: return failed_because(reasons::kind_mismatch);
    case failure::version_mismatch: return failed_because(reasons::version_mismatch);
    case failure::configuration_mismatch: return failed_because(reasons::configuration_mismatch);
    case failure::access_denied: return failed_because(reasons::access_denied);
    case failure::unsupported_server: return failed_because(reasons::unsupported_server);
    case failure::not_a_master: return failed_because(reasons::not_a_master);
    case failure::evicting_policy: return failed_because(reasons::evicting_policy);
    case failure::no_memory: return failed_because(reasons::no_memory);
    case failure::protocol_error: return failed_because(reasons::protocol_error);
    case failure::server_error: break;
  }
  return failed_because(reasons::server_error);
}

// Replaces the control characters of a text, which names and servers may have: a log keeps its
// lines, and an exception its words.
inline std::string printable(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return text;
}

// Returns the text of an event: the words of the server, behind the object that they are about,
// and without the code that the error of the event tells.
inline std::string words_of(session_event const& e) {
  if (e.about == nullptr) return std::string(e.text);
  auto text = e.text;
  if (e.error != failure::server_error)
    text.remove_prefix(std::min(text.find(' ') + 1, text.size()));
  return e.about->kind + " \"" + e.about->name + "\": " + std::string(text);
}

}  // namespace asio_sync::redis::detail

#endif
