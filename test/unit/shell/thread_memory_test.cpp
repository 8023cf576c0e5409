// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// A thread that meets the library for the first time when there is no memory. What the library
// keeps for each thread must not need any then: glibc ends the process where it cannot note that a
// thread-local object is to be destroyed. So each case has a process of its own, which it starves.

#include "support/child.hpp"
#include "support/mutex_result.hpp"
#include "support/test.hpp"

#include <asio_sync/async_mutex.hpp>

// The sanitizers have a heap of their own, which ends the process when it finds no memory.
#if defined(ASIO_SYNC_TEST_CHILDREN_HAVE_THREADS) && defined(__GLIBC__) && !defined(BOOST_USE_ASAN)

#include <sys/resource.h>

namespace thread_memory_test {

using namespace asio_sync::test;

// While this lives no thread of the process gets memory, from whatever function. What it takes for
// that stays taken: its process is a child, and ends soon.
class starvation {
 public:
  starvation() {
    ::getrlimit(RLIMIT_AS, &before_);
    ::rlimit none = before_;
    none.rlim_cur = 1;
    ::setrlimit(RLIMIT_AS, &none);
    for (std::size_t size = std::size_t(1) << 24; size > 8; size -= size > 2048 ? size / 2 : 8)
      while (void* const taken = std::malloc(size)) keep(taken);
    while (void* const taken = std::calloc(1, 16)) keep(taken);
  }
  starvation(starvation const&) = delete;
  starvation& operator=(starvation const&) = delete;
  ~starvation() { ::setrlimit(RLIMIT_AS, &before_); }

 private:
  // The compiler must not think that it can do without the allocation.
  static void keep(void* taken) noexcept { last = taken; }
  static inline void* volatile last = nullptr;

  ::rlimit before_;
};

// The mutex is held, and one wait queued, by a thread that is not the one that starves.
struct world {
  asio::io_context context;
  std::optional<async_mutex> mutex{std::in_place, context};
  mutex_result result;

  world() {
    static_cast<void>(mutex->try_lock());
    mutex->async_lock(result.handler());
  }

  // What every thread can do when memory is back.
  bool works() {
    async_mutex other(context);
    mutex_result results[2];
    for (auto& r : results) other.async_lock(r.handler());
    context.restart();
    context.poll();
    if (!results[0].granted()) return false;
    results[0].lock.unlock();
    context.restart();
    context.poll();
    return results[1].granted();
  }
};

// Calls f(world) on a fresh thread without memory: what f returns, and whether all works later.
template <class Function>
bool holds_on_a_starved_thread(Function f) {
  world w;
  bool held = false;
  std::thread([&] {
    {
      starvation const nothing;
      held = f(w);
    }
    held = held && w.works();
  }).join();
  return held && w.works();
}

}  // namespace thread_memory_test

BOOST_AUTO_TEST_SUITE(thread_memory_test)

BOOST_AUTO_TEST_CASE(R13_a_fresh_thread_completes_a_wait_without_memory) {
  BOOST_TEST(failure_in_child([] {
               return holds_on_a_starved_thread([](world& w) {
                 w.mutex->unlock();
                 w.context.poll();
                 return w.result.granted();
               });
             }) == "");
}

BOOST_AUTO_TEST_CASE(R13_a_fresh_thread_destroys_a_mutex_without_memory) {
  BOOST_TEST(failure_in_child([] {
               return holds_on_a_starved_thread([](world& w) {
                 w.mutex.reset();
                 w.context.poll();
                 return w.result.refused(asio::error::operation_aborted);
               });
             }) == "");
}

BOOST_AUTO_TEST_CASE(R13_initiation_on_a_fresh_thread_without_memory_changes_nothing) {
  BOOST_TEST(failure_in_child([] {
               return holds_on_a_starved_thread([](world& w) {
                 mutex_result unborn;
                 bool thrown = false;
                 try {
                   w.mutex->async_lock(unborn.handler());
                 } catch (std::bad_alloc const&) {
                   thrown = true;
                 }
                 w.mutex->unlock();
                 w.context.poll();
                 return thrown && unborn.calls == 0 && w.result.granted();
               });
             }) == "");
}

BOOST_AUTO_TEST_SUITE_END()

#endif
