// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include "support/memory.hpp"

#if !defined(_WIN32)  // there the aligned functions are others, with an end of their own
#define ASIO_SYNC_TEST_SEES_ALIGNED 1
#include <malloc.h>
#endif

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace asio_sync::test {
namespace {

struct tally {
  std::size_t allocations = 0;
  std::size_t deallocations = 0;
  std::size_t bytes = 0;
  std::size_t unobserved = 0;  // allocations whose end is not seen
};

struct thread_heap {
  bool counting = false;
  tally counts;
  bool failing = false;
  bool fails_once = false;
  std::size_t successes = 0;
  std::size_t failed = 0;
};

constinit thread_local thread_heap this_thread_heap{};

std::atomic<bool> counting_all{false};
std::atomic<std::size_t> all_allocations{0};
std::atomic<std::size_t> all_deallocations{0};
std::atomic<std::size_t> all_bytes{0};
std::atomic<std::size_t> all_unobserved{0};

// False if the allocation is to fail.
bool admit(std::size_t size) noexcept {
  thread_heap& heap = this_thread_heap;
  if (heap.failing) {
    if (heap.successes == 0 && !(heap.fails_once && heap.failed != 0)) return ++heap.failed, false;
    if (heap.successes != 0) --heap.successes;
  }
  if (heap.counting) {
    ++heap.counts.allocations;
    heap.counts.bytes += size;
  }
  if (counting_all.load(std::memory_order_relaxed)) {
    all_allocations.fetch_add(1, std::memory_order_relaxed);
    all_bytes.fetch_add(size, std::memory_order_relaxed);
  }
  return true;
}

void* allocate(std::size_t size) noexcept {
  return admit(size) ? std::malloc(size != 0 ? size : 1) : nullptr;
}

void* or_throw(void* memory) {
  if (!memory) throw std::bad_alloc();
  return memory;
}

void deallocate(void* memory) noexcept {
  if (!memory) return;
  if (this_thread_heap.counting) ++this_thread_heap.counts.deallocations;
  if (counting_all.load(std::memory_order_relaxed))
    all_deallocations.fetch_add(1, std::memory_order_relaxed);
  std::free(memory);
}

#ifdef ASIO_SYNC_TEST_SEES_ALIGNED
void* allocate(std::size_t size, std::size_t alignment) noexcept {
  return admit(size) ? ::memalign(alignment, size) : nullptr;
}

// For the functions of C: what they return is given back through free(), which is not replaced.
void* allocate_for_free(std::size_t size, std::size_t alignment) noexcept {
  void* const memory = allocate(size, alignment);
  if (!memory) return nullptr;
  if (this_thread_heap.counting) ++this_thread_heap.counts.unobserved;
  if (counting_all.load(std::memory_order_relaxed))
    all_unobserved.fetch_add(1, std::memory_order_relaxed);
  return memory;
}
#endif

}  // namespace

heap_counter::heap_counter(scope s) noexcept : scope_(s) {
  if (scope_ == scope::this_thread) {
    this_thread_heap.counts = {};
    this_thread_heap.counting = true;
  } else {
    all_allocations = all_deallocations = all_bytes = all_unobserved = 0;
    counting_all = true;
  }
}

heap_counter::~heap_counter() {
  if (scope_ == scope::this_thread)
    this_thread_heap.counting = false;
  else
    counting_all = false;
}

std::size_t heap_counter::allocations() const noexcept {
  return scope_ == scope::this_thread ? this_thread_heap.counts.allocations
                                      : all_allocations.load();
}

std::size_t heap_counter::deallocations() const noexcept {
  return scope_ == scope::this_thread ? this_thread_heap.counts.deallocations
                                      : all_deallocations.load();
}

std::ptrdiff_t heap_counter::kept() const noexcept {
  std::size_t const unobserved =
      scope_ == scope::this_thread ? this_thread_heap.counts.unobserved : all_unobserved.load();
  return static_cast<std::ptrdiff_t>(allocations() - unobserved - deallocations());
}

std::size_t heap_counter::bytes() const noexcept {
  return scope_ == scope::this_thread ? this_thread_heap.counts.bytes : all_bytes.load();
}

failing_heap::failing_heap(std::size_t successes, failures f) noexcept {
  this_thread_heap.successes = successes;
  this_thread_heap.fails_once = f == failures::one;
  this_thread_heap.failed = 0;
  this_thread_heap.failing = true;
}

failing_heap::~failing_heap() { this_thread_heap.failing = false; }

std::size_t failing_heap::failed() const noexcept { return this_thread_heap.failed; }

}  // namespace asio_sync::test

namespace test = asio_sync::test;

void* operator new(std::size_t size) { return test::or_throw(test::allocate(size)); }
void* operator new[](std::size_t size) { return test::or_throw(test::allocate(size)); }
void* operator new(std::size_t size, std::nothrow_t const&) noexcept {
  return test::allocate(size);
}
void* operator new[](std::size_t size, std::nothrow_t const&) noexcept {
  return test::allocate(size);
}
void operator delete(void* memory) noexcept { test::deallocate(memory); }
void operator delete[](void* memory) noexcept { test::deallocate(memory); }
void operator delete(void* memory, std::size_t) noexcept { test::deallocate(memory); }
void operator delete[](void* memory, std::size_t) noexcept { test::deallocate(memory); }
#ifdef ASIO_SYNC_TEST_SEES_ALIGNED
void* operator new(std::size_t size, std::align_val_t alignment) {
  return test::or_throw(test::allocate(size, static_cast<std::size_t>(alignment)));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return test::or_throw(test::allocate(size, static_cast<std::size_t>(alignment)));
}

void operator delete(void* memory, std::align_val_t) noexcept { test::deallocate(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { test::deallocate(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  test::deallocate(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  test::deallocate(memory);
}

extern "C" void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  return test::allocate_for_free(size, alignment);
}

extern "C" int posix_memalign(void** memory, std::size_t alignment, std::size_t size) noexcept {
  void* const result = test::allocate_for_free(size, alignment);
  if (!result) return ENOMEM;
  *memory = result;
  return 0;
}
#endif
