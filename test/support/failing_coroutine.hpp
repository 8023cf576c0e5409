// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_SUPPORT_FAILING_COROUTINE_HPP
#define ASIO_SYNC_TEST_SUPPORT_FAILING_COROUTINE_HPP

#include "support/memory.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <cstddef>
#include <new>
#include <optional>
#include <utility>

namespace asio_sync::test {

// A coroutine that awaits an operation, one allocation of which fails: after so many others, with
// the pool empty. The constructor runs the context until the operation is over, has failed, or
// waits; then the heap is in order again.
class failing_coroutine {
 public:
  template <class Start>
  failing_coroutine(boost::asio::io_context& context, std::size_t successes, Start start) {
    auto coroutine = [this, successes, start]() -> boost::asio::awaitable<void> {
      pool_.emplace();
      heap_.emplace(successes, failing_heap::failures::one);
      try {
        static_cast<void>(co_await start());
        completed_ = true;
      } catch (std::bad_alloc const&) {
        thrown_ = true;
      }
      recover();
    };
    boost::asio::co_spawn(context, std::move(coroutine), boost::asio::detached);
    try {
      context.restart();
      context.poll();
    } catch (std::bad_alloc const&) {  // of what was deferred: the coroutine is gone
      thrown_ = true;
    }
    recover();
  }
  failing_coroutine(failing_coroutine const&) = delete;
  failing_coroutine& operator=(failing_coroutine const&) = delete;

  // Whether there were as many allocations.
  bool failed() const noexcept { return failed_; }
  // Whether that has thrown.
  bool thrown() const noexcept { return thrown_; }
  // Whether the operation has completed, by now.
  bool completed() const noexcept { return completed_; }

 private:
  void recover() noexcept {
    if (heap_) failed_ = heap_->failed() != 0;
    heap_.reset();
    pool_.reset();
  }

  std::optional<empty_pool> pool_;
  std::optional<failing_heap> heap_;
  bool failed_ = false, thrown_ = false, completed_ = false;
};

}  // namespace asio_sync::test

#endif
