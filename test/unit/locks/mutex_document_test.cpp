// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The code in doc/async_mutex.md that is in no example, and what that page says beside the rules.

#include "support/executors.hpp"
#include "support/test.hpp"

#include <asio_sync/async_mutex.hpp>

#include <system_error>

BOOST_AUTO_TEST_SUITE(mutex_document_test)

using namespace asio_sync::test;

// What has a mutex as a member, and a coroutine that holds it for as long as the context lives.
struct server {
  explicit server(asio::io_context& context) : mutex(context) {}

  asio::awaitable<void> run() {
    auto lock = co_await mutex.async_lock();
    asio::steady_timer timer(co_await asio::this_coro::executor, std::chrono::hours(1));
    co_await timer.async_wait(asio::use_awaitable);
  }

  async_mutex mutex;
};

auto carries(boost::system::errc::errc_t expected) {
  return [expected](boost::system::system_error const& error) { return error.code() == expected; };
}

BOOST_AUTO_TEST_CASE(cancellation_by_slot) {
  asio::io_context context;
  async_mutex mutex(context);
  std::unique_lock const held(mutex);
  bool refused = false;
  asio::cancellation_signal stop;
  mutex.async_lock(asio::bind_cancellation_slot(stop.slot(), [&](error_code error, auto lock) {
    refused = error == asio::error::operation_aborted && !lock;
  }));
  stop.emit(asio::cancellation_type::total);  // on any thread
  BOOST_TEST(mutex.waiters() == 0u);
  context.run();
  BOOST_TEST(refused);
}

// When a handler runs whose executor runs it inline.
template <class Executor>
std::string when_an_inline_handler_runs(Executor const& executor, asio::io_context& home) {
  async_mutex mutex(home);
  async_mutex::lock_type held(mutex);
  std::string trace;
  mutex.async_lock(asio::bind_executor(executor, [&](error_code, auto) { trace += "handler "; }));
  held.unlock();
  trace += "unlocked ";
  home.run();
  trace += "run";
  return trace;
}

BOOST_AUTO_TEST_CASE(R2_an_inline_handler_runs_inside_unlock_or_where_the_mutex_is_run) {
  asio::io_context home, other;
  asio_sync::test::inline_executor const promises(other);
  BOOST_TEST(when_an_inline_handler_runs(promises, home) == "handler unlocked run");
  home.restart();
  asio_sync::test::execution_log log;
  asio_sync::test::bare_executor const bare(log);
  BOOST_TEST(when_an_inline_handler_runs(bare, home) == "unlocked handler run");

  bool ran = false;
  async_mutex never_run(other);  // free, and yet
  never_run.async_lock(asio::bind_executor(bare, [&](error_code, auto) { ran = true; }));
  home.restart();
  home.run();
  BOOST_TEST(!ran);
}

BOOST_AUTO_TEST_CASE(default_token_is_deferred) {
  asio::io_context context;
  async_mutex mutex(context);
  auto operation = mutex.async_lock();
  static_assert(std::is_same_v<decltype(operation), decltype(mutex.async_lock(asio::deferred))>);
  BOOST_TEST(!mutex.is_locked());
}

BOOST_AUTO_TEST_CASE(awaited_without_keeping_the_guard_it_unlocks_at_once) {
  asio::io_context context;
  async_mutex mutex(context);
  bool ended = false;
  auto const coroutine = [&]() -> asio::awaitable<void> {
    static_cast<void>(co_await mutex.async_lock());
    BOOST_TEST(!mutex.is_locked());
    auto lock = co_await mutex.async_lock();
    BOOST_TEST(mutex.is_locked());
    ended = true;
  };
  asio::co_spawn(context, coroutine, [](std::exception_ptr error) { BOOST_TEST(!error); });
  context.run();
  BOOST_TEST(ended);
  BOOST_TEST(!mutex.is_locked());
}

BOOST_AUTO_TEST_CASE(refusal_of_a_coroutine_is_a_system_error) {
  asio::io_context context;
  async_mutex mutex(context);
  mutex.close();
  error_code seen;
  auto const coroutine = [&]() -> asio::awaitable<void> {
    try {
      auto lock = co_await mutex.async_lock();
    } catch (boost::system::system_error const& error) {
      seen = error.code();
    }
  };
  asio::co_spawn(context, coroutine, [](std::exception_ptr error) { BOOST_TEST(!error); });
  context.run();
  BOOST_TEST(seen == error_code(asio_sync::error::closed));
}

