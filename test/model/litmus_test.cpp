// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// What threads may read from atomics: the litmus tests of the field, and two faults that only a
// stale value shows.

#include "policy.hpp"

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <string>

namespace litmus {

using order = std::memory_order;
using number = model::atomic<int>;
constexpr order relaxed = order::relaxed, acquire = order::acquire, release = order::release,
                seq_cst = order::seq_cst;

model::result explored(auto scenario, int stale_reads) {
  return model::explore(
      {.preemptions = model::unlimited, .stale_reads = stale_reads, .quiet = true}, scenario);
}

// True if the scenario returns true in some run; none has gone unexplored otherwise.
bool is_possible(auto scenario) {
  auto const found = explored([&] { model::check(!scenario(), "possible"); }, 8);
  BOOST_TEST(found.failed != found.complete);
  return found.failed;
}

// --- Litmus tests ---

bool both_read_nothing(order store, order load) {
  number x{0}, y{0};
  int first = 1, second = 1;
  model::threads([&] { x.store(1, store), first = y.load(load); },
                 [&] { y.store(1, store), second = x.load(load); });
  return first == 0 && second == 0;
}

bool is_told_of_nothing(order store, order load) {
  number x{0}, told{0};
  int seen = 1;
  model::threads([&] { x.store(1, relaxed), told.store(1, store); },
                 [&] {
                   if (told.load(load) == 1) seen = x.load(relaxed);
                 });
  return seen == 0;
}

bool two_see_two_orders(order store, order load) {
  number x{0}, y{0};
  int seen[4] = {};
  model::threads([&] { x.store(1, store); }, [&] { y.store(1, store); },
                 [&] { seen[0] = x.load(load), seen[1] = y.load(load); },
                 [&] { seen[2] = y.load(load), seen[3] = x.load(load); });
  return seen[0] == 1 && seen[1] == 0 && seen[2] == 1 && seen[3] == 0;
}

// --- Faults ---

// One says that it waits, looks, and goes to sleep; the other changes what that looks at, and
// wakes it if it says so.
void flag_beside_the_state(order store, order load) {
  number waits{0}, state{0};
  bool sleeps = false, woken = false;
  model::threads(
      [&] {
        waits.store(1, store);
        sleeps = state.load(load) == 0;
      },
      [&] {
        state.store(1, store);
        woken = waits.load(load) == 1;
      });
  model::check(!sleeps || woken, "it is woken");
}

// Whoever was told of a close comes afterwards.
void relaxed_close(order told_by) {
  number closed{0}, told{0};
  bool enters = false;
  model::threads([&] { closed.store(1, relaxed), told.store(1, told_by); },
                 [&] {
                   if (told.load(acquire) == 1) enters = closed.load(relaxed) == 0;
                 });
  model::check(!enters, "nobody enters after the close");
}

}  // namespace litmus

BOOST_AUTO_TEST_SUITE(checker_litmus)

using namespace litmus;

BOOST_AUTO_TEST_CASE(store_buffering) {
  BOOST_TEST(is_possible([] { return both_read_nothing(relaxed, relaxed); }));
  BOOST_TEST(is_possible([] { return both_read_nothing(release, acquire); }));
  BOOST_TEST(is_possible([] { return both_read_nothing(relaxed, seq_cst); }));
  BOOST_TEST(!is_possible([] { return both_read_nothing(seq_cst, seq_cst); }));
}

BOOST_AUTO_TEST_CASE(message_passing) {
  BOOST_TEST(is_possible([] { return is_told_of_nothing(relaxed, relaxed); }));
  BOOST_TEST(is_possible([] { return is_told_of_nothing(relaxed, acquire); }));
  BOOST_TEST(is_possible([] { return is_told_of_nothing(release, relaxed); }));
  BOOST_TEST(!is_possible([] { return is_told_of_nothing(release, acquire); }));
}

BOOST_AUTO_TEST_CASE(message_through_a_lock) {
  BOOST_TEST(!is_possible([] {
    number x{0};
    model::spin_lock lock;
    bool told = false;
    int seen = 1;
    model::threads(
        [&] {
          x.store(1, relaxed);
          std::lock_guard guard{lock};
          told = true;
        },
        [&] {
          lock.lock();
          bool const is_told = told;
          lock.unlock();
          if (is_told) seen = x.load(relaxed);
        });
    return seen == 0;
  }));
}

