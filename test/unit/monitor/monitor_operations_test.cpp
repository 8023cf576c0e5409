// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Where the operations of a monitor meet what their predicates, functions and entries do.

#include "support/executors.hpp"
#include "support/test.hpp"
#include "unit/monitor/fixture.hpp"

#include <asio_sync/async_monitor.hpp>

namespace monitor_operations_test {

using namespace asio_sync::test;

// One of whose moves throws.
struct awkward {
  awkward() = default;
  awkward(awkward&&) {  // NOLINT(performance-noexcept-move-constructor,bugprone-exception-escape)
    if (--moves_left == 0) throw std::runtime_error("moved");
  }
  awkward& operator=(awkward&&) = delete;
  ~awkward() = default;

  static inline int moves_left = 0;
};

// The predicate destroys the monitor that it is looked at for, on the strand, and says that.
asio::awaitable<void> look_and_destroy(std::optional<bank>& monitor, bool says,
                                       error_code& result) {
  auto predicate = [&](account const&) {
    monitor.reset();
    return says;
  };
  auto [error, inside] =
      co_await monitor->async_enter_when(predicate, asio::as_tuple(asio::use_awaitable));
  BOOST_TEST(!inside.owns());
  result = error;
}

asio::awaitable<void> fail_to_look(bank& monitor, bool& told) {
  auto const fails = [](account const&) -> bool { throw std::runtime_error("looked"); };
  auto [thrown] = co_await monitor.async_invoke_when(
      fails, [](account&) {}, asio::as_tuple(asio::use_awaitable));
  told = thrown != nullptr;
}

// A monitor and a condition whose strand has gone with its context.
struct gone {
  execution_log log;
  asio::io_context other;
  std::optional<asio::io_context> home{std::in_place};
  bank monitor{*home};
  bank::condition changed{monitor};
  bank::entry inside = monitor.try_enter();

  gone() { home.reset(); }

  // Begins a wait of each kind; `make()` makes its token. Those of conditions first.
  template <class Make>
  void wait_in_every_way(Make make) {
    changed.async_wait(inside, make(fates[0]));
    changed.async_wait_for(inside, std::chrono::hours(1), make(fates[1]));
    changed.async_wait(inside, at_least(1), make(fates[2]));
    monitor.async_enter(make(fates[3]));
    monitor.async_enter_when(at_least(0), make(fates[4]));
    monitor.async_invoke([](account&) { return true; }, make(fates[5]));
    BOOST_TEST(inside.owns());
    inside.leave();
    monitor.async_enter(make(fates[6]));
    other.run();
    BOOST_TEST(monitor.try_enter().owns());
  }

  fate fates[7];
};

// What a wait of any kind completes with.
struct any_outcome {
  observed_handler to;
  void operator()(error_code error) { to(error); }
  void operator()(error_code error, bank::entry inside) { to(error, std::move(inside)); }
  void operator()(std::exception_ptr const& thrown, bool) { to(error_in(thrown)); }
};

// A coroutine whose executor has no context of Asio's.
using foreign = foreign_context_executor;
using foreign_awaitable = asio::awaitable<void, foreign>;
constexpr asio::use_awaitable_t<foreign> use_foreign_awaitable;

foreign_awaitable enter_elsewhere(gone& g, std::shared_ptr<int>) {
  static_cast<void>(co_await g.monitor.async_enter(use_foreign_awaitable));
  BOOST_ERROR("has nowhere to run");
}
foreign_awaitable wait_elsewhere(gone& g, std::shared_ptr<int>) {
  co_await g.changed.async_wait(g.inside, use_foreign_awaitable);
  BOOST_ERROR("has nowhere to run");
}
foreign_awaitable look_elsewhere(gone& g, std::shared_ptr<int>) {
  co_await g.changed.async_wait(g.inside, at_least(1), use_foreign_awaitable);
  BOOST_ERROR("has nowhere to run");
}

// Posts to a context. Does something when it is moved, once.
struct moving_executor {
  moving_executor(asio::io_context& c, std::function<void()>& f) noexcept : io(&c), at_move(&f) {}
  moving_executor(moving_executor const&) noexcept = default;
  moving_executor(moving_executor&& other) noexcept : io(other.io), at_move(other.at_move) {
    if (*at_move) std::exchange(*at_move, nullptr)();
  }
  moving_executor& operator=(moving_executor const&) noexcept = default;
  ~moving_executor() = default;

