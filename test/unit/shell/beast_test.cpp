// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Together with Boost.Beast, whose handlers bring associators of their own.

#include "support/test.hpp"
#include "unit/group/strands.hpp"

#include <asio_sync/async_group.hpp>
#include <asio_sync/async_mutex.hpp>

#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/beast/core/async_base.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/bind_handler.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>

namespace beast_test {

using namespace asio_sync::test;
namespace beast = boost::beast;

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

  void poll() { test::poll(context); }
};

// A composed operation, as Beast has them written: adds one to a number, in two steps, for which
// it awaits the mutex. The guard is in the operation, and goes before the handler is called.
template <class Handler>
class add_one : public beast::async_base<Handler, asio::any_io_executor> {
  using base = beast::async_base<Handler, asio::any_io_executor>;

 public:
  add_one(Handler handler, async_mutex& mutex, int& number)
      : base(std::move(handler), mutex.get_executor()), number_(number) {
    mutex.async_lock(std::move(*this));
  }

  void operator()(error_code error, async_mutex::lock_type lock) {
    if (error) return this->complete(true, error);
    lock_ = std::move(lock);
    seen_ = number_;
    asio::post(std::move(*this));
  }

  void operator()() {
    number_ = seen_ + 1;
    lock_.unlock();
    this->complete(true, error_code());
  }

 private:
  int& number_;
  int seen_ = 0;
  async_mutex::lock_type lock_;
};

template <class Token>
auto async_add_one(async_mutex& mutex, int& number, Token&& token) {
  return asio::async_initiate<Token, void(error_code)>(
      [](auto handler, async_mutex* m, int* n) {
        add_one<decltype(handler)>(std::move(handler), *m, *n);
      },
      token, &mutex, &number);
}

// A stream on a strand, whose other end never sends anything.
struct silent_client {
  using protocol = asio::local::stream_protocol;
  using strand = asio_sync::test::group_of_strands::strand;

  explicit silent_client(strand const& own) : other(own), stream(own) {
    asio::local::connect_pair(stream.socket(), other);
  }

  asio::basic_stream_socket<protocol, strand> other;
  beast::basic_stream<protocol, strand> stream;
  beast::flat_buffer buffer;
  beast::http::request<beast::http::string_body> request;
};

}  // namespace beast_test

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

BOOST_AUTO_TEST_CASE(a_composed_operation_awaits_the_mutex) {
  auto const strand = asio::make_strand(context);
  int number = 0, calls = 0;
  auto const handler = [&](error_code e) {
    BOOST_TEST(strand.running_in_this_thread());
    BOOST_TEST(!e);
    ++calls;
  };
  for (int i = 0; i < 3; ++i) async_add_one(mutex, number, asio::bind_executor(strand, handler));
  poll();
  BOOST_TEST((number == 3 && calls == 3));
  BOOST_TEST(!mutex.is_locked());
}

BOOST_AUTO_TEST_CASE(a_composed_operation_is_cancelled_while_it_awaits_the_mutex) {
  asio::cancellation_signal stop;
  int number = 0, calls = 0;
  BOOST_REQUIRE(mutex.try_lock());
  async_add_one(mutex, number, asio::bind_cancellation_slot(stop.slot(), [&](error_code e) {
                  BOOST_TEST((e == asio::error::operation_aborted));
                  ++calls;
                }));
  stop.emit(asio::cancellation_type::terminal);
  poll();
  BOOST_TEST((calls == 1 && number == 0));
}

BOOST_FIXTURE_TEST_CASE(W4_reads_of_a_group_are_cancelled_in_their_strands,
                        asio_sync::test::group_of_strands) {
  cancels([&](strand const& own) {
    auto const client = std::make_shared<silent_client>(own);
    beast::http::async_read(client->stream, client->buffer, client->request,
                            group->track([client](error_code, std::size_t) {}));
  });
}

BOOST_AUTO_TEST_SUITE_END()
