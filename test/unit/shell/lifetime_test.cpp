// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include "support/test.hpp"

#include <asio_sync/async_mutex.hpp>

#include "support/executors.hpp"

namespace lifetime_test {

using namespace asio_sync::test;

// A queued wait for the mutex, which is at home in `home`, with a handler bound to `ex`.
template <class Executor>
void keeps_run_going(asio::io_context& home, asio::io_context& own, Executor const& ex) {
  async_mutex mutex(home);
  BOOST_TEST_REQUIRE(mutex.try_lock());
  fate first;
  fate second;
  mutex.async_lock(asio::bind_executor(ex, observed_handler(first)));
  own.poll();
  BOOST_TEST(!own.stopped());
  mutex.async_lock_for(1h, asio::bind_executor(ex, observed_handler(second)));
  own.poll();
  BOOST_TEST(!own.stopped());
  mutex.unlock();
  BOOST_TEST(first.waits());
  own.poll_one();
  BOOST_TEST(first.granted());
  BOOST_TEST(!own.stopped());
  own.poll();
  BOOST_TEST(second.granted());
  BOOST_TEST(own.stopped());
}

}  // namespace lifetime_test

BOOST_AUTO_TEST_SUITE(lifetime_test)

BOOST_AUTO_TEST_CASE(R8_queued_wait_keeps_its_context_running_until_it_completes) {
  asio::io_context home;
  asio::io_context other;
  execution_log log;
  keeps_run_going(home, home, home.get_executor());
  home.restart();
  keeps_run_going(home, home, asio::make_strand(home));
  home.restart();
  keeps_run_going(home, home, asio::any_io_executor(asio::make_strand(home)));
  home.restart();
  keeps_run_going(home, home, tracking_executor<>(home.get_executor(), log));
  keeps_run_going(home, other, other.get_executor());
  other.restart();
  keeps_run_going(home, other, asio::any_io_executor(other.get_executor()));
  other.restart();
  keeps_run_going(home, other, asio::make_strand(other));
  other.restart();
  keeps_run_going(home, other, asio::make_strand(asio::any_io_executor(other.get_executor())));
  other.restart();
  keeps_run_going(home, other, tracking_executor<>(other.get_executor(), log));
}

BOOST_AUTO_TEST_CASE(R8_wait_elsewhere_does_not_keep_the_context_of_the_mutex_running) {
  asio::io_context home;
  asio::io_context other;
  async_mutex mutex(home);
  BOOST_TEST_REQUIRE(mutex.try_lock());
  fate f;
  mutex.async_lock(asio::bind_executor(other, observed_handler(f)));
  home.run();
  BOOST_TEST(home.stopped());
  mutex.unlock();
  other.run();
  BOOST_TEST(f.granted());
}

BOOST_AUTO_TEST_CASE(R8_refused_wait_lets_go_of_its_context) {
  asio::io_context home;
  asio::io_context other;
  async_mutex mutex(home);
  BOOST_TEST_REQUIRE(mutex.try_lock());
  fate fates[4];
  asio::cancellation_signal signal;
  mutex.async_lock(asio::bind_cancellation_slot(signal.slot(), observed_handler(fates[0])));
  mutex.async_lock(observed_handler(fates[1]));
  mutex.async_lock(asio::bind_executor(other, observed_handler(fates[2])));
  mutex.async_lock_for(1ms, asio::bind_executor(other, observed_handler(fates[3])));
  signal.emit(asio::cancellation_type::total);
  home.poll();
  BOOST_TEST(!home.stopped());
  BOOST_TEST(fates[0].refused(aborted));
  BOOST_TEST(mutex.cancel() >= 2u);
  home.run();
  other.run();
  for (auto const& f : fates) BOOST_TEST(f.called == 1);
}

// A lock that was handed over inside the context is on its way there, and nobody is queued.
struct handed_over {
  handed_over() {
    static_cast<void>(mutex->try_lock());
    mutex->async_lock(observed_handler(granted));
    asio::post(home, [this] { mutex->unlock(); });
    home.run_one();
  }

  asio::io_context home;
  std::optional<async_mutex> mutex{home};
  fate granted;
};

BOOST_AUTO_TEST_CASE(R8_nothing_keeps_the_context_running_once_a_hand_over_has_arrived) {
  handed_over scene;
  scene.home.poll();
  BOOST_TEST(scene.granted.granted());
  BOOST_TEST(scene.home.stopped());
}

