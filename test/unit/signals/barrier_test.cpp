// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// What is the barrier's own: phases, their leaders and completion functions, broken phases, those
// who drop, and misuse. What all primitives have is in test/rules.

#include "support/blocked_thread.hpp"
#include "support/test.hpp"

#include <asio_sync/async_barrier.hpp>
#include <asio_sync/detail/platform/threading.hpp>

#ifdef ASIO_SYNC_HAS_THREAD_CANCELLATION
#include <pthread.h>
#endif

namespace barrier_test {

using namespace asio_sync::test;

error_code const broken = asio_sync::error::broken_barrier;

// A participant that was released, as the leader or not.
bool led(fate const& f) { return f.granted(); }
bool followed(fate const& f) { return f.called == 1 && !f.error && !f.owned; }

struct fixture {
  asio::io_context context, other;
  int phases = 0;
  async_barrier one{context, 1, [this] { ++phases; }};
  async_barrier two{context, 2, [this] { ++phases; }};
  async_barrier three{context, 3, [this] { ++phases; }};

  void poll() { test::poll(context, other); }

  static void arrive(async_barrier& b, fate& f) { b.async_arrive_and_wait(observed_handler(f)); }

  // How many arrivals are ahead in this phase; ends it. None: nobody can arrive.
  std::size_t ahead(async_barrier& b) {
    for (std::size_t n = 1;; ++n) {
      fate last;
      b.async_arrive_and_wait_for(0s, observed_handler(last));
      poll();
      if (last.error == invalid) return 0;
      if (!last.error) return n;
      b.async_arrive_and_wait([](error_code, bool) {});
    }
  }
};

}  // namespace barrier_test

BOOST_FIXTURE_TEST_SUITE(barrier_test, fixture)

BOOST_AUTO_TEST_CASE(Barrier_is_made_for_so_many_and_perhaps_with_a_completion_function) {
  using io_executor = asio::io_context::executor_type;
  async_barrier bare(context.get_executor(), 1);
  BOOST_TEST(bare.arrive_and_wait());
  basic_async_barrier<io_executor> plain(context, 1, [this] { ++phases; });
  BOOST_TEST(plain.arrive_and_wait());
  BOOST_TEST(phases == 1);
  async_barrier empty(context, 1, nullptr);
  BOOST_TEST(empty.arrive_and_wait());
  async_barrier huge(context, std::numeric_limits<std::ptrdiff_t>::max());
  BOOST_TEST(!huge.arrive_and_wait_for(0s));
  static_assert(std::is_same_v<async_barrier::rebind_executor<io_executor>::other,
                               basic_async_barrier<io_executor>>);
  BOOST_TEST((plain.get_executor() == context.get_executor()));
  static_assert(noexcept(plain.close()));
  static_assert(!std::is_move_constructible_v<async_barrier>);
  static_assert(!std::is_convertible_v<asio::io_context&, async_barrier>);
}

BOOST_AUTO_TEST_CASE(Barrier_the_last_arrival_of_each_phase_releases_all_and_leads) {
  for (int phase = 1; phase <= 3; ++phase) {
    fate f[3];
    for (int i : {0, 1}) arrive(three, f[i]);
    poll();
    BOOST_TEST((f[0].waits() && f[1].waits()));
    BOOST_TEST(three.waiters() == 2u);
    BOOST_TEST(phases == phase - 1);
    arrive(three, f[2]);
    BOOST_TEST(phases == phase);
    BOOST_TEST(three.waiters() == 0u);
    for (auto const& each : f) BOOST_TEST(each.waits());
    poll();
    BOOST_TEST((followed(f[0]) && followed(f[1]) && led(f[2])));
  }
}

// The last to arrive, in each way in which one can.
struct last_to_arrive {
  enum kind { handler, future, coroutine, thread, timed, timed_thread, in_no_time, elsewhere };
  static constexpr int kinds = elsewhere + 1;

  void arrive(async_barrier& barrier, kind how, asio::io_context& home, asio::io_context& other) {
    using std::chrono::steady_clock, std::chrono::system_clock;
    auto const observed = [this] { return observed_handler(completion); };
    switch (how) {
      case handler: return barrier.async_arrive_and_wait(observed());
      case future: result = barrier.async_arrive_and_wait(asio::use_future); return;
      case coroutine: {
        auto const participant = [&]() -> asio::awaitable<void> {
          leader = co_await barrier.async_arrive_and_wait();
        };
        return asio::co_spawn(home, participant, asio::detached);
      }
      case thread: leader = barrier.arrive_and_wait(); return;
      case timed: return barrier.async_arrive_and_wait_for(1h, observed());
      case timed_thread:
        leader = barrier.arrive_and_wait_until(steady_clock::now()).value();
        return;
      case in_no_time:
        return barrier.async_arrive_and_wait_until(system_clock::now() - 1h, observed());
      case elsewhere:
        return barrier.async_arrive_and_wait(
            asio::bind_executor(asio::make_strand(other), observed()));
    }
  }

