// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Shows that plain threads and coroutines share one async_mutex. Three threads, with lock,
// try_lock and try_lock_for, and two coroutines, with async_lock and async_lock_for, add to one
// plain counter, and no addition is lost. Then a lock with a time-out meets a holder that holds
// the mutex for longer: it reports timed_out, and the same lock succeeds later. This happens once
// in a coroutine and once in a thread.

#include "command_line.hpp"

#include <asio_sync/async_mutex.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <chrono>
#include <future>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>

namespace asio = boost::asio;
using asio::use_awaitable;
using asio::use_future;
using asio_sync::async_mutex;
using namespace std::chrono_literals;

constexpr int additions = 1000;  // of each thread and coroutine
constexpr auto patience = 20ms;  // less than the holder's

// Guarded by the mutex, and nothing else: neither atomic nor confined to a thread.
struct guarded_counter {
  async_mutex mutex;
  int value = 0;
};

// Threads that run no event loop use the mutex as they would a std::timed_mutex.

void add_with_lock(guarded_counter& counter) {
  for (int i = 0; i < additions; ++i) {
    std::scoped_lock const lock(counter.mutex);
    ++counter.value;
  }
}

void add_with_try_lock(guarded_counter& counter) {
  for (int i = 0; i < additions; ++i) {
    async_mutex::lock_type lock(counter.mutex, std::try_to_lock);
    while (!lock && !lock.try_lock()) std::this_thread::yield();
    ++counter.value;
  }
}

void add_with_try_lock_for(guarded_counter& counter) {
  for (int i = 0; i < additions; ++i) {
    async_mutex::lock_type lock(counter.mutex, std::defer_lock);
    while (!lock.try_lock_for(patience)) std::this_thread::yield();
    ++counter.value;
  }
}

// Coroutines hold it even across a suspension, which blocks no thread.

asio::awaitable<void> add_one(guarded_counter& counter) {
  int const value = counter.value;
  co_await asio::post(use_awaitable);
  counter.value = value + 1;
}

asio::awaitable<void> add_with_async_lock(guarded_counter& counter) {
  for (int i = 0; i < additions; ++i) {
    auto lock = co_await counter.mutex.async_lock();
    co_await add_one(counter);
  }
}

asio::awaitable<void> add_with_async_lock_for(guarded_counter& counter) {
  for (int i = 0; i < additions; ++i) {
    auto lock = co_await counter.mutex.async_lock_for(1h);
    co_await add_one(counter);
  }
}

bool show_counter(asio::thread_pool& pool) {
  guarded_counter counter{async_mutex(pool)};
  auto const in_thread = [&](void (*add)(guarded_counter&)) {
    return std::async(std::launch::async, [add, &counter] { add(counter); });
  };
  std::future<void> users[] = {
      in_thread(add_with_lock),
      in_thread(add_with_try_lock),
      in_thread(add_with_try_lock_for),
      asio::co_spawn(pool, add_with_async_lock(counter), use_future),
      asio::co_spawn(pool, add_with_async_lock_for(counter), use_future),
  };
  int expected = 0;
  for (auto& user : users) {
    user.get();
    expected += additions;
  }
  std::cout << "counter: " << counter.value << " of " << expected << '\n';
  return counter.value == expected;
}

// What became of a lock with a time-out.
asio::awaitable<std::string> try_in_coroutine(async_mutex& mutex) {
  auto [error, lock] = co_await mutex.async_lock_for(patience, asio::as_tuple(use_awaitable));
  if (error == asio::error::timed_out) co_return "timed_out";
  co_return error ? error.message() : "locked";
}

std::string try_in_thread(async_mutex& mutex) {
  async_mutex::lock_type const lock(mutex, patience);
  return lock ? "locked" : "timed_out";
}

bool show_time_out(asio::thread_pool& pool) {
  async_mutex mutex(pool);
  bool as_expected = true;
  auto const report = [&](std::string const& what, std::string const& seen, std::string expected) {
    std::cout << what << ": " << seen << '\n';
    as_expected = as_expected && seen == expected;
  };
  auto const coroutine = [&] {
    return asio::co_spawn(pool, try_in_coroutine(mutex), use_future).get();
  };
  auto const thread = [&] {
    return std::async(std::launch::async, [&] { return try_in_thread(mutex); }).get();
  };

  // The holder waits for the answer with the mutex held: longer than any time-out.
  async_mutex::lock_type held(mutex);  // this thread's
  report("async_lock_for while a thread holds the mutex", coroutine(), "timed_out");
  held.unlock();
  report("async_lock_for later", coroutine(), "locked");

  held = mutex.async_lock(use_future).get();  // as a coroutine would
  report("try_lock_for while an asynchronous operation holds it", thread(), "timed_out");
  held.unlock();
  report("try_lock_for later", thread(), "locked");
  return as_expected;
}

int main(int argc, char** argv) {
  return command_line::run(
      argc, argv, "blocking_and_async",
      "Locks one async_mutex from threads and from coroutines, with and without time-outs.",
      command_line::options::options_description("Options"), [] {
        asio::thread_pool pool(2);
        bool const exact = show_counter(pool);
        return show_time_out(pool) && exact;
      });
}
