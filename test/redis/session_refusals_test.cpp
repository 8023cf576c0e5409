// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Servers that refuse to serve a client: what ends the run, what is an outage, and what is told.

#include "redis/support/session_script.hpp"
#include "support/test.hpp"

namespace redis_session_refusals_test {

using namespace session_script;

constexpr failure reasons[] = {failure::access_denied, failure::unsupported_server,
                               failure::evicting_policy, failure::server_error};

struct refusals : fixture {
  void refuse_handshake(failure why) { s.refused(now, "no", why); }

  // Loses the connection of an open session.
  void lose() {
    cut();
    told();
  }

  // Lets another connection resume the session.
  void resume() {
    connect();
    sent();
    resumes();
  }
};

BOOST_FIXTURE_TEST_SUITE(session_refusals_test, refusals)

BOOST_AUTO_TEST_CASE(a_refusal_before_the_first_session_ends_the_run) {
  for (failure const why : reasons) {
    refusals f;
    f.acquire("x");
    f.refuse_handshake(why);
    std::string const name(text_of(why));
    BOOST_TEST(f.told() == "server_error " + name + "; finished 1 " + name + "; ended " + name);
  }
}

BOOST_AUTO_TEST_CASE(a_replica_before_the_first_session_is_an_outage) {
  acquire("x");
  refuse_handshake(failure::not_a_master);
  BOOST_TEST(told() == "disconnect; connect_failed 1 not_a_master");
  refuse_handshake(failure::not_a_master);
  BOOST_TEST(told() == "disconnect");
  connect();
  BOOST_TEST(sent() == "open new a.1 gen 1");
}

BOOST_AUTO_TEST_CASE(a_refusal_behind_the_first_session_is_told_once_until_a_connection_stands) {
  open();
  hold("x", 11);
  lose();
  s.connect_failed(now, "cut");
  BOOST_TEST(told() == "connect_failed 1");
  for (failure const why : reasons) {
    refuse_handshake(why);
    BOOST_TEST(told().starts_with("disconnect; connect_failed "));
    refuse_handshake(why);
    BOOST_TEST(told() == "disconnect");
  }
  s.connect_failed(now, "cut");
  BOOST_TEST(told() == "connect_failed 10");
  resume();
  BOOST_TEST(told() == "connected");
  lose();
  refuse_handshake(failure::access_denied);
  BOOST_TEST(told() == "disconnect; connect_failed 1 access_denied");
}

BOOST_AUTO_TEST_CASE(a_refusal_in_the_next_run_is_of_a_client_without_a_session) {
  open();
  s.stop();
  s.run();
  told();
  refuse_handshake(failure::access_denied);
  BOOST_TEST(told() == "server_error access_denied; ended access_denied");
}

BOOST_AUTO_TEST_CASE(an_open_that_is_refused_is_a_refusal) {
  for (std::string const text :
       {"NOPERM no", "NOAUTH no", "ERR unknown command 'EVALSHA'", "WRONGTYPE of a key"}) {
    refusals f;
    f.open();
    f.lose();
    f.connect();
    f.sent();
    f.refuse(text);
    BOOST_TEST(f.told().starts_with("disconnect; connect_failed 1 "), text);
    f.connect();
    f.sent();
    f.refuse(text);
    BOOST_TEST(f.told() == "disconnect", text);
    f.resume();
    BOOST_TEST(f.told() == "connected", text);
  }
}

BOOST_AUTO_TEST_CASE(another_version_or_longest_life_is_final_at_any_time) {
  for (std::string const code : {"VERSION", "MAXTTL"})
    for (bool const has_opened : {false, true}) {
      refusals f;
      if (has_opened) f.open();
      if (has_opened) f.lose();
      f.connect();
      f.sent();
      f.refuse(code + " another");
      BOOST_TEST((f.s.state() == session_state::stopped), code);
    }
}

BOOST_AUTO_TEST_CASE(a_beat_that_is_denied_is_a_lost_connection) {
  open();
  hold("x", 11);
  after(2s);
  sent();
  refuse("NOPERM no permission");
  BOOST_TEST(told() == "disconnect; disconnected access_denied");
  resume();
  BOOST_TEST(told() == "connected");
  BOOST_TEST(sent() == "beat x:1");
}

BOOST_AUTO_TEST_CASE(an_object_that_is_denied_fails_its_operations_alone) {
  for (std::string const text :
       {"NOPERM no", "ERR The user executing the script can't access at least one of the keys",
        "ERR The user executing the script can't run this command",
        "ERR ACL failure in script:"}) {
    refusals f;
    f.open();
    f.hold("x", 11);
    f.wait("y", 12);
    f.acquire("z");
    f.sent();
    f.refuse(text);
    BOOST_TEST(f.told() == "server_error access_denied; finished 3 access_denied", text);
    f.after(2s);
    BOOST_TEST(f.sent() == "beat x:1 y:2");
  }
}

BOOST_AUTO_TEST_CASE(a_notification_or_a_release_that_is_denied_fails_alone) {
  open();
  claim& held = hold("x", 11);
  notify("x", "k", 1);
  sent();
  refuse("NOPERM no");
  BOOST_TEST(told() == "server_error access_denied; answered 1 access_denied");
  s.release(now, held);
  sent();
  refuse("NOPERM no");
  BOOST_TEST(told() == "server_error access_denied; failed 1 access_denied");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_session_refusals_test
