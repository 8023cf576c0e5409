// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Several mutexes that are locked at once; and the code in doc/async_lock_all.md.

#include "support/test.hpp"

#include <asio_sync/async_lock_all.hpp>
#include <asio_sync/async_mutex.hpp>
#include <asio_sync/async_shared_mutex.hpp>

#include "support/memory.hpp"

#include <boost/version.hpp>
#if BOOST_VERSION >= 108200
#include <boost/asio/bind_immediate_executor.hpp>
#endif

// The program on the page, from its first line to its last; what it includes is included above.
namespace lock_all_program {

// clang-format off
#include <asio_sync/async_lock_all.hpp>
#include <asio_sync/async_mutex.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <iostream>
#include <tuple>

namespace asio = boost::asio;

struct account {
  asio_sync::async_mutex mutex;
  int balance;
};

asio::awaitable<void> transfer(account& from, account& to, int amount) {
  auto locks = co_await asio_sync::async_lock_all(std::tie(from.mutex, to.mutex));
  from.balance -= amount;
  co_await asio::post(asio::deferred);  // stands for work that takes time
  to.balance += amount;
}

int main() {
  asio::io_context context;
  account a{asio_sync::async_mutex(context), 100};
  account b{asio_sync::async_mutex(context), 100};
  for (int i = 0; i < 10; ++i) {
    asio::co_spawn(context, transfer(a, b, 3), asio::detached);
    asio::co_spawn(context, transfer(b, a, 1), asio::detached);
  }
  context.run();
  std::cout << a.balance << " and " << b.balance << '\n';
  return 0;
}
// clang-format on

}  // namespace lock_all_program

namespace lock_all_test {

using namespace asio_sync::test;
using asio::deferred;
using asio::use_awaitable;
using lock_type = async_mutex::lock_type;
using locks_type = std::vector<lock_type>;

error_code const invalid =
    boost::system::errc::make_error_code(boost::system::errc::invalid_argument);

asio::cancellation_type const types[] = {asio::cancellation_type::terminal,
                                         asio::cancellation_type::partial,
                                         asio::cancellation_type::total};

struct fixture {
  auto handler() {
    return [this](error_code error, locks_type now) {
      ++called;
      got = error;
      locked_then = count_locked();
      locks = std::move(now);
    };
  }
  auto wait(asio::cancellation_slot slot = {}) {
    async_lock_all(mutexes, asio::bind_cancellation_slot(slot, handler()));
  }

  void poll() { test::poll(context); }

  int count_locked() const {
    return static_cast<int>(
        std::ranges::count_if(mutexes, [](auto const& m) { return m.is_locked(); }));
  }

