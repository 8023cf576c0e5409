// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_LOCKS_GUARDING_HPP
#define ASIO_SYNC_DETAIL_LOCKS_GUARDING_HPP

// The lockables that an operation can be guarded by, used through their public members alone.

#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/platform/threading.hpp>
#include <asio_sync/fwd.hpp>

#include <mutex>
#include <type_traits>
#include <utility>

namespace asio_sync::detail {

// What an operation is guarded by, kept by reference: what is held meanwhile, how that is taken if
// it is free, and how it is waited for. Whoever uses one has included its header.
template <class Lockable>
struct guarding;

// Of a lockable itself.
template <class Lockable>
class guarding_reference {
 public:
  using executor_type = typename Lockable::executor_type;

  explicit guarding_reference(Lockable& lockable) noexcept : lockable_(&lockable) {}

  executor_type get_executor() const noexcept { return lockable_->get_executor(); }

 protected:
  Lockable* lockable_;
};

// Locked as a whole, for writing where there are readers.
template <class Mutex>
struct exclusive_guarding : guarding_reference<Mutex> {
  using guarding_reference<Mutex>::guarding_reference;

  using held = typename Mutex::lock_type;
  held try_now() const { return held(*this->lockable_, std::try_to_lock); }
  template <class Handler>
  void wait(Handler&& handler) const {
    this->lockable_->async_lock(static_cast<Handler&&>(handler));
  }
  template <class Handler>
  void wait_until(steady_clock::time_point time, Handler&& handler) const {
    this->lockable_->async_lock_until(time, static_cast<Handler&&>(handler));
  }
};

// What keyed() returns.
template <class Mutex>
struct key_of {
  Mutex& mutex;
  typename Mutex::key_type key;
};

template <class Mutex>
struct guarding<key_of<Mutex>> : guarding_reference<Mutex> {
  explicit guarding(key_of<Mutex> const& of) : guarding_reference<Mutex>(of.mutex), key_(of.key) {}

  using held = typename Mutex::keyed_lock;
  held try_now() const { return this->lockable_->try_lock(key_); }
  template <class Handler>
  void wait(Handler&& handler) const {
    this->lockable_->async_lock(key_, static_cast<Handler&&>(handler));
  }
  template <class Handler>
  void wait_until(steady_clock::time_point time, Handler&& handler) const {
    this->lockable_->async_lock_until(key_, time, static_cast<Handler&&>(handler));
  }

 private:
  typename Mutex::key_type key_;
};

template <class Executor>
struct guarding<basic_async_mutex<Executor>> : exclusive_guarding<basic_async_mutex<Executor>> {
  using exclusive_guarding<basic_async_mutex<Executor>>::exclusive_guarding;
};

template <class Executor>
struct guarding<basic_async_shared_mutex<Executor>>
    : exclusive_guarding<basic_async_shared_mutex<Executor>> {
  using exclusive_guarding<basic_async_shared_mutex<Executor>>::exclusive_guarding;
};

// What shared() returns.
template <class Mutex>
struct shared_side {
  Mutex& mutex;
};

template <class Mutex>
struct guarding<shared_side<Mutex>> : guarding_reference<Mutex> {
  explicit guarding(shared_side<Mutex> side) noexcept : guarding_reference<Mutex>(side.mutex) {}

  using held = typename Mutex::shared_lock_type;
  held try_now() const { return held(*this->lockable_, std::try_to_lock); }
  template <class Handler>
  void wait(Handler&& handler) const {
    this->lockable_->async_lock_shared(static_cast<Handler&&>(handler));
  }
  template <class Handler>
  void wait_until(steady_clock::time_point time, Handler&& handler) const {
    this->lockable_->async_lock_shared_until(time, static_cast<Handler&&>(handler));
  }
};

// Acquires one permit.
template <class Semaphore>
struct permit_guarding : guarding_reference<Semaphore> {
  using guarding_reference<Semaphore>::guarding_reference;

  template <class Handler>
  void wait(Handler&& handler) const {
    this->lockable_->async_acquire(static_cast<Handler&&>(handler));
  }
  template <class Handler>
  void wait_until(steady_clock::time_point time, Handler&& handler) const {
    this->lockable_->async_acquire_until(time, static_cast<Handler&&>(handler));
  }
};

template <class Executor>
struct guarding<basic_async_semaphore<Executor>>
    : permit_guarding<basic_async_semaphore<Executor>> {
  using permit_guarding<basic_async_semaphore<Executor>>::permit_guarding;

  using held = decltype(std::declval<basic_async_semaphore<Executor>&>().try_acquire());
  held try_now() const {
    return this->lockable_->max() > 0 ? this->lockable_->try_acquire() : held();
  }
};

// What only refers to a lockable, and says how to lock it.
template <class Lockable>
inline constexpr bool is_reference = false;
template <class Mutex>
inline constexpr bool is_reference<key_of<Mutex>> = true;
template <class Mutex>
inline constexpr bool is_reference<shared_side<Mutex>> = true;

// An lvalue; or what refers to one.
template <class Lockable>
concept can_guard = requires(Lockable& lockable) {
  guarding<std::remove_cvref_t<Lockable>>(lockable);
  requires std::is_lvalue_reference_v<Lockable> || is_reference<Lockable>;
};

}  // namespace asio_sync::detail

#endif
