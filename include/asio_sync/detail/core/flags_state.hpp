// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CORE_FLAGS_STATE_HPP
#define ASIO_SYNC_DETAIL_CORE_FLAGS_STATE_HPP

#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/core/signal_queue.hpp>
#include <asio_sync/detail/core/wait_list.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace asio_sync::detail {

using flags = std::uint32_t;

// What a wait asks of the flags: that any of a set are up, or all of it; and whether it only looks
// at those, or takes them.
struct flags_request {
  flags set = 0;
  bool all = false;
  bool takes = false;

  constexpr bool satisfied_by(flags up) const noexcept {
    return all ? (up & set) == set : (up & set) != 0 || set == 0;
  }

  // In one number, and back.
  constexpr std::uint64_t packed() const noexcept {
    return set | std::uint64_t(all) << 32 | std::uint64_t(takes) << 33;
  }
  static constexpr flags_request unpacked(std::uint64_t n) noexcept {
    return {static_cast<flags>(n), (n >> 32 & 1) != 0, (n >> 33 & 1) != 0};
  }
};

// Flags that stay up until they are taken, under the mailbox and the auto-reset event. Whoever
// asks for what is up need not wait; so a waiter whom the flags do not satisfy keeps nobody out,
// and while somebody waits nothing is up that would satisfy him.
//
// Raising flags serves those who look before those who take, among whom the oldest comes first. A
// taker who will never arrive raises again what it took.
//
// Traits: those of wait_queue; `request(node)`; `told(node, flags)`, what it sees or takes, of
// which request() then tells.
template <class Traits>
class flags_state : public signal_queue<Traits> {
  using base = signal_queue<Traits>;
  using base::closed, base::queue_, base::waiting, base::word_;
  using typename base::word;

 public:
  using typename base::list;
  using typename base::node;
  static constexpr bool gives_back = true;
  static bool gives_back_of(node const& waiter) noexcept {
    return Traits::request(waiter).takes && Traits::request(waiter).set != 0;
  }

  explicit flags_state(flags up) noexcept : base(place(up)) {}

  // Acquire: pairs with the release of whoever raised them.
  flags up() const noexcept { return in(word_.load(std::memory_order_acquire)); }

  // What a wait gets at once, if it does: it looks, or takes in one compare-exchange.
  ASIO_SYNC_INLINE verdict try_wait(flags_request request) noexcept {
    word w = word_.load(std::memory_order_acquire);
    for (;;) {
      if ((w & closed) || !request.satisfied_by(in(w))) return wait_outcome::undecided;
      flags const got = request.set & in(w);
      if (!request.takes || got == 0) return {wait_outcome::granted, got};
      if (w & waiting) return try_beside_others(request);
      if (exchange(w, w & ~place(got))) return {wait_outcome::granted, got};
    }
  }

  // Raises flags if nobody waits: one compare-exchange, the last access to the core. Otherwise
  // false; then use raise().
  ASIO_SYNC_INLINE bool try_raise(flags set) noexcept {
    word w = word_.load(std::memory_order_relaxed);
    do {
      if (w & waiting) return false;
      // Release, also where they are up already: pairs with the acquire of whoever sees or takes
      // them.
    } while (!word_.compare_exchange_weak(w, w | place(set), std::memory_order_release,
                                          std::memory_order_relaxed));
    return true;
  }

  // Raises flags, and lets go those whom they satisfy.
  void raise(flags set, list& decided) noexcept {
    std::lock_guard const guard(base::lock());
    if (try_raise(set)) return;  // whoever waited has gone meanwhile
    word const before = word_.load(std::memory_order_relaxed);
    flags const up = in(before) | set;
    flags left = up;
    std::size_t released = 0;
    std::size_t looking = 0;
    for (node* next = &queue_.front(); next && (left != 0 || looking_ != 0);) {
      node& candidate = *next;
      next = list::following(candidate);
      flags_request const request = Traits::request(candidate);
      flags const seen = request.takes ? left : up;
      if (!request.satisfied_by(seen)) {
        looking += !request.takes;
        continue;
      }
      Traits::told(candidate, seen & request.set);
      if (request.takes) left &= ~request.set;
      base::take_out(candidate, wait_outcome::granted, decided);
      ++released;
    }
    looking_ = looking;
    base::settle(released, place(left) - place(in(before)));
  }

