// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_REDIS_WALK_USER_HPP
#define ASIO_SYNC_TEST_REDIS_WALK_USER_HPP

#include <asio_sync/redis/detail/session/session.hpp>

#include "redis/walk/monitor_rules.hpp"
#include "redis/walk/signal_rules.hpp"
#include "redis/walk/world.hpp"
#include "support/random.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <set>
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
    std::shared_ptr<claim> token;
    std::size_t subject;
    std::uint64_t weight;  // 0: it owns a part of a variable
    bool holds = false;
    bool leaves = false;
    bool waits = false;           // on a condition, or for the hold after that
    std::uint64_t left_with = 0;  // the fence of the hold that its command ends; 0: none

    bool can_wait() const { return holds && !leaves && weight != 0; }
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
    uses_.push_back({std::make_shared<claim>(objects_[subject], weight, once), subject, weight});
    s_.acquire(now_, *uses_.back().token);
  }

  void acquire_something() {
    std::size_t const subject = random_.below(unsigned(objects_.size()));
    unsigned const capacity = unsigned(objects_[subject].capacity);
    acquire(subject, 1 + random_.below(capacity), random_.one_in(6));
  }

  // Waits on a condition with something that is held.
  void wait() {
    use* const held = choose([](use const& u) { return u.can_wait(); });
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
    auto asked = std::make_unique<question>(script::signal, name, on, number);
    signal_news const news{++last_signal_, kind_of_signal(name, on, std::to_string(number)), ids_};
    signals_told.push_back(news);
    signals_.push_back({std::move(asked), news});
    s_.ask(now_, *signals_.back().asked, time_point::max());
  }

  // Gives a hold back, or gives a wait up if `waits` is true.
  void give_up(bool waits) {
    use* const at = choose([waits](use const& u) { return !u.leaves && (u.holds || waits); });
    if (at == nullptr) return;
    use& u = *at;
    if (is_inside(u) && !random_.one_in(3)) return exit(u);
    bool const held = std::exchange(u.holds, false);
    u.leaves = true;
    u.left_with = 0;
    if (held && u.token->visit() != nullptr) u.token->visit()->set(count_name, "discarded");
    if (held && !random_.one_in(4))
      s_.release(now_, *u.token);
    else
      s_.forget(now_, *u.token);
    ended_.clear();
  }

  // Gives back a part of a variable, perhaps before the server has been told of it.
  void disown() {
    use* const u = choose([](use const& each) { return each.weight == 0 && !each.leaves; });
    if (u == nullptr) return;
    u->holds = false;
    u->leaves = true;
    s_.release(now_, *u->token);
    ended_.clear();
  }

  // True if it is inside a monitor.
  bool is_inside() const {
    return std::any_of(uses_.begin(), uses_.end(), [](use const& u) { return is_inside(u); });
  }

  // Leaves a monitor.
  void leave() {
    use* const u = choose([](use const& each) { return is_inside(each); });
    if (u != nullptr) exit(*u);
  }

  std::string problem;
  std::vector<fact> told;
  std::vector<signal_news> signals_told;
  bool owns_more = true;  // parts of variables, and notifies all, from inside
  link* connection = nullptr;
  milliseconds frozen_until{0}, away_until{0};
  std::size_t grants = 0, losses = 0;

 private:
  struct signal {
    std::unique_ptr<question> asked;
    signal_news news;
  };

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
    auto c = std::make_shared<claim>(objects_[held.subject], std::move(on), held.weight);
    claim &token = *c, &from = *held.token;
    operate(held);
    bool const operates = from.visit() != nullptr && from.visit()->asks();
    held.holds = false;
    held.leaves = true;
    uses_.push_back({std::move(c), held.subject, held.weight});
    uses_.back().waits = true;
    if (operates) uses_.back().left_with = from.fence();
    s_.wait(now_, token, from);
    ended_.clear();
  }

  static bool is_inside(use const& u) { return u.can_wait() && u.token->visit() != nullptr; }

  void exit(use& inside) {
    operate(inside);
    inside.holds = false;
    inside.leaves = true;
    inside.left_with = inside.token->fence();
    s_.exit(now_, *inside.token);
    ended_.clear();
  }

  // Does something inside a monitor, or nothing.
  void operate(use const& inside) {
    visit* const v = inside.token->visit();
    if (v == nullptr || random_.one_in(6)) return;
    v->set(count_name, std::to_string(number_of(seen(*v), count_name) + 1));
    if (random_.one_in(3))
      v->set("any", random_.one_in(2) ? "" : "1:2 s" + std::to_string(random_.seed()));
    for (unsigned n = owns_more ? random_.below(3) : random_.one_in(4); n != 0; --n)
      v->notify(condition(), owns_more && random_.one_in(4) ? 0 : 1);
    for (unsigned n = random_.below(3); n != 0 && owns_more && uses_.size() < 8; --n)
      own(inside.subject, v->parts());
  }

  void own(std::size_t subject, std::vector<visit::part>& parts) {
    auto owner = std::make_shared<claim>(objects_[subject], 0);
    uses_.push_back({owner, subject, 0});
    std::string delta = std::to_string(int(random_.below(5)) - 2);
    parts.push_back({std::move(owner), sum_name, std::move(delta), condition()});
  }

  // Returns the variables of the walk.
  static variables seen(visit const& v) {
    variables all;
    for (char const* const name : {count_name, sum_name, "any"})
      if (std::string const* const value = v.find(name)) all[name] = *value;
    return all;
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
    if (u.left_with != 0) told.push_back({fact::kind::has_left, u.left_with});
    u.left_with = 0;
    if (c.visit() != nullptr) told.push_back({fact::kind::entered, c.fence(), seen(*c.visit())});
  }
  void lost(claim& c) noexcept override {
    use& u = find(c);
    if (!u.holds && !u.leaves) problem = "a loss of nothing";
    u.holds = false;
    u.leaves = true;
    ++losses;
  }
  void failed(claim&, failure) noexcept override { problem = "a token was not forgotten"; }
  void finished(claim& c, failure why) noexcept override {
    use const& u = find(c);
    if (u.holds) problem = "a hold has ended without a loss";
    if (u.left_with != 0 && why == failure::none)
      told.push_back({fact::kind::has_left, u.left_with});
    if (u.left_with != 0 && why == failure::lease_lost)
      told.push_back({fact::kind::has_not_left, u.left_with});
    ended_.push_back(std::move(find(c).token));
    uses_.remove_if([](use const& each) { return each.token == nullptr; });
  }
  void answered(question& q, failure why, asio_sync::redis::inspection*) noexcept override {
    auto const at = std::find_if(signals_.begin(), signals_.end(),
                                 [&q](signal const& each) { return each.asked.get() == &q; });
    if (why == failure::none) signals_told.push_back({at->news.number, at->news.kind, ids_, true});
    signals_.erase(at);
  }
  void report(session_event const&) noexcept override {}
  void disconnect(failure) noexcept override {
    if (connection == nullptr) return;
    connection->heard = false;
    connection = nullptr;
  }
  void ended(failure) noexcept override {}
  std::string new_client_id() override {
    std::string id;
    while (id.size() != 32) id += "0123456789abcdef"[random_.below(16)];
    ids_.insert(id);
    return id;
  }

  static inline std::uint64_t last_signal_ = 0;  // of all users

  session_config const config_;
  random_choice& random_;
  time_point now_;
  int drift_ = 0;  // in thousandths
  std::vector<object> objects_;
  std::list<use> uses_;
  std::vector<std::shared_ptr<claim>> ended_;  // until the call that has ended them returns
  std::vector<signal> signals_;
  std::set<std::string> ids_;  // all that it has had
  session s_;
};

}  // namespace redis_walk

#endif
