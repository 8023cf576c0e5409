// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_MODEL_SCHEDULER_HPP
#define ASIO_SYNC_TEST_MODEL_SCHEDULER_HPP

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <string>
#include <string_view>
#include <utility>

/// A checker that runs a small concurrent scenario once for every way of interleaving its threads.
///
///     auto result = model::explore([] {
///       model::atomic<int> count{0};
///       model::threads([&] { count.store(count.load() + 1); },
///                      [&] { count.store(count.load() + 1); });
///       model::check(count.load() == 2, "both increments count");
///     });
///     BOOST_TEST(!result.failed, result.message);
///
/// The threads are fibers. A thread can be left at the operations of `model::atomic` and
/// `model::spin_lock` alone, just before each; what lies between two of them is one step. The
/// search is depth-first over which thread takes the next step, and keeps to schedules with few
/// preemptions: few are enough to find most bugs, and few keeps the number of runs small. With
/// `options::stale_reads` it is also over the stores that loads return.
///
/// A scenario must do the same in each run when the same choices are made: no addresses, clocks or
/// random numbers in its decisions, and no state that outlives a run.
///
/// A run that fails is abandoned where it stands and its fibers are never resumed, as they may be
/// inside of `noexcept` functions: destructors do not run then. Exploring is for one thread.
namespace model {

inline constexpr int unlimited = std::numeric_limits<int>::max();

/// `ASIO_SYNC_MODEL_BOUND` in the environment, a number or `unlimited`; else 2.
int default_bound();

/// `ASIO_SYNC_MODEL_STALE` in the environment, a number or `unlimited`; else 1.
int default_stale_reads();

struct options {
  /// How often a schedule may leave a thread that could go on. Leaving one that is blocked or has
  /// finished is free. A number given here stands; the environment only changes the default.
  int preemptions = default_bound();
  /// How often a run may read an older value of an atomic than the newest.
  int stale_reads = 0;
  /// More steps in one run are a livelock.
  std::size_t max_steps = 10'000;
  /// The search ends unfinished after so many runs.
  std::uint64_t max_runs = std::numeric_limits<std::uint64_t>::max();
  /// Let `compare_exchange_weak` fail without reason, at most once in a run.
  bool spurious_failures = false;
  /// Allow to notify an atomic that has been freed. The standard does not; libstdc++ and a futex
  /// only use the address, as a waiter that owns the atomic needs it.
  bool notify_by_address = false;
  /// Print nothing.
  bool quiet = false;
};

struct result {
  std::uint64_t runs = 0;
  double seconds = 0;
  /// Something was found; the search has ended with it.
  bool failed = false;
  /// Every schedule within the bound has been run.
  bool complete = false;
  /// A replayed schedule did not fit, and the run went on without it.
  bool diverged = false;
  std::string message;
  /// Replays the failing run: `0x3.1.c2` is three steps of thread 0, one of thread 1, and 2 out of
  /// a `choose`; `s1` after a step says that it read the value before the newest.
  std::string schedule;
  /// The failing run, a line for each step.
  std::string trace;
};

namespace detail {

/// A reference to something that can be called.
class body_ref {
 public:
  template <class Body>
    requires(!std::same_as<Body, body_ref>)
  explicit body_ref(Body& body)
      : object_{&body}, call_{[](void* object) { (*static_cast<Body*>(object))(); }} {}

  void operator()() const { call_(object_); }

 private:
  void* object_;
  void (*call_)(void*);
};

result explore(const options& how, body_ref scenario);
result replay(std::string_view schedule, const options& how, body_ref scenario);
void run_threads(const body_ref* bodies, std::size_t count);

// What the operations of policy.hpp tell the scheduler. `object` tells them apart.
void step(const char* operation, const void* object);
void step_to_lock(const void* lock, const bool* held);
void lock_taken(const void* lock);
void lock_released(const void* lock);
void sleep(const char* operation, const void* object);
void wake_one(const void* object);
void wake_all(const void* object);
bool fail_spuriously();
bool may_read_stale();
int choose_stale(std::uint32_t candidates);
bool has_read_stale();

void* allocate(std::size_t size, std::size_t alignment);
void require_not_freed(const void* pointer);
void deallocate(void* pointer, std::size_t alignment);

}  // namespace detail

/// Runs the scenario in every schedule within the bound, until one fails. With a schedule in
/// `ASIO_SYNC_MODEL_REPLAY` runs that one instead, as `replay` does.
template <std::invocable Scenario>
result explore(const options& how, Scenario scenario) {
  return detail::explore(how, detail::body_ref{scenario});
}

template <std::invocable Scenario>
result explore(Scenario scenario) {
  return detail::explore(options{}, detail::body_ref{scenario});
}

/// Runs the scenario once, by a schedule out of `result::schedule`, and prints its steps. A
/// schedule made for other code is followed for as long as it fits.
template <std::invocable Scenario>
result replay(std::string_view schedule, Scenario scenario, const options& how = {}) {
  return detail::replay(schedule, how, detail::body_ref{scenario});
}

/// Runs the bodies concurrently, as threads 0, 1, …, and returns when all have returned. Called by
/// a scenario between its set-up and its checks, also more than once.
///
/// What a body does before its first operation is not a step: the bodies do it one after another.
template <std::invocable... Bodies>
void threads(Bodies... bodies) {
  const detail::body_ref refs[] = {detail::body_ref{bodies}...};
  detail::run_threads(refs, sizeof...(Bodies));
}

/// The number of the calling thread, -1 in the scenario itself.
int this_thread();

/// Fails the run unless the condition holds.
void check(bool condition, std::string_view text);

/// Fails the run.
[[noreturn]] void fail(std::string_view text);

/// Any number below `count`: each is explored.
int choose(int count);

/// A step that comes after another thread's, if any can take one: for loops that poll.
void pause();

/// Whether this does not point into a tracked object that has been freed in this run.
bool alive(const void* pointer);

/// A step that uses the object, for what is not an atomic: fails if it has been freed.
template <class T>
T* access(T* pointer) {
  detail::step("access", pointer);
  return pointer;
}

/// Makes a tracked object. It must be freed in the same run, and its memory is not used again in
/// this run: an operation on an atomic or a lock in a freed one fails the run.
template <class T, class... Args>
T* make(Args&&... args) {
  void* memory = detail::allocate(sizeof(T), alignof(T));
  return ::new (memory) T(std::forward<Args>(args)...);
}

/// Destroys and frees what `make` has made.
template <class T>
void destroy(T* object) {
  detail::require_not_freed(object);
  object->~T();
  detail::deallocate(object, alignof(T));
}

/// A base that makes `new` and `delete` of a class tracked.
struct tracked {
  static void* operator new(std::size_t size) {
    return detail::allocate(size, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  }
  static void* operator new(std::size_t size, std::align_val_t alignment) {
    return detail::allocate(size, static_cast<std::size_t>(alignment));
  }
  static void* operator new(std::size_t, void* place) noexcept { return place; }
  static void operator delete(void* pointer) {
    detail::deallocate(pointer, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  }
  static void operator delete(void* pointer, std::align_val_t alignment) {
    detail::deallocate(pointer, static_cast<std::size_t>(alignment));
  }
};

/// Gives the name of the running test, for the line that says how to replay. May be null.
inline std::string (*test_name)() = nullptr;

}  // namespace model

#endif
