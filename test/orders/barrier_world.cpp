// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The barrier, and what is expected of it.

#include "support/test.hpp"
#include "world_over.hpp"

#include <asio_sync/async_barrier.hpp>

namespace asio_sync::test {

namespace {

constexpr unsigned participants = 3;

// Those who have arrived in this phase are those in the queue.
class meeting : public world_over<meeting, async_barrier, bool> {
 public:
  meeting() : world_over(false, 1) {}

  template <class Token>
  static auto ask(async_barrier& barrier, unsigned, Token&& token) {
    return barrier.async_arrive_and_wait(std::forward<Token>(token));
  }
  template <class Token>
  static auto ask_for(async_barrier& barrier, unsigned, std::chrono::nanoseconds time,
                      Token&& token) {
    return barrier.async_arrive_and_wait_for(time, std::forward<Token>(token));
  }

  void compare_own() const { require(completed_ == phases_, "one completion a phase"); }

  // The last to arrive was decided at once.
  void check(wait const& w, bool leader) const {
    bool const leads = !w.expected && (w.at_once || leaders_.count(&w) != 0);
    require(leader == leads, "one leads");
  }
  static void hold(bool) {}

 private:
  void make(asio::any_io_executor const& executor) override {
    real_.emplace(executor, participants, [this] { ++completed_; });
  }
  void destroy() override {
    taking_part_ = participants;
    real_.reset();
  }

  std::optional<operation> way_on() const override {
    if (queue().empty()) return {};
    return operation{.what = verb::cancel};
  }

  error_code come(wait&) override { return one_comes(); }
  error_code one_comes() {
    met_ = false;
    if (closed()) return {};
    if (taking_part_ == 0) return make_error_code(boost::system::errc::invalid_argument);
    if (queue().size() + 1 == taking_part_) meet();
    return {};
  }
  void left() override { refuse_all(error::broken_barrier); }
  bool take(unsigned) override { return met_; }
  void put_back(unsigned) override {}
  bool at_rest() const override { return true; }

  bool allows_own(operation const&) const override { return true; }
  void perform_own(operation const& op) override {
    if (op.what == verb::take) return;  // there is nothing to try
    if (op.what == verb::give) {
      error_code const thrown = error_of([&] { real_->arrive_and_drop(); });
      return require(thrown == drop(), "R15: more drop than there are");
    }
    std::optional<bool> got;
    error_code const thrown =
        error_of([&] { got = real_->arrive_and_wait_for(std::chrono::nanoseconds(0)); });
    error_code expected = one_comes();
    if (!expected && closed()) expected = error::closed;
    require(thrown == expected, "R15, R18: refused without waiting");
    require(got.value_or(false) == (!expected && met_), "R11: without time only the last arrives");
    require(got.has_value() == (!expected && met_), "R11: without time only the last arrives");
  }

  void meet() {
    met_ = true;
    ++phases_;
    serve();
  }

  error_code drop() {
    if (taking_part_ == 0) return make_error_code(boost::system::errc::invalid_argument);
    if (queue().size() != --taking_part_ || closed()) return {};
    if (!queue().empty()) leaders_.insert(&wait_of(queue().front()));
    meet();
    return {};
  }

  unsigned taking_part_ = participants;
  bool met_ = false;  // those who wait go on
  unsigned phases_ = 0, completed_ = 0;
  std::set<wait const*> leaders_;
};

}  // namespace

std::unique_ptr<world> barrier_world() { return std::make_unique<meeting>(); }

}  // namespace asio_sync::test
