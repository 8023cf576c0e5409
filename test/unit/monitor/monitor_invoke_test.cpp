// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Functions that a monitor invokes, and what becomes of the object.

#include "support/memory.hpp"
#include "support/test.hpp"
#include "unit/monitor/fixture.hpp"

#include <asio_sync/async_monitor.hpp>

namespace monitor_invoke_test {

using namespace asio_sync::test;
using entry = bank::entry;

struct fixture : monitor_fixture {
  std::optional<error_code> error;
  std::optional<int> value;
  bool owned = false;  // the monitor, when the handler was called

  auto handler() {
    return [this](std::exception_ptr thrown, int v) {
      error = error_in(thrown);
      value = v;
      owned = monitor && !monitor->try_enter().owns();
    };
  }

  // A function that is suspended until its timer ends.
  auto suspended(asio::steady_timer& timer) {
    return [&timer](account& a) -> asio::awaitable<int> {
      co_await timer.async_wait(asio::use_awaitable);
      co_return ++a.balance;
    };
  }
};

int increment(account& a) { return ++a.balance; }

}  // namespace monitor_invoke_test

BOOST_FIXTURE_TEST_SUITE(monitor_invoke_test, fixture)

BOOST_AUTO_TEST_CASE(M3_on_the_strand_a_free_monitor_runs_the_function_at_once) {
  bool inside_initiation = false, called = false;
  asio::post(monitor->get_executor(), [&] {
    monitor->async_invoke(increment, [&](std::exception_ptr, int) { called = true; });
    inside_initiation = monitor->try_enter()->balance == 1 && !called;
  });
  poll();
  BOOST_TEST(inside_initiation);
  BOOST_TEST(called);
}

BOOST_AUTO_TEST_CASE(M3_off_the_strand_it_gets_there_first) {
  bool on_strand = false;
  monitor->async_invoke(
      [&](account& a) {
        on_strand = monitor->get_executor().running_in_this_thread();
        return ++a.balance;
      },
      asio::bind_executor(*other, handler()));
  other->poll();
  BOOST_TEST(!value);
  poll();
  BOOST_TEST(on_strand);
  BOOST_TEST(value.value() == 1);
  BOOST_TEST(!*error);
  BOOST_TEST(!owned);
}

BOOST_AUTO_TEST_CASE(M3_a_coroutine_on_the_strand_is_not_suspended) {
  bool posted = false, done = false;
  asio::co_spawn(
      monitor->get_executor(),
      [&]() -> asio::awaitable<void> {
        asio::post(monitor->get_executor(), [&] { posted = true; });
        int const first = co_await monitor->async_invoke(increment);
        auto [thrown, second] =
            co_await monitor->async_invoke(increment, asio::as_tuple(asio::use_awaitable));
        co_await monitor->async_invoke([](account&) {}, asio::use_awaitable);
        int const fourth = co_await monitor->async_invoke_when(at_least(2), increment);
        done = first == 1 && !thrown && second == 2 && fourth == 3 && !posted;
      },
      asio::detached);
  poll();
  BOOST_TEST(done);
}

BOOST_AUTO_TEST_CASE(M4_invoked_once_the_predicate_holds) {
  monitor->async_invoke_when(at_least(2), increment, handler());
  poll();
  BOOST_TEST(!value);
  pay_in(2);
  poll();
  BOOST_TEST(value.value() == 3);
}

BOOST_AUTO_TEST_CASE(M4_what_is_invoked_has_the_predicates_looked_at) {
  monitor->async_enter_when(at_least(1), note('a'));
  poll();
  monitor->async_invoke(increment, [](std::exception_ptr, int) {});
  poll();
  BOOST_TEST(order == "a");
}

