// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_STRESS_WORLD_HPP
#define ASIO_SYNC_TEST_STRESS_WORLD_HPP

// Contexts with their threads, and an account of what was begun in them.

#include "support/random.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace asio_sync::test {

namespace asio = boost::asio;

// What was begun, and what has become of it.
struct account {
  std::atomic<long> begun = 0, completed = 0, dropped = 0, twice = 0;
};

// An operation that was begun: it completes once, or is dropped with its handler.
class operation_ticket {
 public:
  explicit operation_ticket(account& a) : account_(&a) { ++a.begun; }
  operation_ticket(operation_ticket&& other) noexcept
      : account_(std::exchange(other.account_, nullptr)), completed_(other.completed_) {}
  operation_ticket& operator=(operation_ticket&&) = delete;
  ~operation_ticket() {
    if (account_ && !completed_) ++account_->dropped;
  }

  void complete() {
    ++(completed_ ? account_->twice : account_->completed);
    completed_ = true;
  }

 private:
  account* account_;
  bool completed_ = false;
};

// How a round ends.
enum class ending {
  calm,  // by itself: nothing was cancelled, timed out or closed, so nothing lost is made up for
  by_itself,
  closed,
  stopped,  // with waits outstanding
};

// A pool and two contexts, of which the second has one thread; for blocking calls threads besides.
class world {
 public:
  explicit world(unsigned seed)
      : random(seed), how(static_cast<ending>(random.below(4))), pool_(std::in_place, 2) {
    for (auto& context : contexts_) {
      context.emplace();
      work_.push_back(asio::make_work_guard(*context));
    }
  }

  void run_contexts() {
    runners_.emplace_back([this] { contexts_[1]->run(); });
    for (unsigned n = 1 + random.below(2); n > 0; --n)
      runners_.emplace_back([this] { contexts_[0]->run(); });
  }

  // Of a context, and no strand: a primitive at home there may outlive the context.
  asio::any_io_executor any_home(random_choice& r) {
    unsigned const n = r.below(3);
    if (n == 2) return pool_->get_executor();
    return contexts_[n]->get_executor();
  }

  // The same, where handlers run one at a time.
  asio::any_io_executor serial_home() { return contexts_[1]->get_executor(); }

  // One where handlers run one at a time.
  asio::any_io_executor any_serial_executor(random_choice& r) {
    switch (r.below(4)) {
      case 0: return asio::make_strand(*contexts_[0]);
      case 1: return asio::make_strand(any_home(r));
      case 2: return asio::make_strand(*pool_);
      default: return contexts_[1]->get_executor();
    }
  }

  asio::any_io_executor any_executor(random_choice& r) {
    return r.one_in(2) ? any_home(r) : any_serial_executor(r);
  }

  // For who goes elsewhere to wait, and looks at over() after this: nothing begins where nobody
  // runs any more. Not where the round is stopped, as what was left then may outlive the context.
  asio::any_io_executor keep_running(asio::any_io_executor const& ex) const {
    if (!ex || how == ending::stopped) return {};
    return asio::prefer(ex, asio::execution::outstanding_work.tracked);
  }

  // A thread that blocks in primitives.
  void run_thread(std::function<void(unsigned seed)> f) {
    ++blocking_left_;
    blocking_.emplace_back([this, f = std::move(f), seed = random.seed()] {
      f(seed);
      --blocking_left_;
    });
  }

  bool calm() const noexcept { return how == ending::calm; }
  bool over() const noexcept { return over_; }

  // Ends all threads. `unblock` is called until those that block have ended, if the round is
  // stopped; otherwise everything has to end without it.
  template <class Function>
  void end_threads(Function unblock) {
    if (how == ending::stopped) {
      for (auto& context : contexts_) context->stop();
      pool_->stop();
      while (blocking_left_ > 0) {
        unblock();
        std::this_thread::yield();
      }
    }
    work_.clear();
    for (auto& thread : blocking_) thread.join();
    for (auto& thread : runners_) thread.join();
    pool_->join();
  }

  void declare_over() noexcept { over_ = true; }

  // Destroys the contexts, and in between what `destroy` destroys.
  template <class Function>
  void end_contexts(Function destroy) {
    unsigned const turn = random.below(4), first = random.below(3);
    for (unsigned i = 0; i <= 3; ++i) {
      if (i == turn) destroy();
      unsigned const which = (first + i) % 3;
      if (i == 3) continue;
      if (which == 2)
        pool_.reset();
      else
        contexts_[which].reset();
    }
  }

  random_choice random;
  ending const how;
  account operations;

 private:
  std::array<std::optional<asio::io_context>, 2> contexts_;
  std::optional<asio::thread_pool> pool_;
  std::vector<asio::executor_work_guard<asio::io_context::executor_type>> work_;
  std::vector<std::thread> runners_, blocking_;
  std::atomic<unsigned> blocking_left_ = 0;
  std::atomic<bool> over_ = false;
};

inline std::chrono::microseconds some_time(random_choice& random) {
  return std::chrono::microseconds(static_cast<int>(random.below(400)) - 50);
}

}  // namespace asio_sync::test

#endif
