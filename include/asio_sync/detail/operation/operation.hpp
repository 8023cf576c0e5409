// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_OPERATION_OPERATION_HPP
#define ASIO_SYNC_DETAIL_OPERATION_OPERATION_HPP

// The protocol between an operation and the shell. Read this file first.
//
// An operation is one call of an initiating function. It refers to a core, and holds what the call
// asks of the core and how long the wait may take. Asio may copy it. The shell takes an operation
// from its completion token to its handler, and knows nothing of it but the members below:
//
//   initiate_wait()    chooses the way for the token                        initiation.hpp
//   a coroutine        calls try_in_coroutine(), and result() if the        coroutine_wait.hpp
//                      outcome is known; else queues a waiter, suspends,
//                      and calls result() when it is resumed
//   any other handler  goes with in_block() into a waiter, which begin()    handler_waiter.hpp
//                      has try, and queues if need be                       beginning.hpp
//   a thread           calls try_now(), and queues a waiter on its stack    thread_wait.hpp

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

// True for an initiation whose executor may end before it is called; it has a member
// `has_executor()` then.
template <class Initiation>
inline constexpr bool executor_may_end = false;

// Returns why a wait is refused at once, if it is. A function of the core, which the compiler need
// not look for in memory.
template <class Core, class Limit>
ASIO_SYNC_COLD wait_outcome refusal_of(Core const& core, Limit limit) noexcept {
  if (core.is_closed()) return wait_outcome::closed;
  if (limit.expired()) return wait_outcome::timed_out;
  return wait_outcome::undecided;
}

// Gives a refusal to a coroutine, with an empty grant.
template <class Grant, class Result>
ASIO_SYNC_COLD auto refused(Result const& form, verdict decided) {
  if constexpr (std::is_void_v<Grant>)
    return form.value(error_of(decided.outcome()));
  else
    return form.value(error_of(decided.outcome()), Grant());
}

// The members of an operation that have a default. Each operation derives from this, and declares
// these five, which have none:
//
//   Executor const& executor() const;           Returns the primitive's executor.
//   core_type& core() const;                    Returns the core that it waits for.
//   typename node::asked_type asked() const;    Returns what its waiter asks the core for.
//   verdict try_now() const;                    Takes what is free, or refuses what never will be.
//                                               Undecided: the operation has to wait.
//   void track(waiter& w) const;                Names the wait in the output of Asio's handler
//                                               tracking.
//
// Delivery: its `core_type`; its `grant`, the type that a handler receives besides the error, or
// void; `make(core, verdict)`, which makes a grant of what the core has granted.
template <class Derived, class Executor, class Delivery, class Limit>
class operation_base {
 public:
  using executor_type = Executor;
  using delivery = Delivery;
  using core_type = typename Delivery::core_type;
  using node = typename core_type::node;
  using grant = typename Delivery::grant;

  Limit limit() const noexcept { return limit_; }

  // True if executor() may end before the primitive, with its context: a monitor's strand does.
  // Handlers that need it are never run then, and are destroyed.
  static constexpr bool executor_may_end = false;
  // Returns false once executor() has ended.
  static constexpr bool has_executor() noexcept { return true; }

  // Returns whether a wait that is at home at its primitive is so wherever it goes. Otherwise it
  // has a route also there.
  static constexpr bool stays_at_home() noexcept { return true; }

  // Returns what the waiter of a handler has come to, whose asked() may have tried already.
  verdict tried(node&) const noexcept(noexcept(std::declval<Derived const&>().try_now())) {
    return self().try_now();
  }

  // As try_now(), but on the thread of a running coroutine, which can catch what this throws.
  ASIO_SYNC_INLINE verdict try_in_coroutine() const
      noexcept(noexcept(std::declval<Derived const&>().try_now())) {
    return self().try_now();
  }

  // Returns what a coroutine gets, or throws it. `core` may have ended unless it has granted.
  template <class Result>
  ASIO_SYNC_INLINE static auto result(core_type* core, verdict decided, Result const& form) {
    if (!decided.granted()) return refused<grant>(form, decided);
    if constexpr (std::is_void_v<grant>)
      return form.value(error_code());
    else
      return form.value(error_code(), Delivery::make(*core, decided));
  }

  // The signature of the completion, and the type that a coroutine gets, for a form of result.
  template <class Result>
  using types = completion_types<Result, grant>;

  // Returns the form of result with what the operation does to an outcome before it is given on.
  template <class Result>
  static Result with_result(Result form) {
    return form;
  }

  // True if common() is a part of the operation, and compiled once for many operations.
  static constexpr bool has_common_part = false;
  // Returns the part of the operation that waits. It may refer to the rest.
  Derived const& common() const noexcept { return self(); }

  // Returns the handler as it goes into its waiter: with what has to live as long as the handler.
  template <class Handler>
  static Handler&& in_block(Handler&& handler) noexcept {
    return static_cast<Handler&&>(handler);
  }

  // Tells a waiter where its handler, which in_block() has made, keeps what lives with it.
  template <class Handler>
  static void attach(node&, Handler&) noexcept {}

  // Begins the wait of a handler. Operation: the whole of this.
  template <class Operation, class Handler>
  static void start(Operation const& whole, Handler&& handler) {
    start_wait(whole.common(), whole.in_block(static_cast<Handler&&>(handler)));
  }

  // How a coroutine, which the handler resumes, awaits the whole of this.
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