BOOST_AUTO_TEST_CASE(standard_guards_and_algorithms_work_with_it) {
  asio::io_context context;
  async_mutex first(context), second(context);
  {
    std::scoped_lock const both(first, second);
    BOOST_TEST((first.is_locked() && second.is_locked()));
  }
  std::lock(first, second);
  first.unlock();
  second.unlock();
  std::unique_lock lock(first, std::chrono::seconds(0));
  BOOST_TEST(lock.owns_lock());
  std::condition_variable_any condition;
  BOOST_TEST(!condition.wait_for(lock, std::chrono::milliseconds(1), [] { return false; }));
  BOOST_TEST(first.is_locked());
}

BOOST_AUTO_TEST_CASE(unlocking_twice_is_an_error_of_the_guard_or_of_the_mutex) {
  namespace errc = boost::system::errc;
  asio::io_context context;
  async_mutex mutex(context);
  async_mutex::lock_type lock(mutex);
  lock.unlock();
  BOOST_CHECK_EXCEPTION(lock.unlock(), boost::system::system_error,
                        carries(errc::operation_not_permitted));
  BOOST_CHECK_EXCEPTION(mutex.unlock(), boost::system::system_error,
                        carries(errc::operation_not_permitted));
  std::unique_lock standard(mutex);
  standard.unlock();
  BOOST_CHECK_THROW(standard.unlock(), std::system_error);
}

BOOST_AUTO_TEST_CASE(what_a_guard_holds_the_mutex_does_not_unlock) {
  namespace errc = boost::system::errc;
  asio::io_context context;
  async_mutex mutex(context);
  async_mutex::lock_type lock(mutex);
  BOOST_CHECK_EXCEPTION(mutex.unlock(), boost::system::system_error,
                        carries(errc::operation_not_permitted));
  BOOST_CHECK_EXCEPTION(async_mutex::lock_type const again(mutex, std::adopt_lock),
                        boost::system::system_error, carries(errc::operation_not_permitted));
  BOOST_TEST(lock.owns_lock());
}

BOOST_AUTO_TEST_CASE(a_guard_takes_over_from_a_member_and_gives_back) {
  asio::io_context context;
  async_mutex mutex(context);
  mutex.lock();
  async_mutex::lock_type lock(mutex, std::adopt_lock);  // now the guard holds it
  lock.release();                                       // now a member does again
  mutex.unlock();
  BOOST_TEST(!mutex.is_locked());
}

BOOST_AUTO_TEST_CASE(a_coroutine_that_holds_the_guard_ends_after_the_mutex) {
  asio::io_context context;
  server echo(context);  // has the mutex as a member, and so ends before the context
  asio::co_spawn(context, echo.run(), asio::detached);
  context.poll();
  BOOST_TEST(echo.mutex.is_locked());
}

BOOST_AUTO_TEST_CASE(a_guard_whose_mutex_is_dead_unlocks_nothing_once) {
  namespace errc = boost::system::errc;
  asio::io_context context;
  auto mutex = std::make_unique<async_mutex>(context);
  async_mutex::lock_type lock(*mutex);
  mutex.reset();
  BOOST_TEST(!lock.owns_lock());
  BOOST_TEST(!lock.mutex());
  lock.unlock();
  BOOST_CHECK_EXCEPTION(lock.unlock(), boost::system::system_error,
                        carries(errc::operation_not_permitted));
}

BOOST_AUTO_TEST_CASE(the_next_owner_may_destroy_it_as_soon_as_it_has_unlocked) {
  asio::io_context context;
  auto mutex = std::make_unique<async_mutex>(context);
  mutex->lock();
  mutex->async_lock([&](error_code error, auto lock) {
    BOOST_TEST(!error);
    lock = {};
    mutex.reset();
  });
  mutex->unlock();
  context.run();
  BOOST_TEST(!mutex);
}

BOOST_AUTO_TEST_CASE(a_mutex_of_a_strand_and_its_rebound_form) {
  asio::io_context context;
  using strand = asio::strand<asio::io_context::executor_type>;
  using strand_mutex = async_mutex::rebind_executor<strand>::other;
  strand_mutex mutex(asio::make_strand(context));
  bool on_strand = false;
  mutex.async_lock([&](error_code error, strand_mutex::lock_type lock) {
    on_strand = !error && lock && mutex.get_executor().running_in_this_thread();
  });
  context.run();
  BOOST_TEST(on_strand);
}

BOOST_AUTO_TEST_SUITE_END()
