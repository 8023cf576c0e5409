// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_MODEL_EVENT_STATE_SCENARIOS_HPP
#define ASIO_SYNC_TEST_MODEL_EVENT_STATE_SCENARIOS_HPP

#include "event_state_model.hpp"

#include <atomic>

/// The scenarios that are explored and, with a fault in the core, replayed. What thread 0 writes
/// before it sets the event is read by those whom that releases.
namespace signal_model {

using enum wait_outcome;

// --- Setting and resetting ---

/// One wait is queued, another begins.
inline void set_against_wait() {
  primitive event;
  operation queued, coming;
  model::plain<int> data;
  event.start(queued);
  model::threads(
      [&] {
        data = 1;
        event.set();
      },
      [&] {
        event.start(coming);
        event.require(coming);
        model::check(data == 1, "what was done before is seen");
      },
      [&] {
        event.require(queued);
        model::check(data == 1, "what was done before is seen");
      });
  model::check(event.is_set(), "it stays set");
  event.end();
}

/// Two threads set it while two waits begin.
inline void two_sets_against_waits() {
  primitive event;
  operation first, second;
  auto const wait = [&](operation& op) {
    event.start(op);
    event.require(op);
  };
  model::threads([&] { event.set(); }, [&] { event.set(); },
                 [&] {
                   wait(first);
                   wait(second);
                 });
  event.end();
}

inline void two_sets_with_queued() {
  primitive event;
  operation first, second, coming;
  event.start(first);
  event.start(second);
  model::threads([&] { event.set(); },
                 [&] {
                   event.set();
                   event.require(second);
                 },
                 [&] {
                   event.require(first);
                   event.start(coming);
                   event.require(coming);
                 });
  event.end();
}

/// All who waited are released; who comes after the reset waits for the next set.
inline void set_then_reset() {
  primitive event;
  operation first, second, coming;
  model::milestone reset_before;
  model::milestone::answer late;
  event.start(first);
  event.start(second);
  model::threads(
      [&] {
        event.set();
        event.reset();
        reset_before.reach();
      },
      [&] {
        event.require(first);
        event.require(second);
      },
      [&] {
        late = model::access(&reset_before)->is_reached();
        event.start(coming);
      });
  model::check(!late || !coming.is_posted(), "nobody comes in after the reset");
  model::check(event.waiters() == !coming.is_posted(), "it waits or was released");
  event.set();
  event.require(coming);
  event.end();
}

/// A reset by another thread, while a wait begins.
inline void set_against_reset_against_wait() {
  primitive event;
  operation queued, coming;
  event.start(queued);
  model::threads([&] { event.set(); }, [&] { event.reset(); },
                 [&] {
                   event.start(coming);
                   event.require(queued);
                 });
  event.set();
  event.require(coming);
  event.end();
}

/// A wait that was released resets the event and waits again: the set that is still busy with the
/// others does not release it twice.
inline void waits_again() {
  primitive event;
  operation first, second, again;
  event.start(first);
  event.start(second);
  model::threads([&] { event.set(); },
                 [&] {
                   event.require(first);
                   event.reset();
                   event.start(again);
                 },
                 [&] { event.require(second); });
  model::check(!again.is_posted() && event.waiters() == 1, "it waits for the next set");
  event.set();
  event.require(again);
  event.end();
}

// --- Order of memory ---

/// What was written before a set is seen by whoever finds the event set, or resets it; also where
/// it was set already. `with_queue`: somebody is released as well.
inline void published(bool with_queue) {
  primitive event(!with_queue);
  operation queued;
  model::plain<int> data;
  model::milestone done;  // from the set's last step on: nothing can come in between
  if (with_queue) event.start(queued);
  model::threads(
      [&] {
        data = 1;
        event.set();
        done.reach();
      },
      [&] {
        if (event.core().admits() && done.is_reached()) model::check(data == 1, "seen by a try");
        event.reset();
        if (done.is_reached()) model::check(data == 1, "seen by a reset");
      },
      [&] {
        if (with_queue)
          event.require(queued);
        else
          event.close();
      });
  event.end();
}

/// The same for a wait that finds it set where it comes to the queue.
inline void published_to_the_queue() {
  primitive event(true);
  operation coming;
  model::plain<int> data;
  model::milestone done;
  coming.make();
  model::threads(
      [&] {
        data = 1;
        event.set();
        done.reach();
      },
      [&] {
        auto const late = model::access(&done)->is_reached();
        event.enter(coming);
        bool const released = event.finish(coming);
        if (released && late) model::check(data == 1, "seen by a wait");
      },
      [&] { event.close(); });
  event.end();
}

/// A thread resets the event, looks for work, and waits if there is none. It cannot tell whether
/// the event was set.
inline void work_against_reset() {
  primitive event(true);
  operation waiting;
  model::atomic<bool> work{false};
  model::threads(
      [&] {
        work.store(true, std::memory_order_relaxed);
        event.set();
      },
      [&] {
        event.reset();
        if (work.load(std::memory_order_relaxed)) return;
        event.start(waiting);
        event.require(waiting);
        model::check(work.load(std::memory_order_relaxed), "what was done before is seen");
      });
  event.end();
}

// --- Cancellations ---

/// Who has seen the event set cannot cancel what it has released.
inline void set_against_cancel() {
  primitive event;
  operation first, second;
  event.start(first);
  event.start(second);
  auto const cancel = [&](operation& op) {
    bool const is_final = event.is_set();
    event.cancel(op);
    if (!event.finish(op)) model::check(!is_final && op.outcome == aborted, "cancelled");
  };
  model::threads([&] { event.set(); }, [&] { cancel(first); }, [&] { cancel(second); });
  event.end();
}

/// A wait that is refused twice over leaves its place to a follower.
inline void cancel_against_cancel() {
  primitive event;
  operation cancelled, follower;
  event.set_timed(cancelled);
  event.start(cancelled);
  event.start(follower);
  model::threads([&] { event.set(); },
                 [&] {
                   event.cancel(cancelled);
                   event.cancel(cancelled);
                   if (!event.finish(cancelled))
                     model::check(one_of(cancelled.outcome, aborted, timed_out), "refused");
                 },
                 [&] { event.expire(cancelled); });
  event.require(follower);
  event.end();
}

inline void set_against_cancel_all() {
  primitive event;
  operation first, second;
  std::size_t refused = 0;
  event.start(first);
  event.start(second);
  model::threads([&] { event.set(); },
                 [&] {
                   refused = event.cancel_all();
                   model::check(event.waiters() == 0, "nobody waits any more");
                 },
                 [&] {
                   event.finish(first);
                   event.finish(second);
                 });
  model::check(refused == 0 || refused == 2, "all of them or none");
  auto const expected = refused == 0 ? granted : aborted;
  model::check(first.outcome == expected && second.outcome == expected, "as many as it says");
  event.end();
}

/// cancel() of all with nobody but one who comes.
inline void cancel_all_against_wait() {
  primitive event;
  operation queued, coming;
  event.start(queued);
  model::threads([&] { event.cancel_all(); },
                 [&] {
                   event.start(coming);
                   event.finish(queued);
                 },
                 [&] { event.set(); });
  if (!event.finish(coming)) model::check(coming.outcome == aborted, "cancelled");
  event.end();
}

/// A wait whose deadline comes before it has queued.
inline void mark_against_enter() {
  primitive event;
  operation timed;
  event.set_timed(timed);
  timed.make();
  model::threads(
      [&] {
        event.enter(timed);
        if (!event.finish(timed)) model::check(timed.outcome == timed_out, "timed out");
      },
      [&] { event.expire(timed); }, [&] { event.set(); });
  event.end();
}

// --- Closing ---

/// Who comes after close() is refused, set or not; the event can still be set.
inline void close_against_set_and_wait() {
  primitive event;
  operation queued, coming;
  model::milestone closed_before;
  event.start(queued);
  model::threads(
      [&] {
        event.close();
        closed_before.reach();
      },
      [&] { event.set(); },
      [&] {
        auto const late = model::access(&closed_before)->is_reached();
        event.start(coming);
        if (!event.finish(coming)) return model::check(coming.outcome == closed, "closed");
        model::check(!late, "nobody gets in after close()");
      });
  if (!event.finish(queued)) model::check(queued.outcome == closed, "closed");
  model::check(event.is_set() && !event.core().admits(), "it is set and stays closed");
  event.end();
}

/// A wait that comes to the queue while the event is closed, and is not set.
inline void close_against_enter() {
  primitive event;
  operation first, second;
  first.make();
  second.make();
  auto const wait = [&](operation& op) {
    event.enter(op);
    model::check(!event.finish(op) && op.outcome == closed, "closed");
  };
  model::threads([&] { event.close(); }, [&] { wait(first); }, [&] { wait(second); });
  event.end();
}

// --- Destruction ---

/// A wait that was released destroys the event while the others are still being released; they
/// succeed. `dropped`: those who come after it are destroyed on their way.
inline void destroyed_by_a_released_wait(bool dropped) {
  primitive event;
  operation first, second;
  event.start(first);
  event.start(second);
  model::threads([&] { event.set(); },
                 [&] {
                   event.require(first);
                   event.abandon();
                 },
                 [&] {
                   if (dropped)
                     event.drop(second);
                   else
                     event.require(second);
                 });
  event.check_gone();
}

/// Whoever sees the event set may destroy it. `with_queue`: a wait is released by the same set.
inline void destroyed_by_who_sees_it_set(bool with_queue) {
  primitive event;
  operation queued;
  if (with_queue) event.start(queued);
  model::threads([&] { event.set(); },
                 [&] {
                   while (!event.core().admits()) model::pause();
                   event.abandon();
                 },
                 [&] {
                   if (with_queue) event.require(queued);
                 });
  event.check_gone();
}

inline void destroyed_with_released_on_their_way() {
  primitive event;
  operation dropped, delivered;
  event.start(dropped);
  event.start(delivered);
  event.set();
  model::threads([&] { event.drop(dropped); }, [&] { event.abandon(); },
                 [&] { event.require(delivered); });
  event.check_gone();
}

inline void destroyed_with_queued() {
  primitive event;
  operation delivered, dropped;
  event.start(delivered);
  event.start(dropped);
  model::threads(
      [&] { event.abandon(); },
      [&] { model::check(!event.finish(delivered) && delivered.outcome == aborted, "aborted"); },
      [&] { event.drop(dropped); });
  event.check_gone();
}

}  // namespace signal_model

#endif
