// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Runs that do not come to their end: cancelled, destroyed, or left by their contexts.

#include "support/executors.hpp"
#include "support/test.hpp"
#include "unit/enumerator/fixture.hpp"

#include <asio_sync/async_enumerator.hpp>

namespace enumerator_cancel_test {

using namespace asio_sync::test;
using asio::cancellation_type;

struct fixture : enumerator_fixture {
  asio::cancellation_signal signal;

  auto cancellable() { return asio::bind_cancellation_slot(signal.slot(), note()); }
};

}  // namespace enumerator_cancel_test

BOOST_FIXTURE_TEST_SUITE(enumerator_cancel_test, fixture)

BOOST_AUTO_TEST_CASE(R4_cancellation_of_all_types_cancels_operations_and_the_run) {
  for (auto const type :
       {cancellation_type::terminal, cancellation_type::partial, cancellation_type::total}) {
    steps = destroyed = 0;
    result = {};
    e.async_run(wait_for_both(), cancellable());
    poll();
    signal.emit(cancellation_type::none);
    poll();
    BOOST_TEST((first.is_pending() && second.is_pending()));
    signal.emit(type);
    BOOST_TEST((first.is_pending() && result.is_outstanding()));  // on the executor
    poll();
    BOOST_TEST((first.cancelled_by == cancellation_type::terminal));
    BOOST_TEST((!first.is_pending() && !second.is_pending()));
    BOOST_TEST((steps == 1 && destroyed == 1));
    BOOST_TEST(result.is(aborted));
  }
}

BOOST_AUTO_TEST_CASE(R4_a_cancelled_run_waits_for_operations_that_go_on) {
  int n = 0;
  auto const all = [&]() -> async_steps {
    local const noted(destroyed);
    asio::post(other, e.callback());  // knows nothing of cancellation
    error_code error;
    second(e.callback(error, n));
    co_yield 2;
    ++steps;
  };
  e.async_run(all(), cancellable());
  context.poll();
  signal.emit(cancellation_type::terminal);
  context.poll();
  BOOST_TEST(!second.is_pending());
  BOOST_TEST((destroyed == 0 && result.is_outstanding()));
  other.poll();
  poll();
  BOOST_TEST((destroyed == 1 && steps == 0 && n == 0));
  BOOST_TEST(result.is(aborted));
}

BOOST_AUTO_TEST_CASE(R4_what_a_step_begins_after_the_cancellation_is_cancelled_and_waited_for) {
  auto const late = [&]() -> async_steps {
    local const noted(destroyed);
    error_code error;
    int n = 0;
    e.cancel();
    asio::post(other, e.callback());
    first(e.callback(error, n));
    co_yield 2;
    ++steps;
  };
  e.async_run(late(), cancellable());
  context.poll();
  BOOST_TEST((first.cancelled_by == cancellation_type::terminal));
  BOOST_TEST((destroyed == 0 && result.is_outstanding()));
  other.poll();
  poll();
  BOOST_TEST((steps == 0 && destroyed == 1));
  BOOST_TEST(result.is(aborted));
}

BOOST_AUTO_TEST_CASE(R4_no_step_is_taken_after_a_cancellation_though_all_has_completed) {
  e.async_run(wait_for_both(), cancellable());
  poll();
  asio::post(context, [&] {
    first.end();
    signal.emit(cancellation_type::terminal);
    second.end();
    BOOST_TEST(steps == 1);
  });
  poll();
  BOOST_TEST((steps == 1 && destroyed == 1));
  BOOST_TEST(result.is(aborted));
}

BOOST_AUTO_TEST_CASE(R4_a_run_that_has_ended_cannot_be_cancelled) {
  e.async_run(wait_for_both(0), cancellable());
  while (steps < 2) {
    context.restart();
    context.poll_one();
  }
  signal.emit(cancellation_type::terminal);
  BOOST_TEST(e.cancel() == 0);
  poll();
  BOOST_TEST((first.is_pending() && second.is_pending()));
  BOOST_TEST(result.ended());
}

BOOST_AUTO_TEST_CASE(R4_steps_that_cancel_their_run) {
  for (bool const waits : {true, false}) {
    steps = 0;
    result = {};
    auto const all = [&]() -> async_steps {
      first(e.callback());
      signal.emit(cancellation_type::terminal);
      ++steps;
      if (waits) co_yield 0;
      ++steps;
    };
    e.async_run(all(), cancellable());
    poll();
    if (waits)
      BOOST_TEST((steps == 1 && !first.is_pending() && result.is(aborted)));
    else
      BOOST_TEST((steps == 2 && first.is_pending() && result.ended()));
    if (first.is_pending()) first.end();
  }
}

