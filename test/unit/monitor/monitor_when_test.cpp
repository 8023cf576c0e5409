// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Waits of a monitor that look at a predicate before they enter.

#include "support/executors.hpp"
#include "support/test.hpp"
#include "unit/monitor/fixture.hpp"

#include <asio_sync/async_manual_reset_event.hpp>
#include <asio_sync/async_monitor.hpp>
#include <asio_sync/async_mutex.hpp>

namespace monitor_when_test {

using namespace asio_sync::test;
using entry = bank::entry;

// Posts to a context. Whoever asks for that is held up by `asked`, and its last copy ends with
// what it has.
struct user_executor {
  asio::execution_context& query(asio::execution::context_t) const noexcept {
    if (asked) (*asked)();
    return *io;
  }
  static constexpr asio::execution::blocking_t query(asio::execution::blocking_t) noexcept {
    return asio::execution::blocking.never;
  }
  template <class Function>
  void execute(Function&& f) const {
    asio::post(*io, std::forward<Function>(f));
  }
  friend bool operator==(user_executor const& a, user_executor const& b) noexcept {
    return a.io == b.io;
  }
  friend bool operator!=(user_executor const& a, user_executor const& b) noexcept {
    return !(a == b);
  }

  asio::io_context* io;
  std::function<void()> const* asked = nullptr;
  std::shared_ptr<void> has{};
};

// Its type says what its context is.
struct telling_executor : user_executor {
  using user_executor::query;
  asio::io_context& query(asio::execution::context_t) const noexcept { return *io; }
};

}  // namespace monitor_when_test

BOOST_FIXTURE_TEST_SUITE(monitor_when_test, monitor_fixture)

BOOST_AUTO_TEST_CASE(M4_enters_once_the_predicate_holds) {
  monitor->async_enter_when(at_least(2), note('a'));
  for (int i = 0; i != 2; ++i) {
    poll();
    BOOST_TEST(order == "");
    BOOST_TEST(monitor->waiters() == 1u);
    pay_in(1);
  }
  poll();
  BOOST_TEST(order == "a");
  BOOST_TEST(monitor->waiters() == 0u);
  BOOST_TEST(monitor->try_enter().owns());
}

BOOST_AUTO_TEST_CASE(M4_a_false_predicate_keeps_nobody_out) {
  monitor->async_enter_when(at_least(1), note('a'));
  poll();
  monitor->async_enter(note('b'));
  BOOST_TEST(order == "");
  poll();
  BOOST_TEST(order == "b");
}

BOOST_AUTO_TEST_CASE(M4_occupied_until_the_predicates_were_looked_at) {
  monitor->async_enter_when(at_least(9), note('a'));
  BOOST_TEST(!monitor->try_enter().owns());
  poll();
  monitor->try_enter().leave();
  BOOST_TEST(!monitor->try_enter().owns());
  poll();
  BOOST_TEST(monitor->try_enter().owns());
}

BOOST_AUTO_TEST_CASE(M4_the_oldest_whose_predicate_holds_enters) {
  entry inside = monitor->try_enter();
  monitor->async_enter_when(at_least(3), note('a'));
  monitor->async_enter_when(at_least(2), note('b'));
  monitor->async_enter(note('c'));
  monitor->async_enter_when(at_least(1), note('d'));
  inside->balance = 1;
  inside.leave();
  poll();
  BOOST_TEST(order == "cd");
  monitor->async_enter(note('e'));
  monitor->async_enter([this](error_code, entry by_f) {
    by_f->balance = 3;
    monitor->async_enter(note('g'));
    order += 'f';
  });
  poll();
  BOOST_TEST(order == "cdefabg");  // those who had looked are older than g
}

BOOST_AUTO_TEST_CASE(M4_those_who_have_looked_are_older_than_who_has_come_since) {
  monitor->async_enter_when(at_least(2), note('a'));
  monitor->async_enter_when(at_least(1), note('b'));
  poll();
  entry inside = monitor->try_enter();
  monitor->async_enter(note('c'));
  inside->balance = 2;
  inside.leave();
  poll();
  BOOST_TEST(order == "abc");
}

BOOST_AUTO_TEST_CASE(M4_all_are_looked_at_again_when_one_has_left) {
  for (char who : {'a', 'b', 'c'})
    monitor->async_enter_when([who](account const& x) { return x.balance == 'c' - who + 1; },
                              [this, who](error_code, entry inside) {
                                order += who;
                                ++inside->balance;
                              });
  poll();
  pay_in(1);
  poll();
  BOOST_TEST(order == "cba");
}

