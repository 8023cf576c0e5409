// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The end of a signal, a context, memory or an executor while waits are queued or released.

#include "support/blocked_thread.hpp"
#include "support/coroutine.hpp"
#include "support/event_result.hpp"
#include "support/executors.hpp"
#include "support/memory.hpp"
#include "support/test.hpp"
#include "unit/signals/subjects.hpp"

namespace signals_lifetime_test {

using namespace asio_sync::test;
using namespace asio_sync::test::signals;

// Waits of every kind, whose completions are counted.
template <class Signal>
void wait_in_every_way(Signal& signal, asio::io_context& context, outcomes& o) {
  auto const strand = asio::make_strand(context);
  asio::co_spawn(context, arrive(signal, false, counted_handler(o)), asio::detached);
  signal.begin(asio::bind_executor(context, counted_handler(o)));
  signal.begin(asio::bind_executor(strand, counted_handler(o)));
  signal.begin_for(1h, asio::bind_executor(context, counted_handler(o)));
  signal.begin_for(1h, asio::bind_executor(asio::any_io_executor(strand), counted_handler(o)));
  signal.begin(asio::bind_executor(dropping_executor(context), counted_handler(o)));
}
constexpr std::size_t ways = 6, dropped_ways = 1;

// An arrival, Start(fixture, handler), whose allocations fail one after the other. It is the last,
// or has to wait for one more.
template <class Signal, class Start, bool Last>
struct initiation : fixture {
  asio::strand<asio::io_context::executor_type> strand{other.get_executor()};
  asio::cancellation_signal cancels;
  Signal signal{context, Last ? 0u : 1u};
  fate f;
  std::optional<observed_handler> handler{std::in_place, f};

  void act() { Start()(*this, std::move(*handler)); }

  void check(bool thrown) {
    handler.reset();
    BOOST_TEST(signal.waiters() == std::size_t(!Last && !thrown));
    BOOST_TEST(signal.opened() == (Last && !thrown));
    if (!Last) BOOST_TEST(signal.ahead() == (thrown ? 2 : 1));
    poll();
    BOOST_TEST((thrown ? f.dropped() : released(f)));
  }
};

template <class Signal, class Start>
void fail_each_allocation_of(Start, std::size_t least) {
  BOOST_TEST((fail_each_allocation<initiation<Signal, Start, true>>()) >= 1u);
  BOOST_TEST((fail_each_allocation<initiation<Signal, Start, false>>()) >= least);
}

}  // namespace signals_lifetime_test

BOOST_FIXTURE_TEST_SUITE(signals_lifetime_test, fixture)

BOOST_AUTO_TEST_CASE(R13_an_arrival_without_memory_has_not_arrived) {
  over<latch, barrier>([&]<class Signal>(of<Signal>) {
    fail_each_allocation_of<Signal>(
        [](auto& s, auto handler) { s.signal.begin(std::move(handler)); }, 1);
    fail_each_allocation_of<Signal>(
        [](auto& s, auto handler) {
          s.signal.begin(asio::bind_executor(
              s.strand, asio::bind_cancellation_slot(s.cancels.slot(), std::move(handler))));
        },
        3);
#if !defined(BOOST_ASIO_HAS_IOCP)  // there a queue of timers whose making has failed is kept
    fail_each_allocation_of<Signal>(
        [](auto& s, auto handler) {
          s.signal.begin_for(1h, asio::bind_executor(s.other, std::move(handler)));
        },
        3);
#endif
  });
}

BOOST_AUTO_TEST_CASE(R13_an_arrival_that_comes_out_of_co_await_has_not_arrived) {
  over<latch, barrier>([&]<class Signal>(of<Signal>) {
    Signal signal(context, 1);
    bool thrown = false;
    run(context, [&]() -> asio::awaitable<void> {
      auto operation = signal.begin_for(1h, asio::use_awaitable);
      empty_pool const pool;
      failing_heap const heap;
      try {
        static_cast<void>(co_await std::move(operation));
      } catch (std::bad_alloc const&) {
        thrown = true;
      }
    });
    BOOST_TEST(thrown);
    BOOST_TEST(signal.waiters() == 0u);
    BOOST_TEST(signal.ahead() == 2);
  });
}

