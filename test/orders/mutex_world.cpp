// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include "support/test.hpp"
#include "world_over.hpp"

#include <asio_sync/async_mutex.hpp>

namespace asio_sync::test {

namespace {

// Locked or not; one holds it.
class locking : public world_over<locking, async_mutex, async_mutex::lock_type> {
 public:
  using lock_type = async_mutex::lock_type;

  locking() : world_over(true, 1) {}

  template <class Token>
  static auto ask(async_mutex& mutex, unsigned, Token&& token) {
    return mutex.async_lock(std::forward<Token>(token));
  }
  template <class Token>
  static auto ask_for(async_mutex& mutex, unsigned, std::chrono::nanoseconds time, Token&& token) {
    return mutex.async_lock_for(time, std::forward<Token>(token));
  }

  void check(wait const& w, lock_type const& lock) const {
    require(lock.owns_lock() == !w.expected && lock.mutex() == (w.expected ? nullptr : &*real_),
            "R3: the lock goes with success");
    require(w.expected || (!held_.owns_lock() && frames_ == 0), "two hold the mutex");
  }
  void hold(lock_type&& lock) { held_ = std::move(lock); }
  void compare_own() const { require(real_->is_locked() == locked_, "is_locked()"); }

 private:
  void make(asio::any_io_executor const& executor) override { real_.emplace(executor); }
  void destroy() override {
    locked_ = false;
    held_.release();
    real_.reset();
  }

  std::optional<operation> way_on() const override {
    if (held_.owns_lock()) return operation{verb::give};
    return {};
  }
  bool take(unsigned) override { return !std::exchange(locked_, true); }
  void put_back(unsigned) override { locked_ = false; }
  bool at_rest() const override { return !locked_; }

  bool allows_own(operation const& op) const override {
    return op.what != verb::give || held_.owns_lock() || !locked_;
  }
  void perform_own(operation const& op) override {
    if (op.what == verb::give) return unlock();
    bool const got = got_at_once(op, [&] {
      return op.what == verb::take ? real_->try_lock()
                                   : real_->try_lock_for(std::chrono::nanoseconds(0));
    });
    require(got == (!closed() && take(1)), "R7: try_lock() gets what is free, and nothing else");
    if (got) held_ = lock_type(*real_, std::adopt_lock);
  }

  void unlock() {
    if (held_.owns_lock()) {
      held_.unlock();
      held_ = {};
      return returned(1);
    }
    require(error_of([&] { real_->unlock(); }) == boost::system::errc::operation_not_permitted,
            "R15: unlock() of a free mutex");
  }

  lock_type held_;
  bool locked_ = false;
};

}  // namespace

std::unique_ptr<world> mutex_world() { return std::make_unique<locking>(); }

}  // namespace asio_sync::test
