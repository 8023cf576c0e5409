// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include "support/coroutine.hpp"
#include "support/mutex_fixture.hpp"
#include "support/test.hpp"

namespace scale_test {

using namespace asio_sync::test;

// Owned by handlers that are not to be called.
using life = std::shared_ptr<int>;

auto never(life const& of) {
  return [of](error_code, auto const&) { ++*of; };
}

bool all_dropped(life const& of) { return *of == 0 && of.use_count() == 1; }

}  // namespace scale_test

BOOST_FIXTURE_TEST_SUITE(scale_test, held_mutex)

BOOST_AUTO_TEST_CASE(R6_grants_and_mutexes_dropped_with_their_context) {
  auto const of = std::make_shared<int>();
  run_on_stack(small_stack, [&] {
    asio::io_context dying;
    // Each lock is on its way in the context, and its handler carries a mutex that dies with it.
    for (std::size_t i = 0; i < most_waits; ++i) {
      auto own = std::make_unique<async_mutex>(context);
      async_mutex& m = *own;
      m.async_lock(asio::bind_executor(
          dying, [own = std::move(own), h = never(of)](error_code e, auto const& l) { h(e, l); }));
    }
  });
  BOOST_TEST(all_dropped(of));
}

BOOST_AUTO_TEST_CASE(R6_chain_of_dropped_grants_on_a_strand_whose_service_shuts_down_first) {
  auto const of = std::make_shared<int>();
  run_on_stack(small_stack, [&] {
    std::optional<asio::io_context> io(std::in_place);
    async_mutex of_io(*io);  // its service is older than that of the strand, and shuts down later
    if (!of_io.try_lock()) return;
    {
      auto const strand = asio::make_strand(*io);  // goes before its context
      for (std::size_t i = 0; i < most_waits; ++i)
        of_io.async_lock(asio::bind_executor(strand, never(of)));
    }
    of_io.unlock();
    io.reset();
    *of += of_io.is_locked();
  });
  BOOST_TEST(all_dropped(of));
}

BOOST_AUTO_TEST_CASE(R11_very_many_waits_time_out) {
  std::size_t expired = 0;
  run_on_stack(small_stack, [&] {
    auto const deadline = std::chrono::steady_clock::now() + 1s;
    for (std::size_t i = 0; i < most_waits; ++i)
      mutex.async_lock_until(deadline + std::chrono::nanoseconds(i),
                             [&](error_code e, auto const&) { expired += e == timed_out; });
    context.run();
  });
  BOOST_TEST(expired == most_waits);
  BOOST_TEST(mutex.waiters() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
