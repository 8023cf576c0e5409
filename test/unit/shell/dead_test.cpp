// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Something has died, or is dying, and somebody else goes on: the home of a mutex, the mutex
// itself.

#include "support/child.hpp"
#include "support/mutex_result.hpp"
#include "support/test.hpp"

#include <asio_sync/async_mutex.hpp>

using namespace asio_sync::test;

namespace dead_test {

// Destroys the home of a mutex, which is locked, while another thread calls act(mutex). Mostly a
// test for the thread sanitizer.
template <class Act>
void destroy_home_during(async_mutex& mutex, std::unique_ptr<asio::io_context>& home, Act act) {
  std::atomic<int> arrived{0};  // a barrier loses wake-ups in libstdc++ 12 without a futex
  auto const meet = [&] {
    for (++arrived; arrived != 2;) std::this_thread::yield();
  };
  std::thread other([&] {
    meet();
    act(mutex);
  });
  meet();
  home.reset();
  other.join();
}

// A locked mutex whose home dies while others begin to wait for it in another context.
struct dying_home {
  template <class Wait>
  void begin(Wait wait) {
    BOOST_REQUIRE(mutex.try_lock());
    destroy_home_during(mutex, home, [&](async_mutex& m) {
      for (auto& result : results)
        wait(m, asio::bind_executor(other.get_executor(), result.handler()));
    });
  }

  std::unique_ptr<asio::io_context> home = std::make_unique<asio::io_context>();
  asio::io_context other;
  async_mutex mutex{*home};
  std::array<mutex_result, 4> results;
};

#if !defined(BOOST_USE_ASAN)
bool is_not_permitted(system_error const& e) {
  return e.code() == errc::make_error_code(errc::operation_not_permitted);
}
#endif

}  // namespace dead_test

BOOST_AUTO_TEST_SUITE(dead_test)

BOOST_AUTO_TEST_CASE(R17_waits_for_another_context_begin_while_the_home_dies) {
  for (int round = 0; round < 100; ++round) {
    dying_home s;
    s.begin([](async_mutex& m, auto handler) { m.async_lock(std::move(handler)); });
    BOOST_REQUIRE(s.mutex.waiters() == s.results.size());
    s.mutex.unlock();
    for (auto& result : s.results) {
      s.other.restart();
      s.other.poll();
      BOOST_REQUIRE(result.granted());
      result.lock.unlock();
    }
    BOOST_REQUIRE(!s.mutex.is_locked());
  }
}

BOOST_AUTO_TEST_CASE(R17_timed_waits_for_another_context_begin_while_the_home_dies) {
  for (int round = 0; round < 100; ++round) {
    dying_home s;
    s.begin([](async_mutex& m, auto handler) { m.async_lock_for(1h, std::move(handler)); });
    BOOST_REQUIRE(s.mutex.cancel() == s.results.size());
    s.other.run();
    for (auto const& result : s.results) BOOST_REQUIRE(result.refused(aborted));
  }
}

BOOST_AUTO_TEST_CASE(R17_threads_begin_to_block_while_the_home_dies) {
  for (int round = 0; round < 100; ++round) {
    auto home = std::make_unique<asio::io_context>();
    async_mutex mutex(*home);
    BOOST_REQUIRE(mutex.try_lock());
    bool locked = false;
    destroy_home_during(mutex, home, [&](async_mutex& m) {
      for (int i = 0; i < 4; ++i) locked = m.try_lock_for(1us) || locked;
    });
    BOOST_REQUIRE(!locked);
    BOOST_REQUIRE(mutex.waiters() == 0u);
  }
}

// A standard guard must not outlive its mutex. Who lets one do so is told of it: where there is a
// sanitizer, by that.
#if !defined(BOOST_USE_ASAN)
BOOST_AUTO_TEST_CASE(R15_a_stale_unlock_of_a_dead_mutex_is_not_permitted) {
  asio::io_context context;
  std::optional<async_mutex> mutex(std::in_place, context);
  std::unique_lock<async_mutex> stale(*mutex);
  mutex.reset();
  BOOST_CHECK_EXCEPTION(stale.unlock(), system_error, is_not_permitted);
  BOOST_CHECK_EXCEPTION(stale.unlock(), system_error, is_not_permitted);  // nothing has changed
  stale.release();
}

// A wait that was aborted is on its way yet.
BOOST_AUTO_TEST_CASE(R15_a_stale_unlock_of_a_mutex_that_died_with_waits_is_not_permitted) {
  asio::io_context context;
  std::optional<async_mutex> mutex(std::in_place, context);
  std::unique_lock<async_mutex> stale(*mutex);
  mutex_result result;
  mutex->async_lock(result.handler());
  mutex.reset();
  BOOST_CHECK_EXCEPTION(stale.unlock(), system_error, is_not_permitted);
  context.run();
  BOOST_TEST(result.refused(aborted));
  BOOST_CHECK_EXCEPTION(stale.unlock(), system_error, is_not_permitted);
  stale.release();
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
    BOOST_CHECK_EXCEPTION(lock.unlock(), system_error, is_not_permitted);
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
  BOOST_TEST(asio_sync::test::failure_in_child([] {
               asio::io_context context;
               std::optional<async_mutex> mutex(std::in_place, context);
               std::unique_lock<async_mutex> stale(*mutex);
               mutex.reset();
               try {
                 stale.unlock();
               } catch (system_error const&) {  // it has read the dead core all the same
               }
               stale.release();
               return true;
             }) != "");
}
#endif

BOOST_AUTO_TEST_SUITE_END()
