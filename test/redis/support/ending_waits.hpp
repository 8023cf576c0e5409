// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_REDIS_SUPPORT_ENDING_WAITS_HPP
#define ASIO_SYNC_TEST_REDIS_SUPPORT_ENDING_WAITS_HPP

#include "redis/support/world.hpp"
#include "support/test.hpp"

namespace asio_sync::test::redis {

/// How a wait may end besides by a notification. With late_slot its handler is on the way when the
/// slot is told.
enum class way { time, slot, context, cancel, close, destroy, late_slot };
constexpr int ways = 7;

/// Two waits on a condition that end in some way, and what ends them.
template <class Primitive, class Guard>
struct ending_waits {
  ending_waits(way w, std::unique_ptr<Primitive> p) : how(w), on(std::move(p)) {}

  /// Begins one of them by wait(guard, token) or wait_for(guard, time, token).
  template <class Wait, class WaitFor>
  void begin(int i, std::chrono::microseconds time, Wait wait, WaitFor wait_for) {
    Guard& guard = guards[i];
    auto const slot = signals[i].slot();
    switch (how) {
      case way::time: wait_for(guard, time, ends[i].handler()); break;
      case way::slot: wait(guard, asio::bind_cancellation_slot(slot, ends[i].handler())); break;
      case way::context: wait(guard, ends[i].handler_on(*apart)); break;
      case way::late_slot:
        wait(guard, asio::bind_cancellation_slot(slot, ends[i].handler_on(*apart)));
        break;
      default: wait(guard, ends[i].handler());
    }
  }

  void end() {
    switch (how) {
      case way::slot: emit(); break;
      case way::context: apart.reset(); break;
      case way::cancel: on->cancel(); break;
      case way::close: on->close(); break;
      case way::destroy: on.reset(); break;
      default: break;
    }
  }
  void emit() {
    for (asio::cancellation_signal& each : signals) each.emit(asio::cancellation_type::total);
  }

  /// Counts those that have ended as notified, and gives back what they have.
  template <class GiveBack>
  void sweep(GiveBack give_back) {
    if (how == way::late_slot) {
      apart->restart();
      apart->poll();
    }
    for (int i = 0; i != 2; ++i) {
      if (!ends[i].calls || !guards[i]) continue;
      notified += !ends[i].error;
      give_back(guards[i]);
    }
  }

  /// True if both waits have ended, or never will because their context has.
  bool are_over() const {
    return how == way::context || (ends[0].calls && ends[1].calls && !guards[0] && !guards[1]);
  }

  /// Waits for the end of both. Expects that one notification has ended one of them or the third,
  /// which the next one ends otherwise.
  template <class World, class Sweep, class Notify>
  void expect_one_effect(World& w, ending const& third, Sweep sweep, Notify notify) {
    if (how == way::late_slot) {
      w.soon([] { return false; }, 3ms);
      emit();
    }
    BOOST_TEST_REQUIRE(w.soon([&] {
      sweep();
      return are_over();
    }));
    BOOST_TEST_REQUIRE(notified <= 1);
    if (notified == 1) {
      BOOST_TEST_REQUIRE(!w.soon([&] { return third.calls != 0; }, 3ms));
      notify();
    }
    w.wait_for_end(third);
    BOOST_TEST(third.is(error_code()));
  }

  way how;
  std::unique_ptr<Primitive> on;
  std::unique_ptr<asio::io_context> apart = std::make_unique<asio::io_context>();
  asio::cancellation_signal signals[2];
  Guard guards[2];
  ending ends[2];
  int notified = 0;
};

}  // namespace asio_sync::test::redis

#endif
