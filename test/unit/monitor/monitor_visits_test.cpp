// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// What a monitor knows of its visits on their way to the strand, and while that ends.

#include "support/executors.hpp"
#include "support/test.hpp"
#include "unit/monitor/fixture.hpp"

#include <asio_sync/async_monitor.hpp>

namespace monitor_visits_test {

using namespace asio_sync::test;
using entry = bank::entry;

}  // namespace monitor_visits_test

BOOST_FIXTURE_TEST_SUITE(monitor_visits_test, monitor_fixture)

// Its deadline has passed before anybody can be on the strand.
BOOST_AUTO_TEST_CASE(R11_without_time_it_is_looked_at_once) {
  monitor->async_enter_when_for(at_least(0), 0s, note('a'));
  context->run();
  context->restart();
  BOOST_TEST(order == "a");
  bool runs = false;
  monitor->async_invoke_for([&](account&) { runs = true; }, -1s,
                            [this](std::exception_ptr thrown) { order += thrown ? '!' : 'b'; });
  context->run();
  context->restart();
  BOOST_TEST(runs);
  monitor->async_enter_when_for(at_least(1), 0s, note('c'));
  context->run();
  BOOST_TEST(order == "abct");
}

// Completions for executors that the library does not know are kept back while one of them runs;
// not so a visit, which goes to the strand first.
BOOST_AUTO_TEST_CASE(R4_let_in_inside_a_handler_of_an_unknown_executor) {
  inline_executor const unknown(*other);
  for (bool cancels : {true, false}) {
    entry inside = monitor->try_enter();
    int looks = 0;
    auto const admits = [&](account const& a) { return ++looks, at_least(1)(a); };
    monitor->async_enter_when(admits, asio::bind_executor(unknown, note('a')));
    bank kept_back(*context);
    kept_back.async_enter(asio::bind_executor(unknown, [&](error_code, entry) {
      inside.leave();
      context->restart();
      context->poll();
      BOOST_TEST(looks == 1);
      BOOST_TEST(monitor->waiters() == 1u);
      if (cancels) BOOST_TEST(monitor->cancel() == 1u);
    }));
    poll();
    BOOST_TEST(order == "aa");
    BOOST_TEST(monitor->waiters() == (cancels ? 0u : 1u));
  }
  monitor->close();
  poll();
  BOOST_TEST(order == "aaac");
}

// Another thread begins visits of its own context.
BOOST_AUTO_TEST_CASE(R17_the_context_of_the_strand_dies_while_visits_begin) {
  for (bool held : {true, false}) {
    monitor_fixture of;
    entry inside = held ? of.monitor->try_enter() : entry();
    std::atomic<int> begun{0};
    std::atomic<bool> stops{false};
    int ended = 0;
    std::thread begins([&] {
      while (!stops) {
        of.monitor->async_enter_when(
            at_least(0), asio::bind_executor(*of.other, [&](error_code, entry) { ++ended; }));
        ++begun;
        of.other->restart();
        of.other->poll();
      }
    });
    while (begun < 20) std::this_thread::yield();
    of.context.reset();
    for (int const before = begun; begun < before + 20;) std::this_thread::yield();
    stops = true;
    begins.join();
    inside = entry();
    of.other->restart();
    of.other->poll();
    BOOST_TEST(ended == begun);
  }
}

// Somebody has to look there.
BOOST_AUTO_TEST_CASE(R8_a_visit_of_another_context_keeps_that_of_the_strand_running) {
  monitor->async_enter_when(at_least(1), asio::bind_executor(*other, note('a')));
  monitor->async_invoke_when(
      at_least(2), [](account&) {},
      asio::bind_executor(*other, [&](std::exception_ptr) { order += 'b'; }));
  for (int amount : {0, 1, 1}) {
    poll();
    BOOST_TEST(!context->stopped());
    pay_in(amount);
  }
  poll();
  context->poll();
  BOOST_TEST((order == "ab" && context->stopped()));

  monitor->async_enter_when(at_least(3), asio::bind_executor(*other, note('c')));
  monitor.reset();
  context->restart();
  context->poll();
  BOOST_TEST(context->stopped());
  context.reset();
  poll();
  BOOST_TEST(order == "abca");
}

// Though it has no time, it is there to be cancelled until it is looked at.
BOOST_AUTO_TEST_CASE(R11_without_time_it_is_cancelled_on_its_way_to_the_strand) {
  monitor->async_enter_when_for(at_least(0), 0s, note('a'));
  BOOST_TEST(monitor->waiters() == 1u);
  BOOST_TEST(monitor->cancel() == 1u);
  BOOST_TEST(monitor->waiters() == 0u);
  poll();
  BOOST_TEST(order == "aa");
  BOOST_TEST(static_cast<bool>(monitor->try_enter()));
}

