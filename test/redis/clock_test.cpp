// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Servers whose clock steps by a minute.

#include "redis/support/world.hpp"

#include <asio_sync/redis/async_mutex.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/test/unit_test.hpp>

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

namespace redis_clock_test {

using namespace asio_sync::test::redis;

// Returns the library that sets a server's clock, which is built beside the tests.
std::string clock_library() {
  return (std::filesystem::canonical("/proc/self/exe").parent_path() / "libredis_clock.so")
      .string();
}

// A server whose clock can be set, and two clients of it.
struct fixture {
  fixture() : clock(make_clock()) {
    set(0);
    ::setenv("LD_PRELOAD", clock_library().c_str(), 1);
    ::setenv("REDIS_CLOCK", clock.c_str(), 1);
    s = std::make_unique<server>();
    ::unsetenv("LD_PRELOAD");
    ::unsetenv("REDIS_CLOCK");
    a = std::make_unique<client>(pool.get_executor(), quick(*s));
    b = std::make_unique<client>(pool.get_executor(), quick(*s));
    a->async_run(a_ran.handler_on(io));
    b->async_run(b_ran.handler_on(io));
  }
  ~fixture() {
    a->stop();
    b->stop();
    soon(io, [this] { return a_ran.calls && b_ran.calls; });
    std::filesystem::remove(clock);
  }

  static std::string make_clock() {
    auto pattern = (std::filesystem::temp_directory_path() / "asio_sync-clock-XXXXXX").string();
    int const file = ::mkstemp(pattern.data());
    BOOST_TEST_REQUIRE(file != -1);
    ::close(file);
    return pattern;
  }

  // Sets the server's clock so many seconds before or behind ours.
  void set(int seconds) const { std::ofstream(clock) << seconds << '\n'; }

  lock_type lock(async_mutex& m) {
    outcome<lock_type> o;
    m.async_lock(o.handler());
    BOOST_TEST_REQUIRE(soon(io, [&] { return o.calls != 0; }));
    BOOST_TEST_REQUIRE(o.granted());
    return std::move(o.guard);
  }

  std::string const clock;
  std::unique_ptr<server> s;
  asio::io_context io;
  asio::thread_pool pool{1};
  ending a_ran, b_ran;
  std::unique_ptr<client> a, b;
};

BOOST_AUTO_TEST_SUITE(clock_test)

// All sessions end at the server. Who holds hears of it with the next beat; until then the fence
// alone tells which of two is the later one.
BOOST_AUTO_TEST_CASE(a_step_forward_loses_what_is_held) {
  fixture f;
  async_mutex of_a(f.io, *f.a, "x"), of_b(f.io, *f.b, "x");
  lock_type held = f.lock(of_a);
  auto const fence = held.fence();
  ending lost;
  held.async_wait_lost(lost.handler_on(f.io));
  f.set(60);
  lock_type const later = f.lock(of_b);
  BOOST_TEST(later.fence() > fence);
  BOOST_TEST(soon(
      f.io, [&] { return lost.calls != 0; }, 2 * short_life));
  BOOST_TEST(lost.is(error_code()));
  BOOST_TEST(!held.owns_lock());
}

// Living clients notice nothing, and fences grow. A dead session lives a minute longer.
BOOST_AUTO_TEST_CASE(a_step_back_changes_nothing_for_the_living) {
  fixture f;
  async_mutex of_a(f.io, *f.a, "x"), of_b(f.io, *f.b, "x");
  lock_type held = f.lock(of_a);
  auto fence = held.fence();
  f.set(-60);
  soon(
      f.io, [] { return false; }, 2 * short_life);
  BOOST_TEST(held.owns_lock());
  for (int i = 0; i != 20; ++i) {
    held = {};
    held = f.lock(i % 2 ? of_a : of_b);
    BOOST_TEST(held.fence() > fence);
    fence = held.fence();
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_clock_test
