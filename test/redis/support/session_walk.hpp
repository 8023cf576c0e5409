// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_REDIS_SUPPORT_SESSION_WALK_HPP
#define ASIO_SYNC_TEST_REDIS_SUPPORT_SESSION_WALK_HPP

#include "model_server.hpp"
#include "support/random.hpp"
#include "support/test.hpp"

#include <asio_sync/redis/detail/session/session.hpp>

// Three sessions and a server in one random order of events: commands, answers and pushes that are
// late or lost, connections that are cut, clients that freeze or die, and a server that loses its
// data. After each event nobody may believe in a hold that somebody else believes in, and no
// notification may be lost while somebody waits for it; at the end everybody has been served, and
// the server has nothing left.
namespace session_walk {

using namespace asio_sync::redis::detail;
using namespace std::chrono_literals;
using model::time_point;

struct message {
  bool is_push;
  std::string text;
  model::reply answer;
};

struct connection {
  std::string client;
  std::deque<model::call> to_server;
  std::deque<message> to_client;
  bool heard = true;  // the client still reads
  bool open = true;   // the server still reads
  unsigned left;      // commands that arrive before the client gives the connection up
  time_point heard_at;
};

// The program of a user: it holds and waits for what it likes.
class client final : public session_host {
 public:
  struct use {
    std::unique_ptr<claim> token;
    std::size_t object;
    std::uint64_t weight;
    bool holds = false;
    bool leaves = false;
    bool doubted = false;
    bool waits = false;  // on a condition, or for the hold after that
    bool recalled = false;
  };

  client(std::size_t number, asio_sync::test::random_choice& random, time_point const& now)
      : number_(number), random_(random), now_(now), s_(configure(number), *this) {
    s_.run();
  }

  session& s() noexcept { return s_; }

  // Returns the weight of an object that the client believes to hold.
  std::uint64_t believes(std::size_t object) {
    std::uint64_t weight = 0;
    for (use& u : uses_) {
      if (u.object != object || !u.holds) continue;
      if (now_ >= s_.valid_until()) {
        u.doubted = true;
      } else {
        if (u.doubted) problem = "a hold has come back";
        weight += u.weight;
      }
    }
    return weight;
  }

  void acquire(time_point now) {
    std::size_t const object = random_.below(3);
    std::uint64_t const weight = object == 2 ? 1 + random_.below(3) : 1;
    auto c = std::make_unique<claim>(objects_[object], weight, random_.one_in(6));
    claim& token = *c;
    uses_.push_back({std::move(c), object, weight});
    s_.acquire(now, token);
  }

  // Waits on a condition with something that is held.
  void wait(time_point now) {
    use* const held = choose([](use const& u) { return u.holds && !u.leaves; });
    if (held == nullptr) return;
    auto c = std::make_unique<claim>(objects_[held->object], condition(), held->weight);
    claim &token = *c, &from = *held->token;
    held->holds = false;
    held->leaves = true;
    uses_.push_back({std::move(c), held->object, held->weight});
    uses_.back().waits = true;
    s_.wait(now, token, from);
    ended_.clear();
  }

  // Ends a wait on a condition without a notification.
  void recall(time_point now) {
    use* const u = choose([](use const& each) { return each.waits && !each.leaves; });
    if (u == nullptr) return;
    u->recalled = true;
    recalled_.insert(std::to_string(u->token->counter()));
    s_.recall(now, *u->token);
    ended_.clear();
  }

  void notify(time_point now) {
    signals_.push_back(std::make_unique<question>(
        script::signal, std::string(1, "xyz"[random_.below(3)]), condition(), random_.below(2)));
    s_.ask(now, *signals_.back(), time_point::max());
  }

  // True if the user has ended the wait of this token, which holds now, or has held.
  bool has_recalled(std::string const& counter) const { return recalled_.count(counter) != 0; }

  bool is_waiting() const {
    return std::any_of(uses_.begin(), uses_.end(),
                       [](use const& u) { return u.waits && !u.holds && !u.leaves; });
  }

  // Gives something back, or a wait up if `waits` is true.
  void give_up(time_point now, bool waits) {
    auto const at = std::find_if(uses_.begin(), uses_.end(), [&](use const& u) {
      return !u.leaves && (u.holds || waits) && !random_.one_in(3);
    });
    if (at == uses_.end()) return;
    bool const held = std::exchange(at->holds, false);
    at->leaves = true;
    if (held && !random_.one_in(4))
      s_.release(now, *at->token);
    else
      s_.forget(now, *at->token);
    ended_.clear();
  }

  std::size_t uses() const noexcept { return uses_.size(); }
  std::size_t signals() const noexcept { return signals_.size(); }

