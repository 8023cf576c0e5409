// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// What a guard is when its mutex has died, and what memory both take.

#include "support/memory.hpp"
#include "support/mutex_guard.hpp"
#include "support/test.hpp"

#include <asio_sync/async_mutex.hpp>

namespace mutex_guard_lifetime_test {

using namespace asio_sync::test;
using namespace asio_sync::test::guards;

// There is no mutex, dead or alive.
void is_empty(guard& g) {
  owns_nothing(g);
  BOOST_CHECK_EXCEPTION(g.unlock(), system_error, is_not_permitted);
  BOOST_TEST(!g.release());
}

using maker = guard (*)(mutex_type&, asio::io_context&);

guard by_handler(mutex_type& mutex, asio::io_context& context) {
  result r;
  mutex.async_lock(r.handler());
  context.restart();
  context.poll();
  return std::move(r.lock);
}

// A wait that was queued: another guard hands the mutex over.
guard by_hand_over(mutex_type& mutex, asio::io_context& context) {
  guard first(mutex);
  result r;
  mutex.async_lock(r.handler());
  first.unlock();
  context.restart();
  context.poll();
  return std::move(r.lock);
}

guard by_thread(mutex_type& mutex, asio::io_context&) {
  guard first(mutex), second;
  std::thread thread([&] { second = guard(mutex); });
  while (mutex.waiters() != 1) std::this_thread::yield();
  first.unlock();
  thread.join();
  return second;
}

guard by_coroutine(mutex_type& mutex, asio::io_context& context) {
  guard g;
  asio::co_spawn(
      context, [&]() -> asio::awaitable<void> { g = co_await mutex.async_lock(); },
      asio::detached);
  context.restart();
  context.run();
  return g;
}

// Every way to a guard that owns.
constexpr maker makers[] = {
    [](mutex_type& m, asio::io_context&) { return guard(m); },
    [](mutex_type& m, asio::io_context&) { return guard(m, std::try_to_lock); },
    [](mutex_type& m, asio::io_context&) { return guard(m, 1h); },
    [](mutex_type& m, asio::io_context&) { return m.lock(), guard(m, std::adopt_lock); },
    by_handler,
    by_hand_over,
    by_thread,
    by_coroutine,
};

// A guard that owned a mutex which has died since.
guard orphan(asio::io_context& context, maker make = makers[0]) {
  mutex_type mutex(context);
  guard g = make(mutex, context);
  BOOST_REQUIRE(g.owns_lock());
  BOOST_REQUIRE(g.mutex() == &mutex);
  return g;
}

// How much more memory ten rounds have taken than they have given back, after one has taken what
// is kept for the next. Of the heap: the pool is empty.
template <class Round>
std::ptrdiff_t kept_by(Round round) {
  empty_pool const pool;
  round();
  heap_counter const heap(heap_counter::scope::all_threads);
  for (int i = 0; i < 10; ++i) round();
  return heap.kept();
}

struct fixture {
  asio::io_context context;
  std::optional<mutex_type> mutex{std::in_place, context};
  mutex_type other{context};
};

}  // namespace mutex_guard_lifetime_test

BOOST_FIXTURE_TEST_SUITE(mutex_guard_lifetime_test, fixture)

BOOST_AUTO_TEST_CASE(R9_a_guard_of_a_dead_mutex_owns_nothing) {
  for (maker const make : makers) {
    guard g = orphan(context, make);
    owns_nothing(g);
    BOOST_CHECK_EXCEPTION(g.lock(), system_error, is_not_permitted);
    BOOST_CHECK_EXCEPTION(static_cast<void>(g.try_lock()), system_error, is_not_permitted);
    BOOST_CHECK_EXCEPTION(static_cast<void>(g.try_lock_for(1h)), system_error, is_not_permitted);
    owns_nothing(g);
  }
}

BOOST_AUTO_TEST_CASE(R9_unlock_of_a_dead_mutex_does_nothing_once) {
  for (maker const make : makers) {
    guard g = orphan(context, make);
    BOOST_CHECK_NO_THROW(g.unlock());
    is_empty(g);
    is_empty(g);
  }
}

BOOST_AUTO_TEST_CASE(R9_release_of_a_dead_mutex_is_null) {
  for (maker const make : makers) {
    guard g = orphan(context, make);
    BOOST_TEST(!g.release());
    is_empty(g);
  }
}

BOOST_AUTO_TEST_CASE(R9_guards_of_dead_mutexes_are_moved_assigned_and_swapped) {
  guard dead = orphan(context);
  guard moved(std::move(dead));
  is_empty(dead);
  owns_nothing(moved);
  guard& same = moved;
  moved = std::move(same);
  owns_nothing(moved);
  moved = orphan(context);  // over another
  owns_nothing(moved);
  guard held(other);
  swap(moved, held);
  BOOST_TEST(moved.owns_lock());
  BOOST_TEST(moved.mutex() == &other);
  owns_nothing(held);
  moved = std::move(held);  // over one that owns
  BOOST_TEST(!other.is_locked());
  is_empty(held);
  BOOST_CHECK_NO_THROW(moved.unlock());  // not used up by the moves
  is_empty(moved);
  guard last = orphan(context);
  last = guard(other);
  BOOST_TEST(last.owns_lock());
}

