// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The memory of waits, and what goes on where there is none, or something else throws: beyond what
// rules/memory.hpp looks at.

#include "support/memory.hpp"
#include "support/executors.hpp"
#include "support/mutex_fixture.hpp"
#include "support/test.hpp"

namespace memory_test {

using namespace asio_sync::test;
namespace detail = asio_sync::detail;

// A handler of the size of a coroutine's, or of one with a shared_ptr and a pointer.
struct counting_handler {
  void operator()(error_code, async_mutex::lock_type) { count->fetch_add(1); }

  std::atomic<int>* count;
  void* more[2] = {};
};
static_assert(sizeof(counting_handler) == 24);

// Stands for what async_lock() delivers, to look at the sizes of waits.
struct delivery {
  using core_type = detail::mutex_core;
  using grant = async_mutex::lock_type;
  static grant make(core_type&, detail::verdict);
};

// What a completion takes up more than on POSIX systems: on Windows it does.
constexpr std::size_t more_room = sizeof(detail::waiter) - 72;
static_assert(sizeof(detail::handler_waiter<delivery, counting_handler>) <= 96 + more_room);
static_assert(sizeof(detail::mutex_core) <= 128);

template <class Executor>
constexpr std::size_t size_of_route = sizeof(detail::executor_route<Executor, detail::last_step>);
static_assert(size_of_route<detail::known_context> <= 56);
static_assert(size_of_route<detail::context_strand> <= 192 + more_room);

// The use of the heap by a function that finds an empty pool.
struct heap_use {
  std::size_t allocations = 0, bytes = 0;
};

template <class Function>
heap_use heap_use_of(Function f) {
  empty_pool const pool;
  heap_counter const heap;
  f();
  return {heap.allocations(), heap.bytes()};
}

// A handler that may be moved so many times, and then throws.
class moving_handler {
 public:
  struct failure {};

  moving_handler(int& called, int moves) noexcept : called_(&called), moves_(moves) {}
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): it throws
  moving_handler(moving_handler&& other) : called_(other.called_), moves_(other.moves_ - 1) {
    if (moves_ < 0) throw failure();
  }
  moving_handler& operator=(moving_handler&&) = delete;

  void operator()(error_code, async_mutex::lock_type) { ++*called_; }

 private:
  int* called_;
  int moves_;
};

// A token that throws when it is asked to start an operation.
struct throwing_token {};

// An initiation, Start(fixture, handler), whose allocations fail one after the other while the
// mutex is held. Afterwards everything works.
template <class Start>
struct initiation : held_mutex {
  asio::any_io_executor near_strand{asio::make_strand(context)};
  fate f;
  std::optional<observed_handler> handler{std::in_place, f};

  void act() { Start()(*this, std::move(*handler)); }

  void run() { context.restart(), other.restart(), context.run(), other.run(); }

  void check(bool thrown) {
    handler.reset();
    BOOST_TEST(mutex.waiters() == std::size_t(!thrown));
    if (thrown) {
      BOOST_TEST(f.dropped());
      signal.emit(asio::cancellation_type::all);  // nothing is left
      run();                                      // and nothing keeps it running
    }
    fate again;
    Start()(*this, observed_handler(again));
    mutex.unlock();
    run();
    if (!thrown) BOOST_TEST(f.granted());
    BOOST_TEST(again.granted());
    BOOST_TEST(mutex.try_lock());
  }
};

template <class Start>
void fail_each_allocation_of(Start, std::size_t least) {
  BOOST_TEST(fail_each_allocation<initiation<Start>>() >= least);
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

  fate fates[count];
  asio::io_context home, other;
  asio::thread_pool pool{1};
  std::unique_ptr<async_mutex> mutex = std::make_unique<async_mutex>(home);
  asio::cancellation_signal signal;

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
    for (int turn = 0; turn < 2 * count; ++turn) poll(home, other);
  }

  // Does it without memory; what is refused there arrives with the error.
  template <class Act>
  void refuse(error_code error, Act act) {
    {
      empty_pool const none;
      failing_heap const heap;
      act();
    }
    run();
    pool.join();
    for (auto const& f : fates) BOOST_TEST(f.refused(error));
  }
};

}  // namespace memory_test

template <class Signature>
class boost::asio::async_result<memory_test::throwing_token, Signature> {
 public:
  template <class Initiation, class Token>
  static void initiate(Initiation&&, Token&&) {
    throw std::runtime_error("the token throws");
  }
};

