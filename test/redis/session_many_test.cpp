// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Many waits of one session: what is unanswered is limited, a beat waits for nothing, and each
// wait is named in time.

#include "support/session_script.hpp"
#include "support/test.hpp"

#include <asio_sync/redis/detail/wire/resp.hpp>

namespace redis_session_many_test {

using namespace session_script;

struct many : fixture {
  many() { open(); }

  // Sends what may be sent. Returns the number of bytes on the connection.
  std::size_t send() {
    requests.clear();
    std::size_t bytes = 0;
    for (request r; s.next(now, r); bytes += r.wire_size()) requests.push_back(r);
    return bytes;
  }

  // Lets claims wait, for object after object.
  void wait_many(int count, int objects) {
    for (int i = 0; i != count; ++i) {
      acquire("x" + std::to_string(i % objects));
      send();
      answer(waits(11));
    }
  }

  // Answers a beat, with one state for all of its tokens. Returns them as "<object>:<counter>".
  std::vector<std::string> beat(token_state const& state = waits(11)) {
    send();
    BOOST_REQUIRE(requests.size() == 1u);
    request const& r = requests.front();
    BOOST_REQUIRE((r.what() == script::beat));
    std::vector<std::string> named;
    for (std::size_t i = 7; i != r.size();) {
      std::string const object(r[i++]);
      for (std::size_t n = std::stoul(std::string(r[i++])); n != 0; --n)
        named.push_back(object + ':' + std::string(r[i++]));
    }
    answer_beat(std::vector<token_state>(named.size(), state));
    return named;
  }

