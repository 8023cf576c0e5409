// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Waits that are refused, by a slot, a timer or the end of a context, over a client whose executor
// is a user's.

#include "redis/support/world.hpp"
#include "support/test.hpp"

#include <asio_sync/async_auto_reset_event.hpp>

namespace redis_cancel_test {

using namespace asio_sync::test::redis;
using asio_sync::async_auto_reset_event;

// The functions that an executor calls.
struct teller {
  asio::io_context io;
  std::function<void()> tell, tell_of_copy;
};

// Calls a function before each post, and another one at each copy. Small enough to be copied with
// an any_io_executor.
struct telling_executor {
  explicit telling_executor(teller& t) noexcept : to(&t) {}
  telling_executor(telling_executor const& other) noexcept : to(other.to) {
    if (to->tell_of_copy) to->tell_of_copy();
  }

  asio::execution_context& query(asio::execution::context_t) const noexcept { return to->io; }
  static constexpr asio::execution::blocking_t query(asio::execution::blocking_t) noexcept {
    return asio::execution::blocking.never;
  }
  template <class Function>
  void execute(Function&& f) const {
    if (to->tell) to->tell();
    asio::require(to->io.get_executor(), asio::execution::blocking.never)
        .execute(std::forward<Function>(f));
  }
  friend bool operator==(telling_executor const&, telling_executor const&) noexcept = default;

  teller* to;
};

struct telling_client : teller {
  server s;
  client c{telling_executor(*this), quick(s)};
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

  // Has the next call of the executor begin a timed wait on the event.
  void begin_a_wait(async_auto_reset_event& on, ending& wait) {
    tell = [&] {
      ++told;
      auto const once = std::exchange(tell, nullptr);
      on.async_wait_for(1ms, wait.handler());
    };
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

BOOST_AUTO_TEST_CASE(R4_a_run_that_is_cancelled_before_it_begins_does_not_begin) {
  teller of_handler;
  asio::cancellation_signal signal;
  ending run, next;
  of_handler.tell_of_copy = [&] {
    if (!signal.slot().has_handler() || told++ != 0) return;
    signal.emit(asio::cancellation_type::terminal);
  };
  c.async_run(asio::bind_executor(telling_executor(of_handler),
                                  asio::bind_cancellation_slot(signal.slot(), run.handler())));
  of_handler.tell_of_copy = nullptr;
  BOOST_TEST(told >= 1);
  BOOST_TEST(soon(of_handler.io, [&] { return run.calls != 0; }));
  BOOST_TEST(run.is(aborted));
  c.async_run(next.handler());
  io.poll();
  BOOST_TEST(next.calls == 0);
  c.stop();
  BOOST_TEST(soon(io, [&] { return next.calls != 0; }));
}

BOOST_AUTO_TEST_CASE(R4_a_run_that_is_cancelled_while_it_begins_ends) {
  asio::cancellation_signal signal;
  ending run;
  tell = [&] {
    if (told++ == 0) signal.emit(asio::cancellation_type::terminal);
  };
  c.async_run(asio::bind_cancellation_slot(signal.slot(), run.handler()));
  BOOST_TEST(told >= 1);
  BOOST_TEST(soon(io, [&] { return run.calls != 0; }));
  BOOST_TEST(run.is(aborted));
  tell = nullptr;
}

BOOST_AUTO_TEST_CASE(R5_an_executor_is_called_under_no_lock_when_the_time_of_a_wait_is_up) {
  async_mutex m(io, c, "x");
  async_auto_reset_event e(io);
  outcome<lock_type> wait;
  ending begun;
  m.async_lock_for(20ms, wait.handler());
  io.poll();
  begin_a_wait(e, begun);
  BOOST_TEST(soon(io, [&] { return wait.calls != 0 && begun.calls != 0; }));
  BOOST_TEST(told == 1);
  BOOST_TEST(!wait.guard);
  BOOST_TEST(begun.is(timed_out));
}

BOOST_AUTO_TEST_CASE(R5_an_executor_is_called_under_no_lock_when_the_home_of_a_wait_ends) {
  auto home = std::make_unique<asio::io_context>();
  async_mutex m(*home, c, "x");
  async_auto_reset_event e(*home);
  outcome<lock_type> wait;
  ending begun;
  m.async_lock(wait.handler());
  io.poll();
  begin_a_wait(e, begun);
  home.reset();
  BOOST_TEST(told == 1);
  BOOST_TEST(wait.calls + begun.calls == 0);
  BOOST_TEST(m.waiters() + e.waiters() == 0u);
}

BOOST_AUTO_TEST_CASE(R5_an_executor_is_called_under_no_lock_when_the_context_of_a_handler_ends) {
  auto handlers = std::make_unique<asio::io_context>();
  async_mutex m(io, c, "x");
  async_auto_reset_event e(*handlers);
  outcome<lock_type> wait;
  ending begun;
  m.async_lock(asio::bind_executor(*handlers, wait.handler()));
  io.poll();
  begin_a_wait(e, begun);
  handlers.reset();
  BOOST_TEST(told == 1);
  BOOST_TEST(wait.calls + begun.calls == 0);
  BOOST_TEST(m.waiters() + e.waiters() == 0u);
}

BOOST_AUTO_TEST_CASE(R5_an_executor_is_copied_under_no_lock_for_an_operation_of_the_client) {
  ending run;
  tell_of_copy = [&] {
    ++told;
    c.stop();
  };
  c.async_run(run.handler());
  tell_of_copy = nullptr;
  BOOST_TEST(told != 0);
  c.stop();
  BOOST_TEST(soon(io, [&] { return run.calls != 0; }));
}

BOOST_AUTO_TEST_CASE(R5_an_executor_is_copied_under_no_lock_before_a_thread_waits) {
  asio::any_io_executor const erased = telling_executor(*this);
  client on_strand(asio::make_strand(erased), quick(s));
  async_mutex m(io, on_strand, "x");
  tell_of_copy = [&] {
    ++told;
    on_strand.stop();
  };
  BOOST_CHECK_THROW(static_cast<void>(m.try_lock_for(1ms)), boost::system::system_error);
  tell_of_copy = nullptr;
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_cancel_test
