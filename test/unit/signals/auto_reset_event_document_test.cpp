// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The code in doc/async_auto_reset_event.md that is in no example, and what that page says
// beside the rules.

#include "support/test.hpp"

#include <asio_sync/async_auto_reset_event.hpp>

// The program on the page, from its first line to its last; what it includes is included above.
namespace auto_event_program {

// clang-format off
#include <asio_sync/async_auto_reset_event.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace asio = boost::asio;

struct journal {
  explicit journal(asio::io_context& context) : changed(context) {}

  asio::awaitable<void> write() {
    for (;;) {
      co_await changed.async_wait();  // and resets it
      for (std::string const& line : std::exchange(lines, {})) {
        if (line.empty()) co_return;
        std::cout << line << '\n';
      }
      std::cout << "all written\n";
    }
  }

  void add(std::string line) {
    lines.push_back(std::move(line));
    changed.set();  // runs nothing here; remembered once while the writer is busy
  }

  std::vector<std::string> lines;
  asio_sync::async_auto_reset_event changed;
};

int main() {
  asio::io_context context;
  journal j(context);
  j.add("first");
  j.add("second");
  asio::co_spawn(context, j.write(), asio::detached);
  context.poll();
  j.add("third");
  context.poll();
  j.add("");  // the end
  context.run();
  return 0;
}
// clang-format on

}  // namespace auto_event_program

BOOST_AUTO_TEST_SUITE(auto_reset_event_document_test)

using namespace asio_sync::test;

BOOST_AUTO_TEST_CASE(the_program_on_the_page_prints_what_the_page_says) {
  std::ostringstream printed;
  auto* const usual = std::cout.rdbuf(printed.rdbuf());
  int const status = auto_event_program::main();
  std::cout.rdbuf(usual);
  BOOST_TEST(status == 0);
  BOOST_TEST(printed.str() == "first\nsecond\nall written\nthird\nall written\n");
}

BOOST_AUTO_TEST_CASE(a_coroutine_does_not_suspend_for_an_event_that_is_set) {
  asio::io_context context;
  async_auto_reset_event work(context, true);
  std::string trace;
  auto const start = [&]() -> asio::awaitable<void> {
    co_await work.async_wait();  // goes on at once if the event is set, and resets it
    trace += "child ";
  };
  asio::post(context, [&] {
    asio::co_spawn(context, start(), asio::detached);
    trace += "parent";
  });
  context.run();
  BOOST_TEST(trace == "child parent");
  BOOST_TEST(!work.is_set());
}

BOOST_AUTO_TEST_CASE(so_many_sets_release_so_many_waits) {
  asio::io_context context;
  async_auto_reset_event work(context);
  int released = 0;
  auto const handler = [&](error_code error) { released += !error; };
  for (int i = 0; i < 3; ++i) work.async_wait(handler);
  work.set();
  work.set();  // two are released, the third waits
  BOOST_TEST(released == 0);
  context.poll();
  BOOST_TEST(released == 2);
  BOOST_TEST(work.waiters() == 1u);
  work.cancel();
}

BOOST_AUTO_TEST_CASE(of_several_sets_while_nobody_waits_one_is_remembered) {
  asio::io_context context;
  async_auto_reset_event work(context);
  work.set();
  work.set();
  work.wait();                    // at once
  bool more = work.wait_for(0s);  // false
  BOOST_TEST(!more);
}

BOOST_AUTO_TEST_SUITE_END()
