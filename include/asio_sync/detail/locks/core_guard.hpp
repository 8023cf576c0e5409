// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_LOCKS_CORE_GUARD_HPP
#define ASIO_SYNC_DETAIL_LOCKS_CORE_GUARD_HPP

// What is under the guards of primitives that are locked.

#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/core/config.hpp>

#include <mutex>
#include <utility>

namespace asio_sync::detail {

struct guard_access;

// Holds a core, or is only associated with it. A hold is counted, so that the core is there for as
// long as it lasts, whatever becomes of the primitive. Mode: in which mode it holds a core that
// has several.
template <class Core, auto... Mode>
class core_guard {
 public:
  // For what takes over the hold of a guard in another mode.

  // The core that it holds; null if it holds none, or one that is dead.
  Core* held() const noexcept { return owns() ? core_ : nullptr; }

  hold_state* lender() noexcept { return &hold_; }

  // The hold, with its count, is another's.
  void yield() noexcept {
    core_ = nullptr;
    hold_ = hold_state::none;
  }

  // The wait for the core is over, which the guard has lent its hold: a grant has used that up,
  // otherwise it comes back. If the guard was touched meanwhile, nobody has it any more.
  void settle(Core& core, bool granted) noexcept {
    bool const is_here = core_ == &core && hold_ != hold_state::none;
    if (granted) return is_here ? yield() : void();
    if (is_here)
      hold_ = hold_state::owned;
    else
      core.release_counted(Mode...);
  }

 protected:
  core_guard() noexcept = default;
  core_guard(Core* core, bool owns) noexcept : core_(core), hold_(state_of(owns)) {}
  core_guard(Core& core, std::try_to_lock_t) noexcept
      : core_guard(&core, try_acquire(core, true)) {}
  core_guard(core_guard&& other) noexcept
      : core_(std::exchange(other.core_, nullptr)),
        hold_(std::exchange(other.hold_, hold_state::none)) {}
  core_guard& operator=(core_guard&& other) noexcept {
    core_guard(std::move(other)).swap(*this);
    return *this;
  }
  ASIO_SYNC_INLINE ~core_guard() {
    if (hold_ == hold_state::owned) core_->release_counted(Mode...);
  }

  void swap(core_guard& other) noexcept {
    std::swap(core_, other.core_);
    std::swap(hold_, other.hold_);
  }

  // The core that it has a count of, dead or not.
  Core* counted() const noexcept { return hold_ == hold_state::owned ? core_ : nullptr; }

  bool owns() const noexcept { return hold_ == hold_state::owned && !core_->is_dead(); }

  // The primitive, unless it is known to be dead.
  void* primitive() const noexcept {
    return core_ && !(hold_ == hold_state::owned && core_->is_dead()) ? core_->primitive()
                                                                      : nullptr;
  }

  // The core of a living primitive which it does not hold; otherwise null.
  Core* to_lock() const noexcept {
    return primitive() && hold_ == hold_state::none ? core_ : nullptr;
  }

  void hold(bool granted) noexcept { hold_ = state_of(granted); }

  // Locks the core, if it is free, for a guard, or for a member of its primitive.
  ASIO_SYNC_INLINE static bool try_acquire(Core& core, bool counted) noexcept {
    if constexpr (sizeof...(Mode) == 0)
      return core.try_acquire(1, counted);
    else
      return core.try_acquire(Mode..., counted);
  }

  // False if it holds nothing.
  [[nodiscard]] ASIO_SYNC_FLATTEN ASIO_SYNC_INLINE bool unlock() noexcept {
    if (hold_ != hold_state::owned) return false;
    hold_ = hold_state::none;
    if (core_->try_release_uncontended(true, Mode...)) return true;
    if (!core_->release_contended(true, Mode...)) let_go();
    return true;
  }

  // Makes a member's hold its own. False if there is none.
  [[nodiscard]] bool adopt() noexcept {
    hold_ = state_of(core_->count_holder(true, Mode...));
    return hold_ == hold_state::owned;
  }

  // Makes its hold a member's, and lets go of the core. Returns the primitive, unless that is
  // dead.
  void* detach() noexcept {
    Core* const core = std::exchange(core_, nullptr);
    if (!core) return nullptr;
    void* const primitive = core->primitive();  // the core may end with its count
    if (std::exchange(hold_, hold_state::none) != hold_state::owned ||
        core->count_holder(false, Mode...))
      return primitive;
    core->unref();
    return nullptr;
  }

 private:
  friend guard_access;

  static constexpr hold_state state_of(bool owns) noexcept {
    return owns ? hold_state::owned : hold_state::none;
  }

  // Of a dead primitive.
  ASIO_SYNC_COLD void let_go() noexcept { std::exchange(core_, nullptr)->unref(); }

  Core* core_ = nullptr;
  hold_state hold_ = hold_state::none;
};

}  // namespace asio_sync::detail

#endif