BOOST_AUTO_TEST_CASE(M5_exceptions_go_to_the_completion) {
  auto const throws = [](account&) -> int { throw boost::system::system_error(closed); };
  monitor->async_invoke(throws, handler());
  poll();
  BOOST_TEST((error == closed));
  BOOST_TEST(!owned);
  error.reset();
  monitor->async_invoke_when(
      [](account const&) -> bool { throw boost::system::system_error(timed_out); }, increment,
      handler());
  poll();
  BOOST_TEST((error == timed_out));
  error.reset();
  monitor->async_invoke(
      [](account&) -> asio::awaitable<int> {
        co_await asio::post(asio::use_awaitable);
        throw boost::system::system_error(closed);
      },
      handler());
  poll();
  BOOST_TEST((error == closed));
  auto future = monitor->async_invoke(throws, asio::use_future);
  poll();
  BOOST_CHECK_THROW(future.get(), boost::system::system_error);
  BOOST_TEST(monitor->try_enter()->balance == 0);
}

BOOST_AUTO_TEST_CASE(M5_an_exception_comes_out_of_co_await) {
  std::string seen;
  auto const caught = [&](auto ex) {
    asio::co_spawn(
        ex,
        [&]() -> asio::awaitable<void> {
          try {
            co_await monitor->async_invoke([](account&) { throw std::runtime_error("f"); });
          } catch (std::runtime_error const& e) {
            seen += e.what();
          }
        },
        asio::detached);
    poll();
  };
  caught(asio::any_io_executor(monitor->get_executor()));
  caught(asio::any_io_executor(other->get_executor()));
  BOOST_TEST(seen == "ff");
  BOOST_TEST(monitor->try_enter().owns());
}

BOOST_AUTO_TEST_CASE(M5_refusals_to_enter) {
  entry inside = monitor->try_enter();
  asio::cancellation_signal signal;
  monitor->async_invoke(increment, asio::bind_cancellation_slot(signal.slot(), handler()));
  signal.emit(asio::cancellation_type::total);
  poll();
  BOOST_TEST((error == aborted));
  BOOST_TEST(value.value() == 0);
  monitor->async_invoke_for(increment, 0s, handler());
  poll();
  BOOST_TEST((error == timed_out));
  inside.leave();
  monitor->async_invoke_when_until(at_least(1), increment, std::chrono::steady_clock::now(),
                                   handler());
  poll();
  BOOST_TEST((error == timed_out));
  monitor->close();
  monitor->async_invoke(increment, handler());
  poll();
  BOOST_TEST((error == closed));
}

BOOST_AUTO_TEST_CASE(M3_M7_an_awaitable_occupies_the_monitor_until_it_ends) {
  asio::steady_timer timer(*context, std::chrono::steady_clock::time_point::max());
  monitor->async_invoke(suspended(timer), asio::bind_executor(*other, handler()));
  poll();
  BOOST_TEST(!monitor->try_enter().owns());
  BOOST_TEST(monitor->waiters() == 0u);
  BOOST_TEST(monitor->cancel() == 0u);
  monitor->close();
  poll();
  BOOST_TEST(!value);
  timer.expires_at(std::chrono::steady_clock::time_point::min());
  poll();
  BOOST_TEST((error == aborted));  // of the timer, whose wait is over
}

BOOST_AUTO_TEST_CASE(M7_a_cancellation_by_slot_is_passed_on) {
  asio::steady_timer timer(*context, std::chrono::steady_clock::time_point::max());
  asio::cancellation_signal signal;
  monitor->async_invoke(
      suspended(timer),
      asio::bind_cancellation_slot(signal.slot(), asio::bind_executor(*other, handler())));
  poll();
  BOOST_TEST(!value);
  signal.emit(asio::cancellation_type::terminal);
  poll();
  BOOST_TEST((error == aborted));
  BOOST_TEST(!owned);
}

BOOST_AUTO_TEST_CASE(M7_a_function_that_cancels_itself) {
  asio::steady_timer timer(*context, std::chrono::steady_clock::time_point::max());
  asio::cancellation_signal signal;
  auto const waits = suspended(timer);
  monitor->async_invoke(
      [&](account& a) {
        signal.emit(asio::cancellation_type::total);  // before there is anything to cancel
        return waits(a);
      },
      asio::bind_cancellation_slot(signal.slot(), handler()));
  poll();
  BOOST_TEST((error == aborted));
  BOOST_TEST(!owned);
}

