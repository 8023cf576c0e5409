// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Events as lines of a log.

#include "support/test.hpp"

#include <asio_sync/redis/config.hpp>
#include <asio_sync/redis/detail/session/session_host.hpp>
#include <asio_sync/redis/error.hpp>

namespace redis_event_test {

using asio_sync::redis::event;
using kind = event::kind;
using namespace std::chrono_literals;

std::string line_of(event const& e) {
  std::ostringstream out;
  out << e;
  return out.str();
}

BOOST_AUTO_TEST_SUITE(event_test)

BOOST_AUTO_TEST_CASE(an_event_is_one_line) {
  boost::system::error_code const refused(1, boost::asio::error::get_misc_category());
  BOOST_TEST(line_of({kind::connected, {}, {}}) == "connected");
  BOOST_TEST(line_of({kind::connect_failed, refused, "attempt 3: no"}) ==
             "connect_failed: attempt 3: no [asio.misc:1]");
  BOOST_TEST(line_of({kind::gated, {}, {}, 6000ms}) == "gated (6000 ms)");
  BOOST_TEST(line_of({kind::held_too_long, {}, "two\nlines\x7f \xc3\xa4", 5ms}) ==
             "held_too_long: two?lines? \xc3\xa4 (5 ms)");
  BOOST_TEST(line_of({kind::disconnected, asio_sync::redis::error::not_a_master, "READONLY"}) ==
             "disconnected: READONLY [asio_sync.redis:3]");
}

BOOST_AUTO_TEST_CASE(each_kind_has_a_name) {
  static_assert(to_string(kind::connect_failed) == "connect_failed");
  BOOST_TEST(to_string(kind::connected) == "connected");
  BOOST_TEST(to_string(kind::server_error) == "server_error");
  BOOST_TEST(to_string(static_cast<kind>(99)) == "unknown event");
}

// The kinds of the session are cast to them.
BOOST_AUTO_TEST_CASE(the_session_has_the_same_kinds) {
  using told = asio_sync::redis::detail::session_event::kind;
  auto const same = [](told a, kind b) { return static_cast<kind>(a) == b; };
  BOOST_TEST(same(told::connected, kind::connected));
  BOOST_TEST(same(told::connect_failed, kind::connect_failed));
  BOOST_TEST(same(told::disconnected, kind::disconnected));
  BOOST_TEST(same(told::session_lost, kind::session_lost));
  BOOST_TEST(same(told::late_heartbeat, kind::late_heartbeat));
  BOOST_TEST(same(told::gated, kind::gated));
  BOOST_TEST(same(told::data_lost, kind::data_lost));
  BOOST_TEST(same(told::held_too_long, kind::held_too_long));
  BOOST_TEST(same(told::forced_release, kind::forced_release));
  BOOST_TEST(same(told::server_error, kind::server_error));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_event_test
