// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The blocking forms where something else has gone: the home, or the thread itself. And on an
// executor that does not look like that of the context which it belongs to.

#include "support/child.hpp"
#include "support/mutex_result.hpp"
#include "support/test.hpp"

#include <asio_sync/async_mutex.hpp>

#if defined(ASIO_SYNC_TEST_HAS_CHILDREN)
#include <pthread.h>
#include <sys/mman.h>
#endif

using namespace asio_sync::test;

namespace blocking_test {

constexpr auto long_enough = 1min;  // for whatever does not hang

template <class Condition>
bool comes_true(Condition condition) {
  auto const end = std::chrono::steady_clock::now() + long_enough;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(100us);
  }
  return true;
}

// What lock() throws on this thread where it must not wait. Should it wait all the same, another
// thread cancels it.
template <class Mutex>
error_code error_of_lock(Mutex& mutex) {
  std::promise<void> done;
  std::thread rescue([&mutex, done = done.get_future()] {
    if (done.wait_for(1s) == std::future_status::timeout) mutex.cancel();
  });
  error_code const error = error_of([&] { mutex.lock(); });
  done.set_value();
  rescue.join();
  return error;
}

// On a thread of the context, with a mutex over `ex`, which belongs to it.
template <class Executor>
void check_deadlock_is_seen(asio::io_context& context, Executor const& ex,
                            std::string const& what) {
  basic_async_mutex<Executor> mutex(ex);
  BOOST_REQUIRE(mutex.try_lock());
  bool checked = false;
  asio::post(context, [&] {
    BOOST_TEST_CONTEXT(what) {
      BOOST_TEST(error_of_lock(mutex) == deadlock);
      BOOST_TEST(error_of([&] { static_cast<void>(mutex.try_lock_for(100ms)); }) == deadlock);
      BOOST_TEST(!mutex.try_lock_for(0s));
      BOOST_TEST(mutex.waiters() == 0u);
    }
    checked = true;
  });
  context.restart();
  while (!checked) context.run_one();  // NOLINT(bugprone-infinite-loop): the handler ends it
  mutex.unlock();
}

// The executor, erased and not, and a strand of it.
template <class Executor>
void check_deadlock_is_seen_in_each_form(asio::io_context& context, Executor const& ex,
                                         std::string const& what) {
  check_deadlock_is_seen(context, ex, what);
  check_deadlock_is_seen(context, asio::any_io_executor(ex), what + ", erased");
  check_deadlock_is_seen(context, asio::make_strand(ex), what + ", in a strand");
  check_deadlock_is_seen(context, asio::any_io_executor(asio::make_strand(ex)),
                         what + ", in a strand, erased");
}

}  // namespace blocking_test

BOOST_AUTO_TEST_SUITE(blocking_test)

BOOST_AUTO_TEST_CASE(R16_an_executor_that_tracks_work_is_that_of_its_context) {
  asio::io_context context;
  auto const tracked =
      asio::prefer(context.get_executor(), asio::execution::outstanding_work.tracked);
  check_deadlock_is_seen_in_each_form(context, tracked, "tracked");
  check_deadlock_is_seen_in_each_form(
      context, asio::require(tracked, asio::execution::blocking.never), "tracked, never blocks");
}

BOOST_AUTO_TEST_CASE(R16_an_executor_that_tracks_work_is_that_of_its_pool) {
  asio::thread_pool pool(1);
  async_mutex mutex(asio::prefer(pool.get_executor(), asio::execution::outstanding_work.tracked));
  BOOST_REQUIRE(mutex.try_lock());
  std::promise<error_code> error;
  asio::post(pool, [&] { error.set_value(error_of_lock(mutex)); });
  BOOST_TEST(error.get_future().get() == deadlock);
}

// The second context lies where the first one lay: so who asks the dead one has an answer, a wrong
// one.
BOOST_AUTO_TEST_CASE(R16_a_context_in_the_place_of_the_dead_home_is_not_the_home) {
  std::optional<asio::io_context> context(std::in_place);
  async_mutex mutex(*context);
  BOOST_REQUIRE(mutex.try_lock());
  context.reset();
  context.emplace();
  auto const work = asio::make_work_guard(*context);
  std::promise<error_code> error;
  asio::post(*context, [&] { error.set_value(error_of([&] { mutex.lock(); })); });
  std::thread thread([&] { context->run(); });
  BOOST_TEST(comes_true([&] { return mutex.waiters() == 1; }));
  mutex.unlock();
  BOOST_TEST(error.get_future().get() == error_code());
  BOOST_TEST(mutex.is_locked());
  context->stop();
  thread.join();
}

