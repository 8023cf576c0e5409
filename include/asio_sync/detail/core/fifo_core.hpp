// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CORE_FIFO_CORE_HPP
#define ASIO_SYNC_DETAIL_CORE_FIFO_CORE_HPP

#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/core/wait_list.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <type_traits>

namespace asio_sync::detail {

// The weighted first-come, first-served queue under the mutex, the semaphore and the shared mutex:
// a number of permits, and waiters that each ask for some. It decides who gets them and knows
// nothing of handlers: transitions put the waiters that they have decided into a list, and the
// caller completes these after the lock is released.
//
// Traits: `atomic<T>` and `lock_type`; `node`, with members `next`, `prev`, `state`, `outcome`;
// `list`, a decided_list of them; `weight(node)`; `joined(node)` and `left(node, list)`, told
// under the lock; `exclusive`, true where there is one permit (a mutex); else `batch`, how many
// are let in before others get the lock.
//
// The core outlives its primitive by the completions on their way and by the guards, which may
// touch it at any time. So it counts: the primitive is one, each waiter that was decided is one
// until it is delivered or dropped, and so is each holder that is counted, until it lets go. A
// grant from the queue is always counted, and its count passes to the holder: neither the grant
// nor the delivery costs an operation for it. Whoever lets the last count go frees the core.
//
// The counts of a mutex stand in the word, so that a hold is taken and given back with its count
// in one step. Where there are many permits the counts have a word of their own: a count is taken
// after the permits, in the primitive's lifetime, and let go after they have gone back.
template <class Traits>
class fifo_core {
 public:
  using node = typename Traits::node;
  using list = typename Traits::list;
  using permits = std::uint64_t;
  static constexpr bool exclusive = Traits::exclusive;
  static constexpr bool carries = true;  // a grant is held until it is given back
  static constexpr permits most = Traits::exclusive ? 1 : (permits(1) << 56) - 1;

  fifo_core(permits available, permits max) noexcept
      : word_(available * permit + count), many_(max) {}
  fifo_core(fifo_core const&) = delete;
  fifo_core& operator=(fifo_core const&) = delete;

  // Whoever still asks what was freed is told that it is dead, for as long as nobody else uses
  // the memory.
  ~fifo_core() { word_.store(dead, std::memory_order_relaxed); }

  // Takes permits unless somebody waits, or there are too few, or the core is closed. `counted`:
  // the holder may outlive the primitive.
  ASIO_SYNC_INLINE bool try_acquire(permits n, bool counted) noexcept {
    word w = word_.load(std::memory_order_relaxed);
    do {
      if (!admits(w, n)) return false;
      // Acquire: pairs with the release of whoever gave the permits back.
    } while (!word_.compare_exchange_weak(w, w - n * permit + (counted ? granted_count : 0),
                                          std::memory_order_acquire, std::memory_order_relaxed));
    if (!Traits::exclusive && counted) count_up();
    return true;
  }

  // Decides a waiter that does not queue: refused, or it owns the permits that a counted
  // try_acquire() took.
  void conclude(node& waiter, verdict decided) noexcept {
    if (!decided.granted()) count_up();
    decide(waiter, decided.outcome());
  }

  // Gives back the one permit of a mutex if nobody waits: one compare-exchange, the last access to
  // the core. Otherwise, or if that fails without reason, false; then use release().
  ASIO_SYNC_INLINE bool try_release_uncontended(bool counted) noexcept requires Traits::exclusive {
    word w = word_.load(std::memory_order_relaxed);
    if ((w & (waiting | dead | carried | free_permits)) != (counted ? carried : 0)) return false;
    // Release: pairs with the acquire of whoever takes the permit next.
    return word_.compare_exchange_weak(w, w + permit - (counted ? granted_count : 0),
                                       std::memory_order_release, std::memory_order_relaxed);
  }

  // The same for many permits.
  ASIO_SYNC_INLINE bool try_release_uncontended(permits n, bool counted) noexcept
      requires(!Traits::exclusive) {
    word w = word_.load(std::memory_order_relaxed);
    if ((w & waiting) || !takes_back(w, n, counted)) return false;
    return word_.compare_exchange_weak(w, w + returned(w, n) * permit, std::memory_order_release,
                                       std::memory_order_relaxed);
  }

