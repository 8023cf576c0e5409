// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CONTEXT_MONITOR_CORE_HPP
#define ASIO_SYNC_DETAIL_CONTEXT_MONITOR_CORE_HPP

// What a monitor and its conditions consist of: a core, and the strand that belongs to it.

#include <asio_sync/detail/context/condition_core.hpp>
#include <asio_sync/detail/context/destination.hpp>
#include <asio_sync/detail/context/visit_route.hpp>
#include <asio_sync/detail/context/visits_core.hpp>
#include <asio_sync/detail/context/wait_service.hpp>
#include <asio_sync/detail/platform/executor.hpp>
#include <asio_sync/detail/platform/known_context.hpp>

#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/strand.hpp>

#include <optional>
#include <utility>

namespace asio_sync::detail {

// The core of a monitor, with its object: whoever has a count of the core keeps both.
template <class T>
class object_core : public visits_core {
 public:
  T object;

 protected:
  template <class... Args>
  object_core(void* primitive, known_context const& home, asio::execution_context& context,
              Args&&... args)
      : visits_core(primitive, home, context), object(static_cast<Args&&>(args)...) {}
  ~object_core() override = default;
};

// The core of a condition of a monitor.
class entry_condition_core : public condition_core {
 protected:
  entry_condition_core(void* primitive, known_context const& home,
                       asio::execution_context&) noexcept
      : condition_core(primitive, home) {}
  ~entry_condition_core() override = default;
};

// A strand must not outlive its context; what has one may, and lets go of it in time.
template <class Base, class Executor>
class strand_core final : public Base {
 public:
  using strand_type = asio::strand<Executor>;

  // Throws what making its parts, or adding the services to the executor's context, throws.
  template <class... Args>
  static strand_core* make(void* primitive, strand_type const& strand, Args&&... args) {
    refuse_ts_executor<Executor>();
    auto& context = asio::query(strand, asio::execution::context);
    auto& service = asio::use_service<wait_service>(context);
    auto* const core = new strand_core(primitive, strand, context, static_cast<Args&&>(args)...);
    service.adopt(*core);
    if (!core->service_) core->let_go();
    return core;
  }

  bool has_strand() const noexcept { return has_strand_; }

  // Not to be used once it has gone.
  strand_type const& strand() const noexcept { return strand_; }

  // For Base, where that asks.
  destination strand_destination() const {
    return has_strand_ ? destination_finder(strand_, strand_, this->home()).result()
                       : destination();
  }
  bool strand_runs_here() const noexcept {
    return has_strand_ && strand_.running_in_this_thread();
  }

  void leave_home(decided_waits& decided) noexcept override {
    Base::leave_home(decided);
    let_go();
  }

 private:
  template <class... Args>
  strand_core(void* primitive, strand_type const& strand, asio::execution_context& context,
              Args&&... args)
      : Base(primitive, known_context::of(strand), context, static_cast<Args&&>(args)...),
        strand_(strand) {}
  ~strand_core() override = default;

  void let_go() noexcept {
    has_strand_ = false;
    strand_type const ends(std::move(strand_));
  }

  void destroy() noexcept override { delete this; }

  strand_type strand_;
  bool has_strand_ = true;
};

}  // namespace asio_sync::detail

#endif
