// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Where the operations of a group are cancelled.

#include "support/executors.hpp"
#include "support/memory.hpp"
#include "support/test.hpp"
#include "unit/group/operations.hpp"

#include <asio_sync/async_condition.hpp>
#include <asio_sync/async_group.hpp>
#include <asio_sync/async_monitor.hpp>
#include <asio_sync/async_mutex.hpp>

#include <boost/asio/ip/udp.hpp>

namespace group_places_test {

using namespace asio_sync::test;
using asio::cancellation_type;

using io_strand = asio::strand<asio::io_context::executor_type>;

// Begins an operation as one of Asio that says where it is: by an initiation with an executor.
template <class Executor>
class placed {
 public:
  placed(stopped& operation, Executor const& ex) : operation_(&operation), executor_(ex) {}

  auto operator()(auto&& token) const {
    return asio::async_initiate<decltype(token), stopped::signature>(
        initiation{operation_, executor_}, token);
  }

 private:
  struct initiation {
    using executor_type = Executor;
    executor_type get_executor() const noexcept { return executor; }
    void operator()(auto&& handler) const {
      (*operation)(std::forward<decltype(handler)>(handler));
    }
    stopped* operation;
    Executor executor;
  };

  stopped* operation_;
  Executor executor_;
};

// As Beast's: an initiation that does not, but asks the handler.
template <class Executor>
auto asking(stopped& operation, Executor const& ex, auto&& token) {
  return asio::async_initiate<decltype(token), stopped::signature>(
      [&operation, &ex](auto handler) {
        static_cast<void>(asio::get_associated_executor(handler, ex));
        static_cast<void>(asio::get_associated_executor(handler, asio::system_executor()));
        operation(std::move(handler));
      },
      token);
}

struct fixture {
  asio::io_context context, other;
  io_strand strand = asio::make_strand(other);
  async_group group{context};
  stopped operation;
  int ended = 0;
  bool in_strand = false;

  fixture() {
    operation.when_cancelled = [this] { in_strand = strand.running_in_this_thread(); };
  }

  auto note() {
    return [this](error_code error, int, std::string const&) { ended += error == aborted; };
  }
  auto note_thrown() {
    return [this](std::exception_ptr const& thrown) { ended += thrown != nullptr; };
  }
  asio::awaitable<void> wait() { co_await operation(asio::use_awaitable); }

  void poll() { test::poll(context, other); }

  // It is cancelled in the strand, not on the group's executor.
  void cancels_in_strand() {
    group.cancel_pending();
    test::poll(context);
    BOOST_TEST(operation.is_pending());
    test::poll(other);
    BOOST_TEST(!operation.is_pending());
    BOOST_TEST(in_strand);
    poll();
    BOOST_TEST(group.pending() == 0);
  }
  void cancels_on_the_groups() {
    group.cancel_pending();
    test::poll(other);
    BOOST_TEST(operation.is_pending());
    test::poll(context);
    BOOST_TEST(!operation.is_pending());
    poll();
    BOOST_TEST(group.pending() == 0);
  }
};

// A token whose initiation is derived from that of the token inside.
template <class Token>
struct deriving {
  Token token;
};
template <class Token>
deriving(Token) -> deriving<Token>;

template <class Initiation>
struct derived_initiation : Initiation {
  explicit derived_initiation(Initiation const& i) : Initiation(i) {}
};

}  // namespace group_places_test

template <class Token, class... Signatures>
struct boost::asio::async_result<group_places_test::deriving<Token>, Signatures...> {
  template <class Initiation, class Raw, class... Args>
  static auto initiate(Initiation&& initiation, Raw&& raw, Args&&... args) {
    using derived = group_places_test::derived_initiation<std::decay_t<Initiation>>;
    return async_initiate<Token, Signatures...>(derived(initiation), raw.token,
                                                static_cast<Args&&>(args)...);
  }
};

BOOST_FIXTURE_TEST_SUITE(group_places_test, fixture)

BOOST_AUTO_TEST_CASE(W1_a_coroutine_is_cancelled_where_it_was_spawned) {
  asio::co_spawn(strand, wait(), group.track(asio::detached));
  poll();
  cancels_in_strand();
}