  // Gives permits back, or on to those who wait. False, and nothing has changed, if they were not
  // held: of a mutex, in that way, counted or not, or it is dead; a counted holder lets its count
  // go then, with forget(). A counted holder of many permits always does, afterwards; what it
  // gives back above the maximum, as a release by a member was too many, is dropped.
  bool release(permits n, bool counted, list& decided) noexcept {
    word w = word_.load(std::memory_order_relaxed);
    do {
      if ((w & waiting) && release_to_queue(w, n, counted, decided)) return true;
      if (!takes_back(w, n, counted)) return false;
    } while (!word_.compare_exchange_weak(
        w, w + returned(w, n) * permit - (counted ? granted_count : 0), std::memory_order_release,
        std::memory_order_relaxed));
    return true;
  }

  // Goes on where a transition has stopped half-way. The core stays while nobody of those that are
  // decided has been let go.
  void settle_more(list& decided) noexcept {
    std::lock_guard const guard(lock_);
    decided.more = false;
    settle(word_.load(std::memory_order_relaxed), 0, 0, decided);
  }

  // Turns the holder of a mutex into one that is counted, or back. False, and nothing has changed,
  // if nobody holds it in the other way, or the primitive is dead.
  bool count_holder(bool counted) noexcept requires Traits::exclusive {
    word w = word_.load(std::memory_order_relaxed);
    do {
      if (w & waiting) {
        std::lock_guard const guard(lock_);
        w = word_.load(std::memory_order_relaxed);
        if (w & waiting) return change_holder(w, counted);
      }
      if (!takes_back(w, 1, !counted)) return false;
      // Release: what a counted holder did to the core comes before its end.
    } while (!word_.compare_exchange_weak(w, counted ? w + granted_count : w - granted_count,
                                          std::memory_order_release, std::memory_order_relaxed));
    return true;
  }

  // Queues a fresh waiter: true. False if it was decided on the spot: granted, refused by close(),
  // or refused because it was marked by refuse().
  bool enter(node& waiter) noexcept {
    std::lock_guard const guard(lock_);
    word w = word_.load(std::memory_order_relaxed);
    for (;;) {
      if (admits(w, Traits::weight(waiter))) {
        if (word_.compare_exchange_weak(w, w - Traits::weight(waiter) * permit + granted_count,
                                        std::memory_order_acquire, std::memory_order_relaxed)) {
          if (!Traits::exclusive) count_up();
          decide(waiter, wait_outcome::granted);
          return false;
        }
      } else if ((w & closed) || waiter.outcome != wait_outcome::undecided) {
        count_up();
        decide(waiter, (w & closed) ? wait_outcome::closed : waiter.outcome);
        return false;
      } else if ((w & waiting) ||
                 word_.compare_exchange_weak(w, w | waiting, std::memory_order_relaxed,
                                             std::memory_order_relaxed)) {
        break;
      }
    }
    waiter.state = wait_state::queued;
    queue_.push_back(waiter);
    ++size_;
    Traits::joined(waiter);
    return true;
  }

  // Refuses a waiter: takes it from the queue, and lets in those whom it kept out; marks it if it
  // has not come to the queue yet; does nothing once it is decided. True if it was in the queue.
  bool refuse(node& waiter, wait_outcome outcome, list& decided) noexcept {
    std::lock_guard const guard(lock_);
    if (waiter.state == wait_state::fresh) waiter.outcome = outcome;
    if (waiter.state != wait_state::queued) return false;
    take_out(waiter, outcome, decided);
    settle(word_.load(std::memory_order_relaxed), 0, counted_up(1), decided);
    return true;
  }

  // Refuses those in the queue of whom `which` is true; returns how many.
  template <class Predicate>
  std::size_t refuse_if(Predicate which, wait_outcome outcome, list& decided) noexcept {
    std::lock_guard const guard(lock_);
    return refuse_queued(which, outcome, 0, decided);
  }

