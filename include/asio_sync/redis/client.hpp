// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_CLIENT_HPP
#define ASIO_SYNC_REDIS_CLIENT_HPP

#include <asio_sync/detail/core/config.hpp>  // first

#include <asio_sync/detail/operation/initiation.hpp>
#include <asio_sync/detail/platform/asio_compat.hpp>
#include <asio_sync/redis/config.hpp>
#include <asio_sync/redis/detail/hub/hub.hpp>
#include <asio_sync/redis/detail/hub/remote_question.hpp>
#include <asio_sync/redis/detail/hub/result.hpp>
#include <asio_sync/redis/error.hpp>
#include <asio_sync/redis/fwd.hpp>
#include <asio_sync/redis/inspection.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/system/error_code.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace asio_sync::redis {

/// A connection to a Redis or Valkey server, and a session there, kept alive by a heartbeat: what
/// the primitives of this client hold and wait for lives and ends with the session.
/// One client is enough for a process.
///
///     asio::thread_pool io(1);  // user code must not delay the heartbeat
///     redis::client client(io.get_executor(), {.host = "locks"});
///     client.async_run(asio::detached);
///
/// A lock at a server is a lease with a fencing number, see doc/redis.md. One unit of the program
/// includes <asio_sync/redis/src.hpp>.
///
/// Threads: every member but constructor and destructor may be called from any thread at any time.
/// Lifetime: primitives and guards may outlive their client; waits then complete with
/// `operation_aborted`, and nothing is held any more. The client may outlive its context; over a
/// strand, the client, its primitives and its guards have to go before the strand's context.
class client {
 public:
  /// The type of the executor that completes what has no executor of its own.
  using executor_type = boost::asio::any_io_executor;

  /// Creates a client that does nothing before `async_run`. It works on `ex`, in a strand of its
  /// own. Waits of its primitives queue until it runs.
  ///
  /// Errors: throws `boost::system::system_error` with `invalid_argument` for a configuration that
  /// breaks the rules of its members.
  /// Exceptions: also what allocating, or adding a service to the executor's context, throws.
  ASIO_SYNC_COMPILED_ONCE explicit client(executor_type ex, config c = {});

  client(client const&) = delete;
  client& operator=(client const&) = delete;

  /// Ends the session without a word to the server, like `stop()`. Outstanding waits complete with
  /// `operation_aborted`.
  ASIO_SYNC_COMPILED_ONCE ~client();

  /// The executor of the client's own operations whose handlers have none.
  executor_type get_executor() const noexcept { return hub_->executor(); }

  /// Connects to the server, and stays connected until `stop()`, `async_shutdown()` or a final
  /// error: one that no other attempt would avoid. A server that refuses the client, because of a
  /// wrong password for example, is a final error before the first session of the run, and an
  /// outage with an event later. A replica is always an outage. May be run again.
  ///
  /// Completion signature: `void(error_code)`.
  /// Executor: the handler's, else `get_executor()`; never from inside this function.
  /// Cancellation: terminal, partial and total alike, as by `stop()`.
  /// Errors: none after `async_shutdown()`; `operation_aborted` after `stop()` or when the client
  /// was destroyed; `operation_not_permitted` if it runs already; `redis::error::forked`; a final
  /// error of `redis::error`, `configuration_mismatch`, or `not_enough_memory`.
  /// Threads: any, at any time.
  /// Exceptions: what allocating, moving the handler, connecting its slot or posting to an
  /// executor of your own throws; nothing has changed then.
  template <asio_sync::detail::token_for<void(boost::system::error_code)> Token =
                asio_sync::detail::default_token<executor_type>>
  auto async_run(Token&& token = Token()) {
    return detail::initiate_result(
        std::make_shared<detail::result>(hub_->living_executor(), hub_),
        [hub = hub_](std::shared_ptr<detail::result> const& r) { return hub->begin_run(r); },
        "redis::client", "async_run", static_cast<Token&&>(token));
  }

