// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_MODEL_CONDITION_STATE_END_SCENARIOS_HPP
#define ASIO_SYNC_TEST_MODEL_CONDITION_STATE_END_SCENARIOS_HPP

#include "condition_state_scenarios.hpp"

/// The scenarios in which a wait, the condition or the mutex ends.
namespace condition_model {

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

}  // namespace condition_model

#endif
