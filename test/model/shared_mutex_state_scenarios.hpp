// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_MODEL_SHARED_MUTEX_STATE_SCENARIOS_HPP
#define ASIO_SYNC_TEST_MODEL_SHARED_MUTEX_STATE_SCENARIOS_HPP

#include "shared_mutex_state_model.hpp"

/// The scenarios that are explored and, with a fault in the core, replayed.
namespace shared_model {

using enum wait_outcome;

// --- Readers and writers ---

/// What a writer has done readers see, and the reverse; a writer is alone.
inline void readers_and_a_writer() {
  primitive mutex;
  reading first, second;
  writing writer;
  auto const use = [&](operation& op) {
    mutex.start(op);
    mutex.require(op);
  };
  model::threads([&] { use(first); }, [&] { use(second); }, [&] { use(writer); });
  mutex.end();
}

/// Neighbouring readers enter together, and stop at the next writer.
inline void a_writer_lets_readers_in() {
  primitive mutex;
  reading first, second, late;
  writing writer;
  mutex.acquire(exclusive);
  for (operation* each : {static_cast<operation*>(&first), static_cast<operation*>(&second),
                          static_cast<operation*>(&writer), static_cast<operation*>(&late)})
    mutex.start(*each);
  auto const hold = [&](operation& op) { model::check(mutex.finish(op), "it is granted"); };
  model::threads([&] { mutex.release(exclusive); }, [&] { hold(first); }, [&] { hold(second); });
  model::check(mutex.core().waiters() == 2, "no reader passes a writer");
  mutex.release(shared);
  mutex.release(shared);
  mutex.require(writer);
  mutex.require(late);
  mutex.end();
}

/// The last reader leaves while a writer comes, and another tries.
inline void last_reader_against_a_writer() {
  primitive mutex;
  writing writer;
  mutex.acquire(shared);
  model::threads(
      [&] {
        mutex.use(shared);
        mutex.release(shared);
      },
      [&] {
        mutex.start(writer);
        mutex.require(writer);
      },
      [&] {
        if (!mutex.try_acquire(shared)) return;
        mutex.use(shared);
        mutex.release(shared);
      });
  mutex.end();
}

/// Readers come while a writer waits for one.
inline void readers_behind_a_writer() {
  primitive mutex;
  writing writer;
  reading first, second;
  mutex.acquire(shared);
  mutex.start(writer);
  model::threads([&] { mutex.start(first); }, [&] { mutex.start(second); });
  model::check(!first.is_posted() && !second.is_posted(), "no reader passes a writer");
  mutex.release(shared);
  mutex.require(writer);
  mutex.require(first);
  mutex.require(second);
  mutex.end();
}

/// The readers behind a writer need nobody's release once that is cancelled.
inline void cancelled_writer_with_readers_behind(bool by_timer) {
  primitive mutex;
  writing writer;
  reading behind, coming;
  mutex.acquire(shared);
  if (by_timer) mutex.set_timed(writer);
  mutex.start(writer);
  mutex.start(behind);
  model::threads(
      [&] {
        if (by_timer)
          mutex.expire(writer);
        else
          mutex.cancel(writer);
        model::check(!mutex.use_once(writer), "refused");
        model::check(writer.outcome == (by_timer ? timed_out : aborted), "so it was refused");
      },
      [&] { mutex.require(behind); },
      [&] {
        mutex.start(coming);
        mutex.require(coming);
      });
  mutex.release(shared);
  mutex.end();
}

/// The last reader leaves while the next writer is cancelled, and a reader is behind.
inline void cancel_against_the_last_reader() {
  primitive mutex;
  writing writer;
  reading behind;
  mutex.acquire(shared);
  mutex.start(writer);
  mutex.start(behind);
  model::threads([&] { mutex.release(shared); },
                 [&] {
                   mutex.cancel(writer);
                   if (!mutex.use_once(writer)) model::check(writer.outcome == aborted, "once");
                 },
                 [&] { mutex.require(behind); });
  mutex.end();
}

/// A mark comes before the wait does.
inline void mark_against_enter() {
  primitive mutex;
  writing writer;
  mutex.acquire(shared);
  writer.make();
  model::threads([&] { mutex.cancel(writer, timed_out); }, [&] { mutex.enter(writer); },
                 [&] { mutex.release(shared); });
  if (!mutex.use_once(writer)) model::check(writer.outcome == timed_out, "timed out");
  mutex.end();
}

inline void close_against_enter() {
  primitive mutex;
  reading reader;
  writing writer;
  mutex.acquire(shared);
  auto const expect_closed = [&](operation& op) {
    mutex.start(op);
    if (!mutex.use_once(op)) model::check(op.outcome == closed, "closed");
  };
  model::threads([&] { mutex.close(); }, [&] { expect_closed(reader); },
                 [&] { expect_closed(writer); }, [&] { mutex.release(shared); });
  model::check(!mutex.core().try_acquire(shared, true), "nobody enters any more");
  mutex.end();
}

// --- Holds of members ---

/// Misuse: what a member does not hold does not end, whoever else holds; it changes nothing.
inline void members_against_guards(lock_mode held) {
  primitive mutex;
  writing coming;
  mutex.acquire(held);
  model::threads(
      [&] {
        mutex.use(held);
        mutex.release(held);
      },
      [&] {
        for (lock_mode mode : {shared, exclusive}) {
          model::check(!mutex.try_release(mode, false), "no member holds it");
          model::check(!mutex.core().count_holder(true, mode), "no member holds it");
        }
      },
      [&] {
        mutex.start(coming);
        mutex.require(coming);
      });
  mutex.end();
}

/// A hold becomes a guard's or a member's while one waits and is cancelled, and another comes.
inline void hold_changed_against_queue(lock_mode mode, bool into_guard) {
  primitive mutex;
  writing queued, coming;
  mutex.acquire(mode, !into_guard);
  mutex.start(queued);
  model::threads(
      [&] {
        model::check(mutex.core().count_holder(into_guard, mode), "it was held");
        mutex.use(mode);
        if (into_guard)
          mutex.release(mode);
        else
          mutex.release_member(mode);
      },
      [&] {
        mutex.cancel(queued);
        mutex.use_once(queued);
      },
      [&] {
        mutex.start(coming);
        mutex.require(coming);
      });
  mutex.end();
}

/// A transition has stopped half-way, and a hold changes: that decides nobody.
inline void hold_changed_between_batches() {
  primitive mutex;
  writing writer;
  reading first, second;
  mutex.acquire(shared);
  mutex.start(writer);
  mutex.start(first);
  mutex.start(second);
  model::threads(
      [&] { mutex.cancel(writer); },
      [&] { model::check(mutex.core().count_holder(false, shared), "a guard holds it"); });
  model::check(!mutex.use_once(writer), "cancelled");
  mutex.require(first);
  mutex.require(second);
  mutex.release_member(shared);
  mutex.end();
}

// --- Downgrades ---

/// Readers come in, and no writer does before the one that was downgraded has left.
inline void downgrade_against_a_writer() {
  primitive mutex;
  reading reader;
  writing writer;
  mutex.acquire(exclusive);
  mutex.start(reader);
  model::threads(
      [&] {
        mutex.use(exclusive);
        model::check(mutex.downgrade(), "it is held");
        mutex.use(shared);
        mutex.release(shared);
      },
      [&] { mutex.require(reader); },
      [&] {
        mutex.start(writer);
        mutex.require(writer);
      });
  mutex.end();
}

/// A downgrade alone lets a reader in whom nobody else would.
inline void downgrade_lets_readers_in() {
  primitive mutex;
  reading reader;
  mutex.acquire(exclusive);
  model::threads([&] { model::check(mutex.downgrade(), "it is held"); },
                 [&] {
                   mutex.start(reader);
                   mutex.require(reader);
                 });
  mutex.release(shared);
  mutex.end();
}

inline void downgrade_against_destruction() {
  primitive mutex;
  mutex.acquire(exclusive);
  model::threads([&] { mutex.release(mutex.downgrade() ? shared : exclusive); },
                 [&] { mutex.abandon(); });
  mutex.check_gone();
}

// --- Upgrades ---

/// Waits for the other reader, and comes before a writer that was there first.
inline void upgrade_against_the_last_reader() {
  primitive mutex;
  upgrading up;
  writing writer;
  mutex.acquire(shared);
  mutex.acquire(shared);
  mutex.start(writer);
  model::threads([&] { mutex.release(shared); },
                 [&] {
                   mutex.start_upgrade(up);
                   model::check(mutex.finish(up), "it is granted");
                   model::check(mutex.core().waiters() == 1, "before the writer");
                   mutex.use(exclusive);
                   mutex.release(exclusive);
                 },
                 [&] { mutex.require(writer); });
  mutex.end();
}

/// Nobody waits: the last reader leaves, while another comes.
inline void upgrade_against_readers() {
  primitive mutex;
  upgrading up;
  reading coming;
  mutex.acquire(shared);
  mutex.acquire(shared);
  model::threads(
      [&] {
        mutex.use(shared);
        mutex.release(shared);
      },
      [&] {
        mutex.start_upgrade(up);
        model::check(mutex.use_upgrade(up), "it is granted");
      },
      [&] {
        mutex.start(coming);
        mutex.require(coming);
      });
  mutex.end();
}

/// A cancelled one reads on, and whom it kept out comes in.
inline void upgrade_against_cancel(bool by_timer) {
  primitive mutex;
  upgrading up;
  reading behind;
  mutex.acquire(shared);
  mutex.acquire(shared);
  if (by_timer) mutex.set_timed(up);
  mutex.start_upgrade(up);
  mutex.start(behind);
  model::threads([&] { mutex.release(shared); },
                 [&] {
                   if (by_timer) mutex.expire(up);
                 },
                 [&] {
                   if (!by_timer) mutex.cancel(up);
                   if (!mutex.use_upgrade(up))
                     model::check(up.outcome == (by_timer ? timed_out : aborted), "refused");
                 },
                 [&] { mutex.require(behind); });
  mutex.end();
}

/// One of two has to give way. It has read on, and the other is granted once it has left.
inline void two_upgrades() {
  primitive mutex;
  upgrading first, second;
  mutex.acquire(shared);
  mutex.acquire(shared);
  auto const upgrade = [&](operation& up) {
    mutex.start_upgrade(up);
    if (!mutex.use_upgrade(up)) model::check(up.outcome == deadlock, "the second");
  };
  model::threads([&] { upgrade(first); }, [&] { upgrade(second); });
  model::check(first.outcome == granted || second.outcome == granted, "one is granted");
  mutex.end();
}

/// The same where both have tried before.
inline void two_upgrades_enter() {
  primitive mutex;
  upgrading first, second;
  mutex.acquire(shared);
  mutex.acquire(shared);
  auto const upgrade = [&](operation& up) {
    up.make();
    mutex.enter_upgrade(up);
    if (!mutex.use_upgrade(up)) model::check(up.outcome == deadlock, "the second");
  };
  model::threads([&] { upgrade(first); }, [&] { upgrade(second); });
  mutex.end();
}

/// Its hold is let go after the end, whatever has become of it.
inline void upgrade_against_destruction(bool drops) {
  primitive mutex;
  upgrading up;
  mutex.acquire(shared);
  mutex.acquire(shared);
  mutex.start_upgrade(up);
  model::threads([&] { mutex.release(shared); }, [&] { mutex.abandon(); },
                 [&] {
                   if (drops)
                     mutex.drop(up);
                   else
                     mutex.use_upgrade(up);
                 });
  mutex.check_gone();
}

/// A dropped one lets go what it held: as a writer, or, cancelled, as a reader.
inline void dropped_upgrade(bool cancelled) {
  primitive mutex;
  upgrading up;
  writing behind;
  mutex.acquire(shared);
  mutex.acquire(shared);
  mutex.start_upgrade(up);
  mutex.start(behind);
  model::threads([&] { mutex.release(shared); },
                 [&] {
                   if (cancelled) mutex.cancel(up);
                   mutex.drop(up);
                 },
                 [&] { mutex.require(behind); });
  mutex.end();
}

inline void close_against_upgrade() {
  primitive mutex;
  upgrading up;
  mutex.acquire(shared);
  mutex.acquire(shared);
  model::threads([&] { mutex.close(); }, [&] { mutex.release(shared); },
                 [&] {
                   mutex.start_upgrade(up);
                   if (!mutex.use_upgrade(up)) model::check(up.outcome == closed, "closed");
                 });
  mutex.end();
}

// --- The end ---

/// Guards of both kinds, and a grant on its way, outlive it; a member's hold leaves nothing.
inline void guards_outlive(lock_mode mode) {
  primitive mutex;
  reading queued;
  mutex.acquire(mode);
  if (mode == shared) mutex.acquire(shared);
  if (mode == exclusive) mutex.start(queued);
  model::threads([&] { mutex.release(mode); },
                 [&] {
                   if (mode == shared) return mutex.release(shared);
                   if (!mutex.use_once(queued)) model::check(queued.outcome == aborted, "dead");
                 },
                 [&] { mutex.abandon(); });
  mutex.check_gone();
}

inline void member_leaves_nothing(lock_mode mode) {
  primitive mutex;
  mutex.acquire(mode, false);
  mutex.abandon();
  mutex.check_gone();
}

/// A guard leaves its hold to a member while the primitive ends.
inline void forgotten_against_destruction(lock_mode mode) {
  primitive mutex;
  mutex.acquire(mode);
  model::threads(
      [&] {
        if (!mutex.core().count_holder(false, mode)) mutex.unref();
      },
      [&] { mutex.abandon(); });
  mutex.check_gone();
}

inline void drop_against_destruction() {
  primitive mutex;
  reading first, second;
  mutex.acquire(exclusive);
  mutex.start(first);
  mutex.start(second);
  model::threads([&] { mutex.release(exclusive); }, [&] { mutex.drop(first); },
                 [&] { mutex.abandon(); });
  mutex.drop(second);
  mutex.check_gone();
}

/// Whoever is let in may end it.
inline void destroyed_by_the_next() {
  primitive mutex;
  reading reader;
  mutex.acquire(exclusive);
  mutex.start(reader);
  model::threads([&] { mutex.release(exclusive); },
                 [&] {
                   model::check(mutex.finish(reader), "it is granted");
                   mutex.abandon();
                   mutex.release(shared);
                 });
  mutex.check_gone();
}

}  // namespace shared_model

#endif
