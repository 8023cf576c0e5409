// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include <asio_sync/async_mutex.hpp>

#include "support/executors.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/test/unit_test.hpp>

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using asio_sync::async_mutex;
using asio_sync::test::dropping_executor;
using asio_sync::test::inline_executor;
using boost::system::error_code;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t many = 50'000;
constexpr std::size_t stack_size = 1 << 20;  // the frames are larger there
#else
constexpr std::size_t many = 1'000'000;
constexpr std::size_t stack_size = 256 << 10;
#endif

// Runs f on a thread with a small stack.
void on_small_stack(std::function<void()> f) {
  pthread_attr_t attributes;
  BOOST_TEST_REQUIRE(pthread_attr_init(&attributes) == 0);
  BOOST_TEST_REQUIRE(pthread_attr_setstacksize(&attributes, stack_size) == 0);
  pthread_t thread;
  auto const run = [](void* arg) -> void* {
    (*static_cast<std::function<void()>*>(arg))();
    return nullptr;
  };
  int const error = pthread_create(&thread, &attributes, run, &f);
  if (error == 0) pthread_join(thread, nullptr);
  BOOST_TEST_REQUIRE(error == 0);  // not before: checks are for one thread at a time
  pthread_attr_destroy(&attributes);
}

// How often what happened.
struct outcomes {
  std::atomic<std::size_t> granted{0};
  std::atomic<std::size_t> refused{0};
  std::atomic<std::size_t> dropped{0};
  error_code error;
};

class counting_handler {
 public:
  explicit counting_handler(outcomes& o) noexcept : outcomes_(&o) {}
  counting_handler(counting_handler&& other) noexcept
      : outcomes_(std::exchange(other.outcomes_, nullptr)) {}
  counting_handler& operator=(counting_handler&&) = delete;
  ~counting_handler() {
    if (outcomes_) ++outcomes_->dropped;
  }

  void operator()(error_code error, async_mutex::lock_type) {
    outcomes& o = *std::exchange(outcomes_, nullptr);
    if (error) o.error = error;
    ++(error ? o.refused : o.granted);
  }

 private:
  outcomes* outcomes_;
};

template <class Executor>
void queue_many(async_mutex& mutex, Executor const& ex, outcomes& o) {
  for (std::size_t i = 0; i < many; ++i)
    mutex.async_lock(asio::bind_executor(ex, counting_handler(o)));
}

