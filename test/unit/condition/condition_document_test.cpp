// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The code in doc/async_condition.md that is in no example, and what that page says beside the
// rules.

#include "support/test.hpp"

#include <asio_sync/async_condition.hpp>
#include <asio_sync/async_mutex.hpp>

// The program on the page, from its first line to its last; what it includes is included above.
namespace condition_program {

// clang-format off
#include <asio_sync/async_condition.hpp>
#include <asio_sync/async_mutex.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <iostream>

namespace asio = boost::asio;

struct account {
  explicit account(asio::io_context& context) : mutex(context), paid_in(context) {}

  asio_sync::async_mutex mutex;
  asio_sync::async_condition paid_in;
  int balance = 0;  // under the mutex
};

asio::awaitable<void> withdraw(account& from, int amount) {
  auto lock = co_await from.mutex.async_lock();
  auto const enough = [&] { return from.balance >= amount; };
  co_await from.paid_in.async_wait(lock, enough);  // others have the mutex meanwhile
  from.balance -= amount;                          // here it is held again
  std::cout << "out " << amount << ", left " << from.balance << "\n";
}

asio::awaitable<void> pay_in(account& to, int amount) {
  auto lock = co_await to.mutex.async_lock();
  to.balance += amount;
  std::cout << "in " << amount << "\n";
  to.paid_in.notify_all();  // each looks once it has the mutex
}

int main() {
  asio::io_context context;
  account shared(context);
  for (int amount : {30, 10}) asio::co_spawn(context, withdraw(shared, amount), asio::detached);
  for (int amount : {20, 30}) asio::co_spawn(context, pay_in(shared, amount), asio::detached);
  context.run();
  return 0;
}
// clang-format on

}  // namespace condition_program

namespace condition_document_test {

using namespace asio_sync::test;
using asio::as_tuple;
using asio::bind_cancellation_slot;
using asio::use_awaitable;

struct fixture {
  asio::io_context context;
  async_mutex mutex{context};
  async_condition condition{context};
  std::queue<int> jobs;

  bool has_jobs() const { return !jobs.empty(); }
};

// How a coroutine has ended.
struct ending {
  bool ended = false;
  error_code error;

  auto handler() {
    return [this](std::exception_ptr thrown) {
      ended = true;
      try {
        if (thrown) std::rethrow_exception(thrown);
      } catch (boost::system::system_error const& e) {
        error = e.code();
      }
    };
  }
};

asio::awaitable<void> wait_once(async_mutex& mutex, async_condition& condition) {
  auto lock = co_await mutex.async_lock();
  co_await condition.async_wait(lock);
  BOOST_TEST(lock.owns_lock());
}

asio::awaitable<std::string> wait_a_while(async_mutex& mutex, async_condition& condition,
                                          std::queue<int>& jobs) {
  auto lock = co_await mutex.async_lock();
  auto const has_jobs = [&] { return !jobs.empty(); };
  auto [error] = co_await condition.async_wait_for(lock, 1ms, has_jobs, as_tuple(use_awaitable));
  if (error == asio_sync::error::closed) co_return "closed";       // the lock owns nothing
  if (error == asio::error::timed_out) co_return "nothing to do";  // the mutex is held
  co_return "a job";                                               // and here, too
}

asio::awaitable<void> wait_with_limit(async_mutex& mutex, async_condition& condition,
                                      std::shared_ptr<int> limit, int& value) {
  auto lock = co_await mutex.async_lock();
  auto const above = [limit, &value] { return value > *limit; };  // named: not inside co_await
  co_await condition.async_wait(lock, above);
}

asio::awaitable<void> carry_the_lock(async_mutex& mutex, async_condition& condition, bool& held) {
  auto lock = co_await mutex.async_lock();
  auto [error, again] = co_await condition.async_wait(std::move(lock), as_tuple(use_awaitable));
  held = !error && again.owns_lock();
}

}  // namespace condition_document_test

BOOST_FIXTURE_TEST_SUITE(condition_document_test, fixture)

