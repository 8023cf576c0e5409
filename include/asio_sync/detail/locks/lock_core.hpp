// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_LOCKS_LOCK_CORE_HPP
#define ASIO_SYNC_DETAIL_LOCKS_LOCK_CORE_HPP

// A core that is locked, in a mode if there are several.

#include <asio_sync/detail/context/core_base.hpp>
#include <asio_sync/detail/context/homed_core.hpp>
#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/core/wait_list.hpp>

namespace asio_sync::detail {

template <class Derived, class Core, class Waiter = waiter>
class lock_core : public homed_core<Derived, Core, Waiter> {
  using base = homed_core<Derived, Core, Waiter>;

 public:
  using base::base;

  // Gives a lock back or on; false if it was not held in that way, counted or not, or the
  // primitive is dead. What is compiled into every caller is the free case.
  template <class... Mode>
  bool release(bool counted, Mode... mode) noexcept {
    return this->try_release_uncontended(counted, mode...) || release_contended(counted, mode...);
  }

  // As release(), once try_release_uncontended() has failed.
  template <class... Mode>
  ASIO_SYNC_NOINLINE ASIO_SYNC_FLATTEN bool release_contended(bool counted,
                                                              Mode... mode) noexcept {
    decided_waits decided;
    bool const held = Core::release(counted, mode..., decided);
    base::finish(*this, decided);
    decided.hand_out();
    return held;
  }

  // A counted holder lets go, whether the primitive lives or not.
  template <class... Mode>
  ASIO_SYNC_NOINLINE void release_counted(Mode... mode) noexcept {
    if (!release(true, mode...)) this->unref();
  }

  // The count of the grant passes to the holder.
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
