// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_RULES_COROUTINES_HPP
#define ASIO_SYNC_TEST_RULES_COROUTINES_HPP

// R1a, R12 and R13 of coroutines: what they are spared, and what they are told.

#include "rules/common.hpp"
#include "support/failing_coroutine.hpp"
#include "support/test.hpp"

namespace ASIO_SYNC_RULES_SUITE {

// The number of turns of a coroutine that acquires and lets go, after which it went through its
// executor: 0 is none.
auto const turns_to_a_trip = [](primitive_type& p, int most, auto wait) -> asio::awaitable<int> {
  for (int turn = 1; turn <= most; ++turn) {
    trip_probe const probe(p.get_executor());
    grant const held = co_await granted(wait());
    BOOST_TEST(static_cast<bool>(held));
    renew(p);
    if (probe.taken()) co_return turn;
  }
  co_return 0;
};

// Awaits a wait whose allocations fail one after the other, until none of them does.
template <class Wait>
void fail_each_allocation_awaited(bool occupied, Wait wait) {
  for (std::size_t successes = 0;; ++successes) {
    fixture f;
    if (occupied) BOOST_TEST_REQUIRE(subject::occupy(f.primitive));
    failing_coroutine const awaits(f.other, successes, [&] { return wait(f.primitive); });
    bool const thrown = awaits.thrown();
    BOOST_TEST(thrown == awaits.failed());
    BOOST_TEST(awaits.completed() == !(occupied || thrown));
    BOOST_TEST(f.primitive.waiters() == std::size_t(occupied && !thrown));
    BOOST_TEST(f.idle() == (!occupied && (thrown || !takes)));
    if (thrown) f.context.run(), f.other.run();  // nothing keeps them running
    if (!f.idle()) subject::serve(f.primitive);
    f.poll(f.other);
    BOOST_TEST(awaits.completed() == !thrown);
    fate again;
    subject::wait(f.primitive, observed_handler(again));
    f.poll();
    BOOST_TEST(again.granted());
    BOOST_TEST(f.idle() == !takes);
    if (!thrown) return;
  }
}

}  // namespace ASIO_SYNC_RULES_SUITE

BOOST_FIXTURE_TEST_SUITE(ASIO_SYNC_RULES_SUITE, fixture)

BOOST_AUTO_TEST_CASE(R1a_no_trip_for_what_is_free_with_any_token_of_a_coroutine) {
  int const expected = spared ? 0 : 1;
  error_code e;
  auto const check = [&](auto wait) -> asio::awaitable<void> {
    BOOST_TEST(co_await turns_to_a_trip(primitive, 3, wait) == expected);
  };
  using awaited = std::conditional_t<subject::carries, grant, void>;
  auto const only_grant = [](auto operation) -> asio::awaitable<awaited> {
    auto completion = co_await std::move(operation);
    BOOST_TEST(!std::get<0>(completion));
    if constexpr (subject::carries) co_return std::get<1>(std::move(completion));
  };
  run(context, [&]() -> asio::awaitable<void> {
    co_await check([&] { return subject::wait(primitive); });
    co_await check([&] { return subject::wait(primitive, asio::deferred); });
    co_await check([&] { return subject::wait(primitive, asio::use_awaitable); });
    co_await check(
        [&] { return subject::wait(primitive, asio::redirect_error(asio::deferred, e)); });
    co_await check(
        [&] { return subject::wait(primitive, asio::redirect_error(asio::use_awaitable, e)); });
    co_await check(
        [&] { return only_grant(subject::wait(primitive, asio::as_tuple(asio::deferred))); });
    co_await check(
        [&] { return only_grant(subject::wait(primitive, asio::as_tuple(asio::use_awaitable))); });
    co_await check([&] { return subject::wait_for(primitive, 0s); });
    co_await check([&] { return subject::wait_for(primitive, 1h, asio::use_awaitable); });
    co_await check(
        [&] { return subject::wait_until(primitive, std::chrono::steady_clock::now() + 1h); });
  });
  BOOST_TEST(idle());
}

