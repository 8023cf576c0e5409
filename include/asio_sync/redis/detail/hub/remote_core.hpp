// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_HUB_REMOTE_CORE_HPP
#define ASIO_SYNC_REDIS_DETAIL_HUB_REMOTE_CORE_HPP

#include <asio_sync/detail/context/core_base.hpp>
#include <asio_sync/detail/context/homed_core.hpp>
#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/core/remote_state.hpp>
#include <asio_sync/detail/core/wait_list.hpp>
#include <asio_sync/redis/detail/hub/hub.hpp>
#include <asio_sync/redis/detail/hub/remote_claim.hpp>

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

namespace asio_sync::redis::detail {

struct remote_waiter : shell::waiter {
  using asked_type = claim_ref;

  remote_waiter(function* f, shell::core_base* c, claim_ref&& asked) noexcept
      : waiter(f, c, {}), claim(std::move(asked)) {}
  // A grant that has arrived has the claim.
  ~remote_waiter() {
    if (outcome == wait_outcome::granted) static_cast<void>(claim.release());
  }

  verdict decided() const noexcept { return claim ? claim->outcome(outcome) : outcome; }

  claim_ref claim;
};

struct remote_traits : shell::waiter_traits {
  using claim = remote_claim;
  static claim& claim_of(shell::waiter& w) noexcept {
    return *static_cast<remote_waiter&>(w).claim;
  }
  static shell::waiter*& wait_of(claim& c) noexcept { return c.wait; }
  static wait_outcome& recalled_of(claim& c) noexcept { return c.recalled; }
  static void ask(claim& c) noexcept {
    c.take_lock();
    c.client().ask(c);
  }
  static void recall(claim& c) noexcept { c.client().recall(c); }
  static void give_up(claim& c) noexcept { c.client().give_up(c); }
};

// Tells the client of its orders after each transition that gives it one, without the core's lock.
class remote_queue : public shell::remote_state<remote_traits> {
 public:
  static constexpr bool in_batches = true;

  explicit remote_queue(std::shared_ptr<hub> client) noexcept : client_(std::move(client)) {}

  void conclude(shell::waiter& w, verdict decided) noexcept {
    if (decided.outcome() == wait_outcome::failed) claim_of(w).fail(decided);
    remote_state::conclude(w, decided);
  }

  inline bool enter(shell::waiter& w) noexcept;

  bool refuse(shell::waiter& w, wait_outcome outcome, shell::decided_waits& decided) noexcept {
    if (!remote_state::refuse(w, outcome, decided)) return false;
    look_for_session(w);
    decided.more = true;
    return true;
  }

  template <class Predicate>
  std::size_t refuse_if(Predicate which, wait_outcome outcome,
                        shell::decided_waits& decided) noexcept {
    std::size_t const refused = remote_state::refuse_if(which, outcome, decided);
    decided.more = refused != 0;
    return refused;
  }

  void close(shell::decided_waits& decided) noexcept {
    remote_state::close(decided);
    decided.more = true;
  }

  void abandon(shell::decided_waits& decided) noexcept {
    remote_state::abandon(decided);
    decided.more = true;
  }

  void settle_more(shell::decided_waits& decided) noexcept {
    decided.more = false;
    client_->post_orders();
  }

  bool drop(shell::waiter& w, shell::decided_waits& decided) noexcept {
    auto& granted = static_cast<remote_waiter&>(w);
    if (!granted.claim) return count_down();  // of no permits
    auto const client = client_;
    bool const was_last = remote_state::drop(w, decided);
    claim_ref const given_up(std::move(granted.claim));
    client->post_orders();
    return was_last;
  }

  hub& client() const noexcept { return *client_; }

 protected:
  std::shared_ptr<hub> const& shared_client() const noexcept { return client_; }

 private:
  static remote_claim& claim_of(shell::waiter& w) noexcept { return remote_traits::claim_of(w); }

  // Tells a time-out without a session from others. The wait is decided, and not handed out yet.
  static void look_for_session(shell::waiter& w) noexcept {
    if (w.outcome == wait_outcome::timed_out) w.outcome = claim_of(w).time_out();
  }

  std::shared_ptr<hub> const client_;
};

// The core of a primitive at a server.
class remote_core final : public shell::homed_core<remote_core, remote_queue, remote_waiter> {
 public:
  using homed_core::homed_core;

  // The client's context must not be blocked either.
  bool home_runs_here() const noexcept {
    return homed_core::home_runs_here() || client().runs_here();
  }