BOOST_FIXTURE_TEST_SUITE(memory_test, mutex_fixture)

BOOST_AUTO_TEST_CASE(the_heap_is_counted_and_can_fail) {
  heap_counter const heap;
  delete new int;
  std::size_t const allocations = heap.allocations();
  std::size_t const bytes = heap.bytes();
  BOOST_TEST(allocations >= 1u);
  BOOST_TEST(bytes >= sizeof(int));
  int thrown = 0;
  {
    failing_heap const failing(1, failing_heap::failures::one);
    for (int i = 0; i < 3; ++i) try {
        delete new int;
      } catch (std::bad_alloc const&) {
        thrown += 1 << i;
      }
  }
  BOOST_TEST(thrown == 2);
}

#if !defined(_WIN32)
BOOST_AUTO_TEST_CASE(the_aligned_functions_are_counted_and_can_fail) {
  heap_counter const heap;
  std::free(std::aligned_alloc(16, 32));
  void* memory = nullptr;
  BOOST_TEST_REQUIRE(posix_memalign(&memory, 64, 64) == 0);
  std::free(memory);
  std::size_t const allocations = heap.allocations();
  std::size_t const bytes = heap.bytes();
  BOOST_TEST(allocations >= 2u);
  BOOST_TEST(bytes >= 96u);
  int failed = 0;
  {
    failing_heap const failing;
    if (!std::aligned_alloc(16, 32)) ++failed;
    if (posix_memalign(&memory, 64, 64) != 0) ++failed;
  }
  BOOST_TEST(failed == 2);
}
#endif

// --- How much it is, and when it is given back ---

BOOST_AUTO_TEST_CASE(R12_memory_of_a_dropped_wait_stays_until_its_strand_has_let_go_of_it) {
  allocator_log log;
  fate fates[2];
  std::optional<asio::io_context> io(std::in_place);
  async_mutex of_io(*io);  // its service is older than that of the strand, and shuts down later
  BOOST_TEST_REQUIRE(of_io.try_lock());
  for (fate& f : fates)
    of_io.async_lock(
        asio::bind_executor(asio::make_strand(*io),
                            asio::bind_allocator(logging_allocator<>(log), observed_handler(f))));
  of_io.unlock();
  io.reset();
  for (fate const& f : fates) BOOST_TEST(f.dropped());
  BOOST_TEST(log.live_bytes == 0u);
  BOOST_TEST(of_io.try_lock());
}

BOOST_FIXTURE_TEST_CASE(R12_a_wait_of_a_first_round_takes_no_more_than_its_size, held_mutex) {
  allocator_log log;
  std::atomic<int> served = 0;
  auto const plain = heap_use_of([&] {
    for (int i = 0; i < 100; ++i) mutex.async_lock(counting_handler{&served});
  });
  BOOST_TEST(plain.allocations == 100u);
  BOOST_TEST(plain.bytes == 100 * (96u + more_room));
  auto const with_allocator = heap_use_of([&] {
    for (int i = 0; i < 10; ++i)
      mutex.async_lock(asio::bind_allocator(logging_allocator<>(log), counting_handler{&served}));
  });
  BOOST_TEST(with_allocator.allocations == 10u);  // the log's own
  BOOST_TEST(log.allocations == 10u);
  // The handler is 8 bytes larger with its allocator.
  BOOST_TEST(log.total_bytes <= 10 * (104u + more_room));
  mutex.unlock();
  context.run();
  BOOST_TEST(served == 110);
}

BOOST_AUTO_TEST_CASE(R12_no_heap_where_one_thread_initiates_and_another_completes) {
  auto const work = asio::make_work_guard(context);
  std::thread completes([&] { context.run(); });
  std::atomic<int> served = 0;
  int queued = 0;
  auto const round = [&](int waits) {
    {
      std::optional<async_mutex::lock_type> const held(mutex);
      for (int i = 0; i < waits; ++i, ++queued) mutex.async_lock(counting_handler{&served});
    }
    while (served != queued) std::this_thread::yield();
  };
  for (int i = 0; i < 3; ++i) round(4096);
  std::size_t allocations = 0;
  {
    heap_counter const heap(heap_counter::scope::all_threads);
    for (int i = 0; i < 5; ++i) round(4096);
    for (int i = 0; i < 100; ++i) round(70);
    allocations = heap.allocations();
  }
  context.stop();
  completes.join();
  BOOST_TEST(allocations == 0u);
}

