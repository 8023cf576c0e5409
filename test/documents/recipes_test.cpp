// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The code in doc/recipes.md, and what that page says about it.

#include "documents/support.hpp"

#include <asio_sync/async_condition.hpp>
#include <asio_sync/async_group.hpp>
#include <asio_sync/async_keyed_mutex.hpp>
#include <asio_sync/async_lock_all.hpp>
#include <asio_sync/async_manual_reset_event.hpp>
#include <asio_sync/async_mutex.hpp>
#include <asio_sync/error.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/compose.hpp>
#include <boost/asio/connect_pipe.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/readable_pipe.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/asio/writable_pipe.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#if !defined(ASIO_SYNC_TEST_HEADERS_ONLY)
#include <boost/asio/spawn.hpp>
#endif

// Asio had it in a namespace of its own at first.
#if __has_include(<boost/asio/co_composed.hpp>)
#include <boost/asio/co_composed.hpp>
#define ASIO_SYNC_TEST_CO_COMPOSED
#elif __has_include(<boost/asio/experimental/co_composed.hpp>)
#include <boost/asio/experimental/co_composed.hpp>
#define ASIO_SYNC_TEST_CO_COMPOSED
namespace boost::asio {
using experimental::co_composed;
}
#endif

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <queue>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace recipes_test {

namespace asio = boost::asio;
using asio::use_awaitable;
using asio_sync::async_condition;
using asio_sync::async_group;
using asio_sync::async_keyed_mutex;
using asio_sync::async_manual_reset_event;
using asio_sync::async_mutex;
using asio_sync::test::ended_well;
using asio_sync::test::endings;
using asio_sync::test::page_fixture;
using asio_sync::test::record;
using boost::system::error_code;
using boost::system::system_error;
using namespace std::chrono_literals;

// What must not be forgotten.

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunused-result"  // clang sees the mistake
#endif
asio::awaitable<void> forgets_the_guard(async_mutex& mutex, record& data) {
  co_await mutex.async_lock();  // locks, and unlocks at the semicolon
  co_await data.update();       // holds nothing
}
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

asio::awaitable<void> locks_twice(async_mutex& mutex, bool& ended) {
  auto lock = co_await mutex.async_lock();   // holds the mutex until the end of the scope
  auto again = co_await mutex.async_lock();  // waits for ever: this coroutine holds it
  ended = true;
}

// What a session does with what it reads.

std::atomic<std::size_t> bytes_handled = 0;

asio::awaitable<void> handle(std::string_view text) {
  bytes_handled += text.size();
  co_await asio::post(use_awaitable);
}

// No co_await in a conditional operator.

asio::awaitable<async_mutex::lock_type> lock_perhaps_timed(async_mutex& mutex, bool timed) {
  if (timed) co_return co_await mutex.async_lock_for(1s);
  co_return co_await mutex.async_lock();
}

// Time-outs.

asio::awaitable<bool> update_within(std::chrono::milliseconds patience, async_mutex& mutex,
                                    record& data) {
  auto [error, lock] = co_await mutex.async_lock_for(patience, asio::as_tuple(asio::deferred));
  if (error == asio::error::timed_out) co_return false;
  if (error) throw system_error(error);
  co_await data.update();
  co_return true;
}

asio::awaitable<bool> update_before(asio::steady_timer& timer, async_mutex& mutex, record& data) {
  using namespace asio::experimental::awaitable_operators;
  auto const token = asio::as_tuple(use_awaitable);
  auto first = co_await (mutex.async_lock(token) || timer.async_wait(token));
  if (first.index() == 1) co_return false;  // the timer was first
  auto [error, lock] = std::get<0>(std::move(first));
  if (error) throw system_error(error);  // without as_tuple, it would wait for the timer
  co_await data.update();
  co_return true;
}

// A read that is given up.

asio::awaitable<void> session(asio::readable_pipe& client, async_manual_reset_event& stop) {
  using namespace asio::experimental::awaitable_operators;
  auto const token = asio::as_tuple(use_awaitable);
  std::array<char, 512> bytes;
  for (;;) {
    auto first = co_await (client.async_read_some(asio::buffer(bytes), token) ||  //
                           stop.async_wait(token));
    if (first.index() == 1) co_return;  // it is time to stop
    auto [error, size] = std::get<0>(first);
    if (error) co_return;  // the client has gone
    co_await handle(std::string_view(bytes.data(), size));
  }
}

// The same without as_tuple.
asio::awaitable<void> deaf_session(asio::readable_pipe& client, async_manual_reset_event& stop) {
  using namespace asio::experimental::awaitable_operators;
  std::array<char, 512> bytes;
  for (;;) {
    auto first = co_await (client.async_read_some(asio::buffer(bytes), use_awaitable) ||
                           stop.async_wait(use_awaitable));
    if (first.index() == 1) co_return;
    co_await handle(std::string_view(bytes.data(), std::get<0>(first)));
  }
}

// A coroutine that is cancelled while it waits.

asio::awaitable<void> update(async_mutex& mutex, record& data) {
  auto lock = co_await mutex.async_lock();
  co_await data.update();
}

// Stackful coroutines.

#if !defined(ASIO_SYNC_TEST_HEADERS_ONLY)
void update_twice(async_mutex& mutex, record& data, asio::yield_context yield) {
  {
    auto lock = mutex.async_lock(yield);  // throws if it is refused
    int const seen = data.value;
    asio::post(yield);
    data.value = seen + 1;
  }  // unlocks
  error_code error;
  auto lock = mutex.async_lock_for(1h, yield[error]);  // sets the error instead
  if (!error) ++data.value;
}
#endif

// An operation of one's own, for any completion token.

template <class Stream>
struct write_frame_operation {
  async_mutex& mutex;
  Stream& stream;
  std::string_view frame;
  async_mutex::lock_type lock = {};

  template <class Self>
  void operator()(Self& self) {
    mutex.async_lock(std::move(self));
  }

  template <class Self>
  void operator()(Self& self, error_code error, async_mutex::lock_type granted) {
    if (error) return self.complete(error, 0);
    lock = std::move(granted);  // travels with the operation
    asio::async_write(stream, asio::buffer(frame), std::move(self));
  }

  template <class Self>
  void operator()(Self& self, error_code error, std::size_t size) {
    lock.unlock();  // before the handler runs, which may start the next
    self.complete(error, size);
  }
};

// Writes the frame when all earlier ones have been written; it has to live until then.
// Completion signature: void(error_code, std::size_t)
template <class Stream, class Token>
auto async_write_frame(async_mutex& mutex, Stream& stream, std::string_view frame, Token&& token) {
  return asio::async_compose<Token, void(error_code, std::size_t)>(
      write_frame_operation<Stream>{mutex, stream, frame}, token, mutex, stream);
}

#if defined(ASIO_SYNC_TEST_CO_COMPOSED)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"  // co_composed's own
#endif
template <class Stream, class Token>
auto async_write_composed(async_mutex& mutex, Stream& stream, std::string_view frame,
                          Token&& token) {
  return boost::asio::async_initiate<Token, void(error_code, std::size_t)>(
      asio::co_composed<void(error_code, std::size_t)>(
          [](auto, async_mutex& m, Stream& s, std::string_view text) -> void {
            auto [error, lock] = co_await m.async_lock(asio::as_tuple(asio::deferred));
            if (error) co_return {error, 0};
            auto [failure, size] =
                co_await asio::async_write(s, asio::buffer(text), asio::as_tuple(asio::deferred));
            lock.unlock();
            co_return {failure, size};
          },
          mutex, stream),
      token, std::ref(mutex), std::ref(stream), frame);
}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#endif

// A class over any executor.

template <class Executor = asio::any_io_executor>
class basic_account {
 public:
  using executor_type = Executor;

  template <class Executor2>
  struct rebind_executor {
    using other = basic_account<Executor2>;
  };

  explicit basic_account(Executor const& executor) : mutex_(executor) {}

  executor_type get_executor() const noexcept { return mutex_.get_executor(); }

  asio::awaitable<void, Executor> pay_in(int amount) {
    auto lock = co_await mutex_.async_lock();
    int const seen = balance_;
    co_await asio::post(asio::deferred);  // to the bank
    balance_ = seen + amount;
  }

  int balance() const { return balance_; }  // while nobody pays in

 private:
  asio_sync::basic_async_mutex<Executor> mutex_;
  int balance_ = 0;
};

using account = basic_account<>;

// A guard in what has to be copyable.

std::function<void()> unlock_later(async_mutex::lock_type lock) {
  auto shared = std::make_shared<async_mutex::lock_type>(std::move(lock));
  return [shared] { shared->unlock(); };
}

// Two mutexes.

struct purse {
  explicit purse(asio::any_io_executor const& executor) : mutex(executor) {}

  async_mutex mutex;
  int coins = 10;
};

asio::awaitable<void> move_coins(purse& from, purse& to, int coins) {
  if (&from == &to) co_return;  // it would be invalid_argument
  auto both = co_await asio_sync::async_lock_all(std::tie(from.mutex, to.mutex));
  from.coins -= coins;
  co_await asio::post(use_awaitable);
  to.coins += coins;
}

asio::awaitable<int> coins_in_both(purse& a, purse& b) {
  bool const in_order = std::less<>()(&a.mutex, &b.mutex);
  auto first = co_await (in_order ? a : b).mutex.async_lock();
  auto second = co_await (in_order ? b : a).mutex.async_lock();
  co_return a.coins + b.coins;
}

// A cache.

std::atomic<int> fetched = 0;

asio::awaitable<std::string> fetch(std::string name) {
  ++fetched;
  co_await asio::post(use_awaitable);
  if (name.empty()) throw std::invalid_argument("name");
  co_return "page of " + name;
}

class page_cache {
 public:
  explicit page_cache(asio::any_io_executor const& executor) : loading_(executor) {}

  asio::awaitable<std::string> get(std::string name) {
    auto lock = co_await loading_.async_lock(name);
    if (auto found = find(name)) co_return *found;
    std::string text = co_await fetch(name);
    std::scoped_lock const adding(pages_mutex_);
    co_return pages_.emplace(name, text).first->second;
  }

 private:
  std::optional<std::string> find(std::string const& name) const {
    std::scoped_lock const looking(pages_mutex_);
    auto const found = pages_.find(name);
    return found == pages_.end() ? std::nullopt : std::optional(found->second);
  }

  async_keyed_mutex<std::string> loading_;
  mutable std::mutex pages_mutex_;  // of the threads: never held across a co_await
  std::map<std::string, std::string> pages_;
};

// Items under a mutex, and two things to wait for.

class bounded_queue {
 public:
  bounded_queue(asio::any_io_executor const& executor, std::size_t most)
      : mutex_(executor), not_empty_(executor), not_full_(executor), most_(most) {}

  asio::awaitable<void> push(int item) {
    auto lock = co_await mutex_.async_lock();
    auto const has_room = [this] { return items_.size() < most_; };
    co_await not_full_.async_wait(lock, has_room);  // others have the mutex meanwhile
    items_.push(item);
    not_empty_.notify_one();
  }

  asio::awaitable<int> pop() {
    auto lock = co_await mutex_.async_lock();
    auto const has_items = [this] { return !items_.empty(); };
    co_await not_empty_.async_wait(lock, has_items);
    int const item = items_.front();
    items_.pop();
    not_full_.notify_one();
    co_return item;
  }

  // Whoever waits, or comes later, gets error::closed.
  void close() noexcept {
    not_empty_.close();
    not_full_.close();
  }

 private:
  async_mutex mutex_;
  async_condition not_empty_, not_full_;
  std::queue<int> items_;
  std::size_t const most_;
};

asio::awaitable<void> push_numbers(bounded_queue& queue, int n) {
  for (int i = 1; i <= n; ++i) co_await queue.push(i);
}

asio::awaitable<void> pop_until_closed(bounded_queue& queue, std::vector<int>& popped) {
  try {
    for (;;) {
      int const item = co_await queue.pop();
      popped.push_back(item);
    }
  } catch (system_error const& error) {
    BOOST_TEST((error.code() == asio_sync::error::closed));
  }
}

// Many at once.

asio::awaitable<void> join(async_group& group) {
  std::exception_ptr cancelled;
  try {
    co_await group.async_join();
  } catch (...) {
    cancelled = std::current_exception();
  }
  if (!cancelled) co_return;
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  group.cancel_pending();  // they may end early, too
  co_await group.async_join();
  std::rethrow_exception(cancelled);
}

asio::awaitable<int> update_all(std::vector<record>& records) {
  auto const executor = co_await asio::this_coro::executor;
  async_group updates(executor);
  int failed = 0;
  for (record& each : records)
    asio::co_spawn(executor, each.update(), updates.track([&](std::exception_ptr error) {
      if (error) ++failed;
    }));
  co_await join(updates);  // they use `failed` and the records: none may be left behind
  co_return failed;
}

// Which executor to give to a member.

class cache {
 public:
  explicit cache(asio::any_io_executor const& executor) : mutex_(executor) {}

  asio::awaitable<int> get() {
    auto lock = co_await mutex_.async_lock();
    if (!value_) {
      co_await asio::post(use_awaitable);  // fetch it
      value_ = 42;
      ++fetched_;
    }
    co_return value_;
  }

  int fetched() const { return fetched_; }  // while nobody gets it

 private:
  async_mutex mutex_;
  int value_ = 0, fetched_ = 0;
};

// Spawned where the mutex is free.

asio::awaitable<void> child(async_mutex& mutex, std::string& trace) {
  auto lock = co_await mutex.async_lock();  // free: goes on without a trip
  trace += "child ";
}

asio::awaitable<void> parent(async_mutex& mutex, std::string& trace) {
  auto const executor = co_await asio::this_coro::executor;
  trace += "before ";
  asio::co_spawn(executor, child(mutex, trace), asio::detached);
  trace += "after ";  // the trace is now: before child after
}

asio::awaitable<void> patient_parent(async_mutex& mutex, std::string& trace) {
  auto const executor = co_await asio::this_coro::executor;
  asio::post(executor, [&mutex, &trace, executor] {
    asio::co_spawn(executor, child(mutex, trace), asio::detached);
  });
  trace += "after ";  // the trace will be: after child
}

}  // namespace recipes_test