  asio::io_context context;
  std::array<async_mutex, 3> mutexes{async_mutex(context), async_mutex(context),
                                     async_mutex(context)};  // in the order of their addresses
  async_mutex& a = mutexes[0];
  async_mutex& b = mutexes[1];
  async_mutex& c = mutexes[2];
  int called = 0;
  error_code got;
  int locked_then = 0;
  locks_type locks;
};

BOOST_FIXTURE_TEST_SUITE(lock_all_test, fixture)

BOOST_AUTO_TEST_CASE(program_on_the_page) {
  std::ostringstream text;
  auto* const before = std::cout.rdbuf(text.rdbuf());
  int const status = lock_all_program::main();
  std::cout.rdbuf(before);
  BOOST_TEST(status == 0);
  BOOST_TEST(text.str() == "80 and 120\n");
}

BOOST_AUTO_TEST_CASE(locks_are_in_the_order_of_the_caller) {
  std::tuple<lock_type, lock_type, lock_type> tuple;
  for (bool const waits : {false, true}) {
    std::optional<lock_type> held;
    if (waits) held.emplace(b);
    async_lock_all(std::tie(c, a, b), [&](error_code error, auto now) {
      BOOST_TEST(!error);
      tuple = std::move(now);
    });
    held.reset();
    poll();
    BOOST_TEST((std::get<0>(tuple).mutex() == &c && std::get<1>(tuple).mutex() == &a &&
                std::get<2>(tuple).mutex() == &b));
    BOOST_TEST(count_locked() == 3);
    tuple = decltype(tuple)();
    BOOST_TEST(count_locked() == 0);
  }
}

BOOST_AUTO_TEST_CASE(ranges) {
  auto const check = [&](auto&& range) {
    async_lock_all(range, handler());
    poll();
    BOOST_TEST_REQUIRE(locks.size() == 3u);
    BOOST_TEST((locks[0].mutex() == &a && locks[1].mutex() == &b && locks[2].mutex() == &c));
    BOOST_TEST(count_locked() == 3);
    locks.clear();
    BOOST_TEST(count_locked() == 0);
  };
  check(mutexes);
  check(std::vector<async_mutex*>{&a, &b, &c});
  check(std::array<async_mutex* const, 3>{&a, &b, &c});
  check(std::vector<std::reference_wrapper<async_mutex>>{a, b, c});
  BOOST_TEST(called == 4);
}

BOOST_AUTO_TEST_CASE(a_range_is_not_needed_any_more) {
  lock_type held(b);
  async_lock_all(std::vector<async_mutex*>{&c, &b}, handler());
  auto deferred_one = async_lock_all(std::vector<async_mutex*>{&a}, deferred);
  held.unlock();
  poll();
  BOOST_TEST(locks.size() == 2u);
  auto copy = deferred_one;
  std::move(copy)(handler());
  poll();
  BOOST_TEST(locks.size() == 1u);
  BOOST_TEST(called == 2);
}

BOOST_AUTO_TEST_CASE(mutexes_of_different_types) {
  asio::thread_pool pool(1);
  basic_async_mutex<asio::io_context::executor_type> plain(context);
  basic_async_mutex<asio::thread_pool::executor_type> other(pool);
  for (bool const waits : {false, true}) {
    std::optional<decltype(plain)::lock_type> held;
    if (waits) held.emplace(plain);
    auto result = async_lock_all(std::tie(plain, other, a), asio::use_future);
    held.reset();
    poll();
    pool.join();
    poll();
    auto const [first, second, third] = result.get();
    BOOST_TEST((first.mutex() == &plain && second.mutex() == &other && third.mutex() == &a));
  }
}

BOOST_AUTO_TEST_CASE(R15_the_same_mutex_twice) {
  async_lock_all(std::vector<async_mutex*>{&b, &a, &b}, handler());
  BOOST_TEST(called == 0);
  poll();
  BOOST_TEST(called == 1);
  BOOST_TEST(got == invalid);
  BOOST_TEST(count_locked() == 0);
  asio::co_spawn(
      context,
      [&]() -> asio::awaitable<void> {
        auto const [error, both] =
            co_await async_lock_all(std::tie(a, a), asio::as_tuple(deferred));
        got = error;
        BOOST_TEST(!std::get<0>(both).owns_lock());
        ++called;
      },
      asio::detached);
  got = {};
  poll();
  BOOST_TEST(called == 2);
  BOOST_TEST(got == invalid);
  BOOST_TEST(count_locked() == 0);
}

BOOST_AUTO_TEST_CASE(empty_range) {
  locks.resize(1);
  async_lock_all(std::vector<async_mutex*>(), asio::bind_executor(context, handler()));
  BOOST_TEST(called == 0);
  poll();
  BOOST_TEST(called == 1);
  BOOST_TEST(!got);
  BOOST_TEST(locks.empty());

  auto result = async_lock_all(std::vector<async_mutex*>(), asio::use_future);
  BOOST_TEST(result.get().empty());
  auto const here = std::this_thread::get_id();
  std::promise<bool> elsewhere;
  async_lock_all(
      std::vector<basic_async_mutex<asio::io_context::executor_type>*>(),
      [&](error_code, auto const&) { elsewhere.set_value(std::this_thread::get_id() != here); });
  BOOST_TEST(elsewhere.get_future().get());
  async_lock_all(std::tie(),
                 asio::bind_executor(context, [&](error_code, std::tuple<>) { ++called; }));
  poll();
  BOOST_TEST(called == 2);
}

BOOST_AUTO_TEST_CASE(R1_completes_once_and_not_inside) {
  for (bool const waits : {false, true}) {
    std::optional<lock_type> held;
    if (waits) held.emplace(a);
    wait();
    BOOST_TEST(called == 0);
    held.reset();
    BOOST_TEST(called == 0);
    poll();
    BOOST_TEST(std::exchange(called, 0) == 1);
    BOOST_TEST(locked_then == 3);
    locks.clear();
  }
}

#if BOOST_VERSION >= 108200
BOOST_AUTO_TEST_CASE(R1_immediate_executor) {
  async_lock_all(mutexes, asio::bind_immediate_executor(asio::system_executor(), handler()));
  BOOST_TEST(called == 1);
  BOOST_TEST(count_locked() == 3);
}
#endif

template <class Token>
asio::awaitable<void> lock_free_ones(fixture& f, Token token, int& steps) {
  std::vector<async_mutex*> const only_c(1, &f.c);
  auto const both = co_await async_lock_all(std::tie(f.b, f.a), token);
  ++steps;
  auto const listed = co_await async_lock_all(only_c, token);
  ++steps;
}

// A turn of the context for the coroutine itself, and none for what is free.
BOOST_AUTO_TEST_CASE(R1a_a_coroutine_does_not_suspend) {
  auto const check = [&](auto token) {
    int steps = 0;
    asio::co_spawn(context, lock_free_ones(*this, token, steps), asio::detached);
    context.restart();
    context.run_one();
    BOOST_TEST(steps == 2);
    poll();
    BOOST_TEST(count_locked() == 0);
  };
  error_code error;
  check(deferred);
  check(use_awaitable);
  check(asio::as_tuple(deferred));
  check(asio::as_tuple(use_awaitable));
  check(asio::redirect_error(use_awaitable, error));
}

BOOST_AUTO_TEST_CASE(R1a_after_128_in_a_row_the_next_goes_through_the_executor) {
  int steps = 0;
  asio::co_spawn(
      context,
      [&]() -> asio::awaitable<void> {
        for (; steps < 300; ++steps) co_await async_lock_all(std::tie(a, b, c));
      },
      asio::detached);
  context.run_one();
  int const before = steps;  // as many as those who were here before have left
  BOOST_TEST(before <= 128);
  context.run_one();
  BOOST_TEST(steps == before + 129);
  context.run();
  BOOST_TEST(steps == 300);
  BOOST_TEST(count_locked() == 0);
}

BOOST_AUTO_TEST_CASE(R1a_what_is_refused_at_once_does_not_suspend) {
  lock_type const held(b);
  error_code first, second;
  asio::co_spawn(
      context,
      [&]() -> asio::awaitable<void> {
        co_await async_lock_all_for(std::tie(a, b), 0s,
                                    asio::redirect_error(use_awaitable, first));
        c.close();
        co_await async_lock_all(std::tie(a, c), asio::redirect_error(use_awaitable, second));
      },
      asio::detached);
  context.run_one();
  BOOST_TEST(first == timed_out);
  BOOST_TEST(second == make_error_code(error::closed));
  BOOST_TEST(!a.is_locked());
}

BOOST_AUTO_TEST_CASE(R2_handler_runs_on_its_executor_and_else_on_that_of_the_first_mutex) {
  asio::io_context other;
  async_mutex elsewhere(other);
  auto const step = [&](error_code error, auto const&) { called += error ? 0 : 1; };
  for (int waits_for = 0; waits_for != 3; ++waits_for) {
    auto const begin = [&](auto handler) {
      std::optional<lock_type> first, second;
      if (waits_for == 1) first.emplace(a);
      if (waits_for == 2) second.emplace(elsewhere);
      async_lock_all(std::tie(a, elsewhere), std::move(handler));
    };
    begin(step);
    other.restart();
    BOOST_TEST(other.poll() == 0u);
    poll();
    BOOST_TEST(std::exchange(called, 0) == 1);
    begin(asio::bind_executor(asio::make_strand(other), step));
    poll();
    BOOST_TEST(called == 0);
    other.restart();
    other.poll();
    BOOST_TEST(std::exchange(called, 0) == 1);
  }
}

BOOST_AUTO_TEST_CASE(R3_a_destroyed_handler_releases) {
  for (int stage = 0; stage != 3; ++stage) {
    asio::io_context dying;
    std::optional<asio::io_context> other(std::in_place);
    lock_type const held(mutexes[static_cast<std::size_t>(stage)]);
    async_lock_all(mutexes, asio::bind_executor(*other, handler()));
    BOOST_TEST(count_locked() == stage + 1);
    other.reset();
    BOOST_TEST(count_locked() == 1);
    BOOST_TEST(held.mutex()->waiters() == 0u);
  }
  std::optional<asio::io_context> other(std::in_place);
  async_lock_all(mutexes, asio::bind_executor(*other, handler()));
  BOOST_TEST(count_locked() == 3);  // granted, on its way
  other.reset();
  BOOST_TEST(count_locked() == 0);
  BOOST_TEST(called == 0);
}

// Whose destructor may need one of them.
BOOST_AUTO_TEST_CASE(R3_what_is_locked_is_unlocked_before_a_dropped_handler_is_destroyed) {
  std::optional<asio::io_context> other(std::in_place);
  lock_type const last(mutexes[2]);
  int were_free = 0;
  std::shared_ptr<void> at_end(nullptr, [&](void*) {
    for (async_mutex& each : mutexes) were_free += lock_type(each, std::try_to_lock) ? 1 : 0;
  });
  async_lock_all(mutexes, asio::bind_executor(
                              *other, [at_end = std::move(at_end)](error_code, auto const&) {}));
  BOOST_TEST(count_locked() == 3);
  other.reset();
  BOOST_TEST(were_free == 2);
}

// A handler that leaves its locks in the parameter: its destructor may need one of them.
BOOST_AUTO_TEST_CASE(R3_what_a_handler_leaves_is_unlocked_before_it_is_destroyed) {
  for (bool const throws : {false, true})
    for (bool const is_erased : {false, true}) {
      int were_free = 0;
      std::shared_ptr<void> at_end(nullptr, [&](void*) { were_free = 3 - count_locked(); });
      auto note = [&, throws, at_end = std::move(at_end)](error_code, auto const&) {
        BOOST_TEST(count_locked() == 3);
        if (throws) throw 1;
      };
      if (is_erased)
        async_lock_all(mutexes, std::move(note));
      else
        async_lock_all(mutexes, asio::bind_allocator(std::allocator<char>(), std::move(note)));
      if (throws)
        BOOST_CHECK_THROW(poll(), int);
      else
        poll();
      BOOST_TEST(were_free == 3);
    }
}

// As it is about to be called.
BOOST_AUTO_TEST_CASE(R3_all_is_unlocked_before_a_handler_is_destroyed_whose_move_throws) {
  struct fragile {
    fragile(bool& t, std::shared_ptr<void> e) : throws(&t), at_end(std::move(e)) {}
    fragile(fragile&& other) : throws(other.throws) {
      if (*throws) throw 1;
      at_end = std::move(other.at_end);
    }
    void operator()(error_code, std::vector<lock_type> const&) const {}

    bool* throws;
    std::shared_ptr<void> at_end;
  };
  bool throws = false;
  int were_free = 0;
  std::shared_ptr<void> at_end(nullptr, [&](void*) { were_free = 3 - count_locked(); });
  async_lock_all(mutexes, fragile(throws, std::move(at_end)));
  throws = true;
  BOOST_CHECK_THROW(poll(), int);
  BOOST_TEST(were_free == 3);
}

BOOST_AUTO_TEST_CASE(R1_handler_that_is_called_once_and_is_gone) {
  struct disposable {
    int* called;
    void operator()(error_code error, std::tuple<lock_type, lock_type> const&) && {
      if (!error) ++*called;
    }
  };
  async_lock_all(std::tie(a, b), disposable{&called});
  poll();
  BOOST_TEST(called == 1);
}

BOOST_AUTO_TEST_CASE(R4_cancelled_at_each_stage) {
  for (auto const type : types)
    for (async_mutex& busy : mutexes) {
      asio::cancellation_signal signal;
      lock_type const held(busy);
      wait(signal.slot());
      poll();
      BOOST_TEST(busy.waiters() == 1u);
      signal.emit(type);
      BOOST_TEST_REQUIRE(busy.waiters() == 0u);
      poll();
      BOOST_TEST(std::exchange(called, 0) == 1);
      BOOST_TEST(got == aborted);
      BOOST_TEST(locked_then == 1);  // by this alone, already when the handler is called
    }
}

BOOST_AUTO_TEST_CASE(R4_cancelled_in_a_coroutine) {
  asio::cancellation_signal signal;
  lock_type const held(b);
  asio::co_spawn(context, async_lock_all(mutexes, use_awaitable),
                 asio::bind_cancellation_slot(signal.slot(), [&](std::exception_ptr error, auto) {
                   called += error ? 1 : 0;
                 }));
  poll();
  BOOST_TEST(b.waiters() == 1u);
  signal.emit(asio::cancellation_type::terminal);
  poll();
  BOOST_TEST(called == 1);
  BOOST_TEST(count_locked() == 1);
}

// The first is granted, and has not arrived: the next one is not waited for any more.
BOOST_AUTO_TEST_CASE(R4_cancelled_between_two_stages) {
  asio::cancellation_signal signal;
  std::optional<lock_type> first(a);
  lock_type const second(b);
  wait(signal.slot());
  first.reset();
  signal.emit(asio::cancellation_type::total);
  poll();
  BOOST_TEST(called == 1);
  BOOST_TEST(got == aborted);
  BOOST_TEST(count_locked() == 1);
}

// A mutex of another library, whose waits ignore their cancellation.
struct foreign_mutex {
  using executor_type = asio::io_context::executor_type;
  using lock_type = std::unique_lock<foreign_mutex>;