  /// Gives back every hold and every place in a queue, waits for the server's answer, and ends the
  /// run: the clean way out. Guards own nothing from the beginning; outstanding waits, and later
  /// ones until the client is run again, complete with `operation_aborted`.
  ///
  /// Completion signature: `void(error_code)`.
  /// Executor: the handler's, else `get_executor()`; never from inside this function.
  /// Cancellation: terminal, partial and total alike; the shutdown goes on.
  /// Errors: `timed_out` if the session has lapsed before the server has answered;
  /// `operation_aborted` after `stop()`; `operation_not_permitted` if a deferred operation is
  /// launched for the second time; `redis::error::forked`. None if the client does not run, also
  /// for the second time or after a final error: nothing is left to give back.
  /// Threads: any, at any time.
  /// Exceptions: those of `async_run`.
  template <asio_sync::detail::token_for<void(boost::system::error_code)> Token =
                asio_sync::detail::default_token<executor_type>>
  auto async_shutdown(Token&& token = Token()) {
    return detail::initiate_result(
        std::make_shared<detail::result>(hub_->living_executor()),
        [hub = hub_](std::shared_ptr<detail::result> const& r) { return hub->begin_shutdown(r); },
        "redis::client", "async_shutdown", static_cast<Token&&>(token));
  }

  /// Asks the server who holds the object of this name, and who waits for it: a mutex, a shared
  /// mutex, a semaphore or a monitor of any client. Changes nothing. The inspection is empty if
  /// nobody uses the object. The question is repeated after a lost connection.
  ///
  /// Completion signature: `void(error_code, inspection)`; the inspection is empty with an error.
  /// Executor: the handler's, else `get_executor()`; never from inside this function.
  /// Cancellation: terminal, partial and total alike.
  /// Errors: `timed_out` if the server has not answered in the client's `command_timeout`;
  /// `operation_not_permitted` if the client does not run, or if a deferred operation is launched
  /// for the second time; `operation_aborted` (cancelled, or the client stopped, shut down or
  /// destroyed); `redis::error::server_error` (there is a key of another type under the name);
  /// `redis::error::forked`, or the final error that has ended the client's run. Throws
  /// `boost::system::system_error` with `invalid_argument` unless the name has 1 to 512 bytes and
  /// no braces.
  /// Threads: any, at any time.
  /// Exceptions: also those of `async_run`.
  template <asio_sync::detail::token_for<void(boost::system::error_code, inspection)> Token =
                asio_sync::detail::default_token<executor_type>>
  auto async_inspect(std::string name, Token&& token = Token()) {
    return detail::initiate_question<detail::inspection_delivery>(
        hub_, hub_->living_executor(), detail::make_question(std::move(name), {}, "async_inspect"),
        "redis::client", "async_inspect", static_cast<Token&&>(token));
  }

  /// Takes the object of this name from the holder with this fence, a client of any process, and
  /// grants it to those who wait. The holder is told, and does not own from then on; its
  /// `async_wait_lost` completes, and its client has the event `forced_release`. The fence of an
  /// entry of a monitor takes away all that the entry has added as `owned`.
  ///
  /// A holder that does not hear of it, because it has no connection at the moment, believes to
  /// own until its heartbeat names the hold, or until its session ends, while somebody else may
  /// own already: only the fence orders the two. Use this function if a holder hangs, and is not
  /// to be ended.
  ///
  /// Completion signature: `void(error_code)`.
  /// Executor, threads, exceptions: those of `async_inspect`.
  /// Cancellation: terminal, partial and total alike; the object may be taken away all the same.
  /// Errors: `operation_not_permitted` also if nobody holds the object with this fence. No error
  /// if the connection was lost after the command had been sent, and nobody holds with the fence
  /// any more. After `timed_out` or `operation_aborted` the object may be taken away: ask again,
  /// no later holder has the same fence. Otherwise those of `async_inspect`.
  template <asio_sync::detail::token_for<void(boost::system::error_code)> Token =
                asio_sync::detail::default_token<executor_type>>
  auto async_force_release(std::string name, std::uint64_t fence, Token&& token = Token()) {
    return detail::initiate_question(
        hub_, hub_->living_executor(),
        detail::make_question(std::move(name), fence, "async_force_release"), "redis::client",
        "async_force_release", static_cast<Token&&>(token));
  }

  /// Ends the run without a word to the server, which frees all that was held within a
  /// `session_ttl`. Guards own nothing any more. Waits stay, as in an outage, and go on when the
  /// client is run again, which it can be when `async_run` has completed.
  void stop() noexcept { hub_->stop(); }

  /// Has `f` called for each event, one after the other, on the client's executor. Replaces the
  /// function before. An event for which there is no memory is left out.
  ///
  /// Exceptions: what allocating and moving the function throws.
  void on_event(std::function<void(event const&)> f) { hub_->on_event(std::move(f)); }

 private:
  friend std::shared_ptr<detail::hub> const& detail::hub_of(client const& c) noexcept;

  std::shared_ptr<detail::hub> hub_;
};

namespace detail {

inline std::shared_ptr<hub> const& hub_of(client const& c) noexcept { return c.hub_; }

}  // namespace detail

}  // namespace asio_sync::redis

#endif