#if defined(ASIO_SYNC_TEST_HAS_CHILDREN)
// A context in memory that nobody can touch once it is dead.
template <class Context>
class unreachable_after_death {
 public:
  unreachable_after_death() : context_(::new (memory_) Context) {}
  unreachable_after_death(unreachable_after_death const&) = delete;
  unreachable_after_death& operator=(unreachable_after_death const&) = delete;

  Context& operator*() const noexcept { return *context_; }
  void end() noexcept {
    context_->~Context();
    ::mprotect(memory_, size, PROT_NONE);
  }

 private:
  static constexpr std::size_t size = 1 << 16;

  void* const memory_ =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  Context* const context_;
};

// In a child, as a thread that asks the dead context crashes.
template <class Mutex>
std::string failure_after_death_of_home() {
  return asio_sync::test::failure_in_child([] {
    unreachable_after_death<asio::io_context> context;
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
  enum class form { lock, timed };

  cancelled_thread(async_mutex& mutex, form f) : mutex_(mutex), form_(f) {
    ::pthread_create(&thread_, nullptr, &run, this);
  }

  void cancel() const noexcept { ::pthread_cancel(thread_); }
  void join() const noexcept { ::pthread_join(thread_, nullptr); }

 private:
  static void* run(void* arg) {
    auto& self = *static_cast<cancelled_thread*>(arg);
    bool locked = true;
    if (self.form_ == form::lock)
      self.mutex_.lock();
    else
      locked = self.mutex_.try_lock_for(1h);
    // A hand-off may well wake a context, and to do that is a cancellation point.
    ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
    if (locked) self.mutex_.unlock();
    return nullptr;
  }

  async_mutex& mutex_;
  form const form_;
  ::pthread_t thread_;
};

// The thread may stay in lock() or leave it: the handler behind it gets its turn all the same.
bool gets_its_turn_behind(cancelled_thread::form form) {
  asio::io_context context;
  async_mutex mutex(context);
  if (!mutex.try_lock()) return false;
  cancelled_thread thread(mutex, form);
  bool held = comes_true([&] { return mutex.waiters() == 1; });
  thread.cancel();
  mutex_result next;
  mutex.async_lock(next.handler());
  std::this_thread::sleep_for(50ms);  // it is out of lock() by now, if it leaves at all
  mutex.unlock();
  held = held && comes_true([&] { return context.restart(), context.poll(), next.granted(); });
  if (!held) return false;  // and do not wait for the thread
  thread.join();
  next.lock.unlock();
  return mutex.waiters() == 0 && mutex.try_lock();
}

// Cancelled while the grant is on its way to it: again and again, as the way is short.
bool goes_on_after_grants_to_the_cancelled(cancelled_thread::form form) {
  asio::io_context context;
  async_mutex mutex(context);
  for (int round = 0; round < 1000; ++round) {
    if (!mutex.try_lock()) return false;  // what the last one was granted is lost
    cancelled_thread thread(mutex, form);
    if (!comes_true([&] { return mutex.waiters() == 1; })) return false;
    mutex.unlock();
    thread.cancel();
    thread.join();
  }
  return mutex.waiters() == 0 && mutex.try_lock();
}

BOOST_AUTO_TEST_CASE(R17_a_thread_cancelled_while_it_blocks_loses_nobodys_turn) {
  for (auto const form : {cancelled_thread::form::lock, cancelled_thread::form::timed})
    BOOST_TEST(asio_sync::test::failure_in_child([=] { return gets_its_turn_behind(form); }) ==
               "");
}

BOOST_AUTO_TEST_CASE(R17_a_thread_cancelled_when_it_was_granted_loses_no_lock) {
  for (auto const form : {cancelled_thread::form::lock, cancelled_thread::form::timed})
    BOOST_TEST(asio_sync::test::failure_in_child(
                   [=] { return goes_on_after_grants_to_the_cancelled(form); }) == "");
}
#endif

BOOST_AUTO_TEST_SUITE_END()
