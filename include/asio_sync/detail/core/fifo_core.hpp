// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CORE_FIFO_CORE_HPP
#define ASIO_SYNC_DETAIL_CORE_FIFO_CORE_HPP

#include <asio_sync/detail/core/wait_list.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace asio_sync::detail {

// The weighted first-come, first-served queue under the mutex, the semaphore and the shared mutex:
// a number of permits, and waits that each ask for some. It decides who gets them and knows
// nothing of handlers: transitions put the waits that they have decided into a list, and the
// caller completes these after the lock is released.
//
// Traits: `atomic<T>` and `lock_type`; `node`, with members `next`, `prev`, `state`, `outcome`;
// `list`, a wait_list of them; `weight(node)`; `exclusive`, true where there is one permit and its
// holder is not told how it came by it (a mutex); `tally`, told under the lock who joins and
// leaves the queue, and that a transition which was no hand-over is done.
//
// The core outlives its primitive by the completions on their way, which may touch it at any time.
// So it counts: the primitive is one, each wait that was decided is one until it is delivered or
// dropped, and a permit that came through the queue stays one until it is released, so that
// neither grant nor delivery costs an operation for it. Whoever lets the last count go frees the
// core.
template <class Traits>
class fifo_core {
 public:
  using node = typename Traits::node;
  using list = typename Traits::list;
  using permits = std::uint32_t;  // below 2^30

  fifo_core(permits available, permits max) noexcept
      : word_(count + available * permit), max_(max) {}
  fifo_core(fifo_core const&) = delete;
  fifo_core& operator=(fifo_core const&) = delete;

  // Takes permits unless somebody waits, or there are too few, or the core is closed.
  bool try_acquire(permits n = 1) noexcept { return take_free(n, 0); }

  // The same for a wait that has not queued: it is granted and owns the permits from here on.
  bool try_grant(node& wait) noexcept {
    if (!take_free(Traits::weight(wait), granted_count)) return false;
    decide(wait, wait_outcome::granted);
    return true;
  }

  // Decides a wait that does not queue: refused, or it owns the permits that try_acquire() took.
  void conclude(node& wait, wait_outcome outcome) noexcept {
    word_.fetch_add(outcome == wait_outcome::granted ? granted_count : count,
                    std::memory_order_relaxed);
    decide(wait, outcome);
  }

  // Gives back the one permit of a mutex if nobody waits: one compare-exchange, the last access to
  // the core. Otherwise, or if that fails without reason, false; then use release().
  bool try_release_uncontended() noexcept requires Traits::exclusive {
    word w = word_.load(std::memory_order_relaxed);
    if (w & (waiting | free_permits)) return false;
    // Release: pairs with the acquire of whoever takes the permit next.
    return word_.compare_exchange_weak(w, w + returned(w, false) + permit,
                                       std::memory_order_release, std::memory_order_relaxed);
  }

  // Gives permits back, or on to those who wait. `counted`: they came through the queue (ignored
  // where exclusive: the core knows), and their count goes with them. False if they were not held,
  // or the primitive is dead; nothing has changed then.
  bool release(permits n, bool counted, list& decided) noexcept {
    word w = word_.load(std::memory_order_relaxed);
    do {
      if ((w & waiting) && release_to_queue(w, n, counted, decided)) return true;
      if (!takes_back(w, n)) return false;
    } while (!word_.compare_exchange_weak(w, w + returned(w, counted) + n * permit,
                                          std::memory_order_release, std::memory_order_relaxed));
    return true;
  }

  // Queues a fresh wait: true. False if it was decided on the spot: granted, refused by close(),
  // or refused because its outcome was marked (by remove(), or by the caller to have it try once).
  bool enter(node& wait) noexcept {
    std::lock_guard const guard(lock_);
    word w = word_.load(std::memory_order_relaxed);
    for (;;) {
      if (admits(w, Traits::weight(wait))) {
        if (word_.compare_exchange_weak(w, w - Traits::weight(wait) * permit + granted_count,
                                        std::memory_order_acquire, std::memory_order_relaxed)) {
          decide(wait, wait_outcome::granted);
          return false;
        }
      } else if ((w & closed) || wait.outcome != wait_outcome::granted) {
        word_.fetch_add(count, std::memory_order_relaxed);
        decide(wait, (w & closed) ? wait_outcome::closed : wait.outcome);
        return false;
      } else if ((w & waiting) ||
                 word_.compare_exchange_weak(w, w | waiting, std::memory_order_relaxed,
                                             std::memory_order_relaxed)) {
        break;
      }
    }
    wait.state = wait_state::queued;
    queue_.push_back(wait);
    ++size_;
    tally_.joined(wait);
    return true;
  }

