// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_ASYNC_KEYED_MUTEX_HPP
#define ASIO_SYNC_ASYNC_KEYED_MUTEX_HPP

#include <asio_sync/detail/core/config.hpp>  // first

#include <asio_sync/detail/locks/keyed_mutex_core.hpp>
#include <asio_sync/detail/operation/beginning.hpp>
#include <asio_sync/detail/operation/errors.hpp>
#include <asio_sync/detail/operation/initiation.hpp>
#include <asio_sync/detail/operation/operation.hpp>
#include <asio_sync/detail/operation/primitive.hpp>
#include <asio_sync/detail/operation/wait_limit.hpp>
#include <asio_sync/error.hpp>
#include <asio_sync/fwd.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/error.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace asio_sync {

/// A mutex for every key: whoever locks a key waits only for those who have locked the same one.
///
/// Use it where there is one thing to protect for each user, file or address, and too many of them
/// for a mutex each, or nobody to make and to end that: a key is there while somebody holds it or
/// waits for it. An idle key takes no memory.
///
///     auto lock = co_await users.async_lock(name);  // unlocks the key at the end of the scope
///
/// Each key has a queue of its own, first come, first served: unlocking one that is waited for
/// makes the oldest wait the owner, and nobody barges in. Keys never wake each other's waits. The
/// guard, `keyed_lock`, is the proof of ownership: a key belongs to no thread, is not recursive,
/// and may be unlocked on any thread.
///
/// Key: can be copied. `Hash` and `Equal` are called as `const`, on any thread, and may throw.
/// `Equal` is called under the mutex's internal lock, and must not call the mutex.
///
/// Threads: every member but constructors and destructor may be called from any thread at any
/// time. Lifetime: the mutex may be destroyed with waits outstanding, which then complete with
/// `operation_aborted`, and before the guards that own keys of it. Its contexts may be destroyed
/// before it or after it; over a strand, the mutex has to go before the strand's context.
template <class Key, class Executor = boost::asio::any_io_executor, class Hash = std::hash<Key>,
          class Equal = std::equal_to<Key>>
class basic_async_keyed_mutex : detail::primitive<Executor, detail::keyed_mutex_core> {
  using base = detail::primitive<Executor, detail::keyed_mutex_core>;

  static_assert(std::is_copy_constructible_v<Key>, "the keys of a keyed mutex have to be copied");

 public:
  /// The type of the keys.
  using key_type = Key;

  /// The type of the executor that completes what has no executor of its own.
  using executor_type = Executor;

  /// The same mutex over another executor.
  template <class Executor2>
  struct rebind_executor {
    /// The rebound type.
    using other = basic_async_keyed_mutex<Key, Executor2, Hash, Equal>;
  };

  class keyed_lock;

  /// Makes a mutex of which all keys are free; `ex` completes the waits whose handlers have no
  /// executor of their own.
  ///
  /// Exceptions: what allocating, adding a service to the executor's context, and copying or
  /// moving the function objects throws.
  explicit basic_async_keyed_mutex(executor_type const& ex, Hash hash = Hash(),
                                   Equal equal = Equal())
      : base(this, ex), hash_(std::move(hash)), equal_(std::move(equal)) {}

  /// Makes a mutex over the executor of an execution context.
  template <detail::context_for<Executor> ExecutionContext>
  explicit basic_async_keyed_mutex(ExecutionContext& context, Hash hash = Hash(),
                                   Equal equal = Equal())
      : basic_async_keyed_mutex(executor_type(context.get_executor()), std::move(hash),
                                std::move(equal)) {}

  /// Executors of the networking TS are refused: they cannot do what this needs.
  template <detail::ts_executor TsExecutor>
  explicit basic_async_keyed_mutex(TsExecutor const&, Hash = Hash(), Equal = Equal())
      : basic_async_keyed_mutex(detail::instead_of<TsExecutor, Executor>()) {}

  basic_async_keyed_mutex(basic_async_keyed_mutex const&) = delete;
  basic_async_keyed_mutex& operator=(basic_async_keyed_mutex const&) = delete;

  /// Completes outstanding waits with `operation_aborted`, each on its own executor; a key that
  /// was granted and has not arrived yet arrives as `operation_aborted`, too.
  ~basic_async_keyed_mutex() = default;

  /// The executor of waits whose handlers have none.
  executor_type get_executor() const noexcept { return base::executor(); }

  /// Locks the key if it is free, the mutex is open, and nobody waits for the key; otherwise the
  /// lock is empty.
  ///
  /// Exceptions: what hashing, copying, comparing and allocating the key throws; nothing has
  /// changed then.
  [[nodiscard]] keyed_lock try_lock(Key const& key);

  /// How many keys are in use: held, or waited for.
  std::size_t size() const noexcept { return core().keys(); }

