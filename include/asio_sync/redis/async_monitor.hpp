// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_ASYNC_MONITOR_HPP
#define ASIO_SYNC_REDIS_ASYNC_MONITOR_HPP

#include <asio_sync/detail/core/config.hpp>  // first

#include <asio_sync/detail/operation/errors.hpp>
#include <asio_sync/detail/operation/initiation.hpp>
#include <asio_sync/detail/operation/primitive.hpp>
#include <asio_sync/detail/operation/wait_limit.hpp>
#include <asio_sync/detail/platform/asio_compat.hpp>
#include <asio_sync/error.hpp>
#include <asio_sync/redis/client.hpp>
#include <asio_sync/redis/detail/hub/claim_operation.hpp>
#include <asio_sync/redis/detail/hub/condition_operation.hpp>
#include <asio_sync/redis/detail/hub/hold.hpp>
#include <asio_sync/redis/detail/hub/remote_entry.hpp>
#include <asio_sync/redis/error.hpp>
#include <asio_sync/redis/fwd.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/system/errc.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>

namespace asio_sync::redis {

/// A monitor at a server: one at a time is inside, of many processes, and sees and changes the
/// variables of the monitor, which are kept at the server. To enter and to leave is one command
/// each.
///
///     redis::async_monitor monitor(context, client, "storage");
///     auto entry = co_await monitor.async_enter();
///     while (entry.number("free") == 0) co_await entry.async_wait("freed");
///     entry.add("free", -1);
///     co_await entry.async_leave();
///
/// The server makes all changes of an entry in one step, when the entry leaves or waits, and only
/// if nobody else has been inside since it entered. An entry is a lease, like a lock of
/// `async_mutex`, and gives the same guarantees by `owns()` and `fence()`.
///
/// The object at the server has the name, and no other kind or version of the library may use it.
/// Two monitors of one name are one monitor. `cancel()`, `close()` and `waiters()` concern the
/// waits of this C++ object alone.
///
/// Threads: every member but constructors and destructor may be called from any thread at any
/// time. Lifetime: the monitor may be destroyed with waits outstanding, which then complete with
/// `operation_aborted`. An entry outlives the monitor and can leave, but not wait; it is lost with
/// the client. Contexts: as for `async_mutex`.
/// Progress: like `async_mutex`; a notified wait has to wait for the monitor, too, so that its
/// condition need not be true any more.
template <class Executor = boost::asio::any_io_executor>
class basic_async_monitor : detail::remote_primitive<Executor> {
  using base = detail::remote_primitive<Executor>;

 public:
  /// The type of the executor that completes what has no executor of its own.
  using executor_type = Executor;

  /// Rebinds the type to another executor.
  template <class Executor2>
  struct rebind_executor {
    /// The rebound type.
    using other = basic_async_monitor<Executor2>;
  };

  class entry;

  /// Holds a part of a variable that an entry has added.
  using owned = redis::owned;

  /// Creates a monitor of this name. `ex` completes the waits whose handlers have no executor of
  /// their own; it need not be the client's, and should not run on the same thread.
  ///
  /// Errors: throws `boost::system::system_error` with `invalid_argument` unless the name has 1 to
  /// 512 bytes and no braces.
  /// Exceptions: also what allocating, or adding a service to the executor's context, throws.
  basic_async_monitor(executor_type const& ex, client& c, std::string name)
      : base(this, ex, c, "redis::async_monitor", "monitor", std::move(name), 1) {}

  /// Creates a monitor over the executor of an execution context.
  template <asio_sync::detail::context_for<Executor> ExecutionContext>
  basic_async_monitor(ExecutionContext& context, client& c, std::string name)
      : basic_async_monitor(executor_type(context.get_executor()), c, std::move(name)) {}

  basic_async_monitor(basic_async_monitor const&) = delete;
  basic_async_monitor& operator=(basic_async_monitor const&) = delete;

  /// Completes outstanding waits with `operation_aborted`, each on its own executor. An entry that
  /// was granted before still arrives.
  ~basic_async_monitor() = default;