BOOST_FIXTURE_TEST_SUITE(recipes_test, page_fixture)

BOOST_AUTO_TEST_CASE(awaited_as_a_statement_it_unlocks_at_once) {
  asio::co_spawn(context, forgets_the_guard(mutex, data), ended_well);
  asio::co_spawn(context, forgets_the_guard(mutex, data), ended_well);
  run();
  BOOST_TEST(data.value == 1);  // one of two
}

BOOST_AUTO_TEST_CASE(locked_twice_it_waits_for_itself) {
  bool ended = false;
  asio::co_spawn(context, locks_twice(mutex, ended), [](std::exception_ptr error) {
    BOOST_CHECK_THROW(std::rethrow_exception(error), system_error);
  });
  poll();
  BOOST_TEST((mutex.is_locked() && mutex.waiters() == 1u));
  mutex.cancel();
  run();
  BOOST_TEST((!ended && !mutex.is_locked()));
}

BOOST_AUTO_TEST_CASE(one_way_or_the_other_the_guard_is_kept) {
  for (bool const timed : {false, true}) {
    asio::co_spawn(
        context,
        [&, timed]() -> asio::awaitable<void> {
          auto const lock = co_await lock_perhaps_timed(mutex, timed);
          BOOST_TEST((lock.owns_lock() && mutex.is_locked()));
        },
        ended_well);
  }
  run();
  BOOST_TEST(!mutex.is_locked());
}

