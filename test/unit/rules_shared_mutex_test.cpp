// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// What every primitive promises, of a shared mutex that is locked for writing.

#include <asio_sync/async_shared_mutex.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/test/unit_test.hpp>

#include <mutex>
#include <utility>

namespace rules_shared_mutex_test {

struct subject {
  static constexpr bool carries = true;
  template <class Executor>
  using over = asio_sync::basic_async_shared_mutex<Executor>;
  using primitive_type = over<boost::asio::any_io_executor>;
  using grant = primitive_type::lock_type;

  static bool occupy(auto& p) { return p.try_lock(); }
  static void serve(auto& p) { p.unlock(); }
  static grant hold(primitive_type& p) { return grant(p, std::try_to_lock); }

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

  static grant block(primitive_type& p) { return grant(p); }
  static grant block_for(primitive_type& p, auto time) { return grant(p, time); }

  static bool idle(auto const& p) { return !p.is_locked() && p.waiters() == 0; }
};

}  // namespace rules_shared_mutex_test

#define ASIO_SYNC_RULES_SUITE rules_shared_mutex_test
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
