// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_MODEL_KEYED_MUTEX_STATE_SCENARIOS_HPP
#define ASIO_SYNC_TEST_MODEL_KEYED_MUTEX_STATE_SCENARIOS_HPP

#include "keyed_mutex_state_model.hpp"

/// The scenarios that are explored and, with a fault in the core, replayed.
namespace keyed_model {

using enum wait_outcome;

// --- Grants, and entries that come and go ---

/// The last one who uses a key lets go, while others come for the same key.
inline void last_release_against_a_new_lock() {
  primitive mutex;
  operation waiting;
  key_stake held = mutex.try_lock();
  model::threads(
      [&] {
        mutex.use();
        mutex.unlock(held);
      },
      [&] {
        mutex.start(waiting);
        mutex.require(waiting);
      },
      [&] { mutex.try_once(); });
  mutex.end();
}

inline void three_waits() {
  primitive mutex;
  operation first, second, third;
  auto const use = [&](operation& op) {
    mutex.start(op);
    mutex.require(op);
  };
  model::threads([&] { use(first); }, [&] { use(second); }, [&] { use(third); });
  mutex.end();
}

/// Of two keys with one hash, each goes to its own wait.
inline void two_keys() {
  primitive mutex;
  operation one(1), two(2);
  key_stake first = mutex.try_lock(1), second = mutex.try_lock(2);
  mutex.start(two);
  model::threads(
      [&] {
        mutex.use(1);
        mutex.unlock(first);
      },
      [&] {
        mutex.start(one);
        mutex.require(one);
        model::check(!two.is_posted(), "its key is held");
      });
  mutex.unlock(second);
  mutex.require(two);
  mutex.end();
}

/// A wait uses the entry of its key, but has not queued yet when that is unlocked.
inline void release_between_claim_and_enter() {
  primitive mutex;
  operation waiting;
  key_stake held = mutex.try_lock();
  mutex.make(waiting);
  model::threads([&] { mutex.unlock(held); },
                 [&] {
                   mutex.enter(waiting);
                   mutex.require(waiting);
                 },
                 [&] { mutex.try_once(); });
  mutex.end();
}

/// The same, but it never queues: its context is shutting down, or getting ready throws.
inline void given_up_against_release() {
  primitive mutex;
  operation first, second;
  key_stake held = mutex.try_lock();
  mutex.make(first);
  model::threads([&] { mutex.unlock(held); }, [&] { mutex.give_up(first); },
                 [&] {
                   mutex.start(second);
                   mutex.require(second);
                 });
  mutex.end();
}

/// One that has got the key as it was made gives up: the key goes on.
inline void given_up_hold() {
  primitive mutex;
  operation first, second;
  mutex.make(first);
  model::threads([&] { mutex.give_up(first); },
                 [&] {
                   mutex.start(second);
                   mutex.require(second);
                 });
  mutex.end();
}

/// One without time is refused, perhaps as the last one who uses the key.
inline void expired_against_release() {
  primitive mutex;
  operation expired;
  key_stake held = mutex.try_lock();
  model::threads([&] { mutex.unlock(held); },
                 [&] {
                   mutex.start_expired(expired);
                   if (!mutex.use_once(expired))
                     model::check(expired.outcome == timed_out, "there was no time");
                 });
  mutex.end();
}

// --- Refusals ---

inline void cancel_against_grant() {
  primitive mutex;
  operation head, follower;
  key_stake held = mutex.try_lock();
  mutex.start(head);
  mutex.start(follower);
  model::threads([&] { mutex.unlock(held); },
                 [&] {
                   mutex.cancel(head);
                   if (!mutex.use_once(head)) model::check(head.outcome == aborted, "cancelled");
                 },
                 [&] { mutex.require(follower); });
  mutex.end();
}

inline void cancel_of_the_last_wait_against_release() {
  primitive mutex;
  operation only;
  key_stake held = mutex.try_lock();
  mutex.start(only);
  model::threads([&] { mutex.unlock(held); },
                 [&] {
                   mutex.cancel(only);
                   mutex.use_once(only);
                 },
                 [&] { mutex.try_once(); });
  mutex.end();
}

inline void timeout_against_cancel_against_grant() {
  primitive mutex;
  operation timed, follower;
  key_stake held = mutex.try_lock();
  mutex.set_timed(timed);
  mutex.start(timed);
  mutex.start(follower);
  model::threads([&] { mutex.unlock(held); },
                 [&] {
                   mutex.cancel(timed);
                   if (!mutex.use_once(timed))
                     model::check(one_of(timed.outcome, aborted, timed_out), "refused");
                 },
                 [&] { mutex.expire(timed); });
  mutex.require(follower);
  mutex.end();
}

/// Marked before it queues for a key that is held.
inline void mark_before_enter() {
  primitive mutex;
  operation marked;
  key_stake held = mutex.try_lock();
  model::threads([&] { mutex.try_once(); },
                 [&] {
                   mutex.make(marked);
                   mutex.cancel(marked);
                   mutex.enter(marked);
                   model::check(!mutex.use_once(marked), "it was cancelled");
                   model::check(marked.outcome == aborted, "it was cancelled");
                 });
  mutex.unlock(held);
  mutex.end();
}

inline void cancel_of_all_against_release() {
  primitive mutex;
  operation one(1), two(2);
  key_stake first = mutex.try_lock(1), second = mutex.try_lock(2);
  mutex.start(one);
  mutex.start(two);
  std::size_t refused = 0, granted_ones = 0;
  model::threads([&] { mutex.unlock(first); }, [&] { refused = mutex.cancel_all(); },
                 [&] { granted_ones = mutex.use_once(one); });
  model::check(refused + granted_ones == 2 && !mutex.use_once(two), "granted or refused");
  mutex.unlock(second);
  mutex.end();
}

inline void close_against_lock() {
  primitive mutex;
  operation queued, coming;
  key_stake held = mutex.try_lock();
  mutex.start(queued);
  model::threads([&] { mutex.close(); }, [&] { mutex.unlock(held); },
                 [&] {
                   mutex.start(coming);
                   if (!mutex.use_once(coming)) model::check(coming.outcome == closed, "closed");
                 });
  if (!mutex.use_once(queued)) model::check(queued.outcome == closed, "closed");
  mutex.end();
}

// --- Grants that are dropped ---

inline void drop_against_cancel() {
  primitive mutex;
  operation dropped, cancelled, last;
  key_stake held = mutex.try_lock();
  mutex.start(dropped);
  mutex.start(cancelled);
  mutex.start(last);
  mutex.unlock(held);
  model::threads([&] { mutex.drop(dropped); },
                 [&] {
                   mutex.cancel(cancelled);
                   mutex.use_once(cancelled);
                 },
                 [&] { mutex.require(last); });
  mutex.end();
}

/// The last one who uses a key is a grant that is dropped, while another comes.
inline void last_drop_against_a_new_lock() {
  primitive mutex;
  operation dropped, coming;
  mutex.start(dropped);
  model::threads([&] { mutex.drop(dropped); },
                 [&] {
                   mutex.start(coming);
                   mutex.require(coming);
                 });
  mutex.end();
}

// --- The end ---

/// A guard lets go while the primitive is destroyed, which somebody else waits for.
inline void guard_against_abandon(bool queued) {
  primitive mutex;
  operation waiting;
  key_stake held = mutex.try_lock();
  if (queued) mutex.start(waiting);
  model::threads([&] { mutex.unlock(held); }, [&] { mutex.abandon(); },
                 [&] {
                   if (queued) mutex.use_once(waiting);
                 });
  mutex.check_gone();
}

inline void granted_against_abandon() {
  primitive mutex;
  operation granted_one, queued;
  key_stake held = mutex.try_lock();
  mutex.start(granted_one);
  mutex.start(queued);
  mutex.unlock(held);
  model::threads([&] { mutex.use_once(granted_one); }, [&] { mutex.abandon(); },
                 [&] { mutex.use_once(queued); });
  mutex.check_gone();
}

inline void drop_against_abandon() {
  primitive mutex;
  operation dropped;
  mutex.start(dropped);
  model::threads([&] { mutex.drop(dropped); }, [&] { mutex.abandon(); });
  mutex.check_gone();
}

/// The new owner destroys the primitive, and unlocks after that.
inline void destroyed_by_the_new_owner() {
  primitive mutex;
  operation waiting;
  key_stake held = mutex.try_lock();
  mutex.start(waiting);
  model::threads([&] { mutex.unlock(held); },
                 [&] {
                   key_stake owned;
                   model::check(mutex.finish(waiting, owned), "it is granted");
                   mutex.abandon();
                   mutex.unlock(owned);
                 });
  mutex.check_gone();
}

}  // namespace keyed_model

#endif
