// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include "mutex_world.hpp"

#include <asio_sync/error.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/errc.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <chrono>
#include <tuple>

namespace asio_sync::test {

namespace {

using clock_type = std::chrono::steady_clock;
using std::chrono::nanoseconds;

// What is soon when this is called has come when it returns.
void let_pass() {
  auto const end = clock_type::now() + nanoseconds(1);
  while (clock_type::now() <= end) {
  }
}

nanoseconds time_of(patience p) {
  switch (p) {
    case patience::none: return nanoseconds(0);
    case patience::soon: return nanoseconds(1);
    default: return std::chrono::hours(1);
  }
}

struct value_while {
  value_while(unsigned& v, unsigned during) : variable(v), before(std::exchange(v, during)) {}
  value_while(value_while const&) = delete;
  value_while& operator=(value_while const&) = delete;
  ~value_while() { variable = before; }

  unsigned& variable;
  unsigned before;
};

}  // namespace

// A lock that stays in the frame of a coroutine, and goes with it.
struct mutex_world::frame_guard {
  frame_guard(mutex_world& w, lock_type& l) : world(w), lock(std::move(l)) {
    world.frame_holds_ = true;
  }
  frame_guard(frame_guard const&) = delete;
  frame_guard& operator=(frame_guard const&) = delete;
  ~frame_guard() {
    lock.unlock();
    world.frame_holds_ = false;
    world.pass_on();
  }

