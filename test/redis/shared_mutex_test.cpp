// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The shared mutex over a real server: who is let in together with whom, and the guards.

#include "redis/support/connection.hpp"
#include "redis/support/world.hpp"
#include "support/test.hpp"

#include <asio_sync/redis/async_mutex.hpp>
#include <asio_sync/redis/async_shared_mutex.hpp>

#include <csignal>

namespace redis_shared_mutex_test {

using namespace asio_sync::test::redis;
using asio_sync::redis::async_shared_mutex;
using writer_lock = async_shared_mutex::lock_type;
using reader_lock = async_shared_mutex::shared_lock_type;

// A shared mutex in a world.
struct fixture : world {
  using writer = outcome<writer_lock>;
  using reader = outcome<reader_lock>;

  writer_lock write() {
    writer w;
    m.async_lock(w.handler());
    BOOST_TEST_REQUIRE(soon([&] { return w.calls != 0; }));
    BOOST_TEST(w.error == error_code());
    return std::move(w.guard);
  }
  reader_lock read() {
    reader r;
    m.async_lock_shared(r.handler());
    BOOST_TEST_REQUIRE(soon([&] { return r.calls != 0; }));
    BOOST_TEST(r.error == error_code());
    return std::move(r.guard);
  }

  // Waits until so many wait at the server.
  void wait_for_waiters(std::int64_t n) {
    connection admin(s.socket());
    BOOST_TEST_REQUIRE(soon([&] { return admin({"ZCARD", "as:{x}:q"}).number == n; }));
  }

