// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The client before servers that it refuses, and before keys that are not its own: one error, at
// once, and no other attempt.

#include "redis/support/connection.hpp"
#include "redis/support/false_server.hpp"
#include "redis/support/world.hpp"
#include "support/test.hpp"

#include <asio_sync/redis.hpp>

namespace redis_refused_test {

using namespace asio_sync::test::redis;
using redis_error = asio_sync::redis::error;

struct fixture {
  // Begins a run, and checks that it ends with this error, and all operations with it.
  // Returns the server's words.
  std::string check(config const& settings, error_code why, std::string const& about) {
    client c(pool.get_executor(), settings);
    event_log const events(c);
    async_mutex m(io, c, "x");
    ending run;
    outcome<lock_type> before, later;
    m.async_lock(before.handler());
    c.async_run(run.handler_on(io));
    BOOST_TEST_REQUIRE(soon(io, [&] { return run.calls != 0; }), about);
    BOOST_TEST(run.error == why, about + ": " + run.error.message());
    m.async_lock(later.handler());
    BOOST_TEST(soon(io, [&] { return before.calls && later.calls; }));
    BOOST_TEST((before.refused(why) && later.refused(why)), about);
    BOOST_TEST(soon(io, [&] { return events.has(event::kind::server_error); }));
    BOOST_TEST(events.find(event::kind::server_error)->error == why, about);
    BOOST_TEST(events.find(event::kind::server_error)->text != "", about);
    BOOST_TEST(events.count(event::kind::server_error) == 1, about);
    BOOST_TEST(events.count(event::kind::disconnected) == 0, about);
    BOOST_TEST(events.count(event::kind::connect_failed) == 0, about);
    return events.find(event::kind::server_error)->text;
  }

  server real;
  asio::io_context io;
  asio::thread_pool pool{1};
};

BOOST_FIXTURE_TEST_SUITE(refused_test, fixture)

BOOST_AUTO_TEST_CASE(a_real_server_that_cannot_keep_a_session_is_refused) {
  using options = std::vector<std::string>;
  auto const but = [](char const* right) {
    return options{"--user", "default", "on", "nopass", "~*", "&*", "+@all", right};
  };
  std::pair<options, redis_error> const rows[] = {
      {{"--requirepass", "secret"}, redis_error::access_denied},
      {but("-info"), redis_error::access_denied},
      {but("-evalsha"), redis_error::access_denied},
      {but("resetchannels"), redis_error::access_denied},
      {but("resetkeys"), redis_error::access_denied},
      {but("-@set"), redis_error::access_denied},
      {but("-@hash"), redis_error::access_denied},
      {{"--maxmemory-policy", "allkeys-lru"}, redis_error::evicting_policy},
      {{"--cluster-enabled", "yes"}, redis_error::unsupported_server},
      {{"--rename-command", "EVALSHA", ""}, redis_error::unsupported_server},
      {{"--rename-command", "SCRIPT", ""}, redis_error::unsupported_server},
  };
  for (auto const& [with, why] : rows) {
    server const s(with);
    check(quick(s), why, with.front() + ' ' + with.back());
  }
  config no_such = quick(real);
  no_such.database = 99;
  check(no_such, redis_error::server_error, "database 99");
  connection admin(real.socket());
  admin({"SET", "as:all", "a text"});
  check(quick(real), redis_error::server_error, "type of as:all");
  BOOST_TEST(admin({"GET", "as:all"}).text == "a text");
}

// Without one of them an operation would fail when half of it has happened.
BOOST_AUTO_TEST_CASE(a_command_that_scripts_call_and_the_server_lacks_is_named) {
  for (std::string const name : {"PUBLISH", "PUBSUB", "HSET", "ZREM", "TIME"}) {
    server const renamed({"--rename-command", name, "OTHER"});
    std::string const text = check(quick(renamed), redis_error::unsupported_server, name);
    BOOST_TEST((text.find(name) != text.npos), text);
    std::string right = name;
    std::ranges::transform(right, right.begin(), [](char c) { return static_cast<char>(c | 32); });
    server const denied({"--user", "default", "on", "nopass", "~*", "&*", "+@all", '-' + right});
    std::string const refusal = check(quick(denied), redis_error::access_denied, right);
    BOOST_TEST((refusal.find(name) != refusal.npos), refusal);
  }
}

BOOST_AUTO_TEST_CASE(a_server_is_asked_once_if_another_connection_would_be_no_better) {
  auto const unknown = [](std::string const& name) {
    return "-ERR unknown command '" + name + "'\r\n";
  };
  struct {
    std::string about, bytes;
    error_code why;
  } const rows[] = {
      {"INFO", info("6.2.7"), redis_error::unsupported_server},
      {"HELLO", unknown("HELLO"), redis_error::unsupported_server},
      {"HELLO", "-NOPROTO unsupported protocol version\r\n", redis_error::unsupported_server},
      {"open", unknown("EVALSHA"), redis_error::unsupported_server},
      {"open", "-MAXTTL the server has 9000\r\n", asio_sync::error::configuration_mismatch},
      {"HELLO", "-DENIED protected mode\r\n", redis_error::access_denied},
      {"open", "-NOPERM no permission\r\n", redis_error::access_denied},
      {"open", "-NOAUTH\r\n", redis_error::access_denied},
      {"open", "-VERSION of another time\r\n", asio_sync::error::version_mismatch},
  };
  for (auto const& [about, bytes, why] : rows) {
    false_server const s(real, lies(about, {bytes}));
    config settings = quick(real);
    settings.unix_socket = s.socket();
    check(settings, why, about + bytes);
    BOOST_TEST(s.connections() == 1);
  }
}

BOOST_AUTO_TEST_CASE(a_key_of_another_type_or_version_fails_one_operation_and_stays) {
  world w;
  connection admin(w.s.socket());
  for (std::string const part : {"m", "h", "d", "q"}) {
    std::string const key = "as:{" + part + "}:" + part;
    admin({"SET", key, "a text"});
    async_mutex m(w.io, w.c, part);
    outcome<lock_type> o;
    m.async_lock(o.handler());
    BOOST_TEST(w.soon([&] { return o.calls != 0; }));
    BOOST_TEST(o.refused(redis_error::server_error));
    BOOST_TEST(admin({"GET", key}).text == "a text");
  }
  async_mutex x(w.io, w.c, "x"), y(w.io, w.c, "y");
  lock_type const held = w.lock(x), lost = w.lock(y);
  outcome<lock_type> other, waits;
  admin({"HSET", "as:{x}:m", "v", "99"});
  x.async_lock(other.handler());
  y.async_lock(waits.handler());
  BOOST_TEST(w.soon([&] { return other.calls != 0; }));
  BOOST_TEST(other.refused(asio_sync::error::version_mismatch));
  admin({"SET", "as:{y}:m", "a text"});
  BOOST_TEST(w.soon([&] { return waits.calls != 0; }));
  BOOST_TEST(waits.refused(redis_error::server_error));
  BOOST_TEST(held.owns_lock());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_refused_test
