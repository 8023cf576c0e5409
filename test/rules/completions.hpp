// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_RULES_COMPLETIONS_HPP
#define ASIO_SYNC_TEST_RULES_COMPLETIONS_HPP

// R1 and R2: how often a wait completes, when and where, and with which tokens.

#include "rules/common.hpp"
#include "support/test.hpp"

namespace ASIO_SYNC_RULES_SUITE {

// Brings a wait to its end in every way. `bind` gives the handler its executor, `run` has it
// called, and `here` tells, inside it, whether it is where it belongs.
template <class Executor, class Bind, class Run, class Here>
void check_where(Executor const& ex, Bind bind, Run run, Here here) {
  for (ending how : endings) BOOST_TEST_CONTEXT("ending " << static_cast<int>(how)) {
      std::optional<subject::over<Executor>> p(std::in_place, ex);
      std::atomic<int> calls = 0, right = 0;
      if (how != ending::free) BOOST_TEST_REQUIRE(subject::occupy(*p));
      subject::wait(*p, bind([&](error_code, auto...) {
        right += here();
        ++calls;
      }));
      if (how == ending::serve) subject::serve(*p);
      if (how == ending::cancel) BOOST_TEST(p->cancel() == 1u);
      if (how == ending::close) p->close();
      if (how == ending::destroy) p.reset();
      run(calls);
      BOOST_TEST(calls == 1);
      BOOST_TEST(right == 1);
    }
}

auto const unbound = [](auto handler) { return handler; };

auto bound_to(auto const& ex) {
  return [ex](auto handler) { return asio::bind_executor(ex, std::move(handler)); };
}

// Runs this context, and no other; the handler has not been called before.
inline auto polled(asio::io_context& c) {
  return [&c](std::atomic<int>& calls) {
    BOOST_TEST(calls == 0);
    fixture::poll(c);
  };
}

auto inside(auto const& ex) {
  return [ex] { return ex.running_in_this_thread(); };
}

// Awaits an operation in a coroutine of that executor: whether it was granted.
template <class Executor, class Operation>
asio::awaitable<bool, Executor> awaits_grant(Operation operation) {
  if constexpr (subject::carries) {
    co_return static_cast<bool>(co_await std::move(operation));
  } else {
    co_await std::move(operation);
    co_return true;
  }
}

}  // namespace ASIO_SYNC_RULES_SUITE

BOOST_FIXTURE_TEST_SUITE(ASIO_SYNC_RULES_SUITE, fixture)

BOOST_AUTO_TEST_CASE(R1_handler_is_not_called_by_the_initiating_function) {
  result free, queued, zero, refused;
  asio::post(context, [&] {
    subject::wait(primitive, free.handler());
    keep_occupied(primitive);
    subject::wait(primitive, queued.handler());
    subject::wait_for(primitive, 0s, zero.handler());
    primitive.close();
    subject::wait(primitive, refused.handler());
  });
  context.poll_one();
  for (auto const* r : {&free, &queued, &zero, &refused}) BOOST_TEST(r->calls == 0);
  poll();
  BOOST_TEST(free.granted());
  BOOST_TEST(queued.refused(closed));
  BOOST_TEST(zero.refused(timed_out));
  BOOST_TEST(refused.refused(closed));
}

BOOST_AUTO_TEST_CASE(R1_a_wait_completes_once_whatever_comes_after_it_was_decided) {
  for (ending how : endings) {
    result r;
    auto p = std::make_unique<primitive_type>(context);
    if (how != ending::free) BOOST_TEST_REQUIRE(subject::occupy(*p));
    subject::wait_for(*p, 1h, r.handler());
    if (how == ending::serve) subject::serve(*p);
    if (how == ending::cancel) p->cancel();
    if (how == ending::close) p->close();
    if (how != ending::destroy) BOOST_TEST(p->cancel() == 0u);
    if (how != ending::destroy) p->close();
    if (how == ending::free || how == ending::serve) poll();
    p.reset();
    poll();
    poll();
    BOOST_TEST(r.calls == 1);
  }
}

BOOST_AUTO_TEST_CASE(R1_deferred_operation_does_nothing_before_it_is_launched) {
  result r;
  {
    [[maybe_unused]] auto const never = subject::wait(primitive, asio::deferred);
    auto operation = subject::wait_for(primitive, 1h, asio::deferred);
    poll();
    BOOST_TEST(idle());
    std::move(operation)(r.handler());
  }
  BOOST_TEST(idle() != keeps_out);
  poll();
  BOOST_TEST(r.granted());
  let_go(r.held);
  renew(primitive);
  BOOST_TEST(idle());
}

BOOST_AUTO_TEST_CASE(R2_without_an_executor_of_its_own_on_that_of_the_primitive) {
  auto const ex = context.get_executor();
  auto const strand = asio::make_strand(context);
  asio::strand<asio::any_io_executor> const erased(ex);
  check_where(ex, unbound, polled(context), inside(ex));
  check_where(asio::any_io_executor(ex), unbound, polled(context), inside(ex));
  check_where(strand, unbound, polled(context), inside(strand));
  check_where(asio::any_io_executor(strand), unbound, polled(context), inside(strand));
  check_where(erased, unbound, polled(context), inside(erased));
  check_where(asio::any_io_executor(erased), unbound, polled(context), inside(erased));
}

