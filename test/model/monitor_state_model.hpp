// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_MODEL_MONITOR_STATE_MODEL_HPP
#define ASIO_SYNC_TEST_MODEL_MONITOR_STATE_MODEL_HPP

#include "core_model.hpp"

#include <asio_sync/detail/core/monitor_state.hpp>
#include <asio_sync/detail/core/permit_state.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

/// The visits to a monitor, over its mutex, under the checker.
namespace visit_model {

using core_model::explore, core_model::kept, core_model::one_of, core_model::wait_outcome,
    core_model::wait_state;

using asio_sync::detail::visit_phase;

class monitor;

/// A plain wait, or a visit.
struct node : core_model::wait_of<node> {
  using wait_of::wait_of;

  bool is_visit = false;
  monitor* of = nullptr;
  model::plain<wait_outcome> mark{wait_outcome::undecided};
  model::plain<bool> is_cancelled{false};
  model::plain<visit_phase> phase{visit_phase::coming};
};

/// Visits that come back to the queue are older than others in it, so their order is the
/// scenarios' to check.
struct traits : core_model::traits_of<node, asio_sync::detail::decided_list<node>> {
  using visit = node;
  static constexpr bool exclusive = true;
  static std::uint64_t weight(node const&) noexcept { return 1; }
  static bool is_visit(node const& w) noexcept { return w.is_visit; }
  static bool looks_once(node const&) noexcept { return false; }
  static void changes(visit_phase from, visit_phase to) noexcept {
    model::check(asio_sync::detail::may_follow(from, to), "the phase may follow");
  }
  static inline void left(node& w, list& decided) noexcept;
};

/// What a visit does: enters once there is so much; or runs a function then.
enum class does { enter, invoke };

class operation : public core_model::completion {
 public:
  explicit operation(int needed = 0, does what = does::enter) : needs(needed), invokes(what) {}

  /// The thread's own wait, before it is started.
  node& make(bool is_visit) {
    wait = model::make<node>(*this);
    wait->is_visit = is_visit;
    return *wait;
  }

  node* wait = nullptr;
  int const needs;
  does const invokes;
  bool goes_on = false;  // its function has not ended when it returns
};

using visits = asio_sync::detail::monitor_state<asio_sync::detail::permit_state<traits>, traits>;

/// The shell runs its parts of a transition under the lock.
struct core_type : visits {
  using visits::visits;

  template <class Function>
  void with_lock(Function f) {
    std::lock_guard guard{lock()};
    f();
  }
};

/// The monitor, doing what monitor_core does. Whoever sends to the strand looks there itself.
class monitor : public core_model::primitive<core_type, operation, core_model::grant::hold> {
  using base = core_model::primitive<core_type, operation, core_model::grant::hold>;

 public:
  monitor() : base(std::uint64_t(1), std::uint64_t(1)) {}

  // --- What initiates ---

  bool try_enter() { return core().try_acquire(1, true); }

  void hold() { model::check(try_enter(), "it was free"); }

  /// As async_enter starts.
  void start(operation& op) {
    node& w = op.make(false);
    w.known = &known_;
    if (core().enter(w)) return;
    op.post();
  }

  /// As async_enter_when and async_invoke start.
  void visit(operation& op) {
    node& w = op.make(true);
    w.known = &known_;
    w.of = this;
    if (!core().enter(w)) send(w);
  }

  // --- What those do who are inside ---

  /// The object.
  int seen() {
    model::access(&object_);
    return object_;
  }

  void change(int by) {
    int const before = seen();
    model::access(&object_);
    model::check(object_ == before, "who is inside is alone");
    object_ = before + by;
  }

  /// An entry ends, whether the monitor lives or not.
  void leave() {
    core().leaving();
    release();
  }

  /// The function of a visit ends, which was suspended; or is destroyed.
  void end_function(operation& op, bool lost = false) {
    core().count_up();
    leave();
    core().end_function(*op.wait, lost);
    op.post();
  }

  // --- What ends waits ---

  /// By the waiting thread itself, or where its handler runs. True if a function runs, which it is
  /// passed on to.
  bool cancel(operation& op) {
    list decided;
    bool const runs = refuse(op, wait_outcome::aborted, decided);
    complete(decided);
    return runs;
  }

