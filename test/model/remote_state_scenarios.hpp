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

}  // namespace remote_model

#endif