BOOST_AUTO_TEST_CASE(M4_looked_at_when_a_wait_on_a_condition_has_left) {
  bank::condition changed(*monitor);
  monitor->async_enter_when(at_least(1), note('a'));
  poll();
  entry inside = monitor->try_enter();
  inside->balance = 1;
  changed.async_wait(inside, [](error_code) {});
  poll();
  BOOST_TEST(order == "a");
}

BOOST_AUTO_TEST_CASE(M4_looked_at_on_the_strand_and_completed_where_the_handler_runs) {
  auto const own = asio::make_strand(*other);
  bool on_strand = true, on_own = false;
  monitor->async_enter_when(
      [&](account const&) {
        on_strand = on_strand && monitor->get_executor().running_in_this_thread();
        return true;
      },
      asio::bind_executor(own, [&](error_code e, entry inside) {
        on_own = !e && inside.owns() && own.running_in_this_thread();
      }));
  other->poll();
  BOOST_TEST(!on_own);
  poll();
  BOOST_TEST(on_strand);
  BOOST_TEST(on_own);
}

BOOST_AUTO_TEST_CASE(M4_a_predicate_that_throws_ends_its_own_wait) {
  bool called = false;
  std::string thrown;
  auto const throws = [](account const&) -> bool { throw std::runtime_error("looked"); };
  monitor->async_enter_when(
      throws, asio::bind_executor(*other, [&](error_code, entry) { called = true; }));
  context->poll();
  BOOST_TEST(monitor->try_enter().owns());
  BOOST_CHECK_THROW(other->poll(), std::runtime_error);
  BOOST_TEST(!called);
  asio::co_spawn(
      *other,
      [&]() -> asio::awaitable<void> {
        try {
          static_cast<void>(co_await monitor->async_enter_when(throws, asio::use_awaitable));
        } catch (std::runtime_error const& e) {
          thrown = e.what();
        }
      },
      asio::detached);
  monitor->async_enter(note('a'));
  poll();
  BOOST_TEST(thrown == "looked");
  BOOST_TEST(order == "a");
}

BOOST_AUTO_TEST_CASE(R1a_a_coroutine_on_the_strand_does_not_suspend_for_what_is_true) {
  bool posted = false, done = false;
  asio::co_spawn(
      monitor->get_executor(),
      [&]() -> asio::awaitable<void> {
        asio::post(monitor->get_executor(), [&] { posted = true; });
        auto [error, inside] =
            co_await monitor->async_enter_when(at_least(0), asio::as_tuple(asio::use_awaitable));
        done = !error && inside.owns() && !posted;
      },
      asio::detached);
  poll();
  BOOST_TEST(done);
}

BOOST_AUTO_TEST_CASE(M4_a_coroutine_on_the_strand_whose_predicate_is_false_leaves) {
  bool done = false;
  asio::co_spawn(
      monitor->get_executor(),
      [&]() -> asio::awaitable<void> {
        entry const inside = co_await monitor->async_enter_when(at_least(1), asio::use_awaitable);
        done = inside.owns();
      },
      asio::detached);
  poll();
  pay_in(1);
  BOOST_TEST(!done);
  poll();
  BOOST_TEST(done);
}

BOOST_AUTO_TEST_CASE(M4_a_coroutine_off_the_strand_does_not_look_itself) {
  bool on_strand = false;
  asio::co_spawn(
      *other,
      [&]() -> asio::awaitable<void> {
        auto const looks = [&](account const&) {
          on_strand = monitor->get_executor().running_in_this_thread();
          return true;
        };
        entry const inside = co_await monitor->async_enter_when(looks, asio::use_awaitable);
      },
      asio::detached);
  poll();
  BOOST_TEST(on_strand);
}

BOOST_AUTO_TEST_CASE(R3_an_entry_that_nobody_receives_has_the_others_looked_at) {
  monitor->async_enter_when(at_least(1), asio::bind_executor(*other, note('a')));
  monitor->async_enter_when(at_least(1), note('b'));
  poll();
  pay_in(1);
  context->restart();
  context->poll();
  other.reset();
  poll();
  BOOST_TEST(order == "b");
  BOOST_TEST(monitor->try_enter().owns());
}

BOOST_AUTO_TEST_CASE(R4_cancelled_while_it_waits_and_while_it_is_looked_at) {
  asio::cancellation_signal signal;
  auto const cancellable = [&](char who, int amount) {
    monitor->async_enter_when(at_least(amount),
                              asio::bind_cancellation_slot(signal.slot(), note(who)));
  };
  cancellable('a', 1);
  poll();
  signal.emit(asio::cancellation_type::total);
  poll();
  BOOST_TEST(order == "aa");
  cancellable('b', 1);  // on its way to the strand
  signal.emit(asio::cancellation_type::partial);
  poll();
  cancellable('c', 0);
  signal.emit(asio::cancellation_type::terminal);
  poll();
  BOOST_TEST(order == "aabaca");
  entry inside = monitor->try_enter();
  cancellable('d', 0);
  signal.emit(asio::cancellation_type::terminal);
  BOOST_TEST(monitor->waiters() == 0u);
  poll();
  BOOST_TEST(order == "aabacada");
}

