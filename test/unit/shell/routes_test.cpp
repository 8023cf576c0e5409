// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The ways by which completions go to executors of the user's own, each awkward in one respect:
// how a handler returns it, what becomes of its type when it tracks work, who runs what it keeps,
// when its copies end, and what it runs within execute().

#include "support/coroutine.hpp"
#include "support/executors.hpp"
#include "support/manual_queue.hpp"
#include "support/test.hpp"

#include <asio_sync/async_mutex.hpp>

namespace routes_test {

using namespace asio_sync::test;

// A handler that gives a reference to its executor, of which it is the only owner.
template <class Executor>
class by_reference {
 public:
  using executor_type = Executor;

  by_reference(Executor ex, fate& f) : ex_(std::move(ex)), observed_(f) {}

  executor_type const& get_executor() const noexcept { return ex_; }

  template <class Lock>
  void operator()(error_code e, Lock lock) {
    observed_(e, std::move(lock));
  }

 private:
  Executor ex_;
  observed_handler observed_;
};

// A free, a queued and a timed wait: the executor is kept and used at other times in each.
template <class Make>
void grants_by_reference(Make make) {
  asio::io_context home, own;
  async_mutex mutex(home);
  fate f[3];
  mutex.async_lock(by_reference(make(own), f[0]));
  mutex.async_lock(by_reference(make(own), f[1]));
  mutex.async_lock_for(1h, by_reference(make(own), f[2]));
  for (int i = 0; i < 3; ++i) {
    home.restart();
    home.poll();
    for (auto const& each : f) BOOST_TEST(each.called <= i);  // on its own executor only
    own.restart();
    own.poll();
    BOOST_TEST_REQUIRE(f[i].granted());
  }
  BOOST_TEST(mutex.try_lock());
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
  retyped_executor(manual_queue& queue, asio::execution_context& context)
      : queue_(&queue), context_(&context) {}

  retyped_executor require(asio::execution::blocking_t::never_t) const noexcept { return *this; }
  retyped_executor<true> require(asio::execution::outstanding_work_t::tracked_t) const {
    return {*queue_, *context_};
  }
  retyped_executor<false> require(asio::execution::outstanding_work_t::untracked_t) const {
    return {*queue_, *context_};
  }
  asio::execution_context& query(asio::execution::context_t) const noexcept { return *context_; }
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
    manual_queue::executor(*queue_, *context_).execute(std::forward<Function>(f));
  }

  friend bool operator==(retyped_executor const& a, retyped_executor const& b) noexcept {
    return a.context_ == b.context_;
  }

 private:
  manual_queue* queue_;
  asio::execution_context* context_;
};

// Has nothing besides execute(): neither a context nor blocking.never. Keeps what it is given.
class bare_queue_executor {
 public:
  explicit bare_queue_executor(manual_queue& queue, asio::execution_context& any) noexcept
      : inner_(queue, any) {}

  template <class Function>
  void execute(Function&& f) const {
    inner_.execute(std::forward<Function>(f));
  }

  friend bool operator==(bare_queue_executor const&,
                         bare_queue_executor const&) noexcept = default;

 private:
  manual_queue::executor inner_;
};

// Counts its copies that track work. It cannot be moved, only copied: what it is moved from still
// counts.
class counted_executor {
 public:
  counted_executor(manual_queue& queue, asio::execution_context& context,
                   std::shared_ptr<int> const& count)
      : inner_(queue, context), count_(count) {}
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

// Runs the user's code within execute(), and then what it is given.
class hooked_executor {
 public:
  hooked_executor(asio::execution_context& context, execution_log& log) noexcept
      : context_(&context), log_(&log) {}

  hooked_executor require(asio::execution::blocking_t::never_t) const noexcept { return *this; }
  asio::execution_context& query(asio::execution::context_t) const noexcept { return *context_; }

  template <class Function>
  void execute(Function&& f) const {
    log_->wrap(std::forward<Function>(f))();
  }

  [[maybe_unused]] friend bool operator==(hooked_executor const&,
                                          hooked_executor const&) noexcept = default;

 private:
  asio::execution_context* context_;
  execution_log* log_;
};

void run_all(manual_queue& queue) {
  while (queue.size() != 0) queue.run();
}

// The completion has left the mutex's context and waits in a queue that is not this context's: the
// context has nothing more to do.
template <class Make>
void lets_its_context_go(Make make, bool unlock_inside) {
  asio::io_context context, any;
  async_mutex mutex(context);
  manual_queue queue;
  fate f;
  BOOST_TEST_REQUIRE(mutex.try_lock());
  mutex.async_lock(asio::bind_executor(make(queue, any), observed_handler(f)));
  if (unlock_inside)
    asio::post(context, [&] { mutex.unlock(); });
  else
    mutex.unlock();
  context.poll();
  BOOST_TEST(queue.size() == 1u);
  BOOST_TEST(f.waits());
  BOOST_TEST(context.stopped());
  run_all(queue);
  BOOST_TEST(f.granted());
}

auto const make_bare = [](manual_queue& queue, asio::execution_context& any) {
  return bare_queue_executor(queue, any);
};
auto const make_erased = [](manual_queue& queue, asio::execution_context& any) {
  return asio::any_completion_executor(bare_queue_executor(queue, any));
};

}  // namespace routes_test

