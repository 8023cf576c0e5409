// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// One mutex, contended by coroutines, callbacks and threads on several contexts, with
// cancellation, time-outs and destruction at random, and others made and destroyed beside it. What
// it guards is plain data: a thread sanitizer sees every hole. ASIO_SYNC_STRESS_SECONDS says for
// how long (5), ASIO_SYNC_TEST_SEED where it starts; `./dev soak` gives it both.

#include "support/random.hpp"

#include <asio_sync/async_mutex.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace asio = boost::asio;
using asio_sync::async_mutex;
using asio_sync::test::random_choice;
using boost::system::error_code;
using guard = async_mutex::lock_type;
using clock_type = std::chrono::steady_clock;
using std::chrono::microseconds;
using std::chrono::milliseconds;

namespace mutex_stress_test {

// A round: everything that takes part, from beginning to end.
class stress_round {
 public:
  explicit stress_round(unsigned seed) : random_(seed), holds_over_(random_.one_in(2)) {}

  void run() {
    start();
    auto const end = clock_type::now() + milliseconds(20 + random_.below(60));
    while (clock_type::now() < end) {
      if (random_.one_in(4)) mutex_->cancel();
      short_lived_mutex();
      if (random_.one_in(8)) blocked_thread();
      std::this_thread::sleep_for(microseconds(random_.below(300)));
    }
    finish();
  }

  long grants() const { return granted_; }

  void check() const {
    BOOST_TEST(counter_ == granted_.load());
    BOOST_TEST(token_.use_count() == 1);  // no handler and no frame is left
  }

 private:
  using context_list = std::array<std::optional<asio::io_context>, 2>;

  // One that runs single-threaded, or a strand.
  asio::any_io_executor any_serial_executor(random_choice& random) {
    asio::any_io_executor const any = contexts_[0]->get_executor();
    switch (random.below(4)) {
      case 0: return asio::make_strand(*contexts_[0]);
      case 1: return asio::make_strand(any);
      case 2: return asio::make_strand(*contexts_[1]);
      default: return contexts_[1]->get_executor();
    }
  }

  void count(guard const& lock) {
    if (!lock.owns_lock()) return;
    ++counter_;
    granted_.fetch_add(1, std::memory_order_relaxed);
  }

  static microseconds some_time(random_choice& random) {
    return microseconds(static_cast<int>(random.below(400)) - 50);
  }

  asio::awaitable<void> coroutine(unsigned seed, std::shared_ptr<int>) {
    random_choice random(seed);
    auto const use = [&](auto result) -> asio::awaitable<void> {
      guard const lock = std::get<1>(std::move(result));
      count(lock);
      if (holds_over_ && random.one_in(3))
        co_await asio::post(co_await asio::this_coro::executor, asio::deferred);
    };
    while (!over_) {
      switch (random.below(4)) {
        case 0: co_await use(co_await mutex_->async_lock(asio::as_tuple(asio::deferred))); break;
        case 1:
          co_await use(co_await mutex_->async_lock(asio::as_tuple(asio::use_awaitable)));
          break;
        case 2:
          co_await use(
              co_await mutex_->async_lock_for(some_time(random), asio::as_tuple(asio::deferred)));
          break;
        default:
          co_await asio::post(co_await asio::this_coro::executor, asio::deferred);
          co_await use(co_await mutex_->async_lock_for(some_time(random),
                                                       asio::as_tuple(asio::use_awaitable)));
      }
    }
  }

  // Callbacks whose operations are cancelled through their slots, each on its executor.
  struct canceller : std::enable_shared_from_this<canceller> {
    canceller(stress_round& r, unsigned seed)
        : owner(r), random(seed), executor(r.any_serial_executor(random)), token(r.token_) {}

    void step() {
      if (owner.over_) return;
      auto handler = asio::bind_cancellation_slot(
          signal.slot(),
          asio::bind_executor(executor, [self = shared_from_this()](error_code, guard lock) {
            self->owner.count(lock);
            if (lock.owns_lock()) lock.unlock();
            self->step();
          }));
      if (random.one_in(2))
        owner.mutex_->async_lock(std::move(handler));
      else
        owner.mutex_->async_lock_for(some_time(random), std::move(handler));
      if (random.one_in(2))
        asio::post(executor, [self = shared_from_this()] { self->signal.emit(self->any_type()); });
    }

    asio::cancellation_type any_type() {
      using enum asio::cancellation_type;
      return std::array{total, partial, terminal}[random.below(3)];
    }

    stress_round& owner;
    random_choice random;
    asio::any_io_executor executor;
    asio::cancellation_signal signal;
    std::shared_ptr<int> token;
  };

  void thread(unsigned seed) {
    random_choice random(seed);
    while (!over_) {
      try {
        switch (random.below(4)) {
          case 0: count(guard(*mutex_)); break;
          case 1: count(guard(*mutex_, std::try_to_lock)); break;
          default: count(guard(*mutex_, some_time(random)));
        }
      } catch (boost::system::system_error const&) {  // cancelled or closed
      }
    }
  }

