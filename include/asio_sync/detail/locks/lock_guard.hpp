// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_LOCKS_LOCK_GUARD_HPP
#define ASIO_SYNC_DETAIL_LOCKS_LOCK_GUARD_HPP

#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/locks/core_guard.hpp>
#include <asio_sync/detail/operation/errors.hpp>
#include <asio_sync/detail/operation/wait_limit.hpp>

#include <boost/system/errc.hpp>

#include <chrono>
#include <mutex>

namespace asio_sync::detail {

// The names of a guard's class and of its mutex, for the texts of errors.
struct guard_names {
  char const* mutex;
  char const* guard;
};
template <auto... Mode>
inline constexpr guard_names names_of_guard{"async_mutex", "lock_type"};

// The public interface of the guards of mutexes: that of `std::unique_lock`, and of
// `std::shared_lock` where the mode is shared. Mutex is a friend, with `core()` and
// `hold_in_thread(limit)`, for the mode if there are several.
template <class Mutex, class Core, auto... Mode>
class lock_guard : private core_guard<Core, Mode...> {
  using base = core_guard<Core, Mode...>;

 public:
  /// The type of the mutex.
  using mutex_type = Mutex;

  /// An empty guard.
  [[nodiscard]] lock_guard() noexcept = default;

  /// Locks the mutex, as its `lock()`.
  [[nodiscard]] explicit lock_guard(mutex_type& mutex) : lock_guard(mutex, std::defer_lock) {
    static_cast<void>(lock_in_thread(no_limit(), names.guard));
  }

  /// Does not lock the mutex.
  [[nodiscard]] lock_guard(mutex_type& mutex, std::defer_lock_t) noexcept
      : base(&mutex.core(), false) {}

  /// Locks the mutex if it is free.
  [[nodiscard]] lock_guard(mutex_type& mutex, std::try_to_lock_t) noexcept
      : base(mutex.core(), std::try_to_lock) {}

  /// Takes over what a member of the mutex has locked; throws `operation_not_permitted` if no
  /// member has.
  [[nodiscard]] lock_guard(mutex_type& mutex, std::adopt_lock_t)
      : lock_guard(mutex, std::defer_lock) {
    if (!base::adopt()) nothing_to_adopt();
  }

  /// Locks the mutex if that takes no longer than the time.
  template <class Rep, class Period>
  [[nodiscard]] lock_guard(mutex_type& mutex, std::chrono::duration<Rep, Period> const& time)
      : lock_guard(mutex, std::defer_lock) {
    static_cast<void>(lock_in_thread(wait_limit::after(time), names.guard));
  }

  /// Locks the mutex if that can be done before the point in time.
  template <class Clock, class Duration>
  [[nodiscard]] lock_guard(mutex_type& mutex, std::chrono::time_point<Clock, Duration> const& time)
      : lock_guard(mutex, std::defer_lock) {
    static_cast<void>(lock_in_thread(wait_limit::at(time), names.guard));
  }

  /// Moves do not throw, and leave an empty guard.
  lock_guard(lock_guard&& other) noexcept = default;
  lock_guard& operator=(lock_guard&& other) noexcept = default;

  /// Unlocks the mutex if this owns it.
  ~lock_guard() = default;

  /// Blocks the calling thread until it has locked the mutex, as the mutex's `lock()`.
  void lock() { static_cast<void>(lock_in_thread(no_limit(), "lock")); }

  /// Locks the mutex if it is free, open, and nobody waits.
  [[nodiscard]] bool try_lock() {
    base::hold(base::try_acquire(to_lock("try_lock"), true));
    return owns_lock();
  }

  /// As `lock()`, but gives up after the time: false.
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(std::chrono::duration<Rep, Period> const& time) {
    return lock_in_thread(wait_limit::after(time), "try_lock_for");
  }

  /// As `lock()`, but gives up at the point in time: false.
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(std::chrono::time_point<Clock, Duration> const& time) {
    return lock_in_thread(wait_limit::at(time), "try_lock_until");
  }

