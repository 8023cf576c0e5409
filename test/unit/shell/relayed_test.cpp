// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Handlers whose executor one cannot post to: their completion goes to the mutex's executor, and
// from there through the handler's own. What happens between these two steps counts as before the
// completion. And executors that are derived from known ones, and are not these.

#include "support/derived_executors.hpp"
#include "support/executors.hpp"
#include "support/manual_queue.hpp"
#include "support/test.hpp"

#include <asio_sync/async_mutex.hpp>

namespace relayed_test {

using namespace asio_sync::test;

using any_handler = asio::any_completion_handler<void(error_code, async_mutex::lock_type)>;

// A mutex at home in one context, and a handler's executor in another: with Asio's own types only.
struct two_steps {
  std::unique_ptr<asio::io_context> home = std::make_unique<asio::io_context>();
  std::unique_ptr<asio::io_context> own = std::make_unique<asio::io_context>();
  std::unique_ptr<async_mutex> mutex = std::make_unique<async_mutex>(*home);
  asio::cancellation_signal signal;

  auto handler(fate& f) {
    auto const strand =
        asio::make_strand(asio::make_strand(asio::any_io_executor(own->get_executor())));
    any_handler erased(asio::bind_executor(strand, observed_handler(f)));
    return asio::bind_cancellation_slot(signal.slot(), std::move(erased));
  }

  // Queues a wait, and hands it over: it is between its steps then.
  void relay(fate& f) {
    BOOST_TEST_REQUIRE(mutex->try_lock());
    mutex->async_lock(handler(f));
    mutex->unlock();
    first_step();
  }

  void first_step() {
    home->restart();
    home->poll();
  }
  void second_step() {
    own->restart();
    own->poll();
  }
};

// An executor that throws on demand and has neither a context nor blocking.never.
class throwing_bare_executor {
 public:
  throwing_bare_executor(asio::io_context& context, bool& throws) noexcept
      : context_(&context), throws_(&throws) {}

  template <class Function>
  void execute(Function&& f) const {
    if (*throws_) throw std::runtime_error("the executor throws");
    asio::post(*context_, std::forward<Function>(f));
  }

  [[maybe_unused]] friend bool operator==(throwing_bare_executor const&,
                                          throwing_bare_executor const&) noexcept = default;

 private:
  asio::io_context* context_;
  bool* throws_;
};

// Free, queued and timed waits whose handlers are bound to the executor run within it.
template <class Mutex, class Executor, class Run>
void runs_what_is_bound(Mutex& mutex, Executor const& ex, execution_log& log, Run run) {
  std::atomic<int> inside{0};
  auto const handler = [&](error_code e, auto lock) {
    if (!e && lock.owns_lock() && log.runs_here()) ++inside;
  };
  mutex.async_lock(asio::bind_executor(ex, handler));
  mutex.async_lock(asio::bind_executor(ex, handler));
  mutex.async_lock_for(1h, asio::bind_executor(ex, handler));
  run();
  BOOST_TEST(inside == 3);
  BOOST_TEST(log.executed() == 3);
}

template <class Context, class Executor, class Run>
void runs_derived(Context& context, Executor const& ex, Run run) {
  async_mutex mutex(context);
  for (bool const erased : {false, true}) {
    execution_log log;
    derived_executor<Executor> const derived(ex, log);
    if (erased)
      runs_what_is_bound(mutex, asio::any_io_executor(derived), log, run);
    else
      runs_what_is_bound(mutex, derived, log, run);
  }
}

// A handler that a relay's second step cannot reach, and one behind it in the queue.
template <class Executor>
void loses_its_handler_only(asio::io_context& context, Executor const& ex, bool queued,
                            std::function<void(bool)> const& set_throws) {
  async_mutex mutex(context);
  fate lost, next;
  if (queued) BOOST_TEST_REQUIRE(mutex.try_lock());
  mutex.async_lock(asio::bind_executor(ex, observed_handler(lost)));
  mutex.async_lock(observed_handler(next));
  if (queued) mutex.unlock();
  set_throws(true);
  context.restart();
  BOOST_CHECK_NO_THROW(context.poll());
  set_throws(false);
  BOOST_TEST(lost.dropped());
  context.poll();
  BOOST_TEST(next.granted());
  BOOST_TEST(context.stopped());
  BOOST_TEST(mutex.try_lock());
}

}  // namespace relayed_test

