// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CORE_SHARED_MUTEX_STATE_HPP
#define ASIO_SYNC_DETAIL_CORE_SHARED_MUTEX_STATE_HPP

#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/core/wait_list.hpp>
#include <asio_sync/detail/core/wait_queue.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace asio_sync::detail {

// How a shared mutex is held, or waited for. Who upgrades holds it shared, and waits to be alone.
enum class lock_mode : std::uint8_t { exclusive, shared, upgrade };

// The first-come, first-served queue under the shared mutex: one writer, or any number of readers.
// A writer waits for all that hold, a reader for those who queued before it; so neighbouring
// readers enter together. Who upgrades queues in front of all others.
//
// Traits: those of wait_queue; `mode(node)`; `batch`, how many are let in before others get the
// lock.
//
// The core outlives its primitive by the completions on their way and by the guards. The primitive
// is one count, and each waiter that was refused is one until it is delivered or dropped. Guards,
// and grants on their way to them, are in the word: their holds are their own counts. The
// primitive's end makes each of them a count; whoever gives one back then lets a count go. What a
// member holds has none. One that upgrades keeps its hold as a reader until it is granted: also
// where it is refused, as then whoever gets the refusal has it again.
template <class Traits>
class shared_mutex_state : public wait_queue<Traits> {
  using base = wait_queue<Traits>;
  using base::everybody, base::join, base::queue_, base::take_out;

 public:
  using typename base::list;
  using typename base::node;
  static constexpr bool in_batches = true;

  shared_mutex_state() noexcept = default;

  // Whoever still asks what was freed is told that it is dead, for as long as nobody else uses
  // the memory.
  ~shared_mutex_state() { word_.store(dead, std::memory_order_relaxed); }

  // Lets in a writer or a reader unless somebody waits, or holds it in a way that excludes that,
  // or it is closed. `counted`: the holder may outlive the primitive.
  ASIO_SYNC_INLINE bool try_acquire(lock_mode mode, bool counted) noexcept {
    word w = word_.load(std::memory_order_relaxed);
    do {
      if (w & (flags | excluded_by(mode))) return false;
      // Acquire: pairs with the release of whoever gave it back.
    } while (!word_.compare_exchange_weak(w, w + hold(mode, counted), std::memory_order_acquire,
                                          std::memory_order_relaxed));
    return true;
  }

  // Makes the only reader, a guard, the writer; otherwise says what it is refused for, if it is.
  verdict try_upgrade() noexcept {
    for (word w = word_.load(std::memory_order_relaxed); w == a_guard;)
      if (replace(w, a_guard_writes)) return wait_outcome::granted;
    std::lock_guard const guard(base::lock());
    return try_upgrade_locked();
  }

  // Decides a waiter that does not queue: refused, or let in by a counted attempt.
  void conclude(node& waiter, verdict decided) noexcept {
    if (!decided.granted()) count_up();
    base::decide(waiter, decided.outcome());
  }

  // Ends a hold if nobody waits: one compare-exchange, the last access to the core. Otherwise, or
  // if that fails without reason, false; then use release().
  ASIO_SYNC_INLINE bool try_release_uncontended(bool counted, lock_mode mode) noexcept {
    word w = word_.load(std::memory_order_relaxed);
    if ((w & waiting) || !is_held(w, mode, counted)) return false;
    // Release: pairs with the acquire of whoever is let in next.
    return word_.compare_exchange_weak(w, w - hold(mode, counted), std::memory_order_release,
                                       std::memory_order_relaxed);
  }

  // Ends a hold, and lets in those who have waited for that. False, and nothing has changed, if it
  // was not held in that way, counted or not, or the primitive is dead: a counted holder lets its
  // count go then, with count_down().
  bool release(bool counted, lock_mode mode, list& decided) noexcept {
    return change_hold(mode, counted, word(0) - hold(mode, counted), &decided);
  }

  // Makes a writer, a guard, a reader, and lets in the readers who are next. False as release().
  bool downgrade(list& decided) noexcept {
    return change_hold(lock_mode::exclusive, true, a_guard - a_guard_writes, &decided);
  }

  // Turns a holder into one that is counted, or back. False, and nothing has changed, if nobody
  // holds it in the other way, or the primitive is dead.
  bool count_holder(bool counted, lock_mode mode) noexcept {
    return change_hold(mode, !counted, hold(mode, counted) - hold(mode, !counted), nullptr);
  }

  // Goes on where a transition has stopped half-way; those that it has decided keep the core.
  void settle_more(list& decided) noexcept {
    std::lock_guard const guard(base::lock());
    decided.more = false;
    settle(0, decided);
  }

