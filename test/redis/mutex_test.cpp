// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The mutex over a real server: attempts, deadlines, the guard, and the answers of unlocking. What
// it has in common with other primitives is in redis_rules_mutex_test.

#include "redis/support/connection.hpp"
#include "redis/support/world.hpp"
#include "support/memory.hpp"
#include "support/test.hpp"

#include <asio_sync/redis/async_mutex.hpp>

#include <csignal>

namespace redis_mutex_test {

using namespace asio_sync::test::redis;
using asio_sync::test::failing_heap;

error_code const deadlock = make_error_code(errc::resource_deadlock_would_occur);

template <class Function>
error_code error_of(Function f) {
  try {
    f();
  } catch (boost::system::system_error const& e) {
    return e.code();
  }
  return {};
}

BOOST_AUTO_TEST_SUITE(mutex_test)

BOOST_AUTO_TEST_CASE(a_coroutine_locks_and_unlocks) {
  world w;
  async_mutex m(w.io, w.c, "x");
  bool done = false;
  auto const coroutine = [&]() -> asio::awaitable<void> {
    lock_type lock = co_await m.async_lock();
    BOOST_TEST(lock.owns_lock());
    BOOST_TEST(bool(lock));
    BOOST_TEST(lock.mutex() == &m);
    std::uint64_t const fence = lock.fence();
    co_await lock.async_unlock();
    BOOST_TEST(!lock.owns_lock());
    BOOST_TEST(lock.mutex() == nullptr);
    lock = co_await m.async_lock();
    BOOST_TEST(lock.fence() > fence);
    auto const [error] = co_await lock_type().async_unlock(asio::as_tuple(asio::use_awaitable));
    BOOST_TEST(error == not_permitted);
    done = true;
  };
  asio::co_spawn(w.io, coroutine, asio::detached);
  BOOST_TEST(w.soon([&] { return done; }));
}

BOOST_AUTO_TEST_CASE(a_future_and_a_thread_lock) {
  world w;
  async_mutex m(w.pool, w.c, "x");
  lock_type first = m.async_lock(asio::use_future).get();
  BOOST_TEST(first.owns_lock());
  BOOST_TEST(!m.try_lock_for(10ms));
  BOOST_TEST(!m.try_lock_for(0s));
  BOOST_TEST(!m.try_lock_until(std::chrono::system_clock::now() + 10ms));
  auto second = std::async(std::launch::async, [&] { return m.lock(); });
  while (m.waiters() == 0) std::this_thread::yield();
  first.unlock();
  BOOST_TEST(second.get().owns_lock());
  BOOST_TEST(m.try_lock_for(1h).owns_lock());
}

BOOST_AUTO_TEST_CASE(an_attempt_that_finds_it_held_has_no_error_and_an_empty_lock) {
  world w;
  async_mutex m(w.io, w.c, "x");
  outcome<lock_type> free, held, waited, zero, negative;
  { lock_type const connected = w.lock(m); }
  m.async_try_lock(free.handler());
  BOOST_TEST(w.soon([&] { return free.calls != 0; }));
  BOOST_TEST(free.granted());
  m.async_try_lock(held.handler());
  m.async_lock_for(0s, zero.handler());
  m.async_lock_until(std::chrono::steady_clock::now() - 1s, negative.handler());
  BOOST_TEST(w.soon([&] { return held.calls && zero.calls && negative.calls; }));
  BOOST_TEST((!held.error && !held.guard));
  BOOST_TEST(zero.refused(timed_out));
  BOOST_TEST(negative.refused(timed_out));
  m.async_lock(waited.handler());
  free.guard.unlock();
  BOOST_TEST(w.soon([&] { return waited.calls != 0; }));
  waited.guard = {};
  zero = {};
  m.async_lock_for(-1s, zero.handler());
  BOOST_TEST(w.soon([&] { return zero.calls != 0; }));
  BOOST_TEST(zero.granted());
}

BOOST_AUTO_TEST_CASE(an_attempt_takes_no_longer_than_any_answer) {
  world w;
  async_mutex m(w.io, w.c, "x");
  BOOST_TEST(w.soon([&] { return w.events.has(event::kind::connected); }));
  ::kill(w.s.id(), SIGSTOP);
  outcome<lock_type> attempt, zero, waits;
  auto const begin = std::chrono::steady_clock::now();
  m.async_try_lock(attempt.handler());
  m.async_lock_for(0s, zero.handler());
  m.async_lock_for(100ms, waits.handler());
  BOOST_TEST(w.soon([&] { return waits.calls != 0; }));
  BOOST_TEST(attempt.calls == 0);
  BOOST_TEST(w.soon([&] { return attempt.calls && zero.calls; }, 2s));
  BOOST_TEST((std::chrono::steady_clock::now() - begin >= 225ms));
  for (auto const* each : {&attempt, &zero, &waits}) BOOST_TEST(each->refused(timed_out));
  BOOST_TEST(m.waiters() == 0u);
  ::kill(w.s.id(), SIGCONT);
  lock_type const held = w.lock(m);  // nobody is left before it
  BOOST_TEST(held.owns_lock());
}

BOOST_AUTO_TEST_CASE(cancel_close_and_slots_end_the_waits_of_this_object_alone) {
  world w;
  async_mutex m(w.io, w.c, "x"), same(w.io, w.c, "x");
  lock_type held = w.lock(m);
  outcome<lock_type> one, two, other, later;
  asio::cancellation_signal signal;
  m.async_lock(one.handler());
  m.async_lock(asio::bind_cancellation_slot(signal.slot(), two.handler()));
  same.async_lock(other.handler());
  BOOST_TEST(m.waiters() == 2u);
  BOOST_TEST(same.waiters() == 1u);
  signal.emit(asio::cancellation_type::total);
  BOOST_TEST(m.cancel() == 1u);
  BOOST_TEST(w.soon([&] { return one.calls && two.calls; }));
  BOOST_TEST(one.refused(aborted));
  BOOST_TEST(two.refused(aborted));
  connection admin(w.s.socket());
  auto const is_left = [&](std::int64_t n) {
    return w.soon([&] { return admin({"ZCARD", "as:{x}:q"}).number == n; });
  };
  BOOST_TEST(is_left(1));
  outcome<lock_type> three;
  m.async_lock(three.handler());
  BOOST_TEST(is_left(2));
  BOOST_TEST(m.cancel() == 1u);
  BOOST_TEST(is_left(1));  // the server is told at once
  BOOST_TEST(w.soon([&] { return three.calls != 0; }));
  m.close();
  BOOST_TEST(m.is_closed());
  m.async_lock(later.handler());
  BOOST_TEST(w.soon([&] { return later.calls != 0; }));
  BOOST_TEST(later.refused(closed));
  BOOST_TEST(other.calls == 0);
  held.unlock();
  BOOST_TEST(w.soon([&] { return other.calls != 0; }));
  BOOST_TEST(other.granted());
}

BOOST_AUTO_TEST_CASE(waits_are_served_in_their_order) {
  world w;
  async_mutex m(w.io, w.c, "x"), same(w.io, w.c, "x");
  lock_type held = w.lock(m);
  std::vector<int> order;
  for (int i = 0; i < 20; ++i)
    (i % 2 ? m : same).async_lock([&order, i](error_code e, lock_type l) {
      if (!e && l) order.push_back(i);
    });
  held.unlock();
  BOOST_TEST(w.soon([&] { return order.size() == 20; }));
  BOOST_TEST(std::is_sorted(order.begin(), order.end()));
}

BOOST_AUTO_TEST_CASE(unlocking_an_empty_lock_is_an_error) {
  world w;
  async_mutex m(w.io, w.c, "x");
  lock_type empty, held = w.lock(m);
  BOOST_TEST(error_of([&] { empty.unlock(); }) == not_permitted);
  ending unlocked, lost;
  empty.async_unlock(asio::bind_executor(w.io, unlocked.handler()));
  empty.async_wait_lost(asio::bind_executor(w.io, lost.handler()));
  BOOST_TEST(w.soon([&] { return unlocked.calls && lost.calls; }));
  BOOST_TEST(unlocked.is(not_permitted));
  BOOST_TEST(lost.is(not_permitted));
  lock_type moved = std::move(held);
  BOOST_TEST(!held.owns_lock());  // NOLINT(bugprone-use-after-move)
  swap(moved, empty);
  BOOST_TEST(empty.owns_lock());
}

BOOST_AUTO_TEST_CASE(a_wait_for_a_loss_ends_with_the_unlocking) {
  world w;
  async_mutex m(w.io, w.c, "x");
  ending lost[3];
  asio::cancellation_signal signal;
  {
    lock_type held = w.lock(m);
    held.async_wait_lost(lost[0].handler());
    held.async_wait_lost(lost[1].handler());
    held.async_wait_lost(asio::bind_cancellation_slot(signal.slot(), lost[2].handler()));
    BOOST_TEST(!w.soon([&] { return lost[0].calls != 0; }, 20ms));
    signal.emit(asio::cancellation_type::terminal);
    BOOST_TEST(w.soon([&] { return lost[2].calls != 0; }));
    BOOST_TEST(lost[0].calls == 0);
  }
  BOOST_TEST(w.soon([&] { return lost[0].calls && lost[1].calls; }));
  for (ending const& each : lost) BOOST_TEST(each.is(aborted));
}

BOOST_AUTO_TEST_CASE(an_unlocking_that_is_never_begun_unlocks) {
  world w;
  async_mutex m(w.io, w.c, "x");
  lock_type held = w.lock(m);
  {
    auto const operation = held.async_unlock(asio::deferred);
    BOOST_TEST(!held.owns_lock());
    outcome<lock_type> attempt;
    m.async_try_lock(attempt.handler());
    BOOST_TEST(w.soon([&] { return attempt.calls != 0; }));
    BOOST_TEST((!attempt.error && !attempt.guard));
  }
  BOOST_TEST(w.lock(m).owns_lock());
}

BOOST_AUTO_TEST_CASE(an_unlocking_whose_answer_is_lost_succeeds) {
  world w;
  async_mutex m(w.io, w.c, "x");
  lock_type held = w.lock(m);
  connection admin(w.s.socket());
  ending unlocked;
  admin({"CLIENT", "KILL", "TYPE", "pubsub"});
  held.async_unlock(unlocked.handler());
  BOOST_TEST(w.soon([&] { return unlocked.calls != 0; }));
  BOOST_TEST(unlocked.is(error_code()));
  BOOST_TEST(w.lock(m).owns_lock());
}

BOOST_AUTO_TEST_CASE(R3_a_grant_that_never_arrives_goes_to_the_next_wait) {
  world w;
  async_mutex m(w.io, w.c, "x");
  lock_type held = w.lock(m);
  outcome<lock_type> dropped, next;
  auto dying = std::make_unique<asio::io_context>();
  m.async_lock(asio::bind_executor(*dying, dropped.handler()));
  m.async_lock(next.handler());
  held.unlock();
  BOOST_TEST(w.soon([&] { return m.waiters() == 1; }));
  dying.reset();
  BOOST_TEST(w.soon([&] { return next.calls != 0; }));
  BOOST_TEST(next.granted());
  BOOST_TEST(dropped.calls == 0);
}

BOOST_AUTO_TEST_CASE(R9_a_lock_outlives_its_mutex_and_still_owns) {
  world w;
  auto m = std::make_unique<async_mutex>(w.io, w.c, "x");
  async_mutex same(w.io, w.c, "x");
  lock_type held = w.lock(*m);
  ending lost;
  outcome<lock_type> behind;
  m.reset();
  BOOST_TEST(held.owns_lock());
  BOOST_TEST(held.mutex() == nullptr);
  BOOST_TEST(held.fence() > 0u);
  held.async_wait_lost(lost.handler());
  same.async_lock(behind.handler());
  BOOST_TEST(!w.soon([&] { return behind.calls != 0; }, 50ms));
  held.unlock();
  BOOST_TEST(w.soon([&] { return behind.calls && lost.calls; }));
  BOOST_TEST(behind.granted());
  BOOST_TEST(lost.is(aborted));
}

BOOST_AUTO_TEST_CASE(R16_neither_context_is_blocked) {
  world w;
  async_mutex m(w.io, w.c, "x");
  std::promise<error_code> in_pool;
  asio::post(w.pool, [&] { in_pool.set_value(error_of([&] { static_cast<void>(m.lock()); })); });
  BOOST_TEST(in_pool.get_future().get() == deadlock);
  error_code own;
  asio::post(w.io, [&] { own = error_of([&] { static_cast<void>(m.try_lock_for(1h)); }); });
  BOOST_TEST(w.soon([&] { return own == deadlock; }));
}

BOOST_AUTO_TEST_CASE(R13_without_memory_nothing_has_changed) {
  world w;
  async_mutex m(w.io, w.c, "x");
  lock_type held = w.lock(m);
  outcome<lock_type> o;
  ending e;
  {
    failing_heap const heap;
    BOOST_CHECK_THROW(m.async_lock(o.handler()), std::bad_alloc);
    BOOST_CHECK_THROW(held.async_unlock(e.handler()), std::bad_alloc);
    BOOST_CHECK_THROW(held.async_wait_lost(e.handler()), std::bad_alloc);
  }
  BOOST_TEST(held.owns_lock());
  BOOST_TEST(m.waiters() == 0u);
  {
    failing_heap const heap;
    held.unlock();  // needs no memory
  }
  BOOST_TEST(w.lock(m).owns_lock());
}

BOOST_AUTO_TEST_CASE(R13_an_unlocking_without_memory_unlocks_nothing) {
  world w;
  async_mutex m(w.io, w.c, "x");
  lock_type held = w.lock(m);
  ending unlocked;
  for (std::size_t n = 0; held.owns_lock(); ++n) {
    try {
      failing_heap const heap(n);
      held.async_unlock(unlocked.handler());
    } catch (std::bad_alloc const&) {
      BOOST_TEST(held.owns_lock());
    }
    BOOST_TEST_REQUIRE(n < 100u);
  }
  BOOST_TEST(w.soon([&] { return unlocked.calls != 0; }));
  BOOST_TEST(unlocked.is(error_code()));
}

// The grants of the server meet cancellations, time-outs and the ends of locks.
BOOST_AUTO_TEST_CASE(no_lock_is_lost_in_a_thousand_races) {
  world w;
  async_mutex m(w.io, w.c, "x");
  asio::thread_pool users(2);
  std::atomic<int> left = 0, holders = 0, most = 0;
  for (int i = 0; i < 1000; ++i) {
    ++left;
    auto const handler = [&](error_code e, lock_type l) {
      if (!e && l) {
        int const n = ++holders;
        if (n > 1) most = n;
        --holders;
      }
      l = {};
      --left;
    };
    if (i % 3 == 0)
      m.async_lock(asio::bind_executor(users, handler));
    else if (i % 3 == 1)
      m.async_lock_for(std::chrono::microseconds(i % 7 * 100),
                       asio::bind_executor(users, handler));
    else
      m.async_try_lock(asio::bind_executor(users, handler));
    if (i % 10 == 9) m.cancel();
    if (i % 40 != 39) continue;
    BOOST_TEST(w.soon([&] { return left == 0; }));
    BOOST_TEST(w.lock(m).owns_lock());
  }
  BOOST_TEST(most == 0);
  connection admin(w.s.socket());
  BOOST_TEST(w.soon([&] { return admin({"EXISTS", "as:{x}:m"}).number == 0; }));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_mutex_test
