// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_MODEL_KEYED_MUTEX_STATE_MODEL_HPP
#define ASIO_SYNC_TEST_MODEL_KEYED_MUTEX_STATE_MODEL_HPP

#include "core_model.hpp"

#include <asio_sync/detail/core/keyed_mutex_state.hpp>

#include <cstddef>
#include <utility>

/// The core with a queue for each key under the checker, as a keyed mutex uses it.
namespace keyed_model {

using asio_sync::detail::key_entry, asio_sync::detail::key_place, asio_sync::detail::key_share,
    asio_sync::detail::key_stake;
using core_model::explore, core_model::kept, core_model::one_of, core_model::wait_outcome,
    core_model::wait_state;

/// All keys have the same hash: they are told apart by their equality alone.
struct entry : key_entry {
  explicit entry(int k) : key_entry(1), key(k) {}

  int const key;
};

inline void destroy_remains(key_stake const& stake) {
  if (stake.share == key_share::remains) model::destroy(static_cast<entry*>(stake.entry));
}

struct node;
struct place_of : key_place {
  explicit place_of(node& w) : wait(&w) {}

  node* wait;
};

struct node : core_model::wait_of<node> {
  node(core_model::completion& o, key_stake has) : wait_of(o), stake(has) {}
  node(node const&) = delete;
  node& operator=(node const&) = delete;
  ~node() { destroy_remains(stake); }

  key_stake stake;
  place_of place{*this};
};

/// Grants come in order for each key.
struct traits : core_model::traits_of<node> {
  static key_stake& stake(node& wait) noexcept { return wait.stake; }
  static key_place& place(node& wait) noexcept { return wait.place; }
  static node& waiter_at(key_place& place) noexcept { return *static_cast<place_of&>(place).wait; }
};

class operation : public core_model::completion {
 public:
  explicit operation(int k = 1) : key(k) {}

  int const key;
  node* wait = nullptr;
};

class primitive : public core_model::primitive<asio_sync::detail::keyed_mutex_state<traits>,
                                               operation, core_model::grant::hold> {
  using base = core_model::primitive<asio_sync::detail::keyed_mutex_state<traits>, operation,
                                     core_model::grant::hold>;

 public:
  primitive() = default;

  /// As an asynchronous operation starts: uses the entry from its beginning, then queues, unless
  /// it has got the key or is refused.
  void start(operation& op) {
    make(op);
    if (op.wait->stake.share == key_share::hold) return conclude(op, wait_outcome::granted);
    if (core().is_closed()) return conclude(op, wait_outcome::closed);
    enter(op);
  }

  /// The first half of it.
  void make(operation& op) { op.wait = model::make<node>(op, claim(op.key, true)); }

  /// The second one, where nothing was decided.
  void enter(operation& op) {
    op.wait->known = &of_key_[op.key];
    if (!core().enter(*op.wait)) complete(op);
  }

  /// One without time.
  void start_expired(operation& op) {
    make(op);
    bool const got = op.wait->stake.share == key_share::hold;
    conclude(op, got ? wait_outcome::granted : wait_outcome::timed_out);
  }

  /// One that has been made, and will never queue.
  void give_up(operation& op) {
    node* const wait = std::exchange(op.wait, nullptr);
    if (wait->stake.share == key_share::hold)
      unlock(wait->stake);
    else
      core().renounce(wait->stake);
    model::destroy(wait);
  }

  /// What is held, if nobody else holds it.
  key_stake try_lock(int key = 1) { return claim(key, false); }

  void unlock(key_stake& held) {
    list decided;
    bool const passed = core().unlock(held, decided);
    complete(decided);
    if (passed) return;
    unref();
    destroy_remains(std::exchange(held, {}));
  }

  /// The completion runs; true if the key is the handler's, who holds it in `held`.
  bool finish(operation& op, key_stake& held) {
    op.await_post();
    op.outcome = op.wait->outcome;
    held = {op.wait->stake.entry, key_share::hold};
    model::destroy(std::exchange(op.wait, nullptr));
    if (op.outcome != wait_outcome::granted) return unref(), false;
    if (!core().is_dead()) return true;
    op.outcome = wait_outcome::aborted;
    return unlock(held), false;
  }

  /// What the owner of a key does with it, in two halves.
  void use(int key = 1) {
    int const seen = uses_[key];
    model::access(&uses_[key]);
    model::check(uses_[key] == seen, "the owner is alone");
    uses_[key] = seen + 1;
  }

  /// Waits, uses what was granted, gives it back.
  bool use_once(operation& op) {
    key_stake held;
    if (!finish(op, held)) return false;
    use(op.key);
    unlock(held);
    return true;
  }

  void require(operation& op) { model::check(use_once(op), "it is granted"); }

  /// Tries; uses and gives back what that got.
  void try_once(int key = 1) {
    key_stake held = try_lock(key);
    if (!held.entry) return;
    use(key);
    unlock(held);
  }

  std::size_t keys() { return core().keys(); }

  /// The last check: no key is in use, nobody waits, and it is freed with the primitive.
  void end() {
    model::check(keys() == 0, "a key that nobody uses has no entry");
    check_idle();
    abandon();
    check_gone();
  }

  void check_gone() {
    for (core_model::record const& each : of_key_)
      model::check(each.joined == each.left && each.queued == 0, "who joined has left");
    base::check_gone();
  }

 private:
  key_stake claim(int key, bool waits) {
    entry* const fresh = model::make<entry>(key);
    key_stake const stake = core().claim(
        *fresh,
        [key](key_entry const& other) { return static_cast<entry const&>(other).key == key; },
        waits);
    if (stake.entry != fresh) model::destroy(fresh);
    return stake;
  }

  void conclude(operation& op, wait_outcome outcome) {
    core().conclude(*op.wait, outcome);
    op.post();
  }

  core_model::record of_key_[3];
  model::plain<int> uses_[3];
};

}  // namespace keyed_model

#endif
