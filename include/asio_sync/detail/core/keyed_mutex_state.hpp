// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CORE_KEYED_MUTEX_STATE_HPP
#define ASIO_SYNC_DETAIL_CORE_KEYED_MUTEX_STATE_HPP

#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/core/key_tree.hpp>
#include <asio_sync/detail/core/wait_list.hpp>
#include <asio_sync/detail/core/wait_queue.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

// The core of async_keyed_mutex. keyed_mutex_core binds it to a context and to waiters; the
// primitive calls claim(), a guard unlock(), and the shell the members that homed_core.hpp lists.

namespace asio_sync::detail {

struct key_entry;

// The part that a waiter or a guard has in an entry.
enum class key_share : std::uint8_t {
  none,
  use,     // it is queued, or is about to queue: the entry stays in the table
  hold,    // it holds the key
  remains  // it was the last user: the entry has left the table, and the stake has to destroy it
};

// An entry, and the share of one waiter or guard in it.
struct key_stake {
  key_entry* entry = nullptr;
  key_share share = key_share::none;
};

// The links of a waiter in the queue of its key.
struct key_place {
  key_place* next = nullptr;
  key_place* prev = nullptr;
};

// The entry of a key that is held or waited for; the derived keyed_entry has the key. The core's
// lock guards every member except the hash. The alignment makes the address fit into the 60 bits
// of a verdict's value, even if the address has a tag in its upper bits.
struct alignas(2 * sizeof(void*)) key_entry {
  explicit key_entry(std::size_t h) noexcept : hash(h) {}
  key_entry(key_entry const&) = delete;
  key_entry& operator=(key_entry const&) = delete;
  virtual ~key_entry() = default;

  std::size_t const hash;
  key_entry* below[2] = {};    // the links of key_tree
  wait_list<key_place> queue;  // while a waiter is in it, the key is held
  std::uint32_t users = 0;     // the holder, the waiters in the queue, and those about to queue
  bool held = false;
};

// Destroys the entry if the stake is its remains. Runs user code: the destructor of the key.
inline void bury(key_stake const& stake) noexcept {
  if (stake.share == key_share::remains) delete stake.entry;
}

// A mutex for each key, under one lock. The table has an entry for each key that is held or waited
// for; a key without an entry is free. Each entry has a queue, first come, first served. All
// waiters are also in one queue of the core, so that they can be refused together, in the order in
// which they came.
//
// A wait claims the entry of its key before it queues, so that nothing can fail once it queues.
// The last user of an entry takes it out of the table, and destroys it without the lock, because
// the destructor of a key is user code. The equality of keys is the only user code under the lock.
//
// The core outlives its primitive until the last completion has arrived and the last holder has
// gone. So it has counts: one for the primitive, one for each holder, and one for each waiter that
// was refused, until the waiter is delivered or dropped. If a key is passed on, the count of the
// holder goes with it. The caller of count_down() that releases the last count frees the core.
//
// Traits: those of wait_queue; `stake(node)`, the key_stake of the waiter; `place(node)`, its
// key_place; and `waiter_at(place)`, the waiter of a key_place.
template <class Traits>
class keyed_mutex_state : public wait_queue<Traits> {
  using base = wait_queue<Traits>;

 public:
  using typename base::list;
  using typename base::node;

  keyed_mutex_state() noexcept = default;

  // Returns a grant that carries the entry of the stake.
  static verdict granted(key_stake const& stake) noexcept {
    auto const address = reinterpret_cast<std::uintptr_t>(stake.entry);
    return {wait_outcome::granted, address / alignof(key_entry)};
  }
  // Returns the hold that a grant carries.
  static key_stake held_by(verdict granted) noexcept {
    auto const address = static_cast<std::uintptr_t>(granted.value()) * alignof(key_entry);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): granted() has made the number of a pointer
    return {reinterpret_cast<key_entry*>(address), key_share::hold};
  }

