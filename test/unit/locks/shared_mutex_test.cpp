// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// What a shared mutex has of its own: readers and writers, and how one becomes the other.

#include "support/blocked_thread.hpp"
#include "support/coroutine.hpp"
#include "support/test.hpp"

#include <asio_sync/async_shared_mutex.hpp>

#include <shared_mutex>

namespace shared_mutex_test {

using namespace asio_sync::test;

using writer = async_shared_mutex::lock_type;
using reader = async_shared_mutex::shared_lock_type;

template <class Guard>
struct result {
  auto handler() {
    return [this](error_code e, Guard g) {
      ++calls;
      error = e;
      held = std::move(g);
    };
  }
  bool granted() const { return calls == 1 && !error && held.owns_lock(); }
  bool refused(error_code e) const { return calls == 1 && error == e && !held.owns_lock(); }
  bool waits() const { return calls == 0; }

  int calls = 0;
  error_code error;
  Guard held;
};
using writing = result<writer>;
using reading = result<reader>;

struct fixture {
  void poll() { test::poll(context); }
  void read(reading& r) { mutex->async_lock_shared(r.handler()); }
  void write(writing& w) { mutex->async_lock(w.handler()); }
  void upgrade(reader& from, writing& w) { mutex->async_upgrade(std::move(from), w.handler()); }
  bool idle() const { return !mutex->is_locked() && mutex->waiters() == 0; }

  asio::io_context context;
  std::optional<async_shared_mutex> mutex{std::in_place, context};
};

}  // namespace shared_mutex_test

// What a wait has borrowed, and what a guard that was moved from is, is what many of them are
// about. NOLINTBEGIN(bugprone-use-after-move)

BOOST_FIXTURE_TEST_SUITE(shared_mutex_test, fixture)

// --- Readers and writers ---

BOOST_AUTO_TEST_CASE(many_read_or_one_writes) {
  BOOST_TEST(mutex->try_lock_shared());
  BOOST_TEST(mutex->try_lock_shared());
  BOOST_TEST(!mutex->try_lock());
  mutex->unlock_shared();
  BOOST_TEST(mutex->is_locked());
  BOOST_TEST(!mutex->try_lock());
  mutex->unlock_shared();
  BOOST_TEST(!mutex->is_locked());
  BOOST_TEST(mutex->try_lock());
  BOOST_TEST(!mutex->try_lock_shared());
  BOOST_TEST(!mutex->try_lock());
  mutex->unlock();
  BOOST_TEST(idle());
}

BOOST_AUTO_TEST_CASE(R7_neighbouring_readers_enter_together_and_nobody_passes_anybody) {
  writing first, second;
  reading r[4];
  write(first);
  read(r[0]);
  read(r[1]);
  write(second);
  read(r[2]);
  read(r[3]);
  poll();
  BOOST_TEST((first.granted() && mutex->waiters() == 5u));
  first.held.unlock();
  poll();
  BOOST_TEST((r[0].granted() && r[1].granted() && second.waits() && r[2].waits()));
  BOOST_TEST(!mutex->try_lock_shared());  // no reader passes a writer
  r[0].held.unlock();
  poll();
  BOOST_TEST(second.waits());
  r[1].held.unlock();
  poll();
  BOOST_TEST((second.granted() && r[2].waits()));
  second.held.unlock();
  poll();
  BOOST_TEST((r[2].granted() && r[3].granted()));
}

BOOST_AUTO_TEST_CASE(R7_many_readers_enter_together) {
  constexpr int many = 1000;  // several batches
  writer first(*mutex);
  int inside = 0, most = 0;
  std::vector<reader> held;
  for (int i = 0; i < many; ++i)
    mutex->async_lock_shared([&](error_code e, reader r) {
      BOOST_TEST(!e);
      most = std::max(most, ++inside);
      held.push_back(std::move(r));
    });
  writing last;
  write(last);
  first.unlock();
  BOOST_TEST(mutex->waiters() == 1u);
  poll();
  BOOST_TEST((most == many && last.waits()));
  held.clear();
  poll();
  BOOST_TEST(last.granted());
}

