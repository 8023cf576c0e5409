// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Arrivals: what is left of them when something fails or ends, and that a latch may be destroyed
// by whomever the last of them releases. What its core has in common with the event's is in
// manual_reset_event_lifetime_test.cpp.

#include "support/coroutine.hpp"
#include "support/event_result.hpp"
#include "support/executors.hpp"
#include "support/memory.hpp"
#include "support/test.hpp"

#include <asio_sync/async_latch.hpp>

namespace latch_lifetime_test {

using namespace asio_sync::test;
using asio_sync::detail::immediate_budget;

// How often a latch can still be counted down.
int left(async_latch& latch) {
  for (int n = 0;; ++n) {
    try {
      latch.count_down();
    } catch (system_error const&) {
      return n;
    }
  }
}

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
  async_latch latch{context, Last ? 1 : 2};
  fate f;
  std::optional<observed_handler> handler{std::in_place, f};

  void act() { Start()(*this, std::move(*handler)); }

  void check(bool thrown) {
    handler.reset();
    BOOST_TEST(latch.waiters() == std::size_t(!Last && !thrown));
    BOOST_TEST(left(latch) == (Last ? 1 : 2) - !thrown);
    poll();
    BOOST_TEST((thrown ? f.dropped() : f.granted()));
  }
};

template <class Start>
void fail_each_allocation_of(Start, std::size_t least) {
  BOOST_TEST((fail_each_allocation<initiation<Start, true>>()) >= 1u);
  BOOST_TEST((fail_each_allocation<initiation<Start, false>>()) >= least);
}

}  // namespace latch_lifetime_test

BOOST_FIXTURE_TEST_SUITE(latch_lifetime_test, fixture)

BOOST_AUTO_TEST_CASE(R13_an_arrival_without_memory_has_not_arrived) {
  fail_each_allocation_of(
      [](auto& s, auto handler) { s.latch.async_arrive_and_wait(std::move(handler)); }, 1);
  fail_each_allocation_of(
      [](auto& s, auto handler) {
        s.latch.async_arrive_and_wait(asio::bind_executor(
            s.strand, asio::bind_cancellation_slot(s.signal.slot(), std::move(handler))));
      },
      3);
#if !defined(BOOST_ASIO_HAS_IOCP)  // there a queue of timers whose making has failed is kept
  fail_each_allocation_of(
      [](auto& s, auto handler) {
        s.latch.async_arrive_and_wait_for(1h, asio::bind_executor(s.other, std::move(handler)));
      },
      3);
#endif
}

BOOST_AUTO_TEST_CASE(R13_an_arrival_that_comes_out_of_co_await_has_not_arrived) {
  async_latch latch(context, 2);
  bool thrown = false;
  run(context, [&]() -> asio::awaitable<void> {
    auto operation = latch.async_arrive_and_wait_for(1h, asio::use_awaitable);
    empty_pool const pool;
    failing_heap const heap;
    try {
      co_await std::move(operation);
    } catch (std::bad_alloc const&) {
      thrown = true;
    }
  });
  BOOST_TEST(thrown);
  BOOST_TEST(left(latch) == 2);
}

// Also where that is in the initiating function: what is thrown then ends there.
BOOST_AUTO_TEST_CASE(R13_an_arrival_stands_where_the_executor_throws_in_the_end) {
  auto fault = throwing_executor::plan::nothing;
  fate failed, last, granted;
  async_latch latch(context, 3);
  throwing_executor const throws(context, fault);
  latch.async_arrive_and_wait(asio::bind_executor(throws, observed_handler(failed)));
  latch.async_arrive_and_wait(asio::bind_executor(other, observed_handler(granted)));
  fault = throwing_executor::plan::execute;
  BOOST_CHECK_NO_THROW(
      latch.async_arrive_and_wait(asio::bind_executor(throws, observed_handler(last))));
  BOOST_TEST((failed.dropped() && last.dropped()));
  BOOST_TEST(latch.try_wait());
  poll();
  BOOST_TEST(granted.granted());
}

