// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_REDIS_SUPPORT_MODEL_SERVER_HPP
#define ASIO_SYNC_TEST_REDIS_SUPPORT_MODEL_SERVER_HPP

#include "support/test.hpp"

#include <asio_sync/redis/detail/session/answers.hpp>
#include <asio_sync/redis/detail/session/claim.hpp>
#include <asio_sync/redis/detail/session/requests.hpp>

// The scripts of doc/redis-protocol.md over maps, without limits.
namespace model {

using namespace asio_sync::redis::detail;
using namespace std::chrono_literals;
using time_point = session_clock::time_point;
using milliseconds = std::chrono::milliseconds;

// A part of the protocol that a test switches off.
enum class fault : std::uint8_t {
  none,
  no_gate,
  no_generation,
  no_epoch,
  no_run_id,
  no_passing_on  // notifications end with their tokens
};

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
  char skip = '-';                       // 'S': has been passed over; 'B': is passed over no more
  std::string condition;                 // that it waits on, if it is parked
  std::optional<std::string> carries{};  // the condition whose notification it has
};

struct hold_record {
  std::uint64_t weight, fence;
  std::optional<std::string> carries;
};

struct object_record {
  std::string epoch;
  std::uint64_t capacity = 0, used = 0;
  std::map<token, hold_record> holders;
  std::map<std::pair<std::uint64_t, token>, waiter> waiters, parked;  // by ticket

  bool is_unused() const { return holders.empty() && waiters.empty() && parked.empty(); }
};

// All that a server stores.
struct data {
  std::string epoch, run;
  std::uint64_t number = 0;  // the greatest ticket or fence
  time_point gate{};
  std::map<std::string, session_record> sessions;
  std::map<std::string, std::map<std::string, std::string>> tokens;  // sid, counter, object
  std::map<std::string, object_record> objects;
  std::map<std::string, std::uint64_t> signals;  // sid, number of the last one
};

class server {
 public:
  explicit server(fault f) : fault_(f) {}

  time_point now{1h};
  data stored;
  std::function<bool(std::string const& client)> hears;  // a connection is subscribed
  std::function<void(std::string const& client, std::string const& text)> publish;

  // A token gives back what it holds, and uses its notification up, or passes it on.
  std::function<void(token const&, bool passes_on)> gives_back;

  // A signal is not executed, because one with its number, or with a later one, has been.
  std::function<void(call const&)> ignores;

  reply execute(call const& c) {
    std::erase_if(stored.sessions, [this](auto const& s) { return s.second.expires <= now; });
    caller_ = c[1];
    switch (c.what) {
      case script::open: return c[9] == "new" ? open(c) : resume(c);
      case script::beat: return checked(c, [&] { return beat(c); });
      case script::acquire: return checked(c, [&] { return acquire(c); });
      case script::release: return release(c);
      case script::forget: return forget(c);
      case script::shutdown: return shutdown(c);
      case script::cond_wait: return checked(c, [&] { return cond_wait(c); });
      case script::unwait: return checked(c, [&] { return unwait(c); });
      case script::signal: return signal(c);
      case script::inspect:
      case script::force:
      case script::exit: break;
    }
    return {};
  }

  // Goes on with other data: starts again, or becomes a replica and the master again.
  void restart(data with) {
    stored = std::move(with);
    run_ = "run" + std::to_string(++count_);
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
    bool const same_run = stored.run == run_ || fault_ == fault::no_run_id;
    if (!stored.epoch.empty() && same_run && !is_older(c)) return;
    stored.run = run_;
    stored.number = ++numbers_;
    stored.epoch = "2." + std::to_string(stored.number);
    if (c[7] == "1") stored.gate = now + c.time(6);
  }

  // True if the caller has seen a number of this epoch that the data does not have.
  bool is_older(call const& c) const {
    return c[3] == stored.epoch && stored.number < c.number(4);
  }

  reply open(call const& c) {
    if (stored.sessions.count(c[1]) != 0) return "STALE";
    make_epoch(c);
    stored.sessions.erase(c[10]);
    stored.sessions[c[1]] = {c.number(2), stored.epoch, c.time(5), now + c.time(5)};
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
    stored.signals.erase(sid);
  }

  // --- Objects ---

  object_record& load(std::string const& name) {
    object_record& o = stored.objects[name];
    if (o.epoch != stored.epoch && fault_ != fault::no_epoch) o = {};
    o.epoch = stored.epoch;
    return o;
  }

  std::uint64_t next_number() { return stored.number = ++numbers_; }

