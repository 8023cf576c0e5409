// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_OPERATION_OPERATION_HPP
#define ASIO_SYNC_DETAIL_OPERATION_OPERATION_HPP

// The protocol between an operation and the shell. Read this file first, then homed_core.hpp.
//
// A primitive, a mutex for one, has a core, which decides which wait is next, and outlives the
// primitive while it is needed. A wait that cannot be decided at once has a waiter, which stands
// in the queue of the core. The shell is all that primitives share: operation/ and context/. It
// takes waits from their completion tokens to the core, and from the core to their executors.
//
// An operation is one call of an initiating function. It refers to a core, and holds the request
// of the call to the core, and the time that the wait may take. Asio may copy it. The shell uses
// only the members that operation_base has, or asks for:
//
//   initiate_wait()    chooses the way for the completion token             initiation.hpp
//   a coroutine        calls try_in_coroutine(), and then result() if the   coroutine_wait.hpp
//                      outcome is known. Otherwise it queues a waiter,
//                      suspends, and calls result() when it is resumed.
//   any other handler  start() puts it, with in_block(), into a waiter.     handler_waiter.hpp
//                      begin() calls tried(), and queues the waiter if      beginning.hpp
//                      the outcome is undecided.
//   a thread           calls try_now(), and if that is undecided, queues    thread_wait.hpp
//                      a waiter on its stack, and blocks.
//
// A verdict is the outcome of an attempt or of a wait: undecided, granted, perhaps with a value,
// or one of the refusals (closed, aborted, ...) in wait_outcome.

#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/core/wait_list.hpp>
#include <asio_sync/detail/operation/errors.hpp>
#include <asio_sync/detail/operation/result.hpp>

#include <type_traits>
#include <utility>

namespace asio_sync::detail {

template <class Operation, class Result, class Handler>
class awaitable_wait_of;

template <class Operation, class Source>
void start_wait(Operation const& operation, Source&& handler);

// True for an initiation whose executor may end before the initiation is called. Such an
// initiation has a member `has_executor()`. Asio's adapters may derive from an initiation: so the
// initiation says it by a member, which they inherit.
template <class Initiation>
inline constexpr bool initiation_may_lose_executor = false;
template <class Initiation>
  requires requires { requires Initiation::executor_may_end; }
inline constexpr bool initiation_may_lose_executor<Initiation> = true;

// Returns the refusal of a wait that is not free: the core is closed, or there is no time to wait.
// Undecided if the wait may queue. Takes the core instead of the operation, so that the compiler
// need not keep the operation in memory for the call.
template <class Core, class Limit>
ASIO_SYNC_COLD wait_outcome refusal_of(Core const& core, Limit limit) noexcept {
  if (core.is_closed()) return wait_outcome::closed;
  if (limit.expired()) return wait_outcome::timed_out;
  return wait_outcome::undecided;
}

// Returns a refusal, with an empty grant, to a coroutine in the form of its result, or throws it.
template <class Grant, class Result>
ASIO_SYNC_COLD auto refused(Result const& form, verdict decided) {
  if constexpr (std::is_void_v<Grant>)
    return form.value(error_of(decided));
  else
    return form.value(error_of(decided), Grant());
}

// The delivery of an operation whose completion has nothing but the error.
template <class Core>
struct no_grant {
  using core_type = Core;
  using grant = void;
};

// The base of all operations: their members with a default. Each operation declares five more:
//
//   Executor const& executor() const;           Returns the primitive's executor.
//   core_type& core() const;                    Returns the core that the operation waits for.
//   typename node::asked_type asked() const;    Returns the request to the core, which a waiter
//                                               keeps.
//   verdict try_now() const;                    Tries without waiting: granted, refused, or
//                                               undecided if the operation has to wait.
//   void track(waiter& w) const;                Names the wait in the output of Asio's handler
//                                               tracking.
//
// Derived: the operation. It hides each default that does not fit.
// Executor: the type of the primitive's executor.
// Delivery: `core_type`; `grant`, the type that a handler receives besides the error (a guard);
// and `make(core, verdict)`, which creates the grant from a verdict that is granted. Or no_grant.
// Limit: no_limit, wait_limit or a wait_limit::of, see wait_limit.hpp.
template <class Derived, class Executor, class Delivery, class Limit>
class operation_base {
 public:
  using executor_type = Executor;
  using delivery = Delivery;
  using core_type = typename Delivery::core_type;
  using node = typename core_type::node;
  using grant = typename Delivery::grant;

