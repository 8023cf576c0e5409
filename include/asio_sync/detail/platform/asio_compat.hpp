// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_PLATFORM_ASIO_COMPAT_HPP
#define ASIO_SYNC_DETAIL_PLATFORM_ASIO_COMPAT_HPP

// All that differs between versions of Asio, from 1.26 (Boost 1.81) on, and the few names of its
// detail namespace that the library needs.

#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/core/wait_list.hpp>

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detail/operation.hpp>
#include <boost/asio/detail/scheduler.hpp>
#include <boost/asio/detail/scheduler_operation.hpp>
#include <boost/asio/detail/timer_scheduler.hpp>
#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/asio/version.hpp>

#if BOOST_ASIO_VERSION < 102600
#error "asio_sync needs Boost 1.81 or newer"
#endif
#if BOOST_ASIO_VERSION >= 102800
#include <boost/asio/associated_immediate_executor.hpp>
#endif

#include <cstddef>
#include <type_traits>
#include <utility>

// What specialises templates of Asio stands where Asio's own stand.
#ifdef BOOST_ASIO_INLINE_NAMESPACE_BEGIN
#define ASIO_SYNC_ASIO_NAMESPACE_BEGIN BOOST_ASIO_INLINE_NAMESPACE_BEGIN
#define ASIO_SYNC_ASIO_NAMESPACE_END BOOST_ASIO_INLINE_NAMESPACE_END
#else
#define ASIO_SYNC_ASIO_NAMESPACE_BEGIN
#define ASIO_SYNC_ASIO_NAMESPACE_END
#endif

// The initiations of spawn and co_spawn, whose own headers are not needed for their names.
namespace boost::asio {
ASIO_SYNC_ASIO_NAMESPACE_BEGIN
namespace detail {
template <typename Executor>
class initiate_spawn;
template <typename Executor>
class initiate_co_spawn;
}  // namespace detail
ASIO_SYNC_ASIO_NAMESPACE_END
}  // namespace boost::asio

namespace asio_sync {

namespace asio = boost::asio;

namespace detail {

// Whether an initiation starts a coroutine, with a stack or without.
template <class Initiation>
inline constexpr bool starts_coroutine = false;
template <class Executor>
inline constexpr bool starts_coroutine<asio::detail::initiate_spawn<Executor>> = true;
template <class Executor>
inline constexpr bool starts_coroutine<asio::detail::initiate_co_spawn<Executor>> = true;

// The executor type of a handler made by use_future.
template <class Executor>
inline constexpr bool is_promise_executor = false;
template <class T, class Blocking>
inline constexpr bool is_promise_executor<asio::detail::promise_executor<T, Blocking>> = true;

// Whether a handler may answer with the executor that it is offered although it has one of that
// type: an any_completion_handler without an executor of its own does.
template <class Executor>
inline constexpr bool answers_with_candidate =
    std::is_same_v<Executor, asio::any_completion_executor>;

// What Asio puts before a completion that it keeps: larger where its own debugging is on, and
// where the system's own completion ports are its queue, as on Windows.
inline constexpr std::size_t operation_size = sizeof(asio::detail::operation);

template <std::size_t Size>
struct more_room {
  std::byte bytes[Size];
};
template <>
struct more_room<0> {};

// Whether a part of a context has been shut down, or is being. Asio keeps that to itself, but what
// names a member in an explicit instantiation may name a private one.
template <class Part, auto Flag>
struct shutdown_flag {
  friend bool is_shut_down(Part const& part) noexcept { return part.*Flag != 0; }
};
bool is_shut_down(asio::detail::scheduler const& part) noexcept;
bool is_shut_down(asio::detail::timer_scheduler const& part) noexcept;
template struct shutdown_flag<asio::detail::scheduler, &asio::detail::scheduler::shutdown_>;
template struct shutdown_flag<asio::detail::timer_scheduler,
                              &asio::detail::timer_scheduler::shutdown_>;

template <class Part>
bool has_shut_down(asio::execution_context& context) {
  return asio::has_service<Part>(context) && is_shut_down(asio::use_service<Part>(context));
}

// Whether a context ends: its queue does, or what destroys the handlers of its timers and sockets.
inline bool is_ending(asio::execution_context& context) {
  return has_shut_down<asio::detail::scheduler>(context) ||
         has_shut_down<asio::detail::timer_scheduler>(context);
}

// The queue of an io_context, of a thread_pool where that has one of the same kind, and of the
// timers of any other context.
using io_queue = asio::detail::io_context_impl;

inline io_queue* queue_of(asio::execution_context& context) {
  if constexpr (!std::is_same_v<io_queue, asio::detail::scheduler>)
    if (asio::has_service<asio::detail::scheduler>(context)) return nullptr;
  return asio::has_service<io_queue>(context) ? &asio::use_service<io_queue>(context) : nullptr;
}

// Stands at the end of a queue that is about to be destroyed, and tells the owner when all before
// it has been.
template <class Owner>
class queue_end : asio::detail::operation {
 public:
  explicit queue_end(Owner& owner) noexcept : asio::detail::operation(&reached), owner_(owner) {}

