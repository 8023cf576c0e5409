// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CONDITION_CONDITION_WAITER_HPP
#define ASIO_SYNC_DETAIL_CONDITION_CONDITION_WAITER_HPP

// A wait on a condition, and what the core of conditions takes from the shell.

#include <asio_sync/detail/context/core_base.hpp>
#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/core/condition_state.hpp>
#include <asio_sync/detail/locks/permit_cores.hpp>
#include <asio_sync/detail/platform/threading.hpp>

#include <exception>

namespace asio_sync::detail {

// How a wait empties a lock and fills it again, whatever its type.
struct lock_functions {
  mutex_hold (*take)(void* lock) noexcept;
  void (*put)(void* lock, mutex_hold hold) noexcept;
};

// The predicate of a wait, if there is one.
struct condition_predicate {
  bool (*call)(void*) = nullptr;
  void* where = nullptr;
  std::exception_ptr* thrown = nullptr;  // for what it throws; without it that is let out
  bool has_looked = false;
};

// A wait on a condition. As a waiter it stands in the queue of its mutex, with its place in that
// of the condition; slot, timer and service know it as the condition's.
//
// A wait with a predicate arrives on its executor as often as it has got the mutex, and queues
// again while the predicate is false: it keeps its slot connected, its service, its route and its
// work until it is over, and needs no memory for that. One without a route is known to a service
// only if it has a deadline and no predicate, as its room holds the links.
struct condition_waiter : lasting_waiter {
  struct asked_type {
    void* lock;
    lock_functions const* of_lock;
    bool expired;  // there is no time to wait
    condition_predicate predicate;
  };

  condition_waiter(function* f, core_base* c, asked_type const& what) noexcept
      : lasting_waiter(f, c, {}), request(what), lock_at_end(what.lock) {
    if (request.expired) place.mark = wait_outcome::timed_out;
  }

  verdict decided() const noexcept { return result; }

  bool holds() const noexcept { return outcome == wait_outcome::granted; }

  static constexpr bool has_initiation = true;
  void leave_initiation() noexcept { initiation = nullptr; }

  asked_type request;
  void* lock_at_end;  // that is filled again
  condition_place<condition_waiter> place{*this};
  mutex_core* mutex = nullptr;  // counted by the wait, from where it has taken the lock in
  wait_outcome result = wait_outcome::undecided;
  initiation_scope const* initiation = nullptr;  // in which it has been handed to its executor
};

struct condition_traits : threading {
  using node = condition_place<condition_waiter>;
  using list = wait_list<node>;
  using ended = decided_waits;

  static void joined(node& place) noexcept {
    if (place.wait.work == wait_work::guest) place.wait.mutex->guest_joined();
  }

  static void const* mutex(condition_waiter const& w) noexcept { return w.mutex; }

  static bool lock_again(condition_waiter& w, decided_waits& decided) noexcept {
    w.state = wait_state::fresh;
    w.outcome = wait_outcome::undecided;
    if (w.mutex->enter(w)) return false;
    is_decided(w, decided);
    return true;
  }

  static bool leave_mutex(condition_waiter& w, decided_waits& decided) noexcept {
    return w.mutex && w.mutex->refuse(w, wait_outcome::aborted, decided);
  }

  static void end(condition_waiter& w, wait_outcome outcome, decided_waits& decided) noexcept {
    w.mutex->conclude(w, outcome);
    is_decided(w, decided);
  }

 private:
  static void is_decided(condition_waiter& w, decided_waits& decided) noexcept {
    if (w.work == wait_work::guest) w.mutex->guest_left(decided);
    decided.push_back(w);
  }
};

}  // namespace asio_sync::detail

#endif
