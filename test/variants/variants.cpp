// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// What users do with the library, compiled under every variant of flags: without Boost.Test, which
// needs RTTI.

#include <asio_sync.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/assert/source_location.hpp>
#include <boost/system/errc.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

#include <chrono>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using asio_sync::async_mutex;
using boost::system::error_code;
using lock_type = async_mutex::lock_type;

int faults = 0;

void expect(bool held, boost::source_location const& where = BOOST_CURRENT_LOCATION) {
  if (held) return;
  std::cerr << where << ": did not hold\n";
  ++faults;
}

// Each takes the lock in its own way, and counts.
asio::awaitable<void> with_use_awaitable(async_mutex& mutex, int& count) {
  lock_type const lock = co_await mutex.async_lock(asio::use_awaitable);
  co_await asio::post(asio::use_awaitable);
  ++count;
}

asio::awaitable<void> with_deferred(async_mutex& mutex, int& count) {
  auto [error, lock] = co_await mutex.async_lock_for(1h, asio::as_tuple(asio::deferred));
  co_await asio::post(asio::deferred);
  if (!error) ++count;
}

asio::awaitable<void> with_redirected_error(async_mutex& mutex, int& count) {
  error_code error;
  auto lock = co_await mutex.async_lock(asio::redirect_error(asio::use_awaitable, error));
  if (!error) ++count;
}

auto with_callback(int& count) {
  return [&count, owned = std::make_unique<int>(1)](error_code error, lock_type lock) {
    if (!error && lock.owns_lock()) count += *owned;
  };
}

void every_token_takes_its_turn() {
  asio::io_context context;
  asio::any_io_executor const strand = asio::make_strand(context);
  async_mutex mutex(strand);
  int count = 0;
  expect(mutex.try_lock());
  asio::co_spawn(context, with_use_awaitable(mutex, count), asio::detached);
  asio::co_spawn(strand, with_deferred(mutex, count), asio::detached);
  asio::co_spawn(strand, with_redirected_error(mutex, count), asio::detached);
  context.poll();
  mutex.async_lock(with_callback(count));
  mutex.async_lock(asio::bind_executor(context, with_callback(count)));
  mutex.async_lock_until(std::chrono::steady_clock::now() + 1h, with_callback(count));
  auto future = mutex.async_lock(asio::use_future);
  expect(mutex.waiters() == 7);
  mutex.unlock();
  context.run();
  expect(count == 6 && mutex.is_locked());
  expect(future.get().owns_lock());
  expect(!mutex.is_locked());
}

void threads_and_coroutines_exclude_each_other() {
  constexpr int rounds = 200;
  asio::thread_pool pool(2);
  async_mutex mutex(pool);
  int count = 0;
  for (int i = 0; i < rounds; ++i)
    asio::co_spawn(pool, with_use_awaitable(mutex, count), asio::detached);
  for (int i = 0; i < rounds; ++i) {
    std::scoped_lock const lock(mutex);
    ++count;
  }
  pool.join();
  expect(count == 2 * rounds);
}

asio::awaitable<void> lock_what_is_free(async_mutex& mutex, bool const& trip) {
  for (int i = 0; i < 100; ++i) auto const lock = co_await mutex.async_lock();
  expect(!trip || !asio_sync::detail::awaits_ready);
}

void free_lock_takes_no_trip() {
  asio::io_context context;
  async_mutex mutex(context);
  bool trip = false;
  asio::co_spawn(context, lock_what_is_free(mutex, trip), asio::detached);
  asio::post(context, [&] { asio::post(context, [&] { trip = true; }); });
  context.run();
}

// Counts how it was refused.
auto refusal(int& count, error_code expected) {
  return [&count, expected](error_code error, lock_type lock) {
    if (error == expected && !lock.owns_lock()) ++count;
  };
}

void refusals_arrive() {
  asio::io_context context;
  std::optional<async_mutex> mutex(std::in_place, context);
  int count = 0;
  expect(mutex->try_lock());
  asio::cancellation_signal stop;
  mutex->async_lock(
      asio::bind_cancellation_slot(stop.slot(), refusal(count, asio::error::operation_aborted)));
  mutex->async_lock_for(1ms, refusal(count, asio::error::timed_out));
  stop.emit(asio::cancellation_type::total);
  context.run();
  expect(count == 2);
  mutex->async_lock(refusal(count, asio::error::operation_aborted));
  expect(mutex->cancel() == 1);
  mutex->async_lock(refusal(count, asio::error::operation_aborted));
  mutex.emplace(context);
  mutex->close();
  mutex->async_lock(refusal(count, asio_sync::error::closed));
  context.restart();
  context.run();
  expect(count == 5);
}

template <class Function>
error_code thrown_by(Function f) {
  try {
    f();
  } catch (boost::system::system_error const& error) {
    return error.code();
  }
  return {};
}

void misuse_throws() {
  asio::io_context context;
  async_mutex mutex{asio::any_io_executor(asio::make_strand(context))};
  expect(thrown_by([&] { mutex.unlock(); }) == boost::system::errc::operation_not_permitted);
  expect(mutex.try_lock());
  asio::post(context, [&] {
    expect(thrown_by([&] { mutex.lock(); }) == boost::system::errc::resource_deadlock_would_occur);
  });
  context.run();
  expect(!mutex.try_lock_for(1ms));
}

void context_ends_with_waits() {
  std::optional<asio::io_context> context(std::in_place);
  async_mutex mutex(*context);
  int count = 0;
  expect(mutex.try_lock());
  mutex.async_lock(with_callback(count));
  asio::co_spawn(*context, with_deferred(mutex, count), asio::detached);
  context->poll();
  expect(mutex.waiters() == 2);
  context.reset();
  expect(count == 0 && mutex.waiters() == 0);
  mutex.unlock();
}

}  // namespace

int main() {
  every_token_takes_its_turn();
  threads_and_coroutines_exclude_each_other();
  free_lock_takes_no_trip();
  refusals_arrive();
  misuse_throws();
  context_ends_with_waits();
  return faults == 0 ? 0 : 1;
}
