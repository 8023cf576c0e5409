// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The words of refusals: events name the object and both values, and exceptions say a reason once.

#include "redis/support/connection.hpp"
#include "redis/support/world.hpp"
#include "support/test.hpp"

namespace redis_words_test {

using namespace asio_sync::test::redis;
using asio_sync::redis::async_shared_mutex;
using redis_error = asio_sync::redis::error;

// The error and the text of the first event about a refusal.
struct told {
  explicit told(world& w) {
    BOOST_TEST_REQUIRE(w.soon([&] { return w.events.has(event::kind::server_error); }));
    event const e = *w.events.find(event::kind::server_error);
    error = e.error;
    text = e.text;
  }
  error_code error;
  std::string text;
};

template <class Function>
std::string text_of(Function f) {
  try {
    static_cast<void>(f());
  } catch (boost::system::system_error const& e) {
    return e.what();
  }
  return {};
}

BOOST_AUTO_TEST_SUITE(words_test)

BOOST_AUTO_TEST_CASE(another_number_of_permits_is_told_with_both) {
  world w;
  async_semaphore three(w.io, w.c, "uploads", 3), four(w.io, w.c, "uploads", 4);
  semaphore_permit const held = three.acquire();
  std::string const text = text_of([&] { return four.acquire(); });
  BOOST_TEST(
      text.starts_with("asio_sync::redis::async_semaphore::acquire: \"uploads\": others use "
                       "another capacity or max_session_ttl ["));
  told const e(w);
  BOOST_TEST((e.error == asio_sync::error::configuration_mismatch));
  BOOST_TEST(e.text == "semaphore \"uploads\": others use 3 permits, this one 4");
}

BOOST_AUTO_TEST_CASE(another_kind_is_told_with_both) {
  world w;
  async_mutex mutex(w.io, w.c, "x");
  async_shared_mutex shared(w.io, w.c, "x");
  lock_type const held = mutex.lock();
  BOOST_TEST(!text_of([&] { return shared.lock(); }).empty());
  told const e(w);
  BOOST_TEST((e.error == asio_sync::error::kind_mismatch));
  BOOST_TEST(e.text.starts_with("shared_mutex \"x\": others use a mutex of this name"));
}

BOOST_AUTO_TEST_CASE(a_name_forges_no_line_of_a_log_and_cuts_no_text) {
  world w;
  async_semaphore s(w.io, w.c, std::string("a\0b\n", 4), 3);
  std::string const text = text_of([&] { return s.acquire(4); });
  BOOST_TEST(text.starts_with("asio_sync::redis::async_semaphore::acquire: \"a?b?\": n < 0 or"));
}

BOOST_AUTO_TEST_CASE(a_key_of_another_type_is_told_with_the_words_of_the_server) {
  world w;
  connection(w.s.socket())({"SET", "as:{x}:q", "a text"});
  async_mutex m(w.io, w.c, "x");
  std::string const text = text_of([&] { return m.lock(); });
  BOOST_TEST(
      text.starts_with("asio_sync::redis::async_mutex::lock: \"x\": the server has answered"));
  told const e(w);
  BOOST_TEST((e.error == redis_error::server_error));
  BOOST_TEST(e.text.starts_with("mutex \"x\": "));
  BOOST_TEST(e.text.find("WRONGTYPE") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_words_test