BOOST_AUTO_TEST_CASE(R4_readers_behind_a_cancelled_writer_enter_at_once) {
  for (int const way : {0, 1, 2}) {
    reading inside, behind;
    writing between;
    asio::cancellation_signal signal;
    read(inside);
    if (way == 0)
      mutex->async_lock(asio::bind_cancellation_slot(signal.slot(), between.handler()));
    if (way == 1) mutex->async_lock_for(1ns, between.handler());
    if (way == 2) {  // a context that ends
      auto dying = std::make_unique<asio::io_context>();
      mutex->async_lock(asio::bind_executor(*dying, [](error_code, writer) {}));
      read(behind);
      dying.reset();
    } else {
      read(behind);
      BOOST_TEST(mutex->waiters() == 2u);
      signal.emit(asio::cancellation_type::terminal);
    }
    context.restart();
    while (behind.waits()) context.run_one();
    poll();
    BOOST_TEST((inside.granted() && behind.granted()));
    if (way != 2) BOOST_TEST(between.refused(way == 0 ? aborted : timed_out));
  }
  BOOST_TEST(idle());
}

BOOST_AUTO_TEST_CASE(R7_threads_and_handlers_share_one_queue) {
  reader held(*mutex);
  bool wrote = false;
  blocked_thread thread(*mutex, [&] {
    std::lock_guard const guard(*mutex);
    wrote = true;
  });
  reading behind;
  read(behind);
  poll();
  BOOST_TEST(behind.waits());
  held.unlock();
  BOOST_TEST(!thread.join());
  poll();
  BOOST_TEST((wrote && behind.granted()));
}

BOOST_AUTO_TEST_CASE(the_guards_of_the_standard_work_with_it) {
  {
    std::shared_lock const first(*mutex);
    std::shared_lock const second(*mutex, 0s);
    std::unique_lock const third(*mutex, std::try_to_lock);
    BOOST_TEST((first && second && !third));
    std::shared_lock const fourth(*mutex, std::chrono::steady_clock::now());
    BOOST_TEST(fourth.owns_lock());
  }
  std::scoped_lock const last(*mutex);
  BOOST_TEST((!mutex->try_lock_shared_for(0s) && !mutex->try_lock_for(0s)));
  BOOST_TEST(!mutex->try_lock_shared_until(std::chrono::steady_clock::now()));
}

BOOST_AUTO_TEST_CASE(guards_have_the_interface_of_the_standards) {
  static_assert(std::is_nothrow_move_constructible_v<reader>);
  static_assert(!std::is_copy_constructible_v<reader>);
  static_assert(!std::is_convertible_v<reader, writer> && !std::is_convertible_v<writer, reader>);
  reader a(*mutex), b(*mutex, std::defer_lock), c;
  BOOST_TEST((a && !b && !c && a.mutex() == &*mutex && b.mutex() == &*mutex && !c.mutex()));
  BOOST_TEST(b.try_lock());
  BOOST_TEST((error_of([&] { static_cast<void>(b.try_lock()); }) == deadlock));
  BOOST_TEST((error_of([&] { c.lock(); }) == not_permitted));
  c = std::move(a);
  BOOST_TEST((!a && !a.mutex() && c));
  swap(a, c);
  BOOST_TEST((a.owns_lock() && a.release() == &*mutex));
  mutex->unlock_shared();
  b.unlock();
  BOOST_TEST((error_of([&] { b.unlock(); }) == not_permitted));
  BOOST_TEST(idle());
  BOOST_TEST((b.try_lock_for(0s) && !writer(*mutex, std::try_to_lock)));
}

// --- Misuse ---

BOOST_AUTO_TEST_CASE(R15_what_no_member_holds_no_member_unlocks) {
  auto const refuses = [&](bool write, bool read) {
    BOOST_TEST((!write || error_of([&] { mutex->unlock(); }) == not_permitted));
    BOOST_TEST((!read || error_of([&] { mutex->unlock_shared(); }) == not_permitted));
  };
  refuses(true, true);
  {
    reader const held(*mutex);
    refuses(true, true);
    BOOST_TEST(mutex->try_lock_shared());
    refuses(true, false);
    mutex->unlock_shared();
    refuses(true, true);
  }
  {
    writer const held(*mutex);
    refuses(true, true);
  }
  BOOST_TEST(mutex->try_lock());
  refuses(false, true);
  BOOST_TEST((error_of([&] { reader const adopted(*mutex, std::adopt_lock); }) == not_permitted));
  writer held(*mutex, std::adopt_lock);
  refuses(true, true);
  BOOST_TEST(held.release() == &*mutex);
  mutex->unlock();
  BOOST_TEST(mutex->try_lock_shared());
  BOOST_TEST((error_of([&] { writer const adopted(*mutex, std::adopt_lock); }) == not_permitted));
  reader(*mutex, std::adopt_lock).unlock();
  BOOST_TEST(idle());
}

