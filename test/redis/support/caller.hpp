// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_REDIS_SUPPORT_CALLER_HPP
#define ASIO_SYNC_TEST_REDIS_SUPPORT_CALLER_HPP

#include "support/test.hpp"

#include <asio_sync/redis/detail/scripts/all.hpp>

#include "redis/support/connection.hpp"

namespace asio_sync::test::redis {

namespace scripts = asio_sync::redis::detail::scripts;

/// The arguments of `acquire` after the object and the counter.
struct acquisition {
  std::string kind = "mutex", version = "1";
  std::int64_t capacity = 1, weight = 1;
  bool attempt = false;  // "try"
  std::int64_t ticket = 0;
};

/// A session that calls the scripts one by one, as doc/redis-protocol.md lists their arguments.
class caller {
 public:
  using command = std::vector<std::string>;
  using group = std::pair<std::string, std::vector<int>>;

  caller(std::string const& socket, char letter) : link(socket), id_(32, letter) {
    for (scripts::script const& each : scripts::all)
      digests_[std::string(each.name)] = link({"SCRIPT", "LOAD", scripts::text(each)}).text;
    link.subscribe(channel());
  }

  std::string sid() const { return id_ + "." + std::to_string(incarnation); }
  std::string token(int counter) const { return sid() + ":" + std::to_string(counter); }
  std::string channel() const { return prefix + "ch:" + id_; }
  std::string session() const { return prefix + "s:" + sid(); }

  message call(std::string_view script, command arguments) {
    return link(compose(script, std::move(arguments)));
  }
  command compose(std::string_view script, command arguments) const {
    command all{"EVALSHA", digests_.at(std::string(script)), "0", prefix, sid()};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return all;
  }

  message open(std::string const& old = "") { return opening("new", old); }
  message resume() { return opening("resume", ""); }

  message beat(std::vector<group> const& groups = {}, command const& read = {}) {
    command arguments{std::to_string(gen), epoch, std::to_string(greatest), std::to_string(ttl),
                      std::to_string(read.size())};
    arguments.insert(arguments.end(), read.begin(), read.end());
    for (auto const& [object, counters] : groups) {
      arguments.insert(arguments.end(), {object, std::to_string(counters.size())});
      for (int const counter : counters) arguments.push_back(std::to_string(counter));
    }
    return call("beat", arguments);
  }

  command acquiring(std::string const& object, int counter, acquisition const& how = {}) const {
    return compose("acquire",
                   {std::to_string(gen), epoch, object, std::to_string(counter), how.kind,
                    how.version, std::to_string(how.capacity), std::to_string(how.weight),
                    how.attempt ? "1" : "0", std::to_string(how.ticket)});
  }
  message acquire(std::string const& object, int counter, acquisition const& how = {}) {
    return link(acquiring(object, counter, how));
  }

  message release(std::string const& object, int counter, bool passes_on = false) {
    return call("release", {object, std::to_string(counter), passes_on ? "1" : "0"});
  }
  message forget(std::string const& object, int counter) {
    return call("forget", {object, std::to_string(counter)});
  }
  message forget(std::string const& object, int counter, int other, bool passes_on = false) {
    return call("forget",
                {object, std::to_string(counter), std::to_string(other), passes_on ? "1" : "0"});
  }

  /// Has a token wait on a condition, and gives back what `old` holds with the fence.
  message cond_wait(std::string const& object, int counter, int old, std::int64_t fence,
                    std::string const& condition, bool recalled = false, bool passes_on = false,
                    command const& operations = {}) {
    command arguments{std::to_string(gen),
                      epoch,
                      object,
                      std::to_string(counter),
                      std::to_string(old),
                      std::to_string(fence),
                      condition,
                      recalled ? "1" : "0",
                      passes_on ? "1" : "0"};
    arguments.insert(arguments.end(), operations.begin(), operations.end());
    return call("cond_wait", arguments);
  }
  /// Leaves a monitor.
  message exit(std::string const& object, int counter, std::int64_t fence,
               command const& operations = {}, bool passes_on = false) {
    command arguments{
        std::to_string(gen),  epoch, object, std::to_string(counter), std::to_string(fence),
        passes_on ? "1" : "0"};
    arguments.insert(arguments.end(), operations.begin(), operations.end());
    return call("exit", arguments);
  }
  message unwait(std::string const& object, int counter) {
    return call("unwait", {std::to_string(gen), epoch, object, std::to_string(counter)});
  }
  message notify_one(std::string const& object, std::string const& condition) {
    return call("signal", {object, std::to_string(++signals), condition, "1"});
  }
  message notify_all(std::string const& object, std::string const& condition) {
    return call("signal", {object, std::to_string(++signals), condition, "0"});
  }

  message inspect(std::string const& object) { return call("inspect", {object}); }
  message force(std::string const& object, std::int64_t fence) {
    return call("force", {object, std::to_string(fence)});
  }
  message shutdown() { return call("shutdown", {}); }

  /// Ends the session as its time to live does.
  void die() { link({"DEL", session()}); }
  /// Makes the session one that has missed a beat.
  void freeze() { link({"PEXPIRE", session(), std::to_string(ttl / 2 - 1000)}); }

  connection link;
  std::string prefix = "as:", name = "test", epoch;
  std::int64_t greatest = 0;  // ticket or fence that it has seen
  int incarnation = 1, gen = 1, ttl = 60000, max_ttl = 60000, signals = 0;
  bool gate = false;

 private:
  message opening(std::string const& mode, std::string const& old) {
    message answer =
        call("open", {std::to_string(gen), epoch, std::to_string(greatest), std::to_string(ttl),
                      std::to_string(max_ttl), gate ? "1" : "0", name, mode, old});
    if (!answer.is_error() && mode == "new") epoch = answer.elements.at(1).text;
    return answer;
  }

  std::string id_;
  std::map<std::string, std::string> digests_;
};

}  // namespace asio_sync::test::redis

#endif
