// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The timer of a context shares the reactor's heap with the user's timers: its place in there goes
// to one of these when it fires or is interrupted, and to start again it may need memory.

#include "support/test.hpp"

#include <asio_sync/async_mutex.hpp>

#include "support/memory.hpp"
#include "support/mutex_result.hpp"

namespace timer_failure_test {

using namespace asio_sync::test;
using clock = std::chrono::steady_clock;

// What goes wrong in there depends on how many of the user's timers there are, so each case tries
// some numbers: one of them fills the heap to its capacity, which doubles.
constexpr int most_timers = 9;

// A mutex, which is held, a wait that is not to expire, and one that does, while the context's
// timer cannot be started for it.
class starved_timer {
 public:
  starved_timer(int timers, std::chrono::milliseconds tick) : timers_(timers), tick_(tick) {
    held.emplace(mutex);
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

  asio::io_context context;
  async_mutex mutex{context};
  std::optional<async_mutex::lock_type> held;
  asio::cancellation_signal signal;
  mutex_result bystander;
  fate expiring;

 private:
  void poll() { test::poll(context); }

  void fill() {
    for (int i = 0; i < timers_; ++i)
      others_.emplace_back(context, 1h).async_wait([](error_code) {});
  }

  void poll_without_memory() {
    bool left = false;
    try {
      poll();
    } catch (std::exception const&) {
      left = true;
    }
    failed_ = heap_ && heap_->failed() != 0;
    heap_.reset();
    BOOST_TEST(!left, "an exception has left poll()");
  }

  int const timers_;
  std::chrono::milliseconds const tick_;
  std::vector<asio::steady_timer> others_;
  std::optional<failing_heap> heap_;
  bool failed_ = false;
};

// Fails in one way, has a wait attached or detached in another, and looks whether the expiring one
// does.
// False if the ticks were too short to fail that way.
template <class Fail, class Act>
bool tries_again(starved_timer& s, Fail fail, Act act) {
  fate later;
  bool const in_time = fail(s);
  act(s, later);
  BOOST_TEST(s.ends(s.expiring));
  BOOST_TEST(s.expiring.refused(timed_out));
  s.finish();
  return in_time;
}

template <class Fail, class Act>
void check_it_tries_again(Fail fail, Act act) {
  int failures = 0;
  for (int timers = 0; timers <= most_timers; ++timers) {
    BOOST_TEST_INFO_SCOPE(timers << " timers of the user's");
    bool in_time = false;
    for (auto tick = 5ms; !in_time && tick < 10s; tick *= 2) {
      starved_timer s(timers, tick);
      in_time = tries_again(s, fail, act);
      if (in_time && s.failed()) ++failures;
    }
    BOOST_TEST(in_time);
  }
  BOOST_TEST(failures > 0, "the timer was started without memory each time");
}

auto const at_the_next_deadline = [](starved_timer& s) { return s.fail_at_the_next_deadline(); };
auto const at_an_earlier_deadline = [](starved_timer& s) {
  return s.fail_at_an_earlier_deadline();
};

auto const by_a_later_wait = [](starved_timer& s, fate& later) {
  s.mutex.async_lock_for(1h, observed_handler(later));
};
auto const by_a_cancellation = [](starved_timer& s, fate&) {
  s.signal.emit(asio::cancellation_type::terminal);
};
// The bystander is the oldest, and keeps the lock.
auto const by_a_completion = [](starved_timer& s, fate&) { s.held->unlock(); };

}  // namespace timer_failure_test

BOOST_AUTO_TEST_SUITE(timer_failure_test)

BOOST_AUTO_TEST_CASE(R11_a_timer_that_cannot_start_is_started_by_a_later_wait) {
  check_it_tries_again(at_the_next_deadline, by_a_later_wait);
  check_it_tries_again(at_an_earlier_deadline, by_a_later_wait);
}

BOOST_AUTO_TEST_CASE(R11_a_timer_that_cannot_start_is_started_by_a_cancellation) {
  check_it_tries_again(at_the_next_deadline, by_a_cancellation);
  check_it_tries_again(at_an_earlier_deadline, by_a_cancellation);
}

BOOST_AUTO_TEST_CASE(R11_a_timer_that_cannot_start_is_started_by_a_completion) {
  check_it_tries_again(at_the_next_deadline, by_a_completion);
  check_it_tries_again(at_an_earlier_deadline, by_a_completion);
}

BOOST_AUTO_TEST_SUITE_END()
