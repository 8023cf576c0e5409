// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The code in doc/redis.md that goes on after errors, and what that page says of waits that do not
// end.

#include "support/test.hpp"

#include <asio_sync/async_manual_reset_event.hpp>
#include <asio_sync/redis.hpp>

#include "redis/support/connection.hpp"
#include "redis/support/server.hpp"
#include "redis/support/world.hpp"

#include <boost/asio.hpp>

namespace redis_recipes_document_test {

namespace asio = boost::asio;
namespace redis = asio_sync::redis;
using asio::use_future;
using asio_sync::async_manual_reset_event;
using asio_sync::test::redis::connection;
using asio_sync::test::redis::event_log;
using asio_sync::test::redis::quick;
using asio_sync::test::redis::server;
using boost::system::error_code;
using namespace std::chrono_literals;

// --- A final error ---

// Runs the client again after a final error, which an operator may have mended by then. Ends when
// the client is shut down or stopped, or when the event is set.
asio::awaitable<void> keep_running(redis::client& client, async_manual_reset_event& stop,
                                   std::chrono::milliseconds pause) {
  while (!stop.is_set()) {
    auto [failure] = co_await client.async_run(asio::as_tuple(asio::deferred));
    if (!failure || failure == asio::error::operation_aborted) co_return;
    std::cerr << "client: " << failure.message() << ", trying again\n";
    co_await stop.async_wait_for(pause, asio::as_tuple(asio::deferred));
  }
}

// --- Support ---

// Keeps what is written to the standard error.
class captured_errors {
 public:
  captured_errors() : usual_(std::cerr.rdbuf(text_.rdbuf())) {}
  ~captured_errors() { std::cerr.rdbuf(usual_); }

  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
  std::streambuf* usual_;
};

// A server that wants a password, and a client that has none. The user's context is run here, and
// may be run on other threads as well.
struct world {
  world() { admin({"CONFIG", "SET", "requirepass", "secret"}); }

  void mend() { admin({"CONFIG", "SET", "requirepass", ""}); }

  template <class Executor>
  void keep_client_running(Executor executor, std::chrono::milliseconds pause = 20ms) {
    asio::co_spawn(executor, keep_running(client, stop, pause), [this](std::exception_ptr e) {
      BOOST_TEST(!e);
      ++ended;
    });
  }

  template <class Condition>
  bool soon(Condition holds) {
    return asio_sync::test::redis::soon(context, holds);
  }

  server s;
  connection admin{s.socket()};
  asio::io_context context;
  asio::thread_pool io{1};
  redis::client client{io.get_executor(), quick(s)};
  event_log events{client};
  async_manual_reset_event stop{context};
  captured_errors errors;
  int ended = 0;
};

BOOST_AUTO_TEST_SUITE(redis_recipes_document_test)

BOOST_FIXTURE_TEST_CASE(a_client_runs_again_after_a_final_error, world) {
  keep_client_running(context.get_executor());
  BOOST_TEST(
      soon([&] { return errors.text().find("trying again\nclient: ") != std::string::npos; }));
  BOOST_TEST(ended == 0);
  mend();
  redis::async_mutex mutex(context, client, "m");
  BOOST_TEST(soon([&] { return events.has(redis::event::kind::connected); }));
  bool granted = false;
  mutex.async_lock([&](error_code e, auto) { granted = !e; });
  BOOST_TEST(soon([&] { return granted; }));
  auto shut = client.async_shutdown(use_future);
  BOOST_TEST(soon([&] { return ended == 1; }));
  shut.get();
}

BOOST_FIXTURE_TEST_CASE(a_client_runs_again_on_a_strand_with_two_threads, world) {
  keep_client_running(asio::make_strand(context));
  BOOST_TEST(soon([&] { return errors.text().find("trying again") != std::string::npos; }));
  auto const run = [&] { context.run_for(60s); };
  std::thread first(run), second(run);
  mend();
  while (!events.has(redis::event::kind::connected)) std::this_thread::yield();
  client.stop();
  first.join();
  second.join();
  BOOST_TEST(ended == 1);
}

BOOST_FIXTURE_TEST_CASE(the_pause_ends_with_the_program, world) {
  keep_client_running(context.get_executor(), 1h);
  BOOST_TEST(soon([&] { return stop.waiters() == 1; }));
  stop.set();
  BOOST_TEST(soon([&] { return ended == 1; }));
}

// --- It prints nothing? ---

BOOST_AUTO_TEST_CASE(a_client_whose_executor_nobody_runs_has_no_events) {
  server s;
  asio::io_context context, idle;
  redis::client client(idle.get_executor(), quick(s));
  event_log const events(client);
  client.async_run(asio::detached);
  redis::async_mutex mutex(context, client, "m");
  bool granted = false;
  mutex.async_lock([&](error_code e, auto) { granted = !e; });
  context.poll();
  BOOST_TEST(!events.has(redis::event::kind::connected));
  std::thread runner([&] { idle.run_for(60s); });
  BOOST_TEST(asio_sync::test::redis::soon(context, [&] { return granted; }));
  client.stop();
  runner.join();
}

BOOST_AUTO_TEST_CASE(a_client_that_does_not_run_has_no_events) {
  server s;
  asio::io_context context;
  asio::thread_pool io(1);
  redis::client client(io.get_executor(), quick(s));
  event_log const events(client);
  redis::async_mutex mutex(context, client, "m");
  bool granted = false;
  mutex.async_lock([&](error_code e, auto) { granted = !e; });
  context.poll();
  BOOST_TEST((mutex.waiters() == 1u && !events.has(redis::event::kind::connected)));
  client.async_run(asio::detached);
  BOOST_TEST(asio_sync::test::redis::soon(context, [&] { return granted; }));
}

BOOST_AUTO_TEST_CASE(the_event_says_why_there_is_no_connection) {
  server s;
  s.kill();
  asio::io_context context;
  asio::thread_pool io(1);
  redis::client client(io.get_executor(), quick(s));
  std::promise<std::string> told;
  client.on_event([&, first = true](redis::event const& e) mutable {
    if (std::exchange(first, false)) told.set_value(e.text);
  });
  client.async_run(asio::detached);
  BOOST_TEST(told.get_future().get().ends_with("No such file or directory"));
  client.on_event({});
}

// --- Waits that do not end ---

// The server and the client of these tests.
struct running {
  running() { client.async_run(asio::detached); }

