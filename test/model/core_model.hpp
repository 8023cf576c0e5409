// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_MODEL_CORE_MODEL_HPP
#define ASIO_SYNC_TEST_MODEL_CORE_MODEL_HPP

#include "order.hpp"
#include "policy.hpp"
#include "scheduler.hpp"

#include <asio_sync/detail/core/wait_list.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <utility>

/// What every core has under the checker: a primitive over it, and the waits for it, without Asio.
namespace core_model {

using asio_sync::detail::wait_outcome;
using asio_sync::detail::wait_state;

/// Explores a scenario twice: with more preemptions than elsewhere, because it is small, and with
/// stale reads.
void explore(void (*scenario)(), int more_preemptions = 2);

model::result replay(void (*scenario)(), std::string_view schedule);

/// Replays a schedule that has found a fault in a core. Finds nothing unless the core is broken.
void kept(void (*scenario)(), std::string_view schedule);

inline bool one_of(wait_outcome outcome, wait_outcome a, wait_outcome b) {
  return outcome == a || outcome == b;
}

/// Who is queued, by the order in which they joined.
struct record {
  std::uint64_t queued = 0;
  int joined = 0;
  int left = 0;

  bool nobody_before(std::uint64_t turn) const { return (queued & (turn - 1)) == 0; }
};

/// Where a completion goes: stands for the executor of one wait, and for what its handler holds.
class completion {
 public:
  completion() = default;
  completion(completion const&) = delete;
  completion& operator=(completion const&) = delete;

  void post() {
    model::check(posted_.exchange(1) == 0, "a wait completes once");
    posted_.notify_one();
  }

  /// Until the completion has come.
  void await_post() { posted_.wait(0); }

  /// It has come, and will come again.
  void take_post() {
    await_post();
    posted_.store(0);
  }

  /// After the threads.
  bool is_posted() const { return posted_.load() != 0; }

  bool known_to_timer = false;  // the timer's lock
  bool stays_known = false;     // it comes more than once
  wait_outcome outcome = wait_outcome::aborted;

 private:
  model::atomic<int> posted_{0};
};

/// A wait. Made when its operation starts and freed when that ends, as a block is.
template <class Node>
struct wait_of {
  explicit wait_of(completion& o) : owner(&o) {}

  completion* owner;
  std::uint64_t turn = 0;
  record* known = nullptr;
  Node* next = nullptr;
  Node* prev = nullptr;
  model::plain<wait_state> state{wait_state::fresh};
  model::plain<wait_outcome> outcome{wait_outcome::undecided};
};

/// Sees each grant to a wait that was queued, under the lock: nobody older may be left behind.
template <class Node>
struct list_of : asio_sync::detail::decided_list<Node> {
  void push_back(Node& wait) noexcept {
    if (wait.state == wait_state::decided && wait.outcome == wait_outcome::granted)
      model::check(wait.known->nobody_before(wait.turn), "grants come in order");
    asio_sync::detail::decided_list<Node>::push_back(wait);
  }
};

/// List: without a look at the order for a core that has another one.
template <class Node, class List = list_of<Node>>
struct traits_of : model::policy {
  using node = Node;
  using list = List;

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

/// Cores that let several counts go at once.
template <class Core>
concept counts_many = requires(Core& core) {
  core.count_down(std::uint64_t(1));
};

/// A grant carries to its handler: nothing; a hold, with the count of the wait; or as many permits
/// as the wait weighs, which have counts of their own.
enum class grant { nothing, hold, permits };

/// A primitive over the core, doing what the shell does with every core: `homed_core`, and
/// `wait_service`'s lock for timed waits. Operation: a completion with the node `wait`.
template <class Core, class Operation, grant Grant = grant::nothing>
class primitive {
 public:
  using core_type = Core;
  using node = typename Core::node;
  using list = typename Core::list;

  primitive(primitive const&) = delete;
  primitive& operator=(primitive const&) = delete;

  /// Whoever uses the core does so before its end: not just by luck.
  core_type& core() {
    static_cast<void>(int(in_use_));
    return *core_;
  }

  /// Queues the wait that make() has made.
  void enter(Operation& op) {
    op.wait->known = &known_;
    if (!core().enter(*op.wait)) complete(op);
  }

