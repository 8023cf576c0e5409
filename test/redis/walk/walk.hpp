// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_REDIS_WALK_WALK_HPP
#define ASIO_SYNC_TEST_REDIS_WALK_WALK_HPP

#include "redis/walk/judge.hpp"
#include "redis/walk/network.hpp"
#include "redis/walk/programs.hpp"
#include "redis/walk/round.hpp"
#include "redis/walk/user.hpp"
#include "redis/walk/world.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace redis_walk {

// One round: five users and a server in a random order of events, in which everything fails that
// can fail; then a calm, in which everybody is served; then the end of all of them.
class walk {
 public:
  walk(world& w, unsigned seed, tally& total)
      : world_(w), random_(seed), total_(total), judge_(w), net_(w, judge_, random_) {
    world_.clear();
    world_.look();
    judge_.begin_round();
    for (std::size_t i = 0; i != users_.size(); ++i) start(i);
    net_.drops_pushes = true;
  }

  // Returns the rule that was broken first, and the calls before it, or nothing.
  std::string run(std::size_t calls) {
    while (net_.calls() < calls && go_on()) step();
    calm();
    end();
    ++total_.rounds;
    total_.calls += net_.calls();
    total_.grants += judge_.grants();
    total_.waits += judge_.waits();
    total_.notified += judge_.notified();
    total_.monitors += judge_.monitors();
    for (auto& u : users_) total_.losses += u->losses;
    return problem_.empty() ? "" : net_.last_calls() + problem_;
  }

  std::string last_calls() const { return net_.last_calls(); }

 private:
  // --- One step ---

  bool go_on() {
    if (problem_.empty()) problem_ = net_.problem();
    return problem_.empty();
  }

  // Keeps the first problem.
  void fail(std::string what) {
    if (go_on()) problem_ = std::move(what);
  }

  void step() {
    unsigned const n = random_.below(100);
    std::size_t const i = random_.below(unsigned(users_.size()));
    user& u = *users_[i];
    if (others_empty_ && random_.one_in(40)) net_.empty();
    if (n < 12) {
      pass(milliseconds(1 + random_.below(60)));
    } else if (n < 42) {
      serve();
    } else if (n < 46) {
      if (faults_ && (!programs_.is_gentle() || random_.one_in(8))) disturb(i);
    } else if (world_.now() >= u.frozen_until) {
      if (!u.connection) u.s().disconnected(u.now(), "cut");
      if (n < 74)
        deliver(u);
      else if (n < 92)
        act(u);
      else
        connect(u);
    }
    for (auto& each : users_) send(*each);
    for (auto& each : users_) hear(*each);
    check_beliefs();
  }

  void pass(milliseconds time) {
    world_.pass(time);
    for (auto& u : users_) u->pass(time);
  }

  // Executes a command of some connection, perhaps of one that was cut long ago.
  void serve() {
    net_.forget_closed();
    if (world_.now() < stalled_until_) return;
    std::vector<link*> some;
    for (link& l : net_.links())
      if (l.open && world_.now() >= l.dead_until &&
          (l.heard ? l.left != 0 && !l.to_server.empty() : random_.one_in(8)))
        some.push_back(&l);
    if (some.empty()) return;
    link& l = *some[random_.below(unsigned(some.size()))];
    if (l.to_server.empty()) return net_.close(l);
    if (l.heard)
      --l.left;
    else
      late_at_ = world_.now();
    request const& r = l.to_server.front();
    if (r.what() == script::release || r.what() == script::forget || r.what() == script::exit)
      given_back_ = r;
    net_.serve(l);
  }

  void deliver(user& u) {
    if (u.connection && !u.connection->to_client.empty()) net_.deliver(u);
  }

  // A program holds for long only while it is away.
  void act(user& u) {
    if (world_.now() < u.away_until && !random_.one_in(16)) return;
    if (u.s().state() == session_state::stopped) return u.s().run();
    programs_.act(u, faults_, parks_);
  }

  void connect(user& u) {
    session_state const s = u.s().state();
    if (u.connection || world_.now() < std::max(u.away_until, stalled_until_) ||
        (s != session_state::offline && s != session_state::suspended))
      return;
    if (!faults_ || !random_.one_in(3)) return net_.connect(u);
    // The line goes dead after a few commands: often just after the session has been resumed, and
    // then there may be no other one until the server has ended the session.
    bool const resumes = s == session_state::suspended;
    if (resumes) u.away_until = world_.now() + u.config().ttl;
    net_.connect(u, resumes ? 1 : random_.below(5));
  }

  void send(user& u) {
    if (world_.now() < u.frozen_until) return;
    if (u.now() >= u.s().next_tick() && random_.one_in(4)) u.s().tick(u.now());
    if (u.connection && u.s().expects() && u.now() - u.connection->heard_at > u.config().ttl / 4)
      cut(u);
    if (u.connection && random_.below(2) == 0) net_.send(u);
  }

  // --- What may happen to clients, connections and the server ---

