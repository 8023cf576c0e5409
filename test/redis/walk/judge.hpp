// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_REDIS_WALK_JUDGE_HPP
#define ASIO_SYNC_TEST_REDIS_WALK_JUDGE_HPP

#include "redis/walk/leaving.hpp"
#include "redis/walk/monitor_rules.hpp"
#include "redis/walk/signal_rules.hpp"
#include "redis/walk/snapshot.hpp"
#include "redis/walk/world.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace redis_walk {

// Compares what the server has before and after each script. It knows the rules of
// doc/redis-protocol.md, but neither a script nor a session.
class judge {
 public:
  explicit judge(world const& w) : world_(w) {}

  // Begins to compare with what the server has now, after somebody else has changed it.
  void begin() {
    before_ = world_.seen();
    signals_.begin();
  }

  void begin_round() {
    torn_.clear();
    overtaken_.clear();
    generations_.clear();
    lives_.clear();
    signals_.begin_round();
    monitors_.begin_round();
    last_fence_ = next_fence_ = grants_ = waits_ = notified_ = 0;
    begin();
  }

  // The server has older data, which may have the sessions of older connections, too.
  void go_back() {
    tear();
    overtaken_.clear();
    generations_.clear();
    last_fence_ = next_fence_ = 0;
  }

  // Somebody has deleted a part of these objects.
  void tear() {
    for (auto const& [name, p] : world_.seen().objects) torn_.insert(name);
  }

  // Somebody has deleted what lists the tokens of sessions.
  void forget_exits() { monitors_.forget_exits(); }

  std::uint64_t grants() const noexcept { return grants_; }

  // Returns how many waits have begun, and how many notifications have gone to one of them.
  std::uint64_t waits() const noexcept { return waits_; }
  std::uint64_t notified() const noexcept { return notified_; }
  monitor_tally const& monitors() const noexcept { return monitors_.counted(); }

  // Returns the rule that is broken if a client is told this, or nothing.
  std::string operator()(fact const& told) { return monitors_(told); }
  std::string operator()(signal_news const& told) { return signals_(told); }

  // Returns the rule that this call has broken, or nothing.
  std::string operator()(request const& r, message const& reply) {
    problem_.clear();
    me_ = std::string(r[1]);
    left_ = executed(r, reply);
    check_connection(r, reply);
    check_places();
    for (auto const& [name, p] : now().objects)
      if (is_current(p)) check_grants(name, p, r);
    last_fence_ = next_fence_;
    for (std::string const& name : pumped(r, reply)) check_pumped(name, r.what());
    if (std::string broken = signals_(now(), r, reply); !broken.empty()) fail(std::move(broken));
    check_notifications(r, reply);
    note_beat(r, reply);
    if (std::string broken = monitors_(before_, now(), r, reply, left_); !broken.empty())
      fail(std::move(broken));
    before_ = now();
    return problem_;
  }

 private:
  static constexpr std::uint64_t last = std::numeric_limits<std::uint64_t>::max();

  snapshot const& now() const noexcept { return world_.seen(); }
  bool is_current(place const& p) const { return !p.epoch.empty() && p.epoch == now().epoch; }
  void fail(std::string what) {
    if (problem_.empty()) problem_ = std::move(what);
  }

  // Returns what this call has done for somebody who was inside, if it has done that.
  std::optional<leaving> executed(request const& r, message const& reply) const {
    std::optional<leaving> l = read_leaving(r);
    if (!l || reply.is_error()) return std::nullopt;
    auto const p = before_.objects.find(l->object);
    if (p == before_.objects.end() || !p->second.has(l->token, l->fence)) return std::nullopt;
    return l;
  }

  // True if a push would reach the session, and it has not missed a beat.
  bool reaches(std::string const& sid) const {
    if (sid == me_) return true;
    auto const s = now().sessions.find(sid);
    return s != now().sessions.end() && world_.hears(client_of(sid)) &&
           2 * (s->second.until - world_.now()) >= s->second.ttl;
  }

  // --- Sessions follow the run of the server, and their newest connection ---