  executor_type get_executor() const noexcept { return context.get_executor(); }
  bool try_lock() noexcept { return !std::exchange(locked, true); }
  void unlock() noexcept { locked = false; }
  template <class Token>
  auto async_lock(Token&& token) {
    auto const initiate = [this](auto handler) {
      asio::post(context, [this, handler = std::move(handler)]() mutable {
        std::move(handler)(error_code(), lock_type(*this, std::try_to_lock));
      });
    };
    return asio::async_initiate<Token, void(error_code, lock_type)>(initiate, token);
  }

  asio::io_context& context;
  bool locked = false;
};

BOOST_AUTO_TEST_CASE(R4_cancelled_in_the_wait_for_a_mutex_that_ignores_it) {
  struct {
    foreign_mutex first;
    async_mutex second;
  } two{{context}, async_mutex(context)};
  asio::cancellation_signal signal;
  lock_type const held(two.second);
  BOOST_TEST(two.first.try_lock());
  async_lock_all(std::tie(two.second, two.first),
                 asio::bind_cancellation_slot(signal.slot(), [&](error_code error, auto const&) {
                   ++called;
                   got = error;
                 }));
  two.first.unlock();
  signal.emit(asio::cancellation_type::total);
  poll();
  BOOST_TEST(called == 1);
  BOOST_TEST(got == aborted);
  BOOST_TEST(!two.first.locked);
  BOOST_TEST(two.second.waiters() == 0u);
}

// A mutex of another library, whose waits leave a handler in their slot.
struct leaving_mutex : foreign_mutex {
  using lock_type = std::unique_lock<leaving_mutex>;

