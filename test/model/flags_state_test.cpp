// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Flags as the auto-reset event and the mailbox use them, in every interleaving.

#include "flags_state_end_scenarios.hpp"
#include "flags_state_scenarios.hpp"

#include <boost/test/unit_test.hpp>

using namespace flags_model;

BOOST_AUTO_TEST_SUITE(flags_state_event)

BOOST_AUTO_TEST_CASE(R1_set_against_a_wait_that_begins) { explore(set_against_wait); }
BOOST_AUTO_TEST_CASE(R1_set_against_two_waits_that_begin) { explore(set_against_two_waits); }
BOOST_AUTO_TEST_CASE(R7_two_sets_with_three_queued) { explore(two_sets_with_three_queued); }
BOOST_AUTO_TEST_CASE(R7_set_against_reset_against_a_wait) {
  explore(set_against_reset_against_wait);
}
BOOST_AUTO_TEST_CASE(R1_a_released_wait_waits_again) { explore(waits_again); }
BOOST_AUTO_TEST_CASE(R4_set_against_cancel_of_the_oldest) {
  explore(set_against_cancel_of_the_oldest);
}
BOOST_AUTO_TEST_CASE(R3_a_chain_of_drops) { explore(chain_of_drops); }

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(flags_state_mailbox)

BOOST_AUTO_TEST_CASE(R1_raise_against_waits_that_look) { explore(raise_against_looks); }
BOOST_AUTO_TEST_CASE(R7_two_takers_of_one_flag) {
  explore([] { two_takers_of_one_flag(false); });
}
BOOST_AUTO_TEST_CASE(R7_two_takers_of_one_flag_beside_others) {
  explore([] { two_takers_of_one_flag(true); });
}
BOOST_AUTO_TEST_CASE(R7_raise_beside_those_who_wait_for_others) { explore(raise_beside_others); }
BOOST_AUTO_TEST_CASE(R7_those_who_wait_for_others_go_away) { explore(others_go_away); }
BOOST_AUTO_TEST_CASE(R7_those_who_wait_for_others_go_away_as_two_raise) {
  explore(others_go_away_as_two_raise);
}
BOOST_AUTO_TEST_CASE(R7_raise_against_takes_of_a_part) { explore(raise_against_takes_of_a_part); }
BOOST_AUTO_TEST_CASE(R14_all_of_two_raises_looked_at) {
  explore([] { all_of_two_raises(all(a | b)); });
}
BOOST_AUTO_TEST_CASE(R14_all_of_two_raises_taken) {
  explore([] { all_of_two_raises(take_all(a | b)); });
}
BOOST_AUTO_TEST_CASE(R7_who_waits_for_all_reserves_nothing) { explore(any_beside_all); }
BOOST_AUTO_TEST_CASE(R7_those_who_look_come_before_those_who_take) { explore(looks_before_takes); }
BOOST_AUTO_TEST_CASE(R7_a_look_behind_the_last_take) { explore(look_behind_the_last_take); }

BOOST_AUTO_TEST_CASE(R3_drop_against_raise) { explore(drop_against_raise); }
BOOST_AUTO_TEST_CASE(R3_drop_against_take) {
  explore([] { drop_against_take(false); });
}
BOOST_AUTO_TEST_CASE(R3_drop_after_a_take) {
  explore([] { drop_against_take(true); });
}
BOOST_AUTO_TEST_CASE(R3_drop_against_close) { explore(drop_against_close); }
BOOST_AUTO_TEST_CASE(R3_drop_against_destruction) { explore(drop_against_destruction); }
BOOST_AUTO_TEST_CASE(R3_drop_of_a_wait_that_looked) { explore(drop_of_a_look); }

BOOST_AUTO_TEST_CASE(R14_raise_of_what_is_up) {
  explore([] { published(false); });
}
BOOST_AUTO_TEST_CASE(R14_raise_of_what_is_up_beside_others) {
  explore([] { published(true); });
}
BOOST_AUTO_TEST_CASE(R14_raise_seen_by_a_try) {
  explore([] { published_to_a_try(false); });
}
BOOST_AUTO_TEST_CASE(R14_raise_seen_by_a_try_beside_others) {
  explore([] { published_to_a_try(true); });
}
BOOST_AUTO_TEST_CASE(R14_raise_seen_from_the_queue) {
  explore([] { published_to_the_queue(all(a)); });
}
BOOST_AUTO_TEST_CASE(R14_raise_taken_from_the_queue) {
  explore([] { published_to_the_queue(take_any(a | b)); });
}

BOOST_AUTO_TEST_CASE(R4_raise_against_cancel_of_some) { explore(raise_against_cancel_if); }
BOOST_AUTO_TEST_CASE(R11_a_mark_against_enter) {
  explore([] { mark_against_enter(b); });
}
BOOST_AUTO_TEST_CASE(R11_a_mark_against_enter_against_raise) {
  explore([] { mark_against_enter(a); });
}

BOOST_AUTO_TEST_CASE(R18_close_against_raise_and_a_wait) { explore(close_against_raise_and_wait); }
BOOST_AUTO_TEST_CASE(R18_close_against_enter) { explore(close_against_enter); }

BOOST_AUTO_TEST_CASE(R9_destroyed_by_a_released_wait) {
  explore([] { destroyed_by_a_released_wait(false); });
}
BOOST_AUTO_TEST_CASE(R9_destroyed_by_a_released_wait_with_another_dropped) {
  explore([] { destroyed_by_a_released_wait(true); });
}
BOOST_AUTO_TEST_CASE(R9_destroyed_by_who_finds_a_flag) {
  explore([] { destroyed_by_who_finds_a_flag(false); });
}
BOOST_AUTO_TEST_CASE(R9_destroyed_by_who_finds_a_flag_beside_others) {
  explore([] { destroyed_by_who_finds_a_flag(true); });
}
BOOST_AUTO_TEST_CASE(R9_destroyed_with_released_waits_on_their_way) {
  explore(destroyed_with_released_on_their_way);
}
BOOST_AUTO_TEST_CASE(R9_destroyed_with_queued_waits) { explore(destroyed_with_queued); }

BOOST_AUTO_TEST_SUITE_END()
