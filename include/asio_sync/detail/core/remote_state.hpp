// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CORE_REMOTE_STATE_HPP
#define ASIO_SYNC_DETAIL_CORE_REMOTE_STATE_HPP

#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/core/wait_list.hpp>
#include <asio_sync/detail/core/wait_queue.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace asio_sync::detail {

// The core of a primitive whose waits a server grants. What is true of a wait is decided here;
// what is true of a grant, by the server: a grant that finds no wait any more is given back.
//
// Each wait has a claim, which is made before the wait queues and outlives it. Two own the claim:
// the wait, and after its grant the guard; and the client, from ask() until it calls end(). The
// client asks the server on behalf of the claim, and tells the core what the server has said.
// give_up() tells the client that nobody here wants the claim any more. It is called at most once
// for a claim, and not before ask().
//
// A wait on a condition ends with a grant, whatever has ended it: recall() has the client ask for
// the grant, and the wait stays queued until that has come. Whoever delivers it reads the reason
// from the claim.
//
// The core outlives its primitive until the last completion has arrived and the client knows no
// claim of it any more. So it has counts: one for the primitive, one for each decided wait, until
// it is delivered or dropped, and one for each claim that the client knows. The caller of
// count_down() that releases the last count frees the core.
//
// Traits: those of wait_queue; `claim`, its type; `claim_of(node)`, the claim of a wait;
// `wait_of(claim)`, a pointer to the wait of a claim while that is queued, which the core's lock
// guards; recalled_of(claim), a mark for the reason of a recall, which that lock guards until the
// wait is decided; ask(claim) and recall(claim), which are called under that lock; and
// give_up(claim).
template <class Traits>
class remote_state : public wait_queue<Traits> {
  using base = wait_queue<Traits>;

 public:
  using typename base::list;
  using typename base::node;
  using claim = typename Traits::claim;

  remote_state() noexcept = default;

  // Decides a wait that does not queue.
  void conclude(node& waiter, verdict decided) noexcept {
    count_up();
    base::decide(waiter, decided.outcome());
  }

  // Queues a fresh wait, asks for its claim, and returns true. Returns false if it was refused on
  // the spot: the core is closed or dead, or refuse() has marked the wait.
  bool enter(node& waiter) noexcept {
    std::lock_guard const guard(base::lock());
    base::mark(waiter.outcome, refusal_);
    wait_outcome const refused = waiter.outcome;
    if (refused != wait_outcome::undecided) return conclude(waiter, refused), false;
    claim& asked = Traits::claim_of(waiter);
    Traits::wait_of(asked) = &waiter;
    base::join(waiter);
    count_up();  // the client knows the claim
    Traits::ask(asked);
    if (Traits::recalled_of(asked) != wait_outcome::undecided) Traits::recall(asked);
    return true;
  }

  // Decides the wait of a claim, because the server has: granted, or refused. Returns false if
  // nobody waits for it any more, so that it is being given up.
  bool decide(claim& asked, wait_outcome outcome, list& decided) noexcept {
    std::lock_guard const guard(base::lock());
    node* const waiter = Traits::wait_of(asked);
    if (!waiter) return false;
    Traits::wait_of(asked) = nullptr;
    count_up();
    base::take_out(*waiter, outcome, decided);
    return true;
  }

  // Ends the client's knowledge of a claim. Returns true if that was the last count.
  bool end() noexcept { return count_down(); }

  // Refuses a wait. Returns true if it was queued, and takes it out. If it is fresh, marks it, so
  // that enter() refuses it; if it is decided, does nothing.
  bool refuse(node& waiter, wait_outcome outcome, list& decided) noexcept {
    std::lock_guard const guard(base::lock());
    if (waiter.state == wait_state::fresh) base::mark(waiter.outcome, outcome);
    if (waiter.state != wait_state::queued) return false;
    step_out(waiter);
    base::take_out(waiter, outcome, decided);
    return true;
  }

