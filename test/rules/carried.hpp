// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_RULES_CARRIED_HPP
#define ASIO_SYNC_TEST_RULES_CARRIED_HPP

// R3, R9 and R10 of primitives whose completions carry something: it goes on where nobody keeps
// it, is held for as long as somebody does, and may outlive the primitive.

#include "rules/common.hpp"
#include "rules/lifetime.hpp"
#include "support/test.hpp"

namespace ASIO_SYNC_RULES_SUITE {

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

BOOST_AUTO_TEST_CASE(R3_tokens_of_callbacks_hand_the_grant_over) {
  int calls = 0;
  auto const in_turn = [&](auto token) {
    subject::wait(primitive, std::move(token));
    poll();
  };
  in_turn(asio::append([&](error_code e, grant g, int x) { calls += !e && g && x == 7; }, 7));
  in_turn(asio::as_tuple([&](std::tuple<error_code, grant> t) { calls += bool(std::get<1>(t)); }));
  error_code error = aborted;
  in_turn(asio::redirect_error([&](grant g) { calls += !error && g; }, error));
  in_turn([&, own = std::make_unique<int>(1)](error_code, grant g) { calls += g ? *own : 0; });
  in_turn(asio::detached);
  BOOST_TEST(calls == 4);
  BOOST_TEST(idle());
}

BOOST_AUTO_TEST_CASE(R3_tokens_of_coroutines_hand_the_grant_over_when_they_had_to_wait) {
  int turn = 0;
  auto const serve_later = [&] {
    BOOST_TEST_REQUIRE(subject::occupy(primitive));
    asio::post(context, [&] { ++turn, subject::serve(primitive); });
  };
  run(context, [&]() -> asio::awaitable<void> {
    serve_later();
    BOOST_TEST(static_cast<bool>(co_await subject::wait(primitive)));
    serve_later();
    BOOST_TEST(static_cast<bool>(co_await subject::wait(primitive, asio::use_awaitable)));
    serve_later();
    auto [error, held] = co_await subject::wait(primitive, asio::as_tuple(asio::use_awaitable));
    BOOST_TEST((!error && held));
    let_go(held);
    serve_later();
    error = aborted;
    auto redirected = asio::redirect_error(asio::deferred, error);
    BOOST_TEST(static_cast<bool>(co_await subject::wait_for(primitive, 1h, redirected)));
    BOOST_TEST(!error);
  });
  BOOST_TEST(turn == 4);
  BOOST_TEST(idle());
}

BOOST_AUTO_TEST_CASE(R3_grant_that_is_destroyed_on_its_way_goes_to_the_next_wait) {
  fate first, second;
  result next;
  {
    asio::io_context dying;
    subject::wait(primitive, asio::bind_executor(dying, observed_handler(first)));
    subject::wait(primitive, asio::bind_executor(dying, observed_handler(second)));
    subject::wait(primitive, next.handler());
    BOOST_TEST(primitive.waiters() == 2u);
  }
  BOOST_TEST((first.dropped() && second.dropped()));
  BOOST_TEST(primitive.waiters() == 0u);
  poll();
  BOOST_TEST(next.granted());
  let_go(next.held);
  BOOST_TEST(idle());
}

BOOST_AUTO_TEST_CASE(R3_grant_that_is_destroyed_on_its_way_with_nobody_waiting_is_free_again) {
  for (bool const queued : {false, true}) {
    fate in_context, in_strand;
    for (fate* f : {&in_context, &in_strand}) {
      asio::io_context dying;
      if (queued) BOOST_TEST_REQUIRE(subject::occupy(primitive));
      if (f == &in_context)
        subject::wait(primitive, asio::bind_executor(dying, observed_handler(*f)));
      else
        subject::wait(primitive,
                      asio::bind_executor(asio::make_strand(dying), observed_handler(*f)));
      if (queued) subject::serve(primitive);
      BOOST_TEST(!idle());
    }
    BOOST_TEST((in_context.dropped() && in_strand.dropped()));
    BOOST_TEST(idle());
  }
  fate dropped[2];
  subject::wait(primitive,
                asio::bind_executor(dropping_executor(context), observed_handler(dropped[0])));
  BOOST_TEST(dropped[0].dropped());
  BOOST_TEST(idle());
  BOOST_TEST_REQUIRE(subject::occupy(primitive));
  subject::wait(primitive,
                asio::bind_executor(dropping_executor(context), observed_handler(dropped[1])));
  subject::serve(primitive);
  BOOST_TEST(dropped[1].dropped());
  BOOST_TEST(idle());
}

BOOST_AUTO_TEST_CASE(R3_grant_that_the_handler_leaves_goes_to_the_next_wait) {
  result next;
  subject::wait(primitive, asio::detached);
  subject::wait(primitive, [](error_code, grant const&) {});
  subject::wait(primitive, next.handler());
  poll();
  BOOST_TEST(next.granted());
}

BOOST_AUTO_TEST_CASE(R3_the_loser_of_two_waits_keeps_nothing) {
  using namespace asio::experimental::awaitable_operators;
  primitive_type second(context);
  for (bool const both_at_once : {false, true}) {
    BOOST_TEST_REQUIRE(subject::occupy(primitive));
    BOOST_TEST_REQUIRE(subject::occupy(second));
    asio::post(context, [&] {
      subject::serve(second);
      if (both_at_once) subject::serve(primitive);
    });
    run(context, [&]() -> asio::awaitable<void> {
      auto const won = co_await (subject::wait(primitive, asio::use_awaitable) ||
                                 subject::wait(second, asio::use_awaitable));
      if (!both_at_once) BOOST_TEST(won.index() == 1u);
    });
    BOOST_TEST(subject::idle(second));
    if (!both_at_once) subject::serve(primitive);
    BOOST_TEST(idle());
  }
}

BOOST_AUTO_TEST_CASE(R3_grant_in_the_frame_of_a_destroyed_coroutine_goes_to_the_next_wait) {
  result next;
  {
    asio::io_context dying;
    auto const coroutine = [&]() -> asio::awaitable<void> {
      grant const held = co_await subject::wait(primitive);
      co_await asio::steady_timer(dying, 1h).async_wait(asio::use_awaitable);
    };
    asio::co_spawn(dying, coroutine, asio::detached);
    dying.poll();
    subject::wait(primitive, next.handler());
    poll();
    BOOST_TEST(next.calls == 0);
  }
  poll();
  BOOST_TEST(next.granted());
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
    BOOST_TEST((is_remote ? r.granted() : r.refused(aborted)));
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
    if (round % 2) BOOST_TEST((queued.refused(aborted) || (is_remote && queued.granted())));
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

BOOST_AUTO_TEST_SUITE_END()

#endif
