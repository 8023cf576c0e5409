// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CONTEXT_CONTEXT_ENDS_HPP
#define ASIO_SYNC_DETAIL_CONTEXT_CONTEXT_ENDS_HPP

#include <asio_sync/detail/context/completion_queue.hpp>
#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/platform/threading.hpp>

#include <atomic>
#include <cstdint>

namespace asio_sync::detail {

// Keeps the ends of contexts apart from threads that decide waits at times which no user can know,
// such as the thread of a client when its server has answered. All other threads are ordered with
// the end of a context by their user.
class context_ends {
 public:
  // A time in which this thread may decide waits, and no context ends on another one. User code
  // runs after it: that of executors which the library does not know, whose contexts are not
  // protected. Inside another such time, or inside an end, this is a part of that.
  class held_off {
   public:
    held_off() noexcept : outermost_(mine_ == 0) {
      if (outermost_) begin(1);
    }
    held_off(held_off const&) = delete;
    held_off& operator=(held_off const&) = delete;
    ~held_off() {
      if (outermost_) finish();
    }

   private:
    completion_queue::posting const user_code_later_;
    bool const outermost_;
  };

  // The end of a context. Does nothing in a time in which this thread holds ends off, or inside
  // another end.
  class single_end {
   public:
    // Relaxed: the user orders the end of a context with what has been done with it before, such
    // as making a client's primitive over it.
    single_end() noexcept
        : outermost_(mine_ == 0 && may_be_held_off_.load(std::memory_order_relaxed)) {
      if (!outermost_) return;
      begin(ending);
      for (back_off pass_time; state_.load(std::memory_order_acquire) != ending;) pass_time();
    }
    single_end(single_end const&) = delete;
    single_end& operator=(single_end const&) = delete;
    ~single_end() {
      if (outermost_) finish();
    }

   private:
    bool const outermost_;
  };

  // Comes before the first thread that holds ends off. The caller has forget_other_threads()
  // called after a fork.
  static void may_be_held_off() noexcept {
    may_be_held_off_.store(true, std::memory_order_relaxed);
  }

  // In the child of a fork the other threads are not there.
  static void forget_other_threads() noexcept { state_.store(mine_, std::memory_order_relaxed); }

 private:
  static constexpr std::uint32_t ending = std::uint32_t(1) << 31;

  // Acquire and release: each time comes before an end, or after it.
  static void begin(std::uint32_t what) noexcept {
    mine_ = what;
    std::uint32_t seen = state_.load(std::memory_order_relaxed);
    for (back_off pass_time;;) {
      if ((seen & ending) != 0) {
        pass_time();
        seen = state_.load(std::memory_order_relaxed);
      } else if (state_.compare_exchange_weak(seen, seen + what, std::memory_order_acquire,
                                              std::memory_order_relaxed)) {
        return;
      }
    }
  }

  static void finish() noexcept {
    state_.fetch_sub(mine_, std::memory_order_release);
    mine_ = 0;
  }

  static inline constinit std::atomic<bool> may_be_held_off_{false};
  // The number of threads that hold ends off, and `ending`; and the part of this thread.
  static inline constinit std::atomic<std::uint32_t> state_{0};
  static inline constinit thread_local std::uint32_t mine_ = 0;
};

}  // namespace asio_sync::detail

#endif
