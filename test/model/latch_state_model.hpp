// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_MODEL_LATCH_STATE_MODEL_HPP
#define ASIO_SYNC_TEST_MODEL_LATCH_STATE_MODEL_HPP

#include "core_model.hpp"

#include <asio_sync/detail/core/latch_state.hpp>

#include <cstdint>

/// The number that is counted down under the checker, as a latch uses it.
namespace latch_model {

using core_model::explore, core_model::kept, core_model::one_of, core_model::wait_outcome;

struct node : core_model::wait_of<node> {
  node(core_model::completion& of, bool arrives) : wait_of(of), participant(arrives) {}

  bool const participant;
  model::plain<std::uint64_t> generation{0};
};

struct traits : core_model::traits_of<node> {
  static model::plain<std::uint64_t>& generation(node& wait) noexcept { return wait.generation; }
  static bool is_participant(node const& wait) noexcept { return wait.participant; }

  static void all_left(list& decided) noexcept {
    model::check(!decided.empty(), "somebody was queued");
    for (node* each = &decided.front(); each; each = list::following(*each)) {
      model::check(each->known->nobody_before(each->turn), "grants come in order");
      left(*each, decided);
    }
  }
};

class operation : public core_model::completion {
 public:
  /// The thread's own wait, before it is started.
  void make(bool arrives) { wait = model::make<node>(*this, arrives); }

  node* wait = nullptr;
};

class primitive : public core_model::primitive<asio_sync::detail::latch_state<traits>, operation> {
  using step = core_type::step;

 public:
  explicit primitive(int n) : core_model::primitive<core_type, operation>(std::uint64_t(n)) {}

  /// As an asynchronous operation starts: looked at without the lock, then queued.
  void start(operation& op) {
    op.make(false);
    if (core().admits()) return conclude(op, wait_outcome::granted);
    if (core().is_closed()) return conclude(op, wait_outcome::closed);
    enter(op);
  }

  /// The same for one that arrives: it has a count while it tries. `expired`: no time is left.
  void arrive(operation& op, bool expired = false) {
    op.make(true);
    core().count_up();
    wait_outcome const decided = arrive_now(expired);
    if (decided != wait_outcome::undecided) core().conclude(*op.wait, decided);
    unref();
    if (decided != wait_outcome::undecided)
      op.post();
    else
      enter(op);
  }

  /// Queues the wait that make() has made, which arrives with that.
  void enter(operation& op) {
    op.wait->known = &known_;
    list decided;
    bool const queued = core().enter(*op.wait, decided);
    complete(decided);
    if (!queued) complete(op);
  }

  /// An arrival whose wait nobody will ever complete.
  void turn_away() {
    list decided;
    core().turned_away(decided);
    complete(decided);
  }

  /// False if that would be below zero.
  bool count_down(std::uint64_t n = 1) {
    step const taken = core().lower(n);
    if (taken == step::to_zero) open();
    return taken != step::below_zero;
  }

  bool is_open() { return core().is_up(); }

  std::size_t waiters() { return core().waiters(); }

  /// The completion runs; it was granted.
  void require(operation& op) { model::check(finish(op), "it is released"); }

  /// The last check: it is open, nobody waits, and it is freed with the primitive.
  void end() {
    model::check(is_open() && !count_down(), "all have arrived");
    check_idle();
    abandon();
    check_gone();
  }

 private:
  using core_model::primitive<core_type, operation>::complete;

  void conclude(operation& op, wait_outcome outcome) {
    core().conclude(*op.wait, outcome);
    op.post();
  }

  // Where that decides the wait.
  wait_outcome arrive_now(bool expired) {
    wait_outcome const refused = core().is_closed() ? wait_outcome::closed
                                 : expired          ? wait_outcome::timed_out
                                                    : wait_outcome::undecided;
    step const taken = core().lower(1, refused == wait_outcome::undecided);
    if (taken == step::below_zero) return wait_outcome::invalid;
    if (taken == step::to_more) return refused;
    open();
    return refused == wait_outcome::closed ? refused : wait_outcome::granted;
  }

  void open() {
    if (core().try_raise()) return;
    list decided;
    core().raise(decided);
    complete(decided);
  }
};

}  // namespace latch_model

#endif