BOOST_AUTO_TEST_CASE(W1_a_coroutine_is_cancelled_where_it_was_spawned_wherever_its_handler_runs) {
  asio::io_context third;
  asio::co_spawn(strand, wait(), group.track(asio::bind_executor(third, note_thrown())));
  poll();
  group.cancel_pending();
  third.poll();
  BOOST_TEST(operation.is_pending());
  test::poll(other);
  BOOST_TEST(in_strand);
  test::poll(third);
  BOOST_TEST(ended == 1);
}

BOOST_AUTO_TEST_CASE(W1_a_deferred_coroutine_and_one_of_a_future_are_cancelled_there) {
  auto deferred = asio::co_spawn(strand, wait(), group.track(asio::deferred));
  std::move(deferred)(note_thrown());
  poll();
  cancels_in_strand();
  in_strand = false;
  auto future = asio::co_spawn(strand, wait(), group.track(asio::use_future));
  poll();
  cancels_in_strand();
  BOOST_CHECK_THROW(future.get(), boost::system::system_error);
}

BOOST_AUTO_TEST_CASE(W1_a_coroutine_of_two_groups_is_cancelled_there_by_either) {
  for (bool const inner : {false, true}) {
    async_group second(context);
    in_strand = false;
    if (inner)
      asio::co_spawn(strand, wait(), second.track(group.track(note_thrown())));
    else
      asio::co_spawn(strand, wait(), group.track(second.track(note_thrown())));
    BOOST_TEST(second.pending() == 1);
    poll();
    cancels_in_strand();
    BOOST_TEST(second.pending() == 0);
  }
  BOOST_TEST(ended == 2);
}

// Asio does not complete a coroutine that was cancelled before its first step: its issue 1452.
BOOST_AUTO_TEST_CASE(W1_a_coroutine_takes_its_first_step_before_it_is_cancelled) {
  async_mutex mutex(context);
  bool stepped = false;
  auto const never_suspends = [&]() -> asio::awaitable<void> {
    auto const lock = co_await mutex.async_lock(asio::deferred);
    stepped = true;
  };
  asio::co_spawn(strand, never_suspends, group.track(asio::detached));
  group.cancel_pending();
  BOOST_CHECK_NO_THROW(poll());
  BOOST_TEST(stepped);
  BOOST_TEST(group.pending() == 0);
  asio::co_spawn(strand, wait(), group.track(note_thrown()));
  group.cancel_pending();
  BOOST_CHECK_NO_THROW(poll());
  BOOST_TEST(ended == 1);
}

BOOST_AUTO_TEST_CASE(W1_a_coroutine_that_cancels_its_group_goes_on_to_its_next_suspension) {
  async_mutex mutex(context);
  int steps = 0;
  auto const cancels = [&]() -> asio::awaitable<void> {
    group.cancel_pending();
    auto const lock = co_await mutex.async_lock(asio::deferred);
    ++steps;
    co_await operation(asio::use_awaitable);
    ++steps;
  };
  asio::post(strand, [&] { asio::co_spawn(strand, cancels, group.track(note_thrown())); });
  BOOST_CHECK_NO_THROW(poll());
  BOOST_TEST(steps == 1);
  BOOST_TEST(ended == 1);
  BOOST_TEST(in_strand);
}

// Whoever is asked behind a queued first step, in the strand itself.
BOOST_AUTO_TEST_CASE(W1_a_coroutine_is_cancelled_by_a_post_also_in_its_own_strand) {
  asio::post(strand, [&] { group.cancel_pending(); });
  asio::co_spawn(strand, wait(), group.track(note_thrown()));
  BOOST_CHECK_NO_THROW(poll());
  BOOST_TEST(ended == 1);
}

BOOST_AUTO_TEST_CASE(W1_a_coroutine_whose_initiation_is_wrapped_is_cancelled_there) {
  asio::co_spawn(strand, wait(), asio::as_tuple(group.track([&](auto const&) { ++ended; })));
  BOOST_CHECK_NO_THROW(poll());
  BOOST_CHECK_NO_THROW(cancels_in_strand());
  asio::post(strand, [&] { group.cancel_pending(); });
  asio::co_spawn(strand, wait(), asio::as_tuple(group.track([&](auto const&) { ++ended; })));
  BOOST_CHECK_NO_THROW(poll());
  BOOST_TEST(ended == 2);
}

BOOST_AUTO_TEST_CASE(W2_an_operation_is_cancelled_on_the_executor_of_its_handler) {
  placed begin(operation, context.get_executor());
  begin(group.track(asio::bind_executor(strand, note())));
  cancels_in_strand();
}

