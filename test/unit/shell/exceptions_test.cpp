// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include "support/test.hpp"

#include <asio_sync/async_mutex.hpp>

#include "support/executors.hpp"
#include "support/memory.hpp"

namespace exceptions_test {

using namespace asio_sync::test;

// One initiation whose allocations fail one after the other: what Start(mutex, contexts, handler)
// does, with the mutex held or free. Afterwards everything works.
template <class Start, bool Held>
struct initiation {
  asio::io_context home;
  asio::io_context other;
  asio::strand<asio::io_context::executor_type> far_strand{other.get_executor()};
  asio::any_io_executor near_strand{asio::make_strand(home)};
  async_mutex mutex{home};
  asio::cancellation_signal signal;
  fate f;
  std::optional<async_mutex::lock_type> held;
  std::optional<observed_handler> handler{std::in_place, f};

  initiation() {
    if (Held) held.emplace(mutex);
  }

  void act() { Start()(*this, std::move(*handler)); }

  void run() {
    home.restart();
    other.restart();
    home.run();
    other.run();
  }

  void check(bool thrown) {
    handler.reset();
    BOOST_TEST(mutex.is_locked() == (Held || !thrown));
    BOOST_TEST(mutex.waiters() == std::size_t(Held && !thrown));
    if (thrown) BOOST_TEST(f.dropped());
    if (thrown) run();  // nothing keeps it running
    fate again;
    Start()(*this, observed_handler(again));
    held.reset();
    run();
    if (!thrown) BOOST_TEST(f.granted());
    BOOST_TEST(again.granted());
    BOOST_TEST(mutex.try_lock());
  }
};

template <class Start>
void fail_each_allocation_of(Start, std::size_t least = 1) {
  BOOST_TEST((fail_each_allocation<initiation<Start, true>>()) >= least);
  BOOST_TEST((fail_each_allocation<initiation<Start, false>>()) >= 1u);
}

struct making_a_mutex {
  asio::io_context home;
  std::optional<async_mutex> mutex;

  void act() { mutex.emplace(home); }

  void check(bool thrown) {
    BOOST_TEST(mutex.has_value() == !thrown);
    if (thrown) act();
    fate f;
    mutex->async_lock(observed_handler(f));
    home.run();
    BOOST_TEST(f.granted());
  }
};

// Waits on every executor that a hand-off reaches without memory.
struct waits_without_memory {
  static constexpr int count = 11;

  asio::io_context home;
  asio::io_context other;
  asio::thread_pool pool{1};
  std::unique_ptr<async_mutex> mutex = std::make_unique<async_mutex>(home);
  asio::cancellation_signal signal;
  fate fates[count];

  waits_without_memory() {
    BOOST_TEST_REQUIRE(mutex->try_lock());
    auto const in_pool = pool.get_executor();
    queue(0, home.get_executor());
    queue(1, asio::make_strand(home));
    queue(2, asio::make_strand(asio::any_io_executor(home.get_executor())));
    queue(3, asio::any_io_executor(other.get_executor()));
    queue(4, asio::any_io_executor(asio::make_strand(other)));
    queue(5, in_pool);  // those of the pool in a row, as it is joined before the last is served
    queue(6, asio::make_strand(in_pool));
    queue(7, asio::any_io_executor(in_pool));
    queue(8, asio::any_io_executor(asio::make_strand(in_pool)));
    queue(9, asio::any_io_executor(asio::make_strand(asio::any_io_executor(in_pool))));
    mutex->async_lock_for(
        1h, asio::bind_cancellation_slot(signal.slot(), observed_handler(fates[10])));
  }

  template <class Executor>
  void queue(int i, Executor const& ex) {
    mutex->async_lock(asio::bind_executor(ex, observed_handler(fates[i])));
  }

  void run() {
    for (int turn = 0; turn < 2 * count; ++turn) {
      home.restart();
      home.poll();
      other.restart();
      other.poll();
    }
  }
};

}  // namespace exceptions_test

BOOST_AUTO_TEST_SUITE(exceptions_test)

BOOST_AUTO_TEST_CASE(R13_construction_without_memory_changes_nothing) {
  BOOST_TEST(fail_each_allocation<making_a_mutex>() >= 2u);
}

BOOST_AUTO_TEST_CASE(R13_initiation_without_memory_changes_nothing) {
  fail_each_allocation_of([](auto& s, auto handler) { s.mutex.async_lock(std::move(handler)); });
}

BOOST_AUTO_TEST_CASE(R13_initiation_elsewhere_without_memory_changes_nothing) {
  fail_each_allocation_of(
      [](auto& s, auto handler) {
        s.mutex.async_lock(asio::bind_executor(s.other, std::move(handler)));
      },
      2);
  fail_each_allocation_of([](auto& s, auto handler) {
    s.mutex.async_lock(asio::bind_executor(s.far_strand, std::move(handler)));
  });
  fail_each_allocation_of([](auto& s, auto handler) {
    s.mutex.async_lock(asio::bind_executor(s.near_strand, std::move(handler)));
  });
}

// With completion ports, Asio's io_context keeps a queue of timers whose making has failed, and
// links the next one, in the same place, to itself: whoever starts a timer then loops for ever.
#if !defined(BOOST_ASIO_HAS_IOCP)
BOOST_AUTO_TEST_CASE(R13_timed_initiation_without_memory_changes_nothing) {
  fail_each_allocation_of(
      [](auto& s, auto handler) { s.mutex.async_lock_for(1h, std::move(handler)); }, 4);
  fail_each_allocation_of(
      [](auto& s, auto handler) {
        s.mutex.async_lock_for(1h, asio::bind_executor(s.other, std::move(handler)));
      },
      4);
  fail_each_allocation_of(
      [](auto& s, auto handler) { s.mutex.async_lock_for(1h, std::move(handler)); }, 4);
}
#endif

