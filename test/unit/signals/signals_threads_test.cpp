// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Signals with very many waits, and against whatever other threads do.

#include "support/coroutine.hpp"
#include "support/event_result.hpp"
#include "support/memory.hpp"
#include "support/test.hpp"
#include "unit/signals/subjects.hpp"

namespace signals_threads_test {

using namespace asio_sync::test;
using namespace asio_sync::test::signals;

// Tokens, of which each has a flag, and is raised again only once it was consumed.
struct tokens {
  static constexpr unsigned count = 8;
  static constexpr int rounds = 1000;
  static constexpr mailbox_flags set = (1u << count) - 1;

  async_mailbox& mailbox;
  std::array<std::atomic<bool>, count> raised{};
  std::array<int, count> payload{};  // not atomic
  std::atomic<int> consumed = 0, wrong = 0;

  bool done() const { return consumed == int(count) * rounds; }

  void produce(unsigned token) {
    for (int i = 0; i < rounds; ++i) {
      while (raised[token]) std::this_thread::yield();
      ++payload[token];
      raised[token] = true;
      mailbox.raise(1u << token);
    }
  }

  void consume(mailbox_flags got) {
    for (unsigned token = 0; token < count; ++token) {
      if (!(got >> token & 1)) continue;
      wrong += !raised[token] || ++payload[token] % 2 != 0;
      raised[token] = false;
      if (++consumed == int(count) * rounds) mailbox.close();
    }
  }

  // Takes again and again, until the mailbox is closed.
  void take_on(mailbox_flags of) {
    mailbox.async_take_any(of, [this, of](error_code e, mailbox_flags got) {
      wrong += (e ? got != 0 : got == 0 || (got & ~of) != 0);
      consume(got);
      if (e != closed) take_on(of);
    });
  }
};

}  // namespace signals_threads_test

BOOST_FIXTURE_TEST_SUITE(signals_threads_test, fixture)

BOOST_AUTO_TEST_CASE(R6_one_signal_for_very_many_waits_runs_none_of_them_and_needs_no_memory) {
  over<manual_reset, latch, barrier>([&]<class Signal>(of<Signal>) {
    auto const check = [&](auto const& ex) {
      outcomes o;
      std::size_t at_once = 1, allocations = 1;
      run_on_stack(small_stack, [&] {
        Signal signal(context, many_waits);
        for (std::size_t i = 0; i < many_waits; ++i)
          signal.begin(asio::bind_executor(ex, counted_handler(o)));
        heap_counter const heap;
        signal.release();
        allocations = heap.allocations();
        at_once = o.all() + signal.waiters();
        test::poll(context, other);
      });
      BOOST_TEST((at_once == 0u && allocations == 0u));
      BOOST_TEST(o.granted == many_waits);
    };
    check(context.get_executor());
    check(asio::make_strand(context));
    check(asio::any_io_executor(asio::make_strand(context)));
    check(other.get_executor());
  });
}

BOOST_AUTO_TEST_CASE(R6_a_phase_with_very_many_breaks) {
  outcomes o;
  run_on_stack(small_stack, [&] {
    barrier b(context, many_waits);
    asio::cancellation_signal cancels;
    for (std::size_t i = 1; i < many_waits; ++i) b.begin(counted_handler(o));
    b.begin(asio::bind_cancellation_slot(cancels.slot(), counted_handler(o)));
    cancels.emit(asio::cancellation_type::total);
    test::poll(context);
  });
  BOOST_TEST(o.refused == many_waits);
}

// Without work of the home's in between its run() would return with some of them uncalled.
BOOST_AUTO_TEST_CASE(R8_the_home_runs_until_all_whom_another_thread_releases_have_completed) {
  over<manual_reset, latch, barrier>([&]<class Signal>(of<Signal>) {
    for (int round = 0; round < 200; ++round) {
      asio::io_context home, away;
      Signal signal(home, 40);
      outcomes o;
      for (int i = 0; i < 20; ++i) {
        signal.begin(counted_handler(o));
        signal.begin_for(1h, asio::bind_executor(away, counted_handler(o)));
      }
      std::thread first([&] { home.run(); }), second([&] { away.run(); });
      signal.release();
      first.join();
      second.join();
      BOOST_TEST(o.granted == 40u);
    }
  });
}

