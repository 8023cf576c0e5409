// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_REDIS_WALK_SNAPSHOT_HPP
#define ASIO_SYNC_TEST_REDIS_WALK_SNAPSHOT_HPP

#include "redis/support/connection.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace redis_walk {

using asio_sync::test::redis::message;
using std::chrono::milliseconds;

inline std::string owner_of(std::string const& token) { return token.substr(0, token.find(':')); }
inline std::string client_of(std::string const& sid) { return sid.substr(0, sid.find('.')); }

struct holder {
  std::uint64_t weight = 0, fence = 0;
  std::string carries{};  // the condition whose notification it has, or nothing
};

struct waiter {
  std::uint64_t weight = 0, ticket = 0;
  char skip = '-';
  std::string carries{};
  std::string condition{};  // that it waits on, if it is parked
};

// A part of a variable that a token owns.
struct part {
  std::string variable;
  std::int64_t delta = 0;
  std::string condition;
};
using part_map = std::map<std::string, part>;  // by token

// An object as the server has it.
struct place {
  std::string epoch;  // empty if there is no m
  std::uint64_t capacity = 0, used = 0, waits = 0, parks = 0, owns = 0;
  std::map<std::string, holder> holders;
  std::map<std::string, waiter> waiters, parked;
  part_map owned, marked;  // marked: the token has ended, and its part is not taken back yet
  std::map<std::string, std::string> variables;
  std::map<std::string, std::uint64_t> queue;
  std::set<std::string> members;  // of c

  bool is_empty() const {
    return holders.empty() && waiters.empty() && parked.empty() && queue.empty() &&
           members.empty() && owned.empty() && marked.empty();
  }

  // True if the token holds with this fence.
  bool has(std::string const& token, std::uint64_t fence) const {
    auto const h = holders.find(token);
    return h != holders.end() && h->second.fence == fence;
  }

  // Returns the condition whose notification a token carries, or nothing.
  std::string carried_by(std::string const& token) const {
    if (auto const h = holders.find(token); h != holders.end()) return h->second.carries;
    if (auto const w = waiters.find(token); w != waiters.end()) return w->second.carries;
    return "";
  }

  // Returns what is to be taken back now or later.
  part_map all_parts() const {
    part_map all = owned;
    all.insert(marked.begin(), marked.end());
    return all;
  }
};

struct session_life {
  milliseconds until{0}, ttl{0};
};

// Everything that the server has.
struct snapshot {
  std::string epoch;
  std::size_t listed = 0;  // sessions in as:all
  bool gate = false;
  std::map<std::string, session_life> sessions;
  std::map<std::string, place> objects;

  snapshot() = default;

  // Reads what lua::after answers.
  snapshot(message const& m, std::vector<std::string> const& names)
      : epoch(m.elements.at(1).text), listed(std::size_t(m.elements.at(2).number)) {
    auto const& life = m.elements.at(3).elements;
    for (std::size_t i = 0; i != life.size(); i += 3) {
      if (life[i + 2].text.empty()) continue;
      if (life[i].text == "as:gate")
        gate = true;
      else
        sessions[life[i].text.substr(5)] = {milliseconds(std::stoll(life[i + 1].text)),
                                            ttl_of(life[i + 2].text)};
    }
    for (std::size_t i = 0; i != names.size(); ++i)
      objects[names[i]] = read(m.elements.at(4 + i).elements);
  }

  bool is_alive(std::string const& sid) const { return sessions.count(sid) != 0; }

 private:
  static milliseconds ttl_of(std::string const& session) {
    std::size_t const second = session.find('|', session.find('|') + 1);
    return milliseconds(std::stoll(session.substr(second + 1)));
  }

  static place read(std::vector<message> const& parts) {
    place p;
    auto const& m = parts.at(0).elements;
    p.epoch = m.at(0).text;
    if (!p.epoch.empty()) {
      p.capacity = std::stoull(m.at(1).text);
      p.used = std::stoull(m.at(2).text);
      p.waits = std::stoull(m.at(3).text);
      p.parks = m.at(4).text.empty() ? 0 : std::stoull(m.at(4).text);
      p.owns = m.at(5).text.empty() ? 0 : std::stoull(m.at(5).text);
    }
    each_pair(parts.at(1), [&p](std::string const& token, std::string const& text) {
      auto const words = split(text);
      if (words.at(0) == "0") {
        p.owned[token] = read_part(text.substr(text.find('o') + 1));
        return;
      }
      p.holders[token] = {std::stoull(words.at(0)), std::stoull(words.at(1)), behind(words, 'n')};
    });
    each_pair(parts.at(2), [&p](std::string const& token, std::string const& text) {
      auto const words = split(text);
      waiter const w{std::stoull(words.at(0)), std::stoull(words.at(1)), words.at(2).at(0),
                     behind(words, 'n'), behind(words, 'c')};
      (w.condition.empty() ? p.waiters : p.parked)[token] = w;
    });
    each_pair(parts.at(3), [&p](std::string const& token, std::string const& ticket) {
      p.queue[token] = std::stoull(ticket);
    });
    for (message const& member : parts.at(4).elements) p.members.insert(member.text);
    each_pair(parts.at(5), [&p](std::string const& token, std::string const& text) {
      p.marked[token] = read_part(text);
    });
    each_pair(parts.at(6), [&p](std::string const& name, std::string const& value) {
      p.variables[name] = value;
    });
    return p;
  }

  // Reads "<size>:<variable><delta> <condition>".
  static part read_part(std::string const& text) {
    std::size_t const at = text.find(':') + 1, size = std::stoull(text);
    std::size_t const blank = text.find(' ', at + size);
    return {text.substr(at, size), std::stoll(text.substr(at + size)), text.substr(blank + 1)};
  }

  // The walk's conditions have no spaces.
  static std::vector<std::string> split(std::string const& record) {
    std::istringstream in(record);
    return {std::istream_iterator<std::string>(in), {}};
  }

  // Returns the condition behind a letter, or nothing.
  static std::string behind(std::vector<std::string> const& words, char letter) {
    return words.size() > 3 && words[3][0] == letter ? words[3].substr(1) : "";
  }

  template <class Function>
  static void each_pair(message const& m, Function f) {
    for (std::size_t i = 0; i != m.elements.size(); i += 2)
      f(m.elements[i].text, m.elements[i + 1].text);
  }
};

}  // namespace redis_walk

#endif
