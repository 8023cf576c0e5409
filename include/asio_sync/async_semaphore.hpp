// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_ASYNC_SEMAPHORE_HPP
#define ASIO_SYNC_ASYNC_SEMAPHORE_HPP

#include <asio_sync/detail/core/config.hpp>  // first

#include <asio_sync/detail/locks/permit_cores.hpp>
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
#include <boost/system/error_code.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace asio_sync {

/// Holds a number of a semaphore's permits, and gives them back when it is destroyed. The type is
/// the same whatever the semaphore's executor.
///
/// It may outlive its semaphore, as it does where a coroutine or a handler that holds it is
/// destroyed by a context that ends later. All members then work, but the permits go nowhere. One
/// thread at a time may use it, not always the same.
class [[nodiscard]] semaphore_permit {
 public:
  /// An empty permit.
  semaphore_permit() noexcept = default;

  /// Moves do not throw, and leave an empty permit.
  semaphore_permit(semaphore_permit&& other) noexcept
      : core_(other.core_), count_(std::exchange(other.count_, 0)) {}
  semaphore_permit& operator=(semaphore_permit&& other) noexcept {
    semaphore_permit(std::move(other)).swap(*this);
    return *this;
  }

  /// Gives the permits back, as `release()`.
  ~semaphore_permit() {
    if (count_ != 0) give_back();
  }

  /// How many permits this holds.
  std::ptrdiff_t count() const noexcept { return count_; }

  /// Whether it holds any.
  explicit operator bool() const noexcept { return count_ > 0; }

  /// Gives the permits back now, or on to the oldest waits, and leaves an empty permit. Runs no
  /// code of a wait. Drops what exceeds the semaphore's maximum, if its own `release()` has added
  /// permits while these were held.
  ASIO_SYNC_INLINE void release() noexcept {
    if (count_ != 0) core_->release_held(static_cast<std::uint64_t>(std::exchange(count_, 0)));
  }

  /// Lets go of the permits without giving them back, and returns how many. They stay taken until
  /// somebody gives them back by the semaphore's `release()`, if anybody does.
  std::ptrdiff_t forget() noexcept {
    if (count_ != 0) core_->write_off(static_cast<std::uint64_t>(count_));
    return std::exchange(count_, 0);
  }

  /// Takes n of these permits out, into an object of their own; n may be zero.
  ///
  /// Errors: throws `boost::system::system_error` with `invalid_argument`, and changes nothing, if
  /// n is negative, or more than `count()`.
  [[nodiscard]] semaphore_permit split(std::ptrdiff_t n) {
    if (n < 0 || n > count_)
      detail::throw_invalid("asio_sync::semaphore_permit::split: n < 0 or n > count()");
    count_ -= n;
    return {core_, n};
  }

  /// Adds the permits of `other`, and leaves it empty.
  /// Errors: throws `invalid_argument` as `split` if both have permits, and of different
  /// semaphores.
  void merge(semaphore_permit&& other) {
    if (&other == this || other.count_ == 0) return;
    if (count_ == 0) return swap(other);
    if (core_ != other.core_)
      detail::throw_invalid("asio_sync::semaphore_permit::merge: permits of different semaphores");
    count_ += std::exchange(other.count_, 0);
  }

  /// Exchanges what the two hold.
  void swap(semaphore_permit& other) noexcept {
    std::swap(core_, other.core_);
    std::swap(count_, other.count_);
  }
  friend void swap(semaphore_permit& a, semaphore_permit& b) noexcept { a.swap(b); }

 private:
  template <class Executor>
  friend class basic_async_semaphore;

  semaphore_permit(detail::permit_core* core, std::ptrdiff_t n) noexcept
      : core_(core), count_(n) {}

  ASIO_SYNC_NOINLINE void give_back() noexcept { release(); }

  detail::permit_core* core_ = nullptr;  // kept by the permits: without any it may be gone
  std::ptrdiff_t count_ = 0;
};

/// A number of permits that coroutines, callbacks and threads acquire in one queue, hold across
/// asynchronous operations, and give back.
///
/// Use it to limit how much happens at once (connections, requests, bytes in memory), or to count
/// items for a consumer. For one holder at a time there is `async_mutex`.
///
///     auto permit = co_await connections.async_acquire();  // goes back at the end of the scope
///
/// Strictly first come, first served, whatever the waits ask for: behind a wait for many permits
/// those for few wait, and nobody barges in. Permits are held by a `semaphore_permit`.
///
/// Threads: every member but constructors and destructor may be called from any thread at any
/// time. Lifetime: the semaphore may be destroyed with waits outstanding, which then complete with
/// `operation_aborted`, and before the permits that it has handed out. Its contexts may go before
/// it or after it; over a strand, the semaphore has to go before the strand's context.
template <class Executor = boost::asio::any_io_executor>
class basic_async_semaphore : detail::primitive<Executor, detail::permit_core> {
  using base = detail::primitive<Executor, detail::permit_core>;