  void put_behind(io_queue& queue) noexcept { queue.post_immediate_completion(this, false); }

 private:
  static void reached(void*, asio::detail::operation* self, boost::system::error_code const&,
                      std::size_t) {
    static_cast<queue_end*>(self)->owner_.queue_has_ended();
  }

  Owner& owner_;
};

// Asio's handler tracking (BOOST_ASIO_ENABLE_HANDLER_TRACKING): each wait is an operation of it,
// from its initiation to its handler.
#ifdef BOOST_ASIO_ENABLE_HANDLER_TRACKING
inline constexpr bool tracks_handlers = true;
struct tracked_waiter : asio::detail::handler_tracking::tracked_handler {};

template <class Executor>
void track_creation(Executor const& ex, tracked_waiter& w, char const* type, void* primitive,
                    char const* operation) {
  BOOST_ASIO_HANDLER_CREATION(
      (asio::query(ex, asio::execution::context), w, type, primitive, 0, operation));
}

class tracked_completion {
 public:
  explicit tracked_completion(tracked_waiter& w) : completion_(w) {}
  template <class... Args>
  void begin(Args const&... args) {
    completion_.invocation_begin(args...);
  }
  void end() { completion_.invocation_end(); }

 private:
  asio::detail::handler_tracking::completion completion_;
};
#else
inline constexpr bool tracks_handlers = false;
struct tracked_waiter {};
template <class Executor>
void track_creation(Executor const&, tracked_waiter&, char const*, void*, char const*) noexcept {}

struct tracked_completion {
  explicit tracked_completion(tracked_waiter&) noexcept {}
  template <class... Args>
  void begin(Args const&...) noexcept {}
  void end() noexcept {}
};
#endif

// The default completion token of an executor; `deferred` where it has none, as in newer Asio.
template <class Executor>
using default_token =
    std::conditional_t<std::is_void_v<typename asio::default_completion_token<Executor>::type>,
                       asio::deferred_t, typename asio::default_completion_token<Executor>::type>;

// Stands in for the executor of an operation: what a handler answers with that has none.
class no_executor {
 public:
  no_executor() noexcept : context_(nullptr) {}  // not to be asked for its context
  explicit no_executor(asio::execution_context& context) noexcept : context_(&context) {}

  no_executor require(asio::execution::blocking_t::never_t) const noexcept { return *this; }
  asio::execution_context& query(asio::execution::context_t) const noexcept { return *context_; }

  template <class Function>
  void execute(Function&&) const noexcept {}

  friend bool operator==(no_executor const&, no_executor const&) noexcept = default;

