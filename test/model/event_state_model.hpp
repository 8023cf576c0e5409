// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_MODEL_EVENT_STATE_MODEL_HPP
#define ASIO_SYNC_TEST_MODEL_EVENT_STATE_MODEL_HPP

#include "core_model.hpp"

#include <asio_sync/detail/core/event_state.hpp>

#include <cstdint>

/// The flag under the checker, as an event that stays set until it is reset.
namespace signal_model {

using core_model::explore, core_model::kept, core_model::one_of, core_model::wait_outcome;

struct node : core_model::wait_of<node> {
  using wait_of::wait_of;

  model::plain<std::uint64_t> generation{0};
};

struct traits : core_model::traits_of<node> {
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
  node& make() {
    wait = model::make<node>(*this);
    return *wait;
  }

  node* wait = nullptr;
};

class primitive : public core_model::primitive<asio_sync::detail::event_state<traits>, operation> {
 public:
  explicit primitive(bool raised = false) : core_model::primitive<core_type, operation>(raised) {}

  /// As an asynchronous operation starts: looked at without the lock, then queued.
  void start(operation& op) {
    op.make();
    if (core().admits()) return conclude(op, wait_outcome::granted);
    if (core().is_closed()) return conclude(op, wait_outcome::closed);
    enter(op);
  }

  void set() {
    if (core().try_raise()) return;
    list decided;
    core().raise(decided);
    complete(decided);
  }

  void reset() { core().lower(); }

  bool is_set() { return core().is_up(); }

  std::size_t waiters() { return core().waiters(); }

  /// The completion runs; it was granted.
  void require(operation& op) { model::check(finish(op), "it is released"); }

  /// The last check: nobody waits, and it is freed with the primitive.
  void end() {
    check_idle();
    abandon();
    check_gone();
  }

 private:
  void conclude(operation& op, wait_outcome outcome) {
    core().conclude(*op.wait, outcome);
    op.post();
  }
};

}  // namespace signal_model

#endif
