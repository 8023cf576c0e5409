// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include "support/test.hpp"
#include "world_over.hpp"

#include <asio_sync/async_monitor.hpp>

namespace asio_sync::test {

namespace {

// Its own number, and how often it was entered.
struct visited {
  unsigned monitor;
  unsigned visits = 0;
};

using monitor_type = async_monitor<visited>;

// Occupied or not; one is inside, and may stay with the object when the monitor has gone.
class entering : public world_over<entering, monitor_type, monitor_type::entry> {
 public:
  using entry = monitor_type::entry;

  entering() : world_over(true, 1) {}

  template <class Token>
  static auto ask(monitor_type& monitor, unsigned, Token&& token) {
    return monitor.async_enter(std::forward<Token>(token));
  }
  template <class Token>
  static auto ask_for(monitor_type& monitor, unsigned, std::chrono::nanoseconds time,
                      Token&& token) {
    return monitor.async_enter_for(time, std::forward<Token>(token));
  }

  void check(wait const& w, entry const& inside) {
    require(inside.owns() == !w.expected, "R3: the entry goes with success");
    if (w.expected) return check_empty(inside);
    require(!held_.owns() && frames_ == 0, "M1: two are inside");
    visit(inside);
  }
  void hold(entry&& inside) { held_ = std::move(inside); }
  void compare_own() const { require(held_.owns() <= occupied_, "M1: inside a free monitor"); }

 private:
  bool relays() const override { return false; }
  void make(asio::any_io_executor const& executor) override {
    check_outlived();
    outlives_ = false;
    visits_ = 0;
    real_.emplace(executor, visited{.monitor = ++monitors_});
  }
  void destroy() override {
    outlives_ = held_.owns();
    occupied_ = false;
    real_.reset();
    check_outlived();
  }

  std::optional<operation> way_on() const override {
    if (held_.owns()) return operation{verb::give};
    return {};
  }
  bool take(unsigned) override { return !std::exchange(occupied_, true); }
  void put_back(unsigned) override { occupied_ = false; }
  bool at_rest() const override { return !occupied_; }

  // Nothing blocks here.
  bool allows_own(operation const& op) const override {
    return op.what == verb::take || (op.what == verb::give && held_.owns());
  }
  void perform_own(operation const& op) override {
    if (op.what == verb::give) return leave(op.item % 2 != 0);
    entry inside = real_->try_enter();
    require(inside.owns() == (!closed() && take(1)),
            "R7: try_enter() gets what is free, and nothing else");
    if (!inside) return check_empty(inside);
    visit(inside);
    held_ = std::move(inside);
  }

  void leave(bool by_assignment) {
    if (!by_assignment) held_.leave();
    held_ = {};
    check_empty(held_);
    returned(1);
  }

  void visit(entry const& inside) {
    require(inside->monitor == monitors_ && inside->visits == visits_,
            "M1: the object is as the last who was inside has left it");
    inside->visits = ++visits_;
  }
  void check_empty(entry const& inside) const {
    require(error_of([&] { static_cast<void>(*inside); }) ==
                boost::system::errc::operation_not_permitted,
            "an empty entry leads to no object");
  }
  void check_outlived() const {
    if (!outlives_) return;
    require(!held_.owns(), "M7: an entry that outlives the monitor owns nothing");
    require(held_->monitor == monitors_ && held_->visits == visits_,
            "M7: the object lives until the last entry has gone");
  }

  entry held_;
  unsigned monitors_ = 0, visits_ = 0;
  bool occupied_ = false;
  bool outlives_ = false;  // whose monitor has gone, has the object
};

}  // namespace

std::unique_ptr<world> monitor_world() { return std::make_unique<entering>(); }

}  // namespace asio_sync::test