BOOST_AUTO_TEST_CASE(the_program_on_the_page_prints_what_the_page_says) {
  std::ostringstream printed;
  auto* const usual = std::cout.rdbuf(printed.rdbuf());
  int const status = condition_program::main();
  std::cout.rdbuf(usual);
  BOOST_TEST(status == 0);
  BOOST_TEST(printed.str() == "in 20\nout 10, left 10\nin 30\nout 30, left 10\n");
}

BOOST_AUTO_TEST_CASE(a_notified_wait_is_the_mutexs) {
  ending one;
  asio::co_spawn(context, wait_once(mutex, condition), one.handler());
  context.poll();
  BOOST_TEST(condition.waiters() == 1u);
  async_mutex::lock_type held(mutex);
  condition.notify_one();
  BOOST_TEST((condition.waiters() == 0u && mutex.waiters() == 1u));
  BOOST_TEST((condition.cancel() == 0u && mutex.cancel() == 0u));
  held.unlock();
  context.run();
  BOOST_TEST((one.ended && !one.error));
}

BOOST_AUTO_TEST_CASE(a_callback_has_its_lock_carried_through) {
  int done = 0;
  jobs.push(7);
  async_mutex::lock_type lock(mutex);
  condition.async_wait(
      std::move(lock), [this] { return has_jobs(); },
      [&](error_code error, async_mutex::lock_type held) {
        if (error) return;  // unlocks, if it holds anything
        done = jobs.front();
        jobs.pop();
        held.unlock();
      });
  context.run();
  BOOST_TEST(done == 7);
  BOOST_TEST(!mutex.is_locked());
}

BOOST_AUTO_TEST_CASE(a_coroutine_that_carries_its_lock_takes_a_tuple) {
  bool held = false;
  asio::co_spawn(context, carry_the_lock(mutex, condition, held), asio::detached);
  context.poll();
  condition.notify_one();
  context.restart();
  context.run();
  BOOST_TEST(held);
}

BOOST_AUTO_TEST_CASE(errors_say_whether_the_mutex_is_held) {
  auto const says = [this](std::string const& expected) {
    asio::co_spawn(context, wait_a_while(mutex, condition, jobs),
                   [expected](std::exception_ptr error, std::string const& said) {
                     BOOST_TEST((!error && said == expected));
                   });
    context.restart();
    context.run();
    BOOST_TEST(!mutex.is_locked());
  };
  says("nothing to do");
  jobs.push(1);
  says("a job");
  condition.close();
  says("closed");
}

BOOST_AUTO_TEST_CASE(a_predicate_with_a_name_is_destroyed_once) {
  auto const limit = std::make_shared<int>(1);
  int value = 0;
  asio::co_spawn(context, wait_with_limit(mutex, condition, limit, value), asio::detached);
  context.poll();
  value = 2;
  condition.notify_all();
  context.restart();
  context.run();
  BOOST_TEST(limit.use_count() == 1);
}

BOOST_AUTO_TEST_CASE(a_slot_cancels_and_the_lock_comes_back) {
  error_code refused;
  bool held = false;
  auto const handler = [&](error_code error, async_mutex::lock_type lock) {
    refused = error;
    held = lock.owns_lock();
  };
  asio::cancellation_signal stop;
  async_mutex::lock_type lock(mutex);
  condition.async_wait(std::move(lock), bind_cancellation_slot(stop.slot(), handler));
  stop.emit(asio::cancellation_type::total);  // on any thread
  context.run();
  BOOST_TEST((refused == asio::error::operation_aborted && held));
}

BOOST_AUTO_TEST_CASE(threads_take_part) {
  std::thread producer([&] {
    std::scoped_lock const lock(mutex);
    jobs.push(3);
    condition.notify_one();
  });
  int job = 0;
  {
    std::unique_lock lock(mutex);
    condition.wait(lock, [&] { return !jobs.empty(); });  // blocks this thread
    job = jobs.front();
  }
  producer.join();
  BOOST_TEST(job == 3);
}

BOOST_AUTO_TEST_SUITE_END()