  // Queues a fresh waiter: true. False if it was decided on the spot: granted, refused by close(),
  // refused because it was marked by refuse(), or the second that upgrades.
  bool enter(node& waiter) noexcept {
    lock_mode const mode = Traits::mode(waiter);
    std::lock_guard const guard(base::lock());
    word w = word_.load(std::memory_order_relaxed);
    for (;;) {
      if (is_admitted(w, mode)) {
        if (!replace(w, w + change_to(mode))) continue;
        return base::decide(waiter, wait_outcome::granted), false;
      }
      if (wait_outcome const refused = refusal(w, waiter); refused != wait_outcome::undecided) {
        count_up();
        return base::decide(waiter, refused), false;
      }
      if ((w & waiting) || replace(w, w | waiting)) break;
    }
    if (mode == lock_mode::upgrade)
      base::join_in_front(waiter);
    else
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
    count_up();
    settle(0, decided);
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
  // arrived arrives as aborted, and a guard finds that there is nothing to give back. The
  // primitive's own count stays: count_down() comes after the completions.
  void abandon(list& decided) noexcept {
    std::lock_guard const guard(base::lock());
    refuse_queued(everybody, wait_outcome::aborted, 0, decided);
    // Guards that see the flag let counts go: all that there are now are counted before, and those
    // that leave until then are taken back; none comes. Release: pairs with these guards. Acquire:
    // what the others did to the core comes before its end.
    word const guards = guards_in(word_.load(std::memory_order_relaxed));
    counts_.fetch_add(guards, std::memory_order_relaxed);
    word const last = word_.fetch_add(dead, std::memory_order_acq_rel);
    counts_.fetch_sub(guards - guards_in(last), std::memory_order_relaxed);
  }

  // Acquire: pairs with abandon(), so that what that did comes before.
  bool is_dead() const noexcept { return (word_.load(std::memory_order_acquire) & dead) != 0; }

  // A waiter that was let in, or one refused that has kept its hold, will never arrive: its hold
  // ends. True if that was the last count.
  bool drop(node& waiter, list& decided) noexcept {
    bool const granted = waiter.outcome == wait_outcome::granted;
    bool const writes = granted && Traits::mode(waiter) != lock_mode::shared;
    bool const back = release(true, writes ? lock_mode::exclusive : lock_mode::shared, decided);
    if (back && granted) return false;  // others may free the core from here on
    return count_down(back || granted ? 1 : 2);
  }

  // So many more of those who keep the core.
  void count_up(std::size_t n = 1) noexcept { counts_.fetch_add(n, std::memory_order_relaxed); }

  // Lets counts go. True if they were the last: the caller frees the core.
  ASIO_SYNC_INLINE bool count_down(std::uint64_t n = 1) noexcept {
    // Acquire and release: what others did to the core comes before its end.
    return counts_.fetch_sub(n, std::memory_order_acq_rel) == n;
  }

  bool is_closed() const noexcept { return (word_.load(std::memory_order_relaxed) & closed) != 0; }

  // Whether somebody holds it, as a writer or a reader.
  bool is_held() const noexcept {
    return (word_.load(std::memory_order_relaxed) & any_holder) != 0;
  }

 private:
  // | readers that are guards, 29 bits | others, 30 bits | carried | writer | dead | closed |
  // waiting | The printers in share/gdb know it.
  using word = std::uint64_t;
  static constexpr word waiting = 1;  // somebody is queued; changes under the lock only, and while
                                      // it is set, so do the holds
  static constexpr word closed = 2;   // nobody is let in any more
  static constexpr word dead = 4;     // the primitive is gone
  static constexpr word writer = 8;
  static constexpr word carried = 16;  // the writer is a guard
  static constexpr word a_member = word(1) << 5;
  static constexpr word a_guard = word(1) << 35;

  static constexpr word flags = waiting | closed | dead;
  static constexpr word any_holder = ~flags;
  static constexpr word a_guard_writes = writer | carried;
  // Where there are 2^27 readers of either kind, others wait: there is room for all as one kind.
  static constexpr word too_many = ~(a_guard - 1) << 27 | (a_guard - (a_member << 27));

  static constexpr word excluded_by(lock_mode mode) noexcept {
    return mode == lock_mode::shared ? writer | too_many : any_holder;
  }

  static constexpr word hold(lock_mode mode, bool counted) noexcept {
    if (mode == lock_mode::shared) return counted ? a_guard : a_member;
    return counted ? a_guard_writes : writer;
  }

  // What is added to the word with a grant of the queue.
  static constexpr word change_to(lock_mode mode) noexcept {
    return hold(mode, true) - (mode == lock_mode::upgrade ? a_guard : 0);
  }

  static constexpr word guards_in(word w) noexcept { return w / a_guard + (w / carried & 1); }

  static constexpr bool is_held(word w, lock_mode mode, bool counted) noexcept {
    if (w & dead) return false;
    if (mode != lock_mode::shared) return (w & a_guard_writes) == hold(mode, counted);
    return (counted ? w >= a_guard : (w & (a_guard - a_member)) != 0);
  }

  // Whether the head of the queue may enter.
  static constexpr bool is_next(word w, lock_mode mode) noexcept {
    if (mode == lock_mode::upgrade) return (w & any_holder) == a_guard;
    return (w & excluded_by(mode)) == 0;
  }

  // Whether one who comes may enter.
  static constexpr bool is_admitted(word w, lock_mode mode) noexcept {
    return is_next(w, mode) && !(w & (mode == lock_mode::upgrade ? closed : flags));
  }

  bool replace(word& w, word desired) noexcept {
    return word_.compare_exchange_weak(w, desired, std::memory_order_acquire,
                                       std::memory_order_relaxed);
  }

  // Changes the word by what becomes of a hold, if that is there. `decided`: of those whom that
  // may let in.
  bool change_hold(lock_mode mode, bool counted, word change, list* decided) noexcept {
    word w = word_.load(std::memory_order_relaxed);
    do {
      if ((w & waiting) && change_in_queue(w, mode, counted, change, decided)) return true;
      if (!is_held(w, mode, counted)) return false;
      // Release: pairs with the acquire of whoever is let in next, and with the primitive's end.
    } while (!word_.compare_exchange_weak(w, w + change, std::memory_order_release,
                                          std::memory_order_relaxed));
    return true;
  }

  // False if the queue has gone meanwhile, or it is not held; w is up to date then.
  bool change_in_queue(word& w, lock_mode mode, bool counted, word change,
                       list* decided) noexcept {
    std::lock_guard const guard(base::lock());
    w = word_.load(std::memory_order_relaxed);
    if (!(w & waiting) || !is_held(w, mode, counted)) return false;
    if (decided)
      settle(change, *decided);
    else
      word_.fetch_add(change, std::memory_order_relaxed);
    return true;
  }

  // Below: under the lock.

  verdict try_upgrade_locked() noexcept {
    word w = word_.load(std::memory_order_relaxed);
    while (is_admitted(w, lock_mode::upgrade))
      if (replace(w, w + change_to(lock_mode::upgrade))) return wait_outcome::granted;
    if (w & closed) return wait_outcome::closed;
    return somebody_upgrades() ? wait_outcome::deadlock : wait_outcome::undecided;
  }

  bool somebody_upgrades() const noexcept {
    return !queue_.empty() && Traits::mode(queue_.front()) == lock_mode::upgrade;
  }

  wait_outcome refusal(word w, node const& waiter) const noexcept {
    if (w & closed) return wait_outcome::closed;
    if (waiter.outcome != wait_outcome::undecided) return waiter.outcome;
    bool const second = Traits::mode(waiter) == lock_mode::upgrade && somebody_upgrades();
    return second ? wait_outcome::deadlock : wait_outcome::undecided;
  }

  template <class Predicate>
  std::size_t refuse_queued(Predicate which, wait_outcome outcome, word change,
                            list& decided) noexcept {
    std::size_t const refused = base::take_out_if(which, outcome, decided);
    count_up(refused);
    settle(change, decided);
    return refused;
  }

  // Every transition that ends a hold or removes a waiter ends here: the head of the queue is
  // looked at again for as long as it may enter, and all that changes in the word changes at once.
  // Where nobody waits the word may change meanwhile; it is then not relied on.
  void settle(word change, list& decided) noexcept {
    word const before = word_.load(std::memory_order_relaxed);
    word w = before + change;
    for (std::size_t granted = 0; !queue_.empty(); ++granted) {
      lock_mode const mode = Traits::mode(queue_.front());
      if (!is_next(w, mode)) break;
      if (granted == Traits::batch) {
        decided.more = true;
        break;
      }
      take_out(queue_.front(), wait_outcome::granted, decided);
      w += change_to(mode);
    }
    if (queue_.empty()) w -= before & waiting;
    // Release: pairs with the acquire of whoever is let in next.
    if (w != before) word_.fetch_add(w - before, std::memory_order_acq_rel);
  }

  typename Traits::template atomic<word> word_{0};
  typename Traits::template atomic<word> counts_{1};
};

}  // namespace asio_sync::detail

#endif
