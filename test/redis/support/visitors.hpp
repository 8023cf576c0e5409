// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_REDIS_SUPPORT_VISITORS_HPP
#define ASIO_SYNC_TEST_REDIS_SUPPORT_VISITORS_HPP

#include "redis/support/fixture.hpp"
#include "support/test.hpp"

namespace asio_sync::test::redis {

/// Reads variables as the scripts write them.
inline std::map<std::string, std::string> parsed(std::string const& text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t const colon = text.find(':', at), size = std::stoul(text.substr(at, colon - at));
    parts.push_back(text.substr(colon + 1, size));
    at = colon + 1 + size;
  }
  std::map<std::string, std::string> all;
  for (std::size_t i = 0; i + 1 < parts.size(); i += 2) all[parts[i]] = parts[i + 1];
  return all;
}

/// Callers that enter the monitor x.
struct visitors : callers {
  message enter(caller& of, int counter) { return of.acquire("x", counter, {.kind = "monitor"}); }

  message state(caller& of, int counter) { return of.beat({{"x", {counter}}}); }
  bool holds(caller& of, int counter) { return is_state(state(of, counter), 1); }
  bool waits(caller& of, int counter) { return is_state(state(of, counter), 0); }
  bool is_parked(caller& of, int counter) { return is_state(state(of, counter), 2); }

  std::int64_t inside(caller& of, int counter) {
    auto const entered = enter(of, counter);
    BOOST_TEST_REQUIRE(granted(entered));
    return number(entered);
  }

  message leave(caller& of, int counter, caller::command const& operations = {}) {
    return of.exit("x", counter, number(state(of, counter)), operations);
  }

  /// Enters, and leaves with these operations.
  message visit(caller& of, caller::command const& operations) {
    auto const fence = inside(of, ++visits);
    return of.exit("x", visits, fence, operations);
  }

  void park(caller& of, int counter, std::string const& condition = "k") {
    auto const fence = inside(of, ++visits);
    BOOST_TEST_REQUIRE(parked(of.cond_wait("x", counter, visits, fence, condition)));
  }

  std::string variable(std::string const& name) { return admin({"HGET", "as:{x}:v", name}).text; }
  std::string mark(caller& of, std::string const& field) {
    return admin({"HGET", "as:o:" + of.sid(), field}).text;
  }

  void sweep(caller& by) {
    for (int i = 0; i < 40; ++i) by.beat();
  }

  void start_again() {
    callers::admin({"FLUSHALL"});
    for (caller* each : {&a, &b, &c}) each->open();
  }

  /// Ends all sessions, which leave nothing but the variables.
  void end_all() {
    for (caller* each : {&a, &b, &c})
      while (each->shutdown().number == 1) continue;
    for (std::string const& key : keys("*"))
      BOOST_TEST((key == "as:{x}:v" || key == "as:epoch" || key == "as:run" || key == "as:f"),
                 key);
  }

  int visits = 1000;
};

}  // namespace asio_sync::test::redis

#endif
