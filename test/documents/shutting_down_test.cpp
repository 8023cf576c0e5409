// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The code in doc/shutting-down.md but for its server, and what that page says about it.

#include "documents/support.hpp"

#include <asio_sync/async_manual_reset_event.hpp>
#include <asio_sync/async_mutex.hpp>
#include <asio_sync/error.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <csignal>
#include <memory>
#include <mutex>
#include <sstream>
#include <thread>

namespace shutting_down_test {

namespace asio = boost::asio;
using asio_sync::async_manual_reset_event;
using asio_sync::async_mutex;
using asio_sync::test::ended_well;
using asio_sync::test::page_fixture;
using asio_sync::test::record;
using boost::system::error_code;
using boost::system::system_error;
using namespace std::chrono_literals;

// A worker that ends when the mutex is closed.

asio::awaitable<void> work(async_mutex& mutex, record& data) {
  for (;;) {
    auto [error, lock] = co_await mutex.async_lock(asio::as_tuple(asio::deferred));
    if (error == asio_sync::error::closed) co_return;  // we are shutting down
    if (error) throw system_error(error);
    co_await data.update();  // what has begun is finished
  }
}

// The same as the worker, for a thread.

void work_in_thread(async_mutex& mutex, record& data) {
  try {
    for (;;) {
      std::scoped_lock const lock(mutex);
      ++data.value;
    }
  } catch (system_error const& error) {
    if (error.code() != asio_sync::error::closed) throw;  // otherwise we are shutting down
  }
}

// A task that ends when an event is set.

asio::awaitable<void> update_regularly(async_manual_reset_event& stop, record& data) {
  while (!stop.is_set()) {
    co_await data.update();
    auto [error] = co_await stop.async_wait_for(10min, asio::as_tuple(asio::deferred));
    if (error && error != asio::error::timed_out) throw system_error(error);
  }
}

// What has threads of its own.

class service {
 public:
  ~service() {
    mutex_.close();  // nobody queues any more, and run() can return
    pool_.join();    // the threads end before the members that they use
  }

  void start(int workers) {
    for (int i = 0; i < workers; ++i) asio::co_spawn(pool_, work(mutex_, data_), asio::detached);
  }

 private:
  asio::thread_pool pool_{2};
  async_mutex mutex_{pool_};  // goes before the pool: the destructor has to join first
  record data_;
};

// What is destroyed with a function in the queue of a context.

struct session {
  session(async_mutex& m, record& d) : mutex(m), data(d) {}
  session(session const&) = delete;
  session& operator=(session const&) = delete;
  ~session() {
    std::unique_lock const lock(mutex, std::try_to_lock);  // a destructor waits for nobody
    if (lock) ++data.value;
  }

  async_mutex& mutex;
  record& data;
};

// Errors that are none.

bool is_shutdown(error_code error) {
  return error == asio::error::operation_aborted || error == asio_sync::error::closed;
}

struct reports {
  void fail(error_code error, char const* what) {
    if (is_shutdown(error)) return;
    log << what << ": " << error.message() << '\n';
  }

  std::ostringstream log;
};

}  // namespace shutting_down_test

BOOST_FIXTURE_TEST_SUITE(shutting_down_test, page_fixture)

BOOST_AUTO_TEST_CASE(at_a_signal_the_holder_finishes_and_run_returns) {
  for (int i = 0; i < 5; ++i) asio::co_spawn(context, work(mutex, data), ended_well);
  asio::post(context, [] { std::raise(SIGTERM); });

  asio::signal_set signals(context, SIGINT, SIGTERM);
  signals.async_wait([&](error_code error, int) {
    if (!error) mutex.close();
  });
  context.run();  // returns, because nothing is left to do

  BOOST_TEST((mutex.is_closed() && !mutex.is_locked() && mutex.waiters() == 0u));
  BOOST_TEST(data.value > 0);
}

BOOST_AUTO_TEST_CASE(an_event_tells_everybody_to_stop) {
  async_manual_reset_event stop(context);
  for (int i = 0; i < 5; ++i) asio::co_spawn(context, update_regularly(stop, data), ended_well);
  asio::signal_set signals(context, SIGINT, SIGTERM);
  signals.async_wait([&](error_code error, int) {
    if (!error) stop.set();
  });
  poll();
  BOOST_TEST(stop.waiters() == 5u);
  BOOST_TEST(std::raise(SIGTERM) == 0);
  run();
  int const updates = data.value;
  BOOST_TEST((updates > 0 && stop.waiters() == 0u));

  asio::co_spawn(context, update_regularly(stop, data), ended_well);  // comes too late
  run();
  BOOST_TEST(data.value == updates);
}

BOOST_AUTO_TEST_CASE(stop_completes_nothing) {
  bool called = false;
  auto const handler = [&](error_code, async_mutex::lock_type) { called = true; };
  async_mutex::lock_type const held(mutex);
  mutex.async_lock(handler);
  context.stop();
  context.run_for(60s);  // returns at once
  BOOST_TEST((!called && mutex.waiters() == 1u));

  mutex.close();
  context.restart();
  context.run_for(60s);
  BOOST_TEST(called);
}

