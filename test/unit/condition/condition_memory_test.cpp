// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Waits on a condition that find no memory, in whatever form they are begun: the caller still has
// the lock then, nobody waits, and the same wait goes well a moment later. With a token for
// callbacks that carries its lock, see condition_lifetime_test.cpp.

#include "support/failing_coroutine.hpp"
#include "support/memory.hpp"
#include "support/test.hpp"

#include <asio_sync/async_condition.hpp>
#include <asio_sync/async_mutex.hpp>

namespace condition_memory_test {

using namespace asio_sync::test;
using lock_type = async_mutex::lock_type;

// A condition, its mutex, perhaps of another context, and one who holds that and is to wait.
struct fixture {
  explicit fixture(bool elsewhere = false) : mutex(elsewhere ? other : context) {}

  asio::io_context context, other;
  async_mutex mutex;
  async_condition condition{context};
  lock_type lock{mutex};
  asio::strand<asio::io_context::executor_type> strand{other.get_executor()};
  bool ready = false;
  int completed = 0;  // with the lock
  std::future<void> future;
  std::future<lock_type> carried;

  auto is_ready() {
    return [this] { return ready; };
  }
  auto handler() {
    return [this](error_code e) { completed += !e && lock.owns_lock(); };
  }

  void poll() { test::poll(context, other); }

  // After the initiation.
  void check_lock(bool thrown) {
    BOOST_TEST(lock.owns_lock() == thrown);
    BOOST_TEST((lock.mutex() == &mutex) == thrown);
    poll();  // looks for the first time
    BOOST_TEST(condition.waiters() == std::size_t(!thrown));
    BOOST_TEST(mutex.is_locked() == thrown);
    if (thrown) context.run(), other.run();  // nothing keeps them running
  }

  void serve() {
    ready = true;
    condition.notify_one();
    poll();
    poll();
  }

  // After the completion.
  void check_end() {
    BOOST_TEST(lock.owns_lock());
    lock = lock_type();
    BOOST_TEST(!mutex.is_locked());
  }
};

// Begun by Start()(fixture).
template <class Start, bool Elsewhere>
struct initiation : fixture {
  initiation() : fixture(Elsewhere) {}

  void act() { Start()(*this); }

  void check(bool thrown) {
    check_lock(thrown);
    if (thrown) {
      act();
      poll();
      BOOST_TEST(condition.waiters() == 1u);
    }
    serve();
    if (future.valid()) future.get(), ++completed;
    if (carried.valid()) lock = carried.get(), ++completed;
    BOOST_TEST(completed == 1);
    check_end();
  }
};

template <class Start>
void fail_each_allocation_of(Start, std::size_t least) {
  BOOST_TEST((fail_each_allocation<initiation<Start, false>>()) >= least);
  BOOST_TEST((fail_each_allocation<initiation<Start, true>>()) >= least);
}

// Awaited: Start(fixture) is.
template <class Start>
void fail_each_allocation_awaited(Start start) {
  for (bool const elsewhere : {false, true})
    for (std::size_t successes = 0;; ++successes) {
      fixture f(elsewhere);
      failing_coroutine const awaits(f.other, successes, [&] { return start(f); });
      BOOST_TEST(awaits.thrown() == awaits.failed());
      BOOST_TEST(!awaits.completed());
      f.check_lock(awaits.thrown());
      if (awaits.thrown()) f.condition.async_wait(f.lock, f.handler());
      f.serve();
      BOOST_TEST(f.completed == int(awaits.thrown()));
      BOOST_TEST(awaits.completed() == !awaits.thrown());
      f.check_end();
      if (!awaits.thrown()) {
        BOOST_TEST(successes >= 1u);
        break;
      }
    }
}

}  // namespace condition_memory_test

BOOST_AUTO_TEST_SUITE(condition_memory_test)

BOOST_AUTO_TEST_CASE(R13_a_callback_without_memory_leaves_the_lock_to_the_caller) {
  fail_each_allocation_of([](fixture& f) { f.condition.async_wait(f.lock, f.handler()); }, 1);
  fail_each_allocation_of(
      [](fixture& f) { f.condition.async_wait(f.lock, f.is_ready(), f.handler()); }, 1);
  fail_each_allocation_of(
      [](fixture& f) {
        f.condition.async_wait(f.lock, f.is_ready(), asio::bind_executor(f.strand, f.handler()));
      },
      1);
}

BOOST_AUTO_TEST_CASE(R13_so_does_a_deferred_operation_that_is_launched) {
  fail_each_allocation_of(
      [](fixture& f) { f.condition.async_wait(f.lock, asio::deferred)(f.handler()); }, 1);
  fail_each_allocation_of(
      [](fixture& f) {
        auto operation = f.condition.async_wait(f.lock, f.is_ready(), asio::deferred);
        std::move(operation)(f.handler());
      },
      1);
}

BOOST_AUTO_TEST_CASE(R13_so_does_a_future) {
  fail_each_allocation_of(
      [](fixture& f) { f.future = f.condition.async_wait(f.lock, asio::use_future); }, 2);
  fail_each_allocation_of(
      [](fixture& f) {
        f.carried = f.condition.async_wait(std::move(f.lock), f.is_ready(), asio::use_future);
      },
      2);
}

BOOST_AUTO_TEST_CASE(R13_so_does_a_coroutine) {
  fail_each_allocation_awaited(
      [](fixture& f) { return f.condition.async_wait(f.lock, asio::deferred); });
  fail_each_allocation_awaited(
      [](fixture& f) { return f.condition.async_wait(f.lock, f.is_ready(), asio::deferred); });
  fail_each_allocation_awaited(
      [](fixture& f) { return f.condition.async_wait(f.lock, asio::use_awaitable); });
  fail_each_allocation_awaited([](fixture& f) {
    return f.condition.async_wait(f.lock, f.is_ready(), asio::use_awaitable);
  });
  fail_each_allocation_awaited([](fixture& f) {
    return f.condition.async_wait(f.lock, f.is_ready(), asio::as_tuple(asio::use_awaitable));
  });
}

#if !defined(BOOST_ASIO_HAS_IOCP)  // there a queue of timers whose making has failed is kept
BOOST_AUTO_TEST_CASE(R13_so_does_whatever_has_a_deadline) {
  fail_each_allocation_of([](fixture& f) { f.condition.async_wait_for(f.lock, 1h, f.handler()); },
                          3);
  fail_each_allocation_of(
      [](fixture& f) {
        f.condition.async_wait_for(f.lock, 1h, f.is_ready(),
                                   asio::bind_executor(f.strand, f.handler()));
      },
      3);
  fail_each_allocation_of(
      [](fixture& f) {
        f.carried = f.condition.async_wait_for(std::move(f.lock), 1h, asio::use_future);
      },
      3);
  fail_each_allocation_awaited([](fixture& f) {
    return f.condition.async_wait_for(f.lock, 1h, f.is_ready(), asio::use_awaitable);
  });
  fail_each_allocation_awaited(
      [](fixture& f) { return f.condition.async_wait_for(f.lock, 1h, asio::deferred); });
}
#endif

BOOST_AUTO_TEST_SUITE_END()
