// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The connection of a wait with the slot of its handler: which of the two ends may end first.

#include "support/test.hpp"

#include <asio_sync/detail/context/core_base.hpp>
#include <asio_sync/detail/context/destination.hpp>
#include <asio_sync/detail/context/slot_link.hpp>
#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/platform/known_context.hpp>

namespace slot_link_test {

using namespace asio_sync::test;
using namespace asio_sync::detail;

// A core that does nothing but call a function when a wait is refused.
class refusing_core final : public core_base {
 public:
  refusing_core() noexcept : core_base(nullptr, known_context(), false) {}
  ~refusing_core() override = default;

  using core_base::refuse;
  bool refuse(waiter&, wait_outcome, decided_waits&) noexcept override {
    when_refused();
    return false;
  }
  void pass_on(waiter&) noexcept override {}
  void leave_home(decided_waits&) noexcept override {}
  void forget_home() noexcept override {}
  destination destination_of(asio::any_io_executor const&) const override { std::abort(); }
  destination destination_of(known_context const&) const override { std::abort(); }
  bool make_known(waiter&, std::optional<asio_sync::detail::steady_clock::time_point>) override {
    return false;
  }

  std::function<void()> when_refused;

 private:
  void leave_work() noexcept override {}
  void destroy() noexcept override {}
};

struct linked_wait : waiter {
  explicit linked_wait(core_base& c) noexcept : waiter([](waiter&, waiter_action) {}, &c, {}) {}
  ~linked_wait() {
    if (is_connected()) link.leave(*this);
  }

  slot_link link;
};

}  // namespace slot_link_test

BOOST_AUTO_TEST_SUITE(slot_link_test)

// The other thread is given time to arrive too early, and then it waits.
BOOST_AUTO_TEST_CASE(R4_a_wait_arrives_when_an_emission_is_over) {
  refusing_core core;
  asio::cancellation_signal signal;
  linked_wait wait(core);
  connect(wait, wait.link, signal.slot());
  std::atomic<bool> arrives = false, has_left = false;
  core.when_refused = [&] {
    BOOST_TEST(wait.is_withdrawn());
    arrives = true;
    for (int i = 0; i < 10000 && !has_left; ++i) std::this_thread::yield();
    BOOST_TEST(!has_left);
  };
  std::thread delivery([&] {
    while (!arrives) std::this_thread::yield();
    wait.link.leave(wait);
    has_left = true;
  });
  signal.emit(asio::cancellation_type::terminal);
  delivery.join();
  BOOST_TEST(wait.is_withdrawn());
  BOOST_TEST(!wait.is_connected());
}

BOOST_AUTO_TEST_CASE(R4_a_canceller_that_stays_in_the_slot_does_nothing) {
  refusing_core core;
  int refused = 0;
  core.when_refused = [&] { ++refused; };
  asio::cancellation_signal signal;
  {
    linked_wait wait(core);
    connect(wait, wait.link, signal.slot());
    signal.emit(asio::cancellation_type::none);
    BOOST_TEST(!wait.is_withdrawn());
    signal.emit(asio::cancellation_type::partial);
    BOOST_TEST(wait.is_withdrawn());
  }
  BOOST_TEST(signal.slot().has_handler());
  signal.emit(asio::cancellation_type::terminal);
  BOOST_TEST(refused == 1);
}

// The second signal's canceller lies in the memory of the first one's.
BOOST_AUTO_TEST_CASE(R4_a_signal_that_ends_lets_go_of_its_wait) {
  refusing_core core;
  int refused = 0;
  core.when_refused = [&] { ++refused; };
  std::optional<asio::cancellation_signal> signal(std::in_place);
  asio::cancellation_signal next;
  linked_wait first(core), second(core);
  connect(first, first.link, signal->slot());
  signal.reset();
  connect(second, second.link, next.slot());
  first.link.leave(first);
  next.emit(asio::cancellation_type::terminal);
  BOOST_TEST(refused == 1);
  BOOST_TEST(second.is_withdrawn());
  BOOST_TEST(!first.is_withdrawn());
}

// Both ends of the connection end at the same time.
BOOST_AUTO_TEST_CASE(R4_a_signal_ends_while_its_wait_arrives) {
  for (int round = 0; round < 1000; ++round) {
    refusing_core core;
    std::optional<asio::cancellation_signal> signal(std::in_place);
    std::optional<linked_wait> wait(std::in_place, core);
    connect(*wait, wait->link, signal->slot());
    std::atomic<int> ready = 0;
    auto const meet = [&] {
      ++ready;
      while (ready != 2) std::this_thread::yield();
    };
    std::thread delivery([&] {
      meet();
      wait.reset();
    });
    meet();
    signal.reset();
    delivery.join();
  }
}

BOOST_AUTO_TEST_SUITE_END()
