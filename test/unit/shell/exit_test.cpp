// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// A mutex that is used while its thread, or the process, comes to its end. What fails there ends
// the program with a status of its own.

#include "support/mutex_result.hpp"
#include "support/test.hpp"

#include <asio_sync/async_mutex.hpp>

namespace exit_test {

using namespace asio_sync::test;

// Queues, hands over, cancels and destroys.
bool exercise() {
  asio::io_context context;
  std::optional<async_mutex> mutex(std::in_place, context);
  mutex_result results[3];
  for (auto& result : results) mutex->async_lock(result.handler());
  context.poll();
  bool good = results[0].granted() && mutex->waiters() == 2;
  results[0].lock.unlock();
  good = mutex->cancel() == 1 && good;
  context.restart();
  context.poll();
  good = good && results[1].granted() && results[2].refused(asio::error::operation_aborted);
  results[1].lock.unlock();
  return good && mutex->try_lock() && !mutex->try_lock();
}

struct at_process_end {
  at_process_end() : context(std::in_place), mutex(std::in_place, *context) {}

  ~at_process_end() {
    left.lock.unlock();
    context->poll();
    if (exercise() && queued.granted()) {
      queued.lock.unlock();
      return;
    }
    std::fputs("R17: a mutex failed while statics were destroyed\n", stderr);
    std::_Exit(EXIT_FAILURE);
  }

  std::optional<asio::io_context> context;
  std::optional<async_mutex> mutex;
  mutex_result left, queued;  // a lock that is held, and a wait that is queued, at the end
};

struct at_thread_end {
  explicit at_thread_end(bool& f) noexcept : flag(f) {}
  ~at_thread_end() { flag = exercise(); }
  bool& flag;
};

}  // namespace exit_test

BOOST_AUTO_TEST_SUITE(exit_test)

BOOST_AUTO_TEST_CASE(R17_works_in_destructors_of_statics) {
  static at_process_end last;
  last.mutex->async_lock(last.left.handler());
  last.mutex->async_lock(last.queued.handler());
  last.context->poll();
  last.context->restart();
  BOOST_TEST(last.left.granted());
  BOOST_TEST(last.mutex->waiters() == 1u);
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
  BOOST_TEST(before);
  BOOST_TEST(after);
}
#endif

BOOST_AUTO_TEST_SUITE_END()