BOOST_AUTO_TEST_CASE(R8_set_inside_the_home_keeps_and_lets_go_its_work) {
  async_manual_reset_event event(context);
  outcomes o;
  for (std::size_t round = 1; round <= 3; ++round) {
    for (int i = 0; i < 3; ++i) event.async_wait(counted_handler(o));
    event.async_wait(asio::bind_executor(other, counted_handler(o)));
    asio::post(context, [&] { event.set(), event.reset(); });
    for (auto* const io : {&context, &other}) io->restart(), io->run();  // and it returns
    BOOST_TEST(o.granted == 4 * round);
  }
  event.async_wait(counted_handler(o));
  asio::post(context, [&] { event.set(), event.reset(), event.async_wait(counted_handler(o)); });
  test::poll(context);
  BOOST_TEST(!context.stopped());  // for the last one
  event.cancel();
  context.run();
  BOOST_TEST(o.refused == 1u);
}

// Which of them wins is left to the machine, but the signal is with the wait, or has come.
BOOST_AUTO_TEST_CASE(R4_no_signal_is_lost_between_cancellations_and_releases) {
  asio::thread_pool pool(1);
  over<auto_reset, mailbox>([&]<class Signal>(of<Signal>) {
    Signal signal(pool);
    for (int round = 0; round < 1000; ++round) {
      outcomes o;
      asio::cancellation_signal cancels;
      signal.begin(asio::bind_cancellation_slot(cancels.slot(), counted_handler(o)));
      std::promise<void> emitted;
      asio::post(pool, [&] {
        cancels.emit(asio::cancellation_type::terminal);
        emitted.set_value();
      });
      if (round % 2) std::this_thread::yield();
      signal.release();
      emitted.get_future().wait();
      while (o.all() != 1) std::this_thread::yield();
      BOOST_TEST(o.granted + signal.opened() == 1u);
      signal.lower();
    }
  });
}

// Which of them wins is left to the machine, but each wait has one end.
BOOST_AUTO_TEST_CASE(R4_set_meets_cancellations_and_deadlines) {
  constexpr std::size_t waits = 12;
  asio::thread_pool pool(1), others(1);
  async_manual_reset_event event(pool);
  std::size_t released = 0;
  for (int round = 0; round < 600; ++round) {
    outcomes o;
    std::array<asio::cancellation_signal, waits> signals;
    for (auto& each : signals) {
      auto token = asio::bind_cancellation_slot(each.slot(), counted_handler(o));
      if (round % 3 == 0)
        event.async_wait_for(std::chrono::microseconds(round % 60), std::move(token));
      else if (round % 3 == 1)
        event.async_wait(std::move(token));
      else
        event.async_wait_for(1h, asio::bind_executor(others, std::move(token)));
    }
    std::atomic<bool> emitted = false;
    asio::post(round % 3 == 2 ? others : pool, [&] {
      if (round % 3 != 0)
        for (auto& each : signals) each.emit(asio::cancellation_type::terminal);
      emitted = true;
    });
    if (round % 2) std::this_thread::yield();
    event.set();
    event.reset();
    while (!emitted || o.all() != waits) std::this_thread::yield();
    BOOST_TEST((o.dropped == 0u && event.waiters() == 0u));
    released += o.granted;
  }
  BOOST_TEST(released > 0u);
}

// The last of many is told last, but is released with the first.
BOOST_AUTO_TEST_CASE(R4_a_cancellation_comes_too_late_for_a_wait_that_has_yet_to_be_told) {
  asio::thread_pool pool(1);
  over<manual_reset, latch, barrier>([&]<class Signal>(of<Signal>) {
    for (int round = 0; round < 3; ++round) {
      Signal signal(context, many_waits + 1);
      outcomes before, last;
      asio::cancellation_signal cancels;
      for (std::size_t i = 0; i < many_waits; ++i) signal.begin(counted_handler(before));
      signal.begin(asio::bind_executor(
          pool, asio::bind_cancellation_slot(cancels.slot(), counted_handler(last))));
      std::atomic<bool> ready = false, emitted = false;
      asio::post(pool, [&] {
        ready = true;
        while (signal.waiters() != 0) {
        }
        cancels.emit(asio::cancellation_type::terminal);
        emitted = true;
      });
      while (!ready) std::this_thread::yield();
      signal.release();
      while (!emitted || last.all() == 0) std::this_thread::yield();
      test::poll(context);
      BOOST_TEST((last.granted == 1u && before.granted == many_waits));
    }
  });
}

