// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Contexts that shut down before they have seen anything of the library, and in which order one
// destroys the handlers that wait.

#include "support/test.hpp"

#include <asio_sync/async_barrier.hpp>
#include <asio_sync/async_condition.hpp>
#include <asio_sync/async_lock_all.hpp>
#include <asio_sync/async_mutex.hpp>

namespace shutdown_test {

using namespace asio_sync::test;

// Calls a function when the last copy is destroyed.
class at_end {
 public:
  explicit at_end(std::function<void()> f)
      : end_(nullptr, [f = std::move(f)](void const*) { f(); }) {}

 private:
  std::shared_ptr<void const> end_;
};

// A context of the user's own: destroys what it was given and has not run when it shuts down.
// Told: as Asio has it, its destructor shuts it down.
template <bool Told>
class own_context : public asio::execution_context {
  struct queue : asio::execution_context::service {
    static inline asio::execution_context::id id;
    explicit queue(asio::execution_context& context) : service(context) {}
    void shutdown() noexcept override {
      while (auto const dropped = take()) continue;
    }
    void add(std::shared_ptr<void> function) {
      std::lock_guard const guard(lock);
      functions.push_back(std::move(function));
    }
    std::shared_ptr<void> take() {
      std::lock_guard const guard(lock);
      if (functions.empty()) return nullptr;
      auto last = std::move(functions.back());
      functions.pop_back();
      return last;
    }
    std::mutex lock;  // a wait whose time is up comes from the thread of a timer
    std::vector<std::shared_ptr<void>> functions;
  };

 public:
  own_context() { asio::use_service<queue>(*this); }
  own_context(own_context const&) = delete;
  own_context& operator=(own_context const&) = delete;
  ~own_context() {
    if (Told) shutdown();
  }

  class executor_type {
   public:
    explicit executor_type(own_context& context) noexcept : context_(&context) {}
    executor_type require(asio::execution::blocking_t::never_t) const noexcept { return *this; }
    asio::execution_context& query(asio::execution::context_t) const noexcept { return *context_; }
    static constexpr asio::execution::blocking_t query(asio::execution::blocking_t) noexcept {
      return asio::execution::blocking.never;
    }
    template <class Function>
    void execute(Function&& f) const {
      asio::use_service<queue>(*context_).add(
          std::make_shared<std::decay_t<Function>>(std::forward<Function>(f)));
    }
    friend bool operator==(executor_type const&, executor_type const&) noexcept = default;

   private:
    own_context* context_;
  };

  executor_type get_executor() noexcept { return executor_type(*this); }
};

// Has a context that has not seen the library destroy a function in its queue, which acts then.
template <class Context, class... Args>
void act_in_queue(std::function<void(Context&)> act, Args... args) {
  Context dying(args...);
  if constexpr (std::is_same_v<Context, asio::thread_pool>) dying.stop();
  asio::post(dying.get_executor(), [end = at_end([&] { act(dying); })] {});
}

// The same, of a function in a strand.
void act_in_strand(std::function<void(asio::io_context&)> act) {
  asio::io_context dying;
  asio::post(asio::make_strand(dying), [end = at_end([&] { act(dying); })] {});
}

// The same, of a handler that waits for a timer.
void act_in_timer(std::function<void(asio::io_context&)> act) {
  asio::io_context dying;
  auto const timer = std::make_shared<asio::steady_timer>(dying, 1h);
  timer->async_wait([timer, end = at_end([&] { act(dying); })](error_code) {});
}

struct fixture {
  asio::io_context home;
  async_mutex mutex{home};
  fate f[4];

  fixture() { BOOST_TEST_REQUIRE(mutex.try_lock()); }

  // What is never shut down destroys handlers when the context has.
  void check_all_dropped() {
    for (auto const& each : f) BOOST_TEST(each.dropped());
    BOOST_TEST(mutex.waiters() == 0u);
    mutex.unlock();
    BOOST_TEST(mutex.try_lock());
  }

