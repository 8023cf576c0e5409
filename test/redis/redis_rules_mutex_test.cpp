// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The rules of every primitive, over a mutex whose driver is in the same thread. A real server has
// its cases in mutex_test.

#include "redis/support/local_driver.hpp"
#include "support/test.hpp"

#include <asio_sync/redis/async_mutex.hpp>

namespace redis_rules_mutex_test {

using namespace std::chrono_literals;

inline asio_sync::redis::client& local() {
  static auto& io = *new boost::asio::io_context;
  static auto& client = *new asio_sync::test::redis::local_client(io.get_executor());
  return client;
}

template <class Executor>
struct occupation {
  typename asio_sync::redis::basic_async_mutex<Executor>::lock_type occupied;
};

struct subject {
  static constexpr bool carries = true;
  static constexpr bool is_remote = true;
  // A lock of its own does not end before it.
  template <class Executor>
  struct over : occupation<Executor>, asio_sync::redis::basic_async_mutex<Executor> {
    template <class Home>
    // NOLINTNEXTLINE(bugprone-forwarding-reference-overload)
    explicit over(Home&& home)
        : asio_sync::redis::basic_async_mutex<Executor>(home, local(), "x") {}
  };
  using primitive_type = over<boost::asio::any_io_executor>;
  using grant = primitive_type::lock_type;

  // From another thread, because this one may run the context.
  static auto take(auto& p) {
    return std::async(std::launch::async, [&] { return p.try_lock_for(0s); }).get();
  }
  static auto take_if_open(auto& p) {
    try {
      return take(p);
    } catch (boost::system::system_error const&) {  // closed or cancelled
      return decltype(take(p))();
    }
  }
  static bool occupy(auto& p) {
    p.occupied = take_if_open(p);
    return p.occupied.owns_lock();
  }
  static void serve(auto& p) { p.occupied = {}; }
  static grant hold(primitive_type& p) { return take_if_open(p); }

  template <class... Token>
  static auto wait(auto& p, Token&&... token) {
    return p.async_lock(std::forward<Token>(token)...);
  }
  template <class... Token>
  static auto wait_for(auto& p, auto time, Token&&... token) {
    return p.async_lock_for(time, std::forward<Token>(token)...);
  }
  template <class... Token>
  static auto wait_until(auto& p, auto time, Token&&... token) {
    return p.async_lock_until(time, std::forward<Token>(token)...);
  }

  static grant block(primitive_type& p) { return p.lock(); }
  static grant block_for(primitive_type& p, auto time) {
    if (time <= time.zero()) return take(p);
    return p.try_lock_for(time);
  }

  static bool idle(auto const& p) {
    auto& m = const_cast<std::remove_const_t<std::remove_reference_t<decltype(p)>>&>(p);
    return p.waiters() == 0 && (p.is_closed() || take(m).owns_lock());
  }
};

}  // namespace redis_rules_mutex_test

#define ASIO_SYNC_RULES_SUITE redis_rules_mutex_test
#include "rules/blocking.hpp"
#include "rules/carried.hpp"
#include "rules/completions.hpp"
#include "rules/grants.hpp"
#include "rules/lifetime.hpp"
#include "rules/memory.hpp"
#include "rules/one_by_one.hpp"
#include "rules/order.hpp"
#include "rules/threads.hpp"
#include "rules/time.hpp"
#include "rules/withdrawal.hpp"

#include "rules/end.hpp"
