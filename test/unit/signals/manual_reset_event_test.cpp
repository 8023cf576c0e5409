// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// set() and reset() of a manual-reset event.
// signals_*_test.cpp has the cases that all signals share, test/rules those of all primitives.

#include "support/blocked_thread.hpp"
#include "support/test.hpp"

#include <asio_sync/async_manual_reset_event.hpp>

namespace manual_reset_event_test {

using namespace asio_sync::test;

struct fixture {
  asio::io_context context, other;
  async_manual_reset_event event{context};

  void poll() { test::poll(context, other); }
};

}  // namespace manual_reset_event_test

BOOST_FIXTURE_TEST_SUITE(manual_reset_event_test, fixture)

BOOST_AUTO_TEST_CASE(Event_set_followed_at_once_by_reset_releases_all_who_waited_and_no_others) {
  for (int round = 0; round < 3; ++round) {
    fate before[3], after[2];
    event.async_wait(observed_handler(before[0]));
    event.async_wait_for(1h, asio::bind_executor(other, observed_handler(before[1])));
    event.async_wait(asio::bind_executor(asio::make_strand(other), observed_handler(before[2])));
    blocked_thread thread(event, 4, [&] { event.wait(); });
    event.set();
    event.reset();
    event.async_wait(observed_handler(after[0]));
    event.async_wait_for(1h, observed_handler(after[1]));
    BOOST_TEST(!thread.join());
    poll();
    for (auto const& each : before) BOOST_TEST(each.granted());
    for (auto const& each : after) BOOST_TEST(each.waits());
    BOOST_TEST(event.waiters() == 2u);
    BOOST_TEST(event.cancel() == 2u);
    poll();
    for (auto const& each : after) BOOST_TEST(each.refused(aborted));
  }
}

BOOST_AUTO_TEST_CASE(Event_to_set_what_is_set_and_to_reset_what_is_not_changes_nothing) {
  async_manual_reset_event set(context, true);
  BOOST_TEST((set.is_set() && !event.is_set()));
  event.reset();
  event.reset();
  fate f[2];
  event.async_wait(observed_handler(f[0]));
  event.reset();
  BOOST_TEST(event.waiters() == 1u);
  event.set();
  event.set();
  event.async_wait(observed_handler(f[1]));
  BOOST_TEST(event.is_set());
  event.reset();  // one is enough
  BOOST_TEST((!event.is_set() && !event.wait_for(0s)));
  poll();
  BOOST_TEST((f[0].granted() && f[1].granted()));
}

BOOST_AUTO_TEST_CASE(Event_who_waits_again_in_his_completion_is_not_released_twice) {
  struct again {
    async_manual_reset_event& event;
    int& calls;
    void operator()(error_code e) {
      if (e) return;
      ++calls;
      event.async_wait(again(*this));
    }
  };
  int calls[3] = {};
  for (int& each : calls) event.async_wait(again{event, each});
  for (int round = 1; round <= 4; ++round) {
    event.set();
    event.reset();
    poll();
    for (int const each : calls) BOOST_TEST(each == round);
    BOOST_TEST(event.waiters() == 3u);
  }
  event.cancel();
  poll();
  BOOST_TEST(event.waiters() == 0u);
}

BOOST_AUTO_TEST_CASE(R4_who_was_cancelled_in_the_middle_is_not_released) {
  fate f[5];
  asio::cancellation_signal signals[5];
  for (int i = 0; i < 5; ++i)
    event.async_wait(asio::bind_cancellation_slot(signals[i].slot(), observed_handler(f[i])));
  for (int i : {0, 2, 4}) signals[i].emit(asio::cancellation_type::terminal);
  BOOST_TEST(event.waiters() == 2u);
  event.set();
  for (auto& each : signals) each.emit(asio::cancellation_type::all);
  BOOST_TEST(event.cancel() == 0u);
  poll();
  for (int i : {0, 2, 4}) BOOST_TEST(f[i].refused(aborted));
  for (int i : {1, 3}) BOOST_TEST(f[i].granted());
}

BOOST_AUTO_TEST_SUITE_END()