  /// Returns the executor of waits whose handlers have none.
  using base::get_executor;  // executor_type()

  /// Cancels the waits of this object, and returns how many: one to enter completes with
  /// `operation_aborted` at once, one on a condition when it is inside again. Entries that are
  /// granted already are not touched, nor counted; nor is a wait that has been cancelled, or that
  /// enters again because its time was up.
  using base::cancel;  // std::size_t()

  /// Has outstanding and later waits of this object complete with `error::closed`, those on
  /// conditions without the monitor. Entries can still leave.
  using base::close;  // void()

  /// True if this object was closed.
  using base::is_closed;  // bool()

  /// Returns the number of waits of this object that have not completed, those on conditions
  /// included.
  using base::waiters;  // std::size_t()

  /// Enters the monitor.
  ///
  /// Completes when every earlier wait that the server can reach has been served or has gone, and
  /// who is inside has left, waits or has died. Waits through outages of the server.
  ///
  /// Completion signature: `void(error_code, entry)`; the entry is empty with an error.
  /// Executor: the handler's, else `get_executor()`; never from inside this function, and never
  /// the client's.
  /// Cancellation: terminal, partial and total alike. The wait is over at once; the server is told
  /// to forget it. After the grant, and until the handler is called, a cancellation by slot leaves
  /// again; `cancel()` then does nothing.
  /// Errors: `operation_aborted` (cancelled, the monitor or the client destroyed, or the client
  /// shut down), `error::closed`, `error::kind_mismatch`, `error::version_mismatch`,
  /// `redis::error::server_error` (there is a key of another type under the name),
  /// `redis::error::forked`, or the final error that has ended the client's run.
  /// Threads: any, at any time.
  /// Exceptions: what allocating the wait, moving the handler, connecting its slot or posting to
  /// an executor of your own throws; nothing has changed then.
  template <asio_sync::detail::token_for<void(boost::system::error_code, entry)> Token =
                asio_sync::detail::default_token<Executor>>
  auto async_enter(Token&& token = Token()) {
    return initiate(asio_sync::detail::no_limit(), "async_enter", static_cast<Token&&>(token));
  }

  /// Enters like `async_enter`, but gives up after `time`, counted from the initiation (with a
  /// deferred operation, from its launch), by the steady clock.
  ///
  /// Completion signature, executor, cancellation, threads: those of `async_enter`.
  /// Errors: also `errc::timed_out`, as `asio::error::timed_out`, or as
  /// `redis::error::unreachable` if the client has had no session since the initiation. Zero or
  /// negative time tries once, and waits for the answer no longer than the client's
  /// `command_timeout`; it fails with `redis::error::gated` if the server is new or has lost its
  /// data, and grants nothing yet. Exceptions: also what making the context's timer and room for
  /// the deadline throws.
  template <class Rep, class Period,
            asio_sync::detail::token_for<void(boost::system::error_code, entry)> Token =
                asio_sync::detail::default_token<Executor>>
  auto async_enter_for(std::chrono::duration<Rep, Period> const& time, Token&& token = Token()) {
    return initiate(asio_sync::detail::wait_limit::after(time), "async_enter_for",
                    static_cast<Token&&>(token));
  }

  /// Enters like `async_enter_for`, but gives up at a point in time. One of another clock than the
  /// steady one is converted when this function is called.
  template <class Clock, class Duration,
            asio_sync::detail::token_for<void(boost::system::error_code, entry)> Token =
                asio_sync::detail::default_token<Executor>>
  auto async_enter_until(std::chrono::time_point<Clock, Duration> const& time,
                         Token&& token = Token()) {
    return initiate(asio_sync::detail::wait_limit::at(time), "async_enter_until",
                    static_cast<Token&&>(token));
  }

 private:
  template <class Token>
  auto initiate(asio_sync::detail::wait_limit limit, char const* function, Token&& token) {
    return base::template initiate<entry>(1, limit, detail::attempt::waits, function,
                                          static_cast<Token&&>(token));
  }