// Each counts once at a latch, whatever becomes of its wait; at a barrier as many are released as
// phases have room for, and one of them leads.
BOOST_AUTO_TEST_CASE(R4_arrivals_meet_cancellations_and_deadlines) {
  asio::thread_pool pool(3);
  auto const strand = asio::make_strand(pool);
  over<latch, barrier>([&]<class Signal>(of<Signal>) {
    for (int round = 0; round < 200; ++round) {
      constexpr int n = 30, participants = Signal::leads ? 3 : n;
      Signal signal(pool, participants - 1);
      std::atomic<int> released = 0, leaders = 0, ended = 0, strange = 0;
      auto const note = [&](error_code error, bool leads = false) {
        strange += error && error != aborted && error != broken && error != timed_out;
        released += !error;
        leaders += leads;
        ++ended;
      };
      std::atomic<bool> all_begun = false;
      std::thread cancelling([&] {
        while (!all_begun) signal.cancel(), std::this_thread::yield();
      });
      for (int i = 0; i < n; ++i) {
        if (i % 3 == 0)
          signal.begin(note);
        else if (i % 3 == 1)
          signal.begin_for(i % 2 ? 1us : 1h, asio::bind_executor(strand, note));
        else
          asio::co_spawn(pool, arrive(signal, false, note), asio::detached);
      }
      all_begun = true;
      cancelling.join();
      while (ended != n) signal.cancel();
      BOOST_TEST(strange == 0);
      if constexpr (Signal::leads) {
        int const phases = signal.phases;
        BOOST_TEST((released == phases * participants && leaders == phases));
      } else {
        BOOST_TEST(signal.opened());
      }
    }
  });
}

// Each adds for itself, in a number that is not atomic, and lets the next one in.
BOOST_AUTO_TEST_CASE(R14_what_comes_before_set_comes_before_what_it_releases) {
  asio::thread_pool pool(2);
  async_auto_reset_event turn(pool);
  int number = 0;
  auto const add = [&](error_code) {
    ++number;
    turn.set();
  };
  std::thread thread([&] {
    for (int i = 0; i < 1000; ++i) turn.wait(), add({});
  });
  for (int i = 0; i < 1000; ++i) turn.async_wait(add);
  turn.set();
  thread.join();
  pool.join();
  BOOST_TEST(turn.is_set());
  turn.wait();
  BOOST_TEST(number == 2000);
}

BOOST_AUTO_TEST_CASE(R14_what_comes_before_set_comes_before_all_that_see_it) {
  asio::thread_pool pool(2);
  for (int round = 0; round < 200; ++round) {
    async_manual_reset_event event(pool);
    int number = 0;  // not atomic
    std::atomic<int> right = 0, called = 0;
    auto const reads = [&](error_code error) {
      if (!error) right += number == 7;
      ++called;
    };
    for (int i = 0; i < 3; ++i) event.async_wait(reads);
    std::thread blocks([&] { event.wait(), reads({}); });
    std::thread polls([&] {
      while (!event.is_set()) std::this_thread::yield();
      reads({});
      event.async_wait(reads);
      event.reset();
    });
    number = 7;
    event.set();
    polls.join();
    event.set();  // again, for who came after the reset
    blocks.join();
    while (called != 6) std::this_thread::yield();
    BOOST_TEST(right == 6);
  }
}

