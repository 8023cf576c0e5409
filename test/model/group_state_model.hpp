// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_MODEL_GROUP_STATE_MODEL_HPP
#define ASIO_SYNC_TEST_MODEL_GROUP_STATE_MODEL_HPP

#include "core_model.hpp"

#include <asio_sync/detail/core/group_state.hpp>

#include <cstdint>

/// The number that rises and falls under the checker, as a group uses it.
namespace group_model {

using core_model::explore, core_model::kept, core_model::wait_outcome;

struct node : core_model::wait_of<node> {
  using wait_of::wait_of;

  model::plain<std::uint64_t> generation{0};
};

/// What is counted and in the list.
struct branch {
  branch* next = nullptr;
  branch* prev = nullptr;
};

struct traits : core_model::traits_of<node> {
  using operation = branch;

  static model::plain<std::uint64_t>& generation(node& wait) noexcept { return wait.generation; }

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
  void make() { wait = model::make<node>(*this); }

  node* wait = nullptr;
};

class primitive : public core_model::primitive<asio_sync::detail::group_state<traits>, operation> {
 public:
  /// As a join starts: looked at without the lock, then queued.
  void start(operation& op) {
    op.make();
    if (core().admits()) return conclude(op, wait_outcome::granted);
    if (core().is_closed()) return conclude(op, wait_outcome::closed);
    enter(op);
  }

  /// Queues the wait that make() has made.
  void enter(operation& op) {
    op.wait->known = &known_;
    if (!core().enter(*op.wait)) complete(op);
  }

  void add() { model::check(core().add(1), "not too many"); }

  /// False if less was added.
  bool done() {
    list decided;
    bool const counted = core().done(1, decided);
    complete(decided);
    return counted;
  }

  /// An operation begins: it has a count, as its handler may outlive the primitive.
  void begin(branch& b) {
    model::check(core().track(b), "not too many");
    core().count_up();
  }

  void end(branch& b) {
    list decided;
    core().let_go(b, decided);
    complete(decided);
    unref();
  }

  int in_list() {
    int n = 0;
    core().visit([&](branch&) { ++n; });
    return n;
  }

  std::uint64_t pending() { return core().pending(); }
  std::size_t waiters() { return core().waiters(); }

  /// The completion runs; it was granted.
  void require(operation& op) { model::check(finish(op), "nothing is pending"); }

  /// The last check: nothing is pending, nobody waits, and it is freed with the primitive.
  void end_all() {
    model::check(pending() == 0 && core().is_up() && in_list() == 0, "all have ended");
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
};

}  // namespace group_model

#endif
