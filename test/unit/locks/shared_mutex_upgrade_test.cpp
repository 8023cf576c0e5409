// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Whose the hold is that a guard lends to an upgrade, in every way in which that ends.

#include "support/test.hpp"

#include <asio_sync/async_shared_mutex.hpp>

#include <boost/version.hpp>
#if BOOST_VERSION >= 108200
#include <boost/asio/bind_immediate_executor.hpp>
#endif

namespace shared_mutex_upgrade_test {

using namespace asio_sync::test;
using reader = async_shared_mutex::shared_lock_type;
using writer = async_shared_mutex::lock_type;

// A standard executor that fails.
struct failing_executor {
  asio::execution_context& query(asio::execution::context_t) const noexcept { return *context; }
  static constexpr asio::execution::blocking_t query(asio::execution::blocking_t) noexcept {
    return asio::execution::blocking.never;
  }
  failing_executor require(asio::execution::blocking_t::never_t) const { return *this; }
  template <class Function>
  void execute(Function&&) const {
    throw std::runtime_error("it fails");
  }
  bool operator==(failing_executor const&) const noexcept = default;

  asio::io_context* context;
};

struct fixture {
  asio::io_context context;
  async_shared_mutex mutex{context};
  reader one{mutex};

  void poll() { test::poll(context); }

  static auto nothing() {
    return [](error_code, writer const&) {};
  }

  bool is_free() {
    writer const all(mutex, std::try_to_lock);
    return all.owns_lock();
  }
};

}  // namespace shared_mutex_upgrade_test

BOOST_FIXTURE_TEST_SUITE(shared_mutex_upgrade_test, fixture)

BOOST_AUTO_TEST_CASE(R13_an_executor_that_throws_leaves_the_reader_its_lock) {
  for (bool const refused : {false, true}) {
    for (bool const erased : {false, true}) {
      std::optional<reader> two;
      if (refused) two.emplace(mutex);
      auto const upgrade = [&](auto const& executor) {
        auto handler = asio::bind_executor(executor, nothing());
        if (refused)
          mutex.async_upgrade_for(std::move(one), 0s, std::move(handler));
        else
          mutex.async_upgrade(std::move(one), std::move(handler));
      };
      failing_executor const fails{&context};
      if (erased)
        BOOST_CHECK_THROW(upgrade(asio::any_io_executor(fails)), std::runtime_error);
      else
        BOOST_CHECK_THROW(upgrade(fails), std::runtime_error);
      BOOST_TEST(one.owns_lock());
      BOOST_TEST(reader(mutex, std::try_to_lock).owns_lock());  // readers do not keep readers out
    }
  }
  one.unlock();
  BOOST_TEST(is_free());
}

#if BOOST_VERSION >= 108200
BOOST_AUTO_TEST_CASE(R13_an_immediate_executor_that_throws_leaves_the_reader_its_lock) {
  failing_executor const fails{&context};
  BOOST_CHECK_THROW(
      mutex.async_upgrade(std::move(one), asio::bind_immediate_executor(fails, nothing())),
      std::runtime_error);
  BOOST_TEST(one.owns_lock());
}
#endif

// Whoever upgrades while the context shuts down.
BOOST_AUTO_TEST_CASE(R3_a_handler_that_nobody_will_run_lets_go_what_was_held) {
  struct upgrades_at_end {
    async_shared_mutex* mutex;
    reader* from;
    asio::io_context* context;
    upgrades_at_end(upgrades_at_end&& other) noexcept
        : mutex(std::exchange(other.mutex, nullptr)), from(other.from), context(other.context) {}
    upgrades_at_end(async_shared_mutex& m, reader& r, asio::io_context& c)
        : mutex(&m), from(&r), context(&c) {}
    ~upgrades_at_end() {
      if (mutex) mutex->async_upgrade(std::move(*from), asio::bind_executor(*context, nothing()));
    }
    void operator()() const {}
  };
  reader two(mutex);
  auto dying = std::make_unique<asio::io_context>();
  asio::post(*dying, upgrades_at_end(mutex, one, *dying));
  dying = nullptr;
  BOOST_TEST(!one.owns_lock());
  two.unlock();
  BOOST_TEST(is_free());
}

BOOST_AUTO_TEST_CASE(R15_one_that_was_refused_at_once_is_outstanding_until_it_completes) {
  reader two(mutex);
  error_code first, second;
  bool owned = false;
  mutex.async_upgrade_for(std::move(one), 0s, [&](error_code error, writer const&) {
    first = error;
    owned = one.owns_lock();
  });
  BOOST_TEST(!one.owns_lock());
  mutex.async_upgrade(std::move(one), [&](error_code error, writer const&) { second = error; });
  poll();
  BOOST_TEST(first == timed_out);
  BOOST_TEST(owned);
  BOOST_TEST(second == not_permitted);
  BOOST_TEST(one.owns_lock());
  two.unlock();
  BOOST_TEST(!is_free());
  one.unlock();
  BOOST_TEST(is_free());
}

BOOST_AUTO_TEST_CASE(R15_a_guard_that_is_lent_cannot_lock) {
  reader two(mutex);
  mutex.async_upgrade(std::move(one), nothing());
  BOOST_TEST(error_of([&] { static_cast<void>(one.try_lock()); }) == deadlock);
  BOOST_TEST(error_of([&] { static_cast<void>(one.try_lock_for(0s)); }) == deadlock);
  BOOST_TEST(error_of([&] { one.lock(); }) == deadlock);
  BOOST_TEST(error_of([&] { one.unlock(); }) == not_permitted);
  mutex.cancel();
  poll();
  BOOST_TEST(one.owns_lock());
}

// Whoever takes it away meanwhile has nothing of it; the mutex does not stay locked.
BOOST_AUTO_TEST_CASE(R15_what_a_guard_has_lent_is_let_go_if_it_was_touched) {
  for (bool const granted : {false, true}) {
    for (int const way : {0, 1, 2, 3}) {
      reader two(mutex), from(mutex), other;
      one = reader();
      error_code got = aborted;
      mutex.async_upgrade(static_cast<reader&&>(from),
                          [&](error_code error, writer const&) { got = error; });
      switch (way) {
        case 0: other = static_cast<reader&&>(from); break;
        case 1: other.swap(from); break;
        case 2: static_cast<void>(from.release()); break;
        case 3: from = reader(); break;
      }
      if (granted)
        two.unlock();
      else
        mutex.cancel();
      poll();
      BOOST_TEST((!got == granted));
      BOOST_TEST(!other.owns_lock());
      if (!granted) two.unlock();
      BOOST_TEST(is_free());
    }
  }
}

BOOST_AUTO_TEST_CASE(R9_the_mutex_dies_with_a_refusal_on_its_way) {
  auto dying = std::make_unique<async_shared_mutex>(context);
  reader from(*dying), two(*dying);
  error_code got;
  dying->async_upgrade_for(static_cast<reader&&>(from), 0s,
                           [&](error_code error, writer const&) { got = error; });
  dying = nullptr;
  poll();
  BOOST_TEST(got == timed_out);
  BOOST_TEST(!from.owns_lock());
  BOOST_TEST(from.mutex() == nullptr);
}

BOOST_AUTO_TEST_SUITE_END()