BOOST_AUTO_TEST_CASE(with_a_time_out) {
  auto const seen = [](bool expected) {
    return [expected](std::exception_ptr error, bool in_time) {
      BOOST_TEST((!error && in_time == expected));
    };
  };
  asio::steady_timer soon(context, 1ms), late(context, 1h);
  async_mutex::lock_type held(mutex);
  asio::co_spawn(context, update_within(1ms, mutex, data), seen(false));
  asio::co_spawn(context, update_before(soon, mutex, data), seen(false));
  run();
  asio::co_spawn(context, update_within(1h, mutex, data), seen(true));
  asio::co_spawn(context, update_before(late, mutex, data), seen(true));
  poll();
  BOOST_TEST(mutex.waiters() == 2u);
  held.unlock();
  run();
  BOOST_TEST(data.value == 2);
}

BOOST_AUTO_TEST_CASE(a_mutex_that_closes_ends_it_before_the_timer) {
  asio::steady_timer late(context, 1h);
  async_mutex::lock_type const held(mutex);
  endings seen;
  asio::co_spawn(context, update_within(1h, mutex, data), seen.count());
  asio::co_spawn(context, update_before(late, mutex, data), seen.count());
  poll();
  mutex.close();
  asio::co_spawn(context, update_before(late, mutex, data), seen.count());
  poll();
  BOOST_TEST(seen.failed == 3);
  run();
}