 private:
  asio::execution_context* context_;
};

// Whether the type of a handler lets it bring an immediate executor of its own.
#if BOOST_ASIO_VERSION >= 102800
template <class Handler>
inline constexpr bool has_immediate_executor =
    !std::is_same_v<asio::associated_immediate_executor_t<Handler, no_executor>, no_executor>;

// Calls f with the handler's own immediate executor, and returns what that returns; false if there
// is none. (An any_completion_handler tells only when it is asked.)
template <class Handler, class Function>
bool visit_immediate_executor(Handler const& handler, asio::execution_context& context,
                              Function&& f) {
  auto const ex = asio::get_associated_immediate_executor(handler, no_executor(context));
  if constexpr (requires { ex.template target<no_executor>(); })
    if (ex.template target<no_executor>()) return false;
  return f(ex);
}
#else
template <class Handler>
inline constexpr bool has_immediate_executor = false;
#endif

// What as_tuple and redirect_error adapt: the token under them, and for redirect_error the error
// code that it assigns. Partial forms, of newer Asio, adapt the default token of the executor.
template <class Token>
struct adapted_token {
  using base = Token;
  static constexpr bool as_tuple = false;
  static constexpr bool redirects = false;
};

template <class Token>
struct adapted_token<asio::as_tuple_t<Token>> {
  using base = Token;
  static constexpr bool as_tuple = true;
  static constexpr bool redirects = false;
};

template <class Token>
struct adapted_token<asio::redirect_error_t<Token>> {
  using base = Token;
  static constexpr bool as_tuple = false;
  static constexpr bool redirects = true;
};

#if BOOST_ASIO_VERSION >= 103400
template <>
struct adapted_token<asio::partial_as_tuple> : adapted_token<asio::as_tuple_t<void>> {};
template <>
struct adapted_token<asio::partial_redirect_error> : adapted_token<asio::redirect_error_t<void>> {
};
#endif

// What initiating functions accept. In Asio 1.26 redirect_error of deferred does not compile;
// where its error goes is seen to here.
template <class Token>
inline constexpr bool redirects_deferred = adapted_token<std::decay_t<Token>>::redirects&&
    std::is_same_v<typename adapted_token<std::decay_t<Token>>::base, asio::deferred_t>;
template <class Token, class Signature>
concept token_for = redirects_deferred<Token> || asio::completion_token_for<Token, Signature>;

template <class Token>
boost::system::error_code& redirection(Token const& token) noexcept {
  return token.ec_;
}

template <class Token>
inline constexpr bool is_use_awaitable = false;
template <class Executor>
inline constexpr bool is_use_awaitable<asio::use_awaitable_t<Executor>> = true;

template <class Token>
struct use_awaitable_executor;
template <class Executor>
struct use_awaitable_executor<asio::use_awaitable_t<Executor>> {
  using type = Executor;
};

// The handler that resumes a coroutine with the verdict on a wait.
template <class Executor>
using resumption = asio::detail::awaitable_async_op_handler<void(verdict), Executor>;

template <class Handler>
inline constexpr bool is_resumption = false;
template <class Executor>
inline constexpr bool is_resumption<resumption<Executor>> = true;

// True if an operation can be called with a completion token: it is a deferred one or a function.
template <class Operation>
inline constexpr bool takes_token =
    std::is_invocable_v<Operation, asio::detail::completion_signature_probe>;

// A token that hands out the initiation of an operation instead of starting it.
struct take_initiation {};

// An initiation that a coroutine tries before it suspends: see coroutine_wait.hpp.
template <class Initiation>
concept ready_initiation = requires {
  typename Initiation::tries_before_suspending;
};

// The coroutine asks operations before it suspends where it awaits them through the specialisation
// below. Where that is not possible, every operation goes through the executor.
#if defined(ASIO_SYNC_PLAIN_AWAITABLES) || defined(BOOST_ASIO_ENABLE_HANDLER_TRACKING)
inline constexpr bool awaits_ready = false;
#else
#define ASIO_SYNC_AWAITS_READY 1
inline constexpr bool awaits_ready = true;
#endif

}  // namespace detail
}  // namespace asio_sync

namespace boost::asio {
ASIO_SYNC_ASIO_NAMESPACE_BEGIN

template <typename Signature>
class async_result<asio_sync::detail::take_initiation, Signature> {
 public:
  template <typename Initiation>
  ASIO_SYNC_INLINE static std::decay_t<Initiation> initiate(Initiation&& initiation,
                                                            asio_sync::detail::take_initiation) {
    return std::forward<Initiation>(initiation);
  }
};

#ifdef ASIO_SYNC_AWAITS_READY
namespace detail {

// What a coroutine awaits when it awaits a deferred operation of this library: asks the operation
// in await_ready(), so that one that need not wait is done without a handler, a frame or a trip.
// The other way, to complete the handler inside the initiation, would nest.
template <typename Signature, typename Initiation, typename Executor>
  requires asio_sync::detail::ready_initiation<Initiation>
class awaitable_async_op<Signature, deferred_async_operation<Signature, Initiation>, Executor> {
 public:
  using handler_type = asio_sync::detail::resumption<Executor>;

  ASIO_SYNC_INLINE awaitable_async_op(deferred_async_operation<Signature, Initiation>&& op,
                                      awaitable_frame_base<Executor>* frame)
      : wait_(std::move(op)(asio_sync::detail::take_initiation())), frame_(frame) {}

  // Whatever can throw does so here, out of co_await.
  ASIO_SYNC_INLINE bool await_ready() { return wait_.ready() || (prepare(), false); }

  void await_suspend(coroutine_handle<void>) {
    frame_->after_suspend(
        [](void* arg) {
          auto* const self = static_cast<awaitable_async_op*>(arg);
          self->wait_.launch(handler_type(self->frame_->detach_thread(), self->result_));
        },
        this);
  }

  ASIO_SYNC_INLINE auto await_resume() {
    return wait_.result(wait_.was_ready() ? wait_.outcome() : handler_type::resume(result_));
  }

 private:
  ASIO_SYNC_NOINLINE ASIO_SYNC_FLATTEN void prepare() {
    wait_.prepare(frame_->await_transform(this_coro::executor).await_resume(),
                  frame_->await_transform(this_coro::cancellation_state).await_resume().slot());
  }

  typename Initiation::template awaitable_wait<handler_type> wait_;
  awaitable_frame_base<Executor>* frame_;
  typename handler_type::result_type result_;  // once it is resumed
};

}  // namespace detail
#endif

ASIO_SYNC_ASIO_NAMESPACE_END
}  // namespace boost::asio

#endif
