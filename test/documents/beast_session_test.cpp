// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The session of Boost.Beast in doc/recipes.md: its handlers stay on its strand.

#include "documents/support.hpp"

#include <asio_sync/async_mutex.hpp>
#include <asio_sync/error.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/address_v4.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core/bind_handler.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace beast_session_test {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using asio_sync::async_mutex;
using boost::system::error_code;
using strand = asio::strand<asio::thread_pool::executor_type>;

// What all sessions share: a number that takes an asynchronous step to read and to write back.
struct visits {
  explicit visits(asio::thread_pool& pool) : executor(pool.get_executor()), mutex(executor) {}

  // Adds one, and calls f(value), on the executor of f.
  template <class Function>
  void async_add(Function&& f) {
    see_whether_in(asio::get_associated_executor(f));
    asio::post(
        asio::bind_executor(asio::get_associated_executor(f, executor),
                            [this, seen = value, function = std::forward<Function>(f)]() mutable {
                              value = seen + 1;
                              function(value);
                            }));
  }

  void see_whether_in(asio::any_io_executor const& wanted) {
    auto const* own = wanted.target<strand>();
    if (!own || !own->running_in_this_thread()) ++off_strand;
  }

  asio::thread_pool::executor_type executor;
  async_mutex mutex;
  int value = 0;
  std::atomic<int> off_strand{0};
};

class session : public std::enable_shared_from_this<session> {
 public:
  session(tcp::socket socket, visits& shared) : stream_(std::move(socket)), visits_(shared) {}

  void start() {
    asio::dispatch(stream_.get_executor(),
                   beast::bind_front_handler(&session::read, shared_from_this()));
  }

 private:
  void read() {
    stream_.expires_after(std::chrono::seconds(30));
    http::async_read(stream_, buffer_, request_,
                     beast::bind_front_handler(&session::on_read, shared_from_this()));
  }

  void on_read(error_code error, std::size_t) {
    if (error) return fail(error, "read");
    // Without bind_executor, on_lock would run on the executor of the mutex: on any thread.
    visits_.mutex.async_lock(asio::bind_executor(
        stream_.get_executor(), beast::bind_front_handler(&session::on_lock, shared_from_this())));
  }

  void on_lock(error_code error, async_mutex::lock_type lock) {
    if (error) return fail(error, "lock");
    lock_ = std::move(lock);  // a member: it lives as long as the steps that follow
    visits_.async_add(asio::bind_executor(
        stream_.get_executor(), beast::bind_front_handler(&session::on_add, shared_from_this())));
  }

  void on_add(int number) {
    lock_.unlock();  // the next session goes on, while this one writes its response
    make_response(number);
    http::async_write(stream_, response_,
                      beast::bind_front_handler(&session::on_write, shared_from_this()));
  }

  void on_write(error_code error, std::size_t) {
    if (error) return fail(error, "write");
    stream_.socket().shutdown(tcp::socket::shutdown_send, error);
  }

  static void fail(error_code error, char const* what) {
    if (error == asio::error::operation_aborted || error == asio_sync::error::closed) return;
    std::cerr << what << ": " << error.message() << '\n';
  }

  void make_response(int number) {
    visits_.see_whether_in(stream_.get_executor());
    response_.version(request_.version());
    response_.keep_alive(false);
    response_.body() = std::to_string(number);
    response_.prepare_payload();
  }

  beast::tcp_stream stream_;
  visits& visits_;
  beast::flat_buffer buffer_;
  http::request<http::empty_body> request_;
  http::response<http::string_body> response_;
  async_mutex::lock_type lock_;
};

// The number in the answer, for which it waits.
int answer(tcp::socket& socket) {
  beast::flat_buffer buffer;
  http::response<http::string_body> response;
  http::read(socket, buffer, response);
  return std::stoi(response.body());
}

}  // namespace beast_session_test

BOOST_AUTO_TEST_SUITE(beast_session_test)

BOOST_AUTO_TEST_CASE(handlers_stay_on_the_strand_of_their_session) {
  constexpr int clients = 5;
  asio::thread_pool pool(2);
  visits shared(pool);
  tcp::acceptor acceptor(pool, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
  std::vector<tcp::socket> connected;
  for (int i = 0; i < clients; ++i) {
    connected.emplace_back(pool).connect(acceptor.local_endpoint());
    std::make_shared<session>(acceptor.accept(asio::make_strand(pool)), shared)->start();
  }
  http::request<http::empty_body> const request(http::verb::get, "/", 11);
  for (auto& client : connected) http::write(client, request);
  int sum = 0;
  for (auto& client : connected) sum += answer(client);
  BOOST_TEST(sum == 1 + 2 + 3 + 4 + 5);
  BOOST_TEST(shared.off_strand == 0);
  pool.join();
}

BOOST_AUTO_TEST_SUITE_END()
