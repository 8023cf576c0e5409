// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_PLATFORM_KNOWN_CONTEXT_HPP
#define ASIO_SYNC_DETAIL_PLATFORM_KNOWN_CONTEXT_HPP

// The contexts that the library knows, an io_context or a thread_pool, without a template for
// each: their work, and whether they run on this thread.

#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/platform/executor.hpp>
#include <asio_sync/detail/platform/threading.hpp>

#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/thread_pool.hpp>

#include <atomic>
#include <memory>
#include <new>
#include <utility>

namespace asio_sync::detail {

// Work of an io_context or a thread_pool: keeps its run() from returning.
class context_work {
 public:
  context_work() noexcept {}

  explicit context_work(io_executor const& ex)
      : io_(asio::prefer(ex, asio::execution::outstanding_work.tracked)), kind_(kind::io) {}
  explicit context_work(pool_executor const& ex)
      : pool_(asio::prefer(ex, asio::execution::outstanding_work.tracked)), kind_(kind::pool) {}

  ASIO_SYNC_NOINLINE context_work(context_work const& other) noexcept : kind_(other.kind_) {
    if (kind_ == kind::io)
      ::new (static_cast<void*>(std::addressof(io_))) tracked_io(other.io_);
    else if (kind_ == kind::pool)
      ::new (static_cast<void*>(std::addressof(pool_))) tracked_pool(other.pool_);
  }
  context_work(context_work&& other) noexcept { take(other); }
  context_work& operator=(context_work&& other) noexcept {
    context_work const old(std::move(*this));
    take(other);
    return *this;
  }

  ~context_work() { reset(); }

  void reset() noexcept {
    if (kind_ != kind::none) let_go();
  }

  explicit operator bool() const noexcept { return kind_ != kind::none; }

 private:
  using tracked_io = tracked_executor<io_executor>;
  using tracked_pool = tracked_executor<pool_executor>;
  enum class kind : unsigned char { none, io, pool };

  ASIO_SYNC_NOINLINE void let_go() noexcept {
    if (std::exchange(kind_, kind::none) == kind::io)
      io_.~tracked_io();
    else
      pool_.~tracked_pool();
  }

  // Into one that holds nothing. Nothing is left to destroy of an executor that was moved from.
  void take(context_work& other) noexcept {
    kind_ = std::exchange(other.kind_, kind::none);
    if (kind_ == kind::io)
      ::new (static_cast<void*>(std::addressof(io_))) tracked_io(std::move(other.io_));
    else if (kind_ == kind::pool)
      ::new (static_cast<void*>(std::addressof(pool_))) tracked_pool(std::move(other.pool_));
  }

  union {
    void* none_[2] = {};  // g++ would warn of what it thinks is read without having been written
    tracked_io io_;
    tracked_pool pool_;
  };
  kind kind_ = kind::none;
};

// An io_context, a thread_pool, or neither. Read by threads that may not ask it anything, as it
// may be about to end: they compare its address.
class known_context {
 public:
  known_context() noexcept : address_(nullptr) {}
  explicit known_context(asio::io_context& io) noexcept : address_(&io) {}
  explicit known_context(asio::thread_pool& pool) noexcept : address_(&pool), is_pool_(true) {}
  known_context(asio::execution_context& context, bool is_pool) noexcept
      : address_(&context), is_pool_(is_pool) {}
  known_context(known_context const& other) noexcept
      : address_(other.get()), is_pool_(other.is_pool_) {}
  known_context& operator=(known_context const&) = delete;

  // That of an executor: strands and erasure are looked through.
  template <class Executor>
  static known_context of(Executor const& ex) noexcept {
    asio::io_context* io = nullptr;
    asio::thread_pool* pool = nullptr;
    find(ex, io, pool);
    return io ? known_context(*io) : pool ? known_context(*pool) : known_context();
  }

  // That of an executor which is the context's own, perhaps erased, and no strand.
  template <class Executor>
  static known_context of_plain(Executor const& ex) noexcept {
    bool plain = false;
    visit_executor(ex, [&](auto const& inner) {
      plain = is_context_executor<std::decay_t<decltype(inner)>>;
    });
    return plain ? of(ex) : known_context();
  }

  // Relaxed: threads that ask the context something hold the lock under which reset() is called,
  // or their user orders them with its end. Threads that compare addresses know that it has ended
  // if they know of a newer context at the same address.
  asio::execution_context* get() const noexcept {
    return address_.load(std::memory_order_relaxed);
  }

  bool is_pool() const noexcept { return is_pool_; }

  // It has ended.
  void reset() noexcept { address_.store(nullptr, std::memory_order_relaxed); }

  // Calls f with its plain executor. Not for neither.
  template <class Function>
  decltype(auto) visit(Function&& f) const {
    if (is_pool_) return f(static_cast<asio::thread_pool&>(*get()).get_executor());
    return f(static_cast<asio::io_context&>(*get()).get_executor());
  }

  context_work track() const noexcept {
    return visit([](auto const& ex) { return context_work(ex); });
  }

  bool running_in_this_thread() const noexcept {
    return get() && visit([](auto const& ex) { return ex.running_in_this_thread(); });
  }

 private:
  template <class Executor>
  static void find(Executor const& ex, asio::io_context*& io, asio::thread_pool*& pool) noexcept {
    visit_executor(ex, [&](auto const& inner) {
      using type = std::decay_t<decltype(inner)>;
      if constexpr (has_context<type, asio::io_context>)
        io = std::addressof(asio::query(inner, asio::execution::context));
      else if constexpr (has_context<type, asio::thread_pool>)
        pool = std::addressof(asio::query(inner, asio::execution::context));
      else if constexpr (is_erased_strand<type>)
        find(inner.get_inner_executor(), io, pool);
      else if constexpr (is_any_executor<type>)
        find_strand<tracked_executor<io_executor>>(inner, io),
            find_strand<tracked_executor<pool_executor>>(inner, pool);
    });
  }

  // A strand of an executor that tracks work.
  template <class Inner, class Executor, class Context>
  static void find_strand(Executor const& ex, Context*& context) noexcept {
    if (auto const* const strand = ex.template target<asio::strand<Inner>>())
      context = std::addressof(asio::query(*strand, asio::execution::context));
  }

  process_atomic<asio::execution_context*> address_;
  bool is_pool_ = false;
};

}  // namespace asio_sync::detail

#endif
