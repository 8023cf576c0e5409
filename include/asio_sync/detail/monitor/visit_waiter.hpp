// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_MONITOR_VISIT_WAITER_HPP
#define ASIO_SYNC_DETAIL_MONITOR_VISIT_WAITER_HPP

#include <asio_sync/detail/context/core_base.hpp>
#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/core/monitor_state.hpp>

#include <exception>
#include <memory>

namespace asio_sync::detail {

class monitor_core;
struct visit_waiter;

// What a visit does on the strand while it holds the monitor. `looks`: whether it may enter;
// without it, it may. `enters`: runs a function, after which it has left; false if the function
// has not ended yet. Without it, the visit stays inside. `begun`: returns what such a function has
// begun, or null.
struct visit_functions {
  bool (*looks)(void*) = nullptr;
  bool (*enters)(void*, monitor_core&, visit_waiter&) = nullptr;
  std::shared_ptr<begun_task> (*begun)(void*, monitor_core&) noexcept = nullptr;
};

// A wait that goes through the strand: it queues for the monitor as any other, looks at its
// predicate there, and queues again while that is false.
struct visit_waiter : lasting_waiter {
  struct asked_type {
    visit_functions const* functions;
    void* where;
    std::exception_ptr* thrown;  // for what the predicate throws
    bool throws;                 // at the end, unless the handler is told
    bool expired;                // there is no time to wait
  };

  visit_waiter(function* f, core_base* c, asked_type const& what) noexcept
      : lasting_waiter(f, c, {}), request(what) {
    if (request.expired) outcome = wait_outcome::timed_out;
  }

  // Returns what the function has begun, or null.
  std::shared_ptr<begun_task> begun(monitor_core& in) const noexcept {
    return request.functions->begun ? request.functions->begun(request.where, in) : nullptr;
  }

  // One that has left again carries nothing.
  verdict decided() const noexcept {
    if (outcome == wait_outcome::failed) return wait_outcome::aborted;
    return {outcome, phase == visit_phase::left ? 1u : 0u};
  }

  // Under the core's lock, while it queues and visits.
  asked_type request;
  wait_outcome mark = wait_outcome::undecided;  // how it ends unless it may enter
  visit_phase phase = visit_phase::coming;
  bool is_cancelled = false;  // itself, and not with all
  bool is_elsewhere = false;  // its context is not that of the strand
  bool needs_strand = false;  // and that is kept running for it
};

}  // namespace asio_sync::detail

#endif
