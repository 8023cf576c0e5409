// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_RULES_TIME_HPP
#define ASIO_SYNC_TEST_RULES_TIME_HPP

// R8 and R11: for how long a context keeps running, and a wait waits.

#include "rules/common.hpp"
#include "support/test.hpp"

BOOST_FIXTURE_TEST_SUITE(ASIO_SYNC_RULES_SUITE, fixture)

BOOST_AUTO_TEST_CASE(R8_a_queued_wait_keeps_its_context_running_until_it_has_completed) {
  for (auto* const io : {&context, &other}) {
    BOOST_TEST_REQUIRE(subject::occupy(primitive));
    fate f;
    subject::wait(primitive, asio::bind_executor(*io, observed_handler(f)));
    poll(*io);
    BOOST_TEST(!io->stopped());
    BOOST_TEST((io == &context || context.poll() == 0u));
    std::thread serves([&] { subject::serve(primitive); });
    io->run();  // and it returns
    serves.join();
    BOOST_TEST(f.granted());
    BOOST_TEST(idle());
  }
}

BOOST_AUTO_TEST_CASE(R8_a_wait_that_was_refused_lets_its_context_go) {
  BOOST_TEST_REQUIRE(subject::occupy(primitive));
  fate f[2];
  subject::wait(primitive, observed_handler(f[0]));
  subject::wait_for(primitive, 1h, asio::bind_executor(other, observed_handler(f[1])));
  primitive.cancel();
  context.run();
  other.run();
  BOOST_TEST((f[0].refused(aborted) && f[1].refused(aborted)));
}

BOOST_AUTO_TEST_CASE(R11_zero_and_negative_time_try_once) {
  for (auto const time : {0ms, -5ms}) {
    result free, taken;
    subject::wait_for(primitive, time, free.handler());
    keep_occupied(primitive);
    subject::wait_for(primitive, time, taken.handler());
    BOOST_TEST(primitive.waiters() == 0u);
    BOOST_TEST(!subject::block_for(primitive, time));
    poll();
    BOOST_TEST((free.granted() && taken.refused(timed_out)));
    let_go(primitive, free.held);
    BOOST_TEST(static_cast<bool>(subject::block_for(primitive, time)));
    renew(primitive);
  }
  result past;
  subject::wait_until(primitive, std::chrono::system_clock::now() - 1h, past.handler());
  poll();
  BOOST_TEST(past.granted());
}

BOOST_AUTO_TEST_CASE(R11_an_expired_wait_leaves_the_queue_and_those_behind_it_move_up) {
  result early, late, behind;
  auto const now = std::chrono::steady_clock::now();
  grant held = subject::hold(primitive);
  subject::wait_until(primitive, now + 2ms, late.handler());
  subject::wait_for(primitive, 1ms, asio::bind_executor(other, early.handler()));
  subject::wait(primitive, behind.handler());
  other.run();
  BOOST_TEST(early.refused(timed_out));
  context.restart();
  while (late.calls == 0) context.run_one();
  BOOST_TEST(late.refused(timed_out));
  BOOST_TEST((std::chrono::steady_clock::now() >= now + 2ms));
  BOOST_TEST(primitive.waiters() == 1u);
  let_go(held);
  poll();
  BOOST_TEST(behind.granted());
}

BOOST_AUTO_TEST_CASE(R11_time_that_is_up_does_nothing_after_the_grant_and_before_the_timer_fires) {
  for (bool const served_in_time : {true, false}) {
    result r;
    BOOST_TEST_REQUIRE(subject::occupy(primitive));
    subject::wait_for(primitive, 1ms, r.handler());
    auto const later = std::chrono::steady_clock::now() + 1ms;
    if (served_in_time) subject::serve(primitive);
    while (std::chrono::steady_clock::now() <= later) std::this_thread::yield();
    if (!served_in_time) subject::serve(primitive);
    poll();
    BOOST_TEST(r.granted());
  }
}

BOOST_AUTO_TEST_CASE(R11_the_timer_does_not_keep_the_context_running) {
  result r;
  grant held = subject::hold(primitive);
  subject::wait_for(primitive, 1h, r.handler());
  asio::post(context, [&] { let_go(held); });
  context.restart();
  context.run();  // not for an hour
  BOOST_TEST(r.granted());
}

BOOST_AUTO_TEST_CASE(R11_a_blocked_thread_gives_up) {
  grant held = subject::hold(primitive);
  auto const now = std::chrono::steady_clock::now();
  BOOST_TEST(!subject::block_for(primitive, 2ms));
  BOOST_TEST((std::chrono::steady_clock::now() >= now + 2ms));
  BOOST_TEST(primitive.waiters() == 0u);
  grant served;
  blocked_thread thread(primitive, [&] { served = subject::block_for(primitive, 1h); });
  let_go(held);
  BOOST_TEST(!thread.join());
  BOOST_TEST(static_cast<bool>(served));
}

BOOST_AUTO_TEST_SUITE_END()

#endif
