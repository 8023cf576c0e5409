// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_LOCKS_PERMIT_CORES_HPP
#define ASIO_SYNC_DETAIL_LOCKS_PERMIT_CORES_HPP

// The cores that hand out permits: one of them, or many.

#include <asio_sync/detail/context/core_base.hpp>
#include <asio_sync/detail/context/homed_core.hpp>
#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/core/permit_state.hpp>
#include <asio_sync/detail/core/wait_list.hpp>
#include <asio_sync/detail/locks/lock_core.hpp>

#include <cstddef>
#include <cstdint>

namespace asio_sync::detail {

struct mutex_traits : waiter_traits {
  static constexpr bool exclusive = true;
  static constexpr std::uint32_t weight(waiter const&) noexcept { return 1; }
};

class mutex_core : public lock_core<mutex_core, permit_state<mutex_traits>> {
 public:
  using lock_core::lock_core;

 protected:
  ~mutex_core() override = default;
};

// The mutex behind a lock of the caller, or null. `holds`: the lock holds it, and its core counts
// the hold.
struct mutex_hold {
  mutex_core* mutex = nullptr;
  bool holds = false;
};

struct permit_traits : waiter_traits {
  static constexpr bool exclusive = false;
  static constexpr std::size_t batch = 64;
  static std::uint64_t weight(waiter const& w) noexcept {
    return static_cast<valued_waiter const&>(w).value;
  }
};

class permit_core final
    : public homed_core<permit_core, permit_state<permit_traits>, valued_waiter> {
  using base = homed_core<permit_core, permit_state<permit_traits>, valued_waiter>;
  using queue = permit_state<permit_traits>;

 public:
  using base::base;

  // Gives back or on n permits that somebody holds, whether the primitive lives or not.
  ASIO_SYNC_INLINE void release_held(std::uint64_t n) noexcept {
    if (!this->try_release_uncontended(n)) release_held_contended(n);
  }

  // Adds n permits that nobody holds; false if that is too many.
  ASIO_SYNC_NOINLINE ASIO_SYNC_FLATTEN bool supply(std::uint64_t n) noexcept {
    return decide([&](decided_waits& decided) { return queue::supply(n, decided); });
  }

  // n permits that somebody holds will not come back, whether the primitive lives or not.
  void write_off(std::uint64_t n) noexcept {
    if (!queue::write_off(n)) unref(n);
  }

  // The permits are counted themselves, besides the grant.
  verdict hold(verdict granted) noexcept {
    bool const lost = is_dead();
    unref(lost ? granted.value() + 1 : 1);
    return lost ? verdict(wait_outcome::aborted) : granted;
  }

  using base::unref;
  // Releases n counts.
  ASIO_SYNC_NOINLINE void unref(std::uint64_t n) noexcept {
    if (this->count_down(n)) core_base::free(*this);
  }

 private:
  ~permit_core() override = default;

  ASIO_SYNC_NOINLINE ASIO_SYNC_FLATTEN void release_held_contended(std::uint64_t n) noexcept {
    if (!decide([&](decided_waits& decided) { return queue::release(n, decided); })) unref(n);
  }
};

}  // namespace asio_sync::detail

#endif
