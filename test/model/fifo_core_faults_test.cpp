// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// What the interleavings have found, in faulty cores: the schedules, replayed on the right one.

#include "fifo_core_weighted_scenarios.hpp"

#include <boost/test/unit_test.hpp>

#include <string_view>

namespace {

using namespace fifo_model;

model::options const quiet{.spurious_failures = true, .quiet = true};

model::result replay(void (*scenario)(), std::string_view schedule) {
  return model::replay(
      schedule, [scenario] { scenario(); }, quiet);
}

// Finds nothing unless the core is broken.
void kept(void (*scenario)(), std::string_view schedule) {
  auto const found = replay(scenario, schedule);
  BOOST_TEST(!found.failed, "model: " << found.message << '\n' << found.trace);
}

// Is found, and again by its schedule; the right core survives the one that is kept.
void finds(void (*broken)(), void (*right)(), std::string_view schedule) {
  auto const found = model::explore(quiet, [broken] { broken(); });
  BOOST_TEST(found.failed);
  BOOST_TEST(replay(broken, found.schedule).message == found.message);
  kept(right, schedule);
}

// --- Faulty parts ---

struct no_lock {
  void lock() noexcept {}
  void unlock() noexcept {}
};

struct unlocked : exclusive {
  using lock_type = no_lock;
};

// Once set the lowest bit, that somebody is queued, stays.
template <class T>
struct sticky_atomic : model::atomic<T> {
  using model::atomic<T>::atomic;

  T fetch_add(T delta, std::memory_order) noexcept {
    return model::atomic<T>::fetch_add(delta + (delta & 1));
  }
};

struct sticky : weighted {
  template <class T>
  using atomic = sticky_atomic<T>;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(fifo_core_faulty_parts)

BOOST_AUTO_TEST_CASE(no_lock) {
  finds(neighbours_cancelled<unlocked>, neighbours_cancelled<>, "0x6.2x4.1x6.2x6");
}
BOOST_AUTO_TEST_CASE(always_somebody_queued) {
  finds(three_waits<sticky>, three_waits<>, "0x2.c0.0x8.1x4.c0.1x2.0x9.1x10.2x5");
}

BOOST_AUTO_TEST_SUITE_END()

// Each of these faults is put into the core by `./dev mutants`, which has its case fail.
BOOST_AUTO_TEST_SUITE(fifo_core_faults)

BOOST_AUTO_TEST_CASE(last_come_first_served) { kept(cancel_against_grant<>, "0x5"); }
BOOST_AUTO_TEST_CASE(no_look_at_the_new_head) { kept(cancel_of_a_heavy_head<>, "0x7.1.2x5"); }
BOOST_AUTO_TEST_CASE(waiting_not_cleared) {
  kept(three_waits<>, "0x2.c0.0x8.1x4.c0.1x2.0x8.1x10.2x5");
}
BOOST_AUTO_TEST_CASE(waiting_cleared_early) { kept(cancel_against_grant<>, "0x9.1x8.2"); }
BOOST_AUTO_TEST_CASE(try_barges_in) {
  kept(tries_behind_a_heavy_head<>, "0x3.1x2.c0.1x2.0x4.1x3");
}
BOOST_AUTO_TEST_CASE(enter_does_not_look_again) {
  kept(holder_against_wait<>, "0x2.c0.0x2.1x4.c1.0.1x4");
}
BOOST_AUTO_TEST_CASE(refusal_not_counted) { kept(cancel_against_grant<>, "0x2.1x7.0"); }
BOOST_AUTO_TEST_CASE(refusal_on_the_spot_not_counted) { kept(mark_against_enter<>, "1x4.0x9.2"); }
BOOST_AUTO_TEST_CASE(carried_not_handed_on) {
  kept(holder_against_wait<>, "0x2.c0.0x2.1x4.c0.1x2.0x9.1x6");
}
BOOST_AUTO_TEST_CASE(drop_not_passed_on) { kept(chain_of_drops<>, "0x9.1x7.2x5"); }
BOOST_AUTO_TEST_CASE(drop_keeps_its_count) { kept(chain_of_drops<>, "0x9.1x15.2x2.c0.2x9"); }
BOOST_AUTO_TEST_CASE(drop_forgets_under_the_lock) {
  kept(drop_against_abandon<>, "0x9.1x5.2x4.1.2");
}
BOOST_AUTO_TEST_CASE(abandon_forgets_the_flight) { kept(abandon_with_granted<>, "0x19.1x4.2x2"); }
BOOST_AUTO_TEST_CASE(abandon_keeps_the_holder) {
  kept(abandon_by_holder_from_queue<>, "0x9.1x11.2x2");
}
BOOST_AUTO_TEST_CASE(forgets_twice) { kept(drop_against_abandon<>, "0x9.1x6.2x6"); }
BOOST_AUTO_TEST_CASE(enter_ignores_closed) {
  kept(close_against_acquire<>, "0x2.c0.0x9.1x2.c1.2x5.1x6");
}
BOOST_AUTO_TEST_CASE(mark_is_lost) { kept(mark_against_enter<>, "1x4.0x3.c0.0x2.2x4"); }
BOOST_AUTO_TEST_CASE(release_without_the_lock) {
  kept(cancel_against_grant<>, "0x2.1.0x2.1x7.0x3.2x3");
}
BOOST_AUTO_TEST_CASE(release_relies_on_a_queue) {
  kept(one_release_too_many<>, "0x5.1x2.0x4.2x6.1x2.2.1x2");
}
BOOST_AUTO_TEST_CASE(release_to_the_dead) { kept(permits_that_outlive<>, "0x7.1x5.c1.2x10.1x2"); }
BOOST_AUTO_TEST_CASE(remove_ignores_the_state) { kept(cancel_against_grant<>, "0x9.1"); }
BOOST_AUTO_TEST_CASE(grants_the_heavier) { kept(heavy_head_blocks<>, "0x10"); }
BOOST_AUTO_TEST_CASE(grants_only_one) { kept(one_release_grants_several<>, "0x7.1x2.2"); }

BOOST_AUTO_TEST_SUITE_END()
