// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The client before servers that refuse it, that are not what they should be, and that break the
// protocol: each operation ends with one error, at once or at its own deadline.

#include "redis/support/false_server.hpp"
#include "redis/support/world.hpp"
#include "support/memory.hpp"
#include "support/test.hpp"

#include <asio_sync/redis.hpp>

namespace redis_hostile_test {

using namespace asio_sync::test::redis;
using redis_error = asio_sync::redis::error;
using manner = lie::manner;
using steady = std::chrono::steady_clock;

error_code const broken_protocol = redis_error::protocol_error;

config quick(std::string const& socket) {
  config c;
  c.unix_socket = socket;
  c.session_ttl = c.max_session_ttl = short_life;
  c.gate = false;
  return c;
}

// Returns how many connections can be made in a time: the pauses between them are half of 50 ms at
// least, then of twice as much, up to 2 s.
int most_connections(steady::duration time) {
  int n = 1;
  for (auto pause = 25ms; time > 0ms; pause = std::min(2 * pause, 1000ms)) {
    time -= pause;
    ++n;
  }
  return n;
}

// A client of a false server, with three operations: a wait with a deadline, a try, and a wait
// without a deadline.
struct victim {
  victim(asio::io_context& io, asio::thread_pool& pool, server const& real, liar l, std::string of)
      : about(std::move(of)),
        s(real, std::move(l)),
        c(pool.get_executor(), quick(s.socket())),
        events(c),
        m(io, c, "two words\r\n" + s.socket()) {
    c.async_run(run.handler_on(io));
    m.async_lock_for(800ms, timed.handler());
    m.async_try_lock(tried.handler());
    m.async_lock(waits.handler());
  }

  bool has_ended() const { return timed.calls && tried.calls; }

  // Checks what has become of it while the server lied.
  void check() const {
    BOOST_TEST(timed.refused(timed_out), about);
    BOOST_TEST(tried.refused(timed_out), about);
    BOOST_TEST(waits.calls == 0, about);
    BOOST_TEST(run.calls == 0, about);
    BOOST_TEST(s.connections() <= most_connections(steady::now() - began), about);
  }

  std::string about;
  steady::time_point began = steady::now();
  false_server s;
  ending run;
  client c;
  event_log events;
  async_mutex m;
  outcome<lock_type> timed, tried, waits;
};

// Returns the first event that tells of a connection that was lost, or could not be made.
std::optional<event> outage(event_log const& events) {
  return events.find_if([](event const& e) {
    return e.what == event::kind::connect_failed || e.what == event::kind::disconnected;
  });
}

// Clients of false servers, and a real server, which takes their places in the end.
struct fixture {
  ~fixture() {
    for (victim& v : victims) v.c.stop();
    soon([this] {
      return std::ranges::all_of(victims, [](victim const& v) { return v.run.calls != 0; });
    });
  }

  template <class Condition>
  bool soon(Condition holds, std::chrono::milliseconds limit = 20s) {
    return asio_sync::test::redis::soon(io, std::move(holds), limit);
  }

  victim& add(std::string about, liar l) {
    return victims.emplace_back(io, pool, real, std::move(l), std::move(about));
  }

  void wait_for_ends() {
    BOOST_TEST_REQUIRE(soon([this] {
      return std::ranges::all_of(victims, [](victim const& v) { return v.has_ended(); });
    }));
  }

  void turn_honest() {
    for (victim& v : victims) v.s.turn_honest();
    for (victim& v : victims) {
      BOOST_TEST(soon([&] { return v.waits.calls != 0; }), v.about);
      BOOST_TEST(v.waits.granted(), v.about);
      BOOST_TEST(v.waits.guard.fence() > 1'000'000u, v.about);
    }
  }

