// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Guards whose mutex has died, and the memory that guards and mutexes take; guards and mutexes
// that end with their context or the process, or at the same time.

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

// The ways to a guard that owns; carried.hpp in test/rules has more.
constexpr maker makers[] = {
    [](mutex_type& m, asio::io_context&) { return guard(m); },
    [](mutex_type& m, asio::io_context&) { return guard(m, std::try_to_lock); },
    [](mutex_type& m, asio::io_context&) { return guard(m, 1h); },
    [](mutex_type& m, asio::io_context&) { return m.lock(), guard(m, std::adopt_lock); },
    by_handler,
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
    BOOST_CHECK_NO_THROW(g.unlock());
    is_empty(g);
    g = orphan(context, make);
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

BOOST_AUTO_TEST_CASE(R10_a_guard_in_the_capture_of_a_handler_ends_with_its_context) {
  for (bool const mutex_first : {false, true}) {
    std::optional<asio::io_context> ctx(std::in_place);
    mutex_type second(*ctx);
    mutex.emplace(*ctx);
    asio::post(*ctx, [g = guard(*mutex)] { BOOST_ERROR("called"); });
    auto timer = std::make_shared<asio::steady_timer>(*ctx, 1h);
    timer->async_wait([g = guard(second), timer](error_code) { BOOST_ERROR("called"); });
    timer.reset();
    if (mutex_first) mutex.reset();
    ctx.reset();
    BOOST_TEST(!second.is_locked());
    if (!mutex_first) BOOST_TEST(!mutex->is_locked());
  }
}

// Members end in the reverse order.
struct guard_first {
  guard lock;
  std::shared_ptr<mutex_type> mutex;
};
struct mutex_first {
  std::shared_ptr<mutex_type> mutex;
  guard lock;
};

template <class Owner>
void owner_ends_with_its_context() {
  std::optional<asio::io_context> ctx(std::in_place);
  std::weak_ptr<mutex_type> watched[2];
  for (auto& watch : watched) {
    auto const mutex = std::make_shared<mutex_type>(*ctx);
    watch = mutex;
    Owner owner;
    owner.mutex = mutex;
    owner.lock = guard(*mutex);
    if (&watch == watched)
      asio::post(*ctx, [o = std::move(owner)] { BOOST_ERROR("called"); });
    else  // waits for what it holds itself
      mutex->async_lock(
          [o = std::move(owner)](error_code, guard const&) { BOOST_ERROR("called"); });
  }
  ctx.reset();
  for (auto const& watch : watched) BOOST_TEST(watch.expired());
}

BOOST_AUTO_TEST_CASE(R10_a_handler_that_owns_the_guard_and_the_mutex_ends_with_its_context) {
  owner_ends_with_its_context<guard_first>();
  owner_ends_with_its_context<mutex_first>();
}

BOOST_AUTO_TEST_CASE(R8_a_guard_keeps_no_context_running_and_outlives_it) {
  std::optional<asio::io_context> ctx(std::in_place);
  guard guards[3];
  {
    mutex_type plain(*ctx), strand(asio::make_strand(*ctx)),
        tracked(asio::require(ctx->get_executor(), asio::execution::outstanding_work.tracked));
    guards[0] = guard(plain);
    guards[1] = guard(strand);
    guards[2] = guard(tracked);
    result r;
    plain.async_lock(r.handler());
    asio::post(*ctx, [&] { guards[0].unlock(); });  // a hand-over in the context
    ctx->run_one();
    ctx->poll_one();
    BOOST_REQUIRE(r.granted());
    guards[0] = std::move(r.lock);
  }
  ctx->restart();
  ctx->run();
  ctx.reset();
  for (guard const& g : guards) owns_nothing(g);
}

// A failure there ends the program with a status of its own.
struct at_process_end {
  ~at_process_end() {
    bool good = false;
    if (!unlocked.owns_lock() && !unlocked.mutex()) unlocked.unlock();
    try {
      unlocked.unlock();
    } catch (system_error const& e) {
      good = is_not_permitted(e);
    }
    if (good && !released.release()) return;
    std::fputs("R17: a guard failed while statics were destroyed\n", stderr);
    std::_Exit(EXIT_FAILURE);
  }

  guard unlocked, released, destroyed;
};

BOOST_AUTO_TEST_CASE(R17_guards_in_statics_end_after_their_mutexes) {
  static at_process_end last;
  static thread_local guard of_thread;
  last.unlocked = orphan(context);
  last.released = orphan(context);
  last.destroyed = orphan(context);
  of_thread = orphan(context);
  owns_nothing(last.destroyed);
  std::thread([this] {
    static thread_local guard other_thread;
    other_thread = orphan(context);
  }).join();
}

// Runs them at the same time on two threads, as near as can be.
template <class First, class Second>
void race(First first, Second second) {
  std::atomic<int> arrived = 0;
  auto const meet = [&] {
    for (++arrived; arrived != 2;) std::this_thread::yield();
  };
  std::thread thread([&] {
    meet();
    second();
  });
  meet();
  first();
  thread.join();
}

BOOST_AUTO_TEST_CASE(R17_guards_end_at_the_same_time_as_their_mutex) {
  static constexpr void (*ends[])(guard&) = {
      [](guard& g) { g = guard(); },
      [](guard& g) { g.unlock(); },
      [](guard& g) { static_cast<void>(g.release()); },
      [](guard& g) { static_cast<void>(g.owns_lock() || g.mutex()); },
      [](guard& g) { guard(std::move(g)).swap(g); },
  };
  for (auto const end : ends)
    for (int round = 0; round < 500; ++round) {
      mutex.emplace(context);
      guard g(*mutex);
      result r;
      if (round % 2) mutex->async_lock(r.handler());
      race([&] { mutex.reset(); }, [&] { end(g); });
      context.restart();
      context.poll();
      BOOST_REQUIRE((round % 2 == 0 || r.refused(aborted)));
      BOOST_REQUIRE(!g.owns_lock());
    }
}

// The guard hands over; the new owner destroys the mutex while unlock() returns.
BOOST_AUTO_TEST_CASE(R9_the_mutex_is_destroyed_by_what_the_unlock_made_runnable) {
  asio::thread_pool pool(1);
  for (int round = 0; round < 500; ++round) {
    auto owned = std::make_unique<mutex_type>(pool);
    mutex_type& shared = *owned;
    std::optional<guard> g(shared);
    std::atomic<bool> done = false;
    shared.async_lock([&, o = std::move(owned)](error_code, guard lock) mutable {
      if (round % 2) lock.unlock();
      o.reset();
      done = true;
    });
    if (round % 3) g->unlock();
    g.reset();
    while (!done) std::this_thread::yield();
  }
  pool.join();
}

BOOST_AUTO_TEST_CASE(R9_the_mutex_is_destroyed_by_the_thread_that_the_unlock_woke) {
  for (int round = 0; round < 200; ++round) {
    mutex.emplace(context);
    guard g(*mutex);
    std::thread thread([&] {
      guard const mine(*mutex);
      mutex.reset();
    });
    while (mutex->waiters() != 1) std::this_thread::yield();
    g.unlock();
    thread.join();
  }
}

BOOST_AUTO_TEST_SUITE_END()
