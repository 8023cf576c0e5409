// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Calls for several mutexes that cannot succeed, and where these complete.

#include "support/test.hpp"

#include <asio_sync/async_lock_all.hpp>
#include <asio_sync/async_mutex.hpp>

#include "support/executors.hpp"
#include "support/memory.hpp"

#include <boost/version.hpp>
#if BOOST_VERSION >= 108200
#include <boost/asio/bind_immediate_executor.hpp>
#endif

namespace lock_all_refusals_test {

using namespace asio_sync::test;
using lock_type = async_mutex::lock_type;

error_code const invalid =
    boost::system::errc::make_error_code(boost::system::errc::invalid_argument);

// Runs everything at once: an executor that promises nothing.
struct inline_executor {
  template <class Function>
  void execute(Function f) const {
    f();
  }
  bool operator==(inline_executor const&) const noexcept = default;
};

struct fixture {
  auto handler() {
    return [this](error_code error, auto const& locks) {
      ++called;
      got = error;
      locked = false;
      for (auto const& lock : locks) locked = locked || lock.owns_lock();
    };
  }

  auto all() { return std::vector<async_mutex*>{&*mutexes[0], &*mutexes[1], &*mutexes[2]}; }

  void poll() { test::poll(context); }

  asio::io_context context;
  std::array<std::optional<async_mutex>, 3> mutexes;
  int called = 0;
  error_code got;
  bool locked = false;

  fixture() {
    for (auto& each : mutexes) each.emplace(context);
  }
};

// Begins a call in the handler of the call before, on an executor that runs inline.
struct chain {
  void begin() {
    async_lock_all(std::tie(mutex, mutex), asio::bind_executor(executor, [this](auto&&...) {
                     deepest = std::max(deepest, ++depth);
                     if (--left != 0) begin();
                     --depth;
                   }));
  }

  async_mutex& mutex;
  asio_sync::test::inline_executor executor;
  int left = 300;
  int depth = 0, deepest = 0;
};

}  // namespace lock_all_refusals_test

BOOST_FIXTURE_TEST_SUITE(lock_all_refusals_test, fixture)

BOOST_AUTO_TEST_CASE(R9_what_dies_meanwhile_ends_the_call_once_its_wait_is_served) {
  for (std::size_t const dying : {0, 2}) {
    called = 0;
    for (auto& each : mutexes) each.emplace(context);
    lock_type first(*mutexes[1]);
    std::optional<lock_type> last(std::in_place, *mutexes[2]);
    async_lock_all(all(), handler());
    if (dying == 2) last.reset();
    poll();
    mutexes[dying].reset();
    first.unlock();
    poll();
    BOOST_TEST(called == 1);
    BOOST_TEST(got == aborted);
    BOOST_TEST(!locked);
    BOOST_TEST(!mutexes[1]->is_locked());
  }
}

BOOST_AUTO_TEST_CASE(R18_one_that_is_closed_ends_the_call_wherever_it_stands) {
  for (auto& each : mutexes) {
    lock_type const first(*mutexes[&each == &mutexes[0] ? 1 : 0]);
    each->close();
    async_lock_all(all(), handler());
    poll();
    BOOST_TEST(called == 1);
    BOOST_TEST(got == closed);
    async_lock_all_for(all(), 0s, handler());
    poll();
    BOOST_TEST(called == 2);
    BOOST_TEST(got == closed);
    BOOST_TEST(first.mutex()->waiters() == 0u);
    called = 0;
    each.emplace(context);
  }
}

BOOST_AUTO_TEST_CASE(R18_one_that_is_closed_meanwhile_ends_the_call_once_its_wait_is_served) {
  lock_type first(*mutexes[0]);
  lock_type const next(*mutexes[1]);
  async_lock_all(all(), handler());
  mutexes[2]->close();
  first.unlock();
  poll();
  BOOST_TEST(called == 1);
  BOOST_TEST(got == closed);
  BOOST_TEST(!mutexes[0]->is_locked());
}

