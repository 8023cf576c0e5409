// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The server of the example once more, without the primitives: what stands in their place does
// nothing, so that the strands are all that is left. One thread, and few clients, need no more.

#include <bench/http_workload.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/append.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace asio_sync_bare {

namespace asio = boost::asio;

struct semaphore_permit {
  void release() {}
};

// What asks for something has it.
template <class Held, class Handler>
void complete(asio::any_io_executor const& ex, Handler handler) {
  asio::dispatch(ex, asio::append(std::move(handler), boost::system::error_code(), Held()));
}

class async_semaphore {
 public:
  async_semaphore(asio::io_context& context, int n, int max)
      : async_semaphore(context.get_executor(), n, max) {}
  async_semaphore(asio::any_io_executor const& ex, int, int max) : executor_(ex), max_(max) {}

  template <class Handler>
  void async_acquire(Handler handler) {
    complete<semaphore_permit>(executor_, std::move(handler));
  }
  int available() const { return max_; }
  void close() {}

 private:
  asio::any_io_executor executor_;
  int max_;
};

class async_mutex {
 public:
  struct lock_type {
    lock_type() = default;
    lock_type(async_mutex&, std::try_to_lock_t) {}
  };

  explicit async_mutex(asio::any_io_executor const& ex) : executor_(ex) {}

  template <class Handler>
  void async_lock(Handler handler) {
    complete<lock_type>(executor_, std::move(handler));
  }

 private:
  asio::any_io_executor executor_;
};

// Nobody is told to end: the clients close.
struct async_group {
  explicit async_group(asio::any_io_executor const&) {}

  template <class Handler>
  Handler track(Handler handler) {
    return handler;
  }
  template <class Handler>
  void async_join_for(std::chrono::milliseconds, Handler) {}
  void cancel_pending() {}
  std::size_t pending() const { return 0; }
};

struct async_manual_reset_event {
  explicit async_manual_reset_event(asio::any_io_executor const&) {}

  template <class Handler>
  void async_wait(Handler) {}
};

}  // namespace asio_sync_bare

namespace bare_http_server {

namespace asio = boost::asio;
using page = std::shared_ptr<std::string const>;

// Looks as that of the example does, in a map that nothing guards.
class prime_pages {
 public:
  static constexpr int greatest = 1'000'000;

  explicit prime_pages(asio::any_io_executor const&) {}

  asio::awaitable<page> get(int n) {
    if (page found = co_await find(n)) co_return found;
    co_return pages_[n] = compute(n);
  }
  int computed() const { return static_cast<int>(pages_.size()); }
  bool computed_twice() const { return false; }

 private:
  asio::awaitable<page> find(int n) {
    auto const found = pages_.find(n);
    co_return found == pages_.end() ? nullptr : found->second;
  }

  static page compute(int n) {
    std::string text;
    for (int i = 2; i <= n; ++i) {
      int divisor = 2;
      while (i % divisor != 0) ++divisor;
      if (divisor == i) text += std::to_string(i) + '\n';
    }
    return std::make_shared<std::string const>(std::move(text));
  }

  std::map<int, page> pages_;
};

}  // namespace bare_http_server

// The headers of the primitives and of the pages are not to be seen, and their names mean the
// above.
#define ASIO_SYNC_ASYNC_GROUP_HPP
#define ASIO_SYNC_ASYNC_MANUAL_RESET_EVENT_HPP
#define ASIO_SYNC_ASYNC_MUTEX_HPP
#define ASIO_SYNC_ASYNC_SEMAPHORE_HPP
#define ASIO_SYNC_EXAMPLE_HTTP_SERVER_PAGES_HPP
#define asio_sync asio_sync_bare
#define http_server bare_http_server
#include <example/http_server.hpp>
#undef asio_sync
#undef http_server

namespace asio_sync::bench {

void add_bare_http_workload(catalogue& all) {
  all["http/bare"] = http_requests<bare_http_server::server>();
}

}  // namespace asio_sync::bench