BOOST_AUTO_TEST_CASE(R8_hand_over_arrives_while_only_waits_elsewhere_are_queued) {
  handed_over scene;
  asio::io_context other;
  fate behind;
  scene.mutex->async_lock(observed_handler(behind));
  BOOST_TEST(scene.mutex->cancel() == 1u);
  scene.mutex->async_lock(asio::bind_executor(other, observed_handler(behind)));
  scene.home.poll();
  BOOST_TEST(scene.home.stopped());
  other.poll();
  BOOST_TEST(behind.called == 2);
}

BOOST_AUTO_TEST_CASE(R8_next_wait_keeps_the_context_running_after_a_hand_over) {
  handed_over scene;
  async_mutex::lock_type held;
  scene.mutex->async_lock(
      [&](error_code, async_mutex::lock_type lock) { held = std::move(lock); });
  fate last;
  scene.mutex->async_lock(observed_handler(last));
  scene.home.poll();
  BOOST_TEST_REQUIRE(held.owns_lock());
  BOOST_TEST(!scene.home.stopped());
  held.unlock();
  scene.home.poll();
  BOOST_TEST(last.granted());
  BOOST_TEST(scene.home.stopped());
}

BOOST_AUTO_TEST_CASE(R9_mutex_is_destroyed_while_a_hand_over_is_on_its_way) {
  handed_over scene;
  scene.mutex.reset();
  scene.home.poll();
  BOOST_TEST(scene.granted.refused(aborted));
  BOOST_TEST(scene.home.stopped());
}

BOOST_AUTO_TEST_CASE(R10_context_is_destroyed_while_a_hand_over_is_on_its_way) {
  auto home = std::make_unique<asio::io_context>();
  asio::io_context other;
  async_mutex mutex(*home);
  BOOST_TEST_REQUIRE(mutex.try_lock());
  fate granted;
  mutex.async_lock(observed_handler(granted));
  asio::post(*home, [&] { mutex.unlock(); });
  home->run_one();
  home.reset();
  BOOST_TEST(granted.dropped());
  fate next;
  mutex.async_lock(asio::bind_executor(other, observed_handler(next)));
  other.run();
  BOOST_TEST(next.granted());
}

BOOST_AUTO_TEST_CASE(R8_queued_wait_keeps_thread_pool_join_waiting) {
  asio::thread_pool pool(1);
  async_mutex mutex(pool);
  BOOST_TEST_REQUIRE(mutex.try_lock());
  fate fates[3];
  asio::io_context other;
  async_mutex elsewhere(other);
  BOOST_TEST_REQUIRE(elsewhere.try_lock());
  mutex.async_lock(observed_handler(fates[0]));
  mutex.async_lock(asio::bind_executor(asio::make_strand(pool), observed_handler(fates[1])));
  elsewhere.async_lock(asio::bind_executor(pool, observed_handler(fates[2])));
  std::thread unlocks([&] {
    mutex.unlock();
    elsewhere.unlock();
  });
  pool.join();
  for (auto const& f : fates) BOOST_TEST(f.granted());
  unlocks.join();
}

BOOST_AUTO_TEST_CASE(R8_decided_waits_keep_their_context_running_until_all_are_posted) {
  for (int const kind : {0, 1, 2, 3, 4}) {
    asio::io_context home;
    asio::io_context other;
    async_mutex mutex(home);
    BOOST_TEST_REQUIRE(mutex.try_lock());
    execution_log log;
    fate first;
    fate second;
    // Its type does not tell its context: it is called last.
    tracking_executor<asio::any_io_executor> const foreign(other.get_executor(), log);
    mutex.async_lock(asio::bind_executor(foreign, observed_handler(first)));
    switch (kind) {
      case 0: mutex.async_lock(observed_handler(second)); break;
      case 1: mutex.async_lock_for(1h, observed_handler(second)); break;
      case 2:
        mutex.async_lock(asio::bind_executor(asio::make_strand(home), observed_handler(second)));
        break;
      case 3:
        mutex.async_lock(asio::bind_executor(tracking_executor<>(home.get_executor(), log),
                                             observed_handler(second)));
        break;
      case 4:
        mutex.async_lock(
            asio::bind_executor(tracking_executor<asio::any_io_executor>(home.get_executor(), log),
                                observed_handler(second)));
    }
    log.on_execute = [&] {  // both are decided
      BOOST_TEST(mutex.waiters() == 0u);
      if (log.executed() == 1) home.poll();
      BOOST_TEST(!(home.stopped() && second.waits()));
    };
    BOOST_TEST(mutex.cancel() == 2u);
    home.run();
    other.run();
    BOOST_TEST(first.refused(aborted));
    BOOST_TEST(second.refused(aborted));
  }
}