BOOST_AUTO_TEST_CASE(R18_a_closed_one_lets_nobody_in_and_holders_out) {
  reader held(*mutex);
  writing queued;
  write(queued);
  mutex->close();
  reading late;
  writing up;
  read(late);
  upgrade(held, up);
  poll();
  BOOST_TEST((queued.refused(closed) && late.refused(closed) && up.refused(closed)));
  BOOST_TEST((held.owns_lock() && !mutex->try_lock_shared()));
  held.unlock();
  BOOST_TEST((error_of([&] { mutex->lock_shared(); }) == closed));
  BOOST_TEST(idle());
}

// --- Downgrades ---

BOOST_AUTO_TEST_CASE(R7_a_downgrade_lets_readers_in_and_no_writer) {
  writer held(*mutex);
  reading first, late;
  writing between;
  read(first);
  write(between);
  read(late);
  reader now = async_shared_mutex::downgrade(std::move(held));
  BOOST_TEST((now.owns_lock() && !held.mutex()));
  poll();
  BOOST_TEST((first.granted() && between.waits() && late.waits()));
  first.held.unlock();
  poll();
  BOOST_TEST(between.waits());
  now.unlock();
  poll();
  BOOST_TEST(between.granted());
}

BOOST_AUTO_TEST_CASE(R15_what_does_not_own_is_downgraded_to_nothing) {
  BOOST_TEST(!async_shared_mutex::downgrade(writer()));
  BOOST_TEST(!async_shared_mutex::downgrade(writer(*mutex, std::defer_lock)));
  writer held(*mutex);
  mutex.reset();
  BOOST_TEST(!async_shared_mutex::downgrade(std::move(held)));
}

// --- Upgrades ---

BOOST_AUTO_TEST_CASE(R7_an_upgrade_waits_for_the_other_readers_ahead_of_the_queue) {
  reader mine(*mutex), other(*mutex);
  writing queued, up;
  reading late;
  write(queued);
  upgrade(mine, up);
  read(late);
  poll();
  BOOST_TEST((up.waits() && !mine.owns_lock() && mutex->waiters() == 3u));
  other.unlock();
  poll();
  BOOST_TEST((up.granted() && !mine.mutex() && queued.waits()));
  up.held.unlock();
  poll();
  BOOST_TEST((queued.granted() && late.waits()));
}

BOOST_AUTO_TEST_CASE(R15_the_second_upgrade_keeps_its_lock) {
  reader first(*mutex), second(*mutex);
  writing up, refused;
  upgrade(first, up);
  upgrade(second, refused);
  poll();
  BOOST_TEST((refused.refused(deadlock) && second.owns_lock() && up.waits()));
  second.unlock();
  poll();
  BOOST_TEST(up.granted());
}

BOOST_AUTO_TEST_CASE(R15_only_what_owns_this_mutex_is_upgraded) {
  async_shared_mutex other(context);
  reader none, of_other(other), deferred(*mutex, std::defer_lock), lent(*mutex), held(*mutex);
  for (reader* each : {&none, &of_other, &deferred}) {
    writing up;
    upgrade(*each, up);
    poll();
    BOOST_TEST(up.refused(not_permitted));
  }
  BOOST_TEST((of_other.owns_lock() && deferred.mutex() == &*mutex));
  writing up, twice;
  upgrade(lent, up);
  upgrade(lent, twice);
  poll();
  BOOST_TEST((twice.refused(not_permitted) && up.waits() && !lent));
  held.unlock();
  poll();
  BOOST_TEST((up.granted() && !lent.mutex()));
}