// Who holds a mutex may do so although it was closed.
BOOST_AUTO_TEST_CASE(R18_one_that_is_closed_while_it_is_held_is_locked) {
  lock_type last(*mutexes[2]);
  async_lock_all(all(), handler());
  mutexes[0]->close();
  last.unlock();
  poll();
  BOOST_TEST(called == 1);
  BOOST_TEST(!got);
}

// Where the handler has an executor of its own that is all it takes.
BOOST_AUTO_TEST_CASE(R10_a_mutex_named_twice_is_refused_when_its_context_has_gone) {
  auto home = std::make_unique<asio::io_context>();
  async_mutex mutex(*home);
  home.reset();
  async_lock_all(std::vector{&mutex, &mutex}, asio::bind_executor(context, handler()));
  poll();
  BOOST_TEST(called == 1);
  BOOST_TEST(got == invalid);
  auto const run = [&]() -> asio::awaitable<void> {
    for (int i = 0; i != 130; ++i) {  // more than go on without the executor
      auto const [error, both] =
          co_await async_lock_all(std::tie(mutex, mutex), asio::as_tuple(asio::use_awaitable));
      called += error == invalid && !std::get<0>(both).owns_lock() ? 1 : 0;
    }
  };
  asio::co_spawn(context, run, asio::detached);
  poll();
  BOOST_TEST(called == 131);
}

BOOST_AUTO_TEST_CASE(R2_what_is_refused_completes_on_any_executor) {
  async_lock_all(std::vector{&*mutexes[0], &*mutexes[0]},
                 asio::bind_executor(inline_executor(), handler()));
  BOOST_TEST(called == 0);
  poll();
  BOOST_TEST(called == 1);
  BOOST_TEST(got == invalid);
}

BOOST_AUTO_TEST_CASE(R2_what_is_refused_completes_in_a_future_without_the_systems_threads) {
  auto future = async_lock_all(std::tie(*mutexes[0], *mutexes[0]), asio::use_future);
  poll();
  BOOST_TEST((future.wait_for(0s) == std::future_status::ready));
  BOOST_CHECK_THROW(future.get(), boost::system::system_error);
}

// A thread that has used the budget up may complete without the executor again after a trip.
BOOST_AUTO_TEST_CASE(R1a_a_trip_through_the_executor_renews_the_budget_of_refusals) {
  int steps = 0;
  auto const run = [&]() -> asio::awaitable<void> {
    for (; steps < 300; ++steps)
      co_await async_lock_all(std::tie(*mutexes[0], *mutexes[0]), asio::as_tuple(asio::deferred));
  };
  asio::co_spawn(context, run, asio::detached);
  context.run_one();
  int const before = steps;
  BOOST_TEST(before <= 128);
  context.run_one();
  BOOST_TEST(steps == before + 129);
  context.run();
  BOOST_TEST(steps == 300);
}

#if BOOST_VERSION >= 108200
BOOST_AUTO_TEST_CASE(R1_what_is_refused_completes_through_an_immediate_executor) {
  std::vector const twice{&*mutexes[0], &*mutexes[0]};
  async_lock_all(twice, handler());
  poll();  // nobody has used any of the budget now
  called = 0;
  for (int i = 0; i != 200; ++i)
    async_lock_all(twice, asio::bind_immediate_executor(asio::system_executor(), handler()));
  BOOST_TEST(called == 128);  // as many in a row as there may be
  BOOST_TEST(got == invalid);
  poll();
  BOOST_TEST(called == 200);
}
#endif

BOOST_AUTO_TEST_CASE(R3_what_is_refused_is_dropped_with_its_context) {
  auto const owned = std::make_shared<int>();
  auto dying = std::make_unique<asio::io_context>();
  async_lock_all(std::vector{&*mutexes[0], &*mutexes[0]},
                 asio::bind_executor(*dying, [&, owned](error_code, auto const&) { ++called; }));
  BOOST_TEST(owned.use_count() == 2);
  dying.reset();
  BOOST_TEST(owned.use_count() == 1);
  BOOST_TEST(called == 0);
}

BOOST_AUTO_TEST_CASE(R4_what_is_refused_is_not_cancelled_any_more) {
  asio::cancellation_signal signal;
  async_lock_all(std::vector{&*mutexes[0], &*mutexes[0]},
                 asio::bind_cancellation_slot(signal.slot(), handler()));
  signal.emit(asio::cancellation_type::terminal);
  poll();
  BOOST_TEST(called == 1);
  BOOST_TEST(got == invalid);
}