  server real;
  asio::io_context io;
  asio::thread_pool pool{1};
  std::list<victim> victims;
};

BOOST_FIXTURE_TEST_SUITE(hostile_test, fixture)

// --- Servers that break the protocol ---

BOOST_AUTO_TEST_CASE(a_server_that_breaks_the_protocol_is_told_by_its_error) {
  std::string const state = "*3\r\n:7\r\n:1\r\n:-1\r\n", foreign = "*3\r\n:1\r\n+e\r\n:x\r\n";
  std::string const handshake = "not belong to the handshake", answer = "not one of this command";
  std::string deep;
  for (int i = 0; i != 9; ++i) deep += "*1\r\n";
  struct {
    char const* about;
    std::string bytes, text;
  } const rows[] = {
      {"connect", "+OK\r\n", handshake},
      {"HELLO", "?", "does not begin any type"},
      {"HELLO", "+O\rK\r\n", "CR or LF in it"},
      {"HELLO", "$536870912\r\n", "more than 16 MB"},
      {"HELLO", "*2147483647\r\n", "more than 4096 elements"},
      {"HELLO", deep, "more than 8 deep"},
      {"HELLO", "+OK\r\n", handshake},
      {"INFO", ":7\r\n", handshake},
      {"SUBSCRIBE", "+OK\r\n", handshake},
      {"SCRIPT", "+OK\r\n", handshake},
      {"open", "$-7\r\n", "negative"},
      {"open", "+OK\r\n", answer},
      {"open", false_answers::opened(0), answer},
      {"open", foreign, "is not one, or out of range"},
      {"open", false_answers::opened(1) + ":1\r\n", "what was not asked"},
      {"beat", ":1\r\n", answer},
      {"beat", state, answer},
      {"beat", ">1\r\n:1\r\n", "does not begin with a string"},
      {"acquire", "$3\r\nabcd\r\n", "no CR LF"},
      {"acquire", "*1\r\n>1\r\n+x\r\n", "inside another"},
      {"acquire", "*?\r\n", "streamed"},
      {"acquire", "_\r\n", answer},
      {"acquire", "#t\r\n", answer},
      {"acquire", "*0\r\n", answer},
      {"acquire", state, answer},
  };
  for (auto const& [about, bytes, text] : rows)
    add(std::string(about) + ": " + text, lies(about, {bytes}));
  wait_for_ends();
  auto row = std::begin(rows);
  for (victim const& v : victims) {
    v.check();
    BOOST_TEST_REQUIRE(soon([&v] { return outage(v.events).has_value(); }), v.about);
    auto const lost = outage(v.events);
    BOOST_TEST(lost->error == broken_protocol, v.about);
    BOOST_TEST((lost->text.find((row++)->text) != std::string::npos), v.about + ": " + lost->text);
  }
  turn_honest();
}

BOOST_AUTO_TEST_CASE(only_a_try_may_get_nothing) {
  victim const& v = add("acquire: -1", lies("acquire", {"*3\r\n:-1\r\n:0\r\n:-1\r\n"}));
  BOOST_TEST(soon([&] { return v.timed.calls != 0; }));
  BOOST_TEST(v.timed.refused(timed_out));
  int const connections = v.s.connections();
  BOOST_TEST(connections <= most_connections(steady::now() - v.began));
  BOOST_TEST(v.s.commands() <= 21 * connections);
  BOOST_TEST_REQUIRE(v.events.has(event::kind::disconnected));
  BOOST_TEST(v.events.find(event::kind::disconnected)->error == broken_protocol);
  turn_honest();
}

BOOST_AUTO_TEST_CASE(a_length_that_is_announced_takes_no_memory) {
  asio_sync::test::heap_counter const heap(asio_sync::test::heap_counter::scope::all_threads);
  for (std::string const header :
       {"$16777000\r\n", "*4096\r\n", "$536870912\r\n", "*2147483647\r\n"})
    add(header, lies("HELLO", {header}));
  wait_for_ends();
  BOOST_TEST(heap.bytes() < 64'000'000u);
  for (victim const& v : victims) v.check();
  turn_honest();
}

BOOST_AUTO_TEST_CASE(an_answer_without_an_end_is_read_up_to_16_megabytes) {
  std::string const much(100'000, 'x');
  victim const& line = add("line", lies("HELLO", {"+" + much, manner::for_ever}));
  victim const& pushes = add("pushes", lies("acquire", {">1\r\n+x\r\n", manner::for_ever}));
  wait_for_ends();
  line.check();
  pushes.check();
  BOOST_TEST(soon([&] { return line.events.has(event::kind::connect_failed); }, 60s));
  auto const lost = line.events.find(event::kind::connect_failed);
  BOOST_TEST(lost->error == broken_protocol);
  BOOST_TEST(lost->text == "attempt 1: a message has more than 16 MB");
  BOOST_TEST(line.s.longest() > 16'000'000u);
  BOOST_TEST(line.s.longest() < 18'000'000u);
  BOOST_TEST(soon([&] { return pushes.events.has(event::kind::session_lost); }));
  turn_honest();
}

BOOST_AUTO_TEST_CASE(an_unlocking_that_is_answered_in_another_way_waits_for_another_server) {
  server const there;
  false_server s(there, lies("release", {"+OK\r\n"}));
  auto const began = steady::now();
  client c(pool.get_executor(), quick(s.socket()));
  event_log const events(c);
  ending run, unlocked;
  c.async_run(run.handler_on(io));
  async_mutex m(io, c, "x");
  outcome<lock_type> held;
  m.async_lock(held.handler());
  BOOST_TEST_REQUIRE(soon([&] { return held.granted(); }));
  held.guard.async_unlock(unlocked.handler());
  BOOST_TEST(!soon([&] { return unlocked.calls != 0; }, 500ms));
  BOOST_TEST_REQUIRE(events.has(event::kind::disconnected));
  BOOST_TEST(events.find(event::kind::disconnected)->error == broken_protocol);
  BOOST_TEST(s.connections() <= most_connections(steady::now() - began));
  s.turn_honest();
  BOOST_TEST(soon([&] { return unlocked.calls != 0; }));
  BOOST_TEST(unlocked.is(lease_lost));
  c.stop();
  BOOST_TEST(soon([&] { return run.calls != 0; }));
}

// --- Servers that are away ---

BOOST_AUTO_TEST_CASE(a_server_that_is_silent_closes_or_is_in_trouble_is_an_outage) {
  lie const silence{""}, closing{"", manner::at_once, true}, last{{}, manner::at_once, true};
  std::pair<std::string, lie> const rows[] = {
      {"", silence},
      {"open", silence},
      {"connect", closing},
      {"HELLO", closing},
      {"SCRIPT", last},
      {"open", closing},
      {"open", last},
      {"acquire", closing},
      {"beat", closing},
      {"beat", last},
      {"INFO", {"$9\r\nred", manner::at_once, true}},
      {"HELLO", {"-LOADING\r\n"}},
      {"open", {"-BUSY\r\n"}},
      {"open", {"-STALE\r\n"}},
      {"beat", {"-EPOCH\r\n"}},
      {"acquire", {"-NOSCRIPT\r\n"}},
      {"beat", {"-ERR something\r\n"}},
  };
  for (auto const& [about, told] : rows)
    add(about + (told.closes ? " closes" : " fails"), lies(about, told));
  wait_for_ends();
  for (victim const& v : victims) {
    v.check();
    BOOST_TEST_REQUIRE(
        soon([&v] { return outage(v.events) || v.events.has(event::kind::session_lost); }),
        v.about);
    bool const is_lost = v.events.has(event::kind::session_lost);
    auto const outage = redis_hostile_test::outage(v.events);
    if (!is_lost) BOOST_TEST(outage->error, v.about);
    if (!is_lost) BOOST_TEST(outage->error != broken_protocol, v.about);
  }
  turn_honest();
}

BOOST_AUTO_TEST_CASE(answers_that_come_byte_by_byte_are_answers) {
  victim const& v = add("truth", lies({}, {{}, manner::byte_by_byte}));
  BOOST_TEST(soon([&] { return v.waits.calls && v.has_ended(); }));
  for (auto const* each : {&v.timed, &v.tried, &v.waits}) BOOST_TEST(each->granted());
  BOOST_TEST(v.s.connections() == 1);
}

BOOST_AUTO_TEST_CASE(a_server_that_is_not_there_is_waited_for) {
  server later;
  later.kill();
  config here = quick(later.socket()), nowhere = here;
  nowhere.unix_socket.clear();
  nowhere.port = "1";
  for (config const& settings : {here, nowhere}) {
    client c(pool.get_executor(), settings);
    event_log const events(c);
    ending run;
    c.async_run(run.handler_on(io));
    async_mutex m(io, c, "x");
    outcome<lock_type> timed, tried, waits;
    m.async_lock_for(300ms, timed.handler());
    m.async_try_lock(tried.handler());
    m.async_lock(waits.handler());
    BOOST_TEST(soon([&] { return timed.calls && tried.calls; }));
    BOOST_TEST((timed.refused(timed_out) && tried.refused(timed_out) && waits.calls == 0));
    BOOST_TEST(events.has(event::kind::connect_failed));
    BOOST_TEST(!events.has(event::kind::disconnected));
    if (later.id() == -1 && !settings.unix_socket.empty()) later.start();
    if (!settings.unix_socket.empty()) BOOST_TEST(soon([&] { return waits.granted(); }));
    c.stop();
    BOOST_TEST(soon([&] { return run.is(aborted); }));
  }
}

BOOST_AUTO_TEST_CASE(a_client_stops_and_goes_at_any_moment) {
  liar const liars[] = {lies({}, {}), lies({}, {""}), lies("open", {"", manner::at_once, true}),
                        lies("HELLO", {"+xxxxxxxx", manner::for_ever}), lies("acquire", {"?"})};
  for (liar const& l : liars)
    for (auto const delay : {0ms, 3ms, 20ms, 80ms})
      for (bool const stops : {true, false}) {
        false_server const s(real, l);
        auto c = std::make_unique<client>(pool.get_executor(), quick(s.socket()));
        async_mutex m(io, *c, "x");
        ending run;
        outcome<lock_type> waits;
        c->async_run(run.handler_on(io));
        m.async_lock(waits.handler());
        BOOST_TEST(!soon([] { return false; }, delay));
        if (stops) {
          c->stop();
          BOOST_TEST(soon([&] { return run.calls != 0; }));
        }
        c.reset();
        BOOST_TEST(soon([&] { return run.calls && waits.calls; }));
        BOOST_TEST(run.is(aborted));
        BOOST_TEST((waits.refused(aborted) || (!waits.error && !waits.guard.owns_lock())));
      }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_hostile_test