BOOST_AUTO_TEST_CASE(the_context_destroys_what_it_has_not_called) {
  auto own = std::make_unique<asio::io_context>();
  bool called = false;
  auto const alive = std::make_shared<int>();
  async_mutex outer(*own);
  async_mutex::lock_type held(outer);
  outer.async_lock([&, alive](error_code, async_mutex::lock_type) { called = true; });
  BOOST_TEST(alive.use_count() == 2);
  own.reset();
  BOOST_TEST((!called && alive.use_count() == 1 && outer.waiters() == 0u));
  held.unlock();
  BOOST_TEST(!outer.is_locked());
}

BOOST_AUTO_TEST_CASE(a_grant_that_has_not_arrived_goes_on_to_the_next) {
  auto own = std::make_unique<asio::io_context>();
  async_mutex::lock_type held(mutex);
  asio::co_spawn(*own, work(mutex, data), asio::detached);
  own->poll();
  asio::co_spawn(context, work(mutex, data), ended_well);
  poll();
  held.unlock();  // to the first, which never hears of it
  own.reset();
  mutex.close();
  run();
  BOOST_TEST(data.value == 1);
}

BOOST_AUTO_TEST_CASE(a_service_with_threads_of_its_own_ends) {
  service one;
  one.start(4);
}

BOOST_AUTO_TEST_CASE(threads_that_block_are_woken_by_the_mutex) {
  async_mutex::lock_type const held(mutex);
  std::thread thread([&] { work_in_thread(mutex, data); });
  while (mutex.waiters() != 1) std::this_thread::yield();
  context.stop();
  BOOST_TEST(mutex.waiters() == 1u);

  mutex.close();  // lock() throws error::closed
  thread.join();
  BOOST_TEST(data.value == 0);
}

BOOST_AUTO_TEST_CASE(threads_that_block_go_on_waiting_when_the_context_is_destroyed) {
  auto own = std::make_unique<asio::io_context>();
  async_mutex shared(*own);
  async_mutex::lock_type const held(shared);
  std::thread thread([&] { work_in_thread(shared, data); });
  while (shared.waiters() != 1) std::this_thread::yield();
  own.reset();
  BOOST_TEST(shared.waiters() == 1u);
  shared.close();
  thread.join();
  BOOST_TEST(data.value == 0);
}

BOOST_AUTO_TEST_CASE(closed_means_that_we_shut_down_as_well) {
  reports ours, as_in_beast;
  async_mutex::lock_type const held(mutex);
  for (int i = 0; i < 3; ++i) {
    mutex.async_lock([&](error_code error, auto) {
      if (error) ours.fail(error, "lock");
      if (error != asio::error::operation_aborted) as_in_beast.log << '\n';
    });
  }
  mutex.close();
  run();
  BOOST_TEST(ours.log.str().empty());
  BOOST_TEST(as_in_beast.log.str().size() == 3u);
  ours.fail(asio::error::eof, "read");
  BOOST_TEST(!ours.log.str().empty());
}

BOOST_AUTO_TEST_CASE(a_cancelled_mutex_goes_on_and_a_closed_one_does_not) {
  int aborted = 0, closed = 0, granted = 0;
  auto const handler = [&](error_code error, async_mutex::lock_type) {
    aborted += error == asio::error::operation_aborted;
    closed += error == asio_sync::error::closed;
    granted += !error;
  };
  async_mutex::lock_type held(mutex);
  mutex.async_lock(handler);
  BOOST_TEST(mutex.cancel() == 1u);
  mutex.async_lock(handler);
  held.unlock();
  run();
  BOOST_TEST((aborted == 1 && granted == 1));

  BOOST_TEST(mutex.try_lock());
  mutex.async_lock(handler);
  mutex.close();
  mutex.async_lock(handler);
  mutex.unlock();
  BOOST_TEST(!mutex.try_lock());
  run();
  BOOST_TEST((closed == 2 && granted == 1));
}

BOOST_AUTO_TEST_CASE(a_destructor_locks_what_was_on_its_way_to_the_same_context) {
  auto dying = std::make_unique<asio::io_context>();
  auto const handler = [](error_code, auto) {};
  int locked = 0;
  auto const locks_at_end = [&](async_mutex& to_lock) {
    return std::shared_ptr<void>(nullptr, [&](void*) {
      std::scoped_lock const lock(to_lock);
      ++locked;
    });
  };
  BOOST_TEST_REQUIRE(mutex.try_lock());

  mutex.async_lock(asio::bind_executor(*dying, handler));  // granted below
  mutex.async_lock(asio::bind_executor(*dying, [end = locks_at_end(mutex)](error_code, auto) {}));
  mutex.unlock();
  dying.reset();  // passes the mutex on, and then destroys the handler that waited

  BOOST_TEST((locked == 1 && mutex.try_lock()));
}

BOOST_AUTO_TEST_CASE(a_destructor_in_the_queue_before_the_lock_tries) {
  auto dying = std::make_unique<asio::io_context>();
  int const before = data.value;
  asio::post(*dying, [s = std::make_shared<session>(mutex, data)] {});
  mutex.async_lock(asio::bind_executor(*dying, [](error_code, auto) {}));
  dying.reset();
  BOOST_TEST((data.value == before && mutex.try_lock()));
  mutex.unlock();
  std::make_shared<session>(mutex, data).reset();
  BOOST_TEST(data.value == before + 1);
}

BOOST_AUTO_TEST_SUITE_END()
