// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// What a group counts: operations of any kind, and what was added; and who waits for their end.

#include "support/memory.hpp"
#include "support/test.hpp"
#include "unit/group/operations.hpp"

#include <asio_sync/async_group.hpp>
#include <asio_sync/async_mutex.hpp>

namespace group_test {

using namespace asio_sync::test;

constexpr std::ptrdiff_t most = std::numeric_limits<std::ptrdiff_t>::max();

template <class T>
struct own_allocator : std::allocator<T> {
  own_allocator() = default;
  template <class U>
  own_allocator(own_allocator<U> const&) noexcept {}
  template <class U>
  struct rebind {
    using other = own_allocator<U>;
  };
};

struct fixture {
  asio::io_context context, other;
  async_group group{context};
  stopped operation;

  void poll() { test::poll(context, other); }
};

}  // namespace group_test

BOOST_FIXTURE_TEST_SUITE(group_test, fixture)

BOOST_AUTO_TEST_CASE(Group_is_made_over_an_executor_or_a_context) {
  using io_executor = asio::io_context::executor_type;
  basic_async_group<io_executor> plain(context.get_executor());
  BOOST_TEST(plain.pending() == 0);
  BOOST_TEST((plain.get_executor() == context.get_executor()));
  static_assert(std::is_same_v<async_group::rebind_executor<io_executor>::other, decltype(plain)>);
  static_assert(!std::is_copy_constructible_v<async_group>);
  static_assert(!std::is_move_constructible_v<async_group>);
}

BOOST_AUTO_TEST_CASE(Group_counts_an_operation_until_its_handler_has_returned) {
  std::ptrdiff_t in_handler = -1;
  operation(
      group.track([&](error_code, int, std::string const&) { in_handler = group.pending(); }));
  BOOST_TEST(group.pending() == 1);
  operation.end();
  BOOST_TEST(in_handler == 1);
  BOOST_TEST(group.pending() == 0);
}

BOOST_AUTO_TEST_CASE(Group_counts_an_operation_until_its_handler_was_destroyed) {
  auto const captured = std::make_shared<int>();
  std::weak_ptr<int> const watched = captured;
  operation(group.track([captured](error_code, int, std::string const&) {}));
  fate joined;
  group.async_join(observed_handler(joined));
  operation.drop();
  BOOST_TEST(group.pending() == 0);
  poll();
  BOOST_TEST(joined.called == 1);
  BOOST_TEST(!joined.error);
}

// Whoever joins may end what handlers have captured.
BOOST_AUTO_TEST_CASE(Group_counts_what_a_handler_has_captured) {
  struct asks {
    async_group& group;
    std::ptrdiff_t& at_end;
    ~asks() { at_end = group.pending(); }
  };
  std::ptrdiff_t called = -1, dropped = -1;
  operation(group.track(
      [a = std::make_unique<asks>(asks{group, called})](error_code, int, std::string const&) {}));
  called = -1;  // the temporary has ended, too
  operation.end();
  BOOST_TEST(called == 1);
  operation(group.track(
      [a = std::make_unique<asks>(asks{group, dropped})](error_code, int, std::string const&) {}));
  dropped = -1;
  operation.drop();
  BOOST_TEST(dropped == 1);
}

BOOST_AUTO_TEST_CASE(Group_counts_a_deferred_operation_from_its_launch) {
  auto deferred = operation(group.track(asio::deferred));
  BOOST_TEST(group.pending() == 0);
  int got = 0;
  std::move(deferred)([&](error_code, int n, std::string const&) { got = n; });
  BOOST_TEST(group.pending() == 1);
  operation.end();
  BOOST_TEST(got == 7);
  BOOST_TEST(group.pending() == 0);
}

BOOST_AUTO_TEST_CASE(Group_launches_a_deferred_operation_as_often_as_it_is_copied) {
  auto const deferred = group.track(asio::deferred);
  auto first = asio::post(context, deferred);
  auto second = first;
  int called = 0;
  std::move(first)([&] { ++called; });
  std::move(second)([&] { ++called; });
  BOOST_TEST(group.pending() == 2);
  poll();
  BOOST_TEST(called == 2);
  BOOST_TEST(group.pending() == 0);
}

