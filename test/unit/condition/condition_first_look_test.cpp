// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Predicates that end the condition, the mutex, or both, when they are called for the first time.

#include "support/coroutine.hpp"
#include "support/test.hpp"

#include <asio_sync/async_condition.hpp>
#include <asio_sync/async_monitor.hpp>
#include <asio_sync/async_mutex.hpp>

namespace condition_first_look_test {

using namespace asio_sync::test;
using lock_type = async_mutex::lock_type;

// What the predicate does to those that it is called for, and then.
enum class ends { nothing, condition, mutex, both, closes };
enum class then { is_true, is_false, throws };
enum class time { none, long_, zero };

struct failure {};

// How a wait ended, and what its lock said then.
struct outcome {
  error_code error;
  bool failed = false;  // with the predicate's exception
  bool owns = false;
  bool has_mutex = false;

  friend bool operator==(outcome const&, outcome const&) = default;
  friend std::ostream& operator<<(std::ostream& out, outcome const& o) {
    return out << o.error << " failed=" << o.failed << " owns=" << o.owns
               << " mutex=" << o.has_mutex;
  }
};

// What a server owns for a connection.
struct session {
  explicit session(asio::io_context& context) : mutex(context), condition(context) {}

  std::optional<async_mutex> mutex;
  std::optional<async_condition> condition;
};

// What is tried, over a lock of a type, and with a limit.
template <class Lock, time Limit>
struct trial {
  ends what;
  then afterwards;
  asio::io_context context{};
  session of{context};

  auto predicate() {
    return [this] {
      if (what == ends::closes) of.condition->close();
      if (what == ends::condition || what == ends::both) of.condition.reset();
      if (what == ends::mutex || what == ends::both) of.mutex.reset();
      if (afterwards == then::throws) throw failure();
      return afterwards == then::is_true;
    };
  }

  Lock locked() { return Lock(*of.mutex); }

  template <class Token>
  auto begin(Lock& lock, Token&& token) {
    if constexpr (Limit == time::none)
      return of.condition->async_wait(lock, predicate(), std::forward<Token>(token));
    else
      return of.condition->async_wait_for(lock, Limit == time::zero ? 0h : 1h, predicate(),
                                          std::forward<Token>(token));
  }

  // As a handler has it.
  outcome with_handler() {
    outcome result;
    Lock lock = locked();
    begin(lock, [&](error_code e) {
      result = {e, false, lock.owns_lock(), lock.mutex() != nullptr};
    });
    try {
      context.run();
    } catch (failure const&) {
      result.failed = true;
    }
    return result;
  }

  // As a coroutine has it; `await`: a coroutine that awaits what begin() returns.
  template <class Await>
  outcome in_coroutine(Await await) {
    outcome result;
    run(context, [&]() -> asio::awaitable<void> {
      Lock lock = locked();
      try {
        result.error = co_await await(*this, lock);
      } catch (boost::system::system_error const& e) {
        result.error = e.code();
      } catch (failure const&) {
        result.failed = true;
      }
      result.owns = lock.owns_lock();
      result.has_mutex = lock.mutex() != nullptr;
    });
    return result;
  }

  // What a coroutine may pass.
  static asio::awaitable<error_code> deferred(trial& t, Lock& lock) {
    co_await t.begin(lock, asio::deferred);
    co_return error_code();
  }
  static asio::awaitable<error_code> awaitable(trial& t, Lock& lock) {
    co_await t.begin(lock, asio::use_awaitable);
    co_return error_code();
  }
  static asio::awaitable<error_code> tuple_of_deferred(trial& t, Lock& lock) {
    co_return std::get<0>(co_await t.begin(lock, asio::as_tuple(asio::deferred)));
  }
  static asio::awaitable<error_code> tuple_of_awaitable(trial& t, Lock& lock) {
    co_return std::get<0>(co_await t.begin(lock, asio::as_tuple(asio::use_awaitable)));
  }
  static asio::awaitable<error_code> redirected_deferred(trial& t, Lock& lock) {
    error_code error;
    co_await t.begin(lock, asio::redirect_error(asio::deferred, error));
    co_return error;
  }
  static asio::awaitable<error_code> redirected_awaitable(trial& t, Lock& lock) {
    error_code error;
    co_await t.begin(lock, asio::redirect_error(asio::use_awaitable, error));
    co_return error;
  }

