// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The naive model of a world, and how the real thing is compared with it.

#include "world.hpp"

#include <asio_sync/error.hpp>

#include <boost/asio/error.hpp>

#include <algorithm>

namespace asio_sync::test {

// --- What the real thing says -------------------------------------------------------------------

void world::runs(unsigned id) {
  heard();
  wait& w = waits_[id];
  require(w.state == state::decided, "R1: called although it was not decided, or called before");
  require(!initiating_, "R1: called from inside the initiating function");
  require(running_ == w.where && dropping_ == nowhere, "R2, R10: called in another context");
  place& p = places_[w.where];
  bool const in_strand = p.strand && p.strand->running_in_this_thread();
  bool const wants_strand =
      w.plan.executor == through::strand || w.plan.executor == through::erased_strand;
  require(w.by_queue || in_strand == wants_strand, "R2: called in the strand, or not");
  require(w.plan.executor != through::relay || relayed_.runs_here(), "R2: not through its own");
  if (!w.by_queue && !(w.plan.coroutine && w.at_once)) {
    unsigned& last = last_turn_[w.where][wants_strand];
    require(last <= w.turn, "R7: called before what was decided before it");
    last = w.turn;
  }
}

void world::called(unsigned id, error_code error) {
  runs(id);
  wait& w = waits_[id];
  if (w.cancelled) withdraw(w);
  require(error == w.expected, "R3, R4, R9, R11, R18: called with another outcome");
  w.state = state::called;
  gives_deadline_up(w);
}

// One that came by the queue does so as it is called or dropped, outside a poll.
void world::gives_deadline_up(wait const& w) {
  if (w.by_queue && w.plan.patient != patience::endless) places_[w.where].timer_stirred = true;
}

// What the handler does before it returns.
void world::follow(unsigned id) {
  wait const& w = waits_[id];
  operation next{verb::wait};
  switch (w.plan.next) {
    case then::nothing:
    case then::work_give: return;
    case then::give: next.what = verb::give; break;
    case then::wait:
      next = w.plan;
      next.next = then::nothing;
      break;
    case then::cancel: next.what = verb::cancel; break;
    case then::close: next.what = verb::close; break;
    case then::end: next.what = verb::end; break;
    case then::take: next.what = verb::take; break;
  }
  if (allows(next)) perform(next);
}

void world::coroutine_ended(std::exception_ptr thrown) {
  require(!thrown, "a coroutine ends with an exception");
}

void world::ended(unsigned id) {
  heard();
  wait& w = waits_[id];
  require(w.state != state::ended, "R1: a handler ends twice");
  state const before = std::exchange(w.state, state::ended);
  if (before == state::called) return;
  if (before == state::starting && running_ == w.where) return;  // it found no primitive
  bool const unwound = w.plan.coroutine && w.by_queue && places_[w.where].drops;
  require(dropping_ == w.where || (unwound && running_ == w.where),
          "R1: a handler was destroyed unrun");
  gives_deadline_up(w);
  lost(id, before);
}

// The completion of a coroutine was destroyed, if it had one: it is unwound by a function that is
// posted, and what it was granted has gone before that.
void world::unwound(unsigned id) {
  wait& w = waits_[id];
  if (w.state != state::decided) return;
  w.state = state::called;
  gives_deadline_up(w);
  lost(id, state::decided);
}

void world::compare() const {
  if (alive()) compare_real();
  compare_outliving();
}

// The context has nothing to do at present.
void world::check_idle(unsigned context) {
  require(!poll(context), "there was something to run that nobody knew of");
  bool outstanding = keeps_running(context);
  for (wait const& w : waits_) {
    if (w.where != context) continue;
    bool const queued = w.state == state::queued;
    bool const known = w.is_queued() || (w.state == state::decided && w.lasts);
    require(w.by_queue || w.is_queued() || w.state == state::ended, "R1: a completion was lost");
    require(!queued || w.plan.patient != patience::soon, "R11: an expired wait is still queued");
    if (known && (!w.by_queue || w.plan.patient == patience::far)) outstanding = true;
  }
  require(places_[context].io->stopped() == !outstanding,
          "R8: a context runs for as long as a handler of it is queued");
}

void world::require(bool condition, char const* text) const {
  if (condition) return;
  std::string message = text;
  for (operation const& op : history_) message += "\n  " + to_text(op);
  violated(message);
}

// --- The model ----------------------------------------------------------------------------------

bool world::goes_by_queue(through executor) {
  return executor == through::queue || executor == through::erased_queue;
}

bool world::busy(unsigned context) const {
  if (!places_[context].io) return false;
  return places_[context].timer_stirred ||
         std::any_of(waits_.begin(), waits_.end(), [&](wait const& w) {
           return w.in_context(context) && !w.is_queued() && w.state != state::ended;
         });
}

bool world::keeps_to_itself(wait const& w) const {
  return carries_ && !w.expected && w.plan.coroutine && w.plan.next == then::work_give;
}

// How many are asked for: one, or by turns several, and now and then none.
unsigned world::asked_for(std::size_t n, bool otherwise) const {
  if (!otherwise || most_ == 1) return 1;
  auto const turn = static_cast<unsigned>(n) % 8;
  return turn == 0 ? 0 : 2 + turn % (most_ - 1);
}

bool world::grant(wait& w) {
  if (!take(w.plan.amount)) return false;
  w.got = w.plan.amount;
  return true;
}

void world::initiated(unsigned id) {
  heard();
  initiated_.push_back(id);
  waits_[id].at_once = true;
  admit(id);
}

// Who asks for nothing need not wait for others.
void world::admit(unsigned id) {
  wait& w = waits_[id];
  error_code const refused = come(w);
  bool const its_turn = queue_.empty() || w.plan.amount == 0 || !in_turn() || goes_first(w);
  if (refused) {
    decide(id, refused);
  } else if (closed_) {
    decide(id, error::closed);
  } else if (its_turn && grant(w)) {
    decide(id, {});
  } else if (w.plan.patient == patience::none) {
    decide(id, asio::error::timed_out);
  } else {
    join(id, goes_first(w));
  }
}

void world::join(unsigned id, bool in_front) {
  wait& w = waits_[id];
  w.at_once = false;
  w.state = state::queued;
  queue_.insert(in_front ? queue_.begin() : queue_.end(), id);
  if (w.plan.patient != patience::endless) places_[w.where].timer_stirred = true;
}

void world::decide(unsigned id, error_code outcome) {
  wait& w = waits_[id];
  w.state = state::decided;
  w.turn = ++turns_;
  expect(id, outcome);
}

// Of one who is decided.
void world::expect(unsigned id, error_code outcome) {
  wait& w = waits_[id];
  w.expected = outcome;
  if (w.plan.patient != patience::endless) places_[w.where].timer_stirred = true;
}

// Those at the head of the queue get what they ask for, for as long as there is enough of it.
void world::serve() {
  while (!queue_.empty() && grant(waits_[queue_.front()])) granted(queue_.front());
}

void world::granted(unsigned id) {
  std::erase(queue_, id);
  decide(id, {});
}

// What it had goes back, unless nobody is there any more who takes it.
void world::lost(unsigned id, state was) {
  wait const& w = waits_[id];
  if (was == state::queued) {
    std::erase(queue_, id);
    left();
  }
  if (w.got > 0 && !w.outlived) put_back(w.got);
  serve();
}

void world::withdraw(wait& w) {
  if (w.expected || !gives_back(w)) return;
  w.expected = asio::error::operation_aborted;
  if (!w.outlived) put_back(w.got);
  w.got = 0;
  serve();
}

void world::returned(unsigned n) {
  heard();
  put_back(n);
  serve();
}

// Whoever refuses lets in those whom it kept out.
void world::refuse(unsigned id, error_code outcome) {
  if (waits_[id].state != state::queued) return;
  std::erase(queue_, id);
  decide(id, outcome);
  left();
  serve();
}

void world::cancel_all() { refuse_all(asio::error::operation_aborted); }

void world::refuse_all(error_code outcome) {
  while (!queue_.empty()) {
    decide(queue_.front(), outcome);
    queue_.pop_front();
  }
}

// Its timer refuses whatever has expired, one after the other.
void world::expire(unsigned context) {
  for (unsigned const id : initiated_)
    if (waits_[id].where == context && waits_[id].plan.patient == patience::soon)
      refuse(id, asio::error::timed_out);
}

}  // namespace asio_sync::test
