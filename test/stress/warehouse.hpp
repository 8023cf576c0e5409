// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_STRESS_WAREHOUSE_HPP
#define ASIO_SYNC_TEST_STRESS_WAREHOUSE_HPP

// Producers and consumers over a mutex and a condition.

#include "places.hpp"
#include "visitors.hpp"
#include "world.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

#include <memory>
#include <utility>

namespace asio_sync::test {

namespace asio = boost::asio;

class warehouse {
 public:
  using lock_type = async_mutex::lock_type;

  warehouse(world& w, primitives& p) : world_(w), p_(p) {}

  // The last notification; whoever misses it never ends.
  void close_down() {
    try {
      lock_type const lock(p_.stock_mutex);
      closed_down_ = true;
    } catch (boost::system::system_error const&) {  // closed
    }
    p_.stock_changed.notify_all();
  }

  bool is_right() const { return made_ == taken_ + stock_; }
  long taken() const { return taken_; }

  asio::awaitable<void> producer(unsigned seed) {
    random_choice random(seed);
    while (!world_.over()) {
      {
        auto [error, lock] = co_await p_.stock_mutex.async_lock(asio::as_tuple(asio::deferred));
        if (!lock.owns_lock()) continue;
        ++made_;
        ++stock_;
        if (random.one_in(2)) notify(random);
        if (random.one_in(8)) lock.unlock();
      }
      notify(random);
      co_await asio::post(co_await asio::this_coro::executor, asio::deferred);
    }
  }

  asio::awaitable<void> consumer(unsigned seed) {
    random_choice random(seed);
    auto const ready = [this] { return stock_ > 0 || closed_down_; };
    for (;;) {
      auto [error, lock] = co_await p_.stock_mutex.async_lock(asio::as_tuple(asio::deferred));
      if (!lock.owns_lock()) {
        if (p_.stock_mutex.is_closed()) co_return;
        continue;  // cancelled
      }
      operation_ticket ticket(world_.operations);
      auto& changed = p_.stock_changed;
      switch (random.below(world_.calm() ? 3 : 4)) {
        case 0: co_await changed.async_wait(lock, ready, asio::as_tuple(asio::deferred)); break;
        case 1:
          co_await changed.async_wait(lock, ready, asio::as_tuple(asio::use_awaitable));
          break;
        case 2:
          if (!ready()) co_await changed.async_wait(lock, asio::as_tuple(asio::deferred));
          break;
        default:
          co_await changed.async_wait_for(lock, some_time(random), ready,
                                          asio::as_tuple(asio::use_awaitable));
      }
      ticket.complete();
      if (!goes_on(lock)) co_return;
    }
  }

  void thread(unsigned seed) {
    random_choice random(seed);
    auto const ready = [this] { return stock_ > 0 || closed_down_; };
    for (;;) {
      lock_type lock;
      try {
        lock = lock_type(p_.stock_mutex);
        if (world_.calm() || random.one_in(2))
          p_.stock_changed.wait(lock, ready);
        else
          p_.stock_changed.wait_for(lock, some_time(random), ready);
      } catch (boost::system::system_error const&) {  // cancelled or closed
        if (world_.over() && world_.how != ending::by_itself) return;
      }
      if (lock.owns_lock() && !goes_on(lock)) return;
    }
  }

  // Callbacks, which carry their lock through and are cancelled.
  class caller : public std::enable_shared_from_this<caller> {
   public:
    caller(warehouse& at, unsigned seed)
        : at_(at), random_(seed), executor_(at.world_.any_serial_executor(random_)) {}

    void start() {
      asio::post(executor_, [self = this->shared_from_this()] { self->lock(); });
    }

   private:
    auto bound(void (caller::*next)(lock_type)) {
      return asio::bind_cancellation_slot(
          signal_.slot(),
          asio::bind_executor(executor_, [self = this->shared_from_this(), next,
                                          ticket = operation_ticket(at_.world_.operations)](
                                             error_code, lock_type lock) mutable {
            ticket.complete();
            (*self.*next)(std::move(lock));
          }));
    }

    void lock() { at_.p_.stock_mutex.async_lock(bound(&caller::wait)); }

    void wait(lock_type lock) {
      if (!lock.owns_lock()) return again();
      auto const ready = [&at = at_] { return at.stock_ > 0 || at.closed_down_; };
      auto& changed = at_.p_.stock_changed;
      unsigned const way = random_.below(at_.world_.calm() ? 1 : 3);
      if (way == 0)
        changed.async_wait(std::move(lock), ready, bound(&caller::take));
      else if (way == 1)
        changed.async_wait_for(std::move(lock), some_time(random_), ready, bound(&caller::take));
      else
        changed.async_wait_for(std::move(lock), some_time(random_), bound(&caller::take));
      if (!at_.world_.calm() && random_.one_in(2))
        asio::post(executor_, [self = this->shared_from_this()] {
          self->signal_.emit(any_cancellation(self->random_));
        });
    }

    void take(lock_type lock) {
      if (!lock.owns_lock()) return again();
      if (!at_.goes_on(lock)) return;
      lock.unlock();
      this->lock();
    }

    // It was cancelled, or is closed.
    void again() {
      if (!at_.p_.stock_mutex.is_closed()) lock();
    }

    warehouse& at_;
    random_choice random_;
    asio::any_io_executor executor_;
    asio::cancellation_signal signal_;
  };

 private:
  void notify(random_choice& random) {
    if (random.one_in(4))
      p_.stock_changed.notify_all();
    else
      p_.stock_changed.notify_one();
  }

  // Takes one, if there is any. False where there will be no more.
  bool goes_on(lock_type const& lock) {
    if (!lock.owns_lock()) return false;
    if (stock_ == 0) return !closed_down_;
    --stock_;
    ++taken_;
    return true;
  }

  world& world_;
  primitives& p_;
  long made_ = 0, taken_ = 0, stock_ = 0;  // the mutex guards them
  bool closed_down_ = false;
};

}  // namespace asio_sync::test

#endif
