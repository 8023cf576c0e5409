// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// What is the barrier's own: phases, their leaders and completion functions, broken phases, those
// who drop, and misuse. What it has in common with other signals is in signals_*_test.cpp.

#include "support/blocked_thread.hpp"
#include "support/test.hpp"
#include "unit/signals/subjects.hpp"

#include <asio_sync/detail/platform/threading.hpp>

#ifdef ASIO_SYNC_HAS_THREAD_CANCELLATION
#include <pthread.h>
#endif

namespace barrier_test {

using namespace asio_sync::test;

using signals::broken;

// A participant that was released, as the leader or not.
bool led(fate const& f) { return f.granted(); }
bool followed(fate const& f) { return f.called == 1 && !f.error && !f.owned; }

struct fixture {
  asio::io_context context, other;
  signals::barrier one{context}, two{context, 1}, three{context, 2};

  void poll() { test::poll(context, other); }

  static void arrive(async_barrier& b, fate& f) { b.async_arrive_and_wait(observed_handler(f)); }
};

}  // namespace barrier_test

BOOST_FIXTURE_TEST_SUITE(barrier_test, fixture)

BOOST_AUTO_TEST_CASE(Barrier_is_made_for_so_many_and_perhaps_with_a_completion_function) {
  BOOST_TEST(async_barrier(context, 1).arrive_and_wait());
  BOOST_TEST(async_barrier(context, 1, nullptr).arrive_and_wait());
  async_barrier huge(context, std::numeric_limits<std::ptrdiff_t>::max());
  BOOST_TEST(!huge.arrive_and_wait_for(0s));
}

BOOST_AUTO_TEST_CASE(Barrier_the_last_arrival_of_each_phase_releases_all_and_leads) {
  for (int phase = 1; phase <= 3; ++phase) {
    fate f[3];
    for (int i : {0, 1}) arrive(three, f[i]);
    poll();
    BOOST_TEST((f[0].waits() && f[1].waits()));
    BOOST_TEST(three.waiters() == 2u);
    BOOST_TEST(three.phases == phase - 1);
    arrive(three, f[2]);
    BOOST_TEST(three.phases == phase);
    BOOST_TEST(three.waiters() == 0u);
    for (auto const& each : f) BOOST_TEST(each.waits());
    poll();
    BOOST_TEST((followed(f[0]) && followed(f[1]) && led(f[2])));
  }
}

BOOST_AUTO_TEST_CASE(Barrier_arrivals_beyond_a_phase_are_of_the_next) {
  fate f[5];
  for (auto& each : f) arrive(two, each);
  poll();
  BOOST_TEST(two.phases == 2);
  BOOST_TEST((followed(f[0]) && led(f[1]) && followed(f[2]) && led(f[3]) && f[4].waits()));
  BOOST_TEST(two.cancel() == 1u);
  poll();
}

BOOST_AUTO_TEST_CASE(Barrier_the_completion_function_runs_before_any_is_released) {
  std::string order;
  std::thread::id ran_on;
  async_barrier barrier(context, 2, [&] {
    order += '|';
    ran_on = std::this_thread::get_id();
  });
  auto const note = [&](char c) { return [&order, c](error_code, bool) { order += c; }; };
  barrier.async_arrive_and_wait(note('a'));
  barrier.async_arrive_and_wait(note('b'));
  BOOST_TEST(order == "|");
  poll();
  BOOST_TEST(order == "|ab");
  barrier.async_arrive_and_wait(note('c'));
  std::thread::id arriving;
  std::thread thread([&] {
    arriving = std::this_thread::get_id();
    barrier.arrive_and_wait();
  });
  thread.join();
  BOOST_TEST((ran_on == arriving));
  poll();
  BOOST_TEST(order == "|ab|c");
}

BOOST_AUTO_TEST_CASE(Barrier_a_completion_function_that_throws_breaks_the_phase) {
  bool fails = true;
  async_barrier barrier(context, 2, [&] {
    if (fails) throw std::runtime_error("fails");
  });
  fate f[2];
  for (auto& each : f) arrive(barrier, each);
  poll();
  for (auto const& each : f) BOOST_TEST(each.refused(broken));
  arrive(barrier, f[0] = {});
  BOOST_TEST(error_of([&] { barrier.arrive_and_wait(); }) == broken);
  arrive(barrier, f[1] = {});
  BOOST_CHECK_NO_THROW(barrier.arrive_and_drop());
  poll();
  for (auto const& each : f) BOOST_TEST(each.refused(broken));
  fails = false;
  BOOST_TEST(barrier.arrive_and_wait());  // there is one left
}

