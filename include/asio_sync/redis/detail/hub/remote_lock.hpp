// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_HUB_REMOTE_LOCK_HPP
#define ASIO_SYNC_REDIS_DETAIL_HUB_REMOTE_LOCK_HPP

#include <asio_sync/detail/operation/errors.hpp>
#include <asio_sync/detail/operation/primitive.hpp>
#include <asio_sync/detail/platform/asio_compat.hpp>
#include <asio_sync/redis/detail/hub/hold.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/system/errc.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <cstdint>
#include <utility>

namespace asio_sync::redis::detail {

/// The guard of a mutex at a server: unlocks it when it is destroyed. Names has the names of the
/// mutex and the guard, for texts.
///
/// Threads: a guard is used by one thread at a time, which need not be always the same.
template <class Mutex, class Names>
class remote_lock {
 public:
  /// The type of the mutex.
  using mutex_type = Mutex;

  /// An empty guard.
  [[nodiscard]] remote_lock() noexcept = default;

  /// Moves do not throw, and leave an empty guard.
  remote_lock(remote_lock&&) noexcept = default;
  remote_lock& operator=(remote_lock&&) noexcept = default;

  /// Unlocks like `unlock()` if there is something to unlock.
  ~remote_lock() = default;

  /// True if this owns the mutex. It is false before anybody else can own it: if the lock was
  /// lost, and also if the session may be over and the client does not know yet.
  [[nodiscard]] bool owns_lock() const noexcept { return hold_.owns(); }

  /// Returns `owns_lock()`.
  explicit operator bool() const noexcept { return owns_lock(); }

  /// Unlocks the mutex: tells the server, and does not wait for its answer. Leaves an empty guard.
  /// Says nothing of a loss; see `async_unlock`.
  ///
  /// Errors: throws `boost::system::system_error` with `operation_not_permitted` if the guard is
  /// empty.
  void unlock() {
    if (!hold_)
      shell::throw_error(make_error_code(boost::system::errc::operation_not_permitted),
                         {Names::type, Names::guard, "unlock"}, "not locked");
    hold_.give_back();
  }

  /// Unlocks the mutex, and waits for the server's answer. The guard is empty from now on; if the
  /// operation is destroyed without having begun, the mutex is unlocked.
  ///
  /// Completion signature: `void(error_code)`.
  /// Executor: the handler's, else that of the mutex; never from inside this function.
  /// Cancellation: terminal, partial and total alike; the mutex is unlocked all the same.
  /// Errors: `error::lease_lost` if the lock was lost before the server has answered, also by
  /// `stop()`; `operation_not_permitted` if the guard is empty; `redis::error::server_error` (a
  /// key of another type under the name keeps the mutex locked until that key has gone, or the
  /// session ends); `redis::error::forked`; `operation_aborted` (cancelled).
  /// Threads: any; not at the same time as another member of the guard.
  /// Exceptions: what allocating, moving the handler, connecting its slot or posting to an
  /// executor of your own throws; nothing has changed then.
  template <shell::token_for<void(boost::system::error_code)> Token =
                shell::default_token<boost::asio::any_io_executor>>
  auto async_unlock(Token&& token = Token()) {
    return hold_.async_give_back(Names::type, "async_unlock", static_cast<Token&&>(token));
  }

  /// Returns the fencing number of the lock, which is greater than that of every earlier lock of
  /// this name; 0 if the guard does not own.
  std::uint64_t fence() const noexcept { return hold_.fence(); }

  /// Returns the time until which the lock is owned at least, if the session is not extended
  /// meanwhile, as it is by every heartbeat; `min()` if the guard does not own.
  std::chrono::steady_clock::time_point expires_at() const noexcept { return hold_.expires_at(); }

  /// Waits until the lock is lost: the session is over, or about to be, or the lock was taken
  /// away. Nobody else can own the mutex before this has completed, unless the executor is late.
  ///
  /// Completion signature: `void(error_code)`.
  /// Executor: the handler's, else that of the mutex; never from inside this function.
  /// Cancellation: terminal, partial and total alike.
  /// Errors: none if the lock was lost; `operation_aborted` if it was unlocked before, or the wait
  /// cancelled; `operation_not_permitted` if the guard is empty.
  /// Threads: any; not at the same time as another member of the guard. The guard may be moved,
  /// unlocked and destroyed while the wait is outstanding.
  /// Exceptions: those of `async_unlock`.
  template <shell::token_for<void(boost::system::error_code)> Token =
                shell::default_token<boost::asio::any_io_executor>>
  auto async_wait_lost(Token&& token = Token()) {
    return hold_.async_wait_lost(Names::type, static_cast<Token&&>(token));
  }

  /// Returns the mutex; null if the guard is empty, or the mutex was destroyed. Out of date at
  /// once if another thread destroys the mutex.
  mutex_type* mutex() const noexcept { return static_cast<mutex_type*>(hold_.primitive()); }

  /// Exchanges what the two refer to.
  void swap(remote_lock& other) noexcept { hold_.swap(other.hold_); }
  friend void swap(remote_lock& a, remote_lock& b) noexcept { a.swap(b); }

  friend hold& hold_of(remote_lock& of) noexcept { return of.hold_; }

 protected:
  explicit remote_lock(hold&& h) noexcept : hold_(std::move(h)) {}

 private:
  hold hold_;
};

}  // namespace asio_sync::redis::detail

#endif