BOOST_AUTO_TEST_CASE(R4_cancel_before_the_first_step) {
  auto const all = [&](std::unique_ptr<local>) -> async_steps {
    ++steps;
    co_return;
  };
  BOOST_TEST(e.cancel() == 0);
  e.async_run(all(std::make_unique<local>(destroyed)), note());
  BOOST_TEST(e.cancel() == 1);
  BOOST_TEST(destroyed == 0);  // on the executor
  poll();
  BOOST_TEST((steps == 0 && destroyed == 1));
  BOOST_TEST(result.is(aborted));
  BOOST_TEST(e.cancel() == 0);
}

BOOST_AUTO_TEST_CASE(R4_what_has_completed_is_not_cancelled_any_more) {
  auto const all = [&]() -> async_steps {
    first(e.callback());
    second(e.callback());
    co_yield 3;
  };
  e.async_run(all(), cancellable());
  poll();
  first.end();
  poll();
  first.cancelled_by = second.cancelled_by = cancellation_type::none;
  signal.emit(cancellation_type::terminal);
  poll();
  BOOST_TEST((first.cancelled_by == cancellation_type::none));
  BOOST_TEST((second.cancelled_by == cancellation_type::terminal));
  BOOST_TEST(result.is(aborted));
}

// Asio's coroutines send the signal on to their executor, with a reference to the slot.
BOOST_AUTO_TEST_CASE(R4_a_coroutine_ends_while_its_cancellation_is_on_its_way) {
  auto const alive = std::make_shared<int>();
  auto const wait = [&]() -> asio::awaitable<void> { co_await first(asio::use_awaitable); };
  auto const all = [&]() -> async_steps {
    asio::co_spawn(posting_executor(other, alive), wait, e.callback());
    co_yield 1;
    ++steps;
  };
  for (bool const by_slot : {true, false}) {
    result = {};
    e.async_run(all(), cancellable());
    poll();
    first.end();  // before the signal in the queue
    by_slot ? signal.emit(cancellation_type::terminal) : static_cast<void>(e.cancel());
    context.restart();
    context.poll();
    other.restart();
    for (int i = 0; i != 8 && result.is_outstanding(); ++i) {
      other.poll_one();
      context.restart();
      context.poll();
    }
    BOOST_TEST(result.is(aborted));
    BOOST_TEST_REQUIRE(alive.use_count() > 1);  // in what the coroutine has put into its slot
    poll();
    BOOST_TEST(alive.use_count() == 1);
  }
  BOOST_TEST(steps == 0);
}

BOOST_AUTO_TEST_CASE(R9_the_enumerator_is_destroyed_with_a_run_on) {
  bool there = false;
  e.async_run(wait_for_both(), asio::bind_executor(other, [&](std::exception_ptr thrown) {
                there = other.get_executor().running_in_this_thread();
                result(thrown);
              }));
  poll();
  first.end();  // on its way
  second.end();
  of.reset();
  poll();
  BOOST_TEST((steps == 1 && destroyed == 1));
  BOOST_TEST((there && result.is(aborted)));
}

BOOST_AUTO_TEST_CASE(R9_steps_and_handlers_destroy_the_enumerator) {
  auto own = std::make_shared<async_enumerator>(context);
  auto& enumerator = *own;
  auto const all = [&](std::shared_ptr<async_enumerator> kept) -> async_steps {
    local const noted(destroyed);
    kept.reset();
    of.reset();
    ++steps;
    co_yield 0;
    ++steps;
  };
  e.async_run(all(own), note());
  poll();
  BOOST_TEST((steps == 1 && destroyed == 1));
  BOOST_TEST(result.is(aborted));

  auto const ending = [](std::shared_ptr<async_enumerator>) -> async_steps { co_return; };
  std::shared_ptr<async_enumerator> kept = own;
  std::weak_ptr<async_enumerator> const alive = own;
  result = {};
  enumerator.async_run(
      ending(own), [this, kept = std::move(kept)](std::exception_ptr thrown) { result(thrown); });
  own.reset();
  BOOST_TEST(!alive.expired());
  poll();
  BOOST_TEST((alive.expired() && result.ended()));
}

BOOST_AUTO_TEST_CASE(R3_an_operation_that_loses_its_handler_ends_the_run) {
  e.async_run(wait_for_both(), note());
  poll();
  first.drop();
  BOOST_TEST((second.is_pending() && result.is_outstanding()));
  poll();
  BOOST_TEST((!second.is_pending() && steps == 1 && destroyed == 1));
  BOOST_TEST(result.is(aborted));
}

BOOST_AUTO_TEST_CASE(R3_a_run_that_loses_its_handler_is_cancelled) {
  {
    asio::io_context third;
    e.async_run(wait_for_both(), asio::bind_executor(third, note()));
    poll();
  }
  BOOST_TEST((first.is_pending() && destroyed == 0));
  poll();
  BOOST_TEST((!first.is_pending() && steps == 1 && destroyed == 1));
  BOOST_TEST(result.is_outstanding());
  BOOST_TEST(e.cancel() == 0);
}

