// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Readers and writers who become the other without memory. For locks of both kinds without, see
// the cases of rules/memory.hpp and rules/coroutines.hpp.

#include "support/failing_coroutine.hpp"
#include "support/memory.hpp"
#include "support/test.hpp"

#include <asio_sync/async_shared_mutex.hpp>

namespace shared_mutex_memory_test {

using namespace asio_sync::test;
using writer = async_shared_mutex::lock_type;
using reader = async_shared_mutex::shared_lock_type;

// A reader who is to be the writer; another one may read, too.
struct fixture {
  explicit fixture(bool waits = false) {
    if (waits) another = reader(mutex);
  }

  void poll() { test::poll(context, other); }

  auto handler() {
    return
        [this](error_code e, writer w) { upgraded += !e && w.owns_lock() && !mine.owns_lock(); };
  }

  // After the initiation: whoever has failed reads on and keeps no reader out.
  void check_initiation(bool waits, bool thrown) {
    BOOST_TEST(mine.owns_lock() == thrown);
    BOOST_TEST(mutex.waiters() == std::size_t(waits && !thrown));
    BOOST_TEST(reader(mutex, std::try_to_lock).owns_lock() == thrown);
    if (thrown) context.run(), other.run();  // nothing keeps them running
  }

  // The other reader goes.
  void serve() {
    another = reader();
    poll();
  }

  // Nobody is left behind.
  void check_end() const {
    BOOST_TEST(!mutex.is_locked());
    BOOST_TEST(mutex.waiters() == 0u);
  }

  asio::io_context context, other;
  async_shared_mutex mutex{context};
  asio::strand<asio::io_context::executor_type> strand{other.get_executor()};
  reader mine{mutex}, another;
  int upgraded = 0;
  std::future<writer> future;
};

template <class Start, bool Waits>
struct upgrade : fixture {
  upgrade() : fixture(Waits) {}

  void act() { Start()(*this); }

  void check(bool thrown) {
    check_initiation(Waits, thrown);
    if (thrown) act();
    serve();
    if (future.valid()) upgraded += future.get().owns_lock();
    BOOST_TEST(upgraded == 1);
    check_end();
  }
};

template <class Start>
void fail_each_allocation_of(Start, std::size_t least) {
  BOOST_TEST((fail_each_allocation<upgrade<Start, true>>()) >= least);
  BOOST_TEST((fail_each_allocation<upgrade<Start, false>>()) >= 1u);
}

template <class Start>
void fail_each_allocation_awaited(Start start) {
  for (std::size_t successes = 0;; ++successes) {
    fixture f(true);
    failing_coroutine const awaits(f.other, successes, [&] { return start(f); });
    BOOST_TEST(awaits.thrown() == awaits.failed());
    f.check_initiation(true, awaits.thrown());
    if (awaits.thrown()) f.mutex.async_upgrade(std::move(f.mine), f.handler());
    f.serve();
    BOOST_TEST(f.upgraded == int(awaits.thrown()));
    BOOST_TEST(awaits.completed() == !awaits.thrown());
    f.check_end();
    if (awaits.thrown()) continue;
    BOOST_TEST(successes >= 1u);
    return;
  }
}

}  // namespace shared_mutex_memory_test

BOOST_AUTO_TEST_SUITE(shared_mutex_memory_test)

BOOST_AUTO_TEST_CASE(R13_an_upgrade_without_memory_leaves_its_argument_as_it_was) {
  fail_each_allocation_of(
      [](fixture& f) { f.mutex.async_upgrade(std::move(f.mine), f.handler()); }, 1);
  fail_each_allocation_of(
      [](fixture& f) {
        f.mutex.async_upgrade(std::move(f.mine), asio::bind_executor(f.strand, f.handler()));
      },
      2);
  fail_each_allocation_of(
      [](fixture& f) { f.mutex.async_upgrade(std::move(f.mine), asio::deferred)(f.handler()); },
      1);
  fail_each_allocation_of(
      [](fixture& f) { f.future = f.mutex.async_upgrade(std::move(f.mine), asio::use_future); },
      2);
#if !defined(BOOST_ASIO_HAS_IOCP)  // there a queue of timers whose making has failed is kept
  fail_each_allocation_of(
      [](fixture& f) { f.mutex.async_upgrade_for(std::move(f.mine), 1h, f.handler()); }, 3);
#endif
}

BOOST_AUTO_TEST_CASE(R13_nor_does_one_in_a_coroutine) {
  fail_each_allocation_awaited(
      [](fixture& f) { return f.mutex.async_upgrade(std::move(f.mine), asio::deferred); });
  fail_each_allocation_awaited(
      [](fixture& f) { return f.mutex.async_upgrade(std::move(f.mine), asio::use_awaitable); });
#if !defined(BOOST_ASIO_HAS_IOCP)
  fail_each_allocation_awaited([](fixture& f) {
    return f.mutex.async_upgrade_for(std::move(f.mine), 1h, asio::use_awaitable);
  });
#endif
}

BOOST_AUTO_TEST_CASE(R13_downgrades_and_upgrades_are_granted_without_memory) {
  fixture f;
  f.mine = reader();
  writer holds(f.mutex);
  std::string entered;
  reader first, second;
  auto const read = [&](reader& into, char name) {
    return [&, name](error_code, reader r) { entered += name, into = std::move(r); };
  };
  auto const write = [&](char name) {
    return [&, name](error_code, writer const&) { entered += name; };
  };
  f.mutex.async_lock_shared(read(first, 'a'));
  f.mutex.async_lock_shared(asio::bind_executor(f.strand, read(second, 'b')));
  f.mutex.async_lock(write('w'));
  f.mutex.async_lock_shared(read(f.another, 'c'));
  {
    empty_pool const pool;
    failing_heap const heap;
    f.mine = async_shared_mutex::downgrade(std::move(holds));
    f.poll();
  }
  BOOST_TEST(entered == "ab");
  f.mutex.async_upgrade(std::move(f.mine), asio::bind_executor(f.strand, write('u')));
  {
    empty_pool const pool;
    failing_heap const heap;
    first.unlock();
    second.unlock();
    for (int i = 0; i < 3; ++i) f.poll();
  }
  BOOST_TEST(entered == "abuwc");
  f.another = reader();
  f.check_end();
}

BOOST_AUTO_TEST_SUITE_END()
