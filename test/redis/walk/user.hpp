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
    bool is_wait = false;  // on a condition, not recalled yet
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
  std::size_t uses() const noexcept { return uses_.size() + questions_.size(); }

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

  // Gives a hold back, or gives a wait up if `waits` is true.
  void give_up(bool waits) {
    std::vector<use*> some;
    for (use& u : uses_)
      if (!u.leaves && (u.holds || waits)) some.push_back(&u);
    if (some.empty()) return;
    use& u = *some[random_.below(unsigned(some.size()))];
    bool const held = std::exchange(u.holds, false);
    u.leaves = true;
    if (held && !random_.one_in(4))
      s_.release(now_, *u.token);
    else
      s_.forget(now_, *u.token);
  }

  // Begins a wait on a condition with something that is held.
  void wait() {
    for (use& u : uses_) {
      if (u.leaves || !u.holds || random_.one_in(3)) continue;
      u.holds = false;
      u.leaves = true;
      claim& held = *u.token;
      uses_.push_back({std::make_unique<claim>(objects_[u.subject], condition(), u.weight),
                       u.subject, u.weight, false, false, true});
      return s_.wait(now_, *uses_.back().token, held);
    }
  }

  // Recalls a wait on a condition, or some hold that was one.
  void recall() {
    for (use& u : uses_) {
      if (u.leaves || !u.is_wait || random_.one_in(3)) continue;
      u.is_wait = false;
      return s_.recall(now_, *u.token);
    }
  }

  void notify(bool all) {
    std::size_t const subject = random_.below(unsigned(objects_.size()));
    questions_.emplace_back(script::signal, objects_[subject].name, condition(), all ? 0 : 1);
    s_.ask(now_, questions_.back(), session_clock::time_point::max());
  }

  std::string problem;
  link* connection = nullptr;
  milliseconds frozen_until{0}, away_until{0};
  std::size_t grants = 0, losses = 0;

 private:
  use& find(claim& c) {
    return *std::find_if(uses_.begin(), uses_.end(),
                         [&c](use const& u) { return u.token.get() == &c; });
  }

  std::string condition() { return random_.below(2) == 0 ? "k" : "k2"; }

  void answered(question& q, failure, asio_sync::redis::inspection*) noexcept override {
    questions_.remove_if([&q](question const& each) { return &each == &q; });
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
    uses_.remove_if([&c](use const& u) { return u.token.get() == &c; });
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
  std::list<question> questions_;
  session s_;
};

}  // namespace redis_walk

#endif