  // A coroutine has what a handler has; and its lock, where the predicate throws.
  static void compare(ends what, then result) {
    if (what == ends::nothing && result == then::is_false && Limit != time::zero) return;
    outcome expected = trial{what, result}.with_handler();
    if (result == then::throws)
      expected = {error_code(), true, what != ends::mutex && what != ends::both,
                  what != ends::mutex && what != ends::both};
    BOOST_TEST_CONTEXT("ends " << int(what) << " then " << int(result) << " time " << int(Limit))
    for (auto const& await : {deferred, awaitable, tuple_of_deferred, tuple_of_awaitable,
                              redirected_deferred, redirected_awaitable})
      BOOST_TEST((trial{what, result}.in_coroutine(await)) == expected);
  }

  static void compare_all() {
    for (ends const what : {ends::nothing, ends::condition, ends::mutex, ends::both, ends::closes})
      for (then const result : {then::is_true, then::is_false, then::throws})
        compare(what, result);
  }
};

}  // namespace condition_first_look_test

BOOST_AUTO_TEST_SUITE(condition_first_look_test)

BOOST_AUTO_TEST_CASE(C4_the_first_look_of_a_coroutine_ends_what_the_predicate_ends) {
  trial<lock_type, time::none>::compare_all();
  trial<lock_type, time::long_>::compare_all();
  trial<lock_type, time::zero>::compare_all();
}

BOOST_AUTO_TEST_CASE(C4_the_first_look_with_a_standard_lock_ends_what_the_predicate_ends) {
  trial<std::unique_lock<async_mutex>, time::none>::compare_all();
  trial<std::unique_lock<async_mutex>, time::long_>::compare_all();
  trial<std::unique_lock<async_mutex>, time::zero>::compare_all();
}

BOOST_AUTO_TEST_CASE(C4_a_false_predicate_has_destroyed_what_it_was_called_for) {
  using tried = trial<lock_type, time::none>;
  outcome const without_mutex{aborted, false, false, true}, with_nothing{aborted};
  for (auto const& await : {tried::deferred, tried::awaitable}) {
    BOOST_TEST((tried{ends::condition, then::is_false}.in_coroutine(await)) == without_mutex);
    BOOST_TEST((tried{ends::mutex, then::is_false}.in_coroutine(await)) == with_nothing);
    BOOST_TEST((tried{ends::both, then::is_false}.in_coroutine(await)) == with_nothing);
  }
}

BOOST_AUTO_TEST_CASE(C4_a_false_predicate_has_destroyed_the_session_of_a_coroutine) {
  asio::io_context context;
  auto s = std::make_unique<session>(context);
  run(context, [&]() -> asio::awaitable<void> {
    lock_type lock(*s->mutex);
    auto const ends_it = [&] { return s.reset(), false; };
    auto const [error] =
        co_await s->condition->async_wait(lock, ends_it, asio::as_tuple(asio::deferred));
    BOOST_TEST((error == aborted && !lock.owns_lock() && !lock.mutex()));
  });
}

BOOST_AUTO_TEST_CASE(C4_the_lock_that_is_carried_comes_back_from_the_first_look) {
  for (ends const what : {ends::condition, ends::mutex, ends::both})
    for (bool const found : {false, true}) {
      using tried = trial<lock_type, time::none>;
      tried t{what, found ? then::is_true : then::is_false};
      run(t.context, [&]() -> asio::awaitable<void> {
        auto [error, lock] = co_await t.of.condition->async_wait(
            t.locked(), t.predicate(), asio::as_tuple(asio::use_awaitable));
        bool const succeeds = found && what == ends::condition;
        BOOST_TEST(error == (succeeds ? error_code() : aborted));
        BOOST_TEST(lock.owns_lock() == succeeds);
        BOOST_TEST((lock.mutex() != nullptr) == (what == ends::condition));
      });
    }
}

BOOST_AUTO_TEST_CASE(C4_a_handlers_predicate_has_destroyed_the_mutex) {
  trial<lock_type, time::none> t{ends::mutex, then::is_false};
  outcome const with_nothing{aborted};
  BOOST_TEST(t.with_handler() == with_nothing);
  BOOST_TEST(t.of.condition->waiters() == 0u);
}

