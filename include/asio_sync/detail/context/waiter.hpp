// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CONTEXT_WAITER_HPP
#define ASIO_SYNC_DETAIL_CONTEXT_WAITER_HPP

#include <asio_sync/detail/core/wait_list.hpp>
#include <asio_sync/detail/platform/asio_compat.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace asio_sync::detail {

class homed_core;
class wait_service;

// What a wait is told to do; how is up to its type.
enum class wait_action : std::uint8_t {
  post,          // it is decided and linked nowhere: complete it
  execute,       // hand it to its executor now; may throw
  drop,          // it will never arrive: pass on what it carries, destroy the handler
  discard_empty  // it never came to the queue, and has no handler: free the memory
};

// Whose work keeps the context of a wait running.
enum class wait_work : std::uint8_t {
  none,  // nobody's: it is not queued
  home,  // its core's, as it belongs to the context of its primitive
  own    // its own: it is known to the service of its own context
};

template <std::size_t Size>
struct more_room {
  std::byte bytes[Size];
};
template <>
struct more_room<0> {};

// One wait. At any time one party owns it, see doc/wait-states.md: the initiating thread (fresh),
// the core (queued), who took it out of the queue (decided), its completion on the executor.
struct waiter {
  using function = void(waiter&, wait_action);

  waiter(function* f, homed_core* c) noexcept : act(f), core(c) {}
  waiter(waiter const&) = delete;
  waiter& operator=(waiter const&) = delete;

  function* const act;
  homed_core* const core;

  static constexpr std::uint32_t not_timed = ~std::uint32_t(0);
  std::uint32_t heap_index = not_timed;          // the service's, under its lock
  wait_state state = wait_state::fresh;          // the core's, under its lock
  wait_outcome outcome = wait_outcome::granted;  // likewise
  wait_work work = wait_work::none;              // set before it queues
  bool slot_connected = false;                   // the handler's executor's

  // From here on the room: links while the wait is queued or known to a service, afterwards the
  // memory in which its executor keeps the completion, so that a hand-off allocates nothing.
  waiter* next = nullptr;  // the core's, under its lock; then whose list it is in
  waiter* prev = nullptr;
  waiter* service_next = nullptr;  // the service's, under its lock
  waiter* service_prev = nullptr;
  wait_service* service = nullptr;  // that knows it, until it is detached

  [[no_unique_address]] more_room<system_operation_size> more;

  static constexpr std::size_t room_size = 5 * sizeof(void*) + system_operation_size;
  void* room() noexcept { return &next; }

  // Leaves the service and posts. The last access of whoever took it out of the queue.
  void complete() noexcept;
};

// A completion on its way: what executors are given. Owns the wait.
template <class Wait>
class wait_runner {
 public:
  explicit wait_runner(Wait& wait) noexcept : wait_(&wait) {}
  wait_runner(wait_runner&& other) noexcept : wait_(std::exchange(other.wait_, nullptr)) {}
  wait_runner& operator=(wait_runner&&) = delete;

  ~wait_runner() {
    if (wait_) wait_->drop();
  }

  void operator()() { std::exchange(wait_, nullptr)->run(); }

 private:
  Wait* wait_;
};

// Trivially destructible: usable for as long as the thread runs any code at all.
struct thread_completions {
  wait_list<waiter> pending;
  bool active = false;
  unsigned immediate = 0;  // operations completed without the executor, in a row
};

inline constinit thread_local thread_completions this_thread_completions{};

// The completions of a thread that go to executors which may run or destroy what they are given at
// once. The outermost scope hands them over one after the other, so that chains of hand-offs and
// of drops, however long, nest nowhere.
class completion_scope {
 public:
  completion_scope() noexcept : outermost_(!std::exchange(this_thread_completions.active, true)) {}
  completion_scope(completion_scope const&) = delete;
  completion_scope& operator=(completion_scope const&) = delete;

  ~completion_scope() {
    if (!outermost_) return;
    drain();
    this_thread_completions.active = false;
  }

  // True where completions have to queue, as a scope is open further up the stack.
  static bool active() noexcept { return this_thread_completions.active; }

  static void post(waiter& wait) noexcept {
    completion_scope const scope;
    this_thread_completions.pending.push_back(wait);
  }

  // Hands over what has queued so far.
  static void drain() noexcept {
    while (!this_thread_completions.pending.empty()) {
      waiter& wait = this_thread_completions.pending.pop_front();
      try {
        wait.act(wait, wait_action::execute);
      } catch (...) {  // the executor's: the completion was dropped
      }
    }
  }

 private:
  bool const outermost_;
};

// How many operations in a row a thread may complete without its executor. The next one goes
// through it, so that a loop over a free primitive cannot starve the others on the thread.
class immediate_budget {
 public:
  static bool available() noexcept { return this_thread_completions.immediate < limit; }
  static void use() noexcept { ++this_thread_completions.immediate; }
  static void renew() noexcept { this_thread_completions.immediate = 0; }

 private:
  static constexpr unsigned limit = 128;
};

}  // namespace asio_sync::detail

#endif
