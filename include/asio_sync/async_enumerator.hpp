// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_ASYNC_ENUMERATOR_HPP
#define ASIO_SYNC_ASYNC_ENUMERATOR_HPP

#include <asio_sync/detail/core/config.hpp>  // first

#include <asio_sync/detail/enumerator/callback.hpp>
#include <asio_sync/detail/enumerator/steps_calls.hpp>
#include <asio_sync/detail/enumerator/steps_run.hpp>
#include <asio_sync/detail/operation/beginning.hpp>
#include <asio_sync/detail/operation/primitive.hpp>
#include <asio_sync/detail/platform/asio_compat.hpp>
#include <asio_sync/detail/platform/block_pool.hpp>
#include <asio_sync/fwd.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/system/errc.hpp>

#include <coroutine>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace asio_sync {

/// A coroutine whose steps an enumerator takes: what a function, a member or a lambda returns that
/// says `co_yield n`, where it wants n completions before it goes on. It is lazy: nothing of it
/// runs before `async_run()`. It may end with `co_return`, and cannot `co_await`.
///
/// `co_yield n` throws `boost::system::system_error` with `invalid_argument` if n is negative, and
/// what assigning to the results of its completions has thrown.
class [[nodiscard]] async_steps {
 public:
  /// As coroutines need it.
  struct promise_type : detail::steps_promise {
    /// The coroutine.
    async_steps get_return_object() noexcept {
      return async_steps({std::coroutine_handle<promise_type>::from_promise(*this), *this});
    }
  };

  /// Those moved from have no steps any more, and cannot be run.
  async_steps(async_steps&&) noexcept = default;
  async_steps& operator=(async_steps&&) noexcept = default;

  /// Destroys the coroutine, if it was not run.
  ~async_steps() = default;

 private:
  template <class Executor>
  friend class basic_async_enumerator;

  explicit async_steps(detail::steps_frame&& frame) noexcept : frame_(std::move(frame)) {}

  detail::steps_frame frame_;
};

/// Runs steps that begin operations with callbacks, and go on when these have completed: code that
/// reads from top to bottom, over operations of any kind, several at a time.
///
///     asio_sync::async_steps fetch(asio_sync::async_enumerator& e, url u) {
///       resolver.async_resolve(u.host, u.port, e.callback(error, endpoints));
///       co_yield 1;
///       if (error) co_return;
///       ...
///
/// An error code is data for the steps; an exception that leaves them ends the run.
///
/// The steps, and what writes the results of their operations, run on the enumerator's executor,
/// and on one thread at a time. Results change inside `co_yield` alone, and not after the end.
///
/// Threads: every member but constructors and destructor may be called from any thread at any
/// time; for a run to be cancelled the executor has to be a strand, or that of a context which one
/// thread runs, as for all cancellation in Asio. Lifetime: the enumerator may be destroyed with a
/// run on, which is then cancelled: no step is taken any more. Its contexts may be destroyed
/// before it or after it; over a strand, the enumerator has to go before the strand's context.
template <class Executor = boost::asio::any_io_executor>
class basic_async_enumerator {
 public:
  /// The type of the executor on which the steps run.
  using executor_type = Executor;

  /// The same enumerator over another executor.
  template <class Executor2>
  struct rebind_executor {
    /// The rebound type.
    using other = basic_async_enumerator<Executor2>;
  };

  /// Makes an enumerator that runs steps on `ex`. Exceptions: what allocating throws.
  explicit basic_async_enumerator(executor_type const& ex)
      : executor_(ex),
        state_(std::allocate_shared<detail::enumerator_state>(
            detail::pool_allocator<detail::enumerator_state>())) {}

  /// Makes an enumerator over the executor of an execution context.
  template <detail::context_for<Executor> ExecutionContext>
  explicit basic_async_enumerator(ExecutionContext& context)
      : basic_async_enumerator(executor_type(context.get_executor())) {}

  /// Executors of the networking TS are refused: they cannot do what this needs.
  template <detail::ts_executor TsExecutor>
  explicit basic_async_enumerator(TsExecutor const&)
      : basic_async_enumerator(detail::instead_of<TsExecutor, Executor>()) {}

  basic_async_enumerator(basic_async_enumerator const&) = delete;
  basic_async_enumerator& operator=(basic_async_enumerator const&) = delete;

  /// Cancels the run that is on, as `cancel()` does.
  ~basic_async_enumerator() { cancel(); }

  /// The executor of the steps.
  executor_type get_executor() const noexcept { return executor_; }

