// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The ways by which completions go to executors of the user's own. One that nobody can post to is
// reached in two steps: through the mutex's executor, and then through the handler's own; what
// happens between these counts as before the completion. Others are derived from known ones, and
// are not these, or are awkward in one respect each: how a handler returns it, what becomes of its
// type when it tracks work, when its copies end, and what it runs within execute().

#include "support/coroutine.hpp"
#include "support/derived_executors.hpp"
#include "support/executors.hpp"
#include "support/manual_queue.hpp"
#include "support/mutex_fixture.hpp"
#include "support/test.hpp"

namespace routes_test {

using namespace asio_sync::test;

using any_handler = asio::any_completion_handler<void(error_code, async_mutex::lock_type)>;

// A mutex at home in one context, and a handler's executor in another: with Asio's own types only.
struct two_steps {
  fate f, next;
  asio::cancellation_signal signal;
  std::optional<asio::io_context> home{std::in_place}, own{std::in_place};
  std::optional<async_mutex> mutex{*home};

  auto handler(fate& of) {
    auto const strand =
        asio::make_strand(asio::make_strand(asio::any_io_executor(own->get_executor())));
    any_handler erased(asio::bind_executor(strand, observed_handler(of)));
    return asio::bind_cancellation_slot(signal.slot(), std::move(erased));
  }

  // Queues a wait, and hands it over: it is between its steps then.
  void relay(fate& of) {
    BOOST_TEST_REQUIRE(mutex->try_lock());
    mutex->async_lock(handler(of));
    mutex->unlock();
    poll(*home);
  }
};

// Has nothing besides execute(): neither a context nor blocking.never.
template <class Inner>
struct bare {
  template <class Function>
  void execute(Function&& f) const {
    inner.execute(std::forward<Function>(f));
  }
  friend bool operator==(bare const&, bare const&) noexcept = default;

  Inner inner;
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

template <class Executor>
void runs_derived(mutex_fixture& f, Executor const& ex) {
  auto const polls = [&] { f.poll(); };
  execution_log plain, erased;
  runs_what_is_bound(f.mutex, derived_executor<Executor>(ex, plain), plain, polls);
  runs_what_is_bound(f.mutex, asio::any_io_executor(derived_executor<Executor>(ex, erased)),
                     erased, polls);
}

// A handler that a relay's second step cannot reach, and one behind it in the queue.
template <class Executor>
void loses_its_handler_only(asio::io_context& context, Executor const& ex, bool queued,
                            throwing_executor::plan& plan) {
  async_mutex mutex(context);
  fate lost, next;
  if (queued) BOOST_TEST_REQUIRE(mutex.try_lock());
  mutex.async_lock(asio::bind_executor(ex, observed_handler(lost)));
  mutex.async_lock(observed_handler(next));
  if (queued) mutex.unlock();
  plan = throwing_executor::plan::execute;
  BOOST_CHECK_NO_THROW(poll(context));
  plan = throwing_executor::plan::nothing;
  BOOST_TEST(lost.dropped());
  context.poll();
  BOOST_TEST(next.granted());
  BOOST_TEST(context.stopped());
  BOOST_TEST(mutex.try_lock());
}

// A handler that gives a reference to its executor, of which it is the only owner.
template <class Executor>
class by_reference : public observed_handler {
 public:
  using executor_type = Executor;

  by_reference(Executor ex, fate& f) : observed_handler(f), ex_(std::move(ex)) {}

  executor_type const& get_executor() const noexcept { return ex_; }

