// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// A client whose network loses and delays: a relay drops its bytes, stalls them, cuts connections,
// and delivers bytes of an old connection late. Another client reaches the server directly.

#include "redis/support/relay.hpp"
#include "redis/support/relayed_world.hpp"
#include "redis/support/world.hpp"
#include "support/test.hpp"

#include <asio_sync/redis.hpp>
#include <asio_sync/redis/detail/scripts/all.hpp>

namespace redis_relay_test {

using namespace asio_sync::test::redis;
using flow = relay::flow;

constexpr relay::way to_server = relay::to_server, to_client = relay::to_client;

constexpr auto long_life = 6s;         // of a session that must not lapse
constexpr auto short_timeout = 200ms;  // after which its client gives a silent connection up
constexpr auto wide_margin = 700ms;    // between a loss and the next grant, for busy machines

constexpr char const* stale = "-STALE a newer connection speaks for this session";

// A lock that waits behind another client's, and what has become of that one when it is granted.
struct successor {
  successor(relayed_world& w, lock_type& before) {
    before.async_wait_lost(lost.handler());
    w.direct.async_lock([this, &before](error_code e, lock_type l) {
      BOOST_TEST(!before.owns_lock());
      BOOST_TEST(lost.is(error_code()));
      taken.handler()(e, std::move(l));
    });
  }

