// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_THREAD_WAIT_HPP
#define ASIO_SYNC_DETAIL_THREAD_WAIT_HPP

#include <asio_sync/detail/wait_limit.hpp>
#include <asio_sync/detail/wait_queue.hpp>

#include <condition_variable>
#include <mutex>

namespace asio_sync::detail {

// A thread that waits in the same queue as the handlers. Lives on its stack.
class thread_wait : public wait_block {
 public:
  // Blocks the calling thread until it is granted or refused.
  static wait_outcome wait(wait_queue& core, wait_limit limit) {
    thread_wait self(core);
    if (limit.expired()) self.outcome = wait_outcome::timed_out;
    if (core.enter(self)) self.block(limit);
    return core.arrive(self.outcome, false);
  }

 private:
  explicit thread_wait(wait_queue& c) noexcept : wait_block(&wake, &c) {}

  static void wake(wait_block& wait, wait_action) {
    auto& self = static_cast<thread_wait&>(wait);
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
