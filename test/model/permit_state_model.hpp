// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_MODEL_PERMIT_STATE_MODEL_HPP
#define ASIO_SYNC_TEST_MODEL_PERMIT_STATE_MODEL_HPP

#include "core_model.hpp"

#include <asio_sync/detail/core/permit_state.hpp>

#include <cstddef>
#include <cstdint>

/// The weighted FIFO core under the checker.
namespace permit_model {

using core_model::explore, core_model::kept, core_model::one_of, core_model::record,
    core_model::replay, core_model::wait_outcome, core_model::wait_state;
using permits = std::uint64_t;

struct node : core_model::wait_of<node> {
  node(core_model::completion& o, permits n) : wait_of(o), weight(n) {}

  permits weight;
};

template <bool Exclusive>
struct traits : core_model::traits_of<node> {
  static constexpr bool exclusive = Exclusive;
  static constexpr std::size_t batch = 1;
  static permits weight(node const& wait) noexcept { return Exclusive ? 1 : wait.weight; }
};

using exclusive = traits<true>;
using weighted = traits<false>;

class operation : public core_model::completion {
 public:
  explicit operation(permits weight = 1) : weight_(weight) {}

  /// The thread's own wait, before it is started.
  node& make() {
    wait = model::make<node>(*this, weight_);
    return *wait;
  }

  permits weight() const { return weight_; }

  node* wait = nullptr;

 private:
  permits const weight_;
};

template <class Traits, class Operation>
using core_primitive = core_model::primitive<asio_sync::detail::permit_state<Traits>, Operation,
                                             Traits::exclusive ? core_model::grant::hold
                                                               : core_model::grant::permits>;

/// With what the shell does with permits, and guards. A guard holds with a count and may outlive
/// the primitive; a member's hold has none. What a wait is granted is a guard's.
template <class Traits, class Operation = operation>
class primitive : public core_primitive<Traits, Operation> {
  using base = core_primitive<Traits, Operation>;
  using base::dying_;

 public:
  using base::core, base::enter, base::finish, base::unref;
  using typename base::list;

  explicit primitive(permits available = 1, permits max = 1) : base(available, max), max_(max) {}

  // --- What initiates ---

  /// For a member, or for a guard. A member that takes several of many permits is a guard that
  /// forgets them.
  bool try_acquire(permits n = 1, bool guard = false) {
    if (!core().try_acquire(n, guard)) return false;
    model::check(known_.queued == 0, "nobody barges in");
    if constexpr (!Traits::exclusive)
      if (!guard) model::check(core().write_off(n), "the primitive lives");
    return true;
  }

  bool try_guard(permits n = 1) { return try_acquire(n, true); }

  /// As an asynchronous operation starts: tried without the lock, then queued.
  void start(Operation& op) {
    op.make();
    if (!core().try_acquire(op.weight(), true)) return enter(op);
    core().conclude(*op.wait, wait_outcome::granted);
    op.post();
  }

  /// Those of at least that weight.
  void cancel_heavy(permits least) {
    base::cancel_if([least](node const& wait) { return wait.weight >= least; });
  }

  /// The wait of a thread ends; true if it holds as a member does.
  bool finish_in_thread(Operation& op) {
    if (!finish(op)) return false;
    if (make_member()) return true;
    op.outcome = wait_outcome::aborted;
    return false;
  }

  // --- What holders do ---

  /// What the owner of n permits does with them, in two halves.
  void use(permits n = 1) {
    inside_ += n;
    model::check(inside_ <= max_, "no more is handed out than there is");
    int const seen = max_ == 1 ? uses_ : 0;
    model::access(&uses_);
    if (max_ == 1) {
      model::check(uses_ == seen, "the owner is alone");
      uses_ = seen + 1;
    }
    inside_ -= n;
  }

  /// Waits, uses what was granted, gives it back.
  bool use_once(Operation& op) {
    if (!finish(op)) return false;
    use(op.weight());
    give_back(op);
    return true;
  }

  /// The same for a thread.
  bool use_once_in_thread(Operation& op) {
    if (!finish_in_thread(op)) return false;
    use();
    release();
    return true;
  }

  /// A member gives back; false if no member held it.
  bool try_release(permits n = 1) { return release_held(n, false); }

  void release(permits n = 1) { model::check(try_release(n), "what is released was held"); }

  /// A guard lets go of what it holds; false if there was nothing to give it back to.
  bool try_release_guard(permits n = 1) {
    bool const given_back = release_held(n, true);
    if (!given_back) unref(n);
    return given_back;
  }

  void release_guard(permits n = 1) {
    bool const given_back = try_release_guard(n);
    model::check(given_back || dying_, "what a guard holds was held");
  }

  /// Gives back what came through a wait.
  void give_back(Operation& op) { release_guard(op.weight()); }

  /// A guard leaves what it holds to a member; false if the primitive is dead.
  bool make_member() {
    if (core().count_holder(false)) return true;
    model::check(dying_, "what a guard holds was held");
    unref();
    return false;
  }

  /// A guard takes over what a member holds; false if no member does.
  bool adopt() { return core().count_holder(true); }

  /// Nobody waits and all has been given back.
  void check_idle(permits available) {
    base::check_idle();
    model::check(core().available() == available, "all that was handed out has come back");
  }

  /// The last check: idle, and freed with the primitive.
  void end(permits available = 1) {
    check_idle(available);
    base::abandon();
    base::check_gone();
  }

 protected:
  using base::complete, base::known_;

 private:
  bool release_held(permits n, bool counted) {
    list decided;
    bool held = false;
    if constexpr (Traits::exclusive)
      held = core().try_release_uncontended(counted) || core().release(counted, decided);
    else if (counted)
      held = core().try_release_uncontended(n) || core().release(n, decided);
    else
      held = core().supply(n, decided);
    complete(decided);
    return held;
  }

  permits const max_;
  permits inside_ = 0;
  model::plain<int> uses_;
};

}  // namespace permit_model

#endif