  static auto find(std::map<std::pair<std::uint64_t, token>, waiter>& in, token const& t) {
    return std::find_if(in.begin(), in.end(), [&t](auto const& w) { return w.second.of == t; });
  }

  // Returns the record of a token that waits, or null.
  static waiter* waiting(object_record& o, token const& t) {
    if (auto const w = find(o.waiters, t); w != o.waiters.end()) return &w->second;
    auto const w = find(o.parked, t);
    return w != o.parked.end() ? &w->second : nullptr;
  }

  void unregister(token const& t) {
    auto const owned = stored.tokens.find(t.sid);
    if (owned == stored.tokens.end()) return;
    owned->second.erase(t.counter);
    if (owned->second.empty()) stored.tokens.erase(owned);
  }

  // Ends a token. The notification that it carries goes to another one, unless it is used up.
  bool drop(object_record& o, token const& t, bool used_up = false) {
    unregister(t);
    std::optional<std::string> carried;
    if (auto const h = o.holders.find(t); h != o.holders.end()) {
      o.used -= h->second.weight;
      carried = h->second.carries;
      o.holders.erase(h);
    } else if (auto const w = find(o.waiters, t); w != o.waiters.end()) {
      carried = w->second.carries;
      o.waiters.erase(w);
    } else {
      auto const p = find(o.parked, t);
      if (p == o.parked.end()) return false;
      o.parked.erase(p);
    }
    if (carried && !used_up && fault_ != fault::no_passing_on) notify_one(o, *carried);
    return true;
  }

  // --- Conditions ---

  // Moves a parked token to the queue.
  void wake(object_record& o, token const& t, bool carries) {
    auto const at = find(o.parked, t);
    waiter w = at->second;
    o.parked.erase(at);
    if (carries) w.carries = w.condition;
    w.condition.clear();
    o.waiters[{next_number(), t}] = w;
  }

  std::int64_t notify_all(object_record& o, std::string const& condition) {
    std::vector<token> woken;
    for (auto const& [at, w] : o.parked)
      if (w.condition == condition) woken.push_back(w.of);
    for (token const& t : woken) wake(o, t, false);
    return std::int64_t(woken.size());
  }

