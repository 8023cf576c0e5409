// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_OPERATION_CORE_GUARD_HPP
#define ASIO_SYNC_DETAIL_OPERATION_CORE_GUARD_HPP

// What is under the guards of primitives that have one holder.

#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/operation/beginning.hpp>

#include <boost/system/errc.hpp>

#include <utility>

namespace asio_sync::detail {

struct guard_access;

// Holds a core, or is only associated with it. A hold is counted, so that the core is there for as
// long as it lasts, whatever becomes of the primitive.
template <class Core>
class core_guard {
 protected:
  core_guard() noexcept = default;
  core_guard(Core* core, bool owns) noexcept : core_(core), owns_(owns) {}
  core_guard(core_guard&& other) noexcept
      : core_(std::exchange(other.core_, nullptr)), owns_(std::exchange(other.owns_, false)) {}
  core_guard& operator=(core_guard&& other) noexcept {
    core_guard(std::move(other)).swap(*this);
    return *this;
  }
  ASIO_SYNC_INLINE ~core_guard() {
    if (owns_) core_->release_counted();
  }

  void swap(core_guard& other) noexcept {
    std::swap(core_, other.core_);
    std::swap(owns_, other.owns_);
  }

  bool owns() const noexcept { return owns_ && !core_->is_dead(); }

  // The primitive, unless it is known to be dead.
  void* primitive() const noexcept {
    return core_ && !(owns_ && core_->is_dead()) ? core_->primitive() : nullptr;
  }

  // Throws unless there is a living primitive which it does not hold.
  Core& to_lock() const {
    if (!primitive()) throw_error(boost::system::errc::operation_not_permitted);
    if (owns_) throw_error(boost::system::errc::resource_deadlock_would_occur);
    return *core_;
  }

  void hold(bool granted) noexcept { owns_ = granted; }

  ASIO_SYNC_FLATTEN ASIO_SYNC_INLINE void unlock() {
    if (!owns_) throw_error(boost::system::errc::operation_not_permitted);
    owns_ = false;
    if (core_->try_release_uncontended(true)) return;
    if (!core_->release_contended(true)) let_go();
  }

  // Makes a member's hold its own.
  void adopt() {
    if (!core_->count_holder(true)) throw_error(boost::system::errc::operation_not_permitted);
    owns_ = true;
  }

  // Makes its hold a member's, and lets go of the core. Returns the primitive, unless that is
  // dead.
  void* detach() noexcept {
    Core* const core = std::exchange(core_, nullptr);
    if (!core) return nullptr;
    void* const primitive = core->primitive();  // the core may end with its count
    if (!std::exchange(owns_, false) || core->count_holder(false)) return primitive;
    core->unref();
    return nullptr;
  }

 private:
  friend guard_access;

  // Of a dead primitive.
  ASIO_SYNC_COLD void let_go() noexcept { std::exchange(core_, nullptr)->unref(); }

  Core* core_ = nullptr;
  bool owns_ = false;
};

}  // namespace asio_sync::detail

#endif
