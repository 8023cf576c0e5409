// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The main function of the test programs, with a watchdog: a case that runs for longer than
// four minutes ends the program with its name. ASIO_SYNC_TEST_TIMEOUT gives other seconds, 0 for
// none.

#define BOOST_TEST_MODULE asio_sync
#if defined(ASIO_SYNC_TEST_HEADERS_ONLY)
#include <boost/test/included/unit_test.hpp>
#else
#include <boost/test/unit_test.hpp>
#endif

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>

namespace {

namespace unit_test = boost::unit_test;

class watchdog : public unit_test::test_observer {
 public:
  watchdog() {
    if (limit_ == std::chrono::seconds::zero()) return;
    unit_test::framework::register_observer(*this);
    thread_ = std::thread([this] { watch(); });
  }

  ~watchdog() override {
    if (!thread_.joinable()) return;
    unit_test::framework::deregister_observer(*this);
    {
      std::lock_guard guard(mutex_);
      stopping_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

  void test_unit_start(unit_test::test_unit const& unit) override {
    if (unit.p_type != unit_test::TUT_CASE) return;
    std::lock_guard guard(mutex_);
    name_ = unit.full_name();
    deadline_ = clock::now() + limit_;
    changed_.notify_one();
  }

  void test_unit_finish(unit_test::test_unit const& unit, unsigned long) override {
    if (unit.p_type != unit_test::TUT_CASE) return;
    std::lock_guard guard(mutex_);
    deadline_ = clock::time_point::max();
  }

 private:
  using clock = std::chrono::steady_clock;

  static std::chrono::seconds limit() {
    char const* text = std::getenv("ASIO_SYNC_TEST_TIMEOUT");
    return std::chrono::seconds(text ? std::atoi(text) : 240);
  }

  void watch() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      auto const now = clock::now();
      if (deadline_ <= now) expire();
      changed_.wait_for(lock, deadline_ == clock::time_point::max() ? limit_ : deadline_ - now);
    }
  }

  [[noreturn]] void expire() {
    std::fprintf(stderr, "watchdog: %s runs for more than %lld s\n", name_.c_str(),
                 static_cast<long long>(limit_.count()));
    std::signal(SIGABRT, SIG_DFL);  // Boost.Test's handler belongs to the thread of the case.
    std::abort();
  }

  std::chrono::seconds const limit_ = limit();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string name_;
  clock::time_point deadline_ = clock::time_point::max();
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace

BOOST_TEST_GLOBAL_FIXTURE(watchdog);
