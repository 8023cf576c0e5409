// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include "support/test.hpp"
#include "world_over.hpp"

#include <asio_sync/async_latch.hpp>

namespace asio_sync::test {

namespace {

constexpr unsigned participants = 3;
constexpr unsigned arrives = 2;  // a wait for two arrives, one for less only waits

// So many have not arrived yet.
class counting : public world_over<counting, async_latch> {
  using tuple_token = asio::as_tuple_t<asio::deferred_t>;

 public:
  counting() : world_over(false, arrives) {}

  template <class Handler>
  static void ask(async_latch& latch, unsigned n, Handler&& h) {
    if (n == arrives) return latch.async_arrive_and_wait(std::forward<Handler>(h));
    latch.async_wait(std::forward<Handler>(h));
  }
  template <class Handler>
  static void ask_for(async_latch& latch, unsigned n, std::chrono::nanoseconds time, Handler&& h) {
    if (n == arrives) return latch.async_arrive_and_wait_for(time, std::forward<Handler>(h));
    latch.async_wait_for(time, std::forward<Handler>(h));
  }

  static asio::awaitable<std::tuple<error_code>> ask(async_latch& latch, unsigned n,
                                                     tuple_token const& token) {
    if (n == arrives) co_return co_await latch.async_arrive_and_wait(token);
    co_return co_await latch.async_wait(token);
  }
  static asio::awaitable<std::tuple<error_code>> ask_for(async_latch& latch, unsigned n,
                                                         std::chrono::nanoseconds time,
                                                         tuple_token const& token) {
    if (n == arrives) co_return co_await latch.async_arrive_and_wait_for(time, token);
    co_return co_await latch.async_wait_for(time, token);
  }

  void compare_own() const {
    require(real_->try_wait() == (ahead_ == 0 && !closed()), "try_wait()");
  }

 private:
  void make(asio::any_io_executor const& executor) override {
    real_.emplace(executor, participants);
  }
  void destroy() override {
    ahead_ = participants;
    real_.reset();
  }

  std::optional<operation> way_on() const override {
    if (queue().empty()) return {};
    return operation{.what = verb::give, .amount = static_cast<std::uint8_t>(ahead_)};
  }
  error_code come(wait& w) override { return w.plan.amount == arrives ? lower(1) : error_code(); }
  bool take(unsigned) override { return ahead_ == 0; }
  void put_back(unsigned) override {}
  bool at_rest() const override { return true; }

  bool allows_own(operation const&) const override { return true; }
  void perform_own(operation const& op) override {
    if (op.what == verb::give) {
      error_code const thrown = error_of([&] { real_->count_down(op.amount); });
      return require(thrown == lower(op.amount), "R15: count_down() below zero");
    }
    if (op.what == verb::take)
      return require(real_->try_wait() == (ahead_ == 0 && !closed()), "try_wait()");
    bool got = false;
    bool const arriving = op.item % 2 != 0;
    error_code const thrown = error_of([&] {
      std::chrono::nanoseconds const time(0);
      got = arriving ? real_->arrive_and_wait_for(time) : real_->wait_for(time);
    });
    error_code expected = arriving ? lower(1) : error_code();
    if (!expected && closed()) expected = error::closed;
    require(thrown == expected, "R15, R18: refused without waiting");
    require(got == (!expected && ahead_ == 0), "R11: wait_for() of no time looks once");
  }

  error_code lower(unsigned n) {
    if (n > ahead_) return make_error_code(boost::system::errc::invalid_argument);
    ahead_ -= n;
    if (ahead_ == 0) serve();
    return {};
  }

  unsigned ahead_ = participants;
};

}  // namespace

std::unique_ptr<world> latch_world() { return std::make_unique<counting>(); }

}  // namespace asio_sync::test