BOOST_AUTO_TEST_CASE(time_outs_on_strands_and_two_threads) {
  for (int round = 0; round < 60; ++round) {
    async_mutex shared(context);
    endings seen;
    std::list<asio::steady_timer> timers;
    for (int i = 0; i < 4; ++i) {
      auto const strand = asio::make_strand(context);
      timers.emplace_back(strand, i * 50us);
      asio::co_spawn(strand, update_within(i % 2 * 1ms, shared, data), seen.count());
      asio::co_spawn(strand, update_before(timers.back(), shared, data), seen.count());
    }
    run_on_two_threads([&] {
      if (round % 3 == 1) shared.cancel();
      if (round % 3 == 2) shared.close();
    });
    BOOST_TEST(seen.all() == 8);
    BOOST_TEST(!shared.is_locked());
  }
}

BOOST_AUTO_TEST_CASE(a_session_ends_with_its_client_or_when_it_is_to_stop) {
  async_manual_reset_event stop(context);
  asio::readable_pipe gone_from(context), stays_from(context), unheard_from(context);
  asio::writable_pipe gone(context), stays(context), unheard(context);
  asio::connect_pipe(gone_from, gone);
  asio::connect_pipe(stays_from, stays);
  asio::connect_pipe(unheard_from, unheard);
  endings seen, deaf;
  asio::co_spawn(context, session(gone_from, stop), seen.count());
  asio::co_spawn(context, session(stays_from, stop), seen.count());
  asio::co_spawn(context, deaf_session(unheard_from, stop), deaf.count());
  bytes_handled = 0;
  for (auto* const to : {&gone, &stays, &unheard}) asio::write(*to, asio::buffer("12345", 5));
  poll();
  BOOST_TEST((bytes_handled == 15u && seen.all() == 0));
  gone.close();
  unheard.close();
  poll();
  BOOST_TEST(seen.well == 1);
  BOOST_TEST(deaf.all() == 0);  // || has swallowed the end of file
  stop.set();
  run();
  BOOST_TEST((seen.well == 2 && deaf.well == 1));
}

