// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_MODEL_REMOTE_STATE_SCENARIOS_HPP
#define ASIO_SYNC_TEST_MODEL_REMOTE_STATE_SCENARIOS_HPP

#include "remote_state_model.hpp"

#include <cstddef>

/// The scenarios that are explored and, with a fault in the core, replayed.
namespace remote_model {

using enum wait_outcome;

/// The server grants a wait while that queues.
inline void grant_against_enter() {
  primitive mutex;
  operation op;
  mutex.make(op);
  model::threads([&] { mutex.serve(op); },
                 [&] {
                   mutex.enter(op);
                   model::check(mutex.use_once(op), "it is granted");
                 });
  mutex.end(op);
}

inline void cancel_against_grant() {
  primitive mutex;
  operation op;
  mutex.start(op);
  model::threads([&] { mutex.serve(op); },
                 [&] {
                   mutex.cancel(op);
                   if (!mutex.use_once(op)) model::check(op.outcome == aborted, "cancelled");
                 });
  mutex.end(op);
}

/// The server refuses with an error, which comes by itself: nobody gives up.
inline void cancel_against_failure() {
  primitive mutex;
  operation op;
  mutex.start(op);
  model::threads([&] { mutex.serve(op, not_permitted); },
                 [&] {
                   mutex.cancel(op);
                   model::check(!mutex.use_once(op), "it is refused");
                   model::check(one_of(op.outcome, aborted, not_permitted), "it is refused");
                 });
  mutex.end(op);
}

inline void timeout_against_cancel_against_grant() {
  primitive mutex;
  operation op;
  mutex.set_timed(op);
  mutex.start(op);
  model::threads([&] { mutex.serve(op); },
                 [&] {
                   mutex.cancel(op);
                   if (!mutex.use_once(op))
                     model::check(one_of(op.outcome, aborted, timed_out), "refused");
                 },
                 [&] { mutex.expire(op); });
  mutex.end(op);
}

/// Marked before it queues: the client never knows its claim.
inline void mark_before_enter() {
  primitive mutex;
  operation marked, other;
  mutex.start(other);
  model::threads([&] { mutex.serve(other); },
                 [&] { model::check(mutex.use_once(other), "it is granted"); },
                 [&] {
                   mutex.make(marked);
                   mutex.cancel(marked);
                   mutex.enter(marked);
                   model::check(!mutex.use_once(marked), "it was cancelled");
                   model::check(marked.outcome == aborted, "it was cancelled");
                 });
  mutex.end(marked, other);
}

inline void cancel_of_all_against_grant() {
  primitive mutex;
  operation one, two;
  mutex.start(one);
  mutex.start(two);
  std::size_t refused = 0;
  bool granted_one = false;
  model::threads([&] { mutex.serve(one); }, [&] { refused = mutex.cancel_all(); },
                 [&] { granted_one = mutex.use_once(one); });
  model::check(refused == (granted_one ? 1u : 2u), "granted or refused");
  model::check(!mutex.use_once(two), "it is refused");
  mutex.serve_nothing(two);
  mutex.end(one, two);
}

inline void close_against_enter() {
  primitive mutex;
  operation queued, coming;
  mutex.start(queued);
  mutex.make(coming);
  bool is_asked = false;
  model::threads([&] { mutex.close(); },
                 [&] {
                   mutex.decide(queued, granted);
                   if (!mutex.use_once(queued)) model::check(queued.outcome == closed, "closed");
                 },
                 [&] {
                   mutex.enter(coming);
                   model::check(!mutex.use_once(coming), "it is closed");
                   model::check(coming.outcome == closed, "it is closed");
                   is_asked = model::alive(coming.has);
                 });
  mutex.serve_nothing(queued);
  if (is_asked) mutex.serve_nothing(coming);
  mutex.end(queued, coming);
}

inline void drop_against_abandon() {
  primitive mutex;
  operation op;
  mutex.start(op);
  model::threads([&] { mutex.serve(op); }, [&] { mutex.abandon(); }, [&] { mutex.drop(op); });
  mutex.check_gone(op);
}

/// A grant that is on its way arrives although its primitive has gone.
inline void grant_against_abandon() {
  primitive mutex;
  operation op;
  mutex.start(op);
  model::threads([&] { mutex.serve(op); }, [&] { mutex.abandon(); },
                 [&] {
                   if (!mutex.use_once(op)) model::check(op.outcome == aborted, "destroyed");
                 });
  mutex.check_gone(op);
}

/// One is granted, the other one gives up.
inline void two_waits() {
  primitive mutex;
  operation first, second;
  mutex.start(first);
  mutex.start(second);
  model::threads([&] { mutex.serve(first); },
                 [&] {
                   mutex.cancel(second);
                   model::check(!mutex.use_once(second), "it is refused");
                   mutex.serve_nothing(second);
                 },
                 [&] { model::check(mutex.use_once(first), "it is granted"); });
  mutex.end(first, second);
}

// --- Waits on a condition ---

/// The wait comes back with its claim in any case: notified, or recalled.
inline void recall_against_grant() {
  primitive mutex;
  operation op;
  mutex.start(op);
  model::threads([&] { mutex.serve(op); },
                 [&] {
                   bool const told = mutex.recall(op);
                   model::check(mutex.use_once(op), "it has the claim");
                   model::check(op.outcome == (told ? aborted : granted), "recalled, or not");
                 });
  mutex.end(op);
}

/// The failure of the server is the outcome; nobody has the claim.
inline void recall_against_failure() {
  primitive mutex;
  operation op;
  mutex.start(op);
  model::threads([&] { mutex.serve(op, not_permitted); },
                 [&] {
                   mutex.recall(op);
                   model::check(!mutex.use_once(op), "it has failed");
                   model::check(op.outcome == not_permitted, "by the server");
                 });
  mutex.end(op);
}

/// The first recall counts. The server grants nothing without one.
inline void recall_against_timeout() {
  primitive mutex;
  operation op;
  bool is_cancelled = false, is_timed_out = false;
  mutex.set_timed(op);
  mutex.start(op);
  model::threads([&] { mutex.serve_recalled(op); },
                 [&] {
                   is_cancelled = mutex.recall(op);
                   model::check(mutex.use_once(op), "it has the claim");
                 },
                 [&] { is_timed_out = mutex.expire_recalling(op); });
  model::check(is_cancelled != is_timed_out, "the client was told once");
  model::check(op.outcome == (is_cancelled ? aborted : timed_out), "by the first recall");
  mutex.end(op);
}

/// The end of its context ends a wait at once, recalled or not.
inline void recall_against_context() {
  primitive mutex;
  operation op;
  std::size_t refused = 0;
  mutex.start(op);
  model::threads([&] { mutex.serve_nothing(op); }, [&] { refused = mutex.cancel_all(); },
                 [&] {
                   mutex.recall(op, timed_out);
                   model::check(!mutex.use_once(op), "it is refused");
                 });
  model::check(refused == 1 && op.outcome == aborted, "by the end of the context");
  mutex.end(op);
}

inline void recall_against_close_against_grant() {
  primitive mutex;
  operation op;
  mutex.start(op);
  model::threads([&] { mutex.serve(op); }, [&] { mutex.close(); },
                 [&] {
                   bool const told = mutex.recall(op);
                   if (mutex.use_once(op))
                     model::check(op.outcome == (told ? aborted : granted), "recalled, or not");
                   else
                     model::check(op.outcome == closed, "closed");
                 });
  mutex.end(op);
}

inline void recall_against_abandon_against_grant() {
  primitive mutex;
  operation op;
  mutex.start(op);
  model::threads([&] { mutex.serve(op); }, [&] { mutex.abandon(); },
                 [&] {
                   bool const told = mutex.recall(op, timed_out);
                   if (mutex.use_once(op))
                     model::check(op.outcome == (told ? timed_out : granted), "recalled, or not");
                   else
                     model::check(op.outcome == aborted, "destroyed");
                 });
  mutex.check_gone(op);
}

/// The wait that is queued is recalled, and one that comes maybe; one that is left out is not.
inline void recall_of_all_against_enter() {
  primitive mutex;
  operation other, queued, coming;
  mutex.start(other);
  mutex.start(queued);
  mutex.make(coming);
  node const* const left_out = other.wait;
  std::size_t told = 0;
  model::threads([&] { told = mutex.recall_if([=](node const& w) { return &w != left_out; }); },
                 [&] { mutex.enter(coming); }, [&] { mutex.decide(other, granted); });
  for (operation* const op : {&other, &queued, &coming})
    model::threads([&] { mutex.serve(*op); },
                   [&] { model::check(mutex.use_once(*op), "it has the claim"); });
  model::check(other.outcome == granted, "it was left out");
  model::check(queued.outcome == aborted, "it was recalled");
  model::check(told == (coming.outcome == aborted ? 2u : 1u), "the client was told of each");
  mutex.end(other, queued, coming);
}

/// Recalled before it queues: the client is told when it has asked.
inline void recall_before_enter() {
  primitive mutex;
  operation op;
  mutex.make(op);
  model::check(!mutex.recall(op), "the client was not told");
  model::threads([&] { mutex.serve_recalled(op); },
                 [&] {
                   mutex.enter(op);
                   model::check(mutex.use_once(op) && op.outcome == aborted, "it has the claim");
                 });
  mutex.end(op);
}

/// A recalled wait whose handler will never run gives its claim up.
inline void drop_of_a_recalled_wait() {
  primitive mutex;
  operation op;
  mutex.set_timed(op);
  mutex.start(op);
  model::threads([&] { mutex.serve_recalled(op); }, [&] { mutex.expire_recalling(op); },
                 [&] { mutex.drop(op); });
  mutex.end(op);
}

}  // namespace remote_model

#endif
