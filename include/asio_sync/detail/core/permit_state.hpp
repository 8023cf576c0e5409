// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CORE_PERMIT_STATE_HPP
#define ASIO_SYNC_DETAIL_CORE_PERMIT_STATE_HPP

#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/core/wait_list.hpp>
#include <asio_sync/detail/core/wait_queue.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <type_traits>

namespace asio_sync::detail {

// The first-come, first-served queue under the mutex and the semaphore: permits, and waiters that
// each ask for some. It decides who gets them and knows nothing of handlers: transitions put the
// waiters that they have decided into a list, and the caller completes these after the lock.
//
// Traits: those of wait_queue; `weight(node)`; `exclusive`, true where there is one permit (a
// mutex); else `batch`, how many are let in before others get the lock.
//
// The core outlives its primitive by the completions on their way and by the guards, which may
// touch it at any time. So it counts: the primitive is one, and each waiter that was decided is
// one until it is delivered or dropped. Whoever lets the last count go frees the core.
//
// The holder of a mutex may be counted, too. The counts stand in the word, so that a hold is taken
// and given back with its count in one step. A grant from the queue is always counted.
//
// Many permits are their own counts: the primitive's end makes each of those that somebody holds a
// count, and whoever gives some back then lets as many go.
template <class Traits>
class permit_state : public wait_queue<Traits> {
  using base = wait_queue<Traits>;
  using base::everybody, base::join, base::take_out;

 public:
  using typename base::list;
  using typename base::node;
  using permits = std::uint64_t;
  static constexpr bool in_batches = !Traits::exclusive;
  static constexpr bool gives_back_of(node const& w) noexcept { return Traits::weight(w) != 0; }
  static constexpr permits most = Traits::exclusive ? 1 : (permits(1) << 56) - 1;

  permit_state(permits available, permits max) noexcept
      : word_(available * permit + count), many_(available, max) {}

  // Whoever still asks what was freed is told that it is dead, until the memory is used again.
  ~permit_state() { word_.store(dead, std::memory_order_relaxed); }

  // Takes permits unless somebody waits, or there are too few, or the core is closed. `counted`:
  // the holder may outlive the primitive; that of many permits always may.
  ASIO_SYNC_INLINE bool try_acquire(permits n, bool counted) noexcept {
    word w = word_.load(std::memory_order_relaxed);
    do {
      if (!admits(w, n)) return false;
      // Acquire: pairs with the release of whoever gave the permits back.
    } while (!word_.compare_exchange_weak(w, w - n * permit + (counted ? granted_count : 0),
                                          std::memory_order_acquire, std::memory_order_relaxed));
    return true;
  }

  // Decides a waiter that does not queue: refused, or it owns the permits that a counted
  // try_acquire() took.
  void conclude(node& waiter, verdict decided) noexcept {
    if (!Traits::exclusive || !decided.granted()) count_up();
    base::decide(waiter, decided.outcome());
  }

  // Gives back the permit of a mutex if nobody waits: one compare-exchange, the last access to the
  // core. Otherwise, or if that fails without reason, false; then use release().
  ASIO_SYNC_INLINE bool try_release_uncontended(bool counted) noexcept requires Traits::exclusive {
    word w = word_.load(std::memory_order_relaxed);
    if ((w & (waiting | dead | carried | free_permits)) != (counted ? carried : 0)) return false;
    // Release: pairs with the acquire of whoever takes the permit next.
    return word_.compare_exchange_weak(w, w + permit - (counted ? granted_count : 0),
                                       std::memory_order_release, std::memory_order_relaxed);
  }

  // The same for n of many permits, which somebody holds.
  ASIO_SYNC_INLINE bool try_release_uncontended(permits n) noexcept requires(!Traits::exclusive) {
    word w = word_.load(std::memory_order_relaxed);
    word const more = w + n * permit;
    if ((w & (waiting | dead)) || more > many_.full) return false;
    return word_.compare_exchange_weak(w, more, std::memory_order_release,
                                       std::memory_order_relaxed);
  }

  // Gives the permit of a mutex back, or on to those who wait. False, and nothing has changed, if
  // it was not held in that way, counted or not, or the primitive is dead: a counted holder lets
  // its count go then, with count_down().
  bool release(bool counted, list& decided) noexcept requires Traits::exclusive {
    word w = word_.load(std::memory_order_relaxed);
    do {
      if ((w & waiting) && release_to_queue(w, counted, decided)) return true;
      if (!is_held(w, counted)) return false;
    } while (!word_.compare_exchange_weak(w, w + permit - (counted ? granted_count : 0),
                                          std::memory_order_release, std::memory_order_relaxed));
    return true;
  }

  // Gives back n permits that somebody holds, or on to those who wait; drops what exceeds the
  // maximum, as others have added some. False, and nothing has changed, if the primitive is dead:
  // the holder lets as many counts go then, with count_down().
  bool release(permits n, list& decided) noexcept requires(!Traits::exclusive) {
    std::lock_guard const guard(base::lock());
    if (is_dead()) return false;
    permits back = n;
    while (!add(back, decided)) back = max() - available();
    many_.total -= n - back;
    return true;
  }

