// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Phases whose participants, contexts, executors or barrier end; and many threads.

#include "support/coroutine.hpp"
#include "support/executors.hpp"
#include "support/memory.hpp"
#include "support/test.hpp"

#include <asio_sync/async_barrier.hpp>

namespace barrier_lifetime_test {

using namespace asio_sync::test;

error_code const broken = asio_sync::error::broken_barrier;

// A participant that was released, as the leader or not.
bool released(fate const& f) { return f.called == 1 && !f.error; }
bool led(fate const& f) { return f.granted(); }

struct fixture {
  asio::io_context context, other;

  void poll() {
    for (int i = 0; i < 2; ++i)
      for (auto* const io : {&context, &other}) {
        io->restart();
        io->poll();
      }
  }
};

// One arrival whose allocations fail one after the other: Start(fixture, handler). It is the last,
// or has to wait for one more.
template <class Start, bool Last>
struct initiation : fixture {
  asio::strand<asio::io_context::executor_type> strand{other.get_executor()};
  asio::cancellation_signal signal;
  int phases = 0;
  async_barrier barrier{context, Last ? 1 : 2, [this] { ++phases; }};
  fate f;
  std::optional<observed_handler> handler{std::in_place, f};

  void act() { Start()(*this, std::move(*handler)); }

  void check(bool thrown) {
    handler.reset();
    BOOST_TEST(barrier.waiters() == std::size_t(!Last && !thrown));
    BOOST_TEST(phases == int(Last && !thrown));
    if (!Last && !thrown) BOOST_TEST(barrier.arrive_and_wait());
    poll();
    BOOST_TEST((thrown ? f.dropped() : released(f)));
  }
};

template <class Start>
void fail_each_allocation_of(Start, std::size_t least) {
  BOOST_TEST((fail_each_allocation<initiation<Start, true>>()) >= 1u);
  BOOST_TEST((fail_each_allocation<initiation<Start, false>>()) >= least);
}

}  // namespace barrier_lifetime_test

BOOST_FIXTURE_TEST_SUITE(barrier_lifetime_test, fixture)

BOOST_AUTO_TEST_CASE(R13_an_arrival_without_memory_has_not_arrived) {
  fail_each_allocation_of(
      [](auto& s, auto handler) { s.barrier.async_arrive_and_wait(std::move(handler)); }, 1);
  fail_each_allocation_of(
      [](auto& s, auto handler) {
        s.barrier.async_arrive_and_wait(asio::bind_executor(
            s.strand, asio::bind_cancellation_slot(s.signal.slot(), std::move(handler))));
      },
      3);
#if !defined(BOOST_ASIO_HAS_IOCP)  // there a queue of timers whose making has failed is kept
  fail_each_allocation_of(
      [](auto& s, auto handler) {
        s.barrier.async_arrive_and_wait_for(1h, asio::bind_executor(s.other, std::move(handler)));
      },
      3);
#endif
}

BOOST_AUTO_TEST_CASE(R13_an_arrival_that_comes_out_of_co_await_has_not_arrived) {
  async_barrier barrier(context, 2);
  bool thrown = false;
  run(context, [&]() -> asio::awaitable<void> {
    auto operation = barrier.async_arrive_and_wait_for(1h, asio::use_awaitable);
    empty_pool const pool;
    failing_heap const heap;
    try {
      static_cast<void>(co_await std::move(operation));
    } catch (std::bad_alloc const&) {
      thrown = true;
    }
  });
  BOOST_TEST(thrown);
  BOOST_TEST(barrier.waiters() == 0u);
}

BOOST_AUTO_TEST_CASE(R13_the_last_arrival_stands_where_its_executor_throws_in_the_end) {
  auto fault = throwing_executor::plan::nothing;
  fate failed, last, f;
  async_barrier barrier(context, 3);
  throwing_executor const throws(context, fault);
  barrier.async_arrive_and_wait(asio::bind_executor(throws, observed_handler(failed)));
  barrier.async_arrive_and_wait(asio::bind_executor(other, observed_handler(f)));
  fault = throwing_executor::plan::execute;
  BOOST_CHECK_NO_THROW(
      barrier.async_arrive_and_wait(asio::bind_executor(throws, observed_handler(last))));
  BOOST_TEST((failed.dropped() && last.dropped()));
  poll();
  BOOST_TEST((released(f) && !led(f)));  // the leader is gone: nobody leads
}

