// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_REDIS_WALK_NETWORK_HPP
#define ASIO_SYNC_TEST_REDIS_WALK_NETWORK_HPP

#include "redis/walk/judge.hpp"
#include "redis/walk/user.hpp"
#include "redis/walk/world.hpp"

#include <cstddef>
#include <deque>
#include <list>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace redis_walk {

// Carries commands, answers and pushes between users and the server, one at a time, when it is
// told.
class network {
 public:
  network(world& w, judge& j, random_choice& random) : world_(w), judge_(j), random_(random) {}

  std::list<link>& links() noexcept { return links_; }
  std::string const& problem() const noexcept { return problem_; }
  std::size_t calls() const noexcept { return calls_; }

  // Returns the last calls, for a person who looks for the reason of a problem.
  std::string last_calls() const {
    constexpr char const* names[] = {"open",      "beat",     "acquire", "release",
                                     "forget",    "shutdown", "inspect", "force",
                                     "cond_wait", "unwait",   "signal",  "exit"};
    std::ostringstream text;
    for (past_call const& c : last_calls_) {
      text << c.time.count() << ' ' << names[std::size_t(c.what.what())];
      for (std::size_t i = 1; i != c.what.size(); ++i) text << ' ' << c.what[i];
      text << " -> " << c.answer << '\n';
    }
    return text.str();
  }

  void connect(user& u, unsigned left = ~0u) {
    links_.push_back({u.s().client_id(), {}, {}, true, true, left, 0ms, u.now()});
    u.connection = &links_.back();
    world_.subscribe(u.connection->client);
    u.s().connected(u.now());
  }

  // The client's end is closed. The server reads on until close().
  void cut(user& u) {
    if (u.connection == nullptr) return;
    u.connection->heard = false;
    u.connection = nullptr;
  }

  void close(link& l) {
    if (std::exchange(l.open, false)) world_.unsubscribe(l.client);
  }

  // Tells all connections that the server has emptied a database.
  void empty() {
    for (link& l : links_)
      if (l.open) l.to_client.push_back({true, {}, {}});
  }

  void close_all() {
    for (link& l : links_) close(l);
  }

  void forget_closed() {
    std::erase_if(links_, [](link const& l) { return !l.heard && !l.open; });
  }

  void send(user& u) {
    if (!u.s().expects() && u.connection) u.connection->heard_at = u.now();
    for (request r; u.connection && u.s().next(u.now(), r);) u.connection->to_server.push_back(r);
  }

  // Calls a script. Returns its answer, and passes on what it has published.
  message call(request const& r, bool looks = true) {
    ++calls_;
    auto const granted = judge_.grants();
    message answer = world_.call(r, random_.below(1u << 20), looks);
    keep(r, answer);
    if (looks)
      if (auto broken = judge_(r, answer); !broken.empty()) problem_ = std::move(broken);
    if (!looks || judge_.grants() != granted || r.what() == script::force)
      for (std::string const& push : world_.pushes()) publish(push);
    return answer;
  }

  // Executes the first command of a connection.
  void serve(link& l, bool looks = true) {
    request const r = std::move(l.to_server.front());
    l.to_server.pop_front();
    bool const is_first = random_.below(2) == 0;
    std::size_t const before = l.to_client.size();
    message answer = call(r, looks);
    auto const at = is_first ? l.to_client.begin() + std::ptrdiff_t(before) : l.to_client.end();
    l.to_client.insert(at, {false, {}, std::move(answer)});
  }

  void deliver(user& u) {
    link& l = *u.connection;
    delivery const d = std::move(l.to_client.front());
    l.to_client.pop_front();
    l.heard_at = u.now();
    if (d.is_push && d.push.empty()) return u.s().emptied(u.now());
    if (d.is_push) return u.s().pushed(u.now(), d.push);
    u.s().answered(u.now(), decode(*u.s().expects(), d.answer, states_));
  }

  bool drops_pushes = false;

 private:
  void publish(std::string const& push) {
    std::string const client = client_of(push.substr(2));
    for (link& l : links_)
      if (l.open && l.client == client && !(drops_pushes && random_.one_in(20)))
        l.to_client.push_back({true, push, {}});
  }

  struct past_call {
    milliseconds time;
    request what;
    message answer;
  };

  void keep(request const& r, message const& answer) {
    last_calls_.push_back({world_.now(), r, answer});
    if (last_calls_.size() > 60) last_calls_.pop_front();
  }

  world& world_;
  judge& judge_;
  random_choice& random_;
  std::list<link> links_;
  std::vector<token_state> states_;
  std::deque<past_call> last_calls_;
  std::string problem_;
  std::size_t calls_ = 0;
};

}  // namespace redis_walk

#endif
