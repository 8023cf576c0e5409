// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Waits that are cancelled, and grants that nobody receives.

#include "support/mutex_result.hpp"

#include <asio_sync/async_mutex.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace {

namespace asio = boost::asio;
using asio::cancellation_type;
using asio_sync::async_mutex;
using asio_sync::test::mutex_result;
using boost::system::error_code;

using lock_type = async_mutex::lock_type;
auto const aborted = error_code(asio::error::operation_aborted);

// A handler that calls a function when it is moved, when it is destroyed unmoved, and when its
// associates are asked for.
struct talkative_handler {
  struct hooks {
    std::function<void()> moved, destroyed, allocates, called;
  };

  template <class T>
  struct allocator {
    using value_type = T;

    explicit allocator(hooks& h) noexcept : on(&h) {}
    template <class U>
    allocator(allocator<U> const& other) noexcept : on(other.on) {}

    T* allocate(std::size_t n) {
      if (on->allocates) on->allocates();
      return std::allocator<T>().allocate(n);
    }
    void deallocate(T* memory, std::size_t n) noexcept {
      if (on->allocates) on->allocates();
      std::allocator<T>().deallocate(memory, n);
    }
    friend bool operator==(allocator const& a, allocator const& b) noexcept {
      return a.on == b.on;
    }
    friend bool operator!=(allocator const& a, allocator const& b) noexcept { return !(a == b); }

    hooks* on;
  };

  using allocator_type = allocator<std::byte>;
  allocator_type get_allocator() const noexcept { return allocator_type(*on); }

  explicit talkative_handler(hooks& h) noexcept : on(&h) {}
  talkative_handler(talkative_handler&& other) noexcept
      : on(other.on), live(std::exchange(other.live, false)) {
    if (on->moved) on->moved();
  }
  ~talkative_handler() {
    if (live && on->destroyed) on->destroyed();
  }

  void operator()(error_code, lock_type) {
    if (on->called) on->called();
  }

  hooks* on;
  bool live = true;
};

struct fixture {
  asio::io_context context;
  async_mutex mutex{context};
  asio::cancellation_signal signal;

  template <class Handler>
  void lock_with_slot(Handler handler) {
    mutex.async_lock(asio::bind_cancellation_slot(signal.slot(), std::move(handler)));
  }

