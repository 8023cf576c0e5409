// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_RULES_MEMORY_HPP
#define ASIO_SYNC_TEST_RULES_MEMORY_HPP

// R12 and R13: memory, and what happens when there is none.

#include "rules/common.hpp"
#include "support/test.hpp"

namespace ASIO_SYNC_RULES_SUITE {

// Queues so many waits, serves them, and runs: what the heap sees of it.
template <class Executor>
std::size_t allocations_of_a_round(primitive_type& p, asio::io_context& runs, Executor const& ex,
                                   int waits, bool timed) {
  int served = 0;
  grant held = subject::hold(p);
  runs.restart();
  heap_counter const heap;
  for (int i = 0; i < waits; ++i) {
    auto token =
        asio::bind_executor(ex, [&](error_code e, auto... g) { served += is_granted(e, g...); });
    if (timed)
      subject::wait_for(p, 1h, std::move(token));
    else
      subject::wait(p, std::move(token));
  }
  let_go(held);
  runs.run();
  std::size_t const allocations = heap.allocations();
  BOOST_TEST(served == waits);
  return allocations;
}

// One initiation whose allocations fail one after the other: Start(fixture, handler).
template <class Start, bool Occupied>
struct initiation : fixture {
  asio::strand<asio::io_context::executor_type> strand{other.get_executor()};
  fate f;
  std::optional<observed_handler> handler{std::in_place, f};

  initiation() {
    if (Occupied) BOOST_TEST_REQUIRE(subject::occupy(primitive));
  }

  void act() { Start()(*this, std::move(*handler)); }

  void check(bool thrown) {
    handler.reset();
    BOOST_TEST(primitive.waiters() == std::size_t(Occupied && !thrown));
    BOOST_TEST(idle() == (!Occupied && (thrown || !(subject::carries || takes))));
    if (thrown) {
      BOOST_TEST(f.dropped());
      context.run();  // nothing keeps it running
      other.run();
    }
    fate again;
    Start()(*this, observed_handler(again));
    if (Occupied || takes) subject::serve(primitive);
    for (int i = 0; i < 2; ++i) poll(context), poll(other);
    if (!thrown) BOOST_TEST(f.granted());
    BOOST_TEST(again.granted());
    BOOST_TEST(idle());
  }
};

template <class Start>
void fail_each_allocation_of(Start, std::size_t least) {
  BOOST_TEST((fail_each_allocation<initiation<Start, true>>()) >= least);
  BOOST_TEST((fail_each_allocation<initiation<Start, false>>()) >= 1u);
}

// The same of a future.
template <bool Occupied>
struct initiation_of_a_future : fixture {
  decltype(subject::wait_for(std::declval<primitive_type&>(), 1h, asio::use_future)) future;

  initiation_of_a_future() {
    if (Occupied) BOOST_TEST_REQUIRE(subject::occupy(primitive));
  }

  void act() { future = subject::wait_for(primitive, 1h, asio::use_future); }

  void check(bool thrown) {
    BOOST_TEST(future.valid() == !thrown);
    BOOST_TEST(primitive.waiters() == std::size_t(Occupied && !thrown));
    if (thrown) context.run();
    fate again;
    subject::wait(primitive, observed_handler(again));
    if (Occupied || takes) subject::serve(primitive);
    poll();
    if (!thrown) static_cast<void>(future.get());
    poll();
    BOOST_TEST(again.granted());
    BOOST_TEST(idle());
  }
};

}  // namespace ASIO_SYNC_RULES_SUITE

BOOST_FIXTURE_TEST_SUITE(ASIO_SYNC_RULES_SUITE, fixture)

BOOST_AUTO_TEST_CASE(R12_one_allocation_of_the_handlers_own_freed_before_it_is_called) {
  allocator_log log;
  std::size_t waits = 0;
  auto const check = [&](auto const& ex, auto& runs) {
    int called = 0;
    auto const handler = [&](error_code, auto...) { called += log.live_bytes == 0; };
    BOOST_TEST_REQUIRE(subject::occupy(primitive));
    subject::wait(primitive, asio::bind_executor(
                                 ex, asio::bind_allocator(logging_allocator<>(log), handler)));
    BOOST_TEST(log.allocations == ++waits);
    BOOST_TEST(log.live_bytes > 0u);
    subject::serve(primitive);
    poll(runs);
    BOOST_TEST(log.allocations == waits);
    BOOST_TEST(called == 1);
  };
  check(context.get_executor(), context);
  check(asio::make_strand(context), context);
  check(other.get_executor(), other);
  check(asio::any_io_executor(asio::make_strand(other)), other);
}

