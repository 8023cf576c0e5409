// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Waits that `||` and parallel_group give up, against threads that set, raise, release and notify:
// the loser's signal, flag, permit or notification goes on. ASIO_SYNC_STRESS_SECONDS says for how
// long (5), ASIO_SYNC_TEST_SEED where it starts.

#include "support/random.hpp"

#include <asio_sync/async_auto_reset_event.hpp>
#include <asio_sync/async_condition.hpp>
#include <asio_sync/async_mailbox.hpp>
#include <asio_sync/async_mutex.hpp>
#include <asio_sync/async_semaphore.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <thread>
#include <tuple>
#include <variant>

namespace asio = boost::asio;
using namespace asio::experimental::awaitable_operators;
using asio_sync::test::number_from;
using asio_sync::test::random_choice;
using asio_sync::test::random_seed;
using boost::system::error_code;
using clock_type = std::chrono::steady_clock;

namespace withdrawal_stress_test {

constexpr std::ptrdiff_t permits = 2;

// At most one signal, and one flag of each kind, is out at a time: so none merges with another.
struct sources {
  static constexpr std::size_t events = 2, flags = 2;

  explicit sources(asio::io_context& context)
      : event{asio_sync::async_auto_reset_event(context),
              asio_sync::async_auto_reset_event(context)},
        mailbox(context),
        semaphore(context, permits, permits),
        mutex(context) {}

  void send(random_choice& random) {
    std::size_t const n = random.below(events + flags);
    if (out[n].exchange(true)) return;
    if (n < events)
      event[n].set();
    else
      mailbox.raise(1u << (n - events));
  }

  void got_signal(std::size_t n, error_code error) {
    if (error) return;
    ++received;
    if (!out[n].exchange(false)) ++wrong;
  }
  void got_flags(asio_sync::mailbox_flags got, error_code error) {
    for (std::size_t n = 0; n < flags; ++n)
      if (got & 1u << n) got_signal(events + n, error);
  }

  void end() {
    over = true;
    for (auto& each : event) each.close();
    mailbox.close();
    semaphore.close();
    mutex.close();
  }

  // What was sent, and nobody has got, is still there.
  bool are_right() const {
    for (std::size_t n = 0; n < events; ++n)
      if (out[n] != event[n].is_set()) return false;
    for (std::size_t n = 0; n < flags; ++n)
      if (out[events + n] != ((mailbox.peek() & 1u << n) != 0)) return false;
    return semaphore.available() == permits && !mutex.is_locked() && wrong == 0;
  }

  std::array<asio_sync::async_auto_reset_event, events> event;
  asio_sync::async_mailbox mailbox;
  asio_sync::async_semaphore semaphore;
  asio_sync::async_mutex mutex;
  std::atomic<bool> over = false;
  std::array<std::atomic<bool>, events + flags> out{};
  std::atomic<long> received = 0;
  std::atomic<int> wrong = 0;
};

// Waits for two of them at a time, and gives up the one that comes second. Bound to an executor,
// waits take a trip through it: two that are ready at once, and do not suspend, lose one.
asio::awaitable<void> select(sources& s, unsigned seed) {
  random_choice random(seed);
  auto const ex = co_await asio::this_coro::executor;
  auto const as_result = [&] {
    return asio::bind_executor(ex, asio::as_tuple(asio::use_awaitable));
  };
  while (!s.over) {
    switch (random.below(4)) {
      case 0: {
        auto const got =
            co_await (s.event[0].async_wait(as_result()) || s.event[1].async_wait(as_result()));
        std::visit([&](auto const& result) { s.got_signal(got.index(), std::get<0>(result)); },
                   got);
        break;
      }
      case 1: {
        auto const got =
            co_await (s.mailbox.async_take_any(3, as_result()) || s.mutex.async_lock(as_result()));
        if (auto const* const taken = std::get_if<0>(&got))
          s.got_flags(std::get<1>(*taken), std::get<0>(*taken));
        break;
      }
      case 2: {
        auto const got = co_await (s.event[1].async_wait(as_result()) ||
                                   s.semaphore.async_acquire(permits, as_result()));
        if (auto const* const second = std::get_if<0>(&got)) s.got_signal(1, std::get<0>(*second));
        break;
      }
      default: {  // which keeps all results
        auto const [order, one, taken, got] =
            co_await asio::experimental::make_parallel_group(
                s.event[0].async_wait(asio::bind_executor(ex, asio::deferred)),
                s.mailbox.async_take_all(1, asio::bind_executor(ex, asio::deferred)))
                .async_wait(asio::experimental::wait_for_one(), asio::use_awaitable);
        s.got_signal(0, one);
        s.got_flags(got, taken);
      }
    }
    co_await asio::post(ex, asio::use_awaitable);
  }
}

// A thread that sends, and one that takes permits and the mutex away for a moment.
long run_selections(unsigned seed) {
  random_choice random(seed);
  asio::io_context context;
  sources s(context);
  for (int i = 0; i < 6; ++i)
    asio::co_spawn(asio::make_strand(context), select(s, random.seed()), asio::detached);
  std::thread runner[2];
  for (auto& each : runner) each = std::thread([&] { context.run(); });
  auto const end = clock_type::now() + std::chrono::milliseconds(50);
  while (clock_type::now() < end) {
    s.send(random);
    if (random.one_in(4)) std::this_thread::yield();
    if (random.one_in(8)) static_cast<void>(s.semaphore.try_acquire());
    if (random.one_in(8) && s.mutex.try_lock()) s.mutex.unlock();
  }
  s.end();
  for (auto& each : runner) each.join();
  BOOST_TEST(s.are_right());
  return s.received;
}

// More waits than notifications and cancellations: each notification has one that it can go to.
struct notified {
  static constexpr int waits = 24, notifications = 8;

