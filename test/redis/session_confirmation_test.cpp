// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The signs that the data of the server may be another one: the session has the server confirm it,
// on the same connection, and takes nothing that came before.

#include "redis/support/session_script.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

namespace {

using namespace session_script;

BOOST_AUTO_TEST_SUITE(session_confirmation_test)

BOOST_AUTO_TEST_CASE(what_comes_behind_an_emptied_server_counts_only_when_it_confirms) {
  fixture f;
  f.open();
  f.hold("y", 10);
  f.acquire("x");
  BOOST_TEST(f.sent() == "acquire x a.1:2");
  f.empty();
  BOOST_TEST(f.sent() == "open resume a.1 gen 2");
  f.push("G a.1:2 11 e");
  f.answer(holds(11));
  BOOST_TEST(f.told() == "");
  f.resumes();
  BOOST_TEST(f.told() == "");  // not connected: it has been
  BOOST_TEST(f.sent() == "beat y:1; acquire x a.1:2");
  f.answer_beat({holds(10)});
  f.answer(holds(12));
  BOOST_TEST(f.told() == "granted 2 fence 12");
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

BOOST_AUTO_TEST_CASE(the_beat_and_the_release_on_their_way_are_sent_again) {
  fixture f;
  f.open();
  claim& c = f.hold("x", 11);
  f.hold("y", 12);
  f.after(2s);
  f.s.release(f.now, c);
  BOOST_TEST(f.sent() == "beat y:2; release x a.1:1");
  f.empty();
  BOOST_TEST(f.sent() == "open resume a.1 gen 2");
  f.answer_beat({unknown()});
  f.answer_number(-1);
  BOOST_TEST(f.told() == "");
  f.resumes();
  BOOST_TEST(f.sent() == "beat y:2; release x a.1:1");
  f.answer_beat({holds(12)});
  f.answer_number(-1);
  BOOST_TEST(f.told() == "finished 1 none");  // the first one may have given it back
}

BOOST_AUTO_TEST_CASE(a_server_that_is_emptied_twice_confirms_once) {
  fixture f;
  f.open();
  f.empty();
  f.empty();
  BOOST_TEST(f.sent() == "open resume a.1 gen 2");
  f.resumes();
  BOOST_TEST(f.sent() == "beat");
}

BOOST_AUTO_TEST_CASE(a_connection_that_is_lost_before_it_confirms_has_no_answers_to_come) {
  fixture f;
  f.open();
  f.acquire("x");
  f.sent();
  f.empty();
  f.sent();
  f.cut();
  f.told();
  f.connect();
  BOOST_TEST(f.sent() == "open resume a.1 gen 3");
  f.resumes();
  BOOST_TEST(f.told() == "connected");
  BOOST_TEST(f.sent() == "beat; acquire x a.1:1");
}

BOOST_AUTO_TEST_CASE(a_shutdown_goes_on_when_the_server_confirms) {
  fixture f;
  f.open();
  f.s.shutdown(f.now);
  f.sent();
  f.empty();
  BOOST_TEST(f.sent() == "open resume a.1 gen 2");
  f.answer_number(0);
  BOOST_TEST(f.told() == "");
  f.resumes();
  BOOST_TEST(f.sent() == "shutdown a.1");
  f.answer_number(0);
  BOOST_TEST(f.told() == "disconnect; ended none");
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

}  // namespace
