// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_LOCKS_KEYED_MUTEX_CORE_HPP
#define ASIO_SYNC_DETAIL_LOCKS_KEYED_MUTEX_CORE_HPP

// The core of a mutex for each key: what its waits have of their keys.

#include <asio_sync/detail/context/core_base.hpp>
#include <asio_sync/detail/context/homed_core.hpp>
#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/core/keyed_mutex_state.hpp>
#include <asio_sync/detail/core/wait_list.hpp>
#include <asio_sync/detail/platform/block_pool.hpp>

#include <cstddef>
#include <utility>

namespace asio_sync::detail {

struct keyed_waiter;

struct keyed_mutex_traits : waiter_traits {
  static inline key_stake& stake(waiter& w) noexcept;
  static inline key_place& place(waiter& w) noexcept;
  static inline waiter& waiter_at(key_place& place) noexcept;
};

class keyed_mutex_core final
    : public homed_core<keyed_mutex_core, keyed_mutex_state<keyed_mutex_traits>, keyed_waiter> {
 public:
  using homed_core::homed_core;

  // The count of the grant passes to the holder of the key.
  inline verdict hold(verdict granted) noexcept;

 private:
  ~keyed_mutex_core() override = default;
};

// What a wait has of the entry of its key before it queues; gives that up where the wait ends
// without having been decided. Afterwards at most what remains of the entry.
class key_claim {
 public:
  key_claim(keyed_mutex_core& core, key_stake stake) noexcept : stake_(stake), core_(&core) {}
  key_claim(key_claim&& other) noexcept
      : stake_(std::exchange(other.stake_, {})), core_(other.core_) {}
  key_claim& operator=(key_claim&&) = delete;
  ~key_claim() {
    if (stake_.share != key_share::none) give_up();
  }

  key_stake& stake() noexcept { return stake_; }

 private:
  ASIO_SYNC_COLD inline void give_up() noexcept;

  key_stake stake_;
  keyed_mutex_core* core_;
};

struct keyed_waiter : waiter, key_place {
  using asked_type = key_claim;

  keyed_waiter(function* f, core_base* c, asked_type&& asked) noexcept
      : waiter(f, c, {}), claim(std::move(asked)) {}

  verdict decided() noexcept {
    return outcome == wait_outcome::granted ? keyed_mutex_core::granted(claim.stake()) : outcome;
  }

  key_claim claim;
};

inline key_stake& keyed_mutex_traits::stake(waiter& w) noexcept {
  return static_cast<keyed_waiter&>(w).claim.stake();
}

inline key_place& keyed_mutex_traits::place(waiter& w) noexcept {
  return static_cast<keyed_waiter&>(w);
}

inline waiter& keyed_mutex_traits::waiter_at(key_place& place) noexcept {
  return static_cast<keyed_waiter&>(place);
}

// The holder of a key lets go, whether the primitive lives or not.
ASIO_SYNC_NOINLINE inline void release_key(keyed_mutex_core& core, key_stake stake) noexcept {
  if (core.decide([&](decided_waits& decided) { return core.unlock(stake, decided); })) return;
  core.unref();
  bury(stake);
}

verdict keyed_mutex_core::hold(verdict granted) noexcept {
  if (!is_dead()) return granted;
  release_key(*this, held_by(granted));
  return wait_outcome::aborted;
}

void key_claim::give_up() noexcept {
  if (stake_.share == key_share::hold) return release_key(*core_, stake_);
  if (stake_.share == key_share::use) core_->renounce(stake_);
  bury(stake_);
}

// In memory of the pool.
template <class Key>
struct keyed_entry final : key_entry {
  keyed_entry(std::size_t h, Key const& k) : key_entry(h), key(k) {}

  static void* operator new(std::size_t) { return pool_allocator<keyed_entry>().allocate(1); }
  static void operator delete(void* memory) noexcept {
    pool_allocator<keyed_entry>().deallocate(static_cast<keyed_entry*>(memory), 1);
  }

  Key const key;
};

}  // namespace asio_sync::detail

#endif
