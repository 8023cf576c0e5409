// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_LOCKS_LOCK_CORE_HPP
#define ASIO_SYNC_DETAIL_LOCKS_LOCK_CORE_HPP

// The core of a lock, which adds the release to homed_core. mutex_core and upgradable_core derive
// from it; core_guard, the members unlock() of the primitives, and the cores of conditions and
// monitors call it.
//
// A hold is counted or not. The hold of a guard is counted: it has a count of the core, and so may
// outlive the primitive. The hold of a member lock() or try_lock() is not counted. A release has
// to name the kind of the hold.

#include <asio_sync/detail/context/core_base.hpp>
#include <asio_sync/detail/context/homed_core.hpp>
#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/core/wait_list.hpp>

namespace asio_sync::detail {

// Core: permit_state or shared_mutex_state. Mode, below: the mode of the hold, if the core has
// several.
template <class Derived, class Core, class Waiter = waiter>
class lock_core : public homed_core<Derived, Core, Waiter> {
  using base = homed_core<Derived, Core, Waiter>;

 public:
  using base::base;

  // Releases a hold, or passes it on to the waits that are next. Returns false if there is no hold
  // of this kind and mode, or if the primitive is dead; nothing has changed then. Compiles only
  // the case that nobody waits into its callers.
  template <class... Mode>
  bool release(bool counted, Mode... mode) noexcept {
    return this->try_release_uncontended(counted, mode...) || release_contended(counted, mode...);
  }

  // Releases a hold like release(), after try_release_uncontended() has failed.
  template <class... Mode>
  ASIO_SYNC_NOINLINE ASIO_SYNC_FLATTEN bool release_contended(bool counted,
                                                              Mode... mode) noexcept {
    decided_waits decided;
    bool const held = Core::release(counted, mode..., decided);
    base::finish(*this, decided);
    decided.hand_out();
    return held;
  }

  // Releases a counted hold, with its count, even if the primitive is dead.
  template <class... Mode>
  ASIO_SYNC_NOINLINE void release_counted(Mode... mode) noexcept {
    if (!release(true, mode...)) this->unref();
  }

  // Takes a grant that arrives over from its wait: the count of the grant becomes the holder's. If
  // the primitive is dead, releases the count instead. arrive() calls this.
  verdict hold(verdict granted) noexcept {
    if (!this->is_dead()) return granted;
    this->unref();
    return wait_outcome::aborted;
  }

 protected:
  ~lock_core() override = default;
};

}  // namespace asio_sync::detail

#endif
