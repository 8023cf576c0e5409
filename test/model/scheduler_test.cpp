// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The checker checked: what it must find, what it must not, and how many runs that takes.

#include "policy.hpp"

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>

namespace {

using model::options;

bool mentions(const model::result& found, const char* text) {
  return found.failed && found.message.find(text) != std::string::npos;
}

// Two increments in two halves each, so that one can be lost.
void torn_increments() {
  model::atomic<int> count{0};
  const auto increment = [&] { count.store(count.load() + 1); };
  model::threads(increment, increment);
  model::check(count.load() == 2, "both increments count");
}

void two_steps_each() {
  model::atomic<int> word{0};
  const auto twice = [&] {
    word.load();
    word.load();
  };
  model::threads(twice, twice);
}

// Goes wrong only if the reader is left after its first look and the writer after its first word.
void half_written() {
  model::atomic<int> word{0};
  model::threads(
      [&] {
        const int first = word.load();
        const int second = word.load();
        model::check(first != 0 || second != 1, "no half of it is seen");
      },
      [&] {
        word.store(1);
        word.store(2);
      });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(checker)

BOOST_AUTO_TEST_CASE(finds_a_lost_increment_and_replays_it) {
  const auto found = model::explore({.preemptions = 1, .quiet = true}, torn_increments);
  BOOST_TEST(mentions(found, "both increments count"));
  BOOST_TEST(found.schedule == "0.1x2.0");
  const auto again = model::replay(found.schedule, torn_increments, {.quiet = true});
  BOOST_TEST(again.message == found.message);
  BOOST_TEST(again.schedule == found.schedule);
  BOOST_TEST(again.trace == found.trace);
  BOOST_TEST(!again.diverged);
  BOOST_TEST(!model::explore({.preemptions = 0}, torn_increments).failed);
}

BOOST_AUTO_TEST_CASE(follows_a_kept_schedule_as_far_as_it_fits) {
  BOOST_TEST(model::replay("0.1x2.0", torn_increments, {.quiet = true}).failed);
  const auto other = model::replay("0x7.5.c1", torn_increments, {.quiet = true});
  BOOST_TEST(!other.failed);
  BOOST_TEST(other.diverged);
  BOOST_TEST(model::replay("0", torn_increments, {.quiet = true}).diverged);
  for (const char* nonsense : {"x", "0..1", "0.", "c", "0x", "1 2"}) {
    BOOST_CHECK_THROW(model::replay(nonsense, torn_increments), std::invalid_argument);
  }
}

BOOST_AUTO_TEST_CASE(counts_every_interleaving_without_a_bound) {
  const auto two = model::explore({.preemptions = model::unlimited}, two_steps_each);
  BOOST_TEST(two.complete);
  BOOST_TEST(two.runs == 6u);  // 4! / (2! 2!)
  const auto three = model::explore({.preemptions = model::unlimited}, [] {
    model::atomic<int> word{0};
    const auto body = [&] {
      word.fetch_add(1);
      word.exchange(2);
      word.load();
    };
    model::threads(body, body, body);
  });
  BOOST_TEST(three.runs == 1680u);  // 9! / (3! 3! 3!)
}

BOOST_AUTO_TEST_CASE(counts_the_preemptions_of_a_schedule) {
  BOOST_TEST(model::explore({.preemptions = 0}, two_steps_each).runs == 2u);  // AABB BBAA
  BOOST_TEST(model::explore({.preemptions = 1}, two_steps_each).runs == 4u);  // ABBA BAAB
  BOOST_TEST(model::explore({.preemptions = 2}, two_steps_each).runs == 6u);  // ABAB BABA
}

BOOST_AUTO_TEST_CASE(finds_with_two_preemptions_what_one_does_not_show) {
  BOOST_TEST(model::explore({.preemptions = 1}, half_written).complete);
  BOOST_TEST(model::explore({.preemptions = 2, .quiet = true}, half_written).failed);
}

BOOST_AUTO_TEST_CASE(runs_each_order_of_a_correct_lock_once) {
  const auto locked = model::explore({.preemptions = model::unlimited}, [] {
    model::policy::lock_type lock;
    int count = 0;
    const auto increment = [&] {
      std::lock_guard guard{lock};
      ++count;
    };
    model::threads(increment, increment, increment);
    model::check(count == 3, "each increment counts");
  });
  BOOST_TEST(!locked.failed, locked.message);
  BOOST_TEST(locked.runs == 6u);  // Who waits for a lock takes no step: 3! orders.
}

BOOST_AUTO_TEST_CASE(tries_a_lock_in_vain_and_with_success) {
  std::set<int> taken;
  const auto found = model::explore([&] {
    model::spin_lock lock;
    int times = 0;
    const auto attempt = [&] {
      if (lock.try_lock()) {
        ++times;
        lock.unlock();
      }
    };
    model::threads(attempt, attempt);
    taken.insert(times);
  });
  BOOST_TEST(!found.failed, found.message);
  BOOST_TEST((taken == std::set<int>{1, 2}));
}

BOOST_AUTO_TEST_CASE(finds_a_deadlock_of_two_locks) {
  const auto found = model::explore({.preemptions = 1, .quiet = true}, [] {
    model::spin_lock left;
    model::spin_lock right;
    model::threads(
        [&] {
          std::scoped_lock both{left};
          std::scoped_lock more{right};
        },
        [&] {
          std::scoped_lock both{right};
          std::scoped_lock more{left};
        });
  });
  BOOST_TEST(mentions(found, "thread 0 is in lock #2, thread 1 is in lock #1"));
  BOOST_TEST(found.schedule == "0.1");
}

BOOST_AUTO_TEST_CASE(refuses_to_unlock_for_another_thread) {
  const auto found = model::explore({.quiet = true}, [] {
    model::spin_lock lock;
    model::threads([&] { lock.lock(); }, [&] { lock.unlock(); });
  });
  BOOST_TEST(mentions(found, "does not hold the lock"));
}

BOOST_AUTO_TEST_CASE(finds_lost_wake_ups) {
  const auto wait_for = [](auto waker) {
    return [waker] {
      model::atomic<int> word{0};
      model::threads([&] { word.wait(0); }, [&] { waker(word); });
    };
  };
  using word = model::atomic<int>;
  const options quiet{.quiet = true};
  const auto right = wait_for([](word& w) { w.store(1), w.notify_one(); });
  const auto silent = wait_for([](word& w) { w.store(1); });
  const auto early = wait_for([](word& w) { w.notify_one(), w.store(1); });
  const auto idle = wait_for([](word& w) { w.notify_all(); });
  BOOST_TEST(model::explore(right).complete);
  BOOST_TEST(mentions(model::explore(quiet, silent), "thread 0 is in wake from wait #1"));
  BOOST_TEST(mentions(model::explore(quiet, early), "lost wake-up"));
  BOOST_TEST(mentions(model::explore(quiet, idle), "lost wake-up"));
}

BOOST_AUTO_TEST_CASE(wakes_any_one_waiter_or_all) {
  std::set<int> first;
  const auto one = model::explore([&] {
    model::atomic<int> word{0};
    int woken = 0;
    const auto waiter = [&] {
      word.wait(0);
      woken += woken == 0 ? 10 + model::this_thread() : 0;
      word.notify_one();
    };
    model::threads(waiter, waiter, [&] { word.store(1), word.notify_one(); });
    first.insert(woken);
  });
  BOOST_TEST(!one.failed, one.message);
  BOOST_TEST((first == std::set<int>{10, 11}));
  const auto all = model::explore([] {
    model::atomic<int> word{0};
    const auto waiter = [&] { word.wait(0); };
    model::threads(waiter, waiter, [&] { word.store(1), word.notify_all(); });
  });
  BOOST_TEST(all.complete);
}

BOOST_AUTO_TEST_CASE(explores_choices_of_data) {
  std::set<int> seen;
  const auto found = model::explore([&] {
    const int tens = model::choose(3) * 10;
    model::threads([&] { seen.insert(tens + model::choose(2)); });
  });
  BOOST_TEST((seen == std::set<int>{0, 1, 10, 11, 20, 21}));
  BOOST_TEST(found.runs == 6u);
  const auto bad =
      model::explore({.quiet = true}, [] { model::check(model::choose(9) != 7, ""); });
  BOOST_TEST(bad.runs == 8u);
  BOOST_TEST(bad.schedule == "c7");
}

BOOST_AUTO_TEST_CASE(fails_a_weak_exchange_once_if_asked_to) {
  const auto once = [] {
    model::atomic<int> word{0};
    model::threads([&] {
      int expected = 0;
      model::check(word.compare_exchange_weak(expected, 1), "exchanged at once");
    });
  };
  BOOST_TEST(model::explore(once).complete);
  BOOST_TEST(model::explore({.spurious_failures = true, .quiet = true}, once).failed);
  const auto loop = model::explore({.spurious_failures = true}, [] {
    model::atomic<int> word{0};
    model::threads([&] {
      for (int expected = 0; !word.compare_exchange_weak(expected, expected + 1);) {
      }
    });
    model::check(word.load() == 1, "incremented");
  });
  BOOST_TEST(loop.complete);
  BOOST_TEST(loop.runs == 2u);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(checker_runs)

BOOST_AUTO_TEST_CASE(finds_a_livelock) {
  const auto found = model::explore({.max_steps = 100, .quiet = true}, [] {
    model::atomic<int> word{0};
    model::threads([&] {
      while (word.load() == 0) model::pause();
    });
  });
  BOOST_TEST(mentions(found, "livelock"));
}

BOOST_AUTO_TEST_CASE(lets_a_polling_loop_end) {
  const auto found = model::explore({.preemptions = model::unlimited}, [] {
    model::atomic<int> word{0};
    model::threads(
        [&] {
          while (word.load() == 0) model::pause();
        },
        [&] { model::pause(), word.store(1); });
  });
  BOOST_TEST(found.complete, found.message);
}

BOOST_AUTO_TEST_CASE(reports_an_exception_that_leaves_a_thread) {
  const auto found = model::explore(
      {.quiet = true}, [] { model::threads([] { throw std::runtime_error("ouch"); }); });
  BOOST_TEST(mentions(found, "left thread 0: ouch"));
}

BOOST_AUTO_TEST_CASE(keeps_the_exceptions_of_threads_apart) {
  const auto found = model::explore({.preemptions = model::unlimited}, [] {
    model::atomic<int> word{0};
    const auto body = [&] {
      const int self = model::this_thread();
      try {
        throw self;
      } catch (int) {
        word.load();
        try {
          throw;
        } catch (int again) {
          model::check(again == self, "a thread rethrows its own exception");
        }
      }
    };
    model::threads(body, body);
  });
  BOOST_TEST(found.complete, found.message);
}

BOOST_AUTO_TEST_CASE(fails_inside_of_a_noexcept_function) {
  const auto found = model::explore({.quiet = true}, [] {
    const auto body = []() noexcept { model::check(false, "in there"); };
    model::threads(body, body);
  });
  BOOST_TEST(mentions(found, "in there"));
}

BOOST_AUTO_TEST_CASE(refuses_a_scenario_that_is_not_deterministic) {
  int runs = 0;
  const auto found = model::explore({.quiet = true}, [&] { model::choose(++runs + 1); });
  BOOST_TEST(mentions(found, "not deterministic"));
}

BOOST_AUTO_TEST_CASE(runs_threads_in_several_phases) {
  const auto found = model::explore([] {
    model::atomic<int> word{0};
    const auto body = [&] { word.fetch_add(1); };
    model::threads(body, body);
    model::check(word.load() == 2, "first phase");
    model::threads(body, body, body);
    model::check(word.load() == 5, "second phase");
  });
  BOOST_TEST(found.complete, found.message);
  BOOST_TEST(found.runs == 2u * 6u);
}

BOOST_AUTO_TEST_CASE(ends_at_the_limit_of_runs) {
  const auto found = model::explore({.max_runs = 3}, two_steps_each);
  BOOST_TEST(found.runs == 3u);
  BOOST_TEST(!found.complete);
}

BOOST_AUTO_TEST_CASE(operations_work_outside_of_an_exploration) {
  model::atomic<int> word{1};
  model::spin_lock lock;
  std::lock_guard guard{lock};
  BOOST_TEST(word.fetch_add(1) == 1);
  BOOST_TEST(!lock.try_lock());
  model::destroy(model::make<int>());
  BOOST_CHECK_THROW(model::check(false, ""), std::logic_error);
}

BOOST_AUTO_TEST_CASE(prints_its_speed) {
  const auto found = model::explore({.preemptions = 3}, [] {
    model::spin_lock lock;
    model::atomic<int> count{0};
    const auto body = [&] {
      for (int i = 0; i < 3; ++i) {
        std::lock_guard guard{lock};
        count.fetch_add(1);
      }
    };
    model::threads(body, body, body);
    model::check(count.load() == 9, "each addition counts");
  });
  BOOST_TEST(found.complete, found.message);
  std::cout << "model: " << found.runs << " runs of 27 steps, "
            << static_cast<long>(static_cast<double>(found.runs) / found.seconds) << " runs/s\n";
}

BOOST_AUTO_TEST_SUITE_END()
