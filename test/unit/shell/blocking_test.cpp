// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The blocking forms: on threads that run the executor, whatever that looks like, and where
// something has gone: the home, or the thread itself.

#include "support/blocked_thread.hpp"
#include "support/child.hpp"
#include "support/mutex_fixture.hpp"
#include "support/test.hpp"

#if defined(ASIO_SYNC_TEST_HAS_CHILDREN)
#include <pthread.h>
#include <sys/mman.h>
#endif

using namespace asio_sync::test;

namespace blocking_test {

template <class Condition>
bool comes_true(Condition condition) {
  auto const end = std::chrono::steady_clock::now() + 1min;  // for whatever does not hang
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(100us);
  }
  return true;
}

// On a thread of the mutex's own context: refuses to wait, and does all that need not wait.
template <class Executor>
void check_on_own_context(Executor const& ex) {
  basic_async_mutex<Executor> mutex(ex);
  auto const timed = [&](auto time) {
    return error_of([&] { static_cast<void>(mutex.try_lock_for(time)); });
  };
  auto const locks_until = [&](auto time) {
    return mutex.try_lock_until(std::chrono::steady_clock::now() + time);
  };
  std::promise<void> checked;
  asio::post(ex, [&] {
    mutex.lock();
    BOOST_TEST(error_of([&] { mutex.lock(); }) == deadlock);
    BOOST_TEST(timed(1h) == deadlock);
    BOOST_TEST(error_of([&] { static_cast<void>(locks_until(1h)); }) == deadlock);
    BOOST_TEST((!mutex.try_lock_for(0s) && !locks_until(-1h)));
    BOOST_TEST(mutex.waiters() == 0u);
    mutex.unlock();
    BOOST_TEST(mutex.try_lock_for(1h));
    mutex.close();
    BOOST_TEST(error_of([&] { mutex.lock(); }) == closed);
    mutex.unlock();
    BOOST_TEST(timed(1h) == closed);
    checked.set_value();
  });
  checked.get_future().wait();
}

// The executor, erased and not, and strands of it.
template <class Executor>
void check_in_each_form(Executor const& ex, char const* what) {
  BOOST_TEST_INFO_SCOPE(what);
  asio::any_io_executor const any = ex;
  check_on_own_context(ex);
  check_on_own_context(any);
  check_on_own_context(asio::make_strand(ex));
  check_on_own_context(asio::make_strand(any));
  check_on_own_context(asio::any_io_executor(asio::make_strand(ex)));
  check_on_own_context(asio::any_io_executor(asio::make_strand(any)));
}

template <class Executor>
void check_executors(Executor const& ex) {
  auto const tracked = asio::prefer(ex, asio::execution::outstanding_work.tracked);
  check_in_each_form(ex, "plain");
  check_in_each_form(tracked, "tracked");
  check_in_each_form(asio::require(tracked, asio::execution::blocking.never),
                     "tracked, never blocks");
}

}  // namespace blocking_test

BOOST_AUTO_TEST_SUITE(blocking_test)

BOOST_AUTO_TEST_CASE(R16_a_thread_that_runs_the_io_context_must_not_block) {
  asio::io_context context;
  auto const work = asio::make_work_guard(context);
  std::thread thread([&] { context.run(); });
  check_executors(context.get_executor());
  context.stop();
  thread.join();
}

BOOST_AUTO_TEST_CASE(R16_a_thread_of_the_thread_pool_must_not_block) {
  asio::thread_pool pool(1);
  check_executors(pool.get_executor());
  pool.join();
}

BOOST_AUTO_TEST_CASE(R9_the_thread_that_gets_it_may_destroy_it) {
  asio::io_context context;
  for (int i = 0; i < 300; ++i) {
    auto mutex = std::make_unique<async_mutex>(context);
    async_mutex& same = *mutex;
    BOOST_REQUIRE(same.try_lock());
    blocked_thread thread(same, [&] {
      mutex->lock();
      mutex->unlock();
      mutex.reset();
    });
    same.unlock();
    BOOST_REQUIRE(!thread.join());
    BOOST_REQUIRE(!mutex);
  }
}

BOOST_FIXTURE_TEST_CASE(R11_a_thread_gives_up_after_the_time, held_mutex) {
  BOOST_TEST(!mutex.try_lock_for(1ms));
  BOOST_TEST(!mutex.try_lock_until(std::chrono::steady_clock::now() + 1ms));
  BOOST_TEST(!mutex.try_lock_until(std::chrono::system_clock::now() + 1ms));
  BOOST_TEST(mutex.waiters() == 0u);
  bool locked = false;
  blocked_thread thread(mutex, [&] { locked = mutex.try_lock_for(std::chrono::hours::max()); });
  mutex.unlock();
  BOOST_TEST(!thread.join());
  BOOST_TEST(locked);
  mutex.unlock();
  BOOST_TEST(mutex.try_lock_until(std::chrono::steady_clock::now() - 1h));
}

