// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Waits keep contexts running until they complete, and go on after something has died: a mutex,
// its home, the thread, the process.

#include "support/child.hpp"
#include "support/executors.hpp"
#include "support/mutex_fixture.hpp"
#include "support/test.hpp"

namespace lifetime_test {

using namespace asio_sync::test;
using guard = async_mutex::lock_type;

// Queued waits for a mutex at home in `home`, with handlers bound to `ex`, which is of `own`.
template <class Executor>
void keeps_run_going(asio::io_context& home, asio::io_context& own, Executor const& ex) {
  fate first, second;
  async_mutex mutex(home);
  BOOST_TEST_REQUIRE(mutex.try_lock());
  mutex.async_lock(asio::bind_executor(ex, observed_handler(first)));
  poll(home);
  BOOST_TEST(home.stopped() == (&home != &own));
  poll(own);
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

// A lock that was handed over inside the context is on its way there, and nobody is queued.
struct handed_over {
  handed_over() {
    BOOST_TEST_REQUIRE(mutex->try_lock());
    mutex->async_lock(observed_handler(granted));
    asio::post(*home, [this] { mutex->unlock(); });
    home->run_one();
  }

  fate granted, behind;
  std::optional<asio::io_context> home{std::in_place};
  asio::io_context other;
  std::optional<async_mutex> mutex{*home};
};

// A locked mutex whose home dies while another thread does something. Mostly a test for the thread
// sanitizer.
struct dying_home {
  template <class Act>
  void destroy_during(Act act) {
    BOOST_REQUIRE(mutex.try_lock());
    std::atomic<int> arrived{0};  // a barrier loses wake-ups in libstdc++ 12 without a futex
    auto const meet = [&] {
      for (++arrived; arrived != 2;) std::this_thread::yield();
    };
    std::thread thread([&] {
      meet();
      act();
    });
    meet();
    home.reset();
    thread.join();
  }

  std::optional<asio::io_context> home{std::in_place};
  asio::io_context other;
  async_mutex mutex{*home};
  std::array<mutex_result, 4> results;
};

// Queues, hands over, cancels and destroys.
bool exercise() {
  mutex_fixture f;
  mutex_result r[3];
  for (auto& each : r) f.mutex.async_lock(each.handler());
  f.poll();
  bool good = r[0].granted() && f.mutex.waiters() == 2;
  r[0].lock.unlock();
  good = f.mutex.cancel() == 1 && good;
  f.poll();
  good = good && r[1].granted() && r[2].refused(aborted);
  r[1].lock.unlock();
  return good && f.mutex.try_lock() && !f.mutex.try_lock();
}

// A failure there ends the program with a status of its own.
struct at_process_end : mutex_fixture {
  ~at_process_end() {
    left.lock.unlock();
    poll();
    if (exercise() && queued.granted()) {
      queued.lock.unlock();
      return;
    }
    std::fputs("R17: a mutex failed while statics were destroyed\n", stderr);
    std::_Exit(EXIT_FAILURE);
  }

  mutex_result left, queued;  // a lock that is held, and a wait that is queued, at the end
};

struct at_thread_end {
  explicit at_thread_end(bool& f) noexcept : flag(f) {}
  ~at_thread_end() { flag = exercise(); }
  bool& flag;
};

}  // namespace lifetime_test

BOOST_AUTO_TEST_SUITE(lifetime_test)

BOOST_AUTO_TEST_CASE(R8_queued_wait_keeps_its_context_running_until_it_completes) {
  asio::io_context home, other;
  execution_log log;
  for (auto* const own : {&home, &other}) {
    auto const ex = own->get_executor();
    asio::any_io_executor const any = ex;
    keeps_run_going(home, *own, ex);
    keeps_run_going(home, *own, any);
    keeps_run_going(home, *own, asio::make_strand(ex));
    keeps_run_going(home, *own, asio::make_strand(any));
    keeps_run_going(home, *own, asio::any_io_executor(asio::make_strand(ex)));
    keeps_run_going(home, *own, tracking_executor<>(ex, log));
  }
}

BOOST_FIXTURE_TEST_CASE(R8_nothing_keeps_the_context_running_once_a_hand_over_has_arrived,
                        handed_over) {
  home->poll();
  BOOST_TEST(granted.granted());
  BOOST_TEST(home->stopped());
}

BOOST_FIXTURE_TEST_CASE(R8_hand_over_arrives_while_only_waits_elsewhere_are_queued, handed_over) {
  mutex->async_lock(observed_handler(behind));
  BOOST_TEST(mutex->cancel() == 1u);
  mutex->async_lock(asio::bind_executor(other, observed_handler(behind)));
  home->poll();
  BOOST_TEST(home->stopped());
  other.poll();
  BOOST_TEST(behind.called == 2);
}

BOOST_FIXTURE_TEST_CASE(R8_next_wait_keeps_the_context_running_after_a_hand_over, handed_over) {
  guard held;
  mutex->async_lock([&](error_code, guard lock) { held = std::move(lock); });
  mutex->async_lock(observed_handler(behind));
  home->poll();
  BOOST_TEST_REQUIRE(held.owns_lock());
  BOOST_TEST(!home->stopped());
  held.unlock();
  home->poll();
  BOOST_TEST(behind.granted());
  BOOST_TEST(home->stopped());
}

BOOST_FIXTURE_TEST_CASE(R9_mutex_is_destroyed_while_a_hand_over_is_on_its_way, handed_over) {
  mutex.reset();
  home->poll();
  BOOST_TEST(granted.refused(aborted));
  BOOST_TEST(home->stopped());
}

BOOST_FIXTURE_TEST_CASE(R10_context_is_destroyed_while_a_hand_over_is_on_its_way, handed_over) {
  home.reset();
  BOOST_TEST(granted.dropped());
  mutex->async_lock(asio::bind_executor(other, observed_handler(behind)));
  other.run();
  BOOST_TEST(behind.granted());
}

BOOST_FIXTURE_TEST_CASE(R8_queued_wait_keeps_thread_pool_join_waiting, held_mutex) {
  asio::thread_pool pool(1);
  async_mutex in_pool(pool);
  BOOST_TEST_REQUIRE(in_pool.try_lock());
  fate f[3];
  in_pool.async_lock(observed_handler(f[0]));
  in_pool.async_lock(asio::bind_executor(asio::make_strand(pool), observed_handler(f[1])));
  mutex.async_lock(asio::bind_executor(pool, observed_handler(f[2])));
  std::thread unlocks([&] {
    in_pool.unlock();
    mutex.unlock();
  });
  pool.join();
  for (auto const& each : f) BOOST_TEST(each.granted());
  unlocks.join();
}

BOOST_AUTO_TEST_CASE(R8_decided_waits_keep_their_context_running_until_all_are_posted) {
  for (int const kind : {0, 1, 2, 3, 4}) {
    execution_log log;
    fate first, second;
    held_mutex s;
    auto const wait = [&](auto const& ex, fate& f) {
      s.mutex.async_lock(asio::bind_executor(ex, observed_handler(f)));
    };
    // Its type does not tell its context: it is called last.
    using foreign = tracking_executor<asio::any_io_executor>;
    auto const ex = s.context.get_executor();
    wait(foreign(s.other.get_executor(), log), first);
    switch (kind) {
      case 0: s.mutex.async_lock(observed_handler(second)); break;
      case 1: s.mutex.async_lock_for(1h, observed_handler(second)); break;
      case 2: wait(asio::make_strand(ex), second); break;
      case 3: wait(tracking_executor<>(ex, log), second); break;
      case 4: wait(foreign(ex, log), second);
    }
    log.on_execute = [&] {  // both are decided
      BOOST_TEST(s.mutex.waiters() == 0u);
      if (log.executed() == 1) s.context.poll();
      BOOST_TEST(!(s.context.stopped() && second.waits()));
    };
    BOOST_TEST(s.mutex.cancel() == 2u);
    s.context.run();
    s.other.run();
    BOOST_TEST((first.refused(aborted) && second.refused(aborted)));
  }
}

BOOST_AUTO_TEST_CASE(R8_run_does_not_return_before_waits_decided_on_other_threads_have_arrived) {
  for (int turn = 0; turn < 500; ++turn) {
    fate f[2];
    held_mutex s;
    s.mutex.async_lock(observed_handler(f[0]));
    s.mutex.async_lock(asio::bind_executor(asio::make_strand(s.context), observed_handler(f[1])));
    std::thread unlocks([&] { s.mutex.unlock(); });
    std::thread cancels([&] { s.mutex.cancel(); });
    s.context.run();
    for (auto const& each : f) BOOST_TEST(each.called == 1);
    unlocks.join();
    cancels.join();
  }
}

BOOST_AUTO_TEST_CASE(R9_grant_on_its_way_arrives_as_aborted_and_empty) {
  asio::io_context home, other;
  fate f[4];
  {
    async_mutex at_once(home);
    at_once.async_lock(observed_handler(f[0]));
    async_mutex handed_on(home);
    BOOST_TEST_REQUIRE(handed_on.try_lock());
    handed_on.async_lock(asio::bind_executor(other, observed_handler(f[1])));
    handed_on.async_lock(observed_handler(f[2]));
    handed_on.unlock();
    async_mutex timed(other);
    BOOST_TEST_REQUIRE(timed.try_lock());
    timed.async_lock_for(1h, observed_handler(f[3]));
    timed.unlock();
  }
  home.run();
  other.run();
  for (auto const& each : f) BOOST_TEST(each.refused(aborted));
}

BOOST_AUTO_TEST_CASE(R9_mutex_is_destroyed_by_the_new_owner_right_after_unlock) {
  asio::thread_pool pool(1);
  for (int turn = 0; turn < 2000; ++turn) {
    auto mutex = std::make_unique<async_mutex>(pool);
    async_mutex& shared = *mutex;
    BOOST_TEST_REQUIRE(shared.try_lock());
    shared.async_lock([owner = std::move(mutex)](error_code, guard lock) mutable {
      lock.unlock();
      owner.reset();
    });
    shared.unlock();
  }
  pool.join();
}

// The handler does not take the lock over: that has to be gone before the handler is.
BOOST_AUTO_TEST_CASE(R10_the_lock_is_let_go_before_the_handler_that_owns_the_mutex) {
  asio::io_context context;
  auto mutex = std::make_shared<async_mutex>(context);
  std::weak_ptr<async_mutex> const watched = mutex;
  async_mutex& same = *mutex;
  BOOST_REQUIRE(same.try_lock());
  fate f;
  bool unlocked_first = false;
  auto const looks = [&unlocked_first, &same] { unlocked_first = !same.is_locked(); };
  same.async_lock([mutex = std::move(mutex), h = observed_handler(f, looks)](
                      error_code, guard const& lock) { BOOST_TEST(lock.owns_lock()); });
  same.unlock();
  context.run();
  BOOST_TEST(unlocked_first);
  BOOST_TEST(watched.expired());
}

BOOST_AUTO_TEST_CASE(R17_waits_for_another_context_begin_while_the_home_dies) {
  for (int round = 0; round < 200; ++round) {
    bool const timed = round % 2;
    dying_home s;
    s.destroy_during([&] {
      for (auto& result : s.results) {
        auto handler = asio::bind_executor(s.other, result.handler());
        timed ? s.mutex.async_lock_for(1h, std::move(handler))
              : s.mutex.async_lock(std::move(handler));
      }
    });
    BOOST_REQUIRE(s.mutex.waiters() == s.results.size());
    timed ? static_cast<void>(s.mutex.cancel()) : s.mutex.unlock();
    for (auto& result : s.results) {
      poll(s.other);
      BOOST_REQUIRE((timed ? result.refused(aborted) : result.granted()));
      if (!timed) result.lock.unlock();
    }
    BOOST_REQUIRE(s.mutex.is_locked() == timed);
  }
}

BOOST_AUTO_TEST_CASE(R17_threads_begin_to_block_while_the_home_dies) {
  for (int round = 0; round < 100; ++round) {
    dying_home s;
    bool locked = false;
    s.destroy_during([&] {
      for (int i = 0; i < 4; ++i) locked = s.mutex.try_lock_for(1us) || locked;
    });
    BOOST_REQUIRE(!locked);
    BOOST_REQUIRE(s.mutex.waiters() == 0u);
  }
}

// A standard guard must not outlive its mutex. Who lets one do so is told of it: where there is a
// sanitizer, by that.
#if !defined(BOOST_USE_ASAN)
BOOST_AUTO_TEST_CASE(R15_a_stale_unlock_of_a_dead_mutex_is_not_permitted) {
  for (bool const queued : {false, true}) {
    asio::io_context context;
    std::optional<async_mutex> mutex(std::in_place, context);
    std::unique_lock<async_mutex> stale(*mutex);
    mutex_result result;
    if (queued) mutex->async_lock(result.handler());  // aborted, and on its way yet
    mutex.reset();
    for (int i = 0; i < 2; ++i) {  // nothing has changed
      BOOST_TEST(error_of([&] { stale.unlock(); }) == not_permitted);
      context.run();
    }
    BOOST_TEST((!queued || result.refused(aborted)));
    stale.release();
  }
}

// Several mutexes have died, so that there are several free blocks to be confused by it.
BOOST_AUTO_TEST_CASE(R15_a_stale_unlock_leaves_later_mutexes_alone) {
  asio::io_context context;
  std::array<std::optional<async_mutex>, 4> dead;
  for (auto& mutex : dead) mutex.emplace(context);
  std::array<std::unique_lock<async_mutex>, 4> stale;
  for (int i = 0; i < 4; ++i) stale[i] = std::unique_lock<async_mutex>(*dead[i]);
  for (auto& mutex : dead) mutex.reset();
  for (auto& lock : stale) {
    BOOST_TEST(error_of([&] { lock.unlock(); }) == not_permitted);
    lock.release();
  }
  std::array<std::optional<async_mutex>, 8> later;
  for (auto& mutex : later) {
    mutex.emplace(context);
    BOOST_TEST(mutex->try_lock());
  }
  for (auto& mutex : later) {
    mutex->unlock();
    for (auto* other = &mutex + 1; other != later.data() + later.size(); ++other)
      BOOST_TEST((*other)->is_locked());
    BOOST_TEST(mutex->waiters() == 0u);
  }
}
#elif defined(ASIO_SYNC_TEST_HAS_CHILDREN)
BOOST_AUTO_TEST_CASE(R15_a_stale_unlock_of_a_dead_mutex_is_reported) {
  BOOST_TEST(failure_in_child([] {
               asio::io_context context;
               std::optional<async_mutex> mutex(std::in_place, context);
               std::unique_lock<async_mutex> stale(*mutex);
               mutex.reset();
               error_of([&] { stale.unlock(); });  // it has read the dead core all the same
               stale.release();
               return true;
             }) != "");
}
#endif

BOOST_AUTO_TEST_CASE(R17_works_in_destructors_of_statics) {
  static at_process_end last;
  last.mutex.async_lock(last.left.handler());
  last.mutex.async_lock(last.queued.handler());
  last.poll();
  BOOST_TEST(last.left.granted());
  BOOST_TEST(last.mutex.waiters() == 1u);
}

#if !defined(__MINGW32__)  // there the memory of thread locals is freed before they are destroyed
BOOST_AUTO_TEST_CASE(R17_works_in_destructors_of_thread_locals) {
  bool before = false, after = false;
  std::thread([&] {
    static thread_local at_thread_end const first(before);  // destroyed after what the pool has
    BOOST_TEST(exercise());
    static thread_local at_thread_end const second(after);
    static_cast<void>(first);
    static_cast<void>(second);
  }).join();
  BOOST_TEST((before && after));
}
#endif

BOOST_AUTO_TEST_SUITE_END()
