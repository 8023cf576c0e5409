// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_LOCKS_GUARDED_HPP
#define ASIO_SYNC_DETAIL_LOCKS_GUARDED_HPP

// Runs an operation while a guard is held. The code that acquires the guard and begins the
// operation is compiled once for all handlers whose executors have one type.

#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/locks/guard_loss.hpp>
#include <asio_sync/detail/locks/guarding.hpp>
#include <asio_sync/detail/operation/cancellation_relay.hpp>
#include <asio_sync/detail/operation/errors.hpp>
#include <asio_sync/detail/operation/handler_waiter.hpp>
#include <asio_sync/detail/operation/wait_limit.hpp>
#include <asio_sync/detail/platform/asio_compat.hpp>
#include <asio_sync/detail/platform/executor.hpp>
#include <asio_sync/detail/platform/threading.hpp>
#include <asio_sync/error.hpp>

#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/system/error_code.hpp>

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace asio_sync::detail {

// The completion signatures that can tell that the guard was not acquired.
template <class Signature>
inline constexpr bool begins_with_error = false;
template <class... Results>
inline constexpr bool begins_with_error<void(error_code, Results...)> = true;
template <class Signature>
inline constexpr bool has_default_results = false;
template <class... Results>
inline constexpr bool has_default_results<void(error_code, Results...)> =
    (std::is_default_constructible_v<Results> && ...);

// Signature: of the operation, which begins with an error.
template <class Held, class Executor, class Allocator, class Signature>
class guarded_state;

// The part of a guarded operation that knows neither the handler's type nor the operation's.
template <class Held, class Executor, class Allocator, class... Results>
class guarded_state<Held, Executor, Allocator, void(error_code, Results...)> {
 public:
  enum class action : unsigned char { begin, drop };
  using executor_type = Executor;
  using allocator_type = Allocator;
  using perform_function = void(guarded_state&, action);
  using complete_function = void(guarded_state&, error_code, Results&&...);

  guarded_state(perform_function& p, complete_function& c, Executor const& ex, Allocator const& a)
      : perform(&p), complete(&c), executor(ex), allocator(a), loss(ex) {}

  perform_function* perform;
  complete_function* complete;
  Executor executor;
  [[no_unique_address]] Allocator allocator;
  Held guard{};
  std::shared_ptr<cancellation_relay> relay;  // to the wait and the operation; null without a slot
  [[no_unique_address]] guard_loss<Held, Executor> loss;
};

template <class State>
class guarded_step;

// Completes a guarded operation: the handler that the operation is initiated with.
template <class Held, class Executor, class Allocator, class... Results>
class guarded_step<guarded_state<Held, Executor, Allocator, void(error_code, Results...)>> {
  using state_type = guarded_state<Held, Executor, Allocator, void(error_code, Results...)>;
  using action = typename state_type::action;

 public:
  using executor_type = typename guard_loss<Held, Executor>::executor_type;
  using allocator_type = Allocator;
  using cancellation_slot_type = asio::cancellation_slot;

  explicit guarded_step(state_type& s) noexcept : state_(&s) {}

  // Returns a copy: its execute() may go on when the step has run, and has freed the state.
  executor_type get_executor() const noexcept { return state_->loss.executor(state_->executor); }
  allocator_type get_allocator() const noexcept { return state_->allocator; }
  cancellation_slot_type get_cancellation_slot() const noexcept {
    return relay() ? relay()->slot() : cancellation_slot_type();
  }

  void operator()(error_code error, Results... results) {
    state_type& s = *state_.release();
    s.complete(s, error, static_cast<Results&&>(results)...);
  }

  std::shared_ptr<cancellation_relay> const& relay() const noexcept { return state_->relay; }

  void fail(error_code error) { (*this)(error, Results()...); }

  void begin(Held&& guard) {
    state_->guard = std::move(guard);
    state_type& s = *state_.release();
    s.perform(s, action::begin);
  }

 private:
  struct drop {
    void operator()(state_type* s) const noexcept { s->perform(*s, action::drop); }
  };

 protected:
  std::unique_ptr<state_type, drop> state_;
};

// The handler that the guard is acquired with. A cancellation on the way withdraws the guard. It
// has no immediate executor: the operation begins on the executor.
template <class Held, class State>
struct guard_acquired : guarded_step<State> {
  using executor_type = typename State::executor_type;
  executor_type get_executor() const noexcept { return this->state_->executor; }

  void operator()(error_code error, Held guard) {
    if (error) return this->fail(error);
    if (this->relay() && !this->relay()->begin_stage()) {
      guard = Held();  // before the handler is called
      return this->fail(asio::error::operation_aborted);
    }
    this->begin(std::move(guard));
  }
};

template <class Guarding, class Limit, class State>
ASIO_SYNC_NOINLINE void acquire(Guarding const& by, Limit limit, guarded_step<State> step) {
  if constexpr (!can_be_lost<typename Guarding::held>)
    if (is_running(step.get_executor()))
      if (auto guard = by.try_now()) return step.begin(std::move(guard));
  cancellation_relay::initiation const begins(step.relay());
  guard_acquired<typename Guarding::held, State> acquired{std::move(step)};
  if constexpr (std::is_same_v<Limit, no_limit>)
    by.wait(std::move(acquired));
  else
    by.wait_until(wait_limit(limit).deadline(), std::move(acquired));
}

// Keeps an operation until it has completed, because it may own what it works on, and until its
// initiation has returned. The initiation may return later: on another thread, or if the operation
// completes inside it. The memory is the pool's: the handler's allocator may have gone by then.
template <class Operation>
class owned_operation {
  struct block {
    template <class Source>
    // NOLINTNEXTLINE(bugprone-forwarding-reference-overload): it is neither copied nor moved
    explicit block(Source&& source) : operation(static_cast<Source&&>(source)) {}

    Operation operation;
    process_atomic<bool> has_one_owner{true};
  };
  using memory = block_memory<alignof(block), std::allocator<void>>;

  struct leave {
    void operator()(block* b) const noexcept {
      if (!b->has_one_owner.exchange(true, std::memory_order_acq_rel)) return;
      std::destroy_at(b);
      memory(std::allocator<void>()).deallocate(b, sizeof(block));
    }
  };

 public:
  template <class Source>
  // NOLINTNEXTLINE(bugprone-forwarding-reference-overload): it is neither copied nor moved
  explicit owned_operation(Source&& source) {
    memory of{std::allocator<void>()};
    auto const deallocate = [&of](void* place) { of.deallocate(place, sizeof(block)); };
    std::unique_ptr<void, decltype(deallocate)> place(of.allocate(sizeof(block)), deallocate);
    block_.reset(::new (place.get()) block(static_cast<Source&&>(source)));
    static_cast<void>(place.release());
  }

  // Initiates the operation, which may end this.
  template <class Handler>
  void begin(Handler handler) {
    block_->has_one_owner.store(false, std::memory_order_relaxed);
    std::unique_ptr<block, leave> const running(block_.get());
    static_cast<Operation&&>(running->operation)(std::move(handler));
  }

 private:
  std::unique_ptr<block, leave> block_;
};

// The part that does not know the handler's type.
template <class State, class Operation>
class guarded_operation : public State {
 protected:
  template <class Source>
  guarded_operation(Source&& operation, typename State::perform_function& p,
                    typename State::complete_function& c, typename State::executor_type const& ex,
                    typename State::allocator_type const& a)
      : State(p, c, ex, a), operation_(static_cast<Source&&>(operation)) {}

  ASIO_SYNC_NOINLINE void begin() {
    if constexpr (can_be_lost<decltype(State::guard)>) {
      asio::dispatch(begin_on_strand{guarded_step<State>(*this), this});
    } else {
      cancellation_relay::initiation const begins(this->relay);
      operation_.begin(guarded_step<State>(*this));
    }
  }

 private:
  // Returns the error if the operation is not to begin any more: on the way to the strand it was
  // cancelled, or the guard was lost.
  error_code refusal() const noexcept {
    if (this->relay && this->relay->is_cancelled()) return asio::error::operation_aborted;
    return this->guard ? error_code() : make_error_code(error::lease_lost);
  }

  struct begin_on_strand {
    using executor_type = typename guarded_step<State>::executor_type;
    executor_type get_executor() const noexcept { return step.get_executor(); }

    void operator()() {
      if (auto const refused = self->refusal()) return step.fail(refused);
      if (!self->relay) self->relay = cancellation_relay::make();
      self->loss.watch(self->guard, self->relay);
      cancellation_relay::initiation const begins(self->relay);
      self->operation_.begin(std::move(step));
    }

    guarded_step<State> step;
    guarded_operation* self;
  };

  owned_operation<Operation> operation_;
};

// The whole, in a block of memory from the handler's allocator.
template <class State, class Operation, class Handler>
class guarded_block final : public guarded_operation<State, Operation> {
  using base = guarded_operation<State, Operation>;
  using typename State::action;
  using typename State::allocator_type;
  using memory = block_memory<std::max(alignof(Handler), alignof(base)), allocator_type>;

 public:
  // Throws what allocating, copying or moving the arguments, and connecting the slot throw.
  template <class SourceHandler, class Source, class Executor>
  static guarded_step<State> make(SourceHandler&& handler, Source&& operation,
                                  Executor const& executor) {
    allocator_type const allocator = asio::get_associated_allocator(handler);
    memory of(allocator);
    auto const deallocate = [&of](void* place) { of.deallocate(place, sizeof(guarded_block)); };
    std::unique_ptr<void, decltype(deallocate)> place(of.allocate(sizeof(guarded_block)),
                                                      deallocate);
    auto* const self =
        ::new (place.get()) guarded_block(static_cast<SourceHandler&&>(handler),
                                          static_cast<Source&&>(operation), executor, allocator);
    static_cast<void>(place.release());
    guarded_step<State> step(*self);
    if constexpr (has_slot<Handler>)
      self->relay = cancellation_relay::make(slot_of(self->handler_));
    return step;
  }

 private:
  template <class SourceHandler, class Source, class Executor>
  guarded_block(SourceHandler&& handler, Source&& operation, Executor const& ex,
                allocator_type const& a)
      : base(static_cast<Source&&>(operation), perform_on, complete_with, ex, a),
        handler_(static_cast<SourceHandler&&>(handler)) {}

  static void perform_on(State& s, action what) {
    auto& self = static_cast<guarded_block&>(s);
    switch (what) {
      case action::begin: return self.begin();
      case action::drop: return self.drop();
    }
  }

  template <class... Results>
  static void complete_with(State& s, error_code error, Results&&... results) {
    error = s.loss.end(s.guard, error);
    Handler handler = static_cast<guarded_block&>(s).take();
    static_cast<Handler&&>(handler)(error, static_cast<Results&&>(results)...);
  }

  // Moves the handler out. The operation ends, then the guard; also if the move throws.
  Handler take() {
    struct ending {
      guarded_block& self;
      decltype(State::guard) guard;
      ~ending() { self.free(); }
    } const at_exit{*this, std::move(this->guard)};
    return Handler(static_cast<Handler&&>(handler_));
  }

  // The handler is destroyed last: its destructor may wait for the guard.
  void drop() noexcept {
    try {
      static_cast<void>(take());
    } catch (...) {  // the handler was destroyed in its place
    }
  }

  void free() noexcept {
    memory of(this->allocator);
    if (this->relay) this->relay->end();
    this->~guarded_block();
    of.deallocate(this, sizeof(guarded_block));
  }

  Handler handler_;
};

template <class Guarding, class Limit, class Signature>
class guarded_initiation {
 public:
  using executor_type = typename Guarding::executor_type;

  guarded_initiation(Guarding const& by, Limit limit) : by_(by), limit_(limit) {}

  executor_type get_executor() const noexcept { return by_.get_executor(); }

  template <class Handler, class Operation>
  void operator()(Handler&& handler, Operation&& operation) const {
    using handler_type = std::decay_t<Handler>;
    auto const executor = asio::get_associated_executor(handler, get_executor());
    using state =
        guarded_state<typename Guarding::held, std::decay_t<decltype(executor)>,
                      std::decay_t<asio::associated_allocator_t<handler_type>>, Signature>;
    acquire(by_, limit_,
            guarded_block<state, std::decay_t<Operation>, handler_type>::make(
                static_cast<Handler&&>(handler), static_cast<Operation&&>(operation), executor));
  }

 private:
  Guarding by_;
  [[no_unique_address]] Limit limit_;
};

// The default token of async_guarded; any for an argument that it refuses.
template <class Lockable>
struct guarded_token {
  using type = asio::deferred_t;
};
template <can_guard Lockable>
struct guarded_token<Lockable> {
  using type = default_token<typename guarding<std::remove_cvref_t<Lockable>>::executor_type>;
};

template <class Lockable, class Operation, class Limit, class Token>
auto initiate_guarded(Lockable&& lockable, Operation&& operation, Limit limit, Token&& token) {
  if constexpr (!can_guard<Lockable>) {
    static_assert(can_guard<Lockable>,
                  "an operation is guarded by a mutex, shared(mutex), keyed(mutex, key) or a "
                  "semaphore, none of them a temporary or const");
  } else if constexpr (!takes_token<std::decay_t<Operation>>) {
    static_assert(takes_token<std::decay_t<Operation>>,
                  "a guarded operation is a deferred one, or a function object that takes a "
                  "completion token");
  } else {
    using by = guarding<std::remove_cvref_t<Lockable>>;
    using signature = asio::completion_signature_of_t<std::decay_t<Operation>>;
    if constexpr (!begins_with_error<signature>)
      static_assert(begins_with_error<signature>,
                    "what a guarded operation completes with has to begin with an error_code");
    else if constexpr (!has_default_results<signature>)
      static_assert(has_default_results<signature>,
                    "what a guarded operation completes with, besides the error, has to be made "
                    "without arguments where the guard cannot be acquired");
    else
      return asio::async_initiate<Token, signature>(
          guarded_initiation<by, Limit, signature>(by(lockable), limit), token,
          static_cast<Operation&&>(operation));
  }
}

}  // namespace asio_sync::detail

#endif
