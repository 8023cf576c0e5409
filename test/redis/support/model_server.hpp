// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_REDIS_SUPPORT_MODEL_SERVER_HPP
#define ASIO_SYNC_TEST_REDIS_SUPPORT_MODEL_SERVER_HPP

#include <asio_sync/redis/detail/session/answers.hpp>
#include <asio_sync/redis/detail/session/claim.hpp>
#include <asio_sync/redis/detail/session/requests.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

// The scripts of doc/redis-protocol.md over maps, without limits.
namespace model {

using namespace asio_sync::redis::detail;
using namespace std::chrono_literals;
using time_point = session_clock::time_point;
using milliseconds = std::chrono::milliseconds;

// A part of the protocol that a test switches off.
enum class fault : std::uint8_t { none, no_gate, no_generation, no_epoch, no_run_id };

struct call {
  script what;
  std::vector<std::string> arguments;

  explicit call(request const& r) : what(r.what()) {
    for (std::size_t i = 0; i != r.size(); ++i) arguments.emplace_back(r[i]);
  }
  std::string const& operator[](std::size_t i) const { return arguments[i]; }
  std::uint64_t number(std::size_t i) const { return std::stoull(arguments[i]); }
  milliseconds time(std::size_t i) const {
    return milliseconds(static_cast<std::int64_t>(number(i)));
  }
};

struct open_reply {
  bool resumed;
  std::string epoch;
  std::optional<milliseconds> gate;
};

using reply =
    std::variant<std::string, open_reply, token_state, std::vector<token_state>, std::int64_t>;

struct token {
  std::string sid, counter;

  auto operator<=>(token const&) const = default;
  std::string text() const { return sid + ':' + counter; }
};

struct session_record {
  std::uint64_t generation;
  std::string epoch;
  milliseconds ttl;
  time_point expires;
};

struct waiter {
  token of;
  std::uint64_t weight;
  char skip = '-';  // 'S': has been passed over; 'B': is passed over no more
};

struct object_record {
  std::string epoch;
  std::uint64_t capacity = 0, used = 0;
  std::map<token, std::pair<std::uint64_t, std::uint64_t>> holders;  // weight and fence
  std::map<std::pair<std::uint64_t, token>, waiter> waiters;         // by ticket
};

// All that a server stores.
struct data {
  std::string epoch;
  time_point gate{};
  std::map<std::string, session_record> sessions;
  std::map<std::string, std::map<std::string, std::string>> tokens;  // sid, counter, object
  std::map<std::string, object_record> objects;
};

class server {
 public:
  explicit server(fault f) : fault_(f) {}

  time_point now{1h};
  std::string run_id = "run0";
  data stored;
  std::function<bool(std::string const& client)> hears;  // a connection is subscribed
  std::function<void(std::string const& client, std::string const& text)> publish;

  reply execute(call const& c) {
    std::erase_if(stored.sessions, [this](auto const& s) { return s.second.expires <= now; });
    switch (c.what) {
      case script::open: return c[8] == "new" ? open(c) : resume(c);
      case script::beat: return checked(c, [&] { return beat(c); });
      case script::acquire: return checked(c, [&] { return acquire(c); });
      case script::release: return release(c);
      case script::forget: return forget(c);
      case script::shutdown: return shutdown(c);
      case script::inspect:
      case script::force:
      case script::cond_wait:
      case script::unwait:
      case script::signal: break;
    }
    return {};
  }

  // Starts again with other data.
  void restart(data with) {
    stored = std::move(with);
    run_id = "run" + std::to_string(++count_);
  }

 private:
  static std::string client_of(std::string const& sid) { return sid.substr(0, sid.find('.')); }

  bool alive(std::string const& sid) const { return stored.sessions.count(sid) != 0; }
  bool gated() const { return fault_ != fault::no_gate && now < stored.gate; }
  static milliseconds whole(session_clock::duration d) {
    return std::chrono::ceil<milliseconds>(d);
  }
  std::optional<milliseconds> gate() const {
    return gated() ? std::optional(whole(stored.gate - now)) : std::nullopt;
  }

  // --- Sessions ---

