// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Where the flags of a mailbox go when handlers, contexts, threads and the mailbox end.

#include "support/executors.hpp"
#include "support/mailbox_result.hpp"
#include "support/test.hpp"

#include <asio_sync/async_mailbox.hpp>

namespace mailbox_lifetime_test {

using namespace asio_sync::test;
using handler = mailbox_handler;

constexpr mailbox_flags a = 1, b = 2, c = 4;

struct fixture {
  asio::io_context context, other;
  async_mailbox mailbox{context};

  void poll() {
    for (int i = 0; i < 2; ++i)
      for (auto* const io : {&context, &other}) {
        io->restart();
        io->poll();
      }
  }
};

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
      if (e != asio_sync::error::closed) take_on(of);
    });
  }
};

}  // namespace mailbox_lifetime_test

BOOST_FIXTURE_TEST_SUITE(mailbox_lifetime_test, fixture)

BOOST_AUTO_TEST_CASE(R9_who_was_satisfied_gets_his_flags_although_the_mailbox_dies) {
  for (bool const queued : {false, true}) {
    mailbox_result took, looked, in_two_steps, waits;
    execution_log log;
    auto m = std::make_unique<async_mailbox>(context);
    if (!queued) m->raise(a | b | c);
    m->async_wait_all(a | b, asio::bind_executor(asio::make_strand(other), handler(looked)));
    m->async_wait_any(c, asio::bind_executor(bare_executor(log), handler(in_two_steps)));
    m->async_take_any(a | c, asio::bind_executor(other, handler(took)));
    m->async_take_any_for(a, 1h, handler(waits));
    if (queued) m->raise(a | b | c);
    m.reset();
    poll();
    BOOST_TEST((took.got(a | c) && looked.got(a | b) && in_two_steps.got(c)));
    BOOST_TEST(waits.refused(aborted));
  }
}

BOOST_AUTO_TEST_CASE(R9_destroyed_by_the_first_whom_raise_satisfies) {
  auto const check = [&](auto const& ex) {
    auto own = std::make_unique<async_mailbox>(context);
    mailbox_result second, third;
    mailbox_flags got = 0;
    own->async_take_any(a, asio::bind_executor(ex, [&](error_code, mailbox_flags f) {
                          own.reset();
                          got = f;
                        }));
    own->async_wait_all(a | b, asio::bind_executor(other, handler(second)));
    own->async_take_any(a, handler(third));
    own->raise(a | b);
    poll();
    BOOST_TEST(got == a);
    BOOST_TEST((second.got(a | b) && third.refused(aborted)));
  };
  check(context.get_executor());
  check(asio::make_strand(other));
  check(inline_executor(context));
  asio::thread_pool pool(2);
  for (int round = 0; round < 500; ++round) {
    auto* const m = new async_mailbox(pool);
    std::atomic<bool> ended = false;
    m->async_take_any(a, [&](error_code, mailbox_flags) {
      delete m;
      ended = true;
    });
    m->raise(a);
    while (!ended) std::this_thread::yield();
  }
}

BOOST_AUTO_TEST_CASE(R9_a_take_that_is_dropped_after_the_mailbox_has_died_touches_nothing) {
  mailbox_result dropped[2];
  auto dying = std::make_unique<asio::io_context>();
  auto m = std::make_unique<async_mailbox>(context);
  m->async_take_any(a, asio::bind_executor(*dying, handler(dropped[0])));
  m->raise(a | b);
  m->async_take_all(b, asio::bind_executor(*dying, handler(dropped[1])));
  m.reset();
  dying.reset();
  for (auto const& each : dropped) BOOST_TEST(each.dropped());
}

BOOST_AUTO_TEST_CASE(R10_flags_on_their_way_to_a_dying_context_go_to_the_wait_of_another) {
  for (bool const home_dies : {false, true}) {
    mailbox_result dead[3], living[2];
    auto dying = std::make_unique<asio::io_context>();
    async_mailbox m(home_dies ? *dying : context);
    m.async_take_any(a | b, asio::bind_executor(*dying, handler(dead[0])));
    m.async_take_any_for(a, 1h, asio::bind_executor(*dying, handler(dead[1])));
    m.async_wait_any(c, asio::bind_executor(asio::make_strand(*dying), handler(dead[2])));
    for (auto& each : living)
      m.async_take_any_for(a, 1h, asio::bind_executor(other, handler(each)));
    m.raise(a | b);
    BOOST_TEST(m.waiters() == 4u);
    dying.reset();
    for (auto const& each : dead) BOOST_TEST(each.dropped());
    BOOST_TEST(m.waiters() == 1u);
    BOOST_TEST(m.peek() == b);
    poll();
    BOOST_TEST((living[0].got(a) && living[1].waits()));
    m.cancel();
    poll();
  }
}

// Which of them wins is left to the machine, but the flag is with the wait, or in the mailbox.
BOOST_AUTO_TEST_CASE(R4_no_flag_is_lost_between_cancellations_and_raises) {
  asio::thread_pool pool(1);
  async_mailbox m(pool);
  for (int round = 0; round < 1000; ++round) {
    std::atomic<mailbox_flags> got = 0;
    std::atomic<bool> ended = false;
    asio::cancellation_signal signal;
    m.async_take_any(a,
                     asio::bind_cancellation_slot(signal.slot(), [&](error_code, mailbox_flags f) {
                       got = f;
                       ended = true;
                     }));
    std::promise<void> emitted;
    asio::post(pool, [&] {
      signal.emit(asio::cancellation_type::terminal);
      emitted.set_value();
    });
    if (round % 2) std::this_thread::yield();
    m.raise(a);
    emitted.get_future().wait();
    while (!ended) std::this_thread::yield();
    BOOST_TEST(got + m.take(a) == a);
  }
}

BOOST_AUTO_TEST_CASE(R14_R17_each_token_that_is_raised_is_consumed_exactly_once) {
  asio::thread_pool pool(2);
  async_mailbox m(pool);
  tokens t{m};
  for (mailbox_flags const of : {tokens::set, 0x0Fu, 0x3Cu, 0xF0u}) t.take_on(of);
  mailbox_result never;  // passed over by each raise()
  m.async_take_all(tokens::set | 1u << 31, handler(never));
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
  BOOST_TEST(t.done());
  BOOST_TEST(t.wrong == 0);
  BOOST_TEST(m.peek() == 0u);
  BOOST_TEST(never.calls == 1);
}

BOOST_AUTO_TEST_CASE(R17_two_threads_pass_flags_to_and_fro) {
  asio::thread_pool here(1), there(1);
  async_mailbox to(here), fro(there);
  int passed = 0;
  std::promise<void> done;
  struct player {
    async_mailbox &in, &out;
    int& passed;
    std::promise<void>& done;
    void operator()(error_code, mailbox_flags) {
      if (passed == 10'000) return out.raise(a), done.set_value();
      ++passed;
      out.raise(a);
      in.async_take_any(a, *this);
    }
  };
  std::promise<void> also;
  to.async_take_any(a, player{to, fro, passed, done});
  fro.async_take_any(a, player{fro, to, passed, also});
  to.raise(a);
  done.get_future().wait();
  also.get_future().wait();
  BOOST_TEST(passed == 10'000);
}

BOOST_AUTO_TEST_SUITE_END()
