// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_MONITOR_VISIT_ROUTE_HPP
#define ASIO_SYNC_DETAIL_MONITOR_VISIT_ROUTE_HPP

#include <asio_sync/detail/context/destination.hpp>
#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/monitor/visit_waiter.hpp>

#include <boost/asio/execution_context.hpp>

#include <cstddef>
#include <new>
#include <utility>

namespace asio_sync::detail {

// The route of a visit: that to the executor of its handler, which stands behind it. One that has
// been let in to look does not go there yet.
class visit_route final : public route {
 public:
  explicit visit_route(route& own) noexcept : route(own.at_once), own_(&own) {}

  void post(waiter& w) override;
  void relay(waiter& w) override { own_->relay(w); }
  void track(waiter& w) override { own_->track(w); }
  asio::execution_context& context(waiter const& w) const override { return own_->context(w); }
  bool is_of_visit() const noexcept override { return true; }
  bool goes_to_strand(waiter const& w) const noexcept override;
  bool keeps_block() noexcept override { return own_ && own_->keeps_block(); }

  // The executor's context ends, while the visit has something to finish: where it is posted next,
  // it lets go of the executor, and goes nowhere.
  void evict() noexcept { is_evicted_ = true; }
  void let_go(waiter const& w) noexcept {
    if (own_) std::exchange(own_, nullptr)->destroy(w);
  }

  void destroy(waiter const& w) noexcept override {
    let_go(w);
    this->visit_route::~visit_route();
  }

 private:
  ~visit_route() = default;

  bool is_evicted_ = false;
  route* own_;
};

class visit_destination {
 public:
  visit_destination() noexcept = default;
  explicit visit_destination(destination const& own) noexcept : own_(own) {}

  std::size_t size() const noexcept { return sizeof(visit_route) + own_.size(); }

  void build(waiter& w, void* memory) const noexcept {
    own_.build(w, static_cast<std::byte*>(memory) + sizeof(visit_route));
    w.way = ::new (memory) visit_route(*w.way);
    w.way->size = static_cast<std::uint32_t>(size());
  }

 private:
  destination own_;
};

}  // namespace asio_sync::detail

#endif
