// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CONTEXT_STRAND_ROOMS_HPP
#define ASIO_SYNC_DETAIL_CONTEXT_STRAND_ROOMS_HPP

// Posts a completion to a strand without allocating.
//
// A strand allocates twice for one post: its operation, which holds the completion, and, if the
// strand was idle, its invoker, which the strand posts to its context to run the operations. Both
// ask the allocator of the strand's inner executor for memory. So the strand of a route is a
// context_strand: its inner executor is a rooms_executor, whose allocator hands out memory of the
// waiter's block. executor_route<context_strand> calls strand_rooms; no other route has one.

#include <asio_sync/detail/context/completion_queue.hpp>
#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/platform/asio_compat.hpp>
#include <asio_sync/detail/platform/executor.hpp>
#include <asio_sync/detail/platform/known_context.hpp>

#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/recycling_allocator.hpp>
#include <boost/asio/require.hpp>
#include <boost/asio/strand.hpp>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

namespace asio_sync::detail {

class rooms_executor;

// A strand of an io_context or a thread_pool. Strands of these contexts with another type of inner
// executor convert to it, and the result is the same strand.
using context_strand = asio::strand<rooms_executor>;

class strand_rooms;

// Allocates what a strand or a context keeps of a completion: in the rooms of a waiter, or, if
// `rooms` is null, in memory that Asio recycles.
template <class T>
struct strand_room_allocator {
  using value_type = T;

  explicit strand_room_allocator(strand_rooms* r) noexcept : rooms(r) {}
  template <class U>
  strand_room_allocator(strand_room_allocator<U> const& other) noexcept : rooms(other.rooms) {}

  T* allocate(std::size_t n);
  void deallocate(T* room, std::size_t n) noexcept;

  friend bool operator==(strand_room_allocator const&,
                         strand_room_allocator const&) noexcept = default;

  strand_rooms* rooms;
};

// An executor of an io_context or a thread_pool that never runs a function inside execute(). Both
// contexts share this type, so that the code of a strand is compiled once.
class rooms_executor {
 public:
  // Creates the executor of the context of `ex`, which is an io_context or a thread_pool.
  template <class Executor>
    requires(is_any_executor<Executor> || is_context_executor<Executor>)  //
  rooms_executor(Executor const& ex)
  noexcept : context_(known_context::of(ex)) {}

  asio::execution_context& query(asio::execution::context_t) const noexcept {
    return *context_.get();
  }
  static constexpr asio::execution::blocking_t query(asio::execution::blocking_t) noexcept {
    return asio::execution::blocking.never;
  }
  asio::execution::outstanding_work_t query(asio::execution::outstanding_work_t) const noexcept {
    if (work_) return asio::execution::outstanding_work.tracked;
    return asio::execution::outstanding_work.untracked;
  }
  strand_room_allocator<std::byte> query(asio::execution::allocator_t<void>) const noexcept {
    return strand_room_allocator<std::byte>(rooms_);
  }

  rooms_executor require(asio::execution::blocking_t::never_t) const noexcept { return *this; }
  rooms_executor require(asio::execution::outstanding_work_t::tracked_t) const noexcept {
    return {context_, context_.track(), rooms_};
  }
  rooms_executor require(asio::execution::outstanding_work_t::untracked_t) const noexcept {
    return {context_, context_work(), rooms_};
  }
  // Returns an executor that allocates in the rooms of a waiter.
  rooms_executor require(asio::execution::allocator_t<strand_room_allocator<std::byte>> const&
                             memory) const noexcept {
    return {context_, work_, memory.value().rooms};
  }
  // Returns an executor without rooms. The strand asks for an allocator of its own when its
  // invoker posts itself again; the waiter, and its rooms, may be gone by then.
  template <class Allocator>
  rooms_executor require(asio::execution::allocator_t<Allocator> const&) const noexcept {
    return {context_, work_, nullptr};
  }

  template <class Function>
  void execute(Function&& f) const {
    context_.visit([&](auto const& ex) {
      asio::require(ex, asio::execution::blocking.never,
                    asio::execution::allocator(strand_room_allocator<std::byte>(rooms_)))
          .execute(static_cast<Function&&>(f));
    });
  }

  friend bool operator==(rooms_executor const& a, rooms_executor const& b) noexcept {
    return a.context_.get() == b.context_.get() && a.rooms_ == b.rooms_;
  }

