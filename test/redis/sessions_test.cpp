// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Sessions: how they begin, live, are spoken for and end; loss of data, generation, epoch, gate.

#include "redis/support/fixture.hpp"
#include "support/test.hpp"

namespace redis_sessions_test {

using namespace asio_sync::test::redis;

constexpr std::int64_t a_minute = 60'000;

BOOST_FIXTURE_TEST_SUITE(sessions_test, callers)

BOOST_AUTO_TEST_CASE(first_open_makes_the_epoch_and_the_counter) {
  admin({"FLUSHALL"});
  auto const answer = a.open();
  BOOST_TEST(answer.elements[0].number == 1);
  BOOST_TEST(answer.elements[1].text.starts_with("2."));
  BOOST_TEST(answer.elements[1].text.ends_with(".60000"));
  BOOST_TEST(answer.elements[2].number == -1);
  BOOST_TEST(admin({"GET", "as:epoch"}).text == a.epoch);
  BOOST_TEST(std::stoll(admin({"GET", "as:f"}).text) > 1'000'000'000'000'000);
  BOOST_TEST(admin({"GET", a.session()}).text == "1|" + a.epoch + "|60000|test");
  BOOST_TEST(admin({"PTTL", a.session()}).number > a_minute - 5000);
  BOOST_TEST(admin({"SISMEMBER", "as:all", a.sid()}).number == 1);
}

BOOST_AUTO_TEST_CASE(later_open_keeps_the_epoch_and_the_counter) {
  auto const counter = admin({"GET", "as:f"}).text;
  ++a.incarnation;
  BOOST_TEST(a.open().elements[1].text == b.epoch);
  BOOST_TEST(admin({"GET", "as:f"}).text == counter);
}

BOOST_AUTO_TEST_CASE(open_replaces_the_old_session_and_frees_what_it_held) {
  a.acquire("x", 1);
  b.acquire("x", 1);
  auto const old = a.sid();
  ++a.incarnation;
  BOOST_TEST(a.open(old).elements[0].number == 1);
  BOOST_TEST(admin({"EXISTS", "as:s:" + old}).number == 0);
  BOOST_TEST(b.link.pushes().size() == 1);
  BOOST_TEST(admin({"EXISTS", "as:o:" + old}).number == 0);
  BOOST_TEST(admin({"SISMEMBER", "as:all", old}).number == 0);
}

BOOST_AUTO_TEST_CASE(gate_is_made_with_a_new_epoch_and_lets_nothing_in) {
  admin({"FLUSHALL"});
  a.gate = b.gate = true;
  BOOST_TEST(a.open().elements[2].number > a_minute - 5000);
  BOOST_TEST(b.open().elements[2].number > a_minute - 5000);
  auto const waits = a.acquire("x", 1);
  BOOST_TEST(queued(waits));
  BOOST_TEST(hint(waits) > a_minute - 5000);
  auto const tries = b.acquire("x", 1, {.attempt = true});
  BOOST_TEST(unknown(tries));
  BOOST_TEST(hint(tries) > a_minute - 5000);
  BOOST_TEST(queued(b.acquire("x", 2)));
  admin({"DEL", "as:gate"});
  BOOST_TEST(granted(b.beat({{"x", {2}}})) == false);
  BOOST_TEST(a.link.pushes().size() == 1);
  BOOST_TEST(granted(a.beat({{"x", {1}}})));
}

BOOST_AUTO_TEST_CASE(gate_keeps_dead_holders_in_their_place) {
  a.acquire("x", 1);
  b.acquire("x", 1);
  a.die();
  admin({"SET", "as:gate", "1"});
  b.beat({{"x", {1}}});
  a.forget("x", 9);
  BOOST_TEST(queued(b.acquire("x", 1)));
  BOOST_TEST(admin({"HLEN", "as:{x}:h"}).number == 1);
  admin({"DEL", "as:gate"});
  BOOST_TEST(granted(b.acquire("x", 1)));
}

BOOST_AUTO_TEST_CASE(gate_lets_holders_release_but_grants_to_nobody) {
  a.acquire("x", 1);
  b.acquire("x", 1);
  admin({"SET", "as:gate", "1"});
  BOOST_TEST(a.release("x", 1).number == 1);
  BOOST_TEST(queued(b.acquire("x", 1)));
  BOOST_TEST(b.link.pushes().empty());
}

BOOST_AUTO_TEST_CASE(config_without_gate_makes_none) {
  admin({"FLUSHALL"});
  a.open();
  b.gate = true;
  b.open();
  BOOST_TEST(admin({"EXISTS", "as:gate"}).number == 0);
}

BOOST_AUTO_TEST_CASE(another_max_ttl_is_refused_whatever_the_run_of_the_server) {
  a.max_ttl = 50000;
  BOOST_TEST(a.open().text == "MAXTTL the server has max_session_ttl 60000");
  run_anew();
  BOOST_TEST(a.open().code() == "MAXTTL");
  BOOST_TEST(a.resume().code() == "MAXTTL");
  BOOST_TEST(admin({"GET", "as:epoch"}).text == b.epoch);
}

BOOST_AUTO_TEST_CASE(another_run_makes_a_new_epoch_gate_and_greater_numbers) {
  auto const before = number(a.acquire("x", 1));
  run_anew();
  b.gate = true;
  ++b.incarnation;
  auto const answer = b.open();
  BOOST_TEST(b.epoch != a.epoch);
  BOOST_TEST(b.epoch == "2." + admin({"GET", "as:f"}).text + ".60000");
  BOOST_TEST(answer.elements[2].number > a_minute - 5000);
  BOOST_TEST(a.beat().code() == "EPOCH");
  BOOST_TEST(a.acquire("y", 2).code() == "EPOCH");
  auto const waits = b.acquire("x", 1);
  BOOST_TEST(queued(waits));
  BOOST_TEST(number(waits) > before);
  BOOST_TEST(a.release("x", 1).number == -1);
  admin({"DEL", "as:gate"});
  BOOST_TEST(granted(b.beat({{"x", {1}}})));
}

BOOST_AUTO_TEST_CASE(free_capacity_of_an_earlier_epoch_is_not_used) {
  auto const permits = [](std::int64_t weight) {
    return acquisition{.kind = "semaphore", .capacity = 3, .weight = weight};
  };
  a.acquire("x", 1, permits(1));
  run_anew();
  ++b.incarnation;
  b.open();
  BOOST_TEST(granted(b.acquire("x", 1, permits(1))));
  BOOST_TEST(queued(b.acquire("x", 2, permits(3))));
  BOOST_TEST(granted(b.acquire("y", 3)));
}

BOOST_AUTO_TEST_CASE(counter_that_is_ahead_of_the_clock_stays_ahead) {
  admin({"SET", "as:f", "9000000000000000"});
  run_anew();
  ++a.incarnation;
  a.open();
  BOOST_TEST(admin({"GET", "as:f"}).text == "9000000000000001");
  BOOST_TEST(number(a.acquire("x", 1)) == 9000000000000002);
}

BOOST_AUTO_TEST_CASE(epoch_that_is_missing_ends_every_session) {
  a.acquire("x", 1);
  admin({"DEL", "as:epoch"});
  BOOST_TEST(a.beat().code() == "EPOCH");
  BOOST_TEST(a.acquire("y", 2).code() == "EPOCH");
  BOOST_TEST(a.release("x", 1).number == -1);
  BOOST_TEST(a.resume().code() == "EPOCH");
  BOOST_TEST(admin({"EXISTS", a.session()}).number == 0);
  BOOST_TEST(admin({"EXISTS", "as:epoch"}).number == 1);
}

BOOST_AUTO_TEST_CASE(epoch_without_the_run_that_it_was_made_in_is_made_anew) {
  admin({"DEL", "as:run"});
  BOOST_TEST(a.resume().code() == "EPOCH");
  BOOST_TEST(admin({"GET", "as:run"}).text.ends_with(" -"));
}

BOOST_AUTO_TEST_CASE(data_of_another_version_is_refused_and_not_touched) {
  for (std::string const epoch : {"run.1.60000", "3.1", "of somebody"}) {
    admin({"SET", "as:epoch", epoch});
    BOOST_TEST(a.open().text == "VERSION the data is of another version of the protocol");
    BOOST_TEST(a.resume().code() == "VERSION");
    BOOST_TEST(admin({"GET", "as:epoch"}).text == epoch);
  }
}

// What the server has answered is not in an older copy of its data.
BOOST_AUTO_TEST_CASE(counter_below_a_number_that_was_answered_is_a_loss_of_data) {
  auto const old = admin({"GET", "as:f"}).text;
  a.greatest = b.greatest = number(a.acquire("x", 1));
  BOOST_TEST(!a.beat().is_error());
  BOOST_TEST(!(++a.gen, a.resume()).is_error());
  admin({"SET", "as:f", old});
  BOOST_TEST(a.beat().text == "EPOCH the data of the server is an older copy");
  BOOST_TEST(!c.beat().is_error());
  ++b.gen;
  BOOST_TEST(b.resume().code() == "EPOCH");
  BOOST_TEST(std::stoll(admin({"GET", "as:f"}).text) > b.greatest);
  BOOST_TEST(c.beat().code() == "EPOCH");
}

BOOST_AUTO_TEST_CASE(new_session_knows_what_the_last_one_was_answered) {
  a.greatest = number(a.acquire("x", 1));
  admin({"SET", "as:f", std::to_string(a.greatest - 1)});
  auto const old = a.epoch;
  ++a.incarnation;
  BOOST_TEST(!a.open().is_error());
  BOOST_TEST(a.epoch != old);
}

// They are compared within one epoch alone.
BOOST_AUTO_TEST_CASE(number_of_another_epoch_is_no_loss_of_data) {
  a.greatest = 9000000000000000;
  a.epoch = "2.1.60000";
  ++a.incarnation;
  a.open();
  BOOST_TEST(a.epoch == b.epoch);
}

BOOST_AUTO_TEST_CASE(counter_that_is_missing_is_no_loss_of_data) {
  a.greatest = number(a.acquire("x", 1));
  admin({"DEL", "as:f"});
  BOOST_TEST(!a.beat().is_error());
  BOOST_TEST(!(++a.gen, a.resume()).is_error());
}

BOOST_AUTO_TEST_CASE(flushed_server_answers_that_there_is_no_session) {
  a.acquire("x", 1);
  admin({"FLUSHALL"});
  BOOST_TEST(a.beat().text == "NOSESSION no such session");
  BOOST_TEST(a.acquire("x", 1).code() == "NOSESSION");
  BOOST_TEST(a.release("x", 1).number == -1);
  BOOST_TEST(a.forget("x", 1).number == 0);
  BOOST_TEST(keys("*").empty());
  BOOST_TEST(a.resume().code() == "NOSESSION");
  BOOST_TEST(keys("*").size() == 3);
}

BOOST_AUTO_TEST_CASE(resume_takes_the_session_over_and_does_not_extend_it) {
  a.acquire("x", 1);
  admin({"PEXPIRE", a.session(), "5000"});
  ++a.gen;
  auto const answer = a.resume();
  BOOST_TEST(answer.elements[0].number == 0);
  BOOST_TEST(answer.elements[1].text == a.epoch);
  BOOST_TEST(answer.elements[2].number == -1);
  BOOST_TEST(admin({"PTTL", a.session()}).number <= 5000);
  BOOST_TEST(admin({"PTTL", a.session()}).number > 0);
  BOOST_TEST(granted(a.acquire("x", 1)));
  BOOST_TEST(admin({"GET", a.session()}).text == "2|" + a.epoch + "|60000|test");
}

BOOST_AUTO_TEST_CASE(bytes_of_an_older_connection_are_refused) {
  a.gen = 2;
  a.resume();
  a.gen = 1;
  BOOST_TEST(a.beat().text == "STALE a newer connection speaks for this session");
  BOOST_TEST(a.acquire("x", 1).code() == "STALE");
  BOOST_TEST(a.resume().code() == "STALE");
  BOOST_TEST(admin({"GET", a.session()}).text.starts_with("2|"));
  a.gen = 10;
  BOOST_TEST(!a.resume().is_error());
  a.gen = 9;
  BOOST_TEST(a.resume().code() == "STALE");
  BOOST_TEST(keys("as:{x}:*").empty());
}

BOOST_AUTO_TEST_CASE(copy_of_a_client_does_not_get_its_session) {
  ++a.gen;
  BOOST_TEST(!a.resume().is_error());
  BOOST_TEST(a.resume().text == "STALE a newer connection speaks for this session");
  BOOST_TEST(a.open().text == "STALE another client has opened this session");
  BOOST_TEST(!a.beat().is_error());
}

BOOST_AUTO_TEST_CASE(generation_that_was_never_told_is_stale) {
  a.gen = 2;
  BOOST_TEST(a.beat().code() == "STALE");
}

BOOST_AUTO_TEST_CASE(resume_of_an_ended_session_makes_none) {
  a.die();
  BOOST_TEST(a.resume().text == "NOSESSION no such session");
  BOOST_TEST(admin({"EXISTS", a.session()}).number == 0);
}

BOOST_AUTO_TEST_CASE(resume_of_a_session_of_an_earlier_epoch_ends_it) {
  run_anew();
  ++b.incarnation;
  b.open();
  BOOST_TEST(a.resume().code() == "EPOCH");
  BOOST_TEST(a.resume().code() == "NOSESSION");
}

BOOST_AUTO_TEST_CASE(resume_makes_the_epoch_anew_when_the_server_runs_anew) {
  run_anew();
  a.gate = true;
  BOOST_TEST(a.resume().text == "EPOCH the data of the server has been lost");
  BOOST_TEST(admin({"GET", "as:epoch"}).text != a.epoch);
  BOOST_TEST(admin({"PTTL", "as:gate"}).number > a_minute - 5000);
  BOOST_TEST(admin({"EXISTS", a.session()}).number == 0);
}

BOOST_AUTO_TEST_CASE(command_of_another_epoch_is_refused_although_the_session_lives) {
  a.epoch = "2.1.60000";
  BOOST_TEST(a.beat().text == "EPOCH the data of the server has been lost");
  BOOST_TEST(a.acquire("x", 1).code() == "EPOCH");
}

BOOST_AUTO_TEST_CASE(session_of_another_epoch_is_refused_whatever_its_command_says) {
  admin({"SET", a.session(), "1|2.1.60000|60000|", "KEEPTTL"});
  BOOST_TEST(a.beat().code() == "EPOCH");
  BOOST_TEST(a.acquire("x", 1).code() == "EPOCH");
}

BOOST_AUTO_TEST_CASE(beat_extends_the_session) {
  admin({"PEXPIRE", a.session(), "5000"});
  BOOST_TEST(a.beat().elements.empty());
  BOOST_TEST(admin({"PTTL", a.session()}).number > a_minute - 5000);
  a.die();
  BOOST_TEST(a.beat().code() == "NOSESSION");
  BOOST_TEST(admin({"EXISTS", a.session()}).number == 0);
}

BOOST_AUTO_TEST_CASE(beat_answers_the_state_of_each_token_in_order) {
  auto const fence = number(a.acquire("x", 1));
  b.acquire("y", 1);
  auto const ticket = number(a.acquire("y", 2));
  auto const m = a.beat({{"y", {3, 2}}, {"x", {1}}, {"none", {4}}});
  BOOST_REQUIRE(m.elements.size() == 12);
  auto const at = [&](std::size_t i) { return m.elements[i].number; };
  BOOST_TEST((at(0) == -1 && at(1) == 0 && at(2) == -1));
  BOOST_TEST((at(3) == 0 && at(4) == ticket && at(5) > a_minute - 5000));
  BOOST_TEST((at(6) == 1 && at(7) == fence && at(8) == -1));
  BOOST_TEST((at(9) == -1 && at(10) == 0 && at(11) == -1));
  BOOST_TEST(keys("as:{none}:*").empty());
}

BOOST_AUTO_TEST_CASE(beat_may_name_an_object_twice) {
  a.acquire("x", 1);
  a.acquire("x", 2);
  b.acquire("x", 1);
  a.forget("x", 1);
  auto const m = a.beat({{"x", {1}}, {"x", {2}}});
  BOOST_TEST(m.elements.at(0).number == -1);
  BOOST_TEST(m.elements.at(3).number == 1);
}

BOOST_AUTO_TEST_CASE(beat_forgets_the_answers_that_have_been_read) {
  admin({"HSET", "as:o:" + a.sid(), "sx", "1 0", "sy", "2 0"});
  a.beat({}, {"x"});
  BOOST_TEST(admin({"HEXISTS", "as:o:" + a.sid(), "sx"}).number == 0);
  BOOST_TEST(admin({"HEXISTS", "as:o:" + a.sid(), "sy"}).number == 1);
  a.die();
  while (!keys("as:o:*").empty()) b.beat();
  BOOST_TEST(admin({"SISMEMBER", "as:all", a.sid()}).number == 0);
}

BOOST_AUTO_TEST_CASE(beat_puts_a_lost_session_back_into_the_set) {
  admin({"DEL", "as:all"});
  a.beat();
  BOOST_TEST(admin({"SISMEMBER", "as:all", a.sid()}).number == 1);
}

BOOST_AUTO_TEST_CASE(sweep_clears_a_dead_session_away_and_grants) {
  a.acquire("x", 1);
  a.acquire("y", 2);
  b.acquire("x", 1);
  a.die();
  for (int i = 0; i != 1000 && admin({"SISMEMBER", "as:all", a.sid()}).number == 1; ++i) c.beat();
  BOOST_TEST(admin({"SISMEMBER", "as:all", a.sid()}).number == 0);
  BOOST_TEST(b.link.pushes().size() == 1);
  BOOST_TEST(keys("as:o:" + a.sid()).empty());
  BOOST_TEST(keys("as:{y}:*").empty());
}

BOOST_AUTO_TEST_CASE(sweep_is_not_stopped_by_keys_of_another_type) {
  a.acquire("x", 1);
  a.acquire("y", 2);
  a.die();
  admin({"DEL", "as:{x}:h"});
  admin({"SET", "as:{x}:h", "of somebody"});
  admin({"SADD", "as:all", "z.1"});
  admin({"SET", "as:o:z.1", "of somebody"});
  for (int i = 0; i != 1000 && admin({"SCARD", "as:all"}).number > 2; ++i)
    BOOST_TEST(!b.beat().is_error());
  BOOST_TEST(admin({"SCARD", "as:all"}).number == 2);
  BOOST_TEST(keys("as:{y}:*").empty());
  BOOST_TEST(admin({"GET", "as:{x}:h"}).text == "of somebody");
  BOOST_TEST(admin({"GET", "as:o:z.1"}).text == "of somebody");
}

BOOST_AUTO_TEST_CASE(shutdown_ends_the_session_and_gives_everything_back) {
  a.acquire("x", 1);
  b.acquire("x", 1);
  a.acquire("x", 2);
  BOOST_TEST(a.shutdown().number == 0);
  BOOST_TEST(b.link.pushes().size() == 1);
  BOOST_TEST(a.link.pushes().empty());
  BOOST_TEST(admin({"EXISTS", a.session()}).number == 0);
  BOOST_TEST(admin({"SISMEMBER", "as:all", a.sid()}).number == 0);
  BOOST_TEST(keys("as:o:" + a.sid()).empty());
  BOOST_TEST(admin({"HGET", "as:{x}:m", "n"}).text == "0");
  BOOST_TEST(a.shutdown().number == 0);
}

BOOST_AUTO_TEST_CASE(shutdown_works_in_batches) {
  for (int i = 0; i != 300; ++i) a.acquire("x" + std::to_string(i), i);
  int calls = 1;
  auto const left = [&] { return admin({"HLEN", "as:o:" + a.sid()}).number; };
  for (auto before = left(); a.shutdown().number == 1; before = left()) {
    BOOST_TEST(before - left() <= 64);
    BOOST_TEST(before - left() > 0);
    ++calls;
  }
  BOOST_TEST(calls >= 5);
  BOOST_TEST(calls < 50);
  BOOST_TEST(keys("as:{*").empty());
}

BOOST_AUTO_TEST_CASE(shutdown_grants_nothing_to_its_own_waits) {
  for (int i = 0; i != 100; ++i) a.acquire("x", i);
  while (a.shutdown().number == 1) continue;
  BOOST_TEST(a.link.pushes().empty());
  BOOST_TEST(keys("as:{*").empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_sessions_test
