// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_PLATFORM_BLOCK_POOL_HPP
#define ASIO_SYNC_DETAIL_PLATFORM_BLOCK_POOL_HPP

#include <asio_sync/detail/platform/config.hpp>
#include <asio_sync/detail/platform/threading.hpp>

#include <cstddef>
#include <memory>
#include <mutex>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#define ASIO_SYNC_POISON_BLOCKS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ASIO_SYNC_POISON_BLOCKS 1
#endif
#endif
#ifdef ASIO_SYNC_POISON_BLOCKS
#include <sanitizer/asan_interface.h>
#endif

namespace asio_sync::detail {

// The memory of waits and cores. Each thread keeps a magazine of free blocks for each size; full
// magazines pass batches on to a depot that all threads share, empty ones take batches from it, so
// that it costs no heap where one thread initiates what another completes. (Asio's own recycling
// keeps two blocks a thread. Magazines and depot are Bonwick's, USENIX 2001.)
//
// Every block comes from the global heap on its own, so that any shared object may free the blocks
// of any other. A thread's blocks go to the depot when it ends; whatever is freed after that, by
// destructors of statics say, goes to the heap, and so does the depot in the end.
namespace pool {

inline constexpr std::size_t grain = 16;    // blocks are of this size and its multiples
inline constexpr std::size_t classes = 32;  // the largest is 512 bytes
inline constexpr std::size_t batch = 64;    // blocks that pass between magazine and depot at once
inline constexpr std::size_t capacity = 2 * batch;  // of a magazine
inline constexpr std::size_t depot_capacity = 128;  // batches of each size

struct block {
  block* next;
  block* next_batch;  // in the first block of a batch that is in the depot
};

struct magazine {
  block* first = nullptr;
  std::size_t count = 0;
};

// Trivially destructible: usable for as long as the thread runs any code at all.
struct thread_cache {
  magazine magazines[classes];
  bool open = false;
  bool over = false;
};

struct depot {
  spin_lock lock;
  block* first = nullptr;
  std::size_t batches = 0;
};

inline constinit thread_local thread_cache this_thread{};
inline constinit depot depots[classes]{};

constexpr std::size_t class_of(std::size_t size) noexcept { return (size - 1) / grain; }
constexpr std::size_t bytes_of(std::size_t c) noexcept { return (c + 1) * grain; }

inline void* take(magazine& own, [[maybe_unused]] std::size_t c) noexcept {
  block* const head = own.first;
  own.first = head->next;
  --own.count;
#ifdef ASIO_SYNC_POISON_BLOCKS
  ASAN_UNPOISON_MEMORY_REGION(head, bytes_of(c));
#endif
  return head;
}

inline void put(magazine& own, void* memory, [[maybe_unused]] std::size_t c) noexcept {
  own.first = new (memory) block{own.first, nullptr};
  ++own.count;
#ifdef ASIO_SYNC_POISON_BLOCKS
  ASAN_POISON_MEMORY_REGION(static_cast<block*>(memory) + 1, bytes_of(c) - sizeof(block));
#endif
}

inline void give_to_heap(block* first, [[maybe_unused]] std::size_t c) noexcept {
  while (first) {
    block* const next = first->next;
#ifdef ASIO_SYNC_POISON_BLOCKS
    ASAN_UNPOISON_MEMORY_REGION(first, bytes_of(c));
#endif
    ::operator delete(first);
    first = next;
  }
}

// Empties the depot when the process ends, or the shared object is unloaded whose it is. From then
// on the depot counts as full.
struct depot_end {
  ~depot_end() {
    for (std::size_t c = 0; c < classes; ++c) {
      std::lock_guard const guard(depots[c].lock);
      depots[c].batches = depot_capacity;
      while (block* const first = depots[c].first) {
        depots[c].first = first->next_batch;
        give_to_heap(first, c);
      }
    }
  }
};

// A magazine hands a batch to the depot; if that is full, to the heap.
ASIO_SYNC_COLD inline void pass_on(std::size_t c) noexcept {
  static depot_end const end;
  static_cast<void>(end);
  magazine& own = this_thread.magazines[c];
  block* const first = own.first;
  block* last = first;
  std::size_t moved = 1;
  for (; moved < batch && last->next; ++moved) last = last->next;
  own.first = last->next;
  own.count -= moved;
  last->next = nullptr;
  {
    std::lock_guard const guard(depots[c].lock);
    if (depots[c].batches < depot_capacity) {
      first->next_batch = depots[c].first;
      depots[c].first = first;
      ++depots[c].batches;
      return;
    }
  }
  give_to_heap(first, c);
}

// Hands a thread's blocks on when it ends.
struct thread_end {
  ~thread_end() {
    this_thread.open = false;
    this_thread.over = true;
    for (std::size_t c = 0; c < classes; ++c)
      while (this_thread.magazines[c].first) pass_on(c);
  }
};

// Opens this thread's magazines, unless the thread is at its end.
ASIO_SYNC_COLD inline bool open() noexcept {
  if (this_thread.over) return false;
  static thread_local thread_end const end;
  this_thread.open = true;
  return static_cast<void>(end), true;
}

// An empty magazine takes a batch from the depot.
ASIO_SYNC_COLD inline bool refill(std::size_t c) noexcept {
  if (!this_thread.open && !open()) return false;
  block* first;
  {
    std::lock_guard const guard(depots[c].lock);
    first = depots[c].first;
    if (!first) return false;
    depots[c].first = first->next_batch;
    --depots[c].batches;
  }
  magazine& own = this_thread.magazines[c];
  own.first = first;
  for (; first; first = first->next) ++own.count;
  return true;
}

// Both say `inline`, as g++ otherwise calls them out of what is flattened.
template <std::size_t Class>
inline void* allocate() {
  magazine& own = this_thread.magazines[Class];
  if (!own.first && !refill(Class)) return ::operator new(bytes_of(Class));
  return take(own, Class);
}

template <std::size_t Class>
inline void deallocate(void* memory) noexcept {
  if (!this_thread.open && !open()) return ::operator delete(memory);
  magazine& own = this_thread.magazines[Class];
  put(own, memory, Class);
  if (own.count == capacity) pass_on(Class);
}

}  // namespace pool

// The pool as an allocator of single objects that are no larger than its largest block and aligned
// no more than operator new aligns; of all others the heap.
template <class T>
struct pool_allocator {
  using value_type = T;

  pool_allocator() = default;
  template <class U>
  pool_allocator(pool_allocator<U> const&) noexcept {}

  T* allocate(std::size_t n) {
    if constexpr (is_pooled)
      if (n == 1) return static_cast<T*>(pool::allocate<size_class>());
    return std::allocator<T>().allocate(n);
  }

  void deallocate(T* memory, std::size_t n) noexcept {
    if constexpr (is_pooled)
      if (n == 1) return pool::deallocate<size_class>(memory);
    std::allocator<T>().deallocate(memory, n);
  }

  friend bool operator==(pool_allocator, pool_allocator) noexcept { return true; }

 private:
  static constexpr std::size_t size_class = pool::class_of(sizeof(T));
  static constexpr bool is_pooled =
      size_class < pool::classes && alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__;
};

}  // namespace asio_sync::detail

#endif