  void make_epoch(call const& c) {
    bool const same_run = stored.epoch.starts_with(run_id + '.') || fault_ == fault::no_run_id;
    if (!stored.epoch.empty() && same_run) return;
    stored.epoch = run_id + '.' + std::to_string(++count_);
    if (c[6] == "1") stored.gate = now + c.time(5);
  }

  reply open(call const& c) {
    if (stored.sessions.count(c[1]) != 0) return "STALE";
    make_epoch(c);
    stored.sessions.erase(c[9]);
    stored.sessions[c[1]] = {c.number(2), stored.epoch, c.time(4), now + c.time(4)};
    sweep();
    return open_reply{false, stored.epoch, gate()};
  }

  reply resume(call const& c) {
    make_epoch(c);
    auto const found = stored.sessions.find(c[1]);
    if (found == stored.sessions.end()) return "NOSESSION";
    session_record& s = found->second;
    if (s.epoch != stored.epoch && fault_ != fault::no_epoch) {
      stored.sessions.erase(found);
      return "EPOCH";
    }
    if (s.generation >= c.number(2) && fault_ != fault::no_generation) return "STALE";
    s.generation = c.number(2);
    return open_reply{true, stored.epoch, gate()};
  }

  template <class Script>
  reply checked(call const& c, Script run) {
    auto const found = stored.sessions.find(c[1]);
    if (found == stored.sessions.end()) return "NOSESSION";
    if (found->second.generation != c.number(2) && fault_ != fault::no_generation) return "STALE";
    if ((c[3] != stored.epoch || found->second.epoch != stored.epoch) && fault_ != fault::no_epoch)
      return "EPOCH";
    return run();
  }

  // Clears the tokens of dead sessions away.
  void sweep() {
    auto const dead = std::find_if(stored.tokens.begin(), stored.tokens.end(),
                                   [this](auto const& t) { return !alive(t.first); });
    if (dead == stored.tokens.end()) return;
    auto const tokens = dead->second;
    std::string const sid = dead->first;
    for (auto const& [counter, name] : tokens) {
      object_record& o = load(name);
      drop(o, {sid, counter});
      pump(name, o, nullptr);
    }
    stored.tokens.erase(sid);
  }

  // --- Objects ---

  object_record& load(std::string const& name) {
    object_record& o = stored.objects[name];
    if (o.epoch != stored.epoch && fault_ != fault::no_epoch) o = {};
    o.epoch = stored.epoch;
    return o;
  }

  auto find(object_record& o, token const& t) {
    return std::find_if(o.waiters.begin(), o.waiters.end(),
                        [&t](auto const& w) { return w.second.of == t; });
  }

  bool drop(object_record& o, token const& t) {
    if (auto const owned = stored.tokens.find(t.sid); owned != stored.tokens.end()) {
      owned->second.erase(t.counter);
      if (owned->second.empty()) stored.tokens.erase(owned);
    }
    if (auto const h = o.holders.find(t); h != o.holders.end()) {
      o.used -= h->second.first;
      o.holders.erase(h);
      return true;
    }
    auto const w = find(o, t);
    if (w == o.waiters.end()) return false;
    o.waiters.erase(w);
    return true;
  }

  void reap(object_record& o) {
    if (gated()) return;
    auto const holders = o.holders;
    for (auto const& [t, hold] : holders)
      if (!alive(t.sid)) drop(o, t);
  }

  bool reaches(waiter const& w, std::string const* caller) {
    if (w.skip == 'B' || (caller != nullptr && w.of.sid == *caller)) return true;
    session_record const& s = stored.sessions[w.of.sid];
    return s.expires - now >= s.ttl / 2 && hears(client_of(w.of.sid));
  }

  void hold(object_record& o, token const& t, std::uint64_t weight) {
    o.used += weight;
    o.holders[t] = {weight, ++numbers_};
  }

