// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include <asio_sync/async_mutex.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

namespace {

using namespace asio_sync::detail;

// A wait at home that posts nothing: between its decision and its end only its core's list knows
// of it.
struct home_wait : waiter {
  explicit home_wait(homed_core& q) noexcept : waiter(&end, &q) { work = wait_work::home; }

  static void end(waiter& wait, wait_action) {
    static_cast<home_wait&>(wait).ended = true;
    static_cast<void>(wait.core->arrive(wait.outcome, true));
  }

  bool ended = false;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(homed_core_test)

BOOST_AUTO_TEST_CASE(R8_each_list_of_decided_waits_keeps_the_context_running) {
  boost::asio::io_context io;
  homed_core& queue = *homed_core::make(nullptr, io.get_executor());
  BOOST_TEST_REQUIRE(queue.try_acquire());
  home_wait first(queue);
  home_wait second(queue);
  BOOST_TEST_REQUIRE(queue.enter(first));
  BOOST_TEST_REQUIRE(queue.enter(second));
  {
    decided_waits decided;  // by one thread, which is slow
    BOOST_TEST(queue.remove(first, wait_outcome::aborted, decided));
    queue.refuse_all(wait_outcome::aborted);  // by another
    BOOST_TEST(second.ended);
    io.poll();
    BOOST_TEST(!io.stopped());
    decided.complete();
  }
  BOOST_TEST(first.ended);
  io.poll();
  BOOST_TEST(io.stopped());
  queue.abandon();
}

BOOST_AUTO_TEST_SUITE_END()
