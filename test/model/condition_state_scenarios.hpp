// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_MODEL_CONDITION_STATE_SCENARIOS_HPP
#define ASIO_SYNC_TEST_MODEL_CONDITION_STATE_SCENARIOS_HPP

#include "condition_state_model.hpp"

/// The scenarios that are explored and, with a fault in the core, replayed.
namespace condition_model {

using enum wait_outcome;

/// A mutex, and a condition over it, as most scenarios have them.
struct both {
  /// Somebody's guard holds the mutex.
  void hold() { model::check(m.try_guard(), "it was free"); }

  /// As somebody who holds the mutex waits.
  void queue(operation& op) {
    hold();
    c.start(op);
  }

  /// The completion runs, and lets go of the mutex. Whether it was notified; otherwise `refused`.
  bool finish(operation& op, wait_outcome refused) {
    c.use_once(op);
    model::check(one_of(op.outcome, granted, refused), "nothing else");
    return op.outcome == granted;
  }

  void require(operation& op) { model::check(finish(op, granted), "it was notified"); }

  /// Locks the mutex as a wait of its own.
  void lock(operation& op) {
    m.start(op);
    model::check(m.finish(op), "it is granted");
  }

  void end() {
    c.end();
    m.end();
  }

  mutex m;
  condition c{m};
};

// --- Notifications ---

/// Who has looked under the mutex, and waits, hears of what changes under it later.
inline void change_against_wait() {
  both it;
  operation looking, changing, waiting;
  model::plain<bool> changed{false};
  model::threads(
      [&] {
        it.lock(looking);
        if (changed) return it.m.release_guard();
        it.c.start(waiting);
        model::check(it.c.finish(waiting) && waiting.outcome == granted, "it was notified");
        model::check(changed, "it sees why");
        it.m.release_guard();
      },
      [&] {
        it.lock(changing);
        changed = true;
        it.m.release_guard();
        it.c.notify_one();
      });
  it.end();
}

/// One notification each for two waits, while the mutex is released: in their order.
inline void two_notifications() {
  both it;
  operation first, second;
  it.queue(first);
  it.queue(second);
  it.hold();
  model::threads([&] { it.c.notify_one(); }, [&] { it.c.notify_one(); },
                 [&] { it.m.release_guard(); });
  model::check(first.is_posted() && !second.is_posted(), "the mutex is handed on in order");
  it.require(first);
  it.require(second);
  it.end();
}

/// The same where all are notified at once, and one comes meanwhile.
inline void wait_against_notify_all() {
  both it;
  operation first, second, locking, coming;
  it.queue(first);
  it.queue(second);
  model::threads([&] { it.c.notify_all(); },
                 [&] {
                   it.lock(locking);
                   it.c.start(coming);
                 },
                 [&] {
                   it.require(first);
                   it.require(second);
                 });
  std::size_t const waiting = it.c.waiters();
  model::check(it.c.cancel_all() == waiting, "it is notified, or queued");
  model::check(it.finish(coming, aborted) == (waiting == 0), "it was notified, or refused");
  it.end();
}

/// One that is notified waits again: as another wait, or as the same whose predicate was false.
inline void waits_again_against_notify_all(bool same) {
  both it;
  operation first, second, again;
  it.queue(first);
  it.queue(second);
  it.hold();
  model::threads([&] { it.c.notify_all(); },
                 [&] {
                   if (same) return it.c.wait_again(first);
                   model::check(it.c.finish(first), "it has the mutex");
                   it.c.start(again);
                 },
                 [&] {
                   it.m.release_guard();
                   it.require(second);
                 });
  operation& waiting = same ? first : again;
  model::check(!waiting.is_posted() && it.c.waiters() == 1, "it comes after the notification");
  it.c.notify_one();
  it.require(waiting);
  it.end();
}

/// At any time a wait is in one of the queues, while somebody holds the mutex.
inline void counted_once() {
  both it;
  operation first;
  it.queue(first);
  it.hold();
  model::threads([&] { it.c.notify_one(); },
                 [&] {
                   std::size_t const waiting = it.c.waiters();
                   model::check(waiting + it.m.waiters() >= 1, "it is counted");
                 },
                 [&] {
                   std::size_t const waiting = it.m.waiters();
                   model::check(waiting + it.c.waiters() <= 1, "it is counted once");
                 });
  it.m.release_guard();
  it.require(first);
  it.end();
}

/// Two wait over different mutexes: one of them must not.
inline void over_another_mutex() {
  both it;
  mutex other;
  operation first, second;
  it.hold();
  model::check(other.try_guard(), "it was free");
  model::threads([&] { it.c.start(first); }, [&] { it.c.start(second, other); });
  model::check(it.c.waiters() == 1 && it.c.cancel_all() == 1, "one waits");
  model::check(it.c.finish(first) && it.c.finish(second), "each has its own mutex");
  model::check(first.outcome == aborted ? second.outcome == invalid
                                        : first.outcome == invalid && second.outcome == aborted,
               "the other is refused");
  it.m.release_guard();
  other.release_guard();
  it.end();
  other.end();
}

// --- Cancellations ---

/// notify_one() against the cancellation, or the deadline, of the oldest: nothing is lost.
inline void notify_against_refusal(bool by_timer) {
  both it;
  operation first, second;
  if (by_timer) it.c.set_timed(first);
  it.queue(first);
  it.queue(second);
  it.hold();
  model::threads(
      [&] {
        it.c.notify_one();
        it.m.release_guard();
      },
      [&] {
        if (by_timer) it.c.expire(first);
      },
      [&] {
        if (!by_timer) it.c.cancel(first);
        it.finish(first, by_timer ? timed_out : aborted);
      });
  bool const notified = first.outcome == granted;
  model::check(it.c.waiters() == (notified ? 1 : 0), "one is notified");
  it.c.cancel_all();
  model::check(it.finish(second, aborted) != notified, "one is notified");
  it.end();
}

/// cancel() against a notification: a wait is among the one or the other.
inline void cancel_all_against_notify() {
  both it;
  operation first, second;
  it.queue(first);
  it.queue(second);
  std::size_t refused = 0;
  model::threads([&] { refused = it.c.cancel_all(); }, [&] { it.c.notify_one(); },
                 [&] {
                   it.finish(first, aborted);
                   it.finish(second, aborted);
                 });
  model::check(second.outcome == aborted, "one is notified at most");
  model::check(refused == (first.outcome == granted ? 1 : 2), "the others are refused");
  it.end();
}

/// A wait whose deadline comes before it has queued: it keeps the mutex, and takes no
/// notification.
inline void mark_against_enter() {
  both it;
  operation timed, second;
  it.c.set_timed(timed);
  it.queue(second);
  it.hold();
  timed.make();
  model::threads([&] { it.c.enter(timed); }, [&] { it.c.expire(timed); },
                 [&] { model::check(!it.finish(timed, timed_out), "it is refused"); });
  it.c.notify_one();
  it.require(second);
  it.end();
}

/// A deadline comes while a wait with a predicate is notified, has the mutex, and queues again.
inline void expiry_against_waiting_again() {
  both it;
  operation waiting;
  it.c.set_timed(waiting, true);
  it.queue(waiting);
  model::threads(
      [&] {
        it.c.notify_one();
        it.c.notify_one();
      },
      [&] { it.c.expire(waiting); },
      [&] {
        waiting.await_post();
        if (waiting.wait->at.outcome == granted) it.c.wait_again(waiting);
      });
  model::check(it.c.cancel_all() == 0, "the deadline ends it, if not the notification");
  it.finish(waiting, timed_out);
  it.end();
}

/// cancel() of the mutex: refuses its own waits, and none of those that come back to it.
inline void cancel_of_the_mutex() {
  both it;
  operation first, locking;
  it.queue(first);
  it.hold();
  it.m.start(locking);
  model::threads([&] { it.c.notify_one(); }, [&] { it.m.cancel_own(); },
                 [&] {
                   it.m.release_guard();
                   it.m.use_once(locking);
                 });
  it.require(first);
  it.end();
}

}  // namespace condition_model

#endif