BOOST_AUTO_TEST_CASE(sessions_on_strands_and_two_threads) {
  for (int round = 0; round < 30; ++round) {
    async_manual_reset_event stop(context);
    endings seen;
    std::list<asio::readable_pipe> from;
    std::list<asio::writable_pipe> to;
    for (int i = 0; i < 4; ++i) {
      auto const strand = asio::make_strand(context);
      asio::connect_pipe(from.emplace_back(strand), to.emplace_back(context));
      asio::co_spawn(strand, session(from.back(), stop), seen.count());
    }
    run_on_two_threads([&] {
      for (auto& each : to) asio::write(each, asio::buffer("12345", 5));
      to.pop_front();
      stop.set();
    });
    BOOST_TEST(seen.well == 4);
  }
}

BOOST_AUTO_TEST_CASE(a_coroutine_is_cancelled_by_its_slot) {
  async_mutex::lock_type const held(mutex);
  bool refused = false;
  auto const on_end = [&](std::exception_ptr error) {
    try {
      if (error) std::rethrow_exception(error);
    } catch (system_error const& e) {
      refused = e.code() == asio::error::operation_aborted;
    }
  };
  asio::cancellation_signal stop;
  asio::co_spawn(context, update(mutex, data), asio::bind_cancellation_slot(stop.slot(), on_end));
  poll();
  BOOST_TEST(mutex.waiters() == 1u);

  stop.emit(asio::cancellation_type::total);  // a coroutine ignores it
  BOOST_TEST(mutex.waiters() == 1u);

  asio::post(context, [&stop] { stop.emit(asio::cancellation_type::terminal); });
  run();
  BOOST_TEST((refused && mutex.waiters() == 0u && data.value == 0));
}

#if !defined(ASIO_SYNC_TEST_HEADERS_ONLY)
BOOST_AUTO_TEST_CASE(stackful_coroutines) {
  for (int i = 0; i < 3; ++i) {
    asio::spawn(
        context, [&](asio::yield_context yield) { update_twice(mutex, data, yield); }, ended_well);
  }
  run();
  BOOST_TEST(data.value == 6);
}
#endif

BOOST_AUTO_TEST_CASE(a_composed_operation) {
  asio::readable_pipe from(context);
  asio::writable_pipe to(context);
  asio::connect_pipe(from, to);
  auto written = async_write_frame(mutex, to, "one ", asio::use_future);
  std::string order;
  async_write_frame(mutex, to, "two ", [&](error_code error, std::size_t size) {
    BOOST_TEST((!error && size == 4u));
    order += "lambda ";
  });
  asio::co_spawn(
      context,
      [&]() -> asio::awaitable<void> {
        co_await async_write_frame(mutex, to, "three ", asio::deferred);
        order += "coroutine ";
#if defined(ASIO_SYNC_TEST_CO_COMPOSED)
        BOOST_TEST(co_await async_write_composed(mutex, to, "four", asio::deferred) == 4u);
#else
        co_await async_write_frame(mutex, to, "four", asio::deferred);
#endif
        co_await async_write_frame(mutex, to, " five", asio::deferred);
        BOOST_TEST(!mutex.is_locked());
      },
      ended_well);
  run();
  BOOST_TEST(written.get() == 4u);
  BOOST_TEST(order == "lambda coroutine ");
  std::array<char, 64> read = {};
  auto const size = from.read_some(asio::buffer(read));
  BOOST_TEST(std::string(read.data(), size) == "one two three four five");

  mutex.close();
  async_write_frame(mutex, to, "six", [&](error_code error, std::size_t) {
    BOOST_TEST(error == error_code(asio_sync::error::closed));
    order += "closed";
  });
  run();
  BOOST_TEST(order == "lambda coroutine closed");
}

