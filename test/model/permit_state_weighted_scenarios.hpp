// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_MODEL_PERMIT_STATE_WEIGHTED_SCENARIOS_HPP
#define ASIO_SYNC_TEST_MODEL_PERMIT_STATE_WEIGHTED_SCENARIOS_HPP

#include "permit_state_scenarios.hpp"

/// The core as semaphores and shared mutexes use it: waits that ask for several permits, and
/// transitions that grant several waits.
namespace permit_model {

/// One release lets two in, who hold at the same time, and leaves the third.
template <class Traits = weighted>
void one_release_grants_several() {
  primitive<Traits> semaphore(3, 3);
  operation first(1), second(2), third(1);
  model::check(semaphore.try_acquire(3), "it was free");
  semaphore.start(first);
  semaphore.start(second);
  semaphore.start(third);
  auto const hold = [&](operation& op) { model::check(semaphore.finish(op), "it is granted"); };
  model::threads([&] { semaphore.release(3); }, [&] { hold(first); }, [&] { hold(second); });
  model::check(semaphore.core().waiters() == 1, "no more than there is");
  semaphore.give_back(first);
  semaphore.give_back(second);
  model::check(semaphore.use_once(third), "it is granted");
  semaphore.end(3);
}

/// A heavy head waits for both releases, and who is behind it for the head.
template <class Traits = weighted>
void heavy_head_blocks() {
  primitive<Traits> semaphore(3, 3);
  operation heavy(3), small(1);
  model::check(semaphore.try_acquire(3), "it was free");
  semaphore.start(heavy);
  semaphore.start(small);
  auto const use = [&](operation& op) { model::check(semaphore.use_once(op), "it is granted"); };
  model::threads(
      [&] {
        semaphore.release(1);
        semaphore.release(2);
      },
      [&] { use(heavy); }, [&] { use(small); });
  semaphore.end(3);
}

/// Its followers need nobody's release once a heavy head is cancelled.
template <class Traits = weighted>
void cancel_of_a_heavy_head() {
  primitive<Traits> semaphore(3, 3);
  operation heavy(3), small(1), coming(1);
  model::check(semaphore.try_acquire(1), "it was free");
  semaphore.start(heavy);
  semaphore.start(small);
  model::threads(
      [&] {
        semaphore.cancel(heavy);
        model::check(!semaphore.use_once(heavy), "cancelled");
      },
      [&] { model::check(semaphore.use_once(small), "it is granted"); },
      [&] {
        semaphore.start(coming);
        model::check(semaphore.use_once(coming), "it is granted");
      });
  semaphore.release(1);
  semaphore.end(3);
}

template <class Traits = weighted>
void timeout_of_a_heavy_head() {
  primitive<Traits> semaphore(2, 2);
  operation heavy(2), small(1);
  model::check(semaphore.try_acquire(1), "it was free");
  semaphore.set_timed(heavy);
  semaphore.start(heavy);
  semaphore.start(small);
  model::threads([&] { semaphore.expire(heavy); }, [&] { semaphore.release(1); },
                 [&] {
                   if (!semaphore.use_once(heavy))
                     model::check(heavy.outcome == timed_out, "timed out");
                 },
                 [&] { model::check(semaphore.use_once(small), "it is granted"); });
  semaphore.end(2);
}

/// There is a permit free all the time, and nobody may have it before the heavy head.
template <class Traits = weighted>
void tries_behind_a_heavy_head() {
  primitive<Traits> semaphore(3, 3);
  operation heavy(3), coming(1);
  model::check(semaphore.try_acquire(2), "it was free");
  semaphore.start(heavy);
  model::threads([&] { semaphore.release(2); },
                 [&] {
                   if (!semaphore.try_acquire(1)) return;
                   semaphore.use(1);
                   semaphore.release(1);
                 },
                 [&] {
                   semaphore.cancel(heavy);
                   semaphore.use_once(heavy);
                 },
                 [&] {
                   semaphore.start(coming);
                   model::check(semaphore.use_once(coming), "it is granted");
                 });
  semaphore.end(3);
}

/// A permit comes back between a wait's try and its joining the queue.
template <class Traits = weighted>
void release_against_enter() {
  primitive<Traits> semaphore(2, 2);
  operation heavy(2), small(1);
  model::check(semaphore.try_acquire(2), "it was free");
  auto const use = [&](operation& op) {
    semaphore.start(op);
    model::check(semaphore.use_once(op), "it is granted");
  };
  model::threads(
      [&] {
        semaphore.release(1);
        semaphore.release(1);
      },
      [&] { use(heavy); }, [&] { use(small); });
  semaphore.end(2);
}

/// Of several that were granted at once one is dropped; its permits go on.
template <class Traits = weighted>
void drop_of_one_of_several() {
  primitive<Traits> semaphore(2, 2);
  operation dropped(1), kept(1), next(1), last(1);
  model::check(semaphore.try_acquire(2), "it was free");
  for (auto* op : {&dropped, &kept, &next, &last}) semaphore.start(*op);
  semaphore.release(2);
  model::threads([&] { semaphore.drop(dropped); },
                 [&] { model::check(semaphore.use_once(kept), "it is granted"); },
                 [&] {
                   semaphore.cancel(next);
                   semaphore.use_once(next);
                 });
  model::check(semaphore.use_once(last), "it is granted");
  semaphore.end(2);
}

/// refuse_if() of the heavy ones lets the others in.
template <class Traits = weighted>
void some_refused_against_release() {
  primitive<Traits> semaphore(2, 2);
  operation heavy(2), small(1), heavier(2);
  model::check(semaphore.try_acquire(2), "it was free");
  semaphore.start(heavy);
  semaphore.start(small);
  semaphore.start(heavier);
  model::threads([&] { semaphore.release(1); }, [&] { semaphore.cancel_heavy(2); },
                 [&] { model::check(semaphore.use_once(small), "it is granted"); });
  semaphore.release(1);
  semaphore.use_once(heavy);
  semaphore.use_once(heavier);
  semaphore.end(2);
}

/// A writer becomes a reader: the readers next to it come in, and the writer behind them does not.
/// The guard that is downgraded keeps its count.
template <class Traits = weighted>
void downgrade_against_a_writer() {
  primitive<Traits> mutex(2, 2);
  operation reader(1), writer(2);
  auto const use = [&](operation& op) { model::check(mutex.use_once(op), "it is granted"); };
  model::check(mutex.try_guard(2), "it was free");
  mutex.start(reader);
  mutex.start(writer);
  model::threads(
      [&] {
        mutex.release_guard(1);
        mutex.use(1);
        mutex.release_guard(1);
      },
      [&] { use(reader); }, [&] { use(writer); });
  mutex.end(2);
}

/// The semaphore goes while permits are held, on their way, and waited for.
template <class Traits = weighted>
void permits_that_outlive() {
  primitive<Traits> semaphore(2, 2);
  operation held(1), arriving(1), queued(1);
  semaphore.start(held);
  semaphore.start(arriving);
  semaphore.start(queued);
  model::check(semaphore.finish(held), "it is granted");
  model::threads([&] { semaphore.give_back(held); }, [&] { semaphore.use_once(arriving); },
                 [&] {
                   semaphore.abandon();
                   semaphore.drop(queued);
                 });
  semaphore.check_gone();
}

/// One of the releases is one too many: what the dropped wait gives back then is above the
/// maximum.
template <class Traits = weighted>
void drop_against_releases() {
  primitive<Traits> semaphore(2, 2);
  operation dropped(1);
  model::check(semaphore.try_acquire(2), "it was free");
  semaphore.start(dropped);
  semaphore.release(1);
  auto const release = [&] { semaphore.try_release(1); };
  model::threads([&] { semaphore.drop(dropped); }, release, release);
  semaphore.end(2);
}

/// A release that lets the lock go between those whom it lets in: the first of them ends the
/// semaphore.
template <class Traits = weighted>
void batches_against_abandon() {
  primitive<Traits> semaphore(2, 2);
  operation first(1), second(1), last(1);
  model::check(semaphore.try_acquire(2), "it was free");
  for (auto* op : {&first, &second, &last}) semaphore.start(*op);
  model::threads([&] { semaphore.release(2); },
                 [&] {
                   model::check(semaphore.use_once(first), "it is granted");
                   semaphore.abandon();
                 },
                 [&] {
                   semaphore.use_once(second);
                   semaphore.use_once(last);
                 });
  semaphore.check_gone();
}

/// Between them somebody tries, and one that is to be let in leaves.
template <class Traits = weighted>
void batches_against_cancel() {
  primitive<Traits> semaphore(2, 2);
  operation first(1), second(1), last(1);
  model::check(semaphore.try_acquire(2), "it was free");
  for (auto* op : {&first, &second, &last}) semaphore.start(*op);
  model::threads([&] { semaphore.release(2); },
                 [&] {
                   semaphore.cancel(second);
                   semaphore.use_once(second);
                 },
                 [&] {
                   if (semaphore.try_guard()) semaphore.release_guard();
                   model::check(semaphore.use_once(last), "it is granted");
                 });
  model::check(semaphore.use_once(first), "it is granted");
  semaphore.end(2);
}

/// Two grants are dropped while the semaphore goes.
template <class Traits = weighted>
void drops_against_abandon() {
  primitive<Traits> semaphore(2, 2);
  operation first(1), second(1), queued(1);
  model::check(semaphore.try_acquire(2), "it was free");
  semaphore.start(first);
  semaphore.start(second);
  semaphore.start(queued);
  semaphore.release(2);
  model::threads([&] { semaphore.drop(first); }, [&] { semaphore.drop(second); },
                 [&] {
                   semaphore.abandon();
                   semaphore.use_once(queued);
                 });
  semaphore.check_gone();
}

}  // namespace permit_model

#endif
