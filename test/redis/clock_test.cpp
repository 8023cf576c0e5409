// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Servers whose clock steps by a minute.

#include "redis/support/monitor_world.hpp"
#include "redis/support/world.hpp"
#include "support/test.hpp"

#include <asio_sync/redis/async_mutex.hpp>

#include <unistd.h>

#include <filesystem>

namespace redis_clock_test {

using namespace asio_sync::test::redis;

// Returns the library that sets a server's clock, which is built beside the tests.
std::string clock_library() {
  return (std::filesystem::canonical("/proc/self/exe").parent_path() / "libredis_clock.so")
      .string();
}

// Sets the clock of the servers that are started while this lives, in seconds before ours.
class server_clock {
 public:
  server_clock() {
    int const file = ::mkstemp(path_.data());
    BOOST_TEST_REQUIRE(file != -1);
    ::close(file);
    ::setenv("LD_PRELOAD", clock_library().c_str(), 1);
    ::setenv("REDIS_CLOCK", path_.c_str(), 1);
  }
  ~server_clock() {
    ::unsetenv("LD_PRELOAD");
    ::unsetenv("REDIS_CLOCK");
    std::filesystem::remove(path_);
  }

  void set(int seconds) const { std::ofstream(path_) << seconds << '\n'; }

 private:
  std::string path_ = (std::filesystem::temp_directory_path() / "asio_sync-clock-XXXXXX").string();
};

// Two clients of a server whose clock can be set, each with a mutex and a monitor.
struct fixture : server_clock, monitor_world {
  // Long enough for beats to tell a client what the server has ended.
  bool within_beats(auto holds) { return soon(holds, 2 * short_life); }

  async_mutex mutex{io, c, "m"}, other_mutex{io, other_c, "m"};
};

BOOST_FIXTURE_TEST_SUITE(clock_test, fixture)

// --- A step forward ---

// All sessions end at the server. Who holds hears of it with the next beat; until then the fence
// alone tells which of two is the later one.
BOOST_AUTO_TEST_CASE(a_step_forward_loses_what_is_held) {
  lock_type held = lock(mutex);
  auto const fence = held.fence();
  ending lost;
  held.async_wait_lost(lost.handler_on(io));
  set(60);
  lock_type const later = lock(other_mutex);
  BOOST_TEST(later.fence() > fence);
  BOOST_TEST(within_beats([&] { return lost.calls != 0; }));
  BOOST_TEST(lost.is(error_code()));
  BOOST_TEST(!held.owns_lock());
}

BOOST_AUTO_TEST_CASE(a_step_forward_takes_back_what_is_owned) {
  entry e = enter(m);
  owned const part = e.add_owned("n", 1, "changed");
  BOOST_TEST(leave(e) == error_code());
  BOOST_TEST(part.owns());
  set(60);
  e = enter(other);
  BOOST_TEST(e.number("n") == 0);
  BOOST_TEST(within_beats([&] { return !part.owns(); }));
}

// It has lost its place, and cannot know whether it was notified.
BOOST_AUTO_TEST_CASE(a_step_forward_ends_a_wait_on_a_condition_as_if_notified) {
  entry e = enter(m);
  auto const fence = e.fence();
  ending waited;
  e.async_wait("changed", waited.handler_on(io));
  BOOST_TEST_REQUIRE(soon([&] { return parked() == 1; }));
  set(60);
  BOOST_TEST(soon([&] { return waited.calls != 0; }));
  BOOST_TEST(waited.is(error_code()));
  BOOST_TEST(e.fence() > fence);
}

// --- A step back ---

// Living clients notice nothing, and fences grow. A dead session lives a minute longer.
BOOST_AUTO_TEST_CASE(a_step_back_changes_nothing_for_the_living) {
  lock_type held = lock(mutex);
  auto fence = held.fence();
  set(-60);
  BOOST_TEST(!within_beats([&] { return !held.owns_lock(); }));
  for (int i = 0; i != 20; ++i) {
    held = {};
    held = lock(i % 2 ? mutex : other_mutex);
    BOOST_TEST(held.fence() > fence);
    fence = held.fence();
  }
}

BOOST_AUTO_TEST_CASE(a_step_back_leaves_what_is_owned_and_the_waits_on_conditions) {
  entry e = enter(m);
  owned const part = e.add_owned("n", 1, "changed");
  ending waited;
  e.async_wait("changed", waited.handler_on(io));
  BOOST_TEST_REQUIRE(soon([&] { return parked() == 1 && part.owns(); }));
  set(-60);
  BOOST_TEST(!within_beats([&] { return waited.calls != 0 || !part.owns(); }));
  entry notifies = enter(other);
  BOOST_TEST(notifies.number("n") == 1);
  notifies.notify_one("changed");
  BOOST_TEST(leave(notifies) == error_code());
  wait_for_end(waited);
  BOOST_TEST(waited.is(error_code()));
  BOOST_TEST(e.number("n") == 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_clock_test
