// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_REDIS_SUPPORT_FIXTURE_HPP
#define ASIO_SYNC_TEST_REDIS_SUPPORT_FIXTURE_HPP

#include "redis/support/caller.hpp"
#include "redis/support/server.hpp"
#include "support/test.hpp"

namespace asio_sync::test::redis {

/// Returns the server that the cases of a program share; it ends with the program.
inline server& shared_server() {
  static server one;
  return one;
}

/// Returns the rights that doc/redis-protocol.md asks for. The program runs in the project's
/// folder.
inline std::vector<std::string> documented_rights() {
  std::ifstream file("doc/redis-protocol.md");
  BOOST_REQUIRE_MESSAGE(file.is_open(), "there is no doc/redis-protocol.md in this folder");
  std::string line, rights, right;
  while (std::getline(file, line) && line.find("ACL SETUSER") == line.npos) continue;
  while (std::getline(file, line) && line != "```") rights += line + ' ';
  std::istringstream in(rights);
  std::vector<std::string> all;
  while (in >> right) all.push_back(right);
  return all;
}

/// Three callers with a session each and the documented rights, on a server without data.
struct callers {
  callers() {
    admin({"CONFIG", "SET", "maxmemory", "0"});
    admin({"FLUSHALL"});
    std::vector<std::string> user{"ACL", "SETUSER", "locks", "reset", "on", ">secret"};
    for (std::string const& right : documented_rights()) user.push_back(right);
    if (auto const answer = admin(user); answer.is_error()) throw std::runtime_error(answer.text);
    for (caller* each : {&a, &b, &c})
      each->link({"HELLO", "3", "AUTH", "locks", "secret", "SETNAME", "test"});
    a.open();
    b.open();
    c.open();
  }

  ~callers() {
    for (std::string const& key : keys("as:{*}:[mhdqc]")) check(key.substr(0, key.rfind(':') + 1));
  }

  /// Makes the data that of an earlier run of the server.
  void run_anew() { admin({"SET", "as:run", "another -"}); }

  /// Checks that m agrees with h, d, q and c, and that a token is in one place alone. Leaves out
  /// an object with more waiters than a message may have elements.
  void check(std::string const& object) {
    if (admin({"HLEN", object + "d"}).number > 1000) return;
    std::vector<message> parts;
    for (caller::command const& command :
         {caller::command{"HMGET", object + "m", "used", "n", "cap", "c", "o"},
          {"HGETALL", object + "h"},
          {"HGETALL", object + "d"},
          {"ZRANGE", object + "q", "0", "-1", "WITHSCORES"},
          {"ZRANGE", object + "c", "0", "-1"}}) {
      parts.push_back(admin(command));
      if (parts.back().is_error()) return;  // the case has put another type there
    }
    auto const& [m, h, d, q] = std::tie(parts[0], parts[1], parts[2], parts[3]);
    std::map<std::string, std::string> waiters, parked;
    std::int64_t used = 0, owned = 0;
    for (std::size_t i = 0; i < d.elements.size(); i += 2) {
      std::string const& record = d.elements[i + 1].text;
      bool const is_parked = record.find(" - c") != record.npos ||
                             record.find(" S c") != record.npos ||
                             record.find(" B c") != record.npos;
      (is_parked ? parked : waiters)[d.elements[i].text] = record;
    }
    for (message const& member : parts[4].elements)
      BOOST_TEST(parked.count(member.text.substr(member.text.size() - token_size(member.text))));
    for (std::size_t i = 0; i < h.elements.size(); i += 2) {
      used += std::stoll(h.elements[i + 1].text);
      owned += h.elements[i + 1].text.starts_with("0 ");
      BOOST_TEST(waiters.count(h.elements[i].text) == 0);
    }
    for (message const& pair : q.elements)
      BOOST_TEST(waiters.count(pair.elements.at(0).text) == 1);
    BOOST_TEST_CONTEXT(object) {
      BOOST_TEST(m.elements[0].text == std::to_string(used));
      BOOST_TEST(m.elements[1].text == std::to_string(waiters.size()));
      BOOST_TEST(q.elements.size() == waiters.size());
      BOOST_TEST((m.elements[3].text.empty() ? "0" : m.elements[3].text) ==
                 std::to_string(parked.size()));
      BOOST_TEST(parts[4].elements.size() == parked.size());
      BOOST_TEST((m.elements[4].text.empty() ? "0" : m.elements[4].text) == std::to_string(owned));
      BOOST_TEST(used + owned + std::int64_t(waiters.size() + parked.size()) > 0);
      BOOST_TEST((used == 0 || used <= std::stoll(m.elements[2].text)));
    }
  }

  /// Returns the size of the token at the end of a member of c.
  static std::size_t token_size(std::string const& member) {
    return member.size() - 3 - std::stoul(member.substr(0, 3)) - 16;
  }

  std::vector<std::string> keys(std::string const& pattern) {
    std::vector<std::string> names;
    for (message const& name : admin({"KEYS", pattern}).elements) names.push_back(name.text);
    return names;
  }

  connection admin{shared_server().socket()};
  caller a{shared_server().socket(), 'a'};
  caller b{shared_server().socket(), 'b'};
  caller c{shared_server().socket(), 'c'};
};

inline bool is_state(message const& m, std::int64_t state) {
  return (m.elements.size() == 3 || m.elements.size() == 4) && m.elements[0].number == state;
}
inline bool granted(message const& m) {
  return is_state(m, 1) && m.elements[1].number > 1'000'000'000'000'000;
}
inline bool queued(message const& m) {
  return is_state(m, 0) && m.elements[1].number > 1'000'000'000'000'000;
}
inline bool parked(message const& m) {
  return is_state(m, 2) && m.elements[1].number > 1'000'000'000'000'000;
}
inline bool unknown(message const& m) { return is_state(m, -1); }
inline std::int64_t number(message const& m) { return m.elements.at(1).number; }
/// Returns the variables of a monitor that is granted, as the scripts write them.
inline std::string variables(message const& m) { return m.elements.at(3).text; }
inline std::int64_t hint(message const& m) { return m.elements.at(2).number; }

}  // namespace asio_sync::test::redis

#endif