  void poll() {
    context.restart();
    context.poll();
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(mutex_cancellation_test, fixture)

BOOST_AUTO_TEST_CASE(R4_every_type_of_cancellation_is_accepted) {
  for (auto type :
       {cancellation_type::terminal, cancellation_type::partial, cancellation_type::total}) {
    mutex_result result;
    BOOST_REQUIRE(mutex.try_lock());
    lock_with_slot(result.handler());
    BOOST_TEST(mutex.waiters() == 1u);
    signal.emit(cancellation_type::none);
    BOOST_TEST(mutex.waiters() == 1u);
    signal.emit(type);
    BOOST_TEST(mutex.waiters() == 0u);
    BOOST_TEST(result.calls == 0);
    signal.emit(type);  // decided already
    mutex.unlock();
    poll();
    BOOST_TEST(result.refused(aborted));
    BOOST_TEST(!mutex.is_locked());
  }
}

BOOST_AUTO_TEST_CASE(R4_cancel_after_the_grant_does_nothing) {
  mutex_result free, queued;
  lock_with_slot(free.handler());
  signal.emit(cancellation_type::all);
  poll();
  BOOST_TEST(free.granted());
  lock_with_slot(queued.handler());
  free.lock.unlock();
  signal.emit(cancellation_type::all);
  BOOST_TEST(mutex.cancel() == 0u);
  poll();
  BOOST_TEST(queued.granted());
}

BOOST_AUTO_TEST_CASE(R4_those_behind_a_cancelled_wait_move_up) {
  mutex_result first, second, third;
  BOOST_REQUIRE(mutex.try_lock());
  mutex.async_lock(first.handler());
  lock_with_slot(second.handler());
  mutex.async_lock(third.handler());
  signal.emit(cancellation_type::total);
  BOOST_TEST(mutex.waiters() == 2u);
  mutex.unlock();
  poll();
  BOOST_TEST(first.granted());
  BOOST_TEST(second.refused(aborted));
  first.lock.unlock();
  poll();
  BOOST_TEST(third.granted());
}

BOOST_AUTO_TEST_CASE(R4_the_slot_is_empty_when_the_handler_runs) {
  for (bool cancelled : {false, true}) {
    bool called = false;
    BOOST_REQUIRE(mutex.try_lock());
    lock_with_slot([&](error_code e, lock_type) {
      BOOST_TEST((e == aborted) == cancelled);
      BOOST_TEST(!signal.slot().has_handler());
      called = true;
    });
    BOOST_TEST(signal.slot().has_handler());
    if (cancelled) signal.emit(cancellation_type::terminal);
    mutex.unlock();
    BOOST_TEST(signal.slot().has_handler());  // the handler's executor's, and nobody else's
    poll();
    BOOST_TEST(called);
  }
}

BOOST_AUTO_TEST_CASE(R4_the_slot_may_be_taken_over_by_another_operation) {
  mutex_result first, second;
  BOOST_REQUIRE(mutex.try_lock());
  lock_with_slot(first.handler());
  lock_with_slot(second.handler());
  mutex.unlock();
  poll();
  BOOST_TEST(first.granted());
  BOOST_TEST(signal.slot().has_handler());  // the second's
  signal.emit(cancellation_type::terminal);
  poll();
  BOOST_TEST(second.refused(aborted));
}

BOOST_AUTO_TEST_CASE(R4_the_signal_may_die_before_the_wait) {
  mutex_result result;
  BOOST_REQUIRE(mutex.try_lock());
  {
    asio::cancellation_signal mortal;
    mutex.async_lock(asio::bind_cancellation_slot(mortal.slot(), result.handler()));
  }
  mutex.unlock();
  poll();
  BOOST_TEST(result.granted());
}

BOOST_AUTO_TEST_CASE(R4_cancel_aborts_what_is_queued_threads_included) {
  mutex_result granted, queued;
  mutex.async_lock(granted.handler());
  mutex.async_lock(queued.handler());
  error_code of_thread;
  std::thread thread([&] {
    try {
      mutex.lock();
    } catch (boost::system::system_error const& e) {
      of_thread = e.code();
    }
  });
  while (mutex.waiters() != 2) std::this_thread::yield();
  BOOST_TEST(mutex.cancel() == 2u);
  BOOST_TEST(mutex.cancel() == 0u);
  thread.join();
  BOOST_TEST(of_thread == aborted);
  poll();
  BOOST_TEST(granted.granted());
  BOOST_TEST(queued.refused(aborted));
}

BOOST_AUTO_TEST_CASE(R4_a_coroutine_is_cancelled_through_its_signal) {
  bool ended = false;
  BOOST_REQUIRE(mutex.try_lock());
  asio::co_spawn(
      context,
      [&]() -> asio::awaitable<void> {
        BOOST_CHECK_EXCEPTION(static_cast<void>(co_await mutex.async_lock()),
                              boost::system::system_error,
                              [](auto const& e) { return e.code() == aborted; });
        ended = true;
      },
      asio::bind_cancellation_slot(signal.slot(), [](std::exception_ptr) {}));
  poll();
  BOOST_TEST(mutex.waiters() == 1u);
  signal.emit(cancellation_type::terminal);
  poll();
  BOOST_TEST(mutex.waiters() == 0u);
  BOOST_TEST(ended);
}

BOOST_AUTO_TEST_CASE(R4_cancel_and_grant_meet_on_two_threads) {
  asio::thread_pool pool(1);
  int granted = 0, cancelled = 0;  // on the pool's thread
  for (int i = 0; i < 500; ++i) {
    BOOST_REQUIRE(mutex.try_lock());
    std::atomic<bool> queued = false, done = false;
    asio::post(pool, [&] {
      mutex.async_lock(asio::bind_executor(
          pool.get_executor(),
          asio::bind_cancellation_slot(signal.slot(), [&](error_code e, lock_type lock) {
            ++(e ? cancelled : granted);
            if (lock) lock.unlock();
            done = true;
          })));
      queued = true;
      signal.emit(cancellation_type::total);  // on the handler's executor, as it must be
    });
    while (!queued) std::this_thread::yield();
    mutex.unlock();
    while (!done) std::this_thread::yield();
    BOOST_TEST_REQUIRE(!mutex.is_locked());
  }
  pool.join();
  BOOST_TEST(granted + cancelled == 500);
}

BOOST_AUTO_TEST_CASE(R3_a_grant_that_is_dropped_goes_on_to_the_next) {
  mutex_result next;
  auto dying = std::make_unique<asio::io_context>();
  mutex_result dropped;
  mutex.async_lock(asio::bind_executor(dying->get_executor(), dropped.handler()));
  mutex.async_lock(next.handler());
  dying.reset();
  BOOST_TEST(mutex.is_locked());
  poll();
  BOOST_TEST(dropped.calls == 0);
  BOOST_TEST(next.granted());
  BOOST_TEST(mutex.waiters() == 0u);
}

BOOST_AUTO_TEST_CASE(R3_a_grant_that_is_dropped_with_nobody_behind_frees_the_mutex) {
  for (bool queued : {false, true}) {
    std::optional<asio::io_context> mortal(std::in_place);
    mutex_result dropped;
    if (queued) BOOST_REQUIRE(mutex.try_lock());
    mutex.async_lock(asio::bind_executor(asio::make_strand(*mortal), dropped.handler()));
    if (queued) mutex.unlock();
    BOOST_TEST(mutex.is_locked());
    mortal.reset();
    BOOST_TEST(!mutex.is_locked());
    BOOST_TEST(dropped.calls == 0);
  }
}

BOOST_AUTO_TEST_CASE(R3_a_guard_that_the_handler_does_not_take_is_released) {
  mutex_result next;
  mutex.async_lock([](error_code, lock_type const&) {});
  mutex.async_lock(next.handler());
  context.poll();
  BOOST_TEST(next.granted());
}

BOOST_AUTO_TEST_CASE(R5_the_mutex_may_be_used_from_whatever_belongs_to_a_handler) {
  talkative_handler::hooks hooks;
  int uses = 0;
  bool inside = false;
  auto const use = [&] {
    if (std::exchange(inside, true)) return;
    ++uses;
    mutex.async_lock([](error_code, lock_type) {});
    static_cast<void>(mutex.waiters());
    mutex.cancel();
    if (mutex.try_lock()) mutex.unlock();
    inside = false;
  };
  for (auto hook : {&talkative_handler::hooks::moved, &talkative_handler::hooks::destroyed,
                    &talkative_handler::hooks::allocates, &talkative_handler::hooks::called}) {
    for (bool queued : {false, true}) {
      uses = 0;
      hooks = {};
      hooks.*hook = use;
      if (queued) BOOST_REQUIRE(mutex.try_lock());
      lock_with_slot(talkative_handler(hooks));
      if (queued && mutex.waiters() == 1) mutex.unlock();
      poll();
      {
        std::optional<asio::io_context> mortal(std::in_place);
        mutex.async_lock(asio::bind_executor(mortal->get_executor(), talkative_handler(hooks)));
      }
      poll();
      hooks = {};
      mutex.cancel();
      if (queued && mutex.is_locked()) mutex.unlock();
      poll();
      BOOST_TEST(uses > 0);
      BOOST_TEST(!mutex.is_locked());
    }
  }
}

BOOST_AUTO_TEST_CASE(R5_a_slots_handler_that_is_destroyed_may_use_the_mutex) {
  struct in_slot {
    explicit in_slot(async_mutex& m) noexcept : mutex(m) {}
    ~in_slot() { mutex.cancel(); }
    void operator()(cancellation_type) const {}
    async_mutex& mutex;
  };
  mutex_result waiting, result;
  BOOST_REQUIRE(mutex.try_lock());
  mutex.async_lock(waiting.handler());
  signal.slot().emplace<in_slot>(mutex);
  lock_with_slot(result.handler());  // in the place of the other
  BOOST_TEST(mutex.waiters() == 1u);
  mutex.unlock();
  poll();
  BOOST_TEST(waiting.refused(aborted));
  BOOST_TEST(result.granted());
}

BOOST_AUTO_TEST_CASE(R13_a_handler_that_throws_leaves_the_mutex_usable) {
  mutex_result next;
  mutex.async_lock([](error_code, lock_type) { throw 1; });
  mutex.async_lock([](error_code, lock_type const&) { throw 2; });
  mutex.async_lock(next.handler());
  BOOST_CHECK_THROW(context.run(), int);
  BOOST_CHECK_THROW(context.run(), int);
  context.run();
  BOOST_TEST(next.granted());
}

BOOST_AUTO_TEST_SUITE_END()
