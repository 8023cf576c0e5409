// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_MODEL_CONDITION_STATE_MODEL_HPP
#define ASIO_SYNC_TEST_MODEL_CONDITION_STATE_MODEL_HPP

#include "core_model.hpp"
#include "permit_state_model.hpp"

#include <asio_sync/detail/core/condition_state.hpp>
#include <asio_sync/detail/core/permit_state.hpp>
#include <asio_sync/detail/core/wait_list.hpp>

#include <cstddef>
#include <mutex>
#include <utility>

/// The core of a condition under the checker, together with that of a mutex.
namespace condition_model {

using core_model::explore, core_model::kept, core_model::one_of, core_model::wait_outcome,
    core_model::wait_state;

struct wait;
class mutex;

/// Where a wait stands in the queue of the condition.
struct place {
  explicit place(condition_model::wait& w) : wait(w) {}

  condition_model::wait& wait;
  std::uint64_t turn = 0;
  core_model::record* known = nullptr;
  place* next = nullptr;
  place* prev = nullptr;
  model::plain<wait_state> state{wait_state::fresh};
  model::plain<wait_outcome> outcome{wait_outcome::undecided};
  model::plain<wait_outcome> mark{wait_outcome::undecided};
  model::plain<bool> notified_alone{false};
};

/// A wait for the mutex: on its own, or to go on after the condition.
struct wait : core_model::wait_of<wait> {
  using wait_of::wait_of;

  place at{*this};
  mutex* over = nullptr;  // of one that waits on the condition
};

struct mutex_traits : core_model::traits_of<wait> {
  static constexpr bool exclusive = true;
  static permit_model::permits weight(wait const&) noexcept { return 1; }
};

class operation : public core_model::completion {
 public:
  /// The thread's own wait, before it is started.
  condition_model::wait& make() {
    wait = model::make<condition_model::wait>(*this);
    return *wait;
  }

  static permit_model::permits weight() { return 1; }

  condition_model::wait* wait = nullptr;
  bool holds = false;  // once it has arrived
};

/// The mutex. Its lock of timers is that of the waits on the condition, too: they are known where
/// their handlers run, whichever queue they are in.
class mutex : public permit_model::primitive<mutex_traits, operation> {
  using base = permit_model::primitive<mutex_traits, operation>;

 public:
  using base::complete;

  model::spin_lock& timer() { return timer_; }
  core_model::record& known() { return known_; }

  /// cancel(): not the waits on the condition, which only come back.
  std::size_t cancel_own() {
    return cancel_if([](wait const& w) { return w.over == nullptr; });
  }

  std::size_t waiters() { return core().waiters(); }
};

struct traits : core_model::traits_of<place, asio_sync::detail::wait_list<place>> {
  using ended = condition_model::mutex::list;

  static void const* mutex(wait const& w) noexcept { return w.over; }

  static bool lock_again(wait& w, ended& decided) noexcept {
    left(w);
    w.state = wait_state::fresh;
    w.outcome = wait_outcome::undecided;
    if (w.over->core().enter(w)) return false;
    // Its turn is none of the mutex's: it has not queued there.
    decided.wait_list<wait>::push_back(w);
    return true;
  }

  static bool leave_mutex(wait& w, ended& decided) noexcept {
    return w.over->core().refuse(w, wait_outcome::aborted, decided);
  }

  static void end(wait& w, wait_outcome outcome, ended& decided) noexcept {
    left(w);
    w.over->core().conclude(w, outcome);
    decided.push_back(w);
  }

 private:
  // Who is notified goes on to the mutex after all that are older.
  static void left(wait& w) noexcept {
    core_model::record& known = *w.at.known;
    model::check((known.queued & w.at.turn) != 0, "who leaves the queue was in it");
    if (w.at.outcome == wait_outcome::granted)
      model::check(known.nobody_before(w.at.turn), "they are notified in order");
    ++known.left;
    known.queued &= ~w.at.turn;
  }
};

/// The condition, doing what condition_core does.
class condition {
 public:
  using core_type = asio_sync::detail::condition_state<traits>;
  using list = mutex::list;

  explicit condition(mutex& over) : over_(over), core_(model::make<core_type>()) {}
  condition(condition const&) = delete;
  condition& operator=(condition const&) = delete;

  /// Whoever uses the core does so before its end: not just by luck.
  core_type& core() {
    static_cast<void>(int(in_use_));
    return *core_;
  }

  // --- What initiates ---

  /// As an asynchronous wait starts, whose guard holds its mutex.
  void start(operation& op) { start(op, over_); }

  void start(operation& op, mutex& over) {
    op.make();
    enter(op, over);
  }

  /// Queues the wait that make() has made.
  void enter(operation& op) { enter(op, over_); }