// As who waits behind it is.
BOOST_AUTO_TEST_CASE(R18_closed_on_its_way_to_the_strand) {
  monitor->async_enter_when(at_least(0), note('a'));
  monitor->async_invoke([&](account&) { order += '!'; },
                        [&](std::exception_ptr e) { order += error_in(e) == closed ? 'b' : '?'; });
  monitor->close();
  BOOST_TEST(monitor->waiters() == 0u);
  poll();
  BOOST_TEST(order == "bac");
}

// It is no entry then, and no function runs, whoever waits.
BOOST_AUTO_TEST_CASE(R10_destroyed_by_a_predicate_that_is_true) {
  for (int way : {0, 1, 2}) {
    monitor_fixture of;
    auto const destroys = [&](account const&) { return of.monitor.reset(), true; };
    auto const told = [&](std::exception_ptr e) { order += error_in(e) == aborted ? 'b' : '?'; };
    if (way == 0) of.monitor->async_enter_when(destroys, of.note('a'));
    if (way == 1)
      of.monitor->async_invoke_when(
          destroys, [&](account&) { order += '!'; }, told);
    if (way == 2)
      of.monitor->async_invoke_when(
          destroys,
          [&](account&) -> asio::awaitable<void> {
            order += '!';
            co_return;
          },
          told);
    of.poll();
    order += of.order;
  }
  BOOST_TEST(order == "aabb");
  BOOST_TEST(account::alive == 1);
}

// What is refused does not go there any more.
BOOST_AUTO_TEST_CASE(R8_a_refused_visit_lets_the_context_of_the_strand_stop) {
  for (int way : {0, 1, 2}) {
    asio::cancellation_signal stop;
    monitor->async_enter_when(
        at_least(1),
        asio::bind_executor(*other, asio::bind_cancellation_slot(stop.slot(), note('a'))));
    context->restart();
    context->poll();
    BOOST_TEST(!context->stopped());
    if (way == 0) stop.emit(asio::cancellation_type::terminal);
    if (way == 1) monitor->cancel();
    if (way == 2) monitor->close();
    context->poll();
    BOOST_TEST(context->stopped());
    other->restart();
    other->poll();
  }
  BOOST_TEST(order == "aaaaac");
}

// The strand does not run meanwhile.
BOOST_AUTO_TEST_CASE(R4_a_visit_on_its_way_to_the_strand_is_refused_at_once) {
  asio::cancellation_signal signal;
  int refused = 0;
  monitor->async_enter_when(
      at_least(0), asio::bind_executor(*other, asio::bind_cancellation_slot(
                                                   signal.slot(), [&](error_code error, entry) {
                                                     refused += error == aborted;
                                                   })));
  signal.emit(asio::cancellation_type::terminal);
  other->poll();
  BOOST_TEST(refused == 1);
  poll();
}

// Refused while somebody is about to go there for it, who holds the monitor: nobody else would
// have it before the context is run again.
BOOST_AUTO_TEST_CASE(R8_the_context_of_the_strand_waits_for_who_is_sent_there) {
#ifdef ASIO_SYNC_TEST_SANITIZED
  int const rounds = 2'000;
#else
  int const rounds = 20'000;
#endif
  std::atomic<int> begun{0}, ended{0};
  entry inside;
  std::thread refuses([&] {
    for (int i = 1; i <= rounds; ++i) {
      while (begun != i) std::this_thread::yield();
      for (std::atomic<int> later{i % 200}; later > 0;) --later;
      monitor->cancel();
      ended = i;
    }
  });
  int stopped_too_early = 0;
  for (int i = 1; i <= rounds; ++i) {
    inside = monitor->try_enter();
    monitor->async_enter_when(at_least(0), asio::bind_executor(*other, [](error_code, entry) {}));
    begun = i;
    inside.leave();
    while (ended != i) std::this_thread::yield();
    bool const stopped = context->stopped();
    context->restart();
    if (context->poll() != 0 && stopped) ++stopped_too_early;
    poll();
    context->restart();
  }
  refuses.join();
  BOOST_TEST(stopped_too_early == 0);
}

// What it has granted is on its way to another context.
BOOST_AUTO_TEST_CASE(R10_the_context_of_the_strand_dies_after_the_monitor) {
  std::optional<bank::condition> changed(std::in_place, *monitor);
  entry inside = monitor->try_enter();
  changed->async_wait(inside, asio::bind_executor(*other, [&](error_code error) {
                        order += error == aborted ? 'a' : '!';
                      }));
  monitor->async_enter(asio::bind_executor(*other, note('b')));
  monitor->async_enter_when(at_least(0), asio::bind_executor(*other, note('c')));
  changed.reset();
  monitor.reset();
  context.reset();
  poll();
  BOOST_TEST(order == "baaca");
}