// The barrier has kept work for the completion that it did not come to.
BOOST_AUTO_TEST_CASE(R13_a_handler_whose_move_throws_leaves_no_work_behind) {
  struct throwing_handler {
    explicit throwing_handler(bool& t) : throws(t) {}
    throwing_handler(throwing_handler const& other) : throws(other.throws) {
      if (throws) throw std::bad_alloc();
    }
    void operator()(error_code, bool) {}
    bool& throws;
  };
  bool throws = false;
  async_barrier barrier(context, 2, [] { throw std::bad_alloc(); });
  barrier.async_arrive_and_wait(throwing_handler(throws));
  asio::post(context, [&] {
    barrier.async_arrive_and_wait(asio::bind_executor(other, [](error_code, bool) {}));
    throws = true;
  });
  BOOST_CHECK_THROW(context.run(), std::bad_alloc);
  context.poll();
  BOOST_TEST(context.stopped());
}

BOOST_AUTO_TEST_CASE(R3_a_leader_that_is_dropped_leaves_the_phase_as_it_is) {
  fate f, last;
  async_barrier barrier(context, 2);
  {
    asio::io_context dying;
    barrier.async_arrive_and_wait(observed_handler(f));
    barrier.async_arrive_and_wait(asio::bind_executor(dying, observed_handler(last)));
  }
  BOOST_TEST(last.dropped());
  poll();
  BOOST_TEST((released(f) && !led(f)));
}

BOOST_AUTO_TEST_CASE(R10_a_participant_whose_context_dies_breaks_the_phase) {
  for (bool const home_dies : {false, true})
    for (bool const timed : {false, true}) {
      auto dying = std::make_unique<asio::io_context>();
      int phases = 0;
      async_barrier barrier(home_dies ? *dying : context, 4, [&] { ++phases; });
      fate dropped[2], f;
      barrier.async_arrive_and_wait(asio::bind_executor(*dying, observed_handler(dropped[0])));
      if (timed)
        barrier.async_arrive_and_wait_for(1h, asio::bind_executor(other, observed_handler(f)));
      else
        barrier.async_arrive_and_wait(
            asio::bind_executor(asio::make_strand(other), observed_handler(f)));
      barrier.async_arrive_and_wait_for(1h,
                                        asio::bind_executor(*dying, observed_handler(dropped[1])));
      dying.reset();
      BOOST_TEST((dropped[0].dropped() && dropped[1].dropped()));
      BOOST_TEST(barrier.waiters() == 0u);
      poll();
      BOOST_TEST(f.refused(broken));
      fate next[4];
      for (auto& each : next)
        barrier.async_arrive_and_wait(asio::bind_executor(other, observed_handler(each)));
      poll();
      for (auto const& each : next) BOOST_TEST(released(each));
      BOOST_TEST(phases == 1);
    }
}

BOOST_AUTO_TEST_CASE(R10_a_thread_hears_of_a_participant_whose_context_dies) {
  auto dying = std::make_unique<asio::io_context>();
  async_barrier barrier(*dying, 3);
  fate dropped;
  barrier.async_arrive_and_wait(observed_handler(dropped));
  error_code error;
  std::thread thread([&] {
    try {
      barrier.arrive_and_wait();
    } catch (boost::system::system_error const& e) {
      error = e.code();
    }
  });
  while (barrier.waiters() != 2u) std::this_thread::yield();
  dying.reset();
  thread.join();
  BOOST_TEST(dropped.dropped());
  BOOST_TEST(error == broken);
}

// Breaking the phase for each other, they are destroyed all the same: also where their executor
// would run them at once.
BOOST_AUTO_TEST_CASE(R10_participants_whose_context_dies_hear_nothing_of_each_other) {
  fate f[3], here;
  async_barrier barrier(context, 5);
  barrier.async_arrive_and_wait(observed_handler(here));
  {
    struct : asio::execution_context {
    } dying;
    inline_executor const runs_at_once(dying);
    for (auto& each : f)
      barrier.async_arrive_and_wait(asio::bind_executor(runs_at_once, observed_handler(each)));
  }
  for (auto const& each : f) BOOST_TEST(each.dropped());
  poll();
  BOOST_TEST(here.refused(broken));
}

// Nobody will ever call their handlers.
BOOST_AUTO_TEST_CASE(
    R10_an_arrival_of_a_destructor_while_its_context_shuts_down_breaks_the_phase) {
  for (bool const at_home : {false, true})
    for (bool const timed : {false, true}) {
      fate first, late, f;
      auto dying = std::make_unique<asio::io_context>();
      asio::io_context& io = *dying;
      async_barrier trigger(io, 2), barrier(at_home ? io : context, 3);
      barrier.async_arrive_and_wait(asio::bind_executor(other, observed_handler(f)));
      trigger.async_arrive_and_wait(asio::bind_executor(
          io, observed_handler(first, [&] {
            if (timed)
              barrier.async_arrive_and_wait_for(1h,
                                                asio::bind_executor(io, observed_handler(late)));
            else
              barrier.async_arrive_and_wait(asio::bind_executor(io, observed_handler(late)));
          })));
      dying.reset();
      BOOST_TEST((first.dropped() && late.dropped()));
      poll();
      BOOST_TEST(f.refused(broken));
      BOOST_TEST(barrier.waiters() == 0u);
    }
}

