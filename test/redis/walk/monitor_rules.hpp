// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_REDIS_WALK_MONITOR_RULES_HPP
#define ASIO_SYNC_TEST_REDIS_WALK_MONITOR_RULES_HPP

#include "redis/walk/leaving.hpp"
#include "redis/walk/snapshot.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace redis_walk {

// The variables by which the walk counts: how often somebody has left with operations, and the
// sum of what tokens own. Nothing but owned parts changes the second one.
inline constexpr char const count_name[] = "n", sum_name[] = "owned";

using variables = std::map<std::string, std::string>;

inline std::int64_t number_of(variables const& all, std::string const& name) {
  auto const found = all.find(name);
  return found != all.end() ? std::stoll(found->second) : 0;
}

// The news that a client has been told.
struct fact {
  enum class kind {
    entered,      // with this fence, and with these variables
    has_left,     // the server has executed what ends the hold with this fence
    has_not_left  // and never will
  };
  kind what;
  std::uint64_t fence;
  variables seen{};
};

struct monitor_tally {
  std::size_t exits = 0, repeats = 0, owned = 0, marked = 0, taken_back = 0, died = 0;

  monitor_tally& operator+=(monitor_tally const& other) {
    exits += other.exits;
    repeats += other.repeats;
    owned += other.owned;
    marked += other.marked;
    taken_back += other.taken_back;
    died += other.died;
    return *this;
  }

  friend std::ostream& operator<<(std::ostream& out, monitor_tally const& t) {
    return out << t.exits << " exits, " << t.repeats << " of them again, " << t.owned
               << " parts owned, " << t.taken_back << " taken back, of these " << t.marked
               << " later and " << t.died << " of the dead";
  }
};

// Compares the variables of monitors, and what tokens own of them, before and after each script.
class monitor_rules {
 public:
  void begin_round() {
    executed_.clear();
    denied_.clear();
    exits_.clear();
    entries_.clear();
    tally_ = {};
    are_listed_ = true;
  }

  // Somebody has deleted what lists the tokens of sessions.
  void forget_exits() {
    exits_.clear();
    are_listed_ = false;
  }

  monitor_tally const& counted() const noexcept { return tally_; }

  // Returns the rule that this call has broken, or nothing. `left`: what it has done for somebody
  // who was inside.
  std::string operator()(snapshot const& before, snapshot const& now, request const& r,
                         message const& reply, std::optional<leaving> const& left) {
    problem_.clear();
    check_exit(r, reply, left);
    if (r.what() == script::shutdown && !reply.is_error() && reply.number == 0)
      check_cleared(std::string(r[1]), now);
    for (auto const& [name, p] : now.objects) {
      auto const known = before.objects.find(name);
      place const old = known != before.objects.end() ? known->second : place();
      check_variables(name, old, p, left && left->object == name ? &*left : nullptr);
      check_notified(name, old, p, left && left->object == name ? &*left : nullptr);
      for (auto const& [token, h] : p.holders)
        if (!old.has(token, h.fence)) entries_[h.fence] = p.variables;
      for (auto const& [token, each] : p.marked) tally_.marked += 1 - old.marked.count(token);
      for (auto const& [token, each] : gone(old.all_parts(), p))
        if (!before.is_alive(owner_of(token))) ++tally_.died;
    }
    return problem_;
  }

  // Returns the rule that is broken if a client is told this, or nothing.
  std::string operator()(fact const& told) {
    std::string const fence = std::to_string(told.fence);
    switch (told.what) {
      case fact::kind::entered: {
        auto const e = entries_.find(told.fence);
        if (e == entries_.end()) return "somebody enters without a grant, fence " + fence;
        if (e->second != told.seen) return "somebody sees stale variables, fence " + fence;
        break;
      }
      case fact::kind::has_left:
        if (executed_.count(told.fence) == 0) return "somebody has not left, fence " + fence;
        break;
      case fact::kind::has_not_left:
        if (executed_.count(told.fence) != 0) return "somebody has left, fence " + fence;
        denied_.insert(told.fence);
    }
    return "";
  }

 private:
  void fail(std::string what) {
    if (problem_.empty()) problem_ = std::move(what);
  }

  static part_map gone(part_map all, place const& p) {
    std::erase_if(all, [&p](auto const& each) {
      return p.owned.count(each.first) != 0 || p.marked.count(each.first) != 0;
    });
    return all;
  }

