// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_MODEL_MONITOR_STATE_SCENARIOS_HPP
#define ASIO_SYNC_TEST_MODEL_MONITOR_STATE_SCENARIOS_HPP

#include "monitor_state_model.hpp"

/// The scenarios that are explored and, with a fault in the core, replayed.
namespace visit_model {

using enum wait_outcome;

// --- Predicates ---

/// A change inside is seen by a visit that comes before it or after it.
inline void change_against_visit() {
  monitor m;
  operation changing, visiting(1);
  model::threads(
      [&] {
        m.start(changing);
        m.change_once(changing, 1);
      },
      [&] {
        m.visit(visiting);
        m.require(visiting);
        model::check(m.seen() == 1, "it sees why");
        m.leave();
      });
  m.end();
}

/// Of two that are parked the oldest enters whose predicate is true then.
inline void two_parked_against_changes() {
  monitor m;
  operation first(2), second(1), one(0), other(0);
  m.visit(first);
  m.visit(second);
  model::threads(
      [&] {
        m.start(one);
        m.change_once(one, 1);
      },
      [&] {
        m.start(other);
        m.change_once(other, 1);
      },
      [&] { m.change_once(second, 0); });
  m.change_once(first, 0);
  m.end();
}

/// Somebody who changes nothing leaves while a visit parks.
inline void parks_against_leave() {
  monitor m;
  operation parking(1), plain;
  model::threads([&] { m.visit(parking); },
                 [&] {
                   m.start(plain);
                   m.change_once(plain, 0);
                 });
  model::check(m.waiters() == 1 && !parking.is_posted(), "it waits");
  m.hold();
  m.change(1);
  m.leave();
  m.change_once(parking, 0);
  m.end();
}

// --- Functions ---

/// Invoked at once or in turn, alone, and left by.
inline void invocations() {
  monitor m;
  operation first(0, does::invoke), second(0, does::invoke), after(2);
  model::threads([&] { m.visit(first); }, [&] { m.visit(second); },
                 [&] {
                   m.visit(after);
                   m.require(after);
                   model::check(m.seen() == 2, "both have run");
                   m.leave();
                 });
  for (operation* op : {&first, &second})
    model::check(!m.finish(*op) && op->outcome == granted, "it has run");
  m.end();
}

/// A cancellation against the end of a function that was suspended.
inline void cancel_against_the_end_of_a_function(bool lost) {
  monitor m;
  operation suspended(0, does::invoke), queued;
  suspended.goes_on = true;
  m.visit(suspended);
  m.start(queued);
  model::check(m.waiters() == 1, "a function does not wait");
  model::check(m.cancel(suspended), "a cancellation is passed on");
  bool passed_on = false;
  model::threads([&] { passed_on = m.cancel(suspended); },
                 [&] { m.end_function(suspended, lost); }, [&] { m.change_once(queued, 1); });
  model::check(!m.finish(suspended), "it brings nothing");
  model::check(suspended.outcome == (lost ? aborted : granted), "its end decides");
  m.end();
}

// --- Cancellation, time, close ---

/// One that is parked is cancelled while somebody leaves, with another behind it.
inline void cancel_of_one_against_leave(bool timed) {
  monitor m;
  operation first(1), second(1);
  if (timed) m.set_timed(first);
  m.visit(first);
  m.visit(second);
  m.hold();
  m.change(1);
  bool entered = false;
  model::threads([&] { timed ? m.expire(first) : void(); }, [&] { m.leave(); },
                 [&] {
                   if (!timed) m.cancel(first);
                   entered = m.finish(first);
                   model::check(entered || first.outcome == (timed ? timed_out : aborted),
                                "nothing else");
                   if (entered) m.leave();
                 });
  m.change_once(second, 0);
  m.end();
}

/// One whose predicate is false is refused, wherever it is at that moment.
inline void refusal_against_looking(bool timed) {
  monitor m;
  operation looking(1);
  if (timed) m.set_timed(looking);
  m.hold();
  m.visit(looking);
  model::threads(
      [&] {
        if (timed) return m.expire(looking);
        model::check(m.cancel_all() == 1, "it is cancelled, and told of");
      },
      [&] { m.leave(); });
  m.refused(looking, timed ? timed_out : aborted);
  m.end();
}

/// The same where it is parked, and comes back to the queue.
inline void cancel_of_all_against_recall() {
  monitor m;
  operation first(1), second(1);
  m.visit(first);
  m.hold();
  m.visit(second);
  model::threads([&] { model::check(m.cancel_all() == 2, "both are cancelled"); },
                 [&] { m.leave(); });
  m.refused(first, aborted);
  m.refused(second, aborted);
  m.end();
}

/// It is counted in one place.
inline void counted_once() {
  monitor m;
  operation looking(1);
  m.visit(looking);
  m.hold();
  model::threads([&] { model::check(m.waiters() == 1, "it waits once"); }, [&] { m.leave(); });
  model::check(m.waiters() == 1 && m.cancel_all() == 1, "it still waits");
  m.refused(looking, aborted);
  m.end();
}

/// Who comes after cancel() is not concerned.
inline void visit_after_cancel() {
  monitor m;
  operation before(1), after(1);
  m.visit(before);
  m.cancel_all();
  m.refused(before, aborted);
  model::threads([&] { m.visit(after); },
                 [&] {
                   operation plain;
                   m.start(plain);
                   m.change_once(plain, 0);
                 });
  model::check(!after.is_posted() && m.waiters() == 1, "it waits");
  m.cancel_all();
  m.refused(after, aborted);
  m.end();
}

inline void close_against_leave() {
  monitor m;
  operation parked(1), queued(1), plain;
  m.visit(parked);
  m.hold();
  m.visit(queued);
  m.start(plain);
  model::threads([&] { m.close(); }, [&] { m.leave(); },
                 [&] {
                   if (m.finish(plain)) return m.leave();
                   model::check(plain.outcome == closed, "nothing else");
                 });
  m.refused(parked, closed);
  m.refused(queued, closed);
  m.abandon();
  m.check_gone();
}

/// Who is told of it destroys the monitor.
inline void close_against_its_end() {
  monitor m;
  operation plain;
  m.hold();
  m.start(plain);
  model::threads([&] { m.close(); },
                 [&] {
                   model::check(!m.finish(plain) && plain.outcome == closed, "it was refused");
                   m.leave();
                   m.abandon();
                 });
  m.check_gone();
}

// --- Ends ---

/// The monitor is destroyed while an entry leaves, which outlives it.
inline void destroyed_against_leave(int change) {
  monitor m;
  operation parked(1), queued(1);
  m.visit(parked);
  m.hold();
  m.visit(queued);
  m.change(change);
  model::threads([&] { m.abandon(); }, [&] { m.leave(); });
  for (operation* op : {&parked, &queued}) {
    model::check(op->is_posted(), "nobody is forgotten");
    model::check(!m.finish(*op) && op->outcome == aborted, "its grant is lost");
  }
  m.check_gone();
}

/// The same, while a function ends.
inline void destroyed_against_the_end_of_a_function() {
  monitor m;
  operation suspended(0, does::invoke), parked(9);
  m.visit(parked);
  suspended.goes_on = true;
  m.visit(suspended);
  model::threads([&] { m.abandon(); }, [&] { m.end_function(suspended); });
  model::check(!m.finish(suspended) && suspended.outcome == granted, "it has run");
  m.refused(parked, aborted);
  m.check_gone();
}

/// Who has entered destroys the monitor.
inline void destroyed_by_who_enters() {
  monitor m;
  operation entering(0), queued(0, does::invoke);
  m.hold();
  m.visit(entering);
  m.visit(queued);
  model::threads([&] { m.leave(); },
                 [&] {
                   m.require(entering);
                   m.abandon();
                   m.leave();
                 });
  model::check(!m.finish(queued) && queued.outcome == aborted, "it has not run");
  m.check_gone();
}

/// Without a strand nobody looks, and the mutex goes on.
inline void strand_is_lost(bool cancels) {
  monitor m;
  operation visiting(0), plain;
  m.hold();
  m.visit(visiting);
  m.start(plain);
  m.lose_strand();
  model::threads([&] { m.leave(); },
                 [&] {
                   if (cancels) m.cancel(visiting);
                 },
                 [&] { m.change_once(plain, 1); });
  m.refused(visiting, aborted);
  m.end();
}

/// A grant that nobody receives is the next one's.
inline void drop_against_cancel() {
  monitor m;
  operation dropped(1), first(1), second(1);
  for (operation* op : {&dropped, &first, &second}) m.visit(*op);
  m.hold();
  m.change(1);
  m.leave();
  bool entered = false;
  model::threads([&] { m.drop(dropped); },
                 [&] {
                   m.cancel(first);
                   entered = m.finish(first);
                   if (entered) m.leave();
                 },
                 [&] { m.change_once(second, 0); });
  model::check(one_of(first.outcome, granted, aborted), "nothing else");
  m.end();
}

}  // namespace visit_model

#endif
