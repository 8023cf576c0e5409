// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// What the interleavings have found, in faulty cores: the schedules, replayed on the right one.

#include "permit_state_guard_scenarios.hpp"
#include "permit_state_weighted_scenarios.hpp"

#include <boost/test/unit_test.hpp>

#include <string_view>

namespace {

using namespace permit_model;

// Is found, and again by its schedule; the right core survives the one that is kept.
void finds(void (*broken)(), void (*right)(), std::string_view schedule) {
  auto const found = model::explore({.spurious_failures = true, .quiet = true}, broken);
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

BOOST_AUTO_TEST_SUITE(permit_state_faulty_parts)

BOOST_AUTO_TEST_CASE(no_lock) {
  finds(neighbours_cancelled<unlocked>, neighbours_cancelled<>, "0x6.2x3.1x6.2x6");
}
BOOST_AUTO_TEST_CASE(always_somebody_queued) {
  finds(three_waits<sticky>, three_waits<>, "0x2.c0.0x7.c1.1x6.0x7.1x8.2x5");
}

BOOST_AUTO_TEST_SUITE_END()

// Each of these faults is put into the core by `./dev mutants`, which has its case fail.
BOOST_AUTO_TEST_SUITE(permit_state_faults)

BOOST_AUTO_TEST_CASE(last_come_first_served) { kept(cancel_against_grant<>, "0x4"); }
BOOST_AUTO_TEST_CASE(no_look_at_the_new_head) { kept(cancel_of_a_heavy_head<>, "0x8.1.2x5"); }
BOOST_AUTO_TEST_CASE(waiting_not_cleared) {
  kept(three_waits<>, "0x2.c0.0x7.c0.1x2.c0.1x7.c1.1.2x6.1x6.2x7");
}
BOOST_AUTO_TEST_CASE(waiting_cleared_early) { kept(cancel_against_grant<>, "0x8.1x7.c0.2"); }
BOOST_AUTO_TEST_CASE(try_barges_in) {
  kept(tries_behind_a_heavy_head<>, "0x3.1x2.c0.0x4.1x7.c1.3x8.1x3.2x5");
}
BOOST_AUTO_TEST_CASE(try_by_a_guard_not_counted) {
  kept([] { guard_against_abandon<>(false); }, "0x3.c0.1x5");
}
BOOST_AUTO_TEST_CASE(grant_counted_twice) {
  kept(try_then_grant<>, "0x2.c0.0x8.c0.1x2.c0.1x8.c0");
}
BOOST_AUTO_TEST_CASE(enter_does_not_look_again) {
  kept(holder_against_wait<>, "0x2.c0.0x3.c1.0.1x3.0.1x4");
}
BOOST_AUTO_TEST_CASE(enter_ignores_closed) {
  kept(close_against_acquire<>, "0x3.c0.0x7.c0.1x3.c1.2x5.1x6");
}
BOOST_AUTO_TEST_CASE(refusal_not_counted) { kept(cancel_against_grant<>, "0x2.1x8.0"); }
BOOST_AUTO_TEST_CASE(refusal_on_the_spot_not_counted) { kept(mark_against_enter<>, "1x4.0x10.2"); }
BOOST_AUTO_TEST_CASE(mark_is_lost) { kept(mark_against_enter<>, "1x4.0x3.c0.0x2.2x4"); }
BOOST_AUTO_TEST_CASE(remove_ignores_the_state) { kept(cancel_against_grant<>, "0x8.1"); }
BOOST_AUTO_TEST_CASE(carried_not_handed_on) {
  kept(holder_against_wait<>, "0x2.c0.0x3.c1.0.1x6.0x7.1x6");
}
BOOST_AUTO_TEST_CASE(hand_over_adds_no_count) {
  kept(holder_against_wait<>, "0x2.c0.0x3.c1.0.1x6.0x7.1x5");
}
BOOST_AUTO_TEST_CASE(release_without_the_lock) {
  kept(cancel_against_grant<>, "0x2.1.0.1x7.0x3.2x3");
}
BOOST_AUTO_TEST_CASE(release_relies_on_a_queue) {
  kept(one_release_too_many<>, "0x2.1x2.2x8.0x2");
}
BOOST_AUTO_TEST_CASE(guard_gives_back_to_the_dead) { kept(guard_ends_last<>, "0x9.1x6.c0"); }
BOOST_AUTO_TEST_CASE(unlock_of_a_guards_hold) {
  kept(member_against_the_last_guard<>, "0x2.c0.1.2x2.c0.2x7.c1.2.1x2");
}
BOOST_AUTO_TEST_CASE(unlock_of_a_grant_on_its_way) { kept(member_against_guards<>, "0x13.1.2x8"); }
BOOST_AUTO_TEST_CASE(adopts_from_a_guard) {
  kept(member_against_the_last_guard<>, "0x2.c0.2x2.c0.2x7.c1.2.1x2");
}
BOOST_AUTO_TEST_CASE(adopts_a_grant_on_its_way) { kept(member_against_guards<>, "0x13.1.2x10"); }
BOOST_AUTO_TEST_CASE(holder_changed_without_the_lock) {
  kept([] { unlock_against_adopt<>(true); }, "0x4.1x2.c0.1x3.0x4.1x4");
}
BOOST_AUTO_TEST_CASE(holder_changed_by_an_old_word) {
  kept([] { guard_released_against_abandon<>(true); }, "0x2.1x7.2x2.0");
}
BOOST_AUTO_TEST_CASE(drop_not_passed_on) { kept(chain_of_drops<>, "0x8.1x6.2x5"); }
BOOST_AUTO_TEST_CASE(drop_keeps_its_count) { kept(chain_of_drops<>, "0x8.1x12.2x2.c0.2x7"); }
BOOST_AUTO_TEST_CASE(drop_forgets_under_the_lock) {
  kept(drop_against_abandon<>, "0x7.1x4.2x4.1x2.2");
}
BOOST_AUTO_TEST_CASE(forgets_twice) { kept(drop_against_abandon<>, "0x7.1x5.2x6"); }
BOOST_AUTO_TEST_CASE(abandon_drops_the_holder) { kept(guard_ends_last<>, "0x10.1x4"); }
BOOST_AUTO_TEST_CASE(grants_the_heavier) { kept(heavy_head_blocks<>, "0x17.c0.0.1x3.2x3"); }
BOOST_AUTO_TEST_CASE(batch_forgets_the_rest) { kept(one_release_grants_several<>, "0x7.1x3.2"); }
BOOST_AUTO_TEST_CASE(surplus_of_a_drop_is_held) {
  kept(drop_against_releases<>, "0.1x3.c0.1.2x3.c0.2.0x5");
}
BOOST_AUTO_TEST_CASE(held_permits_not_counted) { kept(permits_that_outlive<>, "0x9.1x6.c0.2x8"); }
BOOST_AUTO_TEST_CASE(free_permits_counted) { kept(one_release_grants_several<>, "0x14.1x3.2x3"); }
BOOST_AUTO_TEST_CASE(end_sees_no_release) {
  kept(permits_that_outlive<>, "1x4.2x5.0x2.c0.1x2.c0.2x8");
}
BOOST_AUTO_TEST_CASE(forgotten_permits_are_held) {
  kept(one_release_grants_several<>, "0x14.1x3.2x3");
}
BOOST_AUTO_TEST_CASE(supply_not_counted) { kept(one_release_grants_several<>, "0x14.1x3.2x3"); }
BOOST_AUTO_TEST_CASE(kept_above_the_maximum) {
  kept(one_release_too_many<weighted>, "0x7.1x3.c0.1.2x10.c0.2");
}
BOOST_AUTO_TEST_CASE(release_publishes_nothing) {
  kept(holder_against_wait<>, "0x2.c0.0x3.c0.1x2.c0.1x4");
}
BOOST_AUTO_TEST_CASE(try_acquires_nothing) { kept(holder_against_wait<>, "0x2.c1.1x9.0"); }
BOOST_AUTO_TEST_CASE(last_count_not_ordered) { kept(drop_against_abandon<>, "0x7.1x5.2x5"); }
BOOST_AUTO_TEST_CASE(grants_only_one) { kept(one_release_grants_several<>, "0x7.1x3.2"); }
BOOST_AUTO_TEST_CASE(permits_counted_without_the_lock) {
  kept(tries_behind_a_heavy_head<>, "0x7.2x8.c0.1x2.c0.1x2.3x2.c0.3x9.c1.3x4");
}

BOOST_AUTO_TEST_SUITE_END()