  std::vector<request> requests;
};

BOOST_FIXTURE_TEST_SUITE(session_many_test, many)

// --- What is unanswered ---

BOOST_AUTO_TEST_CASE(a_request_knows_its_size_on_the_connection) {
  acquire("an object");
  acquire(std::string(200, 'x'));
  send();
  BOOST_TEST(requests.size() == 2u);
  for (request const& r : requests) {
    std::string const digest(40, 'd');
    std::vector<std::string_view> arguments{"EVALSHA", digest, "0"};
    for (std::size_t i = 0; i != r.size(); ++i) arguments.push_back(r[i]);
    std::string out;
    resp::append_command(out, arguments);
    BOOST_TEST(r.wire_size() == out.size());
  }
}

BOOST_AUTO_TEST_CASE(commands_wait_while_256_are_unanswered) {
  for (int i = 0; i != 300; ++i) hold("x", 11);
  for (std::size_t i = 1; i <= 300; ++i) s.release(now, claim_of(i));
  send();
  BOOST_TEST(requests.size() == 256u);
  send();
  BOOST_TEST(requests.empty());
  answer_number(1);
  answer_number(1);
  send();
  BOOST_TEST(requests.size() == 2u);
}

BOOST_AUTO_TEST_CASE(commands_wait_while_64_kilobytes_are_unanswered) {
  for (int i = 0; i != 1000; ++i) acquire(std::string(512, 'x'));
  std::size_t const bytes = send();
  BOOST_TEST(bytes <= 65536u);
  BOOST_TEST(bytes > 65536u - 1000);
  answer(waits(11));
  send();
  BOOST_TEST(requests.size() == 1u);
}

// The server remembers 64 exits at least, and a forgotten one could not be sent again.
BOOST_AUTO_TEST_CASE(exits_wait_while_32_are_unanswered) {
  for (int i = 0; i != 40; ++i) enter("m" + std::to_string(i), 11);
  for (std::size_t i = 1; i <= 40; ++i) s.exit(now, claim_of(i));
  send();
  BOOST_TEST(requests.size() == 32u);
  answer_number(1);
  send();
  BOOST_TEST(requests.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_lost_connection_leaves_nothing_unanswered) {
  for (int i = 0; i != 1000; ++i) acquire("x");
  send();
  std::size_t const first = requests.size();
  reconnect();
  send();
  BOOST_TEST(requests.size() == first + 1);  // with a beat
  lose_session();
  send();
  BOOST_TEST(requests.size() == first + 1);
}

BOOST_AUTO_TEST_CASE(a_command_above_the_limit_goes_alone) {
  claim& inside = enter("m", 11);
  claim& mutex = hold("x", 12);
  inside.visit()->set("v", std::string(100'000, 'v'));
  s.release(now, mutex);
  s.exit(now, inside);
  acquire("y");
  send();
  BOOST_TEST(requests.size() == 1u);
  answer_number(1);
  BOOST_TEST(send() > 100'000u);
  BOOST_TEST(requests.size() == 1u);
  answer_number(1);
  send();
  BOOST_TEST(requests.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_beat_waits_for_no_room) {
  for (int i = 0; i != 1000; ++i) acquire("x");
  send();
  after(2s);
  send();
  BOOST_TEST(requests.size() == 1u);
  BOOST_TEST((requests.front().what() == script::beat));
}

// --- Beats ---

// Each of them is named once in an interval, and no beat has more than its share.
void check_interval(many& f, std::size_t waits, std::size_t beats) {
  f.after(2s);
  std::map<std::string, int> named;
  std::size_t sent = 0;
  for (auto const end = f.now + 2s; f.now < end; f.now = f.s.next_tick(), ++sent) {
    auto const tokens = f.beat();
    BOOST_TEST(tokens.size() <= 1008u);
    for (std::string const& each : tokens) ++named[each];
  }
  BOOST_TEST(named.size() == waits);
  BOOST_TEST(std::all_of(named.begin(), named.end(), [](auto& each) { return each.second == 1; }));
  BOOST_TEST(sent <= beats);
}

BOOST_AUTO_TEST_CASE(all_waits_of_an_object_are_named_in_an_interval) {
  wait_many(10'000, 1);
  check_interval(*this, 10'000, 10);
}

BOOST_AUTO_TEST_CASE(all_waits_of_many_objects_are_named_in_an_interval) {
  wait_many(10'000, 100);
  check_interval(*this, 10'000, 11);
}

BOOST_AUTO_TEST_CASE(waits_on_many_objects_are_named_when_they_are_due) {
  for (auto const at : {1000ms, 1500ms, 500ms}) {
    acquire("x" + std::to_string(at.count()));
    send();
    answer(waits(11, at - 1ms));
  }
  for (std::string const each : {"x500:3", "x1000:1", "x1500:2"}) {
    after(500ms);
    BOOST_TEST(beat() == std::vector{each}, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(waits_that_begin_during_a_round_are_named_in_an_interval) {
  wait_many(3000, 1);
  after(2s);
  beat();
  wait_many(3000, 1);
  std::set<std::string> named;
  for (auto const end = now + 2s; now < end; now = s.next_tick())
    if (now >= s.next_tick()) {
      auto const tokens = beat();
      named.insert(tokens.begin(), tokens.end());
    }
  for (int i = 3001; i <= 6000; ++i) BOOST_TEST(named.count("x0:" + std::to_string(i)) == 1u);
}

BOOST_AUTO_TEST_CASE(a_round_goes_on_earlier_when_waits_multiply) {
  wait_many(1100, 1);
  after(2s);
  beat();
  after(100ms);
  wait_many(10'000, 1);
  std::set<std::string> named;
  for (auto const end = now + 2s; (now = std::max(now, s.next_tick())) < end;) {
    auto const tokens = beat();
    named.insert(tokens.begin(), tokens.end());
  }
  for (int i = 1101; i <= 11'100; ++i) BOOST_REQUIRE(named.count("x0:" + std::to_string(i)) == 1u);
}

BOOST_AUTO_TEST_CASE(a_hint_does_not_wait_for_a_round_of_many_waits) {
  wait_many(10'000, 1);
  acquire("y");
  send();
  answer(waits(11, 1999ms));
  after(2s);
  auto const named = beat();
  BOOST_TEST(std::count(named.begin(), named.end(), "y:10001") == 1);
  BOOST_TEST(named.size() == 1008u);
}

BOOST_AUTO_TEST_CASE(a_hint_during_a_round_names_its_object_before_the_round_goes_on) {
  wait_many(10'000, 1);
  after(2s);
  beat();
  acquire("y");
  send();
  answer(waits(11, 9ms));
  BOOST_TEST((s.next_tick() == now + 10ms));
  after(10ms);
  BOOST_TEST(beat() == std::vector<std::string>{"y:10001"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_hint_that_passes_while_a_beat_is_unanswered_makes_no_beat_late) {
  wait("x", 11);
  after(1500ms);
  acquire("y");
  send();
  answer(waits(12, 800ms));
  after(500ms);
  BOOST_TEST(sent() == "beat x:1");
  after(800ms);
  answer_beat({waits(11)});
  BOOST_TEST(sent() == "beat y:2");
  BOOST_TEST(told() == "");
}

BOOST_AUTO_TEST_CASE(hints_for_an_object_do_not_end_its_round) {
  wait_many(10'000, 1);
  after(2s);
  std::set<std::string> named;
  for (auto const end = now + 2s; now < end; now = s.next_tick()) {
    auto const tokens = beat(waits(11, 5ms));
    named.insert(tokens.begin(), tokens.end());
  }
  BOOST_TEST(named.size() == 10'000u);
}

BOOST_AUTO_TEST_CASE(waits_that_are_granted_leave_a_round) {
  wait_many(3000, 1);
  after(2s);
  beat();
  for (int i = 1; i <= 3000; ++i) {
    push("G a.1:" + std::to_string(i) + " 20 e");
    s.release(now, claim_of(static_cast<std::size_t>(i)));
    send();
    answer_number(1);
  }
  BOOST_TEST(s.size() == 0u);
  after(2s);
  BOOST_TEST(beat().empty());
}

BOOST_AUTO_TEST_CASE(all_waits_are_named_after_a_resume) {
  wait_many(3000, 1);
  after(2s);
  beat();
  cut();
  connect();
  send();
  resumes();
  std::set<std::string> named;
  for (int i = 0; i != 3; ++i, now = s.next_tick()) {
    auto const tokens = beat();
    named.insert(tokens.begin(), tokens.end());
  }
  BOOST_TEST(named.size() == 3000u);
}

BOOST_AUTO_TEST_CASE(many_holds_of_one_object_are_named_in_rotation) {
  for (int i = 0; i != 3000; ++i) hold("x", 11);
  hold("y", 11);
  std::set<std::string> named;
  for (int i = 0; i != 3; ++i) {
    after(2s);
    auto const tokens = beat(holds(11));
    BOOST_TEST(tokens.size() <= 1024u);
    named.insert(tokens.begin(), tokens.end());
  }
  BOOST_TEST(named.size() == 3001u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_session_many_test