  // Claims a key for a guard or a waiter. Returns a hold if the key is free. If the key is held,
  // it returns a use if `waits`, and otherwise an empty stake. If the core is closed, it returns
  // an empty stake. If no entry in the table satisfies `is_it`, `fresh` becomes the entry of the
  // key; otherwise `fresh` stays the caller's. Throws what `is_it` throws; nothing has changed
  // then.
  template <class Predicate>
  key_stake claim(key_entry& fresh, Predicate const& is_it, bool waits) {
    std::lock_guard const guard(base::lock());
    if (is_closed()) return {};
    key_entry*& found = table_.find(fresh.hash, is_it);
    bool const held = found && found->held;
    if (held && !waits) return {};
    if (!found) {
      found = &fresh;
      ++keys_;
    }
    ++found->users;
    if (held) return {found, key_share::use};
    hold(*found);
    return {found, key_share::hold};
  }

  // Ends a hold. Returns true if it has passed the key, with the count of the holder, on to the
  // oldest waiter for the key. Otherwise the key is free, and the caller releases the count, and
  // calls bury().
  bool unlock(key_stake& stake, list& decided) noexcept {
    std::lock_guard const guard(base::lock());
    key_entry& entry = *stake.entry;
    if (entry.queue.empty()) {
      entry.held = false;
      leave(stake);
      return false;
    }
    node& next = Traits::waiter_at(entry.queue.pop_front());
    base::take_out(next, wait_outcome::granted, decided);
    Traits::stake(next).share = key_share::none;  // the grant has it
    --entry.users;
    stake.share = key_share::none;
    return true;
  }

  // Ends the use of a wait that will not queue. The caller calls bury().
  void renounce(key_stake& stake) noexcept {
    std::lock_guard const guard(base::lock());
    leave(stake);
  }

  // Decides a waiter that does not queue. It is refused; or it has a hold, which its grant takes
  // over.
  void conclude(node& waiter, verdict decided) noexcept {
    if (decided.granted()) return grant(waiter);
    std::lock_guard const guard(base::lock());
    turn_back(waiter, decided.outcome());
  }

  // Queues a fresh waiter, and returns true. Returns false if it was decided on the spot: granted,
  // or refused because the core is closed or refuse() has marked the waiter.
  bool enter(node& waiter) noexcept {
    std::lock_guard const guard(base::lock());
    key_stake& stake = Traits::stake(waiter);
    if (stake.share == key_share::hold) return grant(waiter), false;
    if (is_closed()) return turn_back(waiter, wait_outcome::closed), false;
    if (!stake.entry->held) return hold(*stake.entry), grant(waiter), false;
    if (waiter.outcome != wait_outcome::undecided) return turn_back(waiter, waiter.outcome), false;
    stake.entry->queue.push_back(Traits::place(waiter));
    base::join(waiter);
    return true;
  }

  // Refuses a waiter. Returns true if it was in the queues, and takes it out. If it is fresh,
  // marks it, so that enter() refuses it; if it is decided, does nothing.
  bool refuse(node& waiter, wait_outcome outcome, list& decided) noexcept {
    std::lock_guard const guard(base::lock());
    if (waiter.state == wait_state::fresh) base::mark(waiter.outcome, outcome);
    if (waiter.state != wait_state::queued) return false;
    step_out(waiter);
    base::take_out(waiter, outcome, decided);
    return true;
  }

  // Refuses the queued waiters for which `which` is true, and returns their number.
  template <class Predicate>
  std::size_t refuse_if(Predicate which, wait_outcome outcome, list& decided) noexcept {
    std::lock_guard const guard(base::lock());
    return refuse_queued(which, outcome, decided);
  }

  // Refuses the queued waiters, and from now on every wait.
  void close(list& decided) noexcept {
    std::lock_guard const guard(base::lock());
    if (!is_closed()) word_.fetch_add(closed, std::memory_order_relaxed);
    refuse_queued(base::everybody, wait_outcome::closed, decided);
  }

