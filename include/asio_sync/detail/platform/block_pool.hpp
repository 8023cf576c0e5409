// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_PLATFORM_BLOCK_POOL_HPP
#define ASIO_SYNC_DETAIL_PLATFORM_BLOCK_POOL_HPP

#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/platform/threading.hpp>

#include <cstddef>
#include <memory>
#include <mutex>
#include <new>

#ifdef ASIO_SYNC_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#define ASIO_SYNC_READS_POISON __attribute__((no_sanitize_address, noinline)) inline
#else
#define ASIO_SYNC_READS_POISON inline
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

// All of a free block is poisoned, its links too.
inline void poison([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t c) noexcept {
#ifdef ASIO_SYNC_ADDRESS_SANITIZER
  ASAN_POISON_MEMORY_REGION(memory, bytes_of(c));
#endif
}

inline void unpoison([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t c) noexcept {
#ifdef ASIO_SYNC_ADDRESS_SANITIZER
  ASAN_UNPOISON_MEMORY_REGION(memory, bytes_of(c));
#endif
}

inline void* take(magazine& own, std::size_t c) noexcept {
  block* const head = own.first;
  unpoison(head, c);
  own.first = head->next;
  --own.count;
  return head;
}

inline void put(magazine& own, void* memory, std::size_t c) noexcept {
  own.first = new (memory) block{own.first, nullptr};
  ++own.count;
  poison(memory, c);
}

inline void give_to_heap(block* first, std::size_t c) noexcept {
  while (first) {
    unpoison(first, c);
    block* const next = first->next;
    ::operator delete(first);
    first = next;
  }
}

// Takes up to a batch from a magazine; returns how many.
ASIO_SYNC_READS_POISON std::size_t cut_batch(magazine& own) noexcept {
  block* last = own.first;
  std::size_t moved = 1;
  for (; moved < batch && last->next; ++moved) last = last->next;
  own.first = last->next;
  own.count -= moved;
  last->next = nullptr;
  return moved;
}

ASIO_SYNC_READS_POISON void push_batch(depot& to, block* first) noexcept {
  first->next_batch = to.first;
  to.first = first;
  ++to.batches;
}

ASIO_SYNC_READS_POISON block* pop_batch(depot& from) noexcept {
  block* const first = from.first;
  if (!first) return nullptr;
  from.first = first->next_batch;
  --from.batches;
  return first;
}

ASIO_SYNC_READS_POISON std::size_t length(block* first) noexcept {
  std::size_t n = 0;
  for (; first; first = first->next) ++n;
  return n;
}

// Empties the depot when the process ends, or the shared object is unloaded whose it is. From then
// on the depot counts as full.
struct depot_end {
  ~depot_end() {
    for (std::size_t c = 0; c < classes; ++c) {
      std::lock_guard const guard(depots[c].lock);
      while (block* const first = pop_batch(depots[c])) give_to_heap(first, c);
      depots[c].batches = depot_capacity;
    }
  }
};

// A magazine hands a batch to the depot; if that is full, to the heap.
ASIO_SYNC_COLD inline void pass_on(std::size_t c) noexcept {
  static depot_end const end;
  static_cast<void>(end);
  magazine& own = this_thread.magazines[c];
  block* const first = own.first;
  cut_batch(own);
  {
    std::lock_guard const guard(depots[c].lock);
    if (depots[c].batches < depot_capacity) return push_batch(depots[c], first);
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

// Opens this thread's magazines, unless the thread is at its end. To be told of that end needs
// memory, and without it some C libraries abort the process: so try whether there is enough.
ASIO_SYNC_COLD inline bool open() noexcept {
  constexpr std::size_t plenty = 4096;
  if (this_thread.over) return false;
  void* const trial = ::operator new(plenty, std::nothrow);
  if (!trial) return false;
  ::operator delete(trial);
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
    first = pop_batch(depots[c]);
  }
  if (!first) return false;
  this_thread.magazines[c] = {first, length(first)};
  return true;
}

// Bytes, aligned as operator new aligns.
ASIO_SYNC_INLINE void* allocate(std::size_t bytes) {
  std::size_t const c = class_of(bytes);
  if (c >= classes) return ::operator new(bytes);
  magazine& own = this_thread.magazines[c];
  if (!own.first && !refill(c)) return ::operator new(bytes_of(c));
  return take(own, c);
}

ASIO_SYNC_INLINE void deallocate(void* memory, std::size_t bytes) noexcept {
  std::size_t const c = class_of(bytes);
  if (c >= classes || (!this_thread.open && !open())) return ::operator delete(memory);
  magazine& own = this_thread.magazines[c];
  put(own, memory, c);
  if (own.count == capacity) pass_on(c);
}

}  // namespace pool

// The same for objects: single ones, in which the pool is best, and any other number. What is
// aligned more than operator new aligns comes from the heap.
template <class T>
struct pool_allocator {
  using value_type = T;

  pool_allocator() = default;
  template <class U>
  pool_allocator(pool_allocator<U> const&) noexcept {}

  T* allocate(std::size_t n) {
    if constexpr (is_aligned_more)
      return static_cast<T*>(::operator new(n * sizeof(T), alignment));
    else
      return static_cast<T*>(pool::allocate(n * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t n) noexcept {
    if constexpr (is_aligned_more)
      ::operator delete(memory, alignment);
    else
      pool::deallocate(memory, n * sizeof(T));
  }

  friend bool operator==(pool_allocator, pool_allocator) noexcept { return true; }

 private:
  static constexpr std::align_val_t alignment{alignof(T)};
  static constexpr bool is_aligned_more = alignof(T) > __STDCPP_DEFAULT_NEW_ALIGNMENT__;
};

}  // namespace asio_sync::detail

#endif
