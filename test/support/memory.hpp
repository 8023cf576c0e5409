// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_SUPPORT_MEMORY_HPP
#define ASIO_SYNC_TEST_SUPPORT_MEMORY_HPP

#include <asio_sync/detail/platform/block_pool.hpp>

#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <utility>
#include <vector>

// The global heap as the tests see it: memory.cpp replaces operator new and the aligned functions
// of C, through which Asio allocates. Without a scope of the classes below they only forward.
namespace asio_sync::test {

// Counts what the global heap is asked for while this lives: by the calling thread, or by all.
class heap_counter {
 public:
  enum class scope { this_thread, all_threads };

  explicit heap_counter(scope s = scope::this_thread) noexcept;
  heap_counter(heap_counter const&) = delete;
  heap_counter& operator=(heap_counter const&) = delete;
  ~heap_counter();

  std::size_t allocations() const noexcept;
  std::size_t deallocations() const noexcept;
  std::size_t bytes() const noexcept;

  // How much more operator new has given out than operator delete was given back.
  std::ptrdiff_t kept() const noexcept;

 private:
  scope const scope_;
};

// While this lives, allocations of the calling thread fail: one after `successes` of them, or
// every one from there on.
class failing_heap {
 public:
  enum class failures { one, all };

  explicit failing_heap(std::size_t successes = 0, failures f = failures::all) noexcept;
  failing_heap(failing_heap const&) = delete;
  failing_heap& operator=(failing_heap const&) = delete;
  ~failing_heap();

  // How many have failed.
  std::size_t failed() const noexcept;
};

// Takes everything that the library's pool has and this thread can get, so that whatever asks the
// pool for memory asks the heap.
class empty_pool {
 public:
  empty_pool() {
    using namespace detail::pool;
    for (std::size_t c = 0; c < classes; ++c)
      while (this_thread.magazines[c].first || refill(c))
        taken_.emplace_back(take(this_thread.magazines[c], c), c);
  }
  empty_pool(empty_pool const&) = delete;
  empty_pool& operator=(empty_pool const&) = delete;
  ~empty_pool() {
    using namespace detail::pool;
    for (auto const& [memory, c] : taken_) {
      put(this_thread.magazines[c], memory, c);
      if (this_thread.magazines[c].count == capacity) pass_on(c);
    }
  }

 private:
  std::vector<std::pair<void*, std::size_t>> taken_;
};

// Runs Scenario().act() with its first allocation failing, then with its second, until one run
// makes no more; after each run check(thrown) looks at what has become of things. The Scenario is
// made and destroyed with the heap in order and the pool empty. Returns how many there are.
template <class Scenario>
std::size_t fail_each_allocation() {
  for (std::size_t n = 0;; ++n) {
    Scenario scenario;
    bool thrown = false;
    std::size_t failed = 0;
    {
      empty_pool const pool;
      failing_heap const heap(n, failing_heap::failures::one);
      try {
        scenario.act();
      } catch (std::bad_alloc const&) {
        thrown = true;
      }
      failed = heap.failed();
    }
    scenario.check(thrown);
    if (failed == 0) return n;
  }
}

// What an allocator of an allocator_log has been asked for.
struct allocator_log {
  std::size_t allocations = 0;
  std::size_t deallocations = 0;
  std::size_t live_bytes = 0;
  std::size_t total_bytes = 0;
  std::size_t successes = std::numeric_limits<std::size_t>::max();  // before it throws
};

// An allocator to be associated with a handler.
template <class T = void>
class logging_allocator {
 public:
  using value_type = T;

  explicit logging_allocator(allocator_log& log) noexcept : log_(&log) {}
  template <class U>
  logging_allocator(logging_allocator<U> const& other) noexcept : log_(&other.log()) {}

  T* allocate(std::size_t n) {
    if (log_->successes == 0) throw std::bad_alloc();
    --log_->successes;
    ++log_->allocations;
    log_->live_bytes += n * sizeof(T);
    log_->total_bytes += n * sizeof(T);
    return std::allocator<T>().allocate(n);
  }

  void deallocate(T* memory, std::size_t n) noexcept {
    ++log_->deallocations;
    log_->live_bytes -= n * sizeof(T);
    std::memset(static_cast<void*>(memory), 0xff, n * sizeof(T));  // whoever uses it yet, crashes
    std::allocator<T>().deallocate(memory, n);
  }

  allocator_log& log() const noexcept { return *log_; }

  template <class U>
  friend bool operator==(logging_allocator const& a, logging_allocator<U> const& b) noexcept {
    return &a.log() == &b.log();
  }

 private:
  allocator_log* log_;
};

}  // namespace asio_sync::test

#endif
