// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Tries and deadlines: at the gate, with a session, and without one.

#include "redis/support/world.hpp"
#include "support/test.hpp"

#include <csignal>

namespace redis_deadline_test {

using namespace asio_sync::test::redis;
using redis_error = asio_sync::redis::error;
using asio_sync::redis::async_monitor;
using asio_sync::redis::async_shared_mutex;
using shared_lock_type = async_shared_mutex::shared_lock_type;

// The value of Asio's error of that name.
error_code const asios_code(errc::timed_out, asio::error::get_system_category());
error_code const gated = redis_error::gated;
error_code const unreachable = redis_error::unreachable;

config behind_a_gate(server const& s) {
  config c = unhurried(s);
  c.gate = true;
  return c;
}

template <class Function>
error_code error_of(Function f) {
  try {
    static_cast<void>(f());
  } catch (boost::system::system_error const& e) {
    return e.code();
  }
  return {};
}

BOOST_AUTO_TEST_SUITE(deadline_test)

BOOST_AUTO_TEST_CASE(conditions_tell_what_to_do) {
  BOOST_TEST((gated == errc::resource_unavailable_try_again && gated != errc::timed_out));
  BOOST_TEST((unreachable == errc::timed_out && unreachable != gated));
  BOOST_TEST((unreachable != asios_code && asios_code == errc::timed_out));
  BOOST_TEST((error_code(redis_error::forked) != errc::timed_out));
}

BOOST_AUTO_TEST_CASE(a_try_that_meets_the_gate_does_not_say_that_somebody_holds) {
  world w(&behind_a_gate);
  async_mutex m(w.io, w.c, "x");
  async_semaphore s(w.io, w.c, "s", 2);
  async_monitor v(w.io, w.c, "v");
  outcome<lock_type> tried, zero, brief;
  outcome<semaphore_permit> permit;
  outcome<async_monitor::entry> entry;
  m.async_try_lock(tried.handler());
  m.async_lock_for(0s, zero.handler());
  m.async_lock_for(300ms, brief.handler());
  s.async_try_acquire(permit.handler());
  v.async_enter_for(0s, entry.handler());
  BOOST_TEST(w.soon([&] { return tried.calls && zero.calls && permit.calls && entry.calls; }));
  BOOST_TEST((tried.refused(gated) && zero.refused(gated)));
  BOOST_TEST((permit.refused(gated) && entry.refused(gated)));
  BOOST_TEST((error_of([&] { return m.try_lock_for(0s); }) == gated));
  BOOST_TEST((error_of([&] { return m.try_lock(); }) == gated));
  BOOST_TEST(w.soon([&] { return brief.calls != 0; }));
  BOOST_TEST((brief.refused(timed_out) && brief.error != unreachable));
  BOOST_TEST(m.waiters() == 0u);
}

BOOST_AUTO_TEST_CASE(a_try_behind_the_gate_finds_the_object_free_or_held) {
  config (*const settings)(server const&) = [](server const& s) {
    config c = behind_a_gate(s);
    c.session_ttl = c.max_session_ttl = short_life;
    return c;
  };
  world w(settings);
  async_mutex m(w.io, w.c, "x");
  lock_type const held = w.lock(m);  // the gate has opened
  BOOST_TEST(held.owns_lock());
  outcome<lock_type> tried;
  m.async_try_lock(tried.handler());
  BOOST_TEST(w.soon([&] { return tried.calls != 0; }));
  BOOST_TEST((!tried.error && !tried.guard));
}

BOOST_AUTO_TEST_CASE(a_deadline_of_a_client_that_never_ran_says_that_nobody_was_there) {
  server const s;
  asio::io_context io;
  asio::thread_pool pool(1);
  client c(pool.get_executor(), quick(s));
  async_mutex m(io, c, "x");
  async_shared_mutex r(io, c, "r");
  outcome<lock_type> tried, zero, timed;
  outcome<shared_lock_type> reader;
  m.async_try_lock(tried.handler());
  m.async_lock_for(0s, zero.handler());
  m.async_lock_until(std::chrono::steady_clock::now() + 20ms, timed.handler());
  r.async_lock_shared_for(20ms, reader.handler());
  BOOST_TEST(soon(io, [&] { return tried.calls && zero.calls && timed.calls && reader.calls; }));
  BOOST_TEST((tried.refused(unreachable) && zero.refused(unreachable)));
  BOOST_TEST((timed.refused(unreachable) && reader.refused(unreachable)));
  async_semaphore permits(io, c, "s", 2);
  BOOST_TEST((error_of([&] { return m.try_lock_for(20ms); }) == unreachable));
  BOOST_TEST((error_of([&] { return permits.try_acquire_for(20ms); }) == unreachable));
}

BOOST_AUTO_TEST_CASE(a_deadline_with_a_session_is_a_time_out) {
  world w;
  async_mutex m(w.io, w.c, "x");
  outcome<lock_type> early, late, tried;
  m.async_lock(early.handler());
  BOOST_TEST(w.soon([&] { return early.granted(); }));
  m.async_lock_for(20ms, late.handler());
  BOOST_TEST(w.soon([&] { return late.calls != 0; }));
  BOOST_TEST((late.refused(timed_out) && late.error == asios_code));
  BOOST_TEST(!m.try_lock_for(20ms));
  ::kill(w.s.id(), SIGSTOP);  // the session lives on
  m.async_try_lock(tried.handler());
  BOOST_TEST(w.soon([&] { return tried.calls != 0; }));
  BOOST_TEST((tried.refused(timed_out) && tried.error != unreachable));
  ::kill(w.s.id(), SIGCONT);
}

BOOST_AUTO_TEST_CASE(a_thread_tries_once) {
  world w;
  async_mutex m(w.io, w.c, "x");
  async_shared_mutex r(w.io, w.c, "r");
  async_semaphore s(w.io, w.c, "s", 3);
  BOOST_TEST(w.soon([&] { return w.events.has(event::kind::connected); }));
  lock_type const lock = m.try_lock();
  shared_lock_type const reader = r.try_lock_shared();
  semaphore_permit const permits = s.try_acquire(2);
  BOOST_TEST((lock.owns_lock() && reader.owns_lock() && permits.count() == 2));
  BOOST_TEST((!m.try_lock() && !r.try_lock() && r.try_lock_shared() && !s.try_acquire(2)));
  BOOST_TEST((s.try_acquire() && s.try_acquire(0).count() == 0));
  BOOST_TEST((error_of([&] { return s.try_acquire(4); }) == errc::invalid_argument));
  ::kill(w.s.id(), SIGSTOP);
  BOOST_TEST(
      (error_of([&] { return m.try_lock(); }) == asios_code));  // nobody says that it is held
  ::kill(w.s.id(), SIGCONT);
  w.c.stop();
  BOOST_TEST((error_of([&] { return m.try_lock(); }) == unreachable));
}

BOOST_AUTO_TEST_CASE(a_session_that_ends_during_the_wait_counts) {
  world w;
  async_mutex m(w.io, w.c, "x");
  lock_type const held = w.lock(m);
  outcome<lock_type> before, after;
  m.async_lock_for(150ms, before.handler());
  w.c.stop();  // ends the session at once
  m.async_lock_for(100ms, after.handler());
  BOOST_TEST(w.soon([&] { return before.calls && after.calls; }));
  BOOST_TEST((before.refused(timed_out) && before.error != unreachable));
  BOOST_TEST(after.refused(unreachable));
}

BOOST_AUTO_TEST_CASE(a_session_that_begins_during_the_wait_counts) {
  world holder;
  async_mutex theirs(holder.io, holder.c, "x");
  lock_type const held = holder.lock(theirs);
  client c(holder.pool.get_executor(), quick(holder.s));
  async_mutex m(holder.io, c, "x");
  outcome<lock_type> timed;
  m.async_lock_for(3s, timed.handler());
  ending run;
  c.async_run(run.handler_on(holder.io));
  BOOST_TEST(holder.soon([&] { return timed.calls != 0; }));
  BOOST_TEST((timed.refused(timed_out) && timed.error != unreachable));
  c.stop();
  BOOST_TEST(holder.soon([&] { return run.calls != 0; }));
}

BOOST_AUTO_TEST_CASE(a_session_that_has_lapsed_is_none) {
  world w;
  async_mutex m(w.io, w.c, "x");
  lock_type const held = w.lock(m);
  ::kill(w.s.id(), SIGSTOP);
  BOOST_TEST(w.soon([&] { return !held.owns_lock(); }));
  outcome<lock_type> timed;
  m.async_lock_for(20ms, timed.handler());
  BOOST_TEST(w.soon([&] { return timed.calls != 0; }));
  BOOST_TEST(timed.refused(unreachable));
  ::kill(w.s.id(), SIGCONT);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_deadline_test
