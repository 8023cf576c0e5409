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
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

#include <initializer_list>
#include <string>

namespace asio_sync::detail {

using boost::system::error_code;

ASIO_SYNC_COLD inline error_code error_of(wait_outcome outcome) noexcept {
  switch (outcome) {
    case wait_outcome::aborted: return asio::error::operation_aborted;
    case wait_outcome::timed_out: return asio::error::timed_out;
    case wait_outcome::closed: return error::closed;
    case wait_outcome::broken: return error::broken_barrier;
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

// Makes the text of the reason and of the parts of the function's name: its classes, and its own.
[[noreturn]] ASIO_SYNC_COLD inline void throw_error(error_code error,
                                                    std::initializer_list<char const*> function,
                                                    char const* reason) {
  std::string text = "asio_sync";
  for (char const* const name : function) (text += "::") += name;
  throw boost::system::system_error(error, (text += ": ") += reason);
}

// Returns why a blocking function fails. `invalid`: what invalid_argument means there.
ASIO_SYNC_COLD inline char const* reason_of(wait_outcome outcome, char const* invalid) noexcept {
  switch (outcome) {
    case wait_outcome::aborted: return "cancelled, or the primitive was destroyed";
    case wait_outcome::closed: return "closed";
    case wait_outcome::broken:
      return "another participant has gone, or the completion function has thrown";
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
[[noreturn]] ASIO_SYNC_COLD inline void throw_outcome(wait_outcome outcome, char const* type,
                                                      char const* function,
                                                      char const* invalid = "") {
  throw_error(error_of(outcome), {type, function}, reason_of(outcome, invalid));
}

}  // namespace asio_sync::detail

#endif
