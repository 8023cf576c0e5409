// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_RULES_LIFETIME_HPP
#define ASIO_SYNC_TEST_RULES_LIFETIME_HPP

// R9 and R10: what outlives what.

#include "rules/common.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <algorithm>
#include <future>
#include <memory>
#include <optional>
#include <thread>

namespace ASIO_SYNC_RULES_SUITE {

// Waits of every kind whose handlers belong to the context.
template <class Context>
void queue_all_kinds(primitive_type& p, Context& context, fate (&f)[4]) {
  auto const strand = asio::make_strand(context);
  subject::wait(p, asio::bind_executor(context, observed_handler(f[0])));
  subject::wait(p, asio::bind_executor(strand, observed_handler(f[1])));
  subject::wait_for(p, 1h, asio::bind_executor(context, observed_handler(f[2])));
  subject::wait_for(p, 1h,
                    asio::bind_executor(asio::any_io_executor(strand), observed_handler(f[3])));
}

// What has become of all of them.
inline bool dropped(fate const (&f)[4]) {
  return std::ranges::all_of(f, [](fate const& each) { return each.dropped(); });
}
inline bool refused(fate const (&f)[4], error_code e) {
  return std::ranges::all_of(f, [&](fate const& each) { return each.refused(e); });
}
inline bool granted(fate const (&f)[4]) {
  return std::ranges::all_of(f, [](fate const& each) { return each.granted(); });
}

// The ways to a grant.
using maker = grant (*)(primitive_type&, asio::io_context&);

inline grant by_callback(primitive_type& p, asio::io_context& context) {
  result r;
  subject::wait(p, r.handler());
  fixture::poll(context);
  return std::move(r.held);
}

// A wait that was queued.
inline grant by_hand_over(primitive_type& p, asio::io_context& context) {
  result r;
  BOOST_TEST_REQUIRE(subject::occupy(p));
  subject::wait(p, r.handler());
  subject::serve(p);
  fixture::poll(context);
  return std::move(r.held);
}

inline grant by_coroutine(primitive_type& p, asio::io_context& context) {
  grant g;
  asio::co_spawn(
      context, [&]() -> asio::awaitable<void> { g = co_await subject::wait(p); }, asio::detached);
  fixture::poll(context);
  return g;
}

inline grant by_future(primitive_type& p, asio::io_context& context) {
  std::future<grant> future = subject::wait(p, asio::use_future);
  fixture::poll(context);
  return future.get();
}

inline grant by_thread(primitive_type& p, asio::io_context&) {
  grant g;
  BOOST_TEST_REQUIRE(subject::occupy(p));
  blocked_thread thread(p, [&] { g = subject::block(p); });
  subject::serve(p);
  thread.join();
  return g;
}

constexpr maker makers[] = {
    [](primitive_type& p, asio::io_context&) { return subject::hold(p); },
    [](primitive_type& p, asio::io_context&) { return subject::block(p); },
    [](primitive_type& p, asio::io_context&) { return subject::block_for(p, 1h); },
    by_callback,
    by_hand_over,
    by_coroutine,
    by_future,
    by_thread,
};

}  // namespace ASIO_SYNC_RULES_SUITE

BOOST_FIXTURE_TEST_SUITE(ASIO_SYNC_RULES_SUITE, fixture)

BOOST_AUTO_TEST_CASE(R9_waits_of_a_destroyed_primitive_are_aborted_on_their_own_executors) {
  fate near[4], far[4];
  auto p = std::make_unique<primitive_type>(context);
  BOOST_TEST_REQUIRE(subject::occupy(*p));
  queue_all_kinds(*p, context, near);
  queue_all_kinds(*p, other, far);
  error_code in_coroutine;
  auto const coroutine = [&, &q = *p]() -> asio::awaitable<void> {
    static_cast<void>(
        co_await subject::wait(q, asio::redirect_error(asio::use_awaitable, in_coroutine)));
  };
  asio::co_spawn(context, coroutine, asio::detached);
  poll();
  blocked_thread thread(*p, 10, [&q = *p] { static_cast<void>(subject::block(q)); });
  p.reset();
  BOOST_TEST(thread.join() == aborted);
  poll();
  BOOST_TEST(in_coroutine == aborted);
  BOOST_TEST(refused(near, aborted));
  BOOST_TEST(far[0].waits());
  poll(other);
  BOOST_TEST(refused(far, aborted));
}

BOOST_AUTO_TEST_CASE(R9_grant_on_its_way_arrives_as_aborted) {
  for (bool const queued : {false, true}) {
    result r;
    auto p = std::make_unique<primitive_type>(context);
    if (queued) BOOST_TEST_REQUIRE(subject::occupy(*p));
    subject::wait(*p, r.handler());
    if (queued) subject::serve(*p);
    p.reset();
    poll();
    BOOST_TEST(r.refused(aborted));
  }
}

BOOST_AUTO_TEST_CASE(R9_a_grant_outlives_its_primitive_however_it_was_made) {
  auto const round = [&] {
    for (maker const make : makers) {
      grant kept;
      {
        primitive_type p(context);
        kept = make(p, context);
        BOOST_TEST(static_cast<bool>(kept));
        BOOST_TEST(!subject::idle(p));
        grant moved = std::move(kept);
        BOOST_TEST(!kept);  // NOLINT(bugprone-use-after-move)
        kept = std::move(moved);
      }
      let_go(kept);
    }
  };
  empty_pool const pool;
  round();
  heap_counter const heap(heap_counter::scope::all_threads);
  for (int i = 0; i < 3; ++i) round();
  BOOST_TEST(heap.kept() <= 0);
}

