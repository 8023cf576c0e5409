// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include "support/test.hpp"

#include <asio_sync/async_latch.hpp>
#include <asio_sync/async_mutex.hpp>
#include <asio_sync/async_semaphore.hpp>

namespace homed_core_test {

using namespace asio_sync::detail;

// Notes that a completion was handed to it, and runs none.
struct noting_route final : route {
  noting_route() noexcept : route(true) {}
  void post(waiter& w) override;
  void track(waiter&) override {}
  boost::asio::execution_context& context(waiter const&) const override { return *io; }
  void destroy(waiter const&) noexcept override {}

  boost::asio::io_context* io = nullptr;
};

// A wait at home that posts nothing: between its decision and its end only its core's list knows
// of it.
struct home_wait : waiter {
  explicit home_wait(mutex_core& c) noexcept : waiter([](waiter&, waiter_action) {}, &c, {}) {
    work = wait_work::home;
    way = &to_here;
  }

  noting_route to_here;
  bool ended = false;
};

void noting_route::post(waiter& w) {
  static_cast<home_wait&>(w).ended = true;
  static_cast<void>(static_cast<mutex_core*>(w.core)->arrive(w.outcome, true));
}

}  // namespace homed_core_test

BOOST_AUTO_TEST_SUITE(homed_core_test)

BOOST_AUTO_TEST_CASE(R8_each_list_of_decided_waits_keeps_the_context_running) {
  boost::asio::io_context io;
  mutex_core& queue = *mutex_core::make(nullptr, io.get_executor(), 1u, 1u);
  BOOST_TEST_REQUIRE(queue.try_acquire(1, false));
  home_wait first(queue);
  home_wait second(queue);
  BOOST_TEST_REQUIRE(queue.enter(first));
  BOOST_TEST_REQUIRE(queue.enter(second));
  {
    decided_waits decided;  // by one thread, which is slow
    BOOST_TEST(queue.refuse(first, wait_outcome::aborted, decided));
    queue.refuse_all(wait_outcome::aborted);  // by another
    BOOST_TEST(second.ended);
    io.poll();
    BOOST_TEST(!io.stopped());
    decided.hand_out();
  }
  BOOST_TEST(first.ended);
  io.poll();
  BOOST_TEST(io.stopped());
  queue.abandon();
}

// As another thread may do in between. Sanitizers would tell of a call of the core afterwards.
BOOST_AUTO_TEST_CASE(R9_the_core_may_be_gone_after_a_transition_that_has_decided_nothing) {
  boost::asio::io_context io;
  auto const end_in_a_transition = [](auto& core) {
    return core.decide([&](decided_waits&) { return core.abandon(), true; });
  };
  BOOST_TEST(end_in_a_transition(*latch_core::make(nullptr, io.get_executor(), 1u)));
  BOOST_TEST(end_in_a_transition(*permit_core::make(nullptr, io.get_executor(), 1u, 1u)));
}

BOOST_AUTO_TEST_SUITE_END()
