// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_MODEL_SHARED_MUTEX_STATE_MODEL_HPP
#define ASIO_SYNC_TEST_MODEL_SHARED_MUTEX_STATE_MODEL_HPP

#include "core_model.hpp"

#include <asio_sync/detail/core/shared_mutex_state.hpp>

#include <cstddef>
#include <utility>

/// Readers and writers under the checker, as a shared mutex has them.
namespace shared_model {

using asio_sync::detail::lock_mode;
using core_model::explore, core_model::kept, core_model::one_of, core_model::wait_outcome;

struct node : core_model::wait_of<node> {
  node(core_model::completion& o, lock_mode m) : wait_of(o), mode(m) {}

  lock_mode const mode;
  bool lent = false;  // it came to the queue with a hold of its own
};

/// Who upgrades comes before all others.
struct list : asio_sync::detail::decided_list<node> {
  void push_back(node& wait) noexcept {
    if (wait.outcome == wait_outcome::granted && wait.mode != lock_mode::upgrade)
      model::check(wait.known->nobody_before(wait.turn), "grants come in order");
    asio_sync::detail::decided_list<node>::push_back(wait);
  }
};

struct traits : core_model::traits_of<node, list> {
  static constexpr std::size_t batch = 1;
  static lock_mode mode(node const& wait) noexcept { return wait.mode; }
};

class operation : public core_model::completion {
 public:
  explicit operation(lock_mode mode) : mode_(mode) {}

  /// The thread's own wait, before it is started.
  node& make() {
    wait = model::make<node>(*this, mode_);
    return *wait;
  }

  /// How it holds once it is granted.
  lock_mode mode() const {
    return mode_ == lock_mode::shared ? lock_mode::shared : lock_mode::exclusive;
  }

  node* wait = nullptr;

 private:
  lock_mode const mode_;
};

struct reading : operation {
  reading() : operation(lock_mode::shared) {}
};
struct writing : operation {
  writing() : operation(lock_mode::exclusive) {}
};
struct upgrading : operation {
  upgrading() : operation(lock_mode::upgrade) {}
};

inline constexpr lock_mode shared = lock_mode::shared;
inline constexpr lock_mode exclusive = lock_mode::exclusive;

/// With what the shell does with guards, members' holds and upgrades.
class primitive : public core_model::primitive<asio_sync::detail::shared_mutex_state<traits>,
                                               operation, core_model::grant::hold> {
  using base = core_model::primitive<asio_sync::detail::shared_mutex_state<traits>, operation,
                                     core_model::grant::hold>;
  using base::complete, base::destroy, base::dying_, base::known_;

 public:
  // --- What initiates ---

  bool try_acquire(lock_mode mode, bool guard = true) {
    if (!core().try_acquire(mode, guard)) return false;
    model::check(known_.queued == 0, "nobody barges in");
    return true;
  }

  /// Whom nobody keeps out.
  void acquire(lock_mode mode, bool guard = true) {
    while (!core().try_acquire(mode, guard)) {  // a compare-exchange may fail without reason
    }
  }

  /// As an asynchronous operation starts: tried without the lock, then queued.
  void start(operation& op) {
    op.make();
    if (!core().try_acquire(op.mode(), true)) return enter(op);
    core().conclude(*op.wait, wait_outcome::granted);
    op.post();
  }

  /// A guard that reads lends its hold to the wait, until it is refused.
  void start_upgrade(operation& op) {
    op.make();
    auto const tried = core().try_upgrade();
    if (!tried.decided()) return enter_upgrade(op);
    core().conclude(*op.wait, tried);
    op.post();
  }

  void enter_upgrade(operation& op) {
    op.wait->lent = true;
    enter(op);
  }

  // --- What becomes of completions ---

  /// Whether it holds as it has asked to. An upgrade that does not has its hold as a reader again.
  bool finish(operation& op) {
    op.await_post();
    if (!op.wait->lent || op.wait->outcome != wait_outcome::granted) return deliver(op);
    // Where the primitive has died the count goes back with the guard.
    op.outcome = core().is_dead() ? wait_outcome::aborted : wait_outcome::granted;
    model::destroy(std::exchange(op.wait, nullptr));
    return op.outcome == wait_outcome::granted;
  }

  void drop(operation& op) {
    op.await_post();
    op.outcome = op.wait->outcome;
    list decided;
    bool last = false;
    if (op.outcome == wait_outcome::granted || op.wait->lent)
      last = core().drop(*op.wait, decided);
    else
      last = core().count_down();
    if (last) destroy();
    complete(decided);
    model::destroy(std::exchange(op.wait, nullptr));
  }

  // --- What holders do ---

  void use(lock_mode mode) {
    (mode == shared ? readers_ : writers_) += 1;
    model::check(writers_ == 0 || (writers_ == 1 && readers_ == 0), "a writer is alone");
    model::access(&data_);
    if (mode == shared)
      static_cast<void>(int(data_));
    else
      data_ = data_ + 1;
    (mode == shared ? readers_ : writers_) -= 1;
  }

  /// False if it was not held in that way.
  bool try_release(lock_mode mode, bool guard) {
    list decided;
    bool const held =
        core().try_release_uncontended(guard, mode) || core().release(guard, mode, decided);
    complete(decided);
    return held;
  }

  void release_member(lock_mode mode) {
    model::check(try_release(mode, false), "what is released was held");
  }

  /// A guard lets go, whether the primitive lives or not.
  void release(lock_mode mode) {
    if (try_release(mode, true)) return;
    model::check(dying_, "what a guard holds was held");
    unref();
  }

  /// A guard that writes reads from now on; false if the primitive is dead.
  bool downgrade() {
    list decided;
    bool const held = core().downgrade(decided);
    complete(decided);
    model::check(held || dying_, "what a guard holds was held");
    return held;
  }

  /// Waits, uses what was granted, gives it back.
  bool use_once(operation& op) {
    if (!finish(op)) return false;
    use(op.mode());
    release(op.mode());
    return true;
  }

  void require(operation& op) { model::check(use_once(op), "it is granted"); }

  /// Waits for an upgrade, and gives back what it has then.
  bool use_upgrade(operation& op) {
    if (use_once(op)) return true;
    if (!core().is_dead()) use(shared);
    release(shared);
    return false;
  }

  /// The last check: idle, free, and freed with the primitive.
  void end() {
    check_idle();
    model::check(!core().is_held(), "all that was handed out has come back");
    base::abandon();
    check_gone();
  }

 private:
  int readers_ = 0;
  int writers_ = 0;
  model::plain<int> data_;
};

}  // namespace shared_model

#endif
