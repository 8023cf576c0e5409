// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_ERROR_HPP
#define ASIO_SYNC_REDIS_ERROR_HPP

#include <asio_sync/detail/core/config.hpp>

#include <asio_sync/error.hpp>

#include <boost/system/errc.hpp>
#include <boost/system/error_category.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/error_condition.hpp>

#include <cstddef>
#include <string>
#include <type_traits>

namespace asio_sync::redis {

/// The errors of clients, besides `asio_sync::error`.
///
/// `access_denied`, `unsupported_server`, `evicting_policy` and `server_error` end the run of a
/// client that has had no session in it. Later a server that refuses the client is an outage: an
/// event has the error, and the client connects again. `access_denied` and `server_error` may also
/// end an operation on a single object: the user has no right to its keys, or a key of another
/// type has its name. Only events have `not_a_master` and `protocol_error`.
enum class error {
  /// The server has refused the password, or the user has no permission for a command or a key.
  access_denied = 1,
  /// The server is older than Redis 7.0, is part of a cluster, or lacks a command.
  unsupported_server,
  /// The server is a replica: the client looks its name up again, and connects again.
  not_a_master,
  /// The server removes keys when its memory is full: its `maxmemory-policy` is not `noeviction`.
  evicting_policy,
  /// The server has answered with an error that the library does not know.
  server_error,
  /// The server does not keep to the protocol: the client has closed the connection, and makes
  /// another one after a pause of 50 ms to 2 s.
  protocol_error,
  /// The session or the entry was lost before the server has answered: the operation may have
  /// happened.
  outcome_unknown,
  /// The process is a child that has been forked after the client was made.
  forked,
  /// The time of an acquisition is up, and the client has had no session since the wait began.
  /// Equal
  /// to the condition `errc::timed_out`, but not to `boost::asio::error::timed_out`.
  unreachable,
  /// A try has found the object free, but the server grants nothing yet, because it is new or has
  /// lost its data. Equal to the condition `errc::resource_unavailable_try_again`.
  gated,
};

/// The category of `redis::error`; its name is "asio_sync.redis".
[[nodiscard]] boost::system::error_category const& error_category() noexcept;

/// Makes the error code of `e`; found by the conversion of `redis::error` to `error_code`.
[[nodiscard]] inline boost::system::error_code make_error_code(error e) noexcept {
  return {static_cast<int>(e), error_category()};
}

namespace detail {

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"  // the base class is Boost's
#endif

// Like asio_sync::detail::error_category.
class error_category final : public boost::system::error_category {
 public:
  constexpr error_category() noexcept : boost::system::error_category(0x5b1e'70d3'92c8'4fa1) {}

  char const* name() const noexcept override { return "asio_sync.redis"; }

  std::string message(int value) const override { return text(value); }

  char const* message(int value, char*, std::size_t) const noexcept override {
    return text(value);
  }

  boost::system::error_condition default_error_condition(int value) const noexcept override {
    namespace errc = boost::system::errc;
    switch (static_cast<error>(value)) {
      case error::unreachable: return make_error_condition(errc::timed_out);
      case error::gated: return make_error_condition(errc::resource_unavailable_try_again);
      default: return {value, *this};
    }
  }

 private:
  static constexpr char const* text(int value) noexcept {
    switch (static_cast<error>(value)) {
      case error::access_denied: return "the server denies access";
      case error::unsupported_server: return "the server is not a standalone Redis 7 or later";
      case error::not_a_master: return "the server is a replica";
      case error::evicting_policy: return "the server may evict keys";
      case error::server_error: return "the server has answered with an error";
      case error::protocol_error: return "the server does not keep to the protocol";
      case error::outcome_unknown: return "the operation may have happened";
      case error::forked: return "the client belongs to the parent of this process";
      case error::unreachable: return "the client has had no session at the server";
      case error::gated: return "the server is new or has lost its data, and grants nothing yet";
    }
    return "unknown asio_sync.redis error";
  }
};

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

inline constinit error_category const error_category_instance;

}  // namespace detail

inline boost::system::error_category const& error_category() noexcept {
  return detail::error_category_instance;
}

}  // namespace asio_sync::redis

template <>
struct boost::system::is_error_code_enum<asio_sync::redis::error> : std::true_type {};

#endif
