// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_UNIT_MONITOR_FIXTURE_HPP
#define ASIO_SYNC_TEST_UNIT_MONITOR_FIXTURE_HPP

#include "support/test.hpp"

#include <asio_sync/async_monitor.hpp>

namespace asio_sync::test {

// The object of a monitor: counts how many of its kind live.
struct account {
  account() noexcept { ++alive; }
  explicit account(int b) noexcept : account() { balance = b; }
  account(account const&) = delete;
  account& operator=(account const&) = delete;
  ~account() { --alive; }

  static inline int alive = 0;
  int balance = 0;
};

using bank = async_monitor<account>;

inline auto at_least(int amount) {
  return [amount](account const& a) { return a.balance >= amount; };
}

// The error that an exception carries; none without one, or if it is another exception.
inline boost::system::error_code error_in(std::exception_ptr const& thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (boost::system::system_error const& e) {
    return e.code();
  } catch (...) {
    return make_error_code(boost::system::errc::state_not_recoverable);
  }
  return {};
}

// A monitor, and a context that is not its own.
struct monitor_fixture {
  std::optional<boost::asio::io_context> context{std::in_place}, other{std::in_place};
  std::optional<bank> monitor{std::in_place, *context};
  std::string order;

  void poll() {
    for (int i = 0; i != 20; ++i) {
      for (auto* const io : {&context, &other}) {
        if (!*io) continue;
        (*io)->restart();
        (*io)->poll();
      }
    }
  }

  // Enters, changes, leaves.
  void pay_in(int amount) {
    auto inside = monitor->try_enter();
    inside->balance += amount;
  }

  // Notes who has come, or how it was refused, and leaves again.
  auto note(char who) {
    return [this, who](boost::system::error_code error, bank::entry inside) {
      order += who;
      if (error) order += error == aborted ? 'a' : error == timed_out ? 't' : 'c';
      if (static_cast<bool>(inside) != !error) order += '!';
    };
  }
};

}  // namespace asio_sync::test

#endif