  bool leads() { return leader || led(completion) || (result.valid() && result.get()); }

  fate completion;
  std::future<bool> result;
  bool leader = false;
};

BOOST_AUTO_TEST_CASE(Barrier_participants_of_every_kind_meet) {
  for (int how = 0; how < last_to_arrive::kinds; ++how) BOOST_TEST_CONTEXT("the last: " << how) {
      async_barrier barrier(context, 6);
      fate f[2];
      bool leads[2] = {};
      std::optional<bool> timed;
      error_code error = aborted;
      auto const participant = [&]() -> asio::awaitable<void> {
        leads[0] = co_await barrier.async_arrive_and_wait(
            asio::redirect_error(asio::use_awaitable, error));
      };
      arrive(barrier, f[0]);
      barrier.async_arrive_and_wait_for(
          1h, asio::bind_executor(asio::make_strand(other), observed_handler(f[1])));
      asio::co_spawn(context, participant, asio::detached);
      poll();
      blocked_thread first(barrier, 4, [&] { leads[1] = barrier.arrive_and_wait(); });
      blocked_thread second(barrier, 5, [&] { timed = barrier.arrive_and_wait_for(1h); });
      last_to_arrive last;
      last.arrive(barrier, static_cast<last_to_arrive::kind>(how), context, other);
      poll();
      BOOST_TEST((!first.join() && !second.join()));
      BOOST_TEST(last.leads());
      BOOST_TEST((followed(f[0]) && followed(f[1])));
      BOOST_TEST((!error && !leads[0] && !leads[1]));
      BOOST_TEST((timed && !*timed));
      BOOST_TEST(barrier.waiters() == 0u);
    }
}

BOOST_AUTO_TEST_CASE(Barrier_arrivals_beyond_a_phase_are_of_the_next) {
  fate f[5];
  for (auto& each : f) arrive(two, each);
  poll();
  BOOST_TEST(phases == 2);
  BOOST_TEST((followed(f[0]) && led(f[1]) && followed(f[2]) && led(f[3]) && f[4].waits()));
  BOOST_TEST(two.cancel() == 1u);
  poll();
}

BOOST_AUTO_TEST_CASE(Barrier_deferred_arrivals_arrive_when_they_are_launched) {
  auto never = two.async_arrive_and_wait(asio::deferred);
  auto first = two.async_arrive_and_wait(asio::deferred);
  fate f[2];
  BOOST_TEST(two.waiters() == 0u);
  std::move(first)(observed_handler(f[0]));
  arrive(two, f[1]);
  poll();
  BOOST_TEST((followed(f[0]) && led(f[1])));
  static_cast<void>(never);
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
  asio::cancellation_signal signal;
  three.async_arrive_and_wait(asio::bind_cancellation_slot(signal.slot(), observed_handler(f[0])));
  three.async_arrive_and_wait_for(1h, asio::bind_executor(other, observed_handler(f[1])));
  signal.emit(asio::cancellation_type::total);
  BOOST_TEST(three.waiters() == 0u);
  poll();
  BOOST_TEST((f[0].refused(aborted) && f[1].refused(broken)));
  BOOST_TEST(ahead(three) == 3u);
  BOOST_TEST(phases == 1);
}

BOOST_AUTO_TEST_CASE(R4_a_thread_hears_of_a_broken_phase) {
  fate f;
  asio::cancellation_signal signal;
  three.async_arrive_and_wait(asio::bind_cancellation_slot(signal.slot(), observed_handler(f)));
  blocked_thread thread(three, 2, [&] { three.arrive_and_wait(); });
  signal.emit(asio::cancellation_type::terminal);
  BOOST_TEST(thread.join() == broken);
  poll();
  BOOST_TEST(f.refused(aborted));
}

BOOST_AUTO_TEST_CASE(R4_who_was_released_cannot_be_cancelled) {
  fate f[2];
  asio::cancellation_signal signals[2];
  async_barrier barrier(context, 2, [&] {
    for (auto& each : signals) each.emit(asio::cancellation_type::all);
  });
  for (int i : {0, 1})
    barrier.async_arrive_and_wait(
        asio::bind_cancellation_slot(signals[i].slot(), observed_handler(f[i])));
  for (auto& each : signals) each.emit(asio::cancellation_type::all);
  BOOST_TEST(barrier.cancel() == 0u);
  barrier.close();
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
  BOOST_TEST(ahead(three) == 3u);
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
  BOOST_TEST(ahead(three) == 3u);
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
  BOOST_TEST(phases == 1);
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
  BOOST_TEST(ahead(three) == 2u);
  BOOST_TEST(phases == 2);
}

BOOST_AUTO_TEST_CASE(Barrier_the_oldest_leads_if_the_last_to_arrive_drops) {
  fate f[2];
  for (auto& each : f) arrive(three, each);
  three.arrive_and_drop();
  BOOST_TEST(phases == 1);
  poll();
  BOOST_TEST((led(f[0]) && followed(f[1])));
  BOOST_TEST(ahead(three) == 2u);
}