BOOST_AUTO_TEST_CASE(R14_what_comes_before_each_arrival_comes_before_what_the_last_releases) {
  constexpr std::size_t threads = 4;
  over<latch, barrier>([&]<class Signal>(of<Signal>) {
    for (int round = 0; round < 300; ++round) {
      Signal signal(context, threads - 1);
      std::array<int, threads> written{}, seen{};  // each by its thread
      std::vector<std::thread> all;
      for (std::size_t i = 0; i < threads; ++i)
        all.emplace_back([&, i] {
          written[i] = 1;
          if constexpr (!Signal::leads)
            if (i == 0) return signal.count_down();
          signal.block();
          for (int const each : written) seen[i] += each;
        });
      for (auto& each : all) each.join();
      for (std::size_t i = 1; i < threads; ++i) BOOST_TEST(seen[i] == int(threads));
    }
  });
}

// Each set() is awaited before the next, so no signal is lost or doubled.
BOOST_AUTO_TEST_CASE(R17_two_threads_pass_signals_to_and_fro) {
  async_auto_reset_event there(context), back(context);
  int seen = 0;
  std::thread thread([&] {
    for (int i = 0; i < 3000; ++i) there.wait(), ++seen, back.set();
  });
  for (int i = 0; i < 3000; ++i) there.set(), back.wait();
  thread.join();
  BOOST_TEST(seen == 3000);
  BOOST_TEST((!there.is_set() && !back.is_set()));
}

// Exactly those who come too late are told so.
BOOST_AUTO_TEST_CASE(R17_counting_by_many_threads_comes_to_zero_once) {
  constexpr int threads = 4, each_counts = 200, count = 600;
  for (int round = 0; round < 20; ++round) {
    async_latch latch(context, count);
    std::atomic<int> counted = 0, refused = 0;
    outcomes o;
    std::vector<std::thread> all;
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
    BOOST_TEST((counted == count && refused == threads * each_counts - count));
    BOOST_TEST(latch.try_wait());
    test::poll(context);
    BOOST_TEST(o.all() == o.granted);
  }
}

// In a pool, with every kind of participant; the last phase is that in which all drop.
BOOST_AUTO_TEST_CASE(R17_each_phase_has_one_leader_and_one_completion) {
  asio::thread_pool pool(3);
  constexpr int participants = 4, phases = 200;
  std::atomic<int> leads = 0, refused = 0;
  barrier b(pool, participants - 1);
  auto const participant = [&](int i) -> asio::awaitable<void> {
    for (int phase = 0; phase < phases; ++phase) {
      auto const [error, leader] =
          co_await b.async_arrive_and_wait_for(1h, asio::as_tuple(asio::use_awaitable));
      refused += !!error;
      leads += leader;
      if (i == phase % participants) co_await asio::post(asio::use_awaitable);
    }
    b.arrive_and_drop();
  };
  for (int i = 0; i < participants; ++i)
    asio::co_spawn(i % 2 ? asio::any_io_executor(asio::make_strand(pool)) : pool.get_executor(),
                   participant(i), asio::detached);
  pool.join();
  BOOST_TEST(refused == 0);
  BOOST_TEST((leads == phases && b.phases == phases + 1));
}

BOOST_AUTO_TEST_CASE(R14_R17_each_token_that_is_raised_is_consumed_exactly_once) {
  asio::thread_pool pool(2);
  async_mailbox m(pool);
  tokens t{m};
  for (mailbox_flags const of : {tokens::set, 0x0Fu, 0x3Cu, 0xF0u}) t.take_on(of);
  outcomes never;  // passed over by each raise()
  m.async_take_all(tokens::set | 1u << 31, counted_handler(never));
  std::vector<std::thread> threads;
  for (unsigned first : {0u, 4u})
    threads.emplace_back([&, first] {
      for (unsigned token = first; token < first + 4; ++token) t.produce(token);
    });
  threads.emplace_back([&] {
    while (!t.done()) t.consume(m.take(0x55) & 0x55), std::this_thread::yield();
  });
  threads.emplace_back([&] {
    while (!t.done()) m.cancel(), std::this_thread::sleep_for(1ms);
  });
  for (auto& each : threads) each.join();
  pool.join();
  BOOST_TEST((t.done() && t.wrong == 0));
  BOOST_TEST(m.peek() == 0u);
  BOOST_TEST(never.refused == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
