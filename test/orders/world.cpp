// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include "world.hpp"

#include <asio_sync/detail/operation/beginning.hpp>
#include <asio_sync/error.hpp>

#include <boost/asio/co_spawn.hpp>

#include <algorithm>

namespace asio_sync::test {

namespace {

using clock_type = std::chrono::steady_clock;
using std::chrono::nanoseconds;

struct value_while {
  value_while(unsigned& v, unsigned during) : variable(v), before(std::exchange(v, during)) {}
  value_while(value_while const&) = delete;
  value_while& operator=(value_while const&) = delete;
  ~value_while() { variable = before; }

  unsigned& variable;
  unsigned before;
};

}  // namespace

world::world(bool carries, unsigned most) : carries_(carries), most_(most) {
  detail::immediate_budget::renew();
  for (place& p : places_) p.io.emplace();
}

std::unique_ptr<world> world_of(std::string_view subject) {
  if (subject == "mutex") return mutex_world();
  if (subject == "semaphore") return semaphore_world();
  if (subject == "manual_reset_event") return manual_reset_event_world();
  if (subject == "latch") return latch_world();
  if (subject == "auto_reset_event") return auto_reset_event_world();
  if (subject == "mailbox") return mailbox_world();
  if (subject == "barrier") return barrier_world();
  if (subject == "keyed_mutex") return keyed_mutex_world();
  if (subject == "shared_mutex") return shared_mutex_world();
  if (subject == "condition") return condition_world();
  if (subject == "monitor") return monitor_world();
  if (subject == "group") return group_world();
  if (subject == "enumerator") return enumerator_world();

  violated("there is no world of " + std::string(subject));
}

// What is soon when this is called has come when it returns.
void world::let_pass() const {
  auto const end = clock_type::now() + nanoseconds(1);
  while (clock_type::now() <= end) {
  }
}

nanoseconds world::time_of(patience p) {
  switch (p) {
    case patience::none: return nanoseconds(0);
    case patience::soon: return nanoseconds(1);
    default: return std::chrono::hours(1);
  }
}

asio::strand<world::io_executor> const& world::place::strand_of_its_own() {
  if (!strand) strand.emplace(io->get_executor());
  return *strand;
}

// --- The operations -----------------------------------------------------------------------------

bool world::allows(operation const& op) const {
  bool const outermost = depth_ == 0;
  place const* const p = op.target < contexts ? &places_[op.target] : nullptr;
  auto const has_signal = [&] {
    return op.target < waits_.size() && waits_[op.target].signal &&
           waits_[op.target].state != state::starting;
  };
  switch (op.what) {
    case verb::wait:
      if (op.executor >= through::relay && !(home_alive_ && relays())) return false;
      return alive() && can_begin() && p && p->io;
    case verb::take:
    case verb::take_at_once:
    case verb::give: return alive() && allows_own(op);
    case verb::cancel: return alive();
    case verb::close: return alive() && closes();
    case verb::emit: return has_signal();
    case verb::end_signal: return has_signal() && !waits_[op.target].plan.coroutine;
    case verb::end: return alive() && frames_ == 0;
    case verb::make: return outermost && !alive() && places_[0].io;
    case verb::poll: return outermost && p && p->io;
    case verb::run:
    case verb::drop: return outermost && p && op.item < p->queue.size();
    case verb::end_context: return outermost && p && p->io;
    case verb::make_context: return outermost && p && !p->io;
    case verb::spend: return true;
  }
  return false;
}

bool world::perform(operation const& op) {
  history_.push_back(op);
  bool done = true;
  {
    value_while const nested(depth_, depth_ + 1);
    if (op.what == verb::poll)
      done = poll(op.target);
    else
      perform_one(op);
  }
  if (depth_ == 0) {
    let_pass();
    compare();
    for (unsigned c = 0; c < contexts; ++c)
      if (places_[c].io && !busy(c)) check_idle(c);
  }
  return done;
}

void world::perform_one(operation const& op) {
  switch (op.what) {
    case verb::wait: return begin(op);
    case verb::take:
    case verb::take_at_once:
    case verb::give: return perform_own(op);
    case verb::emit: return emit(op.target, op.item);
    case verb::end_signal: return waits_[op.target].signal.reset();
    case verb::cancel: return cancel();
    case verb::close: return close();
    case verb::end: return end();
    case verb::make: return make_at(op.executor);
    case verb::poll: return;
    case verb::run: return run(op.target, op.item);
    case verb::drop: return drop(op.target, op.item);
    case verb::end_context: return end_context(op.target);
    case verb::make_context: places_[op.target].io.emplace(); return;
    case verb::spend:
      while (detail::immediate_budget::available()) detail::immediate_budget::use();
  }
}

void world::begin(operation const& op) {
  auto const id = static_cast<unsigned>(waits_.size());
  wait& w = waits_.emplace_back(op);
  if (op.coroutine && op.executor >= through::relay) w.plan.executor = through::context;
  bool const at_home = w.plan.executor >= through::relay;
  w.where = at_home ? 0 : op.target;
  w.by_queue = goes_by_queue(at_home ? home_ : w.plan.executor);
  if (op.slot) w.signal.emplace();
  if (op.coroutine) return spawn(id);
  initiated(id);
  initiating_ = true;
  start(id);
  initiating_ = false;
}

void world::spawn(unsigned id) {
  wait& w = waits_[id];
  place& p = places_[w.where];
  auto const on = [&](asio::any_io_executor const& ex) { spawn_on(ex, id); };
  switch (w.plan.executor) {
    case through::strand:
    case through::erased_strand: return on(p.strand_of_its_own());
    case through::queue:
    case through::erased_queue: return on(manual_queue::executor(p.queue, *p.io, id));
    default: return on(p.io->get_executor());
  }
}

void world::spawn_on(asio::any_io_executor const& executor, unsigned id) {
  asio::co_spawn(executor, coroutine(id), watch(*this, id));
}

void world::emit(unsigned id, unsigned type) {
  static constexpr std::array types{asio::cancellation_type::total,
                                    asio::cancellation_type::partial,
                                    asio::cancellation_type::terminal};
  wait& w = waits_[id];
  w.cancelled = true;
  refuse(id, asio::error::operation_aborted);
  w.signal->emit(types[type % types.size()]);
}

void world::cancel() {
  std::size_t const expected = queue_.size();
  cancel_all();
  require(cancel_real() == expected, "R4: cancel() says how many it has refused");
}

void world::close() {
  closed_ = true;
  refuse_all(error::closed);
  close_real();
}

// What was granted and has not arrived is aborted with the primitive, if it carries something.
// What succeeds all the same can not be given back any more.
void world::end() {
  refuse_all(asio::error::operation_aborted);
  for (wait& w : waits_) {
    if (w.state != state::decided) continue;
    w.outlived = true;
    if (carries_ && !w.expected) w.expected = asio::error::operation_aborted;
  }
  closed_ = false;
  destroy();
}

void world::make_at(through executor) {
  home_ = executor;
  home_alive_ = true;
  place& p = places_[0];
  if (goes_by_queue(executor))
    make(manual_queue::executor(p.queue, *p.io));
  else
    make(p.io->get_executor());
}

// True if there was something to run.
bool world::poll(unsigned context) {
  place& p = places_[context];
  value_while const here(running_, context);
  p.io->restart();
  heard_ = false;
  if (p.io->poll_one() == 0) {
    p.timer_stirred = false;
    return false;
  }
  // It is the timer that nobody hears of.
  if (!heard_) expire(context);
  return true;
}

void world::run(unsigned context, std::size_t item) {
  value_while const here(running_, context);
  places_[context].queue.run(item);
}

void world::drop(unsigned context, std::size_t item) {
  place& p = places_[context];
  unsigned const owner = p.queue.owner(item);
  bool const completes =
      owner != manual_queue::nobody && is_completion(owner, p.queue.number(item));
  loses(context, false);
  {
    value_while const here(dropping_, context);
    p.queue.drop(item);
  }
  p.drops = true;
  if (completes) unwound(owner);
}

void world::end_context(unsigned context) {
  place& p = places_[context];
  loses(context, true);
  {
    value_while const here(dropping_, context);
    if (context == 0) home_alive_ = false;
    p.strand.reset();
    p.io.reset();
  }
  while (p.queue.size() > 0) drop(context, 0);
  p.timer_stirred = false;
  for (wait const& w : waits_)
    require(w.where != context || w.state == state::ended, "R10: a handler outlives its context");
}

bool world::run_anything() {
  bool any = false;
  for (std::uint8_t c = 0; c < contexts; ++c) {
    for (operation const op{verb::run, c}; allows(op); any = true) perform(op);
    if (places_[c].io && perform({verb::poll, c})) any = true;
  }
  return any;
}

void world::finish(bool contexts_first) {
  for (;;) {
    while (run_anything()) {
    }
    auto const next = way_on();
    if (!next) break;
    perform(*next);
  }
  require(queue_.empty() && at_rest(), "R7: somebody waits for what nobody has");
  auto const end_contexts = [&] {
    for (std::uint8_t c = 0; c < contexts; ++c)
      if (places_[c].io) perform({verb::end_context, c});
  };
  if (contexts_first) end_contexts();
  if (alive()) perform({verb::end});
  while (run_anything()) {
  }
  end_contexts();
  for (wait const& w : waits_) require(w.state == state::ended, "R1: a handler was left over");
}

}  // namespace asio_sync::test