  /// Completes every outstanding wait, for whatever key, with `operation_aborted`.
  ///
  /// Returns how many. Does not touch the holders, nor locks that are granted already.
  std::size_t cancel() { return core().refuse_all(detail::wait_outcome::aborted); }

  /// Outstanding and later waits complete with `error::closed`; the holders may still unlock.
  void close() noexcept { core().close(); }

  /// Whether the mutex was closed.
  bool is_closed() const noexcept { return core().is_closed(); }

  /// The number of outstanding waits, for all keys together; not those granted and on their way.
  std::size_t waiters() const noexcept { return core().waiters(); }

  /// Locks a key without blocking a thread.
  ///
  /// Completes when every earlier wait for the key has been served or has gone, and its holder has
  /// unlocked.
  ///
  /// Completion signature: `void(error_code, keyed_lock)`; the lock is empty with an error.
  /// Executor: the handler's, else `get_executor()`; never from inside this function, unless the
  /// handler has an immediate executor of its own. A coroutine that awaits it with `deferred`,
  /// `use_awaitable`, or `as_tuple` or `redirect_error` of these does not suspend for a free key.
  /// Cancellation: terminal, partial and total alike. The wait leaves the queue at once and those
  /// behind it move up. After the grant, and until the handler is called, a cancellation by slot
  /// unlocks again; `cancel()` then does nothing.
  /// Errors: `operation_aborted` (cancelled, or the mutex destroyed), `error::closed`.
  /// Threads: any, at any time.
  /// Exceptions: what hashing, copying, comparing and allocating the key, allocating the wait,
  /// moving the handler, connecting its slot or posting to an executor of your own throws; nothing
  /// has changed then.
  template <detail::token_for<void(boost::system::error_code, keyed_lock)> Token =
                detail::default_token<Executor>>
  auto async_lock(Key key, Token&& token = Token()) {
    return initiate(std::move(key), detail::no_limit(), static_cast<Token&&>(token));
  }

  /// As `async_lock`, but gives up after `time`, counted from the initiation (with a deferred
  /// operation, from its launch), by the steady clock.
  ///
  /// Completion signature, executor, cancellation, threads: those of `async_lock`.
  /// Errors: also `asio::error::timed_out`, when the wait leaves the queue at once; zero or
  /// negative time tries once.
  /// Exceptions: also what making the context's timer and room for the deadline throws.
  template <class Rep, class Period,
            detail::token_for<void(boost::system::error_code, keyed_lock)> Token =
                detail::default_token<Executor>>
  auto async_lock_for(Key key, std::chrono::duration<Rep, Period> const& time,
                      Token&& token = Token()) {
    return initiate(std::move(key), detail::wait_limit::after(time), static_cast<Token&&>(token));
  }

  /// As `async_lock_for`, but gives up at a point in time. One of another clock than the steady
  /// one is converted when this function is called.
  template <class Clock, class Duration,
            detail::token_for<void(boost::system::error_code, keyed_lock)> Token =
                detail::default_token<Executor>>
  auto async_lock_until(Key key, std::chrono::time_point<Clock, Duration> const& time,
                        Token&& token = Token()) {
    return initiate(std::move(key), detail::wait_limit::at(time), static_cast<Token&&>(token));
  }

 private:
  using base::core;
  using entry = detail::keyed_entry<Key>;

  // How a completion's guard is made of a core that was granted.
  struct delivery_type {
    using core_type = detail::keyed_mutex_core;
    using grant = keyed_lock;
    static grant make(core_type& core, detail::verdict granted) noexcept {
      return grant(core, core_type::held_by(granted));
    }
  };

  // A lock: of which key, and for how long it may wait. A waiter has the key, or uses its entry,
  // from the moment that it is made; a coroutine tries before it has one.
  template <class Limit>
  class lock_operation
      : public detail::operation_base<lock_operation<Limit>, Executor, delivery_type, Limit> {
   public:
    lock_operation(basic_async_keyed_mutex& mutex, Key&& key, Limit limit)
        : lock_operation::operation_base(limit), mutex_(&mutex), key_(std::move(key)) {}

    Executor const& executor() const noexcept { return mutex_->base::executor(); }
    detail::keyed_mutex_core& core() const noexcept { return mutex_->core(); }
    detail::key_claim asked() const { return {core(), mutex_->claim(key_, true)}; }

    detail::verdict try_now() const { return outcome(mutex_->claim(key_, false)); }

    detail::verdict tried(detail::keyed_waiter& w) const noexcept {
      return outcome(w.claim.stake());
    }

    // Names it in the output of Asio's handler tracking.
    void track(detail::waiter& w) const {
      detail::track_creation(executor(), w, "async_keyed_mutex", mutex_, "async_lock");
    }

   private:
    detail::verdict outcome(detail::key_stake const& stake) const noexcept {
      if (stake.share == detail::key_share::hold) return detail::keyed_mutex_core::granted(stake);
      return detail::refusal_of(core(), this->limit_);
    }

    basic_async_keyed_mutex* mutex_;
    Key key_;
  };