BOOST_AUTO_TEST_CASE(R12_mutex_gives_its_memory_back_after_waits_that_were_refused) {
  std::atomic<int> called = 0;
  auto const use = [&] {
    async_mutex mortal(context);
    async_mutex::lock_type const held(mortal);
    mortal.async_lock(counting_handler{&called});
    BOOST_TEST(!mortal.try_lock_for(1ns));
    mortal.cancel();
    poll();
  };
  std::size_t allocations = 1;
  {
    empty_pool const pool;
    use();
    heap_counter const heap;
    for (int i = 0; i < 10; ++i) use();
    allocations = heap.allocations();
  }
  BOOST_TEST(allocations == 0u);
  BOOST_TEST(called == 11);
}

// --- Handlers, allocators and tokens that throw ---

BOOST_AUTO_TEST_CASE(R13_handler_whose_move_throws_in_the_initiation_changes_nothing) {
  auto const strand = asio::make_strand(context);
  for (bool const held : {false, true}) {
    if (held) BOOST_TEST_REQUIRE(mutex.try_lock());
    int thrown = 0;
    int called = 0;
    for (int moves = 0; called == 0; ++moves) {
      try {
        mutex.async_lock(asio::bind_executor(strand, moving_handler(called, moves)));
        if (held) mutex.unlock();
      } catch (moving_handler::failure const&) {
        ++thrown;
        BOOST_TEST(mutex.is_locked() == held);
        BOOST_TEST(mutex.waiters() == 0u);
        continue;
      }
      // Enough of them to be initiated: it may yet fail on delivery, and passes the lock on.
      fate next;
      mutex.async_lock(observed_handler(next));
      for (int left = 2; left != 0;) try {
          context.restart();
          context.run();
          --left;
        } catch (moving_handler::failure const&) {
          ++thrown;
        }
      BOOST_TEST(next.granted());
      if (held) BOOST_TEST_REQUIRE(mutex.try_lock());
    }
    BOOST_TEST(thrown >= 2);
    if (held) mutex.unlock();
    BOOST_TEST(!mutex.is_locked());
  }
}

BOOST_AUTO_TEST_CASE(handler_is_moved_into_its_wait_and_out_of_it_and_no_more) {
  for (bool const held : {false, true}) {
    if (held) BOOST_TEST_REQUIRE(mutex.try_lock());
    int called = 0;
    mutex.async_lock(moving_handler(called, 2));
    if (held) mutex.unlock();
    poll();
    BOOST_TEST(called == 1);
  }
}

BOOST_AUTO_TEST_CASE(R13_handler_whose_move_throws_leaves_no_memory_behind) {
  allocator_log log;
  int called = 0;
  for (int moves = 0; called == 0; ++moves) {
    try {
      mutex.async_lock(
          asio::bind_allocator(logging_allocator<>(log), moving_handler(called, moves)));
      poll();
    } catch (moving_handler::failure const&) {
    }
    BOOST_TEST(log.live_bytes == 0u);
  }
  BOOST_TEST(log.allocations >= 3u);  // moved too often into it, out of it, and not too often
}

BOOST_AUTO_TEST_CASE(R13_allocator_or_token_that_throws_changes_nothing) {
  allocator_log log;
  log.successes = 0;
  for (bool const held : {false, true}) {
    if (held) BOOST_TEST_REQUIRE(mutex.try_lock());
    fate f;
    BOOST_CHECK_THROW(
        mutex.async_lock(asio::bind_allocator(logging_allocator<>(log), observed_handler(f))),
        std::bad_alloc);
    BOOST_TEST(f.dropped());
    BOOST_CHECK_THROW(mutex.async_lock(throwing_token()), std::runtime_error);
    BOOST_CHECK_THROW(mutex.async_lock_for(1h, throwing_token()), std::runtime_error);
    BOOST_TEST(mutex.is_locked() == held);
    BOOST_TEST(mutex.waiters() == 0u);
    if (held) mutex.unlock();
  }
  context.run();
  BOOST_TEST(mutex.try_lock());
}

// --- No memory ---

BOOST_AUTO_TEST_CASE(R13_construction_without_memory_changes_nothing) {
  BOOST_TEST(fail_each_allocation<making_a_mutex>() >= 2u);
}