BOOST_AUTO_TEST_CASE(M7_the_object_lives_as_long_as_somebody_is_inside) {
  asio::steady_timer timer(*context, std::chrono::steady_clock::time_point::max());
  entry inside = monitor->try_enter();
  inside->balance = 7;
  monitor.reset();
  BOOST_TEST(!inside.owns());
  BOOST_TEST(inside->balance == 7);
  inside.leave();
  BOOST_TEST(account::alive == 0);
  monitor.emplace(*context);
  monitor->async_invoke(suspended(timer), handler());
  poll();
  monitor.reset();
  BOOST_TEST(account::alive == 1);
  timer.cancel_one();
  timer.expires_after(0s);
  poll();
  BOOST_TEST(value.has_value());
  BOOST_TEST(account::alive == 0);
}

BOOST_AUTO_TEST_CASE(M7_a_function_that_destroys_the_monitor_ends_well) {
  monitor->async_invoke(
      [this](account& a) {
        monitor.reset();
        return ++a.balance;
      },
      handler());
  poll();
  BOOST_TEST(value.value() == 1);
  BOOST_TEST(account::alive == 0);
}

BOOST_AUTO_TEST_CASE(M7_the_context_of_the_strand_dies_while_a_function_runs) {
  std::optional<asio::steady_timer> timer(std::in_place, *context,
                                          std::chrono::steady_clock::time_point::max());
  monitor->async_invoke(suspended(*timer), asio::bind_executor(*other, handler()));
  poll();
  timer.reset();
  context.reset();  // with the coroutine, which is on its way to the strand
  poll();
  BOOST_TEST((error == aborted));
  BOOST_TEST(monitor->try_enter().owns());
}

BOOST_AUTO_TEST_CASE(R10_the_context_of_the_handler_dies_while_a_function_runs) {
  asio::steady_timer timer(*context, std::chrono::steady_clock::time_point::max());
  monitor->async_invoke(suspended(timer), asio::bind_executor(*other, handler()));
  poll();
  other.reset();
  timer.cancel();
  poll();
  BOOST_TEST(!value);
  BOOST_TEST(monitor->try_enter().owns());
}

BOOST_AUTO_TEST_CASE(R10_a_function_whose_completion_is_dropped_has_left_once) {
  monitor->async_invoke(increment, asio::bind_executor(*other, handler()));
  context->poll();
  entry const inside = monitor->try_enter();
  BOOST_TEST(inside.owns());
  other.reset();
  BOOST_TEST(!monitor->try_enter().owns());
}

BOOST_AUTO_TEST_CASE(R13_an_initiation_without_memory_changes_nothing) {
  bool completed = false;
  for (std::size_t n = 0; !completed; ++n) {
    BOOST_REQUIRE(n != 20);
    value.reset();
    bool thrown = false;
    {
      empty_pool const pool;
      failing_heap const heap(n, failing_heap::failures::one);
      try {
        monitor->async_invoke_when_for(at_least(0), increment, 1h,
                                       asio::bind_executor(*other, handler()));
      } catch (std::bad_alloc const&) {
        thrown = true;
      }
    }
    poll();
    BOOST_TEST(value.has_value() != thrown);
    BOOST_TEST(monitor->try_enter().owns());
    completed = !thrown;
  }
  BOOST_TEST(value.value() == 1);
}

BOOST_AUTO_TEST_CASE(R17_threads) {
  constexpr int rounds = 2000;
  asio::thread_pool pool(2), elsewhere(1);
  asio_sync::async_monitor<int> sum(pool, 0);
  std::vector<std::future<void>> ends;
  for (auto const& ex : {asio::any_io_executor(pool.get_executor()),
                         asio::any_io_executor(elsewhere.get_executor()),
                         asio::any_io_executor(asio::make_strand(pool))})
    ends.push_back(asio::co_spawn(
        ex,
        [&sum]() -> asio::awaitable<void> {
          for (int i = 0; i != rounds; ++i) {
            co_await sum.async_invoke([](int& n) { ++n; }, asio::use_awaitable);
            auto inside = co_await sum.async_enter(asio::use_awaitable);
            ++*inside;
          }
        },
        asio::use_future));
  for (auto& end : ends) end.get();
  BOOST_TEST(*sum.try_enter() == 6 * rounds);
  pool.join();
}

BOOST_AUTO_TEST_SUITE_END()
