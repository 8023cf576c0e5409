// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_UNIT_LOCKS_GUARDED_FIXTURE_HPP
#define ASIO_SYNC_TEST_UNIT_LOCKS_GUARDED_FIXTURE_HPP

#include "support/test.hpp"

#include <asio_sync/async_guarded.hpp>
#include <asio_sync/async_keyed_mutex.hpp>
#include <asio_sync/async_mutex.hpp>
#include <asio_sync/async_semaphore.hpp>
#include <asio_sync/async_shared_mutex.hpp>

namespace guarded_test {

using namespace asio_sync::test;

// An operation whose end the test decides: completes with an error, a number and a text.
class stopped {
 public:
  using signature = void(error_code, int, std::string);

  // NOLINTNEXTLINE(bugprone-forwarding-reference-overload)
  auto operator()(auto&& token) {
    return asio::async_initiate<decltype(token), signature>(
        [this](auto handler) {
          ++begun;
          if (fails_to_begin) throw std::bad_alloc();
          slot_ = asio::get_associated_cancellation_slot(handler);
          if (slot_.is_connected())
            slot_.assign([this](asio::cancellation_type) { end(aborted); });
          auto const kept = std::make_shared<decltype(handler)>(std::move(handler));
          pending_ = [kept](error_code error) {
            asio::dispatch(asio::get_associated_executor(*kept),
                           [kept, error] { std::move (*kept)(error, 7, "done"); });
          };
        },
        token);
  }

  void end(error_code error = {}) {
    if (slot_.is_connected()) slot_.clear();
    std::exchange(pending_, nullptr)(error);
  }
  void drop() { pending_ = nullptr; }
  bool is_pending() const { return static_cast<bool>(pending_); }

  int begun = 0;
  bool fails_to_begin = false;

 private:
  std::function<void(error_code)> pending_;
  asio::cancellation_slot slot_;
};

struct fixture {
  // The operation as a function that takes a token.
  auto operation() {
    return [this](auto&& token) { return inner(std::forward<decltype(token)>(token)); };
  }

  auto handler() {
    return [this](error_code error, int n, std::string const& text) {
      ++called;
      got = {error, n, text};
      locked_then = mutex.is_locked();
    };
  }

  void poll() { poll(context); }
  static void poll(asio::io_context& which) {
    which.restart();
    which.poll();
  }

  // Calls f with each way to guard an operation, with what keeps it from being acquired, and with
  // a function that tells whether it is free.
  template <class Function>
  void for_each_way(Function const& f) {
    f(mutex, mutex, [this] { return !mutex.is_locked(); });
    f(permits, permits, [this] { return permits.available() == 1; });
    async_shared_mutex both(context);
    auto const is_free = [&] { return !both.is_locked(); };
    f(both, both, is_free);
    auto side = shared(both);
    f(side, both, is_free);
    async_keyed_mutex<int> keys(context);
    auto key = keyed(keys, 1);
    f(key, key, [&] { return keys.size() == 0; });
  }

  asio::io_context context;
  async_mutex mutex{context};
  async_semaphore permits{context, 1, 1};
  stopped inner;
  int called = 0;
  std::tuple<error_code, int, std::string> got;
  bool locked_then = true;
};

inline std::tuple<error_code, int, std::string> const success{error_code(), 7, "done"};
inline auto nothing(error_code error) {
  return std::tuple<error_code, int, std::string>(error, 0, "");
}

}  // namespace guarded_test

#endif
