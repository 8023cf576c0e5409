// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_ASYNC_GUARDED_HPP
#define ASIO_SYNC_ASYNC_GUARDED_HPP

#include <asio_sync/detail/core/config.hpp>  // first

#include <asio_sync/detail/operation/carrying_handler.hpp>
#include <asio_sync/detail/platform/asio_compat.hpp>
#include <asio_sync/fwd.hpp>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/compose.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/prepend.hpp>
#include <boost/system/error_code.hpp>

#include <mutex>
#include <type_traits>
#include <utility>

namespace asio_sync {

namespace detail {

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
};

template <class Executor>
struct guarding<basic_async_semaphore<Executor>>
    : guarding_reference<basic_async_semaphore<Executor>> {
  using guarding_reference<basic_async_semaphore<Executor>>::guarding_reference;

  using held = decltype(std::declval<basic_async_semaphore<Executor>&>().try_acquire());
  held try_now() const {
    return this->lockable_->max() > 0 ? this->lockable_->try_acquire() : held();
  }
  template <class Handler>
  void wait(Handler&& handler) const {
    this->lockable_->async_acquire(static_cast<Handler&&>(handler));
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

// Signature: of the operation, which begins with an error.
template <class Guarding, class Operation, class Signature>
class guarded_operation {
  static_assert(!std::is_same_v<Signature, Signature>,
                "what a guarded operation completes with has to begin with an error_code");
};

template <class Guarding, class Operation, class... Results>
class guarded_operation<Guarding, Operation, void(boost::system::error_code, Results...)> {
  static_assert((std::is_default_constructible_v<Results> && ...),
                "what a guarded operation completes with, besides the error, has to be made "
                "without arguments where the guard cannot be acquired");

  using held = typename Guarding::held;
  using error_code = boost::system::error_code;
  struct acquired {};

 public:
  template <class Source>
  guarded_operation(Guarding const& by, Source&& operation)
      : by_(by), operation_(static_cast<Source&&>(operation)) {}

  template <class Self>
  void operator()(Self& self) {
    self.reset_cancellation_state(asio::enable_total_cancellation());
    carried_by(self) = by_.try_now();
    if (carried_by(self)) return run(self);
    Guarding const by(std::move(by_));  // this moves along with the handler
    by.wait(asio::prepend(std::move(self), acquired()));
  }

  template <class Self>
  void operator()(Self& self, acquired, error_code error, held now) {
    // After the grant a cancellation comes too late for the wait; the operation has not begun.
    if (!error && self.cancelled() != asio::cancellation_type::none) {
      error = asio::error::operation_aborted;
      now = held();
    }
    if (error) return self.complete(error, Results()...);
    carried_by(self) = std::move(now);
    run(self);
  }

  template <class Self>
  void operator()(Self& self, error_code error, Results... results) {
    carried_by(self) = held();
    self.complete(error, static_cast<Results&&>(results)...);
  }

 private:
  template <class Self>
  void run(Self& self) {
    Operation operation(std::move(operation_));  // this moves along with the handler
    std::move(operation)(std::move(self));
  }

  Guarding by_;
  Operation operation_;
};

// Binds the handler to its executor: what is composed holds no work of the lockable's context,
// which may end first. The wait, and then the operation, keep the handler's running.
template <class Guarding, class Signature>
class guarded_initiation {
 public:
  using executor_type = typename Guarding::executor_type;

  explicit guarded_initiation(Guarding const& by) : by_(by) {}

  executor_type get_executor() const noexcept { return by_.get_executor(); }

  template <class Handler, class Operation>
  void operator()(Handler&& handler, Operation&& operation) const {
    using operation_type = std::decay_t<Operation>;
    auto bound =
        carrying(asio::bind_executor(asio::get_associated_executor(handler, get_executor()),
                                     static_cast<Handler&&>(handler)),
                 typename Guarding::held());
    asio::async_compose<decltype(bound), Signature>(
        guarded_operation<Guarding, operation_type, Signature>(
            by_, static_cast<Operation&&>(operation)),
        bound);
  }

 private:
  Guarding by_;
};

}  // namespace detail

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
/// reading), a key of a keyed mutex (`keyed(mutex, key)`), or one permit of a semaphore: acquires,
/// runs the operation, releases, and completes with what the operation has completed with.
///
/// Use it where one operation has to be guarded and there is no coroutine to hold the guard:
///
///     async_guarded(writing, asio::async_write(socket, buffer, asio::deferred), handler);
///
/// `operation`: a deferred operation, or a function object that takes a completion token,
/// initiates the operation with it, and returns what that returns. It is copied or moved, and
/// called once, when the guard is held; it is not called if that cannot be acquired. What it
/// completes with begins with an `error_code`, and can be made without arguments.
///
/// Completion signature: that of the operation; if the guard cannot be acquired, the error of
/// `async_lock` or `async_acquire`, and for the rest what is made without arguments. The guard has
/// been released when the handler is called. Executor: the handler's, else
/// `lockable.get_executor()`; never from inside this function, if the operation keeps to that.
/// What is free is acquired, and the operation begins, inside this function; otherwise on the
/// handler's executor. Cancellation: of all kinds; ends the wait, also after the grant; passed on
/// to the operation. Threads: any, at any time. Lifetime: `lockable` is not touched by what is
/// waited for after its end (the wait is aborted), and need not outlive the operation. If the
/// handler is destroyed without having been called, the guard is released. Exceptions: what
/// copying or moving the arguments, the wait, or the operation's initiation throws; the guard is
/// released then.
template <detail::can_guard Lockable, class Operation,
          class Token = detail::default_token<
              typename detail::guarding<std::remove_cvref_t<Lockable>>::executor_type>>
auto async_guarded(Lockable&& lockable, Operation&& operation, Token&& token = Token()) {
  using guarding = detail::guarding<std::remove_cvref_t<Lockable>>;
  using operation_type = std::decay_t<Operation>;
  using signature = boost::asio::completion_signature_of_t<operation_type>;
  return boost::asio::async_initiate<Token, signature>(
      detail::guarded_initiation<guarding, signature>(guarding(lockable)), token,
      static_cast<Operation&&>(operation));
}

}  // namespace asio_sync

#endif