BOOST_AUTO_TEST_CASE(R4_a_refused_upgrade_reads_on_and_those_behind_it_enter) {
  for (int const way : {0, 1, 2}) {
    reader mine(*mutex), other(*mutex);
    reading behind;
    bool owned = false, called = false;
    asio::cancellation_signal signal;
    auto const handler = [&](error_code e, writer w) {
      called = true;
      BOOST_TEST(((e == (way == 1 ? timed_out : aborted)) && !w));
      owned = mine.owns_lock();
    };
    if (way == 0)
      mutex->async_upgrade(std::move(mine), asio::bind_cancellation_slot(signal.slot(), handler));
    if (way == 1) mutex->async_upgrade_for(std::move(mine), 1ns, handler);
    if (way == 2) mutex->async_upgrade(std::move(mine), handler);
    read(behind);
    if (way == 0) signal.emit(asio::cancellation_type::partial);
    if (way == 2) BOOST_TEST(mutex->cancel() == 2u);
    context.restart();
    while (!called) context.run_one();
    poll();
    BOOST_TEST((owned && mine.owns_lock()));
    BOOST_TEST((way == 2 ? behind.refused(aborted) : behind.granted()));
  }
  BOOST_TEST(idle());
}

BOOST_AUTO_TEST_CASE(R4_a_withdrawn_upgrade_reads_on_and_those_behind_it_enter) {
  for (bool const queues : {false, true}) {
    reader mine(*mutex);
    std::optional<reader> other;
    if (queues) other.emplace(*mutex);
    reading behind;
    writing last;
    bool owned = false;
    error_code error;
    asio::cancellation_signal signal;
    auto const handler = [&](error_code e, writer w) {
      owned = mine.owns_lock() && !w;
      error = e;
    };
    mutex->async_upgrade(std::move(mine), asio::bind_cancellation_slot(signal.slot(), handler));
    other.reset();  // granted, and on its way
    read(behind);
    mutex->async_lock(last.handler());
    BOOST_TEST(mutex->waiters() == 2u);
    signal.emit(asio::cancellation_type::total);
    BOOST_TEST(!mine.owns_lock());
    poll();
    BOOST_TEST((error == aborted));
    BOOST_TEST((owned && mine.owns_lock() && behind.granted() && last.waits()));
    mine.unlock();
    behind = reading();
    poll();
    BOOST_TEST(last.granted());
  }
}

BOOST_AUTO_TEST_CASE(R4_R9_an_upgrade_is_withdrawn_of_a_mutex_that_has_died) {
  reader mine(*mutex);
  writing up;
  asio::cancellation_signal signal;
  mutex->async_upgrade(std::move(mine), asio::bind_cancellation_slot(signal.slot(), up.handler()));
  signal.emit(asio::cancellation_type::total);
  mutex.reset();
  poll();
  BOOST_TEST(up.refused(aborted));
  BOOST_TEST((!mine.owns_lock() && !mine.mutex()));
}

BOOST_AUTO_TEST_CASE(R11_an_upgrade_without_time_tries_once) {
  reader mine(*mutex), other(*mutex);
  writing up, again;
  mutex->async_upgrade_for(std::move(mine), 0s, up.handler());
  poll();
  BOOST_TEST((up.refused(timed_out) && mine.owns_lock()));
  other.unlock();
  mutex->async_upgrade_until(std::move(mine), std::chrono::steady_clock::now(), again.handler());
  poll();
  BOOST_TEST((again.granted() && !mine));
}

BOOST_AUTO_TEST_CASE(R9_the_argument_of_an_upgrade_is_empty_if_the_mutex_dies) {
  for (bool const granted : {false, true}) {
    mutex.emplace(context);
    reader mine(*mutex), other(*mutex);
    writing up;
    upgrade(mine, up);
    if (granted) other.unlock();  // and it is on its way
    mutex.reset();
    poll();
    BOOST_TEST(up.refused(aborted));
    BOOST_TEST((!mine.owns_lock() && !mine.mutex() && !other.owns_lock()));
  }
  mutex.emplace(context);
  reader alone(*mutex);
  writing up;
  upgrade(alone, up);  // granted at once
  mutex.reset();
  poll();
  BOOST_TEST((up.refused(aborted) && !alone.mutex()));
}