BOOST_AUTO_TEST_CASE(R13_initiation_elsewhere_without_memory_changes_nothing) {
  fail_each_allocation_of(
      [](auto& s, auto handler) {
        s.mutex.async_lock(asio::bind_executor(s.other, std::move(handler)));
      },
      2);
  fail_each_allocation_of(
      [](auto& s, auto handler) {
        s.mutex.async_lock(asio::bind_executor(s.near_strand, std::move(handler)));
      },
      1);
}

// With completion ports, Asio's io_context keeps a queue of timers whose making has failed, and
// links the next one, in the same place, to itself: whoever starts a timer then loops for ever.
#if !defined(BOOST_ASIO_HAS_IOCP)
BOOST_AUTO_TEST_CASE(R13_timed_initiation_without_memory_changes_nothing) {
  fail_each_allocation_of(
      [](auto& s, auto handler) {
        s.mutex.async_lock_for(
            1h, asio::bind_cancellation_slot(s.signal.slot(),
                                             asio::bind_executor(s.other, std::move(handler))));
      },
      5);
}
#endif

BOOST_FIXTURE_TEST_CASE(R13_timed_initiation_that_cannot_start_the_timer_changes_nothing,
                        held_mutex) {
  fate first;
  mutex.async_lock_for(1h, observed_handler(first));
  mutex.cancel();
  poll();  // a timer is there, and at rest
  std::vector<asio::steady_timer> others;
  bool thrown = false;
  for (int i = 0; i < 16 && !thrown; ++i) {
    others.emplace_back(context, 1h).async_wait([](error_code) {});
    fate f, again;
    {
      failing_heap const heap;
      try {
        mutex.async_lock_for(1h, observed_handler(f));
      } catch (std::bad_alloc const&) {
        thrown = true;
      }
    }
    BOOST_TEST(mutex.waiters() == std::size_t(!thrown));
    mutex.async_lock_for(1h, observed_handler(again));
    mutex.cancel();
    poll();
    BOOST_TEST((thrown ? f.dropped() : f.refused(aborted)));
    BOOST_TEST(again.refused(aborted));
  }
  BOOST_TEST(thrown);
  others.clear();
  context.run();  // returns, as no deadline is left
}

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
  for (auto const& f : s.fates) BOOST_TEST(f.granted());
}

BOOST_AUTO_TEST_CASE(R13_cancel_close_and_destruction_need_no_memory) {
  waits_without_memory cancelled, closing, dying;
  cancelled.refuse(aborted, [&] {
    cancelled.signal.emit(asio::cancellation_type::partial);
    cancelled.mutex->cancel();
  });
  closing.refuse(closed, [&] { closing.mutex->close(); });
  dying.refuse(aborted, [&] { dying.mutex.reset(); });
}

BOOST_FIXTURE_TEST_CASE(R13_hand_off_that_fails_passes_on_to_the_next, held_mutex) {
  fate fates[4];
  auto const erased = asio::make_strand(asio::any_io_executor(asio::make_strand(other)));
  auto plan = throwing_executor::plan::nothing;
  throwing_executor const throwing(other, plan);
  mutex.async_lock(asio::bind_executor(erased, observed_handler(fates[0])));
  mutex.async_lock(asio::bind_executor(asio::any_io_executor(erased), observed_handler(fates[1])));
  mutex.async_lock(asio::bind_executor(throwing, observed_handler(fates[2])));
  mutex.async_lock(observed_handler(fates[3]));
  plan = throwing_executor::plan::execute;
  {
    empty_pool const pool;
    failing_heap const heap;
    mutex.unlock();
  }
  for (int i = 0; i < 3; ++i) BOOST_TEST(fates[i].dropped());
  context.run();
  BOOST_TEST(fates[3].granted());
  other.run();
  BOOST_TEST(mutex.try_lock());
}

// The strand's invoker posts itself again.
BOOST_FIXTURE_TEST_CASE(R13_hand_offs_between_waits_of_one_strand_need_no_memory, held_mutex) {
  auto const strand = asio::make_strand(context);
  fate fates[4];
  for (auto& f : fates) mutex.async_lock(asio::bind_executor(strand, observed_handler(f)));
  std::optional<empty_pool> pool;
  std::optional<failing_heap> heap;
  asio::post(context, [&] {
    pool.emplace();
    heap.emplace();
    mutex.unlock();
  });
  context.run();
  heap.reset();
  for (auto const& f : fates) BOOST_TEST(f.granted());
}

BOOST_AUTO_TEST_SUITE_END()
