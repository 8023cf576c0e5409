// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CONDITION_CONDITION_WAIT_HPP
#define ASIO_SYNC_DETAIL_CONDITION_CONDITION_WAIT_HPP

// The waits on a condition: with or without a predicate, by whom.

#include <asio_sync/detail/condition/condition_core.hpp>
#include <asio_sync/detail/condition/condition_lock.hpp>
#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/operation/beginning.hpp>
#include <asio_sync/detail/operation/errors.hpp>
#include <asio_sync/detail/operation/initiation.hpp>
#include <asio_sync/detail/operation/inner_handler.hpp>
#include <asio_sync/detail/operation/operation.hpp>
#include <asio_sync/detail/operation/thread_wait.hpp>
#include <asio_sync/detail/operation/wait_limit.hpp>
#include <asio_sync/detail/platform/asio_compat.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/system/error_code.hpp>

#include <concepts>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

namespace asio_sync::detail {

// What may stand between the lock and the token.
template <class Predicate>
concept wait_predicate = std::predicate<std::add_lvalue_reference_t<std::decay_t<Predicate>>>;

// What a wait completes with: an rvalue lock comes back.
template <class Lock>
struct wait_completion {
  using signature = void(boost::system::error_code, Lock);
};
template <class Lock>
struct wait_completion<Lock&> {
  using signature = void(boost::system::error_code);
};

// A predicate where a token could stand. Asks first whether it is a token for what the wait
// completes with: a generic lambda is compiled for the arguments that it is asked about.
template <class Predicate, class Lock>
concept predicate_and_no_token =
    !token_for<Predicate, typename wait_completion<Lock>::signature> && wait_predicate<Predicate>;

struct no_predicate {};

// Calls a predicate, whatever its type.
template <class Predicate>
bool looks_at(void* predicate) {
  return (*static_cast<Predicate*>(predicate))();
}

// A predicate in an operation, which Asio may copy: one that can only be moved goes with the copy,
// as it is good for one launch.
template <class Predicate>
class launched_predicate {
  using source =
      std::conditional_t<std::is_copy_constructible_v<Predicate>, Predicate const&, Predicate&&>;

 public:
  template <class Source>
  explicit launched_predicate(std::in_place_t, Source&& from)
      : predicate_(static_cast<Source&&>(from)) {}
  launched_predicate(launched_predicate&&) noexcept(
      std::is_nothrow_move_constructible_v<Predicate>) = default;
  launched_predicate(launched_predicate const& other) : predicate_(other.launch()) {}
  launched_predicate& operator=(launched_predicate const&) = delete;
  ~launched_predicate() = default;

  // Copies or moves it.
  source launch() const noexcept { return static_cast<source>(predicate_); }

  Predicate& operator*() const noexcept { return predicate_; }

 private:
  mutable Predicate predicate_;
};

// The predicate of a wait. Its wait_begins() is called when a wait begins, which still has its
// lock.
template <class Predicate>
struct plain_predicate {
  bool operator()() { return predicate(); }
  static void wait_begins() noexcept {}

  Predicate predicate;
};

// A handler in its block, with what else has to be there until it is called: its predicate, and
// the lock that it is to receive.
template <class Handler, class Predicate, class Lock>
struct condition_handler {
  void attach_to(condition_waiter& w) noexcept {
    if constexpr (!std::is_void_v<Lock>) w.lock_at_end = std::addressof(lock);
    if constexpr (!std::is_same_v<Predicate, no_predicate>) {
      predicate.wait_begins();
      w.request.predicate = {&looks_at<Predicate>, std::addressof(predicate)};
    }
  }

  void operator()(boost::system::error_code error) {
    if constexpr (std::is_void_v<Lock>)
      std::move(handler)(error);
    else
      std::move(handler)(error, std::move(lock));
  }

  Handler const& inner() const noexcept { return handler; }

