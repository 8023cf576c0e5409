// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_MODEL_PERMIT_STATE_GUARD_SCENARIOS_HPP
#define ASIO_SYNC_TEST_MODEL_PERMIT_STATE_GUARD_SCENARIOS_HPP

#include "permit_state_scenarios.hpp"

/// The two ways of holding a mutex: as a guard, which is counted and may outlive the mutex, and as
/// a member; and how the one becomes the other. A thread that waits ends as a member.
namespace permit_model {

// --- Guards that outlive the mutex ---

/// A guard gives back what a try has taken, while the mutex is destroyed; another wait may be
/// queued, and gets the one or the other.
template <class Traits = exclusive>
void guard_against_abandon(bool with_queue) {
  primitive<Traits> mutex;
  operation queued;
  model::check(mutex.try_guard(), "it was free");
  if (with_queue) mutex.start(queued);
  model::threads(
      [&] {
        mutex.use();
        mutex.release_guard();
      },
      [&] { mutex.abandon(); },
      [&] {
        if (!with_queue || mutex.use_once(queued)) return;
        model::check(queued.outcome == aborted, "aborted");
      });
  mutex.check_gone();
}

/// A guard ends after the mutex, and after all that was queued.
template <class Traits = exclusive>
void guard_ends_last() {
  primitive<Traits> mutex;
  operation queued;
  model::atomic<int> gone{0};
  model::check(mutex.try_guard(), "it was free");
  mutex.start(queued);
  model::threads(
      [&] {
        mutex.abandon();
        gone.store(1);
        gone.notify_one();
      },
      [&] {
        model::check(!mutex.finish(queued) && queued.outcome == aborted, "aborted");
        gone.wait(0);
        model::check(model::alive(&mutex.core()), "a guard keeps the core");
        model::check(!mutex.try_release_guard(), "there is nothing to give it back to");
      });
  mutex.check_gone();
}

/// The guard's hold becomes a member's while the mutex is destroyed: nobody is counted any more.
template <class Traits = exclusive>
void guard_released_against_abandon(bool with_queue) {
  primitive<Traits> mutex;
  operation queued;
  model::check(mutex.try_guard(), "it was free");
  if (with_queue) mutex.start(queued);
  model::threads([&] { mutex.make_member(); }, [&] { mutex.abandon(); },
                 [&] {
                   if (!with_queue) return;
                   model::check(!mutex.finish(queued) && queued.outcome == aborted, "aborted");
                 });
  mutex.check_gone();
}

/// A thread's wait is granted while the mutex is destroyed: it is aborted, or holds as a member.
template <class Traits = exclusive>
void thread_against_abandon() {
  primitive<Traits> mutex;
  operation waiting, queued;
  model::check(mutex.try_guard(), "it was free");
  mutex.start(waiting);
  mutex.start(queued);
  model::threads([&] { mutex.release_guard(); },
                 [&] {
                   if (!mutex.finish_in_thread(waiting))
                     model::check(waiting.outcome == aborted, "aborted");
                 },
                 [&] { mutex.abandon(); });
  model::check(!mutex.finish(queued) && queued.outcome == aborted, "aborted");
  mutex.check_gone();
}

// --- One way of holding becomes the other ---

/// A guard's hold becomes a member's (or the other way round), and is given back as that, while
/// one wait is cancelled and another comes.
template <class Traits = exclusive>
void hold_changed_against_queue(bool into_guard) {
  primitive<Traits> mutex;
  operation queued, coming;
  model::check(mutex.try_acquire(1, !into_guard), "it was free");
  mutex.start(queued);
  model::threads(
      [&] {
        model::check(into_guard ? mutex.adopt() : mutex.make_member(), "it was held");
        mutex.use();
        if (into_guard)
          mutex.release_guard();
        else
          mutex.release();
      },
      [&] {
        mutex.cancel(queued);
        if (!mutex.use_once(queued)) model::check(queued.outcome == aborted, "cancelled");
      },
      [&] {
        mutex.start(coming);
        model::check(mutex.use_once(coming), "it is granted");
      });
  mutex.end();
}

/// Threads and handlers take turns.
template <class Traits = exclusive>
void threads_and_handlers() {
  primitive<Traits> mutex;
  operation first, second, handler;
  auto const in_thread = [&](operation& op) {
    mutex.start(op);
    model::check(mutex.use_once_in_thread(op), "it is granted");
  };
  model::threads([&] { in_thread(first); }, [&] { in_thread(second); },
                 [&] {
                   mutex.start(handler);
                   model::check(mutex.use_once(handler), "it is granted");
                 });
  mutex.end();
}

/// A member gives back while a guard adopts its hold: one of them has it. `with_queue`: somebody
/// waits for it, and is cancelled.
template <class Traits = exclusive>
void unlock_against_adopt(bool with_queue) {
  primitive<Traits> mutex;
  operation queued;
  bool released = false, adopted = false;
  model::check(mutex.try_acquire(), "it was free");
  if (with_queue) mutex.start(queued);
  model::threads([&] { released = mutex.try_release(); },
                 [&] {
                   adopted = mutex.adopt();
                   if (!adopted) return;
                   mutex.use();
                   mutex.release_guard();
                 },
                 [&] {
                   if (!with_queue) return;
                   mutex.cancel(queued);
                   mutex.use_once(queued);
                 });
  model::check(released != adopted, "a member's hold ends once");
  mutex.end();
}

/// Misuse: an unlock() and an adoption, while a guard holds or a grant is on its way to one, or
/// nobody has it. They are refused and change nothing.
template <class Traits = exclusive>
void member_against_guards() {
  primitive<Traits> mutex;
  operation first, second;
  model::check(mutex.try_guard(), "it was free");
  mutex.start(first);
  mutex.start(second);
  model::threads(
      [&] {
        mutex.use();
        mutex.release_guard();
        model::check(mutex.use_once(first), "it is granted");
      },
      [&] { model::check(mutex.use_once(second), "it is granted"); },
      [&] {
        model::check(!mutex.try_release(), "no member holds it");
        model::check(!mutex.adopt(), "no member holds it");
      });
  mutex.end();
}

/// The same before and after the mutex gets free.
template <class Traits = exclusive>
void member_against_the_last_guard() {
  primitive<Traits> mutex;
  operation coming;
  model::check(mutex.try_guard(), "it was free");
  model::threads([&] { mutex.release_guard(); },
                 [&] {
                   model::check(!mutex.adopt(), "no member holds it");
                   model::check(!mutex.try_release(), "no member holds it");
                 },
                 [&] {
                   mutex.start(coming);
                   model::check(mutex.use_once(coming), "it is granted");
                 });
  mutex.end();
}

}  // namespace permit_model

#endif