BOOST_AUTO_TEST_CASE(R13_timed_initiation_that_cannot_start_the_timer_changes_nothing) {
  asio::io_context io;
  async_mutex mutex(io);
  fate first;
  async_mutex::lock_type const held(mutex);
  mutex.async_lock_for(1h, observed_handler(first));
  mutex.cancel();
  io.poll();  // a timer is there, and at rest
  io.restart();
  std::vector<asio::steady_timer> others;
  bool thrown = false;
  for (int i = 0; i < 16 && !thrown; ++i) {
    others.emplace_back(io, 1h).async_wait([](error_code) {});
    fate f;
    {
      failing_heap const heap;
      try {
        mutex.async_lock_for(1h, observed_handler(f));
      } catch (std::bad_alloc const&) {
        thrown = true;
      }
    }
    BOOST_TEST(mutex.waiters() == std::size_t(!thrown));
    fate again;
    mutex.async_lock_for(1h, observed_handler(again));
    mutex.cancel();
    io.poll();
    BOOST_TEST((thrown ? f.dropped() : f.refused(aborted)));
    BOOST_TEST(again.refused(aborted));
  }
  BOOST_TEST(thrown);
  others.clear();
  io.run();  // returns, as no deadline is left
}

#if !defined(BOOST_ASIO_HAS_IOCP)  // as above
BOOST_AUTO_TEST_CASE(R13_initiation_with_a_slot_without_memory_changes_nothing) {
  auto const start = [](auto& s, auto handler) {
    s.mutex.async_lock_for(
        1h, asio::bind_cancellation_slot(s.signal.slot(),
                                         asio::bind_executor(s.other, std::move(handler))));
    if (s.mutex.waiters() == 0) s.signal.emit(asio::cancellation_type::all);  // nothing is left
  };
  BOOST_TEST((fail_each_allocation<initiation<decltype(start), true>>()) >= 4u);
}
#endif

BOOST_AUTO_TEST_CASE(R13_unlock_needs_no_memory) {
  waits_without_memory s;
  for (int handed_on = 0; handed_on < waits_without_memory::count; ++handed_on) {
    empty_pool const pool;
    failing_heap const heap;
    if (handed_on == 0) s.mutex->unlock();
    s.run();
    BOOST_TEST(heap.failed() == 0u);
  }
  s.pool.join();
  s.run();
  for (auto const& f : s.fates) BOOST_TEST((f.called == 1 && f.owned));
}

BOOST_AUTO_TEST_CASE(R13_cancel_needs_no_memory) {
  waits_without_memory s;
  {
    empty_pool const pool;
    failing_heap const heap;
    s.signal.emit(asio::cancellation_type::partial);
    BOOST_TEST(s.mutex->waiters() == 10u);
    BOOST_TEST(s.mutex->cancel() == 10u);
  }
  s.run();
  s.pool.join();
  for (auto const& f : s.fates) BOOST_TEST(f.refused(aborted));
}

BOOST_AUTO_TEST_CASE(R13_close_needs_no_memory) {
  waits_without_memory s;
  {
    empty_pool const pool;
    failing_heap const heap;
    s.mutex->close();
  }
  s.run();
  s.pool.join();
  for (auto const& f : s.fates) BOOST_TEST(f.refused(asio_sync::error::closed));
}

BOOST_AUTO_TEST_CASE(R13_destruction_needs_no_memory) {
  waits_without_memory s;
  {
    empty_pool const pool;
    failing_heap const heap;
    s.mutex.reset();
  }
  s.run();
  s.pool.join();
  for (auto const& f : s.fates) BOOST_TEST(f.refused(aborted));
}

BOOST_AUTO_TEST_CASE(R13_hand_off_that_fails_passes_on_to_the_next) {
  asio::io_context home;
  asio::io_context other;
  async_mutex mutex(home);
  BOOST_TEST_REQUIRE(mutex.try_lock());
  fate fates[4];
  auto const erased = asio::make_strand(asio::any_io_executor(asio::make_strand(other)));
  mutex.async_lock(asio::bind_executor(erased, observed_handler(fates[0])));
  mutex.async_lock(asio::bind_executor(asio::any_io_executor(erased), observed_handler(fates[1])));
  throwing_executor::plan plan = throwing_executor::plan::nothing;
  mutex.async_lock(
      asio::bind_executor(throwing_executor(other, plan), observed_handler(fates[2])));
  mutex.async_lock(observed_handler(fates[3]));
  plan = throwing_executor::plan::execute;
  {
    empty_pool const pool;
    failing_heap const heap;
    mutex.unlock();
  }
  for (int i = 0; i < 3; ++i) BOOST_TEST(fates[i].dropped());
  home.run();
  BOOST_TEST(fates[3].granted());
  other.run();
  BOOST_TEST(mutex.try_lock());
}

// The strand's invoker posts itself again.
BOOST_AUTO_TEST_CASE(R13_hand_offs_between_waits_of_one_strand_need_no_memory) {
  asio::io_context home;
  async_mutex mutex(home);
  BOOST_TEST_REQUIRE(mutex.try_lock());
  auto const strand = asio::make_strand(home);
  fate fates[4];
  for (auto& f : fates) mutex.async_lock(asio::bind_executor(strand, observed_handler(f)));
  std::optional<empty_pool> pool;
  std::optional<failing_heap> heap;
  asio::post(home, [&] {
    pool.emplace();
    heap.emplace();
    mutex.unlock();
  });
  home.run();
  heap.reset();
  for (auto const& f : fates) BOOST_TEST(f.granted());
}

BOOST_AUTO_TEST_SUITE_END()