  // Grants to the first waiters, and tells all but `silent`, whose script answers it.
  void pump(std::string const& name, object_record& o, std::string const* caller,
            token const& silent = {}) {
    if (gated()) return;
    for (auto at = o.waiters.begin(); at != o.waiters.end();) {
      waiter const w = at->second;
      if (!alive(w.of.sid)) {
        ++at;
        drop(o, w.of);
      } else if (!reaches(w, caller)) {
        if (at->second.skip == '-') at->second.skip = 'S';
        ++at;
      } else if (w.weight > o.capacity - o.used) {
        break;
      } else {
        at = o.waiters.erase(at);
        hold(o, w.of, w.weight);
        if (w.of != silent)
          publish(client_of(w.of.sid), "G " + w.of.text() + ' ' +
                                           std::to_string(o.holders[w.of].second) + ' ' +
                                           stored.epoch);
      }
    }
    if (o.holders.empty() && o.waiters.empty()) stored.objects.erase(name);
  }

  token_state state(std::string const& name, token const& t) {
    auto const found = stored.objects.find(name);
    if (found == stored.objects.end()) return {};
    object_record& o = found->second;
    if (auto const h = o.holders.find(t); h != o.holders.end())
      return {standing::holds, h->second.second, std::nullopt};
    auto const w = find(o, t);
    if (w == o.waiters.end()) return {};
    token_state s{standing::waits, w->first.first, gate()};
    for (auto const& [holder, hold] : o.holders)
      if (auto const at = stored.sessions.find(holder.sid);
          !s.hint || at != stored.sessions.end()) {
        milliseconds const left =
            at == stored.sessions.end() ? 0ms : whole(at->second.expires - now);
        s.hint = s.hint ? std::min(*s.hint, left) : left;
      }
    return s;
  }

  reply beat(call const& c) {
    session_record& s = stored.sessions[c[1]];
    s.expires = now + s.ttl;
    std::vector<token_state> states;
    for (std::size_t i = 6; i < c.arguments.size();) {
      std::string const name = c[i];
      std::size_t const first = i + 2, end = first + c.number(i + 1);
      object_record& o = load(name);
      for (i = first; i != end; ++i)
        if (auto const w = find(o, {c[1], c[i]}); w != o.waiters.end() && w->second.skip == 'S')
          w->second.skip = 'B';
      reap(o);
      pump(name, o, &c[1]);
      for (i = first; i != end; ++i) states.push_back(state(name, {c[1], c[i]}));
    }
    sweep();
    return states;
  }

  reply acquire(call const& c) {
    std::string const& name = c[4];
    token const t{c[1], c[5]};
    object_record& o = load(name);
    o.capacity = c.number(8);
    bool const is_new = o.holders.count(t) == 0 && find(o, t) == o.waiters.end();
    reap(o);
    if (is_new) {
      std::uint64_t const ticket = c.number(11) != 0 ? c.number(11) : ++numbers_;
      o.waiters[{ticket, t}] = {t, c.number(9)};
      stored.tokens[t.sid][t.counter] = name;
    }
    pump(name, o, &c[1], t);
    token_state const s = state(name, t);
    if (s.where != standing::waits || c[10] == "0") return s;
    drop(o, t);
    pump(name, o, &c[1]);
    return token_state{};
  }

  reply release(call const& c) {
    object_record& o = load(c[2]);
    token const t{c[1], c[3]};
    bool const held = o.holders.count(t) != 0;
    if (held) drop(o, t);
    pump(c[2], o, &c[1]);
    return held ? std::int64_t(alive(c[1]) ? 1 : 0) : std::int64_t(-1);
  }

  reply forget(call const& c) {
    object_record& o = load(c[2]);
    bool const known = drop(o, {c[1], c[3]});
    pump(c[2], o, &c[1]);
    return std::int64_t(known ? 1 : 0);
  }

  // In batches of two.
  reply shutdown(call const& c) {
    stored.sessions.erase(c[1]);
    for (int i = 0; i != 2; ++i) {
      auto const own = stored.tokens.find(c[1]);
      if (own == stored.tokens.end()) return std::int64_t(0);
      auto const [counter, name] = *own->second.begin();
      object_record& o = load(name);
      drop(o, {c[1], counter});
      pump(name, o, nullptr);
      if (stored.tokens.count(c[1]) != 0) stored.tokens[c[1]].erase(counter);
    }
    return std::int64_t(1);
  }

  fault const fault_;
  std::uint64_t numbers_ = 1000;  // tickets and fences
  unsigned count_ = 0;            // of runs and epochs
};

}  // namespace model

#endif