BOOST_AUTO_TEST_CASE(message_passed_on_by_a_third_thread) {
  BOOST_TEST(!is_possible([] {
    number x{0}, told{0};
    int seen = 1;
    model::threads([&] { x.store(1, relaxed); },
                   [&] {
                     if (x.load(relaxed) == 1) told.store(1, release);
                   },
                   [&] {
                     if (told.load(acquire) == 1) seen = x.load(relaxed);
                   });
    return seen == 0;
  }));
}

BOOST_AUTO_TEST_CASE(release_sequence_of_a_read_modify_write) {
  BOOST_TEST(!is_possible([] {
    number x{0}, told{0};
    int seen = 1;
    model::threads([&] { x.store(1, relaxed), told.store(1, release); },
                   [&] { told.fetch_add(1, relaxed); },
                   [&] {
                     if (told.load(acquire) == 2) seen = x.load(relaxed);
                   });
    return seen == 0;
  }));
}

BOOST_AUTO_TEST_CASE(coherence_of_two_reads) {
  BOOST_TEST(!is_possible([] {
    number x{0};
    int first = 0, second = 0;
    model::threads([&] { x.store(1, relaxed), x.store(2, relaxed); },
                   [&] { first = x.load(relaxed), second = x.load(relaxed); });
    return first > second;
  }));
}

BOOST_AUTO_TEST_CASE(independent_reads_of_independent_writes) {
  BOOST_TEST(is_possible([] { return two_see_two_orders(release, acquire); }));
  BOOST_TEST(!is_possible([] { return two_see_two_orders(seq_cst, seq_cst); }));
}

BOOST_AUTO_TEST_CASE(read_modify_writes_take_the_newest) {
  BOOST_TEST(!is_possible([] {
    number x{0};
    int first = 0, second = 0;
    model::threads([&] { first = x.fetch_add(1, relaxed); },
                   [&] { second = x.fetch_add(1, relaxed); });
    return first == second;
  }));
}

BOOST_AUTO_TEST_CASE(exchange_that_fails_by_a_stale_value) {
  auto const fails_by = [](int value) {
    return [value] {
      number x{0}, told{0};
      int seen = -1;
      model::threads([&] { x.store(1, relaxed), x.store(2, relaxed), told.store(1, relaxed); },
                     [&] {
                       int expected = 0;
                       if (told.load(relaxed) == 1 &&
                           !x.compare_exchange_strong(expected, 3, relaxed, relaxed))
                         seen = expected;
                     });
      return seen == value;
    };
  };
  BOOST_TEST(is_possible(fails_by(2)));
  BOOST_TEST(is_possible(fails_by(1)));
  BOOST_TEST(!is_possible(fails_by(0)));
}

