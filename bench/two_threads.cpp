// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include <bench/lock_workloads.hpp>
#include <bench/mutex_lock.hpp>

#include <boost/asio/executor_work_guard.hpp>

#include <atomic>

namespace asio_sync::bench {

namespace {

// One thread initiates; the context, and with it every completion, runs in another.
template <class Lock>
struct completion_counter {
  void operator()(boost::system::error_code, typename Lock::held held) {
    lock->release(held);
    completed->fetch_add(1);
    completed->notify_one();
  }

  Lock* lock;
  std::atomic<std::size_t>* completed;
};

// `at_once` waits are initiated, then the initiator awaits their completions: of one, the mutex is
// free; of more, they queue.
template <class Lock>
workload initiated_elsewhere(reactor r, std::size_t at_once) {
  auto const s = std::make_shared<scene<Lock>>(r);
  return {[=](std::size_t n) {
    std::atomic<std::size_t> completed = 0;
    auto work = boost::asio::make_work_guard(s->context.io());
    std::thread thread([s] { s->context.run(); });
    for (std::size_t done = 0; done < n; done += at_once) {
      bool const queued = at_once > 1;
      if (queued)
        while (!s->lock.try_lock()) continue;
      for (std::size_t i = 0; i != at_once; ++i)
        s->lock.async_lock(completion_counter<Lock>{&s->lock, &completed});
      if (queued) s->lock.unlock();
      for (std::size_t seen = completed; seen != done + at_once; seen = completed)
        completed.wait(seen);
    }
    work.reset();
    thread.join();
  }};
}

}  // namespace

void add_two_thread_workloads(catalogue& all) {
  auto const add = [&](std::string const& name, auto make, std::size_t at_once, reactor r) {
    all[name] = {8192, [=] { return make(r, at_once); }, true};
  };
  add("W2/two threads", initiated_elsewhere<mutex_lock>, 1, reactor::absent);
  add("W6/two threads", initiated_elsewhere<mutex_lock>, 512, reactor::absent);
  add("W10/free/two threads", initiated_elsewhere<timed_mutex_lock>, 1, reactor::present);
  add("W10/queue/two threads", initiated_elsewhere<timed_mutex_lock>, 512, reactor::present);
}

}  // namespace asio_sync::bench
