// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_ASYNC_LOCK_ALL_HPP
#define ASIO_SYNC_ASYNC_LOCK_ALL_HPP

#include <asio_sync/detail/core/config.hpp>  // first

#include <asio_sync/detail/operation/initiation.hpp>
#include <asio_sync/detail/operation/wait_limit.hpp>
#include <asio_sync/detail/platform/asio_compat.hpp>
#include <asio_sync/detail/several/lock_all.hpp>
#include <asio_sync/detail/several/several_mutexes.hpp>

#include <boost/system/error_code.hpp>

#include <chrono>
#include <utility>

namespace asio_sync {

namespace detail {

template <class Several, class Limit, class Token>
auto initiate_lock_all(Several&& several, Limit limit, Token&& token) {
  return initiate_wait(lock_all_operation<mutexes_in<Several>, Limit>(
                           mutexes_of(std::forward<Several>(several)), limit),
                       static_cast<Token&&>(token));
}

}  // namespace detail

/// Locks several mutexes, in whatever order the callers name them.
///
///     auto [from, to] = co_await asio_sync::async_lock_all(std::tie(a.mutex, b.mutex));
///
/// `several`: `std::tie` of the mutexes, whose types may differ; or a range of mutexes, of
/// pointers to mutexes, or of `std::reference_wrapper`. The range is not needed after this
/// function has returned.
///
/// A call that has to wait locks one mutex after the other, in the order of their addresses, and
/// holds the mutexes that it has locked. Each wait is served in turn, and callers of this function
/// never wait for each other in a circle. A caller that already holds one of the mutexes and waits
/// for another can close such a circle.
///
/// Completion signature: `void(error_code, std::tuple<lock_type...>)`, with the `lock_type` of
/// each mutex; for a range, `void(error_code, std::vector<lock_type>)`. The locks are in the order
/// of the mutexes; with an error nothing is locked.
/// Executor: the handler's, else that of the first mutex, else (an empty range) the system's;
/// never from inside this function, unless the handler has an immediate executor of its own. A
/// coroutine that awaits it with `deferred`, `use_awaitable`, or `as_tuple` or `redirect_error` of
/// these does not suspend if all mutexes are free.
/// Cancellation: terminal, partial and total alike. Until the handler is called, a cancellation
/// ends the wait, and nothing is locked.
/// Errors: the first error of a mutex's `async_lock`; `invalid_argument` for a mutex named twice.
/// Threads: any, at any time.
/// Lifetime: a mutex may be destroyed during the call (`operation_aborted`), but not by another
/// thread while this function, or the completion of a wait, locks it.
/// Exceptions: what allocating, the waits, or moving the handler throws; nothing is locked then.
template <detail::several_mutexes Several,
          detail::token_for<void(boost::system::error_code, detail::locks_of<Several>)> Token =
              detail::default_token<typename detail::mutexes_in<Several>::token_executor>>
auto async_lock_all(Several&& several, Token&& token = Token()) {
  return detail::initiate_lock_all(std::forward<Several>(several), detail::no_limit(),
                                   static_cast<Token&&>(token));
}

/// Locks several mutexes like `async_lock_all`, but gives up after `time`, counted from the
/// initiation, for all mutexes together.
///
/// Errors: also `asio::error::timed_out`; zero or negative time tries once.
template <detail::several_mutexes Several, class Rep, class Period,
          detail::token_for<void(boost::system::error_code, detail::locks_of<Several>)> Token =
              detail::default_token<typename detail::mutexes_in<Several>::token_executor>>
auto async_lock_all_for(Several&& several, std::chrono::duration<Rep, Period> const& time,
                        Token&& token = Token()) {
  return detail::initiate_lock_all(std::forward<Several>(several), detail::wait_limit::after(time),
                                   static_cast<Token&&>(token));
}

/// Locks several mutexes like `async_lock_all_for`, but gives up at a point in time. The time of
/// another clock than the steady clock is converted when this function is called.
template <detail::several_mutexes Several, class Clock, class Duration,
          detail::token_for<void(boost::system::error_code, detail::locks_of<Several>)> Token =
              detail::default_token<typename detail::mutexes_in<Several>::token_executor>>
auto async_lock_all_until(Several&& several, std::chrono::time_point<Clock, Duration> const& time,
                          Token&& token = Token()) {
  return detail::initiate_lock_all(std::forward<Several>(several), detail::wait_limit::at(time),
                                   static_cast<Token&&>(token));
}

}  // namespace asio_sync

#endif