// Also in the initiating function: it returns, and what the executor throws ends there. If the
// last to arrive at a barrier is gone, nobody leads.
BOOST_AUTO_TEST_CASE(R13_an_arrival_stands_where_the_executor_throws_in_the_end) {
  over<latch, barrier>([&]<class Signal>(of<Signal>) {
    auto fault = throwing_executor::plan::nothing;
    fate failed, last, f;
    Signal signal(context, 2);
    throwing_executor const throws(context, fault);
    signal.begin(asio::bind_executor(throws, observed_handler(failed)));
    signal.begin(asio::bind_executor(other, observed_handler(f)));
    fault = throwing_executor::plan::execute;
    BOOST_CHECK_NO_THROW(signal.begin(asio::bind_executor(throws, observed_handler(last))));
    BOOST_TEST((failed.dropped() && last.dropped() && signal.opened()));
    poll();
    BOOST_TEST(followed<Signal>(f));
  });
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

BOOST_AUTO_TEST_CASE(R3_a_completion_that_is_dropped_takes_nothing_along) {
  over<manual_reset, latch, barrier>([&]<class Signal>(of<Signal>) {
    fate dropped[3], f;
    Signal signal(context, 3);
    {
      asio::io_context dying;
      signal.begin(asio::bind_executor(dying, observed_handler(dropped[0])));
      signal.begin_for(1h, asio::bind_executor(dying, observed_handler(dropped[1])));
      signal.begin(observed_handler(f));
      if (!Signal::arrives) signal.release();
      signal.begin(asio::bind_executor(dying, observed_handler(dropped[2])));
    }
    for (auto const& each : dropped) BOOST_TEST(each.dropped());
    BOOST_TEST(signal.opened());
    poll();
    BOOST_TEST(followed<Signal>(f));
  });
}

BOOST_AUTO_TEST_CASE(R9_who_was_released_succeeds_although_the_signal_dies_others_are_aborted) {
  for (bool const comes : {true, false})
    over<auto_reset, manual_reset, latch, barrier, mailbox>([&]<class Signal>(of<Signal>) {
      auto signal = std::make_unique<Signal>(context, 2 * ways + 1);
      outcomes o;
      execution_log log;
      for (auto* const io : {&context, &other}) wait_in_every_way(*signal, *io, o);
      signal->begin(asio::bind_executor(bare_executor(log), counted_handler(o)));
      poll();  // the coroutines get there
      BOOST_TEST(signal->waiters() == 2 * ways + 1);
      if (comes) release_all(*signal);
      signal.reset();
      poll();
      BOOST_TEST((comes ? o.granted : o.refused) == 2 * (ways - dropped_ways) + 1);
      BOOST_TEST(o.dropped == 2 * dropped_ways);
    });
  over<auto_reset, manual_reset, mailbox>([&]<class Signal>(of<Signal>) {
    auto signal = std::make_unique<Signal>(context);
    fate first, second;
    signal->release();
    signal->begin(asio::bind_executor(other, observed_handler(first)));
    signal->begin(observed_handler(second));
    signal.reset();
    poll();
    BOOST_TEST(first.granted());
    BOOST_TEST((Signal::takes ? second.refused(aborted) : second.granted()));
  });
}

// Some executors run what is released inside the function that releases it. Without another that
// is on its way, the core may end while the last is still arriving.
BOOST_AUTO_TEST_CASE(R9_destroyed_by_the_first_that_is_released_however_the_signal_comes) {
  over<auto_reset, manual_reset, latch, barrier, mailbox>([&]<class Signal>(of<Signal>) {
    auto const check_one = [&](auto const& ex, last how, std::size_t others) {
      auto own = std::make_unique<Signal>(context, 11 + others);
      Signal& signal = *own;
      outcomes o;
      signal.begin(asio::bind_executor(ex, [&](error_code error, auto...) {
        o.granted += !error;
        own.reset();
      }));
      for (int i = 0; i < 10; ++i) signal.begin(asio::bind_executor(ex, counted_handler(o)));
      if (others != 0) signal.begin_for(1h, asio::bind_executor(other, counted_handler(o)));
      come(signal, how, other, counted_handler(o));
      poll();
      BOOST_TEST(!own);
      BOOST_TEST(o.granted == (Signal::takes ? 2 : 12 + others));
      BOOST_TEST(o.refused == (Signal::takes ? 10 + others : 0));
    };
    auto const check = [&](auto const& ex, last how) {
      for (std::size_t const others : {1, 0}) check_one(ex, how, others);
    };
    for (last const how : ways_to_come<Signal>())
      BOOST_TEST_CONTEXT("it comes: " << static_cast<int>(how)) {
        execution_log log;
        check(context.get_executor(), how);
        check(asio::make_strand(other), how);
        check(inline_executor(context), how);
        check(tracking_executor(context.get_executor(), log), how);
        check(bare_executor(log), how);
      }
  });
}

BOOST_AUTO_TEST_CASE(R9_destroyed_by_its_completion_function) {
  for (std::size_t const waits : {0u, 2u})
    for (last const how : ways_to_come<barrier>()) BOOST_TEST_CONTEXT(static_cast<int>(how)) {
        std::unique_ptr<async_barrier> own;
        auto const keeps = std::make_shared<int>(1);
        int seen = 0;
        struct subject : meeting<async_barrier, true> {
          using meeting::meeting;
          void release() { arrive_and_drop(); }
        };
        auto made =
            std::make_unique<subject>(context, static_cast<std::ptrdiff_t>(waits + 1), [&, keeps] {
              own.reset();
              seen = *keeps;  // the function lives as it runs
            });
        subject& signal = *made;
        own = std::move(made);
        outcomes o;
        for (std::size_t i = 0; i < waits; ++i)
          signal.begin(asio::bind_executor(i == 0 ? context : other, counted_handler(o)));
        come(signal, how, other, counted_handler(o));
        poll();
        BOOST_TEST((!own && seen == 1));
        BOOST_TEST(o.granted == waits + 1);
        BOOST_TEST(keeps.use_count() == 1);
      }
}

BOOST_AUTO_TEST_CASE(R9_destroyed_in_a_pool_by_the_first_that_is_released) {
  asio::thread_pool pool(4);
  over<auto_reset, manual_reset, latch, barrier, mailbox>([&]<class Signal>(of<Signal>) {
    for (int round = 0; round < 300; ++round) {
      constexpr int waits = 6, threads = Signal::blocks;
      auto* const signal = new Signal(pool, waits);
      std::atomic<int> first = 0, done = 0, refused = 0;
      auto const destroys = [&](error_code error, auto...) {
        if (error) ++refused;
        if (first++ == 0) delete signal;
        ++done;
      };
      auto const strand = asio::make_strand(pool);
      for (int i = 0; i < waits; ++i) {
        auto const begin = [&, i] {
          if (i % 3 == 0)
            signal->begin(destroys);
          else if (i % 3 == 1)
            signal->begin_for(1h, asio::bind_executor(strand, destroys));
          else
            asio::co_spawn(pool, arrive(*signal, false, destroys), asio::detached);
        };
        if (Signal::arrives)
          asio::post(pool, begin);
        else
          begin();
      }
      std::thread thread([&] {
        if constexpr (Signal::blocks) destroys(error_of([&] { signal->block(); }));
      });
      if (!Signal::arrives) {
        while (signal->waiters() != waits + threads) std::this_thread::yield();
        signal->release();
      }
      thread.join();
      while (done != waits + threads) std::this_thread::yield();
      BOOST_TEST(refused == (Signal::takes ? waits + threads - 1 : 0));
    }
  });
}

// By a thread that finds it open, while the last that comes is still at it.
BOOST_AUTO_TEST_CASE(R9_destroyed_by_a_thread_as_soon_as_it_is_open) {
  over<manual_reset, latch>([&]<class Signal>(of<Signal>) {
    for (int round = 0; round < 1000; ++round) {
      auto signal = std::make_unique<Signal>(context);
      bool const arrives = Signal::arrives && round % 4 >= 2;
      std::atomic<bool> ready = false;
      fate f;
      std::thread thread([&, &comes = *signal] {
        ready = true;
        if (round % 2) std::this_thread::yield();
        if (arrives)
          comes.begin(observed_handler(f));
        else
          comes.release();
      });
      while (!ready) std::this_thread::yield();
      if (round % 3 == 0)
        while (!signal->opened()) std::this_thread::yield();
      else if (round % 3 == 1)
        BOOST_CHECK_NO_THROW(signal->wait());
      else  // its last wait leaves the queue while it is opened
        while (!signal->wait_for(1us)) std::this_thread::yield();
      signal.reset();
      thread.join();
      poll();
      BOOST_TEST(f.granted() == arrives);
    }
  });
}

BOOST_AUTO_TEST_CASE(R9_nothing_is_left_of_signals_whose_waits_outlived_them) {
  over<auto_reset, manual_reset, latch, barrier, mailbox>([&]<class Signal>(of<Signal>) {
    auto const round = [&] {
      for (bool const comes : {false, true}) {
        fixture own;  // strands leave something in their context
        auto signal = std::make_unique<Signal>(own.context, 2 * ways);
        outcomes o;
        for (auto* const io : {&own.context, &own.other}) wait_in_every_way(*signal, *io, o);
        own.poll();
        if (comes) signal->release();
        signal.reset();
        own.poll();
        BOOST_TEST(o.all() == 2 * ways);
      }
    };
    empty_pool const pool;
    for (int i = 0; i < 3; ++i) round();
    heap_counter const heap(heap_counter::scope::all_threads);
    for (int i = 0; i < 3; ++i) round();
    BOOST_TEST(heap.kept() <= 0);
  });
}

BOOST_AUTO_TEST_CASE(R10_contexts_and_signal_end_in_every_order) {
  over<auto_reset, manual_reset, latch, barrier, mailbox>([&]<class Signal>(of<Signal>) {
    for (bool const comes : {false, true}) {
      std::array<std::size_t, 3> order = {0, 1, 2};
      do {
        std::array contexts = {std::make_unique<asio::io_context>(),
                               std::make_unique<asio::io_context>()};
        auto signal = std::make_unique<Signal>(*contexts[0], 2 * ways);
        outcomes o;
        for (auto const& each : contexts) wait_in_every_way(*signal, *each, o);
        for (auto const& each : contexts) each->poll();  // the coroutines get there
        if (comes) signal->release();
        for (auto const step : order) step == 2 ? signal.reset() : contexts[step].reset();
        BOOST_TEST(o.dropped == 2 * ways);
      } while (std::ranges::next_permutation(order).found);
    }
  });
}

// The signal that was on its way to one of them goes to the oldest of the others.
BOOST_AUTO_TEST_CASE(R10_waits_of_others_go_on_when_a_context_dies_the_home_too) {
  for (bool const home_dies : {false, true})
    over<auto_reset, manual_reset, latch, mailbox>([&]<class Signal>(of<Signal>) {
      fate dead[3], living[3];
      auto dying = std::make_unique<asio::io_context>();
      Signal signal(home_dies ? *dying : context, 6);
      auto const wait_elsewhere = [&](fate& each) {
        signal.begin_for(1h, asio::bind_executor(other, observed_handler(each)));
      };
      signal.begin(asio::bind_executor(*dying, observed_handler(dead[0])));
      signal.begin_for(1h, asio::bind_executor(*dying, observed_handler(dead[1])));
      signal.begin(asio::bind_executor(asio::make_strand(*dying), observed_handler(dead[2])));
      wait_elsewhere(living[0]);
      wait_elsewhere(living[1]);
      if (Signal::takes) signal.release();
      dying.reset();
      for (auto const& each : dead) BOOST_TEST(each.dropped());
      BOOST_TEST(signal.waiters() == (Signal::takes ? 1u : 2u));
      poll();
      BOOST_TEST((living[0].granted() == Signal::takes && living[1].waits()));
      wait_elsewhere(living[2]);
      release_all(signal);
      poll();
      for (auto const& each : living) BOOST_TEST(each.granted());
      BOOST_TEST(signal.opened() != Signal::takes);
    });
}

// Nobody will ever call their handlers: at a barrier that breaks the phase, elsewhere others are
// let go.
BOOST_AUTO_TEST_CASE(R10_waits_of_a_destructor_while_its_context_shuts_down) {
  for (bool const at_home : {false, true})
    over<auto_reset, manual_reset, latch, barrier, mailbox>([&]<class Signal>(of<Signal>) {
      fate first, late[3], here;
      auto dying = std::make_unique<asio::io_context>();
      asio::io_context& io = *dying;
      Signal trigger(io, 1), signal(at_home ? io : context, 3);
      signal.begin(asio::bind_executor(other, observed_handler(here)));
      trigger.begin(asio::bind_executor(
          io, observed_handler(first, [&, strand = asio::make_strand(io)] {
            if (!Signal::arrives) signal.release();
            signal.begin(asio::bind_executor(io, observed_handler(late[0])));
            signal.begin_for(1h, asio::bind_executor(strand, observed_handler(late[1])));
            signal.begin_for(1h, asio::bind_executor(io, observed_handler(late[2])));
          })));
      dying.reset();
      BOOST_TEST(first.dropped());
      for (auto const& each : late) BOOST_TEST(each.dropped());
      BOOST_TEST(signal.waiters() == 0u);
      poll();
      BOOST_TEST((Signal::leads ? here.refused(broken) : here.granted()));
      if (!Signal::takes) BOOST_TEST(signal.opened() != Signal::leads);
    });
}

BOOST_AUTO_TEST_CASE(R10_a_participant_whose_context_dies_breaks_the_phase) {
  for (bool const home_dies : {false, true})
    for (bool const timed : {false, true}) {
      auto dying = std::make_unique<asio::io_context>();
      barrier b(home_dies ? *dying : context, 4);
      fate dropped[2], f;
      b.begin(asio::bind_executor(*dying, observed_handler(dropped[0])));
      if (timed)
        b.begin_for(1h, asio::bind_executor(other, observed_handler(f)));
      else
        b.begin(asio::bind_executor(asio::make_strand(other), observed_handler(f)));
      b.begin_for(1h, asio::bind_executor(*dying, observed_handler(dropped[1])));
      blocked_thread thread(b, 4, [&] { b.block(); });
      dying.reset();
      BOOST_TEST((thread.join() == broken && dropped[0].dropped() && dropped[1].dropped()));
      BOOST_TEST(b.waiters() == 0u);
      poll();
      BOOST_TEST(f.refused(broken));
      fate next[5];
      for (auto& each : next) b.begin(asio::bind_executor(other, observed_handler(each)));
      poll();
      for (auto const& each : next) BOOST_TEST(released(each));
      BOOST_TEST(b.phases == 1);
    }
}

// Breaking the phase for each other, they are destroyed all the same: also where their executor
// would run them at once.
BOOST_AUTO_TEST_CASE(R10_participants_whose_context_dies_hear_nothing_of_each_other) {
  fate f[3], here;
  barrier b(context, 4);
  b.begin(observed_handler(here));
  {
    struct : asio::execution_context {
    } dying;
    inline_executor const runs_at_once(dying);
    for (auto& each : f) b.begin(asio::bind_executor(runs_at_once, observed_handler(each)));
  }
  for (auto const& each : f) BOOST_TEST(each.dropped());
  poll();
  BOOST_TEST(here.refused(broken));
}

BOOST_AUTO_TEST_CASE(R5_released_from_within_whatever_user_code_there_is) {
  enum class from { handler, slot, destructor, executor, dying_context };
  using enum from;
  over<auto_reset, manual_reset, latch, mailbox>([&]<class Signal>(of<Signal>) {
    for (from const where : {handler, slot, destructor, executor, dying_context})
      BOOST_TEST_CONTEXT("from " << static_cast<int>(where)) {
        async_manual_reset_event trigger(context);
        Signal signal(context, where == dying_context ? 13 : 12);
        outcomes o;
        fate f;
        execution_log log;
        auto const release = [&] { release_all(signal); };
        log.on_execute = release;
        for (auto* const io : {&context, &other})
          for (int i = 0; i < 3; ++i) {
            signal.begin(asio::bind_executor(*io, counted_handler(o)));
            signal.begin_for(1h, asio::bind_executor(inline_executor(*io), counted_handler(o)));
          }
        asio::cancellation_signal cancels;
        if (where == handler) trigger.async_wait([&](error_code) { release(); });
        if (where == slot) cancels.slot().assign([&](asio::cancellation_type) { release(); });
        if (where == destructor) trigger.async_wait(observed_handler(f, release));
        if (where == executor)
          trigger.async_wait(asio::bind_executor(tracking_executor(context.get_executor(), log),
                                                 [](error_code) {}));
        if (where == dying_context) {
          asio::io_context dying;
          signal.begin(asio::bind_executor(dying, observed_handler(f, release)));
        }
        cancels.emit(asio::cancellation_type::terminal);
        trigger.set();
        poll();
        BOOST_TEST(o.granted == 12u);
        BOOST_TEST(signal.waiters() == 0u);
      }
  });
}

BOOST_AUTO_TEST_SUITE_END()