BOOST_AUTO_TEST_CASE(R4_cancel_covers_what_is_looked_at) {
  monitor->async_enter_when(at_least(1), note('a'));
  BOOST_TEST(monitor->waiters() == 1u);
  BOOST_TEST(monitor->cancel() == 1u);
  BOOST_TEST(monitor->waiters() == 0u);
  poll();
  BOOST_TEST(order == "aa");
  monitor->async_enter_when(at_least(1), note('b'));
  poll();
  BOOST_TEST(monitor->cancel() == 1u);
  poll();
  BOOST_TEST(order == "aaba");
}

BOOST_AUTO_TEST_CASE(R11_time_is_limited) {
  monitor->async_enter_when_for(at_least(1), 0s, note('a'));
  poll();
  monitor->async_enter_when_for(at_least(0), 0s, note('b'));
  poll();
  BOOST_TEST(order == "atb");
  entry inside = monitor->try_enter();
  monitor->async_enter_when_until(at_least(0), std::chrono::steady_clock::now() - 1s, note('c'));
  poll();
  BOOST_TEST(order == "atbct");
  inside.leave();
  monitor->async_enter_when_for(at_least(1), 1ms, note('d'));
  context->restart();
  context->run_one();
  while (order.size() == 5) context->run_one();
  BOOST_TEST(order == "atbctdt");
}

BOOST_AUTO_TEST_CASE(R18_closed) {
  monitor->async_enter_when(at_least(1), note('a'));
  poll();
  monitor->async_enter_when(at_least(1), note('b'));
  monitor->close();
  monitor->async_enter_when(at_least(0), note('c'));
  poll();
  BOOST_TEST(order.size() == 6u);
  for (char const* const one : {"ac", "bc", "cc"}) BOOST_TEST(order.find(one) != order.npos);
  BOOST_TEST(monitor->waiters() == 0u);
}

BOOST_AUTO_TEST_CASE(R9_the_monitor_dies_with_waits) {
  monitor->async_enter_when(at_least(1), note('a'));
  poll();
  monitor->async_enter_when(at_least(0), note('b'));
  monitor.reset();
  poll();
  BOOST_TEST(order.size() == 4u);
  BOOST_TEST(order.find("aa") != order.npos);
  BOOST_TEST(order.find("ba") != order.npos);
  BOOST_TEST(account::alive == 0);
}

BOOST_AUTO_TEST_CASE(R10_the_context_of_a_handler_dies) {
  fate parked, looked_at;
  monitor->async_enter_when(at_least(1), asio::bind_executor(*other, observed_handler(parked)));
  poll();
  monitor->async_enter_when(at_least(1), asio::bind_executor(*other, observed_handler(looked_at)));
  other.reset();
  poll();
  BOOST_TEST(parked.dropped());
  BOOST_TEST(looked_at.dropped());
  BOOST_TEST(monitor->waiters() == 0u);
  BOOST_TEST(monitor->try_enter().owns());
}

BOOST_AUTO_TEST_CASE(M7_the_context_of_the_strand_dies) {
  fate own;
  monitor->async_enter_when(at_least(1), observed_handler(own));
  monitor->async_enter_when(at_least(1), asio::bind_executor(*other, note('a')));
  poll();
  monitor->async_enter_when(at_least(1), asio::bind_executor(*other, note('b')));
  monitor->async_enter(asio::bind_executor(*other, note('c')));
  context.reset();
  poll();
  BOOST_TEST(own.dropped());
  BOOST_TEST(order.size() == 5u);
  BOOST_TEST(order.find("aa") != order.npos);
  BOOST_TEST(order.find("ba") != order.npos);
  BOOST_TEST(order.find('c') != order.npos);
  order.clear();
  monitor->async_enter_when(at_least(0), asio::bind_executor(*other, note('d')));
  monitor->async_enter(asio::bind_executor(*other, note('e')));
  poll();
  BOOST_TEST(order == "dae");
}

BOOST_AUTO_TEST_CASE(M7_who_has_looked_is_told_when_the_context_of_the_strand_dies) {
  monitor->async_enter_when(at_least(1), asio::bind_executor(*other, note('a')));
  poll();
  context.reset();
  other->restart();
  other->poll();
  BOOST_TEST(order == "aa");
}

