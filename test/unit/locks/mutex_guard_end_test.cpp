// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Where guards outlive their mutex: in frames, captures, futures and statics; and guards and
// mutexes that end at the same time.

#include "support/executors.hpp"
#include "support/memory.hpp"
#include "support/mutex_guard.hpp"
#include "support/test.hpp"

#include <asio_sync/async_mutex.hpp>

namespace mutex_guard_end_test {

using namespace asio_sync::test;
using namespace asio_sync::test::guards;

// A guard that owned a mutex which has died since.
guard orphan(asio::io_context& context) {
  mutex_type mutex(context);
  guard g(mutex);
  BOOST_REQUIRE(g.owns_lock());
  return g;
}

struct fixture {
  asio::io_context context;
  std::optional<mutex_type> mutex{std::in_place, context};
  mutex_type other{context};
};

}  // namespace mutex_guard_end_test

BOOST_FIXTURE_TEST_SUITE(mutex_guard_end_test, fixture)

// What a main() has beside its context.
struct server {
  explicit server(asio::io_context& context) : mutex(context) {}

  asio::awaitable<void> session(guard*& held, error_code& last) {
    guard lock = co_await mutex.async_lock(asio::use_awaitable);
    struct look {  // at the guard, when the frame ends
      ~look() { last = g->owns_lock() ? error_code() : aborted; }
      guard* g;
      error_code& last;
    } const at_end{&lock, last};
    held = &lock;
    asio::steady_timer timer(co_await asio::this_coro::executor, 1h);
    co_await timer.async_wait(asio::use_awaitable);
    BOOST_ERROR("went on");
  }

  mutex_type mutex;
};

BOOST_AUTO_TEST_CASE(R10_a_frame_that_holds_the_guard_ends_with_its_context_after_the_mutex) {
  guard* held = nullptr;
  error_code last;
  {
    asio::io_context ctx;
    server s(ctx);
    asio::co_spawn(ctx, s.session(held, last), asio::detached);
    asio::co_spawn(ctx, s.session(held, last), asio::detached);  // waits
    ctx.poll();
    BOOST_REQUIRE(held);
    BOOST_TEST(held->owns_lock());
    BOOST_TEST(s.mutex.waiters() == 1u);
  }
  BOOST_TEST(last == aborted);
}

// The services of a context end in the reverse order of their beginning.
BOOST_AUTO_TEST_CASE(R10_a_frame_that_holds_the_guard_ends_with_its_context_before_the_mutex) {
  for (bool const timers_first : {false, true}) {
    guard* held = nullptr;
    error_code last = aborted;
    std::optional<asio::io_context> ctx(std::in_place);
    if (timers_first) asio::steady_timer const timer(*ctx);
    server s(*ctx);
    result elsewhere;
    asio::co_spawn(*ctx, s.session(held, last), asio::detached);
    asio::co_spawn(*ctx, s.session(held, last), asio::detached);
    ctx->poll();
    s.mutex.async_lock(asio::bind_executor(context, elsewhere.handler()));
    BOOST_TEST(s.mutex.waiters() == 2u);
    ctx.reset();
    BOOST_TEST(!last);
    context.restart();
    context.run();
    BOOST_TEST(elsewhere.granted());
  }
}

BOOST_AUTO_TEST_CASE(R12_the_usual_end_of_a_main_gives_all_memory_back) {
  empty_pool const pool;
  auto const main_function = [] {
    guard* held = nullptr;
    error_code last;
    asio::io_context ctx;
    server s(ctx);
    asio::co_spawn(ctx, s.session(held, last), asio::detached);
    ctx.poll();
  };
  main_function();
  heap_counter const heap;
  for (int i = 0; i < 10; ++i) main_function();
  std::ptrdiff_t const kept = heap.kept();
  BOOST_TEST(kept == 0);
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

BOOST_AUTO_TEST_CASE(R9_a_guard_in_a_future_that_nobody_fetches) {
  std::future<guard> never = mutex->async_lock(asio::use_future);
  std::future<guard> late = other.async_lock(asio::use_future);
  context.run();
  BOOST_TEST(mutex->is_locked());
  BOOST_TEST(other.is_locked());
  mutex.reset();
  never = {};
  mutex.emplace(context);
  late = mutex->async_lock(asio::use_future);  // over one of a mutex that lives
  BOOST_TEST(!other.is_locked());
  context.restart();
  context.run();
  mutex.reset();
  owns_nothing(late.get());
}

// What fails there ends the program with a status of its own.
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

BOOST_AUTO_TEST_CASE(R9_the_mutex_is_destroyed_inside_the_unlock) {
  for (bool const by_destructor : {false, true}) {
    mutex.emplace(context);
    std::optional<guard> g(*mutex);
    mutex->async_lock(asio::bind_executor(inline_executor(context), [&](error_code, guard lock) {
      mutex.reset();
      owns_nothing(lock);
    }));
    if (!by_destructor) g->unlock();
    g.reset();
    BOOST_TEST(!mutex);
  }
}

BOOST_AUTO_TEST_SUITE_END()