BOOST_AUTO_TEST_CASE(R1a_no_trip_for_what_is_refused_at_once) {
  BOOST_TEST_REQUIRE(subject::occupy(primitive));
  run(context, [&]() -> asio::awaitable<void> {
    trip_probe const probe(context.get_executor());
    auto const late = co_await subject::wait_for(primitive, 0s, asio::as_tuple(asio::deferred));
    BOOST_TEST(std::get<0>(late) == timed_out);
    BOOST_TEST(!is_held(late));
    primitive.close();
    error_code error;
    auto redirected = asio::redirect_error(asio::deferred, error);
    grant const empty = co_await granted(subject::wait(primitive, redirected));
    BOOST_TEST(error == closed);
    if (subject::carries) BOOST_TEST(!empty);
    BOOST_TEST(probe.taken() == !spared);
  });
}

BOOST_AUTO_TEST_CASE(R1a_of_129_in_a_row_the_last_goes_through_the_executor) {
  auto const wait = [&] { return subject::wait(primitive); };
  run(context, [&]() -> asio::awaitable<void> {
    auto const ex = context.get_executor();
    for (int i = 0; i < 2; ++i)  // it was renewed
      BOOST_TEST(co_await turns_to_a_trip(primitive, 1000, wait) == (spared ? 129 : 1));
    BOOST_TEST_REQUIRE(subject::occupy(primitive));
    trip_probe const probe(ex);
    asio::post(ex, [&] { subject::serve(primitive); });
    static_cast<void>(co_await wait());  // queued: it came through the executor, too
    BOOST_TEST(probe.taken());
    BOOST_TEST(co_await turns_to_a_trip(primitive, 128, wait) == (spared ? 0 : 1));
  });
}

BOOST_AUTO_TEST_CASE(R1a_what_is_free_does_not_nest) {
  run_on_stack(small_stack, [&] {
    run(context, [&]() -> asio::awaitable<void> {
      for (std::size_t i = 0; i < many_waits; ++i) {
        static_cast<void>(co_await subject::wait(primitive, asio::use_awaitable));
        renew(primitive);
        static_cast<void>(co_await subject::wait(primitive, asio::deferred));
        renew(primitive);
      }
    });
  });
  BOOST_TEST(idle());
}

BOOST_AUTO_TEST_CASE(R12_what_need_not_wait_allocates_nothing) {
  std::size_t in_coroutine = 1;
  run(context, [&]() -> asio::awaitable<void> {
    empty_pool const pool;
    heap_counter const heap;
    for (int i = 0; i < 100; ++i) {
      static_cast<void>(co_await subject::wait(primitive, asio::deferred));
      renew(primitive);
    }
    in_coroutine = heap.allocations();
  });
  if (spared) BOOST_TEST(in_coroutine == std::size_t(held_in_entries<subject>));
}

BOOST_AUTO_TEST_CASE(R13_failed_initiation_comes_out_of_co_await) {
  for (bool const occupied : {true, false}) {
    if (occupied) BOOST_TEST_REQUIRE(subject::occupy(primitive));
    bool thrown = false;
    run(context, [&]() -> asio::awaitable<void> {
      auto operation = subject::wait_for(primitive, 1h, asio::use_awaitable);
      empty_pool const pool;
      failing_heap const heap;
      try {
        static_cast<void>(co_await std::move(operation));
      } catch (std::bad_alloc const&) {
        thrown = true;
      }
    });
    if (occupied || !spared) BOOST_TEST(thrown);
    BOOST_TEST(primitive.waiters() == 0u);
    if (occupied || takes) subject::serve(primitive);
    BOOST_TEST(idle());
  }
}

BOOST_AUTO_TEST_CASE(R13_each_allocation_that_fails_in_a_coroutine_changes_nothing) {
  for (bool const occupied : {true, false}) {
    auto const check = [&](auto wait) { fail_each_allocation_awaited(occupied, wait); };
    check([](primitive_type& p) { return subject::wait(p, asio::deferred); });
    check([](primitive_type& p) { return subject::wait(p, asio::use_awaitable); });
#if !defined(BOOST_ASIO_HAS_IOCP)  // there a queue of timers whose making has failed is kept
    check([](primitive_type& p) { return subject::wait_for(p, 1h, asio::deferred); });
    check([](primitive_type& p) { return subject::wait_for(p, 1h, asio::use_awaitable); });
#endif
  }
}

BOOST_AUTO_TEST_SUITE_END()

#endif
