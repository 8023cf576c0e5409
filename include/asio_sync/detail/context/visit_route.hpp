// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CONTEXT_VISIT_ROUTE_HPP
#define ASIO_SYNC_DETAIL_CONTEXT_VISIT_ROUTE_HPP

#include <asio_sync/detail/context/core_base.hpp>
#include <asio_sync/detail/context/destination.hpp>
#include <asio_sync/detail/context/visit_waiter.hpp>
#include <asio_sync/detail/context/visits_core.hpp>
#include <asio_sync/detail/context/waiter.hpp>

#include <boost/asio/execution_context.hpp>

#include <cstddef>
#include <new>

namespace asio_sync::detail {

// To the executor of the handler, by way of the strand. Without a strand there is nothing to see
// to, and the wait is aborted.
class visit_destination {
 public:
  visit_destination() noexcept = default;
  visit_destination(destination const& strand, destination const& own) noexcept
      : strand_(strand), own_(own) {}

  inline std::size_t size() const noexcept;
  inline void build(visit_waiter& w, std::byte* memory) const noexcept;

 private:
  destination strand_;
  destination own_;
};

// By way of the strand to the executor of the handler. All three stand in one block.
class visit_route final : public route {
 public:
  visit_route(visit_waiter& w, route& strand, route& own) noexcept
      : route(strand.at_once && own.at_once), waiter_(w), strand_(strand), own_(own) {}

  void post(waiter& w) override {
    goes_to_strand_ = visits_core::visits(waiter_);
    if (goes_to_strand_) core().sets_out(waiter_);
    now().post(w);
  }

  void relay(waiter& w) override { now().relay(w); }

  void track(waiter& w) override {
    strand_.track(w);
    w.work = wait_work::none;
    own_.track(w);
  }

  asio::execution_context& context(waiter const& w) const override { return own_.context(w); }

  bool leads_through_strand() const noexcept override { return true; }

  std::size_t end(waiter const& w) noexcept override {
    std::size_t const rest = strand_.end(w) + own_.end(w);
    this->visit_route::~visit_route();
    return sizeof(*this) + rest;
  }

  // What is dropped on the strand need not be dropped where it belongs.
  bool keeps_block() noexcept override {
    if (now().keeps_block()) return true;
    return visits_core::visits(waiter_) && core().is_turned_back(waiter_);
  }

 private:
  ~visit_route() = default;
  visits_core& core() const noexcept { return static_cast<visits_core&>(*waiter_.core); }
  route& now() const noexcept { return goes_to_strand_ ? strand_ : own_; }

  visit_waiter& waiter_;
  route& strand_;
  route& own_;
  bool goes_to_strand_ = false;
};

std::size_t visit_destination::size() const noexcept {
  return own_.size() + (strand_.size() ? sizeof(visit_route) + strand_.size() : 0);
}

void visit_destination::build(visit_waiter& w, std::byte* memory) const noexcept {
  own_.build(w, memory);
  if (strand_.size() == 0) return;
  route& own = *w.way;
  memory += own_.size();
  strand_.build(w, memory);
  w.way = ::new (static_cast<void*>(memory + strand_.size())) visit_route(w, *w.way, own);
}

template <class Own>
bool is_plainly_at_home(visits_core const&, Own const&) noexcept {
  return false;
}

template <class Own, class Primitive>
visit_destination destination_of(visits_core const& core, Own const& own,
                                 Primitive const& primitive) {
  core_base const& any = core;
  destination to = destination_of(any, own, primitive);
  if (to.size() == 0 && core.home().get()) to = destination::posted_to_served(core.home());
  return {core.strand_destination(), to};
}

}  // namespace asio_sync::detail

#endif
