// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The code in doc/async_mailbox.md that is in no example, and what that page says
// beside the rules.

#include "support/test.hpp"

#include <asio_sync/async_mailbox.hpp>

// The program on the page, from its first line to its last; what it includes is included above.
namespace mailbox_program {

// clang-format off
#include <asio_sync/async_mailbox.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <iostream>

namespace asio = boost::asio;
using asio_sync::mailbox_flags;

constexpr mailbox_flags data = 1, settings = 2, stop = 4;

asio::awaitable<void> consume(asio_sync::async_mailbox& mailbox) {
  for (;;) {
    mailbox_flags const news = co_await mailbox.async_take_any(data | settings | stop);
    if (news & settings) std::cout << "reads the settings again\n";
    if (news & data) std::cout << "handles all data that has come\n";
    if (news & stop) co_return;
  }
}

int main() {
  asio::io_context context;
  asio_sync::async_mailbox mailbox(context);
  asio::co_spawn(context, consume(mailbox), asio::detached);
  mailbox.raise(data);
  mailbox.raise(data);  // it is up already
  mailbox.raise(settings);
  context.poll();
  mailbox.raise(data | stop);
  context.run();
  std::cout << "flags that are left: " << mailbox.peek() << '\n';
  return 0;
}
// clang-format on

}  // namespace mailbox_program

BOOST_AUTO_TEST_SUITE(mailbox_document_test)

using namespace asio_sync::test;
using asio::use_awaitable;

constexpr mailbox_flags data = 1, left = 2, right = 4;

BOOST_AUTO_TEST_CASE(the_program_on_the_page_prints_what_the_page_says) {
  std::ostringstream printed;
  auto* const usual = std::cout.rdbuf(printed.rdbuf());
  int const status = mailbox_program::main();
  std::cout.rdbuf(usual);
  BOOST_TEST(status == 0);
  BOOST_TEST(printed.str() ==
             "reads the settings again\nhandles all data that has come\n"
             "handles all data that has come\nflags that are left: 0\n");
}

BOOST_AUTO_TEST_CASE(take_tells_what_was_up) {
  asio::io_context context;
  async_mailbox mailbox(context);
  int handled = 0;
  auto const handle_all_data = [&] { ++handled; };
  mailbox.raise(data | left);
  mailbox_flags const before = mailbox.take(data);
  if (before & data) handle_all_data();
  BOOST_TEST(handled == 1);
  BOOST_TEST(before == (data | left));
  BOOST_TEST(mailbox.peek() == left);
}

BOOST_AUTO_TEST_CASE(a_callback_waits_for_both_halves) {
  asio::io_context context;
  async_mailbox mailbox(context);
  int added = 0;
  auto const add_both_halves = [&] { ++added; };
  mailbox.async_wait_all(left | right, [&](error_code error, mailbox_flags) {
    if (!error) add_both_halves();
  });
  mailbox.raise(right);
  context.poll();
  BOOST_TEST(added == 0);
  mailbox.raise(left);
  context.poll();
  BOOST_TEST(added == 1);
  BOOST_TEST(mailbox.peek() == (left | right));
}

BOOST_AUTO_TEST_CASE(a_wait_with_a_time_out_takes_nothing) {
  asio::io_context context;
  async_mailbox mailbox(context);
  bool timed_out = false;
  auto const waits = [&]() -> asio::awaitable<void> {
    auto [late, flags] =
        co_await mailbox.async_take_any_for(data, 1ms, asio::as_tuple(use_awaitable));
    timed_out = late == asio::error::timed_out && flags == 0;
  };
  asio::co_spawn(context, waits(), asio::detached);
  context.run();
  BOOST_TEST(timed_out);
}

BOOST_AUTO_TEST_CASE(a_thread_waits_for_a_future) {
  asio::thread_pool pool(1);
  async_mailbox mailbox(pool);
  mailbox.raise(left);
  mailbox.raise(right);
  mailbox_flags const done = mailbox.async_wait_all(left | right, asio::use_future).get();
  BOOST_TEST(done == (left | right));
}

BOOST_AUTO_TEST_SUITE_END()