// The standard allows both of these to threads whose operations are all relaxed.
BOOST_AUTO_TEST_CASE(not_explored) {
  BOOST_TEST(!is_possible([] {  // load buffering
    number x{0}, y{0};
    int first = 0, second = 0;
    model::threads([&] { first = x.load(relaxed), y.store(1, relaxed); },
                   [&] { second = y.load(relaxed), x.store(1, relaxed); });
    return first == 1 && second == 1;
  }));
  BOOST_TEST(!is_possible([] {  // 2+2W
    number x{0}, y{0};
    model::threads([&] { x.store(1, relaxed), y.store(2, relaxed); },
                   [&] { y.store(1, relaxed), x.store(2, relaxed); });
    return x.load() == 1 && y.load() == 1;
  }));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(checker_stale_reads)

using namespace litmus;

BOOST_AUTO_TEST_CASE(find_a_wake_up_flag_without_seq_cst) {
  auto const broken = [] { flag_beside_the_state(release, acquire); };
  BOOST_TEST(explored(broken, 0).complete);
  auto const found = explored(broken, 1);
  BOOST_TEST(found.failed);
  BOOST_TEST(found.runs == 2u);
  BOOST_TEST(explored([] { flag_beside_the_state(seq_cst, seq_cst); }, 8).complete);
}

BOOST_AUTO_TEST_CASE(find_a_relaxed_close) {
  auto const broken = [] { relaxed_close(relaxed); };
  BOOST_TEST(explored(broken, 0).complete);
  auto const found = explored(broken, 1);
  BOOST_TEST(found.failed);
  BOOST_TEST(found.runs == 2u);
  BOOST_TEST(explored([] { relaxed_close(release); }, 8).complete);
}

BOOST_AUTO_TEST_CASE(are_replayed) {
  auto const broken = [] { relaxed_close(relaxed); };
  auto const found = explored(broken, 1);
  BOOST_TEST(found.schedule == "0x2.1x2.s1");
  BOOST_TEST(found.trace.find("thread 1: reads a stale value, 1 before the newest") !=
             std::string::npos);
  auto const again = model::replay(found.schedule, broken, {.quiet = true});
  BOOST_TEST(again.failed);
  BOOST_TEST(!again.diverged);
  BOOST_TEST(again.schedule == found.schedule);
  BOOST_TEST(again.trace == found.trace);
}

// So one that was kept before there were stale reads still fits.
BOOST_AUTO_TEST_CASE(are_in_a_schedule_where_there_is_one) {
  auto const right = [](std::string const& schedule) {
    return model::replay(schedule, [] { relaxed_close(release); }, {.quiet = true});
  };
  BOOST_TEST(!right("0x2.1x2").diverged);
  BOOST_TEST(right("0x2.1x2.s1").diverged);  // it knows better
  BOOST_TEST(!right("0x2.1.s1").diverged);   // it is not told
  for (const char* misfit : {"0x2.1.s2", "0x2.1.s99", "0x2.s1.1x2", "s1.0x2.1x2"})
    BOOST_TEST(right(misfit).diverged, misfit);
  for (const char* nonsense : {"s", "0.s", "sx2"})
    BOOST_CHECK_THROW(right(nonsense), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(are_no_more_than_asked_for) {
  auto const in_order = [&](int stale_reads) {
    return model::explore({.preemptions = 0, .stale_reads = stale_reads, .quiet = true}, [&] {
      number x{0}, y{0};
      int seen = 2;
      model::threads([&] { x.store(1, relaxed), y.store(1, relaxed); },
                     [&] {
                       model::pause();
                       seen = x.load(relaxed) + y.load(relaxed);
                     });
      model::check(seen != 0, "one of them is seen");
    });
  };
  BOOST_TEST(in_order(1).complete);
  BOOST_TEST(in_order(2).failed);
}

BOOST_AUTO_TEST_CASE(take_nothing_from_outside_of_threads) {
  auto const found = explored(
      [] {
        number x{0};
        model::threads([&] { x.store(1, relaxed); });
        model::check(x.load(relaxed) == 1, "the scenario sees what its threads did");
        model::threads([&] { model::check(x.load(relaxed) == 1, "and so do later threads"); });
      },
      8);
  BOOST_TEST(found.complete);
  BOOST_TEST(found.runs == 1u);
}

// A thread that has read a stale value does not know how far others have come.
BOOST_AUTO_TEST_CASE(take_away_milestones_that_nothing_orders) {
  auto const told_by = [](order how) {
    return [how] {
      number x{0}, told{0};
      model::milestone stored;
      model::threads(
          [&] {
            x.store(1, relaxed);
            stored.reach();
            told.store(1, how);
          },
          [&] {
            bool const is_told = told.load(acquire) == 1;
            bool const sees = x.load(relaxed) == 1;
            if (stored.is_reached()) model::check(sees, "what was stored before is seen");
            if (is_told && how == release) model::check(stored.is_reached(), "it knows");
          });
      model::check(stored.is_reached(), "the scenario knows");
    };
  };
  BOOST_TEST(explored(told_by(relaxed), 0).complete);
  BOOST_TEST(explored(told_by(relaxed), 8).complete);
  BOOST_TEST(explored(told_by(release), 8).complete);
}

BOOST_AUTO_TEST_SUITE_END()
