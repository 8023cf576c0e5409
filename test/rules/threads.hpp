// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_RULES_THREADS_HPP
#define ASIO_SYNC_TEST_RULES_THREADS_HPP

// R17 and R18: threads, and what is closed.

#include "rules/common.hpp"
#include "support/random.hpp"
#include "support/test.hpp"

namespace ASIO_SYNC_RULES_SUITE {

// Counted by whoever was granted a wait, and is alone if a grant is what keeps others out.
using count_type = std::conditional_t<owns, int, std::atomic<int>>;

// What a thread that may do anything does, at random.
inline void act(primitive_type& p, random_choice& choice, count_type& counted) {
  auto const count = [&](error_code e, auto... g) {
    if (is_granted(e, g...)) ++counted, renew(p);
  };
  auto const count_here = [&](grant const g) {
    if (g) ++counted, renew(p);
  };
  switch (choice.below(7)) {
    case 0: return count_here(subject::hold(p));
    case 1: return count_here(subject::block_for(p, std::chrono::microseconds(choice.below(50))));
    case 2: return subject::wait(p, count);
    case 3: {  // A local driver cannot grant from inside the timer.
      std::chrono::microseconds const soon(choice.below(50));
      return subject::wait_for(p, is_remote ? std::chrono::hours(1) : soon, count);
    }
    case 4:
      return asio::co_spawn(
          p.get_executor(),
          [](primitive_type& q, count_type& n) -> asio::awaitable<void> {
            auto const completion = co_await subject::wait(q, asio::as_tuple(asio::deferred));
            if (!std::get<0>(completion)) ++n, renew(q);
          }(p, counted),
          asio::detached);
    case 5:
      if (choice.one_in(10)) p.cancel();
      return;
    default: return static_cast<void>(p.waiters());
  }
}

}  // namespace ASIO_SYNC_RULES_SUITE

BOOST_FIXTURE_TEST_SUITE(ASIO_SYNC_RULES_SUITE, fixture)

BOOST_AUTO_TEST_CASE(R17_threads_do_everything_at_once) {
  unsigned const seed = random_seed();
  BOOST_TEST_INFO_SCOPE("ASIO_SYNC_TEST_SEED=" << seed);
  asio::thread_pool pool(2);
  primitive_type p(pool);
  count_type counted = 0;
  std::atomic<int> unexpected = 0;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 3; ++i)
    threads.emplace_back([&, i] {
      random_choice choice(seed + i);
      for (int n = 0; n < 1000; ++n) {
        error_code const error = error_of([&] { act(p, choice, counted); });
        unexpected += error && error != aborted;
      }
    });
  for (auto& thread : threads) thread.join();
  pool.join();
  BOOST_TEST(subject::idle(p));
  BOOST_TEST(unexpected == 0);
  BOOST_TEST(counted > 0);
}

BOOST_AUTO_TEST_CASE(R18_closed) {
  result queued;
  grant held = subject::hold(primitive);
  subject::wait_for(primitive, 1h, queued.handler());
  blocked_thread thread(primitive, 2, [&] { static_cast<void>(subject::block(primitive)); });
  blocked_thread timed(primitive, 3,
                       [&] { static_cast<void>(subject::block_for(primitive, 1h)); });
  BOOST_TEST(!primitive.is_closed());
  primitive.close();
  primitive.close();
  BOOST_TEST(primitive.is_closed());
  BOOST_TEST((thread.join() == closed && timed.join() == closed));
  for (bool const free : {false, true}) {  // by then the holder has let go
    result late, now;
    subject::wait(primitive, late.handler());
    subject::wait_for(primitive, 0s, now.handler());
    poll();
    BOOST_TEST((late.refused(closed) && now.refused(closed)));
    if (owns) BOOST_TEST(!subject::hold(primitive));
    BOOST_TEST(error_of([&] { static_cast<void>(subject::block(primitive)); }) == closed);
    BOOST_TEST(error_of([&] { static_cast<void>(subject::block_for(primitive, 0s)); }) == closed);
    if (!free) let_go(held);
  }
  BOOST_TEST(queued.refused(closed));
  BOOST_TEST(idle());
}

BOOST_AUTO_TEST_SUITE_END()

#endif
