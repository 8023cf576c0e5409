// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_ASYNC_ENUMERATOR_HPP
#define ASIO_SYNC_ASYNC_ENUMERATOR_HPP

#include <asio_sync/detail/core/config.hpp>  // first

#include <asio_sync/detail/enumerator/callback.hpp>
#include <asio_sync/detail/enumerator/enumerator_run.hpp>
#include <asio_sync/detail/enumerator/steps_calls.hpp>
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

/// A coroutine of steps, which an enumerator runs. A function, a member function or a lambda that
/// returns `async_steps` says `co_yield n` to wait for n completions before it goes on. The
/// coroutine is lazy: nothing of it runs before `async_run()`. It may end with `co_return`, and
/// cannot `co_await`.
///
/// Exceptions: `co_yield n` throws `boost::system::system_error` with `invalid_argument` if n is
/// negative. It also throws the exception of an assignment to a result of `callback()`.
class [[nodiscard]] async_steps {
 public:
  /// The promise of the coroutine, which the language asks for.
  struct promise_type : detail::steps_promise {
    /// Returns the coroutine of this promise.
    async_steps get_return_object() noexcept {
      return async_steps({std::coroutine_handle<promise_type>::from_promise(*this), *this});
    }
  };

  /// Moves do not throw, and leave an object without steps, which `async_run()` refuses.
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

/// Runs a coroutine of steps. The steps begin operations with callbacks and go on when these
/// operations have completed: code that reads from top to bottom, over operations of any kind,
/// several at a time.
///
///     asio_sync::async_steps fetch(asio_sync::async_enumerator& e, url u) {
///       resolver.async_resolve(u.host, u.port, e.callback(error, endpoints));
///       co_yield 1;
///       if (error) co_return;
///       ...
///
/// An error code is data for the steps; an exception that leaves them ends the run.
///
/// The steps run on the enumerator's executor, on one thread at a time. So do the assignments to
/// the results of `callback()`: results change only while the steps are suspended in `co_yield`,
/// and never after the steps have ended.
///
/// Threads: every member but constructors and destructor may be called from any thread at any
/// time. To cancel a run, the executor has to be a strand, or the executor of a context that one
/// thread runs; all cancellation in Asio asks for the same.
/// Lifetime: the enumerator may be destroyed during a run. The run is then cancelled, and no
/// further step is taken. The contexts may be destroyed before or after the enumerator; if its
/// executor is a strand, the enumerator has to be destroyed before the strand's context. If a step
/// begins a coroutine on a strand, that strand's context has to outlive the callback.
template <class Executor = boost::asio::any_io_executor>
class basic_async_enumerator {
 public:
  /// The type of the executor on which the steps run.
  using executor_type = Executor;

  /// Names the enumerator over another executor.
  template <class Executor2>
  struct rebind_executor {
    using other = basic_async_enumerator<Executor2>;
  };

  /// Creates an enumerator that runs steps on `ex`.
  ///
  /// Exceptions: what allocating throws.
  explicit basic_async_enumerator(executor_type const& ex)
      : executor_(ex),
        core_(std::allocate_shared<detail::enumerator_core>(
            detail::pool_allocator<detail::enumerator_core>())) {}

  /// Creates an enumerator over the executor of an execution context.
  template <detail::context_for<Executor> ExecutionContext>
  explicit basic_async_enumerator(ExecutionContext& context)
      : basic_async_enumerator(executor_type(context.get_executor())) {}

  /// Rejects executors of the networking TS at compile time: they lack properties that the
  /// enumerator needs.
  template <detail::ts_executor TsExecutor>
  explicit basic_async_enumerator(TsExecutor const&)
      : basic_async_enumerator(detail::instead_of<TsExecutor, Executor>()) {}

  basic_async_enumerator(basic_async_enumerator const&) = delete;
  basic_async_enumerator& operator=(basic_async_enumerator const&) = delete;

  /// Cancels the current run, like `cancel()`.
  ~basic_async_enumerator() { cancel(); }

  /// Returns the executor of the steps.
  executor_type get_executor() const noexcept { return executor_; }

  /// Returns a completion token for an operation that the steps begin. The completion counts for
  /// `co_yield`, and its arguments are dropped. The initiating function returns nothing.
  ///
  /// The operation's handler has the enumerator's executor, memory of the library's pool, and a
  /// cancellation slot. If the handler is destroyed without having been called, the run is
  /// cancelled, because the steps might wait for the completion for ever. If the handler is
  /// destroyed because the initiating function throws, the run goes on: no operation has begun. An
  /// operation that begins while there is no run counts for no run, and writes no results.
  ///
  /// Lifetime: the token refers to the enumerator until the operation has begun.
  /// Exceptions: the initiating function also throws what allocating throws. In the steady state
  /// nothing is allocated from the heap.
  auto callback() { return callback<>(); }

