// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Cancellation by slot, over a client whose executor is a user's.

#include "redis/support/world.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/require.hpp>
#include <boost/test/unit_test.hpp>

#include <functional>
#include <utility>

namespace redis_cancel_test {

using namespace asio_sync::test::redis;

// Calls a function before each post.
struct telling_executor {
  asio::io_context* to;
  std::function<void()>* tell;

  asio::execution_context& query(asio::execution::context_t) const noexcept { return *to; }
  static constexpr asio::execution::blocking_t query(asio::execution::blocking_t) noexcept {
    return asio::execution::blocking.never;
  }
  template <class Function>
  void execute(Function&& f) const {
    if (*tell) (*tell)();
    asio::require(to->get_executor(), asio::execution::blocking.never)
        .execute(std::forward<Function>(f));
  }
  friend bool operator==(telling_executor const&, telling_executor const&) noexcept = default;
};

struct telling_client {
  server s;
  asio::io_context io;
  std::function<void()> tell;
  client c{telling_executor{&io, &tell}, quick(s)};
  int told = 0;

  // Emits the signal, and once more while the executor is called.
  void emit_twice(asio::cancellation_signal& signal) {
    io.poll();
    tell = [&] {
      ++told;
      auto const once = std::exchange(tell, nullptr);
      signal.emit(asio::cancellation_type::terminal);
    };
    signal.emit(asio::cancellation_type::terminal);
  }
};

BOOST_FIXTURE_TEST_SUITE(cancel_test, telling_client)

BOOST_AUTO_TEST_CASE(R5_an_executor_is_called_under_no_lock_when_a_wait_is_cancelled) {
  async_mutex m(io, c, "x");
  asio::cancellation_signal signal;
  outcome<lock_type> wait;
  m.async_lock(asio::bind_cancellation_slot(signal.slot(), wait.handler()));
  emit_twice(signal);
  BOOST_TEST(told == 1);
  BOOST_TEST(soon(io, [&] { return wait.calls != 0; }));
  BOOST_TEST(wait.refused(aborted));
}

BOOST_AUTO_TEST_CASE(R5_an_executor_is_called_under_no_lock_when_a_run_is_cancelled) {
  asio::cancellation_signal signal;
  ending run;
  c.async_run(asio::bind_cancellation_slot(signal.slot(), run.handler()));
  emit_twice(signal);
  BOOST_TEST(told == 1);
  BOOST_TEST(soon(io, [&] { return run.calls != 0; }));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_cancel_test