  // Adds n permits that nobody holds. False, and nothing has changed, if that is too many.
  bool supply(permits n, list& decided) noexcept requires(!Traits::exclusive) {
    std::lock_guard const guard(base::lock());
    if (n > most_in_all - many_.total || !add(n, decided)) return false;
    many_.total += n;  // before the unlock nobody can end the primitive
    return true;
  }

  // n permits that somebody holds will not come back. False if the primitive is dead, as
  // release().
  bool write_off(permits n) noexcept requires(!Traits::exclusive) {
    std::lock_guard const guard(base::lock());
    if (is_dead()) return false;
    many_.total -= n;
    return true;
  }

  // Goes on where a transition has stopped half-way; those that it has decided keep the core.
  void settle_more(list& decided) noexcept {
    std::lock_guard const guard(base::lock());
    decided.more = false;
    settle(word_.load(std::memory_order_relaxed), 0, 0, decided);
  }

  // Turns the holder of a mutex into one that is counted, or back. False, and nothing has changed,
  // if nobody holds it in the other way, or the primitive is dead.
  bool count_holder(bool counted) noexcept requires Traits::exclusive {
    word w = word_.load(std::memory_order_relaxed);
    do {
      if (w & waiting) {
        std::lock_guard const guard(base::lock());
        w = word_.load(std::memory_order_relaxed);
        if (w & waiting) return change_holder(w, counted);
      }
      if (!is_held(w, !counted)) return false;
      // Release: what a counted holder did to the core comes before its end.
    } while (!word_.compare_exchange_weak(w, counted ? w + granted_count : w - granted_count,
                                          std::memory_order_release, std::memory_order_relaxed));
    return true;
  }

  // Queues a fresh waiter: true. False if it was decided on the spot: granted; or refused, as the
  // core is closed or dead, or refuse() has marked it.
  bool enter(node& waiter) noexcept {
    std::lock_guard const guard(base::lock());
    word w = word_.load(std::memory_order_relaxed);
    for (;;) {
      if (admits(w, Traits::weight(waiter))) {
        if (word_.compare_exchange_weak(w, w - Traits::weight(waiter) * permit + granted_count,
                                        std::memory_order_acquire, std::memory_order_relaxed)) {
          if (!Traits::exclusive) count_up();
          base::decide(waiter, wait_outcome::granted);
          return false;
        }
      } else if ((w & (closed | dead)) || waiter.outcome != wait_outcome::undecided) {
        return conclude(waiter, refusal(w, waiter.outcome)), false;
      } else if ((w & waiting) ||
                 word_.compare_exchange_weak(w, w | waiting, std::memory_order_relaxed,
                                             std::memory_order_relaxed)) {
        break;
      }
    }
    join(waiter);
    return true;
  }

  // Refuses a waiter: takes it from the queue, and lets in those whom it kept out; marks it if it
  // has not come to the queue yet; does nothing once it is decided. True if it was in the queue.
  bool refuse(node& waiter, wait_outcome outcome, list& decided) noexcept {
    std::lock_guard const guard(base::lock());
    if (waiter.state == wait_state::fresh) base::mark(waiter.outcome, outcome);
    if (waiter.state != wait_state::queued) return false;
    take_out(waiter, outcome, decided);
    settle(word_.load(std::memory_order_relaxed), 0, counted_up(1), decided);
    return true;
  }

  // Refuses those in the queue of whom `which` is true; returns how many.
  template <class Predicate>
  std::size_t refuse_if(Predicate which, wait_outcome outcome, list& decided) noexcept {
    std::lock_guard const guard(base::lock());
    return refuse_queued(which, outcome, 0, decided);
  }

  // Refuses those in the queue, and from now on everybody.
  void close(list& decided) noexcept {
    std::lock_guard const guard(base::lock());
    word const flag = word_.load(std::memory_order_relaxed) & closed ? 0 : closed;
    refuse_queued(everybody, wait_outcome::closed, flag, decided);
  }

  // The primitive is being destroyed: refuses those in the queue; what was granted and has not
  // arrived arrives as aborted, and a counted holder finds that there is nothing to give back. The
  // primitive's own count stays: count_down() comes after the completions.
  void abandon(list& decided) noexcept {
    std::lock_guard const guard(base::lock());
    refuse_queued(everybody, wait_outcome::aborted, Traits::exclusive ? dead : 0, decided);
    if constexpr (!Traits::exclusive) {
      // Holders that see the flag let counts go: all permits are counted before, and those that
      // turn out to be free are taken back. Release: pairs with these holders. Acquire: what the
      // others did to the core comes before its end.
      many_.counts.fetch_add(many_.total, std::memory_order_relaxed);
      word const last = word_.fetch_add(dead, std::memory_order_acq_rel);
      many_.counts.fetch_sub(available_in(last), std::memory_order_relaxed);
    }
  }