BOOST_AUTO_TEST_CASE(a_class_over_any_executor) {
  account any(context.get_executor());
  basic_account<asio::io_context::executor_type> exact(context.get_executor());
  for (int i = 0; i < 3; ++i) {
    asio::co_spawn(context, any.pay_in(5), ended_well);
    asio::co_spawn(context.get_executor(), exact.pay_in(7), ended_well);
  }
  run();
  BOOST_TEST(any.balance() == 15);
  BOOST_TEST(exact.balance() == 21);
  BOOST_TEST((exact.get_executor() == context.get_executor()));
}

BOOST_AUTO_TEST_CASE(another_default_token) {
  using awaiting_mutex = asio::use_awaitable_t<>::as_default_on_t<async_mutex>;
  awaiting_mutex awaiting(context);
  bool timed_out = false;
  asio::co_spawn(
      context,
      [&]() -> asio::awaitable<void> {
        using namespace asio::experimental::awaitable_operators;
        auto const held = co_await awaiting.async_lock();
        asio::steady_timer timer(context, 1ms);
        auto first = co_await (awaiting.async_lock() || timer.async_wait(use_awaitable));
        timed_out = first.index() == 1;
      },
      ended_well);
  run();
  BOOST_TEST(timed_out);
}

BOOST_AUTO_TEST_CASE(a_guard_in_a_function_that_is_copied) {
  std::function<void()> unlock;
  mutex.async_lock([&](error_code error, async_mutex::lock_type lock) {
    if (!error) unlock = unlock_later(std::move(lock));
  });
  run();
  BOOST_TEST(mutex.is_locked());
  auto const copy = unlock;
  copy();
  BOOST_TEST(!mutex.is_locked());
}

BOOST_AUTO_TEST_CASE(two_mutexes_in_any_order) {
  purse a(context.get_executor()), b(context.get_executor());
  int seen = 0;
  for (int i = 0; i < 5; ++i) {
    asio::co_spawn(context, move_coins(a, b, 3), ended_well);
    asio::co_spawn(context, move_coins(b, a, 2), ended_well);
    asio::co_spawn(context, move_coins(a, a, 1), ended_well);
    for (auto* const first : {&a, &b})
      asio::co_spawn(context, coins_in_both(*first, first == &a ? b : a),
                     [&](std::exception_ptr error, int coins) { seen += error ? 0 : coins; });
  }
  run();
  BOOST_TEST((a.coins == 5 && b.coins == 15));
  BOOST_TEST(seen == 200);
  {
    std::scoped_lock const both(a.mutex, b.mutex);  // a thread
    BOOST_TEST((a.mutex.is_locked() && b.mutex.is_locked()));
  }
}

BOOST_AUTO_TEST_CASE(a_bounded_queue_of_a_mutex_and_two_conditions) {
  bounded_queue queue(context.get_executor(), 2);
  std::vector<int> popped;
  asio::co_spawn(context, push_numbers(queue, 5), ended_well);
  poll();  // waits for room
  for (int i = 0; i < 2; ++i) asio::co_spawn(context, pop_until_closed(queue, popped), ended_well);
  poll();
  BOOST_TEST(popped == (std::vector{1, 2, 3, 4, 5}), boost::test_tools::per_element());
  queue.close();
  run();
}

BOOST_AUTO_TEST_CASE(all_at_once_and_wait_for_all) {
  for (std::size_t const n : {0u, 5u}) {
    std::vector<record> records(n);
    int failed = -1;
    asio::co_spawn(context, update_all(records), [&](std::exception_ptr error, int result) {
      BOOST_TEST(!error);
      failed = result;
    });
    run();
    BOOST_TEST(failed == 0);
    for (record const& each : records) BOOST_TEST(each.value == 1);
  }
}

BOOST_AUTO_TEST_CASE(who_is_cancelled_leaves_none_of_them_behind) {
  endings seen;
  asio::cancellation_signal stop;
  auto const own_records = []() -> asio::awaitable<void> {
    std::vector<record> records(3);
    for (record& each : records) each.steps = 9;
    co_await update_all(records);
  };
  asio::co_spawn(context, own_records, asio::bind_cancellation_slot(stop.slot(), seen.count()));
  for (int i = 0; i < 2; ++i)
    asio::post(context, [&] { stop.emit(asio::cancellation_type::terminal); });
  run();
  BOOST_TEST(seen.failed == 1);
}

BOOST_AUTO_TEST_CASE(a_cancelled_join_waits_for_those_who_cannot_be_cancelled) {
  async_group group(context);
  bool done = false;
  auto const stubborn = [&]() -> asio::awaitable<void> {
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    for (int i = 0; i < 20; ++i) co_await asio::post(use_awaitable);
    done = true;
  };
  asio::co_spawn(context, stubborn, group.track(asio::detached));
  asio::cancellation_signal stop;
  bool refused = false;
  auto const on_end = [&](std::exception_ptr error) { refused = error && done; };
  asio::co_spawn(context, join(group), asio::bind_cancellation_slot(stop.slot(), on_end));
  for (int i = 0; i < 3; ++i)
    asio::post(context, [&] { stop.emit(asio::cancellation_type::terminal); });
  run();
  BOOST_TEST(refused);
}