BOOST_AUTO_TEST_CASE(R9_who_was_released_succeeds_although_the_barrier_dies_others_are_aborted) {
  for (bool const all : {false, true}) {
    auto barrier = std::make_unique<async_barrier>(context, 4);
    fate f[3], last;
    barrier->async_arrive_and_wait(observed_handler(f[0]));
    barrier->async_arrive_and_wait_for(1h, asio::bind_executor(other, observed_handler(f[1])));
    barrier->async_arrive_and_wait(
        asio::bind_executor(asio::make_strand(other), observed_handler(f[2])));
    if (all) barrier->async_arrive_and_wait(observed_handler(last));
    barrier.reset();
    poll();
    for (auto const& each : f) BOOST_TEST((all ? released(each) : each.refused(aborted)));
    BOOST_TEST(led(last) == all);
  }
}

// Some executors run what is released inside the function that releases it.
BOOST_AUTO_TEST_CASE(R9_destroyed_by_whom_it_releases_or_by_its_completion_function) {
  enum class last { drop, handler, elsewhere, in_two_steps, coroutine, thread };
  auto const check = [&](auto const& ex, last how, bool by_completion) {
    std::unique_ptr<async_barrier> own;
    auto const keeps = std::make_shared<int>(1);
    int seen = 0, done = 0;
    own = std::make_unique<async_barrier>(context, 3, [&, keeps] {
      if (by_completion) own.reset();
      seen = *keeps;  // the function lives as long as it runs
    });
    auto& barrier = *own;
    execution_log log;
    auto const note = [&](error_code error, bool) { done += !error; };
    barrier.async_arrive_and_wait(asio::bind_executor(ex, [&](error_code error, bool) {
      done += !error;
      own.reset();
    }));
    barrier.async_arrive_and_wait_for(1h, asio::bind_executor(other, note));
    switch (how) {
      case last::drop:
        barrier.arrive_and_drop();
        ++done;
        break;
      case last::handler: barrier.async_arrive_and_wait(note); break;
      case last::elsewhere:
        barrier.async_arrive_and_wait_for(0s, asio::bind_executor(asio::make_strand(other), note));
        break;
      case last::in_two_steps:
        barrier.async_arrive_and_wait(asio::bind_executor(bare_executor(log), note));
        break;
      case last::coroutine:
        asio::co_spawn(
            other,
            [](async_barrier& b, int& count) -> asio::awaitable<void> {
              count += co_await b.async_arrive_and_wait();
            }(barrier, done),
            asio::detached);
        break;
      case last::thread: done += barrier.arrive_and_wait(); break;
    }
    poll();
    BOOST_TEST(!own);
    BOOST_TEST((done == 3 && seen == 1));
    BOOST_TEST(keeps.use_count() == 1);
  };
  for (bool const by_completion : {false, true})
    for (last const how : {last::drop, last::handler, last::elsewhere, last::in_two_steps,
                           last::coroutine, last::thread})
      BOOST_TEST_CONTEXT("the last: " << static_cast<int>(how)) {
        execution_log log;
        check(context.get_executor(), how, by_completion);
        check(asio::make_strand(context), how, by_completion);
        check(inline_executor(context), how, by_completion);
        check(tracking_executor(context.get_executor(), log), how, by_completion);
        check(bare_executor(log), how, by_completion);
      }
}

BOOST_AUTO_TEST_CASE(R9_a_barrier_of_one_is_destroyed_by_its_completion_function) {
  enum class last { drop, handler, coroutine, thread };
  for (last const how : {last::drop, last::handler, last::coroutine, last::thread}) {
    std::unique_ptr<async_barrier> own;
    auto const keeps = std::make_shared<int>(1);
    int seen = 0;
    own = std::make_unique<async_barrier>(context, 1, [&, keeps] {
      own.reset();
      seen = *keeps;
    });
    fate f;
    bool leader = false;
    switch (how) {
      case last::drop: own->arrive_and_drop(); break;
      case last::handler: own->async_arrive_and_wait(observed_handler(f)); break;
      case last::coroutine:
        run(context,
            [&]() -> asio::awaitable<void> { leader = co_await own->async_arrive_and_wait(); });
        break;
      case last::thread: leader = own->arrive_and_wait(); break;
    }
    poll();
    BOOST_TEST((leader || led(f) || how == last::drop));
    BOOST_TEST((seen == 1 && !own));
    BOOST_TEST(keeps.use_count() == 1);
  }
}

