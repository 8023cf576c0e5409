// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include "side.hpp"

#include <asio_sync/async_condition.hpp>
#include <asio_sync/async_mutex.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <mutex>
#include <utility>

namespace asio_sync::test {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

class handler {
 public:
  explicit handler(side_wait& wait) noexcept : wait_(&wait) {}
  handler(handler&& other) noexcept : wait_(std::exchange(other.wait_, nullptr)) {}
  handler& operator=(handler&&) = delete;
  ~handler() {
    if (wait_) ++wait_->destroyed;
  }

  void operator()(error_code error, async_mutex::lock_type lock) {
    ++wait_->calls;
    wait_->error = error;
    wait_->lock = std::move(lock);
    if (wait_->then) wait_->then();
  }

 private:
  side_wait* wait_;
};

class this_side final : public side {
 public:
  char const* name() const override { return ASIO_SYNC_TEST_SIDE_NAME; }
  void const* pool() const override { return &detail::pool::depots; }

  async_mutex* make(executor const& ex) const override { return new async_mutex(ex); }
  void destroy(async_mutex* mutex) const override { delete mutex; }

  void lock(async_mutex& mutex, side_wait& wait, executor const& ex) const override {
    auto bound =
        asio::bind_cancellation_slot(wait.stop->slot(), asio::bind_executor(ex, handler(wait)));
    if (wait.time)
      mutex.async_lock_for(*wait.time, std::move(bound));
    else
      mutex.async_lock(std::move(bound));
  }

  void lock_in_coroutine(async_mutex& mutex, side_wait& wait, executor const& ex) const override {
    asio::co_spawn(ex, coroutine(mutex, handler(wait)),
                   asio::bind_cancellation_slot(wait.stop->slot(), [](std::exception_ptr) {}));
  }

  void lock_in_thread(async_mutex& mutex) const override { mutex.lock(); }
  void unlock(side_wait& wait) const override { wait.lock.unlock(); }
  void unlock(async_mutex& mutex) const override { mutex.unlock(); }

  void cancel(side_wait& wait) const override {
    wait.stop->emit(asio::cancellation_type::terminal);
  }
  void cancel(async_mutex& mutex) const override { mutex.cancel(); }
  void close(async_mutex& mutex) const override { mutex.close(); }

  async_condition* make_condition(executor const& ex) const override {
    return new async_condition(ex);
  }
  void destroy(async_condition* condition) const override { delete condition; }

  void wait(async_condition& condition, async_mutex& mutex, side_wait& wait,
            executor const& ex) const override {
    condition.async_wait(async_mutex::lock_type(mutex), asio::bind_executor(ex, handler(wait)));
  }

  void run(asio::io_context& context) const override {
    context.restart();
    context.run();
  }

  bool exercise() const override {
    asio::io_context context;
    async_mutex mutex(context);
    auto const strand = asio::make_strand(context);
    std::array<side_wait, 4> waits;
    waits[2].time = waits[3].time = std::chrono::hours(1);
    for (auto& wait : waits) {
      lock(mutex, wait, strand);
      wait.then = [&wait] { wait.lock = {}; };
    }
    cancel(waits[3]);
    context.run();
    return !mutex.is_locked() && waits[3].refused(asio::error::operation_aborted) &&
           std::ranges::all_of(waits, [](side_wait const& wait) { return wait.calls == 1; });
  }

 private:
  static asio::awaitable<void> coroutine(async_mutex& mutex, handler received) {
    error_code error;
    async_mutex::lock_type lock =
        co_await mutex.async_lock(asio::redirect_error(asio::use_awaitable, error));
    received(error, std::move(lock));
  }
};

constinit this_side const instance{};

}  // namespace
}  // namespace asio_sync::test

// The name is another one in each of those that side.cpp is compiled into.
extern "C" __attribute__((visibility("default"))) asio_sync::test::side const*
ASIO_SYNC_TEST_SIDE() {
  return &asio_sync::test::instance;
}
