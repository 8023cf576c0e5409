// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Monitors over executors of a user's own type, whose every function is user code.

#include "support/test.hpp"
#include "unit/monitor/fixture.hpp"

#include <asio_sync/async_monitor.hpp>
#include <asio_sync/async_mutex.hpp>

namespace monitor_executors_test {

using namespace asio_sync::test;

// What the executors below do besides, in each of their functions; on a thread of its own, so that
// a lock held by the caller is noticed.
class question {
 public:
  explicit question(std::function<void()> f) : function_(std::move(f)) { asked = this; }
  question(question const&) = delete;
  question& operator=(question const&) = delete;
  ~question() {
    asked = nullptr;
    for (auto& thread : threads_) thread.join();
  }

  static void ask() {
    if (question* const self = std::exchange(asked, nullptr)) {
      self->put();
      asked = self;
    }
  }

  int times = 0;
  bool is_kept_waiting = false;

 private:
  void put() {
    if (is_kept_waiting) return;
    ++times;
    bool answered = false;
    auto& thread = threads_.emplace_back([&] {
      function_();
      std::lock_guard const guard(lock_);
      answered = true;
      changed_.notify_one();
    });
    std::unique_lock guard(lock_);
    is_kept_waiting = !changed_.wait_for(guard, 5s, [&] { return answered; });
    if (is_kept_waiting) return;
    guard.unlock();
    thread.join();
    threads_.pop_back();
  }

  static inline thread_local question* asked = nullptr;
  std::function<void()> function_;
  std::list<std::thread> threads_;
  std::mutex lock_;
  std::condition_variable changed_;
};

// Posts to a context, and asks. Context: how much its type tells.
template <class Context>
class asking_executor {
 public:
  explicit asking_executor(asio::io_context& io) noexcept : io_(&io) {}
  asking_executor(asking_executor const& other) noexcept : io_(other.io_) { question::ask(); }
  asking_executor(asking_executor&& other) noexcept : io_(other.io_) { question::ask(); }
  asking_executor& operator=(asking_executor const&) noexcept = default;
  ~asking_executor() { question::ask(); }

  Context& query(asio::execution::context_t) const noexcept { return question::ask(), *io_; }
  static constexpr asio::execution::blocking_t query(asio::execution::blocking_t) noexcept {
    return asio::execution::blocking.never;
  }
  template <class Function>
  void execute(Function&& f) const {
    question::ask();
    asio::post(*io_, std::forward<Function>(f));
  }
  friend bool operator==(asking_executor const& a, asking_executor const& b) noexcept {
    return a.io_ == b.io_;
  }
  friend bool operator!=(asking_executor const& a, asking_executor const& b) noexcept {
    return !(a == b);
  }

 private:
  asio::io_context* io_;
};

struct waits_for_long {
  asio::awaitable<void> operator()(account&) const {
    asio::steady_timer hour(co_await asio::this_coro::executor, 1h);
    co_await hour.async_wait(asio::use_awaitable);
  }
};

// All that a monitor and its condition do, one after the other.
template <class Context>
struct everything {
  using executor = asking_executor<Context>;
  using monitor_type = asio_sync::basic_async_monitor<account, executor>;
  using entry = typename monitor_type::entry;

  explicit everything(bool ends_context) {
    question asks([this] {
      static_cast<void>(monitor->waiters());
      static_cast<void>(monitor->is_closed());
      if (changed) static_cast<void>(changed->waiters());
    });
    enter();
    invoke();
    wait();
    if (ends_context) {
      monitor->async_enter_when(at_least(9), asio::bind_executor(other, count()));
      context.reset();
    }
    changed.reset();
    BOOST_TEST(!asks.is_kept_waiting);
    BOOST_TEST(asks.times > 20);
  }

  void poll() {
    for (int i = 0; i != 10; ++i) {
      for (auto* const io : {&*context, &other}) {
        io->restart();
        io->poll();
      }
    }
  }

  auto count() {
    return [this](auto const&...) { ++completed; };
  }

  void enter() {
    { auto const copy = monitor->get_executor(); }
    monitor->async_enter(count());
    monitor->async_enter_when(at_least(0), count());
    monitor->async_enter_when(at_least(0), asio::bind_executor(other, count()));
    asio::cancellation_signal stop;
    monitor->async_enter_when(at_least(1), asio::bind_cancellation_slot(stop.slot(), count()));
    monitor->async_enter_when_for(at_least(1), 0s, count());
    poll();
    stop.emit(asio::cancellation_type::terminal);
    poll();
    BOOST_TEST(completed == 5);
  }

  void invoke() {
    monitor->async_invoke([](account&) {}, count());
    asio::cancellation_signal stop;
    monitor->async_invoke(waits_for_long(), asio::bind_cancellation_slot(stop.slot(), count()));
    poll();
    stop.emit(asio::cancellation_type::terminal);
    poll();
    asio::co_spawn(
        monitor->get_executor(),
        [this]() -> asio::awaitable<void> {
          { entry const inside = co_await monitor->async_enter_when(at_least(0)); }
          co_await monitor->async_invoke([](account&) {});
          co_await monitor->async_invoke([](account&) -> asio::awaitable<void> { co_return; });
          ++completed;
        },
        asio::detached);
    poll();
    BOOST_TEST(completed == 8);
  }