  void start(std::size_t i) {
    constexpr std::array<milliseconds, 5> ttls{2000ms, 1200ms, 800ms, 2000ms, 800ms};
    if (users_[i]) total_.losses += users_[i]->losses;
    if (users_[i]) hear(*users_[i]);
    users_[i] =
        std::make_unique<user>(configuration(ttls[i], i == 1 ? 600ms : 0ms), subjects, random_);
  }

  void disturb(std::size_t i) {
    user& u = *users_[i];
    unsigned const n = random_.below(100);
    if (n < 40) {
      cut(u);
    } else if (n < 52) {
      u.frozen_until = world_.now() + some_time(3000);
    } else if (n < 62) {
      kill(i);
    } else if (n < 66) {
      u.s().stop();
    } else if (n < 70) {
      u.s().shutdown(u.now());
    } else if (n < 86) {
      disturb_bystander();
    } else if (n < 92) {
      saved_ = world_.save();
    } else if (n < 94) {
      stalled_until_ = world_.now() + some_time(3000);
    } else if (n < 97) {
      if (random_.one_in(6)) lose_data();
      if (random_.one_in(6)) free_backlog();
    } else if (n < 98) {
      if (random_.one_in(4)) force();
    } else if (random_.one_in(5)) {
      delete_something();
    }
  }

  milliseconds some_time(unsigned less_than) { return milliseconds(random_.below(less_than)); }

  // The client finds its connection closed; the server may have more of its bytes, or not.
  void cut(user& u) {
    if (link* const l = u.connection) {
      net_.cut(u);
      unsigned const how = random_.below(3);
      if (how == 0) net_.close(*l);
      if (how == 1) l->dead_until = world_.now() + some_time(5000);
    }
    if (faults_ && random_.one_in(3)) u.away_until = world_.now() + some_time(2500);
  }

  void kill(std::size_t i) {
    cut(*users_[i]);
    start(i);
  }

  // Gives back for a second time what was given back, or releases what only waits.
  void disturb_bystander() {
    if (world_.now() < stalled_until_) return;
    if (random_.below(2) == 0 && given_back_.size() != 0) {
      net_.call(given_back_);
      return;
    }
    for (auto const& [name, p] : world_.seen().objects) {
      auto const& waiting = p.waiters.empty() ? p.parked : p.waiters;
      if (waiting.empty()) continue;
      std::string const token = waiting.begin()->first;
      request r;
      r.call(script::release).add("as:").add(owner_of(token)).add(name);
      r.add(token.substr(token.find(':') + 1));
      bool const knows_it = !world_.seen().epoch.empty() && p.epoch == world_.seen().epoch;
      message const answer = net_.call(r);
      if (knows_it && answer.number != -1) problem_ = "what only waits was released";
      return;
    }
  }

  // Takes an object from a holder, who may not hear of it.
  void force() {
    if (world_.now() < stalled_until_) return;
    for (auto const& [name, p] : world_.seen().objects) {
      if (p.holders.empty() || p.epoch != world_.seen().epoch) continue;
      std::uint64_t const fence = p.holders.begin()->second.fence;
      request r;
      r.call(script::force).add("as:").add("operator.1").add(name).add(fence);
      doubt_until_ = world_.now() + 2 * max_ttl;
      if (net_.call(r).number != 1) problem_ = "a holder could not be forced";
      return;
    }
  }

  void lose_data() {
    ++total_.data_losses;
    unsigned const how = random_.below(6);
    if (how > 3) return promote();
    if (how == 0 || how == 1) world_.flush();
    if (how == 2) {
      world_.restore(saved_);
      judge_.tear();
    }
    if (how != 0) {
      world_.restart();
      net_.close_all();
      given_back_ = {};
      stalled_until_ = world_.now() + some_time(unsigned(max_ttl.count()));
      for (auto& u : users_)
        if (!random_.one_in(3)) cut(*u);
    }
    world_.look();
    judge_.begin();
  }

  // The server becomes a replica of one that is behind, and the master again, before anybody has
  // found it to be a replica. The connections stay.
  void promote() {
    world_.restore(saved_);
    world_.promote();
    promoted_at_ = world_.now();
    judge_.go_back();
    net_.empty();
    given_back_ = {};
    world_.look();
    judge_.begin();
  }

  // A client that has not opened since the promotion has no session any more.
  void free_backlog() {
    if (world_.now() > promoted_at_ + 2 * max_ttl) world_.free_backlog();
  }

  void delete_something() {
    constexpr std::array patterns{"as:{*}:*", "as:{*}:m", "as:s:*",   "as:gate",
                                  "as:o:*",   "as:all",   "as:epoch", "as:f"};
    unsigned const which = random_.below(unsigned(patterns.size()));
    std::vector<std::string> const keys = world_.keys(patterns[which]);
    if (keys.empty()) return;
    ++total_.deletions;
    std::string const& key = keys[random_.below(unsigned(keys.size()))];
    if (which == 0)
      for (std::string const& each : world_.keys(key.substr(0, key.size() - 1) + '*'))
        world_.remove(each);
    world_.remove(key);
    if (which < 4) doubt_until_ = world_.now() + 2 * max_ttl;
    if (which == 5) lists_all_ = false;
    if (which == 4 || which == 5) finds_parked_ = false;
    if (which == 4) judge_.forget_exits();
    if (which == 1) judge_.tear();
    world_.look();
    judge_.begin();
  }