  void check_connection(request const& r, message const& reply) {
    if (reply.is_error()) return;
    bool const opens = r.what() == script::open;
    if (!opens && r.what() != script::beat && !needs_session(r.what())) return;
    std::uint64_t const generation = std::stoull(std::string(r[2]));
    std::uint64_t& newest = generations_[me_];
    if (generation < newest) fail("bytes of an old connection are executed");
    newest = generation;
    if (!opens) return;
    auto const made = lives_.try_emplace(reply.elements.at(1).text, world_.life()).first;
    if (made->second != world_.life()) fail("an epoch goes on in another life of the data");
  }

  // --- Each object is whole, and each token is in one place ---

  void check_places() {
    std::set<std::string> tokens;
    for (auto const& [name, p] : now().objects) {
      if (p.epoch.empty() ? p.is_empty() : is_current(p)) torn_.erase(name);
      if (p.epoch.empty() && !p.is_empty() && torn_.count(name) == 0)
        fail(name + " has lost its m");
      if (!is_current(p)) continue;
      check_place(name, p);
      for (auto const& [token, h] : p.holders)
        if (!tokens.insert(token).second) fail(token + " is in two places");
      for (auto const& [token, w] : p.waiters)
        if (!tokens.insert(token).second) fail(token + " is in two places");
      for (auto const& [token, w] : p.parked)
        if (!tokens.insert(token).second) fail(token + " is in two places");
      for (auto const& [token, each] : p.owned)
        if (!tokens.insert(token).second) fail(token + " is in two places");
    }
  }

  void check_place(std::string const& name, place const& p) {
    std::uint64_t used = 0;
    for (auto const& [token, h] : p.holders) used += h.weight;
    if (used != p.used) fail(name + " counts another weight than its holders have");
    if (p.owns != p.owned.size()) fail(name + " counts other tokens that own than it has");
    if (used > p.capacity) fail(name + " is granted beyond its capacity");
    if (p.waits != p.waiters.size() || p.queue.size() != p.waiters.size())
      fail(name + " counts other waiters than it has");
    for (auto const& [token, w] : p.waiters)
      if (auto const q = p.queue.find(token); q == p.queue.end() || q->second != w.ticket)
        fail(token + " does not wait at its ticket");
    if (p.parks != p.parked.size() || p.members.size() != p.parked.size())
      fail(name + " counts other parked tokens than it has");
    for (auto const& [token, w] : p.parked) {
      std::string const size = std::to_string(w.condition.size());
      if (p.members.count(std::string(3 - size.size(), '0') + size + w.condition +
                          std::to_string(w.ticket) + token) == 0)
        fail(token + " is not parked at its ticket");
    }
    if (p.is_empty()) fail(name + " is kept, although nobody uses it");
  }

  // --- Grants are in order ---

  void check_grants(std::string const& name, place const& p, request const& r) {
    place const& old = before_.objects[name];
    for (auto const& [token, h] : p.holders) {
      if (auto const known = old.holders.find(token);
          known != old.holders.end() && known->second.fence == h.fence)
        continue;
      ++grants_;
      if (before_.gate && now().gate) fail(token + " is granted behind the gate");
      if (h.fence <= last_fence_) fail(token + " has an old fence");
      next_fence_ = std::max(next_fence_, h.fence);
      check_grant(name, token, p, old, r);
    }
    std::erase_if(overtaken_, [&](auto const& o) {
      return o.second.object == name && p.waiters.count(o.first) == 0;
    });
  }

  void check_grant(std::string const& name, std::string const& token, place const& p,
                   place const& old, request const& r) {
    auto const queued = old.waiters.find(token), was_parked = old.parked.find(token);
    waiter const* const waited = queued != old.waiters.end()      ? &queued->second
                                 : was_parked != old.parked.end() ? &was_parked->second
                                                                  : nullptr;
    std::uint64_t ticket = last;
    if (queued != old.waiters.end())
      ticket = queued->second.ticket;
    else if (r.what() == script::acquire && r[11] != "0")
      ticket = std::stoull(std::string(r[11]));
    if (!reaches(owner_of(token)) && (waited == nullptr || waited->skip != 'B'))
      fail(token + " is granted, and cannot hear of it");
    for (auto const& [other, w] : p.waiters) {
      if (w.ticket >= ticket || !now().is_alive(owner_of(other))) continue;
      if (!is_before(other, token, old)) continue;
      if (reaches(owner_of(other))) fail(std::string(token).append(" overtakes ").append(other));
      auto const mark = overtaken_.try_emplace(other, mark_of{name, false}).first;
      if (mark->second.has_beaten) fail(other + " is overtaken again after a beat");
    }
  }