  // A mutex, and a context of some of the waits for it, that die with waits queued: the mutex with
  // the last of them, or here, before the context or after it.
  void short_lived_mutex() {
    std::optional<asio::io_context> context(std::in_place);
    bool const shared = random_.one_in(2);
    // A strand must not outlive its context.
    auto mutex = shared ? std::make_shared<async_mutex>(
                              random_.one_in(3) ? *context : *contexts_[random_.below(2)])
                        : std::make_shared<async_mutex>(any_serial_executor(random_));
    BOOST_REQUIRE(mutex->try_lock());
    for (unsigned n = random_.below(8); n > 0; --n) {
      asio::any_io_executor const elsewhere = any_serial_executor(random_);
      auto handler = asio::bind_executor(
          random_.one_in(3) ? context->get_executor() : elsewhere,
          [owned = shared ? mutex : nullptr, token = token_](error_code, guard const&) {});
      if (random_.one_in(2))
        mutex->async_lock(std::move(handler));
      else
        mutex->async_lock_for(some_time(random_), std::move(handler));
    }
    if (random_.one_in(3)) mutex->cancel();
    if (random_.one_in(3)) mutex->close();
    if (random_.one_in(3)) run_elsewhere(*context);
    // A context must not die while another thread hands the mutex on.
    if (shared || random_.one_in(2)) context.reset();
    if (shared) mutex->unlock();  // else it is destroyed while it is held
  }

  // On another thread, until what is queued there has completed, or not as long.
  void run_elsewhere(asio::io_context& context) {
    std::thread runner([&] { context.run(); });
    std::this_thread::sleep_for(microseconds(random_.below(200)));
    context.stop();
    runner.join();
  }

  // A mutex that is destroyed with a thread blocked on it.
  void blocked_thread() {
    std::optional<async_mutex> mutex(*contexts_[random_.below(2)]);
    BOOST_REQUIRE(mutex->try_lock());
    std::thread blocked([&] {
      try {
        guard const lock(*mutex);
      } catch (boost::system::system_error const&) {  // destroyed
      }
    });
    while (mutex->waiters() == 0) std::this_thread::yield();
    mutex.reset();
    blocked.join();
  }

  void start() {
    for (auto& context : contexts_) work_.push_back(asio::make_work_guard(*context));
    for (int i = 0; i < 3; ++i) {
      asio::co_spawn(*contexts_[0], coroutine(random_.seed(), token_), asio::detached);
      asio::co_spawn(any_serial_executor(random_), coroutine(random_.seed(), token_),
                     asio::detached);
      auto const callbacks = std::make_shared<canceller>(*this, random_.seed());
      asio::post(callbacks->executor, [callbacks] { callbacks->step(); });
    }
    runners_.emplace_back([this] { contexts_[1]->run(); });
    for (unsigned n = 1 + random_.below(3); n > 0; --n)
      runners_.emplace_back([this] { contexts_[0]->run(); });
    blocking_left_ = 1 + random_.below(3);
    for (unsigned n = blocking_left_; n > 0; --n)
      blocking_.emplace_back([this, seed = random_.seed()] {
        thread(seed);
        --blocking_left_;
      });
  }

  void finish() {
    over_ = true;
    bool const stops = random_.one_in(2);
    if (stops)
      for (auto& context : contexts_) context->stop();
    else
      mutex_->close();
    work_.clear();
    while (blocking_left_ > 0) {
      mutex_->cancel();
      std::this_thread::yield();
    }
    for (auto& thread : blocking_) thread.join();
    for (auto& thread : runners_) thread.join();
    // Frames that hold the mutex must not outlive it.
    unsigned const mutex_dies = holds_over_ && stops ? 2 : random_.below(3);
    unsigned const first = random_.below(2);
    for (unsigned i = 0; i < 3; ++i) {
      if (i == mutex_dies)
        mutex_.reset();
      else
        contexts_[first ^ (i > mutex_dies ? i - 1 : i)].reset();
    }
  }

  random_choice random_;
  bool const holds_over_;  // coroutines hold the mutex while they are suspended
  std::shared_ptr<int> const token_ = std::make_shared<int>();
  context_list contexts_{std::optional<asio::io_context>(std::in_place),
                         std::optional<asio::io_context>(std::in_place)};
  std::optional<async_mutex> mutex_{*contexts_[0]};
  long counter_ = 0;  // the mutex guards it
  std::atomic<long> granted_ = 0;
  std::atomic<bool> over_ = false;
  std::atomic<unsigned> blocking_left_ = 0;
  std::vector<asio::executor_work_guard<asio::io_context::executor_type>> work_;
  std::vector<std::thread> blocking_;
  std::vector<std::thread> runners_;
};

}  // namespace mutex_stress_test

BOOST_AUTO_TEST_SUITE(mutex_stress_test)

BOOST_AUTO_TEST_CASE(R17_threads_contexts_cancellation_and_destruction_at_random) {
  unsigned const seed = asio_sync::test::random_seed();
  BOOST_TEST_INFO_SCOPE("ASIO_SYNC_TEST_SEED=" << seed);
  random_choice random(seed);
  auto const end = clock_type::now() + std::chrono::seconds(asio_sync::test::number_from(
                                           "ASIO_SYNC_STRESS_SECONDS", 5));
  long rounds = 0;
  long grants = 0;
  do {
    stress_round one(random.seed());
    one.run();
    one.check();
    ++rounds;
    grants += one.grants();
  } while (clock_type::now() < end);
  BOOST_TEST_MESSAGE(rounds << " rounds, " << grants << " locks");
  BOOST_TEST(grants > 0);
}

BOOST_AUTO_TEST_SUITE_END()