  server s;
  asio::io_context context;
  asio::thread_pool io{1}, handlers{1};
  redis::client client{io.get_executor(), quick(s)};
};

BOOST_FIXTURE_TEST_CASE(unlocking_for_a_future_needs_a_thread_that_runs_the_mutex, running) {
  redis::async_mutex mutex(context, client, "m"), other(handlers, client, "other");
  auto lock = mutex.lock();
  auto unlocked = lock.async_unlock(use_future);
  auto others = other.lock();
  others.async_unlock(use_future).get();  // its executor is run
  BOOST_TEST((unlocked.wait_for(0s) == std::future_status::timeout));
  context.run();
  unlocked.get();
}

BOOST_FIXTURE_TEST_CASE(a_reader_that_locks_twice_waits_behind_a_writer, running) {
  redis::async_shared_mutex mutex(context, client, "m"), writers(context, client, "m");
  auto first = mutex.lock_shared();
  BOOST_TEST(mutex.try_lock_shared_for(10s).owns_lock());  // nobody is queued
  auto writer = writers.async_lock(use_future);
  connection admin(s.socket());
  while (admin({"ZCARD", "as:{m}:q"}).number != 1) std::this_thread::yield();
  BOOST_TEST(!mutex.try_lock_shared_for(200ms));
  first.unlock();
  context.run();
  BOOST_TEST(writer.get().owns_lock());
}

BOOST_FIXTURE_TEST_CASE(permits_of_a_name_change_when_nobody_uses_it, running) {
  redis::async_semaphore five(context, client, "uploads", 5), six(context, client, "uploads", 6);
  auto permit = five.acquire();
  auto const acquires_six = [&] {
    try {
      return six.acquire().count() == 1;
    } catch (boost::system::system_error const& e) {
      BOOST_TEST((e.code() == asio_sync::error::configuration_mismatch));
      return false;
    }
  };
  BOOST_TEST(!acquires_six());
  auto released = permit.async_release(use_future);
  context.run();
  released.get();
  BOOST_TEST(acquires_six());
}

// The locks are free at the end of the session; the keys go later, a part with each heartbeat.
BOOST_FIXTURE_TEST_CASE(keys_of_a_dead_client_stay_for_some_beats, running) {
  auto dying = std::make_unique<redis::client>(io.get_executor(), quick(s));
  dying->async_run(asio::detached);
  constexpr int objects = 300;
  int held = 0;
  {
    std::vector<std::unique_ptr<redis::async_mutex>> mutexes;
    std::vector<redis::async_mutex::lock_type> locks;
    for (int i = 0; i < objects; ++i) {
      mutexes.push_back(std::make_unique<redis::async_mutex>(context, *dying, std::to_string(i)));
      mutexes.back()->async_lock([&](error_code e, auto lock) {
        held += !e;
        locks.push_back(std::move(lock));
      });
    }
    context.run();
    BOOST_TEST(held == objects);
    dying->stop();
  }
  redis::async_mutex last(context, client, std::to_string(objects - 1));
  BOOST_TEST(last.lock().owns_lock());
  connection admin(s.socket());
  auto const keys = [&] { return admin({"KEYS", "as:{*}:h"}).elements.size(); };
  BOOST_TEST(keys() > 0u);
  BOOST_TEST(asio_sync::test::redis::soon(context, [&] { return keys() == 0; }));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_recipes_document_test