  /// Returns a token like `callback()`, whose completion also writes its arguments to the results:
  /// it moves the first argument to the first result, and so on. Arguments without a result are
  /// dropped. If the operation has several completion signatures, the signature that fits the
  /// arguments best decides; a signature with fewer arguments than results writes nothing.
  ///
  /// Lifetime: the results have to live as long as the run, or until the operation has completed.
  template <class... Ts>
  auto callback(Ts&... results) {
    return detail::callback_token<Executor, Ts...>{&executor_, core_.get(), {results...}};
  }

  /// Sets the function that is called when steps end with an exception from now on. If it returns
  /// true, the run completes with the exception; if it returns false, it has handled the
  /// exception, and the run completes without an exception. If the function throws, the run
  /// completes with the function's exception. With an empty function, which is the default, the
  /// run completes with the exception of the steps.
  ///
  /// Executor: the function is called on the enumerator's executor.
  /// Exceptions: what allocating throws.
  void on_error(std::function<bool(std::exception_ptr)> judge) {
    using function = detail::enumerator_core::judge const;
    core_->set_judge(judge ? std::allocate_shared<function>(detail::pool_allocator<function>(),
                                                            std::move(judge))
                           : nullptr);
  }

  /// Cancels the current run, and returns the number of runs that it has cancelled: one or zero.
  /// No step is taken from now on, except a step that another thread is taking. `async_run` says
  /// what else a cancellation does.
  std::size_t cancel() noexcept {
    auto const run = core_->current();
    if (run) run->stop();
    return run ? 1 : 0;
  }

  /// Runs the steps from the first to the last. An enumerator has one run at a time.
  ///
  /// Completion signature: `void(std::exception_ptr)`, null if the steps have come to their end.
  /// Executor: the handler's, else `get_executor()`; neither the handler nor the first step runs
  /// inside this function.
  /// Cancellation: terminal, partial and total alike. No further step is taken, and the operations
  /// in flight are cancelled (terminal). When the last operation has completed, the steps are
  /// destroyed, and the run completes. If a step that is already being taken comes to the end of
  /// the steps, the run completes as if it had not been cancelled. If the handler is destroyed
  /// without having been called, the run is cancelled in this way, and nobody is told.
  /// Errors: a `boost::system::system_error` with `operation_aborted` (cancelled, or the
  /// enumerator destroyed), with `operation_not_permitted` (there is another run; the steps are
  /// destroyed), or with `invalid_argument` (no steps); otherwise the exception of the steps, see
  /// `on_error`.
  /// Threads: any, at any time.
  /// Exceptions: what allocating, moving the handler, connecting its slot or adding a service to
  /// the executor's context throws; no step was taken then.
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

  // Begins a run. Three waits for flags of the run take it to its executor and to its handler, see
  // steps_calls.hpp: `to_cancel` and `to_start` run on the enumerator's executor, `to_complete`
  // calls the handler. A run that is refused only completes. If a wait throws, the run ends
  // without a step, and its executor is not asked to cancel anything.
  template <class Handler>
  void run(Handler&& handler, detail::steps_frame&& steps) {
    using run_type = detail::enumerator_run_over<Executor>;
    bool const has_steps = static_cast<bool>(steps);
    auto const run = std::allocate_shared<run_type>(detail::pool_allocator<run_type>(), this,
                                                    core_, std::move(steps), executor_);
    bool const is_on = has_steps && core_->admit(run);
    if (!is_on) {
      namespace errc = boost::system::errc;
      run->fail(
          make_error_code(has_steps ? errc::operation_not_permitted : errc::invalid_argument));
    }
    try {
      if (is_on) {
        run->wait(detail::to_cancel, detail::steps_canceller(run));
        run->wait(detail::to_start, detail::steps_starter(run));
      }
      run->wait(detail::to_complete, detail::enumerator_run_handler<std::decay_t<Handler>>(
                                         run, static_cast<Handler&&>(handler)));
    } catch (...) {
      run->cancel(true);
      throw;
    }
    run->call_to_start();
  }

  Executor executor_;
  std::shared_ptr<detail::enumerator_core> core_;
};

/// An enumerator over any executor.
using async_enumerator = basic_async_enumerator<>;

}  // namespace asio_sync

#endif