  // Lowers flags, and returns what was up before.
  flags take(flags set) noexcept {
    word w = word_.load(std::memory_order_acquire);
    while (set & in(w)) {
      if (w & waiting) return take_beside_others(set);
      if (exchange(w, w & ~place(set))) break;
    }
    return in(w);
  }

  // Decides a waiter that does not queue.
  void conclude(node& waiter, verdict decided) noexcept {
    if (decided.granted()) Traits::told(waiter, static_cast<flags>(decided.value()));
    base::conclude(waiter, decided);
  }

  // Queues a fresh waiter: true. False if it was decided on the spot: granted, refused by close(),
  // or refused because it was marked by refuse().
  bool enter(node& waiter) noexcept {
    std::lock_guard const guard(base::lock());
    word w = word_.load(std::memory_order_acquire);
    do {
      verdict decided = wait_outcome::closed;
      if (!(w & closed)) decided = try_locked(w, Traits::request(waiter));
      if (!decided.decided()) decided = wait_outcome(waiter.outcome);  // marked
      if (decided.decided()) return conclude(waiter, decided), false;
    } while (!(w & waiting) && !exchange(w, w | waiting));
    looking_ += !Traits::request(waiter).takes;
    base::join(waiter);
    return true;
  }

  // Refuses a waiter: takes it from the queue; marks it if it has not come to the queue yet; does
  // nothing once it is decided. True if it was in the queue.
  bool refuse(node& waiter, wait_outcome outcome, list& decided) noexcept {
    std::lock_guard const guard(base::lock());
    return base::refuse_one(waiter, outcome, decided);
  }

  // A granted waiter will never arrive: what it took is raised again. True if that was the last
  // count.
  bool drop(node& waiter, list& decided) noexcept {
    flags_request const taken = Traits::request(waiter);
    if (taken.takes && !try_raise(taken.set)) raise(taken.set, decided);
    return base::count_down();
  }

 private:
  // The word: | flags, 32 bits | 0 | closed | 0 | waiting |. While the last is set, the flags
  // change under the lock only.
  static constexpr word place(flags set) noexcept { return word(set) << 32; }
  static constexpr flags in(word w) noexcept { return static_cast<flags>(w >> 32); }

  // Acquire: who takes flags sees what was done before they were raised.
  bool exchange(word& w, word desired) noexcept {
    return word_.compare_exchange_weak(w, desired, std::memory_order_acquire,
                                       std::memory_order_acquire);
  }

  ASIO_SYNC_COLD verdict try_beside_others(flags_request request) noexcept {
    std::lock_guard const guard(base::lock());
    word w = word_.load(std::memory_order_acquire);
    if (w & closed) return wait_outcome::undecided;
    return try_locked(w, request);
  }

  ASIO_SYNC_COLD flags take_beside_others(flags set) noexcept {
    std::lock_guard const guard(base::lock());
    word w = word_.load(std::memory_order_acquire);
    while ((set & in(w)) && !exchange(w, w & ~place(set))) {
    }
    return in(w);
  }

  // Under the lock; w is brought up to date.
  verdict try_locked(word& w, flags_request request) noexcept {
    while (request.satisfied_by(in(w))) {
      flags const got = request.set & in(w);
      if (!request.takes || got == 0 || exchange(w, w & ~place(got)))
        return {wait_outcome::granted, got};
    }
    return wait_outcome::undecided;
  }

  // Counts the queued waits that only look; may be too high.
  typename Traits::template guarded<std::size_t> looking_{0};
};

}  // namespace asio_sync::detail

#endif