BOOST_AUTO_TEST_CASE(R3_a_dropped_arrival_stands) {
  fate dropped[3], granted;
  async_latch latch(context, 4);
  {
    asio::io_context dying;
    latch.async_arrive_and_wait(asio::bind_executor(dying, observed_handler(dropped[0])));
    latch.async_arrive_and_wait_for(1h, asio::bind_executor(dying, observed_handler(dropped[1])));
    latch.async_arrive_and_wait(observed_handler(granted));
    latch.async_arrive_and_wait(asio::bind_executor(dying, observed_handler(dropped[2])));
  }
  for (auto const& each : dropped) BOOST_TEST(each.dropped());
  poll();
  BOOST_TEST(granted.granted());
  BOOST_TEST(left(latch) == 0);
}

BOOST_AUTO_TEST_CASE(R10_arrivals_stand_when_the_context_of_their_waits_dies) {
  for (bool const home_dies : {false, true}) {
    auto dying = std::make_unique<asio::io_context>();
    async_latch latch(home_dies ? *dying : context, 4);
    fate dropped[2], granted;
    latch.async_arrive_and_wait(asio::bind_executor(*dying, observed_handler(dropped[0])));
    latch.async_arrive_and_wait_for(1h, asio::bind_executor(*dying, observed_handler(dropped[1])));
    latch.async_arrive_and_wait(asio::bind_executor(other, observed_handler(granted)));
    dying.reset();
    BOOST_TEST((dropped[0].dropped() && dropped[1].dropped()));
    BOOST_TEST(latch.waiters() == 1u);
    latch.count_down();
    poll();
    BOOST_TEST(granted.granted());
  }
}

// Nobody will ever call their handlers, but others wait for them.
BOOST_AUTO_TEST_CASE(R10_arrivals_stand_that_a_destructor_makes_while_its_context_shuts_down) {
  for (bool const at_home : {false, true}) {
    fate first, late[3], granted;
    auto dying = std::make_unique<asio::io_context>();
    asio::io_context& io = *dying;
    async_latch trigger(io, 1), latch(at_home ? io : context, 4);
    latch.async_arrive_and_wait(asio::bind_executor(other, observed_handler(granted)));
    trigger.async_wait(asio::bind_executor(
        io, observed_handler(first, [&, strand = asio::make_strand(io)] {
          latch.async_arrive_and_wait(asio::bind_executor(io, observed_handler(late[0])));
          latch.async_arrive_and_wait_for(1h,
                                          asio::bind_executor(strand, observed_handler(late[1])));
          latch.async_arrive_and_wait_for(1h, asio::bind_executor(io, observed_handler(late[2])));
        })));
    dying.reset();
    BOOST_TEST(first.dropped());
    for (auto const& each : late) BOOST_TEST(each.dropped());
    poll();
    BOOST_TEST(granted.granted());
    BOOST_TEST(left(latch) == 0);
  }
}

BOOST_AUTO_TEST_CASE(R9_who_was_released_succeeds_although_the_latch_dies_the_others_are_aborted) {
  for (bool const released : {false, true}) {
    auto latch = std::make_unique<async_latch>(context, 3);
    fate f[3];
    latch->async_arrive_and_wait(observed_handler(f[0]));
    latch->async_wait_for(1h, asio::bind_executor(other, observed_handler(f[1])));
    latch->async_arrive_and_wait(
        asio::bind_executor(asio::make_strand(other), observed_handler(f[2])));
    if (released) latch->count_down();
    latch.reset();
    poll();
    for (auto const& each : f) BOOST_TEST((released ? each.granted() : each.refused(aborted)));
  }
}

// The last to arrive, in each way in which one can; counted as granted.
enum class last { count, handler, timed, elsewhere, in_two_steps, coroutine, by_trip, thread };

asio::awaitable<void> arrive_in_a_coroutine(async_latch& latch, outcomes& o, bool by_trip) {
  counted_handler handler(o);
  if (by_trip)
    while (immediate_budget::available()) immediate_budget::use();
  co_await latch.async_arrive_and_wait();
  handler({});
}