  detail::wait_operation<Executor> wait(std::string condition, detail::hold& inside,
                                        asio_sync::detail::wait_limit limit,
                                        char const* function) {
    return {{&base::executor(), &base::core(), base::shared_handle(), "redis::async_monitor"},
            std::move(condition),
            inside.claim(),
            limit,
            function};
  }
};

/// Being inside a monitor at a server.
///
///     bool owns() const noexcept;              // false before anybody else can be inside
///     std::uint64_t fence() const noexcept;    // greater than that of every earlier entry
///     std::optional<std::string> get(variable) const;
///     std::int64_t number(variable) const;     // 0 if there is none; throws if it is no number
///     void set(variable, string_or_number);    // seen by later gets; sent with the leaving
///     void add(variable, number);              // likewise
///     void notify_one(condition);              // sent with the leaving
///     void notify_all(condition);              // likewise
///     owned add_owned(variable, delta, condition);  // added with the leaving, and not seen
///                                              // before; taken back when it ends
///     auto async_leave(token);                 // void(error_code)
///     void swap(entry&) noexcept;
///
/// `detail::remote_entry` has most of these members, and says more of them.
///
/// Threads: an entry is used by one thread at a time, which need not be always the same.
template <class Executor>
class [[nodiscard]] basic_async_monitor<Executor>::entry : public detail::remote_entry {
 public:
  /// An empty entry.
  [[nodiscard]] entry() noexcept = default;

  /// Moves do not throw, and leave an empty entry.
  entry(entry&&) noexcept = default;
  entry& operator=(entry&&) noexcept = default;

  /// Gives the monitor back. What was set, added and notified is discarded.
  ~entry() = default;

  /// Exchanges what the two refer to.
  void swap(entry& other) noexcept { this->hold_.swap(other.hold_); }
  friend void swap(entry& a, entry& b) noexcept { a.swap(b); }

  /// Leaves the monitor: the server sets and adds what this entry has set and added, notifies what
  /// it has notified, and lets the next one in, all in one step. The entry is empty from now on;
  /// if the operation is destroyed without having begun, all that is discarded.
  ///
  /// Completion signature: `void(error_code)`.
  /// Executor: the handler's, else that of the monitor; never from inside this function.
  /// Cancellation: terminal, partial and total alike; the monitor is left all the same.
  /// Errors: `error::lease_lost` if the entry was lost before, and nothing has happened;
  /// `redis::error::outcome_unknown` if the session or the entry was lost before the server has
  /// answered: all has happened, or nothing; `operation_not_permitted` if the entry is empty;
  /// `redis::error::server_error` (nothing has happened, but the monitor is given back; a key of
  /// another type under the name keeps it until that key has gone, or the session ends);
  /// `redis::error::forked`; `operation_aborted` (cancelled).
  /// Threads: any; not at the same time as another member of the entry.
  /// Exceptions: what allocating, moving the handler, connecting its slot or posting to an
  /// executor of your own throws; nothing has changed then.
  template <asio_sync::detail::token_for<void(boost::system::error_code)> Token =
                asio_sync::detail::default_token<Executor>>
  auto async_leave(Token&& token = Token()) {
    return this->hold_.async_give_back("redis::async_monitor", "async_leave",
                                       static_cast<Token&&>(token), true);
  }

