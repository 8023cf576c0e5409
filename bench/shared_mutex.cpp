// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include <bench/lock_workloads.hpp>
#include <bench/mutex_lock.hpp>

#include <asio_sync/async_shared_mutex.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

namespace asio_sync::bench {

namespace {

// async_shared_mutex as the workloads lock it, for writing.
struct writer_lock {
  using held = async_shared_mutex::lock_type;

  explicit writer_lock(boost::asio::io_context& context) : mutex(context) {}

  bool try_lock() { return mutex.try_lock(); }
  void unlock() { mutex.unlock(); }
  ASIO_SYNC_INLINE void release(held& lock) { lock.unlock(); }

  template <class Token>
  auto async_lock(Token&& token) {
    return mutex.async_lock(std::forward<Token>(token));
  }

  async_shared_mutex mutex;
};

// The same for reading.
struct reader_lock {
  using held = async_shared_mutex::shared_lock_type;

  explicit reader_lock(boost::asio::io_context& context) : mutex(context) {}

  bool try_lock() { return mutex.try_lock_shared(); }
  void unlock() { mutex.unlock_shared(); }
  ASIO_SYNC_INLINE void release(held& lock) { lock.unlock(); }

  template <class Token>
  auto async_lock(Token&& token) {
    return mutex.async_lock_shared(std::forward<Token>(token));
  }

  async_shared_mutex mutex;
};

// Readers that a writer keeps waiting.
struct late_reader_lock : reader_lock {
  using reader_lock::reader_lock;

  bool try_lock() { return mutex.try_lock(); }
  void unlock() { mutex.unlock(); }
};

// W9: of twenty sections of a coroutine one writes; each goes through the executor once.
template <class Token>
boost::asio::awaitable<void> read_and_write(async_shared_mutex& mutex, std::type_identity<Token>,
                                            std::size_t n) {
  for (; n != 0; --n) {
    if (n % 20 == 0) {
      auto const lock = co_await mutex.async_lock(Token());
      co_await boost::asio::post(Token());
    } else {
      auto const lock = co_await mutex.async_lock_shared(Token());
      co_await boost::asio::post(Token());
    }
  }
}

template <class Token>
workload mostly_readers(reactor r, std::type_identity<Token> token, bool in_two_threads) {
  constexpr std::size_t coroutines = 64;
  auto const s = std::make_shared<scene<writer_lock>>(r);
  return {[=](std::size_t n) {
    for (std::size_t i = 0; i != coroutines; ++i)
      co_spawn(s->context.io(), read_and_write(s->lock.mutex, token, n / coroutines),
               boost::asio::detached);
    if (in_two_threads)
      s->context.run_in_two_threads();
    else
      s->context.run();
  }};
}

}  // namespace

void add_shared_mutex_workloads(catalogue& all) {
  all["W1/shared mutex, write"] = {1000, [] { return try_lock_loop<writer_lock>(); }};
  all["W1/shared mutex, read"] = {1000, [] { return try_lock_loop<reader_lock>(); }};
  for (reactor const r : reactors) {
    all["W6/1000/shared mutex, read" + r] = {
        1000, [=] { return queue_and_drain<late_reader_lock>(r, 1000); }};
    for_plain_tokens([&](std::string const& name, auto token) {
      all["W3/" + name + "/shared mutex, write" + r] = {
          4096, [=] { return free_lock<writer_lock>(r, token); }};
      all["W3/" + name + "/shared mutex, read" + r] = {
          4096, [=] { return free_lock<reader_lock>(r, token); }};
      all["W9/" + name + "/shared mutex" + r] = {section_count(64),
                                                 [=] { return mostly_readers(r, token, false); }};
    });
  }
  for_plain_tokens([&](std::string const& name, auto token) {
    all["W9/two threads/" + name + "/shared mutex"] = {
        threaded_sections, [=] { return mostly_readers(reactor::absent, token, true); }, true};
  });
}

}  // namespace asio_sync::bench