BOOST_AUTO_TEST_CASE(C4_a_thread_looks_for_what_its_predicate_destroys) {
  auto const outcome_of = [](auto t, bool timed) {
    outcome result;
    auto lock = t.locked();
    try {
      bool const found = timed ? t.of.condition->wait_for(lock, 1h, t.predicate())
                               : (t.of.condition->wait(lock, t.predicate()), true);
      BOOST_TEST(found);
    } catch (boost::system::system_error const& e) {
      result.error = e.code();
    } catch (failure const&) {
      result.failed = true;
    }
    result.owns = lock.owns_lock();
    result.has_mutex = lock.mutex() != nullptr;
    return result;
  };
  auto const compare = [&]<class Lock>(std::type_identity<Lock>) {
    for (ends const what : {ends::condition, ends::mutex, ends::both, ends::closes})
      for (then const result : {then::is_true, then::is_false, then::throws})
        for (bool const timed : {false, true}) {
          bool const has_mutex = what != ends::mutex && what != ends::both;
          bool const owns = has_mutex && result != then::is_false;
          outcome expected{what == ends::closes ? closed : aborted, false, owns, has_mutex};
          if (owns) expected.error = {};
          if (result == then::throws) expected = {{}, true, owns, has_mutex};
          using tried = trial<Lock, time::none>;
          BOOST_TEST(outcome_of(tried{what, result}, timed) == expected);
        }
  };
  compare(std::type_identity<lock_type>());
  compare(std::type_identity<std::unique_lock<async_mutex>>());
}

BOOST_AUTO_TEST_CASE(C4_a_thread_looks_for_the_last_time_for_what_its_predicate_destroys) {
  for (ends const what : {ends::condition, ends::mutex, ends::closes}) {
    asio::io_context context;
    session s(context);
    lock_type lock(*s.mutex);
    int looks = 0;
    bool ended = false;
    auto const last_look = [&] {
      if (++looks < 2) return false;
      if (what == ends::condition) s.condition.reset();
      if (what == ends::mutex) s.mutex.reset();
      if (what == ends::closes) s.condition->close();
      return false;
    };
    try {
      ended = !s.condition->wait_for(lock, 1ms, last_look);
    } catch (boost::system::system_error const& e) {
      ended = what == ends::mutex && e.code() == aborted;
    }
    BOOST_TEST((ended && looks == 2 && lock.owns_lock() == (what != ends::mutex)));
  }
}

BOOST_AUTO_TEST_CASE(R9_the_condition_dies_while_a_thread_that_was_notified_waits_for_the_mutex) {
  asio::io_context context;
  async_mutex mutex(context);
  auto condition = std::make_unique<async_condition>(context);
  std::atomic<bool> waits{false};
  error_code error;
  bool owned = true;
  std::thread thread([&] {
    std::unique_lock<async_mutex> lock(mutex);
    waits = true;
    try {
      condition->wait(lock, [] { return false; });
    } catch (boost::system::system_error const& e) {
      error = e.code();
    }
    owned = lock.owns_lock();
  });
  while (!waits) std::this_thread::yield();
  {
    std::lock_guard const guard(mutex);  // so the thread waits at the condition
    condition->notify_one();
    condition.reset();
  }
  thread.join();
  BOOST_TEST((error == aborted && !owned));
}

BOOST_AUTO_TEST_CASE(C4_a_false_predicate_has_destroyed_the_monitor_or_its_condition) {
  using monitor_type = async_monitor<int>;
  for (bool const keeps_monitor : {true, false})
    for (bool const found : {false, true}) {
      asio::io_context context;
      auto monitor = std::make_unique<monitor_type>(context, 7);
      auto condition = std::make_unique<monitor_type::condition>(*monitor);
      run(context, [&]() -> asio::awaitable<void> {
        auto entry = co_await monitor->async_enter(asio::use_awaitable);
        auto const ends_it = [&](int const& object) {
          condition.reset();
          if (!keeps_monitor) monitor.reset();
          BOOST_TEST(object == 7);
          return found;
        };
        auto const [error] =
            co_await condition->async_wait(entry, ends_it, asio::as_tuple(asio::deferred));
        bool const succeeds = found && keeps_monitor;
        BOOST_TEST(error == (succeeds ? error_code() : aborted));
        BOOST_TEST(entry.owns() == succeeds);
      });
      if (monitor) BOOST_TEST(monitor->try_enter().owns());
    }
}

BOOST_AUTO_TEST_SUITE_END()