  std::size_t cancel_all() {
    list decided;
    std::size_t const refused =
        core().refuse_all_if([](node const&) { return true; }, wait_outcome::aborted, decided);
    complete(decided);
    return refused;
  }

  /// The timer of another thread, which knows a visit until it is delivered.
  void expire(operation& op) {
    list decided;
    {
      std::lock_guard guard{timer_};
      if (!op.known_to_timer) return;
      refuse(op, wait_outcome::timed_out, decided);
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
    dying_ = true;
    core().count_up();
    core().abandon(decided);
    complete(decided);
    core().end_visits(wait_outcome::aborted, decided);
    complete(decided);
    unref();
    unref();
  }

  /// The context of the strand ends.
  void lose_strand() { has_strand_ = false; }

  // --- What becomes of completions ---

  /// The completion runs; true if it is inside.
  bool finish(operation& op) {
    op.await_post();
    if (op.known_to_timer) {
      std::lock_guard guard{timer_};
      op.known_to_timer = false;
    }
    if (op.wait->phase != visit_phase::left) return base::deliver(op);
    op.outcome = op.wait->outcome;
    end_wait(op);
    return false;
  }

  void require(operation& op) { model::check(finish(op), "it has entered"); }

  /// It enters, changes the object, and leaves.
  void change_once(operation& op, int by) {
    require(op);
    change(by);
    leave();
  }

  void refused(operation& op, wait_outcome as) {
    model::check(op.is_posted() && !finish(op) && op.outcome == as, "it was refused");
  }

  /// The completion is destroyed.
  void drop(operation& op) {
    op.await_post();
    if (op.wait->phase == visit_phase::left || op.wait->outcome != wait_outcome::granted)
      return end_wait(op);
    list decided;
    if (core().drop(*op.wait, decided)) destroy();
    complete(decided);
    model::destroy(std::exchange(op.wait, nullptr));
  }

  // --- Checks ---

  std::size_t waiters() { return core().waiters(); }

  /// By the core, under the lock.
  void left_queue(node& w) noexcept { core().left_queue(w); }

  /// The last check: nobody is inside or waits, and it is freed with the primitive.
  void end() {
    model::check(core().waiters() == 0 && core().available() == 1, "nobody is there at the end");
    abandon();
    check_gone();
  }

 private:
  /// True if the function of the visit runs.
  bool refuse(operation& op, wait_outcome outcome, list& decided) {
    bool runs = false;
    if (op.wait->is_visit)
      core().refuse_visit(*op.wait, outcome, decided, runs);
    else
      core().refuse(*op.wait, outcome, decided);
    return runs;
  }

  void complete(list& decided) {
    while (!decided.empty()) send(decided.pop_front());
  }

  /// To its executor; a visit that is to look: to the strand.
  void send(node& w) {
    if (!w.is_visit || w.outcome != wait_outcome::granted || is_let_in(w.phase))
      return w.owner->post();
    core().with_lock([&] { core().let_look(w); });
    if (has_strand_) return look();
    list decided;
    core().with_lock([&] { core().give_up_looking(decided); });
    complete(decided);
    release();
  }

  void look() {
    for (bool more = true; more;) {
      node* visitor = nullptr;
      core().with_lock([&] { visitor = core().begin_to_look(); });
      if (visitor) {
        auto& op = static_cast<operation&>(*visitor->owner);
        if (seen() >= op.needs && core().let_in(*visitor, op.invokes == does::invoke))
          return enters(op);
        if (!core().park(*visitor)) visitor->owner->post();
      }
      list decided;
      more = core().hand_on(decided);
      complete(decided);
    }
    release();
  }

  void enters(operation& op) {
    if (op.invokes != does::invoke) return op.post();
    change(1);
    if (!op.goes_on) end_function(op);
  }

  void release() {
    if (core().try_release_uncontended(true)) return;
    list decided;
    if (!core().release(true, decided)) return unref();
    complete(decided);
  }

  void end_wait(operation& op) {
    unref();
    model::destroy(std::exchange(op.wait, nullptr));
  }

  model::plain<int> object_{0};
  bool has_strand_ = true;
};

void traits::left(node& w, list& decided) noexcept {
  traits_of::left(w, decided);
  if (w.is_visit) w.of->left_queue(w);
}

}  // namespace visit_model

#endif
