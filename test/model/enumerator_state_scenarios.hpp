// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_MODEL_ENUMERATOR_STATE_SCENARIOS_HPP
#define ASIO_SYNC_TEST_MODEL_ENUMERATOR_STATE_SCENARIOS_HPP

#include "enumerator_state_model.hpp"

/// The scenarios that are explored and, with a fault in the core, replayed.
namespace steps_model {

// --- Completions ---

/// Operations complete at once, on several threads: each step is taken once, by one of them.
inline void completions_at_once() {
  run steps({1, 1, 1});
  operation first, second, third;
  steps.launch({&first, &second, &third});
  steps.start();
  model::threads([&] { steps.arrive(first); }, [&] { steps.arrive(second); },
                 [&] { steps.arrive(third); });
  model::check(steps.steps() == 4, "all steps are taken");
  steps.check_over({&first, &second, &third});
}

/// A step that wants both.
inline void both_at_once() {
  run steps({2});
  operation first, second;
  steps.launch({&first, &second});
  steps.start();
  model::threads([&] { steps.arrive(first); }, [&] { steps.arrive(second); });
  model::check(steps.steps() == 2, "all steps are taken");
  steps.check_over({&first, &second});
}

/// Somebody else has begun an operation before the run starts.
inline void start_against_completion() {
  run steps({1});
  operation early;
  steps.launch({&early});
  model::threads([&] { steps.start(); }, [&] { steps.arrive(early); });
  model::check(steps.steps() == 2, "all steps are taken");
  steps.check_over({&early});
}

/// What the first step begins completes on other threads before its initiating function returns,
/// and inside it.
inline void begun_inside_a_step() {
  run steps({2});
  operation elsewhere, inline_one;
  model::atomic<int> has_begun{0};
  steps.inside = [&](int step) {
    if (step != 0) return;
    steps.begin(elsewhere);
    has_begun.store(1);
    has_begun.notify_one();
    steps.begin(inline_one);
    steps.arrive(inline_one);
    steps.begun(inline_one);
    steps.begun(elsewhere);
  };
  model::threads([&] { steps.start(); },
                 [&] {
                   has_begun.wait(0);
                   steps.arrive(elsewhere);
                 });
  model::check(steps.steps() == 2, "all steps are taken");
  steps.check_over({&elsewhere, &inline_one});
}

/// What comes after the end is taken, and writes nothing.
inline void surplus_against_the_end() {
  run steps({1});
  operation first, second;
  steps.launch({&first, &second});
  steps.start();
  model::threads([&] { steps.arrive(first); }, [&] { steps.arrive(second); },
                 [&] { steps.await_call_and_cancel(); });
  model::check(steps.steps() == 2 && !steps.was_cancelled(), "the steps have come to their end");
  steps.check_over({&first, &second});
}

// --- Cancellation ---

/// A run ends once, of itself or cancelled.
inline void cancel_against_completions() {
  run steps({2});
  operation first, second;
  steps.launch({&first, &second});
  steps.start();
  model::threads(
      [&] {
        steps.halt();
        steps.cancel();
      },
      [&] { steps.arrive(first); }, [&] { steps.arrive(second); });
  model::check(steps.was_cancelled() == (steps.steps() == 1), "it ends in one way");
  steps.check_over({&first, &second});
}

/// Once it is halted no step is taken, whoever comes.
inline void completion_of_a_halted_run() {
  run steps({1});
  operation first, second;
  steps.launch({&first, &second});
  steps.start();
  steps.halt();
  model::threads([&] { steps.arrive(first); }, [&] { steps.arrive(second); },
                 [&] { steps.cancel(); });
  model::check(steps.was_cancelled() && steps.steps() == 1, "cancelled");
  steps.check_over({&first, &second});
}

/// The same inside a step, though the next one has all that it wants.
inline void halted_inside_a_step() {
  run steps({1, 1});
  operation first, second;
  steps.launch({&first, &second});
  steps.inside = [&](int step) {
    if (step == 1) steps.halt();
  };
  model::threads([&] { steps.arrive(first); }, [&] { steps.arrive(second); },
                 [&] { steps.start(); });
  model::check(steps.steps() == 2, "halted");
  steps.cancel();
  model::check(steps.was_cancelled(), "cancelled");
  steps.check_over({&first, &second});
}

/// What a step begins while it is cancelled is asked to cancel itself, too, and waited for.
inline void begun_against_cancel() {
  run steps({1});
  operation late;
  steps.inside = [&](int step) {
    if (step == 0) steps.launch({&late});
  };
  model::threads([&] { steps.start(); },
                 [&] {
                   steps.halt();
                   steps.cancel();
                 });
  bool const has_begun = steps.steps() == 1;
  model::check(late.asked == has_begun && steps.was_cancelled() != has_begun, "it is waited for");
  if (!has_begun) return;
  steps.arrive(late);
  model::check(steps.was_cancelled(), "cancelled");
  steps.check_over({&late});
}

/// Whoever of these is the last destroys the steps: the canceller, or what loses its handler.
inline void cancel_against_drops() {
  run steps({2});
  operation first, second;
  steps.launch({&first, &second});
  steps.start();
  steps.halt();
  model::threads([&] { steps.cancel(); }, [&] { steps.drop(first); }, [&] { steps.drop(second); });
  model::check(steps.was_cancelled(), "cancelled");
  steps.check_over({&first, &second});
}

/// One loses its handler, and the other one completes: that is not enough, and the run is over.
inline void drop_against_completion() {
  run steps({2});
  operation lost, other;
  steps.launch({&lost, &other});
  steps.start();
  model::threads([&] { steps.drop(lost); }, [&] { steps.arrive(other); },
                 [&] { steps.await_call_and_cancel(); });
  model::check(steps.was_cancelled() && steps.steps() == 1, "cancelled");
  steps.check_over({&lost, &other});
}

/// An initiating function that throws has begun nothing, and the steps go on.
inline void thrown_against_completion() {
  run steps({1});
  operation thrown, other;
  steps.launch({&other});
  steps.start();
  model::threads(
      [&] {
        steps.begin(thrown);
        steps.drop(thrown);
        steps.begun(thrown, true);
        steps.arrive(other);
      },
      [&] { steps.await_call_and_cancel(); });
  model::check(!steps.was_cancelled() && steps.steps() == 2, "all steps are taken");
  steps.check_over({&thrown, &other});
}

/// The same while it is cancelled, which waits for the initiating function.
inline void thrown_against_cancel() {
  run steps({1});
  operation thrown;
  steps.begin(thrown);
  steps.start();
  model::threads(
      [&] {
        steps.drop(thrown);
        steps.begun(thrown, true);
      },
      [&] {
        steps.halt();
        steps.cancel();
      });
  model::check(steps.was_cancelled(), "cancelled");
  steps.check_over({&thrown});
}

/// The executor is dead: nothing is asked to cancel itself, and the last to go ends the run.
inline void dead_against_drops() {
  run steps({2});
  operation first, second;
  steps.launch({&first, &second});
  steps.start();
  model::threads([&] { steps.cancel(false); }, [&] { steps.drop(first); },
                 [&] { steps.drop(second); });
  model::check(!first.asked && !second.asked, "nothing is asked");
  model::check(steps.was_cancelled(), "cancelled");
  steps.check_over({&first, &second});
}

/// Two cancel; what is in flight is asked, and not what has completed.
inline void two_cancel() {
  run steps({2});
  operation in_flight, done;
  steps.launch({&in_flight, &done});
  steps.start();
  steps.arrive(done);
  model::threads([&] { steps.cancel(); }, [&] { steps.cancel(); });
  model::check(in_flight.asked && !done.asked, "what is in flight is asked");
  model::check(!steps.was_cancelled(), "one has yet to complete");
  steps.arrive(in_flight);
  steps.check_over({&in_flight, &done});
}

}  // namespace steps_model

#endif