  template <class Limit, class Token>
  auto initiate(Key&& key, Limit limit, Token&& token) {
    return detail::initiate_wait(lock_operation<Limit>(*this, std::move(key), limit),
                                 static_cast<Token&&>(token));
  }

  // Takes the key if it is free; `waits`: otherwise uses its entry.
  detail::key_stake claim(Key const& key, bool waits) const;

  [[no_unique_address]] Hash hash_;
  [[no_unique_address]] Equal equal_;
};

/// The guard of a key: unlocks it when it is destroyed. It may outlive its mutex, as it does where
/// a coroutine or a handler that holds it is destroyed by a context that ends after the mutex.
///
/// After the mutex has gone, a guard that owned a key does not own it any more; `unlock()` then
/// does nothing, once, and leaves an empty guard.
///
/// Threads: a guard is used by one thread at a time, which need not be always the same.
template <class Key, class Executor, class Hash, class Equal>
class [[nodiscard]] basic_async_keyed_mutex<Key, Executor, Hash, Equal>::keyed_lock {
 public:
  /// An empty guard.
  [[nodiscard]] keyed_lock() noexcept = default;

  /// Moves do not throw, and leave an empty guard.
  keyed_lock(keyed_lock&& other) noexcept
      : core_(other.core_), entry_(std::exchange(other.entry_, nullptr)) {}
  keyed_lock& operator=(keyed_lock&& other) noexcept {
    keyed_lock(std::move(other)).swap(*this);
    return *this;
  }

  /// Unlocks the key if this owns one.
  ~keyed_lock() {
    if (entry_) let_go();
  }

  /// Unlocks the key, or passes it on to the oldest wait for it. Runs no code of that wait, and
  /// does not touch the mutex after it can run. If nobody waits for the key it is destroyed.
  ///
  /// Errors: throws `boost::system::system_error` with `operation_not_permitted` if the guard is
  /// empty.
  void unlock() {
    check("asio_sync::async_keyed_mutex::keyed_lock::unlock: empty");
    let_go();
  }

  /// Exchanges what the two refer to.
  void swap(keyed_lock& other) noexcept {
    std::swap(core_, other.core_);
    std::swap(entry_, other.entry_);
  }

  /// Exchanges what the two refer to.
  friend void swap(keyed_lock& a, keyed_lock& b) noexcept { a.swap(b); }

  /// Whether this owns a key of a living mutex.
  bool owns_lock() const noexcept { return entry_ && !core_->is_dead(); }

  /// As `owns_lock()`.
  explicit operator bool() const noexcept { return owns_lock(); }

  /// The key; it is there until `unlock()`, also after the mutex has gone.
  ///
  /// Errors: throws `boost::system::system_error` with `operation_not_permitted` if the guard is
  /// empty.
  Key const& key() const {
    check("asio_sync::async_keyed_mutex::keyed_lock::key: empty");
    return entry_->key;
  }

 private:
  friend class basic_async_keyed_mutex;

  keyed_lock(detail::keyed_mutex_core& core, detail::key_stake held) noexcept
      : core_(&core), entry_(static_cast<entry*>(held.entry)) {}

  // `error`: of an empty guard.
  void check(char const* error) const {
    if (!entry_) detail::throw_not_permitted(error);
  }

  void let_go() noexcept {
    detail::release_key(*core_, {std::exchange(entry_, nullptr), detail::key_share::hold});
  }

  detail::keyed_mutex_core* core_ = nullptr;
  entry* entry_ = nullptr;
};

/// A keyed mutex over any executor.
template <class Key>
using async_keyed_mutex = basic_async_keyed_mutex<Key>;

template <class Key, class Executor, class Hash, class Equal>
auto basic_async_keyed_mutex<Key, Executor, Hash, Equal>::try_lock(Key const& key) -> keyed_lock {
  detail::key_stake const stake = claim(key, false);
  return stake.entry ? keyed_lock(core(), stake) : keyed_lock();
}

// The entry is made in any case: without the lock, and before anything changes.
template <class Key, class Executor, class Hash, class Equal>
detail::key_stake basic_async_keyed_mutex<Key, Executor, Hash, Equal>::claim(Key const& key,
                                                                             bool waits) const {
  auto fresh = std::make_unique<entry>(hash_(key), key);
  detail::key_stake const stake = core().claim(
      *fresh,
      [&](detail::key_entry const& other) {
        return static_cast<bool>(equal_(static_cast<entry const&>(other).key, fresh->key));
      },
      waits);
  if (stake.entry == fresh.get()) static_cast<void>(fresh.release());
  return stake;
}

}  // namespace asio_sync

#endif