void arrive_as_last(async_latch& latch, last how, asio::io_context& other, execution_log& log,
                    outcomes& o) {
  auto const handler = [&] { return counted_handler(o); };
  switch (how) {
    case last::count: latch.count_down(); return handler()({});
    case last::handler: return latch.async_arrive_and_wait(handler());
    case last::timed: return latch.async_arrive_and_wait_for(1h, handler());
    case last::elsewhere:
      return latch.async_arrive_and_wait_for(
          0s, asio::bind_executor(asio::make_strand(other), handler()));
    case last::in_two_steps:
      return latch.async_arrive_and_wait(asio::bind_executor(bare_executor(log), handler()));
    case last::coroutine:
    case last::by_trip:
      return asio::co_spawn(other, arrive_in_a_coroutine(latch, o, how == last::by_trip),
                            asio::detached);
    case last::thread: latch.arrive_and_wait(); return handler()({});
  }
}

// Some executors run what is released inside the function that releases it.
BOOST_AUTO_TEST_CASE(R9_destroyed_by_the_first_that_is_released_by_each_kind_of_arrival) {
  auto const check_one = [&](auto const& ex, last how, bool another) {
    auto own = std::make_unique<async_latch>(context, 2);
    auto& latch = *own;
    outcomes o;
    execution_log log;
    latch.async_arrive_and_wait(asio::bind_executor(ex, [&](error_code error) {
      o.granted += !error;
      own.reset();
    }));
    for (int i = 0; i < 10; ++i) latch.async_wait(asio::bind_executor(ex, counted_handler(o)));
    if (another) latch.async_wait_for(1h, asio::bind_executor(other, counted_handler(o)));
    arrive_as_last(latch, how, other, log, o);
    poll();
    BOOST_TEST(!own);
    BOOST_TEST(o.granted == (another ? 13u : 12u));
  };
  // Without another that is on its way, the core may end while the last is still arriving.
  auto const check = [&](auto const& ex, last how) {
    for (bool const another : {true, false}) check_one(ex, how, another);
  };
  for (last const how : {last::count, last::handler, last::timed, last::elsewhere,
                         last::in_two_steps, last::coroutine, last::by_trip, last::thread})
    BOOST_TEST_CONTEXT("the last: " << static_cast<int>(how)) {
      execution_log log;
      check(context.get_executor(), how);
      check(asio::make_strand(context), how);
      check(inline_executor(context), how);
      check(tracking_executor(context.get_executor(), log), how);
      check(bare_executor(log), how);
    }
}

BOOST_AUTO_TEST_CASE(R9_destroyed_in_a_pool_by_the_first_that_is_released) {
  asio::thread_pool pool(4);
  for (int round = 0; round < 300; ++round) {
    constexpr int participants = 6;
    auto* const latch = new async_latch(pool, participants + 1);
    std::atomic<int> first = 0, done = 0, refused = 0;
    auto const destroys = [&](error_code error) {
      if (error) ++refused;
      if (first++ == 0) delete latch;
      ++done;
    };
    auto const strand = asio::make_strand(pool);
    for (int i = 0; i < participants; ++i)
      asio::post(pool, [&, i] {
        if (i % 3 == 0)
          latch->async_arrive_and_wait(destroys);
        else if (i % 3 == 1)
          latch->async_arrive_and_wait_for(1h, asio::bind_executor(strand, destroys));
        else
          asio::co_spawn(
              pool,
              [&]() -> asio::awaitable<void> {
                co_await latch->async_arrive_and_wait();
                destroys({});
              },
              asio::detached);
      });
    std::thread thread([&] { latch->arrive_and_wait(), destroys({}); });
    thread.join();
    while (done != participants + 1) std::this_thread::yield();
    BOOST_TEST(refused == 0);
  }
}