  Limit limit() const noexcept { return limit_; }

  // True if executor() may end before the primitive, with its context, like the strand of a
  // monitor. Handlers that need the executor are then destroyed without a call.
  static constexpr bool executor_may_end = false;
  // Returns false once executor() has ended.
  static constexpr bool has_executor() noexcept { return true; }

  // A wait is at home if its handler's executor belongs to the home of the core, the context of
  // the primitive's executor. Returns false if a wait that is at home here may go on to a core
  // where it is not: it then gets a route even to the plain executor of the home.
  static constexpr bool stays_at_home() noexcept { return true; }

  // Returns the verdict of the attempt for the waiter of a handler. An operation whose asked() has
  // tried already hides this, and reads the verdict from the waiter.
  verdict tried(node&) const noexcept(noexcept(std::declval<Derived const&>().try_now())) {
    return self().try_now();
  }

  // Tries like try_now(), but for a running coroutine, which can catch what this throws.
  ASIO_SYNC_INLINE verdict try_in_coroutine() const
      noexcept(noexcept(std::declval<Derived const&>().try_now())) {
    return self().try_now();
  }

  // Returns the result of a wait to its coroutine, or throws the error, as `form` says. `core` may
  // be gone unless the verdict is granted.
  template <class Result>
  ASIO_SYNC_INLINE static auto result(core_type* core, verdict decided, Result const& form) {
    if (!decided.granted()) return refused<grant>(form, decided);
    if constexpr (std::is_void_v<grant>)
      return form.value(error_code());
    else
      return form.value(error_code(), Delivery::make(*core, decided));
  }

  // Has, for a form of result, the completion signature, and the type that a coroutine receives.
  // The forms are in result.hpp: plain, as_tuple and redirect_error.
  template <class Result>
  using types = completion_types<Result, grant>;

  // Returns the form of result. An operation that has to act on an outcome before the handler or
  // the coroutine gets it, like an upgrade, returns a form that does so.
  template <class Result>
  static Result with_result(Result form) {
    return form;
  }

  // True if common() is not the whole operation, but a part whose type many operations share, so
  // that its wait is compiled once.
  static constexpr bool has_common_part = false;
  // Returns the part of the operation that waits. The part may refer to the whole operation.
  Derived const& common() const noexcept { return self(); }

  // Returns the handler for its waiter. An operation with parts that have to live until the
  // handler is called (a predicate) returns a handler that contains the handler and these parts.
  template <class Handler>
  static Handler&& in_block(Handler&& handler) noexcept {
    return static_cast<Handler&&>(handler);
  }

  // Tells a waiter where the parts are that in_block() has put into its handler.
  template <class Handler>
  static void attach(node&, Handler&) noexcept {}

  // Begins the wait of a handler. Operation: the whole operation, of which this may be a part.
  template <class Operation, class Handler>
  static void start(Operation const& whole, Handler&& handler) {
    start_wait(whole.common(), whole.in_block(static_cast<Handler&&>(handler)));
  }

  // Awaits the whole operation in a coroutine, which Handler resumes. An operation that awaits in
  // another way names another class.
  template <class Operation, class Result, class Handler>
  using awaitable_wait = awaitable_wait_of<Operation, Result, Handler>;

 protected:
  explicit operation_base(Limit limit) noexcept : limit_(limit) {}

  [[no_unique_address]] Limit limit_;

 private:
  Derived const& self() const noexcept { return static_cast<Derived const&>(*this); }
};

}  // namespace asio_sync::detail

#endif