BOOST_AUTO_TEST_CASE(all_at_once_on_strands_and_two_threads) {
  for (int round = 0; round < 60; ++round) {
    endings seen;
    std::list<std::vector<record>> records;
    std::list<asio::cancellation_signal> stops;
    std::vector<asio::strand<asio::io_context::executor_type>> strands;
    for (int i = 0; i < 3; ++i) {
      strands.push_back(asio::make_strand(context));
      asio::co_spawn(strands.back(), update_all(records.emplace_back(5)),
                     asio::bind_cancellation_slot(stops.emplace_back().slot(), seen.count()));
      asio::post(strands.back(), [&stop = stops.back(), emits = i < round % 3] {
        if (emits) stop.emit(asio::cancellation_type::terminal);
      });
    }
    run_on_two_threads();
    BOOST_TEST(seen.all() == 3);
    for (auto const& some : records)
      for (record const& each : some) BOOST_TEST(each.value == 1);
  }
}

BOOST_AUTO_TEST_CASE(caches_accounts_and_purses_on_two_threads) {
  for (int round = 0; round < 60; ++round) {
    cache values(context.get_executor());
    page_cache pages(context.get_executor());
    account money(context.get_executor());
    purse a(context.get_executor()), b(context.get_executor());
    endings seen;
    fetched = 0;
    for (int i = 0; i < 6; ++i) {
      asio::co_spawn(context, values.get(), seen.count());
      asio::co_spawn(context, pages.get(std::string(static_cast<std::size_t>(i % 3), 'x')),
                     seen.count());
      asio::co_spawn(context, money.pay_in(1), seen.count());
      asio::co_spawn(context, move_coins(i % 2 ? a : b, i % 2 ? b : a, 3), seen.count());
      asio::co_spawn(context, coins_in_both(i % 2 ? a : b, i % 2 ? b : a), seen.count());
    }
    run_on_two_threads([&] {
      std::scoped_lock const both(b.mutex, a.mutex);  // a thread
      BOOST_TEST(a.coins + b.coins == 20);
    });
    BOOST_TEST((seen.well == 28 && seen.failed == 2));  // no page has an empty name
    BOOST_TEST(fetched == 4);
    BOOST_TEST((values.fetched() == 1 && money.balance() == 6 && a.coins == 10));
  }
}

BOOST_AUTO_TEST_CASE(a_bounded_queue_on_two_threads_loses_nothing_to_a_cancellation) {
  for (int round = 0; round < 60; ++round) {
    bounded_queue queue(context.get_executor(), 2);
    endings cancelled, closed, pushed;
    std::atomic<int> popped = 0;
    auto const pop_all = [&]() -> asio::awaitable<void> {
      for (;; ++popped) co_await queue.pop();
    };
    auto const strand = asio::make_strand(context);
    asio::cancellation_signal stop;
    asio::co_spawn(strand, pop_all, asio::bind_cancellation_slot(stop.slot(), cancelled.count()));
    asio::co_spawn(context, pop_all, closed.count());
    for (int i = 0; i < 2; ++i) asio::co_spawn(context, push_numbers(queue, 20), pushed.count());
    auto const close_at_the_end = [&]() -> asio::awaitable<void> {
      while (popped < 40) co_await asio::post(use_awaitable);
      queue.close();
    };
    asio::co_spawn(context, close_at_the_end, pushed.count());
    asio::post(strand, [&] { stop.emit(asio::cancellation_type::terminal); });
    run_on_two_threads();
    BOOST_TEST((pushed.well == 3 && cancelled.failed == 1 && closed.failed == 1));
    BOOST_TEST(popped == 40);
  }
}

BOOST_AUTO_TEST_CASE(frames_on_two_threads_stay_whole) {
  for (int round = 0; round < 30; ++round) {
    async_mutex writing(context);
    asio::readable_pipe from(context);
    asio::writable_pipe to(context);
    asio::connect_pipe(from, to);
    endings seen;
    std::atomic<std::size_t> written = 0;
    auto const on_written = [&](error_code error, std::size_t size) {
      if (!error) written += size;
      ++(error ? seen.failed : seen.well);
    };
    for (int i = 0; i < 8; ++i) {
      asio::any_io_executor executor = context.get_executor();
      if (i % 2) executor = asio::make_strand(context);
      async_write_frame(writing, to, "12345678", asio::bind_executor(executor, on_written));
    }
    run_on_two_threads([&] {
      if (round % 3 == 1) writing.cancel();
      if (round % 3 == 2) writing.close();
    });
    std::array<char, 128> read = {};
    if (written) BOOST_TEST(from.read_some(asio::buffer(read)) == written);
    BOOST_TEST(seen.all() == 8);
    std::string const frame = "12345678";
    for (std::size_t i = 0; i < written; ++i) BOOST_TEST(read[i] == frame[i % frame.size()]);
  }
}

