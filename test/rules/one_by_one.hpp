// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_RULES_ONE_BY_ONE_HPP
#define ASIO_SYNC_TEST_RULES_ONE_BY_ONE_HPP

// R4, R7, R10, R14 and R19 of primitives that serve one wait after the other: each has it for
// itself.

#include "rules/common.hpp"
#include "rules/lifetime.hpp"
#include "support/test.hpp"

BOOST_FIXTURE_TEST_SUITE(ASIO_SYNC_RULES_SUITE, fixture)

BOOST_AUTO_TEST_CASE(R4_the_slot_may_be_taken_over_by_another_operation) {
  result first, second;
  asio::cancellation_signal signal;
  BOOST_TEST_REQUIRE(subject::occupy(primitive));
  for (result* r : {&first, &second})
    subject::wait(primitive, asio::bind_cancellation_slot(signal.slot(), r->handler()));
  subject::serve(primitive);
  poll();
  BOOST_TEST(first.granted());
  BOOST_TEST(signal.slot().has_handler());  // the second's
  signal.emit(asio::cancellation_type::terminal);
  poll();
  BOOST_TEST(second.refused(aborted));
}

BOOST_AUTO_TEST_CASE(R7_callbacks_coroutines_futures_and_threads_are_served_in_one_order) {
  std::string order, expected;  // written by whoever has been served
  std::vector<std::thread> threads;
  std::size_t queued = 0;
  auto const is_queued = [&] {
    while (primitive.waiters() != queued) std::this_thread::yield();
  };
  auto const callback = [&](char c) { return [&, c](error_code, grant) { order += c; }; };
  grant held = subject::hold(primitive);
  for (int round = 0; round < 3; ++round) {
    expected += "atcfs";
    subject::wait(primitive, callback('a'));
    ++queued;
    threads.emplace_back([&] {
      grant const g = subject::block(primitive);
      order += 't';
    });
    ++queued, is_queued();
    auto const coroutine = [&]() -> asio::awaitable<void> {
      grant const g = co_await subject::wait(primitive);
      order += 'c';
    };
    asio::co_spawn(context, coroutine, asio::detached);
    poll();
    threads.emplace_back([&, future = subject::wait(primitive, asio::use_future)]() mutable {
      grant const g = future.get();
      order += 'f';
    });
    subject::wait_for(primitive, 1h,
                      asio::bind_executor(asio::make_strand(context), callback('s')));
    queued += 3, is_queued();
  }
  let_go(held);
  context.restart();
  context.run();
  for (auto& thread : threads) thread.join();
  BOOST_TEST(order == expected);
  BOOST_TEST(idle());
}

BOOST_AUTO_TEST_CASE(R7_nobody_barges_in_between_a_release_and_its_completion) {
  result queued, behind, late;
  BOOST_TEST_REQUIRE(subject::occupy(primitive));
  subject::wait(primitive, queued.handler());
  subject::serve(primitive);
  BOOST_TEST(!subject::hold(primitive));
  BOOST_TEST(!subject::block_for(primitive, 0s));
  subject::wait(primitive, behind.handler());
  subject::wait_for(primitive, 0s, late.handler());
  poll();
  BOOST_TEST((queued.granted() && behind.calls == 0 && late.refused(timed_out)));
  let_go(queued.held);
  BOOST_TEST(!subject::hold(primitive));
  poll();
  BOOST_TEST(behind.granted());
}

BOOST_AUTO_TEST_CASE(R10_handlers_die_with_their_context_and_the_waits_of_others_live) {
  for (int const way : {0, 1, 2, 3}) {
    bool const home_dies = way % 2 == 1, served_before = way / 2 == 1;
    fate dead[4], living[4], first;
    auto dying = std::make_unique<asio::io_context>();
    primitive_type p(home_dies ? *dying : context);
    BOOST_TEST_REQUIRE(subject::occupy(p));
    subject::wait(p, asio::bind_executor(asio::make_strand(*dying), observed_handler(first)));
    queue_all_kinds(p, *dying, dead);
    queue_all_kinds(p, other, living);
    if (served_before) subject::serve(p);
    BOOST_TEST(p.waiters() == (served_before ? 8u : 9u));
    dying.reset();
    BOOST_TEST((first.dropped() && dropped(dead)));
    BOOST_TEST(p.waiters() == (served_before ? 3u : 4u));  // one got what was on its way
    if (!served_before) subject::serve(p);
    poll(other);
    BOOST_TEST(granted(living));
    BOOST_TEST(subject::idle(p));
  }
}

// Under the thread sanitizer this tells whether the number is written by one after the other.
BOOST_AUTO_TEST_CASE(R14_what_comes_before_a_release_comes_before_what_it_enables) {
  asio::thread_pool pool(2);
  int number = 0;  // not atomic
  auto const add = [&](error_code, grant g) {
    if (g) ++number;
  };
  std::thread thread([&] {
    for (int i = 0; i < 1000; ++i) add({}, subject::block(primitive));
  });
  for (int i = 0; i < 1000; ++i) subject::wait(primitive, asio::bind_executor(pool, add));
  auto const coroutine = [&]() -> asio::awaitable<void> {
    for (int i = 0; i < 1000; ++i) add({}, co_await subject::wait(primitive));
  };
  asio::co_spawn(pool, coroutine, asio::detached);
  for (int i = 0; i < 1000;) {
    grant g = subject::hold(primitive);
    if (g) ++i;
    add({}, std::move(g));
  }
  thread.join();
  pool.join();
  grant const last = subject::hold(primitive);
  BOOST_TEST(number == 4000);
}

BOOST_AUTO_TEST_CASE(R19_waiters_are_those_that_are_queued) {
  result r[3];
  BOOST_TEST(primitive.waiters() == 0u);
  subject::wait(primitive, r[0].handler());  // decided
  BOOST_TEST(primitive.waiters() == 0u);
  subject::wait(primitive, r[1].handler());
  subject::wait_for(primitive, 1h, r[2].handler());
  BOOST_TEST(primitive.waiters() == 2u);
  {
    blocked_thread thread(primitive, 3, [&] { static_cast<void>(subject::block(primitive)); });
    poll();
    let_go(r[0].held);                             // on its way
    while (is_remote && primitive.waiters() == 3)  // the thread may be about to grant
      std::this_thread::yield();
    BOOST_TEST(primitive.waiters() == 2u);
    primitive.cancel();
    BOOST_TEST(primitive.waiters() == 0u);
    thread.join();
  }
  poll();
  BOOST_TEST((r[1].granted() && r[2].refused(aborted)));
}

BOOST_AUTO_TEST_SUITE_END()

#endif
