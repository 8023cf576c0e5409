// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_ERROR_HPP
#define ASIO_SYNC_ERROR_HPP

#include <asio_sync/detail/core/config.hpp>

#include <boost/system/error_category.hpp>
#include <boost/system/error_code.hpp>

#include <cstddef>
#include <string>
#include <type_traits>

namespace asio_sync {

/// The errors that neither Asio nor the standard has a name for.
///
/// What they name keeps its name: `boost::asio::error::operation_aborted` (cancelled, or the
/// primitive was destroyed), `boost::asio::error::timed_out`, and of `boost::system::errc`
/// `operation_not_permitted`, `invalid_argument`, `value_too_large` and
/// `resource_deadlock_would_occur`.
///
/// A synchronous function throws them as `boost::system::system_error`. The text of the exception
/// begins with the name of the function and the reason, as in
/// "asio_sync::async_mutex::unlock: not locked by a member: Operation not permitted [generic:1]".
/// Programs compare `code()`; the text is for people, and may change. If there is no memory for
/// the text, the function throws `std::bad_alloc` instead, and has otherwise done the same.
enum class error {
  /// The primitive was closed: it hands out nothing any more.
  closed = 1,
  /// The phase of the barrier was broken by another participant, or by its completion function.
  broken_barrier,
  /// The time for which a distributed primitive was held is over, and so is the ownership.
  lease_lost,
  /// The name of a distributed primitive belongs to a primitive of another kind.
  kind_mismatch,
  /// The state of a distributed primitive was written by another version of the library.
  version_mismatch,
  /// Others use the name of a distributed primitive with another capacity, or the server with
  /// another longest life of a session.
  configuration_mismatch,
};

/// The category of `error`; its name is "asio_sync".
[[nodiscard]] boost::system::error_category const& error_category() noexcept;

/// Makes the error code of `e`; found by the conversion of `error` to `error_code`.
[[nodiscard]] inline boost::system::error_code make_error_code(error e) noexcept {
  return {static_cast<int>(e), error_category()};
}

namespace detail {

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"  // the base class is Boost's
#endif

// The identity makes the copies in several shared libraries compare equal. Never destroyed (its
// destructor is trivial) and initialised at compile time: usable before main and after it.
class error_category final : public boost::system::error_category {
 public:
  constexpr error_category() noexcept : boost::system::error_category(0xa3f1'5c9e'7b02'd846) {}

  char const* name() const noexcept override { return "asio_sync"; }

  std::string message(int value) const override { return text(value); }

  char const* message(int value, char*, std::size_t) const noexcept override {
    return text(value);
  }

 private:
  static constexpr char const* text(int value) noexcept {
    switch (static_cast<error>(value)) {
      case error::closed: return "the primitive is closed";
      case error::broken_barrier: return "the phase of the barrier was broken";
      case error::lease_lost: return "the lease has expired or was taken away";
      case error::kind_mismatch: return "the name belongs to a primitive of another kind";
      case error::version_mismatch: return "the state was written by another version";
      case error::configuration_mismatch: return "others use another capacity or max_session_ttl";
    }
    return "unknown asio_sync error";
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

}  // namespace asio_sync

template <>
struct boost::system::is_error_code_enum<asio_sync::error> : std::true_type {};

#endif
