// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Where the signals of an auto-reset event go when handlers, contexts, threads and the event end.

#include "support/coroutine.hpp"
#include "support/event_result.hpp"
#include "support/executors.hpp"
#include "support/test.hpp"

#include <asio_sync/async_auto_reset_event.hpp>

namespace auto_reset_event_lifetime_test {

using namespace asio_sync::test;

struct fixture {
  asio::io_context context, other;
  async_auto_reset_event event{context};

  void poll() { test::poll(context, other); }
};

}  // namespace auto_reset_event_lifetime_test

BOOST_FIXTURE_TEST_SUITE(auto_reset_event_lifetime_test, fixture)

// Which of them wins is left to the machine, but the signal is with the wait, or in the event.
BOOST_AUTO_TEST_CASE(R4_no_signal_is_lost_between_cancellations_and_sets) {
  asio::thread_pool pool(1);
  async_auto_reset_event e(pool);
  for (int round = 0; round < 1000; ++round) {
    outcomes o;
    asio::cancellation_signal signal;
    e.async_wait(asio::bind_cancellation_slot(signal.slot(), counted_handler(o)));
    std::promise<void> emitted;
    asio::post(pool, [&] {
      signal.emit(asio::cancellation_type::terminal);
      emitted.set_value();
    });
    if (round % 2) std::this_thread::yield();
    e.set();
    emitted.get_future().wait();
    while (o.all() != 1) std::this_thread::yield();
    BOOST_TEST(o.granted + (e.wait_for(0s) ? 1u : 0u) == 1u);
  }
}

BOOST_AUTO_TEST_CASE(R6_a_chain_of_dropped_completions_needs_little_stack) {
  outcomes o;
  fate last;
  run_on_stack(256 << 10, [&] {
    auto dying = std::make_unique<asio::io_context>();
    for (int i = 0; i < 50'000; ++i)
      event.async_wait(asio::bind_executor(*dying, counted_handler(o)));
    event.async_wait(observed_handler(last));
    event.set();
    dying.reset();
  });
  BOOST_TEST(o.dropped == 50'000u);
  poll();
  BOOST_TEST(last.granted());
}

BOOST_AUTO_TEST_CASE(R9_who_was_released_succeeds_although_the_event_dies) {
  for (bool const queued : {false, true}) {
    auto e = std::make_unique<async_auto_reset_event>(context, !queued);
    fate released, waits;
    e->async_wait(asio::bind_executor(other, observed_handler(released)));
    e->async_wait(observed_handler(waits));
    if (queued) e->set();
    e.reset();
    poll();
    BOOST_TEST((released.granted() && waits.refused(aborted)));
  }
}

BOOST_AUTO_TEST_CASE(R9_destroyed_by_the_wait_that_set_releases) {
  auto const check = [&](auto const& ex) {
    auto own = std::make_unique<async_auto_reset_event>(context);
    outcomes o;
    own->async_wait(asio::bind_executor(ex, [&](error_code e) {
      own.reset();
      o.granted += !e;
    }));
    own->async_wait(counted_handler(o));
    own->set();
    poll();
    poll();  // whom the handler has refused
    BOOST_TEST((o.granted == 1u && o.refused == 1u));
  };
  check(context.get_executor());
  check(asio::make_strand(other));
  check(inline_executor(context));
  asio::thread_pool pool(2);
  for (int round = 0; round < 500; ++round) {
    auto* const e = new async_auto_reset_event(pool);
    std::atomic<bool> ended = false;
    auto const destroys = [&](error_code) {
      delete e;
      ended = true;
    };
    std::thread thread;
    if (round % 2)
      thread = std::thread([&] { e->wait(), destroys({}); });
    else
      e->async_wait(destroys);
    while (e->waiters() != 1) std::this_thread::yield();
    e->set();
    if (round % 2) thread.join();
    while (!ended) std::this_thread::yield();
  }
}

BOOST_AUTO_TEST_CASE(R10_a_signal_on_its_way_to_a_dying_context_goes_to_the_wait_of_another) {
  for (bool const home_dies : {false, true}) {
    fate dead[3], living[2];
    auto dying = std::make_unique<asio::io_context>();
    async_auto_reset_event e(home_dies ? *dying : context);
    for (auto& each : dead) e.async_wait(asio::bind_executor(*dying, observed_handler(each)));
    for (auto& each : living)
      e.async_wait_for(1h, asio::bind_executor(other, observed_handler(each)));
    e.set();
    BOOST_TEST(e.waiters() == 4u);
    dying.reset();
    for (auto const& each : dead) BOOST_TEST(each.dropped());
    BOOST_TEST(e.waiters() == 1u);
    poll();
    BOOST_TEST((living[0].granted() && living[1].waits()));
    e.set();
    poll();
    BOOST_TEST(living[1].granted());
    BOOST_TEST(!e.is_set());
  }
}

// Each adds for itself, in a number that is not atomic, and lets the next one in.
BOOST_AUTO_TEST_CASE(R14_what_comes_before_set_comes_before_what_it_releases) {
  asio::thread_pool pool(2);
  async_auto_reset_event turn(pool);
  int number = 0;
  auto const add = [&](error_code) {
    ++number;
    turn.set();
  };
  std::thread thread([&] {
    for (int i = 0; i < 1000; ++i) turn.wait(), add({});
  });
  for (int i = 0; i < 1000; ++i) turn.async_wait(add);
  turn.set();
  thread.join();
  pool.join();
  BOOST_TEST(turn.is_set());
  turn.wait();
  BOOST_TEST(number == 2000);
}

// As many signals come out as have gone in: each set() is awaited before the next.
BOOST_AUTO_TEST_CASE(R17_two_threads_pass_signals_to_and_fro) {
  async_auto_reset_event there(context), back(context);
  int seen = 0;
  std::thread thread([&] {
    for (int i = 0; i < 3000; ++i) there.wait(), ++seen, back.set();
  });
  for (int i = 0; i < 3000; ++i) there.set(), back.wait();
  thread.join();
  BOOST_TEST(seen == 3000);
  BOOST_TEST((!there.is_set() && !back.is_set()));
}

BOOST_AUTO_TEST_SUITE_END()