BOOST_AUTO_TEST_CASE(R8_what_is_refused_keeps_the_context_of_the_handler_running) {
  asio::io_context other;
  async_lock_all(std::vector{&*mutexes[0], &*mutexes[0]},
                 asio::bind_executor(asio::make_strand(other), handler()));
  BOOST_TEST(context.run() == 0u);
  other.run();
  BOOST_TEST(called == 1);
}

BOOST_AUTO_TEST_CASE(R13_each_allocation_of_what_is_refused_failing) {
  for (std::size_t successes = 0;; ++successes) {
    bool threw = false;
    {
      test::empty_pool const pool;
      test::failing_heap const heap(successes, test::failing_heap::failures::one);
      try {
        async_lock_all(std::tie(*mutexes[0], *mutexes[0]), [this](error_code e, auto const&) {
          ++called;
          got = e;
        });
      } catch (std::bad_alloc const&) {
        threw = true;
      }
    }
    poll();
    BOOST_TEST(std::exchange(called, 0) == (threw ? 0 : 1));
    if (!threw) break;
  }
  BOOST_TEST(got == invalid);
}

BOOST_AUTO_TEST_CASE(R2_what_is_refused_completes_on_the_executor_inside_an_erased_handler) {
  asio::io_context own;
  std::vector const twice{&*mutexes[0], &*mutexes[0]};
  asio::any_completion_handler<void(error_code, std::vector<lock_type>)> erased =
      asio::bind_executor(own, handler());
  async_lock_all(twice, std::move(erased));
  BOOST_TEST(own.run() != 0u);
  BOOST_TEST(called == 1);
  BOOST_TEST(got == invalid);
}

BOOST_AUTO_TEST_CASE(R6_what_is_refused_does_not_nest) {
  chain of{*mutexes[0], asio_sync::test::inline_executor(context)};
  of.begin();
  poll();
  BOOST_TEST(of.left == 0);
  BOOST_TEST(of.deepest <= 2);
}

// A view, whose elements are made of mutexes as it goes: pointers, or reference_wrappers.
template <class Each>
struct view_of {
  struct iterator {
    using value_type = Each;
    using difference_type = std::ptrdiff_t;

    Each operator*() const {
      if constexpr (std::is_pointer_v<Each>)
        return &**at;
      else
        return Each(**at);
    }
    iterator& operator++() {
      ++at;
      return *this;
    }
    iterator operator++(int) { return {at++}; }
    bool operator==(iterator const&) const = default;

    std::optional<async_mutex>* at = nullptr;
  };

  iterator begin() const { return {mutexes.data()}; }
  iterator end() const { return {mutexes.data() + mutexes.size()}; }

  std::array<std::optional<async_mutex>, 3>& mutexes;
};

BOOST_AUTO_TEST_CASE(Lock_all_takes_a_range_whose_elements_are_made_as_it_goes) {
  async_lock_all(view_of<async_mutex*>{mutexes}, handler());
  poll();
  BOOST_TEST(called == 1);
  async_lock_all(view_of<std::reference_wrapper<async_mutex>>{mutexes}, handler());
  poll();
  BOOST_TEST(called == 2);
  BOOST_TEST(!got);
  BOOST_TEST(locked);
}

BOOST_AUTO_TEST_CASE(Lock_all_of_a_range_has_the_default_token_of_its_mutexes) {
  using io_mutex = basic_async_mutex<asio::io_context::executor_type>;
  using awaited =
      asio::use_awaitable_t<asio::io_context::executor_type>::as_default_on_t<io_mutex>;
  awaited mutex(context);
  std::vector<awaited*> const range{&mutex};
  static_assert(
      std::is_same_v<
          decltype(async_lock_all(range)),
          asio::awaitable<std::vector<awaited::lock_type>, asio::io_context::executor_type>>);
  BOOST_TEST(!mutex.is_locked());
}

BOOST_AUTO_TEST_SUITE_END()
