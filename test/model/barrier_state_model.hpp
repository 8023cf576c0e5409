// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_MODEL_BARRIER_STATE_MODEL_HPP
#define ASIO_SYNC_TEST_MODEL_BARRIER_STATE_MODEL_HPP

#include "core_model.hpp"

#include <asio_sync/detail/core/barrier_state.hpp>

#include <cstdint>

/// The participants of phases under the checker, as a barrier has them.
namespace barrier_model {

using core_model::explore, core_model::kept, core_model::one_of, core_model::wait_outcome,
    core_model::wait_state;

struct node : core_model::wait_of<node> {
  using wait_of::wait_of;

  model::plain<std::uint64_t> generation{0};
  model::plain<bool> leads{false};
};

/// What ends a phase: counted, and perhaps failing. Whoever is released sees that it has run.
struct phases {
  model::plain<int> completed{0};
  bool fails = false;
  void (*inside)(void*) = nullptr;
  void* with = nullptr;
};

class completion_of_phase {
 public:
  explicit completion_of_phase(phases* of) noexcept : phases_(of) {}

  bool operator()() noexcept {
    phases_->completed = phases_->completed + 1;
    if (phases_->inside) phases_->inside(phases_->with);
    return !phases_->fails;
  }

 private:
  phases* phases_;
};

struct traits : core_model::traits_of<node> {
  using completion = completion_of_phase;

  static model::plain<std::uint64_t>& generation(node& wait) noexcept { return wait.generation; }
  static void lead(node& wait) noexcept { wait.leads = true; }

  static void all_left(list& decided) noexcept {
    model::check(!decided.empty(), "somebody was queued");
    for (node* each = &decided.front(); each; each = list::following(*each))
      if (each->state == wait_state::queued) {
        model::check(each->known->nobody_before(each->turn), "they come in order");
        left(*each, decided);
      }
  }
};

class operation : public core_model::completion {
 public:
  /// The thread's own wait, before it is started.
  void make() { wait = model::make<node>(*this); }

  node* wait = nullptr;
  bool leads = false;
};

class primitive
    : public core_model::primitive<asio_sync::detail::barrier_state<traits>, operation> {
  using base = core_model::primitive<core_type, operation>;

 public:
  explicit primitive(int n) : primitive(n, new_phases()) {}
  ~primitive() { model::destroy(phases_); }

  /// As an asynchronous arrival starts: it tries with a count, then queues. `expired`: no time is
  /// left.
  void arrive(operation& op, bool expired = false) {
    op.make();
    core_type& to = core();
    to.count_up();
    list others;
    asio_sync::detail::verdict const decided = to.try_arrive(expired, others);
    complete(others);
    if (decided.decided()) to.conclude(*op.wait, decided);
    unref();
    if (decided.decided())
      op.post();
    else
      enter(op);
  }

  /// Queues the wait that make() has made, which arrives with that.
  void enter(operation& op) {
    op.wait->known = &known_;
    list others;
    bool const queued = core().enter(*op.wait, others);
    complete(others);
    if (!queued) complete(op);
  }

  /// One whose wait nobody will ever complete.
  void turn_away() {
    list others;
    core().turned_away(others);
    complete(others);
  }

  /// False if there is nobody left.
  bool arrive_and_drop() {
    core_type& to = core();
    to.count_up();
    list others;
    bool const dropped = to.arrive_and_drop(others);
    complete(others);
    unref();
    return dropped;
  }

  std::size_t waiters() { return core().waiters(); }

  /// The completion runs: whether it was released.
  bool finish(operation& op) {
    op.await_post();
    bool const leads = op.wait->leads;
    bool const granted = base::deliver(op);
    op.leads = granted && leads;
    return granted;
  }

  /// The completion runs; it was released, after the completion of its phase.
  void require(operation& op) {
    model::check(finish(op), "it is released");
    model::check(phases_->completed > 0, "its phase has ended");
  }

  /// The completion runs, released or so.
  void expect(operation& op, wait_outcome refused) {
    if (!finish(op)) model::check(op.outcome == refused, "nothing else");
  }

  phases& each_phase() { return *phases_; }
  int completed() { return phases_->completed; }

  /// The last check: nobody waits, and it is freed with the primitive.
  void end() {
    check_idle();
    abandon();
    check_gone();
  }

 private:
  using base::complete;

  primitive(int n, phases* of) : base(std::uint64_t(n), of), phases_(of) {}

  static phases* new_phases() { return model::make<phases>(); }

  phases* phases_;
};

}  // namespace barrier_model

#endif
