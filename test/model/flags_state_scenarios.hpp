// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_MODEL_FLAGS_STATE_SCENARIOS_HPP
#define ASIO_SYNC_TEST_MODEL_FLAGS_STATE_SCENARIOS_HPP

#include "flags_state_model.hpp"

#include <initializer_list>

/// The scenarios that are explored and, with a fault in the core, replayed. Flags are a, b and c;
/// what a thread writes before it raises them is read by those whom they let go.
namespace flags_model {

using enum wait_outcome;

inline constexpr flags a = 1, b = 2, c = 4;

/// Whether each flag of a set is found in one place.
inline bool each_once(std::initializer_list<flags> places, flags set) {
  flags found = 0;
  for (flags const here : places) {
    if (found & here) return false;
    found |= here;
  }
  return found == set;
}

// --- One flag, which all waits take ---

/// One wait is queued, another begins; there is one set for each, and the older comes first.
inline void set_against_wait() {
  event e;
  operation queued, coming;
  model::plain<int> data;
  e.start(queued);
  model::threads(
      [&] {
        data = 1;
        e.set();
      },
      [&] { e.start(coming); },
      [&] {
        e.require(queued);
        model::check(data == 1, "what was done before is seen");
      });
  model::check(!coming.is_posted() && !e.is_set() && e.waiters() == 1, "one set releases one");
  e.set();
  e.require(coming);
  e.end();
}

/// Two waits begin, and one set releases one of them.
inline void set_against_two_waits() {
  event e;
  operation first, second;
  model::plain<int> data;
  auto const wait = [&](operation& op) {
    e.start(op);
    if (e.has_got(op)) model::check(data == 1, "what was done before is seen");
  };
  model::threads(
      [&] {
        data = 1;
        e.set();
      },
      [&] { wait(first); }, [&] { wait(second); });
  e.has_got(first);
  e.has_got(second);
  model::check(first.got + second.got == 1 && !e.is_set(), "one set releases one");
  e.set();
  e.require(first.got == 0 ? first : second);
  e.end();
}

/// As many as there are sets, and the oldest.
inline void two_sets_with_three_queued() {
  event e;
  operation first, second, third;
  e.start(first);
  e.start(second);
  e.start(third);
  model::threads([&] { e.set(); },
                 [&] {
                   e.set();
                   e.require(second);
                 },
                 [&] { e.require(first); });
  model::check(!third.is_posted() && !e.is_set() && e.waiters() == 1, "two sets release two");
  e.set();
  e.require(third);
  e.end();
}

/// The set is remembered, taken back, or gone with the wait.
inline void set_against_reset_against_wait() {
  event e;
  operation coming;
  model::plain<int> data;
  bool reset = false;
  model::threads(
      [&] {
        data = 1;
        e.set();
      },
      [&] {
        reset = e.reset();
        if (reset) model::check(data == 1, "what was done before is seen");
      },
      [&] {
        e.start(coming);
        if (e.has_got(coming)) model::check(data == 1, "what was done before is seen");
      });
  bool const released = e.has_got(coming);
  model::check(reset + released + e.is_set() == 1, "one set is found once");
  model::check(!e.is_set() || released || e.waiters() == 0, "nobody waits for what is up");
  if (!released) {
    e.set();
    e.require(coming);
  }
  e.reset();
  e.end();
}

/// A wait that was released waits again, while another set is under way.
inline void waits_again() {
  event e;
  operation first, second, again;
  e.start(first);
  e.start(second);
  model::threads([&] { e.set(); }, [&] { e.set(); },
                 [&] {
                   e.require(first);
                   e.start(again);
                 });
  e.require(second);
  model::check(!again.is_posted() && !e.is_set(), "it waits for the next set");
  e.set();
  e.require(again);
  e.end();
}

/// What the oldest does not take any more is for the next.
inline void set_against_cancel_of_the_oldest() {
  event e;
  operation oldest, follower;
  e.set_timed(oldest);
  e.start(oldest);
  e.start(follower);
  model::threads([&] { e.set(); },
                 [&] {
                   e.cancel(oldest);
                   e.cancel(oldest);
                   if (!e.finish(oldest))
                     model::check(one_of(oldest.outcome, aborted, timed_out), "refused");
                 },
                 [&] { e.expire(oldest); });
  model::check(oldest.got + follower.is_posted() == 1 && !e.is_set(), "one set releases one");
  if (oldest.got) e.set();
  e.require(follower);
  e.end();
}

/// Each of those who were released is dropped, and the last one gets the signal.
inline void chain_of_drops() {
  event e;
  operation first, second, last;
  e.start(first);
  e.start(second);
  e.start(last);
  model::threads(
      [&] {
        e.set();
        e.drop(first);
      },
      [&] { e.drop(second); }, [&] { e.require(last); });
  model::check(!e.is_set(), "one set releases one");
  e.end();
}

// --- Who gets which flags ---

/// A raise is seen by those who look, also by one who begins; the flag stays up.
inline void raise_against_looks() {
  mailbox box;
  operation queued(any(a | b)), coming(all(a));
  model::plain<int> data;
  box.start(queued);
  auto const look = [&](operation& op) {
    model::check(box.require(op) == a, "it sees what was raised");
    model::check(data == 1, "what was done before is seen");
  };
  model::threads(
      [&] {
        data = 1;
        box.raise(a);
      },
      [&] {
        box.start(coming);
        look(coming);
      },
      [&] { look(queued); });
  model::check(box.up() == a, "it stays up");
  box.end();
}

/// `beside`: while another waits for other flags.
inline void two_takers_of_one_flag(bool beside) {
  mailbox box(a | b);
  operation other(take_any(c)), first(take_any(a | b)), second(take_all(a));
  flags taken = 0;
  if (beside) box.start(other);
  model::threads([&] { box.start(first); }, [&] { box.start(second); },
                 [&] { taken = box.take(a | b) & (a | b); });
  box.has_got(first);
  box.has_got(second);
  model::check(each_once({first.got, second.got, taken}, a | b), "each flag is taken once");
  box.close();
  if (first.got == 0) box.finish(first);
  if (second.got == 0) box.finish(second);
  if (beside) box.finish(other);
  box.end();
}

/// Somebody waits for other flags: he keeps nobody out, and nobody misses what is raised.
inline void raise_beside_others() {
  mailbox box;
  operation other(take_any(c)), coming(take_any(a));
  model::plain<int> data;
  flags taken = 0;
  box.start(other);
  model::threads(
      [&] {
        data = 1;
        box.raise(a);
      },
      [&] {
        taken = box.take(a);
        if (taken) model::check(data == 1, "what was done before is seen");
      },
      [&] {
        box.start(coming);
        if (box.has_got(coming)) model::check(data == 1, "what was done before is seen");
      });
  bool const released = box.has_got(coming);
  model::check(released + taken == 1 && box.up() == 0, "one of them gets it");
  box.raise(a | c);
  if (!released) box.require(coming);
  box.require(other);
  box.take(a);
  box.end();
}

/// The last of those who wait for other flags goes while a flag is raised, and others try.
inline void others_go_away() {
  mailbox box(b);
  operation other(take_any(c));
  flags tried = 0;
  box.start(other);
  model::threads([&] { box.raise(a); }, [&] { tried = box.try_wait(take_any(a | b)); },
                 [&] {
                   box.cancel(other);
                   box.finish(other);
                 });
  model::check((tried & b) && each_once({tried, box.up()}, a | b), "each is up or taken");
  box.take(a);
  box.end();
}

/// The same while two threads raise one flag.
inline void others_go_away_as_two_raise() {
  mailbox box;
  operation other(take_any(c));
  box.start(other);
  model::threads([&] { box.raise(a); }, [&] { box.raise(a); },
                 [&] {
                   box.cancel(other);
                   box.finish(other);
                 });
  model::check(box.up() == a, "what is up stays up");
  box.end();
}

/// Others take the part that is up of what a raise completes for a wait.
inline void raise_against_takes_of_a_part() {
  mailbox box(b);
  operation both(take_all(a | b));
  flags tried = 0, taken = 0;
  box.start(both);
  model::threads([&] { box.raise(a); }, [&] { tried = box.try_wait(take_any(b)); },
                 [&] { taken = box.take(b) & b; });
  box.has_got(both);
  model::check(each_once({both.got, tried, taken, box.up()}, a | b), "each is found once");
  box.close();
  if (both.got == 0) box.finish(both);
  box.end();
}

/// All of a set, raised one after the other by two threads. Data of both are seen.
inline void all_of_two_raises(flags_request request) {
  mailbox box;
  operation op(request);
  model::plain<int> of_a, of_b;
  model::threads(
      [&] {
        of_a = 1;
        box.raise(a);
      },
      [&] {
        of_b = 1;
        box.raise(b);
      },
      [&] {
        box.start(op);
        model::check(box.require(op) == (a | b), "both were raised");
        model::check(of_a == 1 && of_b == 1, "what was done before is seen");
      });
  model::check(box.up() == (request.takes ? 0 : a | b), "taken or not");
  box.end();
}

/// Who waits for all of a set reserves nothing: a younger one may get one flag of it before.
inline void any_beside_all() {
  mailbox box;
  operation both(take_all(a | b)), one(take_any(a));
  box.start(both);
  box.start(one);
  model::threads([&] { box.raise(a); }, [&] { box.raise(b); },
                 [&] { box.cancel_if([](node const&) { return false; }); });
  box.has_got(both);
  box.has_got(one);
  model::check((both.got == (a | b) && one.got == 0 && box.up() == 0) ||
                   (both.got == 0 && one.got == a && box.up() == b),
               "the oldest that is satisfied is served");
  box.raise(a);
  box.require(both.got ? one : both);
  box.end();
}

/// Those who look see what an older taker takes in the same raise.
inline void looks_before_takes() {
  mailbox box;
  operation taker(take_any(a | c)), looker(any(a)), both(all(a | b)), late(take_all(a));
  box.start(taker);
  box.start(looker);
  box.start(both);
  box.start(late);
  model::threads([&] { box.raise(a | b); },
                 [&] { model::check(box.require(taker) == a, "it takes what it asked for"); },
                 [&] {
                   model::check(box.require(looker) == a, "it sees one");
                   model::check(box.require(both) == (a | b), "it sees both");
                 });
  model::check(box.up() == b && !late.is_posted(), "one flag is taken once");
  box.raise(a);
  box.require(late);
  box.end();
}

/// Those who look are served also where nothing is left to take.
inline void look_behind_the_last_take() {
  mailbox box;
  operation taker(take_any(a)), looker(any(a));
  box.start(taker);
  box.start(looker);
  model::threads([&] { box.raise(a); },
                 [&] { model::check(box.require(looker) == a, "it sees what was taken"); });
  box.require(taker);
  model::check(box.up() == 0, "nothing is left");
  box.end();
}

}  // namespace flags_model

#endif
