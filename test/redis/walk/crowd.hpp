// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_REDIS_WALK_CROWD_HPP
#define ASIO_SYNC_TEST_REDIS_WALK_CROWD_HPP

#include "redis/walk/judge.hpp"
#include "redis/walk/network.hpp"
#include "redis/walk/user.hpp"
#include "redis/walk/world.hpp"

#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <utility>
#include <vector>

namespace redis_walk {

// Any number of users of one object, on a network that loses nothing and takes no time.
class crowd {
 public:
  // `looks`: compares after each call. It is slow with many tokens.
  explicit crowd(std::uint64_t capacity, bool looks = true)
      : subjects_{{"x", "semaphore", capacity}}, looks_(looks) {
    world_.look();
    judge_.begin_round();
    user& first = add();
    run(config_.max_ttl);
    kill(first);
  }

  user& add() {
    users_.emplace_back(config_, subjects_, random_);
    settle();
    return users_.back();
  }

  // Ends a program without a word. Its machine closes the connection.
  void kill(user& u) {
    if (u.connection != nullptr) net_.close(*u.connection);
    net_.cut(u);
    net_.forget_closed();
    users_.remove_if([&u](user const& each) { return &each == &u; });
  }

  // Cuts the connection. The next one goes dead after some commands, and nobody notices.
  void cut(user& u, unsigned left) {
    net_.close(*u.connection);
    net_.cut(u);
    u.s().disconnected(u.now(), "cut");
    net_.connect(u, left);
    settle();
  }

  void run(milliseconds time) {
    for (milliseconds const step = 5ms; time > 0ms; time -= step) {
      advance(step);
      settle();
    }
  }

  // Lets everybody send, and the server answer, until there is nothing to say.
  void settle() {
    for (bool goes_on = true; std::exchange(goes_on, false);)
      for (user& u : users_) goes_on = serve(u) || goes_on;
  }

  milliseconds ttl() const noexcept { return config_.ttl; }
  std::string const& problem() const noexcept { return net_.problem(); }
  std::size_t calls() const noexcept { return net_.calls(); }
  std::list<user>& users() noexcept { return users_; }

  // Returns how many tokens hold, how many wait, and how many sessions are listed.
  std::int64_t holders() { return world_.count("HLEN", "as:{x}:h"); }
  std::int64_t waiters() { return world_.count("ZCARD", "as:{x}:q"); }
  std::int64_t sessions() { return world_.count("SCARD", "as:all"); }

 private:
  static session_config configuration() {
    session_config config;
    config.ttl = config.max_ttl = 2000ms;
    config.margin = 100ms;
    return config;
  }

  void advance(milliseconds time) {
    world_.pass(time);
    for (user& u : users_) u.pass(time);
  }

  bool serve(user& u) {
    session_state const s = u.s().state();
    if (!u.connection && (s == session_state::offline || s == session_state::suspended))
      net_.connect(u);
    if (u.connection != nullptr) net_.send(u);
    if (u.connection == nullptr) return false;
    link& l = *u.connection;
    bool const goes_on = (l.left != 0 && !l.to_server.empty()) || !l.to_client.empty();
    for (; l.left != 0 && !l.to_server.empty(); --l.left) net_.serve(l, looks_);
    while (u.connection == &l && !l.to_client.empty()) net_.deliver(u);
    return goes_on;
  }

  session_config const config_ = configuration();
  std::vector<subject> const subjects_;
  bool const looks_;
  world world_{{"x"}};
  random_choice random_{1};
  judge judge_{world_};
  network net_{world_, judge_, random_};
  std::list<user> users_;
};

}  // namespace redis_walk

#endif