  /// A completion token for an operation of the steps, whatever it completes with, which is
  /// dropped. The initiating function returns nothing; the completion counts for `co_yield`.
  ///
  /// The operation's handler has the enumerator's executor, memory of the library's pool, and a
  /// cancellation slot. If it is destroyed without having been called, the run is cancelled, as
  /// the steps might wait for it for ever; not if the initiating function throws, which has then
  /// begun nothing. What begins while no run is on counts for none. The token refers to the
  /// enumerator until the operation has begun.
  ///
  /// Exceptions: the initiating function throws also what allocating does. In the steady state
  /// nothing is allocated from the heap.
  auto callback() { return callback<>(); }

  /// The same, and writes what the operation completes with, moved, to the results: the first
  /// argument to the first, and so on. More arguments than results are dropped. Of several
  /// signatures, the one that fits the arguments best takes them; one with fewer arguments than
  /// results writes nothing.
  ///
  /// The results have to live as long as the run, or until the operation has completed.
  template <class... Ts>
  auto callback(Ts&... results) {
    return detail::callback_token<Executor, Ts...>{&executor_, state_.get(), {results...}};
  }

  /// Has the function judge the exceptions with which steps end from now on, on the enumerator's
  /// executor: true, the run completes with the exception; false, it was handled, and the run
  /// completes without one. If the function throws, the run completes with that. An empty function
  /// judges nothing, as in the beginning. Exceptions: what allocating throws.
  void on_error(std::function<bool(std::exception_ptr)> judge) {
    using function = detail::enumerator_state::judge const;
    state_->set_judge(judge ? std::allocate_shared<function>(detail::pool_allocator<function>(),
                                                             std::move(judge))
                            : nullptr);
  }

  /// Cancels the run that is on, and returns how many are: one or none. No step is taken from now
  /// on, but for one that another thread takes; see `async_run` for the rest.
  std::size_t cancel() noexcept {
    auto const run = state_->current();
    if (run) run->stop();
    return run ? 1 : 0;
  }

  /// Runs the steps from the first to the last, one run at a time.
  ///
  /// Completion signature: `void(std::exception_ptr)`, null if the steps have come to their end.
  /// Executor of the handler: its own, else `get_executor()`; neither it nor the first step runs
  /// inside this function. Cancellation: terminal, partial and total alike; no further step is
  /// taken, the operations in flight are asked to cancel themselves (terminal), and when the last
  /// of them has completed the steps are destroyed, and the run completes; if the steps come to
  /// their end meanwhile, it completes as if it had not been cancelled. It is the same if the
  /// handler is destroyed, but for the completion. Errors, as `boost::system::system_error`:
  /// `operation_aborted` (cancelled, or the enumerator destroyed), `operation_not_permitted`
  /// (another run is on; the steps are destroyed), `invalid_argument` (no steps); what the steps
  /// throw, see `on_error`. Threads: any, at any time. Exceptions: what allocating, moving the
  /// handler, connecting its slot or adding a service to the executor's context throws; no step
  /// was taken then.
  template <detail::token_for<void(std::exception_ptr)> Token = detail::default_token<Executor>>
  auto async_run(async_steps steps, Token&& token = Token()) {
    return boost::asio::async_initiate<Token, void(std::exception_ptr)>(run_initiation(*this),
                                                                        token, std::move(steps));
  }

 private:
  class run_initiation {
   public:
    using executor_type = Executor;

    explicit run_initiation(basic_async_enumerator& e) noexcept : enumerator_(&e) {}

    executor_type get_executor() const noexcept { return enumerator_->get_executor(); }

    template <class Handler>
    void operator()(Handler&& handler, async_steps steps) const {
      enumerator_->run(static_cast<Handler&&>(handler), std::move(steps.frame_));
    }

   private:
    basic_async_enumerator* enumerator_;
  };

  template <class Handler>
  void run(Handler&& handler, detail::steps_frame&& steps) {
    using run_type = detail::steps_run_over<Executor>;
    bool const has_steps = static_cast<bool>(steps);
    auto const run = std::allocate_shared<run_type>(detail::pool_allocator<run_type>(), this,
                                                    state_, std::move(steps), executor_);
    bool const is_on = has_steps && state_->admit(run);
    if (!is_on) {
      namespace errc = boost::system::errc;
      run->refuse(
          make_error_code(has_steps ? errc::operation_not_permitted : errc::invalid_argument));
    }
    try {
      if (is_on) {
        run->wait(detail::to_cancel, detail::steps_canceller(run));
        run->wait(detail::to_start, detail::steps_starter(run));
      }
      run->wait(detail::to_complete, detail::steps_run_handler<std::decay_t<Handler>>(
                                         run, static_cast<Handler&&>(handler)));
    } catch (...) {
      run->cancel(true);
      throw;
    }
    run->call_to_start();
  }

  Executor executor_;
  std::shared_ptr<detail::enumerator_state> state_;
};

/// An enumerator over any executor.
using async_enumerator = basic_async_enumerator<>;

}  // namespace asio_sync

#endif