  // False if the other one has come into the queue with this call, and does not go before the
  // token: of those that a signal moves there, the one that was parked first goes first.
  static bool is_before(std::string const& other, std::string const& token, place const& old) {
    if (old.waiters.count(other) != 0) return true;
    auto const a = old.parked.find(other), b = old.parked.find(token);
    return a != old.parked.end() && b != old.parked.end() &&
           a->second.condition == b->second.condition && b->second.carries.empty() &&
           a->second.ticket < b->second.ticket;
  }

  // --- Nothing free is left to those who wait ---

  // Returns the objects whose waiters the script has served.
  std::vector<std::string> pumped(request const& r, message const& reply) const {
    std::vector<std::string> names;
    if (reply.is_error()) return names;
    switch (r.what()) {
      case script::acquire:
      case script::cond_wait:
      case script::unwait: names.emplace_back(r[4]); break;
      case script::exit:
        if (left_) names.emplace_back(r[4]);
        break;
      case script::signal:
        if (reply.number > 0) names.emplace_back(r[2]);
        break;
      case script::release:
        if (reply.number >= 0) names.emplace_back(r[2]);
        break;
      case script::forget:
      case script::force:
        if (reply.number == 1) names.emplace_back(r[2]);
        break;
      case script::beat:
        for (std::size_t i = 7; i < r.size(); i += 2 + count(r, i)) names.emplace_back(r[i]);
        break;
      default: break;
    }
    return names;
  }

  static std::size_t count(request const& r, std::size_t group) {
    return std::stoul(std::string(r[group + 1]));
  }

  void check_pumped(std::string const& name, script what) {
    place const& p = now().objects.at(name);
    if (now().gate || !is_current(p)) return;
    bool const is_parked_at = !p.parked.empty() && !was_idle(name);
    if (is_ask(what) || (what == script::beat && is_parked_at))
      for (auto const& [token, each] : p.owned)
        if (!now().is_alive(owner_of(token))) fail(token + " is dead, and owns");
    if (p.waiters.empty()) return;
    if (is_ask(what) || what == script::beat)
      for (auto const& [token, h] : p.holders)
        if (!now().is_alive(owner_of(token))) fail(token + " is dead, and holds");
    std::map<std::uint64_t, std::string> order;
    for (auto const& [token, w] : p.waiters) order.emplace(w.ticket, token);
    for (auto const& [ticket, token] : order) {
      waiter const& w = p.waiters.at(token);
      if (!now().is_alive(owner_of(token))) continue;
      if (!reaches(owner_of(token)) && w.skip != 'B') continue;
      if (w.weight <= p.capacity - p.used) fail(token + " waits for what is free");
      return;
    }
  }

  bool was_idle(std::string const& name) const {
    place const& old = before_.objects.at(name);
    return old.waiters.empty() && old.parked.empty();
  }

  // --- A waiter that has been overtaken, and has sent a beat since, is not overtaken again ---

  void note_beat(request const& r, message const& reply) {
    if (r.what() != script::beat || reply.is_error()) return;
    for (std::size_t i = 7; i < r.size(); i += 2 + count(r, i))
      for (std::size_t n = 0; n != count(r, i); ++n) {
        auto const mark = overtaken_.find(me_ + ':' + std::string(r[i + 2 + n]));
        if (mark != overtaken_.end()) mark->second.has_beaten = true;
      }
  }

  // --- A notification is not lost while somebody waits for it, and goes to the right one ---

  using carried = std::map<std::pair<std::string, std::string>, std::int64_t>;

  // Counts the notifications that the tokens of an object carry.
  static void count_carried(std::string const& name, place const& p, carried& all) {
    for (auto const& [token, h] : p.holders)
      if (!h.carries.empty()) ++all[{name, h.carries}];
    for (auto const& [token, w] : p.waiters)
      if (!w.carries.empty()) ++all[{name, w.carries}];
  }

