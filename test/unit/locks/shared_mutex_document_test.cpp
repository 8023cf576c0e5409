// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The code in doc/async_shared_mutex.md.

#include "support/test.hpp"

#include <asio_sync/async_shared_mutex.hpp>

// The program on the page, from its first line to its last; what it includes is included above.
namespace shared_mutex_program {

// clang-format off
#include <asio_sync/async_shared_mutex.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <iostream>
#include <string>

namespace asio = boost::asio;

struct page {
  explicit page(asio::io_context& context) : mutex(context) {}

  asio_sync::async_shared_mutex mutex;
  std::string text = "old";
};

asio::awaitable<void> read(page& p, int reader) {
  auto lock = co_await p.mutex.async_lock_shared();  // with other readers
  std::cout << reader << " reads " << p.text << '\n';
  co_await asio::post(asio::use_awaitable);  // instead of sending it
  std::cout << reader << " has read\n";
}

asio::awaitable<void> write(page& p) {
  auto lock = co_await p.mutex.async_lock();  // alone
  p.text = "new";
  std::cout << "written\n";
}

int main() {
  asio::io_context context;
  page p(context);
  asio::co_spawn(context, read(p, 1), asio::detached);
  asio::co_spawn(context, read(p, 2), asio::detached);
  asio::co_spawn(context, write(p), asio::detached);
  asio::co_spawn(context, read(p, 3), asio::detached);
  context.run();
  return 0;
}
// clang-format on

}  // namespace shared_mutex_program

namespace shared_mutex_document_test {

using namespace asio_sync::test;
using asio::as_tuple;
using asio::deferred;

struct fixture {
  asio::awaitable<int> load() { co_return ++loads; }
  asio::awaitable<void> send(int sent) {
    BOOST_TEST(mutex.try_lock_shared());  // others may read
    mutex.unlock_shared();
    last_sent = sent;
    co_return;
  }
  bool is_stale(int t) const { return t < newest; }

  asio::awaitable<void> write_and_send() {
    auto lock = co_await mutex.async_lock();
    table = co_await load();
    auto shared = async_shared_mutex::downgrade(std::move(lock));
    co_await send(table);  // as others may
  }

  // NOLINTBEGIN(bugprone-use-after-move): the lock comes back with the error
  asio::awaitable<void> refresh() {
    auto shared = co_await mutex.async_lock_shared();
    if (!is_stale(table)) co_return;
    auto [error, lock] = co_await mutex.async_upgrade(std::move(shared), as_tuple(deferred));
    if (error) {
      shared.unlock();
      lock = co_await mutex.async_lock();
      if (!is_stale(table)) co_return;  // somebody else was faster
    }
    table = co_await load();
  }
  // NOLINTEND(bugprone-use-after-move)

  asio::io_context context;
  async_shared_mutex mutex{context};
  int table = 0, loads = 0, last_sent = 0, newest = 1;
};

}  // namespace shared_mutex_document_test

BOOST_FIXTURE_TEST_SUITE(shared_mutex_document_test, fixture)

BOOST_AUTO_TEST_CASE(the_program_prints_what_the_page_says) {
  std::ostringstream out;
  auto* const before = std::cout.rdbuf(out.rdbuf());
  shared_mutex_program::main();
  std::cout.rdbuf(before);
  BOOST_TEST(out.str() ==
             "1 reads old\n2 reads old\n1 has read\n2 has read\nwritten\n3 reads new\n"
             "3 has read\n");
}

BOOST_AUTO_TEST_CASE(what_was_written_is_sent_under_a_readers_lock) {
  asio::co_spawn(context, write_and_send(), asio::detached);
  context.run();
  BOOST_TEST((last_sent == 1 && !mutex.is_locked()));
}

BOOST_AUTO_TEST_CASE(two_find_it_stale_and_one_loads_it) {
  async_shared_mutex::shared_lock_type reader(mutex);
  asio::co_spawn(context, refresh(), asio::detached);
  asio::co_spawn(context, refresh(), asio::detached);
  context.poll();
  reader.unlock();
  context.restart();
  context.run();
  BOOST_TEST((loads == 1 && table == 1 && !mutex.is_locked()));
}

BOOST_AUTO_TEST_SUITE_END()
