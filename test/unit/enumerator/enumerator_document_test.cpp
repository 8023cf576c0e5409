// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The code in doc/async_enumerator.md.

#include "support/test.hpp"

#include <asio_sync/async_enumerator.hpp>

#include <boost/asio/ip/tcp.hpp>

// The program on the page, from its first line to its last; what it includes is included above.
namespace enumerator_program {

// clang-format off
#include <asio_sync/async_enumerator.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <exception>
#include <iostream>

namespace asio = boost::asio;
using boost::system::error_code;

asio_sync::async_steps race(asio_sync::async_enumerator& e) {
  asio::steady_timer slow(e.get_executor(), std::chrono::hours(1));
  asio::steady_timer fast(e.get_executor(), std::chrono::milliseconds(1));
  error_code of_slow, of_fast;
  slow.async_wait(e.callback(of_slow));
  fast.async_wait(e.callback(of_fast));
  co_yield 1;  // whichever is first
  std::cout << "fast: " << of_fast.message() << '\n';
  slow.cancel();
  co_yield 1;  // the other one
  std::cout << "slow was cancelled: " << (of_slow == asio::error::operation_aborted) << '\n';
}

int main() {
  asio::io_context context;
  asio_sync::async_enumerator enumerator(context);
  enumerator.async_run(race(enumerator), [](std::exception_ptr thrown) {
    std::cout << (thrown ? "failed\n" : "done\n");
  });
  context.run();
  return 0;
}
// clang-format on

}  // namespace enumerator_program

BOOST_AUTO_TEST_SUITE(enumerator_document_test)

using namespace asio_sync::test;
using asio::use_awaitable;

BOOST_AUTO_TEST_CASE(the_program_on_the_page_prints_what_the_page_says) {
  std::ostringstream printed;
  auto* const usual = std::cout.rdbuf(printed.rdbuf());
  int const status = enumerator_program::main();
  std::cout.rdbuf(usual);
  BOOST_TEST(status == 0);
  BOOST_TEST(printed.str() == "fast: Success\nslow was cancelled: 1\ndone\n");
}

BOOST_AUTO_TEST_CASE(operations_of_any_kind_are_begun) {
  asio::io_context context;
  async_enumerator enumerator(context);
  bool ended = false;
  auto const fetch = [&context](async_enumerator& e, bool& answer) -> async_steps {
    asio::ip::tcp::resolver resolver(context);
    asio::ip::tcp::resolver::results_type endpoints;
    asio::steady_timer timer(context, 1h);
    error_code error;
    // clang-format off
    resolver.async_resolve("127.0.0.1", "80", e.callback(error, endpoints));
    timer.async_wait(e.callback());  // a deadline
    co_yield 1;
    // clang-format on
    answer = !error && endpoints.size() == 1;
    timer.cancel();
    co_yield 1;
  };
  auto const ask = [&](async_enumerator& e) -> asio::awaitable<void> {
    bool answer = false;
    co_await e.async_run(fetch(e, answer), use_awaitable);
    ended = answer;
  };
  asio::co_spawn(context, ask(enumerator), asio::detached);
  context.run();
  BOOST_TEST(ended);
}

BOOST_AUTO_TEST_CASE(errors_are_handled_in_one_place) {
  asio::io_context context;
  async_enumerator e(context);
  int failures = 0;
  // clang-format off
e.on_error([&](std::exception_ptr) {
  ++failures;
  return false;
});
  // clang-format on
  auto const fail = []() -> async_steps {
    throw std::runtime_error("fails");
    co_return;
  };
  bool handled = false;
  e.async_run(fail(), [&](std::exception_ptr thrown) { handled = !thrown; });
  context.run();
  BOOST_TEST((handled && failures == 1));
}

BOOST_AUTO_TEST_SUITE_END()