BOOST_AUTO_TEST_CASE(R4_a_signal_does_nothing_once_the_handler_is_lost) {
  asio::cancellation_signal signals;
  {
    asio::io_context home;
    async_enumerator own(asio::make_strand(home));
    auto const waits = [&]() -> async_steps {
      asio::steady_timer timer(own.get_executor(), std::chrono::hours(1));
      timer.async_wait(own.callback());
      co_yield 1;
    };
    own.async_run(waits(),
                  asio::bind_cancellation_slot(signals.slot(), [](std::exception_ptr) {}));
    home.poll();
  }
  signals.emit(asio::cancellation_type::terminal);
}

BOOST_AUTO_TEST_CASE(R13_an_initiating_function_that_throws_has_begun_nothing) {
  auto const all = [&]() -> async_steps {
    first.fails_to_begin = true;
    try {
      first(e.callback());
    } catch (std::bad_alloc const&) {
      ++steps;
    }
    second(e.callback());
    co_yield 1;
    ++steps;
  };
  e.async_run(all(), note());
  poll();
  BOOST_TEST((steps == 1 && second.is_pending()));
  second.end();
  poll();
  BOOST_TEST((steps == 2 && result.ended()));
}

// The executor does not take the start.
BOOST_AUTO_TEST_CASE(R13_a_run_that_cannot_start_completes) {
  using executor = asio_sync::test::throwing_executor;
  auto plan = executor::plan::nothing;
  asio_sync::basic_async_enumerator<executor> own(executor(context, plan));
  auto const none = [&]() -> async_steps {
    ++steps;
    co_return;
  };
  plan = executor::plan::execute;
  own.async_run(none(), asio::bind_executor(other, note()));
  plan = executor::plan::nothing;
  poll();
  BOOST_TEST((steps == 0 && result.is(aborted)));
  BOOST_TEST(own.cancel() == 0u);
  own.async_run(none(), asio::bind_executor(other, [](std::exception_ptr) {}));
  poll();
  BOOST_TEST(steps == 1);
}

BOOST_AUTO_TEST_CASE(R8_a_run_keeps_its_contexts_running) {
  e.async_run(wait_for_both(), asio::bind_executor(other, note()));
  poll();
  BOOST_TEST((!context.stopped() && !other.stopped()));
  first.end();
  second.end();
  poll();
  poll();
  BOOST_TEST(result.ended());
  BOOST_TEST((context.stopped() && other.stopped()));
}

BOOST_AUTO_TEST_CASE(R10_a_context_dies_with_what_waits_there) {
  for (bool const enumerator_first : {true, false}) {
    destroyed = 0;
    run_result elsewhere;
    auto home = std::make_unique<asio::io_context>();
    auto enumerator = std::make_unique<async_enumerator>(*home);
    auto const all = [&](asio::io_context& at) -> async_steps {
      local const noted(destroyed);
      asio::steady_timer timer(at, 1h);
      error_code error;
      timer.async_wait(enumerator->callback(error));
      co_yield 1;
      ++steps;
    };
    enumerator->async_run(all(*home), asio::bind_executor(other, [&](std::exception_ptr thrown) {
                            elsewhere(thrown);
                          }));
    home->poll();
    if (enumerator_first) enumerator.reset();
    BOOST_TEST(destroyed == 0);
    home.reset();
    BOOST_TEST(destroyed == 1);
    poll();
    BOOST_TEST(elsewhere.is(aborted));
  }
  BOOST_TEST(steps == 0);
}

BOOST_AUTO_TEST_CASE(R10_handlers_and_steps_that_own_the_enumerator_die_with_the_context) {
  bool called = false;
  for (bool const started : {true, false}) {
    destroyed = 0;
    {
      asio::io_context home;
      auto const own = std::make_shared<async_enumerator>(home);
      auto const all = [&](std::shared_ptr<async_enumerator> kept) -> async_steps {
        local const noted(destroyed);
        asio::steady_timer timer(home, 1h);
        timer.async_wait(kept->callback());
        co_yield 1;
        called = true;
      };
      own->async_run(all(own), [&called, own, noted = std::make_unique<local>(destroyed)](
                                   std::exception_ptr) { called = true; });
      if (started) home.poll();
    }
    BOOST_TEST(destroyed == (started ? 2 : 1));
  }
  BOOST_TEST(!called);
}

BOOST_AUTO_TEST_CASE(R10_an_operation_of_another_context_outlives_the_executors) {
  auto home = std::make_unique<asio::io_context>();
  auto enumerator = std::make_unique<async_enumerator>(*home);
  auto const all = [&]() -> async_steps {
    local const noted(destroyed);
    first(enumerator->callback());
    co_yield 1;
  };
  enumerator->async_run(all(), note());
  home->poll();
  home.reset();
  BOOST_TEST(destroyed == 0);  // the operation might refer to it
  first.drop();
  BOOST_TEST(destroyed == 1);
  enumerator.reset();
  BOOST_TEST(result.is_outstanding());  // its context has gone
}

BOOST_AUTO_TEST_SUITE_END()