  template <class Token>
  auto async_lock(Token&& token) {
    auto const initiate = [this](auto handler) {
      asio::get_associated_cancellation_slot(handler).assign(
          [this](asio::cancellation_type) { ++cancelled; });
      asio::post(context, [this, handler = std::move(handler)]() mutable {
        std::move(handler)(error_code(), lock_type(*this, std::try_to_lock));
      });
    };
    return asio::async_initiate<Token, void(error_code, lock_type)>(initiate, token);
  }

  int cancelled = 0;
};

BOOST_AUTO_TEST_CASE(R4_a_mutex_of_another_library_leaves_its_handler_in_the_slot) {
  struct {
    leaving_mutex first;
    foreign_mutex second;
  } two{{{context}}, {context}};
  asio::cancellation_signal signal;
  BOOST_TEST((two.first.try_lock() && two.second.try_lock()));
  async_lock_all(
      std::tie(two.first, two.second),
      asio::bind_cancellation_slot(signal.slot(), [&](error_code, auto const&) { ++called; }));
  two.first.unlock();
  two.second.unlock();
  context.run_one();  // the wait for the first
  signal.emit(asio::cancellation_type::total);
  BOOST_TEST(two.first.cancelled == 0);
  poll();
  BOOST_TEST(called == 1);
  BOOST_TEST((!two.first.locked && !two.second.locked));
}

BOOST_AUTO_TEST_CASE(R4_cancelled_after_the_last_grant) {
  asio::cancellation_signal signal;
  std::optional<lock_type> held(a);
  wait(signal.slot());
  held.reset();
  signal.emit(asio::cancellation_type::total);
  poll();
  BOOST_TEST(called == 1);
  BOOST_TEST(got == aborted);
  BOOST_TEST(locked_then == 0);
  BOOST_TEST(count_locked() == 0);
}

BOOST_AUTO_TEST_CASE(R4_cancelled_though_all_were_free) {
  asio::cancellation_signal signal;
  wait(signal.slot());
  signal.emit(asio::cancellation_type::total);
  poll();
  BOOST_TEST(called == 1);
  BOOST_TEST(got == aborted);
  BOOST_TEST(count_locked() == 0);
}

BOOST_AUTO_TEST_CASE(R4_cancel_of_a_mutex) {
  for (async_mutex& busy : mutexes) {
    lock_type const held(busy);
    wait();
    BOOST_TEST(busy.cancel() == 1u);
    poll();
    BOOST_TEST(got == aborted);
    BOOST_TEST(locked_then == 1);
  }
}

BOOST_AUTO_TEST_CASE(R7_waits_are_served_in_turn) {
  std::vector<int> order;
  auto const note = [&](int number) {
    return [&order, number](error_code, auto const&) { order.push_back(number); };
  };
  std::optional<lock_type> held(b);
  b.async_lock(note(1));
  async_lock_all(std::tie(b, a), note(2));
  b.async_lock(note(3));
  async_lock_all(std::tie(c, b), note(4));
  held.reset();
  poll();
  BOOST_TEST(order == (std::vector{1, 2, 3, 4}), boost::test_tools::per_element());
}

// A wait that held nothing would be granted one mutex, find the other granted to the next of its
// kind, let go, and queue for that: for ever.
BOOST_AUTO_TEST_CASE(R7_waits_in_both_orders_all_come_to_an_end) {
  std::optional<lock_type> first(a), second(b);
  for (int i = 0; i != 10; ++i) {
    async_lock_all(std::tie(a, b), [&](error_code, auto const&) { ++called; });
    async_lock_all(std::tie(b, a), [&](error_code, auto const&) { ++called; });
  }
  first.reset();
  second.reset();
  context.restart();
  BOOST_TEST(context.poll() <= 60u);
  BOOST_TEST(called == 20);
  BOOST_TEST(count_locked() == 0);
}

BOOST_AUTO_TEST_CASE(R8_keeps_the_context_of_the_handler_running) {
  asio::io_context other;
  for (async_mutex& busy : mutexes) {
    std::optional<lock_type> held(busy);
    async_lock_all(mutexes, asio::bind_executor(other, handler()));
    other.restart();
    other.poll();
    BOOST_TEST(!other.stopped());
    BOOST_TEST(context.poll() == 0u);
    BOOST_TEST(context.stopped());
    held.reset();
    other.run();
    BOOST_TEST(std::exchange(called, 0) == 1);
    locks.clear();
  }
}

BOOST_AUTO_TEST_CASE(R9_the_mutex_that_is_waited_for_dies) {
  std::optional<async_mutex> dying(std::in_place, context);
  std::optional<lock_type> const held(*dying);
  async_lock_all(std::vector<async_mutex*>{&a, &*dying}, handler());
  dying.reset();
  poll();
  BOOST_TEST(called == 1);
  BOOST_TEST(got == aborted);
  BOOST_TEST(!a.is_locked());
}

BOOST_AUTO_TEST_CASE(R9_a_mutex_dies_that_is_not_waited_for_yet) {
  for (bool const callback : {true, false}) {
    std::array<std::optional<async_mutex>, 2> two;  // the first has the lower address
    for (auto& each : two) each.emplace(context);
    std::optional<lock_type> held(*two[0]);
    std::vector<async_mutex*> const both{&*two[0], &*two[1]};
    if (callback)
      async_lock_all(both, handler());
    else
      asio::co_spawn(context, async_lock_all(both, use_awaitable),
                     [&](std::exception_ptr error, auto const&) {
                       ++called;
                       got = error ? aborted : error_code();
                     });
    poll();
    two[1].emplace(context);  // another one, at the same address
    held.reset();
    poll();
    BOOST_TEST(std::exchange(called, 0) == 1);
    BOOST_TEST(got == aborted);
    BOOST_TEST(!two[0]->is_locked());
    locks.clear();
  }
}

BOOST_AUTO_TEST_CASE(R9_a_shared_mutex_dies_that_is_not_waited_for_yet) {
  std::array<std::optional<async_shared_mutex>, 2> two;  // the first has the lower address
  for (auto& each : two) each.emplace(context);
  std::optional<async_shared_mutex::shared_lock_type> held(*two[0]);
  async_lock_all(std::tie(*two[0], *two[1]), [&](error_code error, auto const&) {
    ++called;
    got = error;
  });
  two[1].reset();
  held.reset();
  poll();
  BOOST_TEST(called == 1);
  BOOST_TEST(got == aborted);
  BOOST_TEST(!two[0]->is_locked());
}

BOOST_AUTO_TEST_CASE(R9_a_mutex_that_is_held_dies) {
  std::array<std::optional<async_mutex>, 2> two;  // the first has the lower address
  for (auto& each : two) each.emplace(context);
  std::optional<lock_type> held(*two[1]);
  async_lock_all(std::vector<async_mutex*>{&*two[0], &*two[1]}, handler());
  two[0].reset();
  held.reset();
  poll();
  BOOST_TEST(called == 1);
  BOOST_TEST(got == aborted);
  BOOST_TEST(!two[1]->is_locked());
}

BOOST_AUTO_TEST_CASE(R9_locks_may_outlive_their_mutexes) {
  std::optional<async_mutex> dying(std::in_place, context);
  async_lock_all(std::vector<async_mutex*>{&a, &*dying}, handler());
  poll();
  dying.reset();
  BOOST_TEST(locks[0].owns_lock());
  BOOST_TEST(!locks[1].owns_lock());
}

BOOST_AUTO_TEST_CASE(R10_context_of_a_mutex_dies_first) {
  auto dying = std::make_unique<asio::io_context>();
  async_mutex mutex(*dying);
  std::optional<lock_type> held(mutex);
  async_lock_all(std::tie(mutex, a), asio::bind_executor(context, [&](error_code error, auto) {
                   ++called;
                   got = error;
                 }));
  dying.reset();
  held.reset();
  poll();
  BOOST_TEST(called == 1);
  BOOST_TEST(!got);
}

BOOST_AUTO_TEST_CASE(R11_no_time_tries_once) {
  for (auto const time : {std::chrono::seconds(0), std::chrono::seconds(-1)}) {
    async_lock_all_for(mutexes, time, handler());
    poll();
    BOOST_TEST(!got);
    BOOST_TEST(locked_then == 3);
    locks.clear();
    for (async_mutex& busy : mutexes) {
      lock_type const held(busy);
      async_lock_all_for(mutexes, time, handler());
      poll();
      BOOST_TEST(got == timed_out);
      BOOST_TEST(locked_then == 1);
    }
  }
  BOOST_TEST(called == 8);
}

BOOST_AUTO_TEST_CASE(R11_time_is_up_at_each_stage) {
  for (async_mutex& busy : mutexes) {
    lock_type const held(busy);
    async_lock_all_for(mutexes, 1ns, handler());
    context.restart();
    context.run();
    BOOST_TEST(std::exchange(called, 0) == 1);
    BOOST_TEST(got == timed_out);
    BOOST_TEST(locked_then == 1);
    BOOST_TEST(busy.waiters() == 0u);
  }
}

// When the first is granted the time is up: what is free is locked even so, what is not, is not.
BOOST_AUTO_TEST_CASE(R11_one_deadline_for_all) {
  for (bool const free : {true, false}) {
    std::optional<lock_type> first(a), last;
    if (!free) last.emplace(c);
    auto const deadline = std::chrono::steady_clock::now() + 1h;
    async_lock_all_until(mutexes, deadline, handler());
    first.reset();
    poll();
    BOOST_TEST(called == (free ? 1 : 0));
    BOOST_TEST(c.waiters() == (free ? 0u : 1u));
    locks.clear();
    last.reset();
    poll();
    BOOST_TEST(std::exchange(called, 0) == 1);
    BOOST_TEST(!got);
    locks.clear();
  }
}

BOOST_AUTO_TEST_CASE(R11_in_a_coroutine) {
  lock_type const held(b);
  error_code error;
  asio::co_spawn(
      context,
      [&]() -> asio::awaitable<void> {
        co_await async_lock_all_for(std::tie(a, b), 1ns,
                                    asio::redirect_error(use_awaitable, error));
        BOOST_TEST(!a.is_locked());
        auto const [late, both] = co_await async_lock_all_until(
            std::tie(a, b), std::chrono::system_clock::now() - 1h, asio::as_tuple(deferred));
        BOOST_TEST(late == timed_out);
      },
      asio::detached);
  context.run();
  BOOST_TEST(error == timed_out);
}

BOOST_AUTO_TEST_CASE(R12_free_mutexes_in_a_tuple_cost_a_coroutine_no_memory) {
  asio::co_spawn(
      context,
      [&]() -> asio::awaitable<void> {
        co_await async_lock_all(std::tie(a, b, c));
        test::heap_counter const heap;
        for (int i = 0; i != 100; ++i) co_await async_lock_all(std::tie(a, b, c));
        BOOST_TEST(heap.allocations() == 0u);
        ++called;
      },
      asio::detached);
  poll();
  BOOST_TEST(called == 1);
}

BOOST_AUTO_TEST_CASE(R12_waits_take_their_memory_from_the_pool) {
  std::optional<test::heap_counter> heap;
  for (int round = 0; round != 20; ++round) {
    if (round == 10) heap.emplace();
    lock_type held(round % 2 == 0 ? a : c);
    async_lock_all(std::tie(a, b, c), [&](error_code, auto const&) { ++called; });
    held.unlock();
    poll();
  }
  BOOST_TEST(heap->allocations() == 0u);
  BOOST_TEST(called == 20);
}

BOOST_AUTO_TEST_CASE(R12_handlers_that_are_aligned_more_than_others) {
  struct alignas(64) wide {
    int& called;
    void operator()(error_code, std::tuple<lock_type, lock_type> const&) const {
      BOOST_TEST(reinterpret_cast<std::uintptr_t>(this) % 64 == 0u);
      ++called;
    }
  };
  for (bool const waits : {false, true}) {
    lock_type held;
    if (waits) held = lock_type(b);
    async_lock_all(std::tie(a, b), wide{called});
    held = lock_type();
    poll();
  }
  BOOST_TEST(called == 2);
}

// Before anything is held, while it is, and where the wait begins.
BOOST_AUTO_TEST_CASE(R13_each_allocation_failing) {
  for (bool const waits : {false, true})
    for (std::size_t successes = 0;; ++successes) {
      std::optional<lock_type> held;
      if (waits) held.emplace(b);
      bool threw = false;
      {
        test::empty_pool const pool;
        test::failing_heap const heap(successes, test::failing_heap::failures::one);
        try {
          wait();
        } catch (std::bad_alloc const&) {
          threw = true;
        }
      }
      BOOST_TEST(b.waiters() == (waits && !threw ? 1u : 0u));
      if (threw) BOOST_TEST(count_locked() == (waits ? 1 : 0));
      held.reset();
      poll();
      BOOST_TEST(std::exchange(called, 0) == (threw ? 0 : 1));
      locks.clear();
      BOOST_TEST(count_locked() == 0);
      if (!threw) break;
    }
}

// It ends then, as with any operation of Asio's, and holds nothing.
BOOST_AUTO_TEST_CASE(R13_each_allocation_failing_in_a_coroutine) {
  for (std::size_t successes = 0;; ++successes) {
    std::optional<lock_type> held(b);
    bool threw = false;
    std::optional<test::empty_pool> pool;
    std::optional<test::failing_heap> heap;
    auto const run = [&]() -> asio::awaitable<void> {
      pool.emplace();
      heap.emplace(successes, test::failing_heap::failures::one);
      co_await async_lock_all(std::tie(a, b));
      ++called;
    };
    asio::co_spawn(context, run, asio::detached);
    try {
      poll();
    } catch (std::bad_alloc const&) {
      threw = true;
    }
    heap.reset();
    pool.reset();
    BOOST_TEST(b.waiters() == (threw ? 0u : 1u));
    BOOST_TEST(a.is_locked() == !threw);
    held.reset();
    poll();
    BOOST_TEST(std::exchange(called, 0) == (threw ? 0 : 1));
    BOOST_TEST(count_locked() == 0);
    if (!threw) break;
  }
}

asio::awaitable<void> count_under_all(std::array<async_mutex*, 3> mutexes, int times, int& count) {
  for (int i = 0; i != times; ++i) {
    std::rotate(mutexes.begin(), mutexes.begin() + 1, mutexes.end());
    auto const locks = co_await async_lock_all(mutexes);
    ++count;
    if (i % 7 == 0) co_await asio::post(deferred);
  }
}

asio::awaitable<void> count_under_two(async_mutex& first, async_mutex& second, int times,
                                      int& count) {
  for (int i = 0; i != times; ++i) {
    auto const both = co_await async_lock_all(std::tie(first, second));
    ++count;
    if (i % 5 == 0) co_await asio::post(deferred);
  }
}

BOOST_AUTO_TEST_CASE(R17_opposite_orders_on_many_threads) {
  asio::thread_pool pool(4);
  async_mutex x(pool), y(pool), z(pool);
  int count = 0;  // under y, which all of them lock
  for (int i = 0; i != 8; ++i) {
    asio::co_spawn(pool, count_under_all({&x, &y, &z}, 100, count), asio::detached);
    asio::co_spawn(pool, count_under_all({&z, &y, &x}, 100, count), asio::detached);
    asio::co_spawn(pool, count_under_two(x, y, 100, count), asio::detached);
    asio::co_spawn(pool, count_under_two(y, x, 100, count), asio::detached);
    asio::co_spawn(pool, count_under_two(z, y, 100, count), asio::detached);
  }
  pool.join();
  BOOST_TEST(count == 4000);
  BOOST_TEST((!x.is_locked() && !y.is_locked() && !z.is_locked()));
}

BOOST_AUTO_TEST_CASE(R18_closed_at_each_stage) {
  for (async_mutex& each : mutexes) {
    std::optional<lock_type> held(each);
    wait();
    each.close();
    poll();
    BOOST_TEST(got == make_error_code(error::closed));
    BOOST_TEST(locked_then == 1);
    held.reset();
    wait();
    poll();
    BOOST_TEST(got == make_error_code(error::closed));
    BOOST_TEST(locked_then == 0);
  }
  BOOST_TEST(called == 6);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace lock_all_test