// As the last thing that is done with it, on whatever thread the wait completes.
BOOST_AUTO_TEST_CASE(R9_destruction_right_after_the_last_wait_was_served) {
  asio::thread_pool pool(1);
  for (int round = 0; round < 600; ++round) {
    auto p = std::make_unique<primitive_type>(pool);
    primitive_type& q = *p;
    std::atomic<int> ended = 0;
    grant kept;
    BOOST_TEST_REQUIRE(subject::occupy(q));
    std::optional<blocked_thread> thread;
    auto const coroutine = [&]() -> asio::awaitable<void> {
      error_code error;
      kept = co_await subject::wait(q, asio::redirect_error(asio::deferred, error));
      ++ended;
    };
    if (round % 3 == 0)
      thread.emplace(q, [&] { kept = subject::block(q); });
    else if (round % 3 == 1)
      asio::co_spawn(pool, coroutine, asio::detached);
    else
      subject::wait(q, [&](error_code, grant g) { kept = std::move(g), ++ended; });
    while (q.waiters() != 1) std::this_thread::yield();
    subject::serve(q);
    for (int i = 0; i < round / 3 % 40; ++i) std::this_thread::yield();
    p.reset();
    if (thread) thread->join();
    while (!thread && ended == 0) std::this_thread::yield();
  }
}

BOOST_AUTO_TEST_CASE(R9_a_grant_is_let_go_while_its_primitive_is_destroyed) {
  asio::thread_pool pool(1);
  for (int round = 0; round < 300; ++round) {
    auto p = std::make_unique<primitive_type>(context);
    result queued;
    grant kept = subject::hold(*p);
    if (round % 2) subject::wait(*p, queued.handler());
    std::atomic<bool> start = false;
    std::promise<void> gone;
    asio::post(pool, [&] {
      while (!start) {
      }
      let_go(kept);
      gone.set_value();
    });
    start = true;
    p.reset();
    gone.get_future().wait();
    poll();
    BOOST_TEST(queued.calls == round % 2);
    if (round % 2) BOOST_TEST(queued.refused(aborted));
  }
}

BOOST_AUTO_TEST_CASE(R10_handlers_die_with_their_context_and_the_waits_of_others_live) {
  for (bool const home_dies : {false, true}) {
    fate dead[4], living[4], on_its_way;
    auto dying = std::make_unique<asio::io_context>();
    primitive_type p(home_dies ? *dying : context);
    BOOST_TEST_REQUIRE(subject::occupy(p));
    subject::wait(p, asio::bind_executor(*dying, observed_handler(on_its_way)));
    queue_all_kinds(p, *dying, dead);
    queue_all_kinds(p, other, living);
    subject::serve(p);
    BOOST_TEST(p.waiters() == 8u);
    dying.reset();
    BOOST_TEST((on_its_way.dropped() && dropped(dead)));
    BOOST_TEST(p.waiters() == 3u);  // the first got what was on its way
    poll(other);
    BOOST_TEST(granted(living));
    BOOST_TEST(subject::idle(p));
  }
}

BOOST_AUTO_TEST_CASE(R10_contexts_primitive_and_grant_are_destroyed_in_every_order) {
  std::array<int, 4> order = {0, 1, 2, 3};
  do {
    auto first = std::make_unique<asio::io_context>();
    auto second = std::make_unique<asio::io_context>();
    auto p = std::make_unique<primitive_type>(*first);
    grant held = subject::hold(*p);
    fate f[2][4];
    queue_all_kinds(*p, *first, f[0]);
    queue_all_kinds(*p, *second, f[1]);
    for (int const step : order) {
      if (step == 0) first.reset();
      if (step == 1) second.reset();
      if (step == 2) p.reset();
      if (step == 3) let_go(held);
    }
    BOOST_TEST((dropped(f[0]) && dropped(f[1])));
  } while (std::ranges::next_permutation(order).found);
}

BOOST_AUTO_TEST_CASE(R10_a_handler_that_owns_the_primitive_dies_with_its_context) {
  fate f;
  {
    asio::io_context dying;
    auto own = std::make_shared<primitive_type>(dying);
    BOOST_TEST_REQUIRE(subject::occupy(*own));
    subject::wait(*own, [own, h = observed_handler(f)](error_code, grant) {});
    subject::wait_for(*own, 1h, [own](error_code, grant) {});
  }
  BOOST_TEST(f.dropped());
}

BOOST_AUTO_TEST_CASE(
    R10_a_coroutine_that_holds_a_grant_dies_with_its_context_after_the_primitive) {
  bool held = false;
  {
    asio::io_context dying;
    primitive_type p(dying);
    auto const coroutine = [&]() -> asio::awaitable<void> {
      grant const g = co_await subject::wait(p);
      held = bool(g);
      co_await asio::steady_timer(dying, 1h).async_wait(asio::use_awaitable);
    };
    asio::co_spawn(dying, coroutine, asio::detached);
    dying.poll();
  }
  BOOST_TEST(held);
}

BOOST_AUTO_TEST_CASE(R10_a_wait_that_a_destructor_initiates_in_a_shutdown_is_dropped_at_once) {
  fate first, late[4];
  {
    asio::io_context dying;
    BOOST_TEST_REQUIRE(subject::occupy(primitive));
    subject::wait(primitive, asio::bind_executor(dying, observed_handler(first, [&] {
                                                   queue_all_kinds(primitive, dying, late);
                                                   BOOST_TEST(dropped(late));
                                                 })));
  }
  BOOST_TEST((first.dropped() && dropped(late)));
  BOOST_TEST(primitive.waiters() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

#endif
