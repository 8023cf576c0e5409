// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_OPERATION_ERRORS_HPP
#define ASIO_SYNC_DETAIL_OPERATION_ERRORS_HPP

// The errors of outcomes, and the exceptions of synchronous functions.

#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/core/wait_list.hpp>
#include <asio_sync/detail/platform/asio_compat.hpp>
#include <asio_sync/error.hpp>

#include <boost/asio/error.hpp>
#include <boost/system/errc.hpp>
#include <boost/system/error_category.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

#include <cstdint>
#include <initializer_list>
#include <string>

namespace asio_sync::detail {

using boost::system::error_code;

// An error that no outcome names: a verdict that has failed carries the address of one. The text
// is for the exceptions of blocking functions, and empty if the message of the error says it. The
// alignment makes the address fit into the 60 bits of a verdict's value.
struct alignas(16) failure_reason {
  int value;
  boost::system::error_category const& category;
  char const* text;

  error_code error() const noexcept { return {value, category}; }
};

inline verdict failed_because(failure_reason const& reason) noexcept {
  return {wait_outcome::failed,
          reinterpret_cast<std::uintptr_t>(&reason) / alignof(failure_reason)};
}

// Returns null for a broken barrier.
inline failure_reason const* reason_in(verdict failed) noexcept {
  auto const address = static_cast<std::uintptr_t>(failed.value()) * alignof(failure_reason);
  return reinterpret_cast<failure_reason const*>(address);  // NOLINT(performance-no-int-to-ptr)
}

// Returns the error of a verdict that is not granted.
ASIO_SYNC_COLD inline error_code error_of(verdict refused) noexcept {
  switch (refused.outcome()) {
    case wait_outcome::aborted: return asio::error::operation_aborted;
    case wait_outcome::timed_out: return asio::error::timed_out;
    case wait_outcome::closed: return error::closed;
    case wait_outcome::failed: {
      failure_reason const* const reason = reason_in(refused);
      return reason ? reason->error() : make_error_code(error::broken_barrier);
    }
    case wait_outcome::invalid:
      return boost::system::errc::make_error_code(boost::system::errc::invalid_argument);
    case wait_outcome::deadlock:
      return boost::system::errc::make_error_code(
          boost::system::errc::resource_deadlock_would_occur);
    case wait_outcome::not_permitted:
      return boost::system::errc::make_error_code(boost::system::errc::operation_not_permitted);
    case wait_outcome::granted:
    case wait_outcome::undecided: break;
  }
  return {};
}

// Throw an error of a synchronous function. The text has the name of the function and the reason:
// "asio_sync::async_mutex::unlock: not locked". Without memory for it they throw std::bad_alloc.
[[noreturn]] ASIO_SYNC_COLD inline void throw_invalid(char const* text) {
  using namespace boost::system;
  throw system_error(errc::make_error_code(errc::invalid_argument), text);
}

[[noreturn]] ASIO_SYNC_COLD inline void throw_not_permitted(char const* text) {
  using namespace boost::system;
  throw system_error(errc::make_error_code(errc::operation_not_permitted), text);
}

[[noreturn]] ASIO_SYNC_COLD inline void throw_too_large(char const* text) {
  using namespace boost::system;
  throw system_error(errc::make_error_code(errc::value_too_large), text);
}

// Makes the text of the reason, unless that is empty, and of the parts of the function's name: its
// classes, and its own.
[[noreturn]] ASIO_SYNC_COLD inline void throw_error(error_code error,
                                                    std::initializer_list<char const*> function,
                                                    char const* reason) {
  std::string text = "asio_sync";
  for (char const* const name : function) (text += "::") += name;
  if (*reason != '\0') (text += ": ") += reason;
  throw boost::system::system_error(error, text);
}

// Returns why a blocking function fails. `invalid`: what invalid_argument means there.
ASIO_SYNC_COLD inline char const* reason_of(verdict refused, char const* invalid) noexcept {
  switch (refused.outcome()) {
    case wait_outcome::aborted: return "cancelled, or the primitive was destroyed";
    case wait_outcome::closed: return "closed";
    case wait_outcome::failed: {
      failure_reason const* const reason = reason_in(refused);
      return reason ? reason->text
                    : "another participant has gone, or the completion function has thrown";
    }
    case wait_outcome::deadlock: return "would block a thread that runs its own context";
    case wait_outcome::not_permitted: return "the lock does not own its mutex";
    case wait_outcome::invalid:
    case wait_outcome::granted:
    case wait_outcome::timed_out:
    case wait_outcome::undecided: break;
  }
  return invalid;
}

// Throws the error of a blocking function.
[[noreturn]] ASIO_SYNC_COLD inline void throw_refusal(verdict refused, char const* type,
                                                      char const* function,
                                                      char const* invalid = "") {
  throw_error(error_of(refused), {type, function}, reason_of(refused, invalid));
}

}  // namespace asio_sync::detail

#endif
