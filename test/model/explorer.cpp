// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include "explorer.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <exception>

namespace model::detail {

// --- Runs ---------------------------------------------------------------------------------------

result explorer::explore() {
  const auto start = std::chrono::steady_clock::now();
  result found;
  do {
    depth_ = 0;
    preemptions_ = 0;
    spurious_ = false;
    stale_reads_ = 0;
    events_.clear();
    memory_.reset();
    start_order();
    ++found.runs;
    caller_.switch_to(scenario_.stack);
    found.complete = !failed_ && !script_ && !backtrack();
  } while (!failed_ && !script_ && !found.complete && found.runs < how_.max_runs);
  found.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  found.failed = failed_;
  found.diverged = diverged_;
  found.message = message_;
  if (failed_ || script_) {
    found.schedule = to_text(events_);
    found.trace = to_trace(events_);
  }
  return found;
}

// Turns to the next branch of the search, if there is one.
bool explorer::backtrack() {
  while (!trail_.empty() && trail_.back().taken + 1 == trail_.back().options) {
    trail_.pop_back();
  }
  if (trail_.empty()) {
    return false;
  }
  ++trail_.back().taken;
  return true;
}

void explorer::run_loop() {
  for (;;) {
    call(*scenario_.body);
    finish_run();
    scenario_.stack.switch_to(caller_);
  }
}

void explorer::finish_run() {
  if (depth_ < trail_.size()) {
    fail("the scenario is not deterministic: a run ended before its last decision");
  }
  diverged_ = diverged_ || (script_ && script_at_ < script_->size());
  if (std::string trouble = memory_.audit(); !trouble.empty()) {
    fail(std::move(trouble));
  }
}

void explorer::thread_loop(thread& self) {
  for (;;) {
    call(*self.body);
    self.state = status::finished;
    enabled_ &= ~bit(running_);
    --unfinished_;
    resume(starting_ || unfinished_ == 0 ? scenario : pick());
  }
}

void explorer::call(const body_ref& body) {
  std::string what;
  try {
    return body();
  } catch (const std::exception& error) {
    what = error.what();
  } catch (...) {
    what = "of an unknown type";
  }
  fail("an exception left " + to_name(running_) + ": " + what);
}

void explorer::fail(std::string message) {
  failed_ = true;
  message_ = std::move(message);
  stack_of(running_).switch_to(caller_);
  std::abort();
}

// --- Threads ------------------------------------------------------------------------------------

void explorer::run_threads(const body_ref* bodies, std::size_t count) {
  if (running_ != scenario || count > max_threads) {
    fail("threads() is for the scenario itself, and at most seven of them");
  }
  count_ = unfinished_ = static_cast<int>(count);
  enabled_ = pausing_ = 0;
  for (int i = 0; i < count_; ++i) {
    if (!threads_[i]) {
      threads_[i] = std::make_unique<thread>([this, i] { thread_loop(*threads_[i]); });
    }
    threads_[i]->body = bodies[i];
    threads_[i]->state = status::ready;
    threads_[i]->object = nullptr;
    enabled_ |= bit(i);
  }
  order_threads(true);
  starting_ = true;
  for (int i = 0; i < count_; ++i) {
    resume(i);
  }
  starting_ = false;
  if (unfinished_ > 0) {
    resume(pick());
  }
  order_threads(false);
  count_ = 0;
}

void explorer::start_order() {
  for (int i = scenario; i < static_cast<int>(max_threads); ++i) {
    standpoint& each = standpoints_[static_cast<std::size_t>(i) + 1];
    each = {{}, i};
    each.tick() = 1;
  }
}

// What the scenario does happens before what its threads do, and then the other way round.
void explorer::order_threads(bool after_the_scenario) {
  standpoint& whole = standpoints_[0];
  for (int i = 0; i < count_; ++i) {
    standpoint& each = standpoints_[static_cast<std::size_t>(i) + 1];
    standpoint& later = after_the_scenario ? each : whole;
    later.seen.join(after_the_scenario ? whole.seen : each.seen);
    ++each.tick();
  }
  ++whole.tick();
}

void explorer::resume(int next) {
  if (next != running_) {
    fiber& from = stack_of(running_);
    running_ = next;
    from.switch_to(stack_of(next));
  }
}

// Lets others go first where the search wants it; returns when the running thread's step has come.
void explorer::pass_on() { resume(starting_ ? scenario : pick()); }

// The running thread has come to its next operation: returns when that is to take place.
void explorer::wait_for_turn(const char* operation, const void* object, status state,
                             bool blocked) {
  if (running_ == scenario) {
    if (blocked) {
      fail(std::string("deadlock: the scenario is blocked in ") + operation);
    }
    return;
  }
  const int index = running_;
  thread& self = *threads_[index];
  self.state = state;
  self.operation = operation;
  self.object = object;
  enabled_ &= blocked ? ~bit(index) : ~std::uint32_t{0};
  pass_on();
  self.state = status::ready;
  enabled_ |= pausing_;
  pausing_ = 0;
  if (events_.size() >= how_.max_steps) {
    fail("livelock: more than " + std::to_string(how_.max_steps) + " steps");
  }
  events_.push_back({{choice_of::thread, index}, index, operation, object});
}

void explorer::step(const char* operation, const void* object) {
  wait_for_turn(operation, object, status::ready, false);
  require_not_freed(object);
}

// --- The search ---------------------------------------------------------------------------------

// The thread that takes the next step. Going on with the running one is the first alternative, so
// that the first run has no preemptions.
int explorer::pick() {
  if (enabled_ == 0) {
    enabled_ = std::exchange(pausing_, 0);
    if (enabled_ == 0) {
      report_deadlock();
    }
  }
  if (script_) {
    return pick_by_script();
  }
  const bool can_stay = (enabled_ & bit(running_)) != 0;
  if (can_stay && preemptions_ >= how_.preemptions) {
    return running_;
  }
  int rank = decide(std::popcount(enabled_));
  std::uint32_t others = enabled_;
  if (can_stay) {
    if (rank == 0) {
      return running_;
    }
    ++preemptions_;
    --rank;
    others &= ~bit(running_);
  }
  while (rank-- > 0) {
    others &= others - 1;
  }
  return std::countr_zero(others);
}

int explorer::decide(int count) {
  if (count == 1) {
    return 0;
  }
  if (depth_ == trail_.size()) {
    trail_.push_back({0, count});
  } else if (trail_[depth_].options != count) {
    fail("the scenario is not deterministic: it came to another decision than before");
  }
  return trail_[depth_++].taken;
}

int explorer::choose(int count) {
  if (count < 1) {
    fail("choose() among nothing");
  }
  int value = 0;
  if (!script_) {
    value = decide(count);
  } else if (const auto next = next_of_script()) {
    if (next->kind == choice_of::data && next->value < count) {
      value = next->value;
    } else {
      diverged_ = true;
    }
  }
  events_.push_back({{choice_of::data, value}, running_, nullptr, nullptr});
  return value;
}

int explorer::pick_by_script() {
  if (const auto next = next_of_script()) {
    if (next->kind == choice_of::thread && next->value < count_ &&
        (enabled_ & bit(next->value)) != 0) {
      return next->value;
    }
    diverged_ = true;
  }
  return (enabled_ & bit(running_)) != 0 ? running_ : std::countr_zero(enabled_);
}

// A schedule that ends before the run does is not of this run either.
std::optional<choice> explorer::next_of_script() {
  diverged_ = diverged_ || script_at_ == script_->size();
  if (diverged_) {
    return std::nullopt;
  }
  return (*script_)[script_at_++];
}

// --- Blocking -----------------------------------------------------------------------------------

void explorer::step_to_lock(const void* lock, const bool* held) {
  require_not_freed(lock);
  wait_for_turn("lock", lock, status::locking, *held);
  require_not_freed(lock);
}

void explorer::lock_taken(const void* lock) {
  for_blocked(status::locking, lock, [&](int i) { enabled_ &= ~bit(i); });
}

void explorer::lock_released(const void* lock) {
  for_blocked(status::locking, lock, [&](int i) { enabled_ |= bit(i); });
}

void explorer::sleep(const char* operation, const void* object) {
  wait_for_turn(operation, object, status::sleeping, true);
  require_not_freed(object);
}

void explorer::pause() {
  pausing_ |= bit(running_);
  wait_for_turn("pause", nullptr, status::pausing, running_ != scenario);
}

void explorer::wake(const char* operation, const void* object, bool all) {
  wait_for_turn(operation, object, status::ready, false);
  if (!how_.notify_by_address) {
    require_not_freed(object);
  }
  std::array<int, max_threads> asleep;
  int count = 0;
  for_blocked(status::sleeping, object, [&](int i) { asleep[count++] = i; });
  if (!all && count > 1) {
    asleep[0] = asleep[choose(count)];
  }
  for (int i = 0; i < (all ? count : std::min(count, 1)); ++i) {
    threads_[asleep[i]]->state = status::ready;
    enabled_ |= bit(asleep[i]);
  }
}

bool explorer::fail_spuriously() {
  if (!how_.spurious_failures || spurious_ || running_ == scenario) {
    return false;
  }
  spurious_ = choose(2) == 1;
  return spurious_;
}

// A schedule has a stale read only where there was one.
bool explorer::may_read_stale() const {
  if (running_ == scenario) {
    return false;
  }
  if (!script_) {
    return stale_reads_ < how_.stale_reads;
  }
  return script_at_ < script_->size() && (*script_)[script_at_].kind == choice_of::stale;
}

// How many stores before the newest the running thread reads. The candidates are bits: the lowest
// is the newest store.
int explorer::choose_stale(std::uint32_t candidates) {
  if (script_) {
    const auto next = next_of_script();
    diverged_ = !next || next->value >= 32 || (candidates & bit(next->value)) == 0;
    candidates = diverged_ ? 1 : bit(next->value);
  } else {
    for (int rank = decide(std::popcount(candidates)); rank > 0; --rank) {
      candidates &= candidates - 1;
    }
  }
  const int back = std::countr_zero(candidates);
  if (back > 0) {
    ++stale_reads_;
    events_.push_back({{choice_of::stale, back}, running_, nullptr, nullptr});
  }
  return back;
}

void explorer::report_deadlock() {
  object_names name{events_};
  std::string text = "deadlock or lost wake-up:";
  for (int i = 0; i < count_; ++i) {
    const thread& each = *threads_[i];
    if (each.state != status::finished) {
      text += (text.back() == ':' ? " " : ", ") + to_name(i) + " is in " + each.operation;
      text += name(each.object);
    }
  }
  fail(std::move(text));
}

// --- Memory -------------------------------------------------------------------------------------

void explorer::deallocate(void* pointer) {
  if (const char* trouble = memory_.free(pointer)) {
    fail(trouble);
  }
  // Who is blocked in what is gone now goes on, to be found using it.
  for (int i = 0; i < count_; ++i) {
    if (threads_[i]->state != status::finished && memory_.freed(threads_[i]->object)) {
      enabled_ |= bit(i);
    }
  }
}

void explorer::require_not_freed(const void* pointer) {
  if (memory_.freed(pointer)) {
    const char* operation = running_ == scenario ? nullptr : threads_[running_]->operation;
    fail("use after free by " + to_name(running_) +
         (operation != nullptr ? std::string(" in ") + operation : std::string{}));
  }
}

}  // namespace model::detail
