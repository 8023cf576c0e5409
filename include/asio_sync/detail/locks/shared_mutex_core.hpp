// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_LOCKS_SHARED_MUTEX_CORE_HPP
#define ASIO_SYNC_DETAIL_LOCKS_SHARED_MUTEX_CORE_HPP

// The core of a shared mutex, and its waits.

#include <asio_sync/detail/context/core_base.hpp>
#include <asio_sync/detail/context/homed_core.hpp>
#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/core/shared_mutex_state.hpp>
#include <asio_sync/detail/core/wait_list.hpp>
#include <asio_sync/detail/locks/lock_core.hpp>

#include <cstddef>

namespace asio_sync::detail {

// One that asks for a lock in some mode. Who upgrades says of which guard the hold is that it
// brings along.
struct lock_waiter : waiter {
  struct asked_type {
    lock_mode mode;
    hold_state* lender = nullptr;
  };

  lock_waiter(function* f, core_base* c, asked_type a) noexcept : waiter(f, c, {}), request(a) {}

  verdict decided() const noexcept { return {outcome, borrowed}; }

  void borrow() noexcept {
    if (!request.lender) return;
    *request.lender = hold_state::lent;
    borrowed = true;
  }
  // False if it has borrowed nothing.
  bool give_back() noexcept {
    if (borrowed) *request.lender = hold_state::owned;
    return borrowed;
  }
  static bool has_borrowed(verdict decided) noexcept { return decided.value() != 0; }

  static constexpr bool has_initiation = true;
  void leave_initiation() noexcept { initiation = nullptr; }

  asked_type const request;
  bool borrowed = false;
  initiation_scope const* initiation = nullptr;  // in which it has been handed to its executor
};

struct shared_mutex_traits : waiter_traits {
  static constexpr std::size_t batch = 64;
  static lock_mode mode(waiter const& w) noexcept {
    return static_cast<lock_waiter const&>(w).request.mode;
  }
};

// A wait that upgrades borrows the hold of a guard once it queues, or is decided; unless it is
// granted the hold is the guard's again.
template <class Queue>
class upgradable_core final : public lock_core<upgradable_core<Queue>, Queue, lock_waiter> {
  using base = lock_core<upgradable_core, Queue, lock_waiter>;

 public:
  using base::base;
  using typename base::node;

  void conclude(node& w, verdict decided) noexcept {
    if (decided.outcome() != wait_outcome::not_permitted) w.borrow();
    Queue::conclude(w, decided);
  }

  bool enter(node& w) noexcept {
    w.borrow();
    return Queue::enter(w);
  }

  // The hold that a guard would have lent is released, as by any handler that is dropped.
  void turn_away(node& w) noexcept {
    conclude(w, wait_outcome::aborted);
    pass_on(w);
  }

  // A guard keeps the count of a hold that it has lent.
  verdict hold(verdict granted) noexcept {
    if (!this->is_dead()) return granted;
    if (!lock_waiter::has_borrowed(granted)) this->unref();
    return wait_outcome::aborted;
  }

  // A withdrawn upgrade makes its writer a reader again.
  void give_on(node& w, decided_waits& decided) noexcept {
    if (w.borrowed)
      static_cast<void>(Queue::downgrade(decided));
    else
      base::give_on(w, decided);
  }

  void pass_on(waiter& ended) noexcept override {
    this->settle_work();  // while the waiter is counted
    auto& w = static_cast<node&>(ended);
    bool const granted = w.outcome == wait_outcome::granted;
    if (initiation_scope::is_on_for(w) && w.give_back())
      return granted ? undo_grant() : this->unref();
    if (!granted && !w.borrowed) return this->unref();
    this->drop_grant(w);
  }

 private:
  ~upgradable_core() override = default;

  // Makes the writer of an upgrade a reader again: its caller keeps the hold that it has lent.
  void undo_grant() noexcept {
    this->decide([&](decided_waits& decided) { return Queue::downgrade(decided); });
  }
};

using shared_mutex_core = upgradable_core<shared_mutex_state<shared_mutex_traits>>;

}  // namespace asio_sync::detail

#endif
