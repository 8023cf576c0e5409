// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The code in doc/async_semaphore.md that is in no example, and what that page says beside the
// rules.

#include "support/test.hpp"

#include <asio_sync/async_semaphore.hpp>

// The program on the page, from its first line to its last; what it includes is included above.
namespace semaphore_program {

// clang-format off
#include <asio_sync/async_semaphore.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <iostream>

namespace asio = boost::asio;

asio::awaitable<void> fetch(asio_sync::async_semaphore& connections, int page) {
  auto permit = co_await connections.async_acquire();  // waits while two others fetch
  co_await asio::post(asio::use_awaitable);            // instead of a request
  std::cout << "page " << page << ", " << connections.waiters() << " wait\n";
}  // gives the permit back: the next page is fetched

int main() {
  asio::io_context context;
  asio_sync::async_semaphore connections(context, 2, 2);  // two, and never more
  for (int page = 1; page <= 5; ++page)
    asio::co_spawn(context, fetch(connections, page), asio::detached);
  context.run();
  return 0;
}
// clang-format on

}  // namespace semaphore_program

BOOST_AUTO_TEST_SUITE(semaphore_document_test)

using namespace asio_sync::test;
using asio::as_tuple;
using asio::bind_cancellation_slot;
using asio::use_awaitable;

auto carries(error_code expected) {
  return [expected](boost::system::system_error const& error) { return error.code() == expected; };
}

auto carries(errc::errc_t expected) { return carries(errc::make_error_code(expected)); }

// Runs the context, a coroutine in it, which has to end without an exception.
template <class Coroutine>
void run(asio::io_context& context, Coroutine coroutine) {
  bool ended = false;
  asio::co_spawn(context, coroutine, [&](std::exception_ptr error) { ended = !error; });
  context.run();
  BOOST_TEST(ended);
}

BOOST_AUTO_TEST_CASE(the_program_on_the_page_prints_what_the_page_says) {
  std::ostringstream printed;
  auto* const usual = std::cout.rdbuf(printed.rdbuf());
  int const status = semaphore_program::main();
  std::cout.rdbuf(usual);
  BOOST_TEST(status == 0);
  BOOST_TEST(printed.str() ==
             "page 1, 3 wait\npage 2, 2 wait\npage 3, 1 wait\npage 4, 0 wait\npage 5, 0 wait\n");
}

BOOST_AUTO_TEST_CASE(bytes_are_counted) {
  asio::io_context context;
  async_semaphore memory(context, 100, 100);
  std::vector<std::ptrdiff_t> left;
  auto const handle_message = [&](std::ptrdiff_t) -> asio::awaitable<void> {
    left.push_back(memory.available());
    co_await asio::post(use_awaitable);
  };
  for (std::ptrdiff_t const size : {60, 50, 30})
    asio::co_spawn(
        context,
        [&, size]() -> asio::awaitable<void> {
          auto room = co_await memory.async_acquire(size);
          co_await handle_message(size);
        },
        [](std::exception_ptr error) { BOOST_TEST(!error); });
  context.run();
  BOOST_TEST(left == (std::vector<std::ptrdiff_t>{40, 20, 20}), boost::test_tools::per_element());
  BOOST_TEST(memory.available() == 100);
}

BOOST_AUTO_TEST_CASE(a_callback_moves_the_permit_to_where_it_is_needed) {
  asio::io_context context;
  async_semaphore connections(context, 1, 1);
  auto const start_request = [&](auto done) { asio::post(context, std::move(done)); };
  connections.async_acquire([&](error_code error, semaphore_permit permit) {
    if (error) throw boost::system::system_error(error);
    start_request([permit = std::move(permit)]() mutable { permit.release(); });
  });
  BOOST_TEST(connections.available() == 0);
  context.run();
  BOOST_TEST(connections.available() == 1);
}