BOOST_AUTO_TEST_SUITE(routes_test)

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
  asio::io_context home;
  async_mutex mutex(home);
  manual_queue queue;
  auto own = std::make_unique<asio::io_context>();
  fate first, second;
  BOOST_TEST_REQUIRE(mutex.try_lock());
  mutex.async_lock(asio::bind_executor(
      inline_executor(home),
      [&, observed = observed_handler(first)](error_code e, auto lock) mutable {
        observed(e, std::move(lock));
        own.reset();
        BOOST_TEST(second.dropped());
      }));
  retyped_executor<false> const ex(queue, *own);
  mutex.async_lock(asio::bind_executor(ex, observed_handler(second)));
  BOOST_TEST(mutex.cancel() == 2u);
  BOOST_TEST(first.refused(aborted));
  BOOST_TEST(second.dropped());
  BOOST_TEST(queue.size() == 0u);
}

BOOST_AUTO_TEST_CASE(R8_run_returns_while_a_relayed_completion_waits_elsewhere) {
  for (bool const unlock_inside : {false, true}) {
    lets_its_context_go(make_bare, unlock_inside);
    lets_its_context_go(make_erased, unlock_inside);
  }
}

// Should the pool wait for the completion, it is given it after a while.
BOOST_AUTO_TEST_CASE(R8_join_returns_while_a_relayed_completion_waits_elsewhere) {
  asio::thread_pool pool(1);
  asio::io_context any;
  async_mutex mutex(pool);
  manual_queue queue;
  fate f;
  BOOST_TEST_REQUIRE(mutex.try_lock());
  mutex.async_lock(asio::bind_executor(make_erased(queue, any), observed_handler(f)));
  asio::post(pool, [&] { mutex.unlock(); });
  auto const joined = std::async(std::launch::async, [&] { pool.join(); });
  BOOST_TEST((joined.wait_for(1min) == std::future_status::ready));
  run_all(queue);
  joined.wait();
  BOOST_TEST(f.granted());
}

// The wait's block holds an executor that tracks work. It has gone when the coroutine goes on:
// what tracks work then is what did before.
BOOST_AUTO_TEST_CASE(R12_a_coroutine_on_an_unknown_executor_resumes_after_its_block_has_gone) {
  if (!spared) return;
  asio::io_context home, own;
  async_mutex mutex(home);
  manual_queue queue;
  auto const count = std::make_shared<int>();
  counted_executor const ex(queue, own, count);
  long before = 0, after = 0;
  BOOST_TEST_REQUIRE(mutex.try_lock());
  auto const waits = [&]() -> asio::awaitable<void, counted_executor> {
    before = count.use_count();
    auto const lock = co_await mutex.async_lock();
    after = count.use_count();
  };
  asio::co_spawn(ex, waits, asio::detached);
  run_all(queue);
  BOOST_TEST_REQUIRE(before > 0);
  BOOST_TEST(count.use_count() > before);
  mutex.unlock();
  run_all(queue);
  BOOST_TEST(after == before);
  BOOST_TEST(count.use_count() == 1);
}

// The executor's own code drops the grant of another mutex, and awaits the one behind it.
BOOST_AUTO_TEST_CASE(R5_a_grant_goes_out_while_an_unknown_executor_runs_user_code) {
  asio::io_context home, other_home, own;
  async_mutex mutex(home), other(other_home);
  manual_queue queue;
  fate lost, next, last;
  BOOST_TEST_REQUIRE(mutex.try_lock());
  BOOST_TEST_REQUIRE(other.try_lock());
  other.async_lock(
      asio::bind_executor(manual_queue::executor(queue, own), observed_handler(lost)));
  other.async_lock(observed_handler(next));
  other.unlock();
  BOOST_TEST_REQUIRE(queue.size() == 1u);
  execution_log log;
  bool granted_inside = false;
  log.on_execute = [&] {
    queue.drop(0);
    other_home.restart();
    other_home.poll();
    granted_inside = next.granted();
  };
  mutex.async_lock(asio::bind_executor(hooked_executor(home, log), observed_handler(last)));
  mutex.unlock();
  home.poll();
  BOOST_TEST(log.executed() == 1);
  BOOST_TEST(lost.dropped());
  BOOST_TEST(granted_inside);
  BOOST_TEST(last.granted());
}

BOOST_AUTO_TEST_SUITE_END()
