// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Shutdowns that find nothing to give back, and the words of the operations behind one.

#include "redis/support/world.hpp"
#include "support/test.hpp"

namespace redis_shutdown_test {

using namespace asio_sync::test::redis;
using redis_error = asio_sync::redis::error;

// Returns the text of the exception, without the place where it was made.
template <class Function>
std::string thrown_by(Function f) {
  try {
    static_cast<void>(f());
  } catch (boost::system::system_error const& e) {
    BOOST_TEST(e.code() == aborted);
    return e.what();
  }
  return {};
}

bool names_the_client(std::string const& text) {
  return text.starts_with(
      "asio_sync::redis::async_mutex::lock: \"x\": the client was shut down or destroyed: ");
}

struct idle {
  server s;
  asio::io_context io;
  asio::thread_pool pool{1};
};

BOOST_FIXTURE_TEST_SUITE(shutdown_test, idle)

BOOST_AUTO_TEST_CASE(a_shutdown_without_a_run_ends_waits_and_has_no_error) {
  client c(pool.get_executor(), quick(s));
  async_mutex m(io, c, "x");
  outcome<lock_type> queued, late;
  m.async_lock(queued.handler());
  c.async_shutdown(asio::use_future).get();
  c.async_shutdown(asio::use_future).get();
  BOOST_TEST(soon(io, [&] { return queued.calls != 0; }));
  BOOST_TEST(queued.refused(aborted));
  BOOST_TEST(names_the_client(thrown_by([&] { return m.lock(); })));
  auto run = c.async_run(asio::use_future);
  m.async_lock(late.handler());
  BOOST_TEST(soon(io, [&] { return late.calls != 0; }));
  BOOST_TEST(late.granted());
  c.async_shutdown(asio::use_future).get();
  run.get();
  c.async_shutdown(asio::use_future).get();
}

BOOST_AUTO_TEST_CASE(a_shutdown_after_a_stop_ends_the_waits_that_are_left) {
  world w;
  async_mutex m(w.io, w.c, "x");
  lock_type const held = w.lock(m);
  outcome<lock_type> left;
  m.async_lock(left.handler());
  w.c.stop();
  BOOST_TEST(w.soon([&] { return w.run.calls != 0; }));
  BOOST_TEST(left.calls == 0);
  w.c.async_shutdown(asio::use_future).get();
  BOOST_TEST(w.soon([&] { return left.calls != 0; }));
  BOOST_TEST(left.refused(aborted));
}

BOOST_AUTO_TEST_CASE(a_shutdown_after_a_final_error_has_none_and_keeps_that_error) {
  server const locked({"--requirepass", "secret"});
  config settings = quick(locked);
  settings.password = "wrong";
  client c(pool.get_executor(), settings);
  async_mutex m(io, c, "x");
  BOOST_CHECK_THROW(c.async_run(asio::use_future).get(), boost::system::system_error);
  c.async_shutdown(asio::use_future).get();
  outcome<lock_type> late;
  m.async_lock(late.handler());
  BOOST_TEST(soon(io, [&] { return late.calls != 0; }));
  BOOST_TEST(late.refused(error_code(redis_error::access_denied)));
}

BOOST_AUTO_TEST_CASE(a_blocked_thread_hears_that_it_was_the_client) {
  world w;
  async_mutex m(w.io, w.c, "x");
  lock_type const held = w.lock(m);
  auto blocked =
      std::async(std::launch::async, [&] { return thrown_by([&] { return m.lock(); }); });
  BOOST_TEST(w.soon([&] { return m.waiters() != 0; }));
  w.c.async_shutdown(asio::use_future).get();
  BOOST_TEST(names_the_client(blocked.get()));
  BOOST_TEST(names_the_client(thrown_by([&] { return m.lock(); })));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_shutdown_test
