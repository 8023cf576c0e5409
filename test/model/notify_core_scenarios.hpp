// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_MODEL_NOTIFY_CORE_SCENARIOS_HPP
#define ASIO_SYNC_TEST_MODEL_NOTIFY_CORE_SCENARIOS_HPP

#include "notify_core_model.hpp"

/// The scenarios that are explored and, with a fault in the core, replayed.
namespace notify_model {

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

// --- Those that are dropped ---

/// One that notify_one() woke is dropped: the next hears of it, or it had been cancelled before.
inline void drop_against_notify(bool cancelled) {
  both it;
  operation first, second, third;
  it.queue(first);
  it.queue(second);
  it.queue(third);
  model::threads([&] { it.c.notify_one(); },
                 [&] {
                   if (cancelled) it.c.cancel(first);
                   it.c.drop(first);
                 },
                 [&] { it.require(second); });
  model::check(!third.is_posted() && it.c.waiters() == 1, "one notification, one wait");
  it.c.cancel_all();
  it.finish(third, aborted);
  it.end();
}

/// One that notify_all() woke is dropped: nobody else hears of it. `again`: it had been woken by
/// notify_one() before.
inline void drop_after_notify_all(bool again) {
  both it;
  operation first, locking, second;
  it.queue(first);
  if (again) {
    it.c.notify_one();
    it.c.wait_again(first);
  }
  model::threads(
      [&] {
        it.c.notify_all();
        it.lock(locking);
        it.c.start(second);
      },
      [&] { it.c.drop(first); });
  model::check(!second.is_posted() && it.c.waiters() == 1, "it takes only the mutex along");
  it.c.cancel_all();
  it.finish(second, aborted);
  it.end();
}

/// The context of the oldest ends as it is notified, and does not wait for the mutex: the
/// notification is not lost.
inline void evict_against_notify() {
  both it;
  operation first, second;
  it.queue(first);
  it.queue(second);
  it.hold();
  model::threads([&] { it.c.notify_one(); }, [&] { it.c.evict(first); });
  it.m.release_guard();
  it.require(second);
  it.end();
}

/// The context of one that waits for its mutex ends as that is released.
inline void evict_against_release() {
  both it;
  operation first, second, locking;
  it.queue(first);
  it.queue(second);
  it.hold();
  it.c.notify_one();
  it.m.start(locking);
  model::threads([&] { it.m.release_guard(); }, [&] { it.c.evict(first); },
                 [&] { model::check(it.m.use_once(locking), "it is granted"); });
  it.require(second);
  it.end();
}

// --- Closing ---

/// Who waits is notified or refused, without the mutex; who comes later is refused.
inline void close_against_wait() {
  both it;
  operation first, coming;
  it.queue(first);
  it.hold();
  bool closed_before = false;
  auto const finish = [&](operation& op) {
    bool const holds = it.c.finish(op);
    model::check(op.outcome == (holds ? granted : closed), "closed, or notified");
    if (holds) it.m.release_guard();
  };
  model::threads(
      [&] {
        it.c.close();
        closed_before = true;
      },
      [&] {
        bool const late = *model::access(&closed_before);
        it.c.start(coming);
        it.c.notify_all();
        finish(coming);
        model::check(!late || coming.outcome == closed, "nobody waits after close()");
      },
      [&] { finish(first); });
  it.end();
}

/// The mutex is closed: who is notified then does not get it.
inline void close_of_the_mutex() {
  both it;
  operation first;
  it.queue(first);
  it.hold();
  model::threads([&] { it.c.notify_one(); }, [&] { it.m.close(); },
                 [&] {
                   it.m.release_guard();
                   if (it.c.finish(first)) return it.m.release_guard();
                   model::check(first.outcome == closed, "closed");
                 });
  it.end();
}

// --- Destruction ---

/// Which of the two a notified wait destroys.
enum class end_of { condition, mutex, condition_and_mutex };

/// One that is notified destroys them at once: who notified it, or released the mutex, touches
/// them no more.
inline void destroyed_by_a_notified_wait(end_of which) {
  both it;
  operation first;
  it.queue(first);
  it.hold();
  model::threads([&] { it.c.notify_all(); }, [&] { it.m.release_guard(); },
                 [&] {
                   model::check(it.c.finish(first), "it has the mutex");
                   if (which != end_of::mutex) it.c.abandon();
                   if (which != end_of::condition) it.m.abandon();
                   it.m.release_guard();
                 });
  if (which == end_of::mutex)
    it.c.end();
  else
    it.c.check_gone();
  if (which == end_of::condition)
    it.m.end();
  else
    it.m.check_gone();
}

/// The mutex is destroyed while waits are outstanding: they complete without it.
inline void mutex_destroyed_against_notify() {
  both it;
  operation first, second;
  it.queue(first);
  it.queue(second);
  auto const finish = [&](operation& op) {
    if (it.c.finish(op)) return it.m.release_guard();
    model::check(op.outcome == aborted, "aborted");
  };
  model::threads([&] { it.m.abandon(); }, [&] { it.c.notify_all(); },
                 [&] {
                   finish(first);
                   finish(second);
                 });
  it.c.end();
  it.m.check_gone();
}

/// The condition is destroyed: who was notified has the mutex, or is dropped; others do not.
inline void destroyed_against_release(bool dropped) {
  both it;
  operation first, second;
  it.queue(first);
  it.queue(second);
  it.hold();
  it.c.notify_one();
  model::threads([&] { it.c.abandon(); },
                 [&] {
                   it.m.release_guard();
                   if (it.c.finish(second))
                     it.m.release_guard();
                   else
                     model::check(second.outcome == aborted, "aborted");
                 },
                 [&] {
                   if (dropped)
                     it.c.drop(first);
                   else
                     it.require(first);
                 });
  model::check(dropped || !second.holds, "without the mutex");
  it.c.check_gone();
  it.m.end();
}

/// The condition, perhaps a closed one, is destroyed as a wait whose predicate was false comes
/// back: that ends without the mutex.
inline void destroyed_against_waiting_again(bool after_close) {
  both it;
  operation waiting, locking;
  it.queue(waiting);
  it.c.notify_one();
  if (after_close) it.c.close();
  model::threads([&] { it.c.abandon(); },
                 [&] {
                   it.c.wait_again(waiting);
                   model::check(!it.c.finish(waiting), "without the mutex");
                 },
                 [&] {
                   it.m.start(locking);
                   model::check(it.m.use_once(locking), "it is granted");
                 });
  model::check(waiting.outcome == aborted || (after_close && waiting.outcome == closed),
               "ended with the condition");
  it.c.check_gone();
  it.m.end();
}

}  // namespace notify_model

#endif
