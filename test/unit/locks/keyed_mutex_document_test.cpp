// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The code in doc/async_keyed_mutex.md that is in no example.

#include "support/coroutine.hpp"
#include "support/test.hpp"

#include <asio_sync/async_keyed_mutex.hpp>

// The program on the page, from its first line to its last; what it includes is included above.
namespace keyed_mutex_program {

// clang-format off
#include <asio_sync/async_keyed_mutex.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <iostream>
#include <string>

namespace asio = boost::asio;
using users_type = asio_sync::async_keyed_mutex<std::string>;

asio::awaitable<void> serve(users_type& users, std::string user, int request) {
  auto lock = co_await users.async_lock(user);
  std::cout << request << " begins for " << lock.key() << '\n';
  co_await asio::post(asio::use_awaitable);  // reads, computes, writes back
  std::cout << request << " ends\n";
}

int main() {
  asio::io_context context;
  users_type users(context);
  asio::co_spawn(context, serve(users, "ann", 1), asio::detached);
  asio::co_spawn(context, serve(users, "ann", 2), asio::detached);
  asio::co_spawn(context, serve(users, "bob", 3), asio::detached);
  context.run();
  std::cout << users.size() << " keys in use\n";
  return 0;
}
// clang-format on

}  // namespace keyed_mutex_program

namespace keyed_mutex_document {

using namespace asio_sync::test;
using asio::as_tuple;
using asio::use_awaitable;

}  // namespace keyed_mutex_document

BOOST_AUTO_TEST_SUITE(keyed_mutex_document)

BOOST_AUTO_TEST_CASE(R7_the_program_prints_what_the_page_shows) {
  std::ostringstream printed;
  auto* const screen = std::cout.rdbuf(printed.rdbuf());
  int const status = keyed_mutex_program::main();
  std::cout.rdbuf(screen);
  BOOST_TEST(status == 0);
  BOOST_TEST(printed.str() ==
             "1 begins for ann\n3 begins for bob\n1 ends\n3 ends\n2 begins for ann\n2 ends\n"
             "0 keys in use\n");
}

BOOST_AUTO_TEST_CASE(R11_a_key_is_tried_and_waited_for) {
  asio::io_context context;
  asio_sync::async_keyed_mutex<std::string> users(context);
  if (auto lock = users.try_lock("ann")) lock.unlock();  // it was free
  BOOST_TEST(users.size() == 0u);
  auto const held = users.try_lock("ann");
  run(context, [&]() -> asio::awaitable<void> {
    auto [error, lock] = co_await users.async_lock_for("ann", 1ms, as_tuple(use_awaitable));
    BOOST_TEST((error == asio::error::timed_out && !lock));
  });
}

BOOST_AUTO_TEST_SUITE_END()