  void check_notifications(request const& r, message const& reply) {
    for (auto const& [name, p] : now().objects) {
      place const& old = before_.objects[name];
      if (!is_current(p) || old.epoch != p.epoch) continue;
      carried had, has;
      count_carried(name, old, had);
      count_carried(name, p, has);
      use_up(name, old, r, reply, had);
      if (r.what() == script::signal && r[2] == name) note_signal(name, p, old, r, reply, had);
      if (r.what() == script::cond_wait && left_ && left_->object == name)
        check_own(name, me_ + ':' + std::string(r[5]), p, had);
      if (left_ && left_->object == name)
        for (auto const& each : left_->notified)
          if (!each.is_for_all) ++had[{name, each.condition}];
      for (auto const& [of, count] : had)
        if (has[of] < count && is_still_awaited(old, p, of.second))
          fail("a notification is lost at " + name);
      for (auto const& [of, count] : has)
        if (had[of] < count) fail("a notification of nobody is carried at " + name);
      for (auto const& [token, w] : old.parked) check_woken(token, w, old, p);
      for (auto const& [token, w] : p.parked) waits_ += 1 - old.parked.count(token);
    }
  }

  // A wait may have one of the notifications there were, but none of its own operations.
  void check_own(std::string const& name, std::string const& token, place const& p,
                 carried const& had) {
    std::string const condition = p.carried_by(token);
    if (condition.empty()) return;
    auto const others = had.find({name, condition});
    if (others == had.end() || others->second <= 0) fail(token + " is notified by itself");
  }

  // The token that gives back uses its notification up, unless it passes it on.
  void use_up(std::string const& name, place const& old, request const& r, message const& reply,
              carried& had) const {
    bool const releases = r.what() == script::release && !reply.is_error();
    if (!releases && !left_) return;
    if ((releases ? r[2] : left_->object) != name) return;
    if (releases ? r.size() > 4 && r[4] == "1" : left_->passes) return;
    auto const h = old.holders.find(releases ? me_ + ':' + std::string(r[3]) : left_->token);
    if (h != old.holders.end() && !h->second.carries.empty()) --had[{name, h->second.carries}];
  }

  void note_signal(std::string const& name, place const& p, place const& old, request const& r,
                   message const& reply, carried& had) {
    std::string const condition(r[4]);
    if (reply.number == 0 && signals_.is_new() && is_awaited(old, condition) &&
        is_awaited(p, condition))
      fail("a signal is ignored at " + name);
    if (r[5] == "1")
      had[{name, condition}] += reply.number;
    else if (reply.number > 0 && is_awaited(p, condition))
      fail("a signal does not notify all at " + name);
  }

  bool is_awaited(place const& p, std::string const& condition) const {
    return std::any_of(p.parked.begin(), p.parked.end(), [&](auto const& w) {
      return w.second.condition == condition && now().is_alive(owner_of(w.first));
    });
  }

  // The token that this call has parked may have come too late.
  bool is_still_awaited(place const& old, place p, std::string const& condition) const {
    std::erase_if(p.parked, [&old](auto const& w) { return old.parked.count(w.first) == 0; });
    return is_awaited(p, condition);
  }

  // Fails if another token, still parked, should have been notified instead of this one.
  void check_woken(std::string const& token, waiter const& old, place const& all, place const& p) {
    std::string const carries = p.carried_by(token);
    if (carries.empty()) return;
    ++notified_;
    bool const is_reached = old.skip == 'B' || reaches(owner_of(token));
    for (auto const& [other, w] : p.parked) {
      if (w.condition != carries || !now().is_alive(owner_of(other))) continue;
      if (all.parked.count(other) == 0) continue;
      bool const reaches_other = w.skip == 'B' || reaches(owner_of(other));
      if (is_reached ? reaches_other && w.ticket < old.ticket
                     : reaches_other || w.ticket < old.ticket)
        fail(std::string(token).append(" is notified instead of ").append(other));
    }
  }

  struct mark_of {
    std::string object;
    bool has_beaten;
  };

  world const& world_;
  snapshot before_;
  std::string me_, problem_;
  std::optional<leaving> left_;  // what this call has done for somebody who was inside
  monitor_rules monitors_;
  signal_rules signals_;
  std::set<std::string> torn_;
  std::map<std::string, mark_of> overtaken_;
  std::map<std::string, std::uint64_t> generations_;  // of the newest connection of each session
  std::map<std::string, unsigned> lives_;             // of the data in which an epoch was made
  std::uint64_t last_fence_ = 0, next_fence_ = 0;     // the greatest before, and after, this call
  std::uint64_t grants_ = 0, waits_ = 0, notified_ = 0;
};

}  // namespace redis_walk

#endif