// The second context lies where the first one lay: so who asks the dead one has an answer, a wrong
// one.
BOOST_AUTO_TEST_CASE(R16_a_context_in_the_place_of_the_dead_home_is_not_the_home) {
  std::optional<asio::io_context> context(std::in_place);
  async_mutex mutex(*context);
  BOOST_REQUIRE(mutex.try_lock());
  context.reset();
  context.emplace();
  error_code error = deadlock;
  asio::post(*context, [&] { error = error_of([&] { mutex.lock(); }); });
  std::thread thread([&] { context->run(); });
  BOOST_TEST(comes_true([&] { return mutex.waiters() == 1; }));
  mutex.unlock();
  thread.join();
  BOOST_TEST(!error);
  BOOST_TEST(mutex.is_locked());
}

#if defined(ASIO_SYNC_TEST_HAS_CHILDREN)
// A context in memory that nobody can touch once it is dead.
class unreachable_after_death {
 public:
  unreachable_after_death() : context_(::new (memory_) asio::io_context) {}
  unreachable_after_death(unreachable_after_death const&) = delete;
  unreachable_after_death& operator=(unreachable_after_death const&) = delete;

  asio::io_context& operator*() const noexcept { return *context_; }
  void end() noexcept {
    std::destroy_at(context_);
    ::mprotect(memory_, size, PROT_NONE);
  }

 private:
  static constexpr std::size_t size = 1 << 16;

  void* const memory_ =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  asio::io_context* const context_;
};

// In a child, as a thread that asks the dead context crashes.
template <class Mutex>
std::string failure_after_death_of_home() {
  return failure_in_child([] {
    unreachable_after_death context;
    Mutex mutex(*context);
    bool held = mutex.try_lock();
    context.end();
    held = held && !mutex.try_lock_for(1ms);
    held = held && !mutex.try_lock_until(std::chrono::steady_clock::now() + 1ms);
    mutex.unlock();
    mutex.lock();
    return held && mutex.waiters() == 0 && mutex.is_locked();
  });
}

BOOST_AUTO_TEST_CASE(R16_lock_after_the_home_has_died) {
  BOOST_TEST(failure_after_death_of_home<async_mutex>() == "");
  using of_io_context = basic_async_mutex<asio::io_context::executor_type>;
  BOOST_TEST(failure_after_death_of_home<of_io_context>() == "");
}
#endif

#if defined(ASIO_SYNC_TEST_CHILDREN_HAVE_THREADS)
// A thread that locks, and unlocks if it was not cancelled in there. (Not a std::thread: not every
// standard library lets a cancellation through.)
class cancelled_thread {
 public:
  cancelled_thread(async_mutex& mutex, bool timed) : mutex_(mutex), timed_(timed) {
    ::pthread_create(&thread_, nullptr, &run, this);
  }

  void cancel() const noexcept { ::pthread_cancel(thread_); }
  void join() const noexcept { ::pthread_join(thread_, nullptr); }

 private:
  static void* run(void* arg) {
    auto& self = *static_cast<cancelled_thread*>(arg);
    bool const locked = self.timed_ ? self.mutex_.try_lock_for(1h) : (self.mutex_.lock(), true);
    // A hand-off may well wake a context, and to do that is a cancellation point.
    ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
    if (locked) self.mutex_.unlock();
    return nullptr;
  }

  async_mutex& mutex_;
  bool const timed_;
  ::pthread_t thread_;
};

// The thread may stay in lock() or leave it: the handler behind it gets its turn all the same.
bool gets_its_turn_behind(bool timed) {
  held_mutex f;
  cancelled_thread thread(f.mutex, timed);
  bool held = comes_true([&] { return f.mutex.waiters() == 1; });
  thread.cancel();
  mutex_result next;
  f.mutex.async_lock(next.handler());
  std::this_thread::sleep_for(50ms);  // it is out of lock() by now, if it leaves at all
  f.mutex.unlock();
  held = held && comes_true([&] { return f.poll(), next.granted(); });
  if (!held) return false;  // and do not wait for the thread
  thread.join();
  next.lock.unlock();
  return f.mutex.waiters() == 0 && f.mutex.try_lock();
}

// Cancelled while the grant is on its way to it: again and again, as the way is short.
bool goes_on_after_grants_to_the_cancelled(bool timed) {
  mutex_fixture f;
  for (int round = 0; round < 1000; ++round) {
    if (!f.mutex.try_lock()) return false;  // what the last one was granted is lost
    cancelled_thread thread(f.mutex, timed);
    if (!comes_true([&] { return f.mutex.waiters() == 1; })) return false;
    f.mutex.unlock();
    thread.cancel();
    thread.join();
  }
  return f.mutex.waiters() == 0 && f.mutex.try_lock();
}

BOOST_AUTO_TEST_CASE(R17_a_thread_cancelled_while_it_blocks_loses_nobodys_turn) {
  for (bool const timed : {false, true})
    BOOST_TEST(failure_in_child([=] { return gets_its_turn_behind(timed); }) == "");
}

BOOST_AUTO_TEST_CASE(R17_a_thread_cancelled_when_it_was_granted_loses_no_lock) {
  for (bool const timed : {false, true})
    BOOST_TEST(failure_in_child([=] { return goes_on_after_grants_to_the_cancelled(timed); }) ==
               "");
}
#endif

BOOST_AUTO_TEST_SUITE_END()