  /// A wait that has come, with its mutex, waits again, as a predicate was false: or it has come
  /// again.
  void wait_again(operation& op) {
    op.take_post();
    model::check(op.wait->outcome == wait_outcome::granted, "it has its mutex");
    queue_up(op);
  }

  /// Before it starts. `again`: it may queue more than once.
  void set_timed(operation& op, bool again = false) {
    over_.set_timed(op);
    op.stays_known = again;
  }

  // --- What ends waits ---

  void notify_one() {
    list decided;
    core().notify_one(decided);
    complete(decided);
  }

  void notify_all() {
    list decided;
    core().notify_all(decided);
    complete(decided);
  }

  /// By the waiting thread itself, or where its handler runs: the wait has not been delivered.
  void cancel(operation& op) {
    list decided;
    core().refuse(op.wait->at, wait_outcome::aborted, decided);
    complete(decided);
  }

  std::size_t cancel_all() {
    list decided;
    std::size_t const refused = core().refuse_all(wait_outcome::aborted, decided);
    complete(decided);
    return refused;
  }

  /// The timer of another thread; does nothing once the wait has been handed out.
  void expire(operation& op) {
    list decided;
    {
      std::lock_guard guard{over_.timer()};
      if (!op.known_to_timer) return;
      if (core().refuse(op.wait->at, wait_outcome::timed_out, decided)) op.known_to_timer = false;
    }
    complete(decided);
  }

  void close() {
    list decided;
    core().close(decided);
    complete(decided);
  }

  /// The destructor.
  void abandon() {
    list decided;
    core().abandon(decided);
    complete(decided);
    unref();
  }

  // --- What becomes of completions ---

  /// The completion runs; true if it holds the mutex then.
  bool finish(operation& op) {
    op.await_post();
    if (op.stays_known) {
      std::lock_guard guard{over_.timer()};
      op.known_to_timer = false;
    }
    wait& w = *op.wait;
    mutex& over = *w.over;
    bool const granted = w.outcome == wait_outcome::granted;
    op.holds = granted && !over.core().is_dead();
    op.outcome = op.holds  ? wait_outcome(w.at.outcome)
                 : granted ? wait_outcome::aborted
                           : wait_outcome(w.outcome);
    if (!op.holds) over.unref();
    over.unref();
    unref();
    model::destroy(std::exchange(op.wait, nullptr));
    return op.holds;
  }

  /// The completion runs, uses what the mutex protects, and gives the mutex back.
  void use_once(operation& op) {
    model::check(finish(op), "it has the mutex");
    over_.use();
    over_.release_guard();
  }

  /// The completion is destroyed.
  void drop(operation& op) {
    op.await_post();
    mutex& over = *op.wait->over;
    bool const alone = op.wait->at.notified_alone && op.wait->at.outcome == wait_outcome::granted;
    over.drop(op);
    over.unref();
    if (alone) notify_one();
    unref();
  }

  /// The context of its handler ends; the completion is destroyed.
  void evict(operation& op) {
    list decided;
    core().evict(op.wait->at, decided);
    complete(decided);
    drop(op);
  }

  // --- Checks ---

  std::size_t waiters() { return core().waiters(); }

  void check_gone() {
    model::check(known_.joined == known_.left && known_.queued == 0, "who joined has left");
    model::check(!model::alive(core_), "the core is freed");
  }

  /// The last check: nobody waits, and it is freed with the primitive.
  void end() {
    model::check(core().waiters() == 0, "nobody is queued at the end");
    abandon();
    check_gone();
  }

 private:
  void enter(operation& op, mutex& over) {
    wait& w = *op.wait;
    w.over = &over;
    w.known = &over.known();
    w.at.known = &known_;
    over.core().count_up();
    core().count_up();
    queue_up(op);
  }

  // Of a wait that holds its mutex.
  void queue_up(operation& op) {
    wait& w = *op.wait;
    mutex& over = *w.over;
    wait_outcome const refused = core().enter(w.at);
    if (refused == wait_outcome::undecided) return over.release_guard();
    w.at.outcome = refused;  // without the mutex if the condition has ended
    if (refused == wait_outcome::closed || refused == core().ended_as()) {
      over.core().conclude(w, refused);
      over.release_guard();
    } else {
      w.state = wait_state::decided;
      w.outcome = wait_outcome::granted;
    }
    over.complete(op);
  }

  void complete(list& decided) { over_.complete(decided); }

  void unref() {
    if (!core().count_down()) return;
    in_use_ = 0;
    model::destroy(core_);
  }

  mutex& over_;
  core_model::record known_;
  core_type* core_;
  model::plain<int> in_use_;
};

}  // namespace condition_model

#endif
