// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_MODEL_LATCH_STATE_SCENARIOS_HPP
#define ASIO_SYNC_TEST_MODEL_LATCH_STATE_SCENARIOS_HPP

#include "latch_state_model.hpp"

/// The scenarios that are explored and, with a fault in the core, replayed.
namespace latch_model {

using enum wait_outcome;

// --- Counting down to zero ---

/// One wait is queued, another begins; whoever is released sees what was done before each step.
inline void two_counts_against_waits() {
  primitive latch(2);
  operation queued, coming;
  model::plain<int> first, second;
  latch.start(queued);
  auto const see = [&](operation& op) {
    latch.require(op);
    model::check(first == 1 && second == 1, "what was done before is seen");
  };
  model::threads(
      [&] {
        first = 1;
        latch.count_down();
      },
      [&] {
        second = 1;
        latch.count_down();
        see(queued);
      },
      [&] {
        latch.start(coming);
        see(coming);
      });
  latch.end();
}

/// Each of those who arrive sees what the other did before.
inline void two_arrivals() {
  primitive latch(2);
  operation queued, first, second;
  model::plain<int> data[2];
  latch.start(queued);
  auto const arrive = [&](int own, operation& op) {
    data[own] = 1;
    latch.arrive(op);
    latch.require(op);
    model::check(data[1 - own] == 1, "what was done before is seen");
  };
  model::threads([&] { arrive(0, first); }, [&] { arrive(1, second); },
                 [&] { latch.require(queued); });
  latch.end();
}

/// Of two who are the last one is; the other is one too many, and changes nothing.
inline void two_last_arrivals() {
  primitive latch(1);
  operation queued, first, second;
  latch.start(queued);
  auto const arrive = [&](operation& op) {
    latch.arrive(op);
    if (!latch.finish(op)) model::check(op.outcome == invalid, "one too many");
  };
  model::threads([&] { arrive(first); }, [&] { arrive(second); }, [&] { latch.require(queued); });
  model::check(first.outcome != second.outcome, "one of them is the last");
  latch.end();
}

/// The same where both have tried before, and one of three comes to the queue late.
inline void count_against_enter() {
  primitive latch(1);
  operation queued, coming;
  bool counted = false;
  latch.start(queued);
  coming.make(true);
  model::threads([&] { counted = latch.count_down(); },
                 [&] {
                   latch.enter(coming);
                   latch.finish(coming);
                 },
                 [&] { latch.require(queued); });
  model::check(coming.outcome == (counted ? invalid : granted), "one of them is the last");
  latch.end();
}

/// An arrival that queues, and the count that opens.
inline void count_against_arrival() {
  primitive latch(2);
  operation coming, waiting;
  model::threads([&] { model::check(latch.count_down(), "not below zero"); },
                 [&] {
                   latch.arrive(coming);
                   latch.require(coming);
                 },
                 [&] {
                   latch.start(waiting);
                   latch.require(waiting);
                 });
  latch.end();
}

/// A context ends while others arrive: the arrival of its wait stands.
inline void turned_away_against_arrival() {
  primitive latch(2);
  operation queued, coming;
  latch.start(queued);
  model::threads([&] { latch.turn_away(); },
                 [&] {
                   latch.arrive(coming);
                   latch.require(coming);
                 },
                 [&] { latch.require(queued); });
  latch.end();
}

/// To count down by nothing opens nothing, though it is zero already.
inline void count_of_nothing_against_the_last() {
  primitive latch(1);
  operation queued;
  latch.start(queued);
  model::threads([&] { latch.count_down(); },
                 [&] {
                   latch.count_down(0);
                   latch.require(queued);
                   latch.abandon();
                 });
  latch.check_gone();
}

/// One that begins at zero is open.
inline void made_open() {
  primitive latch(0);
  operation first, second;
  auto const wait = [&](operation& op) {
    latch.start(op);
    latch.require(op);
  };
  model::threads([&] { wait(first); }, [&] { wait(second); });
  latch.end();
}

// --- Cancellations ---

/// Who has seen the latch open cannot cancel what was released.
inline void last_arrival_against_cancel() {
  primitive latch(2);
  operation first, second;
  latch.arrive(first);
  model::threads([&] { latch.arrive(second); },
                 [&] {
                   bool const is_final = latch.is_open();
                   latch.cancel(first);
                   if (!latch.finish(first))
                     model::check(!is_final && first.outcome == aborted, "cancelled");
                 },
                 [&] { latch.require(second); });
  latch.end();
}

/// One whose deadline comes before it has queued arrives all the same.
inline void mark_against_arrival() {
  primitive latch(2);
  operation timed;
  latch.set_timed(timed);
  timed.make(true);
  model::threads(
      [&] {
        latch.enter(timed);
        if (!latch.finish(timed)) model::check(timed.outcome == timed_out, "timed out");
      },
      [&] { latch.expire(timed); }, [&] { latch.count_down(); });
  latch.end();
}

/// cancel() of all: the arrivals stand.
inline void cancel_all_against_arrivals() {
  primitive latch(2);
  operation first, second;
  auto const arrive = [&](operation& op) {
    latch.arrive(op);
    if (!latch.finish(op)) model::check(op.outcome == aborted, "cancelled");
  };
  model::threads([&] { latch.cancel_all(); }, [&] { arrive(first); }, [&] { arrive(second); });
  latch.end();
}

// --- Closing ---

/// Who comes after close() is refused, and has arrived.
inline void close_against_arrivals() {
  primitive latch(2);
  operation first, second;
  model::milestone closed_before;
  auto const arrive = [&](operation& op) {
    auto const late = model::access(&closed_before)->is_reached();
    latch.arrive(op);
    if (!latch.finish(op)) return model::check(op.outcome == closed, "closed");
    model::check(!late, "nobody gets in after close()");
  };
  model::threads(
      [&] {
        latch.close();
        closed_before.reach();
      },
      [&] { arrive(first); }, [&] { arrive(second); });
  latch.end();
}

// --- Destruction ---

/// A wait that the last arrival releases destroys the latch; that arrival still succeeds.
/// `entering`: it comes to the queue as the last.
inline void destroyed_by_a_released_wait(bool entering) {
  primitive latch(1);
  operation queued, last;
  latch.start(queued);
  if (entering) last.make(true);
  model::threads(
      [&] {
        if (entering)
          latch.enter(last);
        else
          latch.arrive(last);
      },
      [&] {
        latch.require(queued);
        latch.abandon();
      },
      [&] { latch.require(last); });
  latch.check_gone();
}

/// Whoever sees the latch open may destroy it while the last one arrives, or counts down.
inline void destroyed_by_who_sees_it_open(bool by_arrival) {
  primitive latch(1);
  operation last;
  model::threads(
      [&] {
        if (by_arrival)
          latch.arrive(last);
        else
          latch.count_down();
      },
      [&] {
        while (!latch.core().admits()) model::pause();
        latch.abandon();
      },
      [&] {
        if (by_arrival) latch.require(last);
      });
  latch.check_gone();
}

/// The same with an arrival that no time is left for, which is still being concluded.
inline void destroyed_while_an_arrival_is_refused() {
  primitive latch(2);
  operation queued, expired;
  latch.start(queued);
  model::threads(
      [&] {
        latch.arrive(expired, true);
        if (!latch.finish(expired)) model::check(expired.outcome == timed_out, "timed out");
      },
      [&] { latch.count_down(); },
      [&] {
        latch.require(queued);
        latch.abandon();
      });
  latch.check_gone();
}

}  // namespace latch_model

#endif