  /// Unlocks the mutex, or passes it on to the oldest wait; see the mutex's `unlock()`.
  ASIO_SYNC_INLINE void unlock() {
    if (!base::unlock()) nothing_to_unlock();
  }

  /// Lets go of the mutex without unlocking it: that is up to the mutex's `unlock()` then, or to
  /// another guard with `std::adopt_lock`. Returns the mutex; null if it is dead.
  mutex_type* release() noexcept { return static_cast<mutex_type*>(base::detach()); }

  /// Exchanges what the two refer to.
  void swap(lock_guard& other) noexcept { base::swap(other); }
  friend void swap(lock_guard& a, lock_guard& b) noexcept { a.swap(b); }

  /// Whether this has locked the mutex, and that still lives.
  [[nodiscard]] bool owns_lock() const noexcept { return base::owns(); }
  explicit operator bool() const noexcept { return owns_lock(); }

  /// The mutex; null if there is none, or this owned it and it is dead. Out of date at once where
  /// another thread destroys the mutex.
  mutex_type* mutex() const noexcept { return static_cast<mutex_type*>(base::primitive()); }

 private:
  friend Mutex;
  friend guard_access;
  using base::base;

  static constexpr guard_names names = names_of_guard<Mode...>;

  // Throws an error of one of this guard's functions.
  [[noreturn]] ASIO_SYNC_COLD static void fail(error_code error, char const* function,
                                               char const* reason) {
    throw_error(error, {names.mutex, names.guard, function}, reason);
  }
  [[noreturn]] ASIO_SYNC_COLD static void nothing_to_unlock() {
    fail(make_error_code(boost::system::errc::operation_not_permitted), "unlock", "not locked");
  }
  [[noreturn]] ASIO_SYNC_COLD static void nothing_to_adopt() {
    fail(make_error_code(boost::system::errc::operation_not_permitted), names.guard,
         "no member has locked the mutex");
  }
  [[noreturn]] ASIO_SYNC_COLD void nothing_to_lock(char const* function) const {
    using namespace boost::system::errc;
    if (mutex()) fail(make_error_code(resource_deadlock_would_occur), function, "already locked");
    fail(make_error_code(operation_not_permitted), function, "no mutex, or it was destroyed");
  }

  // The core, if there is a living mutex which it does not hold; otherwise throws.
  Core& to_lock(char const* function) const {
    Core* const core = base::to_lock();
    if (!core) nothing_to_lock(function);
    return *core;
  }

  bool lock_in_thread(wait_limit limit, char const* function) {
    static_cast<void>(to_lock(function));
    wait_outcome const outcome = hold_in_thread(*mutex(), limit).outcome();
    if (outcome != wait_outcome::granted && outcome != wait_outcome::timed_out)
      fail(error_of(outcome), function, reason_of(outcome, ""));
    base::hold(outcome == wait_outcome::granted);
    return owns_lock();
  }

  static verdict hold_in_thread(Mutex& mutex, wait_limit limit) {
    if constexpr (sizeof...(Mode) == 0)
      return mutex.hold_in_thread(limit);
    else
      return mutex.template hold_in_thread<Mode...>(limit);
  }

  // For a member of the mutex; false if the time was up first.
  static bool lock_for_member(Mutex& mutex, wait_limit limit, char const* function) {
    Core& held = mutex.core();
    if (base::try_acquire(held, false)) return true;
    wait_outcome outcome = hold_in_thread(mutex, limit).outcome();
    if (outcome == wait_outcome::timed_out) return false;
    if (outcome == wait_outcome::granted) {
      if (held.count_holder(false, Mode...)) return true;
      held.unref();  // the mutex was destroyed in between
      outcome = wait_outcome::aborted;
    }
    throw_refusal(outcome, names.mutex, function);
  }
};

}  // namespace asio_sync::detail

#endif