  template <class Context>
  void wait_in_every_way(Context& context, bool timed_first) {
    auto const ex = context.get_executor();
    auto const timed = [&] {
      mutex.async_lock_for(1s, asio::bind_executor(ex, observed_handler(f[0])));
      mutex.async_lock_for(1h, asio::bind_executor(asio::make_strand(ex), observed_handler(f[1])));
    };
    if (timed_first) timed();
    mutex.async_lock(asio::bind_executor(ex, observed_handler(f[2])));
    mutex.async_lock(asio::bind_executor(asio::make_strand(ex), observed_handler(f[3])));
    if (!timed_first) timed();
  }

  auto wait_at_once(bool timed_first) {
    return [this, timed_first](auto& context) {
      wait_in_every_way(context, timed_first);
      for (auto const& each : f) BOOST_TEST(each.dropped());
    };
  }
};

// Destroys a context that has a grant in its queue, and handlers whose destructors wait for that.
template <class Context>
void wait_for_a_grant_in_the_queue(std::unique_ptr<Context> dying, bool in_strand,
                                   bool from_strand, bool at_home) {
  asio::io_context home;
  async_mutex mutex(at_home ? asio::any_io_executor(dying->get_executor()) : home.get_executor());
  int locked = 0;
  fate granted, waits[2];
  auto const lock = [&] {
    std::scoped_lock const here(mutex);
    ++locked;
  };
  auto const executor = [&](bool strand) -> asio::any_io_executor {
    if (strand) return asio::make_strand(*dying);
    return dying->get_executor();
  };
  BOOST_TEST_REQUIRE(mutex.try_lock());
  mutex.async_lock(asio::bind_executor(executor(in_strand), observed_handler(granted)));
  mutex.async_lock(asio::bind_executor(executor(from_strand), observed_handler(waits[0], lock)));
  mutex.async_lock_for(
      1h, asio::bind_executor(executor(from_strand), observed_handler(waits[1], lock)));
  mutex.unlock();
  dying.reset();
  BOOST_TEST(locked == 2);
  BOOST_TEST((granted.dropped() && waits[0].dropped() && waits[1].dropped()));
  BOOST_TEST(mutex.try_lock());
}

}  // namespace shutdown_test

BOOST_FIXTURE_TEST_SUITE(shutdown_test, fixture)

BOOST_AUTO_TEST_CASE(R10_first_waits_of_an_io_context_in_its_shutdown_timed_first) {
  act_in_queue<asio::io_context>(wait_at_once(true));
  check_all_dropped();
}

BOOST_AUTO_TEST_CASE(R10_first_waits_of_an_io_context_in_its_shutdown_timed_last) {
  act_in_queue<asio::io_context>(wait_at_once(false), 1);
  check_all_dropped();
}

BOOST_AUTO_TEST_CASE(R10_first_waits_of_a_thread_pool_in_its_shutdown) {
  act_in_queue<asio::thread_pool>(wait_at_once(true), 1);
  check_all_dropped();
}

BOOST_AUTO_TEST_CASE(R10_first_waits_of_a_context_while_its_timers_are_shut_down) {
  act_in_timer(wait_at_once(true));
  check_all_dropped();
}

// Nothing tells that these contexts shut down. Their waits end with them.
BOOST_AUTO_TEST_CASE(R10_first_waits_of_a_context_while_a_strand_is_shut_down) {
  act_in_strand([&](asio::io_context& dying) { wait_in_every_way(dying, true); });
  check_all_dropped();
}

BOOST_AUTO_TEST_CASE(R10_first_waits_of_a_context_of_the_users_own_in_its_shutdown) {
  act_in_queue<own_context<true>>([&](auto& dying) { wait_in_every_way(dying, true); });
  check_all_dropped();
}

BOOST_AUTO_TEST_CASE(R10_first_waits_of_a_context_of_the_users_own_that_its_base_shuts_down) {
  act_in_queue<own_context<false>>([&](auto& dying) {
    auto const ex = dying.get_executor();
    mutex.async_lock_for(0ms, asio::bind_executor(ex, observed_handler(f[0])));
    mutex.async_lock_for(1ms, asio::bind_executor(ex, observed_handler(f[1])));
    mutex.async_lock_for(1h, asio::bind_executor(ex, observed_handler(f[2])));
    mutex.async_lock(asio::bind_executor(ex, observed_handler(f[3])));
  });
  check_all_dropped();
}

