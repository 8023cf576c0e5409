// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// An executor that touches itself after it has run what it was given, which may free the block of
// a wait, and what the executor is a part of: for handlers, and under primitives.

#include "support/test.hpp"

#include <asio_sync.hpp>

namespace touching_executor_test {

using namespace asio_sync::test;

struct uses {
  int executed = 0;
  int of_the_dead = 0;
};

// Runs at once what it is given. Has no property but those that it cannot do without, so that
// asking it for another gives back a reference to itself.
class touching_executor {
 public:
  touching_executor(asio::execution_context& context, uses& u) noexcept
      : context_(&context), uses_(&u) {}
  touching_executor(touching_executor const& other) noexcept = default;
  touching_executor& operator=(touching_executor const&) noexcept = default;
  ~touching_executor() { alive_ = false; }

  asio::execution_context& query(asio::execution::context_t) const noexcept { return *context_; }
  static constexpr asio::execution::blocking_t query(asio::execution::blocking_t) noexcept {
    return asio::execution::blocking.never;
  }

  template <class Function>
  void execute(Function&& f) const {
    uses& counted = *uses_;
    ++counted.executed;
    {
      std::decay_t<Function> own(std::forward<Function>(f));
      std::move(own)();
    }
    if (!alive_) ++counted.of_the_dead;
  }

  friend bool operator==(touching_executor const& a, touching_executor const& b) noexcept {
    return a.context_ == b.context_ && a.uses_ == b.uses_;
  }
  friend bool operator!=(touching_executor const& a, touching_executor const& b) noexcept {
    return !(a == b);
  }

 private:
  asio::execution_context* context_;
  uses* uses_;
  bool volatile alive_ = true;  // written, too, where nobody is to look any more
};

using executor = touching_executor;
using any = asio::any_io_executor;

// The same for a handler, and under a primitive: `own` is the executor of the handlers, `home`
// that of the primitives.
struct fixture {
  asio::io_context context;
  uses log;
  executor const ex{context, log};
  int ended = 0;

  void settle() {
    context.restart();
    context.poll();
  }

  // A handler on the executor, or on that of its primitive.
  auto bound() {
    return asio::bind_executor(ex, [this](auto const&...) { ++ended; });
  }
  auto plain() {
    return [this](auto const&...) { ++ended; };
  }

  // Of f(executor of the primitive, how to make a handler): what is counted for it.
  template <class Function>
  void both(char const* what, int expected, Function f) {
    BOOST_TEST_CONTEXT(what) {
      for (bool const under : {false, true}) {
        log = {};
        ended = 0;
        if (under)
          f(ex, [this] { return plain(); });
        else
          f(any(context.get_executor()), [this] { return bound(); });
        settle();
        BOOST_TEST_CONTEXT((under ? "under the primitive" : "of the handler")) {
          BOOST_TEST(ended == expected);
          BOOST_TEST(log.executed >= 1);
          BOOST_TEST(log.of_the_dead == 0);
        }
      }
    }
  }
};

auto const never = [](auto const&...) { return false; };

}  // namespace touching_executor_test

BOOST_FIXTURE_TEST_SUITE(touching_executor_test, fixture)

BOOST_AUTO_TEST_CASE(R9_an_executor_touches_itself_after_the_end_of_the_wait) {
  both("condition", 8, [&]<class E>(E const& home, auto handler) {
    basic_async_mutex<E> mutex(home);
    auto condition = std::make_unique<basic_async_condition<E>>(home);
    using lock_type = typename basic_async_mutex<E>::lock_type;
    bool ready = false;
    auto const is_ready = [&] { return ready; };
    for (int round = 0; round < 2; ++round) {
      condition->async_wait(lock_type(mutex), handler());
      condition->async_wait_for(lock_type(mutex), 1h, handler());
      settle();
      condition->async_wait(lock_type(mutex), is_ready, handler());
      settle();
      condition->async_wait_for(lock_type(mutex), 1h, is_ready, handler());
      settle();
      condition->notify_all();
      settle();
      ready = true;
      round == 0 ? condition->notify_all() : condition.reset();
      settle();
      ready = false;
    }
  });
}

