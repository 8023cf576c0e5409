// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_SIGNALS_BARRIER_CORE_HPP
#define ASIO_SYNC_DETAIL_SIGNALS_BARRIER_CORE_HPP

// The core of participants who meet again and again, and what is done once all have come.

#include <asio_sync/detail/context/core_base.hpp>
#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/core/barrier_state.hpp>
#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/core/wait_list.hpp>
#include <asio_sync/detail/platform/threading.hpp>
#include <asio_sync/detail/signals/event_core.hpp>
#include <asio_sync/detail/signals/participant_core.hpp>

#include <functional>
#include <utility>

namespace asio_sync::detail {

struct barrier_waiter : event_waiter {
  using event_waiter::event_waiter;

  verdict decided() const noexcept { return {outcome, outcome == wait_outcome::granted && leads}; }

  bool leads = false;  // of whoever has decided it
};

// The user's function, which may be empty. It lives as long as the core.
class phase_completion {
 public:
  explicit phase_completion(std::function<void()>* f) noexcept : function_(std::move(*f)) {}

  // False if it throws. No point at which a thread that is to be cancelled ends.
  bool operator()() noexcept {
    if (!function_) return true;
    cancellation_disabled const whole;
    try {
      function_();
      return true;
    } catch (...) {
      return false;
    }
  }

 private:
  std::function<void()> function_;
};

struct barrier_traits : event_traits {
  using completion = phase_completion;
  static void lead(waiter& w) noexcept { static_cast<barrier_waiter&>(w).leads = true; }
};

using barrier_core = participant_core<barrier_state<barrier_traits>, barrier_waiter>;

// Arrives without waiting, or returns undecided. Counts the core during the arrival, because the
// completion function, or a handler of the phase, may destroy the barrier.
ASIO_SYNC_NOINLINE ASIO_SYNC_FLATTEN inline verdict try_arrive(barrier_core& core,
                                                               bool expired) noexcept {
  core.count_up();
  verdict const decided =
      core.decide([&](decided_waits& others) { return core.try_arrive(expired, others); });
  core.unref();
  return decided;
}

// Leaves the barrier like a participant that arrives. Returns false if no participant is left.
// Counts the core like try_arrive().
ASIO_SYNC_NOINLINE inline bool arrive_and_drop(barrier_core& core) noexcept {
  core.count_up();
  bool const dropped =
      core.decide([&](decided_waits& others) { return core.arrive_and_drop(others); });
  core.unref();
  return dropped;
}

}  // namespace asio_sync::detail

#endif
