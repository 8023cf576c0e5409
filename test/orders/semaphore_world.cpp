// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include "support/test.hpp"
#include "world_over.hpp"

#include <asio_sync/async_semaphore.hpp>

namespace asio_sync::test {

namespace {

constexpr unsigned permits = 3;

// So many permits are free. The others are on their way, or held, or forgotten.
class acquiring : public world_over<acquiring, async_semaphore, semaphore_permit> {
 public:
  acquiring() : world_over(true, permits) {}

  template <class Token>
  static auto ask(async_semaphore& semaphore, unsigned n, Token&& token) {
    return semaphore.async_acquire(n, std::forward<Token>(token));
  }
  template <class Token>
  static auto ask_for(async_semaphore& semaphore, unsigned n, std::chrono::nanoseconds time,
                      Token&& token) {
    return semaphore.async_acquire_for(n, time, std::forward<Token>(token));
  }

  void check(wait const& w, semaphore_permit const& permit) const {
    require(permit.count() == (w.expected ? 0 : w.plan.amount), "R3: permits go with success");
  }
  void hold(semaphore_permit&& permit) { held_.merge(std::move(permit)); }
  void compare_own() const { require(real_->available() == free_, "available()"); }

 private:
  void make(asio::any_io_executor const& executor) override {
    real_.emplace(executor, permits, permits);
  }
  void destroy() override {
    real_.reset();
    held_.release();
    free_ = permits;
    forgotten_ = 0;
  }

  std::optional<operation> way_on() const override {
    if (held_) return operation{.what = verb::give, .item = all};
    if (forgotten_ == 0) return {};
    return operation{.what = verb::give, .item = by_member, .amount = forgotten_};
  }
  bool take(unsigned n) override {
    if (free_ < n) return false;
    free_ -= n;
    return true;
  }
  void put_back(unsigned n) override { free_ += n; }
  bool at_rest() const override { return free_ == permits; }

  // What nobody has acquired is not released, unless that has to fail.
  bool allows_own(operation const& op) const override {
    if (op.what != verb::give) return op.amount > 0 || op.what == verb::take_at_once;
    if (op.item != by_member) return held_.count() > 0;
    return op.amount <= forgotten_ || free_ + op.amount > permits;
  }
  void perform_own(operation const& op) override {
    if (op.what == verb::give) return give(op);
    semaphore_permit got;
    got_at_once(op, [&] {
      got = op.what == verb::take ? real_->try_acquire(op.amount)
                                  : real_->try_acquire_for(op.amount, std::chrono::nanoseconds(0));
      return got.count() > 0;
    });
    bool const its_turn = !closed() && (queue().empty() || op.amount == 0);
    require(got.count() == (its_turn && take(op.amount) ? op.amount : 0),
            "R7: try_acquire() gets what is free, and nothing else");
    hold(std::move(got));
  }

  // The ways to give permits back.
  enum way : std::uint8_t { all, one, forget, by_member };

  void give(operation const& op) {
    auto const n = static_cast<unsigned>(held_.count());
    switch (op.item) {
      case all: held_.release(); return returned(n);
      case one: static_cast<void>(held_.split(1)); return returned(1);
      case forget: forgotten_ += static_cast<std::uint8_t>(held_.forget()); return;
      default: break;
    }
    bool const too_many = free_ + op.amount > permits;
    auto const refused = error_of([&] { real_->release(op.amount); });
    require(too_many ? refused == boost::system::errc::value_too_large : !refused,
            "R15: release() of more than there are");
    if (too_many) return;
    forgotten_ -= op.amount;
    returned(op.amount);
  }

  semaphore_permit held_;
  unsigned free_ = permits;
  std::uint8_t forgotten_ = 0;
};

}  // namespace

std::unique_ptr<world> semaphore_world() { return std::make_unique<acquiring>(); }

}  // namespace asio_sync::test
