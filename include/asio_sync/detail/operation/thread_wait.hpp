// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_OPERATION_THREAD_WAIT_HPP
#define ASIO_SYNC_DETAIL_OPERATION_THREAD_WAIT_HPP

// The wait of a thread, in the same queue as the handlers.

#include <asio_sync/detail/context/completion_queue.hpp>
#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/operation/beginning.hpp>
#include <asio_sync/detail/operation/wait_limit.hpp>
#include <asio_sync/detail/platform/threading.hpp>

#include <boost/asio/execution_context.hpp>

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <utility>

namespace asio_sync::detail {

// To a thread, which waits in it: the thread has no context, and its waiter no memory.
class way_to_thread final : public route {
 public:
  way_to_thread() noexcept : route(true) {}

  // Blocks until the waiter has been decided; when its time is up, refuses it.
  void wait(waiter& w, wait_limit limit) {
    cancellation_disabled const whole;  // the queue refers to this thread's stack
    auto const is_woken = [this] { return woken_; };
    std::unique_lock guard(lock_);
    if (limit.timed()) {
      if (changed_.wait_until(guard, limit.deadline(), is_woken)) return;
      guard.unlock();
      decided_under_lock expired;
      w.core->expire(w, expired);
      expired.hand_out();
      guard.lock();
    }
    changed_.wait(guard, is_woken);
  }

  void post(waiter&) override {
    // Under the lock, as the thread leaves, and this with it, the moment that it may.
    std::lock_guard const guard(lock_);
    woken_ = true;
    changed_.notify_one();
  }

  void track(waiter&) override {}
  asio::execution_context& context(waiter const&) const override { return *nobodys; }
  void destroy(waiter const&) noexcept override {}

 private:
  static constexpr asio::execution_context* nobodys = nullptr;

  std::mutex lock_;
  std::condition_variable changed_;
  bool woken_ = false;
};

// Blocks the calling thread until the core has granted or refused what it asks for. The waiter
// lives on its stack. A grant is counted.
template <class Core>
verdict block_thread(Core& core, typename Core::node::asked_type asked, wait_limit limit) {
  completion_queue::drain_if_any();
  way_to_thread way;
  typename Core::node self([](waiter&, waiter_action) {}, &core, std::move(asked));
  self.way = &way;
  if (core.enter(self)) way.wait(self, limit);
  return core.arrive(self.decided(), false);
}

// Blocks the calling thread until the operation has been granted or refused: as a deadlock, if it
// would block a thread that runs the primitive's own context.
template <class Operation>
verdict wait_in_thread(Operation const& operation) {
  if (verdict const decided = operation.try_now(); decided.decided()) return decided;
  if (operation.core().home_runs_here()) return wait_outcome::deadlock;
  return block_thread(operation.core(), operation.asked(), operation.limit());
}

}  // namespace asio_sync::detail

#endif