  async_shared_mutex m{io, c, "x"};
};

BOOST_FIXTURE_TEST_SUITE(shared_mutex_test, fixture)

BOOST_AUTO_TEST_CASE(readers_enter_together_and_a_writer_alone) {
  auto first = read(), second = read();
  BOOST_TEST(second.fence() > first.fence());
  writer w;
  m.async_lock(w.handler());
  wait_for_waiters(1);
  first.unlock();
  BOOST_TEST(!soon([&] { return w.calls != 0; }, 50ms));
  second.unlock();
  BOOST_TEST(soon([&] { return w.calls != 0; }));
  BOOST_TEST(w.granted());
  reader r;
  m.async_lock_shared(r.handler());
  BOOST_TEST(!soon([&] { return r.calls != 0; }, 50ms));
  BOOST_TEST(m.waiters() == 1u);
  auto const fence = w.guard.fence();
  w.guard.unlock();
  BOOST_TEST(soon([&] { return r.calls != 0; }));
  BOOST_TEST(r.granted());
  BOOST_TEST(r.guard.fence() > fence);
}

BOOST_AUTO_TEST_CASE(nobody_passes_another_one_who_waits) {
  auto held = read();
  writer w, last;
  reader r, neighbour;
  m.async_lock(w.handler());
  m.async_lock_shared(r.handler());
  m.async_lock_shared(neighbour.handler());
  m.async_lock(last.handler());
  wait_for_waiters(4);
  BOOST_TEST((!r.calls && !neighbour.calls));
  held.unlock();
  BOOST_TEST(soon([&] { return w.calls != 0; }));
  BOOST_TEST((!r.calls && !neighbour.calls));
  w.guard.unlock();
  BOOST_TEST(soon([&] { return r.calls && neighbour.calls; }));
  BOOST_TEST((r.granted() && neighbour.granted()));
  r.guard.unlock();
  BOOST_TEST(!soon([&] { return last.calls != 0; }, 50ms));
  neighbour.guard.unlock();
  BOOST_TEST(soon([&] { return last.calls != 0; }));
  BOOST_TEST(last.granted());
}

BOOST_AUTO_TEST_CASE(an_attempt_enters_or_leaves_at_once) {
  auto held = read();
  writer w, zero;
  reader r;
  m.async_try_lock_shared(r.handler());
  m.async_try_lock(w.handler());
  m.async_lock_for(0s, zero.handler());
  BOOST_TEST(soon([&] { return r.calls && w.calls && zero.calls; }));
  BOOST_TEST(r.granted());
  BOOST_TEST((!w.error && !w.guard));
  BOOST_TEST(zero.refused(timed_out));
  held.unlock();
  r.guard.unlock();
  auto const alone = write();
  reader refused, late;
  m.async_try_lock_shared(refused.handler());
  m.async_lock_shared_for(20ms, late.handler());
  BOOST_TEST(soon([&] { return refused.calls && late.calls; }));
  BOOST_TEST((!refused.error && !refused.guard));
  BOOST_TEST(late.refused(timed_out));
}

BOOST_AUTO_TEST_CASE(threads_and_coroutines_lock) {
  async_shared_mutex other(pool, c, "y");
  auto const first = other.async_lock_shared(asio::use_future).get();
  BOOST_TEST(first.owns_lock());
  BOOST_TEST(other.lock_shared().owns_lock());
  BOOST_TEST(!other.try_lock_for(10ms));
  BOOST_TEST(other.try_lock_shared_for(1h).owns_lock());
  auto const soon_enough = std::chrono::steady_clock::now() + 1h;
  BOOST_TEST(other.try_lock_shared_until(soon_enough).owns_lock());
  bool done = false;
  auto const coroutine = [&]() -> asio::awaitable<void> {
    {
      auto lock = co_await m.async_lock();
      BOOST_TEST(lock.owns_lock());
      BOOST_TEST(!(co_await m.async_try_lock_shared()));
      co_await lock.async_unlock();
    }
    auto lock = co_await m.async_lock_shared_until(soon_enough);
    BOOST_TEST(!(co_await m.async_try_lock()));
    co_await lock.async_unlock();
    BOOST_TEST((co_await m.async_lock_until(soon_enough)).owns_lock());
    done = true;
  };
  asio::co_spawn(io, coroutine, asio::detached);
  BOOST_TEST(soon([&] { return done; }));
}

BOOST_AUTO_TEST_CASE(cancel_and_close_concern_the_waits_of_this_object) {
  auto held = write();
  async_shared_mutex same(io, c, "x");
  writer w;
  reader r, theirs;
  m.async_lock(w.handler());
  m.async_lock_shared(r.handler());
  same.async_lock_shared(theirs.handler());
  BOOST_TEST(m.cancel() == 2u);
  BOOST_TEST(soon([&] { return w.calls && r.calls; }));
  BOOST_TEST((w.refused(aborted) && r.refused(aborted)));
  m.close();
  reader after;
  m.async_lock_shared(after.handler());
  held.unlock();
  BOOST_TEST(soon([&] { return after.calls && theirs.calls; }));
  BOOST_TEST(after.refused(closed));
  BOOST_TEST(theirs.granted());
  BOOST_TEST(theirs.guard.mutex() == &same);
}

BOOST_AUTO_TEST_CASE(a_reader_that_is_lost_lets_the_writer_in) {
  auto held = read();
  client other(pool.get_executor(), quick(s));
  ending ran, lost;
  other.async_run(ran.handler_on(io));
  async_shared_mutex theirs(io, other, "x");
  writer w;
  theirs.async_lock(w.handler());
  wait_for_waiters(1);
  held.async_wait_lost(lost.handler());
  c.stop();  // its session ends at the server when it has lapsed
  BOOST_TEST(soon([&] { return lost.calls != 0; }));
  BOOST_TEST(lost.is(error_code()));
  BOOST_TEST(!held.owns_lock());
  BOOST_TEST(soon([&] { return w.calls != 0; }));
  BOOST_TEST(w.granted());
  other.stop();
  BOOST_TEST(soon([&] { return ran.calls != 0; }));
}

BOOST_AUTO_TEST_CASE(a_guard_is_empty_after_it_has_unlocked) {
  auto reads = read();
  reads.unlock();
  BOOST_TEST((!reads && reads.fence() == 0 && !reads.mutex()));
  BOOST_CHECK_EXCEPTION(reads.unlock(), boost::system::system_error, [](auto const& e) {
    return e.code() == not_permitted && std::string(e.what()).find(
                                            "redis::async_shared_mutex::shared_lock_type::unlock: "
                                            "not locked") != std::string::npos;
  });
  auto writes = write();
  writer_lock moved(std::move(writes));
  swap(writes, moved);
  BOOST_TEST((writes.owns_lock() && !moved.owns_lock()));
}

BOOST_AUTO_TEST_CASE(a_name_is_of_one_kind) {
  auto const held = read();
  async_mutex mutex(io, c, "x");
  outcome<lock_type> o;
  mutex.async_lock(o.handler());
  BOOST_TEST(soon([&] { return o.calls != 0; }));
  BOOST_TEST(o.refused(asio_sync::error::kind_mismatch));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_shared_mutex_test