 private:
  Executor ex_;
};

// A free, a queued and a timed wait: the executor is kept and used at other times in each.
template <class Make>
void grants_by_reference(Make make) {
  mutex_fixture s;
  fate f[3];
  s.mutex.async_lock(by_reference(make(s.other), f[0]));
  s.mutex.async_lock(by_reference(make(s.other), f[1]));
  s.mutex.async_lock_for(1h, by_reference(make(s.other), f[2]));
  for (int i = 0; i < 3; ++i) {
    s.poll();
    for (auto const& each : f) BOOST_TEST(each.called <= i);  // on its own executor only
    poll(s.other);
    BOOST_TEST_REQUIRE(f[i].granted());
  }
  BOOST_TEST(s.mutex.try_lock());
}

struct no_work {};
struct some_work {
  std::shared_ptr<int> work = std::make_shared<int>();
};

// Of another type, of another size, while it tracks work: what is kept for it is not of the type
// that is bound.
template <bool Tracked>
class retyped_executor : std::conditional_t<Tracked, some_work, no_work> {
 public:
  explicit retyped_executor(manual_queue::executor const& inner) : inner_(inner) {}

  retyped_executor require(asio::execution::blocking_t::never_t) const noexcept { return *this; }
  auto require(asio::execution::outstanding_work_t::tracked_t) const {
    return retyped_executor<true>(inner_);
  }
  auto require(asio::execution::outstanding_work_t::untracked_t) const {
    return retyped_executor<false>(inner_);
  }
  asio::execution_context& query(asio::execution::context_t c) const noexcept {
    return inner_.query(c);
  }
  static constexpr asio::execution::blocking_t query(asio::execution::blocking_t) noexcept {
    return asio::execution::blocking.never;
  }
  static constexpr asio::execution::outstanding_work_t query(
      asio::execution::outstanding_work_t) noexcept {
    if (Tracked) return asio::execution::outstanding_work.tracked;
    return asio::execution::outstanding_work.untracked;
  }

  template <class Function>
  void execute(Function&& f) const {
    inner_.execute(std::forward<Function>(f));
  }

  friend bool operator==(retyped_executor const& a, retyped_executor const& b) noexcept {
    return a.inner_ == b.inner_;
  }

 private:
  manual_queue::executor inner_;
};

// Counts its copies that track work. It cannot be moved, only copied: what it is moved from still
// counts.
class counted_executor {
 public:
  counted_executor(manual_queue::executor const& inner, std::shared_ptr<int> const& count)
      : inner_(inner), count_(count) {}
  counted_executor(counted_executor const&) = default;
  counted_executor& operator=(counted_executor const&) = default;
  ~counted_executor() = default;

  counted_executor require(asio::execution::blocking_t::never_t) const { return *this; }
  counted_executor require(asio::execution::outstanding_work_t::tracked_t) const {
    counted_executor result(*this);
    result.work_ = count_.lock();
    return result;
  }
  counted_executor require(asio::execution::outstanding_work_t::untracked_t) const {
    counted_executor result(*this);
    result.work_.reset();
    return result;
  }
  asio::execution_context& query(asio::execution::context_t c) const noexcept {
    return inner_.query(c);
  }

  template <class Function>
  void execute(Function&& f) const {
    inner_.execute(std::forward<Function>(f));
  }

  [[maybe_unused]] friend bool operator==(counted_executor const& a,
                                          counted_executor const& b) noexcept {
    return a.inner_ == b.inner_;
  }

 private:
  manual_queue::executor inner_;
  std::weak_ptr<int> count_;
  std::shared_ptr<int> work_;
};

struct fixture : mutex_fixture {
  manual_queue queue;
  manual_queue::executor const queued{queue, other};
  asio::any_completion_executor const erased{bare<manual_queue::executor>{queued}};
  fate f, next;
  execution_log log;