BOOST_AUTO_TEST_SUITE(relayed_test)

BOOST_AUTO_TEST_CASE(R9_mutex_is_destroyed_between_the_two_steps_of_a_grant) {
  two_steps t;
  fate f;
  t.relay(f);
  BOOST_TEST(f.waits());
  t.mutex.reset();
  t.second_step();
  BOOST_TEST(f.refused(aborted));
}

BOOST_AUTO_TEST_CASE(R9_mutex_is_destroyed_between_the_steps_through_an_erased_executor) {
  asio::io_context home;
  manual_queue queue;
  asio::any_completion_executor const ex(manual_queue::executor(queue, home));
  auto mutex = std::make_unique<async_mutex>(home);
  fate f[3];
  mutex->async_lock(asio::bind_executor(ex, observed_handler(f[0])));
  mutex->async_lock(asio::bind_executor(ex, observed_handler(f[1])));
  mutex->async_lock_for(1h, asio::bind_executor(ex, observed_handler(f[2])));
  home.poll();
  BOOST_TEST_REQUIRE(queue.size() == 1u);
  mutex.reset();
  queue.run();
  home.poll();
  queue.run();
  for (auto const& each : f) BOOST_TEST(each.refused(aborted));
}

BOOST_AUTO_TEST_CASE(R9_a_grant_that_dies_between_its_steps_after_the_mutex_touches_nothing) {
  for (bool const mutex_first : {true, false}) {
    two_steps t;
    fate f, next;
    t.relay(f);
    t.mutex->async_lock(observed_handler(next));
    if (mutex_first) t.mutex.reset();
    t.own.reset();
    BOOST_TEST(f.dropped());
    t.first_step();
    if (mutex_first)
      BOOST_TEST(next.refused(aborted));
    else
      BOOST_TEST(next.granted());
  }
}

BOOST_AUTO_TEST_CASE(R9_a_grant_dropped_by_its_executor_after_the_mutex_touches_nothing) {
  asio::io_context home;
  manual_queue queue;
  asio::any_completion_executor const ex(manual_queue::executor(queue, home));
  auto mutex = std::make_unique<async_mutex>(home);
  fate f;
  mutex->async_lock(asio::bind_executor(ex, observed_handler(f)));
  home.poll();
  BOOST_TEST_REQUIRE(queue.size() == 1u);
  mutex.reset();
  // What is freed is used again: a guard of the dead mutex would unlock this one.
  async_mutex same_place(home);
  BOOST_TEST_REQUIRE(same_place.try_lock());
  queue.drop(0);
  BOOST_TEST(f.dropped());
  BOOST_TEST(same_place.is_locked());
}

BOOST_AUTO_TEST_CASE(R3_a_grant_dropped_between_its_steps_goes_on) {
  two_steps t;
  fate f, next;
  t.relay(f);
  t.mutex->async_lock(observed_handler(next));
  t.own.reset();
  BOOST_TEST(f.dropped());
  t.first_step();
  BOOST_TEST(next.granted());
  BOOST_TEST(t.mutex->try_lock());
}

// Whether the handler is called then is for its executor to say; the mutex stays usable.
BOOST_AUTO_TEST_CASE(R10_home_is_destroyed_between_the_two_steps) {
  two_steps t;
  fate f;
  t.relay(f);
  t.home.reset();
  t.second_step();
  BOOST_TEST(f.destroyed == 1);
  BOOST_TEST((f.granted() || f.called == 0));
  t.own->restart();
  fate next;
  t.mutex->async_lock(asio::bind_executor(*t.own, observed_handler(next)));
  t.second_step();
  BOOST_TEST(next.granted());
}

BOOST_AUTO_TEST_CASE(R4_between_the_two_steps_a_slot_withdraws_and_the_mutex_does_nothing) {
  two_steps t;
  fate withdrawn, granted;
  t.relay(withdrawn);
  t.signal.emit(asio::cancellation_type::terminal);
  BOOST_TEST(t.mutex->is_locked());
  t.second_step();
  BOOST_TEST(withdrawn.refused(aborted));
  BOOST_TEST(!t.mutex->is_locked());
  t.own->restart();
  t.relay(granted);
  BOOST_TEST(t.mutex->cancel() == 0u);
  t.mutex->close();
  t.second_step();
  BOOST_TEST(granted.granted());
}

