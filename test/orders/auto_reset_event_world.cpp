// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include "world_over.hpp"

#include <asio_sync/async_auto_reset_event.hpp>

namespace asio_sync::test {

namespace {

// Set or not; whoever finds it set takes that away.
class signalling_one : public world_over<signalling_one, async_auto_reset_event> {
 public:
  signalling_one() : world_over(false, 1) {}

  template <class Token>
  static auto ask(async_auto_reset_event& event, unsigned, Token&& token) {
    return event.async_wait(std::forward<Token>(token));
  }
  template <class Token>
  static auto ask_for(async_auto_reset_event& event, unsigned, std::chrono::nanoseconds time,
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
  bool take(unsigned) override { return std::exchange(set_, false); }
  void put_back(unsigned) override { set_ = true; }
  bool at_rest() const override { return true; }
  bool gives_back(wait const&) const override { return true; }

  bool allows_own(operation const&) const override { return true; }
  void perform_own(operation const& op) override {
    switch (op.what) {
      case verb::take_at_once: {
        bool const got =
            got_at_once(op, [&] { return real_->wait_for(std::chrono::nanoseconds(0)); });
        return require(got == (!closed() && take(1)), "wait_for() takes what is_set() says");
      }
      case verb::take: set_ = false; return real_->reset();
      default: real_->set(); return returned(1);
    }
  }

  bool set_ = false;
};

}  // namespace

std::unique_ptr<world> auto_reset_event_world() { return std::make_unique<signalling_one>(); }

}  // namespace asio_sync::test