  // Refuses those in the queue, and from now on everybody.
  void close(list& decided) noexcept {
    std::lock_guard const guard(lock_);
    word const flag = word_.load(std::memory_order_relaxed) & closed ? 0 : closed;
    refuse_queued(everybody, wait_outcome::closed, flag, decided);
  }

  // The primitive is being destroyed: refuses those in the queue; what was granted and has not
  // arrived arrives as aborted, and a counted holder finds that there is nothing to give back. The
  // primitive's own count stays: forget() comes after the completions.
  void abandon(list& decided) noexcept {
    std::lock_guard const guard(lock_);
    refuse_queued(everybody, wait_outcome::aborted, dead, decided);
  }

  // Acquire: pairs with the destructor's change, so that what it did comes before.
  bool is_dead() const noexcept { return (word_.load(std::memory_order_acquire) & dead) != 0; }

  // A granted waiter will never arrive: what it carried goes on. True if that was the last count.
  bool drop([[maybe_unused]] node& waiter, list& decided) noexcept {
    if constexpr (Traits::exclusive) {
      std::lock_guard const guard(lock_);
      word const w = word_.load(std::memory_order_relaxed);
      if (!(w & dead)) return settle(w, 1, word(0) - granted_count, decided), false;
    } else {
      release(Traits::weight(waiter), true, decided);
    }
    return forget();  // after the unlock, as others may free the core from here on
  }

  // One more holder, of what a counted holder has.
  ASIO_SYNC_INLINE void count_up() noexcept {
    if constexpr (Traits::exclusive)
      word_.fetch_add(count, std::memory_order_relaxed);
    else
      many_.counts.fetch_add(1, std::memory_order_relaxed);
  }