BOOST_AUTO_TEST_CASE(W2_the_systems_executor_does_not_count) {
  placed begin(operation, strand);
  begin(group.track(asio::bind_executor(asio::system_executor(), note())));
  cancels_in_strand();
  operation(group.track(asio::bind_executor(asio::system_executor(), note())));
  cancels_on_the_groups();
}

BOOST_AUTO_TEST_CASE(W2_an_erased_handler_without_an_executor_is_cancelled_at_its_operation) {
  using erased = asio::any_completion_handler<stopped::signature>;
  placed begin(operation, strand);
  begin(group.track(erased(note())));
  cancels_in_strand();
  operation(group.track(erased(asio::bind_executor(strand, note()))));
  cancels_in_strand();
  operation(group.track(erased(note())));
  cancels_on_the_groups();
  BOOST_TEST(ended == 3);
}

BOOST_AUTO_TEST_CASE(W3_an_operation_of_a_handler_without_an_executor_is_cancelled_where_it_is) {
  placed begin(operation, strand);
  begin(group.track(note()));
  cancels_in_strand();
  placed begin_erased(operation, asio::any_io_executor(strand));
  auto future = begin_erased(group.track(asio::use_future));
  cancels_in_strand();
}

BOOST_AUTO_TEST_CASE(W3_timers_sockets_and_waits_are_cancelled_on_their_own_executors) {
  asio::steady_timer timer(strand, 1h);
  asio::ip::udp::socket socket(strand, asio::ip::udp::endpoint(asio::ip::udp::v4(), 0));
  async_mutex mutex(strand);
  async_monitor<int> monitor(other);
  auto const lock = asio_sync::async_mutex::lock_type(mutex, std::try_to_lock);
  auto const inside = monitor.try_enter();
  char byte;
  auto const count = [&](error_code error, auto const&...) { ended += error == aborted; };
  timer.async_wait(group.track(count));
  auto future = timer.async_wait(group.track(asio::use_future));
  socket.async_receive(asio::buffer(&byte, 1), group.track(count));
  mutex.async_lock(group.track(count));
  monitor.async_enter(group.track(count));
  BOOST_TEST(group.pending() == 5);
  group.cancel_pending();
  test::poll(context);
  BOOST_TEST(group.pending() == 5);
  test::poll(other);
  BOOST_TEST(group.pending() == 0);
  BOOST_TEST(ended == 4);
}

BOOST_AUTO_TEST_CASE(W3_the_systems_executor_does_not_count) {
  placed begin(operation, asio::system_executor());
  begin(group.track(note()));
  cancels_on_the_groups();
  placed begin_erased(operation, asio::any_io_executor(asio::system_executor()));
  begin_erased(group.track(note()));
  cancels_on_the_groups();
}

BOOST_AUTO_TEST_CASE(W4_an_operation_is_cancelled_on_the_first_executor_that_it_offers) {
  asking(operation, strand, group.track(note()));
  cancels_in_strand();
  auto future = asking(operation, asio::any_io_executor(strand), group.track(asio::use_future));
  cancels_in_strand();
  asking(operation, asio::system_executor(), group.track(note()));
  cancels_on_the_groups();
}

BOOST_AUTO_TEST_CASE(W4_an_operation_that_is_asked_while_it_begins_is_cancelled_there) {
  operation.while_it_begins = [&] { group.cancel_pending(); };
  asking(operation, strand, group.track(note()));
  BOOST_TEST(operation.is_pending());
  test::poll(context);
  BOOST_TEST(operation.is_pending());
  test::poll(other);
  BOOST_TEST(in_strand);
}

BOOST_AUTO_TEST_CASE(W5_an_operation_that_says_nothing_is_cancelled_on_the_groups_executor) {
  operation(group.track(note()));
  cancels_on_the_groups();
  auto const begin = [&](auto&& token) {
    return asio::async_compose<decltype(token), void(error_code)>(
        [&](auto& self, error_code error = {}, int n = 0, std::string const& = {}) {
          if (n == 0)
            operation(std::move(self));
          else
            self.complete(error);
        },
        token);
  };
  begin(group.track([&](error_code error) { ended += error == aborted; }));
  cancels_on_the_groups();
  asio::experimental::make_parallel_group([&](auto&& token) {
    return operation(std::forward<decltype(token)>(token));
  }).async_wait(asio::experimental::wait_for_all(), group.track([&](auto const&...) { ++ended; }));
  cancels_on_the_groups();
  BOOST_TEST(ended == 3);
}