struct waits_for_long {
  asio::awaitable<void> operator()(account&) const {
    asio::steady_timer hour(co_await asio::this_coro::executor, 1h);
    co_await hour.async_wait(asio::use_awaitable);
  }
};

// Calls a function when it is destroyed.
struct at_its_end {
  explicit at_its_end(std::function<void()> f) : function(std::move(f)) {}
  at_its_end(at_its_end&& another) noexcept : function(std::exchange(another.function, nullptr)) {}
  at_its_end& operator=(at_its_end&&) = delete;
  ~at_its_end() {
    if (function) function();
  }
  void operator()() const {}

  std::function<void()> function;
};

// As all waits of a destructor are, whose handlers nobody would run.
BOOST_AUTO_TEST_CASE(R10_begun_while_the_context_of_the_strand_shuts_down) {
  for (bool const held : {false, true}) {
    monitor_fixture of;
    entry const inside = held ? of.monitor->try_enter() : entry();
    int begun = 0, destroyed = 0;
    auto const begins = [&](auto const& ex) {
      auto const token = [&] {
        ++begun;
        return asio::bind_executor(ex, [this, destroys = at_its_end([&] { ++destroyed; })](
                                           auto const&...) { order += '!'; });
      };
      of.monitor->async_enter_when(at_least(0), token());
      of.monitor->async_enter_when_for(at_least(1), 1h, token());
      of.monitor->async_invoke([](account&) {}, token());
      of.monitor->async_invoke(waits_for_long(), token());
      BOOST_TEST(destroyed == begun);
    };
    asio::post(*of.context, at_its_end([&] {
      begins(of.context->get_executor());
      begins(asio::any_io_executor(of.context->get_executor()));
      of.monitor->async_invoke([](account&) {}, [](std::exception_ptr) {});
      of.monitor->async_enter_when(at_least(0), asio::bind_executor(*of.other, of.note('a')));
    }));
    of.context.reset();
    BOOST_TEST(begun == 8);
    of.poll();
    BOOST_TEST(of.order == "aa");
  }
  BOOST_TEST(order == "");
}

// Destroyed while it runs, a monitor leaves its function alone; the slot still reaches that.
BOOST_AUTO_TEST_CASE(M7_a_function_that_outlives_its_monitor_is_cancelled) {
  for (bool context_dies : {false, true}) {
    asio::cancellation_signal stop;
    monitor_fixture of;
    of.monitor->async_invoke(waits_for_long(), asio::bind_cancellation_slot(
                                                   stop.slot(), [&](std::exception_ptr thrown) {
                                                     order += thrown ? 'x' : '!';
                                                   }));
    of.poll();
    of.monitor.reset();
    of.poll();
    BOOST_TEST(order == "");
    if (context_dies) {
      of.context.reset();
    } else {
      stop.emit(asio::cancellation_type::terminal);
      of.poll();
      BOOST_TEST(order == "x");
      order.clear();
    }
  }
}

// The cancellation of all does not count for one that may enter, nor for what it runs then.
BOOST_AUTO_TEST_CASE(M7_all_are_cancelled_by_a_predicate_that_is_true) {
  std::exception_ptr thrown;
  bool cancelled = true;
  monitor->async_invoke_when([this](account const&) { return monitor->cancel() == 1; },
                             [&](account&) -> asio::awaitable<void> {
                               auto const state = co_await asio::this_coro::cancellation_state;
                               co_await asio::post(asio::use_awaitable);
                               cancelled = state.cancelled() != asio::cancellation_type::none;
                             },
                             [&](std::exception_ptr e) { thrown = e; });
  poll();
  BOOST_TEST(!thrown);
  BOOST_TEST(!cancelled);
}

// Before it has returned what there is to be cancelled, and when its time was up already.
BOOST_AUTO_TEST_CASE(M7_the_slot_is_emitted_while_the_function_begins) {
  asio::cancellation_signal stop;
  monitor->async_invoke_for(
      [&](account& a) {
        stop.emit(asio::cancellation_type::terminal);
        return waits_for_long()(a);
      },
      0s, asio::bind_cancellation_slot(stop.slot(), [this](std::exception_ptr thrown) {
        order += thrown ? 'x' : '!';
      }));
  poll();
  BOOST_TEST(order == "x");
}

BOOST_AUTO_TEST_SUITE_END()