 private:
  rooms_executor(known_context const& context, context_work work, strand_rooms* rooms) noexcept
      : context_(context), work_(std::move(work)), rooms_(rooms) {}

  known_context context_;
  context_work work_;
  strand_rooms* rooms_ = nullptr;
};

// The memory of one post to a strand, in the route of a waiter. The room of the waiter itself is
// for the strand's operation, and a second room, here, for the strand's invoker.
//
// The invoker can outlive the strand's operation: if the strand's service is shut down before the
// scheduler, the strand destroys the completion while the scheduler still holds the invoker. Then
// completion_queue::drop() calls keep_block(), which postpones the drop, and give_back() drops the
// waiter when the memory of the invoker comes back.
class strand_rooms {
 public:
  // The size of Asio's operation with the strand's invoker (a pointer to the strand's
  // implementation, and an executor) and the allocator.
  static constexpr std::size_t invoker_size =
      operation_size + sizeof(std::shared_ptr<void>) + sizeof(rooms_executor) + sizeof(void*);

  explicit strand_rooms(waiter& w) noexcept : waiter_(w) {}

  // Makes the rooms free again. Called before each post; both rooms have come back by then.
  void renew() noexcept { operation_waits_ = false; }

  // Hands out a room: to the strand's operation in the first call, to its invoker in the second.
  void* take() noexcept {
    if (!std::exchange(operation_waits_, true)) return waiter_.room_of_any();
    invoker_waits_ = true;
    return invoker_;
  }

  // Takes a room back, and drops the waiter if its drop was postponed until now.
  void give_back(void* room) noexcept {
    if (room != invoker_) return;
    invoker_waits_ = false;
    if (drop_postponed_) completion_queue::drop(waiter_);
  }

  // Returns true, and postpones the drop of the waiter, if the invoker still uses its room.
  bool keep_block() noexcept { return drop_postponed_ = invoker_waits_; }

 private:
  waiter& waiter_;
  bool operation_waits_ = false;
  bool invoker_waits_ = false;
  bool drop_postponed_ = false;
  alignas(void*) std::byte invoker_[invoker_size];
};

// The last reserve of memory for invokers that post themselves again, 64 strands at a time. Asio
// does that in a destructor, which must not throw if there is no memory.
class last_rooms {
 public:
  // Returns a room, or null if all are taken.
  static void* take() noexcept {
    std::uint64_t taken = taken_.load(std::memory_order_relaxed);
    while (~taken != 0) {
      std::uint64_t const first = ~taken & (taken + 1);
      // Acquire: pairs with the release in give_back().
      if (taken_.compare_exchange_weak(taken, taken | first, std::memory_order_acquire,
                                       std::memory_order_relaxed))
        return rooms_[std::countr_zero(first)];
    }
    return nullptr;
  }

  // Takes a room back. Returns false if the memory is no room of this reserve.
  static bool give_back(void* room) noexcept {
    std::uintptr_t const offset =
        reinterpret_cast<std::uintptr_t>(room) - reinterpret_cast<std::uintptr_t>(&rooms_);
    if (offset >= sizeof(rooms_)) return false;
    // Release: pairs with the acquire in take().
    taken_.fetch_and(~(std::uint64_t(1) << offset / strand_rooms::invoker_size),
                     std::memory_order_release);
    return true;
  }

 private:
  static inline constinit std::atomic<std::uint64_t> taken_{0};
  alignas(void*) static inline std::byte rooms_[64][strand_rooms::invoker_size];
};

template <class T>
T* strand_room_allocator<T>::allocate(std::size_t n) {
  static_assert(sizeof(T) <= strand_rooms::invoker_size && alignof(T) <= alignof(void*));
  if (rooms) return static_cast<T*>(rooms->take());
  try {
    return asio::recycling_allocator<T>().allocate(n);
  } catch (std::bad_alloc const&) {
    if (void* const room = last_rooms::take()) return static_cast<T*>(room);
    throw;
  }
}

template <class T>
void strand_room_allocator<T>::deallocate(T* room, std::size_t n) noexcept {
  if (rooms)
    rooms->give_back(room);
  else if (!last_rooms::give_back(room))
    asio::recycling_allocator<T>().deallocate(room, n);
}

}  // namespace asio_sync::detail

#endif
