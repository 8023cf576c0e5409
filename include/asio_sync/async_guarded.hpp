// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_ASYNC_GUARDED_HPP
#define ASIO_SYNC_ASYNC_GUARDED_HPP

#include <asio_sync/detail/core/config.hpp>  // first

#include <asio_sync/detail/locks/guarded.hpp>
#include <asio_sync/detail/operation/wait_limit.hpp>
#include <asio_sync/fwd.hpp>

#include <chrono>
#include <type_traits>
#include <utility>

namespace asio_sync {

/// The side of a shared mutex that its readers see: what `async_guarded` locks for reading.
template <class Executor>
[[nodiscard]] detail::shared_side<basic_async_shared_mutex<Executor>> shared(
    basic_async_shared_mutex<Executor>& mutex) noexcept {
  return {mutex};
}

/// One key of a keyed mutex: what `async_guarded` locks. Holds the key, and refers to the mutex.
///
/// Exceptions: what copying or moving the key throws.
template <class Key, class Executor, class Hash, class Equal>
[[nodiscard]] auto keyed(basic_async_keyed_mutex<Key, Executor, Hash, Equal>& mutex,
                         std::type_identity_t<Key> key) {
  return detail::key_of<basic_async_keyed_mutex<Key, Executor, Hash, Equal>>{mutex,
                                                                             std::move(key)};
}

/// Runs an operation while it holds a mutex, a shared mutex (for writing; `shared(mutex)`: for
/// reading), a key of a keyed mutex (`keyed(mutex, key)`), or one permit of a semaphore, also
/// those at a Redis server: acquires, runs the operation, releases, and completes with what the
/// operation has completed with.
///
/// Use it where one operation has to be guarded and there is no coroutine to hold the guard:
///
///     async_guarded(writing, asio::async_write(socket, buffer, asio::deferred), handler);
///
/// `operation`: a deferred operation, or a function object that takes a completion token,
/// initiates the operation with it, and returns what that returns. It is copied or moved, and
/// called once, as an rvalue, when the guard is held; it is not called if the guard cannot be
/// acquired. Its completion begins with an `error_code`; the other values can be made without
/// arguments.
///
/// Completion signature: that of the operation; if the guard cannot be acquired, the error of
/// `async_lock` or `async_acquire`, and for the rest what is made without arguments.
/// Executor: the handler's, else `lockable.get_executor()`; the handler is never called from
/// inside this function, if the operation keeps to that. The guard is acquired inside this
/// function if it is free. The operation begins on the handler's executor: inside this function if
/// this thread is running that executor, and the executor can tell; otherwise the guard waits for
/// its turn there. A future's executor is no place to run: the operation begins on the lockable's.
/// Cancellation: of all kinds. Until the operation begins, a cancellation ends the wait, and gives
/// back a guard that is acquired already; later it is passed on to the operation.
/// Loss: a lock or a permit at a Redis server may be lost. An operation that runs is then
/// cancelled (terminal), one that has not begun does not begin; the handler gets
/// `error::lease_lost` when it has ended. The operation begins and completes on a strand over the
/// executor, and never inside this function; it has to be destroyed before the executor's context.
/// Threads: any, at any time.
/// Lifetime: the operation is kept until it has completed, and may own what it works on. Then it
/// is destroyed, the guard is released, and the handler is called, in this order; if the operation
/// completes before its initiation has returned, it is destroyed when that returns. A handler that
/// is destroyed without having been called is destroyed last, too. `lockable` may be destroyed
/// before the operation: waits for it are aborted, and an operation that has begun goes on.
/// Exceptions: what copying or moving the arguments, allocating, connecting the slot, the wait, or
/// the operation's initiation throws; the guard is released then.
template <class Lockable, class Operation,
          class Token = typename detail::guarded_token<Lockable>::type>
auto async_guarded(Lockable&& lockable, Operation&& operation, Token&& token = Token()) {
  return detail::initiate_guarded<Lockable>(static_cast<Lockable&&>(lockable),
                                            static_cast<Operation&&>(operation),
                                            detail::no_limit(), static_cast<Token&&>(token));
}

/// As `async_guarded`, but gives up after `time`, counted from the initiation (with a deferred
/// operation, from its launch), if the guard cannot be acquired in it.
///
/// The time limits the acquisition alone. An operation that has begun may take as long as it does;
/// a guard that was acquired in time, and whose turn on the handler's executor comes later, is
/// kept.
///
/// Errors: also `asio::error::timed_out`: the operation does not begin; zero or negative time
/// tries once.
template <class Lockable, class Operation, class Rep, class Period,
          class Token = typename detail::guarded_token<Lockable>::type>
auto async_guarded_for(Lockable&& lockable, Operation&& operation,
                       std::chrono::duration<Rep, Period> const& time, Token&& token = Token()) {
  return detail::initiate_guarded<Lockable>(
      static_cast<Lockable&&>(lockable), static_cast<Operation&&>(operation),
      detail::wait_limit::after(time), static_cast<Token&&>(token));
}

/// As `async_guarded_for`, but gives up at a point in time. One of another clock than the steady
/// one is converted when this function is called.
template <class Lockable, class Operation, class Clock, class Duration,
          class Token = typename detail::guarded_token<Lockable>::type>
auto async_guarded_until(Lockable&& lockable, Operation&& operation,
                         std::chrono::time_point<Clock, Duration> const& time,
                         Token&& token = Token()) {
  return detail::initiate_guarded<Lockable>(
      static_cast<Lockable&&>(lockable), static_cast<Operation&&>(operation),
      detail::wait_limit::at(time), static_cast<Token&&>(token));
}

}  // namespace asio_sync

#endif