// The first operation ends the second one, too, and with them the join, whose handler destroys the
// group, all inside the first emission.
BOOST_AUTO_TEST_CASE(W6_a_join_ends_the_group_while_the_first_operation_is_cancelled) {
  auto dying = std::make_unique<async_group>(context);
  stopped second;
  auto const ends_all = [&](auto&& token) {
    return asio::async_initiate<decltype(token), void()>(
        [&](auto handler) {
          auto const kept = std::make_shared<decltype(handler)>(std::move(handler));
          asio::get_associated_cancellation_slot(*kept).assign([&, kept](cancellation_type) {
            std::move (*kept)();
            second.end();
            context.poll();
          });
        },
        token);
  };
  stopped third;
  ends_all(dying->track(asio::detached));
  second(dying->track(asio::bind_executor(context, note())));
  third(group.track(note()));
  dying->async_join([&](error_code error) {
    BOOST_TEST(!error);
    dying.reset();
    group.cancel_pending();
  });
  asio::post(context, [&] { dying->cancel_pending(); });
  test::poll(context);
  BOOST_TEST(!dying);
  BOOST_TEST(!third.is_pending());

  dying = std::make_unique<async_group>(context);
  ends_all(dying->track(asio::detached));
  second(dying->track(asio::detached));
  dying->async_join([&](error_code) { dying.reset(); });
  asio::post(context, [&] { dying->cancel_pending(); });
  test::poll(context);
  BOOST_TEST(!dying);
}

// A strand must not outlive its context.
BOOST_AUTO_TEST_CASE(W6_what_the_first_operation_ends_takes_its_executor_along) {
  auto second_context = std::make_unique<asio::io_context>();
  auto second = std::make_unique<stopped>();
  operation.when_cancelled = [&] {
    second->drop();
    second = nullptr;
    second_context = nullptr;
  };
  asio::post(context, [&] {
    operation(group.track(asio::bind_executor(context, note())));
    (*second)(group.track(asio::bind_executor(asio::make_strand(*second_context), note())));
    group.cancel_pending();
  });
  test::poll(context);
  BOOST_TEST(!second_context);
  BOOST_TEST(ended == 1);
}

BOOST_AUTO_TEST_CASE(W7_an_executor_is_not_used_after_the_end_of_its_context) {
  for (bool const at_home : {false, true}) {
    auto dying = std::make_unique<asio::io_context>();
    auto pool = std::make_unique<asio::thread_pool>(1);
    async_group of_dying(at_home ? *dying : context);
    stopped bound, says, offers, in_pool;
    bound(of_dying.track(asio::bind_executor(*dying, note())));
    placed(says, dying->get_executor())(of_dying.track(note()));
    asking(offers, asio::any_io_executor(dying->get_executor()), of_dying.track(note()));
    placed(in_pool, asio::any_io_executor(pool->get_executor()))(of_dying.track(note()));
    dying = nullptr;
    pool = nullptr;
    of_dying.cancel_pending();
    poll();
    for (stopped* const each : {&bound, &says, &offers, &in_pool}) {
      BOOST_TEST(each->is_pending());
      each->drop();
    }
    BOOST_TEST(of_dying.pending() == 0);
  }
}

BOOST_AUTO_TEST_CASE(W7_a_context_in_the_place_of_one_that_has_ended_is_another) {
  std::optional<asio::io_context> dying(std::in_place);
  async_group of_dying(*dying);
  stopped of_first;
  of_first(of_dying.track(asio::bind_executor(*dying, note())));
  dying.reset();
  dying.emplace();
  operation(of_dying.track(asio::bind_executor(*dying, note())));
  of_dying.cancel_pending();
  BOOST_TEST(dying->poll() == 1u);
  BOOST_TEST(!operation.is_pending());
  dying->restart();
  dying->poll();
  BOOST_TEST(ended == 1);
  BOOST_TEST(of_first.is_pending());
  of_first.drop();
}