  // Notifies the first one that can be reached, else the first one that is alive.
  std::int64_t notify_one(object_record& o, std::string const& condition) {
    std::optional<token> other;
    std::vector<token> dead;
    std::optional<token> reached;
    for (auto& [at, w] : o.parked) {
      if (w.condition != condition) continue;
      if (!alive(w.of.sid)) {
        dead.push_back(w.of);
      } else if (reaches(w, &caller_)) {
        reached = w.of;
        break;
      } else {
        if (w.skip == '-') w.skip = 'S';
        if (!other) other = w.of;
      }
    }
    for (token const& t : dead) drop(o, t);
    if (!reached) reached = other;
    if (reached) wake(o, *reached, true);
    return reached ? 1 : 0;
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

  void hold(object_record& o, waiter const& w) {
    o.used += w.weight;
    o.holders[w.of] = {w.weight, next_number(), w.carries};
  }

  // Grants to the first waiters, and tells all but `silent`, whose script answers it.
  void pump(std::string const& name, object_record& o, std::string const* caller,
            token const& silent = {}) {
    if (gated()) return;
    for (auto at = o.waiters.begin(); at != o.waiters.end();) {
      waiter const w = at->second;
      if (!alive(w.of.sid)) {
        auto const place = at->first;
        drop(o, w.of);
        at = o.waiters.upper_bound(place);
      } else if (!reaches(w, caller)) {
        if (at->second.skip == '-') at->second.skip = 'S';
        ++at;
      } else if (w.weight > o.capacity - o.used) {
        break;
      } else {
        at = o.waiters.erase(at);
        hold(o, w);
        if (w.of != silent)
          publish(client_of(w.of.sid), "G " + w.of.text() + ' ' +
                                           std::to_string(o.holders[w.of].fence) + ' ' +
                                           stored.epoch);
      }
    }
    if (o.is_unused()) stored.objects.erase(name);
  }

  token_state state(std::string const& name, token const& t) {
    auto const found = stored.objects.find(name);
    if (found == stored.objects.end()) return {};
    object_record& o = found->second;
    if (auto const h = o.holders.find(t); h != o.holders.end())
      return {standing::holds, h->second.fence, std::nullopt, std::nullopt};
    if (auto const p = find(o.parked, t); p != o.parked.end())
      return {standing::parked, p->first.first, std::nullopt, std::nullopt};
    auto const w = find(o.waiters, t);
    if (w == o.waiters.end()) return {};
    token_state s{standing::waits, w->first.first, gate(), std::nullopt};
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
    if (is_older(c)) return "EPOCH";
    session_record& s = stored.sessions[c[1]];
    s.expires = now + s.ttl;
    std::vector<token_state> states;
    for (std::size_t i = 7; i < c.arguments.size();) {
      std::string const name = c[i];
      std::size_t const first = i + 2, end = first + c.number(i + 1);
      object_record& o = load(name);
      for (i = first; i != end; ++i)
        if (waiter* const w = waiting(o, {c[1], c[i]}); w != nullptr && w->skip == 'S')
          w->skip = 'B';
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
    bool const is_new = o.holders.count(t) == 0 && waiting(o, t) == nullptr;
    reap(o);
    if (is_new) {
      std::uint64_t const ticket = c.number(11) != 0 ? c.number(11) : next_number();
      o.waiters[{ticket, t}] = {t, c.number(9), '-', {}};
      stored.tokens[t.sid][t.counter] = name;
    }
    pump(name, o, &c[1], t);
    token_state const s = state(name, t);
    if (s.where != standing::waits || c[10] == "0") return s;
    drop(o, t);
    pump(name, o, &c[1]);
    return token_state{standing::unknown, 0, gate(), std::nullopt};
  }

  void give_back(object_record& o, token const& t, bool passes_on) {
    gives_back(t, passes_on);
    drop(o, t, !passes_on);
  }

  reply cond_wait(call const& c) {
    token const t{c[1], c[5]}, old{c[1], c[6]};
    object_record& o = load(c[4]);
    if (o.holders.count(t) == 0 && waiting(o, t) == nullptr) {
      auto const held = o.holders.find(old);
      if (held == o.holders.end() || held->second.fence != c.number(7)) return "LOST";
      bool const is_recalled = c[9] == "1";
      waiter const w{t, held->second.weight, '-', is_recalled ? "" : c[8]};
      (is_recalled ? o.waiters : o.parked)[{next_number(), t}] = w;
      stored.tokens[t.sid][t.counter] = c[4];
      give_back(o, old, c[10] == "1");
    }
    reap(o);
    pump(c[4], o, &c[1], t);
    return state(c[4], t);
  }

  reply unwait(call const& c) {
    token const t{c[1], c[5]};
    object_record& o = load(c[4]);
    if (find(o.parked, t) != o.parked.end()) wake(o, t, false);
    reap(o);
    pump(c[4], o, &c[1], t);
    return state(c[4], t);
  }

  // Also of a session that does not exist.
  reply signal(call const& c) {
    if (alive(c[1])) {
      std::uint64_t& last = stored.signals[c[1]];
      if (c.number(3) <= last) {
        ignores(c);
        return std::int64_t(0);
      }
      last = c.number(3);
    }
    object_record& o = load(c[2]);
    std::int64_t const notified = c[5] == "1" ? notify_one(o, c[4]) : notify_all(o, c[4]);
    pump(c[2], o, &c[1]);
    return notified;
  }

  reply release(call const& c) {
    object_record& o = load(c[2]);
    token const t{c[1], c[3]};
    bool const held = o.holders.count(t) != 0;
    if (held) give_back(o, t, c[4] == "1");
    pump(c[2], o, &c[1]);
    return held ? std::int64_t(alive(c[1]) ? 1 : 0) : std::int64_t(-1);
  }

  reply forget(call const& c) {
    object_record& o = load(c[2]);
    bool known = false;
    for (std::size_t i = 3; i != c.arguments.size(); ++i) known = drop(o, {c[1], c[i]}) || known;
    pump(c[2], o, &c[1]);
    return std::int64_t(known ? 1 : 0);
  }

  // In batches of two.
  reply shutdown(call const& c) {
    stored.sessions.erase(c[1]);
    for (int i = 0; i != 2; ++i) {
      auto const own = stored.tokens.find(c[1]);
      if (own == stored.tokens.end()) {
        stored.signals.erase(c[1]);
        return std::int64_t(0);
      }
      auto const [counter, name] = *own->second.begin();
      object_record& o = load(name);
      drop(o, {c[1], counter});
      pump(name, o, nullptr);
      if (stored.tokens.count(c[1]) != 0) stored.tokens[c[1]].erase(counter);
    }
    return std::int64_t(1);
  }

  fault const fault_;
  std::string caller_;            // the session whose script runs
  std::uint64_t numbers_ = 1000;  // tickets and fences
  unsigned count_ = 0;            // of runs
  std::string run_ = "run0";
};

}  // namespace model

#endif
