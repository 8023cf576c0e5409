// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Waits that give up after a time: on several contexts and executors, and where the timer of a
// context cannot start.

#include "support/manual_queue.hpp"
#include "support/memory.hpp"
#include "support/mutex_fixture.hpp"
#include "support/test.hpp"

#include <boost/asio/detail/reactor.hpp>

namespace time_test {

using namespace asio_sync::test;
using guard = async_mutex::lock_type;
using clock = std::chrono::steady_clock;

// Making a timer puts the reactor into a context, for good.
bool has_timer(asio::execution_context& context) {
  return asio::has_service<asio::detail::reactor>(context);
}

// The timer of a context shares the reactor's heap with the user's timers: its place in there goes
// to one of these when it fires or is interrupted, and to start again it may need memory. This
// depends on how many of the user's timers there are, so a case tries some numbers: one of them
// fills the heap to its capacity, which doubles.
constexpr int most_timers = 9;

// A wait that is not to expire, and one that does, while the context's timer cannot be started for
// it.
class starved_timer : public held_mutex {
 public:
  starved_timer(int timers, std::chrono::milliseconds tick) : timers_(timers), tick_(tick) {
    mutex.async_lock_for(2h, asio::bind_cancellation_slot(signal.slot(), bystander.handler()));
  }

  // Two deadlines. The first one's timer fires, just after a timer of the user's whose handler
  // starts others; then there is no memory to start it for the second. False if the ticks were
  // too short for that.
  bool fail_at_the_next_deadline() {
    auto const start = clock::now();
    fate first;
    mutex.async_lock_until(start + 2 * tick_, observed_handler(first));
    mutex.async_lock_until(start + 4 * tick_, observed_handler(expiring));
    poll();
    bool const in_time = first.waits();
    asio::steady_timer before(context, start + tick_);
    before.async_wait([this](error_code) {
      fill();
      heap_.emplace();
    });
    std::this_thread::sleep_until(start + 2 * tick_ + 1ms);
    poll_without_memory();
    BOOST_TEST(ends(first));
    BOOST_TEST(first.refused(timed_out));
    return in_time && expiring.waits();
  }

  // The timer is interrupted, as there is an earlier deadline now, and cannot be started for that.
  bool fail_at_an_earlier_deadline() {
    poll();
    mutex.async_lock_for(2 * tick_, observed_handler(expiring));
    fill();
    heap_.emplace();
    poll_without_memory();
    return expiring.waits();
  }

  bool failed() const noexcept { return failed_; }

  // Runs the context until a wait is over; false if it is not long after its deadline.
  bool ends(fate const& f) {
    auto const deadline = clock::now() + 4 * tick_;
    int polls_after = 0;
    while (f.waits() && polls_after < 1000) {
      poll();
      std::this_thread::sleep_for(1ms);
      if (clock::now() > deadline) ++polls_after;
    }
    return !f.waits();
  }

  // Returns when no work is left: a deadline that nobody expects any more is none.
  void finish() {
    others_.clear();
    mutex.cancel();
    context.restart();
    context.run();
  }

  mutex_result bystander;
  fate expiring, later;

 private:
  void fill() {
    for (int i = 0; i < timers_; ++i)
      others_.emplace_back(context, 1h).async_wait([](error_code) {});
  }

  void poll_without_memory() {
    BOOST_CHECK_NO_THROW(poll());
    failed_ = heap_ && heap_->failed() != 0;
    heap_.reset();
  }

  int const timers_;
  std::chrono::milliseconds const tick_;
  std::vector<asio::steady_timer> others_;
  std::optional<failing_heap> heap_;
  bool failed_ = false;
};

// Fails in either way, then acts, which has a wait attached or detached; the wait expires.
void check_it_tries_again(void (*act)(starved_timer&)) {
  for (auto const fail :
       {&starved_timer::fail_at_the_next_deadline, &starved_timer::fail_at_an_earlier_deadline}) {
    int failures = 0;
    for (int timers = 0; timers <= most_timers; ++timers) {
      BOOST_TEST_INFO_SCOPE(timers << " timers of the user's");
      bool in_time = false;
      for (auto tick = 5ms; !in_time && tick < 10s; tick *= 2) {
        starved_timer s(timers, tick);
        in_time = (s.*fail)();
        act(s);
        BOOST_TEST(s.ends(s.expiring));
        BOOST_TEST(s.expiring.refused(timed_out));
        s.finish();
        failures += in_time && s.failed();
      }
      BOOST_TEST(in_time);
    }
    BOOST_TEST(failures > 0, "the timer was started without memory each time");
  }
}

}  // namespace time_test

