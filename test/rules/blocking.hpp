// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_RULES_BLOCKING_HPP
#define ASIO_SYNC_TEST_RULES_BLOCKING_HPP

// R12 and R16 of primitives with blocking forms.

#include "rules/common.hpp"
#include "support/test.hpp"

namespace ASIO_SYNC_RULES_SUITE {

using namespace asio_sync::test;

}  // namespace ASIO_SYNC_RULES_SUITE

BOOST_FIXTURE_TEST_SUITE(ASIO_SYNC_RULES_SUITE, fixture)

BOOST_AUTO_TEST_CASE(R12_what_blocks_allocates_nothing) {
  if (is_remote) return;
  std::size_t in_thread = 1, here = 1;
  BOOST_TEST_REQUIRE(subject::occupy(primitive));
  blocked_thread thread(primitive, [&] {
    empty_pool const pool;
    heap_counter const heap;
    static_cast<void>(subject::block(primitive));
    in_thread = heap.allocations();
  });
  subject::serve(primitive);
  thread.join();
  renew(primitive);
  BOOST_TEST(in_thread == 0u);
  {
    empty_pool const pool;
    heap_counter const heap;
    static_cast<void>(subject::hold(primitive));
    static_cast<void>(subject::block(primitive));
    BOOST_TEST_REQUIRE(subject::occupy(primitive));
    static_cast<void>(subject::block_for(primitive, 1us));
    subject::serve(primitive);
    here = heap.allocations();
  }
  BOOST_TEST(here == 0u);
}

BOOST_AUTO_TEST_CASE(R16_blocking_the_own_context_is_refused) {
  asio::thread_pool pool(1);
  auto const strand = asio::make_strand(context);
  auto const check = [&](auto const& ex, auto const& run_on, auto run) {
    primitive_type p(ex);
    grant held = subject::hold(p);
    error_code blocks, blocks_timed, free = aborted;
    asio::post(run_on, [&] {
      blocks = error_of([&] { static_cast<void>(subject::block(p)); });
      blocks_timed = error_of([&] { static_cast<void>(subject::block_for(p, 1h)); });
      let_go(held);
      free = error_of([&] { static_cast<void>(subject::block(p)); });
    });
    run();
    BOOST_TEST((blocks == deadlock && blocks_timed == deadlock));
    BOOST_TEST(free == (is_remote ? deadlock : error_code()));
    renew(p);
    BOOST_TEST(subject::idle(p));
  };
  auto const polls = [&] { poll(); };
  check(context.get_executor(), context.get_executor(), polls);
  check(asio::any_io_executor(strand), context.get_executor(), polls);
  check(strand, strand, polls);
  check(pool.get_executor(), pool.get_executor(), [&] { pool.join(); });
}

BOOST_AUTO_TEST_CASE(R16_blocking_another_context_is_not_refused) {
  grant held = subject::hold(primitive);
  bool served = false;
  asio::post(other, [&] { served = bool(subject::block(primitive)); });
  blocked_thread thread(primitive, [&] { other.run(); });
  let_go(held);
  thread.join();
  BOOST_TEST(served);
}

BOOST_AUTO_TEST_CASE(R10_a_destructor_waits_for_a_grant_in_the_queue_of_its_context) {
  if (!owns) return;  // nothing that keeps others out is on its way
  fate on_its_way, f[2];
  auto dying = std::make_unique<asio::io_context>();
  BOOST_TEST_REQUIRE(subject::occupy(primitive));
  subject::wait(primitive, asio::bind_executor(*dying, observed_handler(on_its_way)));
  auto const handler = [&](fate& each) {
    return asio::bind_executor(*dying, observed_handler(each, [&] {
      grant taken = subject::block(primitive);
      let_go(taken);
    }));
  };
  subject::wait(primitive, handler(f[0]));
  subject::wait_for(primitive, 1h, handler(f[1]));
  subject::serve(primitive);
  dying.reset();
  BOOST_TEST((on_its_way.dropped() && f[0].dropped() && f[1].dropped()));
  BOOST_TEST(subject::idle(primitive));
}

BOOST_AUTO_TEST_SUITE_END()

#endif
