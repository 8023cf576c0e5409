// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_MONITOR_MONITOR_ENTRY_HPP
#define ASIO_SYNC_DETAIL_MONITOR_MONITOR_ENTRY_HPP

#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/locks/core_guard.hpp>
#include <asio_sync/detail/locks/permit_cores.hpp>
#include <asio_sync/detail/monitor/strand_core.hpp>
#include <asio_sync/detail/operation/errors.hpp>
#include <asio_sync/fwd.hpp>

#include <utility>

namespace asio_sync::detail {

// The entry of a monitor: what `basic_async_monitor<T>::entry` is.
template <class T>
class [[nodiscard]] monitor_entry : core_guard<mutex_core> {
  using base = core_guard<mutex_core>;
  using core_type = object_core<T>;

 public:
  /// An empty entry.
  monitor_entry() noexcept = default;

  /// Moves do not throw, and leave an empty entry.
  monitor_entry(monitor_entry&&) noexcept = default;
  monitor_entry& operator=(monitor_entry&& other) noexcept {
    monitor_entry(std::move(other)).swap(*this);
    return *this;
  }

  /// Leaves the monitor.
  ASIO_SYNC_INLINE ~monitor_entry() { leaving(); }

  /// The object. It lives for as long as the entry, whatever becomes of the monitor.
  ///
  /// Errors: throws `boost::system::system_error` with `operation_not_permitted` if the entry is
  /// empty.
  T* operator->() const {
    return &inside("asio_sync::async_monitor::entry::operator->: empty").object;
  }
  T& operator*() const {
    return inside("asio_sync::async_monitor::entry::operator*: empty").object;
  }

  /// Whether this is inside the monitor, and that still lives.
  [[nodiscard]] bool owns() const noexcept { return base::owns(); }
  explicit operator bool() const noexcept { return owns(); }

  /// Leaves the monitor, which is the oldest wait's then; afterwards the entry is empty. Runs no
  /// code of that wait.
  ///
  /// Errors: throws `boost::system::system_error` with `operation_not_permitted` if the entry is
  /// empty.
  ASIO_SYNC_INLINE void leave() {
    mutex_core* const core = base::counted();
    if (!core) throw_not_permitted("asio_sync::async_monitor::entry::leave: empty");
    auto& left = static_cast<core_type&>(*core);
    base::yield();  // first: whoever is inside next may put another entry here
    left.leaving();
    if (!left.try_release_uncontended(true)) left.release_counted();
  }

  /// Exchanges what the two refer to.
  void swap(monitor_entry& other) noexcept { base::swap(other); }
  friend void swap(monitor_entry& a, monitor_entry& b) noexcept { a.swap(b); }

 private:
  friend guard_access;
  template <class, class>
  friend struct entry_delivery;
  template <class, class>
  friend class monitor_condition;
  template <class, class>
  friend struct predicate_on_object;
  template <class, class>
  friend class asio_sync::basic_async_monitor;

  explicit monitor_entry(mutex_core& held) noexcept : base(&held, true) {}

  // Null if it is empty.
  T const* object() const noexcept {
    mutex_core* const core = base::counted();
    return core ? &static_cast<core_type*>(core)->object : nullptr;
  }

  ASIO_SYNC_INLINE void leaving() noexcept {
    if (mutex_core* const core = base::counted()) static_cast<core_type*>(core)->leaving();
  }

  // `error`: of an empty entry.
  core_type& inside(char const* error) const {
    mutex_core* const core = base::counted();
    if (!core) throw_not_permitted(error);
    return *static_cast<core_type*>(core);
  }
};

// What a wait is granted. Core: a mutex's, or that of visits.
template <class T, class Core>
struct entry_delivery {
  using core_type = Core;
  using grant = monitor_entry<T>;
  static grant make(core_type& core, verdict) noexcept { return grant(core); }
};

}  // namespace asio_sync::detail

#endif