  // Refuse a wait; one on a condition is recalled instead, because it ends with the lock. The
  // client is told after the caller's lock, because its executor may be a user's.
  bool expire(shell::waiter& w, shell::decided_under_lock& decided) noexcept override {
    return refuse_or_recall(w, wait_outcome::timed_out, decided);
  }
  void cancel(shell::waiter& w, shell::decided_under_lock& decided) noexcept override {
    refuse_or_recall(w, wait_outcome::aborted, decided);
  }

  // End the waits of a context that shuts down, without a lock of the mutex. The waits are
  // dropped, and pass_on() tells the client.
  void evict(shell::waiter& w, shell::decided_waits& decided) noexcept override {
    if (remote_queue::refuse(w, wait_outcome::aborted, decided)) settle_quietly(decided);
  }
  void leave_home(shell::decided_waits& decided) noexcept override {
    remote_queue::refuse_if([](shell::waiter const& w) { return w.is_at_home(); },
                            wait_outcome::aborted, decided);
    settle_quietly(decided);
  }

  void pass_on(shell::waiter& w) noexcept override {
    auto const client = shared_client();  // the core may be gone afterwards
    homed_core::pass_on(w);
    client->post_orders();
  }

  // Refuses the queued waits, and recalls those on a condition. Returns the number of those that
  // were not recalled before.
  std::size_t cancel_all(wait_outcome outcome) noexcept {
    auto const is_on_condition = [](shell::waiter& w) {
      return static_cast<remote_waiter&>(w).claim->waits_on_condition();
    };
    auto const waits_to_hold = [&](shell::waiter& w) { return !is_on_condition(w); };
    count_up();  // a handler may destroy the primitive meanwhile
    std::size_t const cancelled = decide([&](shell::decided_waits& decided) {
      std::size_t const refused = remote_queue::refuse_if(waits_to_hold, outcome, decided);
      std::size_t const recalled = remote_queue::recall_if(is_on_condition, outcome);
      settle_work();
      decided.more = true;
      return refused + recalled;
    });
    unref();
    return cancelled;
  }

  // Takes a grant over from its wait. The lock of a wait on a condition has it from now on.
  verdict hold(verdict granted) noexcept {
    remote_claim* const has = remote_claim::in(granted).release();
    if (has && has->waits_on_condition()) granted = has->return_to_lock();
    unref();
    return granted;
  }

  // Takes a grant back, because the slot has cancelled the wait before it has arrived. A wait on a
  // condition ends with the lock all the same, and passes its notification on.
  void withdraw(remote_waiter& w) noexcept {
    if (!w.claim || !w.claim->waits_on_condition()) return homed_core::withdraw(w);
    if (w.outcome != wait_outcome::granted || w.claim->recalled != wait_outcome::undecided) return;
    w.claim->recalled = wait_outcome::aborted;
    client().recall(*w.claim);
    client().post_orders();
  }

  // Called by the driver: decides the wait of a claim. Does nothing if nobody waits for it.
  void settle(remote_claim& c, verdict why) noexcept {
    decide([&](shell::decided_waits& decided) {
      if (remote_queue::decide(c, why.outcome(), decided)) c.fail(why);
    });
  }

 private:
  ~remote_core() override = default;

  // Returns true if the wait was queued, and is in the list. Otherwise the core may be gone: a
  // wait on a condition is recalled, and ends with its next grant.
  bool refuse_or_recall(shell::waiter& w, wait_outcome outcome,
                        shell::decided_under_lock& decided) noexcept {
    auto const* const asked = static_cast<remote_waiter&>(w).claim.get();
    auto const client = shared_client();
    bool const recalls = asked && asked->waits_on_condition();
    bool const is_told =
        recalls ? remote_queue::recall(w, outcome) : remote_queue::refuse(w, outcome, decided);
    if (!is_told) return false;
    decided.begun = client;
    if (recalls) return false;
    settle_quietly(decided);
    return true;
  }

  // Leaves it to others to tell the client of its orders.
  void settle_quietly(shell::decided_waits& decided) noexcept {
    decided.more = false;
    settle_work();
  }
};

bool remote_queue::enter(shell::waiter& w) noexcept {
  auto const client = client_;  // the core may be gone afterwards
  claim_of(w).core = static_cast<remote_core*>(w.core);
  if (claim_of(w).has_no_lock()) {        // code of the user's executor has unlocked it
    std::lock_guard const guard(lock());  // a service may know the wait already
    return conclude(w, wait_outcome::not_permitted), false;
  }
  bool const queued = remote_state::enter(w);
  if (queued) return client->wake(), true;
  look_for_session(w);
  claim_of(w).give_lock_back();
  return false;
}

}  // namespace asio_sync::redis::detail

#endif
