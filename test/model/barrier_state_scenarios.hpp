// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_MODEL_BARRIER_STATE_SCENARIOS_HPP
#define ASIO_SYNC_TEST_MODEL_BARRIER_STATE_SCENARIOS_HPP

#include "barrier_state_model.hpp"

/// The scenarios that are explored and, with a fault in the core, replayed.
namespace barrier_model {

using enum wait_outcome;

// --- Phases ---

/// Whoever is released sees what the others did before; one of them leads.
inline void three_meet() {
  primitive barrier(3);
  operation op[3];
  model::plain<int> data[3];
  auto const meet = [&](int own) {
    data[own] = 1;
    barrier.arrive(op[own]);
    barrier.require(op[own]);
    for (auto& each : data) model::check(each == 1, "what was done before is seen");
  };
  model::threads([&] { meet(0); }, [&] { meet(1); }, [&] { meet(2); });
  model::check(op[0].leads + op[1].leads + op[2].leads == 1, "one leads");
  model::check(barrier.completed() == 1, "one completion a phase");
  barrier.end();
}

/// One is in the next phase while the other is still to hear that the first has ended.
inline void two_phases_overlap() {
  primitive barrier(2);
  operation op[2][2];
  model::plain<int> data[2][2];
  auto const meet = [&](int own) {
    for (int phase : {0, 1}) {
      data[phase][own] = 1;
      barrier.arrive(op[phase][own]);
      barrier.require(op[phase][own]);
      model::check(data[phase][1 - own] == 1, "what was done before is seen");
      model::check(barrier.completed() > phase, "the completion comes first");
    }
  };
  model::threads([&] { meet(0); }, [&] { meet(1); });
  for (auto& phase : op) model::check(phase[0].leads + phase[1].leads == 1, "one leads");
  model::check(barrier.completed() == 2, "one completion a phase");
  barrier.end();
}

/// Three arrive at a barrier of two: one of them is of the next phase.
inline void one_too_many() {
  primitive barrier(2);
  operation op[3];
  model::threads([&] { barrier.arrive(op[0]); }, [&] { barrier.arrive(op[1]); },
                 [&] { barrier.arrive(op[2]); });
  model::check(barrier.waiters() == 1, "one waits");
  barrier.cancel_all();
  int released = 0;
  for (auto& each : op) released += barrier.finish(each);
  model::check(released == 2 && barrier.completed() == 1, "the others are released");
  barrier.end();
}

/// The completion fails: nobody is released.
inline void completion_fails() {
  primitive barrier(2);
  barrier.each_phase().fails = true;
  operation op[3];
  auto const meet = [&](operation& own) {
    barrier.arrive(own);
    model::check(!barrier.finish(own) && own.outcome == failed, "broken");
  };
  model::threads([&] { meet(op[0]); }, [&] { meet(op[1]); });
  barrier.each_phase().fails = false;
  barrier.arrive(op[2], true);
  model::check(!barrier.finish(op[2]) && op[2].outcome == timed_out, "the next phase is clean");
  barrier.end();
}

/// No time is left: arrives as the last only.
inline void no_time_against_arrival() {
  primitive barrier(2);
  operation coming, expired;
  model::threads([&] { barrier.arrive(coming); },
                 [&] {
                   barrier.arrive(expired, true);
                   barrier.expect(expired, timed_out);
                 });
  bool const met = expired.outcome == granted;
  model::check(expired.leads == met && barrier.waiters() == (met ? 0 : 1), "as the last, or not");
  barrier.cancel_all();
  barrier.expect(coming, aborted);
  model::check((coming.outcome == granted) == met, "both or none");
  barrier.end();
}

// --- Cancellations ---

/// The last arrival against a cancellation of the other: both are released, or none.
inline void last_arrival_against_cancel(bool by_timer) {
  primitive barrier(2);
  operation first, second;
  if (by_timer) barrier.set_timed(first);
  barrier.arrive(first);
  model::threads([&] { barrier.arrive(second); },
                 [&] {
                   if (by_timer) barrier.expire(first);
                 },
                 [&] {
                   if (!by_timer) barrier.cancel(first);
                   barrier.expect(first, by_timer ? timed_out : aborted);
                 });
  bool const met = first.outcome == granted;
  if (!met) barrier.cancel_all();
  barrier.expect(second, aborted);
  model::check((second.outcome == granted) == met, "both or none");
  model::check(second.leads == met && !first.leads && barrier.completed() == met, "one leads");
  barrier.end();
}

/// One is cancelled while others queue: these hear of it, or have come after it.
inline void cancel_against_arrivals() {
  primitive barrier(3);
  operation first, second, third;
  barrier.arrive(first);
  model::threads([&] { barrier.cancel(first); }, [&] { barrier.arrive(second); },
                 [&] { barrier.arrive(third); });
  bool const met = barrier.finish(first);
  barrier.cancel_all();
  for (operation* each : {&second, &third}) {
    if (barrier.finish(*each))
      model::check(met, "all or none");
    else
      model::check(!met && one_of(each->outcome, failed, aborted), "broken, or in the next");
  }
  barrier.end();
}

/// Two of three are cancelled: one of them breaks the phase, for the other, too.
inline void two_cancels() {
  primitive barrier(4);
  operation op[3];
  for (auto& each : op) barrier.arrive(each);
  auto const cancel = [&](operation& own) {
    barrier.cancel(own);
    model::check(!barrier.finish(own) && one_of(own.outcome, aborted, failed), "refused");
  };
  model::threads(
      [&] { cancel(op[0]); }, [&] { cancel(op[1]); },
      [&] { model::check(!barrier.finish(op[2]) && op[2].outcome == failed, "broken"); });
  model::check((op[0].outcome == aborted) != (op[1].outcome == aborted), "one breaks it");
  barrier.end();
}

/// A deadline passes as the last to arrive comes to the queue, or while the completion runs.
inline void last_to_enter_against_mark() {
  primitive barrier(2);
  operation first, second;
  barrier.arrive(first);
  second.make();
  barrier.set_timed(second);
  model::threads([&] { barrier.enter(second); }, [&] { barrier.expire(second); });
  bool const met = barrier.finish(second);
  model::check(met || second.outcome == timed_out, "released, or it has not arrived");
  model::check(barrier.waiters() == (met ? 0 : 1), "that does not touch the other");
  if (!met) barrier.cancel_all();
  barrier.expect(first, aborted);
  model::check((first.outcome == granted) == met, "both or none");
  model::check(barrier.completed() == met, "one completion a phase");
  barrier.end();
}

/// One that is marked before it queues has not arrived.
inline void mark_against_enter() {
  primitive barrier(2);
  operation timed, last;
  timed.make();
  barrier.set_timed(timed);
  model::threads([&] { barrier.enter(timed); }, [&] { barrier.expire(timed); },
                 [&] { model::check(!barrier.finish(timed), "refused"); });
  model::check(timed.outcome == timed_out && barrier.waiters() == 0, "timed out");
  barrier.arrive(last, true);
  model::check(!barrier.finish(last) && last.outcome == timed_out, "the next phase is clean");
  barrier.end();
}

/// cancel() of all against the last arrival.
inline void cancel_all_against_last() {
  primitive barrier(2);
  operation first, second;
  barrier.arrive(first);
  std::size_t refused = 0;
  model::threads([&] { refused = barrier.cancel_all(); }, [&] { barrier.arrive(second); });
  bool const met = barrier.finish(first);
  model::check(met == (refused == 0), "cancelled or released");
  barrier.cancel_all();
  barrier.expect(second, aborted);
  model::check(met == (second.outcome == granted), "both or none");
  barrier.end();
}

// --- Those who leave ---

/// Some are refused, as their context ends: the others hear of it.
inline void some_refused_against_last() {
  primitive barrier(3);
  operation first, second, third;
  barrier.arrive(first);
  barrier.arrive(second);
  model::threads([&] { barrier.cancel_if([&](node const& w) { return &w == second.wait; }); },
                 [&] { barrier.arrive(third); });
  bool const met = barrier.finish(second);
  barrier.expect(first, failed);
  model::check((first.outcome == granted) == met, "all or none");
  if (!met) barrier.cancel_all();
  barrier.expect(third, aborted);
  model::check(third.leads == met, "the last leads");
  barrier.end();
}

/// One whose context has ended never comes: the phase is broken, or one is alone in the next.
inline void turned_away_against_arrival() {
  primitive barrier(3);
  operation first, second;
  barrier.arrive(first);
  model::threads(
      [&] { barrier.turn_away(); }, [&] { barrier.arrive(second); },
      [&] { model::check(!barrier.finish(first) && first.outcome == failed, "broken"); });
  barrier.cancel_all();
  model::check(!barrier.finish(second) && one_of(second.outcome, failed, aborted), "refused");
  barrier.end();
}

/// The completion of the leader is dropped: nobody leads, and nobody else is touched.
inline void leader_is_dropped() {
  primitive barrier(2);
  operation first, last;
  barrier.arrive(first);
  model::threads(
      [&] {
        barrier.arrive(last);
        barrier.drop(last);
      },
      [&] { barrier.require(first); });
  model::check(!first.leads, "nobody leads");
  barrier.end();
}

/// Who drops is the last: the oldest leads; or somebody else is.
inline void drop_against_arrival() {
  primitive barrier(3);
  operation first, second;
  barrier.arrive(first);
  model::threads([&] { model::check(barrier.arrive_and_drop(), "it was one of them"); },
                 [&] {
                   barrier.arrive(second);
                   barrier.require(second);
                 },
                 [&] { barrier.require(first); });
  model::check(first.leads != second.leads && barrier.completed() == 1, "one leads");
  operation next, last;
  barrier.arrive(next);
  barrier.arrive(last);
  barrier.require(next);
  barrier.require(last);
  model::check(barrier.completed() == 2, "two are left");
  barrier.end();
}

/// More drop than there are.
inline void too_many_drop() {
  primitive barrier(1);
  bool dropped[2] = {};
  model::threads([&] { dropped[0] = barrier.arrive_and_drop(); },
                 [&] { dropped[1] = barrier.arrive_and_drop(); });
  model::check(dropped[0] != dropped[1] && barrier.completed() == 1, "one of them");
  operation late;
  barrier.arrive(late);
  model::check(!barrier.finish(late) && late.outcome == invalid, "nobody can arrive");
  barrier.end();
}

// --- Closing ---

/// Who has arrived is released or refused, together; who comes after close() is refused.
inline void close_against_arrivals() {
  primitive barrier(2);
  operation first, second;
  bool closed_before = false;
  auto const arrive = [&](operation& op) {
    bool const late = *model::access(&closed_before);
    barrier.arrive(op);
    if (!barrier.finish(op)) return model::check(op.outcome == closed, "closed");
    model::check(!late, "nobody gets in after close()");
  };
  model::threads(
      [&] {
        barrier.close();
        closed_before = true;
      },
      [&] { arrive(first); }, [&] { arrive(second); });
  model::check((first.outcome == granted) == (second.outcome == granted), "both or none");
  barrier.end();
}

// --- Destruction ---

/// One that is released destroys the barrier; the others still succeed. `entering`: the last comes
/// to the queue.
inline void destroyed_by_a_released_wait(bool entering) {
  primitive barrier(2);
  operation queued, last;
  barrier.arrive(queued);
  if (entering) last.make();
  model::threads(
      [&] {
        if (entering)
          barrier.enter(last);
        else
          barrier.arrive(last);
      },
      [&] {
        barrier.require(queued);
        barrier.abandon();
      },
      [&] { barrier.require(last); });
  barrier.check_gone();
}

/// The same where the last drops.
inline void destroyed_after_a_drop() {
  primitive barrier(2);
  operation queued;
  barrier.arrive(queued);
  model::threads([&] { barrier.arrive_and_drop(); },
                 [&] {
                   barrier.require(queued);
                   barrier.abandon();
                 });
  barrier.check_gone();
}

/// The completion itself destroys the barrier. `participants`: as many, of whom one has arrived
/// unless it is alone.
inline void destroyed_by_the_completion(int participants) {
  primitive barrier(participants);
  operation first, last;
  if (participants == 2) barrier.arrive(first);
  barrier.each_phase().inside = [](void* it) { static_cast<primitive*>(it)->abandon(); };
  barrier.each_phase().with = &barrier;
  model::threads([&] { barrier.arrive(last); },
                 [&] {
                   if (participants == 2) barrier.require(first);
                 },
                 [&] { barrier.require(last); });
  barrier.check_gone();
}

}  // namespace barrier_model

#endif