BOOST_AUTO_TEST_CASE(Group_tracks_any_token) {
  std::future<std::tuple<int, std::string>> future;
  stopped by_future, by_coroutine, by_tuple, by_erased;
  future = by_future(group.track(asio::use_future));
  std::string texts;
  auto const coroutine = [&]() -> asio::awaitable<void> {
    auto [number, text] = co_await by_coroutine(group.track(asio::use_awaitable));
    texts += text;
    auto [error, n, t] = co_await by_tuple(group.track(asio::as_tuple(asio::deferred)));
    texts += error ? "error" : t;
  };
  asio::co_spawn(context, coroutine, group.track(asio::detached));
  by_erased(group.track(asio::any_completion_handler<stopped::signature>(
      [&](error_code, int, std::string const& t) { texts += t; })));
  poll();
  BOOST_TEST(group.pending() == 4);
  for (stopped* const each : {&by_future, &by_coroutine, &by_erased}) {
    each->end();
    poll();
  }
  by_tuple.end();
  poll();
  BOOST_TEST(group.pending() == 0);
  BOOST_TEST(texts == "donedonedone");
  BOOST_TEST(std::get<0>(future.get()) == 7);
}

// As Beast declares some of its own.
template <class Token>
typename asio::async_result<std::decay_t<Token>, void(error_code)>::return_type post_as_beast(
    asio::io_context& io, Token&& token) {
  return asio::post(io, asio::append(std::forward<Token>(token), error_code()));
}

BOOST_AUTO_TEST_CASE(Group_tracks_an_operation_whose_type_is_that_of_its_token) {
  post_as_beast(context, group.track([](error_code) {}));
  std::future<void> const future = post_as_beast(context, group.track(asio::use_future));
  BOOST_TEST(group.pending() == 2);
  poll();
  BOOST_TEST(group.pending() == 0);
}

BOOST_AUTO_TEST_CASE(Group_tracks_a_sequence_of_deferred_operations) {
  asio::steady_timer timer(context, 0s);
  bool called = false;
  auto sequence = asio::post(context, asio::deferred) |
                  asio::deferred([&] { return timer.async_wait(asio::deferred); });
  std::move(sequence)(group.track([&](error_code) { called = true; }));
  BOOST_TEST(group.pending() == 1);
  context.run();
  BOOST_TEST(called);
}

BOOST_AUTO_TEST_CASE(Group_tracks_a_reference_to_a_handler) {
  asio::cancellation_signal signal;
  int called = 0;
  auto plain = [&](error_code) { ++called; };
  auto cancelled = asio::bind_cancellation_slot(signal.slot(), [&](error_code error) {
    BOOST_TEST(error == aborted);
    ++called;
  });
  asio::steady_timer soon(context, 0s), late(context, 1h);
  soon.async_wait(group.track(std::ref(plain)));
  late.async_wait(group.track(std::ref(cancelled)));
  signal.emit(asio::cancellation_type::terminal);
  context.run();
  BOOST_TEST(called == 2);
  BOOST_TEST(group.pending() == 0);
}

BOOST_AUTO_TEST_CASE(Group_copies_the_handler_of_a_token_that_is_used_again) {
  auto const value = std::make_shared<int>(1);
  int sum = 0;
  auto token = group.track([&sum, value] { sum += *value; });
  asio::post(context, token);
  asio::post(context, token);
  poll();
  BOOST_TEST(sum == 2);
}

BOOST_AUTO_TEST_CASE(Group_counts_captures_that_cannot_be_moved) {
  struct asks {
    async_group& group;
    std::ptrdiff_t& at_end;
    ~asks() { at_end = group.pending(); }
  };
  std::ptrdiff_t pending = -1;
  {
    std::shared_ptr<asks> const captured(new asks{group, pending});
    operation(group.track([captured](error_code, int, std::string const&) {}));
  }
  operation.end();
  BOOST_TEST(pending == 1);
}

BOOST_AUTO_TEST_CASE(Group_tracks_an_operation_that_completes_inside_its_initiation) {
  operation.ends_at_once = true;
  bool called = false;
  operation(group.track([&](error_code, int, std::string const&) {
    called = true;
    BOOST_TEST(group.pending() == 1);
  }));
  BOOST_TEST(called);
  BOOST_TEST(group.pending() == 0);
}