BOOST_AUTO_TEST_CASE(R3_a_dropped_upgrade_lets_go_what_was_held) {
  for (int const way : {0, 1, 2, 3}) {  // the last is refused at once
    auto dying = std::make_unique<asio::io_context>();
    reader mine(*mutex), other(*mutex);
    auto handler = asio::bind_executor(*dying, [](error_code, writer) { BOOST_TEST(false); });
    if (way == 3)
      mutex->async_upgrade_for(std::move(mine), 0s, handler);
    else
      mutex->async_upgrade(std::move(mine), handler);
    writing behind;
    write(behind);
    if (way == 1) other.unlock();                     // granted
    if (way == 2) BOOST_TEST(mutex->cancel() == 2u);  // refused
    dying.reset();
    BOOST_TEST(!mine.owns_lock());
    if (way == 0) BOOST_TEST((mutex->waiters() == 1u));
    if (way != 1) other.unlock();
    poll();
    BOOST_TEST((way == 2 ? behind.refused(aborted) : behind.granted()));
    behind.held = writer();
    BOOST_TEST(idle());
  }
}

BOOST_AUTO_TEST_CASE(R1a_a_coroutine_does_not_suspend_for_what_is_free) {
  asio_sync::test::run(context, [&]() -> asio::awaitable<void> {
    asio_sync::test::trip_probe const probe(context.get_executor());
    {
      auto const first = co_await mutex->async_lock_shared();
      auto second = co_await mutex->async_lock_shared(asio::use_awaitable);
      second.unlock();
    }
    reader held = co_await mutex->async_lock_shared();
    writer now = co_await mutex->async_upgrade(std::move(held));
    held = async_shared_mutex::downgrade(std::move(now));
    error_code error;
    now = co_await mutex->async_upgrade(std::move(held),
                                        asio::redirect_error(asio::deferred, error));
    BOOST_TEST((!error && now && !held));
    BOOST_TEST(probe.taken() == !asio_sync::test::spared);
  });
  BOOST_TEST(idle());
}

BOOST_AUTO_TEST_CASE(R4_coroutines_have_their_lock_again_when_an_upgrade_is_refused) {
  reader other(*mutex);
  int refused = 0;
  auto const upgrade_with = [&](auto token) -> asio::awaitable<void> {
    reader mine = co_await mutex->async_lock_shared();
    auto [error, now] = co_await mutex->async_upgrade(std::move(mine), token);
    BOOST_TEST((error == aborted && !now && mine));
    ++refused;
  };
  for (int const way : {0, 1}) {
    if (way == 0)
      asio::co_spawn(context, upgrade_with(asio::as_tuple(asio::deferred)), asio::detached);
    else
      asio::co_spawn(context, upgrade_with(asio::as_tuple(asio::use_awaitable)), asio::detached);
    poll();
    BOOST_TEST(mutex->cancel() == 1u);
    poll();
  }
  BOOST_TEST(refused == 2);
  other.unlock();
  BOOST_TEST(idle());
}

BOOST_AUTO_TEST_CASE(R13_an_upgrade_that_throws_leaves_its_argument_as_it_was) {
  struct bad_handler {
    bad_handler() = default;
    bad_handler(bad_handler const&) { throw 1; }
    void operator()(error_code, writer) const {}
  };
  reader mine(*mutex), other(*mutex);
  bad_handler const handler;
  BOOST_CHECK_THROW(mutex->async_upgrade(std::move(mine), handler), int);
  BOOST_TEST((mine.owns_lock() && mutex->waiters() == 0u));
}

// --- The end ---

BOOST_AUTO_TEST_CASE(R14_writers_are_alone_and_readers_see_what_they_wrote) {
  asio::thread_pool pool(2);
  int a = 0, b = 0;  // not atomic
  std::atomic<int> torn = 0;
  auto const work = [&](int n) -> asio::awaitable<void> {
    for (int i = 0; i < 500; ++i) {
      reader held = co_await mutex->async_lock_shared();
      torn += a != b;
      if (i % 10 != n) continue;
      auto [error, now] =
          co_await mutex->async_upgrade(std::move(held), asio::as_tuple(asio::deferred));
      if (error) {  // somebody else upgrades
        held.unlock();
        now = co_await mutex->async_lock();
      }
      ++a, ++b;
      held = async_shared_mutex::downgrade(std::move(now));
      torn += a != b;
    }
  };
  for (int n : {0, 1, 2, 3}) asio::co_spawn(pool, work(n), asio::detached);
  pool.join();
  BOOST_TEST((torn == 0 && a == 200 && b == 200));
  BOOST_TEST(idle());
}

BOOST_AUTO_TEST_SUITE_END()

// NOLINTEND(bugprone-use-after-move)