  asio::execution_context& query(asio::execution::context_t) const noexcept { return *io; }
  static constexpr asio::execution::blocking_t query(asio::execution::blocking_t) noexcept {
    return asio::execution::blocking.never;
  }
  template <class Function>
  void execute(Function&& f) const {
    asio::post(*io, std::forward<Function>(f));
  }
  friend bool operator==(moving_executor const& a, moving_executor const& b) noexcept {
    return a.io == b.io;
  }
  friend bool operator!=(moving_executor const& a, moving_executor const& b) noexcept {
    return !(a == b);
  }

  asio::io_context* io;
  std::function<void()>* at_move;
};

}  // namespace monitor_operations_test

BOOST_AUTO_TEST_SUITE(monitor_operations_test)

BOOST_AUTO_TEST_CASE(R9_a_predicate_destroys_the_monitor_of_a_coroutine) {
  for (bool const says : {false, true}) {
    asio::io_context context;
    std::optional<bank> monitor(std::in_place, context);
    error_code result;
    co_spawn(monitor->get_executor(), look_and_destroy(monitor, says, result), asio::detached);
    context.run();
    BOOST_TEST(result == aborted);
  }
}

BOOST_AUTO_TEST_CASE(M4_what_a_predicate_throws_is_in_the_tuple_of_a_coroutine) {
  asio::io_context context;
  bank monitor(context);
  bool told = false;
  co_spawn(monitor.get_executor(), fail_to_look(monitor, told), asio::detached);
  context.run();
  BOOST_TEST(told);
  BOOST_TEST(monitor.try_enter().owns());
}

BOOST_AUTO_TEST_CASE(M6_the_entry_may_be_filled_before_the_wait_is_launched) {
  asio::io_context context;
  bank monitor(context, 7);
  bank::condition changed(monitor);
  bank::entry inside;
  auto wait = changed.async_wait(inside, at_least(7), asio::deferred);
  inside = monitor.try_enter();
  std::optional<error_code> result;
  std::move(wait)([&](error_code error) { result = error; });
  context.run();
  BOOST_TEST((result == error_code()));
  BOOST_TEST(inside.owns());
}

BOOST_AUTO_TEST_CASE(M6_a_condition_waits_after_the_end_of_the_strands_context) {
  auto home = std::make_unique<asio::io_context>();
  asio::io_context other;
  std::optional<bank> monitor(std::in_place, *home);
  std::optional<bank::condition> changed(std::in_place, *monitor);
  bank::entry inside = monitor->try_enter();
  home.reset();
  auto const alive = std::make_shared<int>();
  changed->async_wait(inside, [alive](error_code) { BOOST_ERROR("has nowhere to run"); });
  BOOST_TEST(alive.use_count() == 1);
  std::optional<error_code> result;
  changed->async_wait(inside, asio::bind_executor(other, [&](error_code e) { result = e; }));
  changed->notify_one();
  other.run();
  BOOST_TEST(result.has_value());
}

BOOST_AUTO_TEST_CASE(R2_M7_executors_that_need_the_strand_end_with_it) {
  gone bare, erased, plain;
  bare.wait_in_every_way([&](fate& f) {
    return asio::bind_executor(bare_executor(bare.log), any_outcome{observed_handler(f)});
  });
  erased.wait_in_every_way([&](fate& f) {
    return asio::bind_executor(asio::any_completion_executor(bare_executor(erased.log)),
                               any_outcome{observed_handler(f)});
  });
  plain.wait_in_every_way([&](fate& f) { return any_outcome{observed_handler(f)}; });
  for (gone const* const g : {&bare, &erased, &plain})
    for (fate const& f : g->fates) BOOST_TEST(f.dropped());
}

BOOST_AUTO_TEST_CASE(R2_M7_executors_that_hide_one_of_another_context_do_not) {
  gone g;
  g.changed.async_wait(g.inside,
                       asio::bind_executor(asio::any_completion_executor(g.other.get_executor()),
                                           any_outcome{observed_handler(g.fates[0])}));
  g.changed.notify_one();
  g.other.run();
  BOOST_TEST(g.fates[0].granted());
}