BOOST_AUTO_TEST_CASE(Group_tracks_operations_that_complete_on_other_threads) {
  constexpr int n = 1000;
  std::atomic<int> called = 0;
  int plain = 0;
  asio::thread_pool pool(2);
  auto strand = asio::make_strand(pool);
  for (int i = 0; i != n; ++i) {
    asio::post(pool, group.track([&] { ++called; }));
    asio::post(strand, group.track([&] { ++plain; }));
  }
  bool joined = false;
  group.async_join([&](error_code error) {
    BOOST_TEST(!error);
    BOOST_TEST(called == n);
    BOOST_TEST(plain == n);
    joined = true;
  });
  context.run();
  BOOST_TEST(joined);
  pool.join();
}

BOOST_AUTO_TEST_CASE(Group_keeps_the_executor_and_the_allocator) {
  bool on_other = false;
  auto handler = asio::bind_allocator(
      own_allocator<char>(), asio::bind_executor(other, [&](error_code, int, std::string const&) {
        on_other = other.get_executor().running_in_this_thread();
      }));
  static_assert(
      std::is_same_v<
          asio::associated_allocator_t<asio_sync::detail::tracked_handler<decltype(handler)>>,
          own_allocator<char>>);
  operation(group.track(std::move(handler)));
  operation.end();
  poll();
  BOOST_TEST(on_other);
}

BOOST_AUTO_TEST_CASE(Group_is_joined_by_several_and_used_again) {
  operation(group.track([](error_code, int, std::string const&) {}));
  fate first, second, third;
  group.async_join(observed_handler(first));
  group.async_join(observed_handler(second));
  BOOST_TEST(group.waiters() == 2u);
  poll();
  BOOST_TEST(first.called + second.called == 0);
  operation.end();
  BOOST_TEST(group.waiters() == 0u);
  poll();
  BOOST_TEST(first.called == 1);
  BOOST_TEST(second.called == 1);
  operation(group.track([](error_code, int, std::string const&) {}));
  group.async_join(observed_handler(third));
  poll();
  BOOST_TEST(third.called == 0);
  operation.end();
  poll();
  BOOST_TEST(third.called == 1);
  BOOST_TEST(!third.error);
}

BOOST_AUTO_TEST_CASE(R1a_nobody_suspends_where_nothing_is_pending) {
  bool went_on = false;
  auto const coroutine = [&]() -> asio::awaitable<void> {
    bool posted_ran = false;
    asio::post(context, [&] { posted_ran = true; });
    co_await group.async_join(asio::deferred);
    co_await group.async_join();
    went_on = !posted_ran;
    co_await asio::post(asio::deferred);
  };
  asio::co_spawn(context, coroutine, asio::detached);
  poll();
  BOOST_TEST(went_on);
}

BOOST_AUTO_TEST_CASE(R11_time_and_R18_closed) {
  group.add();
  fate at_once, later, cut_off, afterwards;
  group.async_join_for(0s, observed_handler(at_once));
  group.async_join_until(std::chrono::steady_clock::now() - 1s, observed_handler(later));
  group.async_join(observed_handler(cut_off));
  group.close();
  group.async_join(observed_handler(afterwards));
  poll();
  BOOST_TEST(at_once.error == timed_out);
  BOOST_TEST(later.error == timed_out);
  BOOST_TEST(cut_off.error == closed);
  BOOST_TEST(afterwards.error == closed);
  BOOST_TEST(group.is_closed());
  operation(group.track([](error_code, int, std::string const&) {}));
  BOOST_TEST(group.pending() == 2);
  operation.end();
  group.done();
  BOOST_TEST(group.pending() == 0);
}

BOOST_AUTO_TEST_CASE(R4_a_join_is_cancelled_and_operations_are_not) {
  operation(group.track([](error_code, int, std::string const&) {}));
  fate joined;
  group.async_join(observed_handler(joined));
  BOOST_TEST(group.cancel() == 1u);
  poll();
  BOOST_TEST(joined.error == aborted);
  BOOST_TEST(operation.is_pending());
  operation.end();
}

