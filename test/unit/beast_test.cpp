// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Together with Boost.Beast, whose handlers bring associators of their own.

#include <asio_sync/async_mutex.hpp>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/beast/core/bind_handler.hpp>
#include <boost/test/unit_test.hpp>

#include <memory>
#include <mutex>
#include <utility>

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio_sync::async_mutex;
using boost::system::error_code;

// As sessions of Beast's examples are written.
struct session : std::enable_shared_from_this<session> {
  explicit session(async_mutex& m) : mutex(m) {}

  void start() {
    mutex.async_lock(beast::bind_front_handler(&session::on_lock, shared_from_this()));
  }

  void on_lock(error_code e, async_mutex::lock_type l) {
    ++calls;
    error = e;
    lock = std::move(l);
  }

  async_mutex& mutex;
  int calls = 0;
  error_code error;
  async_mutex::lock_type lock;
};

struct fixture {
  asio::io_context context;
  async_mutex mutex{context};
  std::shared_ptr<session> one = std::make_shared<session>(mutex);

  void poll() {
    context.restart();
    context.poll();
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(beast_test, fixture)

BOOST_AUTO_TEST_CASE(bind_front_handler) {
  auto const two = std::make_shared<session>(mutex), three = std::make_shared<session>(mutex);
  one->start();
  two->start();
  three->start();
  BOOST_TEST(one.use_count() == 2);
  poll();
  BOOST_TEST((one->calls == 1 && one->lock.owns_lock()));
  BOOST_TEST(one.use_count() == 1);
  one->lock.unlock();
  poll();
  BOOST_TEST((two->calls == 1 && two->lock.owns_lock()));
  mutex.cancel();
  poll();
  BOOST_TEST((three->calls == 1 && three->error == asio::error::operation_aborted));
}

BOOST_AUTO_TEST_CASE(bind_front_handler_keeps_what_is_associated) {
  auto const strand = asio::make_strand(context);
  int calls = 0;
  auto const handler =
      asio::bind_executor(strand, [&](int number, error_code e, async_mutex::lock_type lock) {
        BOOST_TEST(strand.running_in_this_thread());
        BOOST_TEST((number == 7 && !e && lock.owns_lock()));
        ++calls;
      });
  BOOST_REQUIRE(mutex.try_lock());
  mutex.async_lock(beast::bind_front_handler(handler, 7));
  mutex.unlock();
  mutex.async_lock(beast::bind_front_handler(handler, 7));
  poll();
  BOOST_TEST(calls == 2);
}

BOOST_AUTO_TEST_SUITE_END()
