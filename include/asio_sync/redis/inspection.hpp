// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_INSPECTION_HPP
#define ASIO_SYNC_REDIS_INSPECTION_HPP

#include <asio_sync/detail/core/config.hpp>  // first

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace asio_sync::redis {

/// A picture of an object at a server: who holds it and who waits for it. Out of date at once.
/// `client::async_inspect` takes it.
struct inspection {
  /// A lock, a permit, a part of a variable, or a place in the queue.
  struct member {
    /// The `config::name` of its client; empty if that has none, or is dead.
    std::string who;
    /// The session of its client: an id that no other client and no later session has.
    std::string session;
    /// The permits that it holds or waits for. A lock of a mutex, an entry and a reader have 1, a
    /// writer has `capacity`; an `owned` has 0.
    std::uint64_t weight = 0;
    /// False: the session has ended. The server removes the member before it matters to others.
    bool is_alive = false;
  };

  struct holder : member {
    /// The fencing number, which `client::async_force_release` takes. All that an entry has added
    /// as `owned` has that of the entry.
    std::uint64_t fence = 0;
    /// The time since the grant, by the server's clock.
    std::chrono::milliseconds age{0};
  };

  struct waiter : member {
    /// The place in the queue: smaller tickets are served first.
    std::uint64_t ticket = 0;
    /// False: the server passes the waiter over until its next heartbeat, because nobody listens
    /// on its connection, or because it has missed a heartbeat.
    bool is_reachable = false;
  };

  /// "mutex", "semaphore", "shared_mutex" or "monitor"; empty if nobody holds the object, or waits
  /// for it or on its conditions.
  std::string kind;
  /// The permits that there are, and those that are held.
  std::uint64_t capacity = 0, used = 0;
  /// The time for which the server grants nothing, because it is new or has lost its data; mostly
  /// zero.
  std::chrono::milliseconds gate{0};
  /// The numbers of holders and waiters. `holders` and `waiters` have 256 at most.
  std::uint64_t holder_count = 0, waiter_count = 0;
  /// The number of waits on the object's conditions. They are not among the waiters.
  std::uint64_t condition_waiter_count = 0;
  /// The holders by their fences: first come, first.
  std::vector<holder> holders;
  /// The waiters in the order of the queue.
  std::vector<waiter> waiters;
};

}  // namespace asio_sync::redis

#endif