// The signal is emitted on the handler's thread while the home delivers. That the two happen at
// once is arranged without a happens-before, so that the sanitizer sees a race.
BOOST_AUTO_TEST_CASE(R4_a_signal_is_emitted_on_the_handlers_thread_while_the_home_delivers) {
  two_steps t;
  fate f;
  std::atomic<bool> decided{false}, emitted{false};
  auto const wait_for = [](std::atomic<bool> const& flag) {
    while (!flag.load(std::memory_order_relaxed)) std::this_thread::yield();
  };
  BOOST_TEST_REQUIRE(t.mutex->try_lock());
  t.mutex->async_lock(t.handler(f));
  asio::post(*t.home, [&] {
    t.mutex->unlock();  // the completion is behind this in the home's queue
    decided.store(true, std::memory_order_relaxed);
    wait_for(emitted);
  });
  asio::post(*t.own, [&] {
    wait_for(decided);
    t.signal.emit(asio::cancellation_type::terminal);
    emitted.store(true, std::memory_order_relaxed);
  });
  std::thread home([&] { t.home->run(); });
  t.own->run();
  home.join();
  t.second_step();
  BOOST_TEST(f.refused(aborted));
  BOOST_TEST(!t.mutex->is_locked());
}

BOOST_AUTO_TEST_CASE(R2_an_executor_derived_from_a_known_one_runs_what_is_bound_to_it) {
  asio::io_context context;
  auto const run = [&] {
    context.restart();
    context.poll();
  };
  {
    execution_log log;  // Asio goes through it
    asio::post(derived_executor<>(context.get_executor(), log), [] {});
    run();
    BOOST_TEST(log.executed() == 1);
  }
  runs_derived(context, context.get_executor(), run);
  runs_derived(context, asio::make_strand(context), run);
}

BOOST_AUTO_TEST_CASE(R2_an_executor_derived_from_a_pools_runs_what_is_bound_to_it) {
  asio::thread_pool pool(1);
  async_mutex mutex(pool);
  execution_log log;
  derived_executor<asio::thread_pool::executor_type> const ex(pool.get_executor(), log);
  runs_what_is_bound(mutex, ex, log, [&] { pool.join(); });
}

BOOST_AUTO_TEST_CASE(R2_a_mutex_uses_an_executor_derived_from_a_known_one) {
  asio::io_context context;
  execution_log log;
  basic_async_mutex<derived_executor<>> mutex(derived_executor<>(context.get_executor(), log));
  std::vector<bool> inside;
  auto const handler = [&](error_code, auto) { inside.push_back(log.runs_here()); };
  mutex.async_lock(handler);
  mutex.async_lock(handler);
  mutex.async_lock_for(1h, handler);
  context.run();
  BOOST_TEST(inside == std::vector<bool>(3, true), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(R2_an_executor_derived_privately_runs_what_is_bound_to_it) {
  asio::io_context context;
  async_mutex mutex(context);
  execution_log log;
  private_executor const ex(context.get_executor(), log);
  runs_what_is_bound(mutex, ex, log, [&] { context.poll(); });
  basic_async_mutex<private_executor> own(ex);
  fate f;
  own.async_lock(observed_handler(f));
  context.restart();
  context.poll();
  BOOST_TEST(f.granted());
}

BOOST_AUTO_TEST_CASE(R13_the_second_step_throws_and_loses_its_handler_only) {
  for (bool const queued : {false, true}) {
    asio::io_context context;
    auto plan = throwing_executor::plan::nothing;
    asio::any_completion_executor const erased(throwing_executor(context, plan));
    loses_its_handler_only(context, erased, queued, [&](bool throws) {
      plan = throws ? throwing_executor::plan::execute : throwing_executor::plan::nothing;
    });
    bool bare_throws = false;
    loses_its_handler_only(context, throwing_bare_executor(context, bare_throws), queued,
                           [&](bool throws) { bare_throws = throws; });
  }
}

BOOST_AUTO_TEST_SUITE_END()