BOOST_FIXTURE_TEST_SUITE(time_test, held_mutex)

BOOST_AUTO_TEST_CASE(R11_a_wait_that_does_not_queue_makes_no_timer) {
  mutex.unlock();
  for (int i = 0; i < 300; ++i) {
    mutex_result free;
    mutex.async_lock_for(1h, free.handler());
    poll();
    BOOST_TEST(free.granted());
  }
  BOOST_REQUIRE(mutex.try_lock());
  mutex_result expired, refused;
  mutex.async_lock_for(0s, expired.handler());
  BOOST_TEST(mutex.waiters() == 0u);
  mutex.close();
  mutex.async_lock_for(1h, refused.handler());
  poll();
  BOOST_TEST(expired.refused(timed_out));
  BOOST_TEST(refused.refused(closed));
  BOOST_TEST(!has_timer(context));
}

BOOST_AUTO_TEST_CASE(R11_an_expired_wait_leaves_at_once_and_those_behind_move_up) {
  mutex_result timed, plain;
  mutex.async_lock_for(1ms, timed.handler());
  mutex.async_lock(plain.handler());
  BOOST_TEST(mutex.waiters() == 2u);
  while (mutex.waiters() == 2) context.run_one();
  BOOST_TEST(mutex.waiters() == 1u);
  mutex.unlock();
  context.run();
  BOOST_TEST(timed.refused(timed_out));
  BOOST_TEST(plain.granted());
}

BOOST_AUTO_TEST_CASE(R11_nothing_keeps_run_when_the_last_timed_wait_is_gone) {
  mutex_result result;
  auto const expect = [&](error_code error) {
    context.restart();
    context.run();  // the watchdog would end a run that waits for the hour
    BOOST_TEST((error ? result.refused(error) : result.granted()));
    result = mutex_result();
  };
  mutex.async_lock_for(1h, asio::bind_cancellation_slot(signal.slot(), result.handler()));
  poll();
  signal.emit(asio::cancellation_type::total);
  expect(aborted);
  mutex.async_lock_for(1h, result.handler());
  mutex.unlock();
  expect({});
  std::optional<async_mutex> dying(context);
  BOOST_REQUIRE(dying->try_lock());
  dying->async_lock_for(1h, result.handler());
  dying.reset();
  expect(aborted);
  BOOST_REQUIRE(mutex.try_lock());
  mutex.async_lock_for(1h, result.handler());
  mutex.close();
  expect(closed);
}