  // --- What ends waits ---

  /// By the waiting thread itself, or where its handler runs: the wait has not been delivered.
  void cancel(Operation& op, wait_outcome outcome = wait_outcome::aborted) {
    list decided;
    core().refuse(*op.wait, outcome, decided);
    complete(decided);
  }

  template <class Predicate>
  std::size_t cancel_if(Predicate which) {
    list decided;
    std::size_t const refused = core().refuse_if(which, wait_outcome::aborted, decided);
    complete(decided);
    return refused;
  }

  std::size_t cancel_all() {
    return cancel_if([](node const&) { return true; });
  }

  void close() {
    list decided;
    core().close(decided);
    complete(decided);
  }

  /// The timer of another thread; does nothing once the wait has been decided.
  void expire(Operation& op) {
    list decided;
    {
      std::lock_guard guard{timer_};
      if (!op.known_to_timer) return;
      if (core().refuse(*op.wait, wait_outcome::timed_out, decided)) op.known_to_timer = false;
    }
    complete(decided);
  }

  /// The destructor.
  void abandon() {
    list decided;
    dying_ = true;
    core().abandon(decided);
    complete(decided);
    unref();
  }

  // --- What becomes of completions ---

  /// The completion runs; true if what was waited for is the handler's.
  bool finish(Operation& op) {
    op.await_post();
    return deliver(op);
  }

  /// The same, once it has come.
  bool deliver(Operation& op) {
    op.outcome = op.wait->outcome;
    std::uint64_t counts = 1;
    if constexpr (Grant != grant::nothing)
      if (op.outcome == wait_outcome::granted) {
        bool const lost = core().is_dead();
        if (lost) op.outcome = wait_outcome::aborted;
        if constexpr (Grant == grant::permits)
          counts = lost ? 1 + op.weight() : 1;
        else
          counts = lost ? 1 : 0;
      }
    if (counts != 0) unref(counts);
    model::destroy(std::exchange(op.wait, nullptr));
    return op.outcome == wait_outcome::granted;
  }

  /// The completion is destroyed.
  void drop(Operation& op) {
    op.await_post();
    op.outcome = op.wait->outcome;
    list decided;
    if (op.outcome != wait_outcome::granted)
      unref();
    else if (core().drop(*op.wait, decided))
      destroy();
    complete(decided);
    model::destroy(std::exchange(op.wait, nullptr));
  }

  /// Lets go of so many counts.
  void unref(std::uint64_t n = 1) {
    bool last = false;
    if constexpr (counts_many<Core>)
      last = core().count_down(n);
    else
      last = core().count_down();
    if (last) destroy();
  }

  /// Nobody waits any more, and the core is freed.
  void check_gone() {
    model::check(known_.joined == known_.left && known_.queued == 0, "who joined has left");
    model::check(!model::alive(core_), "the core is freed");
  }

  /// Before it starts.
  void set_timed(Operation& op) { timed_ = op.known_to_timer = true; }

  int joined() const { return known_.joined; }

 protected:
  template <class... Args>
  explicit primitive(Args... args) : core_(model::make<core_type>(args...)) {}
  ~primitive() = default;

  void complete(list& decided) {
    if constexpr (Core::in_batches)
      while (decided.more) core().settle_more(decided);
    while (!decided.empty()) complete(*decided.pop_front().owner);
  }

  // The timer forgets a wait before that is posted.
  void complete(completion& op) {
    if (timed_ && !op.stays_known) {
      std::lock_guard guard{timer_};
      op.known_to_timer = false;
    }
    op.post();
  }

  /// The last count has gone.
  void destroy() {
    in_use_ = 0;
    model::destroy(core_);
  }

  /// Nobody waits any more.
  void check_idle() {
    model::check(core().waiters() == 0 && known_.queued == 0, "nobody is queued at the end");
    model::check(known_.joined == known_.left, "who joined has left");
  }

  record known_;
  bool dying_ = false;
  model::spin_lock timer_;

 private:
  core_type* core_;
  model::plain<int> in_use_;
  bool timed_ = false;
};

}  // namespace core_model

#endif
