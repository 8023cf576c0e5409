// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_CLIENT_STRAND_ROUTE_HPP
#define ASIO_SYNC_REDIS_DETAIL_CLIENT_STRAND_ROUTE_HPP

#include <asio_sync/detail/platform/executor.hpp>
#include <asio_sync/redis/detail/hub/hub.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace asio_sync::redis::detail {

// The memory for what waits in a strand, and for the strand that waits in its context. More than
// that is seldom needed, and comes from the heap.
class strand_memory {
 public:
  void* allocate(std::size_t size) {
    for (room& r : rooms_)
      if (size <= sizeof r.bytes && !r.is_used.exchange(true, std::memory_order_acquire))
        return r.bytes;
    return ::operator new(size);
  }

  void deallocate(void* memory) noexcept {
    for (room& r : rooms_)
      if (memory == r.bytes) return r.is_used.store(false, std::memory_order_release);
    ::operator delete(memory);
  }

 private:
  struct room {
    alignas(std::max_align_t) std::byte bytes[192];
    std::atomic<bool> is_used = false;
  };
  room rooms_[3];
};

// Owns the memory: a strand may keep an allocator for longer than what it has allocated.
template <class T>
struct strand_allocator {
  using value_type = T;

  explicit strand_allocator(std::shared_ptr<strand_memory> m) noexcept : memory(std::move(m)) {}
  template <class U>
  strand_allocator(strand_allocator<U> const& other) noexcept : memory(other.memory) {}

  T* allocate(std::size_t n) { return static_cast<T*>(memory->allocate(n * sizeof(T))); }
  void deallocate(T* p, std::size_t) noexcept { memory->deallocate(p); }

  friend bool operator==(strand_allocator const&, strand_allocator const&) noexcept = default;

  std::shared_ptr<strand_memory> memory;
};

// A strand of the client's own. To post to it takes no memory if its executor is that of an
// io_context or a thread_pool, bare or erased.
class strand_route {
 public:
  strand_route(strand_route const&) = delete;
  strand_route& operator=(strand_route const&) = delete;
  virtual ~strand_route() = default;

  static std::shared_ptr<strand_route> make(asio::any_io_executor const& ex);

  virtual asio::any_io_executor executor() const = 0;

  // Has the driver of the hub take its orders.
  virtual void post(std::shared_ptr<hub> to) = 0;

 protected:
  strand_route() = default;
};

template <class Executor>
class strand_route_of final : public strand_route {
 public:
  explicit strand_route_of(Executor const& ex) : strand_(asio::make_strand(ex)) {}

  asio::any_io_executor executor() const override { return strand_; }

  void post(std::shared_ptr<hub> to) override {
    asio::post(strand_, drain{std::move(to), allocator(memory_)});
  }

 private:
  using allocator = strand_allocator<std::byte>;

  struct drain {
    using allocator_type = allocator;
    allocator_type get_allocator() const noexcept { return memory; }
    void operator()() const noexcept { to->drain(); }

    std::shared_ptr<hub> to;
    allocator memory;
  };

  asio::strand<Executor> const strand_;
  std::shared_ptr<strand_memory> const memory_ = std::make_shared<strand_memory>();
};

inline std::shared_ptr<strand_route> strand_route::make(asio::any_io_executor const& ex) {
  if (auto const* const io = ex.target<shell::io_executor>())
    return std::make_shared<strand_route_of<shell::io_executor>>(*io);
  if (auto const* const pool = ex.target<shell::pool_executor>())
    return std::make_shared<strand_route_of<shell::pool_executor>>(*pool);
  return std::make_shared<strand_route_of<asio::any_io_executor>>(ex);
}

}  // namespace asio_sync::redis::detail

#endif