#ifdef ASIO_SYNC_HAS_THREAD_CANCELLATION
// Not a std::thread: not every standard library lets a cancellation through.
BOOST_AUTO_TEST_CASE(R17_a_thread_is_not_cancelled_in_the_completion_function) {
  std::atomic<bool> begun = false, cancelled = false;
  async_barrier barrier(context, 1, [&] {
    begun = true;
    do std::this_thread::sleep_for(1ms);  // where threads are cancelled
    while (!cancelled);
  });
  struct participant {
    static void* run(void* arg) {
      auto& self = *static_cast<participant*>(arg);
      self.arrived = self.barrier.arrive_and_wait();
      for (;;) ::pthread_testcancel();
    }
    async_barrier& barrier;
    std::atomic<bool> arrived = false;
  } last{barrier};
  ::pthread_t thread{};
  BOOST_REQUIRE(::pthread_create(&thread, nullptr, &participant::run, &last) == 0);
  while (!begun) std::this_thread::yield();
  ::pthread_cancel(thread);
  cancelled = true;
  ::pthread_join(thread, nullptr);
  BOOST_TEST(last.arrived);
}
#endif

BOOST_AUTO_TEST_CASE(R5_the_completion_function_may_use_the_barrier) {
  std::function<void()> then;
  async_barrier barrier(context, 2, [&] {
    if (then) std::exchange(then, nullptr)();
  });
  fate f[2], next[2];
  auto const meet = [&](std::function<void()> inside) {
    then = std::move(inside);
    for (auto& each : f) each = {};
    for (auto& each : f) arrive(barrier, each);
    poll();
    BOOST_TEST((followed(f[0]) && led(f[1])));
  };
  meet([&] {
    arrive(barrier, next[0]);
    BOOST_TEST(barrier.waiters() == 1u);
  });
  BOOST_TEST(next[0].waits());
  BOOST_TEST(barrier.cancel() == 1u);
  meet([&] {
    arrive(barrier, next[1]);
    BOOST_TEST(barrier.cancel() == 1u);
  });
  BOOST_TEST((next[0].refused(aborted) && next[1].refused(aborted)));
  fate whole[2];
  meet([&] {  // the next phase, from its beginning to its end
    for (auto& each : whole) arrive(barrier, each);
  });
  BOOST_TEST((followed(whole[0]) && led(whole[1])));
  meet([&] { barrier.arrive_and_drop(); });
  BOOST_TEST(barrier.arrive_and_wait());
  fate last;
  then = [&] { barrier.close(); };
  arrive(barrier, last);
  poll();
  BOOST_TEST(led(last));
  BOOST_TEST(error_of([&] { barrier.arrive_and_wait(); }) == closed);
}

BOOST_AUTO_TEST_CASE(R4_a_cancelled_participant_breaks_the_phase) {
  fate f[2];
  signals::barrier four(context, 3);
  asio::cancellation_signal signal;
  four.async_arrive_and_wait(asio::bind_cancellation_slot(signal.slot(), observed_handler(f[0])));
  four.async_arrive_and_wait_for(1h, asio::bind_executor(other, observed_handler(f[1])));
  blocked_thread thread(four, 3, [&] { four.arrive_and_wait(); });
  signal.emit(asio::cancellation_type::total);
  BOOST_TEST(thread.join() == broken);
  BOOST_TEST(four.waiters() == 0u);
  poll();
  BOOST_TEST((f[0].refused(aborted) && f[1].refused(broken)));
  BOOST_TEST(four.ahead() == 4);
  BOOST_TEST(four.phases == 1);
}

BOOST_AUTO_TEST_CASE(R4_the_completion_function_comes_too_late_to_cancel) {
  fate f[2];
  asio::cancellation_signal signals[2];
  async_barrier barrier(context, 2, [&] {
    for (auto& each : signals) each.emit(asio::cancellation_type::all);
  });
  for (int i : {0, 1})
    barrier.async_arrive_and_wait(
        asio::bind_cancellation_slot(signals[i].slot(), observed_handler(f[i])));
  poll();
  BOOST_TEST((followed(f[0]) && led(f[1])));
}

