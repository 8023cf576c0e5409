// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_MODEL_REMOTE_STATE_MODEL_HPP
#define ASIO_SYNC_TEST_MODEL_REMOTE_STATE_MODEL_HPP

#include "core_model.hpp"

#include <asio_sync/detail/core/remote_state.hpp>

#include <utility>

/// The core of remote waits under the checker, with a client whose server grants them.
namespace remote_model {

using core_model::explore, core_model::kept, core_model::one_of, core_model::wait_outcome;

struct node;

struct claim {
  model::plain<node*> wait{nullptr};
  model::plain<wait_outcome> why_recalled{wait_outcome::undecided};
  model::atomic<int> asked{0}, recalled{0}, given_up{0};
  model::atomic<int> owners{1};
};

inline void disown(claim* c) {
  if (c->owners.fetch_sub(1) == 1) model::destroy(c);
}

struct node : core_model::wait_of<node> {
  node(core_model::completion& o, claim* c) : wait_of(o), asked(c) {}

  claim* asked;
};

/// The server decides about the order.
using list = asio_sync::detail::decided_list<node>;

struct traits : core_model::traits_of<node, list> {
  using claim = remote_model::claim;

  static claim& claim_of(node& wait) noexcept { return *wait.asked; }
  static model::plain<node*>& wait_of(claim& c) noexcept { return c.wait; }

  static void ask(claim& c) noexcept {
    c.owners.fetch_add(1);
    model::check(c.asked.exchange(1) == 0, "a claim is asked for once");
    c.asked.notify_one();
  }

  static model::plain<wait_outcome>& recalled_of(claim& c) noexcept { return c.why_recalled; }
  static void recall(claim& c) noexcept {
    model::check(c.asked.load() == 1, "the client knows what is recalled");
    model::check(c.given_up.load() == 0, "what is recalled has not been given up");
    model::check(c.recalled.exchange(1) == 0, "a claim is recalled once");
    c.recalled.notify_one();
  }

  static void give_up(claim& c) noexcept {
    model::check(c.asked.load() == 1, "the client knows what is given up");
    model::check(c.given_up.exchange(1) == 0, "a claim is given up once");
    c.given_up.notify_one();
  }
};

class operation : public core_model::completion {
 public:
  node* wait = nullptr;
  claim* has = nullptr;  // valid until both owners have let go
  bool granted = false;  // by the server
};

class primitive
    : public core_model::primitive<asio_sync::detail::remote_state<traits>, operation> {
  using base = core_model::primitive<asio_sync::detail::remote_state<traits>, operation>;

 public:
  primitive() = default;

  void start(operation& op) {
    make(op);
    enter(op);
  }

  void make(operation& op) {
    op.has = model::make<claim>();
    op.wait = model::make<node>(op, op.has);
  }

  // --- For a wait on a condition ---

  /// True if the client was told.
  bool recall(operation& op, wait_outcome outcome = wait_outcome::aborted) {
    return core().recall(*op.wait, outcome);
  }

  template <class Predicate>
  std::size_t recall_if(Predicate which) {
    return core().recall_if(which, wait_outcome::aborted);
  }

  /// The timer, which still knows the wait afterwards, until that completes.
  bool expire_recalling(operation& op) {
    std::lock_guard guard{timer_};
    return op.known_to_timer && recall(op, wait_outcome::timed_out);
  }

  // --- The waiting thread ---

  /// The completion runs, with the reason of a recall if there was one before the grant. A guard
  /// that has the claim gives it up.
  bool use_once(operation& op) {
    bool const holds = finish(op);
    if (holds) {
      wait_outcome const why_recalled = op.has->why_recalled;
      if (why_recalled != wait_outcome::undecided) op.outcome = why_recalled;
      traits::give_up(*op.has);
    }
    disown(op.has);
    return holds;
  }

  /// The completion is destroyed.
  void drop(operation& op) {
    base::drop(op);
    disown(op.has);
  }

  // --- The client's thread ---

  /// The server grants, or refuses with an error. The client ends what is given up, or refused.
  void serve(operation& op, wait_outcome outcome = wait_outcome::granted) {
    op.has->asked.wait(0);
    bool const waited = decide(op, outcome);
    if (!waited || outcome == wait_outcome::granted) op.has->given_up.wait(0);
    let_go(op);
  }

  /// The server grants the wait because it was recalled.
  void serve_recalled(operation& op) {
    op.has->asked.wait(0);
    op.has->recalled.wait(0);
    serve(op);
  }

  /// The wait is given up, unasked.
  void serve_nothing(operation& op) {
    op.has->asked.wait(0);
    op.has->given_up.wait(0);
    let_go(op);
  }

  bool decide(operation& op, wait_outcome outcome) {
    list decided;
    bool const waited = core().decide(*op.has, outcome, decided);
    complete(decided);
    return waited;
  }

  void let_go(operation& op) {
    if (core().end()) destroy();
    disown(op.has);
  }

  // --- After the threads ---

  /// The last check: it is freed with the primitive, and the claims are.
  template <class... Operations>
  void end(operation& first, Operations&... others) {
    check_idle();
    abandon();
    check_gone(first, others...);
  }

  template <class... Operations>
  void check_gone(Operations&... all) {
    base::check_gone();
    model::check((!model::alive(all.has) && ...), "the claim is freed");
  }
};

}  // namespace remote_model

#endif