BOOST_AUTO_TEST_CASE(R8_wait_granted_inside_a_completion_keeps_its_context_running_until_posted) {
  asio::io_context home;
  asio::io_context other;
  async_mutex outer(other);
  async_mutex mutex(home);
  fate f;
  fate granted_at_once;
  BOOST_TEST_REQUIRE(mutex.try_lock());
  mutex.async_lock(asio::bind_executor(asio::make_strand(home), observed_handler(f)));
  outer.async_lock(asio::bind_executor(inline_executor(other), [&](error_code, auto lock) {
    mutex.unlock();
    home.poll();
    BOOST_TEST(!(home.stopped() && f.waits()));
    lock.unlock();
    outer.async_lock(
        asio::bind_executor(asio::make_strand(home), observed_handler(granted_at_once)));
    home.restart();
    home.poll();
    BOOST_TEST(granted_at_once.granted());
  }));
  home.run();
  BOOST_TEST(f.granted());
  BOOST_TEST(granted_at_once.granted());
}

BOOST_AUTO_TEST_CASE(R8_run_does_not_return_before_waits_decided_on_other_threads_have_arrived) {
  for (int turn = 0; turn < 500; ++turn) {
    asio::io_context io;
    async_mutex mutex(io);
    BOOST_TEST_REQUIRE(mutex.try_lock());
    fate fates[2];
    mutex.async_lock(observed_handler(fates[0]));
    mutex.async_lock(asio::bind_executor(asio::make_strand(io), observed_handler(fates[1])));
    std::thread unlocks([&] { mutex.unlock(); });
    std::thread cancels([&] { mutex.cancel(); });
    io.run();
    for (auto const& f : fates) BOOST_TEST(f.called == 1);
    unlocks.join();
    cancels.join();
  }
}

BOOST_AUTO_TEST_CASE(R9_grant_on_its_way_arrives_as_aborted_and_empty) {
  asio::io_context home;
  asio::io_context other;
  fate fates[4];
  {
    async_mutex at_once(home);
    at_once.async_lock(observed_handler(fates[0]));
    async_mutex handed_on(home);
    BOOST_TEST_REQUIRE(handed_on.try_lock());
    handed_on.async_lock(asio::bind_executor(other, observed_handler(fates[1])));
    handed_on.async_lock(observed_handler(fates[2]));
    handed_on.unlock();
    async_mutex timed(other);
    BOOST_TEST_REQUIRE(timed.try_lock());
    timed.async_lock_for(1h, observed_handler(fates[3]));
    timed.unlock();
  }
  home.run();
  other.run();
  for (auto const& f : fates) BOOST_TEST(f.refused(aborted));
}

BOOST_AUTO_TEST_CASE(R9_mutex_is_destroyed_by_the_new_owner_right_after_unlock) {
  asio::thread_pool pool(1);
  for (int turn = 0; turn < 2000; ++turn) {
    auto mutex = std::make_unique<async_mutex>(pool);
    async_mutex& shared = *mutex;
    BOOST_TEST_REQUIRE(shared.try_lock());
    shared.async_lock([owner = std::move(mutex)](error_code, auto lock) mutable {
      lock.unlock();
      owner.reset();
    });
    shared.unlock();
  }
  pool.join();
}

BOOST_AUTO_TEST_CASE(R9_blocked_threads_get_the_exception) {
  asio::io_context io;
  auto mutex = std::make_unique<async_mutex>(io);
  BOOST_TEST_REQUIRE(mutex->try_lock());
  std::atomic<int> thrown = 0;
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&thrown, i, &shared = *mutex] {
      try {
        if (i % 2)
          shared.lock();
        else
          static_cast<void>(shared.try_lock_for(1h));
      } catch (boost::system::system_error const& e) {
        if (e.code() == aborted) ++thrown;
      }
    });
  while (mutex->waiters() != 4) std::this_thread::yield();
  mutex.reset();
  for (auto& thread : threads) thread.join();
  BOOST_TEST(thrown == 4);
}

BOOST_AUTO_TEST_SUITE_END()