// Also through an adapter whose initiation is derived from the monitor's.
BOOST_AUTO_TEST_CASE(W7_a_monitor_is_not_asked_for_the_strand_that_has_gone) {
  auto dying = std::make_unique<asio::io_context>();
  async_monitor<int> monitor(*dying);
  async_monitor<int>::condition changed(monitor);
  auto inside = monitor.try_enter();
  dying = nullptr;
  auto const count = [&](auto const&...) { ++ended; };
  monitor.async_enter(group.track(count));
  monitor.async_enter(deriving{group.track(count)});
  monitor.async_enter_when([](int) { return true; }, group.track(count));
  monitor.async_invoke([](int) {}, group.track(count));
  changed.async_wait(inside, group.track(count));
  group.cancel_pending();
  poll();
  BOOST_TEST(group.pending() == 0);
}

// Of a strand an any_io_executor has to be made, which takes memory.
BOOST_AUTO_TEST_CASE(R13_what_is_offered_is_not_kept_without_memory) {
  auto const begin = [&](auto&& token) {
    return asio::async_initiate<decltype(token), stopped::signature>(
        [&](auto handler) {
          {
            asio_sync::test::empty_pool const empty;
            asio_sync::test::failing_heap const heap;
            static_cast<void>(asio::get_associated_executor(handler, strand));
          }
          operation(std::move(handler));
        },
        token);
  };
  begin(group.track(note()));
  cancels_on_the_groups();
}

BOOST_AUTO_TEST_CASE(R13_a_context_is_watched_without_memory) {
  {
    asio_sync::test::empty_pool const empty;
    asio_sync::test::failing_heap const heap;
    BOOST_CHECK_THROW(operation(group.track(asio::bind_executor(other, note()))), std::bad_alloc);
  }
  BOOST_TEST(group.pending() == 0);
  operation(group.track(asio::bind_executor(strand, note())));
  cancels_in_strand();
}

// The strand, and what Asio has put into the slot, which holds it, go before the join.
BOOST_AUTO_TEST_CASE(W7_a_join_ends_the_context_of_a_coroutine_that_has_just_ended) {
  auto dying = std::make_unique<asio::io_context>();
  asio::co_spawn(
      asio::make_strand(*dying), []() -> asio::awaitable<void> { co_return; },
      group.track(asio::bind_executor(context, note_thrown())));
  group.async_join(
      asio::bind_executor(inline_executor(other), [&](error_code) { dying.reset(); }));
  dying->poll();
  test::poll(context);
  BOOST_TEST(!dying);
  BOOST_TEST(group.pending() == 0);
}

BOOST_AUTO_TEST_CASE(W7_one_that_is_cancelled_ends_the_context_of_the_next) {
  auto dying = std::make_unique<asio::io_context>();
  auto const sleep = []() -> asio::awaitable<void> {
    asio::steady_timer timer(co_await asio::this_coro::executor, 1h);
    co_await timer.async_wait(asio::use_awaitable);
  };
  operation(group.track(
      asio::bind_executor(context, [&](error_code, int, std::string const&) { dying.reset(); })));
  asio::co_spawn(asio::make_strand(*dying), sleep,
                 group.track(asio::bind_executor(context, note_thrown())));
  dying->poll();
  asio::post(context, [&] { group.cancel_pending(); });
  test::poll(context);
  BOOST_TEST(!dying);
  BOOST_TEST(group.pending() == 0);
}

BOOST_AUTO_TEST_CASE(W7_the_group_and_then_its_context_end_while_others_are_to_be_cancelled) {
  auto dying = std::make_unique<asio::io_context>();
  auto mortal = std::make_unique<async_group>(*dying);
  stopped second;
  operation(mortal->track(asio::bind_executor(context, [&](error_code, int, std::string const&) {
    mortal.reset();
    dying.reset();
  })));
  second(mortal->track(asio::bind_executor(dying->get_executor(), note())));
  asio::post(context, [&] { mortal->cancel_pending(); });
  test::poll(context);
  BOOST_TEST(!dying);
  BOOST_TEST(second.is_pending());
  second.drop();
}

BOOST_AUTO_TEST_CASE(W7_a_context_is_seen_through_any_completion_executor) {
  std::optional<asio::io_context> dying(std::in_place);
  operation(group.track(
      asio::bind_executor(asio::any_completion_executor(dying->get_executor()), note())));
  dying.reset();
  group.cancel_pending();
  BOOST_TEST(operation.is_pending());
  operation.drop();
}