  // Refuses a wait: takes it from the queue, and lets in those whom it kept out; marks it if it
  // has not come to the queue yet; does nothing once it is decided. True if it was in the queue.
  bool remove(node& wait, wait_outcome outcome, list& decided) noexcept {
    std::lock_guard const guard(lock_);
    if (wait.state == wait_state::fresh) wait.outcome = outcome;
    if (wait.state != wait_state::queued) return false;
    take_out(wait, outcome, decided);
    settle(word_.load(std::memory_order_relaxed), 0, count, decided);
    return true;
  }

  // Refuses those in the queue of whom `which` is true; returns how many.
  template <class Predicate>
  std::size_t remove_if(Predicate which, wait_outcome outcome, list& decided) noexcept {
    std::lock_guard const guard(lock_);
    return refuse_if(which, outcome, 0, decided);
  }

  // Refuses those in the queue, and from now on everybody.
  void close(list& decided) noexcept {
    std::lock_guard const guard(lock_);
    word const flag = word_.load(std::memory_order_relaxed) & closed ? 0 : closed;
    refuse_if(everybody, wait_outcome::closed, flag, decided);
  }

  // The primitive is being destroyed: refuses those in the queue; what was granted and has not
  // arrived arrives as aborted. The count of a holder who will not release any more is let go. The
  // primitive's own count is not: forget() comes after the completions.
  void abandon(list& decided) noexcept {
    std::lock_guard const guard(lock_);
    word change = dead;
    if (Traits::exclusive && !in_flight_.load(std::memory_order_relaxed))
      change += returned(word_.load(std::memory_order_relaxed), false);
    refuse_if(everybody, wait_outcome::aborted, change, decided);
  }

  // A granted wait has arrived: true, the permits are its own. False: the primitive is dead.
  bool deliver() noexcept {
    // A plain load: a program in which the primitive's destructor and this delivery meet has a
    // guard outlive its primitive in one of the two orders.
    if (word_.load(std::memory_order_acquire) & dead) return false;
    if (Traits::exclusive) in_flight_.store(false, std::memory_order_relaxed);
    return true;
  }

  // A granted wait will never arrive: what it carried goes on. True if that was the last count.
  bool drop(node& wait, list& decided) noexcept {
    {
      std::lock_guard const guard(lock_);
      word const w = word_.load(std::memory_order_relaxed);
      if (!(w & dead)) {
        if (Traits::exclusive) in_flight_.store(false, std::memory_order_relaxed);
        settle(w, Traits::weight(wait), returned(w, true), decided);
        return false;
      }
    }
    return forget();  // after the unlock, as others may free the core from here on
  }

  // Lets a count go. True if it was the last: the caller frees the core.
  bool forget() noexcept {
    // Acquire and release: what others did to the core comes before its end.
    return (word_.fetch_sub(count, std::memory_order_acq_rel) / count) == 1;
  }

  std::size_t waiters() const noexcept {
    std::lock_guard const guard(lock_);
    return size_;
  }

  permits available() const noexcept {
    return available_in(word_.load(std::memory_order_relaxed));
  }

  bool is_closed() const noexcept { return (word_.load(std::memory_order_relaxed) & closed) != 0; }

 protected:
  // The tally may have to let something go.
  void settle_tally(list& decided) noexcept {
    std::lock_guard const guard(lock_);
    tally_.settled(decided);
  }

  typename Traits::tally& tally() noexcept { return tally_; }
  typename Traits::lock_type& lock() const noexcept { return lock_; }

 private:
  // The word: four flags, the free permits, the count.
  using word = std::uint64_t;
  static constexpr word waiting = 1;  // somebody is queued; changes under the lock only, and while
                                      // it is set the permits change under the lock only
  static constexpr word closed = 2;   // nothing is handed out any more
  static constexpr word dead = 4;     // the primitive is gone
  static constexpr word carried = 8;  // exclusive: the holder has a count, as it came by the queue
  static constexpr word permit = 16;
  static constexpr word count = word(1) << 34;
  static constexpr word free_permits = count - permit;
  static constexpr word granted_count = count + (Traits::exclusive ? carried : 0);
  static constexpr auto everybody = [](node const&) { return true; };

