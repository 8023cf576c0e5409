// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_REDIS_WALK_USER_HPP
#define ASIO_SYNC_TEST_REDIS_WALK_USER_HPP

#include <asio_sync/redis/detail/session/session.hpp>

#include "redis/walk/world.hpp"
#include "support/random.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <string>
#include <vector>

namespace redis_walk {

using asio_sync::test::random_choice;
using time_point = session_clock::time_point;

struct subject {
  std::string name, kind;
  std::uint64_t capacity = 1;
};

// Holds the bytes that the server has sent to a client.
struct delivery {
  bool is_push = false;
  std::string push;
  message answer;
};

// A connection. Each end may be closed without the other end's knowledge.
struct link {
  std::string client;
  std::deque<request> to_server;
  std::deque<delivery> to_client;
  bool heard = true;           // the client still reads
  bool open = true;            // the server still reads
  unsigned left;               // commands that arrive before the line goes dead
  milliseconds dead_until{0};  // the server hears nothing before
  time_point heard_at{};       // by the client's clock
};

// A client: its session, its clock, which does not run like the server's, and its program.
class user final : public session_host {
 public:
  struct use {
    std::unique_ptr<claim> token;
    std::size_t subject;
    std::uint64_t weight;
    bool holds = false;
    bool leaves = false;
    bool waits = false;  // on a condition, or for the hold after that
  };

  user(session_config config, std::vector<subject> const& subjects, random_choice& random)
      : config_(std::move(config)), random_(random), s_(config_, *this) {
    for (subject const& each : subjects)
      objects_.push_back({each.name, each.kind, 1, each.capacity});
    now_ = time_point(std::chrono::hours(1 + random_.below(1000)));
    s_.run();
  }

  session& s() noexcept { return s_; }
  session_config const& config() const noexcept { return config_; }
  time_point now() const noexcept { return now_; }
  std::size_t uses() const noexcept { return uses_.size(); }
  std::size_t signals() const noexcept { return signals_.size(); }

  // The server's clock has advanced. Ours drifts, but not more than the margin in a ttl.
  void pass(milliseconds time) {
    if (random_.one_in(100)) drift_ = int(random_.below(81)) - 40;
    now_ += std::chrono::microseconds(time.count() * (1000 + drift_));
  }

  // Returns the weight of an object that its guards say they own.
  std::uint64_t believes(std::size_t subject) const {
    if (now_ >= s_.valid_until()) return 0;
    std::uint64_t weight = 0;
    for (use const& u : uses_)
      if (u.subject == subject && u.holds) weight += u.weight;
    return weight;
  }

  std::size_t holds() const {
    return std::size_t(
        std::count_if(uses_.begin(), uses_.end(), [](use const& u) { return u.holds; }));
  }

  // --- The program ---

  void acquire(std::size_t subject, std::uint64_t weight, bool once = false) {
    uses_.push_back({std::make_unique<claim>(objects_[subject], weight, once), subject, weight});
    s_.acquire(now_, *uses_.back().token);
  }

  void acquire_something() {
    std::size_t const subject = random_.below(unsigned(objects_.size()));
    unsigned const capacity = unsigned(objects_[subject].capacity);
    acquire(subject, 1 + random_.below(capacity), random_.one_in(6));
  }

  // Waits on a condition with something that is held.
  void wait() {
    use* const held = choose([](use const& u) { return u.holds && !u.leaves; });
    if (held != nullptr) wait(*held, condition());
  }

  // Ends a wait on a condition without a notification.
  void recall() {
    use* const u = choose([](use const& each) { return each.waits && !each.leaves; });
    if (u != nullptr) s_.recall(now_, *u->token);
    ended_.clear();
  }

  // True if something waits on a condition, or for the hold after that.
  bool is_waiting() const {
    return std::any_of(uses_.begin(), uses_.end(),
                       [](use const& u) { return u.waits && !u.holds && !u.leaves; });
  }

  // Waits with the only hold, and notifies the waits on a condition of an object: one, or all if
  // `number` is 0.
  void wait(std::string const& on) {
    wait(*choose([](use const& u) { return u.holds; }), on);
  }
  void notify(std::string const& name, std::string const& on, std::uint64_t number) {
    signals_.push_back(std::make_unique<question>(script::signal, name, on, number));
    s_.ask(now_, *signals_.back(), time_point::max());
  }

  // Gives a hold back, or gives a wait up if `waits` is true.
  void give_up(bool waits) {
    use* const at = choose([waits](use const& u) { return !u.leaves && (u.holds || waits); });
    if (at == nullptr) return;
    use& u = *at;
    bool const held = std::exchange(u.holds, false);
    u.leaves = true;
    if (held && !random_.one_in(4))
      s_.release(now_, *u.token);
    else
      s_.forget(now_, *u.token);
    ended_.clear();
  }

  std::string problem;
  link* connection = nullptr;
  milliseconds frozen_until{0}, away_until{0};
  std::size_t grants = 0, losses = 0;

 private:
  // The name of one begins with that of the other.
  std::string condition() { return random_.one_in(4) ? "c0" : "c"; }

  template <class Predicate>
  use* choose(Predicate which) {
    std::vector<use*> some;
    for (use& u : uses_)
      if (which(u)) some.push_back(&u);
    return some.empty() ? nullptr : some[random_.below(unsigned(some.size()))];
  }

  void wait(use& held, std::string on) {
    auto c = std::make_unique<claim>(objects_[held.subject], std::move(on), held.weight);
    claim &token = *c, &from = *held.token;
    held.holds = false;
    held.leaves = true;
    uses_.push_back({std::move(c), held.subject, held.weight});
    uses_.back().waits = true;
    s_.wait(now_, token, from);
    ended_.clear();
  }

  use& find(claim& c) {
    return *std::find_if(uses_.begin(), uses_.end(),
                         [&c](use const& u) { return u.token.get() == &c; });
  }

  void granted(claim& c) noexcept override {
    use& u = find(c);
    if (u.leaves || u.holds) problem = "a grant for nobody";
    if (now_ >= s_.valid_until()) problem = "a grant without a session";
    u.holds = true;
    ++grants;
  }
  void lost(claim& c) noexcept override {
    use& u = find(c);
    if (!u.holds && !u.leaves) problem = "a loss of nothing";
    u.holds = false;
    u.leaves = true;
    ++losses;
  }
  void finished(claim& c, failure) noexcept override {
    if (find(c).holds) problem = "a hold has ended without a loss";
    ended_.push_back(std::move(find(c).token));
    uses_.remove_if([](use const& u) { return u.token == nullptr; });
  }
  void answered(question& q, failure, asio_sync::redis::inspection*) noexcept override {
    std::erase_if(signals_, [&q](auto const& each) { return each.get() == &q; });
  }
  void report(session_event const&) noexcept override {}
  void disconnect() noexcept override {
    if (connection == nullptr) return;
    connection->heard = false;
    connection = nullptr;
  }
  void ended(failure) noexcept override {}
  std::string new_client_id() override {
    std::string id;
    while (id.size() != 32) id += "0123456789abcdef"[random_.below(16)];
    return id;
  }

  session_config const config_;
  random_choice& random_;
  time_point now_;
  int drift_ = 0;  // in thousandths
  std::vector<object> objects_;
  std::list<use> uses_;
  std::vector<std::unique_ptr<claim>> ended_;  // until the call that has ended them returns
  std::vector<std::unique_ptr<question>> signals_;
  session s_;
};

}  // namespace redis_walk

#endif
