// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The pages of the HTTP server: lists of prime numbers, which take a while to compute. A page is
// computed once, however many ask for it at the same time, and kept for those who ask later.

#ifndef ASIO_SYNC_EXAMPLE_HTTP_SERVER_PAGES_HPP
#define ASIO_SYNC_EXAMPLE_HTTP_SERVER_PAGES_HPP

#include <asio_sync/async_keyed_mutex.hpp>
#include <asio_sync/async_shared_mutex.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace http_server {

namespace asio = boost::asio;

/// The text of a page, which may be sent while the cache forgets it.
using page = std::shared_ptr<std::string const>;

/// Lists of primes, one for each number up to which they go. Its coroutines may run on any
/// executor, many at a time.
class prime_pages {
 public:
  static constexpr int greatest = 1'000'000;

  explicit prime_pages(asio::any_io_executor const& ex) : mutex_(ex), computing_(ex) {}

  /// The primes up to n.
  asio::awaitable<page> get(int n) {
    if (page found = co_await find(n)) co_return found;
    auto const key = co_await computing_.async_lock(n);  // others who want this page wait here
    if (page found = co_await find(n)) co_return found;  // as we may have done
    page computed = co_await compute(n);
    auto const lock = co_await mutex_.async_lock();
    if (pages_.size() == most_pages) pages_.clear();
    computed_twice_ = !pages_.emplace(n, computed).second || computed_twice_;
    ++computed_;
    co_return computed;
  }

  /// How many pages were computed; to be called when nobody gets any.
  int computed() const { return computed_; }

  /// Whether some page was computed although it was there.
  bool computed_twice() const { return computed_twice_; }

 private:
  static constexpr std::size_t most_pages = 100;

  asio::awaitable<page> find(int n) {
    auto const lock = co_await mutex_.async_lock_shared();  // beside all others who look
    auto const found = pages_.find(n);
    co_return found == pages_.end() ? nullptr : found->second;
  }

  static asio::awaitable<page> compute(int n) {
    std::vector<bool> composite(static_cast<std::size_t>(n) + 1);
    std::string text;
    for (std::size_t i = 2; i < composite.size(); ++i) {
      if (i % 10'000 == 0) co_await asio::post(asio::use_awaitable);  // somebody else's turn
      if (composite[i]) continue;
      text += std::to_string(i) + '\n';
      for (std::size_t k = i * i; k < composite.size(); k += i) composite[k] = true;
    }
    co_return std::make_shared<std::string const>(std::move(text));
  }

  asio_sync::async_shared_mutex mutex_;  // guards pages_
  std::map<int, page> pages_;
  asio_sync::async_keyed_mutex<int> computing_;
  int computed_ = 0;
  bool computed_twice_ = false;
};

}  // namespace http_server

#endif