#if !defined(ASIO_SYNC_TEST_HEADERS_ONLY)
BOOST_AUTO_TEST_CASE(stackful_coroutines_on_strands_and_two_threads) {
  for (int round = 0; round < 20; ++round) {
    record own;
    endings seen;
    async_mutex shared(context);
    for (int i = 0; i < 4; ++i) {
      asio::spawn(
          asio::make_strand(context),
          [&](asio::yield_context yield) { update_twice(shared, own, yield); }, seen.count());
    }
    run_on_two_threads([&] {
      if (round % 2) shared.close();
    });
    BOOST_TEST(seen.all() == 4);
    if (seen.well == 4 && round % 2 == 0) BOOST_TEST(own.value == 8);
  }
}
#endif

BOOST_AUTO_TEST_CASE(whatever_step_is_the_last_the_context_can_be_destroyed) {
  for (int steps = 0; steps < 60; steps += 4) {
    auto own = std::make_unique<asio::io_context>();
    auto const executor = own->get_executor();
    async_mutex shared(executor);
    async_manual_reset_event stop(executor);
    cache values(executor);
    page_cache pages(executor);
    bounded_queue queue(executor, 1);
    std::vector<record> records(3);
    purse a(executor), b(executor);
    endings seen;
    for (int i = 0; i < 3; ++i) {
      asio::co_spawn(executor, update_within(1h, shared, data), seen.count());
      asio::co_spawn(executor, values.get(), seen.count());
      asio::co_spawn(executor, pages.get("name"), seen.count());
      asio::co_spawn(executor, push_numbers(queue, 5), seen.count());
      asio::co_spawn(executor, update_all(records), seen.count());
      asio::co_spawn(executor, move_coins(a, b, 1), seen.count());
    }
    for (int i = 0; i < steps; ++i) own->poll_one();
    own.reset();
    BOOST_TEST(!shared.is_locked());
  }
}

BOOST_AUTO_TEST_CASE(members_and_globals) {
  cache values(context.get_executor());
  for (int i = 0; i < 3; ++i) {
    asio::co_spawn(context, values.get(), [](std::exception_ptr error, int value) {
      BOOST_TEST((!error && value == 42));
    });
  }
  run();
  BOOST_TEST(values.fetched() == 1);

  static async_mutex global{asio::system_executor()};
  BOOST_TEST(global.async_lock(asio::use_future).get().owns_lock());
}

BOOST_AUTO_TEST_CASE(a_handler_without_an_executor_runs_on_that_of_the_mutex) {
  asio::io_context other;
  async_mutex::lock_type const held(mutex);
  auto const strand = asio::make_strand(other);
  bool on_own = false, on_strand = false;
  mutex.async_lock(
      [&](error_code, auto) { on_own = context.get_executor().running_in_this_thread(); });
  mutex.async_lock(asio::bind_executor(
      strand, [&](error_code, auto) { on_strand = strand.running_in_this_thread(); }));
  mutex.cancel();
  run();
  BOOST_TEST((on_own && !on_strand));
  other.run();
  BOOST_TEST(on_strand);
}

BOOST_AUTO_TEST_CASE(spawned_on_its_own_context_it_runs_on_at_once) {
  std::string trace, patient;
  asio::co_spawn(context, parent(mutex, trace), ended_well);
  run();
  BOOST_TEST(trace == "before child after ");
  asio::co_spawn(context, patient_parent(mutex, patient), ended_well);
  run();
  BOOST_TEST(patient == "after child ");
}

BOOST_AUTO_TEST_CASE(R7_a_cache_is_filled_once_per_key) {
  page_cache cache(context.get_executor());
  std::string all;
  int failed = 0;
  fetched = 0;
  for (char const* name : {"a", "b", "a", "", "a", ""})
    asio::co_spawn(context, cache.get(name), [&](std::exception_ptr error, std::string text) {
      if (error) ++failed;
      all += text;
    });
  context.run();
  BOOST_TEST(fetched == 4);
  BOOST_TEST(failed == 2);
  BOOST_TEST(all.size() == 4 * std::string("page of a").size());
}

BOOST_AUTO_TEST_SUITE_END()
