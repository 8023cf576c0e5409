// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The client over real servers: how it begins and ends, what it refuses, and what becomes of locks
// and waits when the server, the client or a context goes.

#include "redis/support/connection.hpp"
#include "redis/support/world.hpp"
#include "support/memory.hpp"
#include "support/test.hpp"

#include <asio_sync/async_mutex.hpp>
#include <asio_sync/detail/context/context_ends.hpp>
#include <asio_sync/redis.hpp>

#include <csignal>
#include <ranges>

#include <sys/wait.h>
#include <unistd.h>

namespace redis_client_test {

using namespace asio_sync::test::redis;
using redis_error = asio_sync::redis::error;

// The error that making something throws.
template <class Function>
error_code error_of(Function f, std::string* text = nullptr) {
  try {
    f();
  } catch (boost::system::system_error const& e) {
    if (text) *text = e.what();
    return e.code();
  }
  return {};
}

BOOST_AUTO_TEST_SUITE(client_test)

// --- The configuration ---

BOOST_AUTO_TEST_CASE(a_configuration_that_breaks_its_rules_is_refused) {
  std::pair<char const*, std::function<void(config&)>> const faults[] = {
      {"session_ttl", [](config& c) { c.session_ttl = 499ms; }},
      {"max_session_ttl", [](config& c) { c.session_ttl = 6001ms; }},
      {"max_session_ttl", [](config& c) { c.max_session_ttl = 25h; }},
      {"max_hold", [](config& c) { c.max_hold = -1ms; }},
      {"max_hold", [](config& c) { c.max_hold = std::chrono::milliseconds::max(); }},
      {"command_timeout", [](config& c) { c.command_timeout = 0ms; }},
      {"command_timeout", [](config& c) { c.command_timeout = 1501ms; }},
      {"margin", [](config& c) { c.margin = 0ms; }},
      {"margin", [](config& c) { c.margin = 3001ms; }},
      {"name", [](config& c) { c.name = "two words"; }},
      {"name", [](config& c) { c.name = "line\n"; }},
      {"prefix", [](config& c) { c.prefix = "{as}"; }},
      {"host", [](config& c) { c.host = ""; }},
      {"host", [](config& c) { c.port = ""; }},
      {"host", [](config& c) { c.host = std::string(256, 'x'); }},
      {"unix_socket", [](config& c) { c.unix_socket = std::string(108, 'x'); }},
      {"database", [](config& c) { c.database = -1; }},
  };
  asio::io_context io;
  for (auto const& [rule, spoil] : faults) {
    config c;
    spoil(c);
    std::string text;
    error_code const e = error_of([&] { client const made(io.get_executor(), c); }, &text);
    BOOST_TEST(e == make_error_code(errc::invalid_argument), rule);
    BOOST_TEST(text.find("asio_sync::redis::client::client: ") == 0u, text);
    BOOST_TEST(text.find(rule) != std::string::npos, text);
  }
  config c;
  c.command_timeout = 1500ms;
  c.margin = 3000ms;
  BOOST_TEST(!error_of([&] { client const made(io.get_executor(), c); }));
}

BOOST_AUTO_TEST_CASE(names_have_1_to_512_bytes_and_no_braces) {
  asio::io_context io;
  client c(io.get_executor());
  error_code const invalid = make_error_code(errc::invalid_argument);
  for (std::string const& name :
       {std::string(), std::string(513, 'x'), std::string("{x"), std::string("x}")}) {
    BOOST_TEST(error_of([&] { async_mutex const m(io, c, name); }) == invalid);
    BOOST_TEST(error_of([&] { async_semaphore const s(io, c, name, 1); }) == invalid);
  }
  BOOST_TEST(!error_of([&] { async_mutex const m(io, c, std::string("\0 \xff", 3)); }));
  for (std::ptrdiff_t const permits :
       {std::ptrdiff_t(0), std::ptrdiff_t(-1), async_semaphore::max_permits + 1})
    BOOST_TEST(error_of([&] { async_semaphore const s(io, c, "x", permits); }) == invalid);
}

// --- Runs ---

BOOST_AUTO_TEST_CASE(a_run_ends_by_stop_and_can_be_begun_again) {
  world w;
  async_mutex m(w.io, w.c, "x");
  lock_type held = w.lock(m);
  ending lost, second;
  held.async_wait_lost(lost.handler());
  asio::cancellation_signal cancel;
  w.c.async_run(
      asio::bind_cancellation_slot(cancel.slot(), asio::bind_executor(w.io, second.handler())));
  cancel.emit(asio::cancellation_type::terminal);  // does not stop the first
  BOOST_TEST(w.soon([&] { return second.calls != 0; }));
  BOOST_TEST(second.is(not_permitted));
  BOOST_TEST(held.owns_lock());
  std::promise<void> go_on;
  asio::post(w.pool, [&] { go_on.get_future().wait(); });
  w.c.stop();
  BOOST_TEST(!held.owns_lock());  // although the client's executor is busy
  go_on.set_value();
  BOOST_TEST(w.soon([&] { return w.run.calls != 0; }));
  BOOST_TEST(w.run.is(aborted));
  BOOST_TEST(w.soon([&] { return lost.calls != 0; }));
  BOOST_TEST(lost.is(error_code()));

  outcome<lock_type> waits;
  m.async_lock(waits.handler());
  BOOST_TEST(!w.soon([&] { return waits.calls != 0; }, 100ms));
  w.run = {};
  w.c.async_run(w.run.handler_on(w.io));
  BOOST_TEST(w.soon([&] { return waits.calls != 0; }));  // once the server has freed the first
  BOOST_TEST(waits.granted());
}

BOOST_AUTO_TEST_CASE(the_slot_of_a_run_stops_it) {
  server const s;
  asio::io_context io;
  client c(io.get_executor(), quick(s));
  async_mutex m(io, c, "x");
  asio::cancellation_signal cancel;
  ending run;
  outcome<lock_type> o;
  c.async_run(asio::bind_cancellation_slot(cancel.slot(), run.handler()));
  m.async_lock(o.handler());
  BOOST_TEST(soon(io, [&] { return o.calls != 0; }));
  cancel.emit(asio::cancellation_type::terminal);
  BOOST_TEST(run.calls == 0);
  BOOST_TEST(soon(io, [&] { return run.calls != 0; }));
  BOOST_TEST(run.is(aborted));
  BOOST_TEST(!o.guard.owns_lock());
  io.restart();
  io.run();  // nothing is left that keeps it
}

BOOST_AUTO_TEST_CASE(a_shutdown_gives_everything_back_and_ends_the_run_without_an_error) {
  world w, other;
  config const there = quick(w.s);
  client b(other.pool.get_executor(), there);
  ending run_b, lost, down, again;
  b.async_run(asio::bind_executor(w.io, run_b.handler()));
  async_mutex m(w.io, w.c, "x"), free(w.io, w.c, "y"), theirs(w.io, b, "x");
  lock_type held = w.lock(m);
  outcome<lock_type> next, behind, late;
  theirs.async_lock(next.handler());
  BOOST_TEST(!w.soon([&] { return next.calls != 0; }, 50ms));
  m.async_lock(behind.handler());
  held.async_wait_lost(lost.handler());
  auto const begin = std::chrono::steady_clock::now();
  asio::post(w.pool, [&] {  // the client's thread: it goes on behind this
    w.c.async_shutdown(asio::bind_executor(w.io, down.handler()));
    w.c.async_shutdown(asio::bind_executor(w.io, again.handler()));
    free.async_lock(late.handler());
  });
  BOOST_TEST(w.soon([&] { return down.calls && again.calls && w.run.calls && next.calls; }));
  BOOST_TEST((std::chrono::steady_clock::now() - begin < short_life * 2 / 3));
  BOOST_TEST((down.is(error_code()) && again.is(error_code()) && w.run.is(error_code())));
  BOOST_TEST(next.granted());
  BOOST_TEST(!held.owns_lock());
  BOOST_TEST(w.soon([&] { return late.calls && behind.calls && lost.calls; }));
  BOOST_TEST(late.refused(aborted));
  BOOST_TEST(behind.refused(aborted));
  BOOST_TEST(lost.is(error_code()));
  BOOST_TEST(m.waiters() == 0u);
  down = {};
  w.c.async_shutdown(asio::bind_executor(w.io, down.handler()));
  BOOST_TEST(w.soon([&] { return down.calls != 0; }));
  BOOST_TEST(down.is(error_code()));

  next.guard = {};
  w.run = {};
  w.c.async_run(w.run.handler_on(w.io));
  BOOST_TEST(w.lock(m).owns_lock());
  b.stop();
  BOOST_TEST(w.soon([&] { return run_b.calls != 0; }));
}

BOOST_AUTO_TEST_CASE(a_deferred_run_can_be_launched_once) {
  world w;
  async_mutex m(w.io, w.c, "x");
  lock_type const held = w.lock(m);
  auto const down = w.c.async_shutdown(asio::deferred);
  auto const up = w.c.async_run(asio::deferred);
  ending first, second, run, again;
  down(asio::bind_executor(w.io, first.handler()));
  BOOST_TEST(w.soon([&] { return first.calls && w.run.calls; }));
  BOOST_TEST(first.is(error_code()));
  up(asio::bind_executor(w.io, run.handler()));
  down(asio::bind_executor(w.io, second.handler()));
  BOOST_TEST(w.soon([&] { return second.calls != 0; }));
  BOOST_TEST(second.is(not_permitted));
  BOOST_TEST(w.lock(m).owns_lock());
  w.c.stop();
  BOOST_TEST(w.soon([&] { return run.calls != 0; }));
  up(asio::bind_executor(w.io, again.handler()));
  BOOST_TEST(w.soon([&] { return again.calls != 0; }));
  BOOST_TEST(again.is(not_permitted));
}

BOOST_AUTO_TEST_CASE(a_run_that_no_thread_has_begun_ends_with_its_context) {
  asio::io_context here;
  auto own = std::make_unique<asio::io_context>();
  client c(own->get_executor());
  ending run, down;
  c.async_run(asio::bind_executor(here, run.handler()));
  c.async_shutdown(asio::bind_executor(here, down.handler()));
  own.reset();
  BOOST_TEST(soon(here, [&] { return run.calls && down.calls; }));
  BOOST_TEST(run.is(aborted));
  BOOST_TEST(down.is(aborted));
}

BOOST_AUTO_TEST_CASE(R13_a_run_without_memory_has_not_begun) {
  server const s;
  asio::io_context io;
  client c(io.get_executor(), quick(s));
  ending failed, run;
  for (std::size_t n = 0;; ++n) {
    try {
      asio_sync::test::failing_heap const heap(n);
      c.async_run(failed.handler());
      break;
    } catch (std::bad_alloc const&) {
    }
    BOOST_TEST_REQUIRE(n < 100u);
  }
  c.async_run(run.handler());
  BOOST_TEST(soon(io, [&] { return run.calls != 0; }));
  BOOST_TEST(run.is(not_permitted));
  BOOST_TEST(failed.calls == 0);
  c.stop();
  BOOST_TEST(soon(io, [&] { return failed.calls != 0; }));
}

BOOST_AUTO_TEST_CASE(a_listener_that_is_replaced_is_not_called_any_more) {
  server const s({"--maxmemory", "100mb"});
  asio::io_context io;
  config settings = quick(s);
  settings.gate = true;  // so that there are two events at once
  client c(io.get_executor(), settings);
  int calls = 0;
  c.on_event([&](event const&) {
    ++calls;
    c.on_event(nullptr);
  });
  ending run;
  c.async_run(run.handler());
  BOOST_TEST(soon(io, [&] { return calls != 0; }));
  BOOST_TEST(!soon(
      io, [&] { return calls > 1; }, 100ms));
  c.stop();
  BOOST_TEST(soon(io, [&] { return run.calls != 0; }));
}

BOOST_AUTO_TEST_CASE(a_shutdown_whose_server_is_away_ends_with_the_session) {
  world w;
  async_mutex m(w.io, w.c, "x");
  lock_type const held = w.lock(m);
  ::kill(w.s.id(), SIGSTOP);
  ending down;
  w.c.async_shutdown(asio::bind_executor(w.io, down.handler()));
  BOOST_TEST(w.soon([&] { return down.calls != 0; }, 3s));
  BOOST_TEST(down.is(timed_out));
  BOOST_TEST(w.soon([&] { return w.run.calls != 0; }));
  BOOST_TEST(w.run.is(error_code()));
  ::kill(w.s.id(), SIGCONT);
}

// --- Errors ---

BOOST_AUTO_TEST_CASE(a_final_error_ends_the_run_and_all_operations_until_the_next_one) {
  server const s({"--requirepass", "secret"});
  asio::io_context io;
  config settings = quick(s);
  settings.password = "wrong";
  client c(io.get_executor(), settings);
  async_mutex m(io, c, "x");
  error_code const denied = redis_error::access_denied;
  for (int round = 0; round < 2; ++round) {
    outcome<lock_type> before, later;
    ending run;
    if (round == 0) m.async_lock(before.handler());
    c.async_run(run.handler());
    BOOST_TEST(soon(io, [&] { return run.calls != 0; }));
    BOOST_TEST(run.is(denied));
    m.async_lock(later.handler());
    BOOST_TEST(soon(io, [&] { return later.calls != 0; }));
    BOOST_TEST(later.refused(denied));
    if (round == 0) BOOST_TEST(before.refused(denied));
  }
  event_log const events(c);
  ending run;
  c.async_run(run.handler());
  BOOST_TEST(soon(io, [&] { return events.has(event::kind::server_error); }));
  BOOST_TEST(events.find(event::kind::server_error)->error == denied);
  auto const blocked = std::async(std::launch::async, [&] {
    std::string text;
    error_code const e = error_of([&] { static_cast<void>(m.lock()); }, &text);
    BOOST_TEST(
        text.starts_with("asio_sync::redis::async_mutex::lock: \"x\": the server denies access"));
    return e;
  });
  blocked.wait();
  BOOST_TEST(const_cast<std::future<error_code>&>(blocked).get() == denied);
}

BOOST_AUTO_TEST_CASE(an_object_is_refused_that_others_use_in_another_way) {
  world w;
  asio_sync::test::redis::connection admin(w.s.socket());
  async_mutex m(w.io, w.c, "x"), text(w.io, w.c, "text");
  async_semaphore two(w.io, w.c, "y", 2), three(w.io, w.c, "y", 3), as_mutex(w.io, w.c, "x", 1);
  lock_type const held = w.lock(m);
  outcome<semaphore_permit> permit, wrong_size, wrong_kind;
  two.async_acquire(permit.handler());
  BOOST_TEST(w.soon([&] { return permit.calls != 0; }));
  three.async_acquire(wrong_size.handler());
  as_mutex.async_acquire(wrong_kind.handler());
  outcome<lock_type> wrong_type;
  admin({"SET", "as:{text}:m", "a text"});
  text.async_lock(wrong_type.handler());
  BOOST_TEST(w.soon([&] { return wrong_size.calls && wrong_kind.calls && wrong_type.calls; }));
  BOOST_TEST(wrong_size.refused(asio_sync::error::configuration_mismatch));
  BOOST_TEST(wrong_kind.refused(asio_sync::error::kind_mismatch));
  BOOST_TEST(wrong_type.refused(redis_error::server_error));
  BOOST_TEST(admin({"GET", "as:{text}:m"}).text == "a text");
  BOOST_TEST(held.owns_lock());
  BOOST_TEST(permit.granted());
  BOOST_TEST(w.soon([&] { return w.events.has(event::kind::server_error); }));
}

BOOST_AUTO_TEST_CASE(another_longest_life_ends_the_run) {
  world w;
  BOOST_TEST(w.soon([&] { return w.events.has(event::kind::connected); }));
  config settings = quick(w.s);
  settings.max_session_ttl = 2s;
  client b(w.pool.get_executor(), settings);
  ending run;
  b.async_run(asio::bind_executor(w.io, run.handler()));
  BOOST_TEST(w.soon([&] { return run.calls != 0; }));
  BOOST_TEST(run.is(asio_sync::error::configuration_mismatch));
}

BOOST_AUTO_TEST_CASE(connections_that_do_not_last_are_made_less_and_less_often) {
  world w;
  asio_sync::test::redis::connection admin(w.s.socket());
  std::ptrdiff_t killed = 0;
  auto const end = std::chrono::steady_clock::now() + 2s;
  while (std::chrono::steady_clock::now() < end) {
    if (w.events.count(event::kind::connected) == killed) {
      std::this_thread::sleep_for(1ms);
      continue;
    }
    admin({"CLIENT", "KILL", "TYPE", "pubsub"});
    ++killed;
  }
  BOOST_TEST(killed > 1);
  BOOST_TEST(killed < 15);  // 40, if each pause was as short as the first one
}

// --- Losses ---

BOOST_AUTO_TEST_CASE(a_holder_hears_of_its_loss_before_anybody_else_can_hold) {
  world w;
  async_mutex m(w.io, w.c, "x");
  lock_type held = w.lock(m);
  auto const until = held.expires_at();
  BOOST_TEST((until > std::chrono::steady_clock::now() + 300ms));
  ending lost, unlocked;
  outcome<lock_type> behind;
  held.async_wait_lost(lost.handler());
  m.async_lock(behind.handler());
  ::kill(w.s.id(), SIGSTOP);
  BOOST_TEST(w.soon([&] { return lost.calls != 0; }, 3s));
  BOOST_TEST(lost.is(error_code()));
  BOOST_TEST(!held.owns_lock());
  BOOST_TEST(held.fence() == 0u);
  BOOST_TEST((held.expires_at() == std::chrono::steady_clock::time_point::min()));
  BOOST_TEST(held.mutex() == &m);
  BOOST_TEST(behind.calls == 0);
  held.async_unlock(unlocked.handler());
  BOOST_TEST(w.soon([&] { return unlocked.calls != 0; }));
  BOOST_TEST(unlocked.is(lease_lost));
  ::kill(w.s.id(), SIGCONT);
  BOOST_TEST(w.soon([&] { return behind.calls != 0; }));
  BOOST_TEST(behind.granted());
  BOOST_TEST(w.events.has(event::kind::session_lost));
}

BOOST_AUTO_TEST_CASE(a_server_that_starts_again_has_lost_all_holds_and_serves_the_waits) {
  world w;
  async_mutex m(w.io, w.c, "x");
  lock_type held = w.lock(m);
  outcome<lock_type> behind[2];
  for (auto& each : behind) m.async_lock(each.handler());
  BOOST_TEST(m.waiters() == 2u);
  w.s.kill();
  BOOST_TEST(!w.soon([&] { return behind[0].calls != 0; }, 100ms));
  w.s.start();
  BOOST_TEST(w.soon([&] { return behind[0].calls != 0; }));
  BOOST_TEST(behind[0].granted());
  BOOST_TEST(!held.owns_lock());
  BOOST_TEST(behind[1].calls == 0);
  BOOST_TEST(w.soon([&] { return w.events.has(event::kind::data_lost); }));
  std::uint64_t const first = behind[0].guard.fence();
  held.unlock();  // of what is lost: nothing happens
  behind[0].guard.unlock();
  BOOST_TEST(w.soon([&] { return behind[1].calls != 0; }));
  BOOST_TEST(behind[1].guard.fence() > first);
}

BOOST_AUTO_TEST_CASE(what_is_held_for_too_long_is_taken_away) {
  world w([](server const& s) {
    config c = quick(s);
    c.max_hold = 500ms;
    return c;
  });
  async_mutex m(w.io, w.c, "too long");
  lock_type held = w.lock(m);
  ending lost;
  outcome<lock_type> behind;
  held.async_wait_lost(lost.handler());
  m.async_lock(behind.handler());
  BOOST_TEST(w.soon([&] { return lost.calls && behind.calls; }, 3s));
  BOOST_TEST(lost.is(error_code()));
  BOOST_TEST(behind.granted());
  BOOST_TEST(!held.owns_lock());
  BOOST_TEST(w.soon([&] { return w.events.has(event::kind::held_too_long); }));
  BOOST_TEST(w.events.find(event::kind::held_too_long)->text == "too long");
  ending unlocked;
  held.async_unlock(unlocked.handler());
  BOOST_TEST(w.soon([&] { return unlocked.calls != 0; }));
  BOOST_TEST(unlocked.is(lease_lost));
}

BOOST_AUTO_TEST_CASE(a_loop_that_is_blocked_for_a_life_loses_before_it_hears_anything_else) {
  server const s;
  asio::io_context io;  // of the client, too
  client c(io.get_executor(), quick(s));
  event_log const events(c);
  ending run;
  c.async_run(run.handler());
  async_mutex m(io, c, "x"), other(io, c, "y");
  outcome<lock_type> o, unlocked;
  ending lost, before;
  m.async_lock(o.handler());
  other.async_lock(unlocked.handler());
  BOOST_TEST(soon(io, [&] { return o.calls && unlocked.calls; }));
  BOOST_TEST(o.guard.owns_lock());
  unlocked.guard.async_wait_lost(before.handler());
  std::this_thread::sleep_for(short_life);
  BOOST_TEST(!o.guard.owns_lock());
  unlocked.guard.unlock();  // what is lost already
  BOOST_TEST(soon(io, [&] { return before.calls != 0; }));
  BOOST_TEST(before.is(error_code()));
  o.guard.async_wait_lost(lost.handler());
  BOOST_TEST(soon(io, [&] { return lost.calls != 0; }));
  BOOST_TEST(lost.is(error_code()));
  BOOST_TEST(soon(io, [&] { return events.has(event::kind::session_lost); }));
  c.stop();
  BOOST_TEST(soon(io, [&] { return run.calls != 0; }));
}

// --- Ends ---

BOOST_AUTO_TEST_CASE(a_client_ends_before_its_primitives_and_guards) {
  server const s;
  asio::io_context io;
  asio::thread_pool pool(1);
  auto c = std::make_unique<client>(pool.get_executor(), quick(s));
  ending run, lost;
  c->async_run(asio::bind_executor(io, run.handler()));
  async_mutex m(io, *c, "x");
  outcome<lock_type> held, behind, later;
  m.async_lock(held.handler());
  BOOST_TEST(soon(io, [&] { return held.calls != 0; }));
  held.guard.async_wait_lost(lost.handler());
  m.async_lock(behind.handler());
  c.reset();
  BOOST_TEST(!held.guard.owns_lock());
  m.async_lock(later.handler());
  BOOST_TEST(soon(io, [&] { return behind.calls && later.calls && lost.calls && run.calls; }));
  BOOST_TEST(behind.refused(aborted));
  BOOST_TEST(later.refused(aborted));
  BOOST_TEST(run.is(aborted));
  BOOST_TEST(lost.is(error_code()));
  BOOST_TEST(held.guard.mutex() == &m);
  held.guard.unlock();
  BOOST_TEST(held.guard.mutex() == nullptr);
}

BOOST_AUTO_TEST_CASE(operations_begin_after_their_contexts_have_ended) {
  server const s;
  asio::io_context here;
  auto own = std::make_unique<asio::io_context>(), io = std::make_unique<asio::io_context>();
  client c(own->get_executor(), quick(s));
  c.async_run([](error_code) {});
  async_mutex m(*io, c, "x");
  outcome<lock_type> held;
  m.async_lock(asio::bind_executor(*own, held.handler()));
  BOOST_TEST_REQUIRE(soon(*own, [&] { return held.calls != 0; }));
  ending lost[2], unlocked, run, down;
  held.guard.async_wait_lost(asio::bind_executor(here, lost[0].handler()));
  io.reset();
  held.guard.async_wait_lost(asio::bind_executor(here, lost[1].handler()));
  held.guard.async_unlock(asio::bind_executor(here, unlocked.handler()));
  BOOST_TEST(soon(*own, [&] {
    here.restart();
    here.poll();
    return unlocked.calls != 0;
  }));
  own.reset();
  c.async_run(asio::bind_executor(here, run.handler()));
  c.async_shutdown(asio::bind_executor(here, down.handler()));
  BOOST_TEST(soon(here, [&] {
    return lost[0].calls && lost[1].calls && unlocked.calls && run.calls && down.calls;
  }));
  for (ending const& each : lost) BOOST_TEST(each.is(aborted));
  BOOST_TEST(unlocked.is(error_code()));
  BOOST_TEST(run.is(aborted));
  BOOST_TEST(down.is(error_code()));
}

// The parts of a program in each order of their ends: the client's context, the user's, the
// client, the mutex, the guard. A wait is outstanding.
BOOST_AUTO_TEST_CASE(everything_ends_in_every_order) {
  server const s;
  std::array<int, 5> order = {0, 1, 2, 3, 4};
  do {
    auto own = std::make_unique<asio::io_context>(), io = std::make_unique<asio::io_context>();
    auto c = std::make_unique<client>(own->get_executor(), quick(s));
    int ends = 0;
    c->async_run([&](error_code) { ++ends; });
    auto m = std::make_unique<async_mutex>(*io, *c, "x");
    lock_type held;
    m->async_lock([&](error_code, lock_type l) { held = std::move(l); });
    auto const give_up = std::chrono::steady_clock::now() + 20s;
    while (!held && std::chrono::steady_clock::now() < give_up) {
      own->run_one_for(1ms);
      io->poll();
      io->restart();
      own->restart();
    }
    BOOST_TEST_REQUIRE(held.owns_lock());
    ending lost;
    outcome<lock_type> waits;
    m->async_lock(waits.handler());
    held.async_wait_lost(lost.handler());
    own->poll();
    for (int const step : order) {
      if (step == 0) own.reset();
      if (step == 1) io.reset();
      if (step == 2) c.reset();
      if (step == 3) m.reset();
      if (step == 4) held = {};
      for (asio::io_context* each : {own.get(), io.get()}) {
        if (!each) continue;
        each->restart();
        each->poll();
      }
    }
    BOOST_TEST(waits.calls <= 1);
    asio_sync::test::redis::connection({s.socket()})({"FLUSHALL"});
  } while (std::ranges::next_permutation(order).found);
}

BOOST_AUTO_TEST_CASE(a_child_of_a_fork_sends_nothing_and_is_told_so) {
  world w;
  async_mutex m(w.io, w.c, "x");
  lock_type held = w.lock(m);
  auto until_lost = held.async_wait_lost(asio::deferred);
  ::pid_t const child = ::fork();
  if (child == 0) {
    asio::io_context io;
    int told = 0;
    auto const tell = [&] {
      return asio::bind_executor(io, [&](error_code e, auto const&... guards) {
        told += e == error_code(redis_error::forked) && (!guards && ...);
      });
    };
    m.async_lock(tell());
    held.async_wait_lost(tell());
    std::move(until_lost)(tell());
    held.async_unlock(tell());
    w.c.async_run(tell());
    io.run_for(20s);
    bool const right = told == 5 && !held.owns_lock();
    ::_exit(right ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  BOOST_TEST((WIFEXITED(status) && WEXITSTATUS(status) == 0));
  BOOST_TEST(held.owns_lock());
  held.unlock();
  BOOST_TEST(w.lock(m).owns_lock());
}

using asio_sync::detail::context_ends;

void end_a_context() {
  auto io = std::make_unique<asio::io_context>();
  asio_sync::async_mutex const local(*io);
  io.reset();
}

BOOST_AUTO_TEST_CASE(R10_a_context_does_not_end_while_a_client_decides_waits) {
  world const w;
  std::promise<void> begun;
  std::atomic<bool> is_over = false;
  std::thread other([&] {
    context_ends::held_off const meanwhile;
    begun.set_value();
    std::this_thread::sleep_for(100ms);
    is_over = true;
  });
  begun.get_future().wait();
  end_a_context();
  BOOST_TEST(is_over);
  other.join();
}

// Ends a context on another thread, waits for that, and posts.
struct waiting_executor {
  explicit waiting_executor(asio::io_context& io) : inner(io.get_executor()) {}
  asio::execution_context& query(asio::execution::context_t) const noexcept {
    return inner.context();
  }
  static constexpr asio::execution::blocking_t query(asio::execution::blocking_t) noexcept {
    return asio::execution::blocking.never;
  }
  template <class Function>
  void execute(Function&& f) const {
    std::thread(end_a_context).join();
    asio::require(inner, asio::execution::blocking.never).execute(static_cast<Function&&>(f));
  }
  bool operator==(waiting_executor const&) const noexcept = default;

  asio::io_context::executor_type inner;
};

BOOST_AUTO_TEST_CASE(an_executor_may_wait_for_the_end_of_a_context) {
  world w;
  async_mutex m(w.io, w.c, "x");
  outcome<lock_type> o;
  ending lost;
  m.async_lock(asio::bind_executor(waiting_executor(w.io), o.handler()));
  BOOST_TEST_REQUIRE(w.soon([&] { return o.calls != 0; }));
  o.guard.async_wait_lost(asio::bind_executor(waiting_executor(w.io), lost.handler()));
  w.c.stop();
  BOOST_TEST(w.soon([&] { return lost.calls != 0; }));
}

BOOST_AUTO_TEST_CASE(R10_a_context_can_end_while_grants_are_on_their_way) {
  world w;
  async_mutex holder(w.io, w.c, "x");
  asio::io_context other;
  for (int i = 0; i != 300; ++i) {
    lock_type held = w.lock(holder);
    auto io = std::make_unique<asio::io_context>();
    auto m = std::make_unique<async_mutex>(*io, w.c, "x");
    auto foreign = std::make_unique<async_mutex>(other, w.c, "x");
    m->async_lock([](error_code, lock_type) {});
    foreign->async_lock(asio::bind_executor(*io, [](error_code, lock_type) {}));
    held.async_unlock(asio::bind_executor(*io, [](error_code) {}));
    auto const until = std::chrono::steady_clock::now() + std::chrono::microseconds(10 * (i % 50));
    while (std::chrono::steady_clock::now() < until) io->poll_one();
    if (i % 3 == 0) m.reset();
    if (i % 2 == 0) foreign.reset();
    io.reset();
  }
  BOOST_TEST(w.lock(holder).owns_lock());
}

BOOST_AUTO_TEST_CASE(a_child_of_a_fork_does_not_wait_for_threads_of_its_parent) {
  world const w;
  std::promise<void> begun, over;
  std::thread other([&] {
    context_ends::held_off const meanwhile;
    begun.set_value();
    over.get_future().wait();
  });
  begun.get_future().wait();
  ::pid_t const child = ::fork();
  if (child == 0) {
    ::alarm(10);
    end_a_context();
    ::_exit(0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  over.set_value();
  other.join();
  BOOST_TEST((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}

BOOST_AUTO_TEST_CASE(a_child_that_runs_the_context_of_the_client_leaves_the_connection_alone) {
  server const s;
  asio::io_context io;
  auto settings = quick(s);
  settings.session_ttl = settings.max_session_ttl = 6s;
  client c(io.get_executor(), settings);
  event_log const events(c);
  ending run;
  c.async_run(run.handler());
  async_mutex m(io, c, "x"), other(io, c, "y");
  outcome<lock_type> held, asked;
  m.async_lock(held.handler());
  BOOST_TEST_REQUIRE(soon(io, [&] { return held.calls != 0; }));
  asio_sync::test::redis::connection({s.socket()})({"CLIENT", "PAUSE", "200"});
  other.async_lock(asked.handler());
  io.poll();  // sends it: the answer comes while the child alone is there to read it
  io.notify_fork(asio::io_context::fork_prepare);
  ::pid_t const child = ::fork();
  if (child == 0) {
    io.notify_fork(asio::io_context::fork_child);
    io.restart();
    io.run_for(600ms);
    ::_exit(0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  io.notify_fork(asio::io_context::fork_parent);
  BOOST_TEST((WIFEXITED(status) && WEXITSTATUS(status) == 0));
  BOOST_TEST(soon(io, [&] { return asked.calls != 0; }));
  BOOST_TEST((held.guard.owns_lock() && asked.guard.owns_lock()));
  BOOST_TEST(!events.has(event::kind::disconnected));
  c.stop();
  BOOST_TEST(soon(io, [&] { return run.calls != 0; }));
}

// --- Threads ---

// A context ends, so that the client cannot end its waits; meanwhile the time of one is up. The
// thread that has noticed waits until that context has ended, and another one calls the handler.
BOOST_AUTO_TEST_CASE(a_wait_whose_time_is_up_decides_no_other_while_the_client_ends) {
  asio::io_context io, never_run;
  outcome<lock_type> patient, hasty;
  bool was_up = false;
  std::promise<void> begun, is_up;
  auto c = std::make_unique<client>(never_run.get_executor());
  async_mutex m(io, *c, "x");
  m.async_lock_for(1h, patient.handler());
  m.async_lock_for(300ms, [&, set = hasty.handler()](error_code e, lock_type l) {
    set(e, std::move(l));
    is_up.set_value();
  });
  std::thread end([&] {
    context_ends::single_end const alone;
    begun.set_value();
    was_up = is_up.get_future().wait_for(20s) == std::future_status::ready;
  });
  begun.get_future().wait();
  std::thread runner([&] { io.run(); }), other([&] { io.run(); });
  c.reset();
  end.join();
  runner.join();
  other.join();
  BOOST_TEST(was_up);
  BOOST_TEST(hasty.refused(timed_out));
  BOOST_TEST(patient.refused(asio::error::operation_aborted));
}

// --- Executors ---

BOOST_AUTO_TEST_CASE(a_client_works_on_every_executor) {
  server const s;
  asio::io_context io;
  asio::thread_pool many(4);
  std::vector<asio::any_io_executor> const executors = {
      many.get_executor(), asio::make_strand(many), asio::make_strand(many.get_executor()),
      asio::any_io_executor(asio::make_strand(asio::any_io_executor(many.get_executor())))};
  for (asio::any_io_executor const& ex : executors) {
    client c(ex, quick(s));
    ending run;
    c.async_run(asio::bind_executor(io, run.handler()));
    async_mutex m(io, c, "x");
    std::vector<outcome<lock_type>> all(50);
    for (auto& each : all)
      m.async_lock([&](error_code e, lock_type l) {
        ++each.calls;
        each.error = e;
        each.guard = std::move(l);
        each.guard.unlock();
      });
    BOOST_TEST(soon(io, [&] { return all.back().calls != 0; }));
    c.stop();
    BOOST_TEST(soon(io, [&] { return run.calls != 0; }));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_client_test