 public:
  /// The type of the executor that completes what has no executor of its own.
  using executor_type = Executor;

  /// The same semaphore over another executor.
  template <class Executor2>
  struct rebind_executor {
    using other = basic_async_semaphore<Executor2>;
  };

  /// The most permits that one can have: enough to count bytes.
  static constexpr std::ptrdiff_t max_permits =
      static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(detail::permit_core::most, PTRDIFF_MAX));

  /// Makes a semaphore with so many permits, of which never more than `max` are free; `ex`
  /// completes the waits whose handlers have no executor of their own. Give `max` unless permits
  /// are to be added: then a wait for more than there are fails, instead of waiting for ever.
  ///
  /// Errors: throws `boost::system::system_error` with `invalid_argument` unless 0 <= permits <=
  /// max <= max_permits.
  /// Exceptions: also what allocating, or adding a service to the executor's context, throws.
  explicit basic_async_semaphore(executor_type const& ex, std::ptrdiff_t permits,
                                 std::ptrdiff_t max = max_permits)
      : base(this, ex, checked(permits, max), static_cast<std::uint64_t>(max)) {}

  /// Makes a semaphore over the executor of an execution context.
  template <detail::context_for<Executor> ExecutionContext>
  explicit basic_async_semaphore(ExecutionContext& context, std::ptrdiff_t permits,
                                 std::ptrdiff_t max = max_permits)
      : basic_async_semaphore(executor_type(context.get_executor()), permits, max) {}

  /// Executors of the networking TS are refused: they cannot do what this needs.
  template <detail::ts_executor TsExecutor>
  explicit basic_async_semaphore(TsExecutor const&, std::ptrdiff_t, std::ptrdiff_t = 0)
      : basic_async_semaphore(detail::instead_of<TsExecutor, Executor>(), 0) {}

  basic_async_semaphore(basic_async_semaphore const&) = delete;
  basic_async_semaphore& operator=(basic_async_semaphore const&) = delete;

  /// Completes outstanding waits with `operation_aborted`, each on its own executor; permits that
  /// were granted and have not arrived yet arrive as `operation_aborted`, too. Blocked threads
  /// throw it.
  ~basic_async_semaphore() = default;

  /// The executor of waits whose handlers have none.
  executor_type get_executor() const noexcept { return base::executor(); }

  /// Acquires n permits if so many are free, the semaphore is open, and nobody waits; otherwise
  /// returns an empty permit.
  ///
  /// Errors: throws `boost::system::system_error` with `invalid_argument` if n is below one, or
  /// more than `max()`.
  [[nodiscard]] semaphore_permit try_acquire(std::ptrdiff_t n = 1) {
    if (n < 1 || n > max())
      detail::throw_invalid("asio_sync::async_semaphore::try_acquire: n < 1 or n > max()");
    if (!core().try_acquire(static_cast<std::uint64_t>(n), true)) return {};
    return {&core(), n};
  }

  /// Blocks the calling thread until it has acquired n permits: for threads that run no executor.
  /// Zero permits it has at once, even while others wait.
  ///
  /// Errors: throws `boost::system::system_error` with `invalid_argument` (n is negative, or more
  /// than `max()`), with `error::closed`, with `operation_aborted` (`cancel()`, or the semaphore
  /// destroyed), or with `resource_deadlock_would_occur` where it would have to wait on a thread
  /// that runs the semaphore's own context. Allocates nothing.
  semaphore_permit acquire(std::ptrdiff_t n = 1) {
    return in_thread(n, detail::no_limit(), "acquire");
  }

  /// As `acquire()`, but gives up after the time, with an empty permit. Zero or negative time: one
  /// try.
  template <class Rep, class Period>
  [[nodiscard]] semaphore_permit try_acquire_for(std::chrono::duration<Rep, Period> const& time) {
    return try_acquire_for(1, time);
  }
  template <class Rep, class Period>
  [[nodiscard]] semaphore_permit try_acquire_for(std::ptrdiff_t n,
                                                 std::chrono::duration<Rep, Period> const& time) {
    return in_thread(n, detail::wait_limit::after(time), "try_acquire_for");
  }

  /// As `acquire()`, but gives up at the point in time, with an empty permit.
  template <class Clock, class Duration>
  [[nodiscard]] semaphore_permit try_acquire_until(
      std::chrono::time_point<Clock, Duration> const& time) {
    return try_acquire_until(1, time);
  }
  template <class Clock, class Duration>
  [[nodiscard]] semaphore_permit try_acquire_until(
      std::ptrdiff_t n, std::chrono::time_point<Clock, Duration> const& time) {
    return in_thread(n, detail::wait_limit::at(time), "try_acquire_until");
  }

  /// Adds n permits, which nobody need have acquired, or passes them on to the oldest waits. Runs
  /// no code of these, and does not touch the semaphore after the first of them can run.
  ///
  /// Errors: throws `boost::system::system_error` with `invalid_argument` if n is negative, with
  /// `value_too_large` if n and `available()` together exceed `max()`, also where others wait, or
  /// if more than 2^59 permits would be free or held; nothing has changed then.
  void release(std::ptrdiff_t n = 1) {
    if (n < 0) detail::throw_invalid("asio_sync::async_semaphore::release: n < 0");
    if (!core().supply(static_cast<std::uint64_t>(n)))
      detail::throw_too_large(n > max() - available()
                                  ? "asio_sync::async_semaphore::release: more than max() free"
                                  : "asio_sync::async_semaphore::release: too many permits");
  }

  /// How many permits are free; it may have changed already.
  std::ptrdiff_t available() const noexcept {
    return static_cast<std::ptrdiff_t>(core().available());
  }

  /// The most that may be free.
  std::ptrdiff_t max() const noexcept { return static_cast<std::ptrdiff_t>(core().max()); }

  /// Completes every outstanding wait with `operation_aborted`, threads included, and returns how
  /// many. Does not touch permits that are held, or granted already.
  std::size_t cancel() { return core().refuse_all(detail::wait_outcome::aborted); }

  /// Outstanding and later waits complete with `error::closed`; permits may still be given back,
  /// after which nobody can acquire them any more.
  void close() noexcept { core().close(); }

  /// Whether the semaphore was closed.
  bool is_closed() const noexcept { return core().is_closed(); }

  /// The number of outstanding waits, threads included; not those granted and on their way.
  std::size_t waiters() const noexcept { return core().waiters(); }

  /// Acquires one permit without blocking a thread; as `async_acquire(1, token)`.
  template <detail::token_for<void(boost::system::error_code, semaphore_permit)> Token =
                detail::default_token<Executor>>
  auto async_acquire(Token&& token = Token()) {
    return initiate(1, detail::no_limit(), static_cast<Token&&>(token));
  }

  /// Acquires n permits without blocking a thread.
  ///
  /// Completes when every earlier wait has been served or has gone, and n permits are free: it
  /// takes all of them at once. For zero permits it need not wait, even while others do.
  ///
  /// Completion signature: `void(error_code, semaphore_permit)`; the permit is empty with an
  /// error.
  /// Executor: the handler's, else `get_executor()`; never from inside this function, unless the
  /// handler has an immediate executor of its own. A coroutine that awaits it with `deferred`,
  /// `use_awaitable`, or `as_tuple` or `redirect_error` of these does not suspend for permits that
  /// are free.
  /// Cancellation: terminal, partial and total alike. The wait leaves the queue at once and those
  /// behind it move up. After the grant, and until the handler is called, a cancellation by slot
  /// gives the permits back; `cancel()` then does nothing.
  /// Errors: `invalid_argument` (n is negative, or more than `max()`), `operation_aborted`
  /// (cancelled, or the semaphore destroyed), `error::closed`.
  /// Threads: any, at any time.
  /// Exceptions: what allocating the wait, moving the handler, connecting its slot or posting to
  /// an executor of your own throws; nothing has changed then.
  template <detail::token_for<void(boost::system::error_code, semaphore_permit)> Token =
                detail::default_token<Executor>>
  auto async_acquire(std::ptrdiff_t n, Token&& token = Token()) {
    return initiate(n, detail::no_limit(), static_cast<Token&&>(token));
  }

  /// Acquires one permit, but gives up after `time`; as `async_acquire_for(1, time, token)`.
  template <class Rep, class Period,
            detail::token_for<void(boost::system::error_code, semaphore_permit)> Token =
                detail::default_token<Executor>>
  auto async_acquire_for(std::chrono::duration<Rep, Period> const& time, Token&& token = Token()) {
    return initiate(1, detail::wait_limit::after(time), static_cast<Token&&>(token));
  }

  /// As `async_acquire`, but gives up after `time`, counted from the initiation (with a deferred
  /// operation, from its launch), by the steady clock.
  ///
  /// Completion signature, executor, cancellation, threads: those of `async_acquire`.
  /// Errors: also `asio::error::timed_out`, when the wait leaves the queue at once; zero or
  /// negative time tries once.
  /// Exceptions: also what making the context's timer and room for the deadline throws.
  template <class Rep, class Period,
            detail::token_for<void(boost::system::error_code, semaphore_permit)> Token =
                detail::default_token<Executor>>
  auto async_acquire_for(std::ptrdiff_t n, std::chrono::duration<Rep, Period> const& time,
                         Token&& token = Token()) {
    return initiate(n, detail::wait_limit::after(time), static_cast<Token&&>(token));
  }

  /// Acquires one permit, but gives up at a point in time.
  template <class Clock, class Duration,
            detail::token_for<void(boost::system::error_code, semaphore_permit)> Token =
                detail::default_token<Executor>>
  auto async_acquire_until(std::chrono::time_point<Clock, Duration> const& time,
                           Token&& token = Token()) {
    return initiate(1, detail::wait_limit::at(time), static_cast<Token&&>(token));
  }

  /// As `async_acquire_for`, but gives up at a point in time. One of another clock than the steady
  /// one is converted when this function is called.
  template <class Clock, class Duration,
            detail::token_for<void(boost::system::error_code, semaphore_permit)> Token =
                detail::default_token<Executor>>
  auto async_acquire_until(std::ptrdiff_t n, std::chrono::time_point<Clock, Duration> const& time,
                           Token&& token = Token()) {
    return initiate(n, detail::wait_limit::at(time), static_cast<Token&&>(token));
  }

 private:
  using base::core;

  struct delivery_type {
    using core_type = detail::permit_core;
    using grant = semaphore_permit;
    static grant make(core_type& core, detail::verdict granted) noexcept {
      return grant(&core, static_cast<std::ptrdiff_t>(granted.value()));
    }
  };

  // An acquisition: of how many, and for how long it may wait.
  template <class Limit>
  class acquisition
      : public detail::operation_base<acquisition<Limit>, Executor, delivery_type, Limit> {
   public:
    acquisition(basic_async_semaphore& semaphore, std::ptrdiff_t n, Limit limit) noexcept
        : acquisition::operation_base(limit), semaphore_(&semaphore), count_(n) {}

    Executor const& executor() const noexcept { return semaphore_->base::executor(); }
    detail::permit_core& core() const noexcept { return semaphore_->core(); }
    std::uint64_t asked() const noexcept { return static_cast<std::uint64_t>(count_); }

    // Takes the permits if they are there; to be held by a permit.
    ASIO_SYNC_FLATTEN ASIO_SYNC_INLINE detail::verdict try_now() const noexcept {
      if (count_ > 0 && core().try_acquire(asked(), true)) return granted();
      return otherwise();
    }

    // Names it in the output of Asio's handler tracking.
    void track(detail::waiter& w) const {
      detail::track_creation(executor(), w, "async_semaphore", semaphore_, "async_acquire");
    }

   private:
    detail::verdict granted() const noexcept { return {detail::wait_outcome::granted, asked()}; }

    // Whether it is refused at once, and why; or granted, where nothing is asked for.
    ASIO_SYNC_COLD detail::verdict otherwise() const noexcept {
      if (count_ < 0 || asked() > core().max()) return detail::wait_outcome::invalid;
      if (core().is_closed()) return detail::wait_outcome::closed;
      if (count_ == 0) return granted();
      if (this->limit_.expired()) return detail::wait_outcome::timed_out;
      return detail::wait_outcome::undecided;
    }

    basic_async_semaphore* semaphore_;
    std::ptrdiff_t count_;
  };

  template <class Limit, class Token>
  auto initiate(std::ptrdiff_t n, Limit limit, Token&& token) {
    return detail::initiate_wait(acquisition<Limit>(*this, n, limit), static_cast<Token&&>(token));
  }

  semaphore_permit in_thread(std::ptrdiff_t n, detail::wait_limit limit, char const* function) {
    detail::permit_core& from = core();  // the semaphore may be gone once it has granted
    auto const decided =
        detail::granted_in_thread(acquisition<detail::wait_limit>(*this, n, limit),
                                  "async_semaphore", function, "n < 0 or n > max()");
    return decided.granted() ? delivery_type::make(from, decided) : semaphore_permit();
  }

  static std::uint64_t checked(std::ptrdiff_t permits, std::ptrdiff_t max) {
    if (permits < 0 || permits > max || max > max_permits)
      detail::throw_invalid("asio_sync::async_semaphore::async_semaphore: permits out of range");
    return static_cast<std::uint64_t>(permits);
  }
};

/// A semaphore over any executor.
using async_semaphore = basic_async_semaphore<>;

}  // namespace asio_sync

#endif