  void run_all() {
    while (queue.size() != 0) queue.run();
  }
};

}  // namespace routes_test

BOOST_FIXTURE_TEST_SUITE(routes_test, fixture)

// --- In two steps ---

BOOST_FIXTURE_TEST_CASE(R9_mutex_is_destroyed_between_the_two_steps_of_a_grant, two_steps) {
  relay(f);
  BOOST_TEST(f.waits());
  mutex.reset();
  poll(*own);
  BOOST_TEST(f.refused(aborted));
}

BOOST_AUTO_TEST_CASE(R9_mutex_is_destroyed_between_the_steps_through_an_erased_executor) {
  auto mortal = std::make_unique<async_mutex>(context);
  fate of[3];
  mortal->async_lock(asio::bind_executor(erased, observed_handler(of[0])));
  mortal->async_lock(asio::bind_executor(erased, observed_handler(of[1])));
  mortal->async_lock_for(1h, asio::bind_executor(erased, observed_handler(of[2])));
  context.poll();
  BOOST_TEST_REQUIRE(queue.size() == 1u);
  mortal.reset();
  queue.run();
  context.poll();
  queue.run();
  for (auto const& each : of) BOOST_TEST(each.refused(aborted));
}

BOOST_FIXTURE_TEST_CASE(R9_a_grant_that_dies_between_its_steps_after_the_mutex_touches_nothing,
                        two_steps) {
  relay(f);
  mutex->async_lock(observed_handler(next));
  mutex.reset();
  own.reset();
  BOOST_TEST(f.dropped());
  poll(*home);
  BOOST_TEST(next.refused(aborted));
}

BOOST_FIXTURE_TEST_CASE(R3_a_grant_dropped_between_its_steps_goes_on, two_steps) {
  relay(f);
  mutex->async_lock(observed_handler(next));
  own.reset();
  BOOST_TEST(f.dropped());
  poll(*home);
  BOOST_TEST(next.granted());
  BOOST_TEST(mutex->try_lock());
}

BOOST_AUTO_TEST_CASE(R9_a_grant_dropped_by_its_executor_after_the_mutex_touches_nothing) {
  auto mortal = std::make_unique<async_mutex>(context);
  mortal->async_lock(asio::bind_executor(erased, observed_handler(f)));
  context.poll();
  BOOST_TEST_REQUIRE(queue.size() == 1u);
  mortal.reset();
  // Freed memory is used again: a guard of the dead mutex would unlock this one.
  async_mutex same_place(context);
  BOOST_TEST_REQUIRE(same_place.try_lock());
  queue.drop(0);
  BOOST_TEST(f.dropped());
  BOOST_TEST(same_place.is_locked());
}

// The executor decides if the handler is called; the mutex stays usable.
BOOST_FIXTURE_TEST_CASE(R10_home_is_destroyed_between_the_two_steps, two_steps) {
  relay(f);
  home.reset();
  poll(*own);
  BOOST_TEST(f.destroyed == 1);
  BOOST_TEST((f.granted() || f.called == 0));
  mutex->async_lock(asio::bind_executor(*own, observed_handler(next)));
  poll(*own);
  BOOST_TEST(next.granted());
}

BOOST_FIXTURE_TEST_CASE(R4_between_the_two_steps_a_slot_withdraws_and_the_mutex_does_nothing,
                        two_steps) {
  relay(f);
  signal.emit(asio::cancellation_type::terminal);
  BOOST_TEST(mutex->is_locked());
  poll(*own);
  BOOST_TEST(f.refused(aborted));
  BOOST_TEST(!mutex->is_locked());
  relay(next);
  BOOST_TEST(mutex->cancel() == 0u);
  mutex->close();
  poll(*own);
  BOOST_TEST(next.granted());
}

// The signal is emitted on the handler's thread while the home delivers. That the two happen at
// once is arranged without a happens-before, so that the sanitizer sees a race.
BOOST_FIXTURE_TEST_CASE(R4_a_signal_is_emitted_on_the_handlers_thread_while_the_home_delivers,
                        two_steps) {
  std::atomic<bool> decided{false}, emitted{false};
  auto const wait_for = [](std::atomic<bool> const& flag) {
    while (!flag.load(std::memory_order_relaxed)) std::this_thread::yield();
  };
  BOOST_TEST_REQUIRE(mutex->try_lock());
  mutex->async_lock(handler(f));
  asio::post(*home, [&] {
    mutex->unlock();  // the completion is behind this in the home's queue
    decided.store(true, std::memory_order_relaxed);
    wait_for(emitted);
  });
  asio::post(*own, [&] {
    wait_for(decided);
    signal.emit(asio::cancellation_type::terminal);
    emitted.store(true, std::memory_order_relaxed);
  });
  std::thread delivers([&] { home->run(); });
  own->run();
  delivers.join();
  poll(*own);
  BOOST_TEST(f.refused(aborted));
  BOOST_TEST(!mutex->is_locked());
}

BOOST_AUTO_TEST_CASE(R13_the_second_step_throws_and_loses_its_handler_only) {
  for (bool const is_queued : {false, true}) {
    auto plan = throwing_executor::plan::nothing;
    throwing_executor const throwing(context, plan);
    loses_its_handler_only(context, asio::any_completion_executor(throwing), is_queued, plan);
    loses_its_handler_only(context, bare<throwing_executor>{throwing}, is_queued, plan);
  }
}

// The completion has left the mutex's context and waits in a queue that is not this context's: the
// context has nothing more to do.
BOOST_AUTO_TEST_CASE(R8_run_returns_while_a_relayed_completion_waits_elsewhere) {
  auto const check = [&](auto const& ex, bool unlock_inside) {
    fate of;
    BOOST_TEST_REQUIRE(mutex.try_lock());
    mutex.async_lock(asio::bind_executor(ex, observed_handler(of)));
    if (unlock_inside)
      asio::post(context, [&] { mutex.unlock(); });
    else
      mutex.unlock();
    poll();
    BOOST_TEST(queue.size() == 1u);
    BOOST_TEST(of.waits());
    BOOST_TEST(context.stopped());
    run_all();
    BOOST_TEST(of.granted());
  };
  for (bool const unlock_inside : {false, true}) {
    check(bare<manual_queue::executor>{queued}, unlock_inside);
    check(erased, unlock_inside);
  }
}

// Should the pool wait for the completion, it is given it after a while.
BOOST_AUTO_TEST_CASE(R8_join_returns_while_a_relayed_completion_waits_elsewhere) {
  asio::thread_pool pool(1);
  async_mutex in_pool(pool);
  BOOST_TEST_REQUIRE(in_pool.try_lock());
  in_pool.async_lock(asio::bind_executor(erased, observed_handler(f)));
  asio::post(pool, [&] { in_pool.unlock(); });
  auto const joined = std::async(std::launch::async, [&] { pool.join(); });
  BOOST_TEST((joined.wait_for(1min) == std::future_status::ready));
  run_all();
  joined.wait();
  BOOST_TEST(f.granted());
}

// --- To executors that look like others ---

BOOST_AUTO_TEST_CASE(R2_an_executor_derived_from_a_known_one_runs_what_is_bound_to_it) {
  asio::post(derived_executor<>(context.get_executor(), log), [] {});  // Asio goes through it
  poll();
  BOOST_TEST(log.executed() == 1);
  runs_derived(*this, context.get_executor());
  runs_derived(*this, asio::make_strand(context));
  asio::thread_pool pool(1);
  execution_log of_pool;
  derived_executor const ex(pool.get_executor(), of_pool);
  runs_what_is_bound(mutex, ex, of_pool, [&] { pool.join(); });
}

BOOST_AUTO_TEST_CASE(R2_a_mutex_uses_an_executor_derived_from_a_known_one) {
  basic_async_mutex<derived_executor<>> own(derived_executor<>(context.get_executor(), log));
  int inside = 0;
  auto const handler = [&](error_code, auto) { inside += log.runs_here(); };
  own.async_lock(handler);
  own.async_lock(handler);
  own.async_lock_for(1h, handler);
  poll();
  BOOST_TEST(inside == 3);
}

BOOST_AUTO_TEST_CASE(R2_an_executor_derived_privately_runs_what_is_bound_to_it) {
  private_executor const ex(context.get_executor(), log);
  runs_what_is_bound(mutex, ex, log, [&] { poll(); });
  basic_async_mutex<private_executor> own(ex);
  own.async_lock(observed_handler(f));
  poll();
  BOOST_TEST(f.granted());
}

// --- To executors that are awkward ---

// A strand and an erased executor own something: one that has been moved from does not do.
BOOST_AUTO_TEST_CASE(R2_a_handler_may_return_its_executor_by_reference) {
  grants_by_reference([](asio::io_context& c) { return c.get_executor(); });
  grants_by_reference([](asio::io_context& c) { return asio::make_strand(c); });
  grants_by_reference(
      [](asio::io_context& c) { return asio::any_io_executor(asio::make_strand(c)); });
}

// The first handler runs within the hand-over and ends the context of the second, which has been
// decided by then and not been posted. The queue outlives that context, and has to stay empty.
BOOST_AUTO_TEST_CASE(R10_a_completion_kept_for_an_executor_that_tracks_differently_is_dropped) {
  auto own = std::make_unique<asio::io_context>();
  BOOST_TEST_REQUIRE(mutex.try_lock());
  mutex.async_lock(asio::bind_executor(inline_executor(context), [&](error_code e, auto) {
    own.reset();
    BOOST_TEST(e == aborted);
    BOOST_TEST(f.dropped());
  }));
  retyped_executor<false> const ex(manual_queue::executor(queue, *own));
  mutex.async_lock(asio::bind_executor(ex, observed_handler(f)));
  BOOST_TEST(mutex.cancel() == 2u);
  BOOST_TEST(!own);
  BOOST_TEST(f.dropped());
  BOOST_TEST(queue.size() == 0u);
}

// The wait's block holds an executor that tracks work. It has gone when the coroutine goes on:
// what tracks work then is what did before.
BOOST_AUTO_TEST_CASE(R12_a_coroutine_on_an_unknown_executor_resumes_after_its_block_has_gone) {
  if (!spared) return;
  auto const count = std::make_shared<int>();
  counted_executor const ex(queued, count);
  long before = 0, after = 0;
  BOOST_TEST_REQUIRE(mutex.try_lock());
  auto const waits = [&]() -> asio::awaitable<void, counted_executor> {
    before = count.use_count();
    auto const lock = co_await mutex.async_lock();
    after = count.use_count();
  };
  asio::co_spawn(ex, waits, asio::detached);
  run_all();
  BOOST_TEST_REQUIRE(before > 0);
  BOOST_TEST(count.use_count() > before);
  mutex.unlock();
  run_all();
  BOOST_TEST(after == before);
  BOOST_TEST(count.use_count() == 1);
}

// The executor's own code drops the grant of another mutex, and awaits the one behind it.
BOOST_AUTO_TEST_CASE(R5_a_grant_goes_out_while_an_unknown_executor_runs_user_code) {
  async_mutex elsewhere(other);
  fate last;
  BOOST_TEST_REQUIRE(mutex.try_lock());
  elsewhere.async_lock(asio::bind_executor(queued, observed_handler(f)));
  elsewhere.async_lock(observed_handler(next));
  BOOST_TEST_REQUIRE(queue.size() == 1u);
  bool granted_inside = false;
  log.on_execute = [&] {
    queue.drop(0);
    test::poll(other);
    granted_inside = next.granted();
  };
  tracking_executor const ex(inline_executor(context), log);
  mutex.async_lock(asio::bind_executor(ex, observed_handler(last)));
  mutex.unlock();
  poll();
  BOOST_TEST(log.executed() == 1);
  BOOST_TEST(f.dropped());
  BOOST_TEST(granted_inside);
  BOOST_TEST(last.granted());
}

BOOST_AUTO_TEST_SUITE_END()