  std::string problem;
  connection* link = nullptr;
  time_point frozen_until{}, away_until{};
  std::size_t grants = 0, losses = 0;

 private:
  static session_config configure(std::size_t number) {
    session_config config;
    config.ttl = number == 2 ? 900ms : 600ms;
    config.max_ttl = 900ms;
    config.margin = 20ms;
    if (number == 1) config.max_hold = 500ms;
    return config;
  }

  std::string condition() { return random_.one_in(4) ? "d" : "c"; }

  template <class Predicate>
  use* choose(Predicate which) {
    std::vector<use*> some;
    for (use& u : uses_)
      if (which(u)) some.push_back(&u);
    return some.empty() ? nullptr : some[random_.below(static_cast<unsigned>(some.size()))];
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
  void failed(claim& c, failure) noexcept override {
    if (find(c).holds) problem = "a hold has failed without a loss";
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
  void disconnect(failure) noexcept override {
    if (link == nullptr) return;
    link->heard = false;
    link = nullptr;
  }
  void ended(failure) noexcept override {}
  std::string new_client_id() override {
    return std::string(1, static_cast<char>('a' + number_)) +
           std::to_string(random_.below(1000000));
  }

  std::size_t const number_;
  asio_sync::test::random_choice& random_;
  time_point const& now_;
  std::array<object, 3> objects_{{{"x", "mutex"}, {"y", "mutex"}, {"z", "semaphore", 1, 3}}};
  std::list<use> uses_;
  std::vector<std::unique_ptr<claim>> ended_;  // until the call that has ended them returns
  std::vector<std::unique_ptr<question>> signals_;
  std::set<std::string> recalled_;  // the counters of their tokens
  session s_;
};

class walk {
 public:
  struct counts {
    std::size_t steps = 0, calls = 0, grants = 0, losses = 0, data_losses = 0, waits = 0,
                signals = 0;
  };

  walk(unsigned seed, model::fault f, counts& total) : random_(seed), server_(f), total_(total) {
    for (std::size_t i = 0; i != clients_.size(); ++i) start(i);
    server_.hears = [this](std::string const& id) {
      return std::any_of(connections_.begin(), connections_.end(),
                         [&id](connection const& c) { return c.open && c.client == id; });
    };
    server_.publish = [this](std::string const& id, std::string const& text) {
      for (connection& c : connections_)
        if (c.open && c.client == id) pushes_.push_back({&c, text});
    };
    server_.gives_back = [this](model::token const& t, bool passes_on) {
      for (auto const& c : clients_)
        if (t.sid.starts_with(c->s().client_id() + '.') && c->has_recalled(t.counter) != passes_on)
          problem_ = passes_on ? "a notification is not used" : "a recall uses a notification up";
      if (!passes_on) use_up(t);
    };
    server_.ignores = [this](model::call const& c) {
      if (c[5] == "1") --before_[{c[2], c[4]}];
      if (executed_.count(c.arguments) == 0) problem_ = "a signal is taken for an earlier one";
    };
    ends_by_recall_ = random_.below(2) == 0;
  }

  // Returns the first rule that was broken, or nothing.
  std::string run(int steps) {
    for (int i = 0; i != steps && problem_.empty(); ++i) step();
    faults_ = false;
    for (int i = 0; i != 40000 && problem_.empty() && !is_quiet(); ++i) step();
    if (problem_.empty() && !is_quiet()) problem_ = "somebody has not been served";
    if (problem_.empty()) finish();
    return problem_;
  }

 private:
  using notification_counts = std::map<std::pair<std::string, std::string>, int>;

  void start(std::size_t i) {
    if (clients_[i]) {
      total_.grants += clients_[i]->grants;
      total_.losses += clients_[i]->losses;
    }
    clients_[i] = std::make_unique<client>(i, random_, server_.now);
  }

  bool is_quiet() const {
    return std::all_of(clients_.begin(), clients_.end(), [](auto const& c) {
      session_state const s = c->s().state();
      return c->uses() == 0 && c->signals() == 0 && c->s().size() == 0 &&
             (s == session_state::open || s == session_state::confirming);
    });
  }

  // --- Events ---

  void step() {
    ++total_.steps;
    unsigned const n = random_.below(100);
    std::size_t const i = random_.below(3);
    client& c = *clients_[i];
    if (others_empty_ && random_.one_in(30)) empty();
    if (n < 10) {
      advance(1 + random_.below(20));
    } else if (n < 35) {
      serve();
    } else if (server_.now < c.frozen_until) {
      if (n == 99) cut(c);  // the client learns of it later
    } else {
      if (!c.link) c.s().disconnected(server_.now, "cut");
      if (n < 63)
        deliver(c);
      else if (n < 86)
        use(c);
      else if (n < 90)
        connect(c);
      else
        disturb(i, n);
    }
    if (random_.below(2) == 0) pump(*clients_[i]);
    check();
  }

  void advance(unsigned ms) { server_.now += std::chrono::milliseconds(ms); }

  void use(client& c) {
    if (c.s().state() == session_state::stopped) return c.s().run();
    if (faults_ && c.uses() < 6 && random_.below(2) == 0) return c.acquire(server_.now);
    if (faults_ && random_.below(2) == 0) return use_condition(c);
    if (!faults_ && random_.below(2) == 0) return end_waits(c);
    c.give_up(server_.now, faults_ && random_.one_in(4));
  }

  void use_condition(client& c) {
    unsigned const n = random_.below(10);
    if (n < 6)
      c.wait(server_.now);
    else if (n == 6)
      c.recall(server_.now);
    else if (c.signals() < 3)
      c.notify(server_.now);
  }

  // In one half of the walks nothing but notifications ends waits.
  void end_waits(client& c) {
    if (ends_by_recall_) return c.recall(server_.now);
    bool const is_needed = std::any_of(clients_.begin(), clients_.end(),
                                       [](auto const& each) { return each->is_waiting(); });
    if (is_needed && c.signals() == 0) c.notify(server_.now);
  }

  void connect(client& c) {
    session_state const s = c.s().state();
    if (c.link || server_.now < c.away_until ||
        (s != session_state::offline && s != session_state::suspended))
      return;
    unsigned const left = faults_ && random_.one_in(3) ? random_.below(5) : ~0u;
    connections_.push_back({c.s().client_id(), {}, {}, true, true, left, server_.now});
    c.link = &connections_.back();
    c.s().connected(server_.now);
  }

  void cut(client& c) {
    if (!c.link) return;
    c.link->heard = false;
    if (random_.below(2) == 0) c.link->open = false;  // else its bytes come late
    c.link = nullptr;
    if (faults_ && random_.one_in(3))
      c.away_until = server_.now + std::chrono::milliseconds(random_.below(400));
  }

  void disturb(std::size_t i, unsigned n) {
    client& c = *clients_[i];
    if (!faults_) return;
    if (n < 93) {
      if (random_.one_in(3)) cut(c);
    } else if (n < 95) {
      if (random_.one_in(15))
        c.frozen_until = server_.now + std::chrono::milliseconds(random_.below(1500));
    } else if (n == 95) {
      if (random_.one_in(30)) lose_data();
    } else if (n == 96) {
      if (random_.one_in(10)) old_ = server_.stored;
    } else if (n == 97) {
      if (random_.one_in(20)) c.s().stop();
    } else if (n == 98) {
      if (random_.one_in(20)) c.s().shutdown(server_.now);
    } else if (random_.one_in(20)) {
      cut(c);
      start(i);
    }
  }

  // The server empties a database.
  void empty() {
    for (connection& c : connections_) c.to_client.push_back({true, {}, {}});
  }

  void lose_data() {
    ++total_.data_losses;
    unsigned const how = random_.below(5);
    if (how == 0) {  // FLUSHALL
      server_.stored = {};
      return;
    }
    if (how == 4) {  // a replica with older data, and promoted again
      server_.restart(old_);
      return empty();
    }
    for (connection& c : connections_) c.open = false;
    for (auto& c : clients_) cut(*c);
    server_.restart(how == 1 ? model::data{} : how == 2 ? old_ : server_.stored);
  }

  // Executes a command of some connection, perhaps of one that was cut long ago.
  void serve() {
    std::erase_if(connections_, [](connection const& c) { return !c.heard && !c.open; });
    std::vector<connection*> open;
    for (connection& c : connections_)
      if (c.open && (c.heard ? c.left != 0 && !c.to_server.empty() : random_.one_in(8)))
        open.push_back(&c);
    if (open.empty()) return;
    connection& c = *open[random_.below(static_cast<unsigned>(open.size()))];
    if (c.to_server.empty()) {
      c.open = false;
      return;
    }
    if (c.heard) --c.left;
    model::reply answer = execute(c.to_server.front());
    c.to_server.pop_front();
    bool const first = random_.below(2) == 0;
    if (first) c.to_client.push_back({false, {}, answer});
    for (auto const& [to, text] : pushes_) to->to_client.push_back({true, text, {}});
    pushes_.clear();
    if (!first) c.to_client.push_back({false, {}, answer});
  }

  model::reply execute(model::call const& c) {
    ++total_.calls;
    total_.waits += c.what == script::cond_wait;
    total_.signals += c.what == script::signal;
    before_ = notifications();
    if (c.what == script::signal && c[5] == "1") ++before_[{c[2], c[4]}];
    model::reply answer = server_.execute(c);
    if (c.what == script::signal) executed_.insert(c.arguments);
    auto after = notifications();
    for (auto const& [of, count] : before_)
      if (after[of] < count && is_awaited(of)) problem_ = "a notification is lost";
    return answer;
  }

  void deliver(client& c) {
    if (!c.link || c.link->to_client.empty()) return;
    message const m = std::move(c.link->to_client.front());
    c.link->to_client.pop_front();
    c.link->heard_at = server_.now;
    if (m.is_push && m.text.empty()) return c.s().emptied(server_.now);
    if (m.is_push) return c.s().pushed(server_.now, m.text);
    struct visitor {
      client& c;
      time_point now;
      void operator()(std::string const& text) const { c.s().answered(now, refusal{text}); }
      void operator()(model::open_reply const& r) const {
        c.s().answered(now, opened{r.resumed, r.epoch, r.gate});
      }
      void operator()(token_state const& s) const { c.s().answered(now, s); }
      void operator()(std::vector<token_state> const& s) const {
        c.s().answered(now, std::span<token_state const>(s));
      }
      void operator()(std::int64_t n) const { c.s().answered(now, n); }
    };
    std::visit(visitor{c, server_.now}, m.answer);
  }

  // Sends what a client has to send.
  void pump(client& c) {
    if (server_.now < c.frozen_until) return;
    if (server_.now >= c.s().next_tick()) c.s().tick(server_.now);
    if (c.link && c.s().expects() && server_.now - c.link->heard_at > 150ms) cut(c);
    if (!c.link) return;
    if (!c.s().expects()) c.link->heard_at = server_.now;
    request r;
    while (c.link && c.s().next(server_.now, r)) c.link->to_server.emplace_back(r);
  }

  // --- Rules ---

  void check() {
    constexpr std::array<std::uint64_t, 3> capacity{1, 1, 3};
    for (std::size_t object = 0; object != 3; ++object) {
      std::uint64_t believed = 0;
      for (auto const& c : clients_) believed += c->believes(object);
      if (believed > capacity[object]) problem_ = "two believe that they hold one object";
    }
    for (auto const& c : clients_)
      if (!c->problem.empty()) problem_ = c->problem;
  }

  // Counts the notifications that tokens carry.
  notification_counts notifications() const {
    notification_counts carried;
    for (auto const& [name, o] : server_.stored.objects) {
      if (o.epoch != server_.stored.epoch) continue;
      for (auto const& [t, hold] : o.holders)
        if (hold.carries) ++carried[{name, *hold.carries}];
      for (auto const& [at, w] : o.waiters)
        if (w.carries) ++carried[{name, *w.carries}];
    }
    return carried;
  }

  void use_up(model::token const& t) {
    for (auto const& [name, o] : server_.stored.objects)
      if (auto const h = o.holders.find(t); h != o.holders.end() && h->second.carries)
        --before_[{name, *h->second.carries}];
  }

  bool is_awaited(std::pair<std::string, std::string> const& of) const {
    auto const o = server_.stored.objects.find(of.first);
    if (o == server_.stored.objects.end() || o->second.epoch != server_.stored.epoch) return false;
    return std::any_of(o->second.parked.begin(), o->second.parked.end(), [&](auto const& w) {
      return w.second.condition == of.second &&
             server_.stored.sessions.count(w.second.of.sid) != 0;
    });
  }

  // Lets all dead sessions expire. Then everything is free.
  void finish() {
    for (auto const end = server_.now + 3s; server_.now < end && problem_.empty();) step();
    for (auto const& [name, o] : server_.stored.objects) {
      for (auto const& [t, hold] : o.holders)
        if (server_.stored.sessions.count(t.sid) != 0) problem_ = "a hold of nobody is left";
      if (!o.waiters.empty() || !o.parked.empty()) problem_ = "a wait of nobody is left";
    }
    for (std::size_t i = 0; i != clients_.size(); ++i) start(i);
  }

  asio_sync::test::random_choice random_;
  model::server server_;
  counts& total_;
  model::data old_;
  std::list<connection> connections_;
  std::vector<std::pair<connection*, std::string>> pushes_;
  std::array<std::unique_ptr<client>, 3> clients_;
  bool const others_empty_ = random_.one_in(3);  // their databases, all the time
  bool faults_ = true;
  bool ends_by_recall_;
  notification_counts before_;  // by object and condition, those that may not be lost
  std::set<std::vector<std::string>> executed_;  // signals
  std::string problem_;
};

}  // namespace session_walk

#endif
