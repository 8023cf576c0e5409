// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_MODEL_FIFO_CORE_MODEL_HPP
#define ASIO_SYNC_TEST_MODEL_FIFO_CORE_MODEL_HPP

#include "policy.hpp"
#include "scheduler.hpp"

#include <asio_sync/detail/core/fifo_core.hpp>

#include <cstdint>
#include <mutex>
#include <utility>

/// The weighted FIFO core under the checker: a primitive, and the waits for it, without Asio.
namespace fifo_model {

using asio_sync::detail::wait_outcome;
using asio_sync::detail::wait_state;
using permits = std::uint64_t;

class operation;

/// Who is queued, by the order in which they joined.
struct record {
  std::uint64_t queued = 0;
  int joined = 0;
  int left = 0;
};

/// A wait. Made when its operation starts and freed when that ends, as a block is.
struct node {
  explicit node(operation& o, permits n) : owner(&o), weight(n) {}

  operation* owner;
  permits weight;
  std::uint64_t turn = 0;
  record* known = nullptr;
  node* next = nullptr;
  node* prev = nullptr;
  wait_state state = wait_state::fresh;
  wait_outcome outcome = wait_outcome::undecided;
};

/// Sees each grant to a wait that was queued, under the lock: nobody older may be left behind.
struct list : asio_sync::detail::decided_list<node> {
  void push_back(node& wait) noexcept {
    if (wait.state == wait_state::decided && wait.outcome == wait_outcome::granted)
      model::check((wait.known->queued & (wait.turn - 1)) == 0, "grants come in order");
    decided_list::push_back(wait);
  }
};

template <bool Exclusive>
struct traits : model::policy {
  using node = fifo_model::node;
  using list = fifo_model::list;
  static constexpr bool exclusive = Exclusive;
  static constexpr std::size_t batch = 1;
  static permits weight(node const& wait) noexcept { return Exclusive ? 1 : wait.weight; }

  static void joined(node& wait) noexcept {
    wait.turn = std::uint64_t(1) << wait.known->joined++;
    wait.known->queued |= wait.turn;
  }

  static void left(node& wait, list&) noexcept {
    model::check((wait.known->queued & wait.turn) != 0, "who leaves the queue was in it");
    ++wait.known->left;
    wait.known->queued &= ~wait.turn;
  }
};

using exclusive = traits<true>;
using weighted = traits<false>;

/// Where a completion goes: stands for the executor of one wait, and for what its handler holds.
class operation {
 public:
  explicit operation(permits weight = 1) : weight_(weight) {}
  operation(operation const&) = delete;
  operation& operator=(operation const&) = delete;

  /// The thread's own wait, before it is started.
  node& make() {
    wait = model::make<node>(*this, weight_);
    return *wait;
  }

  void post() {
    model::check(posted_.exchange(1) == 0, "a wait completes once");
    posted_.notify_one();
  }

  /// Until the completion has come.
  void await_post() { posted_.wait(0); }

  permits weight() const { return weight_; }

  node* wait = nullptr;
  bool known_to_timer = false;  // the timer's lock
  wait_outcome outcome = wait_outcome::aborted;

 private:
  permits const weight_;
  model::atomic<int> posted_{0};
};

/// A primitive over the core, doing what the shell does with it: `homed_core`, `wait_service`'s
/// lock for timed waits, and guards. A guard holds with a count and may outlive the primitive; a
/// member's hold has none. What a wait is granted is a guard's.
template <class Traits>
class primitive {
 public:
  using list = typename Traits::list;
  using core_type = asio_sync::detail::fifo_core<Traits>;

  explicit primitive(permits available = 1, permits max = 1)
      : max_(max), core_(model::make<core_type>(available, max)) {}
  primitive(primitive const&) = delete;
  primitive& operator=(primitive const&) = delete;

  core_type& core() { return *core_; }

  // --- What initiates ---

  /// For a member, or for a guard.
  bool try_acquire(permits n = 1, bool guard = false) {
    if (!core_->try_acquire(n, guard)) return false;
    model::check(known_.queued == 0, "nobody barges in");
    return true;
  }

  bool try_guard(permits n = 1) { return try_acquire(n, true); }

  /// As an asynchronous operation starts: tried without the lock, then queued.
  void start(operation& op) {
    op.make();
    if (!core_->try_acquire(op.weight(), true)) return enter(op);
    core_->conclude(*op.wait, wait_outcome::granted);
    op.post();
  }

  /// Queues the wait that make() has made.
  void enter(operation& op) {
    op.wait->known = &known_;
    if (!core_->enter(*op.wait)) complete(op);
  }

  // --- What ends waits ---

  /// By the waiting thread itself, or where its handler runs: the wait has not been delivered.
  void cancel(operation& op, wait_outcome outcome = wait_outcome::aborted) {
    list decided;
    core_->refuse(*op.wait, outcome, decided);
    complete(decided);
  }

  void cancel_all() { cancel_heavy(0); }