BOOST_AUTO_TEST_CASE(R9_such_an_executor_with_locks) {
  both("mutex", 4, [&]<class E>(E const& home, auto handler) {
    basic_async_mutex<E> mutex(home);
    mutex.async_lock(handler());
    settle();
    typename basic_async_mutex<E>::lock_type lock(mutex);
    mutex.async_lock(handler());
    mutex.async_lock_for(1h, handler());
    mutex.async_lock_for(1h, handler());
    lock.unlock();
    settle();
    mutex.cancel();
  });
  both("shared_mutex", 3, [&]<class E>(E const& home, auto handler) {
    basic_async_shared_mutex<E> mutex(home);
    typename basic_async_shared_mutex<E>::shared_lock_type lock(mutex);
    mutex.async_upgrade(std::move(lock), handler());
    settle();
    mutex.lock();
    mutex.async_lock_shared(handler());
    mutex.async_lock_for(1h, handler());
    mutex.unlock();
  });
  both("semaphore", 2, [&]<class E>(E const& home, auto handler) {
    basic_async_semaphore<E> semaphore(home, 0);
    semaphore.async_acquire(2, handler());
    semaphore.async_acquire_for(1h, handler());
    semaphore.release(3);
  });
  both("keyed_mutex", 2, [&]<class E>(E const& home, auto handler) {
    basic_async_keyed_mutex<int, E> mutex(home);
    auto lock = mutex.try_lock(1);
    mutex.async_lock(1, handler());
    mutex.async_lock_for(1, 1h, handler());
    lock.unlock();
  });
  both("lock_all", 2, [&]<class E>(E const& home, auto handler) {
    basic_async_mutex<E> one(home), two(home);
    two.lock();
    async_lock_all(std::tie(one, two), handler());
    async_lock_all_for(std::tie(one, two), 1h, handler());
    two.unlock();
    settle();
  });
  both("guarded", 2, [&]<class E>(E const& home, auto handler) {
    basic_async_mutex<E> mutex(home);
    basic_async_manual_reset_event<E> event(home);
    mutex.lock();
    async_guarded(mutex, event.async_wait(asio::deferred), handler());
    async_guarded(mutex, event.async_wait(asio::deferred), handler());
    mutex.unlock();
    settle();
    event.set();
    settle();
  });
}

BOOST_AUTO_TEST_CASE(R9_such_an_executor_with_signals) {
  both("events", 4, [&]<class E>(E const& home, auto handler) {
    basic_async_manual_reset_event<E> manual(home);
    basic_async_auto_reset_event<E> automatic(home);
    manual.async_wait(handler());
    manual.async_wait_for(1h, handler());
    automatic.async_wait(handler());
    automatic.async_wait_for(1h, handler());
    manual.set();
    automatic.set();
    automatic.set();
  });
  both("latch and barrier", 4, [&]<class E>(E const& home, auto handler) {
    basic_async_latch<E> latch(home, 2);
    basic_async_barrier<E> barrier(home, 2);
    latch.async_wait(handler());
    latch.count_down();
    latch.async_arrive_and_wait(handler());
    barrier.async_arrive_and_wait(handler());
    barrier.async_arrive_and_wait_for(1h, handler());
  });
  both("mailbox", 3, [&]<class E>(E const& home, auto handler) {
    basic_async_mailbox<E> mailbox(home);
    mailbox.async_wait_any(1, handler());
    mailbox.async_take_all(3, handler());
    mailbox.async_take_any_for(4, 1h, handler());
    mailbox.raise(7);
  });
  both("group", 2, [&]<class E>(E const& home, auto handler) {
    basic_async_group<E> group(home);
    basic_async_manual_reset_event<E> event(home);
    event.async_wait(group.track(handler()));
    group.async_join(handler());
    group.cancel_pending();
    settle();
    event.set();
  });
}

BOOST_AUTO_TEST_CASE(R9_such_an_executor_with_an_enumerator) {
  both("enumerator", 1, [&]<class E>(E const& home, auto handler) {
    basic_async_enumerator<E> enumerator(home);
    basic_async_manual_reset_event<E> event(home);
    auto const steps = [&]() -> async_steps {
      event.async_wait(enumerator.callback());
      co_yield 1;
      asio::post(context, enumerator.callback());
      co_yield 1;
    };
    enumerator.async_run(steps(), handler());
    settle();
    event.set();
    settle();
  });
}

BOOST_AUTO_TEST_CASE(R9_such_an_executor_with_a_monitor) {
  both("monitor", 10, [&]<class E>(E const& home, auto handler) {
    basic_async_monitor<int, E> monitor(home);
    typename basic_async_monitor<int, E>::condition condition(monitor);
    auto const is_one = [](int const& n) { return n == 1; };
    auto const increments = [](int& n) { ++n; };
    auto const awaits = [](int& n) -> asio::awaitable<void> { co_return static_cast<void>(++n); };
    auto inside = monitor.try_enter();
    monitor.async_enter(handler());
    monitor.async_enter_when(is_one, handler());
    monitor.async_enter_when_for(is_one, 1h, handler());
    monitor.async_invoke_when(
        is_one, [](int&) {}, handler());
    monitor.async_invoke_for([](int&) {}, 1h, handler());
    inside.leave();
    settle();
    monitor.async_invoke(increments, handler());
    settle();
    monitor.async_invoke(awaits, handler());
    settle();
    typename basic_async_monitor<int, E>::entry waits = monitor.try_enter(), again;
    BOOST_TEST(waits.owns());
    condition.async_wait(waits, handler());
    settle();
    condition.notify_one();
    settle();
    if (waits.owns()) waits.leave();
    again = monitor.try_enter();
    BOOST_TEST(again.owns());
    condition.async_wait_for(again, 1h, is_one, handler());
    settle();
    condition.cancel();
    settle();
    if (again.owns()) again.leave();
    monitor.async_enter_when(never, handler());
    settle();
    monitor.close();
    settle();
  });
}

BOOST_AUTO_TEST_SUITE_END()