BOOST_AUTO_TEST_CASE(permits_are_split_and_merged) {
  asio::io_context context;
  async_semaphore semaphore(context, 5, 5), other(context, 1, 1);
  semaphore_permit batch = semaphore.try_acquire(5);
  semaphore_permit two = batch.split(2);  // batch has 3
  batch.merge(std::move(two));            // batch has 5 again, two is empty
  BOOST_TEST(batch.count() == 5);
  BOOST_TEST(!two);  // NOLINT(bugprone-use-after-move)
  BOOST_TEST(!batch.split(0));
  BOOST_CHECK_EXCEPTION(static_cast<void>(batch.split(6)), boost::system::system_error,
                        carries(errc::invalid_argument));
  BOOST_CHECK_EXCEPTION(batch.merge(other.try_acquire()), boost::system::system_error,
                        carries(errc::invalid_argument));
  BOOST_TEST(other.available() == 1);
  batch.merge({});
  two.merge(batch.split(5));
  BOOST_TEST(!batch);
  BOOST_TEST(two.count() == 5);
  BOOST_TEST(semaphore.available() == 0);
  two.release();
  BOOST_TEST(semaphore.available() == 5);
}

BOOST_AUTO_TEST_CASE(forgotten_permits_stay_taken_until_the_semaphore_gets_them_back) {
  asio::io_context context;
  async_semaphore semaphore(context, 3, 3);
  semaphore_permit permit = semaphore.try_acquire(2);
  std::ptrdiff_t const lent = permit.forget();  // now a child process has them, say
  semaphore.release(lent);                      // and here it has ended
  BOOST_TEST(!permit);
  BOOST_TEST(semaphore.available() == 3);
  semaphore.try_acquire(2).forget();
  BOOST_TEST(semaphore.available() == 1);
  semaphore.release(2);
  BOOST_TEST(semaphore.available() == 3);
}

BOOST_AUTO_TEST_CASE(a_semaphore_counts_items) {
  asio::io_context context;
  async_semaphore items(context, 0);
  asio::post(context, [&] { items.release(); });
  run(context, [&]() -> asio::awaitable<void> {
    (co_await items.async_acquire()).forget();
    items.release();                            // the producer: one item more
    (co_await items.async_acquire()).forget();  // the consumer: waits for an item
  });
  BOOST_TEST(items.available() == 0);
}

BOOST_AUTO_TEST_CASE(a_light_wait_stays_behind_a_heavy_one_until_that_leaves) {
  asio::io_context context;
  async_semaphore semaphore(context, 3, 3);
  asio::cancellation_signal stop;
  error_code heavy_error;
  std::ptrdiff_t lights = 0;
  auto const heavy = [&](error_code error, semaphore_permit) { heavy_error = error; };
  auto const light = [&](error_code, semaphore_permit permit) { lights = permit.count(); };
  semaphore_permit held = semaphore.try_acquire(2);  // of 3
  semaphore.async_acquire(3, bind_cancellation_slot(stop.slot(), heavy));
  semaphore.async_acquire(1, light);          // one is free, and yet it waits
  stop.emit(asio::cancellation_type::total);  // now the light one is granted
  BOOST_TEST(semaphore.waiters() == 0u);
  context.run();
  BOOST_TEST(heavy_error == asio::error::operation_aborted);
  BOOST_TEST(lights == 1);
}

BOOST_AUTO_TEST_CASE(the_number_comes_before_the_time) {
  asio::io_context context;
  async_semaphore semaphore(context, 1, 2);
  bool acquired = true;
  auto const acquire_two = [&]() -> asio::awaitable<bool> {
    auto [error, permit] = co_await semaphore.async_acquire_for(2, 1ms, as_tuple(use_awaitable));
    if (error == asio::error::timed_out) co_return false;
    co_return !error;
  };
  run(context, [&]() -> asio::awaitable<void> { acquired = co_await acquire_two(); });
  BOOST_TEST(!acquired);
  BOOST_TEST(semaphore.waiters() == 0u);
  BOOST_TEST(!semaphore.try_acquire_for(2, 1ms));
}

BOOST_AUTO_TEST_CASE(a_thread_blocks_unless_it_runs_the_semaphores_own_context) {
  asio::io_context context;
  async_semaphore connections(context, 1, 1);
  {
    semaphore_permit const permit = connections.acquire();  // blocks this thread
    BOOST_TEST(permit.count() == 1);
    asio::post(context, [&] {
      BOOST_CHECK_EXCEPTION(static_cast<void>(connections.acquire()), boost::system::system_error,
                            carries(errc::resource_deadlock_would_occur));
      BOOST_TEST(!connections.try_acquire_for(0s));
    });
    context.run();
  }
  BOOST_TEST(connections.available() == 1);
}

BOOST_AUTO_TEST_SUITE_END()