  /// Those of at least that weight.
  void cancel_heavy(permits least) {
    list decided;
    core_->refuse_if([least](node const& wait) { return wait.weight >= least; },
                     wait_outcome::aborted, decided);
    complete(decided);
  }

  void close() {
    list decided;
    core_->close(decided);
    complete(decided);
  }

  /// The timer of another thread; does nothing once the wait has been decided.
  void expire(operation& op) {
    list decided;
    {
      std::lock_guard guard{timer_};
      if (!op.known_to_timer) return;
      if (core_->refuse(*op.wait, wait_outcome::timed_out, decided)) op.known_to_timer = false;
    }
    complete(decided);
  }

  /// The destructor.
  void abandon() {
    list decided;
    dying_ = true;
    core_->abandon(decided);
    complete(decided);
    unref();
  }

  // --- What becomes of completions ---

  /// The completion runs; true if what was waited for is the handler's.
  bool finish(operation& op) {
    op.await_post();
    return deliver(op);
  }

  /// The same, once it has come.
  bool deliver(operation& op) {
    op.outcome = op.wait->outcome;
    if (op.outcome == wait_outcome::granted && core_->is_dead())
      op.outcome = wait_outcome::aborted;
    if (op.outcome != wait_outcome::granted) unref();
    model::destroy(std::exchange(op.wait, nullptr));
    return op.outcome == wait_outcome::granted;
  }

  /// The wait of a thread ends; true if it holds as a member does.
  bool finish_in_thread(operation& op) {
    if (!finish(op)) return false;
    if (make_member()) return true;
    op.outcome = wait_outcome::aborted;
    return false;
  }

  /// The completion is destroyed.
  void drop(operation& op) {
    op.await_post();
    op.outcome = op.wait->outcome;
    list decided;
    if (op.outcome != wait_outcome::granted)
      unref();
    else if (core_->drop(*op.wait, decided))
      model::destroy(core_);
    complete(decided);
    model::destroy(std::exchange(op.wait, nullptr));
  }

  // --- What holders do ---

  /// What the owner of n permits does with them, in two halves.
  void use(permits n = 1) {
    inside_ += n;
    model::check(inside_ <= max_, "no more is handed out than there is");
    int const seen = uses_;
    model::access(&uses_);
    if (max_ == 1) model::check(uses_ == seen, "the owner is alone");
    ++uses_;
    inside_ -= n;
  }

  /// Waits, uses what was granted, gives it back.
  bool use_once(operation& op) {
    if (!finish(op)) return false;
    use(op.weight());
    give_back(op);
    return true;
  }

  /// The same for a thread.
  bool use_once_in_thread(operation& op) {
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
    if (!Traits::exclusive || !given_back) unref();
    return given_back;
  }

  void release_guard(permits n = 1) {
    bool const given_back = try_release_guard(n);
    model::check(given_back || dying_, "what a guard holds was held");
  }

  /// Gives back what came through a wait.
  void give_back(operation& op) { release_guard(op.weight()); }

  /// A guard leaves what it holds to a member; false if the primitive is dead.
  bool make_member() {
    if (core_->count_holder(false)) return true;
    model::check(dying_, "what a guard holds was held");
    unref();
    return false;
  }

  /// A guard takes over what a member holds; false if no member does.
  bool adopt() { return core_->count_holder(true); }

  void unref() {
    if (core_->forget()) model::destroy(core_);
  }

  /// Nobody waits and all has been given back.
  void check_idle(permits available) {
    model::check(core_->waiters() == 0 && known_.queued == 0, "nobody is queued at the end");
    model::check(known_.joined == known_.left, "who joined has left");
    model::check(core_->available() == available, "all that was handed out has come back");
  }

  void check_gone() {
    model::check(known_.joined == known_.left && known_.queued == 0, "who joined has left");
    model::check(!model::alive(core_), "the core is freed");
  }

  /// The last check: idle, and freed with the primitive.
  void end(permits available = 1) {
    check_idle(available);
    abandon();
    check_gone();
  }

  /// Before it starts.
  void set_timed(operation& op) { timed_ = op.known_to_timer = true; }

  int joined() const { return known_.joined; }

 private:
  void complete(list& decided) {
    while (decided.more) core_->settle_more(decided);
    while (!decided.empty()) complete(*decided.pop_front().owner);
  }

  bool release_held(permits n, bool counted) {
    list decided;
    bool held = false;
    if constexpr (Traits::exclusive)
      held = core_->try_release_uncontended(counted);
    else
      held = core_->try_release_uncontended(n, counted);
    held = held || core_->release(n, counted, decided);
    complete(decided);
    return held;
  }

  // The timer forgets a wait before that is posted.
  void complete(operation& op) {
    if (timed_) {
      std::lock_guard guard{timer_};
      op.known_to_timer = false;
    }
    op.post();
  }

  permits const max_;
  record known_;
  core_type* core_;
  model::spin_lock timer_;
  bool timed_ = false;
  bool dying_ = false;
  permits inside_ = 0;
  int uses_ = 0;
};

}  // namespace fifo_model

#endif