  // Marks the core as dead, because the primitive is being destroyed, and refuses the queued
  // waiters. A wait that was granted and has not arrived will arrive as aborted. The primitive
  // keeps its count until the completions are posted, and then calls count_down().
  void abandon(list& decided) noexcept {
    std::lock_guard const guard(base::lock());
    refuse_queued(base::everybody, wait_outcome::aborted, decided);
    word_.fetch_add(dead, std::memory_order_release);
  }

  // True once the primitive is destroyed. Acquire: pairs with the release in abandon().
  bool is_dead() const noexcept { return (word_.load(std::memory_order_acquire) & dead) != 0; }

  // True once close() was called.
  bool is_closed() const noexcept { return (word_.load(std::memory_order_relaxed) & closed) != 0; }

  // Passes the key of a granted waiter on, because the waiter will never arrive. The waiter's
  // claim buries what remains of the entry. Returns true if that was the last count.
  bool drop(node& waiter, list& decided) noexcept {
    key_stake& stake = Traits::stake(waiter);
    stake.share = key_share::hold;
    return !unlock(stake, decided) && count_down();
  }

  // Releases a count. Returns true if it was the last: the caller frees the core. Acquire and
  // release: what other threads did to the core happens before its end.
  ASIO_SYNC_INLINE bool count_down() noexcept {
    return counts_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

  // Adds a count.
  void count_up() noexcept { counts_.fetch_add(1, std::memory_order_relaxed); }

  // Returns the number of keys that are held or waited for.
  std::size_t keys() const noexcept {
    std::lock_guard const guard(base::lock());
    return keys_;
  }

 private:
  // The printers in share/gdb read these flags.
  using word = std::uint32_t;
  static constexpr word closed = 1;  // no key is granted any more; changes under the lock
  static constexpr word dead = 2;    // the primitive is gone

  // Grants a fresh waiter the key that it holds.
  static void grant(node& waiter) noexcept {
    Traits::stake(waiter).share = key_share::none;
    base::decide(waiter, wait_outcome::granted);
  }

  // Below: under the lock.

  // Gives a free key to a holder, who has a count.
  void hold(key_entry& entry) noexcept {
    entry.held = true;
    count_up();
  }

  // Ends the share of one user of the entry. The last user gets the remains.
  void leave(key_stake& stake) noexcept {
    stake.share = key_share::none;
    if (--stake.entry->users != 0) return;
    table_.erase(*stake.entry);
    --keys_;
    stake.share = key_share::remains;
  }

  // Refuses a fresh waiter.
  void turn_back(node& waiter, wait_outcome outcome) noexcept {
    count_up();
    if (Traits::stake(waiter).share == key_share::use) leave(Traits::stake(waiter));
    base::decide(waiter, outcome);
  }

  // Takes a waiter out of the queue of its key. The key has a holder, so the waiter is not the
  // last user of the entry.
  void step_out(node& waiter) noexcept {
    key_stake& stake = Traits::stake(waiter);
    stake.entry->queue.erase(Traits::place(waiter));
    --stake.entry->users;
    stake.share = key_share::none;
    count_up();
  }

  // Refuses waiters like refuse_if().
  template <class Predicate>
  std::size_t refuse_queued(Predicate which, wait_outcome outcome, list& decided) noexcept {
    auto const leaves = [&](node& waiter) {
      if (!which(waiter)) return false;
      step_out(waiter);
      return true;
    };
    return base::take_out_if(leaves, outcome, decided);
  }

  typename Traits::template guarded<key_tree<key_entry>> table_;
  typename Traits::template guarded<std::size_t> keys_{0};  // the number of entries in the table
  typename Traits::template atomic<std::uint64_t> counts_{1};
  typename Traits::template atomic<word> word_{0};
};

}  // namespace asio_sync::detail

#endif