// The strand is there when the visit asks, and has gone when it needs the strand's context to run.
BOOST_AUTO_TEST_CASE(M7_a_visit_begins_while_the_context_of_the_strand_ends) {
  std::deque<asio_sync::async_manual_reset_event> told_later;
  for (int i = 0; i != 100'000; ++i) told_later.emplace_back(*context);
  auto inside = monitor->try_enter();
  fate own;
  monitor->async_enter(observed_handler(own));
  std::atomic<bool> begins = false, ended = false;
  std::thread visitor([&] {
    int calls = 0;
    std::function<void()> const until_told = [&] {
      if (++calls != 2) return;
      begins = true;
      while (monitor->waiters() != 0 && !ended) {
      }
    };
    monitor->async_enter_when(at_least(0),
                              asio::bind_executor(user_executor{&*other, &until_told}, note('a')));
    begins = true;
  });
  while (!begins) {
  }
  context.reset();
  ended = true;
  visitor.join();
  inside.leave();
  poll();
  BOOST_TEST(own.dropped());
  BOOST_TEST(order == "aa");
}

BOOST_AUTO_TEST_CASE(R5_the_executor_of_a_monitor_ends_under_no_lock) {
  using monitor_type = asio_sync::basic_async_monitor<account, user_executor>;
  for (bool const first : {false, true}) {
    std::optional<asio::io_context> home(std::in_place);
    auto owned = std::make_shared<std::optional<asio_sync::async_mutex>>();
    if (first) owned->emplace(*home);
    monitor_type there(user_executor{&*home, nullptr, owned});
    monitor_type::condition const condition(there);
    if (!first) owned->emplace(*home);
    std::weak_ptr<void> const alive = owned;
    owned.reset();
    home.reset();
    BOOST_TEST(alive.expired());
  }
}

BOOST_AUTO_TEST_CASE(M4_visits_go_to_an_executor_that_the_library_does_not_know) {
  asio_sync::basic_async_monitor<account, user_executor> there(user_executor{&*context});
  auto const note_and_pay = [&](error_code error, auto inside) {
    order += error ? 'e' : 'a';
    if (inside) ++inside->balance;
  };
  there.async_enter_when(at_least(0), note_and_pay);
  there.async_enter_when(at_least(1), asio::bind_executor(*other, note_and_pay));
  poll();
  BOOST_TEST(order == "aa");
}

// A visit begins in a thread's own queue, where the looker waits for its turn, and the context of
// the strand ends there.
BOOST_AUTO_TEST_CASE(R10_a_looker_that_was_not_sent_yet_leaves_the_strand) {
  std::optional<asio::io_context> third(std::in_place);
  asio_sync::async_mutex mutex(*third);
  asio_sync::async_mutex::lock_type const held(mutex, std::try_to_lock);
  asio_sync::basic_async_monitor<account, user_executor> there(user_executor{&*context});
  fate outer, visit;
  mutex.async_lock(observed_handler(outer, [&] {
    there.async_enter_when(at_least(0), asio::bind_executor(*other, observed_handler(visit)));
    context.reset();
  }));
  third.reset();
  poll();
  BOOST_TEST(outer.dropped());
  BOOST_TEST(visit.refused(aborted));
}

// It is in the queue of the context when that ends.
BOOST_AUTO_TEST_CASE(R10_a_looker_that_never_arrives_leaves_the_strand) {
  auto owned = std::make_shared<int>(0);
  std::weak_ptr<void> const alive = owned;
  asio_sync::basic_async_monitor<account, telling_executor> there(
      telling_executor{{&*context, nullptr, std::move(owned)}});
  fate visit;
  there.async_enter_when(at_least(0), asio::bind_executor(*other, observed_handler(visit)));
  context.reset();
  BOOST_TEST(alive.expired());
  poll();
  BOOST_TEST(visit.refused(aborted));
}

// The handler runs inside the destructor, as its executor promises what it does not keep.
BOOST_AUTO_TEST_CASE(R10_the_end_of_a_monitor_runs_what_ends_the_context) {
  for (bool const of_condition : {false, true}) {
    monitor_fixture f;
    std::optional<bank::condition> condition(std::in_place, *f.monitor);
    auto inside = f.monitor->try_enter();
    int ended = 0;
    auto token = asio::bind_executor(inline_executor(*f.other), [&](error_code error, auto&&...) {
      f.context.reset();
      ended += error == aborted;
    });
    if (of_condition)
      condition->async_wait(inside, std::move(token));
    else
      f.monitor->async_enter(std::move(token));
    condition.reset();
    f.monitor.reset();
    BOOST_TEST(ended == 1);
  }
}

BOOST_AUTO_TEST_CASE(R10_waits_of_a_condition_whose_strand_has_gone_are_destroyed) {
  bank::condition condition(*monitor);
  auto inside = monitor->try_enter();
  context.reset();
  fate plain, timed, looking, looking_for;
  condition.async_wait(inside, observed_handler(plain));
  condition.async_wait_for(inside, 1h, observed_handler(timed));
  condition.async_wait(inside, at_least(1), observed_handler(looking));
  condition.async_wait_for(inside, 1h, at_least(1), observed_handler(looking_for));
  for (fate const* const wait : {&plain, &timed, &looking, &looking_for})
    BOOST_TEST(wait->dropped());
  BOOST_TEST(inside.owns());
}

BOOST_AUTO_TEST_CASE(R4_cancelled_by_the_predicate_itself) {
  asio::cancellation_signal signal;
  for (bool holds : {true, false}) {
    monitor->async_enter_when(
        [&, holds](account const&) {
          signal.emit(asio::cancellation_type::terminal);
          return holds;
        },
        asio::bind_cancellation_slot(signal.slot(), note(holds ? 'a' : 'b')));
    poll();
  }
  BOOST_TEST(order == "aaba");
  BOOST_TEST(monitor->try_enter().owns());
}

BOOST_AUTO_TEST_CASE(R4_an_entry_that_is_withdrawn_lets_in_the_next) {
  asio::cancellation_signal signals[2];
  monitor->async_enter(asio::bind_cancellation_slot(signals[0].slot(), note('a')));
  monitor->async_enter_when(
      at_least(0),
      asio::bind_executor(*other, asio::bind_cancellation_slot(signals[1].slot(), note('b'))));
  monitor->async_enter_when(at_least(0), note('c'));
  signals[0].emit(asio::cancellation_type::total);
  context->restart();
  context->poll();
  BOOST_TEST(order == "aa");  // and b is let in, and on its way
  signals[1].emit(asio::cancellation_type::total);
  poll();
  BOOST_TEST(order == "aabac");
  BOOST_TEST(monitor->try_enter().owns());
}

BOOST_AUTO_TEST_CASE(R4_a_function_does_not_run_that_is_cancelled_before_and_keeps_its_result) {
  asio::cancellation_signal before, after;
  int runs = 0, completed = 0;
  auto const count = [&](account&) { ++runs; };
  monitor->async_invoke_when(
      [&](account const&) { return before.emit(asio::cancellation_type::total), true; }, count,
      asio::bind_cancellation_slot(before.slot(), [&](std::exception_ptr e) { completed += !e; }));
  poll();
  BOOST_TEST((runs == 0 && completed == 0));
  monitor->async_invoke(
      count, asio::bind_executor(
                 *other, asio::bind_cancellation_slot(
                             after.slot(), [&](std::exception_ptr e) { completed += !e; })));
  context->restart();
  context->poll();
  BOOST_TEST(runs == 1);
  after.emit(asio::cancellation_type::total);  // the completion is on its way
  poll();
  BOOST_TEST(completed == 1);
  BOOST_TEST(monitor->try_enter().owns());
}

BOOST_AUTO_TEST_CASE(R8_waits_keep_their_context_running) {
  monitor->async_enter_when(at_least(1), asio::bind_executor(*other, note('a')));
  poll();
  BOOST_TEST(!other->stopped());
  pay_in(1);
  poll();
  BOOST_TEST(order == "a");
  BOOST_TEST(other->stopped());
  BOOST_TEST(context->stopped());
}

BOOST_AUTO_TEST_CASE(R17_threads) {
  constexpr int rounds = 2000;
  asio::thread_pool pool(2);
  asio_sync::async_monitor<int> turn(pool, 0);
  std::vector<std::future<void>> ends;
  for (int parity : {0, 1})
    ends.push_back(asio::co_spawn(
        pool,
        [&turn, parity]() -> asio::awaitable<void> {
          for (int i = 0; i != rounds; ++i) {
            auto inside = co_await turn.async_enter_when(
                [parity](int const& n) { return n % 2 == parity; }, asio::use_awaitable);
            ++*inside;
          }
        },
        asio::use_future));
  for (int other_one = 0; other_one != rounds; ++other_one)
    turn.async_enter_for(std::chrono::milliseconds(other_one % 2), [](error_code, auto) {});
  for (auto& end : ends) end.get();
  pool.join();
  BOOST_TEST(*turn.try_enter() == 2 * rounds);
}

BOOST_AUTO_TEST_SUITE_END()
