// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include "support/test.hpp"

#include <asio_sync/async_mutex.hpp>

#include <pthread.h>

namespace scale_test {

using namespace asio_sync::test;

#ifdef ASIO_SYNC_TEST_SANITIZED
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

}  // namespace scale_test

BOOST_AUTO_TEST_SUITE(scale_test)

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
    {
      auto const strand = asio::make_strand(*io);  // goes before its context
      for (std::size_t i = 0; i < many; ++i)
        mutex.async_lock(asio::bind_executor(strand, counting_handler(o)));
    }
    mutex.unlock();
    io.reset();
    BOOST_TEST(o.dropped == many);
    BOOST_TEST(mutex.try_lock());
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

BOOST_AUTO_TEST_SUITE_END()
