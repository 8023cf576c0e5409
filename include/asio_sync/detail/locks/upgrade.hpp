// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_LOCKS_UPGRADE_HPP
#define ASIO_SYNC_DETAIL_LOCKS_UPGRADE_HPP

// What is special about the waits of a shared mutex, above all those for which a guard lends its
// hold.

#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/core/shared_mutex_state.hpp>
#include <asio_sync/detail/core/wait_list.hpp>
#include <asio_sync/detail/locks/core_guard.hpp>
#include <asio_sync/detail/locks/lock_guard.hpp>
#include <asio_sync/detail/locks/shared_mutex_core.hpp>
#include <asio_sync/detail/operation/errors.hpp>

#include <boost/system/errc.hpp>

#include <utility>

namespace asio_sync::detail {

// What those who do not upgrade lend.
struct no_guard {};

// Of the operation, in the output of Asio's handler tracking.
constexpr char const* name_of(lock_mode mode) noexcept {
  switch (mode) {
    case lock_mode::exclusive: return "async_lock";
    case lock_mode::shared: return "async_lock_shared";
    case lock_mode::upgrade: break;
  }
  return "async_upgrade";
}

template <>
inline constexpr guard_names names_of_guard<lock_mode::exclusive>{"async_shared_mutex",
                                                                  "lock_type"};
template <>
inline constexpr guard_names names_of_guard<lock_mode::shared>{"async_shared_mutex",
                                                               "shared_lock_type"};

// The guard of a reader that waits to be a writer.
using reader_guard = core_guard<shared_mutex_core, lock_mode::shared>;

// Before the handler is called, or the coroutine goes on, the guard is told how the wait has
// ended.
template <class Result>
struct upgrade_result : Result {
  shared_mutex_core* core;
  reader_guard* from;

  template <class Handler, class Grant>
  void complete(Handler&& handler, error_code error, Grant&& grant) const {
    settle(error);
    Result::complete(std::forward<Handler>(handler), error, std::forward<Grant>(grant));
  }

  template <class Grant>
  auto value(error_code error, Grant&& grant) const {
    settle(error);
    return Result::value(error, std::forward<Grant>(grant));
  }

 private:
  // A guard that did not own has lent nothing; not to this wait.
  void settle(error_code error) const noexcept {
    if (error != boost::system::errc::operation_not_permitted) from->settle(*core, !error);
  }
};

// Locks the core in the mode, for a guard, if that can be had; makes the hold of one that upgrades
// a writer's. Otherwise says what that is refused for.
template <lock_mode Mode>
ASIO_SYNC_INLINE verdict try_lock(shared_mutex_core& core, no_guard) noexcept {
  return core.try_acquire(Mode, true) ? wait_outcome::granted : wait_outcome::undecided;
}
template <lock_mode>
verdict try_lock(shared_mutex_core& core, reader_guard* from) noexcept {
  return from->held() == &core ? core.try_upgrade() : wait_outcome::not_permitted;
}

}  // namespace asio_sync::detail

#endif