BOOST_AUTO_TEST_CASE(R2_M7_erased_handlers_without_an_executor_end_with_the_strand) {
  using erased = asio::any_completion_handler<void(error_code)>;
  gone g;
  g.changed.async_wait(g.inside, erased(observed_handler(g.fates[0])));
  BOOST_TEST(g.fates[0].dropped());
  g.changed.async_wait(g.inside, at_least(1), erased(observed_handler(g.fates[1])));
  BOOST_TEST(g.fates[1].dropped());
  g.changed.async_wait(g.inside,
                       erased(asio::bind_executor(g.other, observed_handler(g.fates[2]))));
  g.changed.notify_one();
  g.other.run();
  BOOST_TEST(g.fates[2].granted());
}

BOOST_AUTO_TEST_CASE(R2_M7_futures_are_broken_without_the_strand) {
  gone g;
  auto waits = g.changed.async_wait(g.inside, asio::use_future);
  auto enters = g.monitor.async_enter(asio::use_future);
  auto invokes = g.monitor.async_invoke([](account&) {}, asio::use_future);
  BOOST_CHECK_THROW(waits.get(), std::future_error);
  BOOST_CHECK_THROW(static_cast<void>(enters.get()), std::future_error);
  BOOST_CHECK_THROW(invokes.get(), std::future_error);
}

BOOST_AUTO_TEST_CASE(R2_M7_coroutines_that_need_the_strand_end_with_it) {
  for (auto* const begin : {&enter_elsewhere, &wait_elsewhere, &look_elsewhere}) {
    gone g;
    foreign::context nowhere;
    auto const alive = std::make_shared<int>();
    co_spawn(foreign(nowhere, g.log), begin(g, alive), asio::detached);
    BOOST_TEST(alive.use_count() == 1);
    BOOST_TEST(g.inside.owns());
  }
}

BOOST_AUTO_TEST_CASE(R10_the_end_of_the_strand_destroys_the_condition_or_the_monitor) {
  using monitor_type = asio_sync::basic_async_monitor<account, moving_executor>;
  for (bool const of_condition : {false, true}) {
    std::optional<asio::io_context> home(std::in_place);
    std::function<void()> at_move;
    std::optional<monitor_type> monitor(std::in_place, moving_executor(*home, at_move));
    std::optional<monitor_type::condition> changed(std::in_place, *monitor);
    std::function<void()> const destroy = [&] {
      changed.reset();
      monitor.reset();
    };
    at_move = destroy;
    if (of_condition) at_move = [&] { at_move = destroy; };  // the monitor's strand goes first
    home.reset();
    BOOST_TEST(!monitor.has_value());
    at_move = nullptr;
  }
}

// What Asio's own frames move and lose comes out of run().
BOOST_AUTO_TEST_CASE(M5_a_result_whose_move_throws_is_an_exception_of_the_function) {
  int told = 0;
  for (int moves = 1; moves != 12; ++moves) {
    asio::io_context context;
    bank monitor(context);
    awkward::moves_left = moves;
    monitor.async_invoke([](account&) -> asio::awaitable<awkward> { co_return awkward(); },
                         [&](std::exception_ptr thrown, awkward const&) {
                           told += thrown && error_in(thrown) != aborted;
                         });
    try {
      context.run();
    } catch (std::runtime_error const&) {
      context.run();
    }
    BOOST_TEST(monitor.try_enter().owns());
  }
  BOOST_TEST(told > 0);
}

BOOST_AUTO_TEST_CASE(M4_predicates_may_be_generic) {
  asio::io_context context;
  asio_sync::async_monitor<std::vector<int>> monitor(context, std::vector<int>{1});
  asio_sync::async_monitor<std::vector<int>>::condition changed(monitor);
  auto const filled = [](auto const& items) { return !items.empty(); };
  int met = 0;
  monitor.async_enter_when(filled, [&](error_code, auto inside) { met += inside.owns(); });
  context.run();
  auto inside = monitor.try_enter();
  changed.async_wait(inside, filled, [&](error_code error) { met += !error; });
  context.restart();
  context.run();
  changed.async_wait_for(inside, std::chrono::hours(1), filled,
                         [&](error_code error) { met += !error; });
  context.restart();
  context.run();
  BOOST_TEST(met == 3);
}

BOOST_AUTO_TEST_SUITE_END()