  // Lets a count go. True if it was the last: the caller frees the core.
  ASIO_SYNC_INLINE bool forget() noexcept {
    // Acquire and release: what others did to the core comes before its end.
    if constexpr (Traits::exclusive)
      return (word_.fetch_sub(count, std::memory_order_acq_rel) / count) == 1;
    else
      return many_.counts.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

  std::size_t waiters() const noexcept {
    std::lock_guard const guard(lock_);
    return size_;
  }

  permits available() const noexcept {
    return available_in(word_.load(std::memory_order_relaxed));
  }

  permits max() const noexcept {
    if constexpr (Traits::exclusive)
      return 1;
    else
      return many_.max;
  }

  bool is_closed() const noexcept { return (word_.load(std::memory_order_relaxed) & closed) != 0; }

 protected:
  typename Traits::lock_type& lock() const noexcept { return lock_; }

 private:
  // The word of a mutex:    | count, 30 bits | free, 30 bits | carried | dead | closed | waiting |
  // Of many permits:        |          free, 60 bits         |    0    | dead | closed | waiting |
  using word = std::uint64_t;
  static constexpr word waiting = 1;  // somebody is queued; changes under the lock only, and while
                                      // it is set, so do the permits and `carried`
  static constexpr word closed = 2;   // nothing is handed out any more
  static constexpr word dead = 4;     // the primitive is gone
  static constexpr word carried = 8;  // exclusive: the holder is counted
  static constexpr word permit = 16;
  static constexpr word count = Traits::exclusive ? word(1) << 34 : 0;
  static constexpr word free_permits = Traits::exclusive ? permit : 0;
  static constexpr word granted_count = Traits::exclusive ? count + carried : 0;
  static constexpr auto everybody = [](node const&) { return true; };

  struct one_permit {
    explicit one_permit(permits) noexcept {}
  };
  struct many_permits {
    explicit many_permits(permits m) noexcept : max(m) {}
    typename Traits::template atomic<word> counts{1};
    permits const max;
  };

  static constexpr permits available_in(word w) noexcept {
    return Traits::exclusive ? w / permit & 1 : w / permit;
  }

  static constexpr bool admits(word w, permits n) noexcept {
    if (Traits::exclusive) return (w & (waiting | closed | dead | free_permits)) == permit;
    return !(w & (waiting | closed | dead)) && available_in(w) >= n;
  }

  bool takes_back(word w, permits n, bool counted) const noexcept {
    if constexpr (Traits::exclusive)
      return (w & (dead | carried | free_permits)) == (counted ? carried : 0);
    else
      return counted || n <= max() - available_in(w);
  }

  // How many of n permits come back.
  permits returned(word w, permits n) const noexcept {
    return Traits::exclusive ? n : std::min(n, max() - available_in(w));
  }

  // Counts so many; returns what is to be added to the word for that.
  word counted_up(std::size_t n) noexcept {
    if constexpr (Traits::exclusive) {
      return n * count;
    } else {
      if (n != 0) many_.counts.fetch_add(n, std::memory_order_relaxed);
      return 0;
    }
  }

  void decide(node& waiter, wait_outcome outcome) noexcept {
    waiter.state = wait_state::decided;
    waiter.outcome = outcome;
  }

  // Below: under the lock.

  // False if the queue has gone meanwhile, or the permits were not held; w is up to date then.
  bool release_to_queue(word& w, permits n, bool counted, list& decided) noexcept {
    std::lock_guard const guard(lock_);
    w = word_.load(std::memory_order_relaxed);
    if (!(w & waiting) || !takes_back(w, n, counted)) return false;
    if constexpr (Traits::exclusive)
      hand_over(counted, decided);
    else
      settle(w, returned(w, n), 0, decided);
    return true;
  }

  // What settle() comes to where the one permit goes from its holder to the head of the queue. The
  // count of a counted holder goes with it.
  void hand_over(bool counted, list& decided) noexcept {
    take_out(queue_.front(), wait_outcome::granted, decided);
    word change = counted ? 0 : granted_count;
    if (queue_.empty()) change -= waiting;
    if (change != 0) word_.fetch_add(change, std::memory_order_acq_rel);
  }

  bool change_holder(word w, bool counted) noexcept {
    if (!takes_back(w, 1, !counted)) return false;
    word_.fetch_add(counted ? granted_count : word(0) - granted_count, std::memory_order_relaxed);
    return true;
  }

  void take_out(node& waiter, wait_outcome outcome, list& decided) noexcept {
    queue_.erase(waiter);
    --size_;
    Traits::left(waiter, decided);
    decide(waiter, outcome);
    decided.push_back(waiter);
  }

  template <class Predicate>
  std::size_t refuse_queued(Predicate which, wait_outcome outcome, word change,
                            list& decided) noexcept {
    std::size_t refused = 0;
    for (node* next = queue_.empty() ? nullptr : &queue_.front(); next;) {
      node& candidate = *next;
      next = list::following(candidate);
      if (!which(candidate)) continue;
      take_out(candidate, outcome, decided);
      ++refused;
    }
    settle(word_.load(std::memory_order_relaxed), 0, change + counted_up(refused), decided);
    return refused;
  }

  // Every transition that frees permits or removes a waiter ends here: n permits come back, the
  // head of the queue is looked at again for as long as what is free suffices, and all that
  // changes in the word changes at once. `w` may be out of date where nobody waits; it is then not
  // relied on.
  void settle(word w, permits n, word change, list& decided) noexcept {
    change += n * permit;
    permits available = available_in(w) + n;
    std::size_t granted = 0;
    for (; !queue_.empty() && Traits::weight(queue_.front()) <= available; ++granted) {
      if constexpr (!Traits::exclusive)
        if (granted == Traits::batch) {
          decided.more = true;
          break;
        }
      permits const taken = Traits::weight(queue_.front());
      take_out(queue_.front(), wait_outcome::granted, decided);
      available -= taken;
      change += granted_count - taken * permit;
    }
    if constexpr (!Traits::exclusive) change += counted_up(granted);
    if (queue_.empty()) change -= w & waiting;
    // Release: pairs with the acquire of whoever takes what has become free.
    if (change != 0) word_.fetch_add(change, std::memory_order_acq_rel);
  }

  wait_list<node> queue_;  // lock_
  typename Traits::template atomic<word> word_;
  [[no_unique_address]] std::conditional_t<Traits::exclusive, one_permit, many_permits> many_;
  std::uint32_t size_ = 0;  // lock_
  mutable typename Traits::lock_type lock_;
};

}  // namespace asio_sync::detail

#endif