  // --- Rules ---

  // The guards of all users together never own more than there is, by their own clocks.
  void check_beliefs() {
    if (world_.now() < doubt_until_) return;
    for (std::size_t i = 0; i != subjects.size(); ++i) {
      std::uint64_t believed = 0;
      for (auto const& u : users_) believed += u->believes(i);
      if (believed > subjects[i].capacity)
        problem_ = "too many believe to hold " + subjects[i].name;
    }
    for (auto const& u : users_)
      if (!u->problem.empty()) problem_ = u->problem;
  }

  // Compares what the user has been told with what has happened.
  void hear(user& u) {
    for (fact const& told : u.told)
      if (std::string broken = judge_(told); !broken.empty()) fail(std::move(broken));
    u.told.clear();
    for (signal_news const& told : u.signals_told)
      if (std::string broken = judge_(told); !broken.empty()) fail(std::move(broken));
    u.signals_told.clear();
  }

  bool is_quiet() const {
    return std::all_of(users_.begin(), users_.end(), [](auto const& u) {
      session_state const s = u->s().state();
      return u->uses() == 0 && u->signals() == 0 && u->s().size() == 0 &&
             (s == session_state::open || s == session_state::confirming);
    });
  }

  // Everybody is served, and gives back. The sessions of those who were killed end.
  void calm() {
    faults_ = net_.drops_pushes = false;
    auto const begin = late_at_ = world_.now();
    while (go_on() && world_.now() < begin + 30 * max_ttl &&
           (!is_quiet() || world_.now() <= late_at_ + max_ttl))
      step();
    if (problem_.empty() && !is_quiet()) problem_ = "somebody has not been served";
    world_.look();
    for (auto const& [name, p] : world_.seen().objects) {
      for (auto const& [token, h] : p.holders) check_ghost(token);
      for (auto const& [token, w] : p.waiters) check_ghost(token);
      for (auto const& [token, w] : p.parked) check_ghost(token);
      for (auto const& [token, each] : p.owned) check_ghost(token);
    }
  }

  void check_ghost(std::string const& token) {
    if (go_on() && world_.seen().is_alive(owner_of(token)))
      problem_ = token + " is nobody's, and its session is alive";
  }

  // All die, some of them with a hold, or with a wait on a condition. A newcomer gets everything
  // at once, and leaves nothing.
  void end() {
    if (!go_on()) return;
    for (auto& u : users_) u->acquire_something();
    parks_ = random_.below(2) == 0;
    for (int i = 0; i != 300 && go_on(); ++i)
      if (random_.below(100) < 18)
        pass(5ms);
      else
        step();
    for (auto& u : users_) net_.cut(*u);
    net_.close_all();
    pass(max_ttl + 1ms);
    if (go_on()) newcomer();
  }

  void newcomer() {
    user late(configuration(max_ttl), subjects, random_);
    late.owns_more = false;
    net_.connect(late);
    answer_all(late);
    for (std::size_t i = 0; i != subjects.size(); ++i) late.acquire(i, subjects[i].capacity);
    answer_all(late);
    if (late.holds() != subjects.size()) fail("a newcomer does not get what is free");
    while (late.holds() != 0) late.give_up(false);
    for (int i = 0; i != 400 && go_on() && world_.seen().listed > 1; ++i) {
      pass(max_ttl / 3);
      late.pass(max_ttl / 3);
      answer_all(late);
    }
    if (world_.seen().listed > 1) fail("as:all keeps dead sessions");
    late.s().shutdown(late.now());
    answer_all(late);
    for (std::string const& key : world_.keys("*"))
      if (key != "as:epoch" && key != "as:run" && key != "as:f" && key != "as:{w}:v" &&
          (lists_all_ || !key.starts_with("as:o:")) && (finds_parked_ || !key.starts_with("as:{")))
        fail(key + " is left");
    hear(late);
    net_.close_all();
  }

  void answer_all(user& u) {
    for (net_.send(u); u.connection && !u.connection->to_server.empty(); net_.send(u)) {
      net_.serve(*u.connection);
      while (u.connection && !u.connection->to_client.empty()) net_.deliver(u);
    }
  }

  world& world_;
  random_choice random_;
  tally& total_;
  judge judge_;
  network net_;
  user_list users_;
  programs programs_{world_, random_, users_};
  bool const others_empty_ = random_.one_in(3);  // their databases, all the time
  bool faults_ = true;
  bool lists_all_ = true;     // nobody has deleted as:all
  bool finds_parked_ = true;  // nobody has deleted what lists the tokens of the dead
  bool parks_ = false;
  milliseconds stalled_until_{0};  // the server executes nothing before
  milliseconds promoted_at_{0};
  milliseconds late_at_{
      0};  // bytes of a lost connection may have prolonged the session of a dead one
  milliseconds doubt_until_{0};  // beliefs may be wrong, because keys were deleted
  world::image saved_;
  request given_back_;  // to this run of the server, by the last of these commands
  std::string problem_;
};

}  // namespace redis_walk

#endif
