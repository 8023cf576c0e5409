// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_SHARED_SIDE_HPP
#define ASIO_SYNC_TEST_SHARED_SIDE_HPP

#include <asio_sync/async_condition.hpp>
#include <asio_sync/async_mutex.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <functional>
#include <optional>
#include <utility>

namespace asio_sync::test {

// A wait that one side initiates: what is asked for, and what became of it.
struct side_wait {
  bool waits() const noexcept { return calls == 0 && destroyed == 0; }
  bool granted() const noexcept { return calls == 1 && !error && lock.owns_lock(); }
  bool refused(boost::system::error_code e) const noexcept {
    return calls == 1 && error == e && !lock.owns_lock();
  }
  bool dropped() const noexcept { return calls == 0 && destroyed == 1; }

  std::optional<boost::asio::cancellation_signal> stop{std::in_place};
  std::optional<std::chrono::milliseconds> time;
  std::function<void()> then;  // called by the handler

  int calls = 0;
  int destroyed = 0;
  boost::system::error_code error;
  async_mutex::lock_type lock;
};

// What the program and each of the libraries do with a mutex and a condition, each by code of its
// own: side.cpp is compiled into all of them.
class side {
 public:
  using executor = boost::asio::any_io_executor;

  virtual char const* name() const = 0;

  // Where the library keeps what there is one of in a process, or in each shared object.
  virtual void const* pool() const = 0;

  virtual async_mutex* make(executor const& ex) const = 0;
  virtual void destroy(async_mutex* mutex) const = 0;

  virtual void lock(async_mutex& mutex, side_wait& wait, executor const& ex) const = 0;
  virtual void lock_in_coroutine(async_mutex& mutex, side_wait& wait,
                                 executor const& ex) const = 0;
  virtual void lock_in_thread(async_mutex& mutex) const = 0;
  virtual void unlock(side_wait& wait) const = 0;
  virtual void unlock(async_mutex& mutex) const = 0;

  virtual void cancel(side_wait& wait) const = 0;
  virtual void cancel(async_mutex& mutex) const = 0;
  virtual void close(async_mutex& mutex) const = 0;

  virtual async_condition* make_condition(executor const& ex) const = 0;
  virtual void destroy(async_condition* condition) const = 0;
  virtual void wait(async_condition& condition, async_mutex& mutex, side_wait& wait,
                    executor const& ex) const = 0;

  virtual void run(boost::asio::io_context& context) const = 0;

  // Queues, hands over, cancels and destroys in a context of its own, and tells whether all went
  // well.
  virtual bool exercise() const = 0;

 protected:
  ~side() = default;
};

}  // namespace asio_sync::test

#endif