BOOST_AUTO_TEST_CASE(R14_what_comes_before_each_arrival_comes_before_what_the_last_releases) {
  constexpr std::size_t threads = 4;
  constexpr int phases = 300;
  std::vector<int> written(threads, 0);  // each by its thread
  int sum = 0, leads = 0;
  std::atomic<int> led_by_any = 0;
  async_barrier barrier(context, threads, [&] {
    sum = 0;
    for (int const each : written) sum += each;
    ++leads;
  });
  std::vector<std::thread> all;
  std::atomic<int> wrong = 0;
  for (std::size_t i = 0; i < threads; ++i)
    all.emplace_back([&, i] {
      for (int phase = 1; phase <= phases; ++phase) {
        written[i] = phase;
        led_by_any += barrier.arrive_and_wait();
        wrong += sum != int(threads) * phase;
        barrier.arrive_and_wait();  // until all have looked
      }
    });
  for (auto& each : all) each.join();
  BOOST_TEST(wrong == 0);
  BOOST_TEST((leads == 2 * phases && led_by_any == phases));
}

// In a pool, with every kind of participant; the last phase is that in which all drop.
BOOST_AUTO_TEST_CASE(R17_each_phase_has_one_leader_and_one_completion) {
  asio::thread_pool pool(3);
  constexpr int participants = 4, phases = 200;
  std::atomic<int> completed = 0, leads = 0, refused = 0;
  async_barrier barrier(pool, participants, [&] { ++completed; });
  for (int i = 0; i < participants; ++i)
    asio::co_spawn(
        i % 2 ? asio::any_io_executor(asio::make_strand(pool)) : pool.get_executor(),
        [&, i]() -> asio::awaitable<void> {
          for (int phase = 0; phase < phases; ++phase) {
            auto const [error, leader] = co_await barrier.async_arrive_and_wait_for(
                1h, asio::as_tuple(asio::use_awaitable));
            refused += !!error;
            leads += leader;
            if (i == phase % participants) co_await asio::post(asio::use_awaitable);
          }
          barrier.arrive_and_drop();
        },
        asio::detached);
  pool.join();
  BOOST_TEST(refused == 0);
  BOOST_TEST((leads == phases && completed == phases + 1));
}

// Arrivals meet cancellations, deadlines and the last of them: whoever arrives hears of it once,
// and as many are released as phases have room for.
BOOST_AUTO_TEST_CASE(R4_arrivals_meet_cancellations_and_deadlines) {
  asio::thread_pool pool(3);
  constexpr int participants = 3, n = 2000;
  std::atomic<int> phases = 0, let_go = 0, leads = 0, refused = 0, strange = 0;
  async_barrier barrier(pool, participants, [&] { ++phases; });
  auto const note = [&](error_code error, bool leader) {
    leads += leader;
    ++(error ? refused : let_go);
    strange += error && error != aborted && error != broken && error != asio::error::timed_out;
  };
  std::atomic<bool> all_begun = false;
  std::thread cancelling([&] {
    while (!all_begun) {
      barrier.cancel();
      std::this_thread::yield();
    }
  });
  auto const strand = asio::make_strand(pool);
  for (int i = 0; i < n; ++i) {
    if (i % 3 == 0)
      barrier.async_arrive_and_wait(note);
    else if (i % 3 == 1)
      barrier.async_arrive_and_wait_for(i % 2 ? 1us : 1h, asio::bind_executor(strand, note));
    else
      asio::co_spawn(
          pool,
          [&]() -> asio::awaitable<void> {
            auto const [error, leader] =
                co_await barrier.async_arrive_and_wait(asio::as_tuple(asio::deferred));
            note(error, leader);
          },
          asio::detached);
  }
  all_begun = true;
  cancelling.join();
  while (let_go + refused != n) barrier.cancel();
  pool.join();
  BOOST_TEST(strange == 0);
  BOOST_TEST((let_go == phases * participants && leads == phases));
}

BOOST_AUTO_TEST_CASE(R6_very_many_wait_for_the_last) {
#ifdef ASIO_SYNC_TEST_SANITIZED
  constexpr int n = 10'000;
#else
  constexpr int n = 200'000;
#endif
  async_barrier barrier(context, n + 1);
  int let_go = 0, refused = 0;
  asio::cancellation_signal signal;
  auto const note = [&](error_code error, bool) { ++(error ? refused : let_go); };
  for (bool const breaks : {false, true}) {
    for (int i = 1; i < n; ++i) barrier.async_arrive_and_wait(note);
    barrier.async_arrive_and_wait(asio::bind_cancellation_slot(signal.slot(), note));
    if (breaks)
      signal.emit(asio::cancellation_type::total);
    else
      barrier.async_arrive_and_wait(note);
    poll();
  }
  BOOST_TEST((let_go == n + 1 && refused == n));
}

BOOST_AUTO_TEST_SUITE_END()