BOOST_AUTO_TEST_CASE(R9_of_two_guards_of_two_mutexes_one_is_of_a_dead_one) {
  guard dead(*mutex), living(other);
  result queued;
  other.async_lock(queued.handler());
  mutex.reset();
  owns_nothing(dead);
  BOOST_TEST(living.owns_lock());
  BOOST_TEST(living.mutex() == &other);
  dead.unlock();
  BOOST_TEST(living.owns_lock());
  living.unlock();
  context.poll();
  BOOST_TEST(queued.granted());
}

BOOST_AUTO_TEST_CASE(R9_a_guard_that_does_not_own_is_destroyed_assigned_or_swapped) {
  guard destroyed(*mutex, std::defer_lock), assigned(*mutex, std::try_to_lock),
      swapped(*mutex, 0s);
  assigned.unlock();
  BOOST_REQUIRE(!swapped.owns_lock());
  guard passed_on(*mutex), held(other), taken;
  result queued;
  mutex->async_lock(queued.handler());
  passed_on.unlock();
  mutex.reset();
  assigned = std::move(held);
  swapped.swap(taken);
  BOOST_TEST(assigned.owns_lock());
  BOOST_TEST(!swapped.mutex());
  context.poll();
  BOOST_TEST(queued.refused(aborted));
}

BOOST_AUTO_TEST_CASE(R9_guards_of_dead_mutexes_leave_later_ones_alone) {
  std::array<guard, 4> dead;
  for (guard& g : dead) g = orphan(context);
  std::array<std::optional<mutex_type>, 8> later;
  for (auto& m : later) BOOST_REQUIRE(m.emplace(context).try_lock());
  dead[0].unlock();
  dead[1].release();
  dead[2] = guard();
  owns_nothing(dead[3]);
  for (auto& m : later) {
    BOOST_TEST(m->is_locked());
    BOOST_CHECK_NO_THROW(m->unlock());
  }
}

BOOST_AUTO_TEST_CASE(R9_waits_are_refused_where_a_guard_outlives_the_mutex) {
  guard held(*mutex);
  result results[2];
  for (auto& r : results) mutex->async_lock(r.handler());
  mutex.reset();
  BOOST_CHECK_NO_THROW(held.unlock());
  context.poll();
  for (auto const& r : results) BOOST_TEST(r.refused(aborted));
  is_empty(held);
}

BOOST_AUTO_TEST_CASE(R9_a_standard_guard_ends_before_its_mutex) {
  result queued;
  {
    std::unique_lock const standard(*mutex);
    mutex->async_lock(queued.handler());
  }
  mutex.reset();
  context.poll();
  BOOST_TEST(queued.refused(aborted));
}

BOOST_AUTO_TEST_CASE(R12_mutexes_give_their_memory_back_with_their_last_guard) {
  static constexpr void (*ends[])(guard&) = {
      [](guard&) {},
      [](guard& g) { g.unlock(); },
      [](guard& g) { static_cast<void>(g.release()); },
      [](guard& g) { g = guard(); },
      [](guard& g) { guard const moved(std::move(g)); },
      [](guard& g) { guard().swap(g); },
  };
  for (maker const make : makers)
    for (auto const end : ends)
      BOOST_TEST(kept_by([&] {
                   guard g = orphan(context, make);
                   end(g);
                 }) == 0);
}

BOOST_AUTO_TEST_CASE(R12_mutexes_give_their_memory_back_where_a_member_holds_them) {
  static constexpr void (*holds[])(mutex_type&) = {
      [](mutex_type& m) { m.lock(); },
      [](mutex_type& m) { BOOST_TEST(m.try_lock()); },
      [](mutex_type& m) { static_cast<void>(guard(m).release()); },
      [](mutex_type& m) { m.lock(), guard(m, std::adopt_lock).release(); },
  };
  for (auto const hold : holds)
    for (bool const waits : {false, true})
      BOOST_TEST(kept_by([&] {
                   mutex_type m(context);
                   hold(m);
                   result r;
                   if (waits) m.async_lock(r.handler());
                   BOOST_TEST(!m.try_lock_for(1ns));
                   BOOST_TEST(m.cancel() == (waits ? 1u : 0u));
                   context.restart();
                   context.run();
                   BOOST_TEST(m.is_locked());
                 }) == 0);
}

BOOST_AUTO_TEST_CASE(R12_mutexes_give_their_memory_back_where_waits_outlive_them) {
  BOOST_TEST(kept_by([&] {
               mutex.emplace(context);
               result r;
               guard g(*mutex);
               mutex->async_lock(r.handler());
               mutex.reset();
               g.unlock();
               context.restart();
               context.run();
               BOOST_TEST(r.refused(aborted));
             }) == 0);
}

// Its destruction on another thread may come between the arrival and the guard.
BOOST_AUTO_TEST_CASE(R9_a_coroutine_that_is_granted_the_lock_reads_no_mutex_that_may_be_gone) {
  constexpr int rounds = 300;
  asio::thread_pool pool(1);
  std::vector<guard> kept;
  auto const lock_and_keep = [&kept](mutex_type& dying) -> asio::awaitable<void> {
    auto [error, lock] = co_await dying.async_lock(asio::as_tuple(asio::use_awaitable));
    kept.push_back(std::move(lock));
  };
  for (int round = 0; round < rounds; ++round) {
    auto dying = std::make_unique<mutex_type>(pool);
    guard held(*dying, std::try_to_lock);
    asio::co_spawn(pool, lock_and_keep(*dying), asio::detached);
    while (dying->waiters() == 0) std::this_thread::yield();
    held.unlock();
    dying.reset();
  }
  pool.join();
  BOOST_TEST(kept.size() == static_cast<std::size_t>(rounds));
}

BOOST_AUTO_TEST_SUITE_END()
