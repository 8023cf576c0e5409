// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_OPERATION_THREAD_WAITER_HPP
#define ASIO_SYNC_DETAIL_OPERATION_THREAD_WAITER_HPP

#include <asio_sync/detail/context/homed_core.hpp>
#include <asio_sync/detail/operation/wait_limit.hpp>

#include <condition_variable>
#include <mutex>

namespace asio_sync::detail {

// A thread that waits in the same queue as the handlers. Lives on its stack.
class thread_waiter : public waiter {
 public:
  // Blocks the calling thread until it is granted or refused.
  static wait_outcome wait(homed_core& core, wait_limit limit) {
    thread_waiter self(core);
    if (limit.expired()) self.outcome = wait_outcome::timed_out;
    if (core.enter(self)) self.block(limit);
    return core.arrive(self.outcome, false);
  }

 private:
  explicit thread_waiter(homed_core& c) noexcept : waiter(&wake, &c) {}

  static void wake(waiter& wait, wait_action) {
    auto& self = static_cast<thread_waiter&>(wait);
    // Under the lock, as the thread leaves, and this object with it, the moment that it may.
    std::lock_guard const guard(self.lock_);
    self.woken_ = true;
    self.changed_.notify_one();
  }

  void block(wait_limit limit) {
    auto const is_woken = [this] { return woken_; };
    std::unique_lock guard(lock_);
    if (limit.timed()) {
      if (changed_.wait_until(guard, limit.deadline(), is_woken)) return;
      guard.unlock();
      core->refuse(*this, wait_outcome::timed_out);
      guard.lock();
    }
    changed_.wait(guard, is_woken);
  }

  std::mutex lock_;
  std::condition_variable changed_;
  bool woken_ = false;
};

}  // namespace asio_sync::detail

#endif
