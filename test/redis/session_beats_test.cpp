// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Beats: when they are sent, and which claims they name.

#include "support/session_script.hpp"
#include "support/test.hpp"

namespace redis_session_beats_test {

using namespace session_script;

BOOST_AUTO_TEST_SUITE(session_beats_test)

// --- Beats ---

BOOST_AUTO_TEST_CASE(a_beat_is_sent_in_every_third_of_a_life) {
  fixture f;
  f.open();
  for (int i = 0; i != 3; ++i) {
    BOOST_TEST((f.s.next_tick() == f.now + 2s));
    f.after(1999ms);
    BOOST_TEST(f.sent() == "");
    f.after(1ms);
    BOOST_TEST(f.sent() == "beat");
    f.answer_beat({});
  }
}

BOOST_AUTO_TEST_CASE(one_beat_is_outstanding) {
  fixture f;
  f.open();
  f.after(2s);
  BOOST_TEST(f.sent() == "beat");
  f.after(2500ms);
  BOOST_TEST(f.sent() == "");
  f.answer_beat({});
  BOOST_TEST(f.sent() == "beat");
  BOOST_TEST(f.told() == "");  // the client is not to blame
}

BOOST_AUTO_TEST_CASE(a_beat_that_is_late_is_told) {
  fixture f;
  f.open();
  f.after(2300ms);
  f.sent();
  BOOST_TEST(f.told() == "");
  f.answer_beat({});
  f.after(2301ms);
  f.sent();
  BOOST_TEST(f.told() == "late 301 ms");
}

BOOST_AUTO_TEST_CASE(a_waiter_is_named_when_the_server_has_asked_for_it) {
  fixture f;
  f.open();
  f.acquire("x");
  f.sent();
  f.answer(waits(11, 300ms));
  BOOST_TEST((f.s.next_tick() == f.now + 301ms));
  f.after(301ms);
  BOOST_TEST(f.sent() == "beat x:1");
  f.answer_beat({waits(11, 0ms)});
  f.after(1ms);
  BOOST_TEST(f.sent() == "beat x:1");
  f.answer_beat({waits(11)});
  BOOST_TEST((f.s.next_tick() == f.now + 2s));
}

BOOST_AUTO_TEST_CASE(waiters_are_named_at_once_after_a_resume) {
  fixture f;
  f.open();
  f.wait("x", 11);
  f.after(100ms);
  f.cut();
  f.connect();
  f.sent();
  f.resumes();
  BOOST_TEST(f.sent() == "beat x:1");
}

BOOST_AUTO_TEST_CASE(a_hold_that_the_server_does_not_confirm_is_lost) {
  for (token_state const state : {unknown(), waits(12), holds(12)}) {
    fixture f;
    f.open();
    f.hold("x", 11);
    f.after(2s);
    f.sent();
    f.answer_beat({state});
    BOOST_TEST(f.told() == "record_lost; lost 1");
    BOOST_TEST(f.sent() == "beat; forget x a.1:1; open resume a.1 gen 2");
    f.answer_beat({});
    f.answer_number(0);
    f.resumes();
    BOOST_TEST(f.told() == "finished 1 lease_lost");
  }
}

BOOST_AUTO_TEST_CASE(a_beat_says_nothing_of_a_hold_that_was_released_after_it) {
  fixture f;
  f.open();
  claim& c = f.hold("x", 11);
  f.after(2s);
  BOOST_TEST(f.sent() == "beat x:1");
  f.s.release(f.now, c);
  BOOST_TEST(f.sent() == "release x a.1:1");
  f.answer_beat({unknown()});
  BOOST_TEST(f.told() == "");
}

BOOST_AUTO_TEST_CASE(a_wait_that_the_server_does_not_know_asks_again_with_its_ticket) {
  fixture f;
  f.open();
  f.wait("x", 11);
  f.after(2s);
  f.sent();
  f.answer_beat({unknown()});
  BOOST_TEST(f.told() == "");
  BOOST_TEST(f.sent() == "acquire x a.1:1 ticket 11");
}

BOOST_AUTO_TEST_CASE(a_claim_whose_acquire_is_unanswered_is_not_named) {
  fixture f;
  f.open();
  f.after(1999ms);
  f.acquire("x");
  BOOST_TEST(f.sent() == "acquire x a.1:1");
  f.after(1ms);
  BOOST_TEST(f.sent() == "beat");
}

// --- Many tokens ---

std::size_t groups(std::string const& beat) {
  return static_cast<std::size_t>(std::count(beat.begin(), beat.end(), ':'));
}
std::size_t tokens(std::string const& beat) {
  return static_cast<std::size_t>(std::count(beat.begin(), beat.end(), ',')) + groups(beat);
}

BOOST_AUTO_TEST_CASE(beats_that_name_many_objects_are_spread_over_the_interval) {
  fixture f;
  f.open();
  for (int i = 0; i != 1000; ++i) f.wait("x" + std::to_string(i), 11);
  f.after(2s);
  std::vector<std::size_t> beats;
  for (auto const end = f.now + 2s; f.now < end; f.now = f.s.next_tick())
    if (std::string const beat = f.sent(); !beat.empty()) {
      beats.push_back(groups(beat));
      f.answer_beat(std::vector<token_state>(tokens(beat), waits(11)));
    }
  std::vector<std::size_t> expected(15, 63);
  expected.push_back(55);
  BOOST_TEST(beats == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(waits_that_begin_shortly_after_one_another_share_a_beat) {
  fixture f;
  f.open();
  for (int i = 0; i != 50; ++i) {
    f.wait("x", 11);
    f.after(1ms);
  }
  f.after(1950ms);
  BOOST_TEST(tokens(f.sent()) == 50u);
  f.answer_beat(std::vector<token_state>(50, waits(11)));
  BOOST_TEST((f.s.next_tick() == f.now + 2s));
}

BOOST_AUTO_TEST_CASE(a_beat_has_at_most_1008_waiters) {
  fixture f;
  f.open();
  for (int i = 0; i != 1500; ++i) f.wait(i % 2 != 0 ? "x" : "y", 11);
  f.after(2s);
  std::string const first = f.sent();
  BOOST_TEST(tokens(first) == 1008u);
  BOOST_TEST(groups(first) == 2u);
  f.answer_beat(std::vector<token_state>(1008, waits(11)));
  BOOST_TEST((f.s.next_tick() == f.now + 1s));
  f.after(1s);
  BOOST_TEST(tokens(f.sent()) == 492u);
}

BOOST_AUTO_TEST_CASE(a_waiter_does_not_wait_for_others_to_be_named_when_it_is_due) {
  fixture f;
  f.open();
  for (int i = 0; i != 65; ++i) f.wait("x" + std::to_string(i), 11);
  f.after(2s);
  BOOST_TEST(groups(f.sent()) == 63u);
  std::vector<token_state> states(63, waits(11));
  states[5].hint = 10ms;
  f.answer_beat(states);
  BOOST_TEST((f.s.next_tick() == f.now + 11ms));
  f.after(11ms);
  BOOST_TEST(groups(f.sent()) == 1u);
}

BOOST_AUTO_TEST_CASE(a_waiter_that_is_due_comes_before_those_that_are_early) {
  fixture f;
  f.open();
  for (int i = 0; i != 63; ++i) f.wait("early " + std::to_string(i), 11);
  f.acquire("x");
  f.sent();
  f.answer(waits(11, 1899ms));
  f.after(1900ms);
  std::string const beat = f.sent();
  BOOST_TEST(beat.find("x:64") != beat.npos);
  BOOST_TEST(beat.find("early 61:") != beat.npos);
}

BOOST_AUTO_TEST_CASE(holds_are_named_in_rotation) {
  fixture f;
  f.open();
  std::set<std::string> named;
  for (int i = 0; i != 150; ++i) f.hold("x" + std::to_string(i), 11);
  for (int i = 0; i != 3; ++i) {
    f.after(2s);
    std::string const beat = f.sent();
    BOOST_TEST(groups(beat) == 64u);
    std::istringstream words(beat);
    for (std::string word; words >> word;) named.insert(word);
    f.answer_beat(std::vector<token_state>(64, holds(11)));
  }
  BOOST_TEST(named.size() == 151u);  // with the word beat
}

BOOST_AUTO_TEST_CASE(holds_are_named_although_waiters_fill_the_beats) {
  for (int const objects : {1, 63, 64, 128, 200}) {
    fixture f;
    f.open();
    for (int i = 0; i != 2048; ++i) f.wait("x" + std::to_string(i % objects), 11);
    claim const& held = f.hold("y", 12);
    f.hold("z", 13);
    std::size_t named = 0;
    for (auto const end = f.now + 20s; f.now < end; f.now = f.s.next_tick())
      if (std::string const beat = f.sent(); !beat.empty()) {
        named += beat.find(" y:2049") != std::string::npos;
        std::vector<token_state> states;
        std::istringstream words(beat);
        std::string word;
        for (words >> word; words >> word;)
          states.insert(states.end(), std::size_t(std::count(word.begin(), word.end(), ',')) + 1,
                        word[0] == 'y'   ? holds(12)
                        : word[0] == 'z' ? holds(13)
                                         : waits(11));
        f.answer_beat(states);
      }
    BOOST_TEST(named >= 4u);
    BOOST_TEST((held.state() == claim_state::holding));
  }
}

BOOST_AUTO_TEST_CASE(waiters_come_before_holds) {
  fixture f;
  f.open();
  for (int i = 0; i != 64; ++i) f.hold("x" + std::to_string(i), 11);
  f.wait("y", 12);
  f.after(2s);
  BOOST_TEST(f.sent().find("y:65") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_session_beats_test