  static constexpr permits available_in(word w) noexcept {
    return static_cast<permits>((w % count) / permit);
  }

  static constexpr bool admits(word w, permits n) noexcept {
    return !(w & (waiting | closed | dead)) && available_in(w) >= n;
  }

  bool takes_back(word w, permits n) const noexcept {
    return !(w & dead) && available_in(w) + n <= (Traits::exclusive ? 1 : max_);
  }

  // What a release changes in the word besides the permits: their count goes, if they had one.
  static constexpr word returned(word w, bool counted) noexcept {
    return (Traits::exclusive ? (w & carried) != 0 : counted) ? word(0) - granted_count : 0;
  }

  bool take_free(permits n, word also) noexcept {
    word w = word_.load(std::memory_order_relaxed);
    do {
      if (!admits(w, n)) return false;
      // Acquire: pairs with the release of whoever gave the permits back.
    } while (!word_.compare_exchange_weak(w, w - n * permit + also, std::memory_order_acquire,
                                          std::memory_order_relaxed));
    return true;
  }

  void decide(node& wait, wait_outcome outcome) noexcept {
    wait.state = wait_state::decided;
    wait.outcome = outcome;
    if (Traits::exclusive && outcome == wait_outcome::granted)
      in_flight_.store(true, std::memory_order_relaxed);
  }

  // Below: under the lock.

  // False if the queue has gone meanwhile, or the permits were not held; w is up to date then.
  bool release_to_queue(word& w, permits n, bool counted, list& decided) noexcept {
    std::lock_guard const guard(lock_);
    w = word_.load(std::memory_order_relaxed);
    if (!(w & waiting) || !takes_back(w, n)) return false;
    if constexpr (Traits::exclusive)
      hand_over(w, decided);
    else
      settle(w, n, returned(w, counted), decided);
    return true;
  }

  // What settle() comes to where the one permit goes from its holder to the head of the queue.
  void hand_over(word w, list& decided) noexcept {
    take_out(queue_.front(), wait_outcome::granted, decided);
    word change = (w & carried) ? 0 : granted_count;
    if (queue_.empty()) change -= waiting;
    if (change != 0) word_.fetch_add(change, std::memory_order_acq_rel);
  }

  void take_out(node& wait, wait_outcome outcome, list& decided) noexcept {
    queue_.erase(wait);
    --size_;
    tally_.left(wait, decided);
    decide(wait, outcome);
    decided.push_back(wait);
  }

  template <class Predicate>
  std::size_t refuse_if(Predicate which, wait_outcome outcome, word change,
                        list& decided) noexcept {
    std::size_t refused = 0;
    for (node* wait = queue_.empty() ? nullptr : &queue_.front(); wait;) {
      node& candidate = *wait;
      wait = list::following(candidate);
      if (!which(candidate)) continue;
      take_out(candidate, outcome, decided);
      ++refused;
    }
    settle(word_.load(std::memory_order_relaxed), 0, change + refused * count, decided);
    return refused;
  }

  // Every transition that frees permits or removes a wait ends here: n permits come back, the head
  // of the queue is looked at again for as long as what is free suffices, and all that changes in
  // the word changes at once. `w` may be out of date where nobody waits; it is then not relied on.
  void settle(word w, permits n, word change, list& decided) noexcept {
    change += n * permit;
    permits available = available_in(w) + n;
    while (!queue_.empty() && Traits::weight(queue_.front()) <= available) {
      permits const taken = Traits::weight(queue_.front());
      take_out(queue_.front(), wait_outcome::granted, decided);
      available -= taken;
      change += granted_count - taken * permit;
    }
    if (queue_.empty()) change -= w & waiting;
    tally_.settled(decided);
    // Release: pairs with the acquire of whoever takes what has become free.
    if (change != 0) word_.fetch_add(change, std::memory_order_acq_rel);
  }

  typename Traits::template atomic<word> word_;
  permits const max_;
  std::size_t size_ = 0;   // lock_
  wait_list<node> queue_;  // lock_
  mutable typename Traits::lock_type lock_;
  // Exclusive: the permit was granted to a wait that has not arrived. A store at the grant, a
  // store at the delivery; read by abandon(), which every delivery that counts comes before.
  typename Traits::template atomic<bool> in_flight_{false};
  [[no_unique_address]] typename Traits::tally tally_;  // lock_
};

}  // namespace asio_sync::detail

#endif
