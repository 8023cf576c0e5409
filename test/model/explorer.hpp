// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_MODEL_EXPLORER_HPP
#define ASIO_SYNC_TEST_MODEL_EXPLORER_HPP

#include "arena.hpp"
#include "fiber.hpp"
#include "order.hpp"
#include "schedule.hpp"
#include "scheduler.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace model::detail {

inline constexpr int scenario = -1;

enum class status { ready, locking, sleeping, pausing, finished };

struct thread {
  explicit thread(std::function<void()> loop) : stack{std::move(loop)} {}

  fiber stack;
  std::optional<body_ref> body;
  status state = status::finished;
  // What it does next, or is blocked in.
  const char* operation = nullptr;
  const void* object = nullptr;
};

/// One exploration: the fibers, the decisions on the way to the present run, and that run.
///
/// A thread decides on its own stack who comes next, and switches there directly, or not at all
/// when it goes on itself; the scenario's fiber runs while `running_` is -1.
class explorer {
 public:
  explorer(const options& how, body_ref body) : how_{how}, scenario_{[this] { run_loop(); }} {
    scenario_.body = body;
    events_.reserve(how.max_steps);
  }

  void follow(std::vector<choice> script) { script_ = std::move(script); }
  result explore();

  int running() const { return running_; }
  standpoint& here() { return standpoints_[static_cast<std::size_t>(running_) + 1]; }
  bool failed() const { return failed_; }
  const std::vector<event>& events() const { return events_; }
  [[noreturn]] void fail(std::string message);

  void run_threads(const body_ref* bodies, std::size_t count);
  void step(const char* operation, const void* object);
  void step_to_lock(const void* lock, const bool* held);
  void lock_taken(const void* lock);
  void lock_released(const void* lock);
  void sleep(const char* operation, const void* object);
  void wake(const char* operation, const void* object, bool all);
  void pause();
  int choose(int count);
  bool fail_spuriously();
  bool may_read_stale() const;
  int choose_stale(std::uint32_t candidates);
  bool has_read_stale() const { return stale_reads_ > 0; }

  arena& memory() { return memory_; }
  void deallocate(void* pointer);
  void require_not_freed(const void* pointer);

 private:
  // One position of the depth-first search.
  struct decision {
    int taken;
    int options;
  };

  static std::uint32_t bit(int index) { return index < 0 ? 0 : std::uint32_t{1} << index; }

  fiber& stack_of(int index) { return (index < 0 ? scenario_ : *threads_[index]).stack; }

  [[noreturn]] void run_loop();
  [[noreturn]] void thread_loop(thread& self);
  void call(const body_ref& body);
  void finish_run();
  bool backtrack();
  void start_order();
  void order_threads(bool after_the_scenario);
  void resume(int next);
  void pass_on();
  int pick();
  int pick_by_script();
  int decide(int count);
  void wait_for_turn(const char* operation, const void* object, status state, bool blocked);
  std::optional<choice> next_of_script();
  [[noreturn]] void report_deadlock();

  template <class Function>
  void for_blocked(status state, const void* object, Function function) {
    for (int i = 0; i < count_; ++i) {
      if (threads_[i]->state == state && threads_[i]->object == object) {
        function(i);
      }
    }
  }

  const options how_;
  std::vector<decision> trail_;
  std::size_t depth_ = 0;  // Decisions of the trail that this run has been through.
  std::optional<std::vector<choice>> script_;
  std::size_t script_at_ = 0;
  bool diverged_ = false;

  fiber caller_;
  thread scenario_;
  std::array<std::unique_ptr<thread>, max_threads> threads_;
  int count_ = 0;
  int unfinished_ = 0;
  int running_ = scenario;
  bool starting_ = false;
  std::uint32_t enabled_ = 0;  // Who can take a step, by bits.
  std::uint32_t pausing_ = 0;
  int preemptions_ = 0;
  bool spurious_ = false;
  int stale_reads_ = 0;
  std::array<standpoint, max_threads + 1> standpoints_;  // The scenario's first.

  arena memory_;
  std::vector<event> events_;
  bool failed_ = false;
  std::string message_;
};

}  // namespace model::detail

#endif