BOOST_AUTO_TEST_CASE(R2_on_the_executor_that_the_handler_is_bound_to) {
  asio::any_io_executor const home = other.get_executor();
  auto const ex = context.get_executor();
  auto const strand = asio::make_strand(context);
  asio::strand<asio::any_io_executor> const erased(ex);
  check_where(home, bound_to(ex), polled(context), inside(ex));
  check_where(home, bound_to(asio::any_io_executor(ex)), polled(context), inside(ex));
  check_where(home, bound_to(strand), polled(context), inside(strand));
  check_where(home, bound_to(asio::any_io_executor(strand)), polled(context), inside(strand));
  check_where(home, bound_to(asio::any_completion_executor(strand)), polled(context),
              inside(strand));
  check_where(home, bound_to(erased), polled(context), inside(erased));
  BOOST_TEST(other.poll() == 0u);
}

BOOST_AUTO_TEST_CASE(R2_in_a_pool_whoever_ends_the_wait) {
  asio::thread_pool pool(1);
  auto const called = [](std::atomic<int>& calls) {
    while (calls == 0) std::this_thread::yield();
  };
  auto const strand = asio::make_strand(pool);
  check_where(pool.get_executor(), unbound, called, inside(pool.get_executor()));
  check_where(context.get_executor(), bound_to(strand), called, inside(strand));
  BOOST_TEST(context.poll() == 0u);
}

BOOST_AUTO_TEST_CASE(R2_on_an_executor_that_the_library_does_not_know) {
  execution_log log;
  tracking_executor const own(context.get_executor(), log);
  auto const here = [&] {
    return log.runs_here() && context.get_executor().running_in_this_thread();
  };
  check_where(other.get_executor(), bound_to(own), polled(context), here);
  check_where(other.get_executor(), bound_to(asio::any_io_executor(own)), polled(context), here);
  check_where(own, unbound, polled(context), here);
  BOOST_TEST(other.poll() == 0u);
}

BOOST_AUTO_TEST_CASE(R2_an_executor_without_a_context_is_reached_through_that_of_the_primitive) {
  execution_log log;
  bare_executor const bare(log);
  auto const here = [&] {
    return log.runs_here() && context.get_executor().running_in_this_thread();
  };
  check_where(context.get_executor(), bound_to(bare), polled(context), here);
  check_where(context.get_executor(), bound_to(asio::any_completion_executor(bare)),
              polled(context), here);
}

BOOST_AUTO_TEST_CASE(R2_a_system_executor_stays_what_it_is) {
  std::promise<bool> elsewhere;
  auto const here = std::this_thread::get_id();
  auto const handler = [&](error_code e, auto... g) {
    elsewhere.set_value(is_granted(e, g...) && std::this_thread::get_id() != here);
  };
  subject::wait(primitive, asio::bind_executor(asio::system_executor(), handler));
  BOOST_TEST(elsewhere.get_future().get());
}

BOOST_AUTO_TEST_CASE(R2_a_future_becomes_ready_on_the_executor_of_the_primitive) {
  auto const has_been_granted = [](auto& future) {
    if constexpr (subject::carries)
      return static_cast<bool>(future.get());  // and that is the end of it
    else
      return future.get(), true;
  };
  auto first = subject::wait(primitive, asio::use_future);
  keep_occupied(primitive);
  auto second = subject::wait(primitive, asio::use_future);
  auto third = subject::wait_for(primitive, 0s, asio::use_future);
  BOOST_TEST((first.wait_for(1ms) == std::future_status::timeout));
  poll();
  BOOST_TEST_REQUIRE((first.wait_for(0s) == std::future_status::ready));
  BOOST_TEST((second.wait_for(0s) == std::future_status::timeout));
  BOOST_TEST(has_been_granted(first));
  end_occupation(primitive);
  poll();
  BOOST_TEST(has_been_granted(second));
  BOOST_TEST(error_of([&] { static_cast<void>(third.get()); }) == timed_out);
  BOOST_TEST(idle());
}

BOOST_AUTO_TEST_CASE(R2_the_default_token_is_that_of_the_executor) {
  using io_executor = asio::io_context::executor_type;
  using with_default = asio::use_awaitable_t<io_executor>::executor_with_default<io_executor>;
  subject::over<with_default> defaulted(with_default(context.get_executor()));
  subject::over<io_executor> plain(context);
  using default_wait = decltype(subject::wait(defaulted));
  static_assert(!std::is_same_v<default_wait, decltype(subject::wait(plain))>);
  static_assert(std::is_same_v<default_wait, decltype(subject::wait_for(defaulted, 1h))>);
  bool held = false;
  auto const coroutine = [&]() -> asio::awaitable<void, io_executor> {
    held = co_await awaits_grant<io_executor>(subject::wait(defaulted)) &&
           co_await awaits_grant<io_executor>(subject::wait(plain));
  };
  asio::co_spawn(context.get_executor(), coroutine, asio::detached);
  poll();
  BOOST_TEST(held);
}

BOOST_AUTO_TEST_SUITE_END()

#endif