  explicit notified(asio::io_context& context)
      : strand(asio::make_strand(context)), mutex(context), condition(context) {}

  void begin() {
    for (auto& signal : signals)
      condition.async_wait(
          asio_sync::async_mutex::lock_type(mutex),
          asio::bind_executor(strand, asio::bind_cancellation_slot(
                                          signal.slot(), [this](error_code error, auto lock) {
                                            ++completed;
                                            succeeded += !error;
                                            if (!lock.owns_lock()) ++wrong;
                                          })));
  }

  asio::strand<asio::io_context::executor_type> strand;
  asio_sync::async_mutex mutex;
  asio_sync::async_condition condition;
  std::array<asio::cancellation_signal, waits> signals;
  int completed = 0, succeeded = 0, wrong = 0;  // on the strand
};

void run_notifications(unsigned seed) {
  random_choice random(seed);
  asio::io_context context;
  notified n(context);
  n.begin();
  for (int i = 0; i < notified::waits - notified::notifications - 1; ++i)
    asio::post(n.strand, [&n, which = random.below(notified::waits)] {
      n.signals[which].emit(asio::cancellation_type::total);
    });
  // Those that are still queued keep the context running.
  auto const run = [&] {
    context.restart();
    return context.poll() != 0;
  };
  std::atomic<bool> all_sent = false;
  std::thread runner([&] {
    while (!all_sent) run();
  });
  for (int i = 0; i < notified::notifications; ++i) {
    n.condition.notify_one();
    if (random.one_in(2)) std::this_thread::yield();
  }
  all_sent = true;
  runner.join();
  while (run()) {
  }
  BOOST_TEST(n.succeeded == notified::notifications);
  BOOST_TEST(n.completed + static_cast<int>(n.condition.waiters()) == notified::waits);
  BOOST_TEST(n.wrong == 0);
  BOOST_TEST(!n.mutex.is_locked());
}

}  // namespace withdrawal_stress_test

BOOST_AUTO_TEST_SUITE(withdrawal_stress_test)

BOOST_AUTO_TEST_CASE(R4_what_a_selection_gives_up_goes_on) {
  unsigned const seed = random_seed();
  BOOST_TEST_INFO_SCOPE("ASIO_SYNC_TEST_SEED=" << seed);
  random_choice random(seed);
  auto const end =
      clock_type::now() + std::chrono::seconds(number_from("ASIO_SYNC_STRESS_SECONDS", 5));
  long rounds = 0, received = 0;
  do {
    received += run_selections(random.seed());
    run_notifications(random.seed());
    ++rounds;
  } while (clock_type::now() < end || received == 0);
  BOOST_TEST_MESSAGE(rounds << " rounds, " << received << " signals and flags");
}

BOOST_AUTO_TEST_SUITE_END()
