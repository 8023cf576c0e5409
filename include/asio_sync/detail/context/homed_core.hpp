// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CONTEXT_HOMED_CORE_HPP
#define ASIO_SYNC_DETAIL_CONTEXT_HOMED_CORE_HPP

#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/core/fifo_core.hpp>
#include <asio_sync/detail/platform/block_pool.hpp>
#include <asio_sync/detail/platform/config.hpp>
#include <asio_sync/detail/platform/executor.hpp>
#include <asio_sync/detail/platform/threading.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

namespace asio_sync::detail {

// Waits that one transition of one core has decided. Holds work of the core's home context until
// they are posted, where this thread does not run inside that context: otherwise the context could
// run out of work, and return from run(), between the decision and the post.
class decided_waits : public wait_list<waiter> {
 public:
  void complete() noexcept {
    while (!empty()) pop_front().complete();
  }

 private:
  friend class kept_work;
  context_work keep_;
};

// The home context of a core and the work that it holds there: one for all waits that are queued.
// After a hand-over inside the context also for the wait that is on its way, as the holder is
// likely to queue again before that arrives: two that take turns would let go of the work and take
// it again each time. Told under the lock of the core.
class kept_work {
 public:
  void joined(waiter const& wait) noexcept {
    if (wait.work != wait_work::home) return;
    if (!work_) work_ = context_.track();
    ++waits_;
    surplus_.store(false, std::memory_order_relaxed);
  }

  void left(waiter const& wait, decided_waits& decided) noexcept {
    if (wait.work != wait_work::home) return;
    --waits_;
    if (context_.running_in_this_thread())
      surplus_.store(waits_ == 0, std::memory_order_relaxed);
    else if (waits_ == 0)
      decided.keep_ = std::exchange(work_, context_work());
    else if (!decided.keep_)
      decided.keep_ = context_.track();
  }

  void settled(decided_waits& decided) noexcept {
    if (!has_surplus()) return;
    decided.keep_ = std::exchange(work_, context_work());
    surplus_.store(false, std::memory_order_relaxed);
  }

  // Whether work is held although nobody is queued. Also without the lock, by who arrives.
  bool has_surplus() const noexcept { return surplus_.load(std::memory_order_relaxed); }

  known_context const& context() const noexcept { return context_; }
  void move_to(known_context const& context) noexcept { context_ = context; }

 private:
  known_context context_;
  context_work work_;
  std::uint32_t waits_ = 0;
  threading::atomic<bool> surplus_{false};
};

struct mutex_traits : threading {
  using node = waiter;
  using list = decided_waits;
  using tally = kept_work;
  static constexpr bool exclusive = true;
  static constexpr std::uint32_t weight(waiter const&) noexcept { return 1; }
};

// The core of a primitive, bound to Asio: knows its home context and completes what it decides.
class homed_core : public fifo_core<mutex_traits> {
 public:
  // Throws what allocating it, or adding the service to the executor's context, throws.
  template <class Executor>
  static homed_core* make(void* primitive, Executor const& ex);

  void* primitive() const noexcept { return primitive_; }
  known_context const& home() noexcept { return tally().context(); }

  // Gives the permit back or on; false if it was not held. The destructors of guards call it: code
  // that is flattened would have a copy for each.
  ASIO_SYNC_NOINLINE ASIO_SYNC_FLATTEN bool release() noexcept {
    decided_waits decided;
    bool const held = fifo_core::release(1, false, decided);
    decided.complete();
    return held;
  }

  // Refuses one wait unless it is decided already.
  void refuse(waiter& wait, wait_outcome outcome) noexcept {
    decided_waits decided;
    remove(wait, outcome, decided);
    decided.complete();
  }

  std::size_t refuse_all(wait_outcome outcome) noexcept {
    decided_waits decided;
    std::size_t const refused = remove_if([](waiter const&) { return true; }, outcome, decided);
    decided.complete();
    return refused;
  }

  void close() noexcept {
    decided_waits decided;
    fifo_core::close(decided);
    decided.complete();
  }

  // The primitive ends. The core ends with it, or with the last completion on its way.
  void abandon() noexcept;

  // A decided wait arrives: its outcome is final. Unless that is granted the core may be gone.
  wait_outcome arrive(wait_outcome decided, bool at_home) noexcept {
    if (decided == wait_outcome::granted && deliver()) {
      if (at_home && tally().has_surplus()) leave_work();
      return wait_outcome::granted;
    }
    unref();
    return decided == wait_outcome::granted ? wait_outcome::aborted : decided;
  }

  // A decided wait will never arrive: what it carries goes on to the next.
  void pass_on(waiter& wait) noexcept {
    if (wait.outcome != wait_outcome::granted) return unref();
    decided_waits decided;
    if (drop(wait, decided)) destroy();
    decided.complete();
  }

 private:
  friend class wait_service;
  friend class wait_list<homed_core>;

  explicit homed_core(void* primitive) noexcept : fifo_core(1, 1), primitive_(primitive) {}

  ASIO_SYNC_COLD void leave_work() noexcept {
    decided_waits nothing;
    settle_tally(nothing);
  }

  void unref() noexcept {
    if (forget()) destroy();
  }

  void destroy() noexcept {
    pool_allocator<homed_core> memory;
    std::destroy_at(this);
    memory.deallocate(this, 1);
  }

  // Under the service's lock: the context's services shut down, its waits leave with it.
  void leave_home(decided_waits& decided) noexcept {
    remove_if([](waiter const& wait) { return wait.work == wait_work::home; },
              wait_outcome::aborted, decided);
    tally().move_to(known_context());
    service = nullptr;
  }

  void* const primitive_;

  // The service of the home context, under its lock.
  wait_service* service = nullptr;
  homed_core* next = nullptr;
  homed_core* prev = nullptr;
};

}  // namespace asio_sync::detail

#endif