// By a thread that finds it open, while the last to count down, or to arrive, is still at it.
BOOST_AUTO_TEST_CASE(R9_destroyed_by_a_thread_as_soon_as_it_is_open) {
  for (int round = 0; round < 1000; ++round) {
    auto latch = std::make_unique<async_latch>(context, 2);
    std::atomic<bool> ready = false;
    fate f;
    latch->count_down();
    std::thread thread([&, &last = *latch] {
      ready = true;
      if (round % 2) std::this_thread::yield();
      if (round % 4 < 2)
        last.count_down();
      else
        last.async_arrive_and_wait(observed_handler(f));
    });
    while (!ready) std::this_thread::yield();
    if (round % 3 == 0)
      while (!latch->try_wait()) std::this_thread::yield();
    else if (round % 3 == 1)
      BOOST_CHECK_NO_THROW(latch->wait());
    else  // its last wait leaves the queue while it is opened
      while (!latch->wait_for(1us)) std::this_thread::yield();
    latch.reset();
    thread.join();
    poll();
    BOOST_TEST(f.granted() == (round % 4 >= 2));
  }
}

BOOST_AUTO_TEST_CASE(R14_what_comes_before_each_arrival_comes_before_what_the_last_releases) {
  constexpr std::size_t threads = 4;
  for (int round = 0; round < 300; ++round) {
    async_latch latch(context, threads);
    std::vector<int> written(threads, 0);  // each by its thread
    std::vector<int> seen(threads, 0);
    std::vector<std::thread> all;
    all.reserve(threads);
    for (std::size_t i = 0; i < threads; ++i)
      all.emplace_back([&, i] {
        written[i] = 1;
        if (i % 2)
          latch.arrive_and_wait();
        else
          latch.count_down(), latch.wait();
        for (int const each : written) seen[i] += each;
      });
    for (auto& each : all) each.join();
    for (int const each : seen) BOOST_TEST(each == int(threads));
  }
}

// Of those who come too late each is told so, and nobody else is.
BOOST_AUTO_TEST_CASE(R17_counting_by_many_threads_comes_to_zero_once) {
  constexpr int threads = 4, each_counts = 200, count = 600;
  for (int round = 0; round < 20; ++round) {
    async_latch latch(context, count);
    std::atomic<int> counted = 0, refused = 0;
    outcomes o;
    std::vector<std::thread> all;
    all.reserve(threads);
    for (int i = 0; i < threads; ++i)
      all.emplace_back([&, i] {
        for (int j = 0; j < each_counts; ++j) try {
            if (i % 2 == 0)
              latch.count_down();
            else if (!latch.arrive_and_wait_for(0s))
              latch.async_wait(counted_handler(o));
            ++counted;
          } catch (system_error const&) {
            ++refused;
          }
      });
    for (auto& each : all) each.join();
    BOOST_TEST(counted == count);
    BOOST_TEST(refused == threads * each_counts - count);
    BOOST_TEST(latch.try_wait());
    poll();
    BOOST_TEST(o.all() == o.granted);
  }
}

// Arrivals meet cancellations, deadlines and the last of them: each counts once, whatever becomes
// of its wait.
BOOST_AUTO_TEST_CASE(R4_arrivals_meet_cancellations_and_deadlines) {
  asio::thread_pool pool(3);
  for (int round = 0; round < 200; ++round) {
    constexpr int n = 30;
    async_latch latch(pool, n);
    std::atomic<int> completed = 0, refused = 0;
    auto const note = [&](error_code error) {
      if (error && error != aborted && error != asio::error::timed_out) ++refused;
      ++completed;
    };
    std::thread cancelling([&] {
      while (!latch.try_wait()) latch.cancel();
    });
    auto const strand = asio::make_strand(pool);
    for (int i = 0; i < n; ++i) {
      if (i % 3 == 0)
        latch.async_arrive_and_wait(note);
      else if (i % 3 == 1)
        latch.async_arrive_and_wait_for(i % 2 ? 1us : 1h, asio::bind_executor(strand, note));
      else
        asio::co_spawn(
            pool,
            [&]() -> asio::awaitable<void> {
              auto const [error] =
                  co_await latch.async_arrive_and_wait(asio::as_tuple(asio::deferred));
              note(error);
            },
            asio::detached);
    }
    cancelling.join();
    while (completed != n) std::this_thread::yield();
    BOOST_TEST(refused == 0);
    BOOST_TEST(left(latch) == 0);
  }
}

BOOST_AUTO_TEST_SUITE_END()
