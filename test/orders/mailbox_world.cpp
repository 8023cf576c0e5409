// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include "world_over.hpp"

#include <asio_sync/async_mailbox.hpp>

namespace asio_sync::test {

namespace {

constexpr unsigned flags = 7;

// What is up. The amount of a wait is the set that it asks for, whether for all_of it, and whether
// it is taking that.
class raising : public world_over<raising, async_mailbox, mailbox_flags> {
 public:
  raising() : world_over(false, flags) {}

  template <class Token>
  static auto ask(async_mailbox& mailbox, unsigned n, Token&& token) {
    unsigned const set = n & flags;
    switch (n & (all_of | taking)) {
      case all_of | taking: return mailbox.async_take_all(set, std::forward<Token>(token));
      case all_of: return mailbox.async_wait_all(set, std::forward<Token>(token));
      case taking: return mailbox.async_take_any(set, std::forward<Token>(token));
      default: return mailbox.async_wait_any(set, std::forward<Token>(token));
    }
  }
  template <class Token>
  static auto ask_for(async_mailbox& mailbox, unsigned n, std::chrono::nanoseconds time,
                      Token&& token) {
    unsigned const set = n & flags;
    switch (n & (all_of | taking)) {
      case all_of | taking:
        return mailbox.async_take_all_for(set, time, std::forward<Token>(token));
      case all_of: return mailbox.async_wait_all_for(set, time, std::forward<Token>(token));
      case taking: return mailbox.async_take_any_for(set, time, std::forward<Token>(token));
      default: return mailbox.async_wait_any_for(set, time, std::forward<Token>(token));
    }
  }

  void check(wait const& w, mailbox_flags got) const {
    require(got == (w.expected ? 0 : w.got & flags), "R3: a wait gets its flags, with success");
  }
  void hold(mailbox_flags) {}
  void compare_own() const { require(real_->peek() == up_, "peek()"); }

  unsigned asked_for(std::size_t n, bool otherwise) const override {
    static constexpr std::array<unsigned, 8> sets{1, 3, 2, all_of | 3, 4, all_of | 7, 7, 0};
    return sets[n % sets.size()] | (otherwise ? taking : 0);
  }

 private:
  void make(asio::any_io_executor const& executor) override { real_.emplace(executor); }
  void destroy() override {
    up_ = 0;
    real_.reset();
  }

  std::optional<operation> way_on() const override {
    if (queue().empty()) return {};
    auto const set = static_cast<std::uint8_t>(plan_of(queue().front()).amount & flags);
    return operation{.what = verb::give, .amount = set};
  }

  // Those who come look at what is up; nobody waits whom that would satisfy.
  bool in_turn() const override { return false; }
  bool grant(wait& w) override { return get(w, up_); }
  bool take(unsigned set) override {
    up_ &= ~set;
    return true;
  }
  void put_back(unsigned got) override {
    if (got & taking) up_ |= got & flags;
  }
  bool at_rest() const override { return true; }
  bool gives_back(wait const& w) const override { return (w.got & taking) && (w.got & flags); }

  // Gives a wait what it asks for out of what it sees, if that is there.
  bool get(wait& w, unsigned seen) {
    unsigned const asked = w.plan.amount, set = asked & flags, there = seen & set;
    if (asked & all_of ? there != set : there == 0 && set != 0) return false;
    w.got = there | (asked & taking);
    if (asked & taking) take(there);
    return true;
  }

  // Those who look see what was raised, those who take what older ones have left.
  void serve() override {
    unsigned const raised = up_;
    for (unsigned const id : std::deque<unsigned>(queue())) {
      wait& w = wait_of(id);
      if (get(w, w.plan.amount & taking ? up_ : raised)) granted(id);
    }
  }

  bool allows_own(operation const& op) const override { return op.what != verb::take_at_once; }
  void perform_own(operation const& op) override {
    unsigned const set = op.amount & flags;
    if (op.what == verb::give) {
      real_->raise(set);
      return returned(set | taking);
    }
    require(real_->take(set) == up_, "take() returns what was up");
    take(set);
  }

  unsigned up_ = 0;
};

}  // namespace

std::unique_ptr<world> mailbox_world() { return std::make_unique<raising>(); }

}  // namespace asio_sync::test