  // Acquire: pairs with abandon(), so that what that did comes before.
  bool is_dead() const noexcept { return (word_.load(std::memory_order_acquire) & dead) != 0; }

  // A granted waiter will never arrive: what it carried goes on. True if that was the last count.
  bool drop([[maybe_unused]] node& waiter, list& decided) noexcept {
    if constexpr (Traits::exclusive) {
      std::lock_guard const guard(base::lock());
      word const w = word_.load(std::memory_order_relaxed);
      if (!(w & dead)) return settle(w, 1, word(0) - granted_count, decided), false;
    } else {
      permits const n = Traits::weight(waiter);
      if (!release(n, decided)) return count_down(n + 1);
    }
    return count_down();  // after the unlock, as others may free the core from here on
  }

  // One more of those who keep the core.
  void count_up() noexcept {
    if (word const change = counted_up(1)) word_.fetch_add(change, std::memory_order_relaxed);
  }

  // Lets counts go. True if they were the last: the caller frees the core.
  ASIO_SYNC_INLINE bool count_down(permits n = 1) noexcept {
    // Acquire and release: what others did to the core comes before its end.
    if constexpr (Traits::exclusive)
      return (word_.fetch_sub(n * count, std::memory_order_acq_rel) / count) == n;
    else
      return many_.counts.fetch_sub(n, std::memory_order_acq_rel) == n;
  }

  permits available() const noexcept {
    return available_in(word_.load(std::memory_order_relaxed));
  }

  permits max() const noexcept { return available_in(many_.full); }

  bool is_closed() const noexcept { return (word_.load(std::memory_order_relaxed) & closed) != 0; }

 protected:
  using base::queue_;
  // The word of a mutex:    | count, 30 bits | free, 30 bits | carried | dead | closed | waiting |
  // Of many permits:        |          free, 60 bits         |    0    | dead | closed | waiting |
  // The printers in share/gdb know it.
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

  // That are free or held: the word, the counts and a holder's sum have room for them.
  static constexpr permits most_in_all = std::min<permits>(permits(1) << 59, PTRDIFF_MAX);

  struct one_permit {
    one_permit(permits, permits) noexcept {}
    static constexpr word full = permit;
  };
  struct many_permits {
    many_permits(permits available, permits max) noexcept
        : full(max * permit | (permit - 1)), total(available) {}
    word const full;  // the word when all are free, with any flags
    typename Traits::template atomic<word> counts{1};
    typename Traits::template guarded<permits> total;  // that are free or held
  };

  static constexpr permits available_in(word w) noexcept {
    return Traits::exclusive ? w / permit & 1 : w / permit;
  }

  static constexpr bool admits(word w, permits n) noexcept {
    if (Traits::exclusive) return (w & (waiting | closed | dead | free_permits)) == permit;
    return !(w & (waiting | closed | dead)) && available_in(w) >= n;
  }

  static constexpr wait_outcome refusal(word w, wait_outcome mark) noexcept {
    return (w & dead) ? wait_outcome::aborted : (w & closed) ? wait_outcome::closed : mark;
  }

  static constexpr bool is_held(word w, bool counted) noexcept requires Traits::exclusive {
    return (w & (dead | carried | free_permits)) == (counted ? carried : 0);
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

  // Below: under the lock.

  // False if the queue has gone meanwhile, or the permit was not held; w is up to date then.
  bool release_to_queue(word& w, bool counted, list& decided) noexcept requires Traits::exclusive {
    std::lock_guard const guard(base::lock());
    w = word_.load(std::memory_order_relaxed);
    if (!(w & waiting) || !is_held(w, counted)) return false;
    hand_over(counted, decided);
    return true;
  }

  // n permits become free; false if more than the maximum would be.
  bool add(permits n, list& decided) noexcept requires(!Traits::exclusive) {
    word w = word_.load(std::memory_order_relaxed);
    do {
      if (n > max() - available_in(w)) return false;
      if (w & waiting) return settle(w, n, 0, decided), true;
      // Release: pairs with the acquire of whoever takes them.
    } while (!word_.compare_exchange_weak(w, w + n * permit, std::memory_order_release,
                                          std::memory_order_relaxed));
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

  bool change_holder(word w, bool counted) noexcept requires Traits::exclusive {
    if (!is_held(w, !counted)) return false;
    word_.fetch_add(counted ? granted_count : word(0) - granted_count, std::memory_order_relaxed);
    return true;
  }

  template <class Predicate>
  std::size_t refuse_queued(Predicate which, wait_outcome outcome, word change,
                            list& decided) noexcept {
    std::size_t const refused = base::take_out_if(which, outcome, decided);
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

  typename Traits::template atomic<word> word_;
  [[no_unique_address]] std::conditional_t<Traits::exclusive, one_permit, many_permits> many_;
};

}  // namespace asio_sync::detail

#endif
