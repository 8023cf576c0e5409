// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_MONITOR_MONITOR_CONDITION_HPP
#define ASIO_SYNC_DETAIL_MONITOR_MONITOR_CONDITION_HPP

#include <asio_sync/detail/condition/condition_lock.hpp>
#include <asio_sync/detail/condition/condition_wait.hpp>
#include <asio_sync/detail/locks/guard_access.hpp>
#include <asio_sync/detail/monitor/monitor_entry.hpp>
#include <asio_sync/detail/monitor/strand_core.hpp>
#include <asio_sync/detail/operation/errors.hpp>
#include <asio_sync/detail/operation/initiation.hpp>
#include <asio_sync/detail/operation/wait_limit.hpp>
#include <asio_sync/detail/platform/asio_compat.hpp>
#include <asio_sync/fwd.hpp>

#include <boost/asio/strand.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>

namespace asio_sync::detail {

// A predicate of a monitor's object.
template <class Predicate, class T>
concept predicate_of =
    std::predicate<std::add_lvalue_reference_t<std::decay_t<Predicate>>, T const&>;

// The same where a token could stand. That is asked first: the body of a generic lambda is
// compiled for what it is asked for.
template <class Predicate, class T>
concept predicate_and_no_token_of =
    !token_for<Predicate, void(boost::system::error_code)> && predicate_of<Predicate, T>;

// The same for the machinery of conditions. The wait keeps the monitor's block.
template <class T, class Predicate>
struct predicate_on_object {
  bool operator()() { return std::invoke(predicate, *object); }
  void wait_begins() noexcept { object = inside->object(); }

  monitor_entry<T> const* inside;
  Predicate predicate;
  T const* object = nullptr;
};

// Entries wait for conditions of their monitor.
template <class T>
struct lock_access<monitor_entry<T>> : guard_access {
  static bool is_refused_by(condition_core const& core, monitor_entry<T> const& inside) noexcept {
    return !static_cast<condition_on_strand const&>(core).is_of(*core_of(inside));
  }
  static void forget_dead(monitor_entry<T>& inside) noexcept { static_cast<void>(take(inside)); }
};

// A wait of a monitor's condition: Operation, whose executor is a strand.
template <class Operation, class Core>
class wait_inside : public Operation {
 public:
  using Operation::Operation;
  explicit wait_inside(Operation const& operation) noexcept : Operation(operation) {}

  decltype(auto) common() const noexcept {
    if constexpr (Operation::has_common_part) {
      using part = decltype(Operation::common());
      return wait_inside<part, Core>(Operation::common());
    } else {
      return (*this);
    }
  }

  static constexpr bool executor_may_end = true;
  bool has_executor() const noexcept {
    return static_cast<Core const&>(this->core()).strand_is_here();
  }
};

// The condition of a monitor: what `basic_async_monitor<T>::condition` is.
template <class T, class Executor>
class monitor_condition {
  using core_type = entry_condition_core<Executor>;
  using strand_type = boost::asio::strand<Executor>;

 public:
  /// The type of the entries that wait.
  using entry = monitor_entry<T>;

  /// A condition of the monitor. It may be destroyed before the monitor or after it. Not to be
  /// made after the end of the context of the strand.
  ///
  /// Exceptions: what allocating throws.
  explicit monitor_condition(basic_async_monitor<T, Executor>& monitor)
      : core_(core_type::make(this, monitor.get_executor(), *monitor.core_)) {}

  monitor_condition(monitor_condition const&) = delete;
  monitor_condition& operator=(monitor_condition const&) = delete;

  /// Completes outstanding waits with `operation_aborted`, outside the monitor.
  ~monitor_condition() { core_->abandon(); }

  /// Has the oldest wait, if there is one, go on to enter the monitor again. Runs no code of it.
  void notify_one() noexcept { core_->notify_one(); }

  /// The same with all waits, in their order.
  void notify_all() noexcept { core_->notify_all(); }

  /// Completes every outstanding wait with `operation_aborted`, once it is inside again. Returns
  /// how many.
  std::size_t cancel() { return core_->refuse_all(wait_outcome::aborted); }

  /// Outstanding and later waits complete with `error::closed`, at once and outside.
  void close() noexcept { core_->close(); }

  /// Whether the condition was closed.
  bool is_closed() const noexcept { return core_->is_closed(); }

  /// The number of outstanding waits; not those that were notified.
  std::size_t waiters() const noexcept { return core_->waiters(); }