  void wait() {
    changed.emplace(*monitor);
    entry inside = monitor->try_enter();
    changed->async_wait(inside, count());
    changed->notify_one();
    poll();
    changed->async_wait_for(inside, 0s, at_least(1), count());
    poll();
    changed->async_wait(inside, at_least(1), count());
    poll();
    changed->cancel();
    poll();
    BOOST_TEST(completed == 11);
  }

  std::optional<asio::io_context> context{std::in_place};
  asio::io_context other;
  std::optional<monitor_type> monitor{std::in_place, executor(*context)};
  std::optional<typename monitor_type::condition> changed;
  int completed = 0;
};

// Without the property `outstanding_work`; runs inline, and uses itself afterwards.
class touching_executor {
 public:
  explicit touching_executor(asio::io_context& io) noexcept : io_(&io) {}
  touching_executor(touching_executor const&) noexcept = default;
  touching_executor& operator=(touching_executor const&) noexcept = default;
  ~touching_executor() { lives_ = false; }

  static inline int used_when_dead = 0;

  asio::execution_context& query(asio::execution::context_t) const noexcept { return *io_; }
  static constexpr asio::execution::blocking_t query(asio::execution::blocking_t) noexcept {
    return asio::execution::blocking.never;
  }
  template <class Function>
  void execute(Function&& f) const {
    {
      std::decay_t<Function> own(std::forward<Function>(f));
      std::move(own)();
    }
    used_when_dead += !lives_;
  }
  friend bool operator==(touching_executor const& a, touching_executor const& b) noexcept {
    return a.io_ == b.io_;
  }
  friend bool operator!=(touching_executor const& a, touching_executor const& b) noexcept {
    return !(a == b);
  }

 private:
  asio::io_context* io_;
  bool volatile lives_ = true;
};

// Asks the service of a context that ends.
template <class Context>
void end_with_a_function_running() {
  using executor = asking_executor<Context>;
  for (bool const is_asked_for_strand : {true, false}) {
    asio::io_context context;
    std::optional<asio::io_context> other(std::in_place);
    asio_sync::basic_async_monitor<account, executor> monitor((executor(context)));
    bool called = false;
    auto owned = std::make_shared<int>(0);
    std::weak_ptr<int> const lives = owned;
    auto handler = [&called, owned = std::move(owned)](std::exception_ptr) { called = true; };
    if (is_asked_for_strand)
      monitor.async_invoke(waits_for_long(), asio::bind_executor(*other, std::move(handler)));
    else
      monitor.async_invoke(waits_for_long(),
                           asio::bind_executor(executor(*other), std::move(handler)));
    context.poll();
    {
      question asks([&] { asio_sync::async_mutex const probe(*other); });
      other.reset();
      BOOST_TEST(!asks.is_kept_waiting);
      BOOST_TEST(asks.times != 0);
    }
    context.restart();
    context.poll();
    BOOST_TEST((lives.expired() && !called));
    BOOST_TEST(monitor.try_enter().owns());
  }
}

}  // namespace monitor_executors_test

BOOST_AUTO_TEST_SUITE(monitor_executors_test)

BOOST_AUTO_TEST_CASE(R5_an_executor_is_used_under_no_lock) {
  for (bool const ends_context : {false, true}) {
    everything<asio::io_context> const known(ends_context);
    everything<asio::execution_context> const unknown(ends_context);
  }
}

BOOST_AUTO_TEST_CASE(R5_the_context_of_a_handler_ends_under_no_lock_while_its_function_runs) {
  end_with_a_function_running<asio::io_context>();
  end_with_a_function_running<asio::execution_context>();
}

BOOST_AUTO_TEST_CASE(R9_an_executor_outlives_what_it_runs) {
  asio::io_context context;
  touching_executor const own(context);
  using monitor_type = asio_sync::basic_async_monitor<account, touching_executor>;
  monitor_type monitor(own);
  monitor_type::condition changed(monitor);
  int completed = 0;
  auto const count = [&](auto const&...) { ++completed; };
  auto const do_all_with = [&](auto const& token) {
    monitor.async_enter(token());
    monitor.async_enter_when(at_least(0), token());
    monitor.async_invoke([](account&) {}, token());
    monitor.async_invoke([](account&) -> asio::awaitable<void> { co_return; }, token());
    monitor.async_invoke_when_for(
        at_least(1), [](account&) {}, 0s, token());
    auto inside = monitor.try_enter();
    changed.async_wait(inside, token());
    changed.notify_one();
    changed.async_wait(inside, at_least(0), token());
    changed.async_wait_for(inside, 0s, at_least(1), token());
    inside = {};
    context.restart();
    context.poll();
  };
  do_all_with([&] { return count; });
  do_all_with([&] { return asio::bind_executor(own, count); });
  do_all_with([&] { return asio::bind_executor(asio::make_strand(own), count); });
  BOOST_TEST(completed == 3 * 8);
  BOOST_TEST(touching_executor::used_when_dead == 0);
}

BOOST_AUTO_TEST_SUITE_END()