BOOST_AUTO_TEST_CASE(R15_what_is_added_and_done) {
  group.add(3);
  group.add(0);
  group.done(0);
  BOOST_TEST(group.pending() == 3);
  BOOST_TEST(error_of([&] { group.add(-1); }) == invalid);
  BOOST_TEST(error_of([&] { group.done(-1); }) == invalid);
  BOOST_TEST(error_of([&] { group.done(4); }) == invalid);
  BOOST_TEST(error_of([&] { group.add(most); }) == too_large);
  BOOST_TEST(group.pending() == 3);
  group.done(2);
  // A tracked operation is its handler's alone.
  operation(group.track([](error_code, int, std::string const&) {}));
  BOOST_TEST(error_of([&] { group.done(2); }) == invalid);
  operation.end();
  fate joined;
  group.async_join(observed_handler(joined));
  group.done();
  poll();
  BOOST_TEST(joined.called == 1);
  BOOST_TEST(error_of([&] { group.done(); }) == invalid);
  group.add(most);
  BOOST_TEST(group.pending() == most);
  BOOST_TEST(error_of([&] { group.add(); }) == too_large);
  BOOST_TEST(error_of([&] {
               operation(group.track([](error_code, int, std::string const&) {}));
             }) == too_large);
  BOOST_TEST(!operation.is_pending());
  group.done(most);
}

BOOST_AUTO_TEST_CASE(R9_the_group_dies_and_operations_go_on) {
  bool called = false;
  fate joined;
  {
    async_group dying(context);
    operation(dying.track([&](error_code, int, std::string const&) { called = true; }));
    dying.async_join(observed_handler(joined));
  }
  operation.end();
  BOOST_TEST(called);
  poll();
  BOOST_TEST(joined.error == aborted);
}

BOOST_AUTO_TEST_CASE(R9_whoever_joins_ends_the_group) {
  auto dying = std::make_unique<async_group>(context);
  operation(dying->track([](error_code, int, std::string const&) {}));
  bool joined = false;
  dying->async_join([&](error_code error) {
    BOOST_TEST(!error);
    dying = nullptr;
    joined = true;
  });
  operation.end();
  poll();
  BOOST_TEST(joined);
}

BOOST_AUTO_TEST_CASE(R10_operations_die_with_their_context) {
  auto dying = std::make_unique<asio::io_context>();
  asio::post(*dying, group.track([] { BOOST_ERROR("called"); }));
  fate joined;
  group.async_join(observed_handler(joined));
  dying = nullptr;
  BOOST_TEST(group.pending() == 0);
  poll();
  BOOST_TEST(!joined.error);
  BOOST_TEST(joined.called == 1);
}

BOOST_AUTO_TEST_CASE(R12_in_the_steady_state_nothing_comes_from_the_heap) {
  std::size_t allocations = 1;
  auto const coroutine = [&]() -> asio::awaitable<void> {
    for (int i = 0; i != 10; ++i) co_await asio::post(group.track(asio::deferred));
    heap_counter const heap;
    for (int i = 0; i != 100; ++i) co_await asio::post(group.track(asio::deferred));
    allocations = heap.allocations();
  };
  asio::co_spawn(context, coroutine, asio::detached);
  poll();
  BOOST_TEST(allocations == 0u);
}

BOOST_AUTO_TEST_CASE(R13_what_throws_is_not_counted_any_more) {
  operation.fails_to_begin = true;
  BOOST_CHECK_THROW(operation(group.track([](error_code, int, std::string const&) {})),
                    std::bad_alloc);
  BOOST_TEST(group.pending() == 0);
  operation.fails_to_begin = false;
  asio::post(context, group.track([] { throw std::logic_error(""); }));
  BOOST_CHECK_THROW(poll(), std::logic_error);
  BOOST_TEST(group.pending() == 0);
}

BOOST_AUTO_TEST_CASE(R13_the_nth_allocation_fails) {
  for (std::size_t n = 0; n != 100; ++n) {
    bool began = false;
    {
      asio_sync::test::empty_pool const empty;
      asio_sync::test::failing_heap const heap(n, asio_sync::test::failing_heap::failures::one);
      try {
        asio::post(context, group.track([] {}));
        began = true;
      } catch (std::bad_alloc const&) {
      }
      if (began && heap.failed() == 0) n = 99;
    }
    BOOST_TEST(group.pending() == (began ? 1 : 0));
    poll();
    BOOST_TEST(group.pending() == 0);
  }
}

BOOST_AUTO_TEST_SUITE_END()