  /// Leaves the monitor, waits until the condition is notified, and is inside again, with the
  /// variables as they are then. What was set, added and notified, and is to be owned, goes to the
  /// server in the same step as the leaving. The entry is empty while the wait is outstanding, and
  /// must neither be touched nor destroyed.
  ///
  /// Completion signature: `void(error_code)`. The entry is inside again, with another fence, if
  /// there is no error, or with `operation_aborted` of a cancellation. It is empty with the other
  /// errors.
  /// Executor: the handler's, else that of the monitor; never from inside this function, and never
  /// the client's.
  /// Cancellation: terminal, partial and total alike: the wait then enters again, also through an
  /// outage, and completes with `operation_aborted`. By slot also after the notification, until
  /// the handler is called: what `notify_one()` had for the wait goes to another one when the
  /// monitor is left.
  /// Errors: `operation_aborted` (cancelled; without the monitor if that or the client was
  /// destroyed, or the client shut down), `error::closed`, `error::lease_lost` (the entry was lost
  /// before the server could take it back, and nothing has happened),
  /// `redis::error::outcome_unknown` (the session or the entry was lost before the server has
  /// answered to what was set, added, notified or owned), `redis::error::server_error`,
  /// `redis::error::forked`, or the final error that has ended the client's run. At once, with the
  /// entry as it was: `error::lease_lost` if it does not own any more. With `closed`, or
  /// `operation_aborted` without the monitor, what was set, added, notified or owned may have
  /// happened. Without anything to set, add, notify or own a lost session is no error: the wait
  /// enters again as if it were notified.
  /// Threads: any; not at the same time as another member of the entry. If the handler is
  /// destroyed without having been called, the monitor, and what `notify_one()` had for the wait,
  /// go on to others.
  /// Exceptions: `boost::system::system_error` with `operation_not_permitted` if the entry is
  /// empty or the monitor was destroyed, and with `invalid_argument` unless the name of the
  /// condition has 1 to 512 bytes; what allocating the wait, moving the handler, connecting its
  /// slot or posting to an executor of your own throws; the entry is then as it was.
  template <asio_sync::detail::token_for<void(boost::system::error_code)> Token =
                asio_sync::detail::default_token<Executor>>
  auto async_wait(std::string condition, Token&& token = Token()) {
    return initiate(std::move(condition), asio_sync::detail::no_limit(), "async_wait",
                    static_cast<Token&&>(token));
  }

  /// Waits like `async_wait`, but no longer than `time`, counted from the initiation (with a
  /// deferred operation, from its launch), by the steady clock.
  ///
  /// Completion signature, executor, cancellation, threads: those of `async_wait`.
  /// Errors: also `asio::error::timed_out`, and the entry is inside again, for which the wait
  /// waits without a limit. Zero or negative time: `timed_out` at once, and the monitor is not
  /// left.
  /// Exceptions: also what making the context's timer and room for the deadline throws.
  template <class Rep, class Period,
            asio_sync::detail::token_for<void(boost::system::error_code)> Token =
                asio_sync::detail::default_token<Executor>>
  auto async_wait_for(std::string condition, std::chrono::duration<Rep, Period> const& time,
                      Token&& token = Token()) {
    return initiate(std::move(condition), asio_sync::detail::wait_limit::after(time),
                    "async_wait_for", static_cast<Token&&>(token));
  }

  /// Waits like `async_wait_for`, but until a point in time.
  template <class Clock, class Duration,
            asio_sync::detail::token_for<void(boost::system::error_code)> Token =
                asio_sync::detail::default_token<Executor>>
  auto async_wait_until(std::string condition,
                        std::chrono::time_point<Clock, Duration> const& time,
                        Token&& token = Token()) {
    return initiate(std::move(condition), asio_sync::detail::wait_limit::at(time),
                    "async_wait_until", static_cast<Token&&>(token));
  }

 private:
  friend detail::remote_primitive<Executor>;

  explicit entry(detail::hold&& h) noexcept : remote_entry(std::move(h)) {}

  template <class Token>
  auto initiate(std::string condition, asio_sync::detail::wait_limit limit, char const* function,
                Token&& token) {
    auto* const of = static_cast<basic_async_monitor*>(this->hold_.primitive());
    if (of == nullptr)
      asio_sync::detail::throw_error(make_error_code(boost::system::errc::operation_not_permitted),
                                     {"redis::async_monitor", "entry", function},
                                     "not inside, or the monitor has gone");
    detail::check_condition(condition, {"redis::async_monitor", "entry", function});
    return asio_sync::detail::initiate_wait(
        of->wait(std::move(condition), this->hold_, limit, function), static_cast<Token&&>(token));
  }
};

/// A monitor over any executor.
using async_monitor = basic_async_monitor<>;

}  // namespace asio_sync::redis

#endif