  /// Leaves the monitor, waits until it is notified, and enters again: see `async_wait` of
  /// `async_condition`, whose lock the entry is here. The entry is referred to until completion.
  ///
  /// Completion signature: `void(error_code)`.
  /// Errors: also `invalid_argument` if the entry is that of another monitor, and stays as it is.
  template <token_for<void(boost::system::error_code)> Token = default_token<Executor>>
  auto async_wait(entry& inside, Token&& token = Token()) {
    return initiate(inside, no_limit(), static_cast<Token&&>(token));
  }

  /// Waits, as often as it takes, until `predicate(object)` is true. It looks on the wait's
  /// executor, inside the monitor, and first of all. A generic lambda (`auto const&`) needs a
  /// token behind it, or a parameter of the object's type instead.
  template <predicate_of<T> Predicate, class Token>
  auto async_wait(entry& inside, Predicate&& predicate, Token&& token) {
    return initiate(inside, no_limit(), static_cast<Predicate&&>(predicate),
                    static_cast<Token&&>(token));
  }
  template <predicate_and_no_token_of<T> Predicate>
  auto async_wait(entry& inside, Predicate&& predicate) {
    return async_wait(inside, static_cast<Predicate&&>(predicate), default_token<Executor>());
  }

  /// As `async_wait`, but gives up after `time`: with `asio::error::timed_out`, once it is inside
  /// again. Zero or negative time does not leave the monitor.
  template <class Rep, class Period,
            token_for<void(boost::system::error_code)> Token = default_token<Executor>>
  auto async_wait_for(entry& inside, std::chrono::duration<Rep, Period> const& time,
                      Token&& token = Token()) {
    return initiate(inside, wait_limit::after(time), static_cast<Token&&>(token));
  }

  /// The same with a predicate: if it is true when the time is up, that is a success.
  template <class Rep, class Period, predicate_of<T> Predicate, class Token>
  auto async_wait_for(entry& inside, std::chrono::duration<Rep, Period> const& time,
                      Predicate&& predicate, Token&& token) {
    return initiate(inside, wait_limit::after(time), static_cast<Predicate&&>(predicate),
                    static_cast<Token&&>(token));
  }
  template <class Rep, class Period, predicate_and_no_token_of<T> Predicate>
  auto async_wait_for(entry& inside, std::chrono::duration<Rep, Period> const& time,
                      Predicate&& predicate) {
    return async_wait_for(inside, time, static_cast<Predicate&&>(predicate),
                          default_token<Executor>());
  }

  /// As `async_wait_for`, but gives up at a point in time.
  template <class Clock, class Duration,
            token_for<void(boost::system::error_code)> Token = default_token<Executor>>
  auto async_wait_until(entry& inside, std::chrono::time_point<Clock, Duration> const& time,
                        Token&& token = Token()) {
    return initiate(inside, wait_limit::at(time), static_cast<Token&&>(token));
  }

  /// The same with a predicate.
  template <class Clock, class Duration, predicate_of<T> Predicate, class Token>
  auto async_wait_until(entry& inside, std::chrono::time_point<Clock, Duration> const& time,
                        Predicate&& predicate, Token&& token) {
    return initiate(inside, wait_limit::at(time), static_cast<Predicate&&>(predicate),
                    static_cast<Token&&>(token));
  }
  template <class Clock, class Duration, predicate_and_no_token_of<T> Predicate>
  auto async_wait_until(entry& inside, std::chrono::time_point<Clock, Duration> const& time,
                        Predicate&& predicate) {
    return async_wait_until(inside, time, static_cast<Predicate&&>(predicate),
                            default_token<Executor>());
  }

 private:
  template <class Limit, class Token>
  auto initiate(entry& inside, Limit limit, Token&& token) {
    using operation = wait_inside<condition_operation<strand_type, entry, Limit>, core_type>;
    return initiate_wait(operation(core_->strand(), *core_, inside, limit, false),
                         static_cast<Token&&>(token));
  }

  template <class Limit, class Predicate, class Token>
  auto initiate(entry& inside, Limit limit, Predicate&& predicate, Token&& token) {
    using looking = predicate_on_object<T, std::decay_t<Predicate>>;
    using operation =
        wait_inside<looking_operation<strand_type, entry, Limit, looking>, core_type>;
    return initiate_wait(operation(core_->strand(), *core_, inside, limit,
                                   looking{&inside, static_cast<Predicate&&>(predicate)}),
                         static_cast<Token&&>(token));
  }

  core_type* const core_;
};

}  // namespace asio_sync::detail

#endif
