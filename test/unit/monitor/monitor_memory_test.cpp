// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Waits for a monitor that find no memory, in whatever form they are begun: nobody waits then, and
// the monitor goes on. For callbacks see also monitor_invoke_test.cpp.

#include "support/failing_coroutine.hpp"
#include "support/memory.hpp"
#include "support/test.hpp"
#include "unit/monitor/fixture.hpp"

#include <asio_sync/async_monitor.hpp>

namespace monitor_memory_test {

using namespace asio_sync::test;
using entry = bank::entry;

int increment(account& a) { return ++a.balance; }

asio::awaitable<int> increment_later(account& a) {
  co_await asio::post(asio::use_awaitable);
  co_return ++a.balance;
}

// A monitor that somebody has entered, and a wait, completed so many times.
struct fixture : monitor_fixture {
  entry inside{monitor->try_enter()};
  int completed = 0;

  auto on_entry() {
    return [this](error_code error, entry const& e) { completed += !error && e.owns(); };
  }
  auto on_end() {
    return [this](std::exception_ptr const& thrown, int) { completed += !thrown; };
  }

  // After the initiation.
  void check(bool thrown) {
    BOOST_TEST(monitor->waiters() == std::size_t(!thrown));
    inside.leave();
    poll();
    BOOST_TEST(monitor->waiters() == 0u);
    BOOST_TEST(monitor->try_enter().owns());
    BOOST_TEST(context->stopped());
    monitor.reset();
    BOOST_TEST(account::alive == 0);
  }
};

// Begun by Start()(fixture).
template <class Start>
struct initiation : fixture {
  void act() { Start()(*this); }

  void check(bool thrown) {
    fixture::check(thrown);
    BOOST_TEST(completed == int(!thrown));
  }
};

template <class Start>
void fail_each_allocation_of(Start, std::size_t least) {
  BOOST_TEST(fail_each_allocation<initiation<Start>>() >= least);
}

// Awaited: Start(fixture) is.
template <class Start>
void fail_each_allocation_awaited(Start start) {
  bool thrown = true;
  for (std::size_t successes = 0; thrown; ++successes) {
    fixture f;
    failing_coroutine const awaits(*f.other, successes, [&] { return start(f); });
    thrown = awaits.thrown();
    BOOST_TEST(thrown == awaits.failed());
    f.check(thrown);
    BOOST_TEST(awaits.completed() == !thrown);
    BOOST_TEST((thrown || successes != 0));
  }
}

}  // namespace monitor_memory_test

BOOST_AUTO_TEST_SUITE(monitor_memory_test)

BOOST_AUTO_TEST_CASE(R13_a_callback_without_memory_changes_nothing) {
  fail_each_allocation_of([](fixture& f) { f.monitor->async_enter(f.on_entry()); }, 1);
  fail_each_allocation_of(
      [](fixture& f) { f.monitor->async_enter_when(at_least(0), f.on_entry()); }, 1);
  fail_each_allocation_of([](fixture& f) { f.monitor->async_invoke(increment, f.on_end()); }, 1);
  fail_each_allocation_of([](fixture& f) { f.monitor->async_invoke(increment_later, f.on_end()); },
                          1);
  fail_each_allocation_of(
      [](fixture& f) {
        f.monitor->async_invoke_when(at_least(0), increment_later,
                                     asio::bind_executor(*f.other, f.on_end()));
      },
      1);
}

BOOST_AUTO_TEST_CASE(R13_so_does_a_coroutine) {
  fail_each_allocation_awaited(
      [](fixture& f) { return f.monitor->async_enter(asio::use_awaitable); });
  fail_each_allocation_awaited(
      [](fixture& f) { return f.monitor->async_enter_when(at_least(0), asio::deferred); });
  fail_each_allocation_awaited([](fixture& f) {
    return f.monitor->async_enter_when(at_least(0), asio::as_tuple(asio::use_awaitable));
  });
  fail_each_allocation_awaited(
      [](fixture& f) { return f.monitor->async_invoke(increment, asio::use_awaitable); });
  fail_each_allocation_awaited(
      [](fixture& f) { return f.monitor->async_invoke(increment_later, asio::use_awaitable); });
  fail_each_allocation_awaited([](fixture& f) {
    return f.monitor->async_invoke_when(at_least(0), increment_later, asio::deferred);
  });
}

#if !defined(BOOST_ASIO_HAS_IOCP)  // there a queue of timers whose making has failed is kept
BOOST_AUTO_TEST_CASE(R13_so_does_whatever_has_a_deadline) {
  fail_each_allocation_of(
      [](fixture& f) { f.monitor->async_enter_when_for(at_least(0), 1h, f.on_entry()); }, 3);
  fail_each_allocation_of(
      [](fixture& f) { f.monitor->async_invoke_for(increment_later, 1h, f.on_end()); }, 3);
  fail_each_allocation_awaited([](fixture& f) {
    return f.monitor->async_enter_when_for(at_least(0), 1h, asio::use_awaitable);
  });
  fail_each_allocation_awaited([](fixture& f) {
    return f.monitor->async_invoke_for(increment_later, 1h, asio::use_awaitable);
  });
}
#endif

// On the strand, where nobody can be told by an exception.
BOOST_AUTO_TEST_CASE(M5_a_function_that_cannot_be_begun_ends_with_the_exception) {
  bool failed = true;
  for (std::size_t successes = 0; failed; ++successes) {
    fixture f;
    bool is_bad_alloc = false, called = false;
    f.monitor->async_invoke(increment_later, asio::bind_executor(*f.other, [&](auto thrown, int) {
                              called = true;
                              try {
                                if (thrown) std::rethrow_exception(thrown);
                              } catch (std::bad_alloc const&) {
                                is_bad_alloc = true;
                              } catch (...) {  // another one
                              }
                            }));
    f.inside.leave();
    {
      failing_heap const heap(successes, failing_heap::failures::one);
      f.context->restart();
      f.context->run_one();
      failed = heap.failed() != 0;
    }
    f.poll();
    BOOST_TEST(called);
    // Asio does without some of them.
    BOOST_TEST(f.monitor->try_enter()->balance == int(!is_bad_alloc));
    BOOST_TEST((failed || !is_bad_alloc));
    BOOST_TEST((failed || successes >= 2));
  }
}

BOOST_AUTO_TEST_SUITE_END()
