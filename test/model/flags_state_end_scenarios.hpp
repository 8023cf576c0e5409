// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_MODEL_FLAGS_STATE_END_SCENARIOS_HPP
#define ASIO_SYNC_TEST_MODEL_FLAGS_STATE_END_SCENARIOS_HPP

#include "flags_state_scenarios.hpp"

/// What a raise publishes, and what ends waits in another way: dropped, cancelled, closed or
/// destroyed.
namespace flags_model {

// --- Drops ---

/// A taker that will not arrive raises its flag again, against another raise of it.
inline void drop_against_raise() {
  mailbox box(a);
  operation dropped(take_any(a)), follower(take_any(a));
  box.start(dropped);
  box.start(follower);
  model::threads([&] { box.drop(dropped); }, [&] { box.raise(a); },
                 [&] { box.require(follower); });
  model::check(box.up() == a, "the other one stays up");
  box.end();
}

/// ... against those who take. `before`: somebody took meanwhile what was raised after it.
inline void drop_against_take(bool before) {
  mailbox box(a);
  operation dropped(take_any(a | b)), coming(take_any(a));
  flags taken = 0;
  box.start(dropped);
  if (before) {
    box.raise(a | b);
    box.take(a | b);
  }
  model::threads([&] { box.drop(dropped); }, [&] { taken = box.take(a); },
                 [&] { box.start(coming); });
  box.has_got(coming);
  model::check(each_once({coming.got, taken & a, box.up()}, a), "one flag is found once");
  box.raise(a);
  if (coming.got == 0) box.require(coming);
  box.end();
}

inline void drop_against_close() {
  mailbox box(a);
  operation dropped(take_all(a)), follower(take_any(a | b));
  box.start(dropped);
  box.start(follower);
  model::threads([&] { box.drop(dropped); }, [&] { box.close(); },
                 [&] {
                   if (!box.finish(follower)) model::check(follower.outcome == closed, "closed");
                 });
  model::check(each_once({follower.got, box.up()}, a), "it is up or taken");
  box.end();
}

inline void drop_against_destruction() {
  mailbox box(a);
  operation dropped(take_all(a)), follower(take_any(a | b));
  box.start(dropped);
  box.start(follower);
  model::threads([&] { box.drop(dropped); }, [&] { box.abandon(); },
                 [&] {
                   if (!box.finish(follower)) model::check(follower.outcome == aborted, "aborted");
                 });
  box.check_gone();
}

/// Who has only looked raises nothing.
inline void drop_of_a_look() {
  mailbox box(a);
  operation dropped(any(a));
  box.start(dropped);
  flags taken = 0;
  model::threads([&] { box.drop(dropped); }, [&] { taken = box.take(a); }, [&] { box.raise(b); });
  model::check(taken == a || taken == (a | b), "it was up");
  model::check(box.up() == b, "nothing comes back");
  box.end();
}

// --- Order of memory ---

/// What was written before a raise is seen by whoever finds the flag, also where it was up
/// already. `beside`: while somebody waits for another flag.
inline void published(bool beside) {
  mailbox box(a);
  operation other(any(b));
  model::plain<int> data;
  model::milestone done;  // from the last step of the raise on: nothing can come in between
  if (beside) box.start(other);
  model::threads(
      [&] {
        data = 1;
        box.raise(a);
        done.reach();
      },
      [&] {
        flags const seen = box.try_wait(any(a));
        if (seen && done.is_reached()) model::check(data == 1, "seen by who looks");
        auto const late = beside ? model::access(&done)->is_reached() : model::milestone::answer();
        flags const taken = box.take(a);
        // Beside others its last step, an unlock, comes after it has taken.
        if (taken && (beside ? late : done.is_reached()))
          model::check(data == 1, "seen by who takes");
      },
      [&] {
        if (!beside) return box.close();
        box.cancel(other);
        box.finish(other);
      });
  box.end();
}

/// The same for a try that takes.
inline void published_to_a_try(bool beside) {
  mailbox box(a);
  operation other(take_any(b));
  model::plain<int> data;
  model::milestone done;
  if (beside) box.start(other);
  model::threads(
      [&] {
        data = 1;
        box.raise(a);
        done.reach();
      },
      [&] {
        flags const taken = box.try_wait(take_any(a));
        if (taken && done.is_reached()) model::check(data == 1, "seen by a try");
      },
      [&] {
        flags const seen = box.up();
        if (seen && done.is_reached()) model::check(data == 1, "seen by who looks");
      });
  box.close();
  if (beside) box.finish(other);
  box.end();
}

/// The same for a wait that finds the flag where it comes to the queue.
inline void published_to_the_queue(flags_request request) {
  mailbox box(a);
  operation coming(request);
  model::plain<int> data;
  model::milestone done;
  coming.make();
  model::threads(
      [&] {
        data = 1;
        box.raise(a);
        done.reach();
      },
      [&] {
        auto const late = model::access(&done)->is_reached();
        box.enter(coming);
        bool const released = box.finish(coming);
        if (released && late) model::check(data == 1, "seen by a wait");
      },
      [&] { box.close(); });
  box.end();
}

// --- Cancellations ---

/// Those who ask for one of the flags are cancelled while all are raised.
inline void raise_against_cancel_if() {
  mailbox box;
  operation taker(take_any(a)), looker(any(b)), late(take_any(a | b));
  box.start(taker);
  box.start(looker);
  box.start(late);
  model::threads([&] { box.raise(a | b); },
                 [&] {
                   box.cancel_if([](node const& wait) {
                     return (mailbox_traits::request(wait).set & a) != 0;
                   });
                 },
                 [&] { model::check(box.require(looker) == b, "it sees what was raised"); });
  box.finish(taker);
  box.finish(late);
  model::check((taker.got == a && late.got == b && box.up() == 0) ||
                   (taker.outcome == aborted && late.outcome == aborted && box.up() == (a | b)),
               "all of them or none");
  box.end();
}

/// A wait whose deadline comes before it has queued, while flags are raised.
inline void mark_against_enter(flags raised) {
  mailbox box;
  operation timed(take_any(a));
  box.set_timed(timed);
  timed.make();
  model::threads(
      [&] {
        box.enter(timed);
        if (!box.finish(timed)) model::check(timed.outcome == timed_out, "timed out");
      },
      [&] { box.expire(timed); }, [&] { box.raise(raised); });
  model::check(each_once({timed.got, box.up()}, raised), "each is up or taken");
  box.end();
}

// --- Closing ---

/// Who comes after close() is refused, whatever is up; flags can still be raised.
inline void close_against_raise_and_wait() {
  mailbox box;
  operation queued(any(a)), coming(take_any(a));
  model::milestone closed_before;
  box.start(queued);
  model::threads(
      [&] {
        box.close();
        closed_before.reach();
      },
      [&] { box.raise(a); },
      [&] {
        auto const late = model::access(&closed_before)->is_reached();
        box.start(coming);
        if (!box.finish(coming)) return model::check(coming.outcome == closed, "closed");
        model::check(!late, "nobody gets in after close()");
      });
  if (!box.finish(queued)) model::check(queued.outcome == closed, "closed");
  model::check(each_once({coming.got, box.up()}, a), "it is up or taken");
  model::check(box.try_wait(any(a)) == 0 && box.try_wait(take_any(a)) == 0, "it stays closed");
  box.end();
}

/// Waits that come to the queue while the mailbox is closed.
inline void close_against_enter() {
  mailbox box(b);
  operation first(take_any(a)), second(all(a | b));
  first.make();
  second.make();
  auto const wait = [&](operation& op) {
    box.enter(op);
    model::check(!box.finish(op) && op.outcome == closed, "closed");
  };
  model::threads([&] { box.close(); }, [&] { wait(first); }, [&] { wait(second); });
  box.end();
}

// --- Destruction ---

/// A wait that was released destroys the mailbox while the others are still being released; they
/// succeed. `dropped`: what they took is raised for nobody.
inline void destroyed_by_a_released_wait(bool dropped) {
  mailbox box;
  operation taker(take_any(a)), other(take_all(b)), unsatisfied(all(a | c));
  box.start(taker);
  box.start(unsatisfied);
  box.start(other);
  model::threads([&] { box.raise(a | b); },
                 [&] {
                   box.require(taker);
                   box.abandon();
                 },
                 [&] {
                   if (dropped)
                     box.drop(other);
                   else
                     model::check(box.require(other) == b, "it has its flag");
                 });
  model::check(!box.finish(unsatisfied) && unsatisfied.outcome == aborted, "aborted");
  box.check_gone();
}

/// Whoever finds a flag may destroy the mailbox. `beside`: while another waits.
inline void destroyed_by_who_finds_a_flag(bool beside) {
  mailbox box;
  operation other(any(b));
  if (beside) box.start(other);
  model::threads([&] { box.raise(a); },
                 [&] {
                   while (box.try_wait(any(a)) == 0) model::pause();
                   box.abandon();
                 },
                 [&] {
                   if (beside) model::check(!box.finish(other), "aborted");
                 });
  box.check_gone();
}

inline void destroyed_with_released_on_their_way() {
  mailbox box;
  operation dropped(take_any(a)), delivered(take_any(b));
  box.start(dropped);
  box.start(delivered);
  box.raise(a | b);
  model::threads([&] { box.drop(dropped); }, [&] { box.abandon(); },
                 [&] { model::check(box.require(delivered) == b, "it has its flag"); });
  box.check_gone();
}

inline void destroyed_with_queued() {
  mailbox box;
  operation delivered(any(a)), dropped(take_any(a));
  box.start(delivered);
  box.start(dropped);
  model::threads(
      [&] { box.abandon(); },
      [&] { model::check(!box.finish(delivered) && delivered.outcome == aborted, "aborted"); },
      [&] { box.drop(dropped); });
  box.check_gone();
}

}  // namespace flags_model

#endif