BOOST_AUTO_TEST_CASE(Barrier_who_has_dropped_is_not_waited_for_after_a_broken_phase) {
  fate f;
  arrive(three, f);
  three.arrive_and_drop();
  BOOST_TEST(three.cancel() == 1u);
  BOOST_TEST(ahead(three) == 2u);
}

BOOST_AUTO_TEST_CASE(R15_without_participants_nobody_can_arrive) {
  one.arrive_and_drop();
  BOOST_TEST(phases == 1);  // of the phase in which all have dropped
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
  BOOST_TEST(phases == 1);
}

BOOST_AUTO_TEST_CASE(R15_a_barrier_for_nobody_is_refused) {
  for (std::ptrdiff_t const n :
       {std::ptrdiff_t(0), std::ptrdiff_t(-1), std::numeric_limits<std::ptrdiff_t>::min()}) {
    BOOST_TEST(error_of([&] { async_barrier barrier(context, n); }) == invalid);
    BOOST_TEST(error_of([&] { async_barrier barrier(context.get_executor(), n); }) == invalid);
  }
}

BOOST_AUTO_TEST_CASE(R16_an_arrival_that_would_block_its_own_context_does_not_arrive) {
  asio::post(context, [&] {
    BOOST_TEST(error_of([&] { two.arrive_and_wait(); }) == deadlock);
    BOOST_TEST(error_of([&] { static_cast<void>(two.arrive_and_wait_for(1h)); }) == deadlock);
    BOOST_TEST(!two.arrive_and_wait_for(0s));
    BOOST_TEST(one.arrive_and_wait());  // need not wait
  });
  poll();
  BOOST_TEST(two.waiters() == 0u);
}

BOOST_AUTO_TEST_CASE(R18_a_closed_barrier_lets_nobody_through) {
  fate f, late[2];
  three.async_arrive_and_wait_for(1h, observed_handler(f));
  blocked_thread thread(three, 2, [&] { three.arrive_and_wait(); });
  three.close();
  BOOST_TEST(thread.join() == closed);
  BOOST_TEST(three.is_closed());
  arrive(three, late[0]);
  three.async_arrive_and_wait_for(0s, observed_handler(late[1]));
  BOOST_TEST(error_of([&] { three.arrive_and_wait(); }) == closed);
  BOOST_TEST(error_of([&] { static_cast<void>(three.arrive_and_wait_for(0s)); }) == closed);
  poll();
  for (auto const* each : {&f, &late[0], &late[1]}) BOOST_TEST(each->refused(closed));
  for (int i = 0; i < 3; ++i) BOOST_CHECK_NO_THROW(three.arrive_and_drop());
  BOOST_TEST(error_of([&] { three.arrive_and_drop(); }) == invalid);
  one.close();
  BOOST_TEST(error_of([&] { one.arrive_and_wait(); }) == closed);
  BOOST_TEST(phases == 0);
}

BOOST_AUTO_TEST_CASE(R1a_a_coroutine_does_not_suspend_as_the_last) {
  int led_by_it = 0;
  asio::co_spawn(
      context,
      [&]() -> asio::awaitable<void> {
        led_by_it += co_await one.async_arrive_and_wait();
        led_by_it += co_await one.async_arrive_and_wait(asio::use_awaitable);
        auto const [error, leader] =
            co_await one.async_arrive_and_wait_for(0s, asio::as_tuple(asio::deferred));
        led_by_it += !error && leader;
        auto const [late, nobody] =
            co_await two.async_arrive_and_wait_for(0s, asio::as_tuple(asio::use_awaitable));
        led_by_it += late == timed_out && !nobody;
      },
      asio::detached);
  context.poll_one();
  BOOST_TEST(led_by_it == 4);
}

// The budget is used up: some arrivals go by way of their executor.
BOOST_AUTO_TEST_CASE(R1a_each_of_many_arrivals_in_a_row_counts_once) {
  constexpr int n = 1000;
  int leads = 0;
  asio::co_spawn(
      context,
      [&]() -> asio::awaitable<void> {
        for (int i = 0; i < n; ++i) leads += co_await one.async_arrive_and_wait();
      },
      asio::detached);
  poll();
  BOOST_TEST((leads == n && phases == n));
}

BOOST_AUTO_TEST_CASE(R7_all_are_released_in_the_order_of_their_coming) {
  std::string order;
  auto const note = [&](char c) { return [&order, c](error_code, bool) { order += c; }; };
  three.async_arrive_and_wait(note('a'));
  asio::co_spawn(
      context,
      [&]() -> asio::awaitable<void> {
        co_await three.async_arrive_and_wait();
        order += 'b';
      },
      asio::detached);
  poll();
  three.async_arrive_and_wait_for(1h, note('c'));
  poll();
  BOOST_TEST(order == "abc");
}

BOOST_AUTO_TEST_SUITE_END()