BOOST_AUTO_TEST_CASE(R4_cancel_refuses_all_and_the_phase_starts_again) {
  fate f[2];
  for (auto& each : f) arrive(three, each);
  BOOST_TEST(three.cancel() == 2u);
  BOOST_TEST(three.cancel() == 0u);
  poll();
  for (auto const& each : f) BOOST_TEST(each.refused(aborted));
  BOOST_TEST(three.ahead() == 3);
}

BOOST_AUTO_TEST_CASE(R11_a_deadline_breaks_the_phase) {
  fate f[2];
  three.async_arrive_and_wait_for(1ms, observed_handler(f[0]));
  arrive(three, f[1]);
  context.restart();
  context.run();
  BOOST_TEST((f[0].refused(timed_out) && f[1].refused(broken)));
  arrive(three, f[1] = {});
  BOOST_TEST(!three.arrive_and_wait_for(1ms));
  poll();
  BOOST_TEST(f[1].refused(broken));
  BOOST_TEST(three.ahead() == 3);
}

BOOST_AUTO_TEST_CASE(R11_without_time_only_the_last_arrives) {
  fate first[2], f;
  arrive(two, first[0]);
  arrive(three, first[1]);
  for (auto const time : {0ms, -5ms}) BOOST_TEST(!three.arrive_and_wait_for(time));
  BOOST_TEST(!three.arrive_and_wait_until(std::chrono::system_clock::now() - 1h));
  three.async_arrive_and_wait_for(0s, observed_handler(f));
  poll();
  BOOST_TEST(f.refused(timed_out));
  BOOST_TEST(three.cancel() == 1u);
  BOOST_TEST(two.arrive_and_wait_for(0s).value());
  BOOST_TEST(two.phases == 1);
  poll();
  BOOST_TEST(followed(first[0]));
}

BOOST_AUTO_TEST_CASE(Barrier_who_drops_arrives_and_is_no_participant_any_more) {
  fate f[2];
  arrive(three, f[0]);
  three.arrive_and_drop();
  poll();
  BOOST_TEST(f[0].waits());
  arrive(three, f[1]);
  poll();
  BOOST_TEST((followed(f[0]) && led(f[1])));
  BOOST_TEST(three.ahead() == 2);
  BOOST_TEST(three.phases == 2);
}

BOOST_AUTO_TEST_CASE(Barrier_the_oldest_leads_if_the_last_to_arrive_drops) {
  fate f[2];
  for (auto& each : f) arrive(three, each);
  three.arrive_and_drop();
  BOOST_TEST(three.phases == 1);
  poll();
  BOOST_TEST((led(f[0]) && followed(f[1])));
  BOOST_TEST(three.ahead() == 2);
}

BOOST_AUTO_TEST_CASE(Barrier_who_has_dropped_is_not_waited_for_after_a_broken_phase) {
  fate f;
  arrive(three, f);
  three.arrive_and_drop();
  BOOST_TEST(three.cancel() == 1u);
  poll();
  BOOST_TEST(three.ahead() == 2);
}

BOOST_AUTO_TEST_CASE(R15_without_participants_nobody_can_arrive) {
  one.arrive_and_drop();
  BOOST_TEST(one.phases == 1);  // of the phase in which all have dropped
  fate f[2];
  arrive(one, f[0]);
  one.async_arrive_and_wait_for(0s, observed_handler(f[1]));
  BOOST_TEST(error_of([&] { one.arrive_and_wait(); }) == invalid);
  BOOST_TEST(error_of([&] { static_cast<void>(one.arrive_and_wait_for(1h)); }) == invalid);
  BOOST_TEST(error_of([&] { one.arrive_and_drop(); }) == invalid);
  poll();
  for (auto const& each : f) BOOST_TEST(each.refused(invalid));
  BOOST_TEST(one.cancel() == 0u);
  one.close();
  BOOST_TEST(error_of([&] { one.arrive_and_wait(); }) == closed);
  BOOST_TEST(error_of([&] { one.arrive_and_drop(); }) == invalid);
  BOOST_TEST(one.phases == 1);
}

BOOST_AUTO_TEST_SUITE_END()
