// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_CLIENT_CLIENT_SERVICE_HPP
#define ASIO_SYNC_REDIS_DETAIL_CLIENT_CLIENT_SERVICE_HPP

#include <asio_sync/redis/detail/hub/hub.hpp>

#include <boost/asio/execution_context.hpp>

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace asio_sync::redis::detail {

// Owns the drivers of a context, with their sockets, timers and strands, which must not outlive
// it.
class client_service final : public asio::execution_context::service {
 public:
  using key_type = client_service;
  static inline asio::execution_context::id id;

  explicit client_service(asio::execution_context& context) : service(context) {}

  void add(std::shared_ptr<driver> d) {
    std::lock_guard const guard(lock_);
    drivers_.push_back(std::move(d));
  }

  // The driver goes with its last reference.
  void remove(driver const& d) noexcept {
    std::lock_guard const guard(lock_);
    std::erase_if(drivers_, [&](auto const& each) { return each.get() == &d; });
  }

 private:
  void shutdown() noexcept override {
    std::vector<std::shared_ptr<driver>> drivers;
    {
      std::lock_guard const guard(lock_);
      drivers.swap(drivers_);
    }
    for (auto const& each : drivers) each->end();
  }

  // A child lets go of its parent's connections before it can read from them.
  void notify_fork(asio::execution_context::fork_event event) override {
    if (event == asio::execution_context::fork_child) shutdown();
  }

  std::mutex lock_;
  std::vector<std::shared_ptr<driver>> drivers_;
};

}  // namespace asio_sync::redis::detail

#endif
