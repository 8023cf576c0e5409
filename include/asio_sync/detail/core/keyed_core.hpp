// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CORE_KEYED_CORE_HPP
#define ASIO_SYNC_DETAIL_CORE_KEYED_CORE_HPP

#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/core/key_tree.hpp>
#include <asio_sync/detail/core/wait_list.hpp>
#include <asio_sync/detail/core/wait_queue.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace asio_sync::detail {

struct key_entry;

// What somebody has of an entry.
enum class key_share : std::uint8_t {
  none,
  use,     // about to queue, or queued: the entry stays
  hold,    // holds the key
  remains  // it was the last user: the entry has left the table, and is to be destroyed
};

struct key_stake {
  key_entry* entry = nullptr;
  key_share share = key_share::none;
};

// A waiter's place among those of its key.
struct key_place {
  key_place* next = nullptr;
  key_place* prev = nullptr;
};

// A key that is held or waited for. All but the hash is the core's, under its lock. Aligned so
// that a verdict has room for its address, the tag of a tagged pointer included.
struct alignas(2 * sizeof(void*)) key_entry {
  explicit key_entry(std::size_t h) noexcept : hash(h) {}
  key_entry(key_entry const&) = delete;
  key_entry& operator=(key_entry const&) = delete;
  virtual ~key_entry() = default;

  std::size_t const hash;
  key_entry* below[2] = {};
  wait_list<key_place> queue;  // while somebody is in it, somebody holds the key
  std::uint32_t users = 0;     // its holder, those in the queue, and those about to queue
  bool held = false;
};

// Destroys the entry, if that is what was left to do. Runs user code.
inline void bury(key_stake const& stake) noexcept {
  if (stake.share == key_share::remains) delete stake.entry;
}

// A mutex for each key, under one lock. The table has the keys that somebody uses; a key that
// nobody has is free. Each has a queue of its own, first come, first served; besides, all those
// who wait are in one queue, so that they can be refused together, in the order in which they
// came.
//
// A wait uses the entry of its key from its beginning, so that nothing can fail once it queues.
// Whoever is the last to use an entry takes it out of the table, and destroys it without the lock:
// the destructor of a key is user code. The only user code under the lock is the equality of keys.
//
// The core outlives its primitive by the completions on their way and by the holders. So it
// counts: the primitive is one; each holder; and each waiter that was refused, until it is
// delivered or dropped. A key that is handed over takes its holder's count along. Whoever lets the
// last count go frees the core.
//
// Traits: those of wait_queue; `stake(node)`, what the waiter has of its entry, and `place(node)`;
// `waiter_at(place)`, the way back.
template <class Traits>
class keyed_core : public wait_queue<Traits> {
  using base = wait_queue<Traits>;

 public:
  using typename base::list;
  using typename base::node;

  keyed_core() noexcept = default;