  // --- Each exit is executed once ---

  void check_exit(request const& r, message const& reply, std::optional<leaving> const& left) {
    if (left) {
      if (!executed_.insert(left->fence).second) fail("somebody leaves twice");
      if (denied_.count(left->fence) != 0) fail("somebody leaves who was told that it is lost");
    }
    if (r.what() != script::exit) return;
    std::uint64_t const counter = std::stoull(std::string(r[5]));
    auto const mark = std::pair(std::string(r[1]), counter);
    if (left) {
      ++tally_.exits;
      exits_.insert(mark);
    } else if (!reply.is_error()) {
      ++tally_.repeats;
      if (executed_.count(std::stoull(std::string(r[6]))) == 0)
        fail("an exit is confirmed that has not been executed");
    } else if (reply.code() == "LOST" && exits_.count(mark) != 0) {
      fail("an exit is refused that has been executed");
    }
  }

  // --- A session that was shut down owns nothing ---

  void check_cleared(std::string const& sid, snapshot const& now) {
    for (auto const& [name, p] : now.objects)
      for (auto const& [token, each] : p.owned)
        if (are_listed_ && owner_of(token) == sid) fail(token + " still owns after a shutdown");
  }

  // --- Variables are changed by those who leave, and by what is taken back when nobody is inside
  // -

  void check_variables(std::string const& name, place const& old, place const& p,
                       leaving const* left) {
    variables expected = old.variables;
    part_map before = old.all_parts();
    if (left != nullptr) {
      leave(name, *left, expected);
      before.insert(left->owned.begin(), left->owned.end());
    }
    for (auto const& [token, each] : p.all_parts())
      if (before.count(token) == 0) fail(token + " owns without an exit");
    for (auto const& [token, each] : p.owned)
      if (old.marked.count(token) != 0) fail(token + " owns again");
    bool const stays = std::any_of(old.holders.begin(), old.holders.end(),
                                   [&p](auto const& h) { return p.has(h.first, h.second.fence); });
    for (auto const& [token, each] : gone(before, p)) {
      ++tally_.taken_back;
      if (stays) fail("the part of " + token + " is taken back while somebody is inside");
      if (expected.count(each.variable) != 0) add(expected, each.variable, -each.delta);
      for (auto const& [other, w] : p.parked)
        if (w.condition == each.condition)
          fail(other + " is not notified when the part of " + token + " is taken back");
    }
    if (expected != p.variables) fail("the variables of " + name + " are not those expected");
    check_sum(name, p);
  }

  // Does to the variables what the caller asks for.
  void leave(std::string const& name, leaving const& l, variables& all) {
    auto const count = l.set.find(count_name);
    if (count != l.set.end() && std::stoll(count->second) != number_of(all, count_name) + 1)
      fail("the count of " + name + " goes on from another value than the last one");
    for (auto const& [variable, value] : l.set) all[variable] = value;
    for (auto const& [token, each] : l.owned) add(all, each.variable, each.delta);
    tally_.owned += l.owned.size();
  }

  static void add(variables& all, std::string const& name, std::int64_t delta) {
    all[name] = std::to_string(number_of(all, name) + delta);
  }

  void check_sum(std::string const& name, place const& p) {
    std::int64_t sum = 0;
    for (auto const& [token, each] : p.all_parts()) sum += each.delta;
    if (sum != number_of(p.variables, sum_name))
      fail("the parts of " + name + " have another sum than the variable");
    if (p.holders.empty() && !p.marked.empty())
      fail("nobody is inside " + name + ", and something is not taken back");
  }

  // --- All who are parked are notified by an exit that notifies all ---

  void check_notified(std::string const& name, place const& old, place const& p,
                      leaving const* left) {
    if (left == nullptr) return;
    for (auto const& each : left->notified)
      for (auto const& [token, w] : p.parked)
        if (each.is_for_all && w.condition == each.condition && old.parked.count(token) != 0)
          fail("an exit does not notify all at " + name);
  }

  std::set<std::uint64_t> executed_, denied_;              // fences
  std::map<std::uint64_t, variables> entries_;             // by fence
  std::set<std::pair<std::string, std::uint64_t>> exits_;  // sids and counters of those executed
  bool are_listed_ = true;  // nobody has deleted what lists the tokens of sessions
  monitor_tally tally_;
  std::string problem_;
};

}  // namespace redis_walk

#endif
