// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_MODEL_PERMIT_STATE_SCENARIOS_HPP
#define ASIO_SYNC_TEST_MODEL_PERMIT_STATE_SCENARIOS_HPP

#include "permit_state_model.hpp"

/// The scenarios that are explored and, with a fault in the core, replayed. The exclusive ones are
/// a mutex's.
namespace permit_model {

using enum wait_outcome;

// --- Grants ---

template <class Traits = exclusive>
void holder_against_wait() {
  primitive<Traits> mutex;
  operation waiting;
  model::threads(
      [&] {
        if (!mutex.try_acquire()) return;
        mutex.use();
        mutex.release();
      },
      [&] {
        mutex.start(waiting);
        model::check(mutex.use_once(waiting), "it is granted");
      });
  mutex.end();
}

template <class Traits = exclusive>
void three_waits() {
  primitive<Traits> mutex;
  operation first, second, third;
  auto const use = [&](operation& op) {
    mutex.start(op);
    model::check(mutex.use_once(op), "it is granted");
  };
  model::threads([&] { use(first); }, [&] { use(second); }, [&] { use(third); });
  mutex.end();
}

/// Somebody who only tries, while two queue.
template <class Traits = exclusive>
void try_against_queue() {
  primitive<Traits> mutex;
  operation first, second;
  auto const use = [&](operation& op) {
    mutex.start(op);
    model::check(mutex.use_once(op), "it is granted");
  };
  model::threads([&] { use(first); }, [&] { use(second); },
                 [&] {
                   if (!mutex.try_acquire()) return;
                   mutex.use();
                   mutex.release();
                 });
  mutex.end();
}

/// What was tried is handed to a wait, while another queues.
template <class Traits = exclusive>
void try_then_grant() {
  primitive<Traits> mutex;
  operation immediate, other;
  model::threads(
      [&] {
        if (!mutex.try_guard()) return;
        mutex.core().conclude(immediate.make(), granted);
        immediate.post();
        model::check(mutex.use_once(immediate), "it is granted");
      },
      [&] {
        mutex.start(other);
        model::check(mutex.use_once(other), "it is granted");
      });
  mutex.end();
}

// --- Cancellations ---

/// The head is cancelled while the holder releases; one is behind it.
template <class Traits = exclusive>
void cancel_against_grant() {
  primitive<Traits> mutex;
  operation head, follower;
  model::check(mutex.try_acquire(), "it was free");
  mutex.start(head);
  mutex.start(follower);
  model::threads([&] { mutex.release(); },
                 [&] {
                   mutex.cancel(head);
                   if (!mutex.use_once(head)) model::check(head.outcome == aborted, "cancelled");
                 },
                 [&] { model::check(mutex.use_once(follower), "it is granted"); });
  mutex.end();
}

template <class Traits = exclusive>
void neighbours_cancelled() {
  primitive<Traits> mutex;
  operation first, second, last;
  model::check(mutex.try_acquire(), "it was free");
  mutex.start(first);
  mutex.start(second);
  mutex.start(last);
  auto const cancel = [&](operation& op) {
    mutex.cancel(op);
    mutex.use_once(op);
  };
  model::threads([&] { cancel(first); }, [&] { cancel(second); },
                 [&] {
                   mutex.release();
                   model::check(mutex.use_once(last), "it is granted");
                 });
  mutex.end();
}

template <class Traits = exclusive>
void timeout_against_cancel_against_grant() {
  primitive<Traits> mutex;
  operation timed, follower;
  model::check(mutex.try_acquire(), "it was free");
  mutex.set_timed(timed);
  mutex.start(timed);
  mutex.start(follower);
  model::threads([&] { mutex.release(); },
                 [&] {
                   mutex.cancel(timed);
                   if (!mutex.use_once(timed))
                     model::check(one_of(timed.outcome, aborted, timed_out), "refused");
                 },
                 [&] { mutex.expire(timed); });
  model::check(mutex.use_once(follower), "it is granted");
  mutex.end();
}

/// A wait whose deadline comes, or which is cancelled, before it has queued.
template <class Traits = exclusive>
void mark_against_enter() {
  primitive<Traits> mutex;
  operation timed, follower;
  model::check(mutex.try_acquire(), "it was free");
  mutex.set_timed(timed);
  timed.make();
  model::threads(
      [&] {
        mutex.enter(timed);
        model::check(!mutex.use_once(timed) && timed.outcome == timed_out, "timed out");
      },
      [&] { mutex.expire(timed); }, [&] { mutex.start(follower); });
  mutex.release();
  model::check(mutex.use_once(follower), "it is granted");
  mutex.end();
}

/// cancel() while the holder releases and one more comes.
template <class Traits = exclusive>
void cancel_all_against_release() {
  primitive<Traits> mutex;
  operation queued, coming;
  model::check(mutex.try_acquire(), "it was free");
  mutex.start(queued);
  model::threads([&] { mutex.release(); },
                 [&] {
                   mutex.cancel_all();
                   mutex.use_once(queued);
                 },
                 [&] {
                   mutex.start(coming);
                   mutex.use_once(coming);
                 });
  mutex.end();
}

/// Misuse: one of two releases is too many. The queue goes meanwhile. What a guard holds of a
/// mutex no release takes from it.
template <class Traits = exclusive>
void one_release_too_many() {
  primitive<Traits> mutex;
  operation queued;
  int releases = 0;
  model::check(mutex.try_acquire(), "it was free");
  mutex.start(queued);
  auto const release = [&] { releases += mutex.try_release(); };
  model::threads(release, release, [&] {
    mutex.cancel(queued);
    if (!mutex.finish(queued)) return;
    bool const given_back = mutex.try_release_guard();
    if (Traits::exclusive) model::check(given_back, "what a guard holds was held");
    releases += given_back - 1;
  });
  // What a guard gives back above the maximum of many permits is dropped.
  if (Traits::exclusive) model::check(releases == 1, "what is held is released once");
  mutex.end();
}

// --- Closing ---

template <class Traits = exclusive>
void close_against_acquire() {
  primitive<Traits> mutex;
  operation first, second;
  bool closed_before = false;
  auto const use = [&](operation& op) {
    bool const late = *model::access(&closed_before);
    mutex.start(op);
    if (!mutex.use_once(op)) return model::check(op.outcome == closed, "closed");
    model::check(!late, "nobody gets in after close()");
  };
  model::threads([&] { use(first); }, [&] { use(second); },
                 [&] {
                   mutex.close();
                   closed_before = true;
                 });
  model::check(mutex.core().is_closed() && !mutex.try_acquire(), "it stays closed");
  mutex.end();
}

template <class Traits = exclusive>
void close_against_release() {
  primitive<Traits> mutex;
  operation first, second;
  model::check(mutex.try_acquire(), "it was free");
  mutex.start(first);
  mutex.start(second);
  model::threads(
      [&] {
        mutex.use();
        mutex.release();
      },
      [&] { mutex.close(); },
      [&] {
        if (!mutex.use_once(first)) model::check(first.outcome == closed, "closed");
        if (!mutex.use_once(second)) model::check(second.outcome == closed, "closed");
      });
  mutex.end();
}

// --- Dropped grants ---

/// A grant that is destroyed on its way goes on, while who is next is cancelled.
template <class Traits = exclusive>
void drop_against_cancel() {
  primitive<Traits> mutex;
  operation dropped, next, last;
  model::check(mutex.try_acquire(), "it was free");
  mutex.start(dropped);
  mutex.start(next);
  mutex.start(last);
  mutex.release();
  model::threads([&] { mutex.drop(dropped); },
                 [&] {
                   mutex.cancel(next);
                   mutex.use_once(next);
                 },
                 [&] { model::check(mutex.use_once(last), "it is granted"); });
  mutex.end();
}

/// Each grant is dropped, and one wait more comes meanwhile.
template <class Traits = exclusive>
void chain_of_drops() {
  primitive<Traits> mutex;
  operation first, second, coming;
  model::check(mutex.try_acquire(), "it was free");
  mutex.start(first);
  mutex.start(second);
  model::threads([&] { mutex.release(); },
                 [&] {
                   mutex.drop(first);
                   mutex.drop(second);
                 },
                 [&] {
                   mutex.start(coming);
                   mutex.drop(coming);
                 });
  mutex.end();
}

template <class Traits = exclusive>
void drop_against_abandon() {
  primitive<Traits> mutex;
  operation dropped, queued;
  model::check(mutex.try_acquire(), "it was free");
  mutex.start(dropped);
  mutex.start(queued);
  mutex.release();
  model::threads([&] { mutex.drop(dropped); }, [&] { mutex.abandon(); },
                 [&] { mutex.drop(queued); });
  mutex.check_gone();
}

// --- Destruction ---

/// The holder destroys the mutex without having released it.
template <class Traits = exclusive>
void abandon_with_queued() {
  primitive<Traits> mutex;
  operation first, second;
  model::check(mutex.try_acquire(), "it was free");
  mutex.start(first);
  mutex.start(second);
  auto const refused = [&](operation& op) {
    model::check(!mutex.finish(op) && op.outcome == aborted, "aborted");
  };
  model::threads([&] { mutex.abandon(); }, [&] { refused(first); }, [&] { refused(second); });
  mutex.check_gone();
}

/// The same where the holder came through the queue.
template <class Traits = exclusive>
void abandon_by_holder_from_queue() {
  primitive<Traits> mutex;
  operation holder, queued;
  model::check(mutex.try_acquire(), "it was free");
  mutex.start(holder);
  mutex.start(queued);
  model::threads([&] { mutex.release(); },
                 [&] {
                   model::check(mutex.finish(holder), "it is granted");
                   mutex.use();
                   mutex.abandon();
                   mutex.give_back(holder);
                 },
                 [&] { model::check(!mutex.finish(queued), "aborted"); });
  mutex.check_gone();
}

/// A grant arrives after the mutex was destroyed.
template <class Traits = exclusive>
void abandon_with_granted() {
  primitive<Traits> mutex;
  operation granted_one, queued;
  model::atomic<int> gone{0};
  model::check(mutex.try_acquire(), "it was free");
  mutex.start(granted_one);
  mutex.start(queued);
  model::threads(
      [&] {
        mutex.release();
        mutex.abandon();
        gone.store(1);
        gone.notify_one();
      },
      [&] {
        gone.wait(0);
        model::check(!mutex.finish(granted_one) && granted_one.outcome == aborted, "aborted");
      },
      [&] { model::check(!mutex.finish(queued) && queued.outcome == aborted, "aborted"); });
  mutex.check_gone();
}

/// Each owner may destroy the mutex the moment that it gets it: the release that made it the owner
/// touches the core no more. `through_queue`: it waits; otherwise it tries.
template <class Traits = exclusive>
void destroyed_by_the_new_owner(bool through_queue) {
  primitive<Traits> mutex;
  operation owner, before;
  model::check(mutex.try_acquire(), "it was free");
  if (!through_queue) mutex.start(before);
  model::threads([&] { mutex.release(); },
                 [&] {
                   if (through_queue) {
                     mutex.start(owner);
                     model::check(mutex.finish(owner), "it is granted");
                     mutex.give_back(owner);
                   } else {
                     mutex.cancel(before);
                     if (mutex.finish(before)) mutex.give_back(before);
                     while (!mutex.try_acquire()) model::pause();
                   }
                   mutex.abandon();
                 });
  mutex.check_gone();
}

}  // namespace permit_model

#endif
