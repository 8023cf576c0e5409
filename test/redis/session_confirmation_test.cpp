// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The signs that the data of the server may be another one: the session has the server confirm it,
// on the same connection, and keeps what comes before that.

#include "redis/support/session_script.hpp"
#include "support/test.hpp"

#include <asio_sync/redis/inspection.hpp>

namespace redis_session_confirmation_test {

using namespace session_script;

BOOST_AUTO_TEST_SUITE(session_confirmation_test)

BOOST_AUTO_TEST_CASE(what_comes_behind_an_emptied_server_counts_when_it_confirms) {
  fixture f;
  f.open();
  f.hold("y", 10);
  f.acquire("x");
  BOOST_TEST(f.sent() == "acquire x a.1:2");
  f.empty();
  BOOST_TEST(f.sent() == "open resume a.1 gen 2");
  f.answer(holds(11));
  BOOST_TEST(f.told() == "");
  f.resumes();
  BOOST_TEST(f.told() == "granted 2 fence 11");  // not connected: it has been
  BOOST_TEST(f.sent() == "");
}

BOOST_AUTO_TEST_CASE(what_comes_behind_an_emptied_server_does_not_count_if_the_data_is_lost) {
  for (std::string const error : {"NOSESSION no such session", "EPOCH the data is lost", ""}) {
    fixture f;
    f.open();
    f.wait("y", 10);
    f.acquire("x");
    f.sent();
    f.empty();
    f.sent();
    f.push("G a.1:1 12 e");
    f.answer(holds(11));
    error.empty() ? f.resumes("another") : f.refuse(error);
    BOOST_TEST(f.told() == "session_lost");
    BOOST_TEST(f.sent() == "open new a.2 gen 2 old a.1");
    f.opens("another");
    BOOST_TEST(f.told() == "connected; data_lost");
    BOOST_TEST(f.sent() == "beat; acquire y a.2:1 ticket 10; acquire x a.2:2");
    f.answer_beat({});
    f.answer(waits(13));
    f.answer(waits(14));
    BOOST_TEST(f.told() == "");
  }
}

// Others empty their databases all the time.
BOOST_AUTO_TEST_CASE(each_confirmation_has_what_was_sent_before_it_count) {
  fixture f;
  f.open();
  for (int i = 1; i != 10; ++i) {
    std::string const name = std::to_string(i);
    f.empty();
    f.acquire(name);
    BOOST_TEST(f.sent() == "acquire " + name + " a.1:" + name + "; open resume a.1 gen " +
                               std::to_string(i + 1));
    f.empty();
    f.answer(holds(11));
    f.empty();
    BOOST_TEST(f.told() == "");
    BOOST_TEST(f.sent() == "");
    f.resumes();
    BOOST_TEST(f.told() == "granted " + name + " fence 11");
  }
}

BOOST_AUTO_TEST_CASE(a_beat_goes_before_the_confirmation) {
  fixture f;
  f.open();
  f.hold("x", 11);
  f.after(2s);
  f.empty();
  BOOST_TEST(f.sent() == "beat x:1; open resume a.1 gen 2");
  f.answer_beat({holds(11)});
  f.acquire("y");
  f.after(2s);
  BOOST_TEST(f.sent() == "");
  f.resumes();
  BOOST_TEST(f.sent() == "beat x:1; acquire y a.1:2");
}

BOOST_AUTO_TEST_CASE(a_shutdown_that_is_alone_is_not_confirmed) {
  fixture f;
  f.open();
  claim& c = f.hold("x", 11);
  f.s.release(f.now, c);
  f.s.shutdown(f.now);
  f.empty();
  BOOST_TEST(f.sent() == "release x a.1:1; open resume a.1 gen 2");
  f.answer_number(1);
  f.resumes();
  BOOST_TEST(f.told() == "finished 1 none");
  f.empty();
  BOOST_TEST(f.sent() == "shutdown a.1");
  f.empty();
  f.answer_number(1);
  f.empty();
  BOOST_TEST(f.sent() == "shutdown a.1");
  f.answer_number(0);
  BOOST_TEST(f.told() == "disconnect; ended none");
}

BOOST_AUTO_TEST_CASE(a_beat_extends_the_session_when_the_server_confirms_it) {
  fixture f;
  f.open();
  f.after(2s);
  f.empty();
  BOOST_TEST(f.sent() == "beat; open resume a.1 gen 2");
  auto const before = f.s.valid_until();
  f.answer_beat({});
  BOOST_TEST((f.s.valid_until() == before));
  f.after(100ms);
  BOOST_TEST((f.s.next_tick() == before));  // no beat while one is unanswered
  f.resumes();
  BOOST_TEST((f.s.valid_until() == before + 2s));
  f.after(1800ms);
  BOOST_TEST(f.sent() == "");
  f.after(100ms);
  BOOST_TEST(f.sent() == "beat");
}

BOOST_AUTO_TEST_CASE(a_session_that_lapses_before_it_is_confirmed_takes_nothing) {
  fixture f;
  f.open();
  f.hold("x", 11);
  f.after(2s);
  f.empty();
  f.sent();
  f.answer_beat({holds(11)});
  f.after(4s);
  f.resumes();
  BOOST_TEST(f.told() == "session_lost; disconnect; lost 1; finished 1 lease_lost");
  BOOST_TEST((f.s.state() == session_state::offline));
}

BOOST_AUTO_TEST_CASE(grants_and_losses_that_are_pushed_keep_their_order_among_the_answers) {
  fixture f;
  f.open();
  f.hold("x", 11);
  f.wait("y", 12);
  f.acquire("z");
  f.sent();
  f.empty();
  f.sent();
  f.push("L a.1:1 11 e");
  f.push("G a.1:2 13 e");
  f.push("G a.1:2 14 another");
  f.answer(holds(15));
  f.push("L a.1:3 15 e");
  BOOST_TEST(f.told() == "");
  f.resumes();
  BOOST_TEST(f.told() == "forced; lost 1; granted 2 fence 13; granted 3 fence 15; forced; lost 3");
  BOOST_TEST(f.sent() == "forget x a.1:1; forget z a.1:3");
}

BOOST_AUTO_TEST_CASE(what_is_given_up_meanwhile_is_not_granted) {
  fixture f;
  f.open();
  claim& waits_for_y = f.wait("y", 12);
  claim& asks = f.acquire("x");
  f.sent();
  f.empty();
  f.sent();
  f.push("G a.1:1 13 e");
  f.answer(holds(14));
  f.s.forget(f.now, waits_for_y);
  f.s.forget(f.now, asks);
  BOOST_TEST(f.sent() == "");
  f.resumes();
  BOOST_TEST(f.told() == "");
  BOOST_TEST(f.sent() == "forget y a.1:1; forget x a.1:2");
  f.answer_number(1);
  f.answer_number(1);
  BOOST_TEST(f.told() == "finished 1 none; finished 2 none");
}

BOOST_AUTO_TEST_CASE(what_is_kept_has_all_that_it_refers_to) {
  fixture f;
  f.open();
  f.wait("y", 9);
  f.enter("m", 10);
  f.acquire("m");
  f.acquire("z");
  f.after(2s);
  f.inspect("x");
  BOOST_TEST(f.sent() == "beat m:2 y:1; acquire m a.1:3; acquire z a.1:4; inspect x");
  f.empty();
  f.sent();
  f.answer_beat({holds(10), holds(12)});
  {
    std::string variables = "1:n1:7", error = "KIND others use a semaphore of this name";
    asio_sync::redis::inspection found;
    f.answer(holds(13, variables));
    f.refuse(error);
    f.answer(&found);
    variables.assign(variables.size(), '-');
    error.assign(error.size(), '-');
  }
  f.resumes();
  BOOST_TEST(f.told() ==
             "granted 1 fence 12; granted 3 fence 13; server_error kind_mismatch; "
             "finished 4 kind_mismatch; answered 1 none found");
  BOOST_TEST(*f.claim_of(3).visit()->find("n") == "7");
}

// --- Records that have gone ---

// Somebody has deleted the keys of both.
BOOST_AUTO_TEST_CASE(a_hold_that_is_lost_is_told_although_another_one_has_been_before) {
  fixture f;
  f.open();
  claim &first = f.hold("x", 11), &second = f.hold("y", 12);
  f.s.release(f.now, first);
  f.s.release(f.now, second);
  BOOST_TEST(f.sent() == "release x a.1:1; release y a.1:2");
  f.answer_number(-1);
  BOOST_TEST(f.told() == "record_lost; finished 1 lease_lost");
  BOOST_TEST(f.sent() == "beat; open resume a.1 gen 2");
  f.answer_number(-1);
  f.answer_beat({});
  BOOST_TEST(f.told() == "");
  f.resumes();
  BOOST_TEST(f.told() == "record_lost; finished 2 lease_lost");
  BOOST_TEST(f.sent() == "beat");  // the data is confirmed already
}

BOOST_AUTO_TEST_CASE(a_server_that_does_not_confirm_has_lost_the_session) {
  for (std::string const error : {"NOSESSION no such session", "EPOCH the data is lost"}) {
    fixture f;
    f.open();
    f.hold("x", 11);
    f.empty();
    f.sent();
    f.refuse(error);
    BOOST_TEST(f.told() == "session_lost; lost 1; finished 1 lease_lost");
    BOOST_TEST(f.sent() == "open new a.2 gen 2 old a.1");
    f.opens("another");
    BOOST_TEST(f.told() == "connected; data_lost");
  }
}

BOOST_AUTO_TEST_CASE(a_connection_that_is_lost_before_it_confirms_has_its_commands_sent_again) {
  fixture f;
  f.open();
  claim& c = f.hold("x", 11);
  f.hold("y", 12);
  f.acquire("z");
  f.sent();
  f.after(2s);
  f.s.release(f.now, c);
  BOOST_TEST(f.sent() == "beat y:2; release x a.1:1");
  f.empty();
  BOOST_TEST(f.sent() == "open resume a.1 gen 2");
  f.answer(holds(13));
  f.push("G a.1:3 13 e");
  f.answer_beat({unknown()});
  f.cut();
  BOOST_TEST(f.told() == "disconnected");
  f.connect();
  BOOST_TEST(f.sent() == "open resume a.1 gen 3");
  f.resumes();
  BOOST_TEST(f.told() == "connected");
  BOOST_TEST(f.sent() == "beat y:2; acquire z a.1:3; release x a.1:1");
  f.answer_beat({holds(12)});
  f.answer(holds(13));
  f.answer_number(-1);
  BOOST_TEST(f.told() == "granted 3 fence 13; finished 1 none");  // it may have been given back
  f.empty();
  BOOST_TEST(f.sent() == "open resume a.1 gen 4");
  f.resumes();
  BOOST_TEST(f.told() == "");
}

// The server has no record of the hold, and says so before the connection is lost.
BOOST_AUTO_TEST_CASE(a_release_without_a_record_is_told_although_its_answer_is_lost) {
  fixture f;
  f.open();
  claim& c = f.hold("x", 11);
  f.s.release(f.now, c);
  BOOST_TEST(f.sent() == "release x a.1:1");
  f.empty();
  BOOST_TEST(f.sent() == "open resume a.1 gen 2");
  f.answer_number(-1);
  f.cut();
  f.connect();
  BOOST_TEST(f.sent() == "open resume a.1 gen 3");
  f.resumes();
  BOOST_TEST(f.told() == "disconnected; connected");
  BOOST_TEST(f.sent() == "beat; release x a.1:1");
  f.answer_beat({});
  f.answer_number(-1);
  BOOST_TEST(f.told() == "record_lost; finished 1 lease_lost");
}

BOOST_AUTO_TEST_CASE(a_force_of_nothing_is_told_although_its_answer_is_lost) {
  fixture f;
  f.open();
  f.force("x", 11);
  BOOST_TEST(f.sent() == "force x 11");
  f.empty();
  BOOST_TEST(f.sent() == "open resume a.1 gen 2");
  f.answer_number(0);
  f.cut();
  f.connect();
  f.sent();
  f.resumes();
  BOOST_TEST(f.sent() == "beat; force x 11");
  f.answer_beat({});
  f.answer_number(0);
  BOOST_TEST(f.told() == "disconnected; connected; answered 1 not_held");
}

BOOST_AUTO_TEST_CASE(a_server_that_is_emptied_twice_confirms_once) {
  fixture f;
  f.open();
  f.empty();
  f.empty();
  BOOST_TEST(f.sent() == "open resume a.1 gen 2");
  f.empty();
  f.resumes();
  BOOST_TEST((f.s.state() == session_state::open));
  BOOST_TEST(f.sent() == "");
}

BOOST_AUTO_TEST_CASE(a_shutdown_goes_on_if_the_server_does_not_confirm) {
  fixture f;
  f.open();
  claim& c = f.hold("x", 11);
  f.s.release(f.now, c);
  f.s.shutdown(f.now);
  BOOST_TEST(f.sent() == "release x a.1:1; shutdown a.1");
  f.empty();
  BOOST_TEST(f.sent() == "open resume a.1 gen 2");
  f.answer_number(1);
  f.answer_number(0);
  f.refuse("NOSESSION no such session");
  BOOST_TEST(f.told() == "");
  BOOST_TEST(f.sent() == "release x a.1:1; shutdown a.1");
  f.answer_number(1);
  f.answer_number(0);
  BOOST_TEST(f.told() == "finished 1 none; disconnect; ended none");
}

BOOST_AUTO_TEST_CASE(a_shutdown_confirms_no_session_that_is_gone) {
  fixture f;
  f.open();
  claim &first = f.hold("x", 11), &second = f.hold("y", 12);
  f.s.release(f.now, first);
  f.s.release(f.now, second);
  f.s.shutdown(f.now);
  f.empty();
  BOOST_TEST(f.sent() == "release x a.1:1; release y a.1:2; open resume a.1 gen 2");
  f.answer_number(-1);
  f.answer_number(-1);
  f.refuse("NOSESSION no such session");
  BOOST_TEST(f.sent() == "release x a.1:1; release y a.1:2; shutdown a.1");
  f.empty();
  f.answer_number(-1);
  f.answer_number(-1);
  BOOST_TEST(f.told() == "record_lost; finished 1 lease_lost; record_lost; finished 2 lease_lost");
  f.answer_number(0);
  BOOST_TEST(f.told() == "disconnect; ended none");
}

BOOST_AUTO_TEST_CASE(an_answer_of_no_script_ends_the_connection_when_its_turn_comes) {
  fixture f;
  f.open();
  f.acquire("x");
  f.acquire("y");
  f.sent();
  f.empty();
  f.sent();
  f.answer(malformed{});
  f.answer(holds(11));
  BOOST_TEST(f.told() == "");
  f.resumes();
  BOOST_TEST(f.told() == "disconnect; disconnected protocol_error");
  f.connect();
  f.sent();
  f.resumes();
  BOOST_TEST(f.sent() == "beat; acquire x a.1:1; acquire y a.1:2");
}

// The next session has the tokens of the same counters, and of the same epoch.
BOOST_AUTO_TEST_CASE(what_is_kept_of_a_lost_session_is_never_taken) {
  fixture f;
  f.open();
  f.acquire("x");
  f.sent();
  f.empty();
  f.sent();
  f.answer(holds(11));
  f.refuse("NOSESSION no such session");
  f.told();
  BOOST_TEST(f.sent() == "open new a.2 gen 2 old a.1");
  f.opens();
  BOOST_TEST(f.sent() == "beat; acquire x a.2:1");
  f.empty();
  BOOST_TEST(f.sent() == "open resume a.2 gen 3");
  f.answer_beat({});
  f.answer(waits(12));
  f.resumes();
  BOOST_TEST(f.told() == "connected");
  BOOST_TEST((f.claim_of(1).state() == claim_state::waiting));
}

// --- Limits ---

BOOST_AUTO_TEST_CASE(commands_whose_answers_are_kept_count_as_unanswered) {
  fixture f;
  f.open();
  for (int i = 0; i != 300; ++i) f.acquire("x");
  f.sent();
  f.empty();
  for (int i = 0; i != 256; ++i) {
    f.answer(waits(std::uint64_t(100 + i)));
    if (i == 100) BOOST_TEST(f.sent() == "open resume a.1 gen 2");  // no other one has room
  }
  BOOST_TEST(f.sent() == "");
  f.resumes();
  f.empty();
  request r;
  for (int i = 0; i != 44; ++i) {
    BOOST_TEST_REQUIRE(f.s.next(f.now, r));
    BOOST_TEST((r.what() == script::acquire));
  }
  BOOST_TEST(f.sent() == "open resume a.1 gen 3");
}

BOOST_AUTO_TEST_CASE(a_server_that_pushes_without_end_loses_the_connection) {
  fixture f;
  f.open();
  f.enter("m", 10);
  f.empty();
  f.sent();
  std::string const push = "G a.1:1 10 e " + std::string(4 << 20, 'v');
  for (int i = 0; i != 7; ++i) f.push(push);
  BOOST_TEST(f.told() == "");
  f.push(push);
  BOOST_TEST(f.told() == "disconnect; disconnected server_error");
  f.connect();
  f.sent();
  f.push(push);  // nothing is kept on a connection that is new
  f.resumes();
  BOOST_TEST(f.told() == "connected");
}

BOOST_AUTO_TEST_CASE(a_session_that_is_not_open_has_nothing_to_confirm) {
  fixture f;
  f.empty();
  f.connect();
  f.empty();
  BOOST_TEST(f.sent() == "open new a.1 gen 1");
  f.empty();
  f.opens();
  BOOST_TEST(f.told() == "connected");
}

BOOST_AUTO_TEST_CASE(the_greatest_number_of_the_epoch_is_sent_with_open_and_beat) {
  fixture f;
  f.open();
  f.hold("x", 21);
  f.wait("y", 19);
  f.wait("z", 24);
  f.push("G a.1:2 30 another");  // of other data
  f.push("G a.1:2 27 e");
  request r;
  f.after(2s);
  BOOST_TEST(f.s.next(f.now, r));
  BOOST_TEST(r[4] == "27");
  f.answer_beat({waits(24), holds(21), holds(27)});
  f.cut();
  f.connect();
  BOOST_TEST(f.s.next(f.now, r));
  BOOST_TEST((r[3] == "e" && r[4] == "27"));
  f.refuse("EPOCH the data is lost");
  BOOST_TEST(f.s.next(f.now, r));
  BOOST_TEST((r[3] == "e" && r[4] == "27"));
  f.opens("another");
  BOOST_TEST(f.s.next(f.now, r));
  BOOST_TEST((r[3] == "another" && r[4] == "0"));
}

// The server's clock has gone back, so the counter of the new epoch is below the old tickets.
BOOST_AUTO_TEST_CASE(a_ticket_of_an_earlier_epoch_is_no_number_of_this_one) {
  fixture f;
  f.open();
  f.wait("x", 24);
  f.cut();
  f.connect();
  f.sent();
  f.refuse("EPOCH the data is lost");
  f.sent();
  f.opens("another");
  BOOST_TEST(f.sent() == "beat; acquire x a.2:1 ticket 24");
  f.answer_beat({});
  f.answer(waits(24));
  f.after(2s);
  request r;
  BOOST_TEST(f.s.next(f.now, r));
  BOOST_TEST(r[4] == "0");
  f.answer_beat({holds(25)});
  f.after(2s);
  BOOST_TEST(f.s.next(f.now, r));
  BOOST_TEST(r[4] == "25");
}

BOOST_AUTO_TEST_CASE(data_of_another_version_of_the_protocol_ends_the_run) {
  fixture f;
  f.connect();
  f.sent();
  f.refuse("VERSION the data is of another version of the protocol");
  BOOST_TEST(f.told() == "server_error version; disconnect; ended version");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_session_confirmation_test