BOOST_AUTO_TEST_CASE(R11_waits_expire_in_the_order_of_their_deadlines) {
  async_mutex second(context);
  BOOST_REQUIRE(second.try_lock());
  std::vector<int> order;
  bool queued = false;  // all of them, before the first deadline
  for (auto ahead = 20ms; !queued && ahead < 1min; ahead *= 2) {
    order.clear();
    auto const start = clock::now() + ahead;
    // The earliest comes while the timer runs for a later one.
    for (int const i : {9, 3, 7, 1, 8, 2, 6, 4, 5}) {
      (i % 2 ? mutex : second).async_lock_until(start + i * 1ms, [&order, i](error_code e, guard) {
        BOOST_TEST(e == timed_out);
        order.push_back(i);
      });
      poll();
    }
    queued = mutex.waiters() + second.waiters() == 9;
    context.restart();
    context.run();
  }
  BOOST_TEST(queued);
  BOOST_TEST(order == (std::vector{1, 2, 3, 4, 5, 6, 7, 8, 9}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(R11_an_earlier_deadline_is_heard_of_by_a_timer_that_runs) {
  mutex_result late, early;
  mutex.async_lock_for(1h, late.handler());
  context.poll();
  mutex.async_lock_for(1ms, early.handler());
  while (early.calls == 0) context.run_one();
  BOOST_TEST(early.refused(timed_out));
  BOOST_TEST(late.calls == 0);
}

BOOST_AUTO_TEST_CASE(R11_the_longest_times_do_not_overflow) {
  std::array<mutex_result, 3> results;
  mutex.async_lock_for(std::chrono::hours::max(), results[0].handler());
  mutex.async_lock_until(clock::time_point::max(), results[1].handler());
  mutex.async_lock_until(std::chrono::system_clock::time_point::max(), results[2].handler());
  context.poll();
  BOOST_TEST(mutex.waiters() == 3u);
  mutex.unlock();
  for (auto& result : results) {
    while (result.calls == 0) context.run_one();
    BOOST_TEST(result.granted());
    result.lock.unlock();
  }
}

BOOST_AUTO_TEST_CASE(R11_a_deferred_operation_counts_from_its_launch) {
  auto operation = mutex.async_lock_for(5ms, asio::deferred);
  auto const start = clock::now();
  auto fixed = mutex.async_lock_until(start + 5ms, asio::deferred);
  while (clock::now() <= start + 5ms) std::this_thread::yield();
  mutex_result relative, absolute;
  std::move(operation)(relative.handler());
  BOOST_TEST(mutex.waiters() == 1u);
  std::move(fixed)(absolute.handler());
  BOOST_TEST(mutex.waiters() == 1u);
  mutex.unlock();
  context.run();
  BOOST_TEST(relative.granted());
  BOOST_TEST(absolute.refused(timed_out));
}

BOOST_AUTO_TEST_CASE(R11_a_wait_expires_on_the_context_of_its_handler) {
  mutex_result bound, on_strand;
  mutex.async_lock_for(1ms, asio::bind_executor(other, bound.handler()));
  mutex.async_lock_for(2ms, asio::bind_executor(asio::make_strand(other), on_strand.handler()));
  other.run();
  BOOST_TEST(bound.refused(timed_out));
  BOOST_TEST(on_strand.refused(timed_out));
  BOOST_TEST(!has_timer(context));
}

BOOST_AUTO_TEST_CASE(R11_waits_on_a_thread_pool_expire) {
  asio::thread_pool pool(2);
  async_mutex in_pool(asio::make_strand(pool));
  BOOST_REQUIRE(in_pool.try_lock());
  std::array<mutex_result, 20> results;
  for (int i = 0; i < 20; ++i) in_pool.async_lock_for(i % 5 * 1ms, results[i].handler());
  pool.join();
  for (auto const& result : results) BOOST_TEST(result.refused(timed_out));
}

BOOST_AUTO_TEST_CASE(R11_first_timed_waits_of_two_threads_make_one_timer) {
  for (int round = 0; round < 200; ++round) {
    held_mutex fresh;
    std::array<mutex_result, 2> results;
    std::atomic<int> arrived{0};  // a barrier loses wake-ups in libstdc++ 12 without a futex
    auto const wait = [&](mutex_result& result) {
      for (++arrived; arrived != 2;) std::this_thread::yield();
      fresh.mutex.async_lock_for(1us, result.handler());
    };
    std::thread other_thread([&] { wait(results[0]); });
    wait(results[1]);
    other_thread.join();
    fresh.context.run();
    for (auto const& result : results) BOOST_REQUIRE(result.refused(timed_out));
  }
}

BOOST_AUTO_TEST_CASE(R11_an_executor_that_does_not_run_holds_up_nobody_elses_deadline) {
  manual_queue queue;
  mutex_result slow, prompt;
  manual_queue::executor const ex(queue, context);
  mutex.async_lock_for(1ms, asio::bind_executor(ex, slow.handler()));
  mutex.async_lock_for(2ms, prompt.handler());
  while (mutex.waiters() != 0) context.run_one();
  context.run();
  BOOST_TEST(prompt.refused(timed_out));
  BOOST_TEST(slow.calls == 0);
  BOOST_TEST(queue.size() == 1u);
  queue.run();
  BOOST_TEST(slow.refused(timed_out));
}

BOOST_AUTO_TEST_CASE(R11_a_context_of_the_users_own_has_a_timer_too) {
  struct plain_context : asio::execution_context {
    ~plain_context() { shutdown(); }
  };
  using mutex_type = basic_async_mutex<manual_queue::executor>;
  manual_queue queue;
  basic_mutex_result<mutex_type> result;
  {
    plain_context own;
    mutex_type timed(manual_queue::executor(queue, own));
    BOOST_REQUIRE(timed.try_lock());
    timed.async_lock_for(1ms, result.handler());
    while (timed.waiters() != 0) std::this_thread::yield();
  }
  queue.run();
  BOOST_TEST(result.refused(timed_out));
}

BOOST_AUTO_TEST_CASE(R11_a_timer_that_cannot_start_is_started_by_a_later_wait) {
  check_it_tries_again(
      [](starved_timer& s) { s.mutex.async_lock_for(1h, observed_handler(s.later)); });
}

BOOST_AUTO_TEST_CASE(R11_a_timer_that_cannot_start_is_started_by_a_cancellation) {
  check_it_tries_again([](starved_timer& s) { s.signal.emit(asio::cancellation_type::terminal); });
}

// The bystander, which is the oldest wait, completes and keeps the lock.
BOOST_AUTO_TEST_CASE(R11_a_timer_that_cannot_start_is_started_by_a_completion) {
  check_it_tries_again([](starved_timer& s) { s.mutex.unlock(); });
}

BOOST_AUTO_TEST_SUITE_END()