// A chain of hand-offs: each completion unlocks, which enables the next. On an executor that does
// not run inline nothing of it has happened when the first unlock() returns.
template <class Executor>
void hand_on(asio::io_context& io, Executor const& ex, std::size_t granted_in_unlock = 0) {
  on_small_stack([&] {
    async_mutex mutex(io);
    if (!mutex.try_lock()) return;
    outcomes o;
    queue_many(mutex, ex, o);
    mutex.unlock();
    BOOST_TEST(o.granted == granted_in_unlock);
    io.restart();
    io.run();
    BOOST_TEST(o.granted == many);
    BOOST_TEST(mutex.try_lock());
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(mutex_scale_test)

BOOST_AUTO_TEST_CASE(R6_chain_of_hand_offs_on_an_io_context) {
  asio::io_context io;
  hand_on(io, io.get_executor());
}

BOOST_AUTO_TEST_CASE(R6_chain_of_hand_offs_on_a_strand) {
  asio::io_context io;
  hand_on(io, asio::make_strand(io));
}

BOOST_AUTO_TEST_CASE(R6_chain_of_hand_offs_on_a_strand_of_any_executor) {
  asio::io_context io;
  hand_on(io, asio::make_strand(asio::any_io_executor(io.get_executor())));
}

BOOST_AUTO_TEST_CASE(R6_chain_of_hand_offs_on_an_executor_that_runs_inline) {
  asio::io_context io;
  hand_on(io, inline_executor(io), many);
}

BOOST_AUTO_TEST_CASE(R6_inline_completions_do_not_nest) {
  asio::io_context io;
  async_mutex mutex(io);
  BOOST_TEST_REQUIRE(mutex.try_lock());
  int inside = 0;
  int done = 0;
  for (int i = 0; i < 3; ++i)
    mutex.async_lock(asio::bind_executor(inline_executor(io), [&, i](error_code, auto lock) {
      BOOST_TEST(++inside == 1);
      lock.unlock();
      BOOST_TEST(done == i);
      ++done;
      --inside;
    }));
  mutex.unlock();
  BOOST_TEST(done == 3);
}

BOOST_AUTO_TEST_CASE(R6_chain_of_hand_offs_on_a_thread_pool) {
  asio::thread_pool pool(1);
  async_mutex mutex(pool);
  BOOST_TEST_REQUIRE(mutex.try_lock());
  outcomes o;
  queue_many(mutex, pool.get_executor(), o);
  queue_many(mutex, asio::make_strand(pool), o);
  mutex.unlock();
  pool.join();
  BOOST_TEST(o.granted == 2 * many);
}

BOOST_AUTO_TEST_CASE(R6_chain_of_dropped_grants_on_an_executor_that_drops) {
  asio::io_context io;
  on_small_stack([&] {
    async_mutex mutex(io);
    if (!mutex.try_lock()) return;
    outcomes o;
    queue_many(mutex, dropping_executor(io), o);
    mutex.unlock();
    BOOST_TEST(o.dropped == many);
    BOOST_TEST(mutex.try_lock());
  });
}

BOOST_AUTO_TEST_CASE(R6_grants_and_mutexes_dropped_with_their_context) {
  on_small_stack([&] {
    std::optional<asio::io_context> io(std::in_place);
    asio::io_context elsewhere;
    outcomes o;
    // Each lock is on its way in the context, and its handler carries a mutex that dies with it.
    for (std::size_t i = 0; i < many; ++i) {
      auto own = std::make_unique<async_mutex>(elsewhere);
      async_mutex& m = *own;
      m.async_lock(asio::bind_executor(
          *io, [own = std::move(own), h = counting_handler(o)](error_code, auto) {}));
    }
    io.reset();
    BOOST_TEST(o.dropped == many);
  });
}

BOOST_AUTO_TEST_CASE(R6_chain_of_dropped_grants_on_a_strand_whose_service_shuts_down_first) {
  on_small_stack([&] {
    std::optional<asio::io_context> io(std::in_place);
    async_mutex mutex(*io);  // its service is older than that of the strand, and shuts down later
    if (!mutex.try_lock()) return;
    outcomes o;
    queue_many(mutex, asio::make_strand(*io), o);
    mutex.unlock();
    io.reset();
    BOOST_TEST(o.dropped == many);
    BOOST_TEST(mutex.try_lock());
  });
}

BOOST_AUTO_TEST_CASE(R4_very_many_waits_are_cancelled) {
  on_small_stack([] {
    asio::io_context io;
    async_mutex mutex(io);
    if (!mutex.try_lock()) return;
    outcomes o;
    queue_many(mutex, io.get_executor(), o);
    BOOST_TEST(mutex.cancel() == many);
    BOOST_TEST(o.refused == 0u);
    io.run();
    BOOST_TEST(o.refused == many);
    BOOST_TEST((o.error == asio::error::operation_aborted));
  });
}

BOOST_AUTO_TEST_CASE(R11_very_many_waits_time_out) {
  on_small_stack([] {
    asio::io_context io;
    async_mutex mutex(io);
    if (!mutex.try_lock()) return;
    outcomes o;
    auto const deadline = std::chrono::steady_clock::now() + 1s;
    for (std::size_t i = 0; i < many; ++i)
      mutex.async_lock_until(deadline + std::chrono::nanoseconds(i), counting_handler(o));
    io.run();
    BOOST_TEST(o.refused == many);
    BOOST_TEST((o.error == asio::error::timed_out));
    BOOST_TEST(mutex.waiters() == 0u);
  });
}

BOOST_AUTO_TEST_CASE(R9_mutex_is_destroyed_with_very_many_waits) {
  on_small_stack([] {
    asio::io_context io;
    outcomes o;
    {
      async_mutex mutex(io);
      if (!mutex.try_lock()) return;
      queue_many(mutex, io.get_executor(), o);
      queue_many(mutex, inline_executor(io), o);
    }
    io.run();
    BOOST_TEST(o.refused == 2 * many);
  });
}

BOOST_AUTO_TEST_CASE(R10_context_is_destroyed_with_very_many_waits) {
  on_small_stack([] {
    std::optional<asio::io_context> io(std::in_place);
    asio::io_context other;
    async_mutex near(*io);
    async_mutex far(other);
    if (!near.try_lock() || !far.try_lock()) return;
    outcomes o;
    queue_many(near, io->get_executor(), o);
    queue_many(far, io->get_executor(), o);
    io.reset();
    BOOST_TEST(o.dropped == 2 * many);
    BOOST_TEST(near.waiters() + far.waiters() == 0u);
  });
}

BOOST_AUTO_TEST_SUITE_END()