  // Has a queued wait end with the next grant of its claim, for a reason that the claim remembers;
  // the first one counts. A fresh wait is marked, and enter() recalls it. Returns true if the
  // client was told.
  bool recall(node& waiter, wait_outcome why) noexcept {
    std::lock_guard const guard(base::lock());
    if (waiter.state == wait_state::fresh)
      base::mark(Traits::recalled_of(Traits::claim_of(waiter)), why);
    return waiter.state == wait_state::queued && recall_queued(waiter, why);
  }

  // Recalls the queued waits for which `which` is true, and returns the number of those of which
  // the client was told.
  template <class Predicate>
  std::size_t recall_if(Predicate which, wait_outcome why) noexcept {
    std::lock_guard const guard(base::lock());
    std::size_t told = 0;
    for (node* waiter = base::queue_.empty() ? nullptr : &base::queue_.front(); waiter;
         waiter = list::following(*waiter))
      if (which(*waiter) && recall_queued(*waiter, why)) ++told;
    return told;
  }

  // Refuses the queued waits for which `which` is true, and returns their number.
  template <class Predicate>
  std::size_t refuse_if(Predicate which, wait_outcome outcome, list& decided) noexcept {
    std::lock_guard const guard(base::lock());
    return refuse_queued(which, outcome, decided);
  }

  // Refuses the queued waits, and from now on every wait.
  void close(list& decided) noexcept { refuse_from_now_on(wait_outcome::closed, decided); }

  // Refuses the same waits as aborted, because the primitive is being destroyed. It keeps its
  // count until the completions are posted, and then calls count_down(). A grant that is on its
  // way will arrive, because a hold is the client's, and outlives the primitive.
  void abandon(list& decided) noexcept { refuse_from_now_on(wait_outcome::aborted, decided); }

  // True once close() was called.
  bool is_closed() const noexcept {
    std::lock_guard const guard(base::lock());
    return refusal_ == wait_outcome::closed;
  }

  // Gives up the claim of a granted wait that will never arrive. Returns true if that was the last
  // count.
  bool drop(node& waiter, list&) noexcept {
    Traits::give_up(Traits::claim_of(waiter));
    return count_down();
  }

  // Releases a count. Returns true if it was the last: the caller frees the core. Acquire and
  // release: what other threads did to the core happens before its end.
  ASIO_SYNC_INLINE bool count_down() noexcept {
    return counts_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

  // Adds a count.
  void count_up() noexcept { counts_.fetch_add(1, std::memory_order_relaxed); }

 private:
  void refuse_from_now_on(wait_outcome why, list& decided) noexcept {
    std::lock_guard const guard(base::lock());
    refusal_ = why;
    refuse_queued(base::everybody, why, decided);
  }

  // Below: under the lock.

  // Returns true if the wait had not been recalled.
  bool recall_queued(node& waiter, wait_outcome why) noexcept {
    claim& asked = Traits::claim_of(waiter);
    auto& recalled = Traits::recalled_of(asked);
    if (recalled != wait_outcome::undecided) return false;
    recalled = why;
    Traits::recall(asked);
    return true;
  }

  // Ends the wait of a claim that the client knows.
  void step_out(node& waiter) noexcept {
    claim& asked = Traits::claim_of(waiter);
    Traits::wait_of(asked) = nullptr;
    count_up();
    Traits::give_up(asked);
  }

  // Refuses waits like refuse_if().
  template <class Predicate>
  std::size_t refuse_queued(Predicate which, wait_outcome outcome, list& decided) noexcept {
    auto const leaves = [&](node& waiter) {
      if (!which(waiter)) return false;
      step_out(waiter);
      return true;
    };
    return base::take_out_if(leaves, outcome, decided);
  }

  // Refuses each wait that comes, unless it is undecided.
  typename Traits::template guarded<wait_outcome> refusal_{wait_outcome::undecided};
  typename Traits::template atomic<std::uint64_t> counts_{1};
};

}  // namespace asio_sync::detail

#endif
