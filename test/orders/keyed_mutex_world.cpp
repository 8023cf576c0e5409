// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include "support/test.hpp"
#include "world_over.hpp"

#include <asio_sync/async_keyed_mutex.hpp>

namespace asio_sync::test {

namespace {

using keyed_mutex = async_keyed_mutex<int>;

// One key, held or not, beside one that is held all along.
class locking_a_key : public world_over<locking_a_key, keyed_mutex, keyed_mutex::keyed_lock> {
 public:
  using keyed_lock = keyed_mutex::keyed_lock;
  static constexpr int key = 1;

  locking_a_key() : world_over(true, 1) {}

  template <class Token>
  static auto ask(keyed_mutex& mutex, unsigned, Token&& token) {
    return mutex.async_lock(key, std::forward<Token>(token));
  }
  template <class Token>
  static auto ask_for(keyed_mutex& mutex, unsigned, std::chrono::nanoseconds time, Token&& token) {
    return mutex.async_lock_for(key, time, std::forward<Token>(token));
  }

  void check(wait const& w, keyed_lock const& lock) const {
    require(lock.owns_lock() == !w.expected, "R3: the lock goes with success");
    require(w.expected || lock.key() == key, "it is a lock of that key");
    require(w.expected || (!held_.owns_lock() && frames_ == 0), "two hold the key");
  }
  void hold(keyed_lock&& lock) { held_ = std::move(lock); }
  void compare_own() const {
    require(real_->size() == 1u + locked_, "a key has an entry while it is used");
  }

 private:
  void make(asio::any_io_executor const& executor) override {
    real_.emplace(executor);
    other_ = real_->try_lock(key + 1);
  }
  void destroy() override {
    locked_ = false;
    real_.reset();
    held_ = {};
    other_ = {};
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
    if (op.what == verb::take_at_once) return;  // there is no blocking form
    if (op.what == verb::give) return unlock();
    keyed_lock got = real_->try_lock(key);
    require(got.owns_lock() == (!closed() && take(1)),
            "R7: try_lock() gets what is free, and nothing else");
    if (got) held_ = std::move(got);
  }

  void unlock() {
    if (held_.owns_lock()) {
      held_.unlock();
      return returned(1);
    }
    require(error_of([&] { held_.unlock(); }) == boost::system::errc::operation_not_permitted,
            "R15: unlock() of an empty guard");
  }

  keyed_lock held_, other_;
  bool locked_ = false;
};

}  // namespace

std::unique_ptr<world> keyed_mutex_world() { return std::make_unique<locking_a_key>(); }

}  // namespace asio_sync::test