BOOST_AUTO_TEST_CASE(W5_asked_while_it_begins_without_an_executor_though_its_type_may_have_one) {
  auto const begin = [&](auto token) {
    operation.while_it_begins = [&] { group.cancel_pending(); };
    operation(std::move(token));
    BOOST_TEST(operation.is_pending());
    poll();
    BOOST_TEST(!operation.is_pending());
    poll();
    BOOST_TEST(group.pending() == 0);
  };
  begin(group.track(asio::any_completion_handler<stopped::signature>(note())));
  begin(group.track(asio::bind_executor(asio::any_io_executor(asio::system_executor()), note())));
}

// Asio's coroutines send the signal on to their executor, with a reference to the slot.
BOOST_AUTO_TEST_CASE(W1_a_coroutine_ends_while_its_cancellation_is_on_its_way) {
  posting_executor const ex(context);
  for (int steps = 0; steps < 12; ++steps) {
    asio::co_spawn(
        asio::any_io_executor(ex), []() -> asio::awaitable<void> { co_return; },
        group.track(asio::bind_executor(ex, [](std::exception_ptr const&) {})));
    context.restart();
    for (int i = 0; i < steps; ++i) context.poll_one();
    group.cancel_pending();
    test::poll(context);
    BOOST_TEST(group.pending() == 0);
  }
}

BOOST_AUTO_TEST_CASE(W1_a_coroutine_ends_while_the_signal_of_its_handler_is_on_its_way) {
  asio::cancellation_signal signal;
  async_group second(context);
  auto const alive = std::make_shared<int>();
  auto const ends = [&](auto const& ex, auto&& token) {
    asio::co_spawn(ex, wait(), std::forward<decltype(token)>(token));
    poll();
    operation.end();  // before the signal in the queue
    signal.emit(cancellation_type::terminal);
    other.restart();
    for (int i = 0; i != 8 && group.pending() != 0; ++i) {
      other.poll_one();
      test::poll(context);
    }
    BOOST_TEST(group.pending() == 0);
  };
  auto const here = asio::bind_cancellation_slot(signal.slot(), [&](auto const&) { ++ended; });
  auto const elsewhere = asio::bind_executor(context, here);
  ends(posting_executor(other, alive), group.track(elsewhere));
  BOOST_TEST_REQUIRE(alive.use_count() > 1);  // in what the coroutine has put into its slot
  test::poll(other);
  BOOST_TEST(alive.use_count() == 1);
  ends(strand, group.track(here));
  ends(strand, group.track(elsewhere));
  ends(strand, second.track(group.track(here)));
  ends(strand, asio::as_tuple(group.track(here)));
  poll();
  BOOST_TEST(ended == 5);
  BOOST_TEST(second.pending() == 0);
}

BOOST_AUTO_TEST_CASE(W7_a_signal_of_a_handler_ends_the_context_of_its_operation) {
  auto third = std::make_unique<asio::io_context>();
  asio::cancellation_signal signal;
  asking(operation, third->get_executor(),
         group.track(asio::bind_cancellation_slot(
             signal.slot(), [&](error_code, int, std::string const&) { third.reset(); })));
  signal.emit(cancellation_type::terminal);
  BOOST_TEST(!third);
  BOOST_TEST(group.pending() == 0);
}

// A handler whose move throws when it is called, and which tells when it is destroyed.
BOOST_AUTO_TEST_CASE(Handler_whose_move_throws_is_destroyed_before_it_ceases_to_count) {
  bool throws = false;
  std::ptrdiff_t at_its_end = -1;
  struct handler {
    handler(bool& t, std::shared_ptr<void> c) : throws(&t), captured(std::move(c)) {}
    handler(handler&& other) : throws(other.throws), captured(other.captured) {
      if (*throws) throw std::bad_alloc();
    }
    void operator()(error_code, int, std::string const&) {}
    bool* throws;
    std::shared_ptr<void> captured;
  };
  {
    std::shared_ptr<void> captured(nullptr, [&](void*) { at_its_end = group.pending(); });
    operation(group.track(asio::bind_executor(context, handler(throws, std::move(captured)))));
  }
  throws = true;
  operation.end();
  BOOST_CHECK_THROW(test::poll(context), std::bad_alloc);
  BOOST_TEST(at_its_end == 1);
  BOOST_TEST(group.pending() == 0);
}

BOOST_AUTO_TEST_SUITE_END()
