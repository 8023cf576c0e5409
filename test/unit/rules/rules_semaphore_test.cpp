// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// What every primitive promises, of a semaphore with one permit.

#include "support/test.hpp"

#include <asio_sync/async_semaphore.hpp>

namespace rules_semaphore_test {

struct subject {
  static constexpr bool carries = true;
  template <class Executor>
  struct over : asio_sync::basic_async_semaphore<Executor> {
    template <class Home>
    // NOLINTNEXTLINE(bugprone-forwarding-reference-overload)
    explicit over(Home&& home) : asio_sync::basic_async_semaphore<Executor>(home, 1, 1) {}
  };
  using primitive_type = over<boost::asio::any_io_executor>;
  using grant = asio_sync::semaphore_permit;

  static bool occupy(auto& p) { return p.try_acquire().forget() == 1; }
  static void serve(auto& p) { p.release(); }
  static grant hold(primitive_type& p) { return p.try_acquire(); }

  template <class... Token>
  static auto wait(auto& p, Token&&... token) {
    return p.async_acquire(std::forward<Token>(token)...);
  }
  template <class... Token>
  static auto wait_for(auto& p, auto time, Token&&... token) {
    return p.async_acquire_for(time, std::forward<Token>(token)...);
  }
  template <class... Token>
  static auto wait_until(auto& p, auto time, Token&&... token) {
    return p.async_acquire_until(time, std::forward<Token>(token)...);
  }

  static grant block(primitive_type& p) { return p.acquire(); }
  static grant block_for(primitive_type& p, auto time) { return p.try_acquire_for(time); }

  static bool idle(auto const& p) { return p.available() == 1 && p.waiters() == 0; }
};

}  // namespace rules_semaphore_test

#define ASIO_SYNC_RULES_SUITE rules_semaphore_test
#include "rules/blocking.hpp"
#include "rules/carried.hpp"
#include "rules/completions.hpp"
#include "rules/coroutines.hpp"
#include "rules/grants.hpp"
#include "rules/lifetime.hpp"
#include "rules/memory.hpp"
#include "rules/one_by_one.hpp"
#include "rules/order.hpp"
#include "rules/threads.hpp"
#include "rules/time.hpp"
#include "rules/withdrawal.hpp"

#include "rules/end.hpp"
