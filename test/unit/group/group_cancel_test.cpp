// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// How the operations of a group are cancelled: by the group, and each by its own slot.

#include "support/manual_queue.hpp"
#include "support/memory.hpp"
#include "support/test.hpp"
#include "unit/group/operations.hpp"

#include <asio_sync/async_group.hpp>
#include <asio_sync/async_manual_reset_event.hpp>
#include <asio_sync/async_mutex.hpp>

namespace group_cancel_test {

using namespace asio_sync::test;
using asio::cancellation_type;

struct fixture {
  asio::io_context context, other;
  async_group group{context};
  stopped operation;
  std::vector<error_code> errors;

  auto note() {
    return [this](error_code error, int, std::string const&) { errors.push_back(error); };
  }

  void poll() { test::poll(context, other); }
};

// Cancels whatever is pending, again and again.
class cancelling_thread {
 public:
  explicit cancelling_thread(async_group& group)
      : thread_([this, &group] {
          while (!stopped_) group.cancel_pending();
        }) {}
  void stop() {
    stopped_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> stopped_ = false;
  std::thread thread_;
};

}  // namespace group_cancel_test

BOOST_FIXTURE_TEST_SUITE(group_cancel_test, fixture)

BOOST_AUTO_TEST_CASE(Group_cancels_what_is_pending_on_its_executor) {
  operation(group.track(note()));
  group.cancel_pending();
  BOOST_TEST(operation.is_pending());
  poll();
  BOOST_TEST((operation.cancelled_by == cancellation_type::terminal));
  BOOST_TEST(errors == std::vector{aborted});
  BOOST_TEST(group.pending() == 0);
}

BOOST_AUTO_TEST_CASE(Group_cancels_at_once_where_its_executor_allows_that) {
  asio::post(context, [&] {
    operation(group.track(note()));
    group.cancel_pending(cancellation_type::total);
    BOOST_TEST(!operation.is_pending());
  });
  poll();
  BOOST_TEST((operation.cancelled_by == cancellation_type::total));
}

BOOST_AUTO_TEST_CASE(Group_cancels_on_the_handlers_own_executor) {
  operation(group.track(asio::bind_executor(other, note())));
  group.cancel_pending();
  context.poll();
  BOOST_TEST(operation.is_pending());
  other.poll();
  BOOST_TEST(!operation.is_pending());
  poll();
  BOOST_TEST(errors == std::vector{aborted});
}

BOOST_AUTO_TEST_CASE(Group_cancels_timers_coroutines_and_waits_of_this_library) {
  asio::steady_timer timer(context, 1h);
  async_mutex mutex(context);
  BOOST_TEST(mutex.try_lock());
  int ended = 0;
  timer.async_wait(group.track([&](error_code error) { ended += error == aborted; }));
  mutex.async_lock(group.track(
      [&](error_code error, async_mutex::lock_type const&) { ended += error == aborted; }));
  auto const coroutine = [&]() -> asio::awaitable<void> {
    asio::steady_timer within(co_await asio::this_coro::executor, 1h);
    co_await within.async_wait(asio::use_awaitable);
  };
  asio::co_spawn(context, coroutine, group.track([&](std::exception_ptr const& thrown) {
    try {
      std::rethrow_exception(thrown);
    } catch (boost::system::system_error const& e) {
      ended += e.code() == aborted;
    }
  }));
  std::future<void> future = timer.async_wait(group.track(asio::use_future));
  poll();
  BOOST_TEST(group.pending() == 4);
  group.cancel_pending();
  bool joined = false;
  group.async_join([&](error_code error) { joined = !error; });
  context.restart();
  context.run();
  BOOST_TEST(ended == 3);
  BOOST_TEST(joined);
  BOOST_CHECK_THROW(future.get(), boost::system::system_error);
  mutex.unlock();
}

BOOST_AUTO_TEST_CASE(Group_cancels_in_the_future_itself_on_its_own_executor) {
  auto future = operation(group.track(asio::use_future));
  group.cancel_pending();
  BOOST_TEST(operation.is_pending());
  poll();
  BOOST_TEST(!operation.is_pending());
  BOOST_CHECK_THROW(future.get(), boost::system::system_error);
}

BOOST_AUTO_TEST_CASE(Group_does_not_cancel_what_begins_later_or_is_over) {
  operation(group.track(note()));
  group.cancel_pending();
  operation.end();
  stopped later;
  later(group.track(note()));
  poll();
  BOOST_TEST((operation.cancelled_by == cancellation_type::none));
  BOOST_TEST((later.cancelled_by == cancellation_type::none));
  later.end();
  BOOST_TEST((errors == std::vector<error_code>(2)));
}

BOOST_AUTO_TEST_CASE(Group_dies_while_a_cancellation_is_on_its_way) {
  {
    async_group dying(context);
    operation(dying.track(note()));
    dying.cancel_pending();
  }
  poll();
  BOOST_TEST(errors == std::vector{aborted});
}

BOOST_AUTO_TEST_CASE(Operation_is_dropped_while_its_cancellation_is_on_its_way) {
  operation(group.track(note()));
  group.cancel_pending();
  operation.drop();
  poll();
  BOOST_TEST(errors.empty());
  BOOST_TEST((operation.cancelled_by == cancellation_type::none));
}

BOOST_AUTO_TEST_CASE(Slot_of_a_handler_cancels_its_operation_alone) {
  asio::cancellation_signal signal;
  stopped next;
  operation(group.track(asio::bind_cancellation_slot(signal.slot(), note())));
  next(group.track(note()));
  signal.emit(cancellation_type::partial);
  BOOST_TEST((operation.cancelled_by == cancellation_type::partial));
  BOOST_TEST(next.is_pending());
  signal.emit(cancellation_type::terminal);  // does nothing
  BOOST_TEST((operation.cancelled_by == cancellation_type::partial));
  next.end();
}

BOOST_AUTO_TEST_CASE(Slot_of_a_handler_does_nothing_when_that_is_called_and_may_be_used) {
  asio::cancellation_signal signal;
  operation(group.track(
      asio::bind_cancellation_slot(signal.slot(), [&](error_code, int, std::string const&) {
        signal.emit(cancellation_type::terminal);
        signal.slot().assign([](cancellation_type) {});
      })));
  operation.end();
  BOOST_TEST((operation.cancelled_by == cancellation_type::none));
  BOOST_TEST(signal.slot().has_handler());
}

BOOST_AUTO_TEST_CASE(Slot_of_a_handler_cancels_what_is_being_initiated_once_that_is_done) {
  asio::cancellation_signal signal;
  operation.while_it_begins = [&] { signal.emit(cancellation_type::terminal); };
  operation(group.track(asio::bind_cancellation_slot(signal.slot(), note())));
  poll();
  BOOST_TEST(errors == std::vector{aborted});
}

BOOST_AUTO_TEST_CASE(Signal_of_a_handler_ends_before_its_operation) {
  std::optional<asio::cancellation_signal> signal(std::in_place);
  operation(group.track(asio::bind_cancellation_slot(signal->slot(), note())));
  signal.reset();
  group.cancel_pending();
  poll();
  BOOST_TEST(errors == std::vector{aborted});
}

BOOST_AUTO_TEST_CASE(Signal_is_emitted_after_its_operation_was_dropped) {
  asio::cancellation_signal signal;
  operation(group.track(asio::bind_cancellation_slot(signal.slot(), note())));
  operation.drop();
  signal.emit(cancellation_type::terminal);
  BOOST_TEST((operation.cancelled_by == cancellation_type::none));
}

BOOST_AUTO_TEST_CASE(Coroutine_that_is_cancelled_cancels_what_it_tracks) {
  asio::cancellation_signal signal;
  auto const coroutine = [&]() -> asio::awaitable<void> {
    auto [error, n, text] = co_await operation(group.track(asio::as_tuple(asio::use_awaitable)));
    errors.push_back(error);
  };
  asio::co_spawn(context, coroutine,
                 asio::bind_cancellation_slot(signal.slot(), [](std::exception_ptr const&) {}));
  poll();
  signal.emit(cancellation_type::terminal);
  poll();
  BOOST_TEST(errors == std::vector{aborted});
}

// As on one thread while another initiates.
BOOST_AUTO_TEST_CASE(Group_cancels_what_is_being_initiated_once_that_is_done) {
  asio::post(context, [&] {
    operation.while_it_begins = [&] {
      group.cancel_pending(cancellation_type::partial);
      BOOST_TEST((operation.cancelled_by == cancellation_type::none));
    };
    operation(group.track(note()));
  });
  poll();
  BOOST_TEST((operation.cancelled_by == cancellation_type::partial));
  BOOST_TEST(errors == std::vector{aborted});
}

BOOST_AUTO_TEST_CASE(R17_operations_are_initiated_while_a_thread_cancels) {
  asio::thread_pool pool(1);
  auto const strand = asio::make_strand(pool);
  cancelling_thread cancels(group);
  async_manual_reset_event never(pool);
  std::atomic<int> ended = 0;
  for (int i = 0; i != 1000; ++i)
    never.async_wait(group.track(asio::bind_executor(strand, [&](error_code error) {
      if (error == aborted) ++ended;
    })));
  group.async_join([](error_code error) { BOOST_TEST(!error); });
  context.run();
  cancels.stop();
  pool.join();
  BOOST_TEST(ended == 1000);
}

// Not before they have begun to run, which ends a program of Asio's.
BOOST_AUTO_TEST_CASE(R17_coroutines_are_spawned_while_a_thread_cancels) {
  asio::thread_pool pool(2);
  cancelling_thread cancels(group);
  std::atomic<int> ended = 0;
  auto const wait = []() -> asio::awaitable<void> {
    asio::steady_timer timer(co_await asio::this_coro::executor, 1h);
    co_await timer.async_wait(asio::use_awaitable);
  };
  for (int i = 0; i != 200; ++i) {
    auto const strand = asio::make_strand(pool);
    asio::co_spawn(strand, wait,
                   group.track(asio::bind_executor(strand, [&](std::exception_ptr e) {
                     if (e) ++ended;
                   })));
  }
  group.async_join([](error_code error) { BOOST_TEST(!error); });
  context.run();
  cancels.stop();
  pool.join();
  BOOST_TEST(ended == 200);
}

// What the operation has put into its slot is there until that returns.
BOOST_AUTO_TEST_CASE(Slot_of_a_handler_cancels_what_completes_inside_the_emission) {
  asio::cancellation_signal signal;
  int found = 0;
  auto const begin = [&](auto&& token) {
    return asio::async_initiate<decltype(token), void(error_code)>(
        [&](auto handler) {
          auto slot = asio::get_associated_cancellation_slot(handler);
          auto const kept = std::make_shared<decltype(handler)>(std::move(handler));
          slot.assign([&, kept, held = std::vector<int>(100, 7)](cancellation_type) {
            auto taken = std::move(*kept);
            std::move(taken)(aborted);
            found = held[5];
          });
        },
        token);
  };
  begin(group.track(asio::bind_cancellation_slot(
      signal.slot(), [&](error_code error) { errors.push_back(error); })));
  signal.emit(cancellation_type::terminal);
  BOOST_TEST(errors == std::vector{aborted});
  BOOST_TEST(found == 7);
}

BOOST_AUTO_TEST_CASE(Slot_of_a_handler_does_nothing_where_the_initiation_throws_or_drops_it) {
  asio::cancellation_signal signal;
  operation.fails_to_begin = true;
  BOOST_CHECK_THROW(operation(group.track(asio::bind_cancellation_slot(signal.slot(), note()))),
                    std::bad_alloc);
  signal.emit(cancellation_type::terminal);
  operation.fails_to_begin = false;
  operation(group.track(asio::bind_cancellation_slot(signal.slot(), note())));
  operation.drop();
  signal.emit(cancellation_type::terminal);
  BOOST_TEST((operation.cancelled_by == cancellation_type::none));
}

// A strand must not outlive its context, nor must what tracks work keep it running.
BOOST_AUTO_TEST_CASE(R10_executors_go_with_their_operations) {
  asio::cancellation_signal signal;
  {
    asio::io_context dying;
    auto const strand = asio::make_strand(dying);
    auto const tracked =
        asio::require(dying.get_executor(), asio::execution::outstanding_work.tracked);
    operation(group.track(
        asio::bind_cancellation_slot(signal.slot(), asio::bind_executor(strand, note()))));
    operation.drop();
    operation(group.track(
        asio::bind_cancellation_slot(signal.slot(), asio::bind_executor(tracked, note()))));
    operation.drop();
  }
  asio::io_context b;
  {
    asio::io_context a;
    async_group of_strand(asio::make_strand(a));
    asio::post(b, of_strand.track([] {}));
  }
  b.run();
  BOOST_TEST(group.pending() == 0);
}

BOOST_AUTO_TEST_CASE(R10_a_group_whose_context_has_gone_cancels_those_with_an_executor) {
  auto dying = std::make_unique<asio::io_context>();
  async_group of_dying(*dying);
  stopped own;
  operation(of_dying.track(note()));
  own(of_dying.track(asio::bind_executor(other, note())));
  dying = nullptr;
  of_dying.cancel_pending();
  poll();
  BOOST_TEST(operation.is_pending());
  BOOST_TEST(!own.is_pending());
  operation.end();
}

BOOST_AUTO_TEST_CASE(R10_what_begins_after_the_end_of_the_groups_context_is_not_asked_there) {
  std::optional<asio::io_context> dying(std::in_place);
  async_group of_dying(*dying);
  dying.reset();
  dying.emplace();  // in the same place
  operation.while_it_begins = [&] { of_dying.cancel_pending(); };
  operation(of_dying.track(note()));
  BOOST_TEST(dying->poll() == 0u);
  BOOST_TEST(operation.is_pending());
  operation.end();
}

// Those that do not end keep their place; others are not held up.
BOOST_AUTO_TEST_CASE(Group_cancels_as_often_as_it_is_asked) {
  operation(group.track(note()));
  std::vector<stopped> many(300);
  for (stopped& each : many) each(group.track(note()));
  group.cancel_pending();
  group.cancel_pending();
  poll();
  BOOST_TEST(errors.size() == 301u);
  group.cancel_pending();
  BOOST_TEST(group.pending() == 0);
}

BOOST_AUTO_TEST_CASE(R13_a_cancellation_without_memory_leaves_the_others) {
  operation(group.track(note()));
  stopped next;
  next(group.track(note()));
  {
    asio_sync::test::empty_pool const empty;
    asio_sync::test::failing_heap const heap;
    BOOST_CHECK_THROW(group.cancel_pending(), std::bad_alloc);
  }
  poll();
  BOOST_TEST(errors.empty());
  group.cancel_pending();
  poll();
  BOOST_TEST(errors.size() == 2u);
}

BOOST_AUTO_TEST_CASE(R17_operations_end_while_a_thread_cancels) {
  asio::thread_pool pool(1);
  cancelling_thread cancels(group);
  auto const strand = asio::make_strand(pool);
  std::size_t ended = 0;
  constexpr std::size_t n = 2000;
  for (std::size_t i = 0; i != n; ++i)
    asio::post(strand, [&, strand] {
      auto timer = std::make_unique<asio::steady_timer>(strand, 1h);
      auto& waits = *timer;
      waits.async_wait(group.track(
          asio::bind_executor(strand, [&, t = std::move(timer)](error_code) { ++ended; })));
    });
  group.add();
  asio::post(strand, [&] { group.done(); });
  group.async_join([&](error_code error) { BOOST_TEST(!error); });
  context.run();
  cancels.stop();
  pool.join();
  BOOST_TEST(ended == n);
}

BOOST_AUTO_TEST_SUITE_END()