  Handler handler;
  [[no_unique_address]] Predicate predicate;
  [[no_unique_address]] std::conditional_t<std::is_void_v<Lock>, no_predicate, Lock> lock{};
};

template <class Handler, class Predicate, class Lock>
inline constexpr bool is_associated_as_inner<condition_handler<Handler, Predicate, Lock>> = true;

// A wait with the caller's lock, and how long it may take. All that is compiled of it once,
// whatever its predicate; `has_predicate`: whether it has one.
template <class Executor, class Lock, class Limit>
class condition_operation : public operation_base<condition_operation<Executor, Lock, Limit>,
                                                  Executor, no_grant<condition_core>, Limit> {
 public:
  condition_operation(Executor const& ex, condition_core& core, Lock& lock, Limit limit,
                      bool has_predicate) noexcept
      : condition_operation::operation_base(limit),
        executor_(&ex),
        core_(&core),
        lock_(&lock),
        has_predicate_(has_predicate) {}

  Executor const& executor() const noexcept { return *executor_; }
  condition_core& core() const noexcept { return *core_; }
  Lock& lock() const noexcept { return *lock_; }

  condition_waiter::asked_type asked() const noexcept {
    return {lock_, &functions_of_lock<Lock>, this->limit_.expired(), predicate_};
  }

  // Whether one that is at home at the condition needs nobody else: it is so at the mutex, too,
  // the same service tells both of its end, and it does not stay in the heap of the deadlines
  // while it looks.
  bool stays_at_home() const noexcept {
    mutex_core const* const mutex = lock_access<Lock>::look(*lock_).mutex;
    if (!mutex || mutex->service() != core_->service()) return false;
    return !has_predicate_ || !wait_limit(this->limit_).timed();
  }

  // Refuses what can be told at once; otherwise the mutex has to be let go of, or the predicate to
  // be looked at on the waiter's executor.
  verdict try_now() const noexcept {
    mutex_hold const held = lock_access<Lock>::look(*lock_);
    if (!held.holds) return wait_outcome::not_permitted;
    if (lock_access<Lock>::is_refused_by(*core_, *lock_)) return wait_outcome::invalid;
    if (core_->is_closed()) return wait_outcome::closed;
    if (core_->waits_over_another(held.mutex)) return wait_outcome::invalid;
    if (!has_predicate_ && this->limit_.expired()) return wait_outcome::timed_out;
    return wait_outcome::undecided;
  }

  // The same where a coroutine is running: a lock that is not to come back is let go of.
  ASIO_SYNC_NOINLINE verdict try_in_coroutine() const noexcept {
    verdict const refused = try_now();
    if (refused.outcome() == wait_outcome::closed) let_go();
    return refused;
  }

  // The predicate has been called, within kept_cores. Undecided if the wait has to queue.
  ASIO_SYNC_NOINLINE verdict seen(kept_cores<Lock> const& kept, bool is_true) const noexcept {
    if (kept.mutex_is_dead()) return wait_outcome::aborted;
    if (is_true) return wait_outcome::granted;
    wait_outcome const ended = core_->ended_as();
    if (ended != wait_outcome::undecided) return let_go(), ended;
    return this->limit_.expired() ? wait_outcome::timed_out : wait_outcome::undecided;
  }

  template <class Handler>
  static auto in_block(Handler&& handler) {
    return condition_handler<std::decay_t<Handler>, no_predicate, void>{
        static_cast<Handler&&>(handler), {}};
  }
  template <class Handler>
  static void attach(condition_waiter& w, Handler& handler) noexcept {
    handler.attach_to(w);
  }

  // The same with another limit.
  condition_operation within(Limit limit) const noexcept {
    condition_operation result(*this);
    result.limit_ = limit;
    return result;
  }

  // Names it in the output of Asio's handler tracking.
  void track(waiter& w) const {
    track_creation(executor(), w, "async_condition", core_->primitive(), "async_wait");
  }

 protected:
  // The same for a coroutine that has looked, or whose predicate is to be looked at.
  condition_operation with(condition_predicate const& predicate) const noexcept {
    condition_operation result(*this);
    result.predicate_ = predicate;
    return result;
  }

 private:
  void let_go() const noexcept {
    mutex_hold const held = lock_access<Lock>::take(*lock_);
    if (!held.mutex) return;  // the mutex is dead
    mutex_core& mutex = *held.mutex;
    mutex.count_up();
    if (held.holds) mutex.release_counted();
    lock_access<Lock>::put(*lock_, {mutex.is_dead() ? nullptr : &mutex, false});
    mutex.unref();
  }

  Executor const* executor_;
  condition_core* core_;
  Lock* lock_;
  bool has_predicate_;
  condition_predicate predicate_{};
};

// The same with its predicate.
template <class Executor, class Lock, class Limit, class Predicate>
class looking_operation : public condition_operation<Executor, Lock, Limit> {
  using base = condition_operation<Executor, Lock, Limit>;

