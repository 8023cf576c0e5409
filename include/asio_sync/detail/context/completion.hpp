// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CONTEXT_COMPLETION_HPP
#define ASIO_SYNC_DETAIL_CONTEXT_COMPLETION_HPP

// What executors are given, and the memory in which they keep it.

#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/platform/known_context.hpp>

#include <boost/asio/execution.hpp>
#include <boost/asio/require.hpp>

#include <cstddef>
#include <utility>

namespace asio_sync::detail {

// Holds the waits that a thread has still to complete, see completion_queue. It is trivially
// destructible, so that it can be used as long as the thread runs any code.
struct thread_completions {
  wait_list<waiter> dropped;    // what they carry has to go on
  wait_list<waiter> kept;       // handlers to destroy, and completions that may run anything
  wait_list<waiter> postponed;  // handlers to destroy once a context has dropped all that it has
  bool linking = false;         // drops are only linked: what follows is done further up the stack
  bool executing = false;       // an unknown executor was called further up the stack
  bool draining = false;        // `kept` is being worked off further up the stack
  unsigned immediate = 0;       // operations completed without the executor, in a row
};

inline constinit thread_local thread_completions this_thread_completions{};

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

// A completion on its way: owns the waiter. Step says what comes when it is run.
template <class Step>
class completion_of {
 public:
  explicit completion_of(waiter& w) noexcept : waiter_(&w) {}
  completion_of(completion_of&& other) noexcept : waiter_(std::exchange(other.waiter_, nullptr)) {}
  completion_of& operator=(completion_of&&) = delete;

  // Run by nobody: what it carries goes on.
  ~completion_of() {
    if (waiter_) drop(*waiter_);
  }

  void operator()() { Step::run(release()); }

  waiter& release() noexcept { return *std::exchange(waiter_, nullptr); }

 private:
  ASIO_SYNC_COLD static void drop(waiter& w) noexcept;

  waiter* waiter_;
};

// On the handler's executor.
struct last_step {
  static void run(waiter& w) {
    immediate_budget::renew();
    w.act(w, waiter_action::complete);
  }
};

using completion = completion_of<last_step>;

// Hands out the room of a waiter as the memory in which an executor keeps the completion.
template <class T>
struct room_allocator {
  using value_type = T;

  explicit room_allocator(void* r) noexcept : room(r) {}
  template <class U>
  room_allocator(room_allocator<U> const& other) noexcept : room(other.room) {}

  T* allocate(std::size_t) noexcept {
    static_assert(sizeof(T) <= waiter::room_size && alignof(T) <= alignof(void*));
    return static_cast<T*>(room);
  }
  void deallocate(T*, std::size_t) noexcept {}

  friend bool operator==(room_allocator const&, room_allocator const&) noexcept = default;

  void* room;
};

// Posts to a context, in a room of the waiter: needs no memory, and does not throw.
template <class Step>
void post_to(known_context const& context, waiter& w, void* room) {
  context.visit([&](auto const& ex) {
    asio::require(ex, asio::execution::blocking.never,
                  asio::execution::allocator(room_allocator<std::byte>(room)))
        .execute(completion_of<Step>(w));
  });
}

}  // namespace asio_sync::detail

#endif