  mutex_world& world;
  lock_type lock;
};

mutex_world::mutex_world() {
  detail::immediate_budget::renew();
  for (place& p : places_) p.io.emplace();
}

asio::strand<mutex_world::io_executor> const& mutex_world::place::strand_of_its_own() {
  if (!strand) strand.emplace(io->get_executor());
  return *strand;
}

// --- The operations -----------------------------------------------------------------------------

bool mutex_world::allows(operation const& op) const {
  bool const outermost = depth_ == 0;
  place const* const p = op.target < contexts ? &places_[op.target] : nullptr;
  auto const has_signal = [&] {
    return op.target < waits_.size() && waits_[op.target].signal &&
           waits_[op.target].state != state::starting;
  };
  switch (op.what) {
    case verb::lock:
      if (op.executor >= through::relay && !home_alive_) return false;
      return mutex_ && p && p->io;
    case verb::try_lock:
    case verb::try_for_zero:
    case verb::cancel:
    case verb::close: return mutex_.has_value();
    case verb::unlock: return mutex_ && (holder_.owns_lock() || !locked_);
    case verb::emit: return has_signal();
    case verb::end_signal: return has_signal() && !waits_[op.target].plan.coroutine;
    case verb::end_mutex: return mutex_ && !frame_holds_;
    case verb::make_mutex: return outermost && !mutex_ && places_[0].io;
    case verb::poll: return outermost && p && p->io;
    case verb::run:
    case verb::drop: return outermost && p && op.item < p->queue.size();
    case verb::end_context: return outermost && p && p->io;
    case verb::make_context: return outermost && p && !p->io;
    case verb::spend: return true;
  }
  return false;
}

bool mutex_world::perform(operation const& op) {
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

void mutex_world::perform_one(operation const& op) {
  switch (op.what) {
    case verb::lock: return lock(op);
    case verb::try_lock: return try_lock(false);
    case verb::try_for_zero: return try_lock(true);
    case verb::unlock: return unlock();
    case verb::emit: return emit(op.target, op.item);
    case verb::end_signal: return waits_[op.target].signal.reset();
    case verb::cancel: return cancel();
    case verb::close: return close();
    case verb::end_mutex: return end_mutex();
    case verb::make_mutex: return make_mutex(op.executor);
    case verb::poll: return;
    case verb::run: return run(op.target, op.item);
    case verb::drop: return drop(op.target, op.item);
    case verb::end_context: return end_context(op.target);
    case verb::make_context: places_[op.target].io.emplace(); return;
    case verb::spend:
      while (detail::immediate_budget::available()) detail::immediate_budget::use();
  }
}

void mutex_world::lock(operation const& op) {
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

template <class Handler>
void mutex_world::initiate(operation const& plan, Handler handler) {
  let_pass();  // No two deadlines are the same.
  if (plan.patient == patience::endless) return mutex_->async_lock(std::move(handler));
  mutex_->async_lock_for(time_of(plan.patient), std::move(handler));
}

void mutex_world::start(unsigned id) {
  wait& w = waits_[id];
  place& p = places_[w.plan.target];
  auto const with = [&](auto const& ex) {
    initiate(w.plan, asio::bind_executor(ex, watch(*this, id)));
  };
  manual_queue::executor const by_queue(p.queue, *p.io);
  switch (w.plan.executor) {
    case through::context: return with(p.io->get_executor());
    case through::strand: return with(p.strand_of_its_own());
    case through::queue: return with(by_queue);
    case through::erased_context: return with(asio::any_io_executor(p.io->get_executor()));
    case through::erased_strand: return with(asio::any_io_executor(p.strand_of_its_own()));
    case through::erased_queue: return with(asio::any_io_executor(by_queue));
    case through::relay: return with(bare_executor(relayed_));
    case through::nothing: return initiate(w.plan, watch(*this, id));
  }
}

void mutex_world::spawn(unsigned id) {
  wait& w = waits_[id];
  place& p = places_[w.where];
  auto const on = [&](asio::any_io_executor const& ex) {
    asio::co_spawn(ex, coroutine(id), watch(*this, id));
  };
  switch (w.plan.executor) {
    case through::strand:
    case through::erased_strand: return on(p.strand_of_its_own());
    case through::queue:
    case through::erased_queue: return on(manual_queue::executor(p.queue, *p.io));
    default: return on(p.io->get_executor());
  }
}

asio::awaitable<void> mutex_world::coroutine(unsigned id) {
  co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
  co_await asio::this_coro::throw_if_cancelled(false);
  if (!mutex_) co_return;
  wait& w = waits_[id];
  initiated(id);
  std::tuple<error_code, lock_type> result;
  auto& [error, lock] = result;
  auto const token = asio::as_tuple(asio::deferred);
  let_pass();
  if (w.plan.patient == patience::endless)
    result = co_await mutex_->async_lock(token);
  else
    result = co_await mutex_->async_lock_for(time_of(w.plan.patient), token);
  called(id, error, lock);
  if (!lock.owns_lock()) co_return;
  frame_guard const guard(*this, lock);
  co_await asio::post(co_await asio::this_coro::executor, asio::deferred);
}

void mutex_world::try_lock(bool timed) {
  bool got = false;
  bool refused = false;
  try {
    got = timed ? mutex_->try_lock_for(nanoseconds(0)) : mutex_->try_lock();
  } catch (boost::system::system_error const& e) {
    refused = true;
    require(timed && closed_ && e.code() == error::closed, "R18: what try_lock_for() throws");
  }
  require(refused == (timed && closed_), "R18: a closed mutex refuses those who might wait");
  require(got == (!locked_ && !closed_), "R7: try_lock() gets what is free, and nothing else");
  if (!got) return;
  locked_ = true;
  holder_ = lock_type(*mutex_, std::adopt_lock);
}

void mutex_world::unlock() {
  if (holder_.owns_lock()) {
    holder_.unlock();
    holder_ = {};
    return pass_on();
  }
  error_code thrown;
  try {
    mutex_->unlock();
  } catch (boost::system::system_error const& e) {
    thrown = e.code();
  }
  require(thrown == boost::system::errc::operation_not_permitted, "R15: unlock() of a free mutex");
}

void mutex_world::emit(unsigned id, unsigned type) {
  static constexpr std::array types{asio::cancellation_type::total,
                                    asio::cancellation_type::partial,
                                    asio::cancellation_type::terminal};
  wait& w = waits_[id];
  if (w.state == state::queued) refuse(id, asio::error::operation_aborted);
  w.signal->emit(types[type % types.size()]);
}

void mutex_world::cancel() {
  std::size_t const expected = queue_.size();
  refuse_all(asio::error::operation_aborted);
  require(mutex_->cancel() == expected, "R4: cancel() says how many it has refused");
}

void mutex_world::close() {
  closed_ = true;
  refuse_all(error::closed);
  mutex_->close();
}

void mutex_world::end_mutex() {
  refuse_all(asio::error::operation_aborted);
  if (on_its_way_) waits_[*on_its_way_].expected = asio::error::operation_aborted;
  on_its_way_.reset();
  locked_ = closed_ = false;
  holder_.release();
  mutex_.reset();
}

void mutex_world::make_mutex(through executor) {
  home_ = executor;
  home_alive_ = true;
  place& p = places_[0];
  if (goes_by_queue(executor))
    mutex_.emplace(manual_queue::executor(p.queue, *p.io));
  else
    mutex_.emplace(*p.io);
}

// True if there was something to run.
bool mutex_world::poll(unsigned context) {
  place& p = places_[context];
  value_while const here(running_, context);
  p.io->restart();
  if (p.io->poll_one() == 0) {
    p.timer_stirred = false;
    return false;
  }
  // It is the timer that nobody hears of.
  if (mutex_ && mutex_->waiters() != queue_.size()) expire(context);
  return true;
}

void mutex_world::run(unsigned context, std::size_t item) {
  value_while const here(running_, context);
  places_[context].queue.run(item);
}

void mutex_world::drop(unsigned context, std::size_t item) {
  place& p = places_[context];
  {
    value_while const here(dropping_, context);
    p.queue.drop(item);
  }
  p.drops = true;
  // A coroutine is unwound by a function that is posted: only the mutex can tell before that.
  if (!on_its_way_ || !waits_[*on_its_way_].plan.coroutine) return;
  if (mutex_->is_locked() == locked_ && mutex_->waiters() == queue_.size()) return;
  require(waits_[*on_its_way_].in_queue(context), "R3: the grant that was dropped is another");
  waits_[*on_its_way_].state = state::called;
  on_its_way_.reset();
  pass_on();
}

void mutex_world::end_context(unsigned context) {
  place& p = places_[context];
  value_while const here(dropping_, context);
  if (context == 0) home_alive_ = false;
  p.strand.reset();
  p.io.reset();
  while (p.queue.size() > 0) p.queue.drop(0);
  p.timer_stirred = false;
  for (wait const& w : waits_)
    require(w.where != context || w.state == state::ended, "R10: a handler outlives its context");
}

bool mutex_world::run_anything() {
  bool any = false;
  for (std::uint8_t c = 0; c < contexts; ++c) {
    for (operation const op{verb::run, c}; allows(op); any = true) perform(op);
    if (places_[c].io && perform({verb::poll, c})) any = true;
  }
  return any;
}

void mutex_world::finish(bool contexts_first) {
  for (;;) {
    while (run_anything()) {
    }
    if (!held()) break;
    perform({verb::unlock});
  }
  require(!locked_ && queue_.empty(), "R7: somebody waits for a mutex that nobody holds");
  auto const end_contexts = [&] {
    for (std::uint8_t c = 0; c < contexts; ++c)
      if (places_[c].io) perform({verb::end_context, c});
  };
  if (contexts_first) end_contexts();
  if (mutex_) perform({verb::end_mutex});
  while (run_anything()) {
  }
  end_contexts();
  for (wait const& w : waits_) require(w.state == state::ended, "R1: a handler was left over");
}

// --- What the real thing says -------------------------------------------------------------------

void mutex_world::called(unsigned id, error_code error, lock_type& lock) {
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
  require(error == w.expected, "R3, R4, R9, R11, R18: called with another outcome");
  require(lock.owns_lock() == !error && (error ? !lock.mutex() : lock.mutex() == &*mutex_),
          "R3: the lock goes with success");
  if (!w.by_queue && !(w.plan.coroutine && w.at_once)) {
    unsigned& last = last_turn_[w.where][wants_strand];
    require(last < w.turn, "R7: called before what was decided before it");
    last = w.turn;
  }
  w.state = state::called;
  if (!error) {
    require(on_its_way_ == id && !holder_.owns_lock() && !frame_holds_, "two hold the mutex");
    on_its_way_.reset();
    if (w.plan.coroutine && w.plan.next == then::work_unlock) return;
    holder_ = std::move(lock);
  }
  operation next{verb::lock};
  switch (w.plan.next) {
    case then::nothing:
    case then::work_unlock: return;
    case then::unlock: next.what = verb::unlock; break;
    case then::lock:
      next = w.plan;
      next.next = then::nothing;
      break;
    case then::cancel: next.what = verb::cancel; break;
    case then::close: next.what = verb::close; break;
    case then::end_mutex: next.what = verb::end_mutex; break;
    case then::try_lock: next.what = verb::try_lock; break;
  }
  if (allows(next)) perform(next);
}

void mutex_world::coroutine_ended(std::exception_ptr thrown) {
  require(!thrown, "a coroutine ends with an exception");
}

void mutex_world::ended(unsigned id) {
  wait& w = waits_[id];
  require(w.state != state::ended, "R1: a handler ends twice");
  state const before = std::exchange(w.state, state::ended);
  if (before == state::called) return;
  if (before == state::starting && running_ == w.where) return;  // it found no mutex
  bool const unwound = w.plan.coroutine && w.by_queue && places_[w.where].drops;
  require(dropping_ == w.where || (unwound && running_ == w.where),
          "R1: a handler was destroyed unrun");
  if (before == state::queued) {
    std::erase(queue_, id);
  } else if (on_its_way_ == id) {
    on_its_way_.reset();
    pass_on();
  }
}

void mutex_world::compare() const {
  if (!mutex_) return;
  require(mutex_->is_locked() == locked_, "is_locked()");
  require(mutex_->waiters() == queue_.size(), "R19: waiters()");
  require(mutex_->is_closed() == closed_, "is_closed()");
}

// The context has nothing to do at present.
void mutex_world::check_idle(unsigned context) {
  require(!poll(context), "there was something to run that nobody knew of");
  bool outstanding = false;
  for (wait const& w : waits_) {
    if (w.where != context) continue;
    bool const queued = w.state == state::queued;
    require(w.by_queue || queued || w.state == state::ended, "R1: a completion was lost");
    require(!queued || w.plan.patient != patience::soon, "R11: an expired wait is still queued");
    if (queued && (!w.by_queue || w.plan.patient == patience::far)) outstanding = true;
  }
  require(places_[context].io->stopped() == !outstanding,
          "R8: a context runs for as long as a handler of it is queued");
}

void mutex_world::require(bool condition, char const* text) const {
  if (condition) return;
  std::string message = text;
  for (operation const& op : history_) message += "\n  " + to_text(op);
  violated(message);
}

// --- The model ----------------------------------------------------------------------------------

bool mutex_world::goes_by_queue(through executor) const {
  return executor == through::queue || executor == through::erased_queue;
}

bool mutex_world::busy(unsigned context) const {
  if (!places_[context].io) return false;
  return places_[context].timer_stirred ||
         std::any_of(waits_.begin(), waits_.end(), [&](wait const& w) {
           return w.in_context(context) && w.state != state::queued && w.state != state::ended;
         });
}

void mutex_world::initiated(unsigned id) {
  wait& w = waits_[id];
  w.at_once = true;
  if (!locked_ && !closed_) {
    locked_ = true;
    on_its_way_ = id;
    decide(id, {});
  } else if (closed_) {
    decide(id, error::closed);
  } else if (w.plan.patient == patience::none) {
    decide(id, asio::error::timed_out);
  } else {
    w.at_once = false;
    w.state = state::queued;
    queue_.push_back(id);
    if (w.plan.patient != patience::endless) places_[w.where].timer_stirred = true;
  }
}

void mutex_world::decide(unsigned id, error_code outcome) {
  wait& w = waits_[id];
  w.state = state::decided;
  w.expected = outcome;
  w.turn = ++turns_;
  if (w.plan.patient != patience::endless) places_[w.where].timer_stirred = true;
}

void mutex_world::pass_on() {
  locked_ = !queue_.empty();
  if (!locked_) return;
  on_its_way_ = queue_.front();
  queue_.pop_front();
  decide(*on_its_way_, {});
}

void mutex_world::refuse(unsigned id, error_code outcome) {
  std::erase(queue_, id);
  decide(id, outcome);
}

void mutex_world::refuse_all(error_code outcome) {
  while (!queue_.empty()) refuse(queue_.front(), outcome);
}

// Its timer refuses whatever has expired.
void mutex_world::expire(unsigned context) {
  for (unsigned const id : std::deque<unsigned>(queue_))
    if (waits_[id].where == context && waits_[id].plan.patient == patience::soon)
      refuse(id, asio::error::timed_out);
}

}  // namespace asio_sync::test