  ending lost;
  outcome<lock_type> taken;
};

// Somebody who empties another database all the time.
class emptying {
 public:
  explicit emptying(server const& s)
      : thread_([this, &s] {
          connection other(s.socket());
          other({"SELECT", "1"});
          while (!ends_) {
            other({"FLUSHDB"});
            std::this_thread::sleep_for(5ms);
          }
        }) {}
  ~emptying() {
    ends_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

BOOST_AUTO_TEST_SUITE(relay_test)

// --- Late bytes ---

BOOST_AUTO_TEST_CASE(bytes_that_come_late_on_their_own_connection_count) {
  for (relay::way const way : {to_server, to_client}) {
    relayed_world w(long_life);
    outcome<lock_type> o;
    w.r.set(way, flow::hold);
    w.m.async_lock(o.handler());
    BOOST_TEST_REQUIRE(
        w.soon([&] { return w.r.has_come(way, way == to_server ? "\r\nx\r\n" : "\r\n:"); }));
    BOOST_TEST(w.holders() == (way == to_client));
    BOOST_TEST(o.calls == 0);
    w.r.set(way, flow::pass);
    w.expect_granted(o);
    BOOST_TEST(!w.events.has(event::kind::disconnected));
    w.unlock_last(std::move(o.guard));
  }
}

BOOST_AUTO_TEST_CASE(a_late_acquire_makes_no_second_hold) {
  for (bool const is_released : {false, true}) {
    relayed_world w(long_life);
    async_semaphore three(w.io, w.c, "y", 3), direct_three(w.io, w.direct_c, "y", 3);
    outcome<semaphore_permit> o, all;
    w.r.set(to_server, flow::hold);
    three.async_acquire(2, o.handler());
    w.wait_for(scripts::acquire);
    w.r.cut(false);
    w.expect_granted(o);
    if (!is_released) {
      w.deliver(stale);
      BOOST_TEST(w.used("y") == "2");
      BOOST_TEST(bool(o.guard));
    }
    o.guard.release();
    w.expect_nothing_left();
    if (is_released) w.deliver(stale);
    w.expect_nothing_left();
    direct_three.async_acquire(3, all.handler());
    w.expect_granted(all);
    BOOST_TEST(w.used("y") == "3");
  }
}

BOOST_AUTO_TEST_CASE(a_late_release_takes_no_later_hold_away) {
  for (bool const is_direct : {false, true}) {
    relayed_world w(long_life);
    lock_type held = w.lock(w.m);
    ending unlocked;
    w.r.set(to_server, flow::hold);
    held.async_unlock(unlocked.handler());
    w.wait_for(scripts::release);
    w.r.cut(false);
    w.expect_success(unlocked);
    lock_type later = w.lock(is_direct ? w.direct : w.m);
    w.deliver(":-1");
    BOOST_TEST(later.owns_lock());
    BOOST_TEST(w.fence() == later.fence());
    BOOST_TEST(w.used("x") == "1");
    w.unlock_last(std::move(later));
  }
}

BOOST_AUTO_TEST_CASE(a_late_beat_extends_nothing) {
  constexpr auto life = 2 * short_life;
  relayed_world w(life);
  lock_type held = w.lock(w.m);
  std::string const session = w.session();
  w.r.set(to_server, flow::hold);
  w.wait_for(scripts::beat);
  w.r.cut(false);
  w.wait_for(event::kind::connected, 2);
  w.r.set(to_server, flow::hold);
  BOOST_TEST(w.soon([&] { return w.life_left(session) < life - 200ms; }));
  w.deliver(stale);
  BOOST_TEST((w.life_left(session) < life - 200ms));
  w.r.set(to_server, flow::pass);
  held = {};
  w.expect_nothing_left();
}

BOOST_AUTO_TEST_CASE(a_late_shutdown_leaves_the_next_run_alone) {
  relayed_world w(long_life);
  lock_type const held = w.lock(w.m);
  ending down;
  w.r.set(to_server, flow::hold);
  w.c.async_shutdown(down.handler_on(w.io));
  w.wait_for(scripts::shutdown);
  w.r.cut(false);
  w.expect_success(down);
  w.expect_success(w.run);
  w.begin();
  lock_type later = w.lock(w.m);
  w.deliver(":0");
  BOOST_TEST(later.owns_lock());
  BOOST_TEST(w.fence() == later.fence());
  BOOST_TEST((w.life_left(w.session()) > 0ms));
  w.unlock_last(std::move(later));
}

// --- Lost answers and pushes ---

BOOST_AUTO_TEST_CASE(a_grant_whose_answer_is_lost_is_told_by_the_next_connection) {
  relayed_world w(long_life);
  outcome<lock_type> o, attempt, behind;
  w.r.set(to_client, flow::drop);
  w.m.async_lock(o.handler());
  BOOST_TEST_REQUIRE(w.soon([&] { return w.holders() == 1; }));
  std::uint64_t const fence = w.fence();
  w.direct.async_try_lock(attempt.handler());
  w.direct.async_lock(behind.handler());
  BOOST_TEST_REQUIRE(w.soon([&] { return attempt.calls != 0; }));
  BOOST_TEST((!attempt.error && !attempt.guard));
  BOOST_TEST(o.calls == 0);
  w.r.cut();
  w.expect_granted(o);
  BOOST_TEST(o.guard.fence() == fence);
  BOOST_TEST(w.fence() == fence);
  BOOST_TEST(w.used("x") == "1");
  BOOST_TEST(behind.calls == 0);
  w.unlock(std::move(o.guard));
  w.expect_granted(behind);
  BOOST_TEST(behind.guard.fence() > fence);
  w.unlock_last(std::move(behind.guard));
}

BOOST_AUTO_TEST_CASE(a_grant_whose_push_is_lost_is_told_by_a_beat) {
  for (bool const is_cut : {true, false}) {
    relayed_world w;
    lock_type held = w.lock(w.direct);
    outcome<lock_type> o;
    w.m.async_lock(o.handler());
    w.wait_for_waiters(1);
    w.r.set(to_client, flow::drop);
    held.unlock();
    BOOST_TEST_REQUIRE(w.soon([&] { return w.r.has_come(to_client, "\r\nG "); }));
    BOOST_TEST(o.calls == 0);
    is_cut ? w.r.cut() : w.r.set(to_client, flow::pass);
    w.expect_granted(o);
    BOOST_TEST(w.fence() == o.guard.fence());
    w.unlock_last(std::move(o.guard));
  }
}

BOOST_AUTO_TEST_CASE(an_unlocking_whose_answer_is_lost_succeeds) {
  relayed_world w(long_life);
  lock_type held = w.lock(w.m);
  outcome<lock_type> behind;
  w.direct.async_lock(behind.handler());
  w.wait_for_waiters(1);
  w.r.set(to_client, flow::drop);
  ending unlocked;
  held.async_unlock(unlocked.handler());
  w.expect_granted(behind);
  BOOST_TEST(unlocked.calls == 0);
  w.r.cut();
  w.expect_success(unlocked);
  BOOST_TEST(w.fence() == behind.guard.fence());
  w.unlock_last(std::move(behind.guard));
}

// --- Silence ---

BOOST_AUTO_TEST_CASE(a_hold_survives_a_black_hole_after_a_resume) {
  relayed_world w(long_life, short_timeout);
  lock_type held = w.lock(w.m);
  outcome<lock_type> behind;
  w.direct.async_lock(behind.handler());
  w.r.drop_after("\r\nresume\r\n");
  w.r.cut();
  w.wait_for(event::kind::connected, 2);
  w.set(flow::drop);
  w.wait_for(event::kind::disconnected, 2);
  w.set(flow::pass);
  w.wait_for(event::kind::connected, 3);
  BOOST_TEST(held.owns_lock());
  BOOST_TEST(held.fence() == w.fence());
  BOOST_TEST(behind.calls == 0);
  w.unlock(std::move(held));
  w.expect_granted(behind);
  w.unlock_last(std::move(behind.guard));
}

// The resume comes late in the session's life, which it does not extend.
BOOST_AUTO_TEST_CASE(a_holder_in_a_black_hole_after_a_resume_knows_before_the_next_one_holds) {
  constexpr auto life = 2 * short_life;
  relayed_world w(life, {}, wide_margin);
  lock_type held = w.lock(w.m);
  successor next(w, held);
  std::string const session = w.session();
  w.r.refuses = true;
  w.r.drop_after("\r\nresume\r\n");
  w.r.cut();
  BOOST_TEST(w.soon([&] { return w.life_left(session) < life - wide_margin - 100ms; }));
  w.r.refuses = false;
  w.wait_for(event::kind::connected, 2);
  w.set(flow::drop);
  w.expect_granted(next.taken);
  next.taken.guard.unlock();
  w.expect_nothing_left();
}

BOOST_AUTO_TEST_CASE(a_hold_survives_a_connection_of_one_direction) {
  for (relay::way const dead : {to_server, to_client}) {
    relayed_world w(long_life, short_timeout);
    lock_type held = w.lock(w.m);
    outcome<lock_type> behind;
    w.r.set(dead, flow::drop);
    w.m.async_lock(behind.handler());
    w.wait_for(event::kind::disconnected, 1);
    w.r.set(dead, flow::pass);
    w.wait_for(event::kind::connected, 2);
    w.wait_for_waiters(1);
    BOOST_TEST(held.owns_lock());
    BOOST_TEST(held.fence() == w.fence());
    w.unlock(std::move(held));
    w.expect_granted(behind);
    BOOST_TEST(w.fence() == behind.guard.fence());
    w.unlock_last(std::move(behind.guard));
  }
}

BOOST_AUTO_TEST_CASE(a_holder_with_one_direction_alone_knows_before_the_next_one_holds) {
  for (relay::way const dead : {to_server, to_client}) {
    relayed_world w(short_life, {}, wide_margin);
    lock_type held = w.lock(w.m);
    successor next(w, held);
    w.r.set(dead, flow::drop);
    w.expect_granted(next.taken);
    w.r.cut();
    next.taken.guard.unlock();
    w.unlock_last(w.lock(w.m));
  }
}

// --- Shutdowns and waits ---

BOOST_AUTO_TEST_CASE(a_shutdown_that_nobody_hears_ends_with_the_session) {
  relayed_world w(2 * short_life, {}, wide_margin);
  lock_type held = w.lock(w.m);
  successor next(w, held);
  ending down;
  w.set(flow::drop);
  w.c.async_shutdown(down.handler_on(w.io));
  BOOST_TEST(!held.owns_lock());
  BOOST_TEST_REQUIRE(w.soon([&] { return down.calls != 0; }));
  BOOST_TEST(down.is(timed_out));
  BOOST_TEST(next.taken.calls == 0);
  w.expect_granted(next.taken);
  w.expect_success(w.run);
  next.taken.guard.unlock();
  w.expect_nothing_left();
}

BOOST_AUTO_TEST_CASE(a_shutdown_whose_answer_is_lost_succeeds) {
  relayed_world w(long_life);
  lock_type const held = w.lock(w.m);
  ending down;
  w.r.set(to_client, flow::drop);
  w.c.async_shutdown(down.handler_on(w.io));
  w.expect_nothing_left();
  BOOST_TEST(down.calls == 0);
  w.r.cut();
  w.expect_success(down);
}

// --- Locks that are taken away ---

BOOST_AUTO_TEST_CASE(a_holder_that_does_not_hear_of_its_loss_learns_it_from_a_beat) {
  relayed_world w(long_life);
  lock_type held = w.lock(w.m);
  ending lost, forced;
  held.async_wait_lost(lost.handler());
  w.r.set(to_client, flow::drop);
  w.direct_c.async_force_release("x", held.fence(), forced.handler_on(w.io));
  w.expect_success(forced);
  lock_type const next = w.lock(w.direct);
  BOOST_TEST(held.owns_lock());  // as the documentation says
  BOOST_TEST(next.fence() > held.fence());
  w.r.cut();
  w.expect_success(lost);
  BOOST_TEST(!held.owns_lock());
  BOOST_TEST(next.owns_lock());
  BOOST_TEST(!w.events.has(event::kind::session_lost));
}

// The server has not heard yet that the client knows of the loss.
BOOST_AUTO_TEST_CASE(a_wait_for_a_loss_that_has_happened_completes_without_an_error) {
  relayed_world w(long_life);
  async_mutex other(w.io, w.c, "y");
  lock_type held = w.lock(w.m);
  ending forced, at_once, deferred;
  w.r.set(to_server, flow::hold);
  w.direct_c.async_force_release("x", held.fence(), forced.handler_on(w.io));
  w.expect_success(forced);
  BOOST_TEST_REQUIRE(w.soon([&] { return !held.owns_lock(); }));
  held.async_wait_lost(at_once.handler());
  auto later = held.async_wait_lost(asio::deferred);
  w.r.set(to_server, flow::pass);
  { lock_type const behind = other.lock(); }  // it has heard; and no handler has run
  std::move(later)(deferred.handler());
  w.expect_success(at_once);
  w.expect_success(deferred);
}

BOOST_AUTO_TEST_CASE(a_forced_release_whose_answer_is_lost_is_repeated_and_succeeds) {
  relayed_world w(long_life);
  lock_type held = w.lock(w.direct);
  ending forced;
  w.r.set(to_client, flow::drop);
  w.c.async_force_release("x", held.fence(), forced.handler_on(w.io));
  w.expect_nothing_left();
  BOOST_TEST(forced.calls == 0);
  w.r.cut();
  w.expect_success(forced);
  BOOST_TEST(!held.owns_lock());
}

BOOST_AUTO_TEST_CASE(waits_survive_a_cut_and_keep_their_order) {
  for (bool const is_released_meanwhile : {false, true}) {
    relayed_world w(long_life);
    lock_type held = w.lock(w.direct);
    std::vector<int> order;
    for (int i = 0; i < 3; ++i)
      w.m.async_lock([&order, i](error_code e, lock_type l) {
        if (!e && l) order.push_back(i);
      });
    w.wait_for_waiters(3);
    w.r.refuses = true;
    w.r.cut();
    if (is_released_meanwhile) w.unlock(std::move(held));
    std::this_thread::sleep_for(300ms);
    BOOST_TEST(order.empty());
    w.r.refuses = false;
    w.wait_for(event::kind::connected, 2);
    if (!is_released_meanwhile) w.unlock(std::move(held));
    BOOST_TEST(w.soon([&] { return order.size() == 3; }));
    BOOST_TEST((order == std::vector{0, 1, 2}));
    w.expect_nothing_left();
  }
}

// --- Databases of others ---

// The session is confirmed all the time, and each confirmation takes longer than it takes until
// the next database is emptied.
BOOST_AUTO_TEST_CASE(a_client_is_served_while_databases_of_others_are_emptied) {
  relayed_world w(long_life);
  w.r.delay(10ms);
  emptying const others(w.s);
  auto const end = std::chrono::steady_clock::now() + 3s;  // some beats
  int locks = 0;
  for (; locks < 5 || std::chrono::steady_clock::now() < end; ++locks) {
    lock_type held = w.lock(w.direct);
    outcome<lock_type> waits;
    w.m.async_lock(waits.handler());
    w.wait_for_waiters(1);
    w.unlock(std::move(held));
    w.expect_granted(waits);
    w.unlock(std::move(waits.guard));
  }
  BOOST_TEST_MESSAGE(locks << " locks");
  BOOST_TEST(!w.events.has(event::kind::session_lost));
  BOOST_TEST(!w.events.has(event::kind::record_lost));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_relay_test
