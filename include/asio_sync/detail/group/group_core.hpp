// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_GROUP_GROUP_CORE_HPP
#define ASIO_SYNC_DETAIL_GROUP_GROUP_CORE_HPP

// The core of a signal that is up while nothing is pending, and what is.

#include <asio_sync/detail/context/core_base.hpp>
#include <asio_sync/detail/context/homed_core.hpp>
#include <asio_sync/detail/core/group_state.hpp>
#include <asio_sync/detail/platform/asio_compat.hpp>
#include <asio_sync/detail/platform/known_context.hpp>
#include <asio_sync/detail/platform/threading.hpp>
#include <asio_sync/detail/signals/event_core.hpp>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>

#include <atomic>
#include <cstdint>
#include <utility>

namespace asio_sync::detail {

class tracked_operation;

struct group_traits : event_traits {
  using operation = tracked_operation;
};

using group_core = signalling_core<group_state<group_traits>, event_waiter>;

// An operation that a group counts: what cancels it. The executor on which that is done, and what
// the operation has put into its slot, are there until the handler has gone, or until the last
// cancellation that is on its way has run; the rest, for as long as the handler's slot, or a
// function that cancels, refers to it.
class tracked_operation {
 public:
  tracked_operation(tracked_operation const&) = delete;
  tracked_operation& operator=(tracked_operation const&) = delete;

  asio::cancellation_slot slot() noexcept { return signal_.slot(); }

  // True if the operation has an executor of its own to be cancelled on: it does not need the
  // group's.
  virtual bool has_place() const noexcept = 0;

  // Has the operation cancelled there, unless the context of its executor has ended.
  virtual void cancel(asio::cancellation_type type) = 0;

  // Keeps what a coroutine has put into the slot until its executor has run what was posted
  // before. The caller keeps the operation with its executor.
  virtual void keep() noexcept = 0;

  // On its executor, or where the handler's own slot is emitted. Relaxed: an operation that is
  // over survives it, too.
  void emit(asio::cancellation_type type) {
    if (!is_over_.load(std::memory_order_relaxed)) signal_.emit(type);
  }

  // While it is being initiated, on whatever thread, a cancellation is remembered: true. Acquire:
  // pairs with has_begun().
  bool remembers(asio::cancellation_type type) noexcept {
    std::uint32_t asked = asked_meanwhile_.load(std::memory_order_acquire);
    while (asked & initiating)
      if (asked_meanwhile_.compare_exchange_weak(asked, asked | static_cast<std::uint32_t>(type),
                                                 std::memory_order_acquire,
                                                 std::memory_order_acquire))
        return true;
    return false;
  }

  // It has been initiated. Returns how it is to be cancelled, if that was asked for meanwhile.
  asio::cancellation_type has_begun() noexcept {
    // Release: whoever cancels from here on sees what the initiation has put into the slot.
    return static_cast<asio::cancellation_type>(
        asked_meanwhile_.exchange(0, std::memory_order_acq_rel) & ~initiating);
  }

  // The handler is called, or will never be.
  void is_over() noexcept { is_over_.store(true, std::memory_order_relaxed); }

  // The handler has returned, or was destroyed. The executor goes first: a join may end its
  // context.
  void finish() noexcept {
    release_executor();
    core_.decide([&](decided_waits& decided) { core_.let_go(*this, decided); });
    core_.unref();
    release();
  }

  // Acquire and release in both: what others did to it comes before its end. Relaxed: the caller
  // of retain() has a use already, or the group's lock keeps the operation.
  void retain() noexcept { uses_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    if (uses_.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy();
  }

  // False if the executor has gone.
  bool retain_executor() noexcept {
    std::uint32_t uses = executor_uses_.load(std::memory_order_relaxed);
    while (uses != 0)
      if (executor_uses_.compare_exchange_weak(uses, uses + 1, std::memory_order_relaxed,
                                               std::memory_order_relaxed))
        return true;
    return false;
  }
  // Retains an executor that the handler keeps alive.
  void retain_kept_executor() noexcept { executor_uses_.fetch_add(1, std::memory_order_relaxed); }
  void release_executor() noexcept {
    if (executor_uses_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    signal_.slot().clear();
    destroy_executor();
    release();
  }

 protected:
  explicit tracked_operation(group_core& core) noexcept : core_(core) {}
  virtual ~tracked_operation() = default;

  // Counts it. If that is too many: false, and it has gone.
  bool begin() noexcept {
    if (!core_.track(*this)) return release_executor(), release(), false;
    core_.count_up();
    return true;
  }

 private:
  friend class wait_list<tracked_operation>;

  static constexpr std::uint32_t initiating = std::uint32_t(1) << 31;

  virtual void destroy_executor() noexcept = 0;
  virtual void destroy() noexcept = 0;

  threading::atomic<bool> is_over_{false};
  threading::atomic<std::uint32_t> asked_meanwhile_{initiating};
  threading::atomic<std::uint32_t> uses_{2};  // the handler is one, those of the executor another
  threading::atomic<std::uint32_t> executor_uses_{1};
  tracked_operation* next = nullptr;
  tracked_operation* prev = nullptr;
  group_core& core_;
  asio::cancellation_signal signal_;
};

// Keeps an operation, and nothing that it needs of others.
class kept_operation {
 public:
  explicit kept_operation(tracked_operation& o) noexcept : operation_(&o) { o.retain(); }
  kept_operation(kept_operation&& other) noexcept
      : operation_(std::exchange(other.operation_, nullptr)) {}
  kept_operation& operator=(kept_operation&& other) noexcept {
    std::swap(operation_, other.operation_);
    return *this;
  }
  ~kept_operation() {
    if (operation_) operation_->release();
  }

  tracked_operation& operator*() const noexcept { return *operation_; }
  tracked_operation* operator->() const noexcept { return operation_; }

 private:
  tracked_operation* operation_;
};

// Keeps an operation with its executor, if that is still there: on the way to it.
class cancellable_operation {
 public:
  explicit cancellable_operation(tracked_operation& o) noexcept
      : operation_(o.retain_executor() ? &o : nullptr) {}
  // Refers to an operation whose handler keeps the executor alive.
  static cancellable_operation kept_by_handler(tracked_operation& o) noexcept {
    o.retain_kept_executor();
    return cancellable_operation(&o);
  }
  cancellable_operation(cancellable_operation const& other) noexcept
      : cancellable_operation(*other) {}
  cancellable_operation(cancellable_operation&& other) noexcept
      : operation_(std::exchange(other.operation_, nullptr)) {}
  cancellable_operation& operator=(cancellable_operation const&) = delete;
  ~cancellable_operation() {
    if (operation_) operation_->release_executor();
  }

  explicit operator bool() const noexcept { return operation_ != nullptr; }
  tracked_operation& operator*() const noexcept { return *operation_; }
  tracked_operation* operator->() const noexcept { return operation_; }

 private:
  explicit cancellable_operation(tracked_operation* o) noexcept : operation_(o) {}

  tracked_operation* operation_;
};

}  // namespace asio_sync::detail

#endif