BOOST_AUTO_TEST_CASE(R12_no_heap_in_the_steady_state) {
  if (is_remote) return;
  for (bool const timed : {false, true}) {
    auto const check = [&](asio::io_context& runs, auto const& ex, std::size_t of_asio) {
      for (int i = 0; i < 2; ++i) allocations_of_a_round(primitive, runs, ex, 4096, timed);
      BOOST_TEST(allocations_of_a_round(primitive, runs, ex, 4096, timed) <= of_asio);
      BOOST_TEST(allocations_of_a_round(primitive, runs, ex, 1, timed) == 0u);
    };
    check(context, context.get_executor(), 0);
    check(other, other.get_executor(), 0);
    check(other, asio::make_strand(other), 1);  // one that goes on with what came meanwhile
  }
}

BOOST_AUTO_TEST_CASE(R12_memory_of_waits_that_are_refused_or_dropped_is_given_back) {
  allocator_log log;
  fate f[3];
  auto const wait = [&](primitive_type& p, fate& each) {
    subject::wait(p, asio::bind_allocator(logging_allocator<>(log), observed_handler(each)));
  };
  {
    asio::io_context dying;
    primitive_type p(dying);
    grant const held = subject::hold(p);
    wait(p, f[0]);
    p.cancel();
    dying.run();
    BOOST_TEST(log.live_bytes == 0u);
    wait(p, f[1]);
    p.cancel();
    wait(p, f[2]);
  }
  BOOST_TEST((f[0].refused(aborted) && f[1].dropped() && f[2].dropped()));
  BOOST_TEST(log.allocations == 3u);
  BOOST_TEST(log.live_bytes == 0u);
}

BOOST_AUTO_TEST_CASE(R13_initiation_without_memory_changes_nothing) {
  fail_each_allocation_of(
      [](auto& s, auto handler) { subject::wait(s.primitive, std::move(handler)); }, 1);
  fail_each_allocation_of(
      [](auto& s, auto handler) {
        subject::wait(s.primitive, asio::bind_executor(s.strand, std::move(handler)));
      },
      2);
#if !defined(BOOST_ASIO_HAS_IOCP)  // there a queue of timers whose making has failed is kept
  fail_each_allocation_of(
      [](auto& s, auto handler) { subject::wait_for(s.primitive, 1h, std::move(handler)); }, 3);
  BOOST_TEST(fail_each_allocation<initiation_of_a_future<true>>() >= 3u);
  BOOST_TEST(fail_each_allocation<initiation_of_a_future<false>>() >= 2u);
#endif
}

BOOST_AUTO_TEST_CASE(R13_serving_cancelling_closing_and_destroying_needs_no_memory) {
  for (ending how : endings) {
    fate f[5];
    auto p = std::make_unique<primitive_type>(context);
    BOOST_TEST_REQUIRE(subject::occupy(*p));
    asio::any_io_executor const in_strand = asio::make_strand(other);
    subject::wait(*p, observed_handler(f[0]));
    subject::wait(*p, asio::bind_executor(asio::make_strand(context), observed_handler(f[1])));
    subject::wait_for(*p, 1h, asio::bind_executor(other, observed_handler(f[2])));
    subject::wait(*p, asio::bind_executor(in_strand, observed_handler(f[3])));
    subject::wait_for(*p, 1h, observed_handler(f[4]));
    {
      empty_pool const pool;
      failing_heap const heap;
      if (how == ending::serve || how == ending::free) subject::serve(*p);
      if (how == ending::cancel) p->cancel();
      if (how == ending::close) p->close();
      if (how == ending::destroy) p.reset();
      for (int i = 0; i < 6; ++i) poll(context), poll(other);
    }
    for (auto const& each : f) BOOST_TEST((each.called == 1 && each.destroyed == 1));
    BOOST_TEST(f[4].granted() == (how == ending::serve || how == ending::free));
  }
}

BOOST_AUTO_TEST_CASE(R13_where_an_executor_throws_the_grant_goes_on) {
  auto fault = throwing_executor::plan::nothing;
  fate failed;
  result next;
  BOOST_TEST_REQUIRE(subject::occupy(primitive));
  subject::wait(primitive,
                asio::bind_executor(throwing_executor(context, fault), observed_handler(failed)));
  subject::wait(primitive, next.handler());
  fault = throwing_executor::plan::execute;
  BOOST_CHECK_NO_THROW(subject::serve(primitive));
  BOOST_TEST(failed.dropped());
  fault = throwing_executor::plan::nothing;
  poll();
  BOOST_TEST(next.granted());
}

BOOST_AUTO_TEST_CASE(R13_a_handler_that_throws_leaves_the_primitive_usable) {
  result next;
  subject::wait(primitive, [](error_code, auto...) { throw std::runtime_error("the handler"); });
  subject::wait(primitive,
                [](error_code, auto const&...) { throw std::runtime_error("the second"); });
  subject::wait(primitive, next.handler());
  for (int i = 0; i < 2; ++i) {
    BOOST_CHECK_THROW(context.run(), std::runtime_error);
    renew(primitive);
  }
  poll();
  BOOST_TEST(next.granted());
}

BOOST_AUTO_TEST_SUITE_END()

#endif