  // A grant, with the entry of which it is a hold, and back.
  static verdict granted(key_stake const& stake) noexcept {
    auto const address = reinterpret_cast<std::uintptr_t>(stake.entry);
    return {wait_outcome::granted, address / alignof(key_entry)};
  }
  static key_stake held_by(verdict granted) noexcept {
    auto const address = static_cast<std::uintptr_t>(granted.value()) * alignof(key_entry);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): it was a pointer
    return {reinterpret_cast<key_entry*>(address), key_share::hold};
  }

  // Takes a key that nobody holds: the stake is a hold. Where somebody holds it, or the core is
  // closed, there is none; `waits`: one who uses the entry of a key that is held. `fresh` becomes
  // the entry if there is none yet of which `is_it` is true; otherwise it stays the caller's. Lets
  // out what `is_it` throws; nothing has changed then.
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

  // Ends a hold, and passes the key on to the oldest who waits for it: true. False if nobody does:
  // the caller lets the count go then, and destroys what remains of the entry.
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

  // Who was about to queue does not. The caller destroys what remains of the entry.
  void renounce(key_stake& stake) noexcept {
    std::lock_guard const guard(base::lock());
    leave(stake);
  }

  // Decides a waiter that does not queue: refused, or the hold that it has goes to its grant.
  void conclude(node& waiter, verdict decided) noexcept {
    if (decided.granted()) return grant(waiter);
    std::lock_guard const guard(base::lock());
    turn_back(waiter, decided.outcome());
  }

  // Queues a fresh waiter: true. False if it was decided on the spot: granted, refused by close(),
  // or refused because it was marked by refuse().
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

  // Refuses a waiter: takes it from the queues; marks it if it has not come to them yet; does
  // nothing once it is decided. True if it was in the queues.
  bool refuse(node& waiter, wait_outcome outcome, list& decided) noexcept {
    std::lock_guard const guard(base::lock());
    if (waiter.state == wait_state::fresh) waiter.outcome = outcome;
    if (waiter.state != wait_state::queued) return false;
    step_out(waiter);
    base::take_out(waiter, outcome, decided);
    return true;
  }

  // Refuses those in the queues of whom `which` is true; returns how many.
  template <class Predicate>
  std::size_t refuse_if(Predicate which, wait_outcome outcome, list& decided) noexcept {
    std::lock_guard const guard(base::lock());
    return refuse_queued(which, outcome, decided);
  }

  // Refuses those in the queues, and from now on everybody.
  void close(list& decided) noexcept {
    std::lock_guard const guard(base::lock());
    if (!is_closed()) word_.fetch_add(closed, std::memory_order_relaxed);
    refuse_queued(base::everybody, wait_outcome::closed, decided);
  }

  // The primitive is being destroyed: refuses those in the queues; what was granted and has not
  // arrived arrives as aborted. The primitive's own count stays: forget() comes after the
  // completions.
  void abandon(list& decided) noexcept {
    std::lock_guard const guard(base::lock());
    refuse_queued(base::everybody, wait_outcome::aborted, decided);
    word_.fetch_add(dead, std::memory_order_release);
  }

  // Acquire: pairs with abandon(), so that what that did comes before.
  bool is_dead() const noexcept { return (word_.load(std::memory_order_acquire) & dead) != 0; }

  bool is_closed() const noexcept { return (word_.load(std::memory_order_relaxed) & closed) != 0; }

  // A granted waiter will never arrive: the key goes on; what remains of the entry is the waiter's
  // to destroy. True if that was the last count.
  bool drop(node& waiter, list& decided) noexcept {
    key_stake& stake = Traits::stake(waiter);
    stake.share = key_share::hold;
    return !unlock(stake, decided) && forget();
  }

  // Lets a count go. True if it was the last: the caller frees the core. Acquire and release: what
  // others did to the core comes before its end.
  ASIO_SYNC_INLINE bool forget() noexcept {
    return counts_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

  // One more of those who keep the core.
  void count_up() noexcept { counts_.fetch_add(1, std::memory_order_relaxed); }

  // How many keys somebody uses.
  std::size_t keys() const noexcept {
    std::lock_guard const guard(base::lock());
    return keys_;
  }

 private:
  // The printers in share/gdb know these.
  using word = std::uint32_t;
  static constexpr word closed = 1;  // no key is given to anybody any more; changes under the lock
  static constexpr word dead = 2;    // the primitive is gone

  // Of a fresh waiter that holds its key.
  static void grant(node& waiter) noexcept {
    Traits::stake(waiter).share = key_share::none;
    base::decide(waiter, wait_outcome::granted);
  }

  // Below: under the lock.

  void hold(key_entry& entry) noexcept {
    entry.held = true;
    count_up();
  }

  // A user less.
  void leave(key_stake& stake) noexcept {
    stake.share = key_share::none;
    if (--stake.entry->users != 0) return;
    table_.erase(*stake.entry);
    --keys_;
    stake.share = key_share::remains;
  }

  // Of a fresh waiter that is refused.
  void turn_back(node& waiter, wait_outcome outcome) noexcept {
    count_up();
    if (Traits::stake(waiter).share == key_share::use) leave(Traits::stake(waiter));
    base::decide(waiter, outcome);
  }

  // Of one in the queue of its key, which somebody else holds: it is not the last user.
  void step_out(node& waiter) noexcept {
    key_stake& stake = Traits::stake(waiter);
    stake.entry->queue.erase(Traits::place(waiter));
    --stake.entry->users;
    stake.share = key_share::none;
    count_up();
  }

  template <class Predicate>
  std::size_t refuse_queued(Predicate which, wait_outcome outcome, list& decided) noexcept {
    auto const leaves = [&](node& waiter) {
      if (!which(waiter)) return false;
      step_out(waiter);
      return true;
    };
    return base::take_out_if(leaves, outcome, decided);
  }

  key_tree<key_entry> table_;  // lock()
  std::size_t keys_ = 0;       // in the table; lock()
  typename Traits::template atomic<std::uint64_t> counts_{1};
  typename Traits::template atomic<word> word_{0};
};

}  // namespace asio_sync::detail

#endif