// What has several waits, or an arrival, or a lock with it.
BOOST_AUTO_TEST_CASE(R10_first_waits_of_other_kinds_begin_in_a_shutdown) {
  async_mutex second(home), free(home);
  asio_sync::async_barrier barrier(home, 2);
  asio_sync::async_condition condition(home);
  async_mutex::lock_type lock(free, std::try_to_lock);
  act_in_queue<asio::io_context>([&](asio::io_context& dying) {
    auto all = std::make_shared<observed_handler>(f[0]);
    asio_sync::async_lock_all_for(
        std::tie(second, mutex), 1h,
        asio::bind_executor(dying, [all = std::move(all)](error_code, auto) {}));
    barrier.async_arrive_and_wait_for(1h, asio::bind_executor(dying, observed_handler(f[1])));
    condition.async_wait_for(lock, 1h, asio::bind_executor(dying, observed_handler(f[2])));
    mutex.async_lock_for(1h, asio::bind_executor(dying, observed_handler(f[3])));
    for (auto const& each : f) BOOST_TEST(each.dropped());
  });
  BOOST_TEST(lock.owns_lock());
  BOOST_TEST((second.try_lock() && condition.waiters() == 0u && barrier.waiters() == 0u));
  check_all_dropped();
}

// Allowed at the same time: what lets only waits of others go.
BOOST_AUTO_TEST_CASE(R10_a_context_dies_while_another_thread_serves_waits_of_others) {
  for (int round = 0; round != 50; ++round) {
    asio::io_context others;
    std::optional<asio::io_context> dying(std::in_place);
    async_mutex contended(others);
    async_mutex::lock_type last(contended, std::try_to_lock);
    std::atomic<int> served = 0;
    fate late[4];
    for (int i = 0; i != 300; ++i)
      contended.async_lock([&](error_code, async_mutex::lock_type lock) {
        if (++served == 300) last = std::move(lock);
      });
    for (int i = 0; i != 4; i += 2) {
      contended.async_lock(asio::bind_executor(*dying, observed_handler(late[i])));
      contended.async_lock_for(1h, asio::bind_executor(*dying, observed_handler(late[i + 1])));
    }
    std::thread server([&] {
      last.unlock();
      others.run();
    });
    while (served == 0) std::this_thread::yield();
    dying.reset();
    server.join();
    BOOST_TEST((last.owns_lock() && contended.waiters() == 0u));
    for (auto const& each : late) BOOST_TEST(each.dropped());
  }
}

// --- Handlers are destroyed once the context has dropped all that it has ---

BOOST_AUTO_TEST_CASE(R10_a_destructor_waits_for_a_grant_in_the_queue_of_its_context) {
  for (bool const in_strand : {false, true})
    for (bool const from_strand : {false, true})
      for (bool const at_home : {false, true}) {
        wait_for_a_grant_in_the_queue(std::make_unique<asio::io_context>(), in_strand, from_strand,
                                      at_home);
        auto pool = std::make_unique<asio::thread_pool>(1);
        pool->stop();
        wait_for_a_grant_in_the_queue(std::move(pool), in_strand, from_strand, at_home);
      }
}

// A function in its queue, before the grant, has another context end that knows the library.
BOOST_AUTO_TEST_CASE(R10_a_context_that_ends_in_the_end_of_another_leaves_handlers_of_that_alone) {
  for (bool const with_pool : {false, true})
    for (bool const with_wait : {false, true}) {
      fate inside;
      async_mutex busy(home);
      async_mutex::lock_type const taken(busy, std::try_to_lock);
      auto const end_another = [&](auto& another) {
        async_mutex const at_home(another);
        if (with_wait) busy.async_lock(asio::bind_executor(another, observed_handler(inside)));
      };
      auto dying = std::make_unique<asio::io_context>();
      asio::post(*dying, [end = at_end([&] {
                            if (with_pool) {
                              asio::thread_pool another(1);
                              end_another(another);
                              another.stop();
                            } else {
                              asio::io_context another;
                              end_another(another);
                            }
                            BOOST_TEST(inside.dropped() == with_wait);
                          })] {});
      wait_for_a_grant_in_the_queue(std::move(dying), false, false, false);
    }
}

BOOST_AUTO_TEST_SUITE_END()
