// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CORE_ENUMERATOR_STATE_HPP
#define ASIO_SYNC_DETAIL_CORE_ENUMERATOR_STATE_HPP

#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/core/wait_list.hpp>

#include <cstdint>
#include <limits>
#include <mutex>

namespace asio_sync::detail {

// What of an operation of a run the core looks at. Changes under the lock of its core.
template <class Operation>
struct steps_link {
  Operation* next = nullptr;
  Operation* prev = nullptr;
  bool in_flight = false;  // in the list of those that a cancellation reaches
  bool beginning = false;  // its initiating function has not returned
  bool dropped = false;    // its handler was destroyed before that
};

// One run of steps under an enumerator: which operations they have begun, which of these have
// completed, and how many completions the steps want before they go on.
//
// One thread at a time has the turn. It asks next() what to do until there is nothing. Completions
// that come meanwhile are left for it, wherever they come from, inside the steps for one. So the
// steps, and what writes their results, run on one thread at a time, and never nest.
//
// Traits: `lock_type` and `guarded<T>`; `operation`, with the members of steps_link;
// `retain(operation)`.
template <class Traits>
class enumerator_state {
 public:
  using operation = typename Traits::operation;
  using number = std::uint64_t;

  // What whoever has the turn does next. Rest: nothing, the turn has gone.
  enum class duty { rest, deliver, discard, resume, cancel, finish };

  // What whoever has told of an operation's end does next. Stop: the run has been halted, and is
  // to be cancelled. Go: it has the turn.
  enum class sequel { nothing, stop, go };

  // Below, true: the caller has the turn now.

  // The first step may be taken.
  bool start() noexcept {
    std::lock_guard const guard(lock_);
    wanted_ = 0;
    return take_turn();
  }

  // The handler of an operation was called.
  bool arrive(operation& o) noexcept {
    std::lock_guard const guard(lock_);
    leave_flight(o);
    arrived_.push_back(o);
    return take_turn();
  }

  // The run is cancelled, and so are the operations in flight, if they are `to_be_asked`.
  bool cancel(bool to_be_asked) noexcept {
    std::lock_guard const guard(lock_);
    if (phase_ == phase::going || phase_ == phase::halted) phase_ = phase::cancelling;
    while (!to_be_asked && !in_flight_.empty()) leave_flight(in_flight_.front());
    return take_turn();
  }

  // Counts an operation that begins; false if the run is over. A run that was cancelled waits for
  // what its last step begins, and cancels it.
  bool begin(operation& o) noexcept {
    std::lock_guard const guard(lock_);
    if (phase_ == phase::over) return false;
    in_flight_.push_back(o);
    o.in_flight = o.beginning = true;
    ++pending_;
    return true;
  }

  // Its initiating function is over. One that has thrown, and has destroyed the handler, has begun
  // nothing.
  sequel begun(operation& o, bool thrown) noexcept {
    std::lock_guard const guard(lock_);
    o.beginning = false;
    return o.dropped ? lost(!thrown) : sequel::nothing;
  }

  // Its handler was destroyed without having been called. The steps could wait for it for ever, so
  // the run does not go on.
  sequel drop(operation& o) noexcept {
    std::lock_guard const guard(lock_);
    leave_flight(o);
    o.dropped = o.beginning;
    return o.dropped ? sequel::nothing : lost(true);
  }

  // No step is taken from now on, but for one that is being taken; on any thread.
  void halt() noexcept {
    std::lock_guard const guard(lock_);
    if (phase_ == phase::going) phase_ = phase::halted;
  }

  // The steps want n completions: true if these have come. For the steps.
  bool want(number n) noexcept {
    std::lock_guard const guard(lock_);
    if (phase_ == phase::going && surplus_ >= n) return surplus_ -= n, true;
    wanted_ = n;
    return false;
  }

  // For whoever has the turn. To deliver, or discard: `o` has arrived. To cancel: `o`, retained.
  duty next(operation*& o) noexcept {
    std::lock_guard const guard(lock_);
    if (!arrived_.empty()) {
      o = &arrived_.pop_front();
      --pending_;
      if (phase_ != phase::going) return duty::discard;
      ++surplus_;
      return duty::deliver;
    }
    if (phase_ == phase::going && surplus_ >= wanted_) {
      surplus_ -= wanted_;
      return duty::resume;
    }
    if (phase_ == phase::cancelling) {
      if (!in_flight_.empty()) {
        o = &in_flight_.front();
        leave_flight(*o);
        Traits::retain(*o);
        return duty::cancel;
      }
      if (pending_ == 0) return phase_ = phase::over, duty::finish;
    }
    has_turn_ = false;
    return duty::rest;
  }

  // The steps have ended.
  void end() noexcept {
    std::lock_guard const guard(lock_);
    phase_ = phase::over;
  }

 private:
  // Halted: no step is taken. Cancelling: nor is the run over before all operations are.
  enum class phase : std::uint8_t { going, halted, cancelling, over };

  template <class T>
  using guarded = typename Traits::template guarded<T>;

  // More than will ever come: before the start.
  static constexpr number all = std::numeric_limits<number>::max();

  // Below: under the lock.

  bool take_turn() noexcept { return !has_turn_ && (has_turn_ = true); }

  void leave_flight(operation& o) noexcept {
    if (!o.in_flight) return;
    in_flight_.erase(o);
    o.in_flight = false;
  }

  // An operation will not complete; `halts`: the run cannot go on without it.
  sequel lost(bool halts) noexcept {
    --pending_;
    if (phase_ == phase::going && halts) return phase_ = phase::halted, sequel::stop;
    bool const last = phase_ == phase::cancelling && pending_ == 0;
    return last && take_turn() ? sequel::go : sequel::nothing;
  }

  typename Traits::lock_type lock_;
  guarded<phase> phase_{phase::going};
  guarded<bool> has_turn_{false};  // somebody
  guarded<number> wanted_{all};
  guarded<number> surplus_{0};  // completions that were delivered and not yet wanted
  guarded<number> pending_{0};  // operations that have begun and were not delivered or dropped
  guarded<wait_list<operation>> in_flight_;
  guarded<wait_list<operation>> arrived_;
};

}  // namespace asio_sync::detail

#endif
