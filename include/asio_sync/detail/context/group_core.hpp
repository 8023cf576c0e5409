// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CONTEXT_GROUP_CORE_HPP
#define ASIO_SYNC_DETAIL_CONTEXT_GROUP_CORE_HPP

// The core of a signal that is up while nothing is pending, and what is.

#include <asio_sync/detail/context/core_base.hpp>
#include <asio_sync/detail/context/event_core.hpp>
#include <asio_sync/detail/context/homed_core.hpp>
#include <asio_sync/detail/core/tally_core.hpp>
#include <asio_sync/detail/platform/asio_compat.hpp>
#include <asio_sync/detail/platform/threading.hpp>

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

using group_core = homed_core<tally_core<group_traits>, event_waiter>;

// An operation that a group has begun to count: what cancels it. Its handler keeps it, and so does
// whoever is about to cancel it.
class tracked_operation {
 public:
  tracked_operation(tracked_operation const&) = delete;
  tracked_operation& operator=(tracked_operation const&) = delete;

  asio::cancellation_slot slot() noexcept { return signal_.slot(); }

  // Has the operation cancelled on its executor.
  virtual void cancel(asio::cancellation_type type) = 0;

  // On its executor.
  void emit(asio::cancellation_type type) {
    if (!is_over_.load(std::memory_order_relaxed)) signal_.emit(type);
  }

  // The handler is called, or will never be.
  void is_over() noexcept { is_over_.store(true, std::memory_order_relaxed); }

  // Whether the handler's own slot cancels it. The signal may be gone before the operation.
  bool slot_connected = false;

  // The handler has returned, or was destroyed.
  void end() noexcept {
    group_core& core = core_;
    core.decide([&](decided_waits& decided) { core.let_go(*this, decided); });
    core.unref();
    release();
  }

  void retain() noexcept { uses_.fetch_add(1, std::memory_order_relaxed); }
  // Acquire and release: what others did to it comes before its end.
  void release() noexcept {
    if (uses_.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy();
  }

 protected:
  explicit tracked_operation(group_core& core) noexcept : core_(core) {}
  virtual ~tracked_operation() = default;

  // Counts it.
  bool begin() noexcept {
    if (!core_.track(*this)) return false;
    core_.count_up();
    return true;
  }

 private:
  friend class wait_list<tracked_operation>;

  virtual void destroy() noexcept = 0;

  tracked_operation* next = nullptr;
  tracked_operation* prev = nullptr;
  group_core& core_;
  asio::cancellation_signal signal_;
  threading::atomic<std::uint32_t> uses_{1};
  threading::atomic<bool> is_over_{false};
};

// In the cancellation slot of its handler, and on the way to its executor.
class tracked_reference {
 public:
  explicit tracked_reference(tracked_operation& o) noexcept : operation_(&o) { o.retain(); }
  tracked_reference(tracked_reference const& other) noexcept : tracked_reference(*other) {}
  tracked_reference(tracked_reference&& other) noexcept
      : operation_(std::exchange(other.operation_, nullptr)) {}
  tracked_reference& operator=(tracked_reference const&) = delete;
  ~tracked_reference() {
    if (operation_) operation_->release();
  }

  tracked_operation& operator*() const noexcept { return *operation_; }
  tracked_operation* operator->() const noexcept { return operation_; }

 private:
  tracked_operation* operation_;
};

}  // namespace asio_sync::detail

#endif