 public:
  looking_operation(Executor const& ex, condition_core& core, Lock& lock, Limit limit,
                    Predicate&& predicate)
      : base(ex, core, lock, limit, true), predicate_(std::in_place, std::move(predicate)) {}

  static constexpr bool has_common_part = true;
  base common() const noexcept {
    (*predicate_).wait_begins();
    return base::with({&looks_at<Predicate>, std::addressof(*predicate_), &thrown_, has_looked_});
  }

  // A coroutine looks at once.
  verdict try_in_coroutine() const {
    verdict const refused = base::try_in_coroutine();
    if (refused.decided()) return refused;
    (*predicate_).wait_begins();
    kept_cores<Lock> const kept(this->core(), this->lock());
    has_looked_ = true;
    return this->seen(kept, (*predicate_)());
  }

  // Throws what the predicate has thrown while the coroutine was suspended.
  template <class Result>
  ASIO_SYNC_INLINE auto result(condition_core* core, verdict decided, Result const& form) const {
    if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
    return base::result(core, decided, form);
  }

  // The predicate goes with a handler into its block.
  template <class Handler>
  auto in_block(Handler&& handler) const {
    return condition_handler<std::decay_t<Handler>, Predicate, void>{
        static_cast<Handler&&>(handler), predicate_.launch()};
  }

 private:
  launched_predicate<Predicate> predicate_;
  mutable std::exception_ptr thrown_;
  mutable bool has_looked_ = false;
};

// The initiation of a wait that carries the lock through: it is Asio's to keep until then.
template <class Executor, class Lock, class Limit, class Predicate>
class carrying_initiation {
 public:
  using executor_type = Executor;

  carrying_initiation(Executor const& ex, condition_core& core, Limit limit, Predicate predicate)
      : executor_(&ex),
        core_(&core),
        limit_(limit),
        predicate_(std::in_place, std::move(predicate)) {}

  executor_type get_executor() const noexcept { return *executor_; }

  // The lock is taken once nothing can throw any more.
  template <class Handler>
  void operator()(Handler&& handler, Lock&& lock) const {
    constexpr bool has_predicate = !std::is_same_v<Predicate, no_predicate>;
    start_wait(condition_operation<Executor, Lock, Limit>(*executor_, *core_, lock, limit_,
                                                          has_predicate),
               condition_handler<std::decay_t<Handler>, Predicate, Lock>{
                   static_cast<Handler&&>(handler), predicate_.launch()});
  }

 private:
  Executor const* executor_;
  condition_core* core_;
  [[no_unique_address]] Limit limit_;
  [[no_unique_address]] launched_predicate<Predicate> predicate_;
};

// Blocks the calling thread until the wait is over; returns how: as a deadlock, if it would block
// a thread that runs the context of the condition or of the mutex.
template <class Operation>
wait_outcome wait_in_thread_with(Operation const& operation, mutex_core& mutex) {
  condition_core& core = operation.core();
  if (core.home_runs_here() || mutex.home_runs_here()) return wait_outcome::deadlock;
  completion_queue::drain_if_any();
  way_to_thread way;
  condition_waiter self([](waiter&, waiter_action) {}, &core, operation.asked());
  self.way = &way;
  if (core.enter(self)) way.wait(self, operation.limit());
  static_cast<void>(core.ends(self));
  return core.arrive(self.decided(), false).outcome();
}

}  // namespace asio_sync::detail

#endif
