// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include "support/test.hpp"

#include <asio_sync/async_mutex.hpp>

#include "support/memory.hpp"

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

// Queues waits for a held mutex, unlocks, and runs until all are served: what the heap sees of it.
template <class Executor>
std::size_t allocations_of_a_round(asio::io_context& home, Executor const& ex, int waits,
                                   bool timed = false) {
  async_mutex mutex(home);
  std::atomic<int> served = 0;
  std::optional<async_mutex::lock_type> held(mutex);
  asio::io_context& runs =
      static_cast<asio::io_context&>(asio::query(ex, asio::execution::context));
  runs.restart();
  heap_counter const heap;
  for (int i = 0; i < waits; ++i) {
    auto token = asio::bind_executor(ex, counting_handler{&served});
    if (timed)
      mutex.async_lock_for(1h, std::move(token));
    else
      mutex.async_lock(std::move(token));
  }
  held.reset();
  runs.run();
  std::size_t const allocations = heap.allocations();
  BOOST_TEST(served == waits);
  return allocations;
}

}  // namespace memory_test

BOOST_AUTO_TEST_SUITE(memory_test)

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

BOOST_AUTO_TEST_CASE(R12_queued_wait_makes_one_allocation_freed_before_the_handler_is_called) {
  asio::io_context home;
  asio::io_context other;
  async_mutex mutex(home);
  allocator_log log;
  int called = 0;
  auto const wait = [&](auto const& ex) {
    mutex.async_lock(asio::bind_executor(
        ex, asio::bind_allocator(logging_allocator<>(log), [&](error_code, auto) {
          ++called;
          BOOST_TEST(log.live_bytes == 0u);
          BOOST_TEST(log.deallocations == log.allocations);
        })));
  };
  std::size_t waits = 0;
  auto const check = [&](auto const& ex, asio::io_context& runs) {
    runs.restart();
    std::optional<async_mutex::lock_type> held(mutex);
    std::size_t const before = log.allocations;
    wait(ex);
    BOOST_TEST(log.allocations == before + 1);
    held.reset();
    runs.run();
    BOOST_TEST(log.allocations == before + 1);
    BOOST_TEST(called == static_cast<int>(++waits));
  };
  check(home.get_executor(), home);
  check(asio::make_strand(home), home);
  check(asio::any_io_executor(home.get_executor()), home);
  check(other.get_executor(), other);
  check(asio::any_io_executor(asio::make_strand(other)), other);
  BOOST_TEST(log.live_bytes == 0u);
}

BOOST_AUTO_TEST_CASE(R12_memory_of_a_dropped_wait_stays_until_its_strand_has_let_go_of_it) {
  allocator_log log;
  fate fates[2];
  std::optional<asio::io_context> io(std::in_place);
  async_mutex mutex(*io);  // its service is older than that of the strand, and shuts down later
  BOOST_TEST_REQUIRE(mutex.try_lock());
  for (fate& f : fates)
    mutex.async_lock(
        asio::bind_executor(asio::make_strand(*io),
                            asio::bind_allocator(logging_allocator<>(log), observed_handler(f))));
  mutex.unlock();
  io.reset();
  for (fate const& f : fates) BOOST_TEST(f.dropped());
  BOOST_TEST(log.live_bytes == 0u);
  BOOST_TEST(mutex.try_lock());
}

BOOST_AUTO_TEST_CASE(R12_wait_with_an_allocator_of_its_own_takes_nothing_from_the_heap) {
  asio::io_context io;
  async_mutex mutex(io);
  allocator_log log;
  std::atomic<int> served = 0;
  std::optional<async_mutex::lock_type> held(mutex);
  std::size_t allocations = 0;
  {
    empty_pool const pool;
    heap_counter const heap;
    for (int i = 0; i < 10; ++i)
      mutex.async_lock(asio::bind_allocator(logging_allocator<>(log), counting_handler{&served}));
    allocations = heap.allocations();
    held.reset();
    io.run();
  }
  BOOST_TEST(allocations == 10u);  // the log's own
  BOOST_TEST(log.allocations == 10u);
  // The handler is 8 bytes larger with its allocator.
  BOOST_TEST(log.total_bytes <= 10 * (104u + more_room));
  BOOST_TEST(served == 10);
}

BOOST_AUTO_TEST_CASE(R12_a_wait_of_a_first_round_takes_no_more_than_its_size) {
  asio::io_context io;
  async_mutex mutex(io);
  async_mutex::lock_type const held(mutex);
  std::atomic<int> served = 0;
  std::size_t bytes = 0;
  std::size_t allocations = 0;
  {
    empty_pool const pool;
    heap_counter const heap;
    for (int i = 0; i < 100; ++i) mutex.async_lock(counting_handler{&served});
    bytes = heap.bytes();
    allocations = heap.allocations();
  }
  BOOST_TEST(allocations == 100u);
  BOOST_TEST(bytes == 100 * (96u + more_room));
}

BOOST_AUTO_TEST_CASE(R12_no_heap_in_the_steady_state_with_up_to_4096_waits) {
  asio::io_context home;
  asio::io_context other;
  auto const check = [&](auto const& ex, bool timed, std::size_t of_asio = 0) {
    allocations_of_a_round(home, ex, 4096, timed);
    allocations_of_a_round(home, ex, 4096, timed);
    BOOST_TEST(allocations_of_a_round(home, ex, 4096, timed) <= of_asio);
    BOOST_TEST(allocations_of_a_round(home, ex, 1, timed) == 0u);
    BOOST_TEST(allocations_of_a_round(home, ex, 1000, timed) <= of_asio);
  };
  for (bool const timed : {false, true}) {
    check(home.get_executor(), timed);
    check(other.get_executor(), timed);
    // A strand that goes on with what has come meanwhile: once a run(), recycled in it.
    check(asio::make_strand(home), timed, 1);
    check(asio::make_strand(other), timed, 1);
  }
}

BOOST_AUTO_TEST_CASE(R12_no_heap_where_one_thread_initiates_and_another_completes) {
  asio::io_context io;
  auto const work = asio::prefer(io.get_executor(), asio::execution::outstanding_work.tracked);
  std::thread completes([&] { io.run(); });
  async_mutex mutex(io);
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
  io.stop();
  completes.join();
  BOOST_TEST(allocations == 0u);
}

BOOST_AUTO_TEST_CASE(R12_mutex_gives_its_memory_back_after_waits_that_were_refused) {
  asio::io_context io;
  std::atomic<int> called = 0;
  auto const use = [&] {
    async_mutex mutex(io);
    async_mutex::lock_type const held(mutex);
    mutex.async_lock(counting_handler{&called});
    BOOST_TEST(!mutex.try_lock_for(1ns));
    mutex.cancel();
    io.restart();
    io.run();
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

BOOST_AUTO_TEST_SUITE_END()
