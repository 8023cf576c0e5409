// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include "scheduler.hpp"

#include "explorer.hpp"

#include <cstdlib>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace model {
namespace detail {
namespace {

explorer* active = nullptr;

// What a failing run has left on its fibers' stacks stays reachable, for the sake of leak checkers
// at the end of the program too.
std::vector<std::unique_ptr<explorer>>& abandoned() {
  static auto& all = *new std::vector<std::unique_ptr<explorer>>;
  return all;
}

result run(std::unique_ptr<explorer> fresh) {
  if (active != nullptr) {
    throw std::logic_error("an exploration inside of another");
  }
  active = fresh.get();
  result found = fresh->explore();
  active = nullptr;
  if (found.failed) {
    abandoned().push_back(std::move(fresh));
  }
  return found;
}

void print(const result& found) {
  std::cerr << "model: " << found.message << "\n  in run " << found.runs
            << "; replay it with ASIO_SYNC_MODEL_REPLAY=" << found.schedule;
  if (test_name != nullptr) {
    std::cerr << " and --run_test=" << test_name();
  }
  std::cerr << '\n';
}

}  // namespace

// --- What the header declares -------------------------------------------------------------------

result explore(const options& how, body_ref body) {
  if (const char* schedule = std::getenv("ASIO_SYNC_MODEL_REPLAY")) {
    return replay(schedule, how, body);
  }
  result found = run(std::make_unique<explorer>(how, body));
  if (found.failed && !how.quiet) {
    print(found);
  }
  return found;
}

result replay(std::string_view schedule, const options& how, body_ref body) {
  auto fresh = std::make_unique<explorer>(how, body);
  fresh->follow(parse(schedule));
  result found = run(std::move(fresh));
  if (!how.quiet) {
    std::cerr << "model: replayed " << schedule
              << (found.diverged ? ", which did not fit to its end" : "") << ": "
              << (found.failed ? found.message : "nothing found") << '\n'
              << found.trace;
  }
  return found;
}

void run_threads(const body_ref* bodies, std::size_t count) {
  if (active == nullptr) {
    throw std::logic_error("threads() outside of an exploration");
  }
  active->run_threads(bodies, count);
}

void step(const char* operation, const void* object) {
  if (active != nullptr) {
    active->step(operation, object);
  }
}

void step_to_lock(const void* lock, const bool* held) {
  if (active != nullptr) {
    active->step_to_lock(lock, held);
  } else if (*held) {
    fail("deadlock: nobody is there to unlock");
  }
}

void lock_taken(const void* lock) {
  if (active != nullptr) {
    active->lock_taken(lock);
  }
}

void lock_released(const void* lock) {
  if (active != nullptr) {
    active->lock_released(lock);
  }
}

void sleep(const char* operation, const void* object) {
  if (active == nullptr) {
    fail("deadlock: nobody is there to notify");
  }
  active->sleep(operation, object);
}

void wake_one(const void* object) {
  if (active != nullptr) {
    active->wake("notify_one", object, false);
  }
}

void wake_all(const void* object) {
  if (active != nullptr) {
    active->wake("notify_all", object, true);
  }
}

standpoint* here() { return active == nullptr ? nullptr : &active->here(); }

bool fail_spuriously() { return active != nullptr && active->fail_spuriously(); }

bool may_read_stale() { return active != nullptr && active->may_read_stale(); }

int choose_stale(std::uint32_t candidates) { return active->choose_stale(candidates); }

bool has_read_stale() { return active != nullptr && active->has_read_stale(); }

void require_not_freed(const void* pointer) {
  if (active != nullptr) {
    active->require_not_freed(pointer);
  }
}

void* allocate(std::size_t size, std::size_t alignment) {
  if (active == nullptr) {
    return ::operator new (size, std::align_val_t{alignment});
  }
  void* memory = active->memory().allocate(size, alignment);
  if (memory == nullptr) {
    active->fail("the run has used up its tracked memory");
  }
  return memory;
}

void deallocate(void* pointer, std::size_t alignment) {
  if (active == nullptr) {
    ::operator delete (pointer, std::align_val_t{alignment});
  } else {
    active->deallocate(pointer);
  }
}

}  // namespace detail

namespace {

int from_environment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  if (text == nullptr) {
    return otherwise;
  }
  return std::string_view{text} == "unlimited" ? unlimited : std::stoi(text);
}

}  // namespace

int default_bound() { return from_environment("ASIO_SYNC_MODEL_BOUND", 2); }

int default_stale_reads() { return from_environment("ASIO_SYNC_MODEL_STALE", 1); }

int this_thread() { return detail::active == nullptr ? -1 : detail::active->running(); }

void fail(std::string_view text) {
  if (detail::active == nullptr) {
    throw std::logic_error(std::string(text));
  }
  detail::active->fail("failed in " + detail::to_name(this_thread()) + ": " + std::string(text));
}

void check(bool condition, std::string_view text) {
  if (!condition) {
    fail(text);
  }
}

int choose(int count) { return detail::active == nullptr ? 0 : detail::active->choose(count); }

void pause() {
  if (detail::active != nullptr) {
    detail::active->pause();
  }
}

bool alive(const void* pointer) {
  return detail::active == nullptr || !detail::active->memory().freed(pointer);
}

}  // namespace model
