// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include "world_over.hpp"

#include <asio_sync/async_manual_reset_event.hpp>

namespace asio_sync::test {

namespace {

// Set or not; all waits find the same, and take nothing away.
class signalling : public world_over<signalling, async_manual_reset_event> {
 public:
  signalling() : world_over(false, 1) {}

  template <class Token>
  static auto ask(async_manual_reset_event& event, unsigned, Token&& token) {
    return event.async_wait(std::forward<Token>(token));
  }
  template <class Token>
  static auto ask_for(async_manual_reset_event& event, unsigned, std::chrono::nanoseconds time,
                      Token&& token) {
    return event.async_wait_for(time, std::forward<Token>(token));
  }

  void compare_own() const { require(real_->is_set() == set_, "is_set()"); }

 private:
  void make(asio::any_io_executor const& executor) override { real_.emplace(executor); }
  void destroy() override {
    set_ = false;
    real_.reset();
  }

  std::optional<operation> way_on() const override {
    if (!queue().empty()) return operation{verb::give};
    return {};
  }
  bool take(unsigned) override { return set_; }
  void put_back(unsigned) override {}
  bool at_rest() const override { return true; }

  bool allows_own(operation const&) const override { return true; }
  void perform_own(operation const& op) override {
    if (op.what == verb::take_at_once) {
      bool const got =
          got_at_once(op, [&] { return real_->wait_for(std::chrono::nanoseconds(0)); });
      return require(got == (set_ && !closed()), "wait_for() sees what is_set() says");
    }
    set_ = op.what == verb::give;
    if (!set_) return real_->reset();
    real_->set();
    serve();
  }

  bool set_ = false;
};

}  // namespace

std::unique_ptr<world> manual_reset_event_world() { return std::make_unique<signalling>(); }

}  // namespace asio_sync::test
